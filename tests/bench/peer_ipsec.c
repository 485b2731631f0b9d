/*
 * peer_ipsec.c: see peer_ipsec.h. Without HAVE_IPSEC_MB it only says that libipsec-mb is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_ipsec.h"

#ifdef HAVE_IPSEC_MB

#include "bench.h"
#define NO_COMPAT_IMB_API_053 /* names without a prefix */
#include <intel-ipsec-mb.h>
#include <stdlib.h>

enum { DIGEST = 32, TRIALS = 7, WAY_TEXT = 96 };

/* Messages [first, end). */
struct messages {
    uint8_t *digests;
    const uint8_t *data;
    size_t bytes;
    uint64_t first, end;
};

typedef void (*way_fn)(IMB_MGR *manager, const struct messages *m);

struct ipsec_peer {
    IMB_MGR **managers; /* one a thread */
    uint32_t threads;
    way_fn way;
    char text[WAY_TEXT];
};

/* ---- ways --------------------------------------------------------------------------------------------------- */

/* A figure of digests that were not made would be worse than none. */
static void demand(bool done) {
    if (done) return;
    fputs("libipsec-mb refuses to hash\n", stderr);
    exit(1);
}

static void describe(IMB_JOB *job, const struct messages *m, uint64_t i) {
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = IMB_AUTH_SHA_256;
    job->src = m->data + i * m->bytes;
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_hash_in_bytes = m->bytes;
    job->auth_tag_output = m->digests + i * DIGEST;
    job->auth_tag_output_len_in_bytes = DIGEST;
}

static void by_jobs(IMB_MGR *manager, const struct messages *m) {
    for (uint64_t i = m->first; i < m->end; i++) {
        describe(IMB_GET_NEXT_JOB(manager), m, i);
        const IMB_JOB *done = IMB_SUBMIT_JOB_NOCHECK(manager);
        if (done) demand(done->status == IMB_STATUS_COMPLETED);
    }
    for (const IMB_JOB *done; (done = IMB_FLUSH_JOB(manager)) != NULL;) demand(done->status == IMB_STATUS_COMPLETED);
}

static uint32_t at_most(uint64_t left) { return left < IMB_MAX_BURST_SIZE ? (uint32_t)left : IMB_MAX_BURST_SIZE; }

static void by_bursts(IMB_MGR *manager, const struct messages *m) {
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    for (uint64_t i = m->first; i < m->end;) {
        uint32_t count = IMB_GET_NEXT_BURST(manager, at_most(m->end - i), jobs);
        for (uint32_t k = 0; k < count; k++) {
            describe(jobs[k], m, i + k);
        }
        if (count > 0) (void)IMB_SUBMIT_BURST_NOCHECK(manager, count, jobs);
        if (count == 0) demand(IMB_FLUSH_BURST(manager, IMB_MAX_BURST_SIZE, jobs) > 0);
        i += count;
    }
    while (IMB_FLUSH_BURST(manager, IMB_MAX_BURST_SIZE, jobs) > 0) continue;
}

static const struct {
    const char *name;
    way_fn fn;
} ways[] = {{"jobs", by_jobs}, {"bursts of jobs", by_bursts}};

static const struct {
    const char *name;
    void (*init)(IMB_MGR *manager);
    uint64_t flags, needs;
} sets[] = {
    {"SSE", init_mb_mgr_sse, 0, IMB_FEATURE_SSE4_2},
    {"SSE without SHA-NI", init_mb_mgr_sse, IMB_FLAG_SHANI_OFF, IMB_FEATURE_SSE4_2},
    {"AVX", init_mb_mgr_avx, 0, IMB_FEATURE_AVX},
    {"AVX2", init_mb_mgr_avx2, 0, IMB_FEATURE_AVX2},
    {"AVX2 without SHA-NI", init_mb_mgr_avx2, IMB_FLAG_SHANI_OFF, IMB_FEATURE_AVX2},
    {"AVX-512", init_mb_mgr_avx512, 0, IMB_FEATURE_AVX512_SKX},
    {"AVX-512 without SHA-NI", init_mb_mgr_avx512, IMB_FLAG_SHANI_OFF, IMB_FEATURE_AVX512_SKX},
};

enum { WAYS = sizeof ways / sizeof ways[0], SETS = sizeof sets / sizeof sets[0] };

/* ---- the choice --------------------------------------------------------------------------------------------- */

/* NULL: the machine has not that. */
static IMB_MGR *manager_of(size_t set) {
    IMB_MGR *manager = alloc_mb_mgr(sets[set].flags);
    if (!manager) return NULL;
    if ((manager->features & sets[set].needs) == sets[set].needs) {
        sets[set].init(manager);
        if (imb_get_errno(manager) == 0) return manager;
    }
    free_mb_mgr(manager);
    return NULL;
}

static uint64_t time_way(IMB_MGR *manager, size_t way, const struct messages *m) {
    uint64_t least = UINT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t start = bench_cpu_ns();
        ways[way].fn(manager, m);
        uint64_t took = bench_cpu_ns() - start;
        if (took < least) least = took;
    }
    return least;
}

/* The best set; SETS: none. */
static size_t choose(struct ipsec_peer *peer, const struct messages *m, bool avx512) {
    uint64_t least = UINT64_MAX;
    size_t best = SETS;
    for (size_t set = 0; set < SETS; set++) {
        if (sets[set].needs == IMB_FEATURE_AVX512_SKX && !avx512) continue;
        IMB_MGR *manager = manager_of(set);
        for (size_t way = 0; manager && way < WAYS; way++) {
            uint64_t took = time_way(manager, way, m);
            if (took >= least) continue;
            least = took;
            best = set;
            peer->way = ways[way].fn;
            (void)snprintf(peer->text, sizeof peer->text, "%s, %s", sets[set].name, ways[way].name);
        }
        if (manager) free_mb_mgr(manager);
    }
    return best;
}

struct ipsec_peer *ipsec_peer_open(const uint8_t *data, size_t bytes, uint64_t count, uint32_t threads, bool avx512,
                                   const char **why) {
    *why = "libipsec-mb does not start";
    uint8_t *digests = malloc(count * DIGEST);
    struct ipsec_peer *peer = calloc(1, sizeof *peer);
    if (!peer || !digests) exit(1);
    peer->managers = calloc(threads, sizeof(IMB_MGR *));
    size_t set = choose(peer, &(struct messages){digests, data, bytes, 0, count}, avx512);
    free(digests);
    for (; set < SETS && peer->managers && peer->threads < threads; peer->threads++)
        if (!(peer->managers[peer->threads] = manager_of(set))) break;
    if (peer->threads == threads) {
        *why = NULL;
        return peer;
    }
    ipsec_peer_close(peer);
    return NULL;
}

void ipsec_peer_close(struct ipsec_peer *peer) {
    if (!peer) return;
    for (uint32_t i = 0; i < peer->threads; i++) free_mb_mgr(peer->managers[i]);
    free(peer->managers);
    free(peer);
}

const char *ipsec_peer_way(const struct ipsec_peer *peer) { return peer->text; }

void ipsec_peer_hash(struct ipsec_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
                     uint64_t first, uint64_t end) {
    peer->way(peer->managers[index], &(struct messages){digests, data, bytes, first, end});
}

#else

struct ipsec_peer *ipsec_peer_open(const uint8_t *data, size_t bytes, uint64_t count, uint32_t threads, bool avx512,
                                   const char **why) {
    (void)data;
    (void)bytes;
    (void)count;
    (void)threads;
    (void)avx512;
    *why = "built without libipsec-mb (libipsec-mb-dev)";
    return NULL;
}
void ipsec_peer_close(struct ipsec_peer *peer) { (void)peer; }
const char *ipsec_peer_way(const struct ipsec_peer *peer) {
    (void)peer;
    return "";
}
void ipsec_peer_hash(struct ipsec_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
                     uint64_t first, uint64_t end) {
    (void)peer;
    (void)index;
    (void)digests;
    (void)data;
    (void)bytes;
    (void)first;
    (void)end;
}

#endif

/*
 * peer_openblas.c: see peer_openblas.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_openblas.h"

#include "bench.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROW_MAJOR = 101, /* cblas.h; fixed by the interface of BLAS for C */
    NO_TRANSPOSE = 111,
    PROBE_ORDER = 768,
    PROBES = 5,
    SETTLE_NS = 2000000 /* more than its threads spin with OPENBLAS_THREAD_TIMEOUT=20: 2^20 cycles */
};

typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                         const float *b, int ldb, float beta, float *c, int ldc);

struct openblas_peer {
    void *library;
    sgemm_fn sgemm;
    void (*set_threads)(int threads);
    char *(*core_name)(void);
};

/* dlsym answers an object pointer; POSIX lets it be a function's, ISO C lets it be copied only. */
static bool find(void *library, const char *name, void *function) {
    void *at = dlsym(library, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

static bool load(struct openblas_peer *peer) {
    peer->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    return peer->library && find(peer->library, "cblas_sgemm", &peer->sgemm) &&
           find(peer->library, "openblas_set_num_threads", &peer->set_threads) &&
           find(peer->library, "openblas_get_corename", &peer->core_name);
}

/* ---- which kernels ------------------------------------------------------------------------------------------ */

/* In a child: the least time of a product, 0 when it is not there. */
static uint64_t probe(const char *kernels) {
    struct openblas_peer peer;
    if (setenv("OPENBLAS_CORETYPE", kernels, 1) != 0 || !load(&peer)) return 0;
    peer.set_threads(1);
    float *room = calloc(3, PROBE_ORDER * PROBE_ORDER * sizeof(float));
    if (!room) return 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < PROBES; i++) {
        uint64_t start = bench_cpu_ns();
        openblas_peer_multiply(&peer, room, room + PROBE_ORDER * PROBE_ORDER, room + 2 * PROBE_ORDER * PROBE_ORDER,
                               PROBE_ORDER);
        uint64_t took = bench_cpu_ns() - start;
        if (took < least) least = took;
    }
    return least;
}

/* The same, seen from outside: kernels that the machine cannot run end the child, not us. */
static uint64_t time_kernels(const char *kernels) {
    int ends[2];
    if (pipe(ends) != 0) return 0;
    pid_t child = fork();
    if (child == 0) {
        uint64_t took = probe(kernels);
        _exit(write(ends[1], &took, sizeof took) == sizeof took ? 0 : 1);
    }
    close(ends[1]);
    uint64_t took = 0;
    if (child > 0 && read(ends[0], &took, sizeof took) != sizeof took) took = 0;
    close(ends[0]);
    if (child > 0) (void)waitpid(child, NULL, 0);
    return took;
}

static void choose(void) {
    static const char *const sets[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"};
    if (getenv("OPENBLAS_CORETYPE")) return;
    uint64_t least = UINT64_MAX;
    const char *best = NULL;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        uint64_t took = time_kernels(sets[i]);
        if (took == 0 || took >= least) continue;
        least = took;
        best = sets[i];
    }
    if (best) (void)setenv("OPENBLAS_CORETYPE", best, 1);
}

/* ---- use ---------------------------------------------------------------------------------------------------- */

struct openblas_peer *openblas_peer_open(const char **why) {
    (void)setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
    choose();
    struct openblas_peer *peer = calloc(1, sizeof *peer);
    if (peer && load(peer)) {
        *why = NULL;
        return peer;
    }
    *why = "libopenblas.so.0 was not found (libopenblas0)";
    free(peer);
    return NULL;
}

void openblas_peer_close(struct openblas_peer *peer) { free(peer); /* its threads outlive dlclose: it stays loaded */ }

const char *openblas_peer_kernels(const struct openblas_peer *peer) { return peer->core_name(); }

void openblas_peer_threads(struct openblas_peer *peer, uint32_t threads) { peer->set_threads((int)threads); }

void openblas_peer_multiply(struct openblas_peer *peer, float *out, const float *a, const float *b, size_t n) {
    const int order = (int)n;
    peer->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, order, order, order, 1, a, order, b, order, 0, out, order);
}

void openblas_peer_settle(struct openblas_peer *peer) {
    (void)peer;
    (void)nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
}

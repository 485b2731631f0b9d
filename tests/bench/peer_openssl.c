/*
 * peer_openssl.c: see peer_openssl.h. Without HAVE_OPENSSL it only says that OpenSSL is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* the low-level calls are the fastest that it has for SHA-256 */
#include "peer_openssl.h"

#ifdef HAVE_OPENSSL

#include "bench.h"
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

enum { DIGEST = 32, TRIAL_MESSAGES = 64, TRIALS = 15 };

/* 1 on success, as all of OpenSSL. */
typedef int (*way_fn)(const EVP_MD *md, EVP_MD_CTX *ctx, const uint8_t *data, size_t bytes, uint8_t *digest);

struct openssl_peer {
    EVP_MD *md;
    EVP_MD_CTX **contexts; /* one a thread */
    uint32_t threads;
    const struct way *way;
};

static int reinit(const EVP_MD *md, EVP_MD_CTX *ctx, const uint8_t *data, size_t bytes, uint8_t *digest) {
    return EVP_DigestInit_ex2(ctx, md, NULL) && EVP_DigestUpdate(ctx, data, bytes) &&
           EVP_DigestFinal_ex(ctx, digest, NULL);
}

/* Without naming the algorithm again. */
static int restart(const EVP_MD *md, EVP_MD_CTX *ctx, const uint8_t *data, size_t bytes, uint8_t *digest) {
    (void)md;
    return EVP_DigestInit_ex2(ctx, NULL, NULL) && EVP_DigestUpdate(ctx, data, bytes) &&
           EVP_DigestFinal_ex(ctx, digest, NULL);
}

static int one_shot(const EVP_MD *md, EVP_MD_CTX *ctx, const uint8_t *data, size_t bytes, uint8_t *digest) {
    (void)ctx;
    return EVP_Digest(data, bytes, digest, NULL, md, NULL);
}

static int low_level(const EVP_MD *md, EVP_MD_CTX *ctx, const uint8_t *data, size_t bytes, uint8_t *digest) {
    (void)md;
    (void)ctx;
    SHA256_CTX state;
    return SHA256_Init(&state) && SHA256_Update(&state, data, bytes) && SHA256_Final(digest, &state);
}

static const struct way {
    const char *name;
    way_fn fn;
    const char *only; /* for this algorithm; NULL: for both */
} ways[] = {{"EVP_DigestInit_ex2 with a fetched EVP_MD, context reused", reinit, NULL},
            {"EVP_DigestInit_ex2(ctx, NULL), context reused", restart, NULL},
            {"EVP_Digest with a fetched EVP_MD", one_shot, NULL},
            {"SHA256_Init, Update, Final", low_level, "SHA256"}};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* A figure of digests that were not made would be worse than none. */
static void demand(int status) {
    if (status == 1) return;
    fputs("OpenSSL refuses to hash\n", stderr);
    exit(1);
}

static uint64_t time_way(const struct openssl_peer *peer, const struct way *way, const uint8_t *data, size_t bytes) {
    uint8_t digest[DIGEST];
    uint64_t least = UINT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t start = bench_cpu_ns();
        for (int i = 0; i < TRIAL_MESSAGES; i++) demand(way->fn(peer->md, peer->contexts[0], data, bytes, digest));
        uint64_t took = bench_cpu_ns() - start;
        if (took < least) least = took;
    }
    return least;
}

static void choose(struct openssl_peer *peer, const char *algorithm, const uint8_t *data, size_t bytes) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < WAYS; i++) {
        if (ways[i].only && strcmp(ways[i].only, algorithm) != 0) continue;
        uint64_t took = time_way(peer, &ways[i], data, bytes);
        if (took >= least) continue;
        least = took;
        peer->way = &ways[i];
    }
}

struct openssl_peer *openssl_peer_open(const char *algorithm, const uint8_t *data, size_t bytes, uint32_t threads,
                                       const char **why) {
    *why = "OpenSSL does not start";
    struct openssl_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->threads = threads;
    peer->md = EVP_MD_fetch(NULL, algorithm, NULL);
    peer->contexts = calloc(threads, sizeof(EVP_MD_CTX *));
    bool failed = !peer->md || !peer->contexts;
    for (uint32_t i = 0; i < threads && !failed; i++) {
        peer->contexts[i] = EVP_MD_CTX_new();
        failed = !peer->contexts[i] || EVP_DigestInit_ex2(peer->contexts[i], peer->md, NULL) != 1;
    }
    if (failed) {
        openssl_peer_close(peer);
        return NULL;
    }
    choose(peer, algorithm, data, bytes);
    *why = NULL;
    return peer;
}

void openssl_peer_close(struct openssl_peer *peer) {
    if (!peer) return;
    for (uint32_t i = 0; peer->contexts && i < peer->threads; i++) EVP_MD_CTX_free(peer->contexts[i]);
    free(peer->contexts);
    EVP_MD_free(peer->md);
    free(peer);
}

const char *openssl_peer_way(const struct openssl_peer *peer) { return peer->way->name; }

void openssl_peer_hash(struct openssl_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
                       uint64_t first, uint64_t end) {
    EVP_MD_CTX *ctx = peer->contexts[index];
    for (uint64_t i = first; i < end; i++)
        demand(peer->way->fn(peer->md, ctx, data + i * bytes, bytes, digests + i * DIGEST));
}

#else

struct openssl_peer *openssl_peer_open(const char *algorithm, const uint8_t *data, size_t bytes, uint32_t threads,
                                       const char **why) {
    (void)algorithm;
    (void)data;
    (void)bytes;
    (void)threads;
    *why = "built without OpenSSL (libssl-dev)";
    return NULL;
}
void openssl_peer_close(struct openssl_peer *peer) { (void)peer; }
const char *openssl_peer_way(const struct openssl_peer *peer) {
    (void)peer;
    return "";
}
void openssl_peer_hash(struct openssl_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
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

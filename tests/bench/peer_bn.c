/*
 * peer_bn.c: see peer_bn.h. Without HAVE_OPENSSL it only says that OpenSSL is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_bn.h"

#ifdef HAVE_OPENSSL

#include <openssl/bn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIMBS = 6 };

struct bn_peer {
    BIGNUM **a, **b, **out;
    size_t count, limbs;
    BN_MONT_CTX *mont;
    BN_CTX **contexts; /* one a thread */
};

/* A figure of products that were not made would be worse than none. */
static void demand(bool done) {
    if (done) return;
    fputs("OpenSSL refuses to multiply\n", stderr);
    exit(1);
}

static BIGNUM *number(const uint64_t *words, size_t limbs) {
    BIGNUM *made = BN_lebin2bn((const unsigned char *)words, (int)(8 * limbs), NULL);
    demand(made != NULL);
    return made;
}

static BIGNUM **numbers(const uint64_t *words, size_t count, size_t limbs) {
    BIGNUM **made = calloc(count, sizeof(BIGNUM *));
    demand(made != NULL);
    for (size_t i = 0; i < count; i++) made[i] = number(words + i * limbs, limbs);
    return made;
}

struct bn_peer *bn_peer_open(const uint64_t *a, const uint64_t *b, size_t count, const uint64_t *modulus, size_t limbs,
                             uint32_t threads, const char **why) {
    struct bn_peer *peer = calloc(1, sizeof *peer);
    BN_CTX **contexts = calloc(threads, sizeof(BN_CTX *));
    demand(peer && contexts && limbs <= MAX_LIMBS);
    for (uint32_t i = 0; i < threads; i++) demand((contexts[i] = BN_CTX_new()) != NULL);
    *peer = (struct bn_peer){numbers(a, count, limbs),
                             numbers(b, count, limbs),
                             numbers(a, count, limbs),
                             count,
                             limbs,
                             BN_MONT_CTX_new(),
                             contexts};
    demand(peer->mont && BN_MONT_CTX_set(peer->mont, number(modulus, limbs), contexts[0]));
    *why = NULL;
    return peer;
}

void bn_peer_multiply(struct bn_peer *peer, uint32_t index, bool plain, size_t first, size_t end) {
    BN_CTX *ctx = peer->contexts[index];
    bool done = true;
    for (size_t i = first; i < end; i++) {
        done &= BN_mod_mul_montgomery(peer->out[i], peer->a[i], peer->b[i], peer->mont, ctx) == 1;
        if (plain) done &= BN_to_montgomery(peer->out[i], peer->out[i], peer->mont, ctx) == 1;
    }
    demand(done);
}

bool bn_peer_same(const struct bn_peer *peer, const uint64_t *out) {
    uint64_t words[MAX_LIMBS];
    for (size_t i = 0; i < peer->count; i++) {
        demand(BN_bn2lebinpad(peer->out[i], (unsigned char *)words, (int)(8 * peer->limbs)) >= 0);
        if (memcmp(words, out + i * peer->limbs, 8 * peer->limbs) != 0) return false;
    }
    return true;
}

#else

struct bn_peer *bn_peer_open(const uint64_t *a, const uint64_t *b, size_t count, const uint64_t *modulus, size_t limbs,
                             uint32_t threads, const char **why) {
    (void)a, (void)b, (void)count, (void)modulus, (void)limbs, (void)threads;
    *why = "built without OpenSSL (libssl-dev)";
    return NULL;
}

void bn_peer_multiply(struct bn_peer *peer, uint32_t index, bool plain, size_t first, size_t end) {
    (void)peer, (void)index, (void)plain, (void)first, (void)end;
}

bool bn_peer_same(const struct bn_peer *peer, const uint64_t *out) {
    (void)peer, (void)out;
    return false;
}

#endif

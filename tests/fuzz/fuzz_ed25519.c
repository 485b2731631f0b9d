/*
 * fuzz_ed25519.c: Ed25519 signatures that are right or almost right, by the best kernels of this machine and by libsodium:
 * both must accept the same ones.
 *
 * A round is one signature. One in two is changed: bits of key, R, S or message, edges, parts exchanged with those of the one
 * before.
 *
 * A plain program: the same rounds every time, 100,000 (15,000 under a sanitizer) or SVMX_FUZZ_ROUNDS; others with
 * SVMX_FUZZ_SEED. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/variant.h"
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SVMX_HAVE_SODIUM
#include <sodium.h>

enum { BATCH = 250, ENDS = 16, CHANGES = 4, LONGEST = 200, PAIRS = 8 };

static uint8_t key[BATCH][32], signature[BATCH][64], message[BATCH * LONGEST], valid[BATCH];
static uint64_t offsets[BATCH + 1];
static struct count { unsigned long accepted, refused, bad; } counts[CHANGES];

/* Keys and nonces, a few for every batch: to sign with them takes no point, and S and k, which the lanes compute with, are others
 * for every message all the same. */
static struct pair { uint8_t number[32], point[32]; /* times the base point */ } keys[PAIRS], nonces[PAIRS];

static void pair_make(struct pair *p) {
    uint64_t wide[8];
    for (int i = 0; i < 8; i++) wide[i] = dice64();
    wide[0] |= 1; /* whatever the dice say: not 0, which has no point */
    crypto_core_ed25519_scalar_reduce(p->number, (const uint8_t *)wide);
    (void)!crypto_scalarmult_ed25519_base_noclamp(p->point, p->number);
}

static void pairs_make(void) {
    for (unsigned i = 0; i < PAIRS; i++) {
        pair_make(&keys[i]);
        pair_make(&nonces[i]);
    }
}

/* S = r + SHA-512(R, key, message) a */
static void sign(uint8_t to[64], const struct pair *nonce, const struct pair *pair, const uint8_t *text,
                 uint64_t bytes) {
    crypto_hash_sha512_state state;
    uint8_t digest[64], k[32], product[32];
    memcpy(to, nonce->point, 32);
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, nonce->point, 32);
    crypto_hash_sha512_update(&state, pair->point, 32);
    crypto_hash_sha512_update(&state, text, bytes);
    crypto_hash_sha512_final(&state, digest);
    crypto_core_ed25519_scalar_reduce(k, digest);
    crypto_core_ed25519_scalar_mul(product, k, pair->number);
    crypto_core_ed25519_scalar_add(to + 32, product, nonce->number);
}

static void make(unsigned i) {
    const struct pair *pair = &keys[dice() % PAIRS], *nonce = &nonces[dice() % PAIRS];
    const uint64_t bytes = dice() % LONGEST;
    memcpy(key[i], pair->point, 32);
    offsets[i + 1] = offsets[i] + bytes;
    for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++) message[k] = (uint8_t)dice();
    sign(signature[i], nonce, pair, message + offsets[i], bytes);
}

static unsigned change(unsigned i) {
    uint8_t *const parts[] = {key[i], signature[i], signature[i] + 32};
    const unsigned which = dice() % 3;
    uint8_t *part = parts[which];
    const uint64_t bytes = offsets[i + 1] - offsets[i];
    const unsigned kind = dice() % 2 ? 0 : 1 + dice() % (CHANGES - 1);
    if (kind == 1) part[dice() % 32] ^= (uint8_t)(1 << dice() % 8);
    if (kind == 2) { /* a run of equal bytes: small numbers, and those near 2^255 */
        const unsigned from = dice() % 32;
        memset(part + from, dice() % 2 ? 0xff : 0, 1 + dice() % (32 - from));
    }
    if (kind == 3 && dice() % 2 && bytes > 0)
        message[offsets[i] + dice() % bytes] ^= (uint8_t)(dice() % 4); /* at times by nothing */
    else if (kind == 3 && i > 0 && dice() % 2)
        memcpy(part, which == 0 ? key[i - 1] : signature[i - 1] + 32 * (which - 1), 32);
    return kind;
}

static struct svmx_slot slot(void *at, uint64_t bytes) { return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes}; }

static void run(uint64_t count) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    const uint64_t first_unit[] = {0, count};
    const struct svmx_slot slots[] = {slot(valid, count), slot(key, 32 * count), slot(signature, 64 * count),
                                      slot(message, offsets[count]), slot(offsets, 8 * (count + 1))};
    const struct svmx_dispatch d = {.slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 5};
    simd_kernel_find(features, simd_variant_best(features), "ed25519_verify")->run(&d, 0, count);
}

static void show(unsigned i, unsigned kind) {
    printf("change %u: valid %u: key ", kind, valid[i]);
    for (int k = 0; k < 32; k++) printf("%02x", key[i][k]);
    printf(" signature ");
    for (int k = 0; k < 64; k++) printf("%02x", signature[i][k]);
    printf(" message ");
    for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++) printf("%02x", message[k]);
    printf("\n");
}

static void batch(uint64_t count) {
    static unsigned shown;
    unsigned kinds[BATCH];
    pairs_make();
    for (unsigned i = 0; i < count; i++) {
        make(i);
        kinds[i] = change(i);
    }
    run(count);
    for (unsigned i = 0; i < count; i++) {
        struct count *kind_count = &counts[kinds[i]];
        valid[i] ? kind_count->accepted++ : kind_count->refused++;
        const bool want =
            crypto_sign_verify_detached(signature[i], message + offsets[i], offsets[i + 1] - offsets[i], key[i]) == 0;
        if (valid[i] == want) continue;
        kind_count->bad++;
        if (shown++ < FUZZ_SHOWN) show(i, kinds[i]);
    }
}

static unsigned long wrong(void) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < CHANGES; i++) sum += counts[i].bad;
    return sum;
}

#ifdef SVMX_LIBFUZZER
enum { FEW = 9 }; /* more than a vector has lanes */
FUZZ_ENTRY(true)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {
    (void)bytes, (void)length; /* the dice have them */
    if (sodium_init() < 0) exit(2);
    batch(FEW);
    tally->bad += wrong();
    memset(counts, 0, sizeof counts);
}
#endif

/* What is changed may be as good as before; what is not changed is good. */
int main(void) {
    static const char *const names[CHANGES] = {"nothing", "a bit", "an edge", "exchange"};
    const uint64_t rounds = fuzz_rounds_or_fewer(100000, 15000);
    unsigned failed = 0;
    if (sodium_init() < 0) return 1;
    for (uint64_t done = 0, count; done < rounds; done += count) {
        count = BATCH - done % ENDS; /* the last group of lanes has all numbers of signatures */
        if (count > rounds - done) count = rounds - done;
        batch(count);
        fuzz_progress(done, done + count, wrong());
    }
    for (unsigned i = 0; i < CHANGES; i++) {
        const struct count *kind_count = &counts[i];
        const bool telling = i == 0 ? kind_count->accepted > 0 && kind_count->refused == 0 : kind_count->refused > 0;
        printf("%s: accepted %lu, refused %lu, wrong %lu%s\n", names[i], kind_count->accepted, kind_count->refused,
               kind_count->bad, telling ? "" : "; shows nothing");
        failed += kind_count->bad > 0 || !telling;
    }
    return fuzz_end(CHANGES - failed, failed);
}
#else
int main(void) {
    printf("built without libsodium\n0 passed, 0 failed, 1 skipped\n");
    return 0;
}
#endif

/*
 * fuzz_signatures.c: signatures on secp256k1 that are right or almost right, by the best kernels of this machine and by
 * libsecp256k1: both must accept the same ones and find the same addresses.
 *
 * A round is one signature, recovered and verified. Its r is any number, which is an x of a point half of the time; then the
 * key that it recovers to makes it a valid one to verify. One in two is changed: bits of any number, numbers at the edges
 * of their ranges, s by its opposite, numbers exchanged.
 *
 * A plain program: the same rounds every time, 100,000 (12,000 under a sanitizer) or SVMX_FUZZ_ROUNDS; others with
 * SVMX_FUZZ_SEED. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/kernels.h"
#include "../../plugins/simd/variant.h"
#include "fuzz.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SVMX_HAVE_SECP256K1
#include "../../plugins/simd/signatures.h"

#include <secp256k1.h>

enum { BATCH = 250, CHANGES = 5, ENDS = 16 };

static uint8_t hash[BATCH][32], v[BATCH][32], r[BATCH][32], s[BATCH][32], key[BATCH][64];
static uint8_t address[BATCH][20], recovered[BATCH], verified[BATCH];

/* What the library said of a signature before it was changed: it takes most of a round, and is not asked the same twice. */
static struct answer {
    uint8_t asked[4][32], xy[64];
    bool valid;
} answers[BATCH];

/* What came of the two operations, by kind of change; 0 is none. */
static struct count { unsigned long accepted[2], refused[2], bad; } counts[CHANGES];

/* ---- signatures ------------------------------------------------------------------------------------------------- */

static void random_number(uint8_t out[32]) {
    for (int i = 0; i < 32; i++) out[i] = (uint8_t)dice();
}

/* n or p, or 0, and up to three away from it. */
static void edge_number(uint8_t out[32]) {
    static const uint8_t order[20] = {0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48,
                                      0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};
    static const uint8_t prime[8] = {0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f};
    const uint32_t kind = dice() % 4;
    memset(out, kind == 0 ? 0 : 0xff, 32);
    if (kind == 1) memcpy(out + 12, order, 20);
    if (kind == 2) memcpy(out + 24, prime, 8);
    out[31] = (uint8_t)(out[31] + dice() % 7 - (kind == 0 ? 0 : 3));
}

static bool recover(uint8_t xy[64], unsigned i) { return simd_recover(xy, hash[i], v[i], r[i], s[i]); }

static void numbers_copy(uint8_t to[4][32], unsigned i) {
    const uint8_t *const numbers[] = {hash[i], v[i], r[i], s[i]};
    for (int k = 0; k < 4; k++) memcpy(to[k], numbers[k], 32);
}

/* s is low more often than not: verification wants it so. */
static void make(unsigned i) {
    struct answer *a = &answers[i];
    random_number(hash[i]);
    random_number(r[i]);
    random_number(s[i]);
    if (dice() % 4) s[i][0] &= 0x7f;
    memset(v[i], 0, 32);
    v[i][31] = (uint8_t)(27 + dice() % 2);
    numbers_copy(a->asked, i);
    a->valid = recover(a->xy, i);
    if (!a->valid) random_number(a->xy), random_number(a->xy + 32);
    memcpy(key[i], a->xy, 64);
}

static unsigned change(unsigned i) {
    uint8_t *const numbers[] = {hash[i], r[i], s[i], v[i], key[i], key[i] + 32};
    uint8_t *one = numbers[dice() % 6], *other = numbers[dice() % 6], copy[32];
    const unsigned kind = dice() % 2 ? 0 : 1 + dice() % (CHANGES - 1);
    switch (kind) {
    case 0: break;
    case 1: one[dice() % 32] ^= (uint8_t)(1 << dice() % 8); break;
    case 2: edge_number(one); break;
    case 3: /* refuses what is not below n, and leaves it alone */
        (void)!secp256k1_ec_seckey_negate(secp256k1_context_static, s[i]);
        if (dice() % 2) v[i][31] ^= 27 ^ 28;
        break;
    default:
        memcpy(copy, one, 32);
        memmove(one, other, 32);
        memcpy(other, copy, 32);
        break;
    }
    return kind;
}

/* ---- both sides ------------------------------------------------------------------------------------------------- */

static struct svmx_slot slot(void *at, uint64_t bytes) { return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes}; }

static void run(const char *op, const struct svmx_slot *slots, uint32_t slot_count, uint64_t count) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    const uint64_t first_unit[] = {0, count};
    const struct svmx_dispatch d = {
        .slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = slot_count};
    simd_kernel_find(features, simd_variant_best(features), op)->run(&d, 0, count);
}

/* The address by the library's key and the plain hash. */
static bool right(unsigned i) {
    struct answer *a = &answers[i];
    uint8_t now[4][32], *xy = a->xy, digest[32] = {0};
    numbers_copy(now, i);
    const bool valid = memcmp(now, a->asked, sizeof now) == 0 ? a->valid : recover(xy, i);
    if (valid) simd_keccak256_pairs_scalar(digest, xy, 1);
    return recovered[i] == valid && memcmp(address[i], digest + 12, 20) == 0 &&
           verified[i] == simd_verify(hash[i], r[i], s[i], key[i]);
}

static void show(unsigned i, unsigned kind) {
    const struct {
        const char *name;
        const uint8_t *at;
    } parts[] = {{"hash", hash[i]}, {"v", v[i]}, {"r", r[i]}, {"s", s[i]}, {"x", key[i]}, {"y", key[i] + 32}};
    printf("change %u: recovered %u, verified %u:", kind, recovered[i], verified[i]);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        printf(" %s ", parts[p].name);
        for (int k = 0; k < 32; k++) printf("%02x", parts[p].at[k]);
    }
    printf("\n");
}

static void batch(uint64_t count) {
    const struct svmx_slot recover[] = {slot(address, 20 * count), slot(recovered, count), slot(hash, 32 * count),
                                        slot(v, 32 * count),       slot(r, 32 * count),    slot(s, 32 * count)};
    const struct svmx_slot verify[] = {slot(verified, count), slot(hash, 32 * count), slot(r, 32 * count),
                                       slot(s, 32 * count), slot(key, 64 * count)};
    unsigned kinds[BATCH];
    static unsigned shown;
    for (unsigned i = 0; i < count; i++) {
        make(i);
        kinds[i] = change(i);
    }
    run("ecrecover", recover, 6, count);
    run("ecdsa_verify_secp256k1", verify, 5, count);
    for (unsigned i = 0; i < count; i++) {
        struct count *kind_count = &counts[kinds[i]];
        recovered[i] ? kind_count->accepted[0]++ : kind_count->refused[0]++;
        verified[i] ? kind_count->accepted[1]++ : kind_count->refused[1]++;
        if (right(i)) continue;
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
    batch(FEW);
    tally->bad += wrong();
    memset(counts, 0, sizeof counts);
}
#endif

int main(void) {
    static const char *const names[CHANGES] = {"nothing", "a bit", "an edge", "the opposite of s", "exchange"};
    const uint64_t rounds = fuzz_rounds_or_fewer(100000, 12000);
    unsigned failed = 0;
    for (uint64_t done = 0, count; done < rounds; done += count) {
        count = BATCH - done % ENDS; /* the last group of lanes has all numbers of signatures */
        if (count > rounds - done) count = rounds - done;
        batch(count);
        fuzz_progress(done, done + count, wrong());
    }
    for (unsigned i = 0; i < CHANGES; i++) {
        const struct count *kind_count = &counts[i];
        const bool both =
            kind_count->accepted[0] && kind_count->refused[0] && kind_count->accepted[1] && kind_count->refused[1];
        printf("%s: recovered %lu of %lu, verified %lu, wrong %lu%s\n", names[i], kind_count->accepted[0],
               kind_count->accepted[0] + kind_count->refused[0], kind_count->accepted[1], kind_count->bad,
               both ? "" : "; accepts or refuses all: shows nothing");
        failed += kind_count->bad > 0 || !both;
    }
    return fuzz_end(CHANGES - failed, failed);
}
#else
int main(void) {
    printf("built without libsecp256k1\n0 passed, 0 failed, 1 skipped\n");
    return 0;
}
#endif

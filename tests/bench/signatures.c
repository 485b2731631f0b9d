/*
 * signatures.c: suite signatures: recovery and verification, a batch of 1 up to 1,024, against libsecp256k1 and libsodium.
 *
 * Both libraries have one thread and look at the same signatures, one after another; all are valid. What is asked for is asked
 * of machines with AVX-512 IFMA, where ours computes eight side by side: a multiple for many, and never less for few.
 * Elsewhere ours calls the same libraries, and as much as that is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_secp256k1.h"
#include "peer_sodium.h"

#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { SIGNATURES = 1024, MESSAGE = 64 };

/* So many a batch; from LARGE on the multiple is asked for, of all threads as well. */
static const uint64_t batches[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 128, SIGNATURES};
enum { BATCHES = sizeof batches / sizeof batches[0], LARGE = 128 };

/* Who looks at the signatures, one after another. */
struct verifier {
    uint64_t (*secp256k1)(const struct secp256k1_signatures *signatures, uint64_t first, uint64_t end);
    const struct secp256k1_signatures *ecdsa;
    const struct sodium_signatures *ed25519; /* or these */
    uint64_t count;
};

static void run_verifier(void *user, struct ops_team *team) {
    const struct verifier *verifier = user;
    (void)team;
    uint64_t good = verifier->ecdsa ? verifier->secp256k1(verifier->ecdsa, 0, verifier->count)
                                    : sodium_peer_verify(verifier->ed25519, 0, verifier->count);
    if (good == verifier->count) return;
    fputs("the peer refuses a good signature\n", stderr);
    exit(1);
}

static bool all_valid(const struct svmx_arg *valid) {
    const uint8_t *at = valid->from.out;
    for (size_t i = 0; i < valid->bytes; i++)
        if (at[i] != 1) return false;
    return true;
}

/* Where `valid` stands among the outputs. */
static bool recovered(const struct ops_call *call) { return all_valid(&call->args[1]); }
static bool verified(const struct ops_call *call) { return all_valid(&call->args[0]); }

static bool has_ifma(const struct ops *ops) {
#if defined(__x86_64__)
    enum { IFMA = 1 << 21 };
    unsigned a, b, c, d;
    return ops->class == OPS_AVX512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & IFMA);
#else
    (void)ops;
    return false;
#endif
}

/* A batch of `count`. A thread more than one is asked for where there is work for it: a large batch. */
static void look(struct ops *ops, struct ops_call call, struct ops_peer peer, uint64_t count, double multiple) {
    char name[64];
    const double one = has_ifma(ops) && count >= LARGE ? multiple : 0.98;
    const double all = count >= LARGE ? one * ops->threads : 0.95;
    snprintf(name, sizeof name, "%s, batch of %u", call.op, (unsigned)count);
    call.items = count;
    peer.run = run_verifier;
    ops_run(ops, &(struct ops_case){.name = name,
                                    .call = {call},
                                    .peer = peer,
                                    .unit = "k/s",
                                    .scale = 1e6,
                                    .ask = {{one, one}, {all, all}},
                                    .peer_alone = true,
                                    .remark = has_ifma(ops) ? NULL : "no AVX-512 IFMA",
                                    .right = call.count == 6 ? recovered : verified});
}

static void ecdsa(struct ops *ops) {
    enum { WORDS = SIGNATURES * 32, KEYS = SIGNATURES * 64, ADDRESSES = SIGNATURES * 20 };
    struct secp256k1_signatures all = {SIGNATURES,        ops_memory(WORDS), ops_memory(WORDS),    ops_memory(WORDS),
                                       ops_memory(WORDS), ops_memory(KEYS),  ops_memory(ADDRESSES)};
    uint8_t *valid = ops_memory(SIGNATURES), *addresses = ops_memory(ADDRESSES);
    struct verifier recover = {secp256k1_peer_recover, &all, NULL, 0}, verify = {secp256k1_peer_verify, &all, NULL, 0};
    struct ops_peer peer = {.name = "secp256k1"};
    ops_fill_bytes(all.hashes, WORDS, 1);
    (void)secp256k1_peer_sign(&all, &peer.missing);
    for (int i = 0; i < BATCHES; i++) {
        const uint64_t n = recover.count = verify.count = batches[i];
        const struct svmx_arg hashes = svmx_in(SVMX_U8, all.hashes, n * 32), v = svmx_in(SVMX_U8, all.v, n * 32),
                              r = svmx_in(SVMX_U8, all.r, n * 32), s = svmx_in(SVMX_U8, all.s, n * 32);
        peer.user[0] = peer.user[1] = &recover;
        look(ops,
             (struct ops_call){
                 .op = "ecrecover",
                 .args = {svmx_out(SVMX_U8, addresses, n * 20), svmx_out(SVMX_U8, valid, n), hashes, v, r, s},
                 .count = 6},
             peer, n, 6);
        peer.user[0] = peer.user[1] = &verify;
        look(ops,
             (struct ops_call){.op = "ecdsa_verify_secp256k1",
                               .args = {svmx_out(SVMX_U8, valid, n), hashes, r, s, svmx_in(SVMX_U8, all.keys, n * 64)},
                               .count = 5},
             peer, n, 6);
    }
}

static void ed25519(struct ops *ops) {
    uint8_t *messages = ops_memory(SIGNATURES * MESSAGE), *valid = ops_memory(SIGNATURES);
    struct sodium_signatures all = {SIGNATURES, MESSAGE, ops_memory(SIGNATURES * 32), ops_memory(SIGNATURES * 64),
                                    messages};
    uint64_t *offsets = ops_memory((SIGNATURES + 1) * sizeof *offsets);
    struct verifier verify = {NULL, NULL, &all, 0};
    struct ops_peer peer = {.name = "libsodium", .user = {&verify, &verify}};
    ops_fill_bytes(messages, SIGNATURES * MESSAGE, 2);
    (void)sodium_peer_sign(&all, &peer.missing);
    for (uint64_t i = 0; i <= SIGNATURES; i++) offsets[i] = i * MESSAGE;
    for (int i = 0; i < BATCHES; i++) {
        const uint64_t n = verify.count = batches[i];
        look(ops,
             (struct ops_call){.op = "ed25519_verify",
                               .args = {svmx_out(SVMX_U8, valid, n), svmx_in(SVMX_U8, all.keys, n * 32),
                                        svmx_in(SVMX_U8, all.signatures, n * 64),
                                        svmx_in(SVMX_U8, messages, n * MESSAGE), svmx_in(SVMX_U64, offsets, n + 1)},
                               .count = 5},
             peer, n, 4);
    }
}

int main(void) {
    struct ops ops;
    if (!ops_open_as(&ops, "signatures", "signatures")) return ops_close(&ops);
    ecdsa(&ops);
    ed25519(&ops);
    return ops_close(&ops);
}

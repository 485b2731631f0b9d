/*
 * ops_sign.c: suite ops, the signatures: ecrecover and ecdsa_verify_secp256k1 against libsecp256k1, ed25519_verify
 * against libsodium, which ours are built on: what is asked for is that nothing is lost, and that all threads take
 * part.
 *
 * The peer has one thread in both rows: all threads must do as many times its work as they are, less two hundredths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_secp256k1.h"
#include "peer_sodium.h"

#include <stdlib.h>

enum { SIGNATURES = 128, MESSAGE = 64 };

/* Who looks at all signatures, one after another. */
struct verifier {
    uint64_t (*secp256k1)(const struct secp256k1_signatures *signatures, uint64_t first, uint64_t end);
    const struct secp256k1_signatures *ecdsa;
    const struct sodium_signatures *ed25519; /* or these */
};

static void run_verifier(void *user, struct ops_team *team) {
    const struct verifier *verifier = user;
    (void)team;
    uint64_t good = verifier->ecdsa ? verifier->secp256k1(verifier->ecdsa, 0, SIGNATURES)
                                    : sodium_peer_verify(verifier->ed25519, 0, SIGNATURES);
    if (good == SIGNATURES) return;
    fputs("the peer refuses a good signature\n", stderr);
    exit(1);
}

/* Where `valid` stands among the outputs. */
static bool all_valid(const struct svmx_arg *valid) {
    const uint8_t *at = valid->from.out;
    for (size_t i = 0; i < SIGNATURES; i++)
        if (at[i] != 1) return false;
    return true;
}

static bool recovered(const struct ops_call *call) { return all_valid(&call->args[1]); }
static bool verified(const struct ops_call *call) { return all_valid(&call->args[0]); }

static void look(struct ops *ops, struct ops_call call, struct ops_peer peer) {
    const double all = 0.98 * ops->threads;
    call.items = SIGNATURES;
    peer.run = run_verifier;
    ops_run(ops, &(struct ops_case){.name = call.op,
                                    .call = {call},
                                    .peer = peer,
                                    .unit = "k/s",
                                    .scale = 1e6,
                                    .ask = {{0.98, 0.98}, {all, all}},
                                    .peer_alone = true,
                                    .right = call.count == 6 ? recovered : verified});
}

static void ecdsa(struct ops *ops) {
    enum { WORDS = SIGNATURES * 32, KEYS = SIGNATURES * 64, ADDRESSES = SIGNATURES * 20 };
    struct secp256k1_signatures all = {SIGNATURES,        ops_memory(WORDS), ops_memory(WORDS),
                                       ops_memory(WORDS), ops_memory(WORDS), ops_memory(KEYS)};
    ops_fill_bytes(all.hashes, WORDS, 1);
    struct ops_peer peer = {.name = "secp256k1"};
    (void)secp256k1_peer_sign(&all, &peer.missing);
    const struct svmx_arg valid = svmx_out(SVMX_U8, ops_memory(SIGNATURES), SIGNATURES);
    const struct svmx_arg hashes = svmx_in(SVMX_U8, all.hashes, WORDS), v = svmx_in(SVMX_U8, all.v, WORDS),
                          r = svmx_in(SVMX_U8, all.r, WORDS), s = svmx_in(SVMX_U8, all.s, WORDS);

    struct verifier recover = {secp256k1_peer_recover, &all, NULL}, verify = {secp256k1_peer_verify, &all, NULL};
    peer.user[0] = peer.user[1] = &recover;
    look(ops,
         (struct ops_call){.op = "ecrecover",
                           .args = {svmx_out(SVMX_U8, ops_memory(ADDRESSES), ADDRESSES), valid, hashes, v, r, s},
                           .count = 6},
         peer);
    peer.user[0] = peer.user[1] = &verify;
    look(ops,
         (struct ops_call){.op = "ecdsa_verify_secp256k1",
                           .args = {valid, hashes, r, s, svmx_in(SVMX_U8, all.keys, KEYS)},
                           .count = 5},
         peer);
}

static void ed25519(struct ops *ops) {
    uint8_t *messages = ops_memory(SIGNATURES * MESSAGE);
    ops_fill_bytes(messages, SIGNATURES * MESSAGE, 2);
    struct sodium_signatures all = {SIGNATURES, MESSAGE, ops_memory(SIGNATURES * 32), ops_memory(SIGNATURES * 64),
                                    messages};
    struct ops_peer peer = {.name = "libsodium"};
    (void)sodium_peer_sign(&all, &peer.missing);
    uint64_t *offsets = ops_memory((SIGNATURES + 1) * sizeof *offsets);
    for (uint64_t i = 0; i <= SIGNATURES; i++) offsets[i] = i * MESSAGE;
    struct verifier verify = {NULL, NULL, &all};
    peer.user[0] = peer.user[1] = &verify;
    look(ops,
         (struct ops_call){
             .op = "ed25519_verify",
             .args = {svmx_out(SVMX_U8, ops_memory(SIGNATURES), SIGNATURES),
                      svmx_in(SVMX_U8, all.keys, SIGNATURES * 32), svmx_in(SVMX_U8, all.signatures, SIGNATURES * 64),
                      svmx_in(SVMX_U8, messages, SIGNATURES * MESSAGE), svmx_in(SVMX_U64, offsets, SIGNATURES + 1)},
             .count = 5},
         peer);
}

int main(void) {
    struct ops ops;
    if (!ops_open(&ops, "signatures")) return ops_close(&ops);
    ecdsa(&ops);
    ed25519(&ops);
    return ops_close(&ops);
}

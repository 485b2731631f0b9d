/*
 * ops_hash.c: suite ops, the hashes: keccak256 and sha256 of many messages of one length, and trees over 65,536
 * leaves.
 *
 * Messages of a task lie end to end and fit into L2 with their digests, those of the trees and what they are
 * compared with into L3. OpenSSL 3.0 has no Keccak-256; SHA3-256 is the same permutation at the same rate with
 * another padding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_ipsec.h"
#include "peer_openssl.h"

#include <string.h>

enum { DIGEST = 32, DATA_BYTES = 384 * 1024, MAX_MESSAGES = 4096, LEAVES = 65536 };

/* Messages of one case, and who else hashes them. */
struct work {
    uint8_t *digests, *peer_digests;
    const uint8_t *data;
    uint64_t *offsets;
    size_t bytes;
    uint64_t count;
    struct openssl_peer *openssl;
    struct ipsec_peer *ipsec;
};

static void hash_part(void *user, uint32_t index, uint32_t count) {
    const struct work *work = user;
    uint64_t first = ops_share(work->count, index, count), end = ops_share(work->count, index + 1, count);
    if (work->openssl)
        openssl_peer_hash(work->openssl, index, work->peer_digests, work->data, work->bytes, first, end);
    else
        ipsec_peer_hash(work->ipsec, index, work->peer_digests, work->data, work->bytes, first, end);
}

static void run_peer(void *user, struct ops_team *team) { ops_team_run(team, hash_part, user); }

/* For SHA-256 only: SHA3-256 has other digests. */
static bool same_digests(const struct ops_call *call, const void *user) {
    const struct work *work = user;
    return memcmp(call->args[0].from.out, work->peer_digests, work->count * DIGEST) == 0;
}

static struct work new_work(size_t bytes, uint64_t count) {
    struct work work = {.bytes = bytes, .count = count};
    uint8_t *data = ops_memory(count * bytes);
    ops_fill_bytes(data, count * bytes, bytes);
    work.data = data;
    work.digests = ops_memory(count * DIGEST);
    work.peer_digests = ops_memory(count * DIGEST);
    work.offsets = ops_memory((count + 1) * sizeof *work.offsets);
    for (uint64_t i = 0; i <= count; i++) work.offsets[i] = i * bytes;
    return work;
}

static struct ops_call call_of(const char *op, const struct work *work) {
    return (struct ops_call){.op = op,
                             .args = {svmx_out(SVMX_U8, work->digests, work->count * DIGEST),
                                      svmx_in(SVMX_U8, work->data, work->count * work->bytes),
                                      svmx_in(SVMX_U64, work->offsets, work->count + 1)},
                             .count = 3,
                             .items = work->count};
}

static uint64_t messages_of(size_t bytes) {
    return DATA_BYTES / bytes < MAX_MESSAGES ? DATA_BYTES / bytes : MAX_MESSAGES;
}

/* ---- messages ----------------------------------------------------------------------------------------------- */

static void against_openssl(struct ops *ops, struct ops_case c, const char *op, const char *algorithm, size_t bytes) {
    struct work work = new_work(bytes, messages_of(bytes));
    c.call[OPS_ONE] = call_of(op, &work);
    c.peer = (struct ops_peer){.name = "OpenSSL", .run = run_peer, .user = {&work, &work}};
    work.openssl = openssl_peer_open(algorithm, work.data, bytes, ops->threads, &c.peer.missing);
    if (work.openssl) c.remark = openssl_peer_way(work.openssl);
    if (strcmp(op, "sha256") == 0) c.peer_right = same_digests;
    c.unit = "M/s";
    c.scale = 1000;
    ops_run(ops, &c);
    openssl_peer_close(work.openssl);
}

static void against_ipsec(struct ops *ops, struct ops_case c, size_t bytes) {
    struct work work = new_work(bytes, messages_of(bytes));
    c.call[OPS_ONE] = call_of("sha256", &work);
    c.peer = (struct ops_peer){.name = "ipsec-mb", .run = run_peer, .user = {&work, &work}};
    work.ipsec = ipsec_peer_open(work.data, bytes, work.count, ops->threads, ops->class == OPS_AVX512, &c.peer.missing);
    if (work.ipsec) c.remark = ipsec_peer_way(work.ipsec);
    c.peer_right = same_digests;
    c.unit = "M/s";
    c.scale = 1000;
    ops_run(ops, &c);
    ipsec_peer_close(work.ipsec);
}

/* ---- trees -------------------------------------------------------------------------------------------------- */

/* The raw rate: as many hashes of 64 bytes as the tree has, of the same backend. */
static void against_raw(struct ops *ops, const char *name, const char *op, const char *hash, uint64_t nodes) {
    struct work work = new_work(2 * DIGEST, LEAVES - 1);
    uint8_t *leaves = ops_memory(LEAVES * DIGEST), *out = ops_memory(nodes * DIGEST);
    ops_fill_bytes(leaves, LEAVES * DIGEST, LEAVES);
    const struct ops_call raw = call_of(hash, &work);
    ops_run(ops, &(struct ops_case){.name = name,
                                    .call = {{.op = op,
                                              .args = {svmx_out(SVMX_U8, out, nodes * DIGEST),
                                                       svmx_in(SVMX_U8, leaves, LEAVES * DIGEST), svmx_u32(0)},
                                              .count = 3,
                                              .items = LEAVES - 1}},
                                    .peer = {.name = "raw 64 B", .ours = &raw},
                                    .unit = "M/s",
                                    .scale = 1000,
                                    .ask = {{0.9, 0.9}, {0.9, 0.9}}});
}

int main(void) {
    struct ops ops;
    if (!ops_open(&ops, "hashes and trees")) return ops_close(&ops);

    const struct ops_ask keccak = {5, 1.9}, none = {0, 0}, sha_64 = {2, 1}, sha_1024 = {1, 1};
    against_openssl(&ops, (struct ops_case){.name = "keccak256 of 32 B", .ask = {keccak, none}}, "keccak256",
                    "SHA3-256", 32);
    against_openssl(&ops, (struct ops_case){.name = "keccak256 of 64 B", .ask = {keccak, none}}, "keccak256",
                    "SHA3-256", 64);
    against_openssl(&ops, (struct ops_case){.name = "keccak256 of 1,024 B", .ask = {keccak, none}}, "keccak256",
                    "SHA3-256", 1024);
    against_openssl(&ops, (struct ops_case){.name = "sha256 of 64 B", .ask = {sha_64, sha_64}}, "sha256", "SHA256", 64);
    against_ipsec(&ops, (struct ops_case){.name = "sha256 of 1,024 B", .ask = {sha_1024, sha_1024}}, 1024);

    against_raw(&ops, "merkle_tree_sha256, 65,536", "merkle_tree_sha256", "sha256", LEAVES - 1);
    against_raw(&ops, "merkle_root_sha256, 65,536", "merkle_root_sha256", "sha256", 1);
    against_raw(&ops, "merkle_tree_keccak256, 65,536", "merkle_tree_keccak256", "keccak256", LEAVES - 1);
    against_raw(&ops, "merkle_root_keccak256, 65,536", "merkle_root_keccak256", "keccak256", 1);
    return ops_close(&ops);
}

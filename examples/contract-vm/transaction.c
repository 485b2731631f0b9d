/*
 * transaction.c: transactions of the first kind (EIP-155) and, for those with blobs, of type 3 (EIP-4844).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transaction.h"
#include "rlp.h"

enum { BASE_GAS = 21000, ZERO_BYTE_GAS = 4, OTHER_BYTE_GAS = 16, BLOB_GAS = 131072, TYPE_BLOB = 3 };
static const uint64_t most_gas = UINT64_C(1000000000);

/* ---- encoding ------------------------------------------------------------------------------------------------- */

/* What both kinds have. */
static void put_common(const struct transaction *tx, struct bytes *list) {
    rlp_number(list, u256_of(tx->gas));
    rlp_bytes(list, tx->to, tx->has_to ? 20 : 0);
    rlp_number(list, tx->value);
    rlp_bytes(list, tx->data.data, tx->data.length);
}

static void put_signature(const struct transaction *tx, struct bytes *list) {
    rlp_number(list, tx->v);
    rlp_number(list, tx->r);
    rlp_number(list, tx->s);
}

static void put_first_kind(const struct block *block, const struct transaction *tx, bool with_signature,
                           struct bytes *list) {
    rlp_number(list, u256_of(tx->nonce));
    rlp_number(list, block->base_fee);
    put_common(tx, list);
    if (with_signature) {
        put_signature(tx, list);
        return;
    }
    rlp_number(list, u256_of(block->chain_id)); /* so that it counts on this chain only */
    rlp_number(list, u256_of(0));
    rlp_number(list, u256_of(0));
}

static void put_blob_kind(const struct block *block, const struct transaction *tx, bool with_signature,
                          struct bytes *list) {
    struct bytes hashes = {0};
    rlp_number(list, u256_of(block->chain_id));
    rlp_number(list, u256_of(tx->nonce));
    rlp_number(list, u256_of(0)); /* no tip */
    rlp_number(list, block->base_fee);
    put_common(tx, list);
    rlp_list(list, &hashes); /* no access list */
    rlp_number(list, block->blob_base_fee);
    for (size_t i = 0; i < tx->blob_count; i++) {
        uint8_t hash[32];
        u256_to(tx->blob_hashes[i], hash);
        rlp_bytes(&hashes, hash, sizeof hash);
    }
    rlp_list(list, &hashes);
    bytes_free(&hashes);
    if (with_signature) put_signature(tx, list);
}

void transaction_encode(const struct block *block, const struct transaction *tx, bool with_signature,
                        struct bytes *out) {
    static const uint8_t type = TYPE_BLOB;
    struct bytes list = {0};
    if (tx->blob_count)
        put_blob_kind(block, tx, with_signature, &list);
    else
        put_first_kind(block, tx, with_signature, &list);
    if (tx->blob_count) bytes_add(out, &type, 1);
    rlp_list(out, &list);
    bytes_free(&list);
}

/* ---- signature ------------------------------------------------------------------------------------------------ */

/* Of the first kind v has the chain in it: 35 or 36 more than twice its number. */
static struct u256 first_v(const struct block *block, const struct transaction *tx) {
    return tx->blob_count ? u256_of(0) : u256_add(u256_of(35), u256_mul(u256_of(2), u256_of(block->chain_id)));
}

struct u256 transaction_v(const struct block *block, const struct transaction *tx, unsigned odd) {
    return u256_add(first_v(block, tx), u256_of(odd));
}

const char *transaction_signature(const struct block *block, const struct transaction *tx, uint8_t words[96]) {
    /* Half of the order of secp256k1: of the two s that fit a signature only the lower one counts (EIP-2). */
    static const struct u256 half = {{UINT64_C(0xdfe92f46681b20a0), UINT64_C(0x5d576e7357a4501d),
                                      UINT64_C(0xffffffffffffffff), UINT64_C(0x7fffffffffffffff)}};
    const struct u256 odd = u256_sub(tx->v, first_v(block, tx));
    memset(words, 0, 96);
    if (u256_less(u256_of(1), odd)) return "v of the signature does not fit the chain";
    if (u256_less(half, tx->s)) return "s of the signature is in the upper half";
    words[31] = (uint8_t)(27 + odd.w[0]);
    u256_to(tx->r, words + 32);
    u256_to(tx->s, words + 64);
    return NULL;
}

/* ---- price ---------------------------------------------------------------------------------------------------- */

uint64_t transaction_base_gas(const struct transaction *tx) {
    uint64_t gas = BASE_GAS;
    for (size_t i = 0; i < tx->data.length; i++) gas += tx->data.data[i] ? OTHER_BYTE_GAS : ZERO_BYTE_GAS;
    return gas;
}

struct u256 transaction_blob_fee(const struct block *block, const struct transaction *tx) {
    return u256_mul(block->blob_base_fee, u256_of(tx->blob_count * BLOB_GAS));
}

const char *transaction_refusal(const struct block *block, const struct transaction *tx) {
    if (block->base_fee.w[2] | block->base_fee.w[3] | block->blob_base_fee.w[2] | block->blob_base_fee.w[3])
        return "the fees of the block do not fit into 128 bits";
    if (tx->gas > most_gas) return "more than 1,000,000,000 gas is not supported";
    if (tx->gas < transaction_base_gas(tx)) return "gas is below what any such transaction costs";
    return NULL;
}

/*
 * messages.c: see messages.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/messages.h"
#include "ops/access.h"
#include "ops/items.h"

#include <inttypes.h>

enum { DIGESTS, DATA, OFFSETS };
enum { BYTES_PER_MESSAGE = 64 }; /* of work, beside those hashed */
enum { EXAMPLE_BYTES = 32 };     /* of one message of an example */

const struct svmx_param svmx__messages_params[SVMX__MESSAGES_PARAMS] = {
    {"digests", SVMX_OUT, SVMX_U8, SVMX_ARRAY, 0, SVMX__DIGEST_BYTES},
    {"data", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1},
    {"offsets", SVMX_IN, SVMX_U64, SVMX_OFFSETS, 0, 1},
};

/*
 * True if offsets[0 .. n] certainly do not decrease: one pass without a branch, because batches of 65,536 messages are
 * usual. While all are below 2^63, as all legal ones are, a step down shows as the top bit of the difference. False
 * means: look closer.
 */
static _Bool ascending(const struct svmx_slot *offsets, uint64_t n) {
    uint64_t seen = svmx__load_u64(offsets, 0);
    for (uint64_t i = 1; i <= n; i++) {
        const uint64_t next = svmx__load_u64(offsets, i);
        seen |= next | (next - svmx__load_u64(offsets, i - 1));
    }
    return seen >> 63 == 0;
}

static enum svmx_status find_descent(const struct svmx_slot *offsets, uint64_t n, struct svmx__text *why) {
    for (uint64_t i = 1; i <= n; i++) {
        const uint64_t last = svmx__load_u64(offsets, i - 1), next = svmx__load_u64(offsets, i);
        if (next < last)
            return svmx__fail(why, SVMX_ERR_ARGUMENT,
                              "offsets[%" PRIu64 "] = %" PRIu64 " is less than offsets[%" PRIu64 "] = %" PRIu64
                              ": they must not decrease",
                              i, next, i - 1, last);
    }
    return SVMX_OK;
}

enum svmx_status svmx__offsets_count(const struct svmx_slot *offsets, uint64_t n, const char *items,
                                     struct svmx__text *why) {
    const uint64_t entries = offsets->bytes / sizeof(uint64_t);
    if (entries == n + 1) return SVMX_OK;
    if (entries == 0 && !offsets->at)
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "offsets is NULL but must have %" PRIu64 " entries: one more than the %" PRIu64 " %s", n + 1,
                          n, items);
    return svmx__fail(why, SVMX_ERR_ARGUMENT,
                      "offsets has %" PRIu64 " entries but must have %" PRIu64 ": one more than the %" PRIu64 " %s",
                      entries, n + 1, n, items);
}

enum svmx_status svmx__offsets_check(const struct svmx_slot *offsets, uint64_t n, const char *data, uint64_t data_bytes,
                                     struct svmx__text *why) {
    if (!ascending(offsets, n)) {
        enum svmx_status status = find_descent(offsets, n, why);
        if (status != SVMX_OK) return status;
    }
    const uint64_t end = svmx__load_u64(offsets, n);
    if (end <= data_bytes) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_ARGUMENT,
                      "offsets[%" PRIu64 "] = %" PRIu64 " lies past the end of %s, which has %" PRIu64 " bytes", n, end,
                      data, data_bytes);
}

enum svmx_status svmx__messages_check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    const uint64_t n = svmx__item_count(&svmx__messages_params[DIGESTS], &slots[DIGESTS]);
    const uint64_t entries = slots[OFFSETS].bytes / sizeof(uint64_t);
    if (n == 0 && entries == 0) {
        *size = (struct svmx__size){0, 0};
        return SVMX_OK;
    }
    enum svmx_status status = svmx__offsets_count(&slots[OFFSETS], n, "digests of 32 bytes", why);
    if (status != SVMX_OK) return status;
    status = svmx__offsets_check(&slots[OFFSETS], n, "data", slots[DATA].bytes, why);
    if (status != SVMX_OK) return status;
    /* No overflow: both terms are smaller than twice the memory that the task names. */
    const uint64_t hashed = svmx__load_u64(&slots[OFFSETS], n) - svmx__load_u64(&slots[OFFSETS], 0);
    *size = (struct svmx__size){.units = n, .work = hashed + BYTES_PER_MESSAGE * n};
    return SVMX_OK;
}

enum svmx_status svmx__messages_shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    if (size > (UINT64_MAX >> 6)) return SVMX_ERR_OVERFLOW;
    bytes[DIGESTS] = SVMX__DIGEST_BYTES * size;
    bytes[DATA] = EXAMPLE_BYTES * size;
    bytes[OFFSETS] = sizeof(uint64_t) * (size + 1);
    return SVMX_OK;
}

void svmx__messages_hash(const struct svmx_slot *slots, svmx__hash_fn hash) {
    const uint64_t n = slots[DIGESTS].bytes / SVMX__DIGEST_BYTES;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t begin = svmx__load_u64(&slots[OFFSETS], i), end = svmx__load_u64(&slots[OFFSETS], i + 1);
        hash(svmx__at(&slots[DIGESTS], SVMX__DIGEST_BYTES * i), svmx__at(&slots[DATA], begin), end - begin);
    }
}

/* Word i is splitmix64's output number i from seed 0; the digests beside them come from other people's code. */
const uint64_t svmx__known_data[SVMX__KNOWN_WORDS] = {
    0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec, 0x1b39896a51a8749b,
    0x53cb9f0c747ea2ea, 0x2c829abe1f4532e1, 0xc584133ac916ab3c, 0x3ee5789041c98ac3, 0xf3b8488c368cb0a6,
    0x657eecdd3cb13d09, 0xc2d326e0055bdef6, 0x8621a03fe0bbdb7b, 0x8e1f7555983aa92f, 0xb54e0f1600cc4d19,
    0x84bb3f97971d80ab, 0x7d29825c75521255, 0xc3cf17102b7f7f86, 0x3466e9a083914f64, 0xd81a8d2b5a4485ac,
    0xdb01602b100b9ed7, 0xa9038a921825f10d, 0xedf5f1d90dca2f6a, 0x54496ad67bd2634c, 0xdd7c01d4f5407269,
    0x935e82f1db4c4f7b, 0x69b82ebc92233300, 0x40d29eb57de1d510, 0xa2f09dabb45c6316, 0xee521d7a0f4d3872,
    0xf16952ee72f3454f, 0x377d35dea8e40225, 0x0c7de8064963bab0, 0x05582d37111ac529, 0xd254741f599dc6f7,
    0x69630f7593d108c3, 0x417ef96181daa383, 0x3c3c41a3b43343a1, 0x6e19905dcbe531df, 0x4fa9fa7324851729,
    0x84eb4454a792922a, 0x134f7096918175ce, 0x07dc930b302278a8, 0x12c015a97019e937, 0xcc06c31652ebf438,
    0xecee65630a691e37, 0x3e84ecb1763e79ad, 0x690ed476743aae49, 0x774615d7b1a1f2e1, 0x22b353f04f4f52da,
    0xe3ddd86ba71a5eb1, 0xdf268adeb6513356, 0x2098eb73d4367d77, 0x03d6845323ce3c71, 0xc952c5620043c714,
    0x9b196bca844f1705, 0x30260345dd9e0ec1, 0xcf448a5882bb9698, 0xf4a578dccbc87656, 0xbfdeaed9a17b3c8f,
    0xed79402d1d5c5d7b, 0x55f070ab1cbbf170, 0x3e00a34929a88f1d, 0xe255b237b8bb18fb, 0x2a7b67af6c6ad50e,
    0x466d5e7f3e46f143, 0x42375cb399a4fc72, 0x8c8a1f148a8bb259, 0x32fcab5daed5bdfc, 0x9e60398c8d8553c0,
    0xee89cceb8c4064c0, 0xdb0215941d86a66f, 0x5ccde78203c367a8, 0xf1bcbc6a1ec11786, 0xef054fceee954551,
    0xdf82012d0555c6df, 0x292566ff72403c08, 0xc4dd302a1bfa1137, 0xd85f219db5c554e1, 0x6a27ff807441bcd2,
    0x96a573e9b48216e8, 0x46a9fdac40bf0048, 0x3dd12464a0ee15b4, 0x451e521296a7eea1, 0x56e4398a98f8a0fd,
    0x7b7dc2160e3335a7, 0xc679ee0bebcb1cca, 0x928d6f2d7453424e, 0x1b38994205234c6d, 0x8086d193a6f2b568,
    0x21c6e26639ac2c65, 0xd9dccac414d23c6f, 0x91cd642057e00235, 0x77fc607dc6589373, 0x05b8abe26dd3aee7,
    0x12f6436ac376cc66, 0x64952424897b2307, 0xee8c2baf6343e5c3, 0xdc4c613d9eba2304, 0x3505b7796bd1a506,
    0x8176daf800a05f50, 0x8bd8ff7a0385cdbc, 0x1a764a3cd78101da, 0xbe4d15bf6ca266ac, 0xa85e1f38bb2dc749,
    0x56759a968493cd8c, 0xf3a9bce7336bd182, 0x365b15013741519b, 0x1f7a44a6b109ac94, 0x3521d628813cb177,
    0x6a77afab0f7c9370, 0x179642d8cde95015, 0x5ef102a8fb354461, 0xf51c504764ed82f2, 0xc58427f041ce6808,
    0xfad8fc45c9643c37, 0xcf8682f9a70fa9c0, 0x7e1b3b75a4005729, 0x992dd867927b52d8, 0x7fbd5db142f6791f,
    0x370595aacab4adae, 0xb1392dbdc5ab61d6, 0x9fea7dfc79d452d9, 0x40b12b120085641c, 0xa192afe3157c85d0,
    0xc847729f4e08f3a3, 0x6f1384a306c41fc2, 0x12d05c4045a39c19, 0x9899202fd20f0841, 0xe9c7191857e774b8,
    0x4eead809af5b0cc3, 0xe809acafa23864a4, 0x4da1edaba1d0f7bd, 0x846eb9673349f8e4, 0x87bae55b86039fe8,
    0x7f367b8bd953eff2, 0x3884700f650d04e1, 0xbfe4b2ab46980cad, 0xc5fc89075299106c, 0x37b2fa361adea7cd,
    0x7d75d813f04895b4, 0x702f5b393f62c0e0, 0x0a3fc775f4ecf37f, 0xe4b23787a352437f, 0xf83fa245c34d6363,
    0xb99bcf040786cf50, 0x38b6ea0a0e6c9d8a, 0x093fdc76776e37e1, 0x1a75e6f76ba7eee8, 0x442cdcfee9660c62,
    0x22d58d35116b5e0b, 0x87d4a5180f6a3645, 0x589fb216bd82131b, 0x91d031cad319aec0, 0xabecf76a553d320b,
    0xb8686cb347612dcf, 0xfcab66337c0a77f5, 0xac318214381ec437, 0x6eb7f0fca24494ae, 0xcf42861dcdc895a9,
    0x4abad7a1586d7a91, 0xc21b318dc2f49745, 0xd49474dc2acbd1f0, 0xb1d4873747c1c8e1, 0x5434dc8c7d015bf6,
    0xe1c486287511b6a9, 0xa8616df62e89a193, 0x31ce6319498d8347, 0xafd0b486123d6faa, 0xe6495f5d102301eb,
    0x0dc51ced17a43c52, 0x8bcbcde81355ef2d, 0x2412af73fdee7cfc, 0xc8d589e486e29eed, 0x23390e8664517f89,
    0x251ade58e8a6849d, 0xf8555dbd2e8f9cb0, 0xcb417c3eef54f7c3, 0x8028f8e1aac3a919, 0x10e31052acf748a0,
    0x2d886c073b1e1b78, 0x972974d90df9faee,
};

const uint64_t svmx__known_offsets[SVMX__KNOWN_MESSAGES + 1] = {
    5, 37, 37, 38, 69, 102, 157, 213, 270, 333, 397, 462, 466, 585, 705, 833, 968, 1104, 1241, 1441, 1448,
};

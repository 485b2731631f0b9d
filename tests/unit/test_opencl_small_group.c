/*
 * test_opencl_small_group.c: plugins/kernels/ecrecover.cl and ecdsa.cl, on PoCL, in the groups of group_logs.h: every R with every
 * s and every hash, against sums of logarithms modulo the order. A program each: test_opencl_small_group has 199 points, _7 and
 * _13 the others.
 *
 * The files are compiled as they are, with the numbers of the small group defined before them, as an operation that this program
 * registers. In a small group points that the general formulas cannot add meet all the time, and device code has to find each of
 * them by itself. Three things are not as in the large one, so that a small one shows more: r is the whole x of a point, up to p;
 * u1 has 256 bits in recovery; any c1 and c2 will do to cut u2 in halves, and these have nearly all their bits.
 *
 * In groups of 7 and 13 windows have two and three bits, since no table may hold infinity, which 7 or 13 times a point is; else all
 * is as with 199, and hardly a sum is without two points that the general formulas cannot add.
 *
 * Of 199 one hash in turn for every s, and one R or key in FEW; all of them with SVMX_TEST_LONG, 8 and 12 million signatures, which
 * is a quarter of an hour on two cores. Of 7 and 13 always all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#if defined(__SIZEOF_INT128__)
#include "../../plugins/kernels/catalog.h"
#include "device_run.h"
#include "group_logs.h"

enum { STRIDE = ORDER == 199 ? 199 : 1, FEW = ORDER == 199 ? 3 : 1, MOST = 3 * ORDER * ORDER / 2 };
enum { ROWS = ORDER == 7 ? 2 : ORDER == 13 ? 4 : 32, G_HALF = 132 }; /* 1, 3 .. 2^G_BITS - 1 */

#if SMALL_ORDER == 7
/* lambda is 2: -5 + (-1) lambda and -4 + (-5) lambda are 0 modulo 7: A1, -B1 and A2, A1. */
#define NUMBERS                                                                                                        \
    "#define ORDER_LOW 7\n"                                                                                            \
    "#define ORDER_MINUS_INVERSE 0x49249249\n"                                                                         \
    "#define ORDER_ONE fe_of(2)\n"                                                                                     \
    "#define ORDER_SQUARE fe_of(4)\n"                                                                                  \
    "#define CURVE_B 6\n"                                                                                              \
    "#define MULTIPLE_LOW 0xa5a5a5a2\n"                                                                                \
    "#define LOW_S_LIMIT fe_of(4)\n"                                                                                   \
    "#define SPLIT_A1 0xfffffffb, MINUS\n"                                                                             \
    "#define SPLIT_B1 1, 0, 0, 0, 0\n"                                                                                 \
    "#define SPLIT_A2 0xfffffffc, MINUS\n"                                                                             \
    "#define HALF_BITS 132\n"                                                                                          \
    "#define P_BITS 2\n"                                                                                               \
    "#define G_BITS 2\n"
#elif SMALL_ORDER == 13
/* lambda is 9: 1 - 3 lambda and 4 + lambda are 0 modulo 13. */
#define NUMBERS                                                                                                        \
    "#define ORDER_LOW 13\n"                                                                                           \
    "#define ORDER_MINUS_INVERSE 0x3b13b13b\n"                                                                         \
    "#define ORDER_ONE fe_of(3)\n"                                                                                     \
    "#define ORDER_SQUARE fe_of(9)\n"                                                                                  \
    "#define CURVE_B 2\n"                                                                                              \
    "#define MULTIPLE_LOW 0xa5a5a5a2\n"                                                                                \
    "#define LOW_S_LIMIT fe_of(7)\n"                                                                                   \
    "#define SPLIT_A1 1, 0, 0, 0, 0\n"                                                                                 \
    "#define SPLIT_B1 3, 0, 0, 0, 0\n"                                                                                 \
    "#define SPLIT_A2 4, 0, 0, 0, 0\n"                                                                                 \
    "#define HALF_BITS 132\n"                                                                                          \
    "#define P_BITS 3\n"                                                                                               \
    "#define G_BITS 3\n"
#else
/* lambda is 92: 13 + 15 lambda and -2 + 13 lambda are 0 modulo 199. */
#define NUMBERS                                                                                                        \
    "#define ORDER_LOW 199\n"                                                                                          \
    "#define ORDER_MINUS_INVERSE 0x10b93f09\n"                                                                         \
    "#define ORDER_ONE fe_of(145)\n"                                                                                   \
    "#define ORDER_SQUARE fe_of(130)\n"                                                                                \
    "#define CURVE_B 4\n"                                                                                              \
    "#define MULTIPLE_LOW 0xa5a5a58a\n"                                                                                \
    "#define LOW_S_LIMIT fe_of(100)\n"                                                                                 \
    "#define SPLIT_A1 13, 0, 0, 0, 0\n"                                                                                \
    "#define SPLIT_B1 0xfffffff1, MINUS\n"                                                                             \
    "#define SPLIT_A2 0xfffffffe, MINUS\n"                                                                             \
    "#define HALF_BITS 130\n"                                                                                          \
    "#define P_BITS 5\n"                                                                                               \
    "#define G_BITS 6\n"
#endif

static const char group[] = NUMBERS
    "#define LANES 1\n"
    "#define FE_BITS 256\n"
    "#define ORDER_REST 0, 0, 0, 0, 0, 0, 0\n"
    "#define FIVES 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5\n"
    "#define ORDER_MULTIPLE ((fe)(MULTIPLE_LOW, FIVES, FIVES, 0xe5a5a5a5))\n"
    "#define R_LIMIT FE_PRIME\n"
    "#define PRIME_LESS_ORDER fe_of(0)\n"
    "#define MINUS 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff\n"
    "#define SPLIT_G1 0x52e6b438, 0xf2a74de4, 0x269e0d37, 0x6513270e, 0xa6a3a450, 0x0c5c7fd0, 0x128b2f33, 0x000d23f0\n"
    "#define SPLIT_G2 0x892f902b, 0x1818e811, 0x5d9dc9f8, 0x9531985d, 0x0ed90475, 0xe8e25d94, 0x81e74ef5, 0x000b6f67\n"
    "#define SPLIT_LIMB 4\n"
    "#define ecrecover small_recover\n"
    "#define ecdsa_verify small_verify\n";

/* ---- device code ------------------------------------------------------------------------------------------------ */

static char code[256 * 1024];

static void append(const char *text) {
    const size_t used = strlen(code);
    cr_assert_lt(snprintf(code + used, sizeof code - used, "%s", text), (int)(sizeof code - used));
}

static void append_number(const struct big *a) {
    char text[16];
    append("{");
    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(text, sizeof text, "0x%08x,", (unsigned)(a->w[i / 2] >> 32 * (i % 2) & 0xffffffff));
        append(text);
    }
    append("},");
}

/* In place of secp256k1_rows.cl: 1, 3, .. times G, and times 2^132 G. */
static void append_rows(void) {
    unsigned base = 1;
    append("__constant uint secp256k1_rows[][2][8] = {\n");
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < ROWS; i++) {
            const struct point *p = &multiple[modulo((2 * i + 1) * base)];
            append("{"), append_number(&p->x), append_number(&p->y), append("},\n");
        }
        for (unsigned i = 0; i < G_HALF; i++) base = modulo(2 * base);
    }
    append("};\n");
}

static const char *code_of(const char *const *sources) {
    code[0] = '\0';
    append(group);
    for (; *sources; sources++) {
        if (strcmp(*sources, "secp256k1_rows.cl") == 0)
            append_rows();
        else
            append(catalog_source(*sources));
    }
    return code;
}

/* ---- definitions, by logarithms --------------------------------------------------------------------------------- */

static const uint8_t *row(const struct svmx_operand *arg, uint64_t i, uint64_t bytes) {
    return (const uint8_t *)arg->data + bytes * i;
}

/* The logarithm of a point, or 0. Made-up inputs are on the curve no more often than a guess is right. */
static unsigned find(const uint8_t *x, const uint8_t *y, unsigned odd) {
    for (unsigned i = 1; i < ORDER; i++)
        if (memcmp(key_of[i], x, 32) == 0 && (y ? memcmp(key_of[i] + 32, y, 32) == 0 : (key_of[i][63] & 1) == odd))
            return i;
    return 0;
}

static bool is_below(const uint8_t number[32], unsigned limit) {
    uint8_t most[32];
    small_number(most, limit);
    return memcmp(number, most, 32) < 0;
}

static void recover_by_logs(const struct svmx_operand *args, void *user) {
    static const uint8_t none[20];
    (void)user;
    for (uint64_t i = 0; i < args[1].bytes; i++) {
        const uint8_t *hash = row(&args[2], i, 32), *v = row(&args[3], i, 32), *s = row(&args[5], i, 32);
        const bool id = is_below(v, 29) && !is_below(v, 27) && !is_below(s, 1);
        const unsigned point = id ? find(row(&args[4], i, 32), NULL, v[31] == 28) : 0;
        const unsigned log = point ? key_log(hash, point, s) : 0;
        ((uint8_t *)args[1].data)[i] = log != 0;
        memcpy((uint8_t *)args[0].data + 20 * i, log ? address_of[log] : none, 20);
    }
}

static void verify_by_logs(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes; i++) {
        const uint8_t *s = row(&args[3], i, 32), *key = row(&args[4], i, 64);
        const unsigned log = is_below(s, ORDER / 2 + 1) && !is_below(s, 1) ? find(key, key + 32, 0) : 0;
        ((uint8_t *)args[0].data)[i] = log && is_signature(row(&args[1], i, 32), row(&args[2], i, 32), s, log);
    }
}

#define BYTES(name, direction, record)                                                                                 \
    { name, direction, SVMX_U8, SVMX_ARRAY, 0, record }
static const struct svmx_param recover_params[] = {BYTES("address", SVMX_OUT, 20), BYTES("valid", SVMX_OUT, 1),
                                                   BYTES("hash", SVMX_IN, 32),     BYTES("v", SVMX_IN, 32),
                                                   BYTES("r", SVMX_IN, 32),        BYTES("s", SVMX_IN, 32)};
static const struct svmx_param verify_params[] = {BYTES("valid", SVMX_OUT, 1), BYTES("hash", SVMX_IN, 32),
                                                  BYTES("r", SVMX_IN, 32), BYTES("s", SVMX_IN, 32),
                                                  BYTES("key", SVMX_IN, 64)};

static svmx_executor_t *executor;

static uint32_t register_code(struct svmx_op_def def, const char *const *sources) {
    struct svmx_error error = {SVMX_OK, ""};
    uint32_t op = 0;
    def.size = sizeof def;
    def.unit = "signature";
    def.exactness = SVMX_EXACT;
    def.opencl_c = code_of(sources);
    def.local = 64;
    def.grain = 1;
    cr_assert_eq(svmx_op_register(executor, &def, &op, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_prewarm(executor, op, 1 << 16), SVMX_OK);
    return op;
}

/* ---- signatures ------------------------------------------------------------------------------------------------- */

static uint8_t hash[MOST][32], v[MOST][32], r[MOST][32], s[MOST][32], key[MOST][64], address[MOST][20], valid[MOST];
static unsigned expected[MOST]; /* logarithm of the key, or whether it is a signature */

static void start(void) {
    logs_make();
    executor = device_open();
}

static void stop_device(void) { svmx_close(executor); }

TestSuite(opencl_small_group, .fini = stop_device);

enum { A_WHILE_S = 300 }; /* PoCL on a machine that others use as well */

static bool is_long(void) { return getenv("SVMX_TEST_LONG") != NULL; }
static unsigned stride(void) { return is_long() ? 1 : STRIDE; }
static unsigned step(void) { return is_long() ? 1 : FEW; }

/* One batch, by the device and by nobody else. */
static void run(uint32_t op, const struct svmx_arg *args, uint32_t count) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = NULL;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_timeout(batch, A_WHILE_S * UINT64_C(1000000000)), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, args, count), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.device == 0 && receipt.redone == 0, "answered by device %u: %s", receipt.device, receipt.reason);
    svmx_batch_destroy(batch);
}

static void recover_all(uint32_t op, unsigned count) {
    static const uint8_t none[20];
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, address, 20 * count), svmx_out(SVMX_U8, valid, count),
                                    svmx_in(SVMX_U8, hash, 32 * count),     svmx_in(SVMX_U8, v, 32 * count),
                                    svmx_in(SVMX_U8, r, 32 * count),        svmx_in(SVMX_U8, s, 32 * count)};
    run(op, args, 6);
    for (unsigned i = 0; i < count; i++) {
        const unsigned log = expected[i];
        cr_assert_eq(valid[i], log != 0, "r %u, s %u, hash %u", remainder_of(r[i]), s[i][31], hash[i][31]);
        cr_assert_arr_eq(address[i], log ? address_of[log] : none, 20, "r %u, s %u, hash %u", remainder_of(r[i]),
                         s[i][31], hash[i][31]);
    }
}

/* s of 199, or 13, or 7, is no more than 0, but in range. */
static unsigned append_recovery(unsigned count, unsigned point, unsigned k, unsigned h) {
    small_number(hash[count], h);
    small_number(v[count], 27 + (key_of[point][63] & 1));
    small_number(s[count], k);
    memcpy(r[count], key_of[point], 32);
    expected[count] = key_log(hash[count], point, s[count]);
    return count + 1;
}

Test(opencl_small_group, recovery) {
    static const char *const sources[] = {"keccak256.cl", "fe32.cl",      "scalar32.cl", "secp256k1_rows.cl",
                                          "secp256k1.cl", "ecrecover.cl", NULL};
    start();
    const uint32_t op = register_code(
        (struct svmx_op_def){
            .name = "small_recover", .params = recover_params, .param_count = 6, .run = recover_by_logs},
        sources);
    unsigned count = 0, all = 0, infinite = 0;
    for (unsigned point = 1; point < ORDER; point += step(), all += count) {
        count = 0;
        for (unsigned k = 1; k <= ORDER; k++)
            for (unsigned h = (point + k) % stride(); h < ORDER; h += stride()) {
                count = append_recovery(count, point, k, h);
                infinite += expected[count - 1] == 0;
            }
        recover_all(op, count);
    }
    printf("%u recovered, %u are infinite\n", all, infinite);
    cr_assert_eq(all, is_long() || ORDER < 199 ? (ORDER - 1) * ORDER * ORDER : 66 * 199);
    cr_assert_gt(infinite, all / ORDER / 2);
}

/* A hash that makes it a signature, by R or by -R, and one that is any. */
static void verification_make(unsigned i, unsigned log, unsigned point, unsigned k) {
    const unsigned sum = i % 3 == 1 ? ORDER - point : point;
    const unsigned right = modulo(k * sum + ORDER * ORDER - r_of[point] * log);
    small_number(hash[i], i % 3 < 2 ? right : modulo(right + 1 + i));
    small_number(s[i], k);
    memcpy(r[i], key_of[point], 32);
    memcpy(key[i], key_of[log], 64);
    expected[i] = 2 * k < ORDER && is_signature(hash[i], r[i], s[i], log);
}

static unsigned verify_all(uint32_t op, unsigned log, unsigned *good) {
    unsigned count = 0;
    for (unsigned point = 1; point <= ORDER / 2; point++)
        for (unsigned k = 1 + (log + point) % stride(); k < ORDER; k += stride())
            for (unsigned i = 0; i < 3; i++) {
                verification_make(count, log, point, k);
                *good += expected[count++];
            }
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, valid, count), svmx_in(SVMX_U8, hash, 32 * count),
                                    svmx_in(SVMX_U8, r, 32 * count), svmx_in(SVMX_U8, s, 32 * count),
                                    svmx_in(SVMX_U8, key, 64 * count)};
    run(op, args, 5);
    for (unsigned i = 0; i < count; i++)
        cr_assert_eq(valid[i], expected[i], "key %u, r %u, s %u, hash %u", log, remainder_of(r[i]), s[i][31],
                     hash[i][31]);
    return count;
}

Test(opencl_small_group, verification) {
    static const char *const sources[] = {"fe32.cl",      "scalar32.cl", "secp256k1_rows.cl",
                                          "secp256k1.cl", "ecdsa.cl",    NULL};
    start();
    const uint32_t op = register_code(
        (struct svmx_op_def){.name = "small_verify", .params = verify_params, .param_count = 5, .run = verify_by_logs},
        sources);
    unsigned count = 0, good = 0;
    for (unsigned log = 1; log < ORDER; log += step()) count += verify_all(op, log, &good);
    printf("%u verified, %u are right\n", count, good);
    cr_assert(good > count / 4 && good < count / 2, "%u of %u", good, count);
}
#else
Test(opencl_small_group, is_left_out) { cr_skip_test("this compiler has no numbers of 128 bits"); }
#endif

/*
 * eigh_f64.c: eigenvalues and eigenvectors of many small symmetric matrices, by Jacobi's method in one fixed order.
 *
 * docs/OPERATIONS.md has it as a recipe. Every step below is one IEEE operation, rounded to nearest, nothing fused, so that
 * kernels that take eight matrices side by side give the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"

#include <inttypes.h>
#include <math.h>
#include <svmx/ops.h>

enum { VALUES, VECTORS, MATRICES, ORDER, PARAMS };
enum { MIN_ORDER = 2, MAX_ORDER = 32, MAX_SWEEPS = 30 };

static const struct svmx_param params[PARAMS] = {
    {"values", SVMX_OUT, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"vectors", SVMX_OUT, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"matrices", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"order", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    const uint32_t order = (uint32_t)slots[ORDER].at;
    const uint64_t cells = slots[MATRICES].bytes / sizeof(double);
    if (order < MIN_ORDER || order > MAX_ORDER)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "order is %" PRIu32 " but must be %d to %d", order, MIN_ORDER,
                          MAX_ORDER);
    const uint64_t n = cells / ((uint64_t)order * order);
    if (n * order * order != cells)
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "matrices has %" PRIu64 " elements, which is no whole number of matrices of order %" PRIu32,
                          cells, order);
    enum svmx_status status = svmx__items_expect(&params[VALUES], &slots[VALUES], n * order, why);
    if (status == SVMX_OK) status = svmx__items_expect(&params[VECTORS], &slots[VECTORS], cells, why);
    if (status == SVMX_OK) *size = (struct svmx__size){.units = n, .work = cells * order};
    return status;
}

/* Of order 8, but small examples take all orders in turn. */
static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    const uint64_t order = size < 1000 ? MIN_ORDER + size * 5 % (MAX_ORDER - MIN_ORDER + 1) : 8;
    if (size > (UINT64_MAX >> 14)) return SVMX_ERR_OVERFLOW;
    bytes[VALUES] = sizeof(double) * order * size;
    bytes[VECTORS] = bytes[MATRICES] = sizeof(double) * order * order * size;
    bytes[ORDER] = order;
    return SVMX_OK;
}

/* ---- the definition --------------------------------------------------------------------------------------- */

struct problem {
    unsigned n;
    double a[MAX_ORDER][MAX_ORDER]; /* the lower triangle is used */
    double v[MAX_ORDER][MAX_ORDER]; /* row k becomes the vector of value k */
    double back;                    /* values times this are those of the matrix as it was given */
};

static double power_of_two(uint64_t biased) {
    const uint64_t bits = biased << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Scales the largest element to [1, 2) or near it, so that nothing overflows later. */
static void scale(struct problem *p, double largest) {
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    const uint64_t exponent = bits >> 52;
    const uint64_t up = exponent == 0 ? 2045 : exponent == 2046 ? 1 : 2046 - exponent;
    for (unsigned i = 0; i < p->n; i++)
        for (unsigned j = 0; j <= i; j++) p->a[i][j] *= power_of_two(up);
    p->back = power_of_two(2046 - up);
}

/* Reads the lower triangle. False if there is a NaN or an infinity in it. */
static _Bool load(struct problem *p, const struct svmx_slot *matrices, uint64_t first) {
    double largest = 0;
    for (unsigned i = 0; i < p->n; i++) {
        for (unsigned j = 0; j <= i; j++) {
            p->a[i][j] = svmx__load_f64(matrices, first + i * p->n + j);
            if (!isfinite(p->a[i][j])) return 0;
            largest = fabs(p->a[i][j]) > largest ? fabs(p->a[i][j]) : largest;
        }
        for (unsigned j = 0; j < p->n; j++) p->v[i][j] = i == j;
    }
    scale(p, largest);
    return 1;
}

static void turn(double *x, double *y, double c, double s) {
    const double g = *x, h = *y;
    *x = c * g - s * h;
    *y = s * g + c * h;
}

/* Turns rows and columns i and j so that a[j][i] becomes zero; i < j. */
static void rotate(struct problem *p, unsigned i, unsigned j) {
    const double x = p->a[j][i];
    const double theta = (p->a[j][j] - p->a[i][i]) / (2 * x);
    const double size = 1 / (fabs(theta) + sqrt(theta * theta + 1));
    const double t = theta < 0 ? -size : size;
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    p->a[i][i] = p->a[i][i] - t * x;
    p->a[j][j] = p->a[j][j] + t * x;
    p->a[j][i] = 0;
    for (unsigned r = 0; r < i; r++) turn(&p->a[i][r], &p->a[j][r], c, s);
    for (unsigned r = i + 1; r < j; r++) turn(&p->a[r][i], &p->a[j][r], c, s);
    for (unsigned r = j + 1; r < p->n; r++) turn(&p->a[r][i], &p->a[r][j], c, s);
    for (unsigned r = 0; r < p->n; r++) turn(&p->v[i][r], &p->v[j][r], c, s);
}

static _Bool negligible(const struct problem *p, unsigned i, unsigned j) {
    const double x = fabs(p->a[j][i]);
    return x <= fabs(p->a[i][i]) * 0x1p-53 && x <= fabs(p->a[j][j]) * 0x1p-53;
}

/* All pairs once, row by row. False if none was worth a rotation. */
static _Bool sweep(struct problem *p) {
    _Bool turned = 0;
    for (unsigned i = 0; i + 1 < p->n; i++)
        for (unsigned j = i + 1; j < p->n; j++) {
            if (negligible(p, i, j)) continue;
            rotate(p, i, j);
            turned = 1;
        }
    return turned;
}

/* Which diagonal element comes k-th: ascending, equal ones in their order. */
static void sort(const double value[MAX_ORDER], unsigned n, unsigned at[MAX_ORDER]) {
    for (unsigned k = 0; k < n; k++) {
        unsigned place = k;
        for (; place > 0 && value[at[place - 1]] > value[k]; place--) at[place] = at[place - 1];
        at[place] = k;
    }
}

/* True if the first of the components of largest magnitude is negative. */
static _Bool points_down(const double *v, unsigned n) {
    unsigned largest = 0;
    for (unsigned r = 1; r < n; r++)
        if (fabs(v[r]) > fabs(v[largest])) largest = r;
    return v[largest] < 0;
}

static void store(const struct problem *p, const struct svmx_slot *slots, uint64_t matrix) {
    double value[MAX_ORDER];
    unsigned at[MAX_ORDER];
    for (unsigned k = 0; k < p->n; k++) value[k] = p->a[k][k] * p->back;
    sort(value, p->n, at);
    for (unsigned k = 0; k < p->n; k++) {
        const double *v = p->v[at[k]];
        const _Bool down = points_down(v, p->n);
        svmx__store_f64(&slots[VALUES], matrix * p->n + k, value[at[k]]);
        for (unsigned r = 0; r < p->n; r++)
            svmx__store_f64(&slots[VECTORS], (matrix * p->n + k) * p->n + r, down ? -v[r] : v[r]);
    }
}

static void store_nan(const struct svmx_slot *slots, uint64_t matrix, unsigned n) {
    for (unsigned k = 0; k < n; k++) svmx__store_f64(&slots[VALUES], matrix * n + k, NAN);
    for (unsigned k = 0; k < n * n; k++) svmx__store_f64(&slots[VECTORS], matrix * n * n + k, NAN);
}

static void reference(const struct svmx_slot *slots) {
    struct problem p = {.n = (unsigned)slots[ORDER].at};
    const uint64_t cells = (uint64_t)p.n * p.n, matrices = slots[MATRICES].bytes / sizeof(double) / cells;
    for (uint64_t m = 0; m < matrices; m++) {
        if (!load(&p, &slots[MATRICES], m * cells)) {
            store_nan(slots, m, p.n);
            continue;
        }
        for (unsigned i = 0; i < MAX_SWEEPS && sweep(&p); i++) {
        }
        store(&p, slots, m);
    }
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/*
 * Nine of order 2, so that groups of 8 and of 4 have a rest: [2 1; 1 2], whose values are 1 and 3 and whose upper triangle
 * is not read; the identity; zeros; [3 -4; -4 -3], whose values are -5 and 5; a NaN; the smallest numbers; numbers whose
 * values overflow; an infinity where nobody looks, and an element that is negligible; a diagonal out of order with -0. Of
 * order 3 the second difference (2 - sqrt 2, 2, 2 + sqrt 2), ones, an infinity, and any. Of order 4 Hilbert's, and ones
 * around zeros (-1 three times, 3). Of order 7 any. The bits are from the recipe in Python.
 */
static const uint64_t matrices_two[] = {
    0x4000000000000000, 0x4022000000000000, 0x3ff0000000000000, 0x4000000000000000, 0x3ff0000000000000,
    0x0000000000000000, 0x0000000000000000, 0x3ff0000000000000, 0x0000000000000000, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x4008000000000000, 0x0000000000000000, 0xc010000000000000,
    0xc008000000000000, 0x7ff8000000000001, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000,
    0x0000000000000001, 0x0000000000000000, 0x0000000000000001, 0x8000000000000001, 0x7fee42d130773b76,
    0x0000000000000000, 0x7fee42d130773b76, 0x7fee42d130773b76, 0x3ff0000000000000, 0x7ff0000000000000,
    0x3bc79ca10c924223, 0x3ff0000000000000, 0xc000000000000000, 0x0000000000000000, 0x8000000000000000,
    0xc014000000000000,
};
static const uint64_t values_two[] = {
    0x3ff0000000000000, 0x4008000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x0000000000000000,
    0x0000000000000000, 0xc014000000000000, 0x4014000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0x8000000000000001, 0x0000000000000001, 0x0000000000000000, 0x7ff0000000000000, 0x3ff0000000000000,
    0x3ff0000000000000, 0xc014000000000000, 0xc000000000000000,
};
static const uint64_t vectors_two[] = {
    0x3fe6a09e667f3bcc, 0xbfe6a09e667f3bcc, 0x3fe6a09e667f3bcc, 0x3fe6a09e667f3bcc, 0x3ff0000000000000,
    0x0000000000000000, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x0000000000000000,
    0x0000000000000000, 0x3ff0000000000000, 0x3fdc9f25c5bfedd9, 0x3fec9f25c5bfedd9, 0x3fec9f25c5bfedd9,
    0xbfdc9f25c5bfedd9, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0xbfd87de2a6aea963, 0x3fed906bcf328d46, 0x3fed906bcf328d46, 0x3fd87de2a6aea963, 0x3fe6a09e667f3bcc,
    0xbfe6a09e667f3bcc, 0x3fe6a09e667f3bcc, 0x3fe6a09e667f3bcc, 0x3ff0000000000000, 0x0000000000000000,
    0x0000000000000000, 0x3ff0000000000000, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000,
    0x0000000000000000,
};

static const uint64_t matrices_three[] = {
    0x4000000000000000, 0x0000000000000000, 0x0000000000000000, 0xbff0000000000000, 0x4000000000000000,
    0x0000000000000000, 0x0000000000000000, 0xbff0000000000000, 0x4000000000000000, 0x3ff0000000000000,
    0x0000000000000000, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x0000000000000000,
    0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x7ff0000000000000, 0x0000000000000000, 0x0000000000000000,
    0x0000000000000000, 0x3ff0000000000000, 0x4010000000000000, 0x0000000000000000, 0x0000000000000000,
    0x3ff0000000000000, 0x4008000000000000, 0x0000000000000000, 0xc000000000000000, 0x3fe0000000000000,
    0x3ff0000000000000,
};
static const uint64_t values_three[] = {
    0x3fe2bec333018868, 0x4000000000000000, 0x400b504f333f9de6, 0x0000000000000000,
    0x0000000000000000, 0x4008000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0x7ff8000000000000, 0xbfd02ac2c8adca5a, 0x400846f8c023f63a, 0x4014df2fcc78e189,
};
static const uint64_t vectors_three[] = {
    0x3fdfffffffffffff, 0x3fe6a09e667f3bcc, 0x3fe0000000000000, 0x3fe6a09e667f3bce, 0xbc9a435cd0000000,
    0xbfe6a09e667f3bce, 0xbfdfffffffffffff, 0x3fe6a09e667f3bcc, 0xbfe0000000000001, 0x3fe6a09e667f3bcc,
    0xbfe6a09e667f3bcc, 0x0000000000000000, 0xbfda20bd700c2c3e, 0xbfda20bd700c2c3e, 0x3fea20bd700c2c3f,
    0x3fe279a74590331d, 0x3fe279a74590331d, 0x3fe279a74590331d, 0x7ff8000000000000, 0x7ff8000000000000,
    0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0x7ff8000000000000, 0x7ff8000000000000, 0x3fdd837090879f06, 0xbfd162670e895fe5, 0x3feb07fbdb237dde,
    0xbfc43dfe5ebc3dda, 0x3fed2bc073735fcd, 0x3fd84925d231a019, 0x3febf0941ef1f055, 0x3fd3bfb353bdb40c,
    0xbfd827ac95d68ce1,
};

static const uint64_t matrices_four[] = {
    0x3ff0000000000000, 0x3fe0000000000000, 0x3fd5555555555555, 0x3fd0000000000000, 0x3fe0000000000000,
    0x3fd5555555555555, 0x3fd0000000000000, 0x3fc999999999999a, 0x3fd5555555555555, 0x3fd0000000000000,
    0x3fc999999999999a, 0x3fc5555555555555, 0x3fd0000000000000, 0x3fc999999999999a, 0x3fc5555555555555,
    0x3fc2492492492492, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
    0x3ff0000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x3ff0000000000000,
    0x3ff0000000000000, 0x0000000000000000, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000,
    0x3ff0000000000000, 0x0000000000000000,
};
static const uint64_t values_four[] = {
    0x3f195994eed27d7a, 0x3f7b99978c4ab895, 0x3fc5a66b64a0da4d, 0x3ff800e0b05d8bd0,
    0xbff0000000000001, 0xbff0000000000000, 0xbff0000000000000, 0x4008000000000000,
};
static const uint64_t vectors_four[] = {
    0x3f9de4dac1046b1d, 0xbfd5099e4a5371d0, 0x3fe9533d77a1619a, 0xbfe077375429bf9b, 0xbfc6ef938cdee403,
    0x3fe7bdca60e23bae, 0xbfb9a88d1a53c38d, 0xbfe46ccf7b066488, 0x3fe2a05d37a461f8, 0xbfd7b64ecbfd6bcb,
    0xbfe04e77da3d9e40, 0xbfe073155cb84dd6, 0x3fe95d0c1022c728, 0x3fdcec4ef4250834, 0x3fd4a27863e69831,
    0x3fd023689a48746c, 0xbfd279a74590331d, 0xbfd279a74590331d, 0xbfd279a74590331d, 0x3febb67ae8584ca9,
    0x3fe6a09e667f3bcc, 0xbfe6a09e667f3bcc, 0x0000000000000000, 0x0000000000000000, 0xbfda20bd700c2c3e,
    0xbfda20bd700c2c3e, 0x3fea20bd700c2c3f, 0x0000000000000000, 0x3fe0000000000000, 0x3fe0000000000000,
    0x3fe0000000000000, 0x3fe0000000000000,
};

static const uint64_t matrices_seven[] = {
    0xbfd68ca5e0d58b24, 0xbfe6587cb4d766c8, 0x3fd351d220c5c7fc, 0xbfeb5d34316e07c0, 0x3fb25f2046063a00,
    0xbfd1311b06ace67c, 0xbfec49bee0b8ed14, 0x3f8e74ee6deceb80, 0xbfed99abcf4ffae6, 0xbfc0fc98b29e5570,
    0xbfeb877d1e131f48, 0xbfea31c20b97748a, 0xbfc352b5de1bc450, 0x3fe4eb252c860c96, 0xbfe813a0f06b9f7e,
    0xbfe1b673eaf47a68, 0x3fd04fbb5953f48c, 0x3feca743687eb186, 0x3fc3bd04d2bcc158, 0xbfca7325fe69c3b0,
    0x3fee7af6b1c4c68c, 0xbfed04ca138bf348, 0x3fe6f125b110bdf4, 0xbfdaee15394b34dc, 0xbfe6c48653acace2,
    0xbfe876178b6ec4ce, 0xbfd883aae7092fac, 0x3fe43b6a0d74bdd4, 0xbfe46efa9f2cf122, 0x3fc4e3bf92474e68,
    0x3fd1c7eaa301850c, 0xbfd05546fe70eca4, 0x3fb871f66d933900, 0xbfebfb43f37c2c7a, 0xbfec2f7e930c44b4,
    0xbfe2d1928c0757d8, 0x3fd71758a881ed14, 0xbfc2894f8720f120, 0xbfd7ca06888ce510, 0x3fc5e761dd8cd4f0,
    0xbfb7f837a8dbd5b0, 0xbfd9a13c2c0671dc, 0x3fe2d71d0970298c, 0x3fd978a64c7a2ea0, 0xbfe060b907585c68,
    0x3fc30d6ea99ba408, 0x3fa9cd1cbf5ff900, 0x3fe80240b2bf702e, 0x3fdd5e76972e6cc0, 0xbfdb24daf641b434,
    0x3feebb2f4895ea56, 0xbfe8719c3be78fc4, 0xbfc4f5e71ab8a168, 0x3fe074ff3abc87c0, 0xbfe645e2a888a9a2,
    0xbf969a83940b93c0, 0xbfed7da0d84dc8f2, 0x3fd58818e13deef8, 0x3fe0eebaa476f06a, 0x3fc2b1d3f9404268,
    0x3fe807d4168bfcd6, 0xbfd7d71f1a8edbdc, 0x3fd8ff70459a54a4, 0x3fc8289fcfe4c288, 0x3fc4740319802398,
    0xbfb66c413b996350, 0x3fe5c20838bfaf40, 0x3fec75a7b228d5ec, 0xbfaa85f726c75360, 0x3fd502f0810a3d68,
    0xbfec1dfdfa2695f0, 0x3fd9ca7d94f426dc, 0x3fd2d51e493f4488, 0x3fef8ee245732c78, 0x3fe49a6a6b90ac1a,
    0xbfdb925fa488b14c, 0xbfcd3cc5a39d5db0, 0x3fd59669858d5560, 0xbfee8e5438798d40, 0xbfb39cace9401380,
    0xbfe53eb2031cd638, 0xbfe88180a40ceab0, 0xbfec3a173e411c4a, 0x3fe12abab24ca91c, 0xbfe7b8e3ca17d4f2,
    0xbfe027141cd11b06, 0xbfcbeab862a97108, 0x3fe7c560abf8d880, 0xbfead7c186ab4828, 0xbfba041be64b75f0,
    0x3fb9503011c81dc0, 0x3fe8895c51186cba, 0x3fe46f14b371b554, 0x3fe74b858466d982, 0xbfdc5cb2d4b29960,
    0xbfc5af20a06edc98, 0xbfd213c955139100, 0x3fe8969d830b24ce,
};
static const uint64_t values_seven[] = {
    0xc002c58e8a2875e2, 0xbff535e0295e2cfb, 0xbfe11a1aa7f45ef9, 0xbfcdd549d288e3d3, 0x3fdbf362115c8122,
    0x3ff07cd87c085692, 0x3ffb2fe8aa5345b8, 0xc001215ba7638196, 0xbff32992fad4f22b, 0xbfe7f1f40df29b1c,
    0xbfb21b0b44b41d92, 0x3fd9caddb11ef9a2, 0x3ffc6572f9413831, 0x40058949ed188144,
};
static const uint64_t vectors_seven[] = {
    0x3fe1cf140ffaa157, 0xbfd43c405a51359e, 0x3fc43630f20b90c5, 0x3fe39fbfcffd4c64, 0x3fc88d16c4eaf08c,
    0x3fd66a05e09c8928, 0xbfc61dc2ef0c0467, 0x3fd6927e2153ac24, 0x3fea43def8bcc92a, 0x3fd7d5ee1205e87e,
    0xbfb780b7c53978be, 0xbf9bb491674cf1f2, 0x3fb4a36ce903ce7b, 0xbfcbe9c0b2a6b928, 0x3fa46b9c3862c719,
    0x3f907ca2ccf5a295, 0x3fde8955c899ac0a, 0x3fd45df87c62998a, 0x3faef951c92c2f14, 0xbfe204f64d59d5c7,
    0x3fe2e3ded0000d0f, 0x3fcb6d75fbe182d7, 0x3fb758bec0d660d4, 0xbfd6eb1c6fd499ab, 0xbfbe1c9e24e5aab3,
    0x3fe9a2806a3fd7e6, 0xbfd8b211348ea346, 0xbfbd423bb2a13be0, 0xbfd631feb64c4655, 0x3fd4ca50796534ea,
    0xbfd66748db10bda4, 0x3fe5f0f5a21b579e, 0xbfc52e0553e54e23, 0xbfd053026a2bec21, 0xbfd31a5216e3bbfb,
    0xbfe083e44b9dd2af, 0x3fcc0a1a558e7576, 0x3fc1c8d369f555e7, 0x3fc48d99a41b0f4a, 0x3fe0213a3a4a6d45,
    0x3fe1732d8d53afad, 0x3fd31b6a0a6e294d, 0x3fd73af1507177f3, 0x3fd039181021af9c, 0xbfe29f10416e1ddc,
    0x3fb11c5848437357, 0xbfc829033ca42bce, 0x3fca5ea80a377372, 0x3fe3ccad1944be83, 0x3fdd4b8c4a81dbd4,
    0x3fe02045c15dbdf0, 0x3fa4983bbe7ccf1a, 0x3fa29011ab28c6e3, 0x3fe0ef7a89f2c0d1, 0x3fde95746ba55d51,
    0xbfc44ba42c153511, 0xbfe46e08bc99b91f, 0xbfb721aa8c221655, 0xbfadab4f29ff6c0d, 0x3f766fe01a6f28bf,
    0x3fe4f9b676b3a0d7, 0x3fbbf2c33e05fd10, 0x3fd7e276fc29fe56, 0xbfd3948a530f8f94, 0x3fa096d9f83154f5,
    0x3fe6ac328f6af72c, 0xbfdfb2d831b1ae7b, 0xbfb6af098d6699a3, 0x3fcdb02e806165c2, 0xbfd3deac9fca0249,
    0xbf99955fd4a95828, 0xbfa42aa6cfbb236a, 0xbfda8beeb3c4cf88, 0xbfdb32801d39ad4b, 0xbfd6e3ee246f0ff9,
    0x3fe46ee5eeca429b, 0x3fd52e653a0e824e, 0xbfd2a495fdf8a4d7, 0x3fe2c7dbd50e2730, 0xbfdc0fd0aed7b867,
    0xbfd904e636dfe1d1, 0xbf76e50063279bac, 0xbfd77ef533b31f40, 0xbfd34963ce1dd768, 0x3f838e53a929a44f,
    0x3fe24d521881051e, 0x3fd6c9c08f43ab4d, 0x3fb5d9861d8d2e59, 0xbfce94a4d19ad682, 0xbfc47d6617a6a528,
    0x3fe59c07e1566dc8, 0xbfdce2dda068374e, 0x3fd027b563e9e430, 0xbfa68ad749f7de51, 0x3fe48e592801e9a9,
    0xbfd3f888b947c946, 0x3fd7c1bcec79591f, 0xbfd26b1a75a5fc19,
};

static const uint32_t orders[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* clang-format off */
static const struct svmx__known known[] = {
    {values_two, sizeof values_two}, {vectors_two, sizeof vectors_two}, {matrices_two, sizeof matrices_two}, {&orders[2], 4},
    {values_three, sizeof values_three}, {vectors_three, sizeof vectors_three}, {matrices_three, sizeof matrices_three}, {&orders[3], 4},
    {values_four, sizeof values_four}, {vectors_four, sizeof vectors_four}, {matrices_four, sizeof matrices_four}, {&orders[4], 4},
    {values_seven, sizeof values_seven}, {vectors_seven, sizeof vectors_seven}, {matrices_seven, sizeof matrices_seven}, {&orders[7], 4},
    {NULL, 0}, {NULL, 0}, {NULL, 0}, {&orders[5], 4},
};
/* clang-format on */

const struct svmx__op svmx__op_eigh_f64 = {
    .name = "eigh_f64",
    .summary = "eigenvalues and eigenvectors of symmetric matrices of order 2 to 32",
    .unit = "problem",
    .params = params,
    .id = SVMX_OP_EIGH_F64,
    .param_count = PARAMS,
    .itemwise = true,
    .check = check,
    .reference = reference,
    .shape = shape,
    .trial_size = 19,
    .known = known,
    .known_count = sizeof known / sizeof *known / PARAMS,
};

/*
 * ops_float.c: suite ops, the float vectors: bandwidth against memcpy, exponentials against libmvec.
 *
 * Bandwidth is bytes that the program reads and writes, each counted once: memcpy moves two bytes for a byte
 * copied, relu 8 for an element, add and mul 12, max_abs_diff 8. What a cache reads of a line before it is written
 * is not counted, for neither. Both sides touch as many bytes in all: three quarters of L2 for each thread, or
 * four times L3.
 *
 * An exponential is one element: each of the family needs one. So each is compared with expf of libmvec, element by
 * element, and, without an ask, with the same function made of it. 64 Ki elements for each thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_mvec.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { EXP_ELEMENTS = 64 * 1024, SOFTMAX_WIDTH = 1024, MIB = 1024 * 1024 };

/* Three arrays, each as long as the longest case has; none shares its offset in a page with another. */
struct arrays {
    float *out, *a, *b;
    float *peer_out; /* for exponentials */
};

/* ---- bandwidth ---------------------------------------------------------------------------------------------- */

struct copy {
    char *to;
    const char *from;
    size_t bytes;
};

static void copy_part(void *user, uint32_t index, uint32_t count) {
    const struct copy *copy = user;
    size_t first = ops_share(copy->bytes / 64, index, count) * 64,
           end = ops_share(copy->bytes / 64, index + 1, count) * 64;
    memcpy(copy->to + first, copy->from + first, end - first);
}

static void run_copy(void *user, struct ops_team *team) { ops_team_run(team, copy_part, user); }

static const struct mover {
    const char *op, *name;
    uint32_t inputs, outputs; /* arrays; max_abs_diff writes one element */
} movers[] = {{"relu_f32", "relu_f32", 1, 1},
              {"vec_add_f32", "vec_add_f32", 2, 1},
              {"vec_mul_f32", "vec_mul_f32", 2, 1},
              {"max_abs_diff_f32", "max_abs_diff_f32", 2, 0}};

enum { MOVERS = sizeof movers / sizeof movers[0] };

/* All arrays of the task together have `bytes`. */
static struct ops_call call_of(const struct mover *mover, const struct arrays *arrays, size_t bytes) {
    uint64_t n = bytes / (mover->inputs + mover->outputs) / sizeof(float) / 16 * 16;
    struct ops_call call = {.op = mover->op, .items = n * sizeof(float) * (mover->inputs + mover->outputs)};
    call.args[call.count++] = svmx_out(SVMX_F32, arrays->out, mover->outputs ? n : 1);
    call.args[call.count++] = svmx_in(SVMX_F32, arrays->a, n);
    if (mover->inputs == 2) call.args[call.count++] = svmx_in(SVMX_F32, arrays->b, n);
    return call;
}

static void move(struct ops *ops, const struct mover *mover, const struct arrays *arrays, const char *where,
                 const size_t bytes[2]) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s in %s", mover->name, where);
    struct copy copies[2];
    for (int i = 0; i < 2; i++)
        copies[i] = (struct copy){(char *)arrays->out, (const char *)arrays->a, bytes[i] / 2 / 64 * 64};
    ops_run(ops, &(struct ops_case){.name = name,
                                    .call = {call_of(mover, arrays, bytes[0]), call_of(mover, arrays, bytes[1])},
                                    .peer = {.name = "memcpy",
                                             .run = run_copy,
                                             .user = {&copies[0], &copies[1]},
                                             .items = {2 * copies[0].bytes, 2 * copies[1].bytes}},
                                    .unit = "GB/s",
                                    .scale = 1,
                                    .ask = {{0.9, 0.9}, {0.9, 0.9}}});
}

/* ---- exponentials ------------------------------------------------------------------------------------------- */

struct exponentials {
    mvec_fn fn;
    float *out;
    const float *a;
    size_t n;
};

/* To about three digits: the peer must do the same work, not as exactly. */
static bool about_the_same(const struct ops_call *call, const void *user) {
    const struct exponentials *e = user;
    const float *ours = call->args[0].from.out;
    for (size_t i = 0; i < e->n; i++)
        if (!(fabsf(e->out[i] - ours[i]) <= 1e-3f * fabsf(ours[i]) + 1e-6f)) return false;
    return true;
}

/* Whole rows of softmax, which are multiples of a vector as well. */
static void exp_part(void *user, uint32_t index, uint32_t count) {
    const struct exponentials *e = user;
    size_t rows = e->n / SOFTMAX_WIDTH;
    size_t first = ops_share(rows, index, count) * SOFTMAX_WIDTH,
           end = ops_share(rows, index + 1, count) * SOFTMAX_WIDTH;
    e->fn(e->out + first, e->a + first, end - first, SOFTMAX_WIDTH);
}

static void run_exp(void *user, struct ops_team *team) { ops_team_run(team, exp_part, user); }

static struct ops_call exp_call(const char *op, const struct arrays *arrays, uint64_t n) {
    struct ops_call call = {.op = op, .items = n, .count = 2};
    call.args[0] = svmx_out(SVMX_F32, arrays->out, n);
    call.args[1] = svmx_in(SVMX_F32, arrays->a, n);
    if (strstr(op, "softmax")) call.args[call.count++] = svmx_u64(SOFTMAX_WIDTH);
    if (strcmp(op, "elu_f32") == 0) call.args[call.count++] = svmx_f32(1); /* alpha */
    return call;
}

/* `op` of ours beside `other` of libmvec. */
static void exponential(struct ops *ops, const char *name, const char *op, const char *other,
                        const struct arrays *arrays, struct ops_ask ask) {
    const uint64_t n[2] = {EXP_ELEMENTS, (uint64_t)EXP_ELEMENTS * ops->threads};
    struct ops_peer peer = {.name = "libmvec", .run = run_exp};
    mvec_fn fn = mvec_find(other, ops->class == OPS_AVX512, &peer.missing);
    struct exponentials users[2];
    for (int i = 0; i < 2; i++) {
        users[i] = (struct exponentials){fn, arrays->peer_out, arrays->a, n[i]};
        peer.user[i] = &users[i];
    }
    ops_run(ops, &(struct ops_case){.name = name,
                                    .call = {exp_call(op, arrays, n[0]), exp_call(op, arrays, n[1])},
                                    .peer = peer,
                                    .unit = "G exp/s",
                                    .scale = 1,
                                    .ask = {ask, ask},
                                    .peer_right = strcmp(op, other) == 0 ? about_the_same : NULL});
}

static void exponentials(struct ops *ops, const struct arrays *arrays) {
    static const char *const family[] = {"exp_f32",  "sigmoid_f32", "tanh_f32",    "swish_f32",
                                         "gelu_f32", "elu_f32",     "softmax_f32", "log_softmax_f32"};
    const struct ops_ask ask = {0.8, 0.8}, none = {0, 0};
    for (size_t i = 0; i < sizeof family / sizeof family[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s beside expf", family[i]);
        exponential(ops, name, family[i], "exp_f32", arrays, ask);
        (void)snprintf(name, sizeof name, "%s, like with like", family[i]);
        if (i > 0) exponential(ops, name, family[i], family[i], arrays, none);
    }
}

/* ---- the suite ---------------------------------------------------------------------------------------------- */

/* Of one core, or of all; virtual machines may not say. */
static size_t cache_bytes(int name, size_t otherwise) {
    long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : otherwise;
}

int main(void) {
    struct ops ops;
    if (!ops_open(&ops, "float vectors")) return ops_close(&ops);
    const size_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, MIB), l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 * MIB);
    const size_t in_cache[2] = {l2 / 4 * 3, l2 / 4 * 3 * ops.threads};
    size_t past = 4 * l3 < 64 * MIB ? 64 * MIB : 4 * l3 > 1024 * (size_t)MIB ? 1024 * (size_t)MIB : 4 * l3;
    const size_t in_memory[2] = {past, past};
    const size_t longest = (in_cache[1] > past ? in_cache[1] : past) / 2 + EXP_ELEMENTS * sizeof(float) * ops.threads;
    struct arrays arrays = {ops_memory(longest), ops_memory(longest), ops_memory(longest),
                            ops_memory(EXP_ELEMENTS * sizeof(float) * ops.threads)};
    ops_fill_f32(arrays.a, longest / sizeof(float), -10, 10, 1);
    ops_fill_f32(arrays.b, longest / sizeof(float), -10, 10, 2);

    for (int i = 0; i < MOVERS; i++) move(&ops, &movers[i], &arrays, "L2", in_cache);
    for (int i = 0; i < MOVERS; i++) move(&ops, &movers[i], &arrays, "memory", in_memory);
    exponentials(&ops, &arrays);
    return ops_close(&ops);
}

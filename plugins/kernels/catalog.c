/*
 * catalog.c: see catalog.h. The table of operations with device code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "catalog.h"

#include <string.h>

/* ---- geometries that several operations share ------------------------------------------------------------------- */

/* Elementwise operations: a work-item a grain on CPUs, a work-group a grain on GPUs. */
#define MAP_CPU                                                                                                        \
    { "map_items", CATALOG_UNITS, CATALOG_ITEM, 1, 1024, 16384 }
#define MAP_GPU                                                                                                        \
    { "map_groups", CATALOG_UNITS, CATALOG_GROUP, 64, 256, 1024 }

/* Chains of them: blocks of 256 elements. */
#define CHAIN_CPU                                                                                                      \
    { "chain_items", CATALOG_UNITS, CATALOG_ITEM, 1, 1024, 16384 }
#define CHAIN_GPU                                                                                                      \
    { "chain_groups", CATALOG_UNITS, CATALOG_GROUP, 64, 256, 1024 }

/* Reductions: units are blocks of 4096 elements. */
#define REDUCE_CPU                                                                                                     \
    {"reduce_items", CATALOG_UNITS, CATALOG_ITEM, 1, 1, 4}, {                                                          \
        "reduce_tasks_items", CATALOG_TASKS, CATALOG_ITEM, 1, 1, 64                                                    \
    }
#define REDUCE_GPU                                                                                                     \
    {"reduce_groups", CATALOG_UNITS, CATALOG_GROUP, 64, 1, 4}, {                                                       \
        "reduce_tasks_groups", CATALOG_TASKS, CATALOG_GROUP, 64, 1, 8                                                  \
    }

/* Rows: of any width, so few to a taker. */
#define SOFTMAX_CPU                                                                                                    \
    { "softmax_items", CATALOG_UNITS, CATALOG_ITEM, 1, 1, 4 }
#define SOFTMAX_GPU                                                                                                    \
    { "softmax_groups", CATALOG_UNITS, CATALOG_GROUP, 64, 1, 4 }

/* ---- families: what their entries have in common ---------------------------------------------------------------- */

enum { F32 = false, F64 = true };

/* An elementwise operation: its file and function there, how many arrays and numbers it takes. */
#define MAP_WITH(function, inputs, scalars) " -DOP=" function " -DINPUTS=" #inputs " -DSCALARS=" #scalars
#define MAP_VARIANTS(with)                                                                                             \
    {"cpu", CATALOG_CPU, "-DWIDTH=16" with, {MAP_CPU}}, {                                                              \
        "gpu", CATALOG_ANY, "-DWIDTH=1" with, { MAP_GPU }                                                              \
    }
#define MAP(op_, type, file, function, inputs, scalars)                                                                \
    {                                                                                                                  \
        .op = op_, .sources = {"width.cl", file, "map.cl"}, .f64 = type, .variants = {                                 \
            MAP_VARIANTS(MAP_WITH(function, inputs, scalars))                                                          \
        }                                                                                                              \
    }

/* Where a device's own division fails the known answers, the one of common.cl comes next. */
#define SOFT(with, pass)                                                                                               \
    {                                                                                                                  \
        "softdiv", CATALOG_ANY, "-DSVMX_SOFT_DIVIDE -DWIDTH=1" with, { pass }                                          \
    }
#define MAP_DIVIDING(op_, function)                                                                                    \
    {                                                                                                                  \
        .op = op_, .sources = {"width.cl", "exp.cl", "map.cl"}, .variants = {                                          \
            MAP_VARIANTS(MAP_WITH(function, 1, 0)),                                                                    \
            SOFT(MAP_WITH(function, 1, 0), MAP_GPU)                                                                    \
        }                                                                                                              \
    }

/* A reduction: its file and name there, how many arrays it takes. */
#define REDUCE(op_, type, file, name, inputs)                                                                          \
    {                                                                                                                  \
        .op = op_, .sources = {"width.cl", file, "tree.cl", "reduce.cl"}, .f64 = type, .variants = {                   \
            {"cpu", CATALOG_CPU, "-DWIDTH=16 -DOP=" name " -DINPUTS=" #inputs, {REDUCE_CPU}},                          \
            {"gpu", CATALOG_ANY, "-DWIDTH=1 -DOP=" name " -DINPUTS=" #inputs, {REDUCE_GPU}},                           \
        }                                                                                                              \
    }

#define SOFTMAX(op_, with)                                                                                             \
    {                                                                                                                  \
        .op = op_, .sources = {"width.cl", "exp.cl", "sums.cl", "tree.cl", "softmax.cl"}, .variants = {                \
            {"cpu", CATALOG_CPU, "-DWIDTH=16" with, {SOFTMAX_CPU}},                                                    \
            {"gpu", CATALOG_ANY, "-DWIDTH=1" with, {SOFTMAX_GPU}},                                                     \
            SOFT(with, SOFTMAX_GPU)                                                                                    \
        }                                                                                                              \
    }

/* Hashes of messages: `lanes` of them at once in a work-item on CPUs, one on GPUs. A larger grain is no faster, and of few
 * work-groups a thread of the driver's that wakes up late gets less than its share. */
#define MESSAGES(op_, lanes)                                                                                           \
    {                                                                                                                  \
        .op = op_, .sources = {op_ ".cl", "transpose.cl", "lanes.cl", "messages.cl"}, .variants = {                    \
            {"lanes" #lanes,                                                                                           \
             CATALOG_CPU,                                                                                              \
             "-DLANES=" #lanes,                                                                                        \
             {{"messages_lanes", CATALOG_UNITS, CATALOG_ITEM, 1, 32, 256}}},                                           \
            {"gpu", CATALOG_ANY, "-DLANES=1", {{"messages_items", CATALOG_UNITS, CATALOG_ITEM, 64, 1, 1}}},            \
        }                                                                                                              \
    }

/* Trees: a work-group a subtree, then one a task; it is one work-item on CPUs. */
#define MERKLE_PASSES(local)                                                                                           \
    {                                                                                                                  \
        {"merkle_units", CATALOG_UNITS, CATALOG_GROUP, local, 1, 1},                                                   \
            {"merkle_tasks", CATALOG_TASKS, CATALOG_GROUP, local, 1, 1},                                               \
    }
#define MERKLE(op_, hash, lanes, options)                                                                              \
    {                                                                                                                  \
        .op = op_, .sources = {hash ".cl", "transpose.cl", "lanes.cl", "merkle.cl"}, .variants = {                     \
            {"lanes" #lanes, CATALOG_CPU, "-DLANES=" #lanes options, MERKLE_PASSES(1)},                                \
            {"gpu", CATALOG_ANY, "-DLANES=1" options, MERKLE_PASSES(128)},                                             \
        }                                                                                                              \
    }

/* Grids: a work-item a grid on CPUs, a work-group a grid on GPUs. */
#define GRID(op_, move)                                                                                                \
    {                                                                                                                  \
        .op = op_, .sources = {"transpose.cl", "grid.cl"}, .variants = {                                               \
            {"cpu",                                                                                                    \
             CATALOG_CPU,                                                                                              \
             "-DLANES=16 -DW=uchar16 -DMOVE=" move,                                                                    \
             {{"grid_items", CATALOG_UNITS, CATALOG_ITEM, 1, 16, 128}}},                                               \
            {"gpu", CATALOG_ANY, "-DLANES=1 -DMOVE=" move, {{"grid_groups", CATALOG_UNITS, CATALOG_GROUP, 64, 1, 8}}}, \
        }                                                                                                              \
    }

/* Matrix products: rows and vectors of a block in registers suit 32 or 16 vector registers of a CPU. */
#define MATMUL_CPU                                                                                                     \
    { "matmul_items", CATALOG_UNITS, CATALOG_ITEM, 1, 1, 8 }
#define MATMUL_GPU                                                                                                     \
    { "matmul_groups", CATALOG_UNITS, CATALOG_GROUP, 128, 1, 1 }
#define MATMUL(op_, sizes)                                                                                             \
    {                                                                                                                  \
        .op = op_, .sources = {"matmul.cl"}, .variants = {                                                             \
            {"cpu", CATALOG_CPU, "-DROWS=12 -DVECTORS=2 -DSIZES=" #sizes, {MATMUL_CPU}},                               \
            {"cpu6", CATALOG_CPU, "-DROWS=6 -DVECTORS=1 -DSIZES=" #sizes, {MATMUL_CPU}},                               \
            {"gpu", CATALOG_ANY, "-DSIZES=" #sizes, {MATMUL_GPU}},                                                     \
        }                                                                                                              \
    }

/* Arithmetic modulo a number: an element costs more than in vectors of floats. */
#define FIELD_CPU(kernel)                                                                                              \
    { kernel, CATALOG_UNITS, CATALOG_ITEM, 1, 256, 4096 }
#define FIELD_GPU(kernel)                                                                                              \
    { kernel, CATALOG_UNITS, CATALOG_GROUP, 64, 256, 4096 }

/* Sums and differences of so many words. */
#define FIELD_SUM(op_, function, size)                                                                                 \
    {                                                                                                                  \
        .op = op_, .sources = {"field.cl"}, .variants = {                                                              \
            {"cpu", CATALOG_CPU, "-DWORD=64 -DSIZE=" #size " -DOP=field_" function, {FIELD_CPU("field_items")}},       \
            {"gpu", CATALOG_ANY, "-DWORD=32 -DSIZE=" #size " -DOP=field_" function, {FIELD_GPU("field_groups")}},      \
        }                                                                                                              \
    }

/* Products: `limbs` has the limbs that vectors take. */
#define FIELD_PRODUCT(op_, function, size, limbs)                                                                      \
    {                                                                                                                  \
        .op = op_, .sources = {"field.cl", "field_lanes.cl"}, .variants = {                                            \
            {"lanes8", CATALOG_CPU, limbs " -DSIZE=" #size " -DOP=lanes_" function, {FIELD_CPU("field_lanes")}},       \
            {"cpu", CATALOG_CPU, "-DWORD=64 -DSIZE=" #size " -DOP=field_" function, {FIELD_CPU("field_items")}},       \
            {"gpu", CATALOG_ANY, "-DWORD=32 -DSIZE=" #size " -DOP=field_" function, {FIELD_GPU("field_groups")}},      \
        }                                                                                                              \
    }

#define GOLDILOCKS(op_)                                                                                                \
    {                                                                                                                  \
        .op = op_, .sources = {"goldilocks.cl"}, .variants = {                                                         \
            {"cpu", CATALOG_CPU, "-DWIDTH=8 -DOP=" op_, {FIELD_CPU("goldilocks_items")}},                              \
            {"gpu", CATALOG_ANY, "-DWIDTH=1 -DOP=" op_, {FIELD_GPU("goldilocks_groups")}},                             \
        }                                                                                                              \
    }

/* Signatures: a work-item each. */
#define SIGNATURES(kernel)                                                                                             \
    {                                                                                                                  \
        { kernel, CATALOG_UNITS, CATALOG_ITEM, 64, 1, 1 }                                                              \
    }

/* Eigenvalues: few matrices to a taker, since they may be of order 32. */
#define EIGH_CPU                                                                                                       \
    { "eigh_items", CATALOG_UNITS, CATALOG_ITEM, 1, 8, 64 }
#define EIGH_GPU                                                                                                       \
    { "eigh_groups", CATALOG_UNITS, CATALOG_GROUP, 32, 1, 8 }

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct catalog_entry entries[] = {
    MAP("vec_add_f32", F32, "vec.cl", "vec_add", 2, 0),
    MAP("vec_sub_f32", F32, "vec.cl", "vec_sub", 2, 0),
    MAP("vec_mul_f32", F32, "vec.cl", "vec_mul", 2, 0),
    MAP("axpy_f32", F32, "vec.cl", "axpy", 2, 1),
    MAP("vec_add_f64", F64, "vec.cl", "vec_add", 2, 0),
    MAP("axpy_f64", F64, "vec.cl", "axpy", 2, 1),
    MAP("relu_f32", F32, "rectify.cl", "relu", 1, 0),
    MAP("leaky_relu_f32", F32, "rectify.cl", "leaky_relu", 1, 1),
    MAP("clip_f32", F32, "rectify.cl", "clip", 1, 2),
    MAP("exp_f32", F32, "exp.cl", "exponential", 1, 0),
    MAP("elu_f32", F32, "exp.cl", "elu", 1, 1),
    MAP_DIVIDING("sigmoid_f32", "sigmoid"),
    MAP_DIVIDING("tanh_f32", "hyperbolic"),
    MAP_DIVIDING("swish_f32", "swish"),
    MAP_DIVIDING("gelu_f32", "gelu"),
    {.op = "chain_f32",
     .sources = {"width.cl", "vec.cl", "rectify.cl", "exp.cl", "chain.cl"},
     .variants = {{"cpu", CATALOG_CPU, "-DWIDTH=16 -DBLOCK=16", {CHAIN_CPU}},
                  {"gpu", CATALOG_ANY, "-DWIDTH=1 -DBLOCK=4", {CHAIN_GPU}},
                  SOFT(" -DBLOCK=1", CHAIN_GPU)}},
    REDUCE("sum_f32", F32, "sums.cl", "sum", 1),
    REDUCE("dot_f32", F32, "sums.cl", "product", 2),
    REDUCE("sum_f64", F64, "sums.cl", "sum", 1),
    REDUCE("max_f32", F32, "extremes.cl", "greatest", 1),
    REDUCE("min_f32", F32, "extremes.cl", "least", 1),
    REDUCE("max_abs_diff_f32", F32, "extremes.cl", "difference", 2),
    REDUCE("max_abs_diff_f64", F64, "extremes.cl", "difference", 2),
    SOFTMAX("softmax_f32", " -DLOG=0"),
    SOFTMAX("log_softmax_f32", " -DLOG=1"),
    MESSAGES("sha256", 16),
    MESSAGES("keccak256", 8),
    MERKLE("merkle_root_sha256", "sha256", 16, ""),
    MERKLE("merkle_root_keccak256", "keccak256", 8, ""),
    MERKLE("merkle_tree_sha256", "sha256", 16, " -DTREE"),
    MERKLE("merkle_tree_keccak256", "keccak256", 8, " -DTREE"),
    GRID("grid_transpose_u8", "TRANSPOSE"),
    GRID("grid_rotate_u8", "ROTATE"),
    GRID("grid_flip_u8", "FLIP"),
    MATMUL("matmul_f32", 3),
    MATMUL("matmul_batch_f32", 4),

    FIELD_SUM("mod_add_u256", "add", 4),
    FIELD_SUM("mod_sub_u256", "sub", 4),
    FIELD_PRODUCT("mod_mul_u256", "mul -DSQUARE", 4, "-DBITS=29 -DLIMBS=9"),
    FIELD_PRODUCT("mont_mul_u256", "mont", 4, "-DBITS=29 -DLIMBS=9"),
    FIELD_SUM("mod_add_u384", "add", 6),
    FIELD_SUM("mod_sub_u384", "sub", 6),
    FIELD_PRODUCT("mod_mul_u384", "mul -DSQUARE", 6, "-DBITS=28 -DLIMBS=14"),
    FIELD_PRODUCT("mont_mul_u384", "mont", 6, "-DBITS=28 -DLIMBS=14"),
    GOLDILOCKS("goldilocks_add"),
    GOLDILOCKS("goldilocks_mul"),

    {.op = "ecrecover",
     .sources = {"keccak256.cl", "fe32.cl", "scalar32.cl", "secp256k1_rows.cl", "secp256k1.cl", "ecrecover.cl"},
     .calls = true,
     .variants = {{"gpu", CATALOG_ANY, "-DLANES=1 -DFE_BITS=256", SIGNATURES("ecrecover")}}},
    {.op = "ecdsa_verify_secp256k1",
     .sources = {"fe32.cl", "scalar32.cl", "secp256k1_rows.cl", "secp256k1.cl", "ecdsa.cl"},
     .calls = true,
     .variants = {{"gpu", CATALOG_ANY, "-DFE_BITS=256", SIGNATURES("ecdsa_verify")}}},
    {.op = "ed25519_verify",
     .sources = {"fe32.cl", "scalar32.cl", "sha512.cl", "ed25519_rows.cl", "ed25519.cl"},
     .calls = true,
     .variants = {{"gpu", CATALOG_ANY, "-DFE_BITS=255", SIGNATURES("ed25519_verify")}}},

    {.op = "eigh_f64",
     .sources = {"eigh.cl"},
     .f64 = true,
     .variants = {{"lanes8", CATALOG_CPU, "-DLANES=8", {EIGH_CPU}}, {"gpu", CATALOG_ANY, "", {EIGH_GPU}}}},
};

enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

const struct catalog_entry *catalog_at(uint32_t index) { return index < ENTRY_COUNT ? &entries[index] : NULL; }

const struct catalog_entry *catalog_find(const char *op) {
    for (uint32_t i = 0; i < ENTRY_COUNT; i++)
        if (strcmp(entries[i].op, op) == 0) return &entries[i];
    return NULL;
}

const struct catalog_variant *catalog_variant(const struct catalog_entry *entry, uint32_t devices, uint32_t n) {
    for (uint32_t i = 0; i < CATALOG_VARIANTS && entry->variants[i].name; i++)
        if ((entry->variants[i].devices & devices) && n-- == 0) return &entry->variants[i];
    return NULL;
}

static bool fits(const struct catalog_variant *variant, size_t max_group) {
    for (uint32_t i = 0; i < CATALOG_PASSES && variant->passes[i].kernel; i++)
        if (variant->passes[i].local > max_group) return false;
    return true;
}

/* A name that no variant of that kind has is about another backend's. */
static bool is_about(const struct catalog_entry *entry, uint32_t devices, const char *name) {
    const struct catalog_variant *variant;
    for (uint32_t i = 0; name && (variant = catalog_variant(entry, devices, i)); i++)
        if (strcmp(variant->name, name) == 0) return true;
    return false;
}

const struct catalog_variant *catalog_pick(const struct catalog_entry *entry, uint32_t devices, size_t max_group,
                                           const char *only, uint32_t n) {
    const struct catalog_variant *variant;
    if (!is_about(entry, devices, only)) only = NULL;
    for (uint32_t i = 0; (variant = catalog_variant(entry, devices, i)); i++)
        if (fits(variant, max_group) && (!only || strcmp(variant->name, only) == 0) && n-- == 0) return variant;
    return NULL;
}

/* ---- geometry --------------------------------------------------------------------------------------------------- */

enum { SHARES = 4 }; /* pieces a compute unit should get, so that a slow one is not waited for */

uint32_t catalog_grain(const struct catalog_pass *pass, uint64_t bucket, uint32_t compute_units) {
    uint64_t share = bucket / ((uint64_t)SHARES * (compute_units ? compute_units : 1));
    uint32_t grain = pass->grain_min;
    while (grain < pass->grain_max && 2 * (uint64_t)grain <= share) grain *= 2;
    return grain;
}

uint64_t catalog_items(const struct catalog_pass *pass, uint32_t grain, uint64_t units, uint32_t tasks) {
    uint64_t count = pass->over == CATALOG_TASKS ? tasks : units;
    uint64_t takers = count / grain + (count % grain != 0);
    if (pass->by == CATALOG_GROUP) return takers * pass->local;
    return (takers + pass->local - 1) / pass->local * pass->local;
}

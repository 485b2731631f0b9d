/*
 * kernel.h: what a SIMD kernel is, and the tables of them.
 *
 * A kernel computes a range of units of a dispatch (svmx/plugin.h says what a unit is; docs/OPERATIONS.md says it
 * for each operation). It is called by several threads at once with ranges that do not overlap, in any order, and
 * fills its lanes across the borders of tasks: ten thousand tasks of one short message each keep every lane busy.
 *
 *   plugin.c   picks a table (variant.c), cuts a dispatch into ranges, hands them to pool.c
 *   *_scalar.c, *_avx2.c, *_avx512.c   the kernels, one instruction set a file, built with its own flags
 *
 * Same bits: whatever the variant, the range cuts and the thread count, the bytes written are the same. Addresses in
 * slots have any alignment. Kernels allocate nothing, make no system call, keep no state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_KERNEL_H
#define SVMX_SIMD_KERNEL_H

#include <stdint.h>
#include <svmx/plugin.h>

/* Computes the units [first, end) of a dispatch. What it stores past the caches (SIMD_FAR_BYTES and more) other threads see behind a
 * fence: the pool's, which has every launch of that size. */
typedef void (*simd_run_fn)(const struct svmx_dispatch *dispatch, uint64_t first, uint64_t end);

/* Combines what run left in the scratch of the tasks [first, end), once all their units are done. */
typedef void (*simd_finish_fn)(const struct svmx_dispatch *dispatch, uint32_t first, uint32_t end);

struct simd_kernel {
    const char *op;
    simd_run_fn run;          /* never NULL in a table: see hosted.h */
    simd_finish_fn finish;    /* NULL: nothing to combine */
    uint32_t units_per_grain; /* a range shorter than this wastes lanes */
    uint32_t ps_per_work;     /* rough cost of one work of the dispatch, picoseconds: worth a second thread? */
    uint32_t units_per_range; /* shorter ranges cost more a unit; 0: from a grain on they do not */
};

/* A variant: one instruction set's kernels. */
struct simd_variant {
    const char *name; /* "scalar", "avx2", "avx512" */
    const struct simd_kernel *kernels;
    uint32_t kernel_count;
};

/* From this many bytes of all operands on no cache holds them: outputs go past the caches, and inputs of a chain are fetched
 * ahead. About the size of a last-level cache. */
#define SIMD_FAR_BYTES (UINT64_C(24) << 20)

/* Elements in a block of a reduction: one unit. Inside it 64 lanes; docs/OPERATIONS.md has the tree. */
enum { SIMD_REDUCE_BLOCK = 4096, SIMD_REDUCE_LANES = 64 };

#endif

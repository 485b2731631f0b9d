/*
 * peer_ze.h: the Level Zero API used directly, as one would write it by hand for one piece of work: the same kernel, the same
 * kinds of memory, everything made once; a repeat is copy in, launch, copy out, wait.
 *
 * Errors of the driver end the program: there is nothing to measure then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_ZE_H
#define SVMX_TESTS_BENCH_PEER_ZE_H

#include <stddef.h>
#include <stdint.h>

/* Vector sums of many tasks as one launch. `in` is the table of tasks (plugin.h), then all inputs. */
struct fused {
    const void *in;
    size_t in_bytes, out_bytes;
    uint32_t tasks;
    uint64_t units;
    const void *spirv; /* the kernel is in it */
    size_t spirv_bytes;
    const char *kernel;
    uint32_t local, grain, groups;
};

struct peer_ze;

/* On the first device of the first driver. */
struct peer_ze *peer_ze_open(const struct fused *work);
void peer_ze_close(struct peer_ze *peer);

/* A lane of bench.h: user is the peer. */
void peer_ze_run(void *user, uint64_t repeats);

/* What the last repeat gave. */
const void *peer_ze_out(const struct peer_ze *peer);

#endif

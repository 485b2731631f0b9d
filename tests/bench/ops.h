/*
 * ops.h: what the programs of suites ops and signatures share: our side of a case through the public API, the check of its
 * results, one thread and all threads, the class of the machine.
 *
 *   ops_open    three executors: the SIMD backend with one thread, with all threads, and the reference code
 *   ops_run     one case: results checked, ours and the peer measured in turn, two rows: one thread, all threads
 *
 * A program of the suite links one group of peers: ops_hash, ops_float, ops_matmul, ops_field; suite signatures is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_OPS_H
#define SVMX_TESTS_BENCH_OPS_H

#include "bench.h"
#include "ops_team.h"

#include <svmx/svmx.h>

enum { OPS_MAX_ARGS = 8 };

/* What is asked for depends on what the SIMD backend runs on, which SUPERVM_VARIANT may lower. */
enum ops_class { OPS_NO_CLASS, OPS_AVX2, OPS_AVX512 };

/* How many threads a lane has. */
enum ops_width { OPS_ONE, OPS_ALL };

struct ops {
    struct bench bench;
    svmx_executor_t *executors[2]; /* by enum ops_width */
    svmx_batch_t *batches[2];
    svmx_executor_t *reference; /* the definition itself */
    svmx_batch_t *reference_batch;
    uint32_t threads; /* of OPS_ALL */
    enum ops_class class;
    struct ops_team *teams[2]; /* for peers: of 1 and of `threads` */
};

/* One task, to be run as a batch of its own, over and over. */
struct ops_call {
    const char *op;
    struct svmx_arg args[OPS_MAX_ARGS];
    size_t count;
    uint64_t items; /* that one run does, in whatever is counted */
};

/* What ours is compared with. */
struct ops_peer {
    const char *name;
    const char *missing; /* why it is not there; NULL: it is */
    /* Does the work once, with all of the team; a peer with threads of its own takes its number from it only. */
    void (*run)(void *user, struct ops_team *team);
    void (*enter)(void *user, struct ops_team *team); /* before and after a slice; may be NULL */
    void (*leave)(void *user, struct ops_team *team);
    void *user[2];               /* by enum ops_width */
    const struct ops_call *ours; /* instead of run: another operation of ours, in both widths */
    uint64_t items[2];           /* that one run does; 0: as many as ours */
};

struct ops_ask {
    double avx512, avx2; /* least ratio by class; 0 = nothing is asked for */
};

struct ops_case {
    const char *name;
    struct ops_call call[2]; /* by enum ops_width; without args, the second is the first */
    struct ops_peer peer;
    const char *unit;
    double scale;          /* figure = scale x items a ns */
    struct ops_ask ask[2]; /* by enum ops_width */
    bool peer_alone;       /* the peer has one thread in the row for all threads too: that ask is about scaling */
    const char *remark;    /* goes into the note; NULL = none */
    /* Whether the outputs are right. NULL: they are compared with those of the reference code, byte for byte. */
    bool (*right)(const struct ops_call *call);
    /* Whether the peer's outputs are right, after one run of each. NULL: not looked at. */
    bool (*peer_right)(const struct ops_call *call, const void *user);
};

/* Opens everything. false, after a row for `cases` that says so, when there is no SIMD backend: then ops_close. */
bool ops_open(struct ops *ops, const char *cases);
/* The same for a suite of another name. */
bool ops_open_as(struct ops *ops, const char *suite, const char *cases);
int ops_close(struct ops *ops);

/* Measures a case in both widths, and writes its rows; rows that say why when something is missing. */
void ops_run(struct ops *ops, const struct ops_case *c);

/* Memory, aligned to 64 bytes; no two blocks share their offset in a page, which would slow them down. Stays until the
 * program ends, which it does at once when there is none. */
void *ops_memory(size_t bytes);

/* The same bytes everywhere. */
void ops_fill_bytes(void *out, size_t bytes, uint64_t seed);
/* Floats spread evenly over [low, high). */
void ops_fill_f32(float *out, size_t n, float low, float high, uint64_t seed);

#endif

/*
 * on_variants.c: every variant of every operation on a device, not only the one that won the race there: on another machine, or
 * another day, another one wins.
 *
 * options.variant leaves a single one. An operation that has none of that name, or no other, is not among them: on_opencl.c
 * has it. Smallest buckets are made small, so that launches just below and just above the edge of a bucket are cheap; the
 * largest size has another bucket, and so another geometry, than the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include "../../plugins/kernels/catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 64, MAX_NAMES = 32, LARGE = 8192 };

/* Names of variants that an operation has beside others on CPUs, each once. */
static unsigned find_names(const char **names) {
    unsigned count = 0;
    const struct catalog_entry *entry;
    for (uint32_t e = 0; (entry = catalog_at(e)); e++) {
        const struct catalog_variant *variant;
        if (!catalog_variant(entry, CATALOG_CPU, 1)) continue;
        for (uint32_t v = 0; (variant = catalog_variant(entry, CATALOG_CPU, v)); v++) {
            unsigned known = 0;
            while (known < count && strcmp(names[known], variant->name) != 0) known++;
            if (known < count) continue;
            cr_assert_lt(count, MAX_NAMES);
            names[count++] = variant->name;
        }
    }
    return count;
}

static bool has(const struct catalog_entry *entry, const char *name) {
    const struct catalog_variant *variant;
    if (!entry || !catalog_variant(entry, CATALOG_CPU, 1)) return false;
    for (uint32_t v = 0; (variant = catalog_variant(entry, CATALOG_CPU, v)); v++)
        if (strcmp(variant->name, name) == 0) return true;
    return false;
}

/* As many tasks of one unit as a bucket has, one less and one more. */
static void run_at_edge(const struct pair *pair, const struct svmx_op *op) {
    static struct task tasks[EDGE + 1];
    for (size_t t = 0; t <= EDGE; t++)
        tasks[t] = task_make(pair->reference, pair->reference_batch, op, 1, WILD, t + 1, (unsigned)t % 64);
    for (size_t count = EDGE - 1; count <= EDGE + 1; count++) run_batch(pair, tasks, count, svmx_run);
    for (size_t t = 0; t <= EDGE; t++) task_free(&tasks[t]);
}

static void run_op(struct pair *pair, const struct svmx_op *op) {
    run_at_edge(pair, op);
    for (uint64_t size = EDGE - 1; size <= EDGE + 1; size++) run_one(pair, op, size, WILD, size, 4);
    if (pair->size_cap > EDGE) run_one(pair, op, pair->size_cap, WILD, 2, 12);
}

/* How many operations have it. */
static unsigned on_variant(const char *name) {
    struct target target = {.backends = "+opencl:0,stop"};
    unsigned compared = 0;
    cr_assert_lt(strlen(name), sizeof target.variant);
    snprintf(target.variant, sizeof target.variant, "%s", name);
    struct pair pair = pair_open(&target);
    for (uint32_t o = 0; o < op_count(&pair); o++) {
        const struct svmx_op op = op_at(&pair, o);
        if (!has(catalog_find(op.name), name)) continue;
        pair.size_cap = size_limit(&pair, &op) < LARGE ? size_limit(&pair, &op) : LARGE;
        run_op(&pair, &op);
        pair.size_cap = 0;
        compared++;
    }
    pair_close(&pair);
    return compared;
}

void on_every_variant(void) {
    const char *names[MAX_NAMES];
    const unsigned count = find_names(names);
    char edge[16];
    snprintf(edge, sizeof edge, "%d", EDGE);
    setenv("SUPERVM_MIN_BUCKET", edge, 1);
    for (unsigned n = 0; n < count; n++) {
        const unsigned compared = on_variant(names[n]);
        printf("  variant %s: %u operations compared\n", names[n], compared);
        fflush(stdout);
        cr_expect_gt(compared, 0, "no operation has the variant %s", names[n]);
    }
    unsetenv("SUPERVM_MIN_BUCKET");
    cr_expect_geq(count, 3, "one for CPUs, one for GPUs, and softdiv");
}

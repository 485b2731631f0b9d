/*
 * alloc_faults.h: for suites in which the n-th allocation of the library fails: an allocator that is told so. Included by one file of
 * a program.
 *
 * Such a suite is linked with -Wl,--wrap for malloc, calloc, realloc, aligned_alloc, strdup, strndup, realpath, asprintf and
 * open_memstream (alloc_faults_ldflags), so that allocations of the archive and of the suite come by here, and nobody else's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_ALLOC_FAULTS_H
#define TESTS_ALLOC_FAULTS_H

#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- the allocator ---------------------------------------------------------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

char *__real_strndup(const char *text, size_t most);
char *__real_realpath(const char *path, char *resolved);
FILE *__real_open_memstream(char **text, size_t *length);
char *__wrap_strndup(const char *text, size_t most);
char *__wrap_realpath(const char *path, char *resolved);
FILE *__wrap_open_memstream(char **text, size_t *length);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static atomic_int countdown; /* the allocation that makes it 0 fails; 0 and below: none does */
static atomic_bool lasting;  /* and all after it, until told otherwise */
static atomic_bool exhausted;

static inline bool fails(void) {
    if (atomic_load(&exhausted)) return true;
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1) return false;
    if (atomic_load(&lasting)) atomic_store(&exhausted, true);
    return true;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return fails() ? NULL : __real_realloc(memory, bytes); }
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t most) { return fails() ? NULL : __real_strndup(text, most); }
FILE *__wrap_open_memstream(char **text, size_t *length) {
    return fails() ? NULL : __real_open_memstream(text, length);
}
char *__wrap_realpath(const char *path, char *resolved) {
    if (resolved || !fails()) return __real_realpath(path, resolved);
    errno = ENOMEM;
    return NULL;
}
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list words;
    if (fails()) return -1;
    va_start(words, format);
    const int length = vasprintf(text, format, words);
    va_end(words);
    return length;
}

static inline void fail_at(int n, bool and_after) {
    atomic_store(&lasting, and_after);
    atomic_store(&countdown, n);
}

/* true: it came to the n-th allocation. */
static inline bool has_failed(void) {
    bool failed = atomic_load(&countdown) <= 0;
    atomic_store(&countdown, 0);
    atomic_store(&exhausted, false);
    return failed;
}

/* ---- what is the same in every round ---------------------------------------------------------------------------- */

static inline void silent(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static inline struct svmx_options options_of(bool device) {
    struct svmx_options options = device ? fake_options() : plain_options();
    options.log = silent;
    return options;
}

/* vec_add, and a sum of its result: two parts, two levels, scratch. */
static inline enum svmx_status fill(svmx_batch_t *batch, struct trial *trial, float *sum) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, sum, 1), svmx_result_of(SVMX_F32, 0, 0)};
    enum svmx_status status = trial_add(trial, batch);
    return status == SVMX_OK ? svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2) : status;
}

static inline void expect_right(const struct trial *trial, float sum, int n) {
    float expected = 0; /* whole numbers: exact in any order */
    for (int i = 0; i < TRIAL_ITEMS; i++) expected += trial->a[i] + trial->b[i];
    cr_assert(trial_is_right(trial), "allocation %d failed: OK, but the answer is wrong", n);
    cr_assert_eq(sum, expected, "allocation %d failed: OK, but the sum is wrong", n);
}

static inline void expect_ok_or_memory(enum svmx_status status, int n, const char *what) {
    cr_assert(status == SVMX_OK || status == SVMX_ERR_MEMORY, "allocation %d failed: %s says %s", n, what,
              svmx_status_name(status));
}

#endif

/*
 * store_fixture.h: what the suites of the cache on disk share: a folder, a log that is kept, keys, and a look at files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include "cache/binary_store.h"
#include "plugin_fixture.h"

#include <dirent.h>

enum { STRANGER = 12345 };

static struct svmx__binary_store store;
static char cache[300]; /* a folder in the folder that is not there yet */

static inline void store_reopen(uint64_t limit_bytes) {
    svmx__binary_store_fini(&store);
    svmx__binary_store_init(&store, cache, limit_bytes, &test_log);
}

static inline void store_make(void) {
    folder_make();
    (void)snprintf(cache, sizeof cache, "%s/a/b/svmx", folder);
    svmx__binary_store_init(&store, cache, 1 << 20, &test_log);
}

static inline void store_remove(void) {
    svmx__binary_store_fini(&store);
    folder_remove();
}

static inline struct svmx__binary_key key_of(const char *op) {
    return (struct svmx__binary_key){.kind = SVMX__BINARY_PIPELINE,
                                     .abi_major = 1,
                                     .abi_minor = 1,
                                     .variant = 2,
                                     .source = 77,
                                     .backend = "opencl",
                                     .version = "0.1.0",
                                     .device = "A GPU",
                                     .driver = "A driver 1.2",
                                     .op = op};
}

static inline const char *in_cache(const char *name) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", cache, name);
    return path;
}

/* Where the record of an operation is. */
static inline const char *path_of(const char *op) {
    char name[SVMX__BINARY_NAME_BYTES];
    const struct svmx__binary_key key = key_of(op);
    cr_assert(svmx__binary_name(&key, name));
    return in_cache(name);
}

static inline bool put(const char *op, const char *text) {
    const struct svmx__binary_key key = key_of(op);
    return svmx__binary_store_put(&store, &key, text, strlen(text));
}

/* Is the record there, with this text? A record with another text fails the test. */
static inline bool has(const char *op, const char *text) {
    const struct svmx__binary_key key = key_of(op);
    size_t bytes = 0;
    char *payload = svmx__binary_store_get(&store, &key, &bytes);
    if (!payload) return false;
    cr_assert(bytes == strlen(text) && memcmp(payload, text, bytes) == 0, "%s: other bytes", op);
    free(payload);
    return true;
}

static inline bool exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static inline unsigned mode_of(const char *path) {
    struct stat info;
    cr_assert_eq(lstat(path, &info), 0, "no %s", path);
    return info.st_mode & 07777;
}

static inline unsigned files_in(const char *path) {
    unsigned count = 0;
    DIR *stream = opendir(path);
    if (!stream) return 0;
    for (const struct dirent *entry; (entry = readdir(stream));) count += entry->d_name[0] != '.';
    (void)closedir(stream);
    return count;
}

/* A file of 0600, as the store makes them. */
static inline void file_put(const char *path, const void *bytes, size_t length) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(fd >= 0, "cannot write %s", path);
    cr_assert_eq(write(fd, bytes, length), (ssize_t)length);
    (void)close(fd);
}

/* Last used so many seconds ago. */
static inline void age(const char *path, long seconds) {
    const struct timespec when = {time(NULL) - seconds, 0}, times[2] = {when, when};
    cr_assert_eq(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0, "no %s", path);
}

#endif

/*
 * binary_store.h: compiled pipelines on disk, so that the second process on a machine compiles nothing.
 *
 * One folder, one file a record (binary_file.h), found by the name that its key gives. Whatever is not beyond doubt
 * (cut short, altered, foreign, of another version, a link) is removed and was never there. A record that is read is still
 * not trusted: the caller proves by known answers what came out of it.
 *
 * Called by kept.c, which knows what to file under which key. Knows neither devices nor plugins. Any number of threads,
 * and of processes on one folder. Nothing touches the disk before the first get, and nothing is made on it before the
 * first put.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_BINARY_STORE_H
#define SVMX_CACHE_BINARY_STORE_H

#include "base/log.h"
#include "cache/binary_file.h"
#include <pthread.h>
#include <stdatomic.h>

struct svmx__binary_store {
    const char *folder; /* NULL: the store is off */
    uint64_t limit_bytes;
    const struct svmx__log *log;
    atomic_bool complained; /* the first trouble is a warning, the rest are for debugging */
    pthread_mutex_t lock;   /* guards known_bytes; held while the folder is looked through */
    uint64_t known_bytes;   /* in the folder, as far as this process knows; UINT64_MAX: not looked yet */
    atomic_uint_fast64_t hits, misses, stored, removed, evicted;
};

/* `folder` is absolute, or NULL or "off" for none; it and the log live as long as the store. Opens nothing. */
void svmx__binary_store_init(struct svmx__binary_store *store, const char *folder, uint64_t limit_bytes,
                             const struct svmx__log *log);
void svmx__binary_store_fini(struct svmx__binary_store *store);

/* The payload that was put under this key; free() takes it. NULL: there is none, or none that is sound. A hit counts as a
 * use: what is used least recently goes first. */
void *svmx__binary_store_get(struct svmx__binary_store *store, const struct svmx__binary_key *key, size_t *bytes);

/* Files a payload of at least one byte, in place of an earlier one. False: it could not be, and the log says why once.
 * When the folder then holds more than the limit, those used least recently go; the first put of a process looks. */
bool svmx__binary_store_put(struct svmx__binary_store *store, const struct svmx__binary_key *key, const void *payload,
                            size_t bytes);

/* Removes a record whose payload turned out to be of no use. */
void svmx__binary_store_drop(struct svmx__binary_store *store, const struct svmx__binary_key *key);

#endif

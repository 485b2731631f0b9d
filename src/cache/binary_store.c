/*
 * binary_store.c: see binary_store.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_store.h"

#include "cache/binary_secret.h"
#include "cache/folder.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(atomic_uint_fast64_t *counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

void svmx__binary_store_init(struct svmx__binary_store *store, const char *folder, uint64_t limit_bytes,
                             const struct svmx__log *log) {
    if (folder && strcmp(folder, "off") == 0) folder = NULL;
    *store = (struct svmx__binary_store){
        .folder = folder, .limit_bytes = limit_bytes, .log = log, .known_bytes = UINT64_MAX};
    pthread_mutex_init(&store->lock, NULL); /* cannot fail with default attributes */
}

void svmx__binary_store_fini(struct svmx__binary_store *store) { pthread_mutex_destroy(&store->lock); }

static void complain(struct svmx__binary_store *store, const struct svmx__text *why) {
    bool again = atomic_exchange_explicit(&store->complained, true, memory_order_relaxed);
    svmx__log(store->log, again ? SVMX_LOG_DEBUG : SVMX_LOG_WARN, "cache on disk: %s", why->line);
}

/* A folder that is not there yet is no trouble. */
static bool folder_open(struct svmx__binary_store *store, bool create, int *folder) {
    struct svmx__text why = {""};
    enum svmx_status status = svmx__folder_open(store->folder, create, folder, &why);
    if (status != SVMX_OK && status != SVMX_ERR_UNKNOWN) complain(store, &why);
    return status == SVMX_OK;
}

/* The folder's secret; made by the first who puts. Read each time: the folder may have gone, and come again. */
static bool secret_of(struct svmx__binary_store *store, int folder, bool create, struct svmx__secret *secret) {
    struct svmx__text why = {""};
    const enum svmx_status status = svmx__binary_secret_read(folder, create, secret, &why);
    if (status != SVMX_OK && create) complain(store, &why);
    return status == SVMX_OK;
}

/* ---- get ---------------------------------------------------------------------------------------------------- */

static void remove_bad(struct svmx__binary_store *store, int folder, const char *name, const char *defect) {
    svmx__log(store->log, SVMX_LOG_INFO, "cache on disk: %s is removed: %s", name, defect);
    if (unlinkat(folder, name, 0) == 0) count(&store->removed);
}

/* The payload of a file that was read whole, moved to its start; NULL after the defect was named. */
static void *take_payload(uint8_t *bytes, size_t file_bytes, const char *name, const struct svmx__binary_key *key,
                          const struct svmx__secret *secret, size_t *payload_bytes, const char **defect) {
    struct svmx__binary_parsed parsed;
    *defect = svmx__binary_check(bytes, file_bytes, name, secret, &parsed);
    if (!*defect && !svmx__binary_key_equal(&parsed.key, key)) *defect = "it was filed under another key";
    if (*defect) return NULL;
    memmove(bytes, bytes + parsed.header_bytes, parsed.payload_bytes);
    *payload_bytes = parsed.payload_bytes;
    return bytes;
}

static void *read_record(const struct svmx__folder_file *file, const char *name, const struct svmx__binary_key *key,
                         const struct svmx__secret *secret, size_t *payload_bytes, const char **defect) {
    if (file->info.st_size > SVMX__BINARY_MAX_BYTES) {
        *defect = "it is too large";
        return NULL;
    }
    size_t file_bytes = (size_t)file->info.st_size;
    uint8_t *bytes = malloc(file_bytes ? file_bytes : 1);
    if (!bytes) return NULL;
    size_t got = svmx__folder_read(file, bytes, file_bytes);
    void *payload = take_payload(bytes, got, name, key, secret, payload_bytes, defect);
    if (payload)
        (void)futimens(file->fd, NULL); /* used now; a disk that cannot be written keeps its order */
    else
        free(bytes);
    return payload;
}

static void *get_from(struct svmx__binary_store *store, int folder, const char *name,
                      const struct svmx__binary_key *key, size_t *bytes) {
    struct svmx__text why = {""};
    struct svmx__folder_file file;
    enum svmx_status status = svmx__folder_open_file(folder, name, &file, &why);
    const char *defect = status == SVMX_ERR_PERMISSION ? why.line : NULL;
    void *payload = NULL;
    if (status == SVMX_OK) {
        struct svmx__secret secret;
        const bool sealed = secret_of(store, folder, false, &secret);
        payload = read_record(&file, name, key, sealed ? &secret : NULL, bytes, &defect);
        (void)close(file.fd);
    }
    if (defect) remove_bad(store, folder, name, defect);
    return payload;
}

void *svmx__binary_store_get(struct svmx__binary_store *store, const struct svmx__binary_key *key, size_t *bytes) {
    char name[SVMX__BINARY_NAME_BYTES];
    int folder;
    void *payload = NULL;
    if (!store->folder) return NULL;
    if (svmx__binary_name(key, name) && folder_open(store, false, &folder)) {
        payload = get_from(store, folder, name, key, bytes);
        (void)close(folder);
    }
    count(payload ? &store->hits : &store->misses);
    return payload;
}

void svmx__binary_store_drop(struct svmx__binary_store *store, const struct svmx__binary_key *key) {
    char name[SVMX__BINARY_NAME_BYTES];
    int folder;
    if (!store->folder || !svmx__binary_name(key, name) || !folder_open(store, false, &folder)) return;
    remove_bad(store, folder, name, "what it holds is of no use");
    (void)close(folder);
}

/* ---- put ---------------------------------------------------------------------------------------------------- */

static int by_use(const void *left, const void *right) {
    const struct timespec *a = &((const struct svmx__folder_name *)left)->info.st_mtim;
    const struct timespec *b = &((const struct svmx__folder_name *)right)->info.st_mtim;
    if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Leaves the records in `names`, and clears away what dead processes left. Their bytes. */
static uint64_t sort_out(int folder, struct svmx__folder_name *names, size_t *name_count) {
    uint64_t bytes = 0;
    size_t kept = 0;
    for (size_t i = 0; i < *name_count; i++) {
        if (svmx__folder_is_leftover(&names[i])) (void)unlinkat(folder, names[i].name, 0);
        if (!svmx__binary_name_ok(names[i].name)) continue;
        bytes += (uint64_t)names[i].info.st_size;
        names[kept++] = names[i];
    }
    *name_count = kept;
    return bytes;
}

/* Under the lock. Looks through the folder; while it holds too much, removes what was used least recently, but never
 * `fresh`, whatever the clock says of the others. */
static void trim(struct svmx__binary_store *store, int folder, const char *fresh) {
    struct svmx__text why = {""};
    struct svmx__folder_name *names;
    size_t name_count;
    if (svmx__folder_list(folder, &names, &name_count, &why) != SVMX_OK) {
        complain(store, &why);
        return;
    }
    uint64_t bytes = sort_out(folder, names, &name_count);
    if (bytes > store->limit_bytes) qsort(names, name_count, sizeof *names, by_use);
    for (size_t i = 0; i < name_count && bytes > store->limit_bytes; i++) {
        if (strcmp(names[i].name, fresh) == 0) continue;
        if (unlinkat(folder, names[i].name, 0) == 0) count(&store->evicted);
        bytes -= (uint64_t)names[i].info.st_size; /* also where another process was quicker */
    }
    store->known_bytes = bytes;
    free(names);
}

static void account(struct svmx__binary_store *store, int folder, const char *fresh, uint64_t bytes) {
    pthread_mutex_lock(&store->lock);
    if (store->known_bytes != UINT64_MAX) store->known_bytes += bytes;
    if (store->known_bytes > store->limit_bytes) trim(store, folder, fresh);
    pthread_mutex_unlock(&store->lock);
}

static bool put_file(struct svmx__binary_store *store, int folder, const char *name, const uint8_t *file,
                     size_t file_bytes) {
    struct svmx__text why = {""};
    enum svmx_status status = svmx__folder_write(folder, name, file, file_bytes, &why);
    if (status == SVMX_OK) {
        count(&store->stored);
        account(store, folder, name, file_bytes);
    } else {
        complain(store, &why);
    }
    return status == SVMX_OK;
}

bool svmx__binary_store_put(struct svmx__binary_store *store, const struct svmx__binary_key *key, const void *payload,
                            size_t bytes) {
    char name[SVMX__BINARY_NAME_BYTES];
    struct svmx__secret secret;
    int folder;
    size_t file_bytes = svmx__binary_bytes(key, bytes);
    if (!store->folder || !file_bytes || file_bytes > store->limit_bytes) return false;
    if (!svmx__binary_name(key, name) || !folder_open(store, true, &folder)) return false;
    uint8_t *file = NULL;
    if (secret_of(store, folder, true, &secret)) file = svmx__binary_pack(key, &secret, payload, bytes, &file_bytes);
    bool done = file && put_file(store, folder, name, file, file_bytes);
    free(file);
    (void)close(folder);
    return done;
}

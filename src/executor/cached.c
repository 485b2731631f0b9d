/*
 * cached.c: the cache on disk for those who look after it (svmx_cache_* of svmx.h): a list of its files.
 *
 * Beside the spine: needs no executor, opens no device. Knows the setting cache_dir and src/cache/binary_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "cache/binary_list.h"
#include "executor/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What version 0.1.0 had. */
enum { FIRST_CACHE_ENTRY = SVMX__THROUGH(struct svmx_cache_entry, used_ns) };

struct svmx_cache {
    char *folder; /* "" = off */
    struct svmx__binary_list list;
};

static enum svmx_status told(struct svmx_error *error, enum svmx_status status, const struct svmx__text *why) {
    if (status == SVMX_OK || !error) return status;
    error->status = status;
    (void)snprintf(error->text, sizeof error->text, "%s", why->line);
    return status;
}

static enum svmx_status open_cache(struct svmx_cache *cache, const char *folder, uint32_t flags,
                                   struct svmx__text *why) {
    enum svmx_status status = svmx__config_cache_dir(folder, &cache->folder, why);
    if (status != SVMX_OK) return status;
    if (strcmp(cache->folder, "off") == 0) {
        cache->folder[0] = '\0';
        return SVMX_OK;
    }
    return svmx__binary_list_read(&cache->list, cache->folder, flags & SVMX_CACHE_CHECK, why);
}

enum svmx_status svmx_cache_open(svmx_cache_t **cache, const char *folder, uint32_t flags, struct svmx_error *error) {
    struct svmx__text why = {"no memory"};
    enum svmx_status status = SVMX_ERR_MEMORY;
    struct svmx_cache *made = NULL;
    if (!cache || (flags & ~(uint32_t)SVMX_CACHE_CHECK))
        status =
            svmx__fail(&why, SVMX_ERR_ARGUMENT,
                       cache ? "flags is 0x%x: this version knows none but 0x1" : "cache is NULL, flags 0x%x", flags);
    else if ((made = calloc(1, sizeof *made)))
        status = open_cache(made, folder, flags, &why);
    if (status == SVMX_OK)
        *cache = made;
    else
        svmx_cache_close(made);
    return told(error, status, &why);
}

void svmx_cache_close(svmx_cache_t *cache) {
    if (!cache) return;
    svmx__binary_list_free(&cache->list);
    free(cache->folder);
    free(cache);
}

const char *svmx_cache_folder(const svmx_cache_t *cache) { return cache ? cache->folder : ""; }

uint32_t svmx_cache_count(const svmx_cache_t *cache) { return cache ? (uint32_t)cache->list.count : 0; }

enum svmx_status svmx_cache_get(const svmx_cache_t *cache, uint32_t index, struct svmx_cache_entry *entry) {
    if (!cache || !svmx__is_served(entry, FIRST_CACHE_ENTRY)) return SVMX_ERR_ARGUMENT;
    if (index >= cache->list.count) return SVMX_ERR_UNKNOWN;
    const struct svmx__binary_entry *from = &cache->list.entries[index];
    const struct timespec *used = &from->file.info.st_mtim;
    const uint64_t used_s = used->tv_sec > 0 ? (uint64_t)used->tv_sec : 0;
    const struct svmx_cache_entry now = {.file = from->file.name,
                                         .defect = from->defect,
                                         .op = from->key.op,
                                         .backend = from->key.backend,
                                         .version = from->key.version,
                                         .device = from->key.device,
                                         .driver = from->key.driver,
                                         .kind = from->key.kind,
                                         .variant = from->key.variant,
                                         .bucket = from->key.bucket,
                                         .abi_major = from->key.abi_major,
                                         .abi_minor = from->key.abi_minor,
                                         .bytes = (uint64_t)from->file.info.st_size,
                                         .used_ns = used_s * 1000000000 + (uint64_t)used->tv_nsec,
                                         .device_flags = from->key.labels};
    svmx__give(entry, &now, sizeof now);
    return SVMX_OK;
}

enum svmx_status svmx_cache_remove(svmx_cache_t *cache, uint32_t index, struct svmx_error *error) {
    struct svmx__text why = {"no cache, or no such entry"};
    enum svmx_status status = SVMX_ERR_ARGUMENT;
    if (cache)
        status = index < cache->list.count ? svmx__binary_list_remove(cache->folder, &cache->list.entries[index], &why)
                                           : SVMX_ERR_UNKNOWN;
    return told(error, status, &why);
}

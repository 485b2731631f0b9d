/*
 * binary_list.c: see binary_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_list.h"

#include "cache/binary_secret.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct svmx__binary_key no_key = {.backend = "", .version = "", .device = "", .driver = "", .op = ""};

/* ---- one file ----------------------------------------------------------------------------------------------- */

/* Reads all of a file and compares its checksum. MEMORY, or OK with the defect set where there is one. */
static enum svmx_status judge_whole(const struct svmx__folder_file *file, const char *name,
                                    const struct svmx__secret *secret, const char **defect) {
    struct svmx__binary_parsed parsed;
    const size_t file_bytes = (size_t)file->info.st_size;
    uint8_t *bytes = malloc(file_bytes);
    if (!bytes) return SVMX_ERR_MEMORY;
    if (svmx__folder_read(file, bytes, file_bytes) < file_bytes)
        *defect = "it cannot be read whole";
    else
        *defect = svmx__binary_check(bytes, file_bytes, name, secret, &parsed);
    free(bytes);
    return SVMX_OK;
}

/* Reads the header, which the entry keeps, for its texts, where it is sound. As judge_whole. */
static enum svmx_status judge_header(struct svmx__binary_entry *entry, const struct svmx__folder_file *file,
                                     const char **defect) {
    struct svmx__binary_parsed parsed;
    uint8_t *header = malloc(SVMX__BINARY_HEADER_BYTES);
    if (!header) return SVMX_ERR_MEMORY;
    size_t got = svmx__folder_read(file, header, SVMX__BINARY_HEADER_BYTES);
    *defect = svmx__binary_parse(header, got, (uint64_t)file->info.st_size, entry->file.name, &parsed);
    if (*defect) {
        free(header);
        return SVMX_OK;
    }
    entry->key = parsed.key;
    entry->header = header;
    return SVMX_OK;
}

/* The folder's secret, or NULL. */
static const struct svmx__secret *find_secret(int folder, struct svmx__secret *secret) {
    struct svmx__text why;
    return svmx__binary_secret_read(folder, false, secret, &why) == SVMX_OK ? secret : NULL;
}

/* UNKNOWN: gone since the folder was listed. MEMORY, SYSTEM. */
static enum svmx_status entry_read(struct svmx__binary_entry *entry, int folder, bool whole, struct svmx__text *why) {
    struct svmx__folder_file file;
    const char *defect = NULL;
    if (svmx__folder_is_temporary(entry->file.name)) {
        defect = "a process that ended while it wrote left it";
    } else {
        enum svmx_status status = svmx__folder_open_file(folder, entry->file.name, &file, why);
        if (status != SVMX_OK && status != SVMX_ERR_PERMISSION) return status;
        if (status == SVMX_OK) {
            status = judge_header(entry, &file, &defect);
            struct svmx__secret secret;
            if (status == SVMX_OK && !defect && whole)
                status = judge_whole(&file, entry->file.name, find_secret(folder, &secret), &defect);
            (void)close(file.fd);
            if (status != SVMX_OK) return svmx__fail(why, status, "no memory to read the cache");
        } else {
            defect = why->line;
        }
    }
    (void)snprintf(entry->defect, sizeof entry->defect, "%.95s", defect ? defect : "");
    return SVMX_OK;
}

/* ---- the list ----------------------------------------------------------------------------------------------- */

static int last_used_first(const void *left, const void *right) {
    const struct svmx__folder_name *a = &((const struct svmx__binary_entry *)left)->file;
    const struct svmx__folder_name *b = &((const struct svmx__binary_entry *)right)->file;
    const struct timespec *x = &a->info.st_mtim, *y = &b->info.st_mtim;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? 1 : -1;
    if (x->tv_nsec != y->tv_nsec) return x->tv_nsec < y->tv_nsec ? 1 : -1;
    return strcmp(a->name, b->name);
}

static bool is_ours(const struct svmx__folder_name *name) {
    return svmx__binary_name_ok(name->name) || svmx__folder_is_leftover(name);
}

static enum svmx_status list_add_all(struct svmx__binary_list *list, int folder, const struct svmx__folder_name *names,
                                     size_t name_count, bool whole, struct svmx__text *why) {
    for (size_t i = 0; i < name_count; i++) {
        if (!is_ours(&names[i])) continue;
        struct svmx__binary_entry *entry = &list->entries[list->count];
        *entry = (struct svmx__binary_entry){.file = names[i], .key = no_key};
        enum svmx_status status = entry_read(entry, folder, whole, why);
        if (status == SVMX_OK || entry->header) list->count++; /* free() then finds the header */
        if (status != SVMX_OK && status != SVMX_ERR_UNKNOWN) return status;
    }
    return SVMX_OK;
}

static enum svmx_status list_fill(struct svmx__binary_list *list, int folder, bool whole, struct svmx__text *why) {
    struct svmx__folder_name *names = NULL;
    size_t name_count = 0;
    enum svmx_status status = svmx__folder_list(folder, &names, &name_count, why);
    if (status == SVMX_OK && name_count > 0) {
        list->entries = calloc(name_count, sizeof *list->entries);
        status = list->entries ? list_add_all(list, folder, names, name_count, whole, why)
                               : svmx__fail(why, SVMX_ERR_MEMORY, "no memory to list the cache");
    }
    free(names);
    return status;
}

enum svmx_status svmx__binary_list_read(struct svmx__binary_list *list, const char *folder, bool whole,
                                        struct svmx__text *why) {
    struct svmx__binary_list made = {0};
    int fd;
    enum svmx_status status = svmx__folder_open(folder, false, &fd, why);
    if (status == SVMX_OK) {
        status = list_fill(&made, fd, whole, why);
        (void)close(fd);
    } else if (status == SVMX_ERR_UNKNOWN) {
        status = SVMX_OK; /* nothing there yet */
    }
    if (status != SVMX_OK) {
        svmx__binary_list_free(&made);
        return status;
    }
    if (made.count) qsort(made.entries, made.count, sizeof *made.entries, last_used_first);
    *list = made;
    return SVMX_OK;
}

void svmx__binary_list_free(struct svmx__binary_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->entries[i].header);
    free(list->entries);
    *list = (struct svmx__binary_list){0};
}

enum svmx_status svmx__binary_list_remove(const char *folder, const struct svmx__binary_entry *entry,
                                          struct svmx__text *why) {
    struct stat now;
    int fd;
    enum svmx_status status = svmx__folder_open(folder, false, &fd, why);
    if (status != SVMX_OK) return status == SVMX_ERR_UNKNOWN ? SVMX_OK : status;
    if (fstatat(fd, entry->file.name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino != entry->file.info.st_ino)
        status = svmx__fail(why, SVMX_BUSY, "%s was written anew meanwhile", entry->file.name);
    else if (unlinkat(fd, entry->file.name, 0) != 0 && errno != ENOENT)
        status = svmx__fail(why, SVMX_ERR_SYSTEM, "cannot remove %s: %s", entry->file.name, strerror(errno));
    (void)close(fd);
    return status;
}

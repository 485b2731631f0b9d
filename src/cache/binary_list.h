/*
 * binary_list.h: what the folder of a binary store holds, for those who look after it: every file with what it was filed
 * under, and what is wrong with it. Needs no store. Called by executor/cached.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_BINARY_LIST_H
#define SVMX_CACHE_BINARY_LIST_H

#include "base/text.h"
#include "cache/binary_file.h"
#include "cache/folder.h"

struct svmx__binary_entry {
    struct svmx__folder_name file;
    struct svmx__binary_key key; /* empty texts and zeros where the header could not be read */
    uint8_t *header;             /* what the texts point into */
    char defect[96];             /* "" for a sound file */
};

struct svmx__binary_list {
    struct svmx__binary_entry *entries; /* last used first */
    size_t count;
};

/*
 * Lists the store's files in a folder; others are no concern of ours. With `whole` all of each file is read and its
 * checksum compared, else the header only. What a process left that died while it wrote is listed, as bad. A folder that
 * is not there is an empty list. PERMISSION (the folder is not safe), SYSTEM, MEMORY.
 */
enum svmx_status svmx__binary_list_read(struct svmx__binary_list *list, const char *folder, bool whole,
                                        struct svmx__text *why);
void svmx__binary_list_free(struct svmx__binary_list *list);

/* Removes a file. One that is gone already is fine. BUSY: it is another one now, and stays. SYSTEM. */
enum svmx_status svmx__binary_list_remove(const char *folder, const struct svmx__binary_entry *entry,
                                          struct svmx__text *why);

#endif

/*
 * folder.h: a folder of the user's own, and small files in it that appear whole or not at all.
 *
 * Called by binary_store.c, binary_list.c and profile_disk.c. Knows who may write where, and nothing of what the files
 * hold. Nothing is kept between calls: a folder that somebody removes is made anew, and other processes may work in it
 * at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_FOLDER_H
#define SVMX_CACHE_FOLDER_H

#include "base/text.h"
#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens a folder that belongs to the user and that nobody else may write. With `create` it is made if it is not there,
 * and those above it, for the user alone. Sets *fd on OK; the caller closes it. UNKNOWN: it is not there. PERMISSION: it
 * is not safe. SYSTEM.
 */
enum svmx_status svmx__folder_open(const char *path, bool create, int *fd, struct svmx__text *why);

/* Writes a file of 0600, or replaces it: readers see the old one or the new one. SYSTEM: nothing has changed. */
enum svmx_status svmx__folder_write(int folder, const char *name, const void *bytes, size_t length,
                                    struct svmx__text *why);

/* A file that is open to be read, and what it is. */
struct svmx__folder_file {
    int fd;
    struct stat info;
};

/*
 * Opens a file: the file itself, not what a link points at. The caller closes file->fd. UNKNOWN: it is not there.
 * PERMISSION: it is no plain file of the user's own. SYSTEM: it cannot be opened now, which says nothing of the file.
 */
enum svmx_status svmx__folder_open_file(int folder, const char *name, struct svmx__folder_file *file,
                                        struct svmx__text *why);

/* Reads up to `length` bytes from the start; how many there were. */
size_t svmx__folder_read(const struct svmx__folder_file *file, void *bytes, size_t length);

/* One name of a folder. */
struct svmx__folder_name {
    char name[40];
    struct stat info;
};

/* All names that are short enough, in no order; free() takes them. MEMORY, SYSTEM. */
enum svmx_status svmx__folder_list(int folder, struct svmx__folder_name **names, size_t *count, struct svmx__text *why);

/* Is this what svmx__folder_write leaves behind in a process that dies, and old enough to be sure of it? */
bool svmx__folder_is_leftover(const struct svmx__folder_name *name);

/* A name that nobody else has, and that is cleared away if this process dies. False: no random bytes, errno says why. */
enum { SVMX__TEMPORARY_BYTES = 21 };
bool svmx__folder_temporary(char name[SVMX__TEMPORARY_BYTES]);

/* Does the folder's own writing use such names, old or not? */
bool svmx__folder_is_temporary(const char *name);

#endif

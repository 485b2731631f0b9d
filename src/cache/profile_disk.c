/*
 * profile_disk.c: the profile as a file: read if it is safe to, replaced as a whole. Called by executor/profile.c and
 * executor/profiled.c. Any number of processes: each reads one whole file, and the last to write has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/folder.h"
#include "cache/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path in two; free() takes `folder`, which the name is a part of. */
struct place {
    char *folder;
    const char *name;
};

static enum svmx_status place_of(const char *path, struct place *place, struct svmx__text *why) {
    const char *slash = strrchr(path, '/');
    const size_t name_bytes = slash ? strlen(slash + 1) : 0;
    if (*path != '/' || name_bytes == 0 || strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "'%.200s' is no absolute path of a file", path);
    const size_t folder_bytes = slash == path ? 1 : (size_t)(slash - path);
    char *folder = malloc(folder_bytes + 1 + name_bytes + 1);
    if (!folder) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for a path");
    memcpy(folder, path, folder_bytes);
    folder[folder_bytes] = '\0';
    memcpy(folder + folder_bytes + 1, slash + 1, name_bytes + 1);
    *place = (struct place){folder, folder + folder_bytes + 1};
    return SVMX_OK;
}

/* Opens the folder of a path. As svmx__folder_open; MEMORY, ARGUMENT. The caller closes *fd and frees place->folder. */
static enum svmx_status open_place(const char *path, bool create, struct place *place, int *fd,
                                   struct svmx__text *why) {
    enum svmx_status status = place_of(path, place, why);
    if (status != SVMX_OK) return status;
    status = svmx__folder_open(place->folder, create, fd, why);
    if (status != SVMX_OK) free(place->folder);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* One byte more than there may be, so that a file that is too large shows. */
static enum svmx_status read_open(struct svmx__profile_records *records, const struct svmx__folder_file *file,
                                  struct svmx__text *defect, struct svmx__text *why) {
    const size_t room = SVMX__PROFILE_MAX_BYTES + 1,
                 bytes = file->info.st_size < (off_t)room ? (size_t)file->info.st_size : room;
    char *text = malloc(bytes ? bytes : 1);
    if (!text) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to read a profile");
    const size_t got = svmx__folder_read(file, text, bytes);
    enum svmx_status status = svmx__profile_parse(records, text, got, defect);
    free(text);
    if (status == SVMX_ERR_ARGUMENT) return SVMX_OK; /* what is wrong with it is said */
    defect->line[0] = '\0';
    return status == SVMX_OK ? SVMX_OK : svmx__fail(why, status, "no memory to read a profile");
}

enum svmx_status svmx__profile_read(struct svmx__profile_records *records, const char *path, struct svmx__text *defect,
                                    struct svmx__text *why) {
    struct svmx__folder_file file;
    struct place place;
    int folder;
    defect->line[0] = '\0';
    enum svmx_status status = open_place(path, false, &place, &folder, why);
    if (status != SVMX_OK) return status == SVMX_ERR_UNKNOWN ? SVMX_OK : status;
    status = svmx__folder_open_file(folder, place.name, &file, why);
    if (status == SVMX_OK) {
        status = read_open(records, &file, defect, why);
        (void)close(file.fd);
    } else if (status == SVMX_ERR_PERMISSION) {
        struct svmx__text what = *why;
        svmx__say(why, "%.200s: %.200s", path, what.line);
    }
    (void)close(folder);
    free(place.folder);
    return status == SVMX_ERR_UNKNOWN ? SVMX_OK : status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* A typing mistake in a setting must not cost anybody a file that is no profile: it is neither replaced nor removed. An empty
 * one is nobody's loss. */
static enum svmx_status must_be_ours(int folder, const struct place *place, struct svmx__text *why) {
    char head[sizeof SVMX__PROFILE_MAGIC - 1];
    const int fd = openat(folder, place->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return SVMX_OK; /* not there, or none that is read: then it is not written either */
    const ssize_t got = read(fd, head, sizeof head);
    (void)close(fd);
    if (got == 0 || (got == (ssize_t)sizeof head && memcmp(head, SVMX__PROFILE_MAGIC, sizeof head) == 0))
        return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_PERMISSION, "%.200s/%.100s is no profile, so it is left alone: give another path",
                      place->folder, place->name);
}

/* One that was set aside before stays: it is the first that something happened to. */
static enum svmx_status rename_bad(int folder, const char *name, struct svmx__text *why) {
    char *aside;
    if (asprintf(&aside, "%s.bad", name) < 0) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for a name");
    enum svmx_status status = SVMX_OK;
    if (faccessat(folder, aside, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && renameat(folder, name, folder, aside) != 0 &&
        errno != ENOENT)
        status = svmx__fail(why, SVMX_ERR_SYSTEM, "cannot rename %s to %s: %s", name, aside, strerror(errno));
    free(aside);
    return status;
}

enum svmx_status svmx__profile_write(struct svmx__profile_records *records, const char *path, bool set_aside,
                                     struct svmx__text *why) {
    struct place place;
    size_t length;
    int folder;
    char *text = svmx__profile_format(records, &length);
    if (!text) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to write a profile");
    enum svmx_status status = open_place(path, true, &place, &folder, why);
    if (status == SVMX_OK) {
        status = must_be_ours(folder, &place, why);
        if (status == SVMX_OK && set_aside) status = rename_bad(folder, place.name, why);
        if (status == SVMX_OK) status = svmx__folder_write(folder, place.name, text, length, why);
        (void)close(folder);
        free(place.folder);
    }
    free(text);
    return status;
}

enum svmx_status svmx__profile_unlink(const char *path, struct svmx__text *why) {
    struct place place;
    int folder;
    enum svmx_status status = open_place(path, false, &place, &folder, why);
    if (status != SVMX_OK) return status == SVMX_ERR_UNKNOWN ? SVMX_OK : status;
    status = must_be_ours(folder, &place, why);
    if (status == SVMX_OK && unlinkat(folder, place.name, 0) != 0 && errno != ENOENT)
        status = svmx__fail(why, SVMX_ERR_SYSTEM, "cannot remove %s: %s", path, strerror(errno));
    (void)close(folder);
    free(place.folder);
    return status;
}

/*
 * folder.c: see folder.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/folder.h"

#include "base/alloc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY "tmp-"
enum { LEFTOVER_SECONDS = 3600 };

static enum svmx_status refused(struct svmx__text *why, const char *what, const char *path, int error) {
    return svmx__fail(why, SVMX_ERR_SYSTEM, "cannot %s %s: %s", what, path, strerror(error));
}

/* ---- the folder --------------------------------------------------------------------------------------------- */

static enum svmx_status check_folder(int fd, const char *path, struct svmx__text *why) {
    struct stat info;
    if (fstat(fd, &info) != 0) return refused(why, "look at", path, errno);
    if (info.st_uid != geteuid())
        return svmx__fail(why, SVMX_ERR_PERMISSION, "unsafe: the folder belongs to user %lu, not to you: %s",
                          (unsigned long)info.st_uid, path);
    if (info.st_mode & S_ISVTX) /* such as /tmp: nothing to be changed */
        return svmx__fail(why, SVMX_ERR_PERMISSION,
                          "unsafe: everybody may write into %s: give a folder of its own in it", path);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return svmx__fail(why, SVMX_ERR_PERMISSION, "unsafe: others may write the folder: chmod go-w %s", path);
    return SVMX_OK;
}

/* Root must not leave folders in a user's home: they would lock the user out of the cache. */
static enum svmx_status check_parent(const char *path, struct svmx__text *why) {
    struct stat info;
    if (stat(path, &info) != 0) return refused(why, "look at", path, errno);
    if (info.st_uid == geteuid() || info.st_uid == 0) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_PERMISSION, "no folder is made in %s: it belongs to user %lu, not to you", path,
                      (unsigned long)info.st_uid);
}

/* Makes a folder and those above it, where they are missing. `path` is cut as it goes, and whole again at the end. */
static enum svmx_status make_folder(char *path, struct svmx__text *why) {
    struct stat info;
    if (stat(path, &info) == 0) return SVMX_OK;
    if (errno != ENOENT) return refused(why, "look at", path, errno);
    enum svmx_status status = SVMX_OK;
    char *slash = strrchr(path, '/');
    if (slash != path) {
        *slash = '\0';
        status = make_folder(path, why);
        if (status == SVMX_OK) status = check_parent(path, why);
        *slash = '/';
    }
    if (status == SVMX_OK && mkdir(path, 0700) != 0 && errno != EEXIST) status = refused(why, "make", path, errno);
    return status;
}

static enum svmx_status make_folder_of(const char *path, struct svmx__text *why) {
    char *copy = strdup(path);
    if (!copy) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory");
    enum svmx_status status = make_folder(copy, why);
    free(copy);
    return status;
}

enum svmx_status svmx__folder_open(const char *path, bool create, int *fd, struct svmx__text *why) {
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    int opened = open(path, FLAGS);
    if (opened < 0 && errno == ENOENT) {
        if (!create) return svmx__fail(why, SVMX_ERR_UNKNOWN, "no folder %s", path);
        enum svmx_status status = make_folder_of(path, why);
        if (status != SVMX_OK) return status;
        opened = open(path, FLAGS);
    }
    if (opened < 0) return refused(why, "open", path, errno);
    enum svmx_status status = check_folder(opened, path, why);
    if (status == SVMX_OK)
        *fd = opened;
    else
        (void)close(opened);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static bool write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

/* A write past the limit of the process would end it by a signal that is not ours to handle. */
static bool limit_allows(size_t length) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || length <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

/* On the disk before the name is: after a crash a file is whole, or not there. */
static bool write_temporary(int folder, const char *temporary, const char *name, const void *bytes, size_t length) {
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool done = write_all(fd, bytes, length) && fsync(fd) == 0;
    int error = errno;
    if (close(fd) != 0 && done) {
        done = false;
        error = errno;
    }
    if (done && renameat(folder, temporary, folder, name) == 0) return true;
    if (done) error = errno;
    (void)unlinkat(folder, temporary, 0);
    errno = error;
    return false;
}

bool svmx__folder_temporary(char name[SVMX__TEMPORARY_BYTES]) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return false;
    (void)snprintf(name, SVMX__TEMPORARY_BYTES, TEMPORARY "%016" PRIx64, number);
    return true;
}

enum svmx_status svmx__folder_write(int folder, const char *name, const void *bytes, size_t length,
                                    struct svmx__text *why) {
    char temporary[SVMX__TEMPORARY_BYTES];
    const bool done = limit_allows(length) && svmx__folder_temporary(temporary) &&
                      write_temporary(folder, temporary, name, bytes, length);
    return done ? SVMX_OK : refused(why, "write", name, errno);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static enum svmx_status check_file(const struct stat *info, struct svmx__text *why) {
    if (!S_ISREG(info->st_mode)) return svmx__fail(why, SVMX_ERR_PERMISSION, "it is no plain file");
    if (info->st_uid != geteuid())
        return svmx__fail(why, SVMX_ERR_PERMISSION, "it belongs to user %lu, not to you", (unsigned long)info->st_uid);
    if (info->st_mode & (S_IWGRP | S_IWOTH)) return svmx__fail(why, SVMX_ERR_PERMISSION, "others may write it");
    return SVMX_OK;
}

static enum svmx_status cannot_open(int error, struct svmx__text *why) {
    if (error == ENOENT) return svmx__fail(why, SVMX_ERR_UNKNOWN, "it is not there");
    if (error == ELOOP) return svmx__fail(why, SVMX_ERR_PERMISSION, "it is a symbolic link");
    bool ours = error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
    return svmx__fail(why, ours ? SVMX_ERR_SYSTEM : SVMX_ERR_PERMISSION, "it cannot be opened: %s", strerror(error));
}

enum svmx_status svmx__folder_open_file(int folder, const char *name, struct svmx__folder_file *file,
                                        struct svmx__text *why) {
    struct svmx__folder_file opened;
    /* a pipe in its place must not block */
    opened.fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (opened.fd < 0) return cannot_open(errno, why);
    enum svmx_status status =
        fstat(opened.fd, &opened.info) == 0 ? check_file(&opened.info, why) : cannot_open(errno, why);
    if (status == SVMX_OK)
        *file = opened;
    else
        (void)close(opened.fd);
    return status;
}

size_t svmx__folder_read(const struct svmx__folder_file *file, void *bytes, size_t length) {
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(file->fd, (char *)bytes + done, length - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

/* ---- names -------------------------------------------------------------------------------------------------- */

bool svmx__folder_is_temporary(const char *name) { return strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0; }

bool svmx__folder_is_leftover(const struct svmx__folder_name *name) {
    return svmx__folder_is_temporary(name->name) && name->info.st_mtime < time(NULL) - LEFTOVER_SECONDS;
}

static enum svmx_status list_names(DIR *stream, struct svmx__folder_name **names, size_t *count,
                                   struct svmx__text *why) {
    size_t capacity = 0;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        struct svmx__folder_name found;
        const size_t length = strlen(entry->d_name);
        if (length >= sizeof found.name || entry->d_name[0] == '.') continue;
        if (fstatat(dirfd(stream), entry->d_name, &found.info, AT_SYMLINK_NOFOLLOW) != 0) continue; /* gone since */
        memcpy(found.name, entry->d_name, length + 1);
        void *grown = *names;
        if (!svmx__grow(&grown, &capacity, *count + 1, sizeof **names))
            return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to list a folder");
        *names = grown;
        (*names)[(*count)++] = found;
    }
    return SVMX_OK;
}

enum svmx_status svmx__folder_list(int folder, struct svmx__folder_name **names, size_t *count,
                                   struct svmx__text *why) {
    struct svmx__folder_name *listed = NULL;
    size_t listed_count = 0;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a place of its own to read from */
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        enum svmx_status status = refused(why, "list", "the folder", errno);
        if (fd >= 0) (void)close(fd);
        return status;
    }
    enum svmx_status status = list_names(stream, &listed, &listed_count, why);
    (void)closedir(stream);
    if (status != SVMX_OK) {
        free(listed);
        return status;
    }
    *names = listed;
    *count = listed_count;
    return SVMX_OK;
}

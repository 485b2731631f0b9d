/*
 * loader.c: see loader.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/loader.h"

#include "base/alloc.h"
#include "plugin/abi.h"
#include "plugin/elf.h"
#include "plugin/selection.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No plugin is larger; what is, is not read into memory to find that out. */
enum { MAX_FILE_BYTES = 512 << 20 };

static enum svmx_status no_memory(struct svmx__text *why) {
    return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to look for plugins");
}

static enum svmx_status no_access(struct svmx__text *why, const char *path, int error) {
    return svmx__fail(why, SVMX_ERR_SYSTEM, "cannot read %s: %s", path, strerror(error));
}

/* ---- scan ------------------------------------------------------------------------------------------------- */

/* Adds `folder`/`file`, or the folder itself under the name "*". */
static bool findings_add(struct svmx__findings *findings, const char *folder, const char *file) {
    void *files = findings->files;
    if (!svmx__grow(&files, &findings->capacity, findings->count + 1, sizeof *findings->files)) return false;
    findings->files = files;
    struct svmx__found *found = &findings->files[findings->count];
    *found = (struct svmx__found){.name = "*"};
    if (asprintf(&found->path, "%s%s%s", folder, file ? "/" : "", file ? file : "") < 0) return false;
    if (file) (void)snprintf(found->name, sizeof found->name, "%.*s", (int)strlen(file) - 3, file);
    findings->count++;
    return true;
}

static int is_plugin_file(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static enum svmx_status scan_folder(struct svmx__findings *findings, const char *folder, const struct svmx__log *log,
                                    struct svmx__text *why) {
    struct dirent **entries;
    char *real = realpath(folder, NULL);
    int count = real ? scandir(real, &entries, is_plugin_file, alphasort) : -1;
    bool kept = true;
    if (count < 0 && errno == ENOENT)
        svmx__log(log, SVMX_LOG_INFO, "no folder %s: no plugins from there", folder);
    else if (count < 0)
        kept = errno != ENOMEM && findings_add(findings, real ? real : folder, NULL);
    for (int i = 0; i < count; i++) {
        kept = kept && findings_add(findings, real, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    free(real);
    return kept ? SVMX_OK : no_memory(why);
}

static enum svmx_status scan_part(struct svmx__findings *findings, const char *part, size_t length,
                                  const struct svmx__log *log, struct svmx__text *why) {
    if (length == 0) return SVMX_OK;
    if (*part != '/')
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "SUPERVM_BACKEND_PATH: '%.*s' is not absolute: begin it with '/'",
                          length > 200 ? 200 : (int)length, part);
    char *folder = strndup(part, length);
    if (!folder) return no_memory(why);
    enum svmx_status status = scan_folder(findings, folder, log, why);
    free(folder);
    return status;
}

enum svmx_status svmx__loader_scan(struct svmx__findings *findings, const char *backend_path,
                                   const struct svmx__log *log, struct svmx__text *why) {
    struct svmx__findings scanned = {0};
    for (const char *part = backend_path;;) {
        size_t length = strcspn(part, ":");
        enum svmx_status status = scan_part(&scanned, part, length, log, why);
        if (status != SVMX_OK) {
            svmx__loader_findings_free(&scanned);
            return status;
        }
        if (!part[length]) break;
        part += length + 1;
    }
    *findings = scanned;
    return SVMX_OK;
}

void svmx__loader_findings_free(struct svmx__findings *findings) {
    for (size_t i = 0; i < findings->count; i++) free(findings->files[i].path);
    free(findings->files);
    *findings = (struct svmx__findings){0};
}

/* ---- who may write ---------------------------------------------------------------------------------------- */

static enum svmx_status check_owner(const struct stat *info, const char *what, const char *path,
                                    struct svmx__text *why) {
    if (info->st_uid != 0 && info->st_uid != geteuid())
        return svmx__fail(why, SVMX_ERR_PERMISSION,
                          "unsafe: the %s belongs to user %lu, neither root nor you: chown it, or copy it: %s", what,
                          (unsigned long)info->st_uid, path);
    if (info->st_mode & (S_IWGRP | S_IWOTH))
        return svmx__fail(why, SVMX_ERR_PERMISSION, "unsafe: others may write the %s: chmod go-w %s", what, path);
    return SVMX_OK;
}

/* From the folder's parent up to "/". `path` is cut as it goes. */
static enum svmx_status check_above(char *path, struct svmx__text *why) {
    struct stat info;
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        bool root = slash == path;
        slash[root] = '\0';
        if (stat(path, &info) != 0) return no_access(why, path, errno);
        if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
            return svmx__fail(why, SVMX_ERR_PERMISSION,
                              "unsafe: everybody may write the folder above: chmod o-w %s (or o+t)", path);
        if (root) break;
    }
    return SVMX_OK;
}

/* The folder, opened and found safe. */
static enum svmx_status open_folder(char *folder, int *fd, struct svmx__text *why) {
    struct stat info;
    int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return no_access(why, folder, errno);
    enum svmx_status status = SVMX_OK;
    if (fstat(opened, &info) != 0) status = no_access(why, folder, errno);
    if (status == SVMX_OK) status = check_owner(&info, "folder", folder, why);
    if (status == SVMX_OK) status = check_above(folder, why);
    if (status == SVMX_OK)
        *fd = opened;
    else
        (void)close(opened);
    return status;
}

static enum svmx_status check_file(const struct stat *info, const char *path, struct svmx__text *why) {
    if (S_ISLNK(info->st_mode))
        return svmx__fail(why, SVMX_ERR_PERMISSION, "unsafe: a symbolic link: copy the file itself to %s", path);
    if (!S_ISREG(info->st_mode)) return svmx__fail(why, SVMX_ERR_ABI, "not a regular file: %s", path);
    if (info->st_size > MAX_FILE_BYTES)
        return svmx__fail(why, SVMX_ERR_ABI, "larger than %d MiB: not a plugin", MAX_FILE_BYTES >> 20);
    return check_owner(info, "file", path, why);
}

/* Opens the file itself and not what a link says; a pipe in its place must not block. */
static enum svmx_status open_file(int folder, const char *path, int *fd, struct stat *info, struct svmx__text *why) {
    const char *name = strrchr(path, '/') + 1;
    if (fstatat(folder, name, info, AT_SYMLINK_NOFOLLOW) != 0) return no_access(why, path, errno);
    enum svmx_status status = check_file(info, path, why);
    if (status != SVMX_OK) return status;
    int opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0) return no_access(why, path, errno);
    status = fstat(opened, info) == 0 ? check_file(info, path, why) : no_access(why, path, errno);
    if (status == SVMX_OK)
        *fd = opened;
    else
        (void)close(opened);
    return status;
}

enum svmx_status svmx__loader_check_program(const char *path, struct svmx__text *why) {
    int folder_fd = -1, fd = -1;
    struct stat info;
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, (size_t)(slash - path) + (slash == path));
    if (!folder) return no_memory(why);
    enum svmx_status status = open_folder(folder, &folder_fd, why);
    free(folder);
    if (status != SVMX_OK) return status;
    status = open_file(folder_fd, path, &fd, &info, why);
    (void)close(folder_fd);
    if (status == SVMX_OK) (void)close(fd);
    return status;
}

/* ---- what it says of itself ------------------------------------------------------------------------------- */

enum svmx_status svmx__plugin_check(const struct svmx_plugin *data, const char *name, struct svmx__text *why) {
    if (data->magic != SVMX_PLUGIN_MAGIC)
        return svmx__fail(why, SVMX_ERR_ABI, "not a plugin: '" SVMX_PLUGIN_SYMBOL "' lacks SVMX_PLUGIN_MAGIC");
    if (data->abi_major != SVMX_ABI_MAJOR)
        return svmx__fail(why, SVMX_ERR_ABI, "speaks plugin ABI %u.%u, this library %u.%u: build it against %s",
                          data->abi_major, data->abi_minor, SVMX_ABI_MAJOR, SVMX_ABI_MINOR,
                          "this library's svmx/plugin.h");
    if (data->size < SVMX__ABI_1_0_PLUGIN_BYTES)
        return svmx__fail(why, SVMX_ERR_ABI, "'" SVMX_PLUGIN_SYMBOL "' says that it has %u bytes, %zu are the least",
                          (unsigned)data->size, SVMX__ABI_1_0_PLUGIN_BYTES);
    if (!memchr(data->name, 0, sizeof data->name) || !memchr(data->version, 0, sizeof data->version) ||
        !memchr(data->licence, 0, sizeof data->licence))
        return svmx__fail(why, SVMX_ERR_ABI, "name, version or licence has no end: at most 31 characters each");
    if (!svmx__backend_name_ok(data->name))
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "'%s' is no name for a backend: lower-case letters, digits and '_', not none or stop",
                          data->name);
    if (name && strcmp(data->name, name) != 0)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "calls itself '%s': the file must be called %s.so", data->name,
                          data->name);
    return SVMX_OK;
}

/* Read and not mapped: a file that shrinks while it is replaced must not kill the process. */
static enum svmx_status read_all(int fd, const struct stat *info, const char *path, uint8_t **file, size_t *bytes,
                                 struct svmx__text *why) {
    size_t size = (size_t)info->st_size, done = 0;
    uint8_t *memory = malloc(size ? size : 1);
    if (!memory) return no_memory(why);
    while (done < size) {
        ssize_t got = pread(fd, memory + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int error = errno;
            free(memory);
            return no_access(why, path, error);
        }
        if (got == 0) break;
        done += (size_t)got;
    }
    *file = memory;
    *bytes = done;
    return SVMX_OK;
}

/* First what every version has; more only if it says that there is more. */
static enum svmx_status read_data(const uint8_t *file, size_t bytes, const char *name, struct svmx_plugin *data,
                                  struct svmx__text *why) {
    *data = (struct svmx_plugin){0};
    enum svmx_status status =
        svmx__elf_read_symbol(file, bytes, SVMX_PLUGIN_SYMBOL, data, SVMX__ABI_1_0_PLUGIN_BYTES, why);
    if (status == SVMX_OK) status = svmx__plugin_check(data, name, why);
    size_t known = data->size < sizeof *data ? data->size : sizeof *data;
    if (status == SVMX_OK && known > SVMX__ABI_1_0_PLUGIN_BYTES)
        status = svmx__elf_read_symbol(file, bytes, SVMX_PLUGIN_SYMBOL, data, known, why);
    return status;
}

static enum svmx_status inspect_file(int fd, const struct stat *info, const struct svmx__found *found,
                                     struct svmx__inspected *inspected, struct svmx__text *why) {
    struct svmx__inspected result = {.device = info->st_dev, .inode = info->st_ino};
    uint8_t *file = NULL;
    size_t bytes = 0;
    enum svmx_status status = read_all(fd, info, found->path, &file, &bytes, why);
    if (status != SVMX_OK) return status;
    status = read_data(file, bytes, found->name, &result.data, why);
    free(file);
    if (status == SVMX_OK) *inspected = result;
    return status;
}

static enum svmx_status check_file_name(const struct svmx__found *file, struct svmx__text *why) {
    const char *name = strrchr(file->path, '/') + 1;
    if (strlen(name) - 3 < sizeof file->name && svmx__backend_name_ok(file->name)) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_ARGUMENT,
                      "'%s': a plugin's file is called NAME.so, NAME being up to 31 lower-case letters, digits and "
                      "'_', not none or stop",
                      name);
}

enum svmx_status svmx__loader_inspect(const struct svmx__found *file, struct svmx__inspected *inspected,
                                      struct svmx__text *why) {
    int folder_fd = -1, fd = -1;
    struct stat info;
    bool folder_only = strcmp(file->name, "*") == 0;
    char *slash = strrchr(file->path, '/');
    char *folder =
        folder_only ? strdup(file->path) : strndup(file->path, (size_t)(slash - file->path) + (slash == file->path));
    if (!folder) return no_memory(why);
    enum svmx_status status = folder_only ? SVMX_OK : check_file_name(file, why);
    if (status == SVMX_OK) status = open_folder(folder, &folder_fd, why);
    free(folder);
    if (status != SVMX_OK) return status;
    if (folder_only) {
        (void)close(folder_fd);
        return svmx__fail(why, SVMX_ERR_SYSTEM, "the folder could not be read");
    }
    status = open_file(folder_fd, file->path, &fd, &info, why);
    (void)close(folder_fd);
    if (status != SVMX_OK) return status;
    status = inspect_file(fd, &info, file, inspected, why);
    (void)close(fd);
    return status;
}

/* ---- load ------------------------------------------------------------------------------------------------- */

static bool same_file(const char *path, const struct svmx__inspected *inspected) {
    struct stat info;
    return lstat(path, &info) == 0 && info.st_dev == inspected->device && info.st_ino == inspected->inode;
}

/* What is not there, if it is not the file itself, is a library behind it: a machine without that driver's loader, which is no
 * fault. The words are those of glibc and musl; a C library that says it otherwise has the plugin refused, with its text. */
static enum svmx_status dlopen_failed(const char *path, const char *error, struct svmx__text *why) {
    if (strstr(error, "No such file or directory") && strncmp(error, path, strlen(path)) != 0)
        return svmx__fail(why, SVMX_ERR_UNSUPPORTED, "a library that it needs is not installed: %s", error);
    return svmx__fail(why, SVMX_ERR_SYSTEM, "dlopen: %s", error);
}

enum svmx_status svmx__loader_load(const struct svmx__found *file, const struct svmx__inspected *inspected,
                                   const struct svmx_plugin **plugin, struct svmx__text *why) {
    if (!same_file(file->path, inspected))
        return svmx__fail(why, SVMX_ERR_SYSTEM, "the file was replaced while it was being checked: try again");
    void *handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlopen_failed(file->path, dlerror(), why);
    const struct svmx_plugin *data = dlsym(handle, SVMX_PLUGIN_SYMBOL);
    if (!data) return svmx__fail(why, SVMX_ERR_ABI, "dlsym: %s", dlerror());
    if (memcmp(data, &inspected->data, offsetof(struct svmx_plugin, open)) != 0)
        return svmx__fail(why, SVMX_ERR_ABI, "'" SVMX_PLUGIN_SYMBOL "' is not what the file says; %s",
                          "a plugin must not change it, and an older copy may still be loaded");
    if (!data->open) return svmx__fail(why, SVMX_ERR_ABI, "'" SVMX_PLUGIN_SYMBOL "' has no open function");
    *plugin = data;
    return SVMX_OK;
}

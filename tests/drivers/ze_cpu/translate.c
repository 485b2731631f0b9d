/*
 * translate.c: SPIR-V back to LLVM bitcode, by the program llvm-spirv (ZE_CPU_TRANSLATOR), in a folder of its own under
 * TMPDIR. What was translated once is kept in a folder, if ZE_CPU_KEEP names one: a suite has many processes, and all of
 * them the same modules. It knows nothing of OpenCL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

struct files {
    char folder[PATH_ROOM - 16], spirv[PATH_ROOM], bitcode[PATH_ROOM], log[PATH_ROOM];
};

static bool make_files(struct files *files) {
    const char *place = getenv("TMPDIR");
    (void)snprintf(files->folder, sizeof files->folder, "%s/ze_cpu.XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(files->folder)) return false;
    (void)snprintf(files->spirv, sizeof files->spirv, "%s/m.spv", files->folder);
    (void)snprintf(files->bitcode, sizeof files->bitcode, "%s/m.bc", files->folder);
    (void)snprintf(files->log, sizeof files->log, "%s/log", files->folder);
    return true;
}

static void remove_files(const struct files *files) {
    unlink(files->spirv);
    unlink(files->bitcode);
    unlink(files->log);
    rmdir(files->folder);
}

static bool write_file(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    const bool whole = fwrite(data, 1, bytes, file) == bytes;
    return fclose(file) == 0 && whole;
}

/* With a zero behind it; NULL: not to be read, or empty. */
static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    char *data = length > 0 ? malloc((size_t)length + 1) : NULL;
    rewind(file);
    if (data && fread(data, 1, (size_t)length, file) == (size_t)length) {
        data[length] = 0;
        *bytes = (size_t)length;
    } else {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

static const struct zecpu_constant *constant_of(const struct zecpu_spirv *info, uint32_t id) {
    for (uint32_t i = 0; i < info->constant_count; i++)
        if (info->constants[i].id == id) return &info->constants[i];
    return NULL;
}

/* "ID:TYPE:VALUE" of one constant; a client may set what the module does not have: "". */
static void write_constant(const struct zecpu_spirv *info, uint32_t id, const void *value, char *text, size_t room) {
    const struct zecpu_constant *constant = constant_of(info, id);
    uint64_t whole = 0;
    float single;
    double number;
    *text = 0;
    if (!constant || constant->bytes > sizeof whole) return;
    memcpy(&whole, value, constant->bytes);
    memcpy(&single, &whole, sizeof single);
    memcpy(&number, &whole, sizeof number);
    if (constant->bytes == sizeof single) number = (double)single;
    if (constant->letter == 'f')
        (void)snprintf(text, room, "%u:f%u:%.17g", (unsigned)id, (unsigned)constant->bytes * 8, number);
    else
        (void)snprintf(text, room, "%u:i%u:%llu", (unsigned)id, (unsigned)constant->bytes * 8,
                       (unsigned long long)whole);
}

/* "--spec-const=..." of all; "": there are none. */
static void write_constants(const ze_module_constants_t *values, const struct zecpu_spirv *info, char *text,
                            size_t room) {
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; values && i < values->numConstants && used < room - 100; i++) {
        char one[80];
        write_constant(info, values->pConstantIds[i], values->pConstantValues[i], one, sizeof one);
        if (*one) used += (size_t)snprintf(text + used, room - used, "%s%s", used ? " " : "--spec-const=", one);
    }
}

/* The program's end; -1: it cannot be run. */
static int run(const char *const arguments[], const char *output) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments, environ) == 0)
        while (waitpid(child, &status, 0) != child) continue;
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

static char *log_text(const char *path) {
    size_t bytes;
    char text[512], *log = read_file(path, &bytes);
    if (log) return log;
    (void)snprintf(
        text, sizeof text,
        "SPIR-V cannot be translated: %s fails, or is not there; on Debian and Ubuntu: apt install llvm-spirv-15, or "
        "name another in ZE_CPU_TRANSLATOR",
        zecpu_settings.translator);
    return strdup(text);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static uint64_t hash(uint64_t so_far, const void *data, size_t bytes) { /* FNV-1a */
    for (size_t i = 0; i < bytes; i++) so_far = (so_far ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

/* Where the bitcode of a module would be kept; false: nothing is. */
static bool kept_path(char path[PATH_ROOM], const void *spirv, size_t bytes, const char *constants) {
    if (!zecpu_settings.keep) return false;
    uint64_t key = hash(UINT64_C(0xcbf29ce484222325), zecpu_settings.translator, strlen(zecpu_settings.translator) + 1);
    key = hash(hash(key, constants, strlen(constants)), spirv, bytes);
    return snprintf(path, PATH_ROOM, "%s/%016llx-%zu.bc", zecpu_settings.keep, (unsigned long long)key, bytes) <
           PATH_ROOM;
}

/* It appears by rename, whole: others may read it, or write the same. */
static void keep(const char *path, const void *bitcode, size_t bytes) {
    char part[PATH_ROOM + 16];
    (void)mkdir(zecpu_settings.keep, 0700);
    (void)snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    if (!write_file(part, bitcode, bytes) || rename(part, path) != 0) (void)unlink(part);
}

void zecpu_translate(const void *spirv, size_t bytes, const ze_module_constants_t *values,
                     const struct zecpu_spirv *info, void **bitcode, size_t *bitcode_bytes, char **log) {
    struct files files;
    char constants[2048], path[PATH_ROOM];
    *bitcode = *log = NULL;
    write_constants(values, info, constants, sizeof constants);
    const bool keeps = kept_path(path, spirv, bytes, constants);
    if (keeps && (*bitcode = read_file(path, bitcode_bytes))) return;
    if (!make_files(&files)) {
        *log = strdup("no folder for SPIR-V can be made in TMPDIR");
        return;
    }
    const char *arguments[] = {zecpu_settings.translator,     "-r", files.spirv, "-o", files.bitcode,
                               *constants ? constants : NULL, NULL};
    if (write_file(files.spirv, spirv, bytes) && run(arguments, files.log) == 0)
        *bitcode = read_file(files.bitcode, bitcode_bytes);
    if (!*bitcode) *log = log_text(files.log);
    if (*bitcode && keeps) keep(path, *bitcode, *bitcode_bytes);
    remove_files(&files);
}

/*
 * settings.c: the environment, read once at zeInit. A test that misspells its wish would pass without having tested
 * anything: so a bad value, and a name ZE_CPU_* that means nothing, are told on stderr and zeInit fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct zecpu_settings zecpu_settings;

static bool refuse(const char *name, const char *value, const char *wanted) {
    fprintf(stderr, "ze_cpu: %s=%s: %s\n", name, value, wanted);
    return false;
}

static bool parse_number(const char *text, char **end, int base, uint64_t *out) {
    errno = 0;
    *out = strtoull(text, end, base);
    return *end != text && *text != '-' && *text != '+' && *text != ' ' && !errno;
}

static bool read_number(const char *name, const char *value, uint64_t from, uint64_t to, uint64_t *out) {
    char *end, wanted[80];
    if (parse_number(value, &end, 10, out) && !*end && *out >= from && *out <= to) return true;
    (void)snprintf(wanted, sizeof wanted, "a number from %llu to %llu is wanted", (unsigned long long)from,
                   (unsigned long long)to);
    return refuse(name, value, wanted);
}

static bool read_count(const char *name, const char *value, uint32_t from, uint32_t to, uint32_t *out) {
    uint64_t number;
    if (!read_number(name, value, from, to, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

static bool read_flag(const char *name, const char *value, bool *out) {
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) return refuse(name, value, "0 or 1 is wanted");
    *out = *value == '1';
    return true;
}

static bool read_text(const char *name, const char *value, const char **out) {
    if (!*value) return refuse(name, value, "a file is wanted");
    *out = strdup(value); /* for ever: the client may change its environment */
    return *out;
}

static bool read_engine(const char *name, const char *value) {
    if (strcmp(value, "pocl") != 0 && strcmp(value, "oclgrind") != 0)
        return refuse(name, value, "pocl or oclgrind is wanted");
    zecpu_settings.oclgrind = strcmp(value, "oclgrind") == 0;
    return true;
}

static bool read_shuffle(const char *name, const char *value) {
    zecpu_settings.shuffle = true;
    return read_number(name, value, 0, UINT64_MAX, &zecpu_settings.seed);
}

/* FUNCTION@N[=NUMBER][,...]; both lists look like that. */
static bool read_places(const char *name, const char *value, int base, bool number_needed, uint64_t number_default,
                        bool (*take)(const char *function, uint64_t n, uint64_t number)) {
    const char *wanted =
        number_needed ? "FUNCTION@N=HEXCODE[,...] is wanted" : "FUNCTION@N[=MILLISECONDS][,...] is wanted";
    for (const char *at = value;; at++) {
        char function[64], *end;
        uint64_t n, number = number_default;
        const size_t length = strcspn(at, "@");
        if (!length || length >= sizeof function || at[length] != '@') return refuse(name, value, wanted);
        memcpy(function, at, length);
        function[length] = 0;
        if (!parse_number(at + length + 1, &end, 10, &n) || n == 0) return refuse(name, value, wanted);
        if (number_needed && *end != '=') return refuse(name, value, wanted);
        if (*end == '=' && !parse_number(end + 1, &end, base, &number)) return refuse(name, value, wanted);
        if (*end && *end != ',') return refuse(name, value, wanted);
        if (!take(function, n, number))
            return refuse(name, function, "there is no such function in this driver, or too many");
        if (!*end) return true;
        at = end;
    }
}

static bool take_failure(const char *function, uint64_t n, uint64_t number) {
    return zecpu_calls_fail(function, n, (ze_result_t)number);
}

static bool read_failures(const char *name, const char *value) {
    return read_places(name, value, 16, true, 0, take_failure);
}

static bool read_hangs(const char *name, const char *value) {
    return read_places(name, value, 10, false, 30000, zecpu_calls_hang);
}

static bool read_one(const char *name, const char *value) {
    struct zecpu_settings *to = &zecpu_settings;
    if (strcmp(name, "ZE_CPU_ENGINE") == 0) return read_engine(name, value);
    if (strcmp(name, "ZE_CPU_DEVICES") == 0) return read_count(name, value, 1, ZECPU_MAX_DEVICES, &to->devices);
    if (strcmp(name, "ZE_CPU_TILES") == 0) return read_count(name, value, 0, ZECPU_MAX_TILES, &to->tiles);
    if (strcmp(name, "ZE_CPU_SHUFFLE") == 0) return read_shuffle(name, value);
    if (strcmp(name, "ZE_CPU_STRICT") == 0) return read_flag(name, value, &to->strict);
    if (strcmp(name, "ZE_CPU_TSWRAP") == 0) return read_flag(name, value, &to->wrap);
    if (strcmp(name, "ZE_CPU_INTEGRATED") == 0) return read_flag(name, value, &to->integrated);
    if (strcmp(name, "ZE_CPU_NOFP64") == 0) return read_flag(name, value, &to->no_fp64);
    if (strcmp(name, "ZE_CPU_FAIL") == 0) return read_failures(name, value);
    if (strcmp(name, "ZE_CPU_HANG") == 0) return read_hangs(name, value);
    if (strcmp(name, "ZE_CPU_HANG_FILE") == 0) return read_text(name, value, &to->hang_file);
    if (strcmp(name, "ZE_CPU_REPORT") == 0) return read_text(name, value, &to->report);
    if (strcmp(name, "ZE_CPU_COUNT") == 0) return read_text(name, value, &to->count);
    if (strcmp(name, "ZE_CPU_TRANSLATOR") == 0) return read_text(name, value, &to->translator);
    if (strcmp(name, "ZE_CPU_KEEP") == 0) return read_text(name, value, &to->keep);
    return refuse(name, value, "there is no such variable; see README.md of the test driver");
}

bool zecpu_settings_read(void) {
    extern char **environ;
    bool good = true;
    zecpu_settings = (struct zecpu_settings){.devices = 1, .translator = "llvm-spirv-15"};
    for (char **at = environ; at && *at; at++) {
        char name[64];
        const size_t length = strcspn(*at, "=");
        if (strncmp(*at, "ZE_CPU_", 7) != 0) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)length, *at);
        const char *value = (*at)[length] ? *at + length + 1 : "";
        if (!read_one(name, value)) good = false;
    }
    return good;
}

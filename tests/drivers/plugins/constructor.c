/*
 * constructor.c: check-only plugin: of another ABI, and its constructor leaves a mark: it creates the file that
 * SVMX_TEST_CONSTRUCTOR_FILE names. The mark must never be there: nothing of a plugin runs before it has been judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_mark(void) {
    const char *path = getenv("SVMX_TEST_CONSTRUCTOR_FILE");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) (void)fclose(file);
}

static enum svmx_status never_opened(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)host;
    (void)backend;
    __builtin_trap();
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = 99,
    .name = "constructor",
    .version = "1",
    .licence = "Apache-2.0",
    .open = never_opened,
};

/*
 * wrong_name.c: check-only plugin that calls itself something else than its file is called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

static enum svmx_status never_opened(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)host;
    (void)backend;
    __builtin_trap();
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "right_name",
    .version = "1",
    .licence = "Apache-2.0",
    .open = never_opened,
};

/*
 * bad_abi.c: check-only plugin: in order, but of a plugin ABI that this library does not speak. Must be refused unopened.
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
    .abi_major = 99,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "bad_abi",
    .version = "1",
    .licence = "Apache-2.0",
    .open = never_opened,
};

/*
 * open_fails.c: check-only plugin whose open says why and fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

static enum svmx_status open_fails(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)backend;
    host->log(host, SVMX_LOG_ERROR, "open_fails: the moon is in the wrong place");
    return SVMX_ERR_BACKEND;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "open_fails",
    .version = "1",
    .licence = "Apache-2.0",
    .open = open_fails,
};

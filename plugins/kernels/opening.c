/*
 * opening.c: see opening.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opening.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char *dangerous_variable(const char *const *names, size_t count) {
    for (char **at = environ; at && *at; at++)
        for (size_t i = 0; i < count; i++)
            if (strncmp(*at, names[i], strlen(names[i])) == 0) return names[i];
    return NULL;
}

enum svmx_status kernels_may_open(const struct svmx_host *host, const char *const *names, size_t count) {
    if (host->abi_major != SVMX_ABI_MAJOR || host->size < sizeof *host)
        return SVMX_ERR_ABI; /* not even its log can be trusted */
    const char *dangerous = getauxval(AT_SECURE) ? dangerous_variable(names, count) : NULL;
    if (!dangerous) return SVMX_OK;
    char line[160];
    (void)snprintf(line, sizeof line, "not with raised rights while the environment has %s...: unset it", dangerous);
    host->log(host, SVMX_LOG_ERROR, line);
    return SVMX_ERR_UNSUPPORTED;
}

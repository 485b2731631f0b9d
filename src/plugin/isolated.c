/*
 * isolated.c: see isolated.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/isolated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool svmx__isolated_next(const char **list, char name[SVMX__BACKEND_NAME]) {
    if (!*list || !**list) return false;
    const size_t length = strcspn(*list, ","), most = SVMX__BACKEND_NAME - 1;
    (void)snprintf(name, SVMX__BACKEND_NAME, "%.*s", (int)(length < most ? length : most), *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

bool svmx__isolated_has(const char *list, const char *backend) {
    char name[SVMX__BACKEND_NAME];
    while (svmx__isolated_next(&list, name))
        if (strcmp(name, backend) == 0) return true;
    return false;
}

const struct svmx__isolated *svmx__isolated_add(struct svmx__isolated **all, const struct svmx_plugin *data,
                                                const char *path, const char *backend_path, uint64_t limit_ns) {
    struct svmx__isolated *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    *made = (struct svmx__isolated){
        .plugin = *data, .path = strdup(path), .backend_path = strdup(backend_path), .limit_ns = limit_ns};
    if (!made->path || !made->backend_path) {
        svmx__isolated_free(made);
        return NULL;
    }
    made->next = *all;
    *all = made;
    return made;
}

void svmx__isolated_free(struct svmx__isolated *all) {
    while (all) {
        struct svmx__isolated *next = all->next;
        free(all->path);
        free(all->backend_path);
        free(all);
        all = next;
    }
}

/*
 * name.c: see name.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void kernels_name_tidy(char *name, size_t bytes, const char *raw) {
    size_t length = 0;
    bool blank = false;
    for (; *raw; raw++) {
        if (*raw <= ' ' || *raw > '~') {
            blank = length > 0;
            continue;
        }
        if (length + blank + 1 >= bytes) break;
        if (blank) name[length++] = ' ';
        blank = false;
        name[length++] = *raw;
    }
    name[length] = '\0';
}

void kernels_name_number(char *name, size_t bytes, unsigned n) {
    char tail[16];
    const size_t needed = (size_t)snprintf(tail, sizeof tail, " #%u", n);
    const size_t length = strlen(name), room = bytes - 1 - needed;
    memcpy(name + (length < room ? length : room), tail, needed + 1);
}

/*
 * name.h: names of devices as they are shown. Used by the backends that run device code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_NAME_H
#define SVMX_KERNELS_NAME_H

#include <stddef.h>

/* Copies what of a name is to be shown: no blanks at its ends, one between words, nothing that is not printed. */
void kernels_name_tidy(char *name, size_t bytes, const char *raw);
/* Makes a name that others have as well the n-th of them: "NAME #2". */
void kernels_name_number(char *name, size_t bytes, unsigned n);

#endif

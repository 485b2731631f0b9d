/*
 * elf.h: reads a data symbol out of a shared object's file, without loading it.
 *
 * dlopen runs constructors; what a file says of itself must be known before that. Called by loader.c; knows nothing of
 * plugins, and trusts no byte of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_ELF_H
#define SVMX_PLUGIN_ELF_H

#include "base/text.h"

/*
 * Copies the first `out_bytes` bytes of `symbol`, as they stand in the file (pointers are not relocated), to `out`. `file`
 * may be anything and have any alignment. Looks where the dynamic linker looks, in PT_DYNAMIC; section headers are not
 * needed and not believed. ABI: no shared object of this machine, no such symbol, no data or too small, broken or cut
 * off. `out` is written on success only.
 */
SVMX_MUST_CHECK enum svmx_status svmx__elf_read_symbol(const uint8_t *file, size_t bytes, const char *symbol, void *out,
                                                       size_t out_bytes, struct svmx__text *why);

#endif

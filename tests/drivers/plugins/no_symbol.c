/*
 * no_symbol.c: check-only shared object that is no plugin: it exports something, but not svmx_plugin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

SVMX_EXPORT extern const char svmx_plugin_not[];
const char svmx_plugin_not[] = "svmx_plugin";

/*
 * selection.h: the grammar of SUPERVM_BACKENDS, parsed once, asked often.
 *
 *   SUPERVM_BACKENDS := "" | "none" | "^" name{,name} | item{,item}
 *   item := name[:dev] | -name | +name[:dev] | stop        dev := * | gpu | cpu | index | pci-id | model[*count]
 *
 * Order is preference. Backends that are not named follow those that are, unless `stop` ends the list; one that is
 * loaded on request only (SVMX_PLUGIN_ON_REQUEST) never follows. `^a,b`: all but these. `-a`: not a. `+a`: a must load
 * or svmx_open fails. `none`: the reference code only. A name may stand several times with different devices.
 *
 * A device is any (*), of a kind (gpu, cpu), a number (2), a PCI id (03:00.0), or else part of its name in any case
 * (arc a770). *count takes at most so many; a number with a count is part of a name (4090*2). The reference code is
 * called `reference`, is always there and always last: it may be named, but not left out and not cut by device.
 *
 * Blanks around items do not count. Whatever else is wrong is refused with its place; nothing is skipped in silence.
 *
 * Called by registry.c (which backends) and device.c (which devices). Touches no file and no plugin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_SELECTION_H
#define SVMX_PLUGIN_SELECTION_H

#include "base/text.h"
#include <stdbool.h>
#include <svmx/plugin.h>

/* The name of the linked-in reference code. */
#define SVMX__REFERENCE_NAME "reference"

struct svmx__selection_item {
    char name[32];
    char device[64]; /* as written after ':', "" for none (= all devices) */
    bool excluded, required;
};

struct svmx__selection {
    struct svmx__selection_item *items; /* in the user's order */
    uint32_t item_count;
    const char *origin; /* what its user knows the text by */
    bool none;          /* the reference code only */
    bool stop;          /* nothing that is not named */
};

/* A name that a backend may have: 1 to 31 lower-case letters, digits and '_', not a word of the grammar. */
bool svmx__backend_name_ok(const char *name);

/* Parses; ARGUMENT with a text that points at the item, MEMORY. Names are not checked for existence here. `origin` is what
 * messages call the text, and lives as long as the selection. */
enum svmx_status svmx__selection_parse(struct svmx__selection *selection, const char *text, const char *origin,
                                       struct svmx__text *why);
/* Leaves an empty selection: everything that is found. */
void svmx__selection_free(struct svmx__selection *selection);

enum svmx__wish { SVMX__UNWANTED, SVMX__WANTED, SVMX__DEMANDED };

/* Is a backend wanted, and at which place? *rank: smaller is preferred; unnamed ones get item_count, the reference
 * UINT32_MAX. Set only if it is wanted. */
enum svmx__wish svmx__selection_backend(const struct svmx__selection *selection, const char *name, bool on_request,
                                        uint32_t *rank);

/* Is device `index` of a wanted backend wanted, and at which place among all? The first item that matches decides.
 * `taken` counts, for each item, devices that it has matched so far (item_count entries, the caller's, start at zero):
 * model*count stops there. *rank as above. */
bool svmx__selection_device(const struct svmx__selection *selection, const char *backend, uint32_t index,
                            const struct svmx_device_info *info, uint32_t *taken, uint32_t *rank);

/* The device parts that stand with a backend's name, joined by ',', into `out`; false if there are none, or they do not
 * fit. */
bool svmx__selection_devices_text(const struct svmx__selection *selection, const char *backend, char *out,
                                  size_t out_bytes);

#endif

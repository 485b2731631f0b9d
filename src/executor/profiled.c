/*
 * profiled.c: the profile on disk for those who look at it (svmx_profile_* of svmx.h): a list of its cells.
 *
 * Beside the spine: needs no executor, opens no device. Knows the setting profile and src/cache/profile_file.h. What
 * executors do with the file is profile.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "cache/profile_file.h"
#include "executor/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What version 0.1.0 had. */
enum { FIRST_PROFILE_ENTRY = SVMX__THROUGH(struct svmx_profile_entry, first_use_ns) };

struct svmx_profile {
    char *path; /* "" = off */
    struct svmx__text defect;
    struct svmx__profile_records records; /* cells in the order of the public call */
};

static enum svmx_status told(struct svmx_error *error, enum svmx_status status, const struct svmx__text *why) {
    if (status == SVMX_OK || !error) return status;
    error->status = status;
    (void)snprintf(error->text, sizeof error->text, "%s", why->line);
    return status;
}

/* By operation first: that is how one looks for a crossover. */
static int by_operation(const void *left, const void *right) {
    const struct svmx__profile_cell *a = left, *b = right;
    const int order = strcmp(a->op, b->op);
    return order ? order : svmx__profile_order(a, b);
}

static enum svmx_status open_profile(struct svmx_profile *profile, const char *path, struct svmx__text *why) {
    enum svmx_status status = svmx__config_profile(path, &profile->path, why);
    if (status != SVMX_OK) return status;
    if (strcmp(profile->path, "off") == 0) {
        profile->path[0] = '\0';
        return SVMX_OK;
    }
    struct svmx__profile_records *records = &profile->records;
    status = svmx__profile_read(records, profile->path, &profile->defect, why);
    if (status == SVMX_OK && records->cell_count)
        qsort(records->cells, records->cell_count, sizeof *records->cells, by_operation);
    return status;
}

enum svmx_status svmx_profile_open(svmx_profile_t **profile, const char *path, struct svmx_error *error) {
    struct svmx__text why = {"no memory"};
    enum svmx_status status = SVMX_ERR_MEMORY;
    struct svmx_profile *made = NULL;
    if (!profile)
        status = svmx__fail(&why, SVMX_ERR_ARGUMENT, "profile is NULL");
    else if ((made = calloc(1, sizeof *made)))
        status = open_profile(made, path, &why);
    if (status == SVMX_OK)
        *profile = made;
    else
        svmx_profile_close(made);
    return told(error, status, &why);
}

void svmx_profile_close(svmx_profile_t *profile) {
    if (!profile) return;
    svmx__profile_records_free(&profile->records);
    free(profile->path);
    free(profile);
}

const char *svmx_profile_path(const svmx_profile_t *profile) { return profile ? profile->path : ""; }

const char *svmx_profile_defect(const svmx_profile_t *profile) { return profile ? profile->defect.line : ""; }

uint32_t svmx_profile_count(const svmx_profile_t *profile) {
    return profile ? (uint32_t)profile->records.cell_count : 0;
}

enum svmx_status svmx_profile_get(const svmx_profile_t *profile, uint32_t index, struct svmx_profile_entry *entry) {
    if (!profile || !svmx__is_served(entry, FIRST_PROFILE_ENTRY)) return SVMX_ERR_ARGUMENT;
    if (index >= profile->records.cell_count) return SVMX_ERR_UNKNOWN;
    const struct svmx__profile_cell *cell = &profile->records.cells[index];
    const struct svmx__profile_device *device = &profile->records.devices[cell->device];
    const uint64_t units = UINT64_C(1) << cell->lanes;
    const struct svmx_profile_entry now = {.op = cell->op,
                                           .backend = device->backend,
                                           .version = device->version,
                                           .device = device->name,
                                           .driver = device->driver,
                                           .variant = device->variant,
                                           .pci = device->pci,
                                           .units = units,
                                           .work = units << cell->depth,
                                           .bytes = cell->bytes,
                                           .samples = cell->samples,
                                           .threads = device->threads,
                                           .kind = device->kind,
                                           .flags = device->test ? SVMX_DEVICE_TEST : 0,
                                           .ns = cell->ns,
                                           .low_ns = cell->low_ns,
                                           .high_ns = cell->high_ns,
                                           .setup_ns = cell->setup_ns,
                                           .transfer_ns = cell->transfer_ns,
                                           .compute_ns = cell->compute_ns,
                                           .first_use_ns = cell->first_use_ns};
    svmx__give(entry, &now, sizeof now);
    return SVMX_OK;
}

enum svmx_status svmx_profile_remove(svmx_profile_t *profile, struct svmx_error *error) {
    struct svmx__text why = {"profile is NULL"};
    enum svmx_status status = SVMX_ERR_ARGUMENT;
    if (profile) status = *profile->path ? svmx__profile_unlink(profile->path, &why) : SVMX_OK;
    return told(error, status, &why);
}

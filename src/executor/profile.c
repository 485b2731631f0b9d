/*
 * profile.c: the model of an executor, kept from one process to the next.
 *
 *   open:   file -> cells of devices that are here, as they are -> model
 *   close:  model -> file: cells that this process measured replace those of the file, all others stay
 *
 * Called by executor.c; svmx_profile_save. The file is src/cache/profile_file.h.
 *
 * A device of the file is that of the executor if all that its speed depends on is the same. If only what a user sets
 * differs (variant, threads) it is another device, whose costs stay in the file for the next time; if what drives it
 * differs (driver, plugin, ABI) those costs never come back, and go. Costs of devices that are not here stay. Operations
 * that programs register are not kept: the next program may have another one of that name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/profile_file.h"
#include "executor/executor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static_assert((int)SVMX__PROFILE_LANES == (int)SVMX__LANES && (int)SVMX__PROFILE_DEPTHS == (int)SVMX__DEPTHS,
              "what is in files fits cells");

static const uint32_t NOBODY = UINT32_MAX;

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static struct svmx__profile_device device_of(const struct svmx_executor *executor, uint32_t d) {
    const struct svmx__device *device = &executor->devices[d];
    const struct svmx_plugin *plugin = device->backend->plugin;
    struct svmx__profile_device of = {.abi_major = plugin->abi_major,
                                      .abi_minor = plugin->abi_minor,
                                      .threads = device->info.threads,
                                      .kind = device->info.kind,
                                      .test = (device->info.flags & SVMX_DEVICE_TEST) != 0};
    (void)snprintf(of.backend, sizeof of.backend, "%s", device->backend->name);
    (void)snprintf(of.version, sizeof of.version, "%s", plugin->version);
    (void)snprintf(of.name, sizeof of.name, "%s", device->info.name);
    (void)snprintf(of.driver, sizeof of.driver, "%s", device->info.driver);
    (void)snprintf(of.variant, sizeof of.variant, "%s", device->info.variant);
    (void)snprintf(of.pci, sizeof of.pci, "%s", device->info.pci);
    return of;
}

/* Of two devices here that cannot be told apart the first has the profile. */
static uint32_t find_same(const struct svmx_executor *executor, const struct svmx__profile_device *wanted) {
    for (uint32_t d = 0; d < executor->routed; d++) {
        const struct svmx__profile_device here = device_of(executor, d);
        if (svmx__profile_same(&here, wanted)) return d;
    }
    return NOBODY;
}

/* The device that this one has become: NOBODY if it is not here, or here as it was. */
static uint32_t find_changed(const struct svmx_executor *executor, const struct svmx__profile_device *was) {
    for (uint32_t d = 0; d < executor->routed; d++) {
        const struct svmx__profile_device here = device_of(executor, d);
        if (strcmp(here.backend, was->backend) == 0 && strcmp(here.name, was->name) == 0 &&
            strcmp(here.pci, was->pci) == 0)
            return d;
    }
    return NOBODY;
}

/* Another driver, plugin or ABI: what was measured is over. */
static bool is_over(const struct svmx__profile_device *was, const struct svmx__profile_device *here) {
    return strcmp(was->driver, here->driver) != 0 || strcmp(was->version, here->version) != 0 ||
           was->abi_major != here->abi_major || was->abi_minor != here->abi_minor;
}

static void tell_change(const struct svmx_executor *executor, const struct svmx__profile_device *was,
                        const struct svmx__profile_device *here) {
    const char *what = strcmp(was->driver, here->driver) != 0     ? "its driver changed"
                       : strcmp(was->version, here->version) != 0 ? "its plugin changed"
                       : is_over(was, here)                       ? "the plugin ABI changed"
                       : strcmp(was->variant, here->variant) != 0 ? "its variant is another"
                                                                  : "it has another number of threads";
    svmx__log(&executor->log, SVMX_LOG_INFO, "profile: what was measured of %s: %s is %s: %s", was->backend, was->name,
              is_over(was, here) ? "dropped" : "not used", what);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* NULL: the profile is off. */
static const char *path_of(const struct svmx_executor *executor) {
    const char *path = executor->config.text[SVMX__PROFILE];
    return strcmp(path, "off") == 0 ? NULL : path;
}

/* The reference code is not measured. */
static bool has_use(const struct svmx_executor *executor) { return executor->routed > 0; }

/* ---- load ------------------------------------------------------------------------------------------------------- */

static uint32_t restore_device(struct svmx_executor *executor, const struct svmx__profile_device *device) {
    const uint32_t d = find_same(executor, device);
    if (d == NOBODY) {
        const uint32_t changed = find_changed(executor, device);
        if (changed == NOBODY) return NOBODY;
        const struct svmx__profile_device here = device_of(executor, changed);
        tell_change(executor, device, &here);
        return NOBODY;
    }
    struct svmx__model_device *assumed = &executor->model.devices[d];
    if (!device->measured || assumed->on_host) return d;
    assumed->latency_ns = device->latency_ns;
    assumed->bytes_per_ns = device->bytes_per_ns;
    assumed->measured = true;
    return d;
}

static bool restore_cell(struct svmx_executor *executor, uint32_t d, const struct svmx__profile_cell *cell) {
    const struct svmx__op *op = svmx__operations_by_name(executor->operations, cell->op);
    if (!op || op->id >= SVMX_OP_FIRST_REGISTERED) return false; /* of another version */
    const struct svmx__cell_summary summary = {.op = op->id,
                                               .device = d,
                                               .cell = cell->lanes * SVMX__DEPTHS + cell->depth,
                                               .samples = cell->samples,
                                               .ns = cell->ns,
                                               .low_ns = cell->low_ns,
                                               .high_ns = cell->high_ns,
                                               .setup_ns = cell->setup_ns,
                                               .transfer_ns = cell->transfer_ns,
                                               .compute_ns = cell->compute_ns,
                                               .first_use_ns = cell->first_use_ns,
                                               .bytes = cell->bytes};
    return svmx__model_restore(&executor->model, &summary);
}

/* Devices that cannot be told apart share a quarantine. */
static void restore_wrong(struct svmx_executor *executor, const struct svmx__profile_device *device,
                          const struct svmx__profile_wrong *wrong) {
    const struct svmx__op *op = svmx__operations_by_name(executor->operations, wrong->op);
    if (!op) return; /* of another version */
    for (uint32_t d = 0; d < executor->routed; d++) {
        const struct svmx__profile_device here = device_of(executor, d);
        if (svmx__profile_same(&here, device) && svmx__quarantine_is_kept(&executor->devices[d], op))
            svmx__quarantine_restore(&executor->devices[d], op, wrong->reason);
    }
}

static void restore_records(struct svmx_executor *executor, const struct svmx__profile_records *records) {
    uint32_t here[SVMX__PROFILE_DEVICES];
    size_t restored = 0;
    for (size_t i = 0; i < records->device_count; i++) here[i] = restore_device(executor, &records->devices[i]);
    for (size_t i = 0; i < records->cell_count; i++) {
        const uint32_t d = here[records->cells[i].device];
        restored += d != NOBODY && restore_cell(executor, d, &records->cells[i]);
    }
    for (size_t i = 0; i < records->wrong_count; i++)
        restore_wrong(executor, &records->devices[records->wrongs[i].device], &records->wrongs[i]);
    svmx__log(&executor->log, SVMX_LOG_DEBUG, "profile: %zu of %zu cells are of use here", restored,
              records->cell_count);
}

void svmx__profile_load(struct svmx_executor *executor) {
    struct svmx__profile_records records = {0};
    struct svmx__text defect = {""}, why = {""};
    const char *path = path_of(executor);
    if (!path || !has_use(executor)) return;
    executor->profile_refused = svmx__profile_read(&records, path, &defect, &why) != SVMX_OK;
    if (executor->profile_refused)
        svmx__log(&executor->log, SVMX_LOG_WARN, "the profile is not used: %s", why.line);
    else if (defect.line[0])
        svmx__log(&executor->log, SVMX_LOG_WARN, "the profile %s is ignored, and started anew: %s", path, defect.line);
    restore_records(executor, &records);
    svmx__profile_records_free(&records);
}

/* ---- save ------------------------------------------------------------------------------------------------------- */

struct saving {
    const struct svmx_executor *executor;
    struct svmx__profile_records old, now;
    uint32_t block[SVMX__ROUTED]; /* of each device, in `now` */
    bool news, starving;
};

static uint64_t seconds_now(void) {
    const time_t now = time(NULL);
    return now > 0 ? (uint64_t)now : 0;
}

static bool save_device(struct saving *saving, uint32_t d) {
    const struct svmx__model_device *of = &saving->executor->model.devices[d];
    struct svmx__profile_device device = device_of(saving->executor, d);
    device.used_s = seconds_now();
    const bool measured = __atomic_load_n(&of->measured, __ATOMIC_ACQUIRE); /* with svmx__model_set_bus */
    const double latency_ns = svmx__model_number(&of->latency_ns), bytes_per_ns = svmx__model_number(&of->bytes_per_ns);
    device.measured = measured && svmx__profile_link_ok(latency_ns, bytes_per_ns);
    if (device.measured) {
        device.latency_ns = latency_ns;
        device.bytes_per_ns = bytes_per_ns;
    }
    saving->block[d] = (uint32_t)saving->now.device_count;
    return svmx__profile_add_device(&saving->now, &device);
}

/* Devices that cannot be told apart share what the first of them measured. */
static bool save_devices(struct saving *saving) {
    for (uint32_t d = 0; d < saving->executor->routed; d++) {
        const struct svmx__profile_device device = device_of(saving->executor, d);
        const uint32_t first = find_same(saving->executor, &device);
        saving->block[d] = NOBODY;
        if (first == d && !save_device(saving, d)) return false;
    }
    return true;
}

static struct svmx__profile_cell cell_of(const struct svmx__cell_summary *summary, const char *op, uint32_t block) {
    struct svmx__profile_cell cell = {.device = block,
                                      .lanes = svmx__cell_lanes(summary->cell),
                                      .depth = svmx__cell_depth(summary->cell),
                                      .samples = summary->samples,
                                      .ns = summary->ns,
                                      .low_ns = summary->low_ns,
                                      .high_ns = summary->high_ns,
                                      .setup_ns = summary->setup_ns,
                                      .transfer_ns = summary->transfer_ns,
                                      .compute_ns = summary->compute_ns,
                                      .first_use_ns = summary->first_use_ns,
                                      .bytes = summary->bytes};
    (void)snprintf(cell.op, sizeof cell.op, "%s", op);
    return cell;
}

/* Only what this process measured: what it read is in the file, with all its samples. */
static bool save_cell(void *user, const struct svmx__cell_summary *summary) {
    struct saving *saving = user;
    const struct svmx__op *op = svmx__operations_by_id(saving->executor->operations, summary->op);
    if (!op || op->id >= SVMX_OP_FIRST_REGISTERED || summary->learned == 0) return true;
    if (saving->block[summary->device] == NOBODY) return true;
    const struct svmx__profile_cell cell = cell_of(summary, op->name, saving->block[summary->device]);
    saving->news = true;
    saving->starving = !svmx__profile_add_cell(&saving->now, &cell);
    return !saving->starving;
}

/* Has the file, or what is to be written, that operation of that device? */
static bool has_wrong(const struct svmx__profile_records *records, const struct svmx__profile_device *device,
                      const char *op) {
    for (size_t i = 0; i < records->wrong_count; i++) {
        const struct svmx__profile_wrong *wrong = &records->wrongs[i];
        if (strcmp(wrong->op, op) == 0 && svmx__profile_same(&records->devices[wrong->device], device)) return true;
    }
    return false;
}

/* `block` is that of the device, or of the first that is like it. */
static void save_wrong(struct saving *saving, uint32_t block, const struct svmx__quarantined *of) {
    const struct svmx__profile_device *device = &saving->now.devices[block];
    struct svmx__profile_wrong wrong = {.device = block};
    if (saving->starving || has_wrong(&saving->now, device, of->op->name)) return;
    (void)snprintf(wrong.op, sizeof wrong.op, "%s", of->op->name);
    (void)snprintf(wrong.reason, sizeof wrong.reason, "%.63s", of->reason);
    saving->news = saving->news || !has_wrong(&saving->old, device, wrong.op);
    saving->starving = !svmx__profile_add_wrong(&saving->now, &wrong);
}

static void save_wrongs(struct saving *saving) {
    for (uint32_t d = 0; d < saving->executor->routed; d++) {
        const struct svmx__device *device = &saving->executor->devices[d];
        const struct svmx__profile_device of = device_of(saving->executor, d);
        const uint32_t block = saving->block[find_same(saving->executor, &of)];
        for (const struct svmx__quarantined *at = svmx__quarantine_of(device); at; at = at->next)
            if (svmx__quarantine_is_kept(device, at->op)) save_wrong(saving, block, at);
    }
}

static int by_order(const void *a, const void *b) { return svmx__profile_order(a, b); }

static void keep_link(struct saving *saving, struct svmx__profile_device *now, const struct svmx__profile_device *old) {
    if (!now->measured) {
        now->measured = old->measured;
        now->latency_ns = old->latency_ns;
        now->bytes_per_ns = old->bytes_per_ns;
    } else if (!old->measured || now->latency_ns != old->latency_ns || now->bytes_per_ns != old->bytes_per_ns) {
        saving->news = true;
    }
}

/* The block of `now` for a device of the file; NOBODY: its costs are over, or there is no memory. */
static uint32_t keep_device(struct saving *saving, const struct svmx__profile_device *old) {
    const uint32_t same = find_same(saving->executor, old);
    if (same != NOBODY) {
        keep_link(saving, &saving->now.devices[saving->block[same]], old);
        return saving->block[same];
    }
    const uint32_t changed = find_changed(saving->executor, old);
    if (changed != NOBODY) {
        const struct svmx__profile_device here = device_of(saving->executor, changed);
        if (is_over(old, &here)) return NOBODY;
    }
    saving->starving = !svmx__profile_add_device(&saving->now, old);
    return saving->starving ? NOBODY : (uint32_t)saving->now.device_count - 1;
}

/* Carries over what this process has nothing better for. */
static void keep_old(struct saving *saving) {
    uint32_t block[SVMX__PROFILE_DEVICES];
    const size_t measured = saving->now.cell_count;
    if (measured) qsort(saving->now.cells, measured, sizeof *saving->now.cells, by_order);
    for (size_t i = 0; i < saving->old.device_count && !saving->starving; i++)
        block[i] = keep_device(saving, &saving->old.devices[i]);
    for (size_t i = 0; i < saving->old.wrong_count && !saving->starving; i++) {
        struct svmx__profile_wrong wrong = saving->old.wrongs[i];
        wrong.device = block[wrong.device];
        if (wrong.device == NOBODY || has_wrong(&saving->now, &saving->now.devices[wrong.device], wrong.op)) continue;
        saving->starving = !svmx__profile_add_wrong(&saving->now, &wrong);
    }
    for (size_t i = 0; i < saving->old.cell_count && !saving->starving; i++) {
        struct svmx__profile_cell cell = saving->old.cells[i];
        cell.device = block[cell.device];
        if (cell.device == NOBODY) continue;
        if (measured && bsearch(&cell, saving->now.cells, measured, sizeof cell, by_order)) continue;
        saving->starving = !svmx__profile_add_cell(&saving->now, &cell);
    }
}

/* A link that was measured is news where the file has no such device. */
static bool has_new_link(const struct saving *saving) {
    for (uint32_t d = 0; d < saving->executor->routed; d++) {
        bool known = false;
        for (size_t i = 0; i < saving->old.device_count && !known; i++)
            known = find_same(saving->executor, &saving->old.devices[i]) == d;
        if (__atomic_load_n(&saving->executor->model.devices[d].measured, __ATOMIC_ACQUIRE) && !known) return true;
    }
    return false;
}

static enum svmx_status save_to(struct saving *saving, const char *path, struct svmx__text *why) {
    struct svmx__text defect = {""};
    enum svmx_status status = svmx__profile_read(&saving->old, path, &defect, why);
    if (status != SVMX_OK) return status;
    saving->starving = !save_devices(saving);
    if (!saving->starving) save_wrongs(saving);
    if (!saving->starving) svmx__model_visit(&saving->executor->model, save_cell, saving);
    if (!saving->starving) keep_old(saving);
    if (saving->starving) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to write the profile");
    if (!saving->news && !has_new_link(saving)) return SVMX_OK;
    return svmx__profile_write(&saving->now, path, defect.line[0] != '\0', why);
}

enum svmx_status svmx__profile_save(const struct svmx_executor *executor, struct svmx__text *why) {
    struct saving saving = {.executor = executor};
    const char *path = path_of(executor);
    if (!path || !has_use(executor)) return SVMX_OK;
    enum svmx_status status = save_to(&saving, path, why);
    svmx__profile_records_free(&saving.old);
    svmx__profile_records_free(&saving.now);
    return status;
}

enum svmx_status svmx_profile_save(svmx_executor_t *executor, struct svmx_error *error) {
    struct svmx__text why = {"executor is NULL"};
    enum svmx_status status = SVMX_ERR_ARGUMENT;
    /* acquire: pairs with svmx_close */
    if (executor && svmx__is_closed(executor))
        status = svmx__fail(&why, SVMX_ERR_CLOSED, "%s", svmx__closed_text(executor));
    else if (executor)
        status = svmx__profile_save(executor, &why);
    if (status != SVMX_OK && error) {
        error->status = status;
        (void)snprintf(error->text, sizeof error->text, "%s", why.line);
    }
    return status;
}

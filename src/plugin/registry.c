/*
 * registry.c: see registry.h.
 *
 *   candidates: linked in, files, the reference
 *      -> sorted by preference -> unknown names? -> one after another: left out | shadowed | refused | opened
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/registry.h"

#include "isolate/probe.h"
#include "plugin/abi.h"
#include "plugin/loader.h"
#include "plugin/watched.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>

/* Something that may become a backend. */
struct candidate {
    char name[32];
    const struct svmx_plugin *linked; /* NULL for a file */
    const struct svmx__found *file;   /* NULL for one that is linked in */
    enum svmx__wish wish;
    uint32_t rank, taste; /* the user's order, then ours */
    uint32_t number;      /* in the order of discovery */
};

/* Everything that svmx__registry_open works with. */
struct opening {
    const struct svmx__registry_config *config;
    struct svmx__registry *registry;
    struct svmx__findings findings;
    struct candidate *candidates;
    uint32_t count;
    struct svmx__text *why;
};

/* What became of a candidate, before it is written down. */
struct outcome {
    uint32_t verdict;
    enum svmx_status status;
    struct svmx__text reason;
    bool plain;                     /* loaded, and there is no more to say */
    const struct svmx_plugin *data; /* what it says of itself, if that is known */
};

static const char no_text[] = "";

/* ---- candidates ------------------------------------------------------------------------------------------- */

static uint32_t taste(const char *name) {
    static const char *const order[] = {"levelzero", "opencl", "simd"};
    enum { KNOWN = sizeof order / sizeof order[0] };
    for (uint32_t i = 0; i < KNOWN; i++)
        if (strcmp(name, order[i]) == 0) return i;
    return strcmp(name, SVMX__REFERENCE_NAME) == 0 ? UINT32_MAX : KNOWN;
}

/* A name that lacks its end is cut here and refused later. */
static void candidate_add(struct opening *opening, const char *name, const struct svmx_plugin *linked,
                          const struct svmx__found *file) {
    struct candidate *candidate = &opening->candidates[opening->count];
    *candidate = (struct candidate){.linked = linked, .file = file, .number = opening->count, .rank = UINT32_MAX};
    (void)snprintf(candidate->name, sizeof candidate->name, "%.31s", name);
    candidate->taste = taste(candidate->name);
    candidate->wish = svmx__selection_backend(&opening->registry->selection, candidate->name, false, &candidate->rank);
    opening->count++;
}

static int candidate_compare(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->taste != b->taste) return a->taste < b->taste ? -1 : 1;
    int names = strcmp(a->name, b->name);
    if (names) return names;
    return a->number < b->number ? -1 : 1;
}

/* The reference goes first here, so that it shadows a file of its name; its rank and taste put it last. */
static enum svmx_status candidates_collect(struct opening *opening) {
    const struct svmx__registry_config *config = opening->config;
    size_t total = 1 + config->static_plugin_count + opening->findings.count;
    opening->candidates = calloc(total, sizeof *opening->candidates);
    opening->registry->entries = calloc(total, sizeof *opening->registry->entries);
    opening->registry->backends = calloc(total, sizeof *opening->registry->backends);
    if (!opening->candidates || !opening->registry->entries || !opening->registry->backends)
        return svmx__fail(opening->why, SVMX_ERR_MEMORY, "no memory for the list of backends");
    candidate_add(opening, config->reference->name, config->reference, NULL);
    for (size_t i = 0; i < config->static_plugin_count; i++)
        candidate_add(opening, config->static_plugins[i]->name, config->static_plugins[i], NULL);
    for (size_t i = 0; i < opening->findings.count; i++)
        candidate_add(opening, opening->findings.files[i].name, NULL, &opening->findings.files[i]);
    qsort(opening->candidates, opening->count, sizeof *opening->candidates, candidate_compare);
    return SVMX_OK;
}

/* ---- unknown names ---------------------------------------------------------------------------------------- */

static bool shadowed(const struct opening *opening, uint32_t number) {
    return number > 0 && strcmp(opening->candidates[number - 1].name, opening->candidates[number].name) == 0;
}

static bool is_known(const struct opening *opening, const char *name) {
    for (uint32_t i = 0; i < opening->count; i++)
        if (strcmp(opening->candidates[i].name, name) == 0) return true;
    return false;
}

static void list_known(const struct opening *opening, char *out, size_t out_bytes) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < opening->count && used < out_bytes; i++) {
        const char *name = opening->candidates[i].name;
        if (shadowed(opening, i) || strcmp(name, "*") == 0) continue;
        int length = snprintf(out + used, out_bytes - used, "%s%s", used ? ", " : "", name);
        used += (size_t)length;
    }
}

static enum svmx_status check_name(const struct opening *opening, const char *origin, uint32_t number,
                                   const char *name) {
    if (is_known(opening, name)) return SVMX_OK;
    char known[256];
    list_known(opening, known, sizeof known);
    return svmx__fail(opening->why, SVMX_ERR_UNKNOWN, "%s: item %u: no backend '%s'; known: %s; folders searched: %s",
                      origin, (unsigned)number, name, known,
                      *opening->config->backend_path ? opening->config->backend_path : "none");
}

static enum svmx_status check_names(const struct opening *opening) {
    const struct svmx__selection *selection = &opening->registry->selection;
    enum svmx_status status = SVMX_OK;
    for (uint32_t i = 0; i < selection->item_count && status == SVMX_OK; i++)
        status = check_name(opening, selection->origin, i + 1, selection->items[i].name);
    return status;
}

/* ---- who gets a process of its own ------------------------------------------------------------------------ */

/* A name that is not there may be a slip of the pen: then the user would believe to be safe. */
static enum svmx_status check_isolated(const struct opening *opening) {
    const char *list = opening->config->isolate;
    enum svmx_status status = SVMX_OK;
    char name[32];
    for (uint32_t i = 1; status == SVMX_OK && svmx__isolated_next(&list, name); i++)
        status = check_name(opening, opening->config->isolate_origin, i, name);
    return status;
}

static bool is_isolated(const struct opening *opening, const char *backend) {
    return svmx__isolated_has(opening->config->isolate, backend);
}

/* What starts processes for a plugin; NULL: no memory. */
static const struct svmx__isolated *isolated_add(const struct opening *opening, const struct svmx_plugin *data,
                                                 const char *path) {
    const struct svmx__registry_config *config = opening->config;
    return svmx__isolated_add(&opening->registry->isolated, data, path, config->backend_path, config->isolate_limit_ns);
}

/* ---- instances -------------------------------------------------------------------------------------------- */

/* The slots that have been there since 1.0 and are not optional. memory_* depends on the devices: device.c. */
static const char *missing_slot(const struct svmx_backend_ops *ops) {
    if (!ops->device_info) return "device_info";
    if (!ops->pipeline_build) return "pipeline_build";
    if (!ops->pipeline_free) return "pipeline_free";
    if (!ops->submit) return "submit";
    if (!ops->wait) return "wait";
    if (!ops->close) return "close";
    if (!ops->memory_alloc != !ops->memory_free) return ops->memory_alloc ? "memory_free" : "memory_alloc";
    if (!ops->list_record != !ops->list_free) return ops->list_record ? "list_free" : "list_record";
    return NULL;
}

enum svmx_status svmx__backend_check(struct svmx__backend *backend, struct svmx__text *reason) {
    const struct svmx_backend_ops *ops = backend->instance.ops;
    if (!ops) return svmx__fail(reason, SVMX_ERR_BACKEND, "open gave no table of functions (backend.ops is NULL)");
    if (ops->size < SVMX__ABI_1_0_OPS_BYTES)
        return svmx__fail(reason, SVMX_ERR_BACKEND,
                          "its table of functions says that it has %zu bytes, %zu are the least", ops->size,
                          SVMX__ABI_1_0_OPS_BYTES);
    const char *missing = missing_slot(ops);
    if (missing) return svmx__fail(reason, SVMX_ERR_BACKEND, "its table of functions has no %s", missing);
    if (ops->size >= sizeof *ops) return SVMX_OK;
    backend->grown_ops = calloc(1, sizeof *backend->grown_ops);
    if (!backend->grown_ops) return svmx__fail(reason, SVMX_ERR_MEMORY, "no memory for its table of functions");
    memcpy(backend->grown_ops, ops, ops->size);
    backend->grown_ops->size = sizeof *ops;
    backend->instance.ops = backend->grown_ops;
    return SVMX_OK;
}

/* close may be called even if other slots are missing, once the table is long enough to have it. */
static void instance_end(const struct svmx__registry *registry, struct svmx__backend *backend) {
    const struct svmx_backend_ops *ops = backend->instance.ops;
    if (ops && ops->size >= SVMX__ABI_1_0_OPS_BYTES && ops->close) svmx__watched_close(registry, backend);
    if (backend->abandoned) return;
    free(backend->grown_ops);
    registry->maker.release(registry->maker.user, backend->host);
    backend->host = NULL;
}

static enum svmx_status host_make(const struct svmx__registry *registry, const char *name,
                                  const struct svmx_host **host, struct svmx__text *why) {
    size_t room = (size_t)registry->selection.item_count * sizeof registry->selection.items->device + 1;
    char *select = malloc(room);
    const struct svmx_host *made = NULL;
    if (select) {
        bool some = svmx__selection_devices_text(&registry->selection, name, select, room);
        made = registry->maker.make(registry->maker.user, name, some ? select : NULL);
    }
    free(select);
    if (!made) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for backend '%s'", name);
    *host = made;
    return SVMX_OK;
}

static enum svmx_status open_isolated(struct svmx__backend *backend) {
    const struct svmx__isolated *isolated = backend->isolated;
    const struct svmx__proxy_config config = {.name = backend->name,
                                              .path = isolated->path,
                                              .backend_path = isolated->backend_path,
                                              .limit_ns = isolated->limit_ns};
    return svmx__proxy_open(&config, backend->host, &backend->instance);
}

static enum svmx_status did_not_open(const struct svmx__registry *registry, struct svmx__text *reason) {
    return svmx__fail(reason, SVMX_TIMEOUT,
                      "it does not answer: open has not returned within %.3g s, and is left alone",
                      (double)registry->watched.limit_ns / 1e9);
}

/* Has the plugin open an instance for a host that was made; `reason` says why not. */
static enum svmx_status plugin_open(const struct svmx__registry *registry, struct svmx__backend *backend,
                                    struct svmx__text *reason) {
    enum svmx_status status = backend->isolated ? open_isolated(backend) : svmx__watched_open(registry, backend);
    if (status == SVMX_OK) return svmx__backend_check(backend, reason);
    backend->instance.ops = NULL; /* outputs are set on success only; believe none */
    if (backend->abandoned) return did_not_open(registry, reason);
    const char *said = registry->maker.last_error(registry->maker.user, backend->host);
    return svmx__fail(reason, status, "open failed with %s: %s", svmx_status_name(status),
                      *said ? said : "it logged no reason");
}

/* A backend before it is opened. */
static enum svmx_status backend_make(const struct svmx__registry *registry, const struct svmx_plugin *plugin,
                                     const struct svmx__isolated *isolated, struct svmx__backend *backend,
                                     struct svmx__text *why) {
    *backend = (struct svmx__backend){.plugin = plugin, .isolated = isolated};
    (void)snprintf(backend->name, sizeof backend->name, "%s", plugin->name);
    return host_make(registry, plugin->name, &backend->host, why);
}

static void say_ready(const struct svmx__registry *registry, const struct svmx__backend *backend,
                      struct outcome *outcome) {
    struct svmx__text *reason = &outcome->reason;
    const char *warned = registry->maker.warnings(registry->maker.user, backend->host);
    const char *between = *warned ? "; " : "";
    outcome->plain = !backend->isolated && !*warned;
    if (backend->isolated)
        svmx__say(reason, "ready, in process %ld of its own%s%s", (long)svmx__proxy_process(&backend->instance),
                  between, warned);
    else
        svmx__say(reason, "ready%s%s", between, warned);
}

/* Only the core's own lack of memory is an error of this function; what the plugin does goes to the outcome. */
static enum svmx_status instance_open(struct opening *opening, const struct svmx_plugin *plugin,
                                      const struct svmx__isolated *isolated, struct outcome *outcome) {
    struct svmx__registry *registry = opening->registry;
    struct svmx__backend *backend = &registry->backends[registry->backend_count];
    enum svmx_status status = backend_make(registry, plugin, isolated, backend, opening->why);
    if (status != SVMX_OK) return status;
    outcome->status = plugin_open(registry, backend, &outcome->reason);
    /* a setting of the user's (variant, threads) that the backend cannot follow is not passed over */
    bool refused_a_setting = outcome->status == SVMX_ERR_ARGUMENT;
    if (outcome->status == SVMX_OK) {
        outcome->verdict = SVMX_LOADED;
        registry->backend_count++;
        say_ready(registry, backend, outcome);
        return SVMX_OK;
    }
    outcome->verdict = outcome->status == SVMX_ERR_UNSUPPORTED ? SVMX_SKIPPED : SVMX_REFUSED;
    instance_end(registry, backend);
    if (refused_a_setting)
        return svmx__fail(opening->why, SVMX_ERR_ARGUMENT, "backend '%s': %s", plugin->name, outcome->reason.line);
    return SVMX_OK;
}

/* ---- one candidate ---------------------------------------------------------------------------------------- */

static void outcome_set(struct outcome *outcome, uint32_t verdict, enum svmx_status status) {
    outcome->verdict = verdict;
    outcome->status = status;
}

/* Drivers read HOME, and more of the environment, which in a set-user-ID program is somebody else's. What the program links
 * in is its own choice. */
static bool is_refused_unasked(const struct opening *opening, const struct svmx_plugin *data, bool file) {
    return file && opening->config->named_only && strcmp(data->name, "simd") != 0;
}

/* Says so in the outcome if a backend that is loaded on request only was not asked for. */
static bool not_requested(const struct opening *opening, const struct svmx_plugin *data, bool file,
                          struct outcome *outcome) {
    uint32_t rank;
    outcome->data = data;
    const bool secure = is_refused_unasked(opening, data, file);
    if (!(data->flags & SVMX_PLUGIN_ON_REQUEST) && !secure) return false;
    if (svmx__selection_backend(&opening->registry->selection, data->name, true, &rank) != SVMX__UNWANTED) return false;
    if (secure)
        svmx__say(&outcome->reason, "off in a set-user-ID program, unless the program names it in options.backends");
    else
        svmx__say(&outcome->reason, "loaded on request only: name it in SUPERVM_BACKENDS");
    outcome_set(outcome, SVMX_SKIPPED, SVMX_OK);
    return true;
}

static enum svmx_status linked_try(struct opening *opening, const struct candidate *candidate,
                                   struct outcome *outcome) {
    const struct svmx_plugin *plugin = candidate->linked;
    enum svmx_status status = svmx__plugin_check(plugin, NULL, &outcome->reason);
    if (status == SVMX_OK && !plugin->open)
        status = svmx__fail(&outcome->reason, SVMX_ERR_ABI, "it has no open function");
    if (status == SVMX_OK && not_requested(opening, plugin, false, outcome)) return SVMX_OK;
    if (status == SVMX_OK && is_isolated(opening, candidate->name))
        return svmx__fail(opening->why, SVMX_ERR_ARGUMENT,
                          "%s names '%s', which is part of this program: only a plugin in a file can be isolated",
                          opening->config->isolate_origin, candidate->name);
    if (status == SVMX_OK) return instance_open(opening, plugin, NULL, outcome);
    outcome_set(outcome, SVMX_REFUSED, status);
    return SVMX_OK;
}

/* Those without drivers need no probe: what they do they do here anyway. */
static bool is_probed(const struct opening *opening, const char *name) {
    return opening->config->probe && strcmp(name, "simd") != 0 && strcmp(name, "sim") != 0;
}

/* DEVICE_LOST, with its reason: loading it here would have ended, or stopped, this process. */
static enum svmx_status probe(const struct opening *opening, const struct candidate *candidate,
                              struct svmx__text *reason) {
    const uint64_t limit_ns = opening->config->isolate_limit_ns, most_ns = UINT64_C(10000000000);
    const struct svmx__probe_config config = {.proxy = {.name = candidate->name,
                                                        .path = candidate->file->path,
                                                        .backend_path = opening->config->backend_path,
                                                        .limit_ns = limit_ns < most_ns ? limit_ns : most_ns},
                                              .folder = opening->config->probe_folder,
                                              .always = opening->config->probe_always,
                                              .log = opening->config->log};
    struct svmx__registry *registry = opening->registry;
    const struct svmx_host *host;
    if (!is_probed(opening, candidate->name)) return SVMX_OK;
    enum svmx_status status = host_make(registry, candidate->name, &host, reason);
    if (status != SVMX_OK) return status;
    status = svmx__probe(&config, host, reason);
    registry->maker.release(registry->maker.user, host);
    return status;
}

static enum svmx_status file_try(struct opening *opening, const struct candidate *candidate,
                                 struct svmx__inspected *inspected, struct outcome *outcome) {
    const struct svmx_plugin *plugin;
    enum svmx_status status = svmx__loader_inspect(candidate->file, inspected, &outcome->reason);
    if (status == SVMX_OK && not_requested(opening, &inspected->data, true, outcome)) return SVMX_OK;
    if (status == SVMX_OK && is_isolated(opening, candidate->name)) {
        const struct svmx__isolated *isolated = isolated_add(opening, &inspected->data, candidate->file->path);
        if (!isolated) return svmx__fail(opening->why, SVMX_ERR_MEMORY, "no memory for backend '%s'", candidate->name);
        return instance_open(opening, &isolated->plugin, isolated, outcome);
    }
    if (status == SVMX_OK) status = probe(opening, candidate, &outcome->reason);
    if (status == SVMX_OK) status = svmx__loader_load(candidate->file, inspected, &plugin, &outcome->reason);
    if (status == SVMX_OK) return instance_open(opening, plugin, NULL, outcome);
    outcome_set(outcome, status == SVMX_ERR_UNSUPPORTED ? SVMX_SKIPPED : SVMX_REFUSED, status);
    return SVMX_OK;
}

/* Who of the same name came first. */
static const char *shadow_of(const struct opening *opening, uint32_t number) {
    while (shadowed(opening, number)) number--;
    const struct svmx__found *file = opening->candidates[number].file;
    return file ? file->path : "the one that is linked in";
}

/* Also the line for the user's log. */
static enum svmx_status entry_write(struct opening *opening, const struct candidate *candidate,
                                    const struct outcome *outcome) {
    struct svmx__load_entry *entry = &opening->registry->entries[opening->registry->entry_count];
    const char *path = candidate->file ? candidate->file->path : no_text;
    *entry =
        (struct svmx__load_entry){.verdict = outcome->verdict, .status = outcome->status, .noted = !outcome->plain};
    (void)snprintf(entry->name, sizeof entry->name, "%s", candidate->name);
    if (outcome->data) {
        (void)snprintf(entry->version, sizeof entry->version, "%s", outcome->data->version);
        (void)snprintf(entry->licence, sizeof entry->licence, "%s", outcome->data->licence);
    }
    entry->path = strdup(path);
    entry->reason = strdup(outcome->reason.line);
    opening->registry->entry_count++;
    if (!entry->path || !entry->reason)
        return svmx__fail(opening->why, SVMX_ERR_MEMORY, "no memory for the load report");
    static const struct {
        enum svmx_log_level level;
        const char *word;
    } how[] = {[SVMX_LOADED] = {SVMX_LOG_INFO, "loaded"},
               [SVMX_SKIPPED] = {SVMX_LOG_DEBUG, "skipped"},
               [SVMX_REFUSED] = {SVMX_LOG_WARN, "refused"}};
    svmx__log(opening->config->log, how[entry->verdict].level, "backend %s%s%s %s: %s", entry->name, *path ? " " : "",
              path, how[entry->verdict].word, entry->reason);
    return SVMX_OK;
}

static enum svmx_status candidate_try(struct opening *opening, uint32_t number) {
    const struct candidate *candidate = &opening->candidates[number];
    struct svmx__inspected inspected;
    struct outcome outcome = {.verdict = SVMX_SKIPPED};
    enum svmx_status status = SVMX_OK;
    if (shadowed(opening, number) && strcmp(candidate->name, "*") != 0) {
        svmx__say(&outcome.reason, "shadowed by %s", shadow_of(opening, number));
    } else if (candidate->wish == SVMX__UNWANTED) {
        svmx__say(&outcome.reason, "left out by the selection of backends");
    } else if (candidate->linked) {
        status = linked_try(opening, candidate, &outcome);
    } else {
        status = file_try(opening, candidate, &inspected, &outcome);
    }
    if (status != SVMX_OK) return status;
    status = entry_write(opening, candidate, &outcome);
    if (status != SVMX_OK || outcome.verdict == SVMX_LOADED || shadowed(opening, number)) return status;
    bool reference = candidate->linked && candidate->linked == opening->config->reference;
    if (candidate->wish != SVMX__DEMANDED && !reference) return SVMX_OK;
    const bool memory = reference && outcome.status == SVMX_ERR_MEMORY; /* ours: no fault of a backend */
    return svmx__fail(opening->why, memory ? SVMX_ERR_MEMORY : SVMX_ERR_BACKEND,
                      "backend '%s' must load (%s%s) but did not: %s", candidate->name,
                      reference ? "always" : "demanded by ", reference ? "" : opening->config->origin,
                      outcome.reason.line);
}

/* ---- open and close --------------------------------------------------------------------------------------- */

static enum svmx_status open_all(struct opening *opening) {
    const struct svmx__registry_config *config = opening->config;
    enum svmx_status status =
        svmx__selection_parse(&opening->registry->selection, config->backends, config->origin, opening->why);
    if (status == SVMX_OK)
        status = svmx__loader_scan(&opening->findings, config->backend_path, config->log, opening->why);
    if (status == SVMX_OK) status = candidates_collect(opening);
    if (status == SVMX_OK) status = check_names(opening);
    if (status == SVMX_OK) status = check_isolated(opening);
    for (uint32_t i = 0; status == SVMX_OK && i < opening->count; i++) status = candidate_try(opening, i);
    return status;
}

enum svmx_status svmx__registry_open(struct svmx__registry *registry, const struct svmx__registry_config *config,
                                     struct svmx__text *why) {
    struct svmx__registry opened = {.maker = config->maker, .watched = config->watched};
    struct opening opening = {.config = config, .registry = &opened, .why = why};
    enum svmx_status status = open_all(&opening);
    svmx__loader_findings_free(&opening.findings);
    free(opening.candidates);
    if (status == SVMX_OK)
        *registry = opened;
    else
        svmx__registry_close(&opened);
    return status;
}

enum svmx_status svmx__backend_refuse(struct svmx__registry *registry, const struct svmx__backend *backend,
                                      const char *reason, struct svmx__text *why) {
    uint32_t rank;
    for (uint32_t i = 0; i < registry->entry_count; i++) {
        struct svmx__load_entry *entry = &registry->entries[i];
        if (entry->verdict != SVMX_LOADED || strcmp(entry->name, backend->name) != 0) continue;
        char *copy = strdup(reason);
        if (!copy) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for the load report");
        free(entry->reason);
        entry->reason = copy;
        entry->verdict = SVMX_REFUSED;
        entry->status = SVMX_TIMEOUT;
        entry->noted = true;
    }
    if (svmx__selection_backend(&registry->selection, backend->name, false, &rank) != SVMX__DEMANDED) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_BACKEND, "backend '%s' must load (demanded by %s) but did not: %s", backend->name,
                      registry->selection.origin, reason);
}

enum svmx_status svmx__registry_reopen(const struct svmx__registry *registry, const struct svmx__backend *like,
                                       struct svmx__backend *opened, struct svmx__text *why) {
    struct svmx__backend backend;
    enum svmx_status status = backend_make(registry, like->plugin, like->isolated, &backend, why);
    if (status != SVMX_OK) return status;
    status = plugin_open(registry, &backend, why);
    if (status == SVMX_OK)
        *opened = backend;
    else
        instance_end(registry, &backend);
    return status;
}

void svmx__registry_end(const struct svmx__registry *registry, struct svmx__backend *opened) {
    instance_end(registry, opened);
}

bool svmx__backend_kill(const struct svmx__backend *backend, const char *how) {
    if (backend->isolated) svmx__proxy_kill(&backend->instance, how);
    return backend->isolated != NULL;
}

void svmx__backend_abandon(struct svmx__backend *backend) {
    backend->abandoned = true;
    (void)svmx__backend_kill(backend, "a launch was under way when its executor was closed");
}

void svmx__registry_close(struct svmx__registry *registry) {
    bool abandoned = false;
    for (uint32_t i = registry->backend_count; i-- > 0;) {
        if (!registry->backends[i].abandoned) instance_end(registry, &registry->backends[i]);
        abandoned |= registry->backends[i].abandoned;
    }
    for (uint32_t i = 0; i < registry->entry_count; i++) {
        free(registry->entries[i].path);
        free(registry->entries[i].reason);
    }
    free(registry->entries);
    if (!abandoned) { /* a thread that comes back late still reads its own */
        free(registry->backends);
        svmx__isolated_free(registry->isolated);
    }
    svmx__selection_free(&registry->selection);
    *registry = (struct svmx__registry){0};
}

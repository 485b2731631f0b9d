/*
 * executor.c: opening and closing an executor, and the questions that it answers about itself.
 *
 * The way of a batch is pipeline.c. What open makes, in order, close unmakes in reverse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/building.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ------------------------------------------------------------------------------------------ */

static void drop_pipeline(void *user, const struct svmx__pipeline *entry) {
    (void)user;
    if (entry->compiled && !entry->life->backend->abandoned) svmx__pipeline_drop(entry->life, entry->compiled);
}

static enum svmx_status check_goal(uint32_t goal, struct svmx__text *why) {
    if (goal <= SVMX_GOAL_TIME) return SVMX_OK;
    if (goal == SVMX_GOAL_ENERGY)
        return svmx__fail(why, SVMX_ERR_UNSUPPORTED, "options.goal: this version has the least time only");
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "options.goal is %u: give SVMX_GOAL_TIME, or 0 for the same", goal);
}

/* The options as this version knows them: a shorter struct of an older caller reads as unset at its end. */
static enum svmx_status copy_options(const struct svmx_options *given, struct svmx_options *options,
                                     struct svmx__text *why) {
    *options = (struct svmx_options){.size = sizeof *options};
    if (!given) return SVMX_OK;
    if (given->size < offsetof(struct svmx_options, static_plugins) || given->size > 4096)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "options.size is %zu: set it to sizeof(struct svmx_options)",
                          given->size);
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (options->flags & ~(uint32_t)SVMX_OPEN_NO_ENVIRONMENT)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "options.flags is 0x%x: this version knows none but 0x%x",
                          options->flags, (unsigned)SVMX_OPEN_NO_ENVIRONMENT);
    if (options->static_plugin_count && !options->static_plugins)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "options.static_plugins is NULL but its count is %zu",
                          options->static_plugin_count);
    for (size_t i = 0; i < options->static_plugin_count; i++)
        if (!options->static_plugins[i])
            return svmx__fail(why, SVMX_ERR_ARGUMENT, "options.static_plugins[%zu] is NULL", i);
    return check_goal(options->goal, why);
}

/* Never so short that a busy machine could not start a process. */
#define LEAST_ISOLATED_NS (3 * SVMX__NS_PER_S)

/* A process that does not answer a call within this is killed: as long as a self-test has. */
static uint64_t isolated_ns(const struct svmx_executor *executor) {
    const uint64_t ns = 20 * executor->config.number[SVMX__TIMEOUT_MS] * SVMX__NS_PER_MS;
    return ns > LEAST_ISOLATED_NS ? ns : LEAST_ISOLATED_NS;
}

/* Whether drivers are tried first, and where verdicts are kept. */
static enum svmx_status read_driver_probe(const struct svmx_executor *executor, struct svmx__registry_config *registry,
                                          struct svmx__text *why) {
    const char *text = executor->config.text[SVMX__DRIVER_PROBE], *cache = executor->config.text[SVMX__CACHE_DIR];
    const bool by_options = executor->config.source[SVMX__DRIVER_PROBE] == SVMX_FROM_OPTIONS;
    registry->probe_folder = strcmp(cache, "off") == 0 ? NULL : cache;
    registry->probe_always = strcmp(text, "on") == 0;
    registry->probe = registry->probe_always || strcmp(text, "auto") == 0;
    if (registry->probe || strcmp(text, "off") == 0) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%.100s': give auto, on or off",
                      by_options ? "options.driver_probe" : "SUPERVM_DRIVER_PROBE", text);
}

/* `aside` is for calls of plugins. */
static enum svmx_status open_registry(struct svmx_executor *executor, const struct svmx_options *options,
                                      struct svmx__aside *aside, struct svmx__text *why) {
    const bool by_options = executor->config.source[SVMX__BACKENDS] == SVMX_FROM_OPTIONS;
    const bool isolated_by_options = executor->config.source[SVMX__ISOLATE] == SVMX_FROM_OPTIONS;
    struct svmx__registry_config config = {.backends = executor->config.text[SVMX__BACKENDS],
                                           .origin = by_options ? "options.backends" : "SUPERVM_BACKENDS",
                                           .backend_path = executor->config.text[SVMX__BACKEND_PATH],
                                           .static_plugins = options->static_plugins,
                                           .static_plugin_count = options->static_plugin_count,
                                           .isolate = executor->config.text[SVMX__ISOLATE],
                                           .isolate_origin =
                                               isolated_by_options ? "options.isolate" : "SUPERVM_ISOLATE",
                                           .isolate_limit_ns = isolated_ns(executor),
                                           .named_only = svmx__config_is_secure(),
                                           .reference = &svmx__reference_plugin,
                                           .maker = svmx__host_maker(executor),
                                           .watched = {aside, executor->patience_ns + svmx__first_ns(executor)},
                                           .log = &executor->log};
    enum svmx_status status = read_driver_probe(executor, &config, why);
    if (status == SVMX_OK) status = svmx__registry_open(&executor->registry, &config, why);
    if (status != SVMX_OK) return status;
    const struct svmx__backend *reference = &executor->registry.backends[executor->registry.backend_count - 1];
    svmx__reference_attach(reference->instance.self, executor->operations);
    return SVMX_OK;
}

/* Everything between the backends and the first batch. On error what was made is unmade. */
static enum svmx_status open_devices(struct svmx_executor *executor, struct svmx__text *why) {
    enum svmx_status status = svmx__devices_find(executor, why);
    if (status != SVMX_OK) return status;
    svmx__recovery_init(executor);
    svmx__route_init(executor);
    svmx__profile_load(executor);
    status = svmx__policies_read(executor, why);
    if (status != SVMX_OK) goto free_routes;
    status = svmx__records_init(&executor->records, executor->config.number[SVMX__RECEIPTS]);
    if (status != SVMX_OK) goto free_routes;
    status = svmx__records_init(&executor->troubles, SVMX__FALLBACKS);
    if (status != SVMX_OK) goto free_records;
    status = svmx__pipeline_cache_init(&executor->pipelines);
    if (status != SVMX_OK) goto free_records;
    status = svmx__layout_cache_init(&executor->layouts, executor->device_count, SVMX__OP_LIMIT);
    if (status != SVMX_OK) goto free_pipelines;
    svmx__route_publish_all(executor);
    svmx__team_init(&executor->team);
    status = svmx__devices_start(executor, why);
    if (status == SVMX_OK && !svmx__watch_start(executor))
        status = svmx__fail(why, SVMX_ERR_SYSTEM, "cannot start a thread that watches drivers");
    if (status == SVMX_OK) {
        svmx__contention_start(executor);
        svmx__stats_folder_start(executor);
        return SVMX_OK;
    }

    svmx__devices_stop(executor);
    svmx__team_stop(&executor->team);
    svmx__layout_cache_fini(&executor->layouts);
free_pipelines:
    svmx__pipeline_cache_fini(&executor->pipelines, drop_pipeline, NULL);
free_records:
    svmx__records_fini(&executor->troubles);
    svmx__records_fini(&executor->records);
free_routes:
    svmx__route_fini(executor);
    svmx__devices_free(executor);
    return status;
}

static enum svmx_status open_executor(struct svmx_executor *executor, const struct svmx_options *given,
                                      struct svmx__aside *aside, struct svmx__text *why) {
    struct svmx_options options;
    pthread_condattr_t attributes;
    pthread_mutex_init(&executor->admission, NULL); /* none can fail with these attributes */
    pthread_mutex_init(&executor->publishing, NULL);
    svmx__order_init(&executor->order);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&executor->room, &attributes);
    pthread_condattr_destroy(&attributes);
    executor->opened_ns = svmx__clock_ns();
    if (svmx__fork_watch() != 0) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to watch for fork()");
    executor->forks = atomic_load_explicit(&svmx__forks, memory_order_relaxed);
    enum svmx_status status = copy_options(given, &options, why);
    if (status != SVMX_OK) return status;
    executor->operations = svmx__operations_create();
    if (!executor->operations) return SVMX_ERR_MEMORY;
    status = svmx__config_read(&executor->config, &options, why);
    if (status != SVMX_OK) return status;
    status = svmx__min_buckets_read(executor, options.min_bucket_ops, why);
    if (status == SVMX_OK) status = svmx__verify_read(executor, why);
    if (status != SVMX_OK) goto free_config;
    executor->log = (struct svmx__log){(enum svmx_log_level)executor->config.number[SVMX__LOG_LEVEL], options.log,
                                       options.log_user};
    svmx__binary_store_init(&executor->binaries, executor->config.text[SVMX__CACHE_DIR],
                            executor->config.number[SVMX__CACHE_BYTES], &executor->log);
    executor->patience_ns = executor->config.number[SVMX__PATIENCE_MS] * SVMX__NS_PER_MS;
    executor->isolated_ns = isolated_ns(executor);
    status = open_registry(executor, &options, aside, why);
    if (status != SVMX_OK) goto free_binaries;
    status = open_devices(executor, why);
    if (status == SVMX_OK) {
        executor->registry.watched.aside = NULL; /* from now on there are posts */
        return SVMX_OK;
    }

    svmx__registry_close(&executor->registry);
free_binaries:
    svmx__binary_store_fini(&executor->binaries);
free_config:
    svmx__config_free(&executor->config);
    return status;
}

static void free_executor(struct svmx_executor *executor) {
    svmx__operations_release(executor->operations);
    svmx__order_fini(&executor->order);
    pthread_cond_destroy(&executor->room);
    pthread_mutex_destroy(&executor->publishing);
    pthread_mutex_destroy(&executor->admission);
    free(executor);
}

enum svmx_status svmx_open(svmx_executor_t **executor, const struct svmx_options *options, struct svmx_error *error) {
    struct svmx__text why = {"no memory"};
    enum svmx_status status = SVMX_ERR_MEMORY;
    struct svmx_executor *made = NULL;
    struct svmx__aside aside = {NULL};
    if (!executor)
        status = svmx__fail(&why, SVMX_ERR_ARGUMENT, "executor is NULL");
    else if ((made = calloc(1, sizeof *made)))
        status = open_executor(made, options, &aside, &why);
    svmx__aside_end(&aside);
    if (status != SVMX_OK) {
        if (made) free_executor(made);
        if (error) {
            error->status = status;
            (void)snprintf(error->text, sizeof error->text, "%s", why.line);
        }
        return status;
    }
    atomic_init(&made->references, 1);
    *executor = made;
    return SVMX_OK;
}

const char *svmx__closed_text(const struct svmx_executor *executor) {
    return svmx__is_forked(executor)
               ? "this process was forked after svmx_open, and threads and drivers do not come along: open an executor "
                 "in the child"
               : "the executor was closed";
}

void svmx__executor_retain(struct svmx_executor *executor) {
    atomic_fetch_add_explicit(&executor->references, 1, memory_order_relaxed);
}

void svmx__executor_release(struct svmx_executor *executor) {
    /* acq_rel: the last one sees what all the others did */
    if (atomic_fetch_sub_explicit(&executor->references, 1, memory_order_acq_rel) != 1) return;
    svmx__team_fini(&executor->team); /* only now: who waits for a batch may look for something to copy */
    free_executor(executor);
}

/* Nobody is there to be told but the log, and not twice of the same trouble. */
static void save_profile(const struct svmx_executor *executor) {
    struct svmx__text why = {""};
    if (svmx__profile_save(executor, &why) != SVMX_OK)
        svmx__log(&executor->log, executor->profile_refused ? SVMX_LOG_DEBUG : SVMX_LOG_WARN,
                  "the profile is not written: %s", why.line);
}

/* What calls plugins. */
static void unmake(struct svmx_executor *executor) {
    svmx__pipeline_cache_fini(&executor->pipelines, drop_pipeline, NULL);
    svmx__devices_free(executor);
    svmx__call_begin(NULL, (struct svmx__call){"close", NULL}, 0);
    svmx__registry_close(&executor->registry);
    svmx__call_end();
}

enum { CLOSE_TIMES = 6 }; /* so many times the patience for all that drivers have to give back */

static void set_close_by(struct svmx_executor *executor, uint64_t times) {
    atomic_store_explicit(&executor->close_by_ns, svmx__clock_ns() + times * executor->patience_ns,
                          memory_order_relaxed);
}

/* From now on nothing is begun, and what is under way has a while to end. */
static void give_up_all(struct svmx_executor *executor) {
    set_close_by(executor, 1);
    atomic_store_explicit(&executor->gives_up, true, memory_order_relaxed);
    for (uint32_t i = 0; i < executor->device_count; i++)
        svmx__builder_unpark(&executor->devices[i], SVMX_CANCELLED, "the executor was closed");
}

static void close_executor(svmx_executor_t *executor, bool at_once) {
    if (!executor || svmx__is_forked(executor)) return; /* its threads are the parent's */
    if (at_once && !svmx__is_closed(executor)) give_up_all(executor);
    svmx__stats_folder_stop(executor);
    pthread_mutex_lock(&executor->admission);
    /* acq_rel: pairs with the acquire loads of calls that do not take the lock */
    if (atomic_exchange_explicit(&executor->closed, true, memory_order_acq_rel)) {
        /* twice; the handle still exists because a batch holds it */
        pthread_mutex_unlock(&executor->admission);
        return;
    }
    pthread_cond_broadcast(&executor->room); /* a submit that waits for room gives up */
    /* what a driver keeps for ever is taken from it meanwhile: post.c */
    while (executor->under_way > 0) pthread_cond_wait(&executor->room, &executor->admission);
    pthread_mutex_unlock(&executor->admission);
    svmx__watch_stop(executor);
    set_close_by(executor, at_once ? 1 : CLOSE_TIMES);
    svmx__contention_stop(executor);
    svmx__devices_stop(executor);
    svmx__team_stop(&executor->team);
    svmx__layout_cache_fini(&executor->layouts);
    svmx__records_fini(&executor->troubles);
    svmx__records_fini(&executor->records);
    save_profile(executor);
    svmx__route_fini(executor);
    if (!svmx__post_unmake(executor, unmake)) return; /* the thread that does it has the rest for ever */
    svmx__binary_store_fini(&executor->binaries);
    svmx__config_free(&executor->config);
    svmx__executor_release(executor);
}

void svmx_close(svmx_executor_t *executor) { close_executor(executor, false); }
void svmx_close_now(svmx_executor_t *executor) { close_executor(executor, true); }

/*
 * replay.c: svmx_replay: the routing of a log, run again without any device.
 *
 *   log -> lines (log_read.c) -> shadow runs found -> for each batch: choose, compare, tell (choice.c) -> sums
 *
 * What is told is what the log has of the device that was chosen now: its own line, or a shadow run. If it has nothing, what
 * was recorded is told instead, so that the model is never worse off than the one that wrote the log. Time is read off
 * the log; there is no clock and no chance here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/versioned.h"
#include "executor/choice.h"
#include "executor/log_read.h"
#include "executor/words.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_OPTIONS = SVMX__THROUGH(struct svmx_replay_options, user),
    FIRST_REPLAY = SVMX__THROUGH(struct svmx_replay, oracle_ns),
    FIRST_DEVICE = SVMX__THROUGH(struct svmx_replay_device, probes)
};

/* Who had an operation of some size last, 1 + the device; 0: nobody yet. */
struct last {
    uint8_t router[SVMX__CELLS], oracle[SVMX__CELLS];
};

struct replay {
    struct svmx__log_text log;
    struct svmx__recorded *lines;
    size_t count, capacity;
    struct svmx__model model;
    struct svmx__choices choices;
    struct last *last[SVMX__OP_LIMIT];
    struct svmx_replay sums;
    struct svmx_replay_device devices[SVMX__ROUTED];
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static enum svmx_status read_all(struct replay *replay, const struct svmx_replay_options *options) {
    for (;;) {
        struct svmx__text why;
        if (!svmx__grow((void **)&replay->lines, &replay->capacity, replay->count + 1, sizeof *replay->lines))
            return SVMX_ERR_MEMORY;
        const enum svmx_status status = svmx__log_next(&replay->log, &replay->lines[replay->count], &why);
        if (status == SVMX_BUSY) return SVMX_OK;
        replay->sums.lines++;
        if (status == SVMX_OK) {
            replay->count++;
            continue;
        }
        replay->sums.bad_lines++;
        if (options->bad) options->bad(options->user, replay->log.line, why.line);
    }
}

/* ---- shadow runs ------------------------------------------------------------------------------------------------- */

#define COMPARE(field)                                                                                                 \
    if (a->field != b->field) return a->field < b->field ? -1 : 1

/* 0: the same work. */
static int by_work(const struct svmx__recorded *a, const struct svmx__recorded *b) {
    COMPARE(tag);
    COMPARE(op);
    COMPARE(tasks);
    COMPARE(load.units);
    COMPARE(load.work);
    COMPARE(bytes_in);
    COMPARE(bytes_out);
    return 0;
}

static int by_work_and_line(const void *one, const void *other) {
    const struct svmx__recorded *a = *(struct svmx__recorded *const *)one, *b = *(struct svmx__recorded *const *)other;
    const int work = by_work(a, b);
    if (work) return work;
    COMPARE(line);
    return 0;
}

/* Lines of the same work: the first is the batch, the others are its shadow runs, if every device has it once. */
static void join_group(struct replay *replay, struct svmx__recorded *const *group, size_t count) {
    struct svmx__recorded *batch = group[0];
    uint32_t devices = 0;
    for (size_t i = 0; i < count; i++) {
        if (svmx__is_in(devices, group[i]->device) || group[i]->redone) return;
        devices |= UINT32_C(1) << group[i]->device;
    }
    for (size_t i = 1; i < count; i++) {
        const struct svmx__recorded *shadow = group[i];
        group[i]->is_shadow = true;
        replay->sums.shadows++;
        if (!shadow->ns) continue;
        batch->timed |= UINT32_C(1) << shadow->device;
        batch->other_ns[shadow->device] = shadow->ns;
    }
}

static enum svmx_status find_shadows(struct replay *replay) {
    struct svmx__recorded **sorted = calloc(replay->count + 1, sizeof *sorted);
    size_t tagged = 0;
    if (!sorted) return SVMX_ERR_MEMORY;
    for (size_t i = 0; i < replay->count; i++)
        if (replay->lines[i].tag) sorted[tagged++] = &replay->lines[i];
    qsort(sorted, tagged, sizeof *sorted, by_work_and_line);
    for (size_t from = 0, to; from < tagged; from = to) {
        for (to = from + 1; to < tagged && by_work(sorted[from], sorted[to]) == 0;) to++;
        if (to - from > 1) join_group(replay, sorted + from, to - from);
    }
    free(sorted);
    return SVMX_OK;
}

/* ---- one batch --------------------------------------------------------------------------------------------------- */

/* What a device took for a batch; 0: the log does not say. */
static uint64_t time_on(const struct svmx__recorded *batch, uint32_t device) {
    if (device == batch->device && !batch->redone) return batch->ns;
    return svmx__is_in(batch->timed, device) ? batch->other_ns[device] : 0;
}

static bool goes_before(const struct svmx__log_device *a, const struct svmx__log_device *b) {
    const bool on_host = a->place == SVMX__ON_HOST, other = b->place == SVMX__ON_HOST;
    return on_host != other ? on_host : a->number < b->number;
}

/* Of those that might: the one with the lowest number that computes in the caller's memory, or else the lowest. */
static uint32_t fallback_of(const struct replay *replay, uint32_t allowed) {
    uint32_t best = UINT32_MAX;
    for (uint32_t d = 0; d < replay->log.device_count; d++) {
        if (!svmx__is_in(allowed, d)) continue;
        if (best == UINT32_MAX || goes_before(&replay->log.devices[d], &replay->log.devices[best])) best = d;
    }
    return best;
}

static struct svmx__question question_of(const struct replay *replay, const struct svmx__recorded *batch) {
    const uint32_t allowed = batch->allowed | batch->timed;
    return (struct svmx__question){
        .op = batch->op, .allowed = allowed, .fallback = fallback_of(replay, allowed), .load = batch->load};
}

/* The backlogs are those of the log: what is under way beside a batch is not known from its line alone. */
static void set_backlogs(struct replay *replay, const struct svmx__recorded *batch) {
    for (uint32_t d = 0; d < SVMX__ROUTED; d++)
        atomic_store_explicit(&replay->choices.backlog_ns[d], batch->backlog_ns[d], memory_order_relaxed);
}

/* What was recorded, in place of an answer that cannot be followed. Such a probe counts as what it might have cost: else it
 * would be tried again with every batch. */
static void tell_recorded(struct replay *replay, const struct svmx__recorded *batch,
                          const struct svmx__question *question, const struct svmx__answer *answer) {
    const bool probe = batch->why == SVMX_WHY_PROBE;
    const struct svmx__answer recorded = {.device = batch->device,
                                          .why = probe ? SVMX__WHY_PROBE : SVMX__WHY_BEST,
                                          .incumbent_ns = probe ? answer->expected_ns : 0};
    const bool tried = answer->why == SVMX__WHY_PROBE;
    svmx__told(&replay->choices, question, answer, tried ? (uint64_t)answer->expected_ns : 0, NULL);
    const bool learned = batch->learned && batch->ns && !batch->redone;
    svmx__told(&replay->choices, question, &recorded, batch->ns, learned ? &batch->sample : NULL);
}

/* Tells the table how it went where the batch was sent now, as far as the log knows. */
static void tell(struct replay *replay, const struct svmx__recorded *batch, const struct svmx__question *question,
                 const struct svmx__answer *answer) {
    const uint64_t ns = time_on(batch, answer->device);
    const bool as_recorded = answer->device == batch->device;
    const struct svmx__sample shadow = {.compute_ns = ns};
    if (!ns)
        tell_recorded(replay, batch, question, answer);
    else if (as_recorded)
        svmx__told(&replay->choices, question, answer, ns, batch->learned ? &batch->sample : NULL);
    else
        svmx__told(&replay->choices, question, answer, ns, &shadow);
}

/* The last devices of the batch's cell. NULL: no memory. */
static struct last *last_of(struct replay *replay, const struct svmx__recorded *batch) {
    struct last **last = &replay->last[batch->op];
    if (!*last) *last = calloc(1, sizeof **last);
    return *last;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void count_decision(struct replay *replay, const struct svmx__recorded *batch,
                           const struct svmx__question *question, const struct svmx__answer *answer) {
    struct svmx_replay *sums = &replay->sums;
    const bool one = (question->allowed & (question->allowed - 1)) == 0;
    const bool decided = (batch->policy == SVMX_POLICY_AUTO || batch->policy == SVMX_POLICY_SPLIT) &&
                         batch->why != SVMX_WHY_SPLIT; /* a piece goes where the cut says */
    const bool chosen_then = (batch->allowed & (batch->allowed - 1)) != 0;
    if (one || !decided || !chosen_then) {
        sums->forced++;
    } else if (answer->device == batch->chosen) {
        sums->same++;
    } else {
        sums->different++;
        sums->different_probes += (answer->why == SVMX__WHY_PROBE) != (batch->why == SVMX_WHY_PROBE);
    }
}

static void count_devices(struct replay *replay, const struct svmx__recorded *batch,
                          const struct svmx__answer *answer) {
    struct svmx_replay_device *then = &replay->devices[batch->device], *now = &replay->devices[answer->device];
    const uint64_t ns = time_on(batch, answer->device);
    then->recorded++;
    then->recorded_ns += batch->ns;
    replay->sums.recorded_ns += batch->ns;
    now->chosen++;
    now->chosen_ns += ns;
    now->unknown += ns == 0;
    replay->sums.unknown += ns == 0;
    now->probes += answer->why == SVMX__WHY_PROBE;
    replay->sums.probes += answer->why == SVMX__WHY_PROBE;
}

/* The best in hindsight of the devices with a time, if it beats the last one by the margin: as the router must. */
static uint32_t oracle_of(const struct replay *replay, const struct svmx__recorded *batch, uint32_t last) {
    uint32_t best = UINT32_MAX;
    for (uint32_t d = 0; d < replay->log.device_count; d++) {
        if (!time_on(batch, d)) continue;
        if (best == UINT32_MAX || time_on(batch, d) < time_on(batch, best)) best = d;
    }
    if (last == UINT32_MAX || !time_on(batch, last)) return best;
    const bool better = (double)time_on(batch, best) < replay->choices.margin * (double)time_on(batch, last);
    return better ? best : last;
}

static void count_oracle(struct replay *replay, const struct svmx__recorded *batch, const struct svmx__answer *answer,
                         uint8_t *last) {
    uint32_t timed = 0;
    for (uint32_t d = 0; d < replay->log.device_count; d++) timed += time_on(batch, d) > 0;
    if (timed < 2 || !time_on(batch, answer->device)) return;
    const uint32_t oracle = oracle_of(replay, batch, *last ? *last - 1u : UINT32_MAX);
    *last = (uint8_t)(oracle + 1);
    replay->sums.compared++;
    replay->sums.compared_ns += time_on(batch, answer->device);
    replay->sums.compared_recorded_ns += batch->ns;
    replay->sums.oracle_ns += time_on(batch, oracle);
}

static enum svmx_status run_batch(struct replay *replay, const struct svmx__recorded *batch) {
    const struct svmx__question question = question_of(replay, batch);
    const uint32_t cell = svmx__cell_of(batch->load.units, batch->load.work);
    struct svmx__answer answer;
    struct last *last = last_of(replay, batch);
    if (!last) return SVMX_ERR_MEMORY;
    set_backlogs(replay, batch);
    svmx__choose(&replay->choices, &question, &answer);
    svmx__charge(&replay->choices, &answer);
    count_decision(replay, batch, &question, &answer);
    count_devices(replay, batch, &answer);
    count_oracle(replay, batch, &answer, &last->oracle[cell]);
    if (answer.why != SVMX__WHY_PROBE) {
        replay->sums.switches += last->router[cell] && last->router[cell] != answer.device + 1;
        last->router[cell] = (uint8_t)(answer.device + 1);
    }
    tell(replay, batch, &question, &answer);
    replay->sums.batches++;
    return SVMX_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct svmx__log_device *device) {
    return (device->place == SVMX__ON_HOST ? SVMX_DEVICE_HOST_MEMORY : 0u) |
           (device->place == SVMX__ON_CORES ? SVMX_DEVICE_SHARES_CORES : 0u) | (device->test ? SVMX_DEVICE_TEST : 0u);
}

static void start(struct replay *replay, const struct svmx_replay_options *options) {
    struct svmx__model_device devices[SVMX__ROUTED];
    for (uint32_t d = 0; d < replay->log.device_count; d++) {
        const struct svmx__log_device *from = &replay->log.devices[d];
        struct svmx_replay_device *to = &replay->devices[d];
        devices[d] = svmx__model_assume((enum svmx__seat)from->place);
        memcpy(to->backend, from->backend, sizeof to->backend);
        memcpy(to->name, from->name, sizeof to->name);
        to->number = (uint32_t)from->number;
        to->modelled = from->modelled;
        to->flags = flags_of(from);
    }
    svmx__model_init(&replay->model, devices, replay->log.device_count);
    svmx__choices_init(&replay->choices, &replay->model, 0); /* backlogs of the log stand for themselves */
    const bool strict = options->learn && strcmp(options->learn, "strict") == 0;
    if (options->probe_percent) replay->choices.probe_share = (double)options->probe_percent / 100;
    if (strict) replay->choices.probe_share = 0;
}

static enum svmx_status run_all(struct replay *replay, const struct svmx_replay_options *options) {
    enum svmx_status status = read_all(replay, options);
    if (status == SVMX_OK) status = find_shadows(replay);
    if (status != SVMX_OK) return status;
    start(replay, options);
    for (size_t i = 0; i < replay->count && status == SVMX_OK; i++)
        if (!replay->lines[i].is_shadow) status = run_batch(replay, &replay->lines[i]);
    replay->sums.drifts = atomic_load_explicit(&replay->model.changes, memory_order_relaxed);
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) free(replay->last[op]);
    svmx__choices_fini(&replay->choices);
    svmx__model_fini(&replay->model);
    return status;
}

/* NULL: they break a rule. */
static const struct svmx_replay_options *options_of(const struct svmx_replay_options *given) {
    static const struct svmx_replay_options none = {.size = sizeof none};
    if (!given) return &none;
    if (given->size < FIRST_OPTIONS || given->probe_percent > 50) return NULL;
    if (given->learn && strcmp(given->learn, "on") != 0 && strcmp(given->learn, "strict") != 0) return NULL;
    return given;
}

enum svmx_status svmx_replay(const char *log, size_t length, const struct svmx_replay_options *given,
                             struct svmx_replay *result, struct svmx_replay_device *devices, size_t capacity,
                             size_t *count) {
    const struct svmx_replay_options *options = options_of(given);
    if ((!log && length) || !options || !svmx__is_served(result, FIRST_REPLAY)) return SVMX_ERR_ARGUMENT;
    if (capacity && !svmx__is_served(devices, FIRST_DEVICE)) return SVMX_ERR_ARGUMENT;
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay) return SVMX_ERR_MEMORY;
    if (length) replay->log.at = log, replay->log.end = log + length;
    const enum svmx_status status = run_all(replay, options);
    if (status == SVMX_OK) {
        svmx__give(result, &replay->sums, sizeof replay->sums);
        for (size_t d = 0; d < replay->log.device_count && d < capacity; d++)
            svmx__give_element(devices, d, &replay->devices[d], sizeof *replay->devices);
        if (count) *count = replay->log.device_count;
    }
    free(replay->lines);
    free(replay);
    return status;
}

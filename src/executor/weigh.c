/*
 * weigh.c: where a stretch begins and ends.
 *
 *   together = one setup + the sum of computing + bytes that cross its ends
 *   apart    = the sum of what the best device takes for each part by itself
 *
 * Links that are one pass over memory count as that on both sides: behind the first each takes as much of its computing as it
 * has of its memory still to go through (fused_share).
 *
 * From the level at hand on, levels are added as long as the device serves all their parts and they compute for no longer than a
 * submission may take (slices.c); of all ends the one is taken
 * that saves most, if that is more than the margin of a choice; where all of it would go to that device anyhow, and buffers
 * are to stay there, it need not save anything now: the next batch finds them. Where the policy leaves one device only, the longest
 * stretch is taken unweighed. Only what was measured is weighed: single parts are tried first, by choice.c. See stretch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch.h"

#include "base/alloc.h"
#include "executor/building.h"
#include "ops/chain_f32.h"
#include <string.h>

enum { MOST_LEVELS = 64 }; /* of a stretch: what is longer is several of them */

/* What a link takes at least of what it takes alone: its arithmetic is left where all of its memory is saved. Chains of `bench
 * chains` are faster than this says. */
static const double FUSED_LEAST = 0.25;

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Sorts the numbers of parts by their levels, by counting. */
static enum svmx_status sort_levels(struct svmx_batch *batch) {
    if (!svmx__grow((void **)&batch->by_level, &batch->by_level_capacity, batch->part_count, sizeof *batch->by_level) ||
        !svmx__grow((void **)&batch->level_start, &batch->level_start_capacity, (size_t)batch->level_count + 2,
                    sizeof *batch->level_start))
        return svmx__fail(&batch->error, SVMX_ERR_MEMORY, "no memory to sort the levels of a batch");
    uint32_t *start = batch->level_start;
    memset(start, 0, ((size_t)batch->level_count + 2) * sizeof *start);
    for (uint32_t i = 0; i < batch->part_count; i++) start[batch->parts[i].level + 2]++;
    for (uint32_t l = 2; l <= batch->level_count; l++) start[l] += start[l - 1];
    /* start[l + 1] is where the next part of level l goes: in the end, where level l + 1 begins */
    for (uint32_t i = 0; i < batch->part_count; i++) batch->by_level[start[batch->parts[i].level + 1]++] = i;
    return SVMX_OK;
}

/* How many levels a stretch has at least: one where buffers stay, since then there is something to be saved. */
static uint32_t levels_worth(const struct svmx_batch *batch) { return batch->use_count ? 1 : 2; }

enum svmx_status svmx__stretches_begin(struct svmx_batch *batch) {
    struct svmx__stretch *stretch = &batch->stretch; /* the rest is set where one is placed */
    stretch->from = stretch->to = stretch->look_at = 0;
    stretch->barred = stretch->apart = false;
    for (uint32_t i = 0; i < batch->part_count; i++) batch->parts[i].stretched = false;
    if (batch->laid_out) return SVMX_OK;
    return batch->executor->owners && levels_worth(batch) <= batch->level_count ? sort_levels(batch) : SVMX_OK;
}

static struct svmx__part *part_at(struct svmx_batch *batch, uint32_t position) {
    return &batch->parts[batch->by_level[position]];
}

/* ---- one device -------------------------------------------------------------------------------------------------- */

/* A stretch so far. */
struct sum {
    double compute_ns, setup_ns;
    double long_ns; /* what it computes for, also where it is not weighed, as far as that is known */
    double transfer_ns, transfer_bytes; /* of its parts by themselves: what a byte takes */
    double apart_ns;
    bool elsewhere;          /* some part would go to another device by itself */
    uint64_t crossing_bytes; /* in from outside, and out for good */
    uint64_t last_bytes;     /* results of the last level that pass: they come out too, if it ends there */
    uint64_t arena_bytes;
};

/* The best end for a device. */
struct offer {
    uint32_t device, to;
    double together_ns, saved_ns;
    double setup_ns, compute_ns; /* of together_ns; the rest is copying */
    bool ready;                  /* all pipelines are there */
};

/* The least of what those who may have it are known to take; 0: nothing is. */
static float least_of(const float *costs, uint32_t mask) {
    float least = 0;
    for (; mask; mask &= mask - 1) {
        const float cost = costs[__builtin_ctz(mask)];
        if (cost > 0 && (least <= 0 || cost < least)) least = cost;
    }
    return least;
}

/* Whether a part is a link behind its feeder, where links are one pass. */
static bool is_link(const struct svmx__part *part) {
    const struct svmx_batch *batch = part->batch;
    return part->feeder < batch->part_count && part->op->elementwise &&
           batch->parts[part->feeder].next == (uint32_t)(part - batch->parts);
}

/* How much of what it takes alone a link takes behind another: what passes from one to the next is not in memory. */
static double fused_share(const struct svmx__part *link) {
    const double alone = (double)(link->bytes_in + link->bytes_out),
                 saved = (double)(link->taken_bytes + link->passing_bytes);
    const double share = alone > 0 ? (alone - saved) / alone : 1;
    return share > FUSED_LEAST ? share : FUSED_LEAST;
}

/* Whether it is a link within the launch of another in a stretch that begins at the level at hand (stretch_runs.c). A kernel
 * that is not built yet counts: it is asked for when a stretch is run. */
static bool is_in_launch(const struct svmx__part *part, const struct svmx__device *device) {
    const struct svmx_batch *batch = part->batch;
    if (!(device->info.flags & SVMX_DEVICE_LINKS) || part->level == batch->level || !is_link(part)) return false;
    return svmx__chain_code(part->op) && svmx__chain_code(batch->parts[part->feeder].op) &&
           svmx__device_serves(device, svmx__op_chain_f32()->id);
}

/* What the part takes on the best device by itself; 0: not known. *settled: that device,
 * or UINT32_MAX where it is not the one that choices settled on. */
static double apart_ns(const struct svmx__part *part, uint32_t *settled) {
    const struct svmx_executor *executor = part->batch->executor;
    float costs[SVMX__ROUTED];
    const uint32_t best =
        svmx__choices_look(&executor->choices, part->op->id, &part->question.load, executor->routed, costs);
    *settled = UINT32_MAX;
    if (best == UINT32_MAX) return 0;
    if (!svmx__is_in(part->fitting, best)) return (double)least_of(costs, part->fitting);
    *settled = best;
    const bool fuses = executor->devices[best].info.flags & SVMX_DEVICE_CHAINS;
    return (double)costs[best] * (fuses && is_link(part) ? fused_share(part) : 1);
}

/* Adds what a part takes on a device. false: that is not known, or not measured. */
static bool weigh_part(struct sum *sum, const struct svmx__part *part, uint32_t device) {
    const struct svmx_executor *executor = part->batch->executor;
    struct svmx__cost cost;
    uint32_t settled;
    const double apart = apart_ns(part, &settled);
    svmx__model_cost(&executor->model, part->op->id, device, &part->question.load, &cost);
    if (apart <= 0 || cost.kind == SVMX__GUESSED) return false;
    sum->apart_ns += apart;
    sum->elsewhere = sum->elsewhere || settled != device;
    sum->compute_ns += cost.compute_ns * (is_in_launch(part, &executor->devices[device]) ? fused_share(part) : 1);
    sum->transfer_ns += cost.transfer_ns;
    sum->transfer_bytes += (double)part->question.load.bytes;
    if (cost.setup_ns > sum->setup_ns) sum->setup_ns = cost.setup_ns;
    return true;
}

/* What it computes for, by itself. */
static void expect_part(struct sum *sum, const struct svmx__part *part, uint32_t device) {
    struct svmx__cost cost;
    svmx__model_cost(&part->batch->executor->model, part->op->id, device, &part->question.load, &cost);
    if (cost.kind != SVMX__GUESSED) sum->long_ns += cost.compute_ns;
}

/* What is read of buffers that are there already. */
static uint64_t resident_bytes(const struct svmx_batch *batch, uint32_t device) {
    uint64_t sum = 0;
    if (!batch->use_count) return 0;
    const struct svmx__heap *heap = &svmx__life_of(&batch->executor->devices[device])->heap;
    const uint64_t generation = atomic_load_explicit(&heap->generation, memory_order_relaxed);
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (svmx__use_is_good(&batch->uses[i], device, generation)) sum += batch->uses[i].read_bytes;
    return sum;
}

static double together_ns(const struct sum *sum, bool ends_all, double resident_bytes) {
    const double crossing = (double)(sum->crossing_bytes + (ends_all ? 0 : sum->last_bytes)) - resident_bytes;
    const double bytes = crossing > 0 ? crossing : 0;
    const double per_byte = sum->transfer_bytes > 0 ? sum->transfer_ns / sum->transfer_bytes : 0;
    return sum->setup_ns + sum->compute_ns + bytes * per_byte;
}

static void count_bytes(struct sum *sum, const struct svmx__part *part, bool first_level) {
    sum->crossing_bytes += part->bytes_in - (first_level ? 0 : part->taken_bytes);
    sum->crossing_bytes += part->bytes_out - part->passing_bytes;
    sum->last_bytes += part->passing_bytes;
    sum->arena_bytes += part->bytes_in + part->bytes_out;
}

/* May a device have the part in a stretch? In order of preference the first may, and nobody else. */
static bool may_have(const struct svmx__part *part, uint32_t device) {
    if (part->policy == SVMX_POLICY_SPLIT || !svmx__is_in(part->fitting, device)) return false;
    return part->policy != SVMX_POLICY_ORDER || (uint32_t)__builtin_ctz(part->fitting) == device;
}

/* Whether nobody else may have it. */
static bool is_left_to(const struct svmx__part *part, uint32_t device) {
    return part->policy == SVMX_POLICY_ORDER || part->fitting == UINT32_C(1) << device;
}

/* Adds the parts of a level. false: the stretch ends before it. `is_free`: it is not weighed, since nobody else may. */
static bool add_level(struct svmx_batch *batch, uint32_t level, bool is_free, struct sum *sum, struct offer *offer) {
    const struct svmx_executor *executor = batch->executor;
    const uint32_t device = offer->device;
    const uint64_t most = executor->devices[device].info.max_alloc_bytes;
    sum->last_bytes = 0;
    for (uint32_t i = batch->level_start[level]; i < batch->level_start[level + 1]; i++) {
        const struct svmx__part *part = part_at(batch, i);
        if (part->joined) return false; /* it ran in a chain of a level before */
        if (!may_have(part, device) || is_left_to(part, device) != is_free) return false;
        const bool ready = svmx__route_is_ready(executor, part->op->id, part->bucket, device);
        if (is_free ? !ready : !weigh_part(sum, part, device)) return false;
        expect_part(sum, part, device);
        offer->ready = offer->ready && ready;
        count_bytes(sum, part, level == batch->level);
    }
    const bool is_long = level > batch->level && sum->long_ns > SVMX__SUBMISSION_NS; /* more levels, more submissions */
    return !is_long && (!most || sum->arena_bytes < most / 2);
}

/* Is it worth it? With buffers nothing is risked where each part would go to that device by itself: it is the same launches, what
 * they copy stays, and what one batch pays the next one saves. */
static bool pays(const struct svmx_batch *batch, const struct sum *sum, double together_ns, double finish_ns) {
    const double margin = batch->executor->choices.margin;
    if (batch->use_count && !sum->elsewhere && together_ns * margin < sum->apart_ns) return true;
    return finish_ns < sum->apart_ns * margin;
}

/* The best stretch on a device. false: there is none. */
static bool weigh_on(struct svmx_batch *batch, uint32_t device, uint32_t end, struct offer *best) {
    const struct svmx__choices *choices = &batch->executor->choices;
    const bool is_free = is_left_to(part_at(batch, batch->level_start[batch->level]), device);
    const double resident = (double)resident_bytes(batch, device);
    struct sum sum = {0};
    struct offer offer = {.device = device, .ready = true};
    bool found = false;
    for (uint32_t level = batch->level; level < end && add_level(batch, level, is_free, &sum, &offer); level++) {
        if (level + 1 - batch->level < levels_worth(batch)) continue;
        offer.to = level + 1;
        offer.together_ns = together_ns(&sum, level + 1 == batch->level_count, resident);
        offer.setup_ns = sum.setup_ns;
        offer.compute_ns = sum.compute_ns;
        const double finish_ns = offer.together_ns + (double)svmx__backlog_ns(choices, device);
        offer.saved_ns = sum.apart_ns - finish_ns;
        const bool worth_it = pays(batch, &sum, offer.together_ns, finish_ns);
        if (!is_free && !(worth_it && (!found || offer.saved_ns > best->saved_ns))) continue;
        *best = offer;
        found = true;
    }
    return found;
}

/* ---- all devices ------------------------------------------------------------------------------------------------- */

/* Looks at the parts of the next levels. 0, or the level behind the last. */
static uint32_t consider(struct svmx_batch *batch) {
    const uint32_t rest = batch->level_count - batch->level;
    const uint32_t end = batch->level + (rest < MOST_LEVELS ? rest : MOST_LEVELS);
    for (uint32_t i = batch->level_start[batch->level]; i < batch->level_start[end]; i++)
        if (!part_at(batch, i)->joined) (void)svmx__route_consider(part_at(batch, i));
    return end;
}

/* Has what is missing built; the parts go by themselves meanwhile. */
static void want_pipelines(struct svmx_batch *batch, const struct offer *offer) {
    struct svmx_executor *executor = batch->executor;
    for (uint32_t i = batch->level_start[batch->level]; i < batch->level_start[offer->to]; i++) {
        struct svmx__part *part = part_at(batch, i);
        if (!svmx__route_is_ready(executor, part->op->id, part->bucket, offer->device))
            svmx__build_request(&executor->devices[offer->device], part->op, part->bucket, NULL);
    }
}

/* What a launch takes at least beside computing, on the device where that is least. */
static double least_latency_ns(const struct svmx_executor *executor) {
    double least = 0;
    for (uint32_t mask = executor->owners; mask; mask &= mask - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(mask);
        const double seen = (double)atomic_load_explicit(&executor->model.least_ns[d], memory_order_relaxed);
        const double ns = seen > 0 ? seen : svmx__model_number(&executor->model.devices[d].latency_ns);
        if (least <= 0 || ns < least) least = ns;
    }
    return least;
}

/* Is some of what it reads on a device already? */
static bool is_resident(const struct svmx_batch *batch) {
    if (!batch->use_count) return false;
    for (uint32_t mask = batch->executor->owners; mask; mask &= mask - 1)
        if (resident_bytes(batch, (uint32_t)__builtin_ctz(mask))) return true;
    return false;
}

/* Is all of it over before a launch would begin? So it is with most small batches, and asking the model takes longer. What a
 * launch takes has copies in it, so that nothing is said of data that is there already. */
static bool is_too_little(struct svmx_batch *batch, uint32_t end) {
    if (is_resident(batch)) return false;
    const double least = least_latency_ns(batch->executor);
    double sum = 0;
    for (uint32_t i = batch->level_start[batch->level]; i < batch->level_start[end]; i++) {
        const struct svmx__part *part = part_at(batch, i);
        uint32_t settled;
        const double apart = part->policy == SVMX_POLICY_AUTO ? apart_ns(part, &settled) : 0;
        sum += apart;
        if (apart <= 0 || sum >= least) return false;
    }
    return true;
}

static bool find_best(struct svmx_batch *batch, uint32_t end, struct offer *best) {
    struct svmx_executor *executor = batch->executor;
    bool found = false;
    for (uint32_t mask = executor->owners; mask; mask &= mask - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(mask);
        struct offer offer;
        if (svmx__health_is_watched(&executor->devices[d].health)) continue; /* each launch is compared by itself */
        if (!weigh_on(batch, d, end, &offer)) continue;
        if (found && offer.saved_ns <= best->saved_ns) continue;
        *best = offer;
        found = true;
    }
    return found;
}

/* Results that pass, but not only within the stretch. */
static void keep_what_is_taken_behind(struct svmx_batch *batch) {
    const struct svmx__stretch *stretch = &batch->stretch;
    for (uint32_t t = 0; t < batch->task_count; t++) {
        struct svmx__task *task = &batch->tasks[t];
        task->kept = 0;
        if (batch->parts[task->part].level < stretch->to) continue;
        for (uint32_t i = 0; task->results >> i; i++) {
            const uint64_t source = batch->sources[task->first_slot + i];
            if (task->results >> i & 1) batch->tasks[source >> 32].kept |= UINT32_C(1) << (uint32_t)source;
        }
    }
}

static void join(struct svmx_batch *batch, const struct offer *offer) {
    struct svmx_executor *executor = batch->executor;
    const double copying_ns = offer->together_ns - offer->setup_ns - offer->compute_ns;
    const struct svmx__price of_all =
        svmx__price_of(offer->together_ns, offer->setup_ns, copying_ns, offer->compute_ns);
    batch->stretch.from = batch->level;
    batch->stretch.to = batch->stretch.look_at = offer->to;
    for (uint32_t i = batch->level_start[batch->level]; i < batch->level_start[offer->to]; i++) {
        struct svmx__part *part = part_at(batch, i);
        const bool is_first = i == batch->level_start[batch->level];
        part->device = &executor->devices[offer->device];
        part->stretched = true;
        part->joined = !is_first;
        part->chosen = is_first && executor->routed > 1;
        svmx__answer_set(&part->answer, offer->device,
                         part->policy == SVMX_POLICY_ORDER               ? SVMX_WHY_ORDER
                         : part->fitting == UINT32_C(1) << offer->device ? SVMX_WHY_ONLY
                                                                         : SVMX_WHY_BEST,
                         is_first ? of_all : (struct svmx__price){0});
    }
    keep_what_is_taken_behind(batch);
}

bool svmx__stretch_join(struct svmx_batch *batch) {
    struct svmx__stretch *stretch = &batch->stretch;
    struct offer best;
    if (!batch->executor->owners || batch->level_count - batch->level < levels_worth(batch)) return false;
    if (stretch->barred || batch->verified || batch->level < stretch->look_at) return false;
    if (batch->tenant && batch->use_count) return false; /* the heap of a device is everybody's */
    const uint32_t end = consider(batch);
    if (is_too_little(batch, end)) {
        stretch->look_at = end;
    } else if (!find_best(batch, end, &best)) { /* long batches are not weighed at every level */
        stretch->look_at = batch->level + (batch->level_count > MOST_LEVELS ? MOST_LEVELS / 2 : 1);
    } else if (!best.ready) {
        want_pipelines(batch, &best);
        stretch->look_at = best.to;
    } else {
        join(batch, &best);
        return true;
    }
    return false;
}

/*
 * split.c: the rest of stage 3 for a large part: cut it into chunks for several devices.
 *
 *   part [task 0 ................... n)  on the device that route chose
 *     -> [chunk 0)[chunk 1)[chunk 2) ...  of about the same size, each a part of its own: cut.h says who runs which
 *
 * Each device gets as many as make all of them end together, by what chunks are expected to take there and what is waited
 * for before (spread.h); nothing is cut unless that is better than one device by the margin. How many chunks there are is
 * found by trying a few numbers: more of them follow the speeds more closely, but each costs a launch.
 *
 * Who gets none: devices on cores that another one of them computes on, since they do not add up; a device with which the CPU
 * would be done sooner with such a chunk (it is below the crossover); one whose memory a chunk does not fit into. Tasks stay
 * whole, but for those of operations whose items are independent, where there are few; a chunk that is too small because of
 * that goes with the next, so that nobody has one below its crossover. Results that the library keeps stay
 * together, and so do inputs in its memory, which a device would copy as a whole for each chunk.
 *
 * Called by pipeline.c while no part of the level is under way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/building.h"
#include "executor/cut.h"
#include "executor/lay.h"
#include "executor/spread.h"
#include "executor/stages.h"

#include <string.h>

/* Without the policy `split` a part is expected to take this at least. */
static const double WORTH_NS = 1e6;
enum { CHUNKS_EACH = 8 };           /* for each device, at most, unless memory wants more */
static const double AS_GOOD = 1.03; /* that much later is as good if chunks are smaller: they can be taken over */
enum { IN_FLIGHT = 4 };             /* chunks that the memory of a device holds at once, at least */
enum { FEW_TASKS = 4 };             /* tasks are cut if there are fewer for each chunk */

/* What is cut into how many, and who gets them. */
struct plan {
    struct svmx__taker takers[SVMX__ROUTED];
    uint32_t taker_count, chunks;
    double finish_ns; /* less than 0: there is none */
};

/* ---- what a chunk takes -------------------------------------------------------------------------------------------- */

static struct svmx__load load_of(const struct svmx__part *part, uint32_t chunks) {
    const struct svmx__load *whole = &part->question.load;
    return (struct svmx__load){(whole->units + chunks - 1) / chunks, (whole->work + chunks - 1) / chunks,
                               (whole->bytes + chunks - 1) / chunks};
}

/* One device is like another if it has its name and its driver: what is known of one is then known of both. */
static bool is_like(const struct svmx__device *a, const struct svmx__device *b) {
    return a->backend == b->backend && strcmp(a->info.name, b->info.name) == 0 &&
           strcmp(a->info.driver, b->info.driver) == 0;
}

/* What is known of a load on a device, or on one like it. false: nothing. */
static bool look_up(const struct svmx_executor *executor, uint32_t op, uint32_t device, const struct svmx__load *load,
                    struct svmx__cost *cost) {
    svmx__model_cost(&executor->model, op, device, load, cost);
    for (uint32_t d = 0; d < executor->routed && cost->kind == SVMX__GUESSED; d++)
        if (is_like(&executor->devices[device], &executor->devices[d]))
            svmx__model_cost(&executor->model, op, d, load, cost);
    return cost->kind != SVMX__GUESSED;
}

/* What one of so many chunks is expected to take on a device, or the part as one; less than 0: nothing is known of that. What
 * was never tried is thought to take its share of the whole: a guess that is too good is soon found out. */
static double chunk_ns(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                       uint32_t chunks) {
    struct svmx__cost cost, whole;
    const struct svmx__load load = load_of(part, chunks);
    if (!look_up(executor, part->op->id, device, &load, &cost)) return -1;
    if (chunks == 1 || cost.kind == SVMX__MEASURED) return cost.ns;
    (void)look_up(executor, part->op->id, device, &part->question.load, &whole);
    const double fixed_ns = whole.setup_ns < whole.ns ? whole.setup_ns : whole.ns,
                 share_ns = fixed_ns + (whole.ns - fixed_ns) / chunks;
    return share_ns < cost.ns ? share_ns : cost.ns;
}

static bool fits(const struct svmx__device *device, uint64_t bytes) {
    const struct svmx_device_info *info = &device->info;
    return (!info->memory_bytes || bytes <= info->memory_bytes / IN_FLIGHT) &&
           (!info->max_alloc_bytes || bytes <= info->max_alloc_bytes);
}

/* What the fastest CPU that may have it takes; less than 0: there is none, or nothing is known. */
static double on_cpu_ns(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t chunks) {
    double best = -1;
    for (uint32_t mask = part->fitting & executor->cpus; mask; mask &= mask - 1) {
        const double ns = chunk_ns(executor, part, (uint32_t)__builtin_ctz(mask), chunks);
        if (ns > 0 && (best < 0 || ns < best)) best = ns;
    }
    return best;
}

/* ---- how to cut ---------------------------------------------------------------------------------------------------- */

/* Of the devices on the host's cores, only the one that is best at it. */
static uint32_t without_sharers(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t mask) {
    uint32_t sharers = mask & executor->choices.cores_mask, best = 0;
    double best_ns = 0;
    for (uint32_t rest = sharers; rest; rest &= rest - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(rest);
        const double ns = chunk_ns(executor, part, d, 1);
        if (ns > 0 && (!best || ns < best_ns)) best = UINT32_C(1) << d, best_ns = ns;
    }
    return (mask & ~sharers) | best;
}

/* Has a device a pipeline for such chunks? They may be of another bucket than the whole. */
static bool is_ready(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                     uint32_t chunks) {
    const uint64_t bucket = svmx__bucket_of(executor, part->op, load_of(part, chunks).units);
    return svmx__route_is_ready(executor, part->op->id, bucket, device);
}

/* Is a chunk that takes `ns` on a device better left to the CPU, which takes `cpu_ns` for it? */
static bool is_below_crossover(const struct svmx_executor *executor, uint32_t device, double ns, double cpu_ns) {
    return !(executor->cpus >> device & 1) && cpu_ns > 0 && cpu_ns < executor->choices.margin * ns;
}

/* What a chunk takes on a device, or 0 if it gets none. */
static double taker_ns(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                       uint32_t chunks, double cpu_ns) {
    const double ns = chunk_ns(executor, part, device, chunks);
    if (ns <= 0 || !fits(&executor->devices[device], load_of(part, chunks).bytes)) return 0;
    return is_below_crossover(executor, device, ns, cpu_ns) ? 0 : ns;
}

static void weigh(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t mask, uint32_t chunks,
                  bool only_ready, struct plan *plan) {
    const double cpu_ns = on_cpu_ns(executor, part, chunks);
    plan->taker_count = 0;
    plan->chunks = chunks;
    for (; mask; mask &= mask - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(mask);
        if (only_ready && !is_ready(executor, part, d, chunks)) continue;
        plan->takers[plan->taker_count++] =
            (struct svmx__taker){.device = d,
                                 .busy_ns = (double)svmx__backlog_ns(&executor->choices, d),
                                 .chunk_ns = taker_ns(executor, part, d, chunks, cpu_ns)};
    }
    plan->finish_ns = svmx__spread(plan->takers, plan->taker_count, chunks);
}

/* Into how many chunks a part can be cut. */
static uint32_t most_chunks(const struct svmx__part *part) {
    const uint64_t within = svmx__cuts_within(part), most = within > part->task_count ? within : part->task_count;
    return most < SVMX__MAX_CHUNKS ? (uint32_t)most : SVMX__MAX_CHUNKS;
}

/* Few devices may take few chunks: the plan is looked for with one for each of them, two, four, ... */
static struct plan best_plan(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t mask,
                             bool only_ready) {
    const uint32_t devices = (uint32_t)__builtin_popcount(mask), most = most_chunks(part);
    struct plan best = {.finish_ns = -1}, plan;
    for (uint32_t each = 1; each <= CHUNKS_EACH || best.finish_ns < 0; each *= 2) {
        const uint32_t chunks = devices * each < most ? devices * each : most;
        if (chunks < 2) break;
        weigh(executor, part, mask, chunks, only_ready, &plan);
        if (plan.finish_ns > 0 && (best.finish_ns < 0 || plan.finish_ns < AS_GOOD * best.finish_ns)) best = plan;
        if (chunks == most) break;
    }
    return best;
}

/* A device of the plan without a pipeline gets one, for the next time. true: all have theirs. */
static bool have_pipelines(struct svmx_executor *executor, const struct svmx__part *part, const struct plan *plan) {
    const uint64_t bucket = svmx__bucket_of(executor, part->op, load_of(part, plan->chunks).units);
    bool all = true;
    for (uint32_t i = 0; i < plan->taker_count; i++) {
        const uint32_t d = plan->takers[i].device;
        if (!plan->takers[i].chunks || is_ready(executor, part, d, plan->chunks)) continue;
        svmx__build_request(&executor->devices[d], part->op, bucket, NULL);
        all = false;
    }
    return all;
}

/* Are there two at least who get something, and is that soon enough? */
static bool is_good(const struct plan *plan, double enough_ns) {
    uint32_t takers = 0;
    for (uint32_t i = 0; i < plan->taker_count; i++) takers += plan->takers[i].chunks > 0;
    return takers > 1 && plan->finish_ns <= enough_ns;
}

/* false: it stays whole. */
static bool find_plan(struct svmx_executor *executor, const struct svmx__part *part, struct plan *plan) {
    const struct svmx__choices *choices = &executor->choices;
    const double whole_ns = chunk_ns(executor, part, part->answer.device, 1);
    if (part->answer.why == SVMX__WHY_PROBE || whole_ns <= 0) return false;
    if (whole_ns < WORTH_NS && part->policy != SVMX_POLICY_SPLIT) return false;
    const double enough_ns = choices->margin * ((double)svmx__backlog_ns(choices, part->answer.device) + whole_ns);
    const uint32_t mask = without_sharers(executor, part, part->fitting);
    *plan = best_plan(executor, part, mask, false);
    if (!is_good(plan, enough_ns)) return false;
    if (have_pipelines(executor, part, plan)) return true;
    *plan = best_plan(executor, part, mask, true);
    return is_good(plan, enough_ns);
}

/* ---- cutting ------------------------------------------------------------------------------------------------------- */

/* Sends a chunk whose rows are laid to its device. */
static void send_to(struct svmx__part *chunk, uint32_t device) {
    struct svmx_executor *executor = chunk->batch->executor;
    chunk->bucket = svmx__bucket_of(executor, chunk->op, chunk->units);
    chunk->question.load =
        svmx__load_of(chunk->units, chunk->work, chunk->bytes_in + chunk->bytes_out, chunk->task_count);
    chunk->chunk = true;
    chunk->here = false;
    svmx__route_to(chunk, device);
    chunk->answer.why = SVMX_WHY_SPLIT;
    svmx__charge(&executor->choices, &chunk->answer);
}

/* Room for all chunks. NULL: no memory, and nothing is cut. */
static struct svmx__cut *make_room(struct svmx_batch *batch, uint32_t tasks, uint32_t params, uint32_t chunks,
                                   bool within_tasks) {
    struct svmx__cut *cut = svmx__cut_make(batch);
    if (!cut) return NULL;
    if (svmx__grow((void **)&batch->parts, &batch->part_capacity, (size_t)batch->part_count + chunks,
                   sizeof *batch->parts) &&
        svmx__grow((void **)&cut->units, &cut->unit_capacity, (size_t)tasks + 2 * (size_t)chunks, sizeof *cut->units) &&
        (!within_tasks ||
         svmx__grow((void **)&cut->slots, &cut->slot_capacity, ((size_t)tasks + chunks) * params, sizeof *cut->slots)))
        return cut;
    batch->cuts = cut->next;
    cut->next = batch->spare_cuts;
    batch->spare_cuts = cut;
    return NULL;
}

/* Where chunks are cut off, and whose they are. */
struct layout {
    uint64_t ends[SVMX__MAX_CHUNKS];
    uint32_t takers[SVMX__MAX_CHUNKS]; /* number in the plan */
    uint32_t count;
    bool within_tasks;
};

static uint64_t units_between(const struct svmx__part *part, uint64_t begin, uint64_t end, bool within_tasks) {
    return within_tasks ? end - begin : part->first_unit[end] - part->first_unit[begin];
}

/* Is a chunk large enough for everybody who gets some? Whoever has nothing left to do may take any of them. */
static bool suits_all(const struct svmx_executor *executor, const struct svmx__part *part, const struct plan *plan,
                      uint64_t units) {
    if (!units) return false;
    const uint64_t like = part->units / units;
    const uint32_t chunks = like < UINT32_MAX ? (uint32_t)like : UINT32_MAX;
    const double cpu_ns = on_cpu_ns(executor, part, chunks);
    for (uint32_t i = 0; i < plan->taker_count; i++) {
        const uint32_t d = plan->takers[i].device;
        if (plan->takers[i].chunks && is_below_crossover(executor, d, chunk_ns(executor, part, d, chunks), cpu_ns))
            return false;
    }
    return true;
}

/* Tasks that stay whole leave some chunks empty and some small: those of next to nothing go with the one behind, or before. */
static void lay_out(const struct svmx_executor *executor, const struct svmx__part *part, const struct plan *plan,
                    struct layout *layout) {
    uint64_t begin = 0, end = 0;
    uint32_t planned = 0;
    layout->count = 0;
    for (uint32_t i = 0; i < plan->taker_count; i++)
        for (uint32_t c = 0; c < plan->takers[i].chunks; c++) {
            end = svmx__cut_begin(part, plan->chunks, ++planned, layout->within_tasks);
            if (end == begin || !suits_all(executor, part, plan, units_between(part, begin, end, layout->within_tasks)))
                continue;
            layout->ends[layout->count] = begin = end;
            layout->takers[layout->count++] = i;
        }
    if (layout->count) layout->ends[layout->count - 1] = end;
}

/* The chunks of one device, as one share of the cut. `number` counts chunks that are made. */
static void make_share(struct svmx__cut *cut, const struct plan *plan, uint32_t at, const struct layout *layout,
                       uint32_t *number, struct svmx__room *room) {
    struct svmx_batch *batch = cut->batch;
    const struct svmx__taker *taker = &plan->takers[at];
    struct svmx__share *share = &cut->shares[cut->share_count];
    *share = (struct svmx__share){.cut = cut,
                                  .device = &batch->executor->devices[taker->device],
                                  .chunk_ns = taker->chunk_ns,
                                  .next = *number,
                                  .end = *number};
    for (; *number < layout->count && layout->takers[*number] == at; share->end = ++*number) {
        struct svmx__part *chunk = &batch->parts[*number ? cut->first + *number - 1 : cut->at];
        *chunk = cut->whole;
        svmx__lay(chunk, *number ? layout->ends[*number - 1] : 0, layout->ends[*number], layout->within_tasks, room);
        send_to(chunk, taker->device);
    }
    cut->share_count += share->end > share->next;
}

static uint32_t cut_part(struct svmx_batch *batch, uint32_t at, const struct plan *plan) {
    const struct svmx__part *part = &batch->parts[at];
    struct layout layout = {.within_tasks =
                                part->task_count < FEW_TASKS * plan->chunks && svmx__cuts_within(part) >= plan->chunks};
    lay_out(batch->executor, part, plan, &layout);
    if (layout.count < 2 || layout.takers[0] == layout.takers[layout.count - 1]) return 0; /* nobody to share with */
    struct svmx__cut *cut =
        make_room(batch, part->task_count, part->op->param_count, layout.count, layout.within_tasks);
    if (!cut) return 0;
    struct svmx__room room = {cut->slots, cut->units};
    uint32_t number = 0;
    cut->whole = batch->parts[at];
    cut->at = at;
    cut->first = batch->part_count;
    svmx__unchoose(&batch->executor->choices, &cut->whole.answer);
    for (uint32_t i = 0; i < plan->taker_count; i++) make_share(cut, plan, i, &layout, &number, &room);
    batch->part_count += number - 1;
    return number;
}

uint32_t svmx__split(struct svmx_batch *batch, uint32_t at) {
    const struct svmx__part *part = &batch->parts[at];
    struct plan plan;
    if (part->cold || part->links || part->library_bytes || batch->blocks || part->units < 2) return 0;
    return find_plan(batch->executor, part, &plan) ? cut_part(batch, at, &plan) : 0;
}

/*
 * split.c: the rest of stage 3 under the policy `split`: cut the tasks of a part between two devices.
 *
 *   part [task 0 ......... n)  on the device that route chose
 *     -> [0 ... k) stays there, [k ... n) becomes a piece: a part of its own, behind the others, on a second device
 *
 * k is where both are expected to finish at the same time; nothing is cut unless that is better than one device by the
 * margin. Devices that compute on the same cores do not add up, so they do not share a part. Tasks stay whole, and results
 * that the library keeps stay together. Called by pipeline.c while no part of the level is under way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <string.h>

/* Parts that are expected to take less are left whole: looking for the cut takes some us. */
static const double WORTH_NS = 100000;
enum { STEPS = 32 }; /* of the size, in which the cut is looked for */

struct cut {
    uint32_t device; /* of the piece */
    double share;    /* of the units that stay */
    double finish_ns;
};

/* ---- where to cut ------------------------------------------------------------------------------------------------ */

/* When a device would be done with a share of a part; less than 0: nothing is known of that. */
static double finish_ns(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                        double share) {
    const struct svmx__load *whole = &part->question.load;
    const struct svmx__load load = {.units = (uint64_t)((double)whole->units * share),
                                    .work = (uint64_t)((double)whole->work * share),
                                    .bytes = (uint64_t)((double)whole->bytes * share)};
    struct svmx__cost cost;
    svmx__model_cost(&executor->model, part->op->id, device, &load, &cost);
    if (cost.kind == SVMX__GUESSED) return -1;
    return (double)svmx__backlog_ns(&executor->choices, device) + cost.ns;
}

/* The best share for one other device. */
static void look_for_cut(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                         struct cut *best) {
    for (uint32_t step = 1; step < STEPS; step++) {
        const double share = (double)step / STEPS;
        const double here = finish_ns(executor, part, part->answer.device, share);
        const double there = finish_ns(executor, part, device, 1 - share);
        const double both = here > there ? here : there;
        if (here < 0 || there < 0 || both >= best->finish_ns) continue;
        *best = (struct cut){.device = device, .share = share, .finish_ns = both};
    }
}

/* false: it stays whole. */
static bool find_cut(const struct svmx_executor *executor, const struct svmx__part *part, struct cut *cut) {
    const struct svmx__choices *choices = &executor->choices;
    const uint32_t own = UINT32_C(1) << part->answer.device;
    uint32_t others = part->fitting & ~own;
    if (choices->cores_mask & own) others &= ~choices->cores_mask;
    const double whole = finish_ns(executor, part, part->answer.device, 1);
    if (part->answer.why == SVMX__WHY_PROBE || whole < WORTH_NS) return false;
    *cut = (struct cut){.finish_ns = choices->margin * whole};
    for (; others; others &= others - 1) look_for_cut(executor, part, (uint32_t)__builtin_ctz(others), cut);
    return cut->share > 0;
}

/* The first task of the piece: where the units come nearest to the share. 0 or task_count: there is no such place. */
static uint32_t first_task(const struct svmx__part *part, double share) {
    const uint64_t units = (uint64_t)((double)part->units * share);
    uint32_t low = 0, high = part->task_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (part->first_unit[middle] < units)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && units - part->first_unit[low - 1] < part->first_unit[low] - units) low--;
    return low;
}

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

/* Bytes of the tasks [from, to) of a part. */
static void count_bytes(struct svmx__part *part) {
    part->bytes_in = part->bytes_out = 0;
    for (size_t i = 0; i < (size_t)part->task_count * part->op->param_count; i++) {
        const struct svmx_param *param = &part->op->params[i % part->op->param_count];
        if (param->shape == SVMX_SCALAR) continue;
        *(param->direction == SVMX_OUT ? &part->bytes_out : &part->bytes_in) += part->slots[i].bytes;
    }
    part->callers_bytes_out = part->bytes_out;
}

static void resize(struct svmx__part *part, uint32_t task_count, uint64_t units, double share, uint32_t device) {
    part->task_count = task_count;
    part->units = units;
    part->work = (uint64_t)((double)part->work * share);
    count_bytes(part);
    part->bucket = svmx__bucket_of(part->batch->executor, part->op, units);
    part->question.load = (struct svmx__load){units, part->work, part->bytes_in + part->bytes_out};
    svmx__route_to(part, device);
    part->answer.why = SVMX_WHY_SPLIT;
}

/* A piece may be of another bucket than the whole. A device without a pipeline for it gets one, for the next time. */
static bool is_ready(struct svmx_executor *executor, const struct svmx__part *part, uint32_t device, uint64_t units) {
    const uint64_t bucket = svmx__bucket_of(executor, part->op, units);
    if (svmx__route_is_ready(executor, part->op->id, bucket, device)) return true;
    svmx__build_request(&executor->devices[device], part->op, bucket, NULL);
    return false;
}

/* Room for one more part and its units. false: no memory, and nothing is cut. */
static bool make_room(struct svmx_batch *batch, uint32_t tasks) {
    return svmx__grow((void **)&batch->parts, &batch->part_capacity, (size_t)batch->part_count + 1,
                      sizeof *batch->parts) &&
           svmx__grow((void **)&batch->piece_units, &batch->piece_unit_capacity, (size_t)tasks + 1,
                      sizeof *batch->piece_units);
}

bool svmx__split(struct svmx_batch *batch, uint32_t at) {
    struct svmx_executor *executor = batch->executor;
    struct svmx__part *part = &batch->parts[at];
    struct cut cut;
    /* One part of a batch is cut, the first that gains by it: the others keep both devices busy. */
    if (part->policy != SVMX_POLICY_SPLIT || !part->chosen || part->cold || part->library_bytes || batch->whole.device)
        return false;
    if (part->task_count < 2 || !find_cut(executor, part, &cut)) return false;
    const uint32_t first = first_task(part, cut.share), rest = part->task_count - first;
    if (first == 0 || rest == 0 || !make_room(batch, rest)) return false;
    part = &batch->parts[at]; /* it may have moved */
    const uint64_t kept = part->first_unit[first];
    if (!is_ready(executor, part, part->answer.device, kept) ||
        !is_ready(executor, part, cut.device, part->units - kept))
        return false;
    batch->whole = *part;
    batch->whole_at = at;
    svmx__unchoose(&executor->choices, &part->answer);
    struct svmx__part *piece = &batch->parts[batch->part_count++];
    *piece = *part;
    const double share = part->units ? (double)kept / (double)part->units : 0;
    for (uint32_t t = 0; t <= rest; t++) batch->piece_units[t] = part->first_unit[first + t] - kept;
    piece->slots += (size_t)first * part->op->param_count;
    piece->first_unit = batch->piece_units;
    resize(piece, rest, part->units - kept, 1 - share, cut.device);
    resize(part, first, kept, share, part->answer.device);
    return true;
}

void svmx__split_undo(struct svmx_batch *batch) {
    if (!batch->whole.device) return;
    batch->parts[batch->whole_at] = batch->whole;
    batch->part_count--;
    batch->whole.device = NULL;
}

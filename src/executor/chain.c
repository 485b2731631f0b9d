/*
 * chain.c: parts that follow one another in one pass over memory.
 *
 *   task 0: out = gelu(a)          part 0, level 0                 a -> [piece] -> [piece] -> [piece] -> out
 *   task 1: passing = task 0 * b   part 1, level 1, its feeder is part 0
 *   task 2: out = relu(task 1)     part 2, level 2, its feeder is part 1
 *
 * A part of an elementwise operation whose every task takes results of the task of the same row in one part, its feeder,
 * and of nobody else, is a link behind it. Links that are routed to one device that takes chains are one launch at the
 * level of the first; a result that passes (svmx_out_passing) from a link to the next then is never in memory. A launch
 * that fails falls apart: the first link is redone elsewhere, like any part, and the others come at their levels.
 *
 * Called by pipeline.c, between its stages. What belongs together is noted by batch.c as tasks are added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/chain.h"

#include "base/alloc.h"
#include "executor/executor.h"
#include "executor/stages.h"
#include <stdio.h>

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static bool is_link(const struct svmx__part *part, const struct svmx__part *feeder) {
    return part->op->elementwise && feeder->op->elementwise && part->task_count == feeder->task_count;
}

void svmx__chains_find(struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->part_count; i++) {
        struct svmx__part *part = &batch->parts[i];
        part->next = SVMX__NO_PART;
        part->links = 0;
        part->joined = part->passes = false;
        part->run = SVMX__NO_PART;
        if (batch->level_count < 2 || part->feeder >= i) continue; /* none, or many */
        struct svmx__part *feeder = &batch->parts[part->feeder];
        if (feeder->next == SVMX__NO_PART && is_link(part, feeder)) feeder->next = i;
    }
}

/* ---- joining ---------------------------------------------------------------------------------------------------- */

/* Whether the next link would go to that device at once. It is only asked: what it waits for and takes is the first's. */
static bool would_follow(struct svmx__part *link, const struct svmx__device *device) {
    svmx__route(link);
    if (link->chosen) svmx__unchoose(&device->executor->choices, &link->answer);
    link->chosen = false;
    return link->device == device && !link->cold;
}

void svmx__chain_join(struct svmx_batch *batch, uint32_t first) {
    struct svmx__part *head = &batch->parts[first];
    if (head->next == SVMX__NO_PART || head->cold || head->policy == SVMX_POLICY_SPLIT || batch->verified) return;
    if (!(head->device->info.flags & SVMX_DEVICE_CHAINS)) return;
    struct svmx__part *last = head;
    head->commands_at = batch->chain_command_count;
    while (last->next != SVMX__NO_PART) {
        struct svmx__part *link = &batch->parts[last->next];
        if (!svmx__grow((void **)&batch->chain_commands, &batch->chain_command_capacity,
                        (size_t)head->commands_at + head->links + 3, sizeof *batch->chain_commands) ||
            !would_follow(link, head->device))
            break;
        head->links++;
        link->joined = true;
        last->passes = last->passing && last->taker == last->next;
        last = link;
    }
    last->next = SVMX__NO_PART; /* what is behind it starts anew at its level */
    batch->chain_command_count += head->links ? head->links + 2 : 0;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static uint32_t arrays_of(const struct svmx__op *op) {
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape == SVMX_ARRAY) arrays |= UINT32_C(1) << i;
    return arrays;
}

static struct svmx_slot *row_of(const struct svmx__part *part, uint32_t row) {
    return part->slots + (size_t)row * part->op->param_count;
}

/* Where a link finds what it takes: the place it passes through, or the memory that the one before writes. `number` is
 * that of the link. */
static void take_from(const struct svmx__part *before, struct svmx__part *link, uint32_t number) {
    for (uint32_t row = 0; row < link->task_count; row++) {
        struct svmx_slot *slots = row_of(link, row);
        for (uint32_t i = 0; before && link->taken >> i; i++)
            if (link->taken >> i & 1) slots[i].at = before->passes ? (number - 1) % 2 : row_of(before, row)[0].at;
        if (link->passes) slots[0].at = number % 2;
    }
}

/* The command of a link that was staged. */
static struct svmx_command command_of(const struct svmx__part *before, const struct svmx__part *link) {
    struct svmx_command command = link->commands[0];
    command.as.dispatch.arrays = arrays_of(link->op);
    command.as.dispatch.passing = (before && before->passes ? link->taken : 0) | (link->passes ? 1u : 0u);
    return command;
}

/* The next link, or NULL. */
static struct svmx__part *next_of(const struct svmx__part *link) {
    return link->next == SVMX__NO_PART ? NULL : &link->batch->parts[link->next];
}

/* Of a chain that was joined. */
static struct svmx_command *commands_of(const struct svmx__part *head) {
    return head->batch->chain_commands + head->commands_at;
}

/* In the life of the first: an inline device may have another one by now. */
static enum svmx_status stage_link(const struct svmx__part *head, struct svmx__part *link) {
    const enum svmx_status status = svmx__stage(link);
    if (status != SVMX_OK || link->life == head->life) return status;
    (void)snprintf(link->reason, sizeof link->reason, "%s was given up", link->device->info.name);
    return SVMX_ERR_DEVICE_LOST;
}

/* Stages all links, also after one that failed: each is collected. */
static enum svmx_status stage_all(struct svmx__part *head) {
    enum svmx_status status = SVMX_OK;
    struct svmx__part *before = NULL;
    uint32_t number = 0;
    struct svmx_command *commands = commands_of(head);
    commands[0] = (struct svmx_command){.kind = SVMX_COMMAND_CHAIN, .as.chain = {head->links + 1}};
    for (struct svmx__part *link = head; link; before = link, link = next_of(link), number++) {
        link->device = head->device;
        take_from(before, link, number);
        const enum svmx_status staged = stage_link(head, link);
        if (staged == SVMX_OK) commands[number + 1] = command_of(before, link);
        if (status == SVMX_OK && staged != SVMX_OK) {
            status = staged;
            if (link != head) (void)snprintf(head->reason, sizeof head->reason, "%s", link->reason);
        }
    }
    return status;
}

void svmx__chain_undo(struct svmx__part *head) {
    for (struct svmx__part *link = head; link; link = next_of(link)) {
        for (uint32_t row = 0; link->passes && row < link->task_count; row++) row_of(link, row)[0].at = 0;
        link->joined = link->passes = false;
        if (link != head) link->pipeline = NULL; /* at its level it may be on another device, or in another life */
    }
    head->links = 0;
}

/* The links behind the first took no time of their own. */
static void answer(struct svmx__part *link, const struct svmx__part *head) {
    link->status = SVMX_OK;
    link->queued_ns = head->queued_ns;
    link->start_ns = link->dispatch_ns = link->done_ns = link->end_ns = head->done_ns;
    svmx__learn(link);
}

enum svmx_status svmx__chain_run(struct svmx__part *head) {
    enum svmx_status status = stage_all(head);
    if (status == SVMX_OK) status = svmx__dispatch_list(head, commands_of(head), (size_t)head->links + 2);
    for (struct svmx__part *link = next_of(head); link; link = next_of(link)) {
        link->ticket = 0;
        link->timing = (struct svmx_timing){.size = sizeof link->timing};
        (void)svmx__collect(link, status == SVMX_OK ? SVMX_OK : SVMX_ERR_BACKEND);
    }
    status = svmx__collect(head, status);
    if (status != SVMX_OK) {
        svmx__chain_undo(head);
        return status;
    }
    head->launches++;
    for (struct svmx__part *link = next_of(head); link; link = next_of(link)) answer(link, head);
    return SVMX_OK;
}

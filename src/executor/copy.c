/*
 * copy.c: rows of a part between the caller's memory and a staging buffer, by several threads where that pays.
 *
 * Rows lie in the buffer one behind the other, each slot aligned as the layout says; slots are cut into pieces of some
 * kilobytes, and the executor's team takes them. A single slot is not cut. Called by stage.c and collect.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <string.h>

enum {
    MAX_PIECES = 64,
    PIECE_BYTES = 32 << 10,
    ALONE_BYTES = 64 << 10,   /* less is not worth a lock */
    CALL_BYTES = 1 << 20,     /* from here on helpers are woken, */
    CALL_ALL_BYTES = 4 << 20, /* though not before this if a caller works along */
    LEND_BYTES = 8 << 20      /* up to here callers do: they must not be held up for long */
};

struct copy {
    const struct svmx__part *part;
    unsigned char *staging;
    enum svmx__place place; /* INPUT: towards the staging buffer; OUTPUT: from it */
    uint32_t piece_count;
    struct {
        uint64_t slot, offset; /* where it begins: number of the slot, bytes in the buffer */
    } pieces[MAX_PIECES + 1];
};

/* Slots [from, to) of all rows, the first of them `offset` bytes into the buffer. */
static void copy_slots(const struct copy *copy, uint64_t from, uint64_t to, uint64_t offset) {
    const struct svmx__layout *layout = copy->part->layout;
    uint32_t column = (uint32_t)(from % layout->slot_count);
    for (uint64_t i = from; i < to; i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        const struct svmx_slot *slot = &copy->part->slots[i];
        if (layout->place[column] != copy->place) continue;
        void *callers = (void *)(uintptr_t)slot->at; /* NULL: an output in the library's memory; it stays */
        if (slot->bytes && callers) {
            if (copy->place == SVMX__PLACE_INPUT)
                memcpy(copy->staging + offset, callers, slot->bytes);
            else
                memcpy(callers, copy->staging + offset, slot->bytes);
        }
        offset += svmx__align(slot->bytes, layout->alignment);
    }
}

static void copy_piece(void *user, uint32_t piece) {
    const struct copy *copy = user;
    copy_slots(copy, copy->pieces[piece].slot, copy->pieces[piece + 1].slot, copy->pieces[piece].offset);
}

/* Finds where pieces begin; each but the last has `least` bytes or more. */
static void cut(struct copy *copy, uint64_t offset, uint64_t least) {
    const struct svmx__layout *layout = copy->part->layout;
    uint64_t slots = (uint64_t)copy->part->task_count * layout->slot_count, start = offset;
    copy->pieces[0].slot = 0;
    copy->pieces[0].offset = offset;
    copy->piece_count = 1;
    uint32_t column = 0;
    for (uint64_t i = 0; i < slots; i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        if (layout->place[column] != copy->place) continue;
        if (offset - start >= least && copy->piece_count < MAX_PIECES) {
            copy->pieces[copy->piece_count].slot = i;
            copy->pieces[copy->piece_count++].offset = offset;
            start = offset;
        }
        offset += svmx__align(copy->part->slots[i].bytes, layout->alignment);
    }
    copy->pieces[copy->piece_count].slot = slots;
}

static enum svmx__team_hands hands_for(struct svmx_executor *executor, uint64_t bytes) {
    if (bytes < (svmx__spin_is_on(&executor->waiting) ? CALL_ALL_BYTES : CALL_BYTES)) return SVMX__TEAM_LENT;
    return bytes > LEND_BYTES ? SVMX__TEAM_CALLED : SVMX__TEAM_ALL;
}

static void copy_all(struct copy *copy, uint64_t offset, uint64_t bytes) {
    if (bytes < ALONE_BYTES) {
        copy_slots(copy, 0, (uint64_t)copy->part->task_count * copy->part->layout->slot_count, offset);
        return;
    }
    cut(copy, offset, bytes / MAX_PIECES > PIECE_BYTES ? bytes / MAX_PIECES : PIECE_BYTES);
    struct svmx_executor *executor = copy->part->device->executor;
    svmx__team_run(&executor->team, copy_piece, copy, copy->piece_count, hands_for(executor, bytes));
}

void svmx__copy_in(const struct svmx__part *part, void *staging, uint64_t offset, uint64_t bytes) {
    struct copy copy = {.part = part, .staging = staging, .place = SVMX__PLACE_INPUT};
    copy_all(&copy, offset, bytes);
}

void svmx__copy_out(const struct svmx__part *part, const void *staging, uint64_t bytes) {
    struct copy copy = {.part = part, .staging = (unsigned char *)(uintptr_t)staging, .place = SVMX__PLACE_OUTPUT};
    copy_all(&copy, 0, bytes);
}

/*
 * copy.c: rows of a part between the caller's memory and a staging buffer, by several threads where that pays.
 *
 * Rows lie in the buffer one behind the other, each slot aligned as the layout says. All that is to be copied is cut into
 * pieces of some kilobytes, within slots too, and the executor's team takes them. Called by stage.c and collect.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    MAX_PIECES = 64,
    PIECE_BYTES = 32 << 10,
    ALONE_BYTES = 64 << 10,   /* less is not worth a lock */
    CALL_BYTES = 1 << 20,     /* from here on helpers are woken, */
    CALL_ALL_BYTES = 4 << 20, /* though not before this if a caller works along */
    LEND_BYTES = 8 << 20,     /* up to here callers do: they must not be held up for long */
    STREAM_BYTES = 64 << 20,  /* from here on caches do not hold what was copied until it is read, */
    STREAM_PIECE_BYTES = 4096 /* and pieces from here on are written past them */
};

/* ---- past the caches ---------------------------------------------------------------------------------------------- */

/* A store that reads no line that it is about to write whole saves a third of the traffic: 1.1 to 1.3 times as fast here on 256 MiB.
 * The C library does so by itself only in single copies of about a cache's size, and ours are cut into pieces. */
#if defined(__x86_64__)
static void stream(unsigned char *to, const unsigned char *from, size_t bytes) {
    const size_t head = (size_t)(-(uintptr_t)to & 63), whole = (bytes - head) & ~(size_t)63;
    memcpy(to, from, head);
    for (size_t at = head; at < head + whole; at += 64)
        for (size_t i = 0; i < 64; i += 16)
            _mm_stream_si128((void *)(to + at + i), _mm_loadu_si128((const void *)(from + at + i)));
    _mm_sfence(); /* before anybody is told that it is there */
    memcpy(to + head + whole, from + head + whole, bytes - head - whole);
}
#else
static void stream(unsigned char *to, const unsigned char *from, size_t bytes) { memcpy(to, from, bytes); }
#endif

static void put(unsigned char *to, const unsigned char *from, uint64_t bytes, bool streams) {
    if (streams && bytes >= STREAM_PIECE_BYTES)
        stream(to, from, (size_t)bytes);
    else
        memcpy(to, from, (size_t)bytes);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

/* Where a piece begins: number of the slot, bytes into it, and where the slot begins in the buffer. */
struct mark {
    uint64_t slot, skip, offset;
};

struct copy {
    const struct svmx__part *part;
    unsigned char *staging;
    enum svmx__place place; /* INPUT: towards the staging buffer; OUTPUT: from it */
    bool streams;
    uint32_t piece_count;
    struct mark pieces[MAX_PIECES + 1]; /* the last is the end */
};

/* Bytes [begin, end) of a slot that lies at `staging` in the buffer. */
static void copy_bytes(const struct copy *copy, const struct svmx_slot *slot, unsigned char *staging, uint64_t begin,
                       uint64_t end) {
    unsigned char *callers = (unsigned char *)(uintptr_t)slot->at;
    if (!callers || begin >= end) return; /* NULL: an output in the library's memory; it stays there */
    if (copy->place == SVMX__PLACE_INPUT)
        put(staging + begin, callers + begin, end - begin, copy->streams);
    else
        put(callers + begin, staging + begin, end - begin, copy->streams);
}

/* What lies between two marks. */
static void copy_between(const struct copy *copy, const struct mark *from, const struct mark *to) {
    const struct svmx__layout *layout = copy->part->layout;
    uint32_t column = (uint32_t)(from->slot % layout->slot_count);
    uint64_t offset = from->offset, skip = from->skip;
    for (uint64_t i = from->slot; i < to->slot + (to->skip > 0);
         i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        const struct svmx_slot *slot = &copy->part->slots[i];
        if (layout->place[column] != copy->place) continue;
        copy_bytes(copy, slot, copy->staging + offset, skip,
                   i == to->slot && to->skip < slot->bytes ? to->skip : slot->bytes);
        offset += svmx__align(slot->bytes, layout->alignment);
        skip = 0;
    }
}

static void copy_piece(void *user, uint32_t piece) {
    const struct copy *copy = user;
    copy_between(copy, &copy->pieces[piece], &copy->pieces[piece + 1]);
}

/* Finds where pieces begin; each but the last has `least` bytes or more. */
static void cut(struct copy *copy, uint64_t offset, uint64_t least) {
    const struct svmx__layout *layout = copy->part->layout;
    uint64_t slots = (uint64_t)copy->part->task_count * layout->slot_count, room = least;
    copy->pieces[0] = (struct mark){0, 0, offset};
    copy->piece_count = 1;
    uint32_t column = 0;
    for (uint64_t i = 0; i < slots; i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        if (layout->place[column] != copy->place) continue;
        uint64_t bytes = svmx__align(copy->part->slots[i].bytes, layout->alignment), at = 0;
        for (; bytes - at > room && copy->piece_count < MAX_PIECES; room = least) {
            at += room;
            copy->pieces[copy->piece_count++] = (struct mark){i, at, offset};
        }
        room -= room < bytes - at ? room : bytes - at;
        offset += bytes;
    }
    copy->pieces[copy->piece_count] = (struct mark){slots, 0, 0};
}

static enum svmx__team_hands hands_for(struct svmx_executor *executor, uint64_t bytes) {
    if (bytes < (svmx__spin_is_on(&executor->waiting) ? CALL_ALL_BYTES : CALL_BYTES)) return SVMX__TEAM_LENT;
    return bytes > LEND_BYTES ? SVMX__TEAM_CALLED : SVMX__TEAM_ALL;
}

static void copy_all(struct copy *copy, uint64_t offset, uint64_t bytes) {
    if (bytes < ALONE_BYTES) {
        const struct mark end = {(uint64_t)copy->part->task_count * copy->part->layout->slot_count, 0, 0};
        copy_between(copy, &(struct mark){0, 0, offset}, &end);
        return;
    }
    copy->streams = bytes >= STREAM_BYTES;
    const uint64_t share = svmx__align(bytes / MAX_PIECES, 4096);
    cut(copy, offset, share > PIECE_BYTES ? share : PIECE_BYTES);
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

/* ---- one piece of memory ---------------------------------------------------------------------------------------- */

struct run {
    unsigned char *to;
    const unsigned char *from;
    uint64_t bytes, share;
};

static void copy_share(void *user, uint32_t piece) {
    const struct run *run = user;
    const uint64_t at = piece * run->share, left = run->bytes - at;
    put(run->to + at, run->from + at, left < run->share ? left : run->share, run->bytes >= STREAM_BYTES);
}

void svmx__copy_run(struct svmx_executor *executor, void *to, const void *from, uint64_t bytes) {
    if (bytes < CALL_BYTES) {
        if (bytes) memcpy(to, from, (size_t)bytes);
        return;
    }
    struct run run = {to, from, bytes, svmx__align(bytes / MAX_PIECES + 1, 4096)};
    const uint32_t pieces = (uint32_t)((bytes + run.share - 1) / run.share);
    svmx__team_run(&executor->team, copy_share, &run, pieces, hands_for(executor, bytes));
}

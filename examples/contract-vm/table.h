/*
 * table.h: what a place in the state holds: a hash table from places to numbers.
 *
 * Two things here are such tables: the state of the world (state.h), where `before` is the value at the beginning of the
 * block, and the view that one transaction has of it (journal.h), where `before` is the value that it found. Entries
 * stand in the order in which they were added; they are never taken out one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_TABLE_H
#define CONTRACT_VM_TABLE_H

#include "u256.h"

/* What of an account a place is. */
enum place_kind {
    PLACE_STORAGE,   /* a slot */
    PLACE_BALANCE,   /* slot is 0 for this and the next */
    PLACE_NONCE,     /* transactions that were sent from it */
    PLACE_CODE,      /* state only: the number of its contract, from 1 */
    PLACE_TRANSIENT, /* journal only: a slot of EIP-1153, gone with the transaction */
    PLACE_TOUCHED    /* journal only: the account was touched, so that it is cheaper from now on */
};

struct place {
    uint8_t address[20];
    uint32_t kind; /* enum place_kind */
    struct u256 slot;
};

struct entry {
    struct place place;
    struct u256 before, value;
    uint64_t warm; /* journal only: EIP-2929 */
};

struct table {
    struct entry *entries;
    uint32_t *index; /* by hash: number of the entry + 1; 0: free. index_size is a power of two, or 0 */
    size_t count, room, index_size;
};

/* The slots of an account that are no storage have slot 0. */
struct place place_of(const uint8_t address[20], enum place_kind kind, struct u256 slot);

/* NULL: not in it. An entry stays where it is until the next table_add. */
struct entry *table_find(const struct table *table, const struct place *place);
/* A new one, all 0, for a place that is not in it. */
struct entry *table_add(struct table *table, const struct place *place);

void table_clear(struct table *table);
void table_free(struct table *table);

/* In the order of place, for qsort: the same on every machine and in every mode. */
int entry_compare(const void *a, const void *b);

#endif

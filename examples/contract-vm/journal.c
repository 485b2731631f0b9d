/*
 * journal.c: reads are noted, writes are kept back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "journal.h"

static bool is_of_the_state(const struct entry *entry) { return entry->place.kind <= PLACE_CODE; }

struct entry *journal_touch(struct journal *journal, const struct state *state, const uint8_t address[20],
                            enum place_kind kind, struct u256 slot) {
    const struct place place = place_of(address, kind, slot);
    struct entry *entry = table_find(&journal->table, &place);
    if (entry) return entry;
    entry = table_add(&journal->table, &place);
    if (is_of_the_state(entry)) entry->before = entry->value = state_read(state, &place);
    return entry;
}

bool journal_warm(struct entry *entry) {
    const bool was = entry->warm;
    entry->warm = 1;
    return was;
}

void journal_revert(struct journal *journal) {
    for (size_t i = 0; i < journal->table.count; i++)
        journal->table.entries[i].value = journal->table.entries[i].before;
}

bool journal_holds(const struct journal *journal, const struct state *state) {
    for (size_t i = 0; i < journal->table.count; i++) {
        const struct entry *entry = &journal->table.entries[i];
        if (is_of_the_state(entry) && !u256_equal(entry->before, state_read(state, &entry->place))) return false;
    }
    return true;
}

void journal_commit(const struct journal *journal, struct state *state) {
    for (size_t i = 0; i < journal->table.count; i++) {
        const struct entry *entry = &journal->table.entries[i];
        if (is_of_the_state(entry) && !u256_equal(entry->before, entry->value))
            state_write(state, &entry->place, entry->value);
    }
}

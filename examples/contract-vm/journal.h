/*
 * journal.h: the view that one transaction has of the state: what it found, and what it would write.
 *
 *   a place is touched for the first time    `before` = `value` = what the state holds now
 *   it is written                            `value` changes; the state does not
 *   the transaction is settled               every `before` is still what the state holds? then every `value` goes into
 *                                            it; else the transaction saw what it should not have, and runs again
 *
 * Since a write looks at the old value as well (it decides on gas), everything that a transaction writes it has read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_JOURNAL_H
#define CONTRACT_VM_JOURNAL_H

#include "state.h"

struct journal {
    struct table table;
};

/* The entry of a place, read from the state if it is new here. It stays where it is until the next call. */
struct entry *journal_touch(struct journal *journal, const struct state *state, const uint8_t address[20],
                            enum place_kind kind, struct u256 slot);

/* Was it touched before in this transaction (EIP-2929)? From now on it was. */
bool journal_warm(struct entry *entry);

/* Takes all writes back; what was found stays, because the result rests on it. */
void journal_revert(struct journal *journal);

/* Does the state still hold what was found? */
bool journal_holds(const struct journal *journal, const struct state *state);
/* Writes what changed into the state. */
void journal_commit(const struct journal *journal, struct state *state);

#endif

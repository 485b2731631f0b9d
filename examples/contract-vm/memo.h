/*
 * memo.h: answers that a transaction got, for the case that it has to run again.
 *
 * Hashes and signatures depend on their input and on nothing else. So a transaction that runs again, because an earlier
 * one changed what it had read, need not ask again for what it asks a second time: mostly places in mappings and
 * signatures, which is why only short inputs are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_MEMO_H
#define CONTRACT_VM_MEMO_H

#include "bytes.h"

#include <stdbool.h>

enum request_kind { REQUEST_KECCAK256, REQUEST_SHA256, REQUEST_RECOVER, REQUEST_KINDS };

enum { MEMO_INPUT = 128, MEMO_ANSWERS = 64 };

struct memo_answer {
    enum request_kind kind;
    bool is_there; /* false: of REQUEST_RECOVER, nobody signed that */
    uint32_t length;
    uint8_t input[MEMO_INPUT], answer[32];
};

struct memo {
    struct memo_answer *answers;
    size_t count;
    size_t next; /* which is likely to be asked for: answers are asked for in the order of the first run */
};

/* NULL: not known. */
static inline const struct memo_answer *memo_find(struct memo *memo, enum request_kind kind, const uint8_t *input,
                                                  size_t length) {
    for (size_t i = 0; i < memo->count; i++) {
        const size_t at = (memo->next + i) % memo->count;
        const struct memo_answer *answer = &memo->answers[at];
        if (answer->kind != kind || answer->length != length || memcmp(answer->input, input, length) != 0) continue;
        memo->next = at + 1;
        return answer;
    }
    return NULL;
}

/* answer: 32 bytes, or NULL. What is too long, or too much, is not kept. */
static inline void memo_keep(struct memo *memo, enum request_kind kind, const uint8_t *input, size_t length,
                             const uint8_t *answer) {
    if (length > MEMO_INPUT || memo->count == MEMO_ANSWERS) return;
    if ((memo->count & (memo->count - 1)) == 0)
        memo->answers = memory_resize(memo->answers, memo->count ? 2 * memo->count : 1, sizeof *memo->answers);
    struct memo_answer *kept = &memo->answers[memo->count++];
    *kept = (struct memo_answer){.kind = kind, .is_there = answer != NULL, .length = (uint32_t)length};
    if (length) memcpy(kept->input, input, length);
    if (answer) memcpy(kept->answer, answer, 32);
}

#endif

/*
 * words.h: policies, verdicts and reasons as the words that logs have: written by receipt_json.c, read by log_read.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_WORDS_H
#define SVMX_EXECUTOR_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* A line of a log is shorter than that, whatever names and reasons hold. */
enum { SVMX__RECEIPT_LINE = 4096 };

/* The word of a number; "none" for one that has none. Static text. */
const char *svmx__policy_word(uint32_t policy);
const char *svmx__why_word(uint32_t why);
const char *svmx__verdict_word(uint32_t verdict);
const char *svmx__place_word(uint32_t place);

/* The number of a word; of "none" 0. false: there is no such word. */
bool svmx__policy_number(const char *word, uint32_t *policy);
bool svmx__why_number(const char *word, uint32_t *why);
bool svmx__verdict_number(const char *word, uint32_t *verdict);
bool svmx__place_number(const char *word, uint32_t *place);

#endif

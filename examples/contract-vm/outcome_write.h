/*
 * outcome_write.h: what came of a block, for people and as JSON.
 *
 * All of the JSON is the same for every mode and every device, but for its last line, "how".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_OUTCOME_WRITE_H
#define CONTRACT_VM_OUTCOME_WRITE_H

#include "run.h"

void outcome_write_text(FILE *out, const struct outcome *outcome, const char *mode, double seconds);
void outcome_write_json(FILE *out, const struct outcome *outcome, const char *mode, double seconds);

#endif

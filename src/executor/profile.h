/*
 * profile.h: the model of an executor, kept from one process to the next.
 *
 *   open:   file -> cells of devices that are here, as they are -> model
 *   close:  model -> file: cells that this process measured replace those of the file, all others stay
 *
 * Device d of the model is device d of the executor. Called by executor.c at open and close, and by svmx_profile_save.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_PROFILE_H
#define SVMX_EXECUTOR_PROFILE_H

#include "executor/executor.h"
#include "executor/model.h"

/* Fills the model from the file, after devices were found and before the first batch. Cannot fail: a file that is not
 * there is no matter, and one that cannot be used is ignored with a word in the log. */
void svmx__profile_load(struct svmx_executor *executor, struct svmx__model *model);

/* Writes what was learned. OK also if there is nothing to keep: the profile is off, fewer than two devices beside the
 * reference take part, or nothing is new. Blocks on the disk. PERMISSION, SYSTEM, MEMORY. */
enum svmx_status svmx__profile_save(struct svmx_executor *executor, const struct svmx__model *model,
                                    struct svmx__text *why);

#endif

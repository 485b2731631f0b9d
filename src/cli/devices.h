/*
 * devices.h: what the files of `svmx devices` share.
 *
 *   cmd_devices.c    the command, as text and as JSON
 *   devices_probe.c  --probe: has every operation tried on every device
 *   devices_words.c  limits, floats, clocks and refused operations in words
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_DEVICES_H
#define SVMX_CLI_DEVICES_H

#include "session.h"
#include "table.h"

/* Tries what was not tried yet: compiles on devices, so it may take minutes. What fails there is no failure of this. */
enum cli_exit devices_probe(const struct cli_session *session);

/* After it: names the devices that were given up on the way, on standard error; then CLI_BAD_INPUT. */
enum cli_exit devices_given_up(const struct cli_session *session);

/* "untried", "proved", "unsupported", "failed", "quarantined". */
const char *devices_fitness(uint32_t fitness);

/* The flags of enum svmx_fp one by one, for JSON: the name of number i, or NULL past the last. */
const char *devices_fp_name(unsigned i);

/* Lines under the line of a device, at a column: in short what is refused; `all`: limits, clock, floats, and why. */
void devices_notes(struct cli_table *table, unsigned column, const svmx_executor_t *executor, uint32_t index,
                   const struct svmx_device *device, bool all);

/* "3 operations were not tried"; nothing if all were. */
void devices_untried_note(struct cli_table *table, unsigned column, const svmx_executor_t *executor,
                          const struct svmx_device *device);

#endif

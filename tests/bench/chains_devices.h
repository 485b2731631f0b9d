/*
 * chains_devices.h: rows of the suite chains that are counted, or modelled, on devices with memory of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_BENCH_CHAINS_DEVICES_H
#define TESTS_BENCH_CHAINS_DEVICES_H

#include "bench.h"

void chains_on_devices(struct bench *bench);

#endif

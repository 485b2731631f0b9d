/*
 * ops_others.c: see ops_others.h. Linux counts the ticks of all CPUs in the first line of /proc/stat.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops_others.h"

#include "bench.h"
#include <inttypes.h>
#include <unistd.h>

struct ops_others ops_others_now(void) {
    struct ops_others now = {.own_ns = bench_cpu_ns()};
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return now;
    /* user, nice, system, idle, iowait, irq, softirq, steal */
    uint64_t t[8];
    if (fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
        now.busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
        now.idle = t[3] + t[4];
    }
    fclose(file);
    return now;
}

double ops_others_since(const struct ops_others *then) {
    const struct ops_others now = ops_others_now();
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    double busy_s = (double)(now.busy - then->busy) * tick_s, idle_s = (double)(now.idle - then->idle) * tick_s;
    double others_s = busy_s - (double)(now.own_ns - then->own_ns) * 1e-9;
    return others_s > 0 && busy_s + idle_s > 0 ? others_s / (busy_s + idle_s) : 0;
}

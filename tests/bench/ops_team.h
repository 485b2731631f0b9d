/*
 * ops_team.h: threads for peers of suite ops that have none of their own: a piece of work is done by all at once.
 *
 * Members spin for a moment after each piece, as our own pool does, and then sleep: woken within a slice, out of
 * the way of other lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_OPS_TEAM_H
#define SVMX_TESTS_BENCH_OPS_TEAM_H

#include <stdint.h>

struct ops_team;

/* The part of member `index` of `count`; the caller of ops_team_run is member 0. */
typedef void (*ops_part_fn)(void *user, uint32_t index, uint32_t count);

/* A team of `count`, the caller included, at least 1. Ends the program when there are no threads to be had. */
struct ops_team *ops_team_open(uint32_t count);
void ops_team_close(struct ops_team *team);

uint32_t ops_team_count(const struct ops_team *team);

/* Returns when all parts are done. */
void ops_team_run(struct ops_team *team, ops_part_fn part, void *user);

/* The first of `items` that member `index` of `count` has to do; it ends where the next begins. */
static inline uint64_t ops_share(uint64_t items, uint32_t index, uint32_t count) { return items * index / count; }

#endif

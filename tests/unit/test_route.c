/*
 * test_route.c: stage 3: who may by the policy, who is ready, who comes first; after a failure, the next that is inline.
 * Who finishes first is test_choice.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/batch.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <criterion/criterion.h>
#include <string.h>
#include <svmx/ops.h>

/* An executor of five devices that are only described: fast, faster, inline, inline, the reference. */
enum { DEVICES = 5, OP = SVMX_OP_VEC_ADD_F32, BUCKET = 16384 };
static struct svmx_executor *ours;
static struct svmx__device devices[DEVICES];
static struct svmx_batch ours_batch;
static struct svmx__part part;

static void set_serves(int device, bool serves) {
    atomic_store(&devices[device].health.state, serves ? SVMX_HEALTHY : SVMX_RESTING);
}

static void make(void) {
    static struct svmx_executor made;
    ours = &made;
    made.devices = devices;
    made.device_count = DEVICES;
    for (uint32_t i = 0; i < DEVICES; i++) {
        devices[i].executor = ours;
        devices[i].id = i;
        devices[i].inline_ = i >= 2;
        devices[i].first.device = &devices[i];
        svmx__health_init(&devices[i].health);
        atomic_init(&devices[i].life, &devices[i].first);
        pthread_mutex_init(&devices[i].builder.lock, NULL);
        devices[i].builder.closing = true; /* requests are taken and go nowhere: there is no thread */
    }
    svmx__recovery_init(ours);
    svmx__route_init(ours);
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        made.policies[op] = (struct svmx__policy){.kind = SVMX_POLICY_ORDER, .high = UINT64_MAX};
    ours_batch.executor = ours;
    ours_batch.part_count = 1;
    part = (struct svmx__part){
        .batch = &ours_batch, .op = svmx__op_by_id(OP), .units = 1000, .work = 1000, .bucket = BUCKET};
    cr_assert_eq(svmx__pipeline_cache_init(&made.pipelines), SVMX_OK);
    svmx__route_publish(ours, OP);
}

TestSuite(route, .init = make);

/* As if the builder had filed it: for the bucket of these tests, or for all of one's operations. */
static void built(uint32_t device, uint32_t op) {
    const struct svmx__pipeline value = {.key = {device, op, BUCKET, 0}, .bounded = true}, *entry;
    bool filed;
    cr_assert_eq(svmx__pipeline_cache_insert(&ours->pipelines, &value, &entry, &filed), SVMX_OK);
}

static uint32_t routed(void) {
    svmx__route(&part);
    return part.device->id;
}

Test(route, the_first_that_serves) {
    built(0, OP);
    built(1, OP);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 0);
    set_serves(0, false);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 1);
    atomic_store(&devices[1].fitness[OP], SVMX__UNFIT);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 2);
    set_serves(0, true);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 0, "it came back");
}

Test(route, what_computes_here_answers_while_a_pipeline_is_built) {
    cr_assert_eq(routed(), 2, "the first that needs no building");
    cr_assert_not(part.cold);
    built(0, OP);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 0);
    part.bucket = 2 * BUCKET;
    cr_assert_eq(routed(), 2, "another bucket is another pipeline");
}

Test(route, with_the_reference_alone_a_part_waits_for_its_pipeline) {
    for (int i = 2; i < DEVICES - 1; i++) set_serves(i, false);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 0);
    cr_assert(part.cold);
    built(0, OP);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), 0);
    cr_assert_not(part.cold);
}

Test(route, unfit_is_for_one_operation) {
    built(0, SVMX_OP_SHA256);
    built(1, OP);
    atomic_store(&devices[0].fitness[OP], SVMX__UNFIT);
    svmx__route_publish(ours, OP);
    svmx__route_publish(ours, SVMX_OP_SHA256);
    cr_assert_eq(routed(), 1);
    part.op = svmx__op_by_id(SVMX_OP_SHA256);
    cr_assert_eq(routed(), 0);
}

Test(route, the_reference_serves_whatever_is_said_of_it) {
    for (int i = 0; i < DEVICES; i++) set_serves(i, false);
    svmx__route_publish(ours, OP);
    cr_assert_eq(routed(), DEVICES - 1);
}

Test(route, no_failure_no_second_device) {
    part.device = &devices[1];
    part.status = SVMX_OK;
    cr_assert_not(svmx__route_again(&part));
    cr_assert_eq(part.redone, 0);
    cr_assert_eq(part.device, &devices[1]);
}

Test(route, after_a_failure_the_inline_ones_in_order_each_once) {
    part.device = &devices[0];
    part.status = SVMX_ERR_BACKEND;
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.device, &devices[2], "one that needs a queue is not asked: this thread is not its submitter");
    cr_assert_eq(part.redone, 1);
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.device, &devices[3]);
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.device, &devices[4]);
    cr_assert_eq(part.redone, 3);
    cr_assert_not(svmx__route_again(&part), "there is nobody after the reference");
    cr_assert_eq(atomic_load(&ours->fallbacks), 4);
    cr_assert_eq(atomic_load(&devices[0].tallies[OP].failures[SVMX_FAILED_BACKEND]), 1);
}

Test(route, who_does_not_serve_is_left_out) {
    set_serves(2, false);
    atomic_store(&devices[3].fitness[OP], SVMX__UNFIT);
    part.device = &devices[1];
    part.status = SVMX_TIMEOUT;
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.device, &devices[4]);
}

Test(route, an_operation_that_a_device_does_not_have_is_no_failure) {
    const struct svmx__pipeline refused = {.verdict = SVMX_ERR_UNSUPPORTED};
    part.device = &devices[2];
    part.status = SVMX_ERR_UNSUPPORTED;
    part.pipeline = &refused;
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.redone, 0);
    cr_assert_eq(atomic_load(&ours->fallbacks), 0);
    cr_assert_null(part.pipeline, "another device's pipeline");
}

Test(route, unsupported_after_it_was_built_is_a_failure) {
    const struct svmx__pipeline built = {.verdict = SVMX_OK};
    part.device = &devices[2];
    part.status = SVMX_ERR_UNSUPPORTED;
    part.pipeline = &built;
    cr_assert(svmx__route_again(&part));
    cr_assert_eq(part.redone, 1);
    cr_assert_eq(atomic_load(&ours->fallbacks), 1);
}

/* ---- policies ---- */

static void all_built(void) {
    built(0, OP);
    built(1, OP);
    svmx__route_publish(ours, OP);
}

static uint32_t routed_by(uint32_t policy) {
    ours_batch.policy = policy;
    ours_batch.decides = policy != 0;
    const uint32_t device = routed();
    cr_assert_eq(part.policy, policy);
    return device;
}

Test(route, a_policy_says_who_may) {
    all_built();
    cr_assert_eq(routed_by(SVMX_POLICY_ORDER), 0);
    cr_assert_eq(routed_by(SVMX_POLICY_CPU), 2);
    cr_assert_eq(routed_by(SVMX_POLICY_GPU), 0);
    cr_assert_eq(routed_by(SVMX_POLICY_AUTO), 2, "nothing is known: the CPU");
    ours->policies[OP] = (struct svmx__policy){.kind = SVMX_POLICY_AUTO, .low = 1000, .high = 1000};
    cr_assert_eq(routed_by(SVMX_POLICY_AUTO), 0, "1000 units and more go elsewhere");
    part.units = 999;
    cr_assert_eq(routed_by(SVMX_POLICY_AUTO), 2);
}

Test(route, gpu_waits_for_its_pipeline_and_fails_where_there_is_none) {
    cr_assert_eq(routed_by(SVMX_POLICY_GPU), 0);
    cr_assert(part.cold, "no CPU answers meanwhile");
    for (int i = 0; i < 2; i++) set_serves(i, false);
    svmx__route_publish(ours, OP);
    (void)routed_by(SVMX_POLICY_GPU);
    cr_assert(part.refused);
    cr_assert_eq(part.status, SVMX_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(part.reason, "policy is gpu"));
}

Test(route, gpu_is_not_redone_on_a_cpu) {
    all_built();
    (void)routed_by(SVMX_POLICY_GPU);
    part.status = SVMX_ERR_BACKEND;
    cr_assert_not(svmx__route_again(&part));
    cr_assert_eq(part.device, &devices[0]);
    cr_assert_eq(atomic_load(&devices[0].tallies[OP].failures[SVMX_FAILED_BACKEND]), 1);
}

Test(route, a_cpu_without_the_operation_leaves_it_to_the_reference) {
    for (int i = 2; i < 4; i++) atomic_store(&devices[i].fitness[OP], SVMX__UNFIT);
    all_built();
    cr_assert_eq(routed_by(SVMX_POLICY_CPU), DEVICES - 1);
    cr_assert_not(part.refused);
}

/* What was measured, as learn would say it. */
static void measured(uint32_t device, uint64_t ns) {
    const struct svmx__sample sample = {.compute_ns = ns};
    const struct svmx__load load = {part.units, part.work, 0};
    for (int i = 0; i < 5; i++) cr_assert(svmx__model_learn(&ours->model, OP, device, &load, &sample));
}

Test(route, auto_goes_where_it_was_measured_to_be_faster) {
    all_built();
    measured(1, 1000);
    measured(2, 5000);
    cr_assert_eq(routed_by(SVMX_POLICY_AUTO), 1);
    cr_assert_eq(part.answer.why, SVMX_WHY_BEST);
    cr_assert(part.chosen);
}

Test(route, auto_asks_for_the_pipeline_of_the_best_and_takes_the_next_meanwhile) {
    measured(1, 1000);
    measured(2, 5000);
    cr_assert_eq(routed_by(SVMX_POLICY_AUTO), 2);
    cr_assert_not(part.cold);
    cr_assert_eq(atomic_load(&ours->choices.backlog_ns[1]), 0, "it was not sent there");
    cr_assert_eq((uint64_t)part.answer.expected_ns, 5000);
}

/*
 * test_routing_virtual.c: the router on five modelled machines, in virtual time: what `make bench SUITE=routing` measures,
 * asserted. The same numbers everywhere, whatever the machine does meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../bench/regret.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static void regret_is_small(const char *name) {
    struct sim_model machine;
    regret_machine(&machine, name);
    for (uint32_t kind = 0; kind < WORKLOAD_KINDS; kind++) {
        const struct regret regret = regret_of(&machine, kind, REGRET_BATCHES);
        cr_assert_leq(regret.warm, 1.03, "%s, %s: %g after warm-up", name, workload_name(kind), regret.warm);
        cr_assert_leq(regret.all, 1.10, "%s, %s: %g with learning", name, workload_name(kind), regret.all);
        cr_assert_leq(regret.tries, 0.0105, "%s, %s: %g of the time for trying", name, workload_name(kind),
                      regret.tries);
    }
}

Test(routing_virtual, regret_on_dx12_laptop) { regret_is_small("dx12-laptop"); }
Test(routing_virtual, regret_on_integrated) { regret_is_small("integrated"); }
Test(routing_virtual, regret_on_pcie4_discrete) { regret_is_small("pcie4-discrete"); }
Test(routing_virtual, regret_on_rtx4070_tiny) { regret_is_small("rtx4070-tiny"); }
Test(routing_virtual, regret_on_rtx4090_wgpu) { regret_is_small("rtx4090-wgpu"); }

Test(routing_virtual, the_better_fixed_choice_loses_where_it_matters) {
    struct sim_model machine;
    regret_machine(&machine, "rtx4070-tiny");
    cr_assert_gt(regret_of(&machine, WORKLOAD_MIXED, 2048).fixed, 1.1);
}

Test(routing_virtual, vector_add_never_leaves_the_cpu_of_rtx4090_wgpu) {
    static const double sizes[] = {1e3, 1e4, 1e5, 2.5e5, 5e5, 1e6};
    struct sim_model machine;
    regret_machine(&machine, "rtx4090-wgpu");
    cr_assert_eq(regret_on_gpu(&machine, SVMX_OP_VEC_ADD_F32, sizes, 6, REGRET_BATCHES), 0);
}

Test(routing_virtual, matmul_leaves_it_between_100_and_500) {
    static const double orders[] = {50, 100, 150, 200, 250, 300, 400, 500, 1000};
    struct sim_model machine;
    regret_machine(&machine, "rtx4090-wgpu");
    const double order = regret_first_on_gpu(&machine, SVMX_OP_MATMUL_F32, orders, 9, REGRET_BATCHES);
    cr_assert_gt(order, 100);
    cr_assert_leq(order, 500);
}

Test(routing_virtual, seven_sizes_stay_on_the_cpu_of_dx12_laptop) {
    static const double sizes[] = {2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6};
    struct sim_model machine;
    regret_machine(&machine, "dx12-laptop");
    cr_assert_eq(regret_on_gpu(&machine, SVMX_OP_VEC_ADD_F32, sizes, 7, REGRET_BATCHES), 0);
}

Test(routing_virtual, a_crossover_does_not_flap) {
    static const double times[] = {0.95, 1, 1 / 0.9, 1.2};
    struct sim_model machine;
    const char *name;
    for (uint32_t i = 0; (name = sim_model_builtin_name(i)); i++) {
        regret_machine(&machine, name);
        for (int k = 0; k < 4; k++) cr_assert_lt(regret_flaps(&machine, times[k], 5000), 1, "%s at %g", name, times[k]);
    }
}

Test(routing_virtual, nor_in_heavy_noise) {
    struct sim_model machine;
    regret_machine(&machine, "pcie4-discrete");
    for (uint32_t side = 0; side < SIM_SIDES; side++) {
        machine.sides[side].jitter = 0.3;
        machine.sides[side].outlier_chance = 0.02;
        machine.sides[side].outlier_factor = 20;
    }
    cr_assert_lt(regret_flaps(&machine, 1, 20000), 1);
    cr_assert_lt(regret_flaps(&machine, 1 / 0.9, 20000), 1);
}

Test(routing_virtual, a_device_is_left_within_16_batches_and_returned_to) {
    struct sim_model machine;
    const char *name;
    for (uint32_t i = 0; (name = sim_model_builtin_name(i)); i++) {
        regret_machine(&machine, name);
        for (uint32_t slow = 1000; slow < 1300; slow += 60) {
            const struct regret_drift drift = regret_of_drift(&machine, slow);
            cr_assert_leq(drift.until_left, 16, "%s: %u", name, drift.until_left);
            cr_assert_leq(drift.until_returned, 512, "%s: %u", name, drift.until_returned);
        }
    }
}

Test(routing_virtual, the_same_run_gives_the_same_numbers) {
    struct sim_model machine;
    regret_machine(&machine, "integrated");
    const struct regret first = regret_of(&machine, WORKLOAD_CONTENTION, 1024),
                        second = regret_of(&machine, WORKLOAD_CONTENTION, 1024);
    cr_assert_eq(first.all, second.all);
    cr_assert_eq(first.warm, second.warm);
}

Test(routing_virtual, the_oracle_is_the_better_device_where_there_is_one_size) {
    struct workload workload;
    struct sim_model machine;
    regret_machine(&machine, "rtx4070-tiny");
    workload_make(&workload, WORKLOAD_STEADY, &machine, 512);
    struct virtual_record *oracle = calloc(512, sizeof *oracle), *gpu = calloc(512, sizeof *gpu);
    cr_assert(virtual_run(&machine, &workload.workload, VIRTUAL_ORACLE, NULL, oracle));
    cr_assert(virtual_run(&machine, &workload.workload, VIRTUAL_ALWAYS_GPU, NULL, gpu));
    for (uint32_t i = 1; i < 512; i++) { /* the first waits for nothing: its pipeline is being built */
        if (oracle[i].device == VIRTUAL_CPU) continue;
        cr_assert_eq(oracle[i].ns, gpu[i].ns, "batch %u", i);
    }
    cr_assert_eq(oracle[511].device, VIRTUAL_GPU);
    free(oracle);
    free(gpu);
}

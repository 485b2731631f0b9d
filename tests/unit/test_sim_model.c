/*
 * test_sim_model.c: plugins/sim/model.c, parse.c, scan.c and the models that are shipped: whatever a text gets wrong is
 * refused with its line, and the figures that models were made from come out again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct sim_model model;
static char why[400];

/* ---- texts ------------------------------------------------------------------------------------------------ */

static const char whole[] = "name mine\n"
                            "memory separate\n"
                            "create 1 ms\n"
                            "upload 10 us\n"
                            "dispatch 20 us\n"
                            "readback 30 us\n"
                            "upload_rate 2 GB/s\n"
                            "readback_rate 4 GB/s\n"
                            "op * rate 2 work/ns\n"
                            "cpu op * rate 1 work/ns\n";

static bool parse(const char *text) {
    why[0] = '\0';
    return sim_model_parse(&model, text, strlen(text), why, sizeof why);
}

/* The whole text with more lines behind it. */
static bool parse_with(const char *more) {
    char text[4096];
    (void)snprintf(text, sizeof text, "%s%s", whole, more);
    return parse(text);
}

/* The whole text with another line in place of the one that begins with the first word of `line`. */
static bool parse_but(const char *line) {
    char text[4096] = "";
    const size_t word = strcspn(line, " ");
    for (const char *at = whole; *at; at += strcspn(at, "\n") + 1) {
        const bool same = strncmp(at, line, word) == 0 && at[word] == ' ';
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s\n",
                       same ? (int)strlen(line) : (int)strcspn(at, "\n"), same ? line : at);
    }
    return parse(text);
}

/* The whole text without the line that begins so. */
static bool parse_without(const char *start) {
    char text[4096] = "";
    for (const char *at = whole; *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, start, strlen(start)) != 0)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s\n", (int)strcspn(at, "\n"), at);
    return parse(text);
}

static void load_builtin(const char *name) {
    const char *text = sim_model_builtin(name);
    cr_assert(text, "%s is not shipped", name);
    cr_assert(parse(text), "%s: %s", name, why);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

Test(sim_model, a_whole_text_says_what_it_says) {
    cr_assert(parse(whole), "%s", why);
    const struct sim_device *gpu = &model.sides[SIM_GPU];
    cr_expect_str_eq(model.name, "mine");
    cr_expect_not(model.shares_memory);
    cr_expect_eq(model.seed, 1);
    cr_expect_eq(gpu->create_ns, 1e6);
    cr_expect_eq(gpu->upload_ns, 1e4);
    cr_expect_eq(gpu->dispatch_ns, 2e4);
    cr_expect_eq(gpu->readback_ns, 3e4);
    cr_expect_eq(gpu->upload_bytes_per_ns, 2);
    cr_expect_eq(gpu->readback_bytes_per_ns, 4);
    cr_expect_eq(gpu->op_count, 1);
    cr_expect_eq(model.sides[SIM_CPU].op_count, 1);
}

Test(sim_model, blanks_comments_line_ends_and_units_are_read_as_people_write_them) {
    cr_expect(parse_but("create   1ms # quick"), "%s", why);
    cr_expect_eq(model.sides[SIM_GPU].create_ns, 1e6);
    cr_expect(parse_with(" \t task\t5 ns \t"), "%s", why);
    cr_expect_eq(model.sides[SIM_GPU].task_ns, 5);
    cr_expect(parse_but("create 0.0005 s"), "%s", why);
    cr_expect_eq(model.sides[SIM_GPU].create_ns, 5e5);
    cr_expect(parse_but("upload_rate 500 MB/s"), "%s", why);
    cr_expect_float_eq(model.sides[SIM_GPU].upload_bytes_per_ns, 0.5, 1e-12);
    cr_expect(parse_but("upload_rate 3 bytes/ns"), "%s", why);
    cr_expect_eq(model.sides[SIM_GPU].upload_bytes_per_ns, 3);
    cr_expect(parse_with("# \xc3\xa9t\xc3\xa9\r\n\r\n  \t\njitter 2%\r\n"), "%s", why);
    cr_expect_float_eq(model.sides[SIM_GPU].jitter, 0.02, 1e-12);
    cr_expect(parse_with("at 2.5s slow 10x\nat launch 7 slow 2 x"), "%s", why); /* and no line end at the end */
    cr_expect_eq(model.sides[SIM_GPU].at_ns.list[0].from, UINT64_C(2500000000));
    cr_expect_eq(model.sides[SIM_GPU].at_launch.list[0].slow, 2);
}

/* A line that is refused, and what has to be in the refusal. */
struct refusal {
    const char *line, *says;
};

static const struct refusal behind[] = {
    {"nmae mine", "no known word"},
    {"cpu", "no known word"},
    {"cpu nonsense 3", "no known word"},
    {"a-word-that-is-longer-than-any-name-of-anything-may-be 1", "no known word"},
    {"op\x01", "no plain text"},
    {"op \xff rate 1 work/ns", "no plain text"},
    {"name other", "second time"},
    {"memory shared", "second time"},
    {"dispatch 1 us", "second time"},
    {"op * rate 1 work/ns", "op * stands here a second time"},
    {"cpu op * rate 1 work/ns", "op * stands here a second time"},
    {"cpu upload 1 us", "the CPU has no 'upload'"},
    {"cpu memory shared", "the CPU has no 'memory'"},
    {"cpu name x", "the CPU has no 'name'"},
    {"task", "task is missing"},
    {"task 5", "no unit of time"},
    {"task 5 hours", "no unit of time"},
    {"task 5 ns more", "does not belong"},
    {"task 5 ns, 6 ns", "does not belong"},
    {"task -5 ns", "not negative"},
    {"task +5 ns", "plain number"},
    {"task nan ns", "plain number"},
    {"task inf ns", "plain number"},
    {"task 0x10 ns", "no unit of time"},
    {"task 1e9 ns", "no unit of time"},
    {"task 1..2 ns", "plain number"},
    {"task 1.2.3 ns", "plain number"},
    {"task 1.ns", "plain number"},
    {"task .5 ns", "plain number"},
    {"task 1,5 ns", "no unit of time"},
    {"task 1234567890123456 ns", "more than 15 digits"},
    {"task 9999999 s", "at most 1000000 s"},
    {"seed 1.5", "whole number"},
    {"seed -1", "not negative"},
    {"copy_engines 1", "write 2, one for each way, or 0"},
    {"copy_engines 3", "from 0 to 2"},
    {"cpu copy_engines 2", "the CPU has no 'copy_engines'"},
    {"op", "no operation is named"},
    {"op Vec rate 1 work/ns", "no operation is named"},
    {"op vec", "neither rate nor table"},
    {"op vec speed 1", "neither rate nor table"},
    {"op vec rate", "the rate is missing"},
    {"op vec rate 0 work/ns", "from 1e-09"},
    {"op vec rate 1", "write work/ns"},
    {"op vec rate 1 work/ns fixed 1", "no unit of time"},
    {"op vec rate 1 work/ns lanes 0", "lanes is 0"},
    {"op vec table", "the work of a point is missing"},
    {"op vec table 0 1 us", "the work of a point is 0"},
    {"op vec table 10 0 us", "takes no time"},
    {"op vec table 10 1 us,", "the work of a point is missing"},
    {"op vec table 10 1 us, 10 2 us", "ascending"},
    {"op vec table 10 1 us, 5 2 us", "ascending"},
    {"op vec table 1 1 us,2 1 us,3 1 us,4 1 us,5 1 us,6 1 us,7 1 us,8 1 us,9 1 us,10 1 us,11 1 us,12 1 us,13 1 us,"
     "14 1 us,15 1 us,16 1 us,17 1 us",
     "more than 16 points"},
    {"contention 1 5 us", "submitters is 1"},
    {"contention 24", "the time of a point is missing"},
    {"contention 24 5 us, 12 5 us", "ascending"},
    {"jitter 3", "write %"},
    {"jitter 300 %", "from 0 to 100"},
    {"outliers 1 %", "the factor of outliers is missing"},
    {"outliers 1 % 10", "write x"},
    {"outliers 1 % 0 x", "from 0.001"},
    {"outliers 101 % 2 x", "from 0 to 100"},
    {"at 1 s", "what changes is missing"},
    {"at 1 s fast 2 x", "what changes is missing"},
    {"at 1 slow 2 x", "no unit of time"},
    {"at launch x slow 2 x", "the launch is 'x'"},
    {"at launch 1.5 slow 2 x", "whole number"},
    {"at 1 s slow 0 x", "slow is 0"},
    {"devices 0", "from 1 to 16"},
    {"devices 17", "from 1 to 16"},
    {"bus none", "bus is neither"},
    {"device 16 slow 2 x", "from 0 to 15"},
    {"device 1 fast 2 x", "what is different is missing"},
    {"at launch 3 lost", "the number of a device is missing"},
    {"cpu at 1 s lost 0", "never lost"},
    {"cpu devices 2", "the CPU has no 'devices'"},
};

Test(sim_model, what_is_wrong_is_refused_with_its_line_and_leaves_the_model_alone) {
    cr_assert(parse(whole), "%s", why);
    const struct sim_model before = model;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        cr_expect_not(parse_with(behind[i].line), "taken: %s", behind[i].line);
        cr_expect(strncmp(why, "line 11: ", 9) == 0, "%s: %s", behind[i].line, why);
        cr_expect(strstr(why, behind[i].says), "%s: %s", behind[i].line, why);
        cr_expect_eq(memcmp(&model, &before, sizeof model), 0, "%s: the model was changed", behind[i].line);
    }
}

static const struct refusal instead[] = {
    {"name", "the name is not one"},
    {"name Mine", "the name is not one"},
    {"name -x", "the name is not one"},
    {"name 4090", "the name is not one"}, /* SUPERVM_BACKENDS=sim:4090 would be device number 4090 */
    {"name a b", "does not belong"},
    {"name a-name-that-is-longer-than-names-of-models-may-be-", "the name is not one"},
    {"memory both", "shared or separate"},
    {"memory shared", "leave it out, or write memory separate"},
    {"upload_rate 0 GB/s", "from 0.001"},
    {"upload_rate 5", "GB/s, MB/s or bytes/ns"},
    {"upload_rate 5 Gbit/s", "GB/s, MB/s or bytes/ns"},
};

Test(sim_model, lines_that_have_to_be_there_have_to_be_right) {
    for (size_t i = 0; i < sizeof instead / sizeof *instead; i++) {
        cr_expect_not(parse_but(instead[i].line), "taken: %s", instead[i].line);
        cr_expect(strstr(why, instead[i].says), "%s: %s", instead[i].line, why);
    }
}

Test(sim_model, what_is_missing_is_named_with_an_example) {
    static const char *const needed[] = {"name",     "memory",      "create",        "upload", "dispatch",
                                         "readback", "upload_rate", "readback_rate", "op *",   "cpu op *"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char start[32], quoted[32];
        (void)snprintf(start, sizeof start, "%s ", needed[i]);
        (void)snprintf(quoted, sizeof quoted, "'%s'", strcmp(needed[i], "op *") == 0 ? "op" : needed[i]);
        cr_expect_not(parse_without(start), "taken without %s", needed[i]);
        cr_expect(strstr(why, "there is no line") && strstr(why, quoted) && strstr(why, "write one like"), "%s: %s",
                  needed[i], why);
    }
    cr_expect_not(parse(""));
    cr_expect_not(sim_model_parse(&model, NULL, 0, why, sizeof why));
}

Test(sim_model, limits_of_counts_and_of_length_are_kept) {
    static char text[SIM_MAX_TEXT + 2];
    (void)snprintf(text, sizeof text, "%s", whole);
    for (int i = 0; i < SIM_MAX_OPS - 1; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "op op_%d rate 1 work/ns\n", i);
    cr_expect(parse(text), "%s", why);
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "op one_more rate 1 work/ns\n");
    cr_expect_not(parse(text));
    cr_expect(strstr(why, "more than 64 operations"), "%s", why);
    (void)snprintf(text, sizeof text, "%s", whole);
    for (int i = 0; i <= SIM_MAX_CHANGES; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "at launch %d slow 2 x\n", i);
    cr_expect_not(parse(text));
    cr_expect(strstr(why, "more than 16 changes"), "%s", why);
    cr_expect_not(parse_with("at 2 s slow 2 x\nat 1 s slow 1 x\n"));
    cr_expect(strstr(why, "line 12: ") && strstr(why, "ascending"), "%s", why);
    memset(text, '\n', sizeof text);
    cr_expect_not(sim_model_parse(&model, text, sizeof text, why, sizeof why));
    cr_expect(strstr(why, "more than 65536 bytes"), "%s", why);
}

Test(sim_model, a_refusal_fits_into_any_room) {
    char small[12];
    memset(small, 'z', sizeof small);
    for (size_t room = 1; room < sizeof small; room++) {
        cr_expect_not(sim_model_parse(&model, "nonsense", 8, small, room));
        cr_expect(memchr(small, '\0', room), "no end within %zu bytes", room);
        cr_expect_eq(small[room], 'z', "written past %zu bytes", room);
    }
}

/* ---- costs ------------------------------------------------------------------------------------------------ */

static struct sim_cost cost_at(enum sim_side side, struct sim_load load, uint64_t now_ns, uint64_t launch) {
    struct sim_cost cost;
    sim_model_cost(&model, side, &load, now_ns, launch, NULL, &cost);
    return cost;
}

static struct sim_load adds(uint64_t n) { return (struct sim_load){"vec_add_f32", n, n, 8 * n, 4 * n, 1, 1}; }

static struct sim_load product(uint64_t order) {
    return (struct sim_load){
        "matmul_f32", 1 + order * order / 64, order * order * order, 8 * order * order, 4 * order * order, 1, 1};
}

static uint64_t expected(enum sim_side side, struct sim_load load, bool first_use) {
    const struct sim_cost cost = cost_at(side, load, 0, 0);
    return sim_cost_total(&cost, first_use);
}

Test(sim_model, parts_of_a_cost) {
    cr_assert(parse_with("task 7 ns\nop known rate 4 work/ns fixed 100 ns\ncpu dispatch 3 us\n"), "%s", why);
    struct sim_cost cost = cost_at(SIM_GPU, (struct sim_load){"other", 1000, 1000, 4000, 8000, 3, 1}, 0, 0);
    cr_expect_eq(cost.create_ns, 1000000);
    cr_expect_eq(cost.upload_ns, 10000 + 2000);
    cr_expect_eq(cost.dispatch_ns, 20000 + 3 * 7);
    cr_expect_eq(cost.compute_ns, 500);
    cr_expect_eq(cost.readback_ns, 30000 + 2000);
    cr_expect_eq(sim_cost_total(&cost, false), 12000 + 20021 + 500 + 32000);
    cr_expect_eq(sim_cost_total(&cost, true), 1000000 + 12000 + 20021 + 500 + 32000);
    cost = cost_at(SIM_GPU, (struct sim_load){.op = "known", .units = 1000, .work = 1000, .tasks = 1}, 0, 0);
    cr_expect_eq(cost.compute_ns, 100 + 250);
    cr_expect_eq(cost.upload_ns + cost.readback_ns, 0, "no bytes, no copy");
    cost = cost_at(SIM_GPU, (struct sim_load){.bytes_in = 2000}, 0, 0);
    cr_expect_eq(cost.dispatch_ns + cost.compute_ns, 0, "no operation, no dispatch");
    cr_expect_eq(cost.upload_ns, 11000);
    cost = cost_at(SIM_CPU, (struct sim_load){"known", 1000, 1000, 4000, 8000, 3, 1}, 0, 0);
    cr_expect_eq(sim_cost_total(&cost, true), 3000 + 1000, "a CPU copies nothing");
}

/* ---- engines ---------------------------------------------------------------------------------------------- */

static const struct sim_cost three_ways = {.upload_ns = 30, .dispatch_ns = 5, .compute_ns = 15, .readback_ns = 10};

Test(sim_model, without_copy_engines_launches_follow_each_other) {
    struct sim_engines engines = {0};
    cr_assert(parse(whole), "%s", why);
    cr_expect_eq(sim_engines_take(&model, &engines, &three_ways, 100), 160);
    cr_expect_eq(sim_engines_take(&model, &engines, &three_ways, 100), 220);
    cr_expect_eq(sim_engines_take(&model, &engines, &three_ways, 1000), 1060);
}

Test(sim_model, copy_engines_overlap_launches_up_to_the_slowest) {
    struct sim_engines engines = {0};
    cr_assert(parse_with("copy_engines 2\n"), "%s", why);
    cr_assert_eq(model.copy_engines, 2);
    for (uint64_t i = 0; i < 10; i++)
        cr_expect_eq(sim_engines_take(&model, &engines, &three_ways, 100), 160 + 30 * i, "launch %zu", (size_t)i);
    const struct sim_cost long_one = {.compute_ns = 1000}, nothing = {0};
    cr_expect_eq(sim_engines_take(&model, &engines, &long_one, 5000), 6000);
    cr_expect_eq(sim_engines_take(&model, &engines, &three_ways, 5000), 6030, "it was uploaded meanwhile");
    cr_expect_eq(sim_engines_take(&model, &engines, &nothing, 5000), 6030, "results come in order");
}

Test(sim_model, devices_share_a_bus_each_way) {
    static struct sim_bus bus;
    struct sim_engines engines[3] = {{.bus = &bus}, {.bus = &bus}, {.bus = NULL}};
    cr_assert(parse_with("copy_engines 2\ndevices 3\nbus shared\n"), "%s", why);
    cr_assert_eq(model.devices, 3);
    cr_assert(model.shares_bus);
    cr_expect_eq(sim_engines_take(&model, &engines[0], &three_ways, 100), 160);
    cr_expect_eq(sim_engines_take(&model, &engines[1], &three_ways, 100), 190, "its upload comes behind");
    cr_expect_eq(sim_engines_take(&model, &engines[2], &three_ways, 100), 160, "it has a bus of its own");
    const struct sim_cost back = {.readback_ns = 10}, slow = {.compute_ns = 1000, .readback_ns = 10};
    cr_expect_eq(sim_engines_take(&model, &engines[0], &slow, 200), 1210);
    cr_expect_eq(sim_engines_take(&model, &engines[1], &back, 200), 210, "before that, where the bus is free");
    cr_expect_eq(sim_engines_take(&model, &engines[1], &back, 1195), 1220, "but not where it is not");
    for (uint64_t i = 1; i <= 2 * SIM_MAX_BUSY; i++)
        cr_assert_eq(sim_engines_take(&model, &engines[1], &back, 5000), 5000 + 10 * i);
}

Test(sim_model, devices_differ_in_speed_and_one_is_lost) {
    cr_assert(parse_with("devices 4\ndevice 2 slow 3 x\nat launch 7 lost 1\nat 2 s lost 3\n"), "%s", why);
    cr_expect_eq(model.slow[1], 1);
    cr_expect_eq(model.slow[2], 3);
    const uint64_t usual = cost_at(SIM_GPU, (struct sim_load){.bytes_in = 2000}, 0, 0).upload_ns;
    model.own_slow = model.slow[2];
    cr_expect_eq(cost_at(SIM_GPU, (struct sim_load){.bytes_in = 2000}, 0, 0).upload_ns, 3 * usual);
    cr_assert_eq(model.loss_count, 2);
    cr_expect(!parse_with("at launch 3 lost 1\n"));
    cr_expect(strstr(why, "device 1 is lost, but there are 1"), "%s", why);
    cr_expect(model.losses[0].at_launch && model.losses[0].from == 7 && model.losses[0].device == 1);
    cr_expect(!model.losses[1].at_launch && model.losses[1].from == 2 * UINT64_C(1000000000));
}

Test(sim_model, memory_may_have_a_limit) {
    cr_assert(parse_but("memory separate 64 MiB"), "%s", why);
    cr_expect_eq(model.memory_bytes, UINT64_C(64) << 20);
    cr_assert(parse_but("memory separate"), "%s", why);
    cr_expect_eq(model.memory_bytes, 0);
    cr_expect(!parse_but("memory separate 64"));
    cr_expect(strstr(why, "write bytes, KiB, MiB or GiB"), "%s", why);
    cr_expect(!parse_but("memory separate 0 MiB"));
}

Test(sim_model, copy_engines_need_copies) {
    cr_expect_not(parse("name x\nmemory shared\ncreate 0 ns\ndispatch 0 ns\nop * rate 1 work/ns\n"
                        "cpu op * rate 1 work/ns\ncopy_engines 2\n"));
    cr_expect(strstr(why, "'copy_engines' in a model that shares memory"), "%s", why);
}

Test(sim_model, tables_are_exact_at_their_points_log_log_between_and_in_proportion_outside) {
    cr_assert(parse_with("op t table 100 1 us, 10000 100 us, 1000000 200 us\n"), "%s", why);
    static const struct {
        uint64_t work, ns;
    } points[] = {{100, 1000},   {10000, 100000},  {1000000, 200000},
                  {1000, 10000}, {100000, 141421}, /* the geometric mean of both */
                  {50, 500},     {0, 0},           {2000000, 400000}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const struct sim_load load = {.op = "t", .units = 1, .work = points[i].work};
        cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).compute_ns, points[i].ns, "work %zu", (size_t)points[i].work);
    }
    uint64_t last = 0;
    for (uint64_t work = 1; work < 3000000; work += 1 + work / 50) {
        const uint64_t ns = cost_at(SIM_GPU, (struct sim_load){.op = "t", .units = 1, .work = work}, 0, 0).compute_ns;
        cr_expect_geq(ns, last, "less for more: work %zu", (size_t)work);
        last = ns;
    }
}

Test(sim_model, few_units_do_not_fill_the_lanes) {
    cr_assert(parse_with("op h rate 1 work/ns lanes 1000\n"), "%s", why);
    struct sim_load load = {.op = "h", .work = 100000, .units = 1};
    cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).compute_ns, 100000000);
    load.units = 500;
    cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).compute_ns, 200000);
    load.units = 1000;
    cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).compute_ns, 100000);
    load.units = 100000;
    cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).compute_ns, 100000);
}

Test(sim_model, contention_grows_with_submitters) {
    cr_assert(parse_with("contention 11 100 us, 21 300 us\n"), "%s", why);
    static const struct {
        uint32_t submitters;
        uint64_t ns;
    } points[] = {{0, 0}, {1, 0}, {2, 10000}, {6, 50000}, {11, 100000}, {16, 200000}, {21, 300000}, {31, 500000}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const struct sim_load load = {.op = "x", .submitters = points[i].submitters};
        cr_expect_eq(cost_at(SIM_GPU, load, 0, 0).dispatch_ns, 20000 + points[i].ns, "%u", points[i].submitters);
    }
}

Test(sim_model, changes_come_when_the_script_says) {
    cr_assert(parse_with("at 2.5 s slow 10 x\nat 4 s slow 1 x\nat launch 100 slow 2 x\ncpu at 1 s slow 3 x\n"), "%s",
              why);
    const struct sim_load load = {.op = "x", .work = 1000};
    static const struct {
        uint64_t now_ns, launch, ns;
    } moments[] = {{0, 0, 20500},          {2499999999, 99, 20500},  {2500000000, 0, 205000},   {3999999999, 0, 205000},
                   {4000000000, 0, 20500}, {4000000000, 100, 41000}, {2500000000, 5000, 410000}};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        const struct sim_cost cost = cost_at(SIM_GPU, load, moments[i].now_ns, moments[i].launch);
        cr_expect_eq(sim_cost_total(&cost, false), moments[i].ns, "moment %zu", i);
    }
    cr_expect_eq(cost_at(SIM_CPU, load, 999999999, 0).compute_ns, 1000);
    cr_expect_eq(cost_at(SIM_CPU, load, 1000000000, 0).compute_ns, 3000);
}

Test(sim_model, the_largest_numbers_do_not_overflow) {
    cr_assert(parse_with("op slow rate 0.000000001 work/ns\nat 0 s slow 1000000 x\n"), "%s", why);
    const struct sim_load load = {"slow", UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX};
    const struct sim_cost cost = cost_at(SIM_GPU, load, UINT64_MAX, UINT64_MAX);
    cr_expect_eq(cost.compute_ns, UINT64_C(1) << 60);
    cr_expect_eq(cost.upload_ns, UINT64_C(1) << 60);
    cr_expect_gt(sim_cost_total(&cost, true), UINT64_C(3) << 60);
}

/* ---- noise ------------------------------------------------------------------------------------------------ */

enum { DRAWS = 20000 };

static uint64_t noisy(struct sim_random *random) {
    const struct sim_load load = {.op = "x", .work = 2000000};
    struct sim_cost cost;
    sim_model_cost(&model, SIM_GPU, &load, 0, 0, random, &cost);
    return cost.compute_ns; /* 1 ms without noise */
}

Test(sim_model, noise_is_the_same_for_the_same_seed_and_of_the_size_asked_for) {
    cr_assert(parse_with("seed 42\njitter 5 %\n"), "%s", why);
    cr_expect_eq(model.seed, 42);
    struct sim_random one = {model.seed}, two = {model.seed}, other = {43};
    double sum = 0, squares = 0;
    unsigned differ = 0;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t ns = noisy(&one);
        const double off = (double)ns / 1e6 - 1;
        cr_assert_eq(ns, noisy(&two));
        differ += ns != noisy(&other);
        sum += off;
        squares += off * off;
    }
    cr_expect_gt(differ, DRAWS * 9u / 10);
    cr_expect_float_eq(sum / DRAWS, 0, 0.002);
    cr_expect_float_eq(sqrt(squares / DRAWS), 0.05, 0.002);
    cr_expect_eq(noisy(NULL), 1000000, "without a generator there is no noise");
}

Test(sim_model, outliers_are_as_many_and_as_long_as_asked_for) {
    cr_assert(parse_with("outliers 1 % 1000 x\n"), "%s", why);
    struct sim_random random = {model.seed};
    unsigned outliers = 0;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t ns = noisy(&random);
        cr_assert(ns == 1000000 || ns == 1000000000, "%zu ns", (size_t)ns);
        outliers += ns > 1000000;
    }
    cr_expect(outliers > DRAWS / 150 && outliers < DRAWS / 70, "%u of %d", outliers, DRAWS);
}

Test(sim_model, noise_never_makes_time_run_backwards) {
    cr_assert(parse_with("jitter 100 %\n"), "%s", why);
    struct sim_random random = {7};
    for (int i = 0; i < DRAWS; i++) cr_assert_geq(noisy(&random), 50000);
}

/* ---- the models that are shipped -------------------------------------------------------------------------- */

static const char *const shipped[] = {"rtx4090-wgpu", "rtx4070-tiny", "dx12-laptop", "pcie4-discrete", "integrated"};
static const char *const needed_ops[] = {
    "vec_add_f32", "vec_mul_f32", "sigmoid_f32", "keccak256", "sha256", "matmul_f32", "*"};

static bool has_op(const struct sim_device *device, const char *name) {
    for (uint32_t i = 0; i < device->op_count; i++)
        if (strcmp(device->ops[i].name, name) == 0) return true;
    return false;
}

Test(sim_models, all_are_there_whole_and_named_like_their_files) {
    uint32_t count = 0;
    for (const char *name; (name = sim_model_builtin_name(count)); count++) {
        load_builtin(name);
        cr_expect_str_eq(model.name, name);
        for (int side = 0; side < SIM_SIDES; side++)
            for (size_t i = 0; i < sizeof needed_ops / sizeof *needed_ops; i++)
                cr_expect(has_op(&model.sides[side], needed_ops[i]), "%s has no %s", name, needed_ops[i]);
    }
    cr_expect_eq(count, sizeof shipped / sizeof *shipped);
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) load_builtin(shipped[i]);
    cr_expect_null(sim_model_builtin("no-such-model"));
    cr_expect_null(sim_model_builtin(""));
}

Test(sim_models, rtx4090_wgpu_has_the_times_of_its_report) {
    load_builtin("rtx4090-wgpu");
    const struct sim_cost cost = cost_at(SIM_GPU, product(1000), 0, 0);
    cr_expect_eq(cost.create_ns, 500000);
    cr_expect_eq(cost.dispatch_ns, 300000);
    cr_expect_eq(cost_at(SIM_GPU, (struct sim_load){.bytes_in = 5}, 0, 0).upload_ns, 1500001);
    cr_expect_eq(cost_at(SIM_GPU, (struct sim_load){.bytes_out = 5}, 0, 0).readback_ns, 1200001);
    cr_expect_eq(expected(SIM_GPU, product(1000), true), 7840000);
    cr_expect_eq(expected(SIM_GPU, adds(1000000), true), 5980000);
    cr_expect_eq(expected(SIM_CPU, product(100), false), 530800);
    cr_expect_eq(expected(SIM_CPU, product(500), false), 77400000);
    cr_expect_eq(expected(SIM_CPU, product(1000), false), 638700000);
    for (uint64_t n = 1; n <= 1000000; n += 1 + n / 10)
        cr_expect_lt(expected(SIM_CPU, adds(n), false), expected(SIM_GPU, adds(n), false), "%zu adds", (size_t)n);
    cr_expect_lt(expected(SIM_CPU, product(100), false), expected(SIM_GPU, product(100), false));
    cr_expect_gt(expected(SIM_CPU, product(500), false), expected(SIM_GPU, product(500), true));
}

Test(sim_models, rtx4070_tiny_has_the_times_of_its_report) {
    load_builtin("rtx4070-tiny");
    struct sim_load load = {.op = "sha256", .units = 1, .work = 64, .bytes_in = 1, .bytes_out = 1, .tasks = 1};
    load.submitters = 1;
    const uint64_t alone = expected(SIM_GPU, load, false);
    load.submitters = 24;
    cr_expect(alone >= 650000 && alone < 650010, "%zu", (size_t)alone);
    cr_expect_eq(expected(SIM_GPU, load, false), alone + 200000);
}

Test(sim_models, dx12_laptop_has_the_medians_of_its_report) {
    static const uint64_t sizes[] = {20000, 50000, 100000, 200000, 500000, 1000000, 2000000};
    static const uint64_t gpu_us[] = {1043, 1093, 1222, 1465, 2378, 3742, 6498};
    static const uint64_t cpu_us[] = {15, 34, 69, 138, 359, 726, 1458};
    load_builtin("dx12-laptop");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cr_expect_eq(expected(SIM_GPU, adds(sizes[i]), false), gpu_us[i] * 1000, "%zu", (size_t)sizes[i]);
        cr_expect_eq(expected(SIM_CPU, adds(sizes[i]), false), cpu_us[i] * 1000, "%zu", (size_t)sizes[i]);
    }
}

/* What the others claim of themselves. */
Test(sim_models, the_others_are_as_much_faster_than_their_cpu_as_they_say) {
    static const char *const ops[] = {"keccak256", "sha256", "matmul_f32"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const struct sim_load load = {.op = ops[i], .units = 1 << 20, .work = UINT64_C(1) << 32};
        load_builtin("pcie4-discrete");
        double ratio =
            (double)cost_at(SIM_CPU, load, 0, 0).compute_ns / (double)cost_at(SIM_GPU, load, 0, 0).compute_ns;
        cr_expect(ratio > 9.9 && ratio < 50.1, "pcie4-discrete, %s: %g", ops[i], ratio);
        load_builtin("integrated");
        cr_expect(model.shares_memory);
        ratio = (double)cost_at(SIM_CPU, load, 0, 0).compute_ns / (double)cost_at(SIM_GPU, load, 0, 0).compute_ns;
        cr_expect(ratio > 1.9 && ratio < 4.1, "integrated, %s: %g", ops[i], ratio);
    }
    const struct sim_cost cost = cost_at(SIM_GPU, adds(1000000), 0, 0);
    cr_expect_eq(cost.upload_ns + cost.readback_ns, 0, "shared memory: no copies");
}

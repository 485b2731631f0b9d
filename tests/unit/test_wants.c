/*
 * test_wants.c: whether something else wants the cores, by files of the kernel that are made up here: set, and taken back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/wants.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static char proc[64];
static struct svmx__wants wants;
static uint64_t now_ns;

static void set_up(void) {
    char path[128];
    snprintf(proc, sizeof proc, "/tmp/svmx-wants-XXXXXX");
    cr_assert(mkdtemp(proc));
    snprintf(path, sizeof path, "%s/pressure", proc);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/self", proc);
    cr_assert_eq(mkdir(path, 0700), 0);
}

static void tear_down(void) {
    static const char *const names[] = {"pressure/cpu", "schedstat", "self/schedstat", "stat", "pressure", "self", ""};
    char path[128];
    svmx__wants_close(&wants);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", proc, names[i]);
        (void)remove(path);
    }
}

TestSuite(wants, .init = set_up, .fini = tear_down);

/* In place, as the kernel's files are: who has it open reads the new text. */
static void put(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", proc, name);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
}

static void put_pressure(unsigned us) {
    char text[160];
    snprintf(text, sizeof text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%u\nfull avg10=0.00 total=999999\n", us);
    put("pressure/cpu", text);
}

static void put_stat(unsigned idle, unsigned stolen) {
    char text[160];
    snprintf(text, sizeof text, "cpu  100 10 50 %u 5 0 3 %u 77 88\ncpu0 100 10 50 1 5 0 3 9999 0 0\nintr 5\n", idle,
             stolen);
    put("stat", text);
}

/* Two cores, and what else the file has. */
static void put_schedstat(unsigned first_ns, unsigned second_ns) {
    char text[400];
    snprintf(text, sizeof text,
             "version 15\ntimestamp 4294892295\ncpu0 0 0 0 0 0 0 500000000 %u 7\ndomain0 3 1 2 3 4 5 6 7 8 9\n"
             "cpu1 0 0 0 0 0 0 600000000 %u 7\n",
             first_ns, second_ns);
    put("schedstat", text);
}

static bool after_ms(unsigned ms) {
    bool contended;
    now_ns += ms * MS;
    cr_assert(svmx__wants_look(&wants, now_ns, &contended));
    return contended;
}

Test(wants, pressure_sets_and_clears) {
    put_pressure(5000);
    put_schedstat(0, 0); /* not asked: the first is there */
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    put_schedstat(4000000000u, 4000000000u);
    cr_expect_not(after_ms(20), "nobody waited");
    put_pressure(7000);
    cr_expect_not(after_ms(20), "2 of 20 ms are a tenth, and not more");
    put_pressure(9100);
    cr_expect(after_ms(20));
    cr_expect_not(after_ms(20), "and it is over");
}

Test(wants, without_pressure_waits_of_all_cores_count) {
    put_schedstat(1000000, 2000000);
    put("self/schedstat", "1 1 1\n");
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    put("self/schedstat", "1 900000000 1\n");
    put_schedstat(2000000, 3000000);
    cr_expect_not(after_ms(20), "1 ms each");
    put_schedstat(3500000, 4500000);
    cr_expect(after_ms(20), "1.5 ms each");
    cr_expect_not(after_ms(20));
}

Test(wants, or_those_of_the_program) {
    put("pressure/cpu", ""); /* a kernel with the files, and pressure switched off */
    put("self/schedstat", "88000000 1000000 9\n");
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    cr_expect_not(after_ms(20));
    put("self/schedstat", "88000000 4000000 9\n");
    cr_expect(after_ms(20));
    cr_expect_not(after_ms(20));
}

/* A tick is 10 ms, so it takes some turns until a share of them says anything. */
Test(wants, stolen_time_sets_and_clears) {
    put_pressure(0);
    put_stat(1000, 50);
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    put_stat(1003, 51);
    cr_expect_not(after_ms(20), "one tick of four is no share yet");
    put_stat(1090, 60);
    cr_expect_not(after_ms(20), "10 of 100 are a tenth, and not more");
    put_stat(1170, 80);
    cr_expect(after_ms(20), "20 of 100");
    put_stat(1180, 80);
    cr_expect(after_ms(20), "the verdict holds until there are ticks enough");
    put_stat(1270, 80);
    cr_expect_not(after_ms(20));
}

Test(wants, stolen_time_counts_where_nothing_else_is_told) {
    put_stat(0, 0);
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    put_stat(50, 50);
    cr_expect(after_ms(250));
}

Test(wants, where_nothing_is_told_or_it_is_no_more) {
    bool contended = true;
    cr_expect_not(svmx__wants_open(&wants, proc, now_ns), "no file");
    put("pressure/cpu", "full total=5\n");
    put("schedstat", "version 15\ncpu0 1 2 3\n");
    put("self/schedstat", "12\n");
    put("stat", "cpu  1 2 3 4\n");
    cr_expect_not(svmx__wants_open(&wants, proc, now_ns), "none with what is asked for");
    put_pressure(5000);
    cr_assert(svmx__wants_open(&wants, proc, now_ns));
    put("pressure/cpu", "");
    cr_expect_not(svmx__wants_look(&wants, now_ns + 20 * MS, &contended));
    cr_expect_not(contended);
}

Test(wants, this_machine_tells_something_or_nothing) {
    bool contended;
    if (!svmx__wants_open(&wants, "/proc", 0)) cr_skip_test("no file of the kernel tells");
    cr_expect(svmx__wants_look(&wants, 20 * MS, &contended));
}

/*
 * test_binary_store.c: compiled pipelines on disk: what was put is got, by whomever, and how much is kept.
 * Whatever else lies there is in test_binary_store_strange.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store_fixture.h"

#include <sys/wait.h>

TestSuite(binary_store, .init = store_make, .fini = store_remove);

/* ---- in and out ---- */

Test(binary_store, what_was_put_is_got_by_the_next_process) {
    cr_assert(put("sha256", "kernel code"));
    cr_assert(has("sha256", "kernel code"));
    store_reopen(1 << 20);
    cr_assert(has("sha256", "kernel code"));
    cr_assert(!has("keccak256", ""));
    cr_assert_eq(store.hits, 1);
    cr_assert_eq(store.misses, 1);
    cr_assert_eq(store.stored + store.removed + store.evicted, 0);
    cr_assert_str_eq(log_lines, "");
}

Test(binary_store, a_second_put_replaces_the_first) {
    cr_assert(put("sha256", "old"));
    cr_assert(put("sha256", "new and longer"));
    cr_assert(has("sha256", "new and longer"));
    cr_assert_eq(files_in(cache), 1);
    cr_assert_eq(store.stored, 2);
}

Test(binary_store, nothing_is_made_before_the_first_put) {
    cr_assert(!has("sha256", ""));
    struct svmx__binary_key key = key_of("sha256");
    svmx__binary_store_drop(&store, &key);
    cr_assert_eq(files_in(folder), 0);
    cr_assert_str_eq(log_lines, "");
}

Test(binary_store, for_the_user_alone) {
    (void)umask(0);
    cr_assert(put("sha256", "x"));
    cr_assert_eq(mode_of(cache), 0700);
    cr_assert_eq(mode_of(in_folder("a")), 0700);
    cr_assert_eq(mode_of(path_of("sha256")), 0600);
}

/* Every part of a key counts. */
Test(binary_store, another_key_is_another_record) {
    const struct svmx__binary_key key = key_of("sha256");
    struct svmx__binary_key others[11];
    size_t bytes;
    for (int i = 0; i < 11; i++) others[i] = key;
    others[0].kind = SVMX__BINARY_CHOICE;
    others[1].abi_major = 2;
    others[2].abi_minor = 2;
    others[3].variant = 3;
    others[4].source = 78;
    others[5].bucket = 16384;
    others[6].backend = "openc";
    others[7].version = "0.1.1";
    others[8].device = "A GPUA"; /* with the next text the same letters in a row */
    others[8].driver = " driver 1.2";
    others[9].driver = "A driver 1.3";
    others[10].op = "sha25";
    cr_assert(put("sha256", "x"));
    for (int i = 0; i < 11; i++) {
        cr_assert_null(svmx__binary_store_get(&store, &others[i], &bytes), "key %d", i);
        cr_assert(svmx__binary_store_put(&store, &others[i], &i, sizeof i));
    }
    cr_assert(has("sha256", "x"));
    for (int i = 0; i < 11; i++) {
        int *payload = svmx__binary_store_get(&store, &others[i], &bytes);
        cr_assert(payload && bytes == sizeof i && *payload == i, "key %d", i);
        free(payload);
    }
    cr_assert_eq(store.removed, 0);
}

Test(binary_store, what_turned_out_to_be_useless_is_dropped) {
    const struct svmx__binary_key key = key_of("sha256");
    cr_assert(put("sha256", "x"));
    svmx__binary_store_drop(&store, &key);
    cr_assert(!has("sha256", ""));
    cr_assert_eq(files_in(cache), 0);
    cr_assert_eq(store.removed, 1);
    svmx__binary_store_drop(&store, &key); /* again is fine */
    cr_assert_eq(store.removed, 1);
}

Test(binary_store, nothing_and_too_much_are_not_filed) {
    static char huge[300];
    struct svmx__binary_key key = key_of("sha256");
    size_t bytes;
    cr_assert(!svmx__binary_store_put(&store, &key, "", 0));
    memset(huge, 'x', sizeof huge - 1);
    key.driver = huge;
    cr_assert(!svmx__binary_store_put(&store, &key, "x", 1));
    cr_assert_null(svmx__binary_store_get(&store, &key, &bytes));
    store_reopen(sizeof huge);
    cr_assert(!put("sha256", huge), "more than the whole store may hold");
    cr_assert_eq(files_in(folder), 0);
}

Test(binary_store, off) {
    static const char *const offs[] = {NULL, "off"};
    for (size_t i = 0; i < 2; i++) {
        svmx__binary_store_fini(&store);
        svmx__binary_store_init(&store, offs[i], 1 << 20, &test_log);
        cr_assert(!put("sha256", "x"));
        cr_assert(!has("sha256", "x"));
        cr_assert_eq(store.hits + store.misses + store.stored, 0);
    }
    cr_assert_str_eq(log_lines, "");
}

/* ---- the limit ---- */

enum { PAYLOAD = 1000 };

static const char *thousand(void) {
    static char text[PAYLOAD + 1];
    if (!*text) memset(text, 't', PAYLOAD);
    return text;
}

/* Three records; b was used last of them, then a, and c first. */
static void three_records(uint64_t *record_bytes) {
    struct stat info;
    cr_assert(put("op_a", thousand()) && put("op_b", thousand()) && put("op_c", thousand()));
    cr_assert_eq(stat(path_of("op_a"), &info), 0);
    *record_bytes = (uint64_t)info.st_size;
    age(path_of("op_a"), 200);
    age(path_of("op_b"), 100);
    age(path_of("op_c"), 300);
}

Test(binary_store, what_is_used_least_recently_goes_first) {
    uint64_t bytes;
    three_records(&bytes);
    store_reopen(3 * bytes);
    cr_assert(put("op_d", thousand()));
    cr_assert_eq(store.evicted, 1);
    cr_assert(!exists(path_of("op_c")), "the oldest is gone");
    cr_assert(exists(path_of("op_a")) && exists(path_of("op_b")) && exists(path_of("op_d")));
}

Test(binary_store, a_hit_is_a_use) {
    uint64_t bytes;
    three_records(&bytes);
    store_reopen(3 * bytes);
    cr_assert(has("op_c", thousand()));
    cr_assert(put("op_d", thousand()));
    cr_assert(!exists(path_of("op_a")), "now the oldest");
    cr_assert(exists(path_of("op_b")) && exists(path_of("op_c")) && exists(path_of("op_d")));
}

Test(binary_store, as_many_go_as_must) {
    uint64_t bytes;
    three_records(&bytes);
    store_reopen(2 * bytes - 1);
    cr_assert(put("op_d", thousand()));
    cr_assert_eq(store.evicted, 3);
    cr_assert(has("op_d", thousand()));
    cr_assert_eq(files_in(cache), 1);
}

Test(binary_store, what_was_just_put_stays_even_if_the_clock_went_back) {
    uint64_t bytes;
    three_records(&bytes);
    age(path_of("op_a"), -5000);
    age(path_of("op_b"), -4000);
    age(path_of("op_c"), -3000);
    store_reopen(bytes);
    cr_assert(put("op_d", thousand()));
    cr_assert(has("op_d", thousand()));
    cr_assert_eq(files_in(cache), 1);
}

/* It never holds more than it may, though it does not look at the folder each time. */
Test(binary_store, the_limit_holds_over_many_puts) {
    store_reopen(10 * (PAYLOAD + 200));
    for (int i = 0; i < 50; i++) {
        char op[32];
        (void)snprintf(op, sizeof op, "op_%d", i);
        cr_assert(put(op, thousand()));
        cr_assert_leq(files_in(cache), 11);
        cr_assert(has(op, thousand()));
    }
    cr_assert_gt(store.evicted, 30);
    cr_assert_eq(store.evicted + files_in(cache), 50);
}

Test(binary_store, files_that_are_not_ours_stay_and_do_not_count) {
    uint64_t bytes;
    three_records(&bytes);
    static const char large[100000];
    file_put(in_cache("notes.bin"), large, sizeof large);
    file_put(in_cache("0123.txt"), large, sizeof large);
    age(in_cache("notes.bin"), 100000);
    store_reopen(4 * bytes);
    cr_assert(put("op_d", thousand()));
    cr_assert_eq(store.evicted, 0);
    cr_assert_eq(files_in(cache), 6);
}

Test(binary_store, what_dead_processes_left_goes_after_an_hour) {
    cr_assert(put("op_a", "x"));
    file_put(in_cache("tmp-0123456789abcdef"), "x", 1);
    file_put(in_cache("tmp-0000000000000000"), "x", 1);
    age(in_cache("tmp-0123456789abcdef"), 4000);
    store_reopen(1 << 20);
    cr_assert(put("op_b", "x"));
    cr_assert(!exists(in_cache("tmp-0123456789abcdef")));
    cr_assert(exists(in_cache("tmp-0000000000000000")), "somebody may be writing it");
    cr_assert_eq(store.evicted + store.removed, 0);
}

/* ---- many at once ---- */

enum { ROUNDS = 200 };

/* A payload that shows whether it is whole: n bytes of the value n / 100. */
static size_t fill(char *payload, int n) {
    size_t bytes = (size_t)(n % 100 + 1) * 100;
    memset(payload, n % 100 + 1, bytes);
    return bytes;
}

static bool is_whole(const char *payload, size_t bytes) {
    if (bytes % 100 != 0 || bytes == 0) return false;
    for (size_t i = 0; i < bytes; i++)
        if ((size_t)payload[i] != bytes / 100) return false;
    return true;
}

static void write_many(int seed) {
    static char payload[100 * 100];
    const struct svmx__binary_key key = key_of("sha256");
    int failed = 0;
    store_reopen(1 << 20);
    for (int i = 0; i < ROUNDS; i++)
        failed += !svmx__binary_store_put(&store, &key, payload, fill(payload, i * 7 + seed));
    _exit(failed ? 1 : 0);
}

static pid_t start_writer(int seed) {
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) write_many(seed);
    return child;
}

Test(binary_store, two_processes_write_one_key_while_a_third_reads) {
    const struct svmx__binary_key key = key_of("sha256");
    const pid_t writers[2] = {start_writer(1), start_writer(50)};
    unsigned hits = 0;
    for (int running = 2; running > 0;) {
        size_t bytes = 0;
        char *payload = svmx__binary_store_get(&store, &key, &bytes);
        hits += payload != NULL;
        cr_assert(!payload || is_whole(payload, bytes), "a torn record of %zu bytes", bytes);
        cr_assert(payload || hits == 0, "it was there, and then it was not");
        free(payload);
        for (int i = 0; i < 2; i++) {
            int status = 0;
            if (waitpid(writers[i], &status, WNOHANG) <= 0) continue;
            cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "writer %d: a put failed", i);
            running--;
        }
    }
    cr_assert_gt(hits, 0);
    cr_assert_eq(store.removed, 0);
    cr_assert_eq(files_in(cache), 1, "nothing is left over");
}

/* Four threads of one process, each with a small limit in its way. */
static void *put_and_get(void *user) {
    const char *const ops[] = {"op_a", "op_b", "op_c", "op_d", "op_e"};
    const int first = *(const int *)user;
    for (int i = 0; i < 40; i++) {
        const struct svmx__binary_key key = key_of(ops[(first + i) % 5]);
        size_t bytes = 0;
        (void)svmx__binary_store_put(&store, &key, thousand(), PAYLOAD);
        free(svmx__binary_store_get(&store, &key, &bytes));
    }
    return NULL;
}

Test(binary_store, threads_share_a_store) {
    pthread_t threads[4];
    int firsts[4] = {0, 1, 2, 3};
    store_reopen(3 * (PAYLOAD + 200));
    (void)thousand(); /* made before the threads look at it */
    for (int i = 0; i < 4; i++) cr_assert_eq(pthread_create(&threads[i], NULL, put_and_get, &firsts[i]), 0);
    for (int i = 0; i < 4; i++) cr_assert_eq(pthread_join(threads[i], NULL), 0);
    cr_assert_eq(store.stored, 160);
    cr_assert_eq(store.hits + store.misses, 160);
    cr_assert_eq(store.removed, 0);
    cr_assert_leq(files_in(cache), 3);
}

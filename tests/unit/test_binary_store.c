/*
 * test_binary_store.c: compiled pipelines on disk: what was put is got, by whomever, and whatever else lies there is not.
 *
 * Tests of foreign owners, and of a disk that is full, need root and are skipped without.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store_fixture.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* ---- files that are not what they should be ---- */

/* Puts these bytes where the record should be: it must be a miss, and the file must be gone. */
static void expect_refused(const void *bytes, size_t length, const char *what, size_t at) {
    uint64_t removed = store.removed, misses = store.misses;
    file_put(path_of("sha256"), bytes, length);
    cr_assert(!has("sha256", ""), "%s %zu: taken for sound", what, at);
    cr_assert(!exists(path_of("sha256")), "%s %zu: still there", what, at);
    cr_assert_eq(store.removed, removed + 1, "%s %zu: not counted", what, at);
    cr_assert_eq(store.misses, misses + 1);
}

Test(binary_store, cut_short_at_every_length_or_too_long) {
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    for (size_t i = 0; i < length; i++) expect_refused(file, i, "cut to", i);
    file = realloc(file, length + 1);
    file[length] = 0;
    expect_refused(file, length + 1, "grown to", length + 1);
    file_put(path_of("sha256"), file, length);
    cr_assert(has("sha256", "kernel code"), "whole it is fine");
    free(file);
}

Test(binary_store, every_bit_counts) {
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    for (size_t i = 0; i < length; i++) {
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (uint8_t)(1 << bit);
            expect_refused(file, length, "altered at", i);
            file[i] ^= (uint8_t)(1 << bit);
        }
    }
    file_put(path_of("sha256"), file, length);
    cr_assert(has("sha256", "kernel code"), "unaltered it is fine");
    free(file);
}

Test(binary_store, a_foreign_file) {
    static const char elf[200] = "\177ELF";
    cr_assert(put("sha256", "x"));
    expect_refused(elf, sizeof elf, "foreign", 0);
    cr_assert(strstr(log_lines, "info:cache on disk: "), "%s", log_lines);
    cr_assert(strstr(log_lines, "it is no file of this cache"), "%s", log_lines);
}

/* ---- files of others ---- */

/* What was filed with another secret is as good in every other respect. */
Test(binary_store, sealed_with_another_secret) {
    static const char theirs[16] = "another's secret";
    cr_assert(put("sha256", "kernel code"));
    cr_assert(has("sha256", "kernel code"));
    file_put(in_cache(".secret"), theirs, sizeof theirs);
    store_reopen(1 << 20);
    cr_assert(!has("sha256", ""));
    cr_assert(strstr(log_lines, "its seal is not of this folder"), "%s", log_lines);
    cr_assert(!exists(path_of("sha256")));
    cr_assert(put("sha256", "kernel code"));
    cr_assert(has("sha256", "kernel code"), "with that secret it is fine from now on");
}

Test(binary_store, copied_from_another_folder) {
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    (void)snprintf(cache, sizeof cache, "%s/mine", folder);
    store_reopen(1 << 20);
    cr_assert(put("keccak256", "x")); /* this folder has a secret of its own */
    expect_refused(file, length, "copied", 0);
    cr_assert(strstr(log_lines, "its seal is not of this folder"), "%s", log_lines);
    free(file);
}

Test(binary_store, without_the_secret_nothing_is_believed) {
    cr_assert(put("sha256", "kernel code"));
    cr_assert_eq(unlink(in_cache(".secret")), 0);
    store_reopen(1 << 20);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(in_cache(".secret")), "only who puts makes one");
}

Test(binary_store, the_secret_is_for_the_user_alone) {
    size_t length;
    (void)umask(0);
    cr_assert(put("sha256", "x"));
    cr_assert_eq(mode_of(in_cache(".secret")), 0600);
    uint8_t *first = file_read(in_cache(".secret"), &length);
    cr_assert_eq(length, 16);
    cr_assert_eq(chmod(in_cache(".secret"), 0640), 0); /* others may have read it */
    store_reopen(1 << 20);
    cr_assert(!has("sha256", ""), "what it sealed is not believed any more");
    cr_assert(put("sha256", "x"));
    uint8_t *second = file_read(in_cache(".secret"), &length);
    cr_assert_eq(mode_of(in_cache(".secret")), 0600);
    cr_assert(length == 16 && memcmp(first, second, 16) != 0, "it was made anew");
    free(first);
    free(second);
}

Test(binary_store, a_link_in_place_of_the_secret_is_not_followed) {
    static const char theirs[16] = "another's secret";
    file_put(in_folder("theirs"), theirs, sizeof theirs);
    cr_assert(put("sha256", "x"));
    cr_assert_eq(unlink(in_cache(".secret")), 0);
    cr_assert_eq(symlink(in_folder("theirs"), in_cache(".secret")), 0);
    store_reopen(1 << 20);
    cr_assert(put("sha256", "x"));
    struct stat info;
    cr_assert(lstat(in_cache(".secret"), &info) == 0 && S_ISREG(info.st_mode));
}

/* Of a later version that has raised the number: by whatever rules its checksum was made, it is not for us. */
Test(binary_store, a_file_of_the_future) {
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    cr_assert_eq(file[8], SVMX__BINARY_FORMAT);
    file[8]++;
    expect_refused(file, length, "format", file[8]);
    cr_assert(strstr(log_lines, "it has the format of another version"), "%s", log_lines);
    free(file);
}

Test(binary_store, a_sound_record_under_the_name_of_another) {
    size_t length;
    cr_assert(put("keccak256", "kernel code"));
    uint8_t *file = file_read(path_of("keccak256"), &length);
    expect_refused(file, length, "renamed", 0);
    cr_assert(has("keccak256", "kernel code"));
    free(file);
}

Test(binary_store, lengths_that_would_overflow) {
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 100, INT64_MAX, UINT32_MAX, 0};
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memcpy(file + 48, &lengths[i], 8);
        expect_refused(file, length, "payload length", i);
    }
    memset(file + 28, 0xff, 4);
    expect_refused(file, length, "text length", 0);
    free(file);
}

Test(binary_store, a_file_with_a_hole_of_many_gigabytes_is_not_read) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(truncate(path_of("sha256"), (off_t)1 << 36), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")));
}

Test(binary_store, links_are_not_followed) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(rename(path_of("sha256"), in_folder("elsewhere")), 0);
    cr_assert_eq(symlink(in_folder("elsewhere"), path_of("sha256")), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")), "the link is gone");
    cr_assert(exists(in_folder("elsewhere")), "what it points at is not");
    cr_assert(strstr(log_lines, "it is a symbolic link"), "%s", log_lines);

    cr_assert_eq(symlink(in_folder("elsewhere"), path_of("sha256")), 0);
    cr_assert(put("sha256", "yyyyyyyyyyyy"));
    cr_assert(has("sha256", "yyyyyyyyyyyy"));
    size_t length;
    uint8_t *file = file_read(in_folder("elsewhere"), &length);
    cr_assert_null(memmem(file, length, "yyyyyyyyyyyy", 12), "a put wrote through the link");
    free(file);
}

Test(binary_store, pipes_and_folders_in_a_files_place) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(remove(path_of("sha256")), 0);
    cr_assert_eq(mkfifo(path_of("sha256"), 0600), 0);
    cr_assert(!has("sha256", ""), "and it did not block");
    cr_assert(!exists(path_of("sha256")));
    cr_assert_eq(mkdir(path_of("sha256"), 0700), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!put("sha256", "x"), "nothing takes a folder's place");
    cr_assert(strstr(log_lines, "warn:"), "%s", log_lines);
}

Test(binary_store, a_file_that_others_may_write) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(path_of("sha256"), 0620), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")));
}

Test(binary_store, a_file_of_somebody_else) {
    if (geteuid() != 0) cr_skip_test("only root can give files away");
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chown(path_of("sha256"), STRANGER, STRANGER), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")));
}

/* ---- folders that are not what they should be ---- */

static unsigned warnings(void) {
    unsigned count = 0;
    for (const char *at = log_lines; (at = strstr(at, "warn:")); at++) count++;
    return count;
}

/* Neither read nor written, and said once. */
static void expect_unused(const char *reason) {
    unsigned before = files_in(cache);
    store_reopen(1 << 20);
    for (int i = 0; i < 3; i++) {
        cr_assert(!has("sha256", ""));
        cr_assert(!put("keccak256", "x"));
    }
    cr_assert_eq(files_in(cache), before);
    cr_assert(strstr(log_lines, reason), "%s", log_lines);
    cr_assert_eq(warnings(), 1, "%s", log_lines);
    cr_assert_eq(store.misses, 3);
}

Test(binary_store, a_folder_that_others_may_write) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(cache, 0770), 0);
    expect_unused("others may write the folder: chmod go-w ");
}

Test(binary_store, a_folder_that_others_may_read_is_fine) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(cache, 0755), 0);
    cr_assert(has("sha256", "x"));
}

Test(binary_store, a_folder_of_somebody_else) {
    if (geteuid() != 0) cr_skip_test("only root can give folders away");
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chown(cache, STRANGER, STRANGER), 0);
    expect_unused("belongs to user 12345, not to you");
}

/* Root with a user's HOME must not leave behind what that user cannot write to. */
Test(binary_store, no_folder_is_made_in_somebody_elses) {
    if (geteuid() != 0) cr_skip_test("only root can give folders away");
    cr_assert_eq(chown(folder, STRANGER, STRANGER), 0);
    expect_unused("belongs to user 12345, not to you");
    cr_assert_eq(files_in(folder), 0);
}

Test(binary_store, a_file_in_the_folders_place) {
    cr_assert_eq(mkdir(in_folder("a"), 0700), 0);
    cr_assert_eq(mkdir(in_folder("a/b"), 0700), 0);
    file_put(cache, "x", 1);
    expect_unused("Not a directory");
}

Test(binary_store, a_folder_that_cannot_be_written_still_serves) {
    const bool root = geteuid() == 0;
    if (root) { /* to whom modes mean nothing */
        cr_assert_eq(chown(folder, STRANGER, STRANGER), 0);
        cr_assert_eq(seteuid(STRANGER), 0);
    }
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(cache, 0500), 0);
    store_reopen(1 << 20);
    cr_assert(has("sha256", "x"));
    cr_assert(!put("keccak256", "y"));
    cr_assert(!put("keccak256", "y"));
    cr_assert_eq(warnings(), 1, "%s", log_lines);
    cr_assert(strstr(log_lines, "Permission denied"), "%s", log_lines);
    file_put(path_of("sha256"), "bad", 3);
    cr_assert(!has("sha256", ""));
    cr_assert_eq(store.removed, 0, "it could not be");
    cr_assert_eq(chmod(cache, 0700), 0);
    if (!root) return;
    cr_assert_eq(seteuid(0), 0);
    (void)prctl(PR_SET_DUMPABLE, 1); /* lost with the user; a leak checker looks into the process at its end */
}

Test(binary_store, a_folder_that_goes_is_made_anew) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(remove(path_of("sha256")), 0);
    cr_assert_eq(remove(in_cache(".secret")), 0);
    cr_assert_eq(rmdir(cache), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(put("sha256", "y"));
    cr_assert(has("sha256", "y"));
}

/* ---- disks that are full ---- */

static char large[100000];

/* A put fails, nothing is left of it, and what was there is there. */
static void expect_no_room(const char *reason) {
    memset(large, 'x', sizeof large - 1);
    cr_assert(!put("keccak256", large));
    cr_assert(!put("sha256", large));
    cr_assert_eq(files_in(cache), 1);
    cr_assert(has("sha256", "small"));
    cr_assert_eq(store.stored, 1);
    cr_assert(strstr(log_lines, reason), "%s", log_lines);
}

/* The process lives on: a write past this limit would end it by SIGXFSZ. */
Test(binary_store, the_largest_file_a_process_may_write) {
    struct rlimit limit;
    cr_assert(put("sha256", "small"));
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {4096, limit.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_no_room("File too large");
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(binary_store, a_full_disk) {
    cr_assert_eq(mkdir(in_folder("a"), 0700), 0);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", in_folder("a"), "tmpfs", 0, "size=32k,mode=0700") != 0)
        cr_skip_test("no small disk can be mounted here");
    cr_assert(put("sha256", "small"));
    expect_no_room("No space left on device");
    cr_assert_eq(umount(in_folder("a")), 0);
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

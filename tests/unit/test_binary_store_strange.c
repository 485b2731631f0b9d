/*
 * test_binary_store_strange.c: compiled pipelines on disk: whatever lies there and was not put by this user's svmx is not got:
 * broken files, files of others, folders that others may write, disks that are full. test_binary_store.c has the rest.
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

TestSuite(binary_store_strange, .init = store_make, .fini = store_remove);

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

Test(binary_store_strange, cut_short_at_every_length_or_too_long) {
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

Test(binary_store_strange, every_bit_counts) {
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

Test(binary_store_strange, a_foreign_file) {
    static const char elf[200] = "\177ELF";
    cr_assert(put("sha256", "x"));
    expect_refused(elf, sizeof elf, "foreign", 0);
    cr_assert(strstr(log_lines, "info:cache on disk: "), "%s", log_lines);
    cr_assert(strstr(log_lines, "it is no file of this cache"), "%s", log_lines);
}

/* ---- files of others ---- */

/* What was filed with another secret is as good in every other respect. */
Test(binary_store_strange, sealed_with_another_secret) {
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

Test(binary_store_strange, copied_from_another_folder) {
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

Test(binary_store_strange, without_the_secret_nothing_is_believed) {
    cr_assert(put("sha256", "kernel code"));
    cr_assert_eq(unlink(in_cache(".secret")), 0);
    store_reopen(1 << 20);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(in_cache(".secret")), "only who puts makes one");
}

Test(binary_store_strange, the_secret_is_for_the_user_alone) {
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

Test(binary_store_strange, a_link_in_place_of_the_secret_is_not_followed) {
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
Test(binary_store_strange, a_file_of_the_future) {
    size_t length;
    cr_assert(put("sha256", "kernel code"));
    uint8_t *file = file_read(path_of("sha256"), &length);
    cr_assert_eq(file[8], SVMX__BINARY_FORMAT);
    file[8]++;
    expect_refused(file, length, "format", file[8]);
    cr_assert(strstr(log_lines, "it has the format of another version"), "%s", log_lines);
    free(file);
}

Test(binary_store_strange, a_sound_record_under_the_name_of_another) {
    size_t length;
    cr_assert(put("keccak256", "kernel code"));
    uint8_t *file = file_read(path_of("keccak256"), &length);
    expect_refused(file, length, "renamed", 0);
    cr_assert(has("keccak256", "kernel code"));
    free(file);
}

Test(binary_store_strange, lengths_that_would_overflow) {
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

Test(binary_store_strange, a_file_with_a_hole_of_many_gigabytes_is_not_read) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(truncate(path_of("sha256"), (off_t)1 << 36), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")));
}

Test(binary_store_strange, links_are_not_followed) {
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

Test(binary_store_strange, pipes_and_folders_in_a_files_place) {
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

Test(binary_store_strange, a_file_that_others_may_write) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(path_of("sha256"), 0620), 0);
    cr_assert(!has("sha256", ""));
    cr_assert(!exists(path_of("sha256")));
}

Test(binary_store_strange, a_file_of_somebody_else) {
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

Test(binary_store_strange, a_folder_that_others_may_write) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(cache, 0770), 0);
    expect_unused("others may write the folder: chmod go-w ");
}

Test(binary_store_strange, a_folder_that_others_may_read_is_fine) {
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chmod(cache, 0755), 0);
    cr_assert(has("sha256", "x"));
}

Test(binary_store_strange, a_folder_of_somebody_else) {
    if (geteuid() != 0) cr_skip_test("only root can give folders away");
    cr_assert(put("sha256", "x"));
    cr_assert_eq(chown(cache, STRANGER, STRANGER), 0);
    expect_unused("belongs to user 12345, not to you");
}

/* Root with a user's HOME must not leave behind what that user cannot write to. */
Test(binary_store_strange, no_folder_is_made_in_somebody_elses) {
    if (geteuid() != 0) cr_skip_test("only root can give folders away");
    cr_assert_eq(chown(folder, STRANGER, STRANGER), 0);
    expect_unused("belongs to user 12345, not to you");
    cr_assert_eq(files_in(folder), 0);
}

Test(binary_store_strange, a_file_in_the_folders_place) {
    cr_assert_eq(mkdir(in_folder("a"), 0700), 0);
    cr_assert_eq(mkdir(in_folder("a/b"), 0700), 0);
    file_put(cache, "x", 1);
    expect_unused("Not a directory");
}

Test(binary_store_strange, a_folder_that_cannot_be_written_still_serves) {
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

Test(binary_store_strange, a_folder_that_goes_is_made_anew) {
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
Test(binary_store_strange, the_largest_file_a_process_may_write) {
    struct rlimit limit;
    cr_assert(put("sha256", "small"));
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {4096, limit.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_no_room("File too large");
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(binary_store_strange, a_full_disk) {
    cr_assert_eq(mkdir(in_folder("a"), 0700), 0);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", in_folder("a"), "tmpfs", 0, "size=32k,mode=0700") != 0)
        cr_skip_test("no small disk can be mounted here");
    cr_assert(put("sha256", "small"));
    expect_no_room("No space left on device");
    cr_assert_eq(umount(in_folder("a")), 0);
}

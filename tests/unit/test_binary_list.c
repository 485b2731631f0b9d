/*
 * test_binary_list.c: looking after the cache on disk: binary_list.c, by way of svmx_cache_* where those reach it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store_fixture.h"

#include "cache/binary_list.h"
#include <svmx/svmx.h>

static svmx_cache_t *handle;
static struct svmx_error error;

static void set_up(void) {
    store_make();
    unsetenv("SUPERVM_CACHE_DIR");
}

static void tear_down(void) {
    svmx_cache_close(handle);
    store_remove();
}

/* Bytes of an entry in version 0.1.0. */
enum { FIRST_ENTRY = offsetof(struct svmx_cache_entry, used_ns) + sizeof(uint64_t) };

TestSuite(binary_list, .init = set_up, .fini = tear_down);

static void open_cache(uint32_t flags) {
    svmx_cache_close(handle);
    handle = NULL;
    cr_assert_eq(svmx_cache_open(&handle, cache, flags, &error), SVMX_OK, "%s", error.text);
}

static struct svmx_cache_entry entry_at(uint32_t index) {
    struct svmx_cache_entry entry = {.size = sizeof entry};
    cr_assert_eq(svmx_cache_get(handle, index, &entry), SVMX_OK);
    return entry;
}

Test(binary_list, shows_what_was_filed_last_used_first) {
    cr_assert(put("op_a", "some") && put("op_b", "more of it"));
    age(path_of("op_b"), 50);
    const struct svmx__binary_key choice = {.kind = SVMX__BINARY_CHOICE,
                                            .abi_major = 1,
                                            .abi_minor = 1,
                                            .bucket = 65536,
                                            .backend = "b",
                                            .version = "v",
                                            .device = "",
                                            .driver = "d",
                                            .op = "op_c"};
    cr_assert(svmx__binary_store_put(&store, &choice, "\2", 1));
    age(path_of("op_a"), 100);
    open_cache(0);
    cr_assert_str_eq(svmx_cache_folder(handle), cache);
    cr_assert_eq(svmx_cache_count(handle), 3);
    cr_assert_eq(entry_at(0).kind, SVMX_CACHE_CHOICE);
    cr_assert_eq(entry_at(0).bucket, 65536);
    cr_assert_str_eq(entry_at(0).device, "");
    cr_assert_str_eq(entry_at(1).op, "op_b");
    const struct svmx_cache_entry a = entry_at(2);
    cr_assert_str_eq(a.op, "op_a");
    cr_assert_str_eq(a.backend, "opencl");
    cr_assert_str_eq(a.version, "0.1.0");
    cr_assert_str_eq(a.device, "A GPU");
    cr_assert_str_eq(a.driver, "A driver 1.2");
    cr_assert_str_eq(a.defect, "");
    cr_assert_str_eq(in_cache(a.file), path_of("op_a"));
    cr_assert(a.kind == SVMX_CACHE_PIPELINE && a.variant == 2 && a.abi_major == 1 && a.abi_minor == 1);
    cr_assert_gt(a.bytes, 4 + 16);
    cr_assert_leq((time(NULL) - (time_t)(a.used_ns / 1000000000)) - 100, 60);
    struct svmx_cache_entry none = {.size = sizeof none};
    cr_assert_eq(svmx_cache_get(handle, 3, &none), SVMX_ERR_UNKNOWN);
}

Test(binary_list, a_look_at_headers_and_a_look_at_everything) {
    size_t length;
    cr_assert(put("op_a", "some"));
    uint8_t *file = file_read(path_of("op_a"), &length);
    file[length - 17] ^= 1; /* the end of the payload */
    file_put(path_of("op_a"), file, length);
    free(file);
    open_cache(0);
    cr_assert_str_eq(entry_at(0).defect, "");
    open_cache(SVMX_CACHE_CHECK);
    cr_assert_str_eq(entry_at(0).defect, "its checksum is wrong");
    cr_assert_str_eq(entry_at(0).op, "op_a", "the header is sound");
}

Test(binary_list, bad_files_are_listed_with_what_is_wrong) {
    cr_assert(put("op_a", "some"));
    file_put(in_cache("00000000000000000000000000000000.bin"), "", 0);
    cr_assert_eq(symlink("/etc/passwd", in_cache("11111111111111111111111111111111.bin")), 0);
    file_put(in_cache("tmp-0123456789abcdef"), "x", 1);
    file_put(in_cache("tmp-0000000000000000"), "x", 1);
    file_put(in_cache("README"), "not ours", 8);
    age(path_of("op_a"), 10);
    age(in_cache("00000000000000000000000000000000.bin"), 20);
    age(in_cache("11111111111111111111111111111111.bin"), 30);
    age(in_cache("tmp-0123456789abcdef"), 4000);
    for (uint32_t flags = 0; flags <= SVMX_CACHE_CHECK; flags++) {
        open_cache(flags);
        cr_assert_eq(svmx_cache_count(handle), 4);
        cr_assert_str_eq(entry_at(0).defect, "");
        cr_assert_str_eq(entry_at(1).defect, "it is cut short");
        cr_assert_str_eq(entry_at(1).op, "");
        cr_assert_str_eq(entry_at(2).defect, "it is a symbolic link");
        cr_assert_str_eq(entry_at(3).defect, "a process that ended while it wrote left it");
    }
}

Test(binary_list, a_sound_record_under_the_name_of_another) {
    cr_assert(put("op_a", "some"));
    char *right = strdup(path_of("op_a"));
    cr_assert_eq(rename(right, in_cache("22222222222222222222222222222222.bin")), 0);
    free(right);
    open_cache(0);
    cr_assert_str_eq(entry_at(0).defect, "its header is not the one that its name stands for");
}

Test(binary_list, removes_what_is_asked_for_and_nothing_else) {
    cr_assert(put("op_a", "some") && put("op_b", "more"));
    age(path_of("op_a"), 10);
    open_cache(0);
    cr_assert_eq(svmx_cache_remove(handle, 1, &error), SVMX_OK);
    cr_assert(!exists(path_of("op_a")) && exists(path_of("op_b")));
    cr_assert_eq(svmx_cache_remove(handle, 1, &error), SVMX_OK, "gone already");
    cr_assert_eq(svmx_cache_count(handle), 2, "the list is as it was");
    cr_assert_eq(svmx_cache_remove(handle, 2, &error), SVMX_ERR_UNKNOWN);
}

Test(binary_list, a_file_that_was_written_anew_stays) {
    cr_assert(put("op_a", "some"));
    file_put(in_cache("keep"), "", 0); /* so that the inode is not given out again at once */
    cr_assert_eq(link(path_of("op_a"), in_folder("old")), 0);
    open_cache(0);
    cr_assert(put("op_a", "some"));
    cr_assert_eq(svmx_cache_remove(handle, 0, &error), SVMX_BUSY);
    cr_assert(has("op_a", "some"));
}

Test(binary_list, a_folder_that_is_not_there_is_empty) {
    open_cache(SVMX_CACHE_CHECK);
    cr_assert_eq(svmx_cache_count(handle), 0);
    cr_assert_str_eq(svmx_cache_folder(handle), cache);
    cr_assert_eq(files_in(folder), 0, "and is not made");
}

Test(binary_list, where_executors_have_it) {
    cr_assert(put("op_a", "some"));
    setenv("SUPERVM_CACHE_DIR", cache, 1);
    cr_assert_eq(svmx_cache_open(&handle, NULL, 0, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_cache_count(handle), 1);
    svmx_cache_close(handle);
    setenv("SUPERVM_CACHE_DIR", "off", 1);
    cr_assert_eq(svmx_cache_open(&handle, NULL, 0, &error), SVMX_OK, "%s", error.text);
    cr_assert_str_eq(svmx_cache_folder(handle), "");
    cr_assert_eq(svmx_cache_count(handle), 0);
}

Test(binary_list, errors) {
    svmx_cache_t *untouched = (svmx_cache_t *)&error;
    handle = untouched;
    setenv("SUPERVM_CACHE_DIR", "here", 1);
    cr_assert_eq(svmx_cache_open(&handle, NULL, 0, &error), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(error.text, "SUPERVM_CACHE_DIR is 'here'"), "%s", error.text);
    cr_assert_eq(svmx_cache_open(&handle, cache, 2, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_cache_open(NULL, cache, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert(put("op_a", "some"));
    cr_assert_eq(chmod(cache, 0702), 0);
    cr_assert_eq(svmx_cache_open(&handle, cache, 0, &error), SVMX_ERR_PERMISSION);
    cr_assert(strstr(error.text, "chmod go-w"), "%s", error.text);
    cr_assert_eq(handle, untouched, "outputs are set on success only");
    handle = NULL;
    struct svmx_cache_entry entry = {.size = sizeof entry};
    cr_assert_eq(svmx_cache_get(NULL, 0, &entry), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_cache_remove(NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_cache_count(NULL), 0);
    cr_assert_str_eq(svmx_cache_folder(NULL), "");
    svmx_cache_close(NULL);
    chmod(cache, 0700);
    cr_assert_eq(svmx_cache_open(&handle, cache, 0, NULL), SVMX_OK);
    entry.size = FIRST_ENTRY - 1;
    cr_assert_eq(svmx_cache_get(handle, 0, &entry), SVMX_ERR_ARGUMENT);
}

Test(binary_list, callers_of_other_versions_are_served) {
    struct {
        struct svmx_cache_entry entry;
        uint64_t more;
    } given;
    const size_t sizes[] = {FIRST_ENTRY, sizeof given};
    cr_assert(put("op_a", "some"));
    open_cache(0);
    for (size_t i = 0; i < 2; i++) {
        memset(&given, 42, sizeof given);
        given.entry.size = sizes[i];
        cr_assert_eq(svmx_cache_get(handle, 0, &given.entry), SVMX_OK);
        cr_assert_str_eq(given.entry.op, "op_a");
        cr_assert_eq(given.entry.size, sizes[i]);
        for (size_t at = i ? sizeof given.entry : FIRST_ENTRY; at < sizeof given; at++)
            cr_assert_eq(((const char *)&given)[at], 42, "byte %zu written", at);
    }
}

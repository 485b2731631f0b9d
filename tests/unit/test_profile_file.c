/*
 * test_profile_file.c: src/cache/profile_file.c, profile_parse.c and profile_disk.c: what is written is read back, and what
 * is wrong in any way is refused as a whole, with a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_fixture.h"
#include "store_fixture.h"

#include <locale.h>
#include <math.h>
#include <sys/wait.h>

/* ---- there and back --------------------------------------------------------------------------------------------- */

static bool is_same_cell(const struct svmx__profile_cell *a, const struct svmx__profile_cell *b) {
    return svmx__profile_order(a, b) == 0 && a->samples == b->samples && a->ns == b->ns && a->low_ns == b->low_ns &&
           a->high_ns == b->high_ns && a->setup_ns == b->setup_ns && a->transfer_ns == b->transfer_ns &&
           a->compute_ns == b->compute_ns && a->first_use_ns == b->first_use_ns && a->bytes == b->bytes;
}

static bool is_same_link(const struct svmx__profile_device *a, const struct svmx__profile_device *b) {
    return a->kind == b->kind && a->test == b->test && a->used_s == b->used_s && a->measured == b->measured &&
           a->latency_ns == b->latency_ns && a->bytes_per_ns == b->bytes_per_ns;
}

static void expect_round_trip(struct svmx__profile_records *records) {
    struct svmx__profile_records back = {0};
    struct svmx__text why = {""};
    size_t length, again_length;
    char *text = svmx__profile_format(records, &length);
    cr_assert(text);
    cr_assert_eq(svmx__profile_parse(&back, text, length, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(back.device_count, records->device_count);
    cr_assert_eq(back.cell_count, records->cell_count);
    for (size_t i = 0; i < back.device_count; i++)
        cr_assert(svmx__profile_same(&back.devices[i], &records->devices[i]) &&
                      is_same_link(&back.devices[i], &records->devices[i]),
                  "device %zu", i);
    for (size_t i = 0; i < back.cell_count; i++) cr_assert(is_same_cell(&back.cells[i], &records->cells[i]), "%zu", i);
    cr_assert_eq(back.wrong_count, records->wrong_count);
    for (size_t i = 0; i < back.wrong_count; i++)
        cr_assert(back.wrongs[i].device == records->wrongs[i].device &&
                      strcmp(back.wrongs[i].op, records->wrongs[i].op) == 0 &&
                      strcmp(back.wrongs[i].reason, records->wrongs[i].reason) == 0,
                  "wrong %zu", i);
    char *again = svmx__profile_format(&back, &again_length);
    cr_assert(again && again_length == length && memcmp(again, text, length) == 0, "the same bytes again");
    free(text);
    free(again);
    svmx__profile_records_free(&back);
}

Test(profile_file, is_read_back_as_it_was_written) {
    struct svmx__profile_records records = {0};
    cr_assert(some_records(&records));
    expect_round_trip(&records);
    svmx__profile_records_free(&records);
}

Test(profile_file, may_be_empty) {
    struct svmx__profile_records records = {0};
    expect_round_trip(&records);
}

Test(profile_file, keeps_whatever_a_driver_calls_its_device) {
    struct svmx__profile_records records = {0};
    struct svmx__profile_device device = some_device("opencl", 1);
    memset(device.name, '\n', sizeof device.name - 1);
    (void)snprintf(device.driver, sizeof device.driver, " 100%% \x01\x7f\xc3\xa4 end 0 \t");
    device.variant[0] = '\0';
    device.kind = SVMX_DEVICE_MODEL;
    device.test = true;
    cr_assert(svmx__profile_add_device(&records, &device));
    expect_round_trip(&records);
    svmx__profile_records_free(&records);
}

Test(profile_file, does_not_depend_on_the_locale) {
    struct svmx__profile_records records = {0};
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        cr_skip_test("no locale with a decimal comma");
    cr_assert(some_records(&records));
    expect_round_trip(&records);
    svmx__profile_records_free(&records);
}

Test(profile_file, puts_devices_used_last_first_and_cells_in_order) {
    struct svmx__profile_records records = {0};
    const struct svmx__profile_device old = some_device("a", 1), young = some_device("b", 9);
    const struct svmx__profile_cell cells[] = {some_cell(0, "sha256", 9, 900), some_cell(1, "sha256", 9, 800),
                                               some_cell(0, "sha256", 2, 700), some_cell(0, "keccak256", 30, 600)};
    cr_assert(svmx__profile_add_device(&records, &old) && svmx__profile_add_device(&records, &young));
    for (int i = 0; i < 4; i++) cr_assert(svmx__profile_add_cell(&records, &cells[i]));
    expect_round_trip(&records);
    cr_assert_str_eq(records.devices[0].backend, "b");
    const double order[] = {800, 600, 700, 900};
    for (int i = 0; i < 4; i++) cr_assert_eq(records.cells[i].ns, order[i]);
    svmx__profile_records_free(&records);
}

/* ---- what is not written ---------------------------------------------------------------------------------------- */

Test(profile_file, leaves_out_what_no_cell_can_be) {
    struct svmx__profile_records records = {0}, back = {0};
    const double nonsense[] = {NAN, INFINITY, -1, 2e15, 0};
    size_t length;
    cr_assert(some_records(&records));
    const size_t good = records.cell_count;
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        struct svmx__profile_cell cell = some_cell(0, "vec_add_f32", 1 + (uint32_t)i, 1000);
        cell.ns = nonsense[i];
        cr_assert_not(svmx__profile_cell_ok(&cell));
        cr_assert(svmx__profile_add_cell(&records, &cell));
        if (nonsense[i] == 0) continue; /* which a part may be */
        cell.ns = 1000;
        cell.setup_ns = nonsense[i];
        cell.lanes += 10;
        cr_assert(svmx__profile_add_cell(&records, &cell));
    }
    char *text = svmx__profile_format(&records, &length);
    cr_assert(text);
    cr_assert_eq(svmx__profile_parse(&back, text, length, NULL), SVMX_OK);
    cr_assert_eq(back.cell_count, good);
    free(text);
    svmx__profile_records_free(&records);
    svmx__profile_records_free(&back);
}

/* More than there may be: what was used last is kept, and what is written is sound. */
Test(profile_file, is_bounded) {
    struct svmx__profile_records records = {0}, back = {0};
    struct svmx__text why = {""};
    char backend[16];
    size_t length;
    for (uint32_t d = 0; d < 80; d++) {
        (void)snprintf(backend, sizeof backend, "b%u", d);
        const struct svmx__profile_device device = some_device(backend, d);
        cr_assert(svmx__profile_add_device(&records, &device));
        for (uint32_t lanes = 0; lanes < SVMX__PROFILE_LANES; lanes++) {
            for (uint32_t depth = 0; depth < SVMX__PROFILE_DEPTHS; depth++) {
                struct svmx__profile_cell cell = some_cell(d, "vec_add_f32", lanes, 12345.678);
                cell.depth = depth;
                cr_assert(svmx__profile_add_cell(&records, &cell));
            }
        }
    }
    char *text = svmx__profile_format(&records, &length);
    cr_assert(text);
    cr_assert_leq(length, SVMX__PROFILE_MAX_BYTES);
    cr_assert_gt(length, SVMX__PROFILE_MAX_BYTES / 2);
    cr_assert_eq(svmx__profile_parse(&back, text, length, &why), SVMX_OK, "%s", why.line);
    cr_assert_str_eq(back.devices[0].backend, "b79");
    cr_assert_leq(back.device_count, SVMX__PROFILE_DEVICES);
    cr_assert_gt(back.cell_count, 5000);
    free(text);
    svmx__profile_records_free(&records);
    svmx__profile_records_free(&back);
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static void expect_refused(const char *text, size_t length, const char *word) {
    struct svmx__profile_records records = {0};
    struct svmx__text why = {""};
    cr_assert_eq(svmx__profile_parse(&records, text, length, &why), SVMX_ERR_ARGUMENT, "accepted; wanted: %s", word);
    cr_assert(strstr(why.line, word), "says '%s', not '%s'", why.line, word);
    cr_assert(!records.devices && !records.cells && !records.cell_count);
    cr_assert_eq(svmx__profile_parse(&records, text, length, NULL), SVMX_ERR_ARGUMENT, "without a place for words");
}

static const struct {
    const char *from, *to, *word;
} wrongs[] = {
    {"svmx-profile 2", "svmx-profilo 2", "no profile of svmx"},
    {"svmx-profile 2", "svmx-profile 3", "format 3"},
    {"svmx-profile 2", "svmx-profile one", "line 1: 'one'"},
    {"svmx-profile 2", "svmx-profile -1", "line 1: '-1'"},
    {" 90000 ", " nan ", "'nan' is no number"},
    {" 90000 ", " inf ", "'inf' is no number"},
    {" 90000 ", " -90000 ", "'-90000' is no number"},
    {" 90000 ", " 9e4 ", "'9e4' is no number"},
    {" 90000 ", " 0x9 ", "'0x9' is no number"},
    {" 90000 ", " 90000,5 ", "'90000,5' is no number"},
    {" 90000 ", " 90000. ", "'90000.' is no number"},
    {" 90000 ", " 90000.1234 ", "'90000.1234' is no number"},
    {" 90000 ", " 2000000000000000 ", "is no number from 0 to"},
    {" 90000 ", " 99999999999999999999999 ", "is no number from 0 to"},
    {" 90000 ", "  ", "'' is no number"},
    {" 90000 ", " 0 ", "cannot be like that"},
    {" 90000 45000 ", " 90000 90001 ", "cannot be like that"}, /* the tenth percentile above the median */
    {" 90000 45000 180000", " 90000 45000 89999", "cannot be like that"},
    {" 6 31 ", " 24 31 ", "'24' is no whole number"},
    {"keccak256 10 ", "keccak256 40 ", "'40' is no whole number"},
    {" 6 31 ", " 6 0 ", "cannot be like that"},
    {" 6 31 ", " 6 5000000000 ", "'5000000000' is no whole number"},
    {" 98304\n", " 99999999999999999999\n", "is no whole number"},
    {" 98304\n", " 98304 1\n", "not more"},
    {" 98304\n", "\n", "'' is no whole number"},
    {"cell keccak256 ", "cell Keccak256 ", "no name of an operation"},
    {"cell keccak256 ", "cell keccak256keccak256keccak256keccak256 ", "no name of an operation"},
    {"cell keccak256 ", "cell  ", "no name of an operation"},
    {"cell keccak256 10", "cell keccak256 17", "twice, or out of order"},
    {"cell keccak256 16", "cell keccak256 10", "twice, or out of order"},
    {"cell keccak256 10", "cell zzz 10", "twice, or out of order"},
    {"device\n", "", "nothing that stands in a profile"},
    {"\ndevice\n", "\nlink 1 1\ndevice\n", "no device"},
    {"\ndevice\n", "\ncell sha256 1 1 1 1 1 1 1 1 1 1 1\ndevice\n", "a cell of no device"},
    {"backend simd", "backend opencl", NULL}, /* not the same: the variant is another */
    {"backend simd\nversion 0.1.0+52f1\nabi 1.1\nname Some GPU\ndriver driver 1.2\nvariant avx2",
     "backend opencl\nversion 0.1.0+52f1\nabi 1.1\nname Some GPU\ndriver driver 1.2\nvariant", "twice"},
    {"abi 1.1\n", "abi 1\n", "MAJOR.MINOR"},
    {"abi 1.1\n", "abi 1.70000\n", "MAJOR.MINOR"},
    {"abi 1.1\n", "", "'abi' of a device is missing"},
    {"pci 0000:03:00.0\n", "pci 0000:03:00.00000\n", "'pci' is too long"},
    {"driver driver 1.2\n", "driver %0\n", "starts no byte"},
    {"driver driver 1.2\n", "driver %00\n", "starts no byte"},
    {"driver driver 1.2\n", "driver %zz\n", "starts no byte"},
    {"threads 8\n", "threads -8\n", "'-8' is no whole number"},
    {"kind gpu\n", "kind tpu\n", "'tpu' is no kind"},
    {"kind gpu\n", "kind\n", "'' is no kind"},
    {"kind gpu\n", "kind gpu tests\n", "is no kind"},
    {"kind gpu\n", "", "'kind' of a device is missing"},
    {"used 2000\n", "used 99999999999999\n", "is no whole number"},
    {"link 5200 11.25\n", "link 5200 0\n", "cannot be like that"},
    {"link 5200 11.25\n", "link 5200 11.25 1\n", "cannot be like that"},
    {"link 5200 11.25\n", "link 5200\n", "'' is no number"},
    {"link 5200 11.25\n", "link 5200 11.25\nlink 5200 11.25\n", "a second link"},
    {"wrong exp_f32 ", "wrong Exp_f32 ", "no name of an operation"},
    {"wrong exp_f32 ", "wrong exp_f32\nwrong exp_f32 ", "wrong twice, or out of order"},
    {"wrong exp_f32 ", "wrong vec_add_f32\nwrong exp_f32 ", "wrong twice, or out of order"},
    {"wrong bytes, 100%25", "wrong bytes, 100%", "starts no byte"},
    {"wrong bytes, ", "wrong bytes, wrong bytes, wrong bytes, wrong bytes, wrong bytes, ", "'wrong' is too long"},
    {"\ndevice\n", "\nwrong sha256 bytes\ndevice\n", "of no device"},
    {"end 5 ", "end 4 ", "to be 4 cells"},
    {"end 5 ", "end x ", "'x' is no whole number"},
    {"# What", "What", "nothing that stands in a profile"},
    {"driver driver", "driver\tdriver", "byte 0x09"},
    {"driver driver", "driver driver\r", "byte 0x0d"},
};

Test(profile_file, is_refused_whatever_is_wrong_with_it) {
    size_t length;
    char *text = some_text(&length);
    cr_assert(text);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        size_t wrong_length;
        char *wrong = replaced(text, wrongs[i].from, wrongs[i].to, true, &wrong_length);
        cr_assert(wrong, "nothing to replace: '%s'", wrongs[i].from);
        struct svmx__profile_records records = {0};
        if (wrongs[i].word)
            expect_refused(wrong, wrong_length, wrongs[i].word);
        else
            cr_assert_eq(svmx__profile_parse(&records, wrong, wrong_length, NULL), SVMX_OK);
        svmx__profile_records_free(&records);
        free(wrong);
    }
    free(text);
}

Test(profile_file, is_refused_when_any_byte_of_it_is_missing) {
    size_t length;
    char *text = some_text(&length);
    cr_assert(text);
    expect_refused(text, 0, "empty");
    for (size_t cut = 1; cut < length; cut++) {
        char *copy = malloc(cut); /* so that a sanitizer sees a look behind the end */
        cr_assert(copy);
        memcpy(copy, text, cut);
        expect_refused(copy, cut, cut < strlen("svmx-profile ") ? "no profile" : "");
        free(copy);
    }
    expect_refused(text, length - 1, "cut short");
    free(text);
}

Test(profile_file, is_refused_when_any_byte_of_it_is_another) {
    size_t length;
    char *text = some_text(&length);
    cr_assert(text);
    for (size_t at = 0; at < length; at++) {
        const char was = text[at];
        text[at] = (char)(was ^ 1);
        expect_refused(text, length, "");
        text[at] = '\0';
        expect_refused(text, length, "");
        text[at] = was;
    }
    free(text);
}

Test(profile_file, is_refused_when_lines_are_too_long_or_too_many) {
    char name[700];
    size_t length, wrong_length;
    char *text = some_text(&length);
    memset(name, 'x', sizeof name);
    memcpy(name, "name ", 5);
    (void)snprintf(name + sizeof name - 2, 2, "\n");
    char *wrong = replaced(text, "name Some GPU\n", name, true, &wrong_length);
    cr_assert(wrong);
    expect_refused(wrong, wrong_length, "too long");
    free(wrong);
    char *huge = calloc(1, SVMX__PROFILE_MAX_BYTES + 1);
    cr_assert(huge);
    memcpy(huge, text, length);
    expect_refused(huge, SVMX__PROFILE_MAX_BYTES + 1, "too large");
    free(huge);
    wrong = replaced(text, "svmx-profile 2\n", "svmx-profile 2\nend 0 0\n", false, &wrong_length);
    cr_assert(wrong);
    expect_refused(wrong, wrong_length, "");
    free(wrong);
    free(text);
}

/* ---- on disk ---------------------------------------------------------------------------------------------------- */

static struct svmx__text why, defect;

static enum svmx_status write_some(const char *path, bool set_aside) {
    struct svmx__profile_records records = {0};
    cr_assert(some_records(&records));
    enum svmx_status status = svmx__profile_write(&records, path, set_aside, &why);
    svmx__profile_records_free(&records);
    return status;
}

/* How many cells there are. */
static size_t read_cells(const char *path) {
    struct svmx__profile_records records = {0};
    cr_assert_eq(svmx__profile_read(&records, path, &defect, &why), SVMX_OK, "%s", why.line);
    const size_t count = records.cell_count;
    svmx__profile_records_free(&records);
    return count;
}

static enum svmx_status read_refused(const char *path) {
    struct svmx__profile_records records = {0};
    enum svmx_status status = svmx__profile_read(&records, path, &defect, &why);
    cr_assert(!records.cells && !records.devices);
    return status;
}

TestSuite(profile_disk, .init = store_make, .fini = store_remove);

Test(profile_disk, makes_folder_and_file_for_the_user_alone) {
    cr_assert_eq(read_cells(in_cache("profile")), 0, "none yet");
    cr_assert_str_eq(defect.line, "");
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK, "%s", why.line);
    cr_assert_eq(mode_of(in_cache("profile")), 0600u);
    cr_assert_eq(mode_of(cache), 0700u);
    cr_assert_eq(files_in(cache), 1u, "and no temporary file");
    cr_assert_eq(read_cells(in_cache("profile")), 5u);
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    cr_assert_eq(files_in(cache), 1u);
}

static void expect_file(const char *name, const char *text) {
    size_t length;
    uint8_t *bytes = file_read(in_cache(name), &length);
    cr_assert(length == strlen(text) && memcmp(bytes, text, length) == 0, "%s", name);
    free(bytes);
}

Test(profile_disk, ignores_a_damaged_profile_and_sets_the_first_aside) {
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    file_put(in_cache("profile"), "svmx-profile x\n", 15);
    cr_assert_eq(read_cells(in_cache("profile")), 0u);
    cr_assert_str_not_empty(defect.line);
    cr_assert_eq(write_some(in_cache("profile"), true), SVMX_OK);
    cr_assert_eq(read_cells(in_cache("profile")), 5u);
    cr_assert_str_eq(defect.line, "");
    expect_file("profile.bad", "svmx-profile x\n");
    file_put(in_cache("profile"), "svmx-profile y\n", 15);
    cr_assert_eq(write_some(in_cache("profile"), true), SVMX_OK);
    expect_file("profile.bad", "svmx-profile x\n");
}

Test(profile_disk, neither_replaces_nor_removes_what_is_no_profile) {
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    file_put(in_cache("profile"), "my poems\n", 9);
    cr_assert_eq(read_cells(in_cache("profile")), 0u);
    cr_assert(strstr(defect.line, "no profile of svmx"), "%s", defect.line);
    for (int set_aside = 0; set_aside < 2; set_aside++) {
        cr_assert_eq(write_some(in_cache("profile"), set_aside), SVMX_ERR_PERMISSION);
        cr_assert(strstr(why.line, "left alone"), "%s", why.line);
    }
    cr_assert_eq(svmx__profile_unlink(in_cache("profile"), &why), SVMX_ERR_PERMISSION);
    expect_file("profile", "my poems\n");
    cr_assert_eq(files_in(cache), 1u);
}

Test(profile_disk, reads_no_file_that_others_may_write) {
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    cr_assert_eq(chmod(in_cache("profile"), 0666), 0);
    cr_assert_eq(read_refused(in_cache("profile")), SVMX_ERR_PERMISSION);
    cr_assert(strstr(why.line, "others may write") && strstr(why.line, "/profile"), "%s", why.line);
    cr_assert_eq(chmod(in_cache("profile"), 0600), 0);
    cr_assert_eq(chmod(cache, 0777), 0);
    cr_assert_eq(read_refused(in_cache("profile")), SVMX_ERR_PERMISSION);
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_ERR_PERMISSION);
    cr_assert(strstr(why.line, "chmod go-w"), "%s", why.line);
    cr_assert_eq(svmx__profile_unlink(in_cache("profile"), &why), SVMX_ERR_PERMISSION);
}

Test(profile_disk, follows_no_link_and_takes_no_folder) {
    cr_assert_eq(write_some(in_cache("real"), false), SVMX_OK);
    cr_assert_eq(symlink("real", in_cache("profile")), 0);
    cr_assert_eq(read_refused(in_cache("profile")), SVMX_ERR_PERMISSION);
    cr_assert(strstr(why.line, "symbolic link"), "%s", why.line);
    cr_assert_eq(read_refused(cache), SVMX_ERR_PERMISSION);
    cr_assert(strstr(why.line, "no plain file"), "%s", why.line);
    cr_assert_eq(read_refused("/"), SVMX_ERR_ARGUMENT);
    cr_assert_eq(read_refused("relative"), SVMX_ERR_ARGUMENT);
    cr_assert_eq(write_some(in_cache(".."), false), SVMX_ERR_ARGUMENT);
}

Test(profile_disk, removes_the_file_and_is_content_without_one) {
    cr_assert_eq(svmx__profile_unlink(in_cache("profile"), &why), SVMX_OK, "no folder");
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    cr_assert_eq(svmx__profile_unlink(in_cache("profile"), &why), SVMX_OK);
    cr_assert_eq(files_in(cache), 0u);
    cr_assert_eq(svmx__profile_unlink(in_cache("profile"), &why), SVMX_OK, "no file");
}

/* A writer of profiles with so many cells, again and again. */
static void write_again(uint32_t cells) {
    struct svmx__profile_records records = {0};
    const struct svmx__profile_device device = some_device("simd", cells);
    bool good = svmx__profile_add_device(&records, &device);
    for (uint32_t i = 0; i < cells; i++) {
        struct svmx__profile_cell cell = some_cell(0, "sha256", i % SVMX__PROFILE_LANES, 100 + cells);
        cell.depth = i / SVMX__PROFILE_LANES;
        good = good && svmx__profile_add_cell(&records, &cell);
    }
    for (int i = 0; i < 100 && good; i++)
        good = svmx__profile_write(&records, in_cache("profile"), false, &why) == SVMX_OK;
    _exit(good ? 0 : 1);
}

/* Readers see one of them, whole. */
Test(profile_disk, is_never_a_mixture_of_two_writers) {
    enum { MANY = 900, FEW = 30 };
    cr_assert_eq(write_some(in_cache("profile"), false), SVMX_OK);
    pid_t writers[2];
    for (int w = 0; w < 2; w++) {
        writers[w] = fork();
        cr_assert_geq(writers[w], 0);
        if (writers[w] == 0) write_again(w ? MANY : FEW);
    }
    for (int done = 0; done < 2;) {
        const size_t cells = read_cells(in_cache("profile"));
        cr_assert_str_eq(defect.line, "");
        cr_assert(cells == 5 || cells == MANY || cells == FEW, "%zu cells", cells);
        int status;
        if (waitpid(-1, &status, WNOHANG) <= 0) continue;
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        done++;
    }
    cr_assert_eq(files_in(cache), 1u);
}

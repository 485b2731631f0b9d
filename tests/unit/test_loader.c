/*
 * test_loader.c: finding, judging and loading plugin files (src/plugin/loader.c): paths, owners and modes, and that no
 * code of a file runs before it has been judged.
 *
 * Tests with a foreign owner need root and are skipped without.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/loader.h"
#include "plugin_fixture.h"

TestSuite(loader, .init = folder_make, .fini = folder_remove);

enum { STRANGER = 12345 };

static struct svmx__inspected inspected;
static struct svmx__text why;

static void scan(struct svmx__findings *findings, const char *path) {
    cr_assert_eq(svmx__loader_scan(findings, path, &test_log, &why), SVMX_OK, "%s", why.line);
}

/* Inspects NAME.so of the folder. */
static enum svmx_status inspect(const char *name) {
    struct svmx__found file = {.path = NULL};
    (void)snprintf(file.name, sizeof file.name, "%s", name);
    cr_assert(asprintf(&file.path, "%s/%s.so", folder, name) > 0);
    why.line[0] = '\0';
    enum svmx_status status = svmx__loader_inspect(&file, &inspected, &why);
    free(file.path);
    return status;
}

static void expect_refused(const char *name, enum svmx_status status, const char *reason) {
    enum svmx_status got = inspect(name);
    cr_expect_eq(got, status, "%s: status %d: %s", name, got, why.line);
    cr_expect(strstr(why.line, reason), "%s: expected \"%s\" in: %s", name, reason, why.line);
}

/* ---- scan ---- */

Test(loader, lists_so_files_by_name) {
    struct svmx__findings findings;
    file_write(in_folder("b.so"), "", 0);
    file_write(in_folder("a.so"), "", 0);
    file_write(in_folder("c.la"), "", 0);
    file_write(in_folder("so"), "", 0);
    file_write(in_folder(".so"), "", 0);
    file_write(in_folder(".hidden.so"), "", 0);
    file_write(in_folder("d.so.1"), "", 0);
    scan(&findings, folder);
    cr_assert_eq(findings.count, 2);
    cr_assert_str_eq(findings.files[0].name, "a");
    cr_assert_str_eq(findings.files[0].path, in_folder("a.so"));
    cr_assert_str_eq(findings.files[1].name, "b");
    svmx__loader_findings_free(&findings);
    cr_assert_eq(findings.count, 0);
}

Test(loader, folders_in_their_order) {
    struct svmx__findings findings;
    char path[1024];
    cr_assert_eq(mkdir(in_folder("one"), 0755), 0);
    cr_assert_eq(mkdir(in_folder("two"), 0755), 0);
    file_write(in_folder("one/z.so"), "", 0);
    file_write(in_folder("two/a.so"), "", 0);
    (void)snprintf(path, sizeof path, ":%s/one::%s/two:", folder, folder);
    scan(&findings, path);
    cr_assert_eq(findings.count, 2, "empty parts do not count");
    cr_assert_str_eq(findings.files[0].name, "z");
    cr_assert_str_eq(findings.files[1].name, "a");
    svmx__loader_findings_free(&findings);
}

Test(loader, a_missing_folder_is_no_error) {
    struct svmx__findings findings;
    scan(&findings, in_folder("nowhere"));
    cr_assert_eq(findings.count, 0);
    cr_assert(strstr(log_lines, "info:no folder"), "%s", log_lines);
    svmx__loader_findings_free(&findings);
}

Test(loader, nothing_to_search) {
    struct svmx__findings findings;
    scan(&findings, "");
    cr_assert_eq(findings.count, 0);
    svmx__loader_findings_free(&findings);
}

/* Empty parts and relative ones: the current directory never counts. */
Test(loader, never_the_current_directory) {
    struct svmx__findings findings;
    file_write(in_folder("evil.so"), "", 0);
    cr_assert_eq(chdir(folder), 0);
    scan(&findings, "::");
    cr_assert_eq(findings.count, 0);
    static const char *const relative[] = {".", "backends", "/usr:./x", "~/x"};
    for (size_t i = 0; i < sizeof relative / sizeof relative[0]; i++) {
        cr_expect_eq(svmx__loader_scan(&findings, relative[i], &test_log, &why), SVMX_ERR_ARGUMENT);
        cr_expect(strstr(why.line, "not absolute"), "%s", why.line);
    }
    cr_assert(strstr(why.line, "'~/x'"), "the text names it: %s", why.line);
}

Test(loader, a_folder_that_is_a_file) {
    struct svmx__findings findings;
    file_write(in_folder("file"), "", 0);
    scan(&findings, in_folder("file"));
    cr_assert_eq(findings.count, 1);
    cr_assert_str_eq(findings.files[0].name, "*");
    cr_assert_eq(svmx__loader_inspect(&findings.files[0], &inspected, &why), SVMX_ERR_SYSTEM);
    cr_assert(strstr(why.line, "Not a directory"), "%s", why.line);
    svmx__loader_findings_free(&findings);
}

/* ---- inspect: who may write ---- */

Test(loader, a_safe_file_says_what_it_is) {
    module_copy("first_abi", NULL);
    cr_assert_eq(inspect("first_abi"), SVMX_OK, "%s", why.line);
    cr_assert_str_eq(inspected.data.name, "first_abi");
    cr_assert_str_eq(inspected.data.licence, "Apache-2.0");
}

Test(loader, files_that_others_may_write) {
    static const mode_t modes[] = {0775, 0757, 0777, 0664, 0646};
    module_copy("first_abi", NULL);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cr_assert_eq(chmod(in_folder("first_abi.so"), modes[i]), 0);
        expect_refused("first_abi", SVMX_ERR_PERMISSION, "others may write the file: chmod go-w /");
    }
    cr_assert_eq(chmod(in_folder("first_abi.so"), 0600), 0);
    cr_assert_eq(inspect("first_abi"), SVMX_OK, "not executable is fine: %s", why.line);
}

Test(loader, folders_that_others_may_write) {
    static const mode_t modes[] = {0775, 0757, 0777, 01777};
    module_copy("first_abi", NULL);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cr_assert_eq(chmod(folder, modes[i]), 0);
        expect_refused("first_abi", SVMX_ERR_PERMISSION, "others may write the folder: chmod go-w /");
    }
    cr_assert_eq(chmod(folder, 0755), 0);
    cr_assert_eq(inspect("first_abi"), SVMX_OK, "%s", why.line);
}

Test(loader, folders_above) {
    module_copy("first_abi", NULL);
    cr_assert_eq(mkdir(in_folder("deep"), 0755), 0);
    cr_assert_eq(mkdir(in_folder("deep/er"), 0755), 0);
    cr_assert_eq(rename(in_folder("first_abi.so"), in_folder("deep/er/first_abi.so")), 0);
    struct svmx__found file = {.name = "first_abi", .path = (char *)(uintptr_t)in_folder("deep/er/first_abi.so")};
    cr_assert_eq(svmx__loader_inspect(&file, &inspected, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_assert_eq(svmx__loader_inspect(&file, &inspected, &why), SVMX_ERR_PERMISSION);
    cr_assert(strstr(why.line, "everybody may write the folder above: chmod o-w /") && strstr(why.line, folder), "%s",
              why.line);
    cr_assert_eq(chmod(folder, 01777), 0);
    cr_assert_eq(svmx__loader_inspect(&file, &inspected, &why), SVMX_OK, "sticky, as /tmp is: %s", why.line);
}

Test(loader, foreign_owners) {
    if (geteuid() != 0) cr_skip_test("only root can give files away");
    module_copy("first_abi", NULL);
    cr_assert_eq(chown(in_folder("first_abi.so"), STRANGER, STRANGER), 0);
    expect_refused("first_abi", SVMX_ERR_PERMISSION, "the file belongs to user 12345");
    cr_assert_eq(chown(in_folder("first_abi.so"), 0, 0), 0);
    cr_assert_eq(chown(folder, STRANGER, STRANGER), 0);
    expect_refused("first_abi", SVMX_ERR_PERMISSION, "the folder belongs to user 12345");
}

/* What belongs to root is safe for anybody, and so is one's own. */
Test(loader, own_files_and_those_of_root) {
    if (geteuid() != 0) cr_skip_test("only root can become somebody else");
    module_copy("first_abi", NULL);
    cr_assert_eq(chmod(folder, 0755), 0);
    cr_assert_eq(seteuid(STRANGER), 0);
    cr_assert_eq(inspect("first_abi"), SVMX_OK, "root's: %s", why.line);
    cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(chown(in_folder("first_abi.so"), STRANGER, STRANGER), 0);
    cr_assert_eq(chown(folder, STRANGER, STRANGER), 0);
    cr_assert_eq(seteuid(STRANGER), 0);
    cr_assert_eq(inspect("first_abi"), SVMX_OK, "one's own: %s", why.line);
    cr_assert_eq(chmod(in_folder("first_abi.so"), 0), 0);
    expect_refused("first_abi", SVMX_ERR_SYSTEM, "Permission denied");
    cr_assert_eq(seteuid(0), 0);
}

Test(loader, regular_files_only) {
    module_copy("first_abi", NULL);
    cr_assert_eq(symlink("first_abi.so", in_folder("link.so")), 0);
    expect_refused("link", SVMX_ERR_PERMISSION, "a symbolic link: copy the file");
    cr_assert_eq(mkdir(in_folder("dir.so"), 0755), 0);
    expect_refused("dir", SVMX_ERR_ABI, "not a regular file");
    cr_assert_eq(mkfifo(in_folder("pipe.so"), 0644), 0);
    expect_refused("pipe", SVMX_ERR_ABI, "not a regular file");
    expect_refused("absent", SVMX_ERR_SYSTEM, "No such file");
}

Test(loader, a_file_too_large_is_not_read) {
    file_write(in_folder("huge.so"), "", 0);
    cr_assert_eq(truncate(in_folder("huge.so"), (off_t)1 << 32), 0);
    expect_refused("huge", SVMX_ERR_ABI, "larger than 512 MiB");
}

/* ---- inspect: what it says ---- */

Test(loader, files_that_are_no_plugins) {
    static const char text[] = "I am a text file\n";
    size_t length;
    file_write(in_folder("text.so"), text, sizeof text);
    expect_refused("text", SVMX_ERR_ABI, "not a shared object");
    file_write(in_folder("empty.so"), text, 0);
    expect_refused("empty", SVMX_ERR_ABI, "not a shared object");
    uint8_t *file = file_read(module_path("first_abi"), &length);
    file_write(in_folder("first_abi.so"), file, 3000);
    expect_refused("first_abi", SVMX_ERR_ABI, "cut off");
    file[18] = 0xf0; /* e_machine */
    file_write(in_folder("first_abi.so"), file, length);
    expect_refused("first_abi", SVMX_ERR_ABI, "another machine");
    free(file);
}

Test(loader, plugins_that_are_wrong) {
    module_copy("bad_abi", NULL);
    expect_refused("bad_abi", SVMX_ERR_ABI, "speaks plugin ABI 99.");
    module_copy("no_symbol", NULL);
    expect_refused("no_symbol", SVMX_ERR_ABI, "does not export the symbol 'svmx_plugin'");
    module_copy("wrong_name", NULL);
    expect_refused("wrong_name", SVMX_ERR_ARGUMENT, "calls itself 'right_name': the file must be called right_name.so");
    module_copy("first_abi", "first-abi");
    expect_refused("first-abi", SVMX_ERR_ARGUMENT, "'first-abi.so': a plugin's file is called NAME.so");
    module_copy("first_abi", "none");
    expect_refused("none", SVMX_ERR_ARGUMENT, "not none or stop");
    module_copy("first_abi", "abcdefghijklmnopqrstuvwxyz012345");
    expect_refused("abcdefghijklmnopqrstuvwxyz012345", SVMX_ERR_ARGUMENT, "up to 31");
}

Test(loader, no_code_runs_before_a_plugin_is_judged) {
    char mark[512];
    (void)snprintf(mark, sizeof mark, "%s", in_folder("mark"));
    cr_assert_eq(setenv("SVMX_TEST_CONSTRUCTOR_FILE", mark, 1), 0);
    module_copy("constructor", NULL);
    expect_refused("constructor", SVMX_ERR_ABI, "ABI 99.0");
    cr_assert_neq(access(mark, F_OK), 0, "its constructor ran");

    /* Proof that the mark would have shown: loaded in spite of all, it is there. */
    struct svmx__found file = {.name = "constructor", .path = (char *)(uintptr_t)in_folder("constructor.so")};
    struct stat info;
    const struct svmx_plugin *plugin = NULL;
    cr_assert_eq(stat(file.path, &info), 0);
    struct svmx__inspected forged = {.device = info.st_dev, .inode = info.st_ino};
    cr_assert_eq(svmx__loader_load(&file, &forged, &plugin, &why), SVMX_ERR_ABI, "data differ from what was inspected");
    cr_assert(strstr(why.line, "not what the file says"), "%s", why.line);
    cr_assert_null(plugin);
    cr_assert_eq(access(mark, F_OK), 0);
}

/* ---- the data symbol ---- */

static struct svmx_plugin good_plugin(void) {
    return (struct svmx_plugin){.magic = SVMX_PLUGIN_MAGIC,
                                .size = sizeof(struct svmx_plugin),
                                .abi_major = SVMX_ABI_MAJOR,
                                .abi_minor = SVMX_ABI_MINOR,
                                .name = "good",
                                .version = "1",
                                .licence = "none"};
}

static void expect_check(const struct svmx_plugin *plugin, enum svmx_status status, const char *reason) {
    why.line[0] = '\0';
    cr_expect_eq(svmx__plugin_check(plugin, NULL, &why), status, "%s", why.line);
    cr_expect(strstr(why.line, reason), "expected \"%s\" in: %s", reason, why.line);
}

Test(loader, the_data_symbol_is_checked) {
    struct svmx_plugin plugin = good_plugin();
    expect_check(&plugin, SVMX_OK, "");
    plugin.magic++;
    expect_check(&plugin, SVMX_ERR_ABI, "SVMX_PLUGIN_MAGIC");
    plugin = good_plugin();
    plugin.abi_major++;
    expect_check(&plugin, SVMX_ERR_ABI, "speaks plugin ABI");
    plugin = good_plugin();
    plugin.abi_major--;
    expect_check(&plugin, SVMX_ERR_ABI, "speaks plugin ABI");
    plugin = good_plugin();
    plugin.size = 127;
    expect_check(&plugin, SVMX_ERR_ABI, "127 bytes");
    plugin = good_plugin();
    memset(plugin.name, 'a', sizeof plugin.name);
    expect_check(&plugin, SVMX_ERR_ABI, "no end");
    plugin = good_plugin();
    memset(plugin.version, 'a', sizeof plugin.version);
    expect_check(&plugin, SVMX_ERR_ABI, "no end");
    plugin = good_plugin();
    memset(plugin.licence, 'a', sizeof plugin.licence);
    expect_check(&plugin, SVMX_ERR_ABI, "no end");
    plugin = good_plugin();
    strcpy(plugin.name, "Good");
    expect_check(&plugin, SVMX_ERR_ARGUMENT, "'Good' is no name");
}

/* Append-only: older and newer minors load, so do longer structs. */
Test(loader, other_minors_of_the_same_major_are_welcome) {
    struct svmx_plugin plugin = good_plugin();
    plugin.abi_minor = UINT16_MAX;
    plugin.size = 4096;
    expect_check(&plugin, SVMX_OK, "");
    plugin.abi_minor = 0;
    plugin.size = 128;
    expect_check(&plugin, SVMX_OK, "");
}

/* ---- load ---- */

static void find_one(struct svmx__findings *findings) {
    scan(findings, folder);
    cr_assert_eq(findings->count, 1);
    cr_assert_eq(svmx__loader_inspect(&findings->files[0], &inspected, &why), SVMX_OK, "%s", why.line);
}

Test(loader, loads_what_was_inspected) {
    struct svmx__findings findings;
    const struct svmx_plugin *plugin = NULL, *again = NULL;
    module_copy("first_abi", NULL);
    find_one(&findings);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &plugin, &why), SVMX_OK, "%s", why.line);
    cr_assert_str_eq(plugin->name, "first_abi");
    cr_assert_not_null(plugin->open);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &again, &why), SVMX_OK, "twice is fine");
    cr_assert_eq(again, plugin);
    svmx__loader_findings_free(&findings);
}

Test(loader, a_file_replaced_after_inspection_is_not_loaded) {
    struct svmx__findings findings;
    const struct svmx_plugin *plugin = NULL;
    module_copy("first_abi", NULL);
    find_one(&findings);
    cr_assert_eq(rename(in_folder("first_abi.so"), in_folder("old")), 0);
    module_copy("first_abi", NULL);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &plugin, &why), SVMX_ERR_SYSTEM);
    cr_assert(strstr(why.line, "replaced"), "%s", why.line);
    cr_assert_null(plugin);
    svmx__loader_findings_free(&findings);
}

/* Nothing that a plugin defines becomes visible to the program or to other plugins. */
Test(loader, two_plugins_do_not_see_one_another) {
    struct svmx__findings findings;
    const struct svmx_plugin *one = NULL, *two = NULL;
    module_copy("first_abi", NULL);
    module_copy("open_fails", NULL);
    scan(&findings, folder);
    cr_assert_eq(findings.count, 2);
    cr_assert_eq(svmx__loader_inspect(&findings.files[0], &inspected, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &one, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(svmx__loader_inspect(&findings.files[1], &inspected, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(svmx__loader_load(&findings.files[1], &inspected, &two, &why), SVMX_OK, "%s", why.line);
    cr_assert_str_eq(one->name, "first_abi");
    cr_assert_str_eq(two->name, "open_fails");
    svmx__loader_findings_free(&findings);
}

Test(loader, what_dlopen_says_is_passed_on) {
    struct svmx__findings findings;
    const struct svmx_plugin *plugin = NULL;
    module_copy("first_abi", NULL);
    find_one(&findings);
    /* Damaged after inspection, in place: the same inode, another machine. */
    int fd = open(in_folder("first_abi.so"), O_WRONLY);
    cr_assert(fd >= 0 && pwrite(fd, "\xf0", 1, 18) == 1 && close(fd) == 0);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &plugin, &why), SVMX_ERR_SYSTEM);
    cr_assert(strstr(why.line, "dlopen: ") && strstr(why.line, "first_abi.so"), "%s", why.line);
    svmx__loader_findings_free(&findings);
}

/*
 * test_registry.c: from SUPERVM_BACKENDS and folders to open backends and a report (src/plugin/registry.c), with plugins
 * that are linked in here and check-only ones from files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/registry.h"
#include "plugin_fixture.h"

#include <stdarg.h>
#include <svmx/svmx.h>

TestSuite(registry, .init = folder_make, .fini = folder_remove);

/* ---- plugins that are linked in ---- */

static int instances_alive;
static char closed[256]; /* names of closed instances, in order */

static enum svmx_status fake_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    (void)index;
    (void)info;
    return SVMX_ERR_UNKNOWN;
}

static enum svmx_status fake_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                          struct svmx_memory **memory, void **host) {
    (void)self;
    (void)device;
    (void)desc;
    (void)memory;
    (void)host;
    return SVMX_ERR_UNSUPPORTED;
}

static void fake_memory_free(void *self, struct svmx_memory *memory) {
    (void)self;
    (void)memory;
}

static enum svmx_status fake_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                            struct svmx_pipeline **pipeline) {
    (void)self;
    (void)device;
    (void)desc;
    (void)pipeline;
    return SVMX_ERR_UNSUPPORTED;
}

static void fake_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    (void)pipeline;
}

static enum svmx_status fake_list_record(void *self, uint32_t device, const struct svmx_command_list *list,
                                         struct svmx_list **recorded) {
    (void)self;
    (void)device;
    (void)list;
    (void)recorded;
    return SVMX_ERR_UNSUPPORTED;
}

static void fake_list_free(void *self, struct svmx_list *recorded) {
    (void)self;
    (void)recorded;
}

static enum svmx_status fake_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self;
    (void)submission;
    (void)ticket;
    return SVMX_ERR_UNSUPPORTED;
}

static enum svmx_status fake_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                  struct svmx_timing *timing) {
    (void)self;
    (void)device;
    (void)ticket;
    (void)timeout_ns;
    (void)timing;
    return SVMX_ERR_UNSUPPORTED;
}

static void fake_close(void *self) {
    const struct test_host *host = self;
    size_t used = strlen(closed);
    (void)snprintf(closed + used, sizeof closed - used, "%s ", host->backend);
    instances_alive--;
}

#define FAKE_OPS                                                                                                       \
    .size = sizeof(struct svmx_backend_ops), .device_info = fake_device_info, .memory_alloc = fake_memory_alloc,       \
    .memory_free = fake_memory_free, .pipeline_build = fake_pipeline_build, .pipeline_free = fake_pipeline_free,       \
    .list_record = fake_list_record, .list_free = fake_list_free, .submit = fake_submit, .wait = fake_wait,            \
    .close = fake_close

static struct svmx_backend_ops fake_ops = {FAKE_OPS};

static enum svmx_status fake_open(const struct svmx_host *host, struct svmx_backend *backend) {
    instances_alive++;
    *backend = (struct svmx_backend){.ops = &fake_ops, .self = (void *)(uintptr_t)host};
    return SVMX_OK;
}

static enum svmx_status null_ops_open(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)host;
    *backend = (struct svmx_backend){0};
    return SVMX_OK;
}

/* Fails, without a word, and leaves rubbish behind. */
static enum svmx_status silent_open(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)host;
    backend->ops = (const struct svmx_backend_ops *)(uintptr_t)8;
    return SVMX_ERR_SYSTEM;
}

#define PLUGIN(called, opens, with)                                                                                    \
    {                                                                                                                  \
        .magic = SVMX_PLUGIN_MAGIC, .size = sizeof(struct svmx_plugin), .abi_major = SVMX_ABI_MAJOR,                   \
        .abi_minor = SVMX_ABI_MINOR, .flags = (with), .name = called, .version = "7", .licence = "MIT", .open = opens  \
    }

static const struct svmx_plugin reference = PLUGIN("reference", fake_open, 0);
static const struct svmx_plugin simd = PLUGIN("simd", fake_open, 0);
static const struct svmx_plugin opencl = PLUGIN("opencl", fake_open, 0);
static const struct svmx_plugin levelzero = PLUGIN("levelzero", fake_open, 0);
static const struct svmx_plugin aaa = PLUGIN("aaa", fake_open, 0);
static const struct svmx_plugin zzz = PLUGIN("zzz", fake_open, 0);
static const struct svmx_plugin on_request = PLUGIN("on_request", fake_open, SVMX_PLUGIN_ON_REQUEST);
static const struct svmx_plugin null_ops = PLUGIN("null_ops", null_ops_open, 0);
static const struct svmx_plugin silent = PLUGIN("silent", silent_open, 0);
static const struct svmx_plugin no_open = PLUGIN("no_open", NULL, 0);
static const struct svmx_plugin bad_name = PLUGIN("Bad", fake_open, 0);

/* ---- opening ---- */

static struct svmx__registry registry;
static struct svmx__text why;

static struct svmx__registry_config config_of(const char *backends) {
    return (struct svmx__registry_config){.backends = backends,
                                          .origin = "SUPERVM_BACKENDS",
                                          .backend_path = folder,
                                          .reference = &reference,
                                          .maker = test_maker,
                                          .log = &test_log};
}

/* With the plugins that follow linked in, up to NULL. */
static enum svmx_status open_with(const char *backends, ...) {
    const struct svmx_plugin *linked[8];
    struct svmx__registry_config config = config_of(backends);
    va_list args;
    va_start(args, backends);
    for (const struct svmx_plugin *plugin; (plugin = va_arg(args, const struct svmx_plugin *));)
        linked[config.static_plugin_count++] = plugin;
    va_end(args);
    config.static_plugins = linked;
    why.line[0] = '\0';
    return svmx__registry_open(&registry, &config, &why);
}

static void expect_backends(const char *names) {
    char got[256] = "";
    for (uint32_t i = 0; i < registry.backend_count; i++) {
        size_t used = strlen(got);
        (void)snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", registry.backends[i].name);
    }
    cr_expect_str_eq(got, names);
}

/* The entry of a name; the first of several. */
static const struct svmx__load_entry *entry_of(const char *name) {
    for (uint32_t i = 0; i < registry.entry_count; i++)
        if (strcmp(registry.entries[i].name, name) == 0) return &registry.entries[i];
    cr_assert_fail("no entry of %s", name);
    return NULL;
}

static void expect_entry(const char *name, uint32_t verdict, enum svmx_status status, const char *reason) {
    const struct svmx__load_entry *entry = entry_of(name);
    cr_expect_eq(entry->verdict, verdict, "%s: verdict %u: %s", name, entry->verdict, entry->reason);
    cr_expect_eq(entry->status, status, "%s: status %d", name, entry->status);
    cr_expect(strstr(entry->reason, reason), "%s: expected \"%s\" in: %s", name, reason, entry->reason);
    cr_expect_eq(entry->noted, strcmp(entry->reason, "ready") != 0, "%s: %s", name, entry->reason);
}

/* Everything that was opened is closed, and every host given back. */
static void expect_all_gone(void) {
    cr_expect_eq(instances_alive, 0, "%d instances", instances_alive);
    cr_expect_eq(hosts_alive, 0, "%d hosts", hosts_alive);
    cr_expect_eq(allocations_alive, 0, "%d allocations", allocations_alive);
}

static void close_all(void) {
    svmx__registry_close(&registry);
    cr_expect_eq(registry.backend_count, 0);
    expect_all_gone();
}

/* ---- order and selection ---- */

Test(registry, the_reference_alone) {
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("reference", SVMX_LOADED, SVMX_OK, "ready");
    cr_assert_str_eq(entry_of("reference")->path, "");
    cr_assert_not(entry_of("reference")->noted);
    close_all();
}

Test(registry, built_in_preference) {
    cr_assert_eq(open_with("", &zzz, &simd, &aaa, &opencl, &levelzero, NULL), SVMX_OK, "%s", why.line);
    expect_backends("levelzero opencl simd aaa zzz reference");
    cr_assert_str_eq(entry_of("simd")->version, "7");
    cr_assert_str_eq(entry_of("simd")->licence, "MIT");
    close_all();
    cr_assert_str_eq(closed, "reference zzz aaa simd opencl levelzero ", "closed in reverse order");
}

Test(registry, the_users_order_comes_first) {
    cr_assert_eq(open_with("zzz,simd", &simd, &zzz, &opencl, NULL), SVMX_OK, "%s", why.line);
    expect_backends("zzz simd opencl reference");
    close_all();
}

Test(registry, stop_and_none_and_left_out) {
    cr_assert_eq(open_with("zzz,stop", &simd, &zzz, NULL), SVMX_OK, "%s", why.line);
    expect_backends("zzz reference");
    expect_entry("simd", SVMX_SKIPPED, SVMX_OK, "left out by the selection");
    close_all();
    cr_assert_eq(open_with("none", &simd, &zzz, NULL), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    close_all();
    cr_assert_eq(open_with("^simd", &simd, &zzz, NULL), SVMX_OK, "%s", why.line);
    expect_backends("zzz reference");
    close_all();
    cr_assert_eq(open_with("-zzz", &simd, &zzz, NULL), SVMX_OK, "%s", why.line);
    expect_backends("simd reference");
    close_all();
}

Test(registry, the_reference_is_a_name_but_stays_last) {
    cr_assert_eq(open_with("+reference,simd", &simd, NULL), SVMX_OK, "%s", why.line);
    expect_backends("simd reference");
    close_all();
    cr_assert_eq(open_with("-reference", &simd, NULL), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(why.line, "cannot be left out"), "%s", why.line);
    expect_all_gone();
}

Test(registry, on_request_only) {
    cr_assert_eq(open_with("", &on_request, NULL), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("on_request", SVMX_SKIPPED, SVMX_OK, "on request only");
    close_all();
    cr_assert_eq(open_with("on_request", &on_request, NULL), SVMX_OK, "%s", why.line);
    expect_backends("on_request reference");
    close_all();
    module_copy("check", NULL);
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    expect_entry("check", SVMX_SKIPPED, SVMX_OK, "on request only");
    cr_assert_str_eq(entry_of("check")->licence, "Apache-2.0", "read without running it");
    close_all();
}

/* As in a set-user-ID program. */
Test(registry, without_a_name_no_file_is_loaded_that_may_have_a_driver_behind_it) {
    struct svmx__registry_config config = config_of("");
    const struct svmx_plugin *const linked[] = {&opencl};
    config.named_only = true;
    module_copy("first_abi", NULL);
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("first_abi", SVMX_SKIPPED, SVMX_OK, "set-user-ID");
    close_all();
    config.backends = "first_abi";
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_backends("first_abi reference");
    close_all();
    config.backends = "-first_abi";
    config.static_plugins = linked;
    config.static_plugin_count = 1;
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_backends("opencl reference"); /* what the program links in is its own choice */
    close_all();
}

Test(registry, device_parts_reach_the_host) {
    cr_assert_eq(open_with("opencl:gpu,simd,opencl:03:00.0", &simd, &opencl, NULL), SVMX_OK, "%s", why.line);
    const struct test_host *host = (const struct test_host *)(const void *)registry.backends[0].host;
    cr_assert_str_eq(host->base.option(&host->base, "select"), "gpu,03:00.0");
    host = (const struct test_host *)(const void *)registry.backends[1].host;
    cr_assert_null(host->base.option(&host->base, "select"));
    close_all();
}

/* ---- errors of the whole ---- */

Test(registry, unknown_names_list_the_known_ones) {
    module_copy("first_abi", NULL);
    static const char *const wrong[] = {"simd,cuda", "-cuda", "^cuda", "+cuda"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(open_with(wrong[i], &simd, NULL), SVMX_ERR_UNKNOWN, "%s", wrong[i]);
        cr_expect(strstr(why.line, "no backend 'cuda'"), "%s", why.line);
        cr_expect(strstr(why.line, "simd") && strstr(why.line, "first_abi") && strstr(why.line, "reference"), "%s",
                  why.line);
        cr_expect(strstr(why.line, folder), "where it looked: %s", why.line);
        expect_all_gone();
    }
}

Test(registry, bad_grammar_and_bad_paths_open_nothing) {
    cr_assert_eq(open_with("simd,,zzz", &simd, &zzz, NULL), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(why.line, "item 2"), "%s", why.line);
    struct svmx__registry_config config = config_of("");
    config.backend_path = "plugins";
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(why.line, "'plugins' is not absolute"), "%s", why.line);
    expect_all_gone();
}

Test(registry, a_demanded_backend_that_fails_is_an_error) {
    static const struct {
        const char *name, *reason;
    } cases[] = {{"open_fails", "SVMX_ERR_BACKEND: open_fails: the moon is in the wrong place"},
                 {"open_unsupported", "SVMX_ERR_UNSUPPORTED: open_unsupported: no device of this kind"},
                 {"bad_abi", "speaks plugin ABI 99."},
                 {"no_symbol", "does not export"},
                 {"wrong_name", "calls itself 'right_name'"},
                 {"holes", "has no wait"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char demanded[64];
        module_copy(cases[i].name, NULL);
        (void)snprintf(demanded, sizeof demanded, "simd,+%s", cases[i].name);
        cr_expect_eq(open_with(demanded, &simd, NULL), SVMX_ERR_BACKEND, "%s", demanded);
        cr_expect(strstr(why.line, cases[i].name) && strstr(why.line, cases[i].reason), "%s", why.line);
        expect_all_gone();
    }
}

/* The second host is refused: what the first opened is closed again. */
static const struct svmx_host *host_refuse(void *user, const char *backend, const char *select) {
    return strcmp(backend, "simd") == 0 ? host_make(user, backend, select) : NULL;
}

Test(registry, no_memory_for_a_host) {
    struct svmx__registry_config config = config_of("");
    const struct svmx_plugin *const linked[] = {&simd};
    config.static_plugins = linked;
    config.static_plugin_count = 1;
    config.maker.make = host_refuse;
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_ERR_MEMORY);
    cr_assert_str_eq(closed, "simd ");
    expect_all_gone();
}

/* ---- candidates that fail ---- */

Test(registry, bad_plugins_are_named_and_do_no_harm) {
    static const char text[] = "not a plugin\n";
    module_copy("bad_abi", NULL);
    module_copy("no_symbol", NULL);
    module_copy("wrong_name", NULL);
    module_copy("open_fails", NULL);
    module_copy("open_unsupported", NULL);
    module_copy("holes", NULL);
    module_copy("first_abi", NULL);
    file_write(in_folder("text.so"), text, sizeof text);
    cr_assert_eq(open_with("", &simd, NULL), SVMX_OK, "%s", why.line);
    expect_backends("simd first_abi reference");
    expect_entry("bad_abi", SVMX_REFUSED, SVMX_ERR_ABI, "speaks plugin ABI 99.");
    expect_entry("no_symbol", SVMX_REFUSED, SVMX_ERR_ABI, "does not export");
    expect_entry("wrong_name", SVMX_REFUSED, SVMX_ERR_ARGUMENT, "right_name.so");
    expect_entry("open_fails", SVMX_REFUSED, SVMX_ERR_BACKEND, "the moon is in the wrong place");
    expect_entry("open_unsupported", SVMX_SKIPPED, SVMX_ERR_UNSUPPORTED, "no device of this kind");
    expect_entry("holes", SVMX_REFUSED, SVMX_ERR_BACKEND, "its table of functions has no wait");
    expect_entry("text", SVMX_REFUSED, SVMX_ERR_ABI, "not a shared object");
    expect_entry("first_abi", SVMX_LOADED, SVMX_OK, "ready");
    cr_expect_str_eq(entry_of("first_abi")->path, in_folder("first_abi.so"));
    cr_expect_str_eq(entry_of("open_fails")->version, "1");
    cr_expect(strstr(log_lines, "holes: closed"), "an instance that is refused is closed");
    close_all();
}

Test(registry, one_line_in_the_log_for_each) {
    module_copy("first_abi", NULL);
    module_copy("bad_abi", NULL);
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    cr_expect(strstr(log_lines, "info:backend first_abi /"), "%s", log_lines);
    cr_expect(strstr(log_lines, "first_abi.so loaded: ready"), "%s", log_lines);
    cr_expect(strstr(log_lines, "warn:backend bad_abi /"), "%s", log_lines);
    cr_expect(strstr(log_lines, "bad_abi.so refused: speaks"), "%s", log_lines);
    close_all();
}

Test(registry, a_folder_that_others_may_write) {
    module_copy("first_abi", NULL);
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("first_abi", SVMX_REFUSED, SVMX_ERR_PERMISSION, "chmod go-w");
    close_all();
    cr_assert_eq(open_with("+first_abi", NULL), SVMX_ERR_BACKEND);
    cr_assert(strstr(why.line, "chmod go-w"), "%s", why.line);
    expect_all_gone();
}

Test(registry, a_folder_that_is_none) {
    struct svmx__registry_config config = config_of("");
    file_write(in_folder("file"), "", 0);
    config.backend_path = in_folder("file");
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_entry("*", SVMX_REFUSED, SVMX_ERR_SYSTEM, "Not a directory");
    close_all();
    config.backend_path = in_folder("absent");
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(registry.entry_count, 1, "the reference only");
    close_all();
}

Test(registry, what_is_left_out_is_not_even_opened) {
    char mark[512];
    (void)snprintf(mark, sizeof mark, "%s", in_folder("mark"));
    cr_assert_eq(setenv("SVMX_TEST_CONSTRUCTOR_FILE", mark, 1), 0);
    module_copy("constructor", NULL);
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    expect_entry("constructor", SVMX_REFUSED, SVMX_ERR_ABI, "99.0");
    close_all();
    cr_assert_eq(open_with("-constructor", NULL), SVMX_OK, "%s", why.line);
    expect_entry("constructor", SVMX_SKIPPED, SVMX_OK, "left out");
    close_all();
    cr_assert_neq(access(mark, F_OK), 0, "its constructor ran");
}

/* ---- the first of a name wins ---- */

Test(registry, linked_in_before_files_before_later_files) {
    struct svmx__registry_config config = config_of("");
    const struct svmx_plugin *const linked[] = {&simd, &simd};
    char path[1024];
    cr_assert_eq(mkdir(in_folder("one"), 0755), 0);
    cr_assert_eq(mkdir(in_folder("two"), 0755), 0);
    file_write(in_folder("simd.so"), "text", 4);
    module_copy("first_abi", "one/first_abi");
    module_copy("first_abi", "two/first_abi");
    module_copy("first_abi", NULL);
    file_write(in_folder("one/reference.so"), "text", 4);
    (void)snprintf(path, sizeof path, "%s/one:%s/two:%s", folder, folder, folder);
    config.backend_path = path;
    config.static_plugins = linked;
    config.static_plugin_count = 2;
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_backends("simd first_abi reference");
    char first[512], shadow[600];
    (void)snprintf(first, sizeof first, "%s", in_folder("one/first_abi.so"));
    (void)snprintf(shadow, sizeof shadow, "shadowed by %s", first);
    unsigned shadowed_files = 0, shadowed_linked = 0;
    for (uint32_t i = 0; i < registry.entry_count; i++) {
        const struct svmx__load_entry *entry = &registry.entries[i];
        if (entry->verdict != SVMX_SKIPPED) continue;
        shadowed_files += strcmp(entry->reason, shadow) == 0;
        shadowed_linked += strcmp(entry->reason, "shadowed by the one that is linked in") == 0;
    }
    cr_expect_eq(shadowed_files, 2, "both later ones name the first");
    cr_expect_eq(shadowed_linked, 3, "simd twice, reference once");
    cr_expect_str_eq(entry_of("first_abi")->path, first);
    close_all();
}

/* Which file is used must not depend on which is broken. */
Test(registry, a_broken_first_one_still_wins) {
    struct svmx__registry_config config = config_of("");
    char path[1024];
    cr_assert_eq(mkdir(in_folder("one"), 0755), 0);
    file_write(in_folder("one/first_abi.so"), "text", 4);
    module_copy("first_abi", NULL);
    (void)snprintf(path, sizeof path, "%s/one:%s", folder, folder);
    config.backend_path = path;
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("first_abi", SVMX_REFUSED, SVMX_ERR_ABI, "not a shared object");
    close_all();
    config.backends = "+first_abi";
    cr_assert_eq(svmx__registry_open(&registry, &config, &why), SVMX_ERR_BACKEND);
    cr_assert(strstr(why.line, "not a shared object"), "the reason of the one that counts: %s", why.line);
    expect_all_gone();
}

/* ---- tables of functions ---- */

Test(registry, plugins_that_are_linked_in_are_checked_too) {
    cr_assert_eq(open_with("", &null_ops, &silent, &no_open, &bad_name, NULL), SVMX_OK, "%s", why.line);
    expect_backends("reference");
    expect_entry("null_ops", SVMX_REFUSED, SVMX_ERR_BACKEND, "backend.ops is NULL");
    expect_entry("silent", SVMX_REFUSED, SVMX_ERR_SYSTEM, "SVMX_ERR_SYSTEM: it logged no reason");
    expect_entry("no_open", SVMX_REFUSED, SVMX_ERR_ABI, "no open function");
    expect_entry("Bad", SVMX_REFUSED, SVMX_ERR_ARGUMENT, "is no name");
    close_all();
}

Test(registry, every_hole_has_its_name) {
    static const struct {
        size_t offset;
        const char *reason;
    } holes[] = {{offsetof(struct svmx_backend_ops, device_info), "no device_info"},
                 {offsetof(struct svmx_backend_ops, memory_alloc), "no memory_alloc"},
                 {offsetof(struct svmx_backend_ops, memory_free), "no memory_free"},
                 {offsetof(struct svmx_backend_ops, pipeline_build), "no pipeline_build"},
                 {offsetof(struct svmx_backend_ops, pipeline_free), "no pipeline_free"},
                 {offsetof(struct svmx_backend_ops, list_record), "no list_record"},
                 {offsetof(struct svmx_backend_ops, list_free), "no list_free"},
                 {offsetof(struct svmx_backend_ops, submit), "no submit"},
                 {offsetof(struct svmx_backend_ops, wait), "no wait"}};
    for (size_t i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        fake_ops = (struct svmx_backend_ops){FAKE_OPS};
        memset((char *)&fake_ops + holes[i].offset, 0, sizeof(void *));
        cr_expect_eq(open_with("", &simd, NULL), SVMX_ERR_BACKEND, "the reference has the same hole");
        cr_expect(strstr(why.line, holes[i].reason), "%s", why.line);
        expect_all_gone();
    }
    fake_ops = (struct svmx_backend_ops){FAKE_OPS};
    fake_ops.close = NULL;
    cr_expect_eq(open_with("", NULL), SVMX_ERR_BACKEND);
    cr_expect(strstr(why.line, "no close"), "%s", why.line);
}

Test(registry, optional_slots_may_be_missing) {
    fake_ops.memory_alloc = NULL;
    fake_ops.memory_free = NULL;
    fake_ops.list_record = NULL;
    fake_ops.list_free = NULL;
    cr_assert_eq(open_with("", &simd, NULL), SVMX_OK, "%s", why.line);
    expect_backends("simd reference");
    close_all();
}

Test(registry, a_table_shorter_than_the_first_abi) {
    fake_ops.size = offsetof(struct svmx_backend_ops, close);
    cr_assert_eq(open_with("", NULL), SVMX_ERR_BACKEND);
    cr_assert(strstr(why.line, "88 bytes, 96 are the least"), "%s", why.line);
    cr_assert_eq(hosts_alive, 0);
    cr_assert_str_eq(closed, "", "a slot is called only if it lies inside the size");
}

/* A later plugin's table may be longer; ours is a prefix of it. */
Test(registry, a_longer_table_is_used_as_it_is) {
    fake_ops.size = sizeof fake_ops + 64;
    cr_assert_eq(open_with("", NULL), SVMX_OK, "%s", why.line);
    cr_assert_eq(registry.backends[0].instance.ops, &fake_ops);
    cr_assert_null(registry.backends[0].grown_ops);
    close_all();
}

/* Whatever its size, the core gets a table that has every slot; those that the plugin does not know are NULL. */
Test(registry, tables_of_the_first_abi_are_long_enough) {
    module_copy("first_abi", NULL);
    cr_assert_eq(open_with("first_abi", NULL), SVMX_OK, "%s", why.line);
    const struct svmx_backend_ops *ops = registry.backends[0].instance.ops;
    cr_assert_geq(ops->size, sizeof *ops);
    cr_assert_null(ops->list_record);
    cr_assert_not_null(ops->close);
    close_all();
}

Test(registry, abandoned_instances_are_left_alone) {
    static struct svmx__backend *kept; /* for the leak checker: it is meant to stay */
    cr_assert_eq(open_with("", &simd, NULL), SVMX_OK, "%s", why.line);
    kept = registry.backends;
    registry.backends[0].abandoned = true;
    svmx__registry_close(&registry);
    cr_assert_str_eq(closed, "reference ", "simd is not closed");
    cr_assert_eq(hosts_alive, 1, "and keeps its host");
    cr_assert_str_eq(kept[0].name, "simd", "a thread that comes back late still finds its backend");
}

Test(registry, two_at_once_share_nothing) {
    struct svmx__registry first;
    module_copy("first_abi", NULL);
    cr_assert_eq(open_with("first_abi", NULL), SVMX_OK, "%s", why.line);
    first = registry;
    cr_assert_eq(open_with("first_abi", NULL), SVMX_OK, "%s", why.line);
    cr_assert_neq(first.backends[0].instance.self, registry.backends[0].instance.self);
    cr_assert_neq(first.backends[0].host, registry.backends[0].host);
    svmx__registry_close(&first);
    expect_backends("first_abi reference");
    close_all();
}

/*
 * test_profile.c: src/executor/profile.c and profiled.c: what an executor learned is there for the next one, if its devices
 * are the same; and the public calls that look at it.
 *
 * Devices here compute nothing: the model is told what they took.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "profile_fixture.h"
#include "store_fixture.h"

#include <svmx/ops.h>
#include <svmx/svmx.h>

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static struct fake_device {
    const char *name, *driver, *variant, *pci;
    uint32_t threads;
    bool gone;
} devices[3];

static enum svmx_status fake_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index >= 3 || devices[index].gone) return SVMX_ERR_UNKNOWN;
    const size_t size = info->size;
    *info = (struct svmx_device_info){.size = size,
                                      .kind = SVMX_DEVICE_CPU,
                                      .flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE,
                                      .compute_engines = 1,
                                      .threads = devices[index].threads};
    (void)snprintf(info->name, sizeof info->name, "%s", devices[index].name);
    (void)snprintf(info->driver, sizeof info->driver, "%s", devices[index].driver);
    (void)snprintf(info->variant, sizeof info->variant, "%s", devices[index].variant);
    (void)snprintf(info->pci, sizeof info->pci, "%s", devices[index].pci);
    return SVMX_OK;
}

static enum svmx_status fake_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                   struct svmx_pipeline **pipeline) {
    (void)self, (void)device, (void)desc, (void)pipeline;
    return SVMX_ERR_UNSUPPORTED;
}

static void fake_free(void *self, struct svmx_pipeline *pipeline) { (void)self, (void)pipeline; }

static enum svmx_status fake_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self, (void)submission, (void)ticket;
    return SVMX_ERR_UNSUPPORTED;
}

static enum svmx_status fake_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                  struct svmx_timing *timing) {
    (void)self, (void)device, (void)ticket, (void)timeout_ns, (void)timing;
    return SVMX_OK;
}

static void fake_close(void *self) { (void)self; }

static const struct svmx_backend_ops fake_ops = {.size = sizeof fake_ops,
                                                 .device_info = fake_info,
                                                 .pipeline_build = fake_build,
                                                 .pipeline_free = fake_free,
                                                 .submit = fake_submit,
                                                 .wait = fake_wait,
                                                 .close = fake_close};

static enum svmx_status fake_open(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)host;
    *backend = (struct svmx_backend){.ops = &fake_ops, .self = devices};
    return SVMX_OK;
}

static struct svmx_plugin fake_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                         .size = sizeof fake_plugin,
                                         .abi_major = SVMX_ABI_MAJOR,
                                         .abi_minor = SVMX_ABI_MINOR,
                                         .name = "fake",
                                         .version = "1.0+abcd",
                                         .licence = "Apache-2.0",
                                         .open = fake_open};
static const struct svmx_plugin *const plugins[] = {&fake_plugin};

/* ---- an executor ------------------------------------------------------------------------------------------------ */

static svmx_executor_t *executor;

static void log_executor(void *user, enum svmx_log_level level, const char *text) { log_keep(user, level, text); }

static void start(void) {
    log_lines[0] = '\0';
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "fake,stop",
                                         .backend_path = "/nonexistent",
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                         .log_level = SVMX_LOG_INFO,
                                         .log = log_executor,
                                         .profile = in_cache("profile"),
                                         .static_plugins = plugins,
                                         .static_plugin_count = 1};
    struct svmx_error error = {0};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
}

static void stop(void) {
    svmx_close(executor);
    executor = NULL;
}

static void set_up(void) {
    store_make();
    devices[0] = (struct fake_device){.name = "one", .driver = "d1", .variant = "avx2", .pci = "", .threads = 2};
    devices[1] =
        (struct fake_device){.name = "two", .driver = "d2", .variant = "", .pci = "0000:01:00.0", .threads = 9};
    devices[2] = (struct fake_device){.gone = true};
}

static void learn(uint32_t device, uint32_t op, uint64_t units, uint64_t ns) {
    const struct svmx__load load = {.units = units, .work = units, .bytes = 12 * units};
    const struct svmx__sample sample = {.setup_ns = ns / 4, .transfer_ns = ns / 4, .compute_ns = ns - ns / 2};
    for (int i = 0; i < 10; i++) cr_assert(svmx__model_learn(&executor->model, op, device, &load, &sample));
}

/* What a device is known to take; 0: it was never measured. */
static double known_ns(uint32_t device, uint32_t op, uint64_t units) {
    const struct svmx__load load = {.units = units, .work = units, .bytes = 12 * units};
    struct svmx__cost cost;
    svmx__model_cost(&executor->model, op, device, &load, &cost);
    return cost.kind == SVMX__MEASURED ? cost.ns : 0;
}

static uint32_t cells_on_disk(void) {
    svmx_profile_t *profile;
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_defect(profile), "");
    const uint32_t count = svmx_profile_count(profile);
    svmx_profile_close(profile);
    return count;
}

static bool logged(const char *text) { return strstr(log_lines, text) != NULL; }

/* An executor that measured two sizes on each of two devices. */
static void one_life(void) {
    start();
    for (uint32_t d = 0; d < 2; d++) {
        learn(d, SVMX_OP_SHA256, 64, 1000 * (d + 1));
        learn(d, SVMX_OP_VEC_ADD_F32, 4096, 70000 * (d + 1));
    }
    stop();
}

TestSuite(profile, .init = set_up, .fini = store_remove);

/* ---- from one process to the next ------------------------------------------------------------------------------- */

Test(profile, keeps_what_was_learned) {
    one_life();
    cr_assert_eq(cells_on_disk(), 4u);
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 1000);
    cr_assert_eq(known_ns(1, SVMX_OP_SHA256, 64), 2000);
    cr_assert_eq(known_ns(1, SVMX_OP_VEC_ADD_F32, 4096), 140000);
    cr_assert_eq(known_ns(1, SVMX_OP_VEC_ADD_F32, 64), 0);
    cr_assert_not(logged("profile"), "%s", log_lines);
    stop();
}

Test(profile, is_not_touched_when_nothing_is_new) {
    start();
    stop();
    cr_assert_not(exists(cache), "nothing was learned");
    one_life();
    struct stat before, after;
    cr_assert_eq(stat(in_cache("profile"), &before), 0);
    start();
    cr_assert_eq(svmx_profile_save(executor, NULL), SVMX_OK);
    stop();
    cr_assert_eq(stat(in_cache("profile"), &after), 0);
    cr_assert_eq(before.st_ino, after.st_ino, "not written anew");
}

Test(profile, keeps_all_samples_of_what_was_not_measured_again) {
    struct svmx_profile_entry entry = {.size = sizeof entry};
    svmx_profile_t *profile;
    one_life();
    start();
    learn(0, SVMX_OP_SHA256, 1 << 20, 9000000);
    stop();
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), NULL), SVMX_OK);
    cr_assert_eq(svmx_profile_count(profile), 5u);
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(svmx_profile_get(profile, i, &entry), SVMX_OK);
        cr_assert_eq(entry.samples, 10u, "%s %lu", entry.op, (unsigned long)entry.units);
    }
    svmx_profile_close(profile);
}

Test(profile, is_written_when_asked) {
    start();
    learn(0, SVMX_OP_SHA256, 64, 1000);
    cr_assert_eq(svmx_profile_save(executor, NULL), SVMX_OK);
    cr_assert_eq(cells_on_disk(), 1u);
    stop();
}

Test(profile, is_kept_of_a_single_device_too) {
    devices[1].gone = true;
    start();
    learn(0, SVMX_OP_SHA256, 64, 1000);
    stop();
    cr_assert_eq(cells_on_disk(), 1u);
}

Test(profile, is_not_kept_of_operations_that_programs_register) {
    start();
    learn(0, SVMX_OP_FIRST_REGISTERED, 64, 1000);
    learn(0, SVMX_OP_SHA256, 64, 1000);
    stop();
    cr_assert_eq(cells_on_disk(), 1u);
}

Test(profile, keeps_the_link_of_a_device) {
    start();
    executor->model.devices[1].on_host = false; /* as if */
    executor->model.devices[1].latency_ns = 4321;
    executor->model.devices[1].bytes_per_ns = 7.5;
    executor->model.devices[1].measured = true;
    stop();
    cr_assert(exists(in_cache("profile")), "a link is worth a file");
    start();
    executor->model.devices[1].on_host = false;
    svmx__profile_load(executor);
    cr_assert(executor->model.devices[1].measured);
    cr_assert_eq(executor->model.devices[1].latency_ns, 4321);
    cr_assert_eq(executor->model.devices[1].bytes_per_ns, 7.5);
    cr_assert_not(executor->model.devices[0].measured);
    executor->model.devices[1].bytes_per_ns = 8.5;
    stop();
    start();
    executor->model.devices[1].on_host = false;
    svmx__profile_load(executor);
    cr_assert_eq(executor->model.devices[1].bytes_per_ns, 8.5, "measured anew");
    stop();
}

/* ---- devices that change ---------------------------------------------------------------------------------------- */

Test(profile, drops_what_was_measured_with_another_driver) {
    one_life();
    devices[1].driver = "d3";
    start();
    cr_assert_eq(known_ns(1, SVMX_OP_SHA256, 64), 0);
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 1000, "the other device keeps its own");
    cr_assert(logged("info:profile: what was measured of fake: two is dropped: its driver changed"), "%s", log_lines);
    learn(1, SVMX_OP_SHA256, 64, 500);
    stop();
    cr_assert_eq(cells_on_disk(), 3u);
    devices[1].driver = "d2";
    start();
    cr_assert_eq(known_ns(1, SVMX_OP_VEC_ADD_F32, 4096), 0, "it does not come back");
    stop();
}

Test(profile, drops_what_was_measured_with_another_plugin) {
    one_life();
    (void)snprintf(fake_plugin.version, sizeof fake_plugin.version, "1.0+ef01");
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64) + known_ns(1, SVMX_OP_SHA256, 64), 0);
    cr_assert(logged("two is dropped: its plugin changed"), "%s", log_lines);
    stop();
}

/* What the user sets may be set back. */
Test(profile, keeps_variants_and_numbers_of_threads_apart) {
    one_life();
    devices[0].variant = "scalar";
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 0);
    cr_assert(logged("one is not used: its variant is another"), "%s", log_lines);
    learn(0, SVMX_OP_SHA256, 64, 8000);
    stop();
    devices[0].threads = 1;
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 0);
    cr_assert(logged("one is not used: it has another number of threads"), "%s", log_lines);
    stop();
    devices[0].threads = 2;
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 8000);
    stop();
    devices[0].variant = "avx2";
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 1000);
    stop();
}

Test(profile, does_not_forget_a_device_that_is_not_here) {
    devices[2] = (struct fake_device){.name = "three", .driver = "d", .variant = "", .pci = "", .threads = 1};
    start();
    learn(2, SVMX_OP_SHA256, 64, 333);
    stop();
    devices[2].gone = true;
    one_life();
    cr_assert_eq(cells_on_disk(), 5u);
    cr_assert_not(logged("three"));
    devices[2].gone = false;
    start();
    cr_assert_eq(known_ns(2, SVMX_OP_SHA256, 64), 333);
    stop();
}

Test(profile, carries_operations_over_that_only_another_version_knows) {
    struct svmx__profile_records records = {0};
    struct svmx__text why, defect;
    one_life();
    cr_assert_eq(svmx__profile_read(&records, in_cache("profile"), &defect, &why), SVMX_OK);
    const struct svmx__profile_cell cell = some_cell(0, "of_tomorrow", 3, 1000);
    cr_assert(svmx__profile_add_cell(&records, &cell));
    cr_assert_eq(svmx__profile_write(&records, in_cache("profile"), false, &why), SVMX_OK);
    svmx__profile_records_free(&records);
    start();
    learn(0, SVMX_OP_KECCAK256, 64, 1000);
    stop();
    cr_assert_eq(cells_on_disk(), 6u);
}

/* ---- files that are bad ----------------------------------------------------------------------------------------- */

Test(profile, is_ignored_with_a_word_and_started_anew_when_it_is_damaged) {
    one_life();
    cr_assert_eq(truncate(in_cache("profile"), 300), 0);
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 0);
    cr_assert(logged("warn:the profile ") && logged("is ignored, and started anew: it is cut short"), "%s", log_lines);
    cr_assert_null(strstr(strstr(log_lines, "warn:") + 1, "warn:"), "once");
    learn(0, SVMX_OP_SHA256, 64, 777);
    stop();
    cr_assert_eq(cells_on_disk(), 1u);
    cr_assert(exists(in_cache("profile.bad")));
}

Test(profile, is_neither_read_nor_written_where_others_may_write) {
    one_life();
    cr_assert_eq(chmod(cache, 0777), 0);
    start();
    cr_assert_eq(known_ns(0, SVMX_OP_SHA256, 64), 0);
    cr_assert(logged("warn:the profile is not used: "), "%s", log_lines);
    learn(0, SVMX_OP_SHA256, 64, 777);
    struct svmx_error error = {0};
    cr_assert_eq(svmx_profile_save(executor, &error), SVMX_ERR_PERMISSION);
    cr_assert(strstr(error.text, "unsafe"), "%s", error.text);
    stop();
    cr_assert_not(logged("is not written"), "said once: %s", log_lines);
    cr_assert_eq(chmod(cache, 0700), 0);
    cr_assert_eq(cells_on_disk(), 4u);
    start();
    learn(0, SVMX_OP_SHA256, 64, 777);
    cr_assert_eq(chmod(cache, 0777), 0);
    stop();
    cr_assert(logged("warn:the profile is not written: "), "%s", log_lines);
}

/* ---- the public calls ------------------------------------------------------------------------------------------- */

Test(profile, save_refuses_what_is_no_executor) {
    struct svmx_error error = {0};
    cr_assert_eq(svmx_profile_save(NULL, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(error.status, SVMX_ERR_ARGUMENT);
    cr_assert_str_neq(error.text, "");
    svmx_batch_t *batch; /* keeps the handle alive */
    start();
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    svmx_close(executor);
    cr_assert_eq(svmx_profile_save(executor, &error), SVMX_ERR_CLOSED);
    svmx_batch_destroy(batch);
}

Test(profile, tells_its_cells_in_order) {
    one_life();
    svmx_profile_t *profile;
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_path(profile), in_cache("profile"));
    struct svmx_profile_entry entry = {.size = sizeof entry};
    cr_assert_eq(svmx_profile_get(profile, 0, &entry), SVMX_OK);
    cr_assert_str_eq(entry.op, "sha256");
    cr_assert_str_eq(entry.backend, "fake");
    cr_assert_str_eq(entry.version, "1.0+abcd");
    cr_assert_str_eq(entry.device, "one");
    cr_assert_str_eq(entry.driver, "d1");
    cr_assert_str_eq(entry.variant, "avx2");
    cr_assert_str_eq(entry.pci, "");
    cr_assert(entry.threads == 2 && entry.kind == SVMX_DEVICE_CPU && entry.flags == 0);
    cr_assert(entry.units == 64 && entry.work == 64 && entry.bytes == 768 && entry.samples == 10);
    cr_assert(entry.ns == 1000 && entry.setup_ns == 250 && entry.transfer_ns == 250 && entry.compute_ns == 500);
    cr_assert_eq(svmx_profile_get(profile, 1, &entry), SVMX_OK);
    cr_assert(strcmp(entry.op, "sha256") == 0 && strcmp(entry.device, "two") == 0);
    cr_assert_eq(svmx_profile_get(profile, 2, &entry), SVMX_OK);
    cr_assert_str_eq(entry.op, "vec_add_f32");
    cr_assert_eq(svmx_profile_get(profile, 4, &entry), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_profile_get(profile, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_profile_get(NULL, 0, &entry), SVMX_ERR_ARGUMENT);
    entry.size = 8;
    cr_assert_eq(svmx_profile_get(profile, 0, &entry), SVMX_ERR_ARGUMENT);
    svmx_profile_close(profile);
}

Test(profile, opens_what_is_not_there_as_empty) {
    svmx_profile_t *profile;
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), NULL), SVMX_OK);
    cr_assert_eq(svmx_profile_count(profile), 0u);
    cr_assert_eq(svmx_profile_remove(profile, NULL), SVMX_OK);
    svmx_profile_close(profile);
    cr_assert_eq(svmx_profile_open(&profile, "off", NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_path(profile), "");
    cr_assert_eq(svmx_profile_remove(profile, NULL), SVMX_OK);
    svmx_profile_close(profile);
    svmx_profile_close(NULL);
    cr_assert(svmx_profile_count(NULL) == 0 && !*svmx_profile_path(NULL) && !*svmx_profile_defect(NULL));
}

Test(profile, refuses_to_open_what_it_must_not) {
    svmx_profile_t *profile = NULL;
    struct svmx_error error = {0};
    cr_assert_eq(svmx_profile_open(NULL, NULL, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_profile_open(&profile, "relative", &error), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(error.text, "absolute"), "%s", error.text);
    one_life();
    cr_assert_eq(chmod(in_cache("profile"), 0622), 0);
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), &error), SVMX_ERR_PERMISSION);
    cr_assert(strstr(error.text, "others may write"), "%s", error.text);
    cr_assert_null(profile);
    cr_assert_eq(svmx_profile_remove(NULL, &error), SVMX_ERR_ARGUMENT);
}

Test(profile, says_what_is_wrong_with_the_file_and_removes_it) {
    svmx_profile_t *profile;
    one_life();
    cr_assert_eq(truncate(in_cache("profile"), 100), 0);
    cr_assert_eq(svmx_profile_open(&profile, in_cache("profile"), NULL), SVMX_OK);
    cr_assert(strstr(svmx_profile_defect(profile), "cut short"), "%s", svmx_profile_defect(profile));
    cr_assert_eq(svmx_profile_count(profile), 0u);
    cr_assert_eq(svmx_profile_remove(profile, NULL), SVMX_OK);
    cr_assert_not(exists(in_cache("profile")));
    svmx_profile_close(profile);
}

/*
 * test_config.c: settings: the struct, then the environment, then the default; what is wrong is named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void set_up(void) {
    static const char *const variables[] = {"SUPERVM_BACKENDS",     "SUPERVM_BACKEND_PATH",   "SUPERVM_VARIANT",
                                            "SUPERVM_THREADS",      "SUPERVM_QUEUE_DEPTH",    "SUPERVM_MIN_BUCKET",
                                            "SUPERVM_POOL_BYTES",   "SUPERVM_TIMEOUT_MS",     "SUPERVM_LOG",
                                            "SUPERVM_CACHE_DIR",    "SUPERVM_CACHE_BYTES",    "SUPERVM_POLICY",
                                            "SUPERVM_LEARN",        "SUPERVM_RECEIPTS",       "SUPERVM_PROBE_PERCENT",
                                            "SUPERVM_PROFILE",      "SUPERVM_TIMEOUT_MIN_MS", "SUPERVM_DEBUG",
                                            "SUPERVM_ISOLATE",      "SUPERVM_DRIVER_PROBE",   "SUPERVM_VERIFY",
                                            "SUPERVM_LOAD_WARNING", "SUPERVM_LOAD_CRITICAL",  "SUPERVM_STATS_DIR",
                                            "SUPERVM_WINDOW",       "SUPERVM_PATIENCE_MS",    "SUPERVM_GATHER_US"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
}

TestSuite(config, .init = set_up);

static struct svmx__config read_ok(const struct svmx_options *options) {
    struct svmx__config config;
    struct svmx__text why = {""};
    cr_assert_eq(svmx__config_read(&config, options, &why), SVMX_OK, "%s", why.line);
    return config;
}

static void expect_wrong(const struct svmx_options *options, const char *word) {
    struct svmx__config config;
    struct svmx__text why = {""};
    cr_assert_eq(svmx__config_read(&config, options, &why), SVMX_ERR_ARGUMENT, "%s", word);
    cr_assert_not_null(strstr(why.line, word), "'%s' does not name %s", why.line, word);
    for (int i = 0; i < SVMX__SETTING_COUNT; i++) cr_assert_null(config.text[i], "something is left");
}

static const struct svmx_options nothing = {.size = sizeof nothing};

Test(config, defaults) {
    struct svmx__config config = read_ok(&nothing);
    cr_assert_str_eq(config.text[SVMX__BACKENDS], "");
    cr_assert_str_eq(config.text[SVMX__THREADS], "auto");
    cr_assert_eq(config.number[SVMX__THREADS], 0);
    cr_assert_eq(config.number[SVMX__QUEUE_DEPTH], 256);
    cr_assert_eq(config.number[SVMX__MIN_BUCKET], 16384);
    cr_assert_eq(config.number[SVMX__POOL_BYTES], 268435456);
    cr_assert_eq(config.number[SVMX__TIMEOUT_MS], 1500);
    cr_assert_eq(config.number[SVMX__TIMEOUT_MIN_MS], 50);
    cr_assert_eq(config.number[SVMX__LOAD_WARNING], 70);
    cr_assert_eq(config.number[SVMX__LOAD_CRITICAL], 90);
    cr_assert_eq(config.number[SVMX__WINDOW], 3);
    cr_assert_eq(config.number[SVMX__PATIENCE_MS], 5000);
    cr_assert_eq(config.number[SVMX__GATHER_US], 0);
    cr_assert_eq(config.number[SVMX__LOG_LEVEL], SVMX_LOG_WARN);
    for (int i = 0; i < SVMX__SETTING_COUNT; i++) cr_assert_eq(config.source[i], SVMX_FROM_DEFAULT);
    svmx__config_free(&config);
    svmx__config_free(&config); /* again is fine */
}

Test(config, the_environment_counts_before_the_default_and_the_struct_before_both) {
    setenv("SUPERVM_THREADS", "3", 1);
    setenv("SUPERVM_MIN_BUCKET", "1024", 1);
    setenv("SUPERVM_LOG", "debug", 1);
    setenv("SUPERVM_BACKENDS", "none", 1);
    const struct svmx_options options = {
        .size = sizeof options, .threads = 5, .min_bucket = 64, .backends = "simd", .timeout_ms = 7};
    struct svmx__config config = read_ok(&nothing);
    cr_assert_eq(config.number[SVMX__THREADS], 3);
    cr_assert_eq(config.source[SVMX__THREADS], SVMX_FROM_ENVIRONMENT);
    cr_assert_eq(config.number[SVMX__MIN_BUCKET], 1024);
    cr_assert_eq(config.number[SVMX__LOG_LEVEL], SVMX_LOG_DEBUG);
    cr_assert_str_eq(config.text[SVMX__BACKENDS], "none");
    svmx__config_free(&config);
    config = read_ok(&options);
    cr_assert_eq(config.number[SVMX__THREADS], 5);
    cr_assert_eq(config.source[SVMX__THREADS], SVMX_FROM_OPTIONS);
    cr_assert_eq(config.number[SVMX__MIN_BUCKET], 64);
    cr_assert_str_eq(config.text[SVMX__BACKENDS], "simd");
    cr_assert_eq(config.number[SVMX__TIMEOUT_MS], 7);
    cr_assert_eq(config.number[SVMX__LOG_LEVEL], SVMX_LOG_DEBUG, "not in the struct");
    svmx__config_free(&config);
}

/* A zero that was written into the struct looks like a field that was left alone. */
Test(config, a_zero_of_the_struct_wins_too) {
    setenv("SUPERVM_LOG", "debug", 1);
    setenv("SUPERVM_PROBE_PERCENT", "7", 1);
    setenv("SUPERVM_DEBUG", "1", 1);
    const uint32_t zeros[] = {SVMX__LOG_LEVEL, SVMX__PROBE_PERCENT, SVMX__DEBUG};
    const struct svmx_options options = {
        .size = sizeof options, .log_level = SVMX_ZERO, .probe_percent = SVMX_ZERO, .debug = SVMX_ZERO};
    struct svmx__config left_alone = read_ok(&nothing), config = read_ok(&options);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        cr_assert_neq(left_alone.number[zeros[i]], 0);
        cr_assert_eq(config.number[zeros[i]], 0);
        cr_assert_eq(config.source[zeros[i]], SVMX_FROM_OPTIONS);
    }
    cr_assert_str_eq(config.text[SVMX__LOG_LEVEL], "off");
    svmx__config_free(&left_alone);
    svmx__config_free(&config);
}

Test(config, the_environment_can_be_switched_off) {
    setenv("SUPERVM_THREADS", "not a number", 1);
    setenv("SUPERVM_QUEUE_DEPTH", "9", 1);
    const struct svmx_options options = {.size = sizeof options, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    struct svmx__config config = read_ok(&options);
    cr_assert_eq(config.number[SVMX__QUEUE_DEPTH], 256);
    svmx__config_free(&config);
}

Test(config, wrong_variables_are_named) {
    static const char *const wrong[][2] = {{"SUPERVM_THREADS", "0"},
                                           {"SUPERVM_THREADS", "1025"},
                                           {"SUPERVM_THREADS", "-1"},
                                           {"SUPERVM_THREADS", " 1"},
                                           {"SUPERVM_THREADS", "1 "},
                                           {"SUPERVM_THREADS", "0x10"},
                                           {"SUPERVM_THREADS", ""},
                                           {"SUPERVM_THREADS", "Auto"},
                                           {"SUPERVM_QUEUE_DEPTH", "auto"},
                                           {"SUPERVM_QUEUE_DEPTH", "0"},
                                           {"SUPERVM_MIN_BUCKET", "1000"},
                                           {"SUPERVM_MIN_BUCKET", "0"},
                                           {"SUPERVM_POOL_BYTES", "1e6"},
                                           {"SUPERVM_LOG", "loud"},
                                           {"SUPERVM_CACHE_DIR", ""},
                                           {"SUPERVM_CACHE_DIR", "cache"},
                                           {"SUPERVM_CACHE_DIR", "~/cache"},
                                           {"SUPERVM_CACHE_DIR", "OFF"},
                                           {"SUPERVM_CACHE_BYTES", "0"},
                                           {"SUPERVM_CACHE_BYTES", "1M"},
                                           {"SUPERVM_TIMEOUT_MS", "99999999999999999999999"},
                                           {"SUPERVM_TIMEOUT_MS", "3600001"},
                                           {"SUPERVM_PATIENCE_MS", "9"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(wrong[i][0], wrong[i][1], 1);
        expect_wrong(&nothing, wrong[i][0]);
        unsetenv(wrong[i][0]);
    }
}

Test(config, wrong_options_are_named) {
    struct svmx_options options = {.size = sizeof options, .min_bucket = 48};
    expect_wrong(&options, "options.min_bucket");
    options = (struct svmx_options){.size = sizeof options, .log_level = 5};
    expect_wrong(&options, "options.log_level");
    options = (struct svmx_options){.size = sizeof options, .cache_dir = "./cache"};
    expect_wrong(&options, "options.cache_dir is './cache': give an absolute path, or off");
    options = (struct svmx_options){.size = sizeof options, .queue_depth = SVMX_ZERO}; /* of which 0 is no value */
    expect_wrong(&options, "options.queue_depth");
}

static void expect_cache_dir(const struct svmx_options *options, const char *folder, uint32_t source) {
    struct svmx__config config = read_ok(options);
    cr_assert_str_eq(config.text[SVMX__CACHE_DIR], folder);
    cr_assert_eq(config.source[SVMX__CACHE_DIR], source);
    cr_assert_eq(config.number[SVMX__CACHE_BYTES], 268435456);
    svmx__config_free(&config);
}

Test(config, where_the_cache_is) {
    struct svmx_options options = {.size = sizeof options};
    setenv("HOME", "/home/me", 1);
    unsetenv("XDG_CACHE_HOME");
    expect_cache_dir(&options, "/home/me/.cache/svmx", SVMX_FROM_DEFAULT);
    setenv("XDG_CACHE_HOME", "/var/me", 1);
    expect_cache_dir(&options, "/var/me/svmx", SVMX_FROM_DEFAULT);
    setenv("XDG_CACHE_HOME", "relative", 1);
    expect_cache_dir(&options, "/home/me/.cache/svmx", SVMX_FROM_DEFAULT);
    setenv("HOME", "", 1);
    expect_cache_dir(&options, "off", SVMX_FROM_DEFAULT);
    unsetenv("HOME");
    expect_cache_dir(&options, "off", SVMX_FROM_DEFAULT);
    setenv("SUPERVM_CACHE_DIR", "/fast/svmx", 1);
    expect_cache_dir(&options, "/fast/svmx", SVMX_FROM_ENVIRONMENT);
    options.cache_dir = "off";
    expect_cache_dir(&options, "off", SVMX_FROM_OPTIONS);
}

/* As in a set-user-ID program: HOME belongs to somebody else as well. */
Test(config, without_the_environment_only_the_program_says_where_the_cache_is) {
    struct svmx_options options = {.size = sizeof options, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    setenv("SUPERVM_CACHE_DIR", "/fast/svmx", 1);
    setenv("XDG_CACHE_HOME", "/var/me", 1);
    setenv("HOME", "/home/me", 1);
    expect_cache_dir(&options, "off", SVMX_FROM_DEFAULT);
    options.cache_dir = "/srv/svmx";
    expect_cache_dir(&options, "/srv/svmx", SVMX_FROM_OPTIONS);
}

Test(config, limits_themselves_are_fine) {
    struct svmx_options options = {.size = sizeof options,
                                   .threads = 1024,
                                   .queue_depth = 1,
                                   .min_bucket = UINT64_C(1) << 40,
                                   .pool_bytes = UINT64_C(1) << 46,
                                   .timeout_ms = 3600000};
    struct svmx__config config = read_ok(&options);
    cr_assert_eq(config.number[SVMX__MIN_BUCKET], UINT64_C(1) << 40);
    svmx__config_free(&config);
    options.min_bucket = 1;
    config = read_ok(&options);
    cr_assert_eq(config.number[SVMX__MIN_BUCKET], 1);
    svmx__config_free(&config);
}

Test(config, the_model_of_sim_is_a_setting_like_any) {
    struct svmx_options options = {.size = sizeof options, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    setenv("SUPERVM_SIM_MODEL", "/of/the/environment", 1);
    struct svmx__config config = read_ok(&nothing);
    cr_assert_str_eq(config.text[SVMX__SIM_MODEL], "/of/the/environment");
    svmx__config_free(&config);
    config = read_ok(&options);
    cr_assert_str_eq(config.text[SVMX__SIM_MODEL], "", "the program wants none of the environment");
    svmx__config_free(&config);
    options.sim_model = "/of/the/program";
    config = read_ok(&options);
    cr_assert_str_eq(config.text[SVMX__SIM_MODEL], "/of/the/program");
    svmx__config_free(&config);
}

Test(config, every_setting_can_be_shown) {
    struct svmx__config config = read_ok(&nothing);
    for (uint32_t i = 0; i < SVMX__SETTING_COUNT; i++) {
        struct svmx_config_entry entry = {.size = sizeof entry};
        svmx__config_entry(&config, i, &entry);
        cr_assert_eq(strncmp(entry.variable, "SUPERVM_", 8), 0);
        cr_assert(*entry.name && *entry.help);
        if (i != SVMX__CACHE_DIR && i != SVMX__PROFILE) cr_assert_str_eq(entry.value, entry.default_value);
        cr_assert_eq(entry.source, SVMX_FROM_DEFAULT);
    }
    svmx__config_free(&config);
}

static void expect_profile(const struct svmx_options *options, const char *path) {
    struct svmx__config config = read_ok(options);
    cr_assert_str_eq(config.text[SVMX__PROFILE], path);
    svmx__config_free(&config);
}

Test(config, the_profile_is_beside_the_cache) {
    setenv("XDG_CACHE_HOME", "/c", 1);
    expect_profile(&nothing, "/c/svmx/profile");
    setenv("SUPERVM_CACHE_DIR", "/d", 1);
    expect_profile(&nothing, "/d/profile");
    setenv("SUPERVM_CACHE_DIR", "off", 1);
    expect_profile(&nothing, "off");
    setenv("SUPERVM_PROFILE", "/e/f", 1);
    expect_profile(&nothing, "/e/f");
    const struct svmx_options relative = {.size = sizeof relative, .profile = "here"};
    expect_wrong(&relative, "options.profile");
}

Test(config, gathering_is_a_time_or_off) {
    static const struct {
        const char *text;
        uint64_t number;
    } good[] = {{"0", 0}, {"250", 250}, {"100000", 100000}, {"off", SVMX__GATHER_OFF}};
    static const char *const bad[] = {"", "on", "Off", "100001", "-1", "5us"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        setenv("SUPERVM_GATHER_US", good[i].text, 1);
        struct svmx__config config = read_ok(&nothing);
        cr_assert_eq(config.number[SVMX__GATHER_US], good[i].number, "%s", good[i].text);
        svmx__config_free(&config);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("SUPERVM_GATHER_US", bad[i], 1);
        expect_wrong(&nothing, "or off");
    }
    const struct svmx_options off = {.size = sizeof off, .gather_us = SVMX_GATHER_OFF};
    struct svmx__config config = read_ok(&off);
    cr_assert_eq(config.number[SVMX__GATHER_US], SVMX__GATHER_OFF);
    cr_assert_str_eq(config.text[SVMX__GATHER_US], "off");
    svmx__config_free(&config);
}

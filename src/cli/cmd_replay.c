/*
 * cmd_replay.c: `svmx replay LOG`: the routing of a log of receipts, run again without any device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "args.h"
#include "json.h"
#include "log.h"
#include "session.h"
#include "table.h"
#include "text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <svmx/svmx.h>

enum { LEARN, PROBE_PERCENT, OPTION_COUNT };
enum { MAX_DEVICES = 16 };

static const struct cli_option options[OPTION_COUNT] = {
    [LEARN] = {.name = "learn",
               .value = "MODE",
               .standard = "on",
               .help = "on, or strict: no device is tried for the sake of learning"},
    [PROBE_PERCENT] = {.name = "probe-percent",
                       .value = "P",
                       .number = true,
                       .minimum = 1,
                       .maximum = 50,
                       .standard = "1",
                       .help = "of busy time that trying devices may cost"},
};

struct replay {
    struct cli_log log;
    struct svmx_replay sums;
    struct svmx_replay_device devices[MAX_DEVICES];
    size_t device_count;
};

static void line_bad(void *user, uint64_t line, const char *reason) { cli_log_bad(user, line, reason); }

/* ---- text ---- */

static double ratio(uint64_t a, uint64_t b) { return (double)a / (double)(b ? b : 1); }

static void devices_text(const struct replay *replay) {
    struct cli_table table = cli_table_start(7);
    table.right = 0x3f;
    cli_table_row(&table, (const char *[]){"RECORDED", "TIME", "CHOSEN NOW", "TIME", "TO LEARN", "UNKNOWN", "DEVICE"});
    for (size_t i = 0; i < replay->device_count; i++) {
        const struct svmx_replay_device *device = &replay->devices[i];
        char label[160];
        struct cli_text recorded = cli_count(device->recorded), recorded_ns = cli_duration(device->recorded_ns);
        struct cli_text chosen = cli_count(device->chosen), chosen_ns = cli_duration(device->chosen_ns);
        struct cli_text probes = cli_count(device->probes), unknown = cli_count(device->unknown);
        snprintf(label, sizeof label, "%" PRIu32 " %s: %s%s%s", device->number, device->backend, device->name,
                 device->modelled ? " [MODELLED]" : "", cli_flags_label(device->flags).line);
        cli_table_row(&table, (const char *[]){recorded.line, recorded_ns.line, chosen.line, chosen_ns.line,
                                               probes.line, unknown.line, label});
    }
    putchar('\n');
    cli_table_print(&table);
}

static void decisions_text(const struct svmx_replay *sums) {
    printf("  batches     %s, and %s of them on another device (shadow runs)\n", cli_count(sums->batches).line,
           cli_counted(sums->shadows, "run").line);
    printf("  decisions   %s the same as recorded, %s otherwise", cli_count(sums->same).line,
           cli_count(sums->different).line);
    if (sums->different) printf(" (%s where only one of both tried a device)", cli_count(sums->different_probes).line);
    printf("\n  no choice   %s: one device could have them, or the policy said which\n", cli_count(sums->forced).line);
    printf("  to learn    %s sent to a device to learn what they take there\n", cli_count(sums->probes).line);
    printf("  switches    %s, and %s that a device had changed its speed\n", cli_count(sums->switches).line,
           cli_counted(sums->drifts, "finding").line);
}

/* Plainly: what can be said of the time, and of how many batches. */
static void oracle_text(const struct svmx_replay *sums) {
    putchar('\n');
    if (sums->batches == 0) {
        puts("Time: there is no batch in the log.");
        return;
    }
    if (sums->compared == 0) {
        puts("Time: no batch can be compared with the best device in hindsight, because the log has\n"
             "the time of one device only for each of them. svmx(1), replay, says how to write one.");
        return;
    }
    printf("Time of the %s of %s batches of which the log has times of two devices or more:\n",
           cli_count(sums->compared).line, cli_count(sums->batches).line);
    printf("  chosen now  %s, %.3f times the best in hindsight\n", cli_duration(sums->compared_ns).line,
           ratio(sums->compared_ns, sums->oracle_ns));
    printf("  recorded    %s, %.3f times the best in hindsight\n", cli_duration(sums->compared_recorded_ns).line,
           ratio(sums->compared_recorded_ns, sums->oracle_ns));
    printf("  hindsight   %s, the best known device for each, by the same margin of 10 %%\n",
           cli_duration(sums->oracle_ns).line);
}

static void replay_text(const struct replay *replay) {
    printf("%s: %s, %s bad\n", replay->log.source, cli_counted(replay->sums.lines, "line").line,
           cli_count(replay->sums.bad_lines).line);
    decisions_text(&replay->sums);
    devices_text(replay);
    if (replay->sums.unknown)
        printf("UNKNOWN: sent to a device of which the log has no time for them, %s in all.\n",
               cli_count(replay->sums.unknown).line);
    oracle_text(&replay->sums);
}

/* ---- JSON ---- */

static void device_json(struct cli_json *json, const struct svmx_replay_device *device) {
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "device", device->number);
    cli_json_text(json, "backend", device->backend);
    cli_json_text(json, "name", device->name);
    cli_json_bool(json, "modelled", device->modelled);
    cli_json_bool(json, "cpu_device", device->flags & SVMX_DEVICE_SHARES_CORES);
    cli_json_bool(json, "test", device->flags & SVMX_DEVICE_TEST);
    cli_json_number(json, "recorded", device->recorded);
    cli_json_number(json, "recorded_ns", device->recorded_ns);
    cli_json_number(json, "chosen", device->chosen);
    cli_json_number(json, "chosen_ns", device->chosen_ns);
    cli_json_number(json, "probes", device->probes);
    cli_json_number(json, "unknown", device->unknown);
    cli_json_close(json);
}

static void replay_json(const struct replay *replay) {
    const struct svmx_replay *sums = &replay->sums;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"lines", sums->lines},
                   {"bad_lines", sums->bad_lines},
                   {"batches", sums->batches},
                   {"shadows", sums->shadows},
                   {"same", sums->same},
                   {"different", sums->different},
                   {"different_probes", sums->different_probes},
                   {"forced", sums->forced},
                   {"unknown", sums->unknown},
                   {"probes", sums->probes},
                   {"switches", sums->switches},
                   {"drifts", sums->drifts},
                   {"recorded_ns", sums->recorded_ns},
                   {"compared", sums->compared},
                   {"compared_ns", sums->compared_ns},
                   {"compared_recorded_ns", sums->compared_recorded_ns},
                   {"oracle_ns", sums->oracle_ns}};
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cli_json_number(&json, numbers[i].name, numbers[i].value);
    cli_json_open(&json, "devices", '[');
    for (size_t i = 0; i < replay->device_count; i++) device_json(&json, &replay->devices[i]);
    cli_json_close(&json);
    cli_json_close(&json);
}

/* ---- the command ---- */

static enum cli_exit log_run(struct replay *replay, const struct cli_args *args) {
    const struct svmx_replay_options how = {.size = sizeof how,
                                            .learn = args->own[LEARN].text,
                                            .probe_percent = (uint32_t)args->own[PROBE_PERCENT].number,
                                            .bad = line_bad,
                                            .user = &replay->log};
    replay->sums.size = sizeof replay->sums;
    for (size_t i = 0; i < MAX_DEVICES; i++) replay->devices[i].size = sizeof replay->devices[i];
    enum svmx_status status = svmx_replay(replay->log.text, replay->log.length, &how, &replay->sums, replay->devices,
                                          MAX_DEVICES, &replay->device_count);
    if (status != SVMX_OK) {
        cli_error("svmx_replay failed: %s", svmx_status_name(status));
        return CLI_FAILED;
    }
    cli_log_bad_end(&replay->log);
    if (cli_args_json(args))
        replay_json(replay);
    else
        replay_text(replay);
    return replay->log.bad ? CLI_BAD_INPUT : CLI_OK;
}

static enum cli_exit replay_run(const struct cli_args *args) {
    struct replay replay = {.device_count = 0};
    const char *learn = args->own[LEARN].text;
    if (strcmp(learn, "on") != 0 && strcmp(learn, "strict") != 0)
        return cli_args_refuse(args->command, "--learn: '%s' is neither on nor strict", learn);
    enum cli_exit code = cli_log_read(&replay.log, args->operands[0]);
    if (code == CLI_OK) code = log_run(&replay, args);
    cli_log_free(&replay.log);
    return code;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .operands = "LOG",
    .summary = "run the routing of a log of receipts again, without any device",
    .details = "LOG, or standard input for '-', has lines as svmx run --receipt and svmx_receipt_json write\n"
               "them. Each launch is decided again by a router that starts with knowing nothing, and is told\n"
               "the times of the log: the same log gives the same numbers on every machine.\n"
               "\n"
               "Time is compared with the best device in hindsight only where the log has times of two\n"
               "devices for the same work: a field \"shadow\", as launches have it that were compared with\n"
               "another device (SUPERVM_VERIFY), or a line of another device with the same tag, operation and\n"
               "size, as run --shadow writes it:\n"
               "  svmx run keccak256 --repeat 100 --shadow --receipt both.log\n"
               "  svmx replay both.log\n"
               "Bad lines are named and left out; then the exit status is 1.\n",
    .operand_min = 1,
    .operand_max = 1,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = replay_run,
};

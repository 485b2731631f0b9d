/*
 * cmd_explain.c: `svmx explain OPERATION SIZE`: where a task would go, what each device is expected to take, and how that is
 * known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "session.h"
#include "table.h"
#include "text.h"
#include <stdio.h>

enum { MAX_CANDIDATES = 32, FEW_SAMPLES = 3 };

struct explanation {
    struct cli_session session;
    struct svmx_op op;
    uint64_t units, crossover;
    struct svmx_candidate candidates[MAX_CANDIDATES];
    size_t count;
    struct svmx_candidate there[MAX_CANDIDATES]; /* the same at the crossover, if there is one */
    size_t there_count;
};

/* ---- words ---- */

static const char *verdict_word(uint32_t verdict) {
    switch ((enum svmx_verdict)verdict) {
    case SVMX_CHOSEN: return "chosen";
    case SVMX_SLOWER: return "slower";
    case SVMX_UNMEASURED: return "unmeasured";
    case SVMX_NOT_ALLOWED: return "not_allowed";
    case SVMX_NOT_READY: return "not_ready";
    case SVMX_NO_DEVICE: return "no_device";
    case SVMX_OVERLOADED: return "overloaded";
    }
    return "unknown";
}

/* The same for people. */
static const char *verdict_text(uint32_t verdict) {
    switch ((enum svmx_verdict)verdict) {
    case SVMX_CHOSEN: return "CHOSEN";
    case SVMX_SLOWER: return "slower";
    case SVMX_UNMEASURED: return "not tried yet";
    case SVMX_NOT_ALLOWED: return "not by the policy";
    case SVMX_NOT_READY: return "being compiled";
    case SVMX_NO_DEVICE: return "does not have it";
    case SVMX_OVERLOADED: return "too much to do";
    }
    return "unknown";
}

static const char *kind_word(uint32_t kind) {
    switch ((enum svmx_cost_kind)kind) {
    case SVMX_COST_GUESSED: return "guessed";
    case SVMX_COST_INFERRED: return "inferred";
    case SVMX_COST_MEASURED: return "measured";
    }
    return "unknown";
}

static struct cli_text known_text(const struct svmx_candidate *candidate) {
    struct cli_text text;
    switch ((enum svmx_cost_kind)candidate->kind) {
    case SVMX_COST_MEASURED: return cli_counted(candidate->samples, "sample");
    case SVMX_COST_INFERRED: snprintf(text.line, sizeof text.line, "other sizes"); return text;
    case SVMX_COST_GUESSED: break;
    }
    snprintf(text.line, sizeof text.line, "a guess");
    return text;
}

static struct svmx_device device_of(const struct explanation *explanation, uint32_t index) {
    struct svmx_device device = {.size = sizeof device, .backend = "", .name = "", .variant = ""};
    (void)svmx_device_get(explanation->session.executor, index, &device); /* it was a candidate just now */
    return device;
}

/* A time of the model, which is a double; there are none below zero. */
static uint64_t whole(double ns) { return ns > 0 ? (uint64_t)(ns + 0.5) : 0; }

/* ---- text ---- */

static void candidates_text(const struct explanation *explanation) {
    struct cli_table table = cli_table_start(8);
    table.right = 0x3e;
    table.indent = 2;
    cli_table_row(&table, (const char *[]){"VERDICT", "EXPECTED", "SETUP", "TRANSFER", "COMPUTE", "99 % BELOW",
                                           "KNOWN FROM", "DEVICE"});
    for (size_t i = 0; i < explanation->count; i++) {
        const struct svmx_candidate *candidate = &explanation->candidates[i];
        const struct svmx_device device = device_of(explanation, candidate->device);
        struct cli_text expected = cli_duration(whole(candidate->expected_ns)), known = known_text(candidate);
        struct cli_text setup = cli_duration(whole(candidate->setup_ns)), p99 = cli_duration(whole(candidate->p99_ns));
        struct cli_text transfer = cli_duration(whole(candidate->transfer_ns));
        struct cli_text compute = cli_duration(whole(candidate->compute_ns));
        struct cli_device_label label = cli_device_label(&device);
        cli_table_row(&table, (const char *[]){verdict_text(candidate->verdict), expected.line, setup.line,
                                               transfer.line, compute.line, p99.line, known.line, label.line});
        char note[128];
        snprintf(note, sizeof note, "%s to build or to fill pools, once",
                 cli_duration(whole(candidate->first_use_ns)).line);
        if (candidate->first_use_ns > 0) cli_table_note(&table, 1, note);
        snprintf(note, sizeof note, "%s of other work to do before", cli_duration(whole(candidate->backlog_ns)).line);
        if (candidate->backlog_ns > 0) cli_table_note(&table, 1, note);
    }
    cli_table_print(&table);
}

/* By how much the winner wins, or why it has it all the same. */
static void winner_text(const struct explanation *explanation) {
    const struct svmx_candidate *winner = &explanation->candidates[0], *second = NULL;
    for (size_t i = 1; i < explanation->count && !second; i++)
        if (explanation->candidates[i].verdict == SVMX_SLOWER) second = &explanation->candidates[i];
    if (explanation->count == 0 || winner->verdict != SVMX_CHOSEN) {
        puts("No device but the reference code may have it, or does; under the policy gpu a batch fails then.");
        return;
    }
    const struct svmx_device device = device_of(explanation, winner->device);
    if (!second) {
        printf("%s has it: of no other that may is anything known.\n", device.name);
        return;
    }
    const struct svmx_device other = device_of(explanation, second->device);
    const double times = winner->expected_ns > 0 ? second->expected_ns / winner->expected_ns : 0;
    if (times >= 1)
        printf("%s has it: the next, %s, is expected to take %.2f times as long.\n", device.name, other.name, times);
    else
        printf("%s keeps it: %s is expected to take %.0f %% less, and another device must be better by more\n"
               "than 10 %%.\n",
               device.name, other.name, 100 * (1 - times));
}

/* Who has it at the crossover. */
static struct cli_device_label winner_there(const struct explanation *explanation) {
    if (explanation->there_count && explanation->there[0].verdict == SVMX_CHOSEN) {
        const struct svmx_device device = device_of(explanation, explanation->there[0].device);
        return cli_device_label(&device);
    }
    return (struct cli_device_label){"a device with memory of its own"};
}

/* Those that are weighed there, if by less than measurements of that size. */
static bool is_uncertain(const struct svmx_candidate *candidate) {
    const bool weighed = candidate->verdict == SVMX_CHOSEN || candidate->verdict == SVMX_SLOWER;
    return weighed && (candidate->kind != SVMX_COST_MEASURED || candidate->samples < FEW_SAMPLES);
}

static void uncertain_text(const struct explanation *explanation) {
    unsigned named = 0;
    for (size_t i = 0; i < explanation->there_count; i++) {
        if (!is_uncertain(&explanation->there[i])) continue;
        printf("%s%s is known from %s", named++ ? ", " : "That is not certain yet: at this size ",
               device_of(explanation, explanation->there[i].device).name, known_text(&explanation->there[i]).line);
    }
    if (named) puts(".");
}

static void crossover_text(const struct explanation *explanation) {
    if (explanation->crossover == UINT64_MAX)
        puts("Crossover: none. No size would leave the CPU, by what is known now.");
    else
        printf("Crossover: from %s on, %s would have it.\n",
               cli_counted(explanation->crossover, explanation->op.unit).line, winner_there(explanation).line);
    uncertain_text(explanation);
}

static void explain_text(const struct explanation *explanation) {
    bool measured = false;
    for (size_t i = 0; i < explanation->count; i++)
        measured = measured || explanation->candidates[i].kind != SVMX_COST_GUESSED;
    printf("%s: a task of %s\n\n", explanation->op.name, cli_counted(explanation->units, explanation->op.unit).line);
    if (explanation->count) candidates_text(explanation);
    putchar('\n');
    winner_text(explanation);
    crossover_text(explanation);
    if (!measured && explanation->count)
        puts("Nothing of this operation was measured yet: the profile (svmx config) has nothing of it for these\n"
             "devices. Programs that run it, and svmx run, fill it.");
}

/* ---- JSON ---- */

static void candidate_json(struct cli_json *json, const struct explanation *explanation,
                           const struct svmx_candidate *candidate) {
    const struct svmx_device device = device_of(explanation, candidate->device);
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "device", candidate->device);
    cli_json_text(json, "backend", device.backend);
    cli_json_text(json, "name", device.name);
    cli_json_bool(json, "test", device.flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", device.kind == SVMX_DEVICE_MODEL);
    cli_json_text(json, "verdict", verdict_word(candidate->verdict));
    cli_json_text(json, "known", kind_word(candidate->kind));
    cli_json_number(json, "samples", candidate->samples);
    cli_json_number(json, "expected_ns", whole(candidate->expected_ns));
    cli_json_number(json, "setup_ns", whole(candidate->setup_ns));
    cli_json_number(json, "transfer_ns", whole(candidate->transfer_ns));
    cli_json_number(json, "compute_ns", whole(candidate->compute_ns));
    cli_json_number(json, "p99_ns", whole(candidate->p99_ns));
    cli_json_number(json, "first_use_ns", whole(candidate->first_use_ns));
    cli_json_number(json, "backlog_ns", whole(candidate->backlog_ns));
    cli_json_close(json);
}

static void explain_json(const struct explanation *explanation) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "operation", explanation->op.name);
    cli_json_text(&json, "unit", explanation->op.unit);
    cli_json_number(&json, "size", explanation->units);
    if (explanation->crossover == UINT64_MAX)
        cli_json_text(&json, "crossover", NULL);
    else
        cli_json_number(&json, "crossover", explanation->crossover);
    cli_json_open(&json, "candidates", '[');
    for (size_t i = 0; i < explanation->count; i++) candidate_json(&json, explanation, &explanation->candidates[i]);
    cli_json_close(&json);
    cli_json_close(&json);
}

/* ---- the command ---- */

/* How well the crossover is known is a matter of its own size. */
static enum svmx_status ask_there(struct explanation *explanation) {
    if (explanation->crossover == UINT64_MAX) return SVMX_OK;
    for (size_t i = 0; i < MAX_CANDIDATES; i++) explanation->there[i].size = sizeof *explanation->there;
    return svmx_explain(explanation->session.executor, explanation->op.id, explanation->crossover, explanation->there,
                        MAX_CANDIDATES, &explanation->there_count, NULL);
}

static enum cli_exit ask(struct explanation *explanation, const struct cli_args *args) {
    enum cli_exit code = cli_session_op(&explanation->session, args->operands[0], &explanation->op);
    if (code != CLI_OK) return code;
    for (size_t i = 0; i < MAX_CANDIDATES; i++) explanation->candidates[i].size = sizeof *explanation->candidates;
    enum svmx_status status =
        svmx_explain(explanation->session.executor, explanation->op.id, explanation->units, explanation->candidates,
                     MAX_CANDIDATES, &explanation->count, &explanation->crossover);
    if (status == SVMX_ERR_OVERFLOW || status == SVMX_ERR_ARGUMENT)
        return cli_args_refuse(args->command, "SIZE: %s are too many for %s",
                               cli_counted(explanation->units, explanation->op.unit).line, explanation->op.name);
    if (status == SVMX_OK) status = ask_there(explanation);
    return status == SVMX_OK ? CLI_OK : cli_session_failed("svmx_explain", status, "");
}

static enum cli_exit explain_run(const struct cli_args *args) {
    struct explanation explanation = {.crossover = UINT64_MAX};
    if (!cli_number_parse(args->operands[1], &explanation.units))
        return cli_args_refuse(args->command, "SIZE: '%s' is no number, or too large", args->operands[1]);
    enum cli_exit code = cli_session_open(&explanation.session, args, false);
    if (code != CLI_OK) return code;
    code = ask(&explanation, args);
    if (code == CLI_OK && cli_args_json(args)) explain_json(&explanation);
    if (code == CLI_OK && !cli_args_json(args)) explain_text(&explanation);
    cli_session_close(&explanation.session);
    return code;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .operands = "OPERATION SIZE",
    .summary = "where a task of that size would go, and why",
    .details =
        "Every device with what it is expected to take for one task of SIZE units, the winner first;\n"
        "setup, transfer and compute are medians, each by itself. It is known from samples of this size, from other\n"
        "sizes, or is a guess from the device's numbers and what the CPU takes. A device of which only\n"
        "a guess is known is not chosen but tried, with real work, now and then. Nothing is run here:\n"
        "what is known comes from the profile (SUPERVM_PROFILE).\n",
    .operand_min = 2,
    .operand_max = 2,
    .executor = true,
    .run = explain_run,
};

/*
 * main.c: the command.
 *
 *   contract-vm run BLOCK.json [--serial | --threads N] [--in-flight N] [--batch N] [--deadline-us N] [--trace] [--json]
 *   contract-vm gen KIND [--count N] [--seed S] [--unsigned]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_file.h"
#include "generate.h"
#include "outcome_write.h"

#include <errno.h>
#include <svmx/ops.h>
#include <time.h>

enum { DONE = 0, BAD_BLOCK = 1, USAGE = 2, NO_EXECUTOR = 3, NOT_RUN = 4 };

static const char help[] =
    "contract-vm: a small Ethereum machine with svmx inside\n"
    "\n"
    "Usage: contract-vm run BLOCK.json [options]     runs a block; \"-\" is standard input\n"
    "       contract-vm gen KIND [options]           writes a block to standard output\n"
    "\n"
    "KIND is transfers, hashes, signatures, mixed, conflicts or random.\n"
    "\n"
    "Options of run:\n"
    "  --serial          one transaction after another, a call for every hash and signature\n"
    "  --threads N       a transaction a thread, a call for every hash and signature\n"
    "  --in-flight N     transactions under way at a time (default 1024)\n"
    "  --batch N         requests that make a batch full (default 4096)\n"
    "  --deadline-us N   how long a request waits for others (default 2000)\n"
    "  --trace           every instruction, on standard error\n"
    "  --json            results, logs and changes as JSON; all but the line \"how\" is the same in every mode\n"
    "Options of gen:\n"
    "  --count N         transactions (default 1000)\n"
    "  --seed S          another number, another block (default 1)\n"
    "  --unsigned        transactions say who sends them\n"
    "\n"
    "SUPERVM_* variables choose devices: svmx(7). Exit status: 0 done, 1 bad block, 2 usage, 3 no executor,\n"
    "4 the block could not be run.\n";

struct arguments {
    const char *command, *subject; /* run BLOCK, gen KIND */
    struct run_options run;
    struct generate_options generate;
    bool serial, json;
};

/* ---- arguments ------------------------------------------------------------------------------------------------ */

static int usage(const char *what, const char *detail) {
    (void)fprintf(stderr, "contract-vm: %s%s; contract-vm --help lists what there is\n", what, detail);
    return USAGE;
}

/* A whole number from `least` on. */
static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    errno = 0;
    const unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    if (!text || errno || end == text || *end || text[0] == '-' || number < least || number > most) return false;
    *value = number;
    return true;
}

/* An option with a number; false: it is none of them. *bad: its number is wrong. */
static bool take_number(struct arguments *arguments, const char *name, const char *text, bool *bad) {
    uint64_t number = 0;
    const uint64_t least = strcmp(name, "--seed") == 0 || strcmp(name, "--deadline-us") == 0 ? 0 : 1;
    const uint64_t most = strcmp(name, "--threads") == 0 ? 256 : UINT64_C(1) << 20;
    *bad = !parse_number(text, least, most, &number);
    if (strcmp(name, "--threads") == 0) {
        arguments->run.mode = RUN_THREADS;
        arguments->run.threads = (uint32_t)number;
    } else if (strcmp(name, "--in-flight") == 0) {
        arguments->run.in_flight = (size_t)number;
    } else if (strcmp(name, "--batch") == 0) {
        arguments->run.limits.requests = (size_t)number;
    } else if (strcmp(name, "--deadline-us") == 0) {
        arguments->run.limits.deadline_ns = number * 1000;
    } else if (strcmp(name, "--count") == 0) {
        arguments->generate.count = (size_t)number;
    } else if (strcmp(name, "--seed") == 0) {
        arguments->generate.seed = number;
    } else {
        return false;
    }
    return true;
}

static bool take_switch(struct arguments *arguments, const char *name) {
    if (strcmp(name, "--serial") == 0)
        arguments->serial = true;
    else if (strcmp(name, "--trace") == 0)
        arguments->run.trace = stderr;
    else if (strcmp(name, "--json") == 0)
        arguments->json = true;
    else if (strcmp(name, "--unsigned") == 0)
        arguments->generate.is_unsigned = true;
    else
        return false;
    return true;
}

static int parse(struct arguments *arguments, int count, char **words) {
    bool bad;
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (word[0] != '-' || word[1] == '\0') {
            const char **place = !arguments->command ? &arguments->command : &arguments->subject;
            if (*place) return usage("there is a word too many: ", word);
            *place = word;
        } else if (!take_switch(arguments, word)) {
            if (!take_number(arguments, word, words[i + 1], &bad)) return usage("there is no option ", word);
            if (bad) return usage("a whole number in its range must follow ", word);
            i++;
        }
    }
    if (!arguments->serial) return DONE;
    if (arguments->run.mode == RUN_THREADS) return usage("say --serial or --threads, not both", "");
    arguments->run.mode = RUN_SERIAL;
    return DONE;
}

/* ---- commands ------------------------------------------------------------------------------------------------- */

static const char *mode_name(enum run_mode mode) {
    return mode == RUN_SERIAL ? "serial" : mode == RUN_THREADS ? "threads" : "batched";
}

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What was written is on its way; DONE, or NOT_RUN after a message. */
static int finish_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return DONE;
    (void)fprintf(stderr, "contract-vm: cannot write to standard output: %s\n", strerror(errno));
    return NOT_RUN;
}

/* Devices that compile do so before the first block, for batches as large as they get. What a device refuses others compute,
 * and an operation that this library was built without is refused when it is asked for. */
static void prewarm(svmx_executor_t *executor, const struct run_options *options) {
    static const uint32_t ops[] = {SVMX_OP_KECCAK256, SVMX_OP_SHA256, SVMX_OP_ECRECOVER, SVMX_OP_MERKLE_ROOT_KECCAK256};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        (void)svmx_prewarm(executor, ops[i], options->mode == RUN_BATCHED ? options->limits.requests : 1);
}

static int run(svmx_executor_t *executor, const struct arguments *arguments) {
    struct block block;
    struct outcome outcome;
    struct svmx_error error;
    char why[512];
    if (!block_read(arguments->subject, &block, why, sizeof why))
        return (void)fprintf(stderr, "contract-vm: %s\n", why), BAD_BLOCK;
    prewarm(executor, &arguments->run);
    const double start = now();
    const enum svmx_status status = block_run(executor, &block, &arguments->run, &outcome, &error);
    const double seconds = now() - start;
    if (status != SVMX_OK) {
        (void)fprintf(stderr, "contract-vm: the block could not be run: %s\n", error.text);
    } else {
        (arguments->json ? outcome_write_json : outcome_write_text)(stdout, &outcome, mode_name(arguments->run.mode),
                                                                    seconds);
        outcome_free(&outcome);
    }
    block_free(&block);
    return status == SVMX_OK ? finish_output() : NOT_RUN;
}

static int generate(svmx_executor_t *executor, const struct arguments *arguments) {
    struct block block;
    struct svmx_error error;
    if (block_generate(executor, &arguments->generate, &block, &error) != SVMX_OK)
        return (void)fprintf(stderr, "contract-vm: %s\n", error.text), NOT_RUN;
    block_write(stdout, &block);
    block_free(&block);
    return finish_output();
}

static bool find_kind(const char *name, enum block_kind *kind) {
    for (int i = 0; i < BLOCK_KINDS; i++)
        if (strcmp(block_kind_names[i], name) == 0) return *kind = (enum block_kind)i, true;
    return false;
}

int main(int count, char **words) {
    struct arguments arguments = {.run = run_defaults, .generate = {.count = 1000, .seed = 1}};
    svmx_executor_t *executor;
    struct svmx_error error;
    for (int i = 1; i < count; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return fputs(help, stdout) < 0;
    const int bad = parse(&arguments, count, words);
    if (bad) return bad;
    const bool runs = arguments.command && strcmp(arguments.command, "run") == 0;
    if (!arguments.command || (!runs && strcmp(arguments.command, "gen") != 0)) return usage("say run or gen", "");
    if (!arguments.subject) return usage(runs ? "say which block" : "say which kind of block", "");
    if (!runs && !find_kind(arguments.subject, &arguments.generate.kind))
        return usage("there is no kind of block ", arguments.subject);
    if (svmx_open(&executor, NULL, &error) != SVMX_OK)
        return (void)fprintf(stderr, "contract-vm: %s\n", error.text), NO_EXECUTOR;
    const int status = runs ? run(executor, &arguments) : generate(executor, &arguments);
    svmx_close(executor);
    return status;
}

/*
 * cmd_run.c: `svmx run OPERATION`: options, operation, executor; then run_example.c or run_stdin.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run.h"
#include <string.h>

static const struct cli_option run_options[RUN_OPTION_COUNT] = {
    [RUN_SIZE] = {.name = "size",
                  .value = "N",
                  .number = true,
                  .maximum = UINT64_MAX,
                  .standard = "64K",
                  .help = "units of a task (svmx ops OPERATION says what they are)"},
    [RUN_TASKS] = {.name = "tasks",
                   .value = "T",
                   .number = true,
                   .minimum = 1,
                   .maximum = 1 << 24,
                   .standard = "1",
                   .help = "tasks of that size in the batch"},
    [RUN_REPEAT] = {.name = "repeat",
                    .value = "R",
                    .number = true,
                    .minimum = 1,
                    .maximum = 1 << 20,
                    .standard = "5",
                    .help = "timed runs, after a first one that is shown apart"},
    [RUN_SEED] = {.name = "seed",
                  .value = "S",
                  .number = true,
                  .maximum = UINT64_MAX,
                  .standard = "1",
                  .help = "of the made-up data; task i has seed S + i"},
    [RUN_HASH] = {.name = "hash",
                  .help = "receipts have a hash of the results, for --receipt; takes a reading of them"},
    [RUN_SHADOW] = {.name = "shadow",
                    .help = "after each run the same on the other side, CPU or device, for --receipt:\n"
                            "svmx replay then knows what the better one would have taken"},
    [RUN_STDIN] = {.name = "stdin", .help = "take items from standard input, one a line"},
    [RUN_QUIET] = {.name = "quiet", .letter = 'q', .help = "print the hash only; no notes, no warnings"},
    [RUN_RECEIPT] = {.name = "receipt",
                     .value = "FILE",
                     .help = "write a line of JSON for each launch, the first run included, to FILE,\n"
                             "or to standard output for '-'; svmx replay reads them"},
};

/* Options of made-up data make no sense beside --stdin, and to ignore them would be to lie. */
static enum cli_exit options_check(const struct cli_args *args) {
    for (unsigned i = RUN_SIZE; i <= RUN_SHADOW && args->own[RUN_STDIN].given; i++)
        if (args->own[i].given)
            return cli_args_refuse(args->command, "--%s is for made-up data and does not go with --stdin",
                                   run_options[i].name);
    const char *receipt = args->own[RUN_RECEIPT].text;
    for (unsigned i = RUN_HASH; i <= RUN_SHADOW && !receipt; i++)
        if (args->own[i].given)
            return cli_args_refuse(args->command, "--%s is for a log: give --receipt FILE, too", run_options[i].name);
    const bool both = receipt && strcmp(receipt, "-") == 0;
    if (both && (args->own[RUN_STDIN].given || cli_args_json(args)))
        return cli_args_refuse(args->command, "--receipt - would mix with the results: give a file");
    return CLI_OK;
}

static enum cli_exit run_run(const struct cli_args *args) {
    struct run run = {.args = args, .json = cli_args_json(args), .quiet = args->own[RUN_QUIET].given};
    enum cli_exit code = options_check(args);
    if (code == CLI_OK) code = cli_session_open(&run.session, args, run.quiet);
    if (code != CLI_OK) return code;
    code = cli_session_op(&run.session, args->operands[0], &run.op);
    if (code == CLI_OK) code = run_receipts_open(&run);
    if (code == CLI_OK) code = args->own[RUN_STDIN].given ? run_stdin(&run) : run_example(&run);
    code = run_receipts_close(&run, code);
    cli_session_close(&run.session);
    return code;
}

const struct cli_command cli_run = {
    .name = "run",
    .operands = "OPERATION",
    .summary = "run an operation on made-up data, or on lines of hex",
    .details = "Made-up data: prints the time, the rate, the device that answered and the SHA-256 of\n"
               "all outputs, task after task, which is the same on every machine and device.\n"
               "\n"
               "--stdin: one item a line, its arguments in the order of the signature as hex with one\n"
               "space between them, - for an empty one; 0x before the digits is fine. One result a line\n"
               "as hex, 'invalid' where the operation says so. Where the operation takes scalars a line is a\n"
               "task: a scalar is its value as a hex number, and arrays have any number of items. With --json\n"
               "each line is an object:\n"
               "  {\"line\":1,\"valid\":true,\"outputs\":[\"HEX\"]}\n"
               "A bad line ends the run with exit status 1, after the results of those before it.\n"
               "  printf '616263\\n-\\n' | svmx run keccak256 --stdin\n"
               "  printf '010203040506 2 3 1\\n' | svmx run grid_rotate_u8 --stdin\n"
               "\n"
               "--receipt: what each launch took, where, why it went there and what else might have had it\n"
               "(docs/RECEIPTS.md). Runs are tagged 1, 2, 3 ... in their order.\n"
               "  svmx run keccak256 --repeat 100 --shadow --receipt both.log && svmx replay both.log\n",
    .operand_min = 1,
    .operand_max = 1,
    .executor = true,
    .options = run_options,
    .option_count = RUN_OPTION_COUNT,
    .run = run_run,
};

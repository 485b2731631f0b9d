/*
 * args.c: options and operands of a command, read from its table. args.h says what is accepted.
 *
 * Called by main.c before a command runs. Knows no command by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "args.h"
#include "text.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct cli_option cli_common_options[CLI_COMMON_COUNT] = {
    [CLI_HELP] = {.name = "help", .letter = 'h', .help = "show this text and exit"},
    [CLI_JSON] = {.name = "json", .help = "print JSON instead of text"},
    [CLI_BACKEND] = {.name = "backend",
                     .value = "LIST",
                     .help = "which backends, in which order, in the words of SUPERVM_BACKENDS\n(see svmx(7))"},
    [CLI_DEVICE] = {.name = "device",
                    .value = "ITEM",
                    .help = "this backend or device and no other: NAME or NAME:DEVICE, or 'none'\n"
                            "for the reference code; an error if it is not there or fails"},
    [CLI_THREADS] = {.name = "threads",
                     .value = "N",
                     .number = true,
                     .minimum = 1,
                     .maximum = 1024,
                     .help = "threads of a CPU backend"},
    [CLI_VARIANT] = {.name = "variant",
                     .value = "V",
                     .help = "kernel variant that CPU backends must use, such as avx2 or scalar"},
    [CLI_POLICY] = {.name = "policy",
                    .value = "P",
                    .help = "who may compute, in the words of SUPERVM_POLICY: auto, cpu, gpu, split,\n"
                            "order, fixed:N, auto:LOW..HIGH (see svmx(7))"},
};

size_t cli_common_count(const struct cli_command *command) {
    return command->executor ? CLI_COMMON_COUNT : CLI_JSON + 1;
}

enum cli_exit cli_args_refuse(const struct cli_command *command, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_error("%s; see svmx %s --help", text, command->name);
    return CLI_USAGE;
}

/* ---- finding an option ---- */

/* Is `word`, of `length` characters, this option's name? */
static bool is_named(const struct cli_option *option, const char *word, size_t length) {
    return strlen(option->name) == length && memcmp(option->name, word, length) == 0;
}

static bool is_lettered(const struct cli_option *option, const char *word) {
    return option->letter != 0 && word[1] == option->letter && word[2] == '\0';
}

static bool matches(const struct cli_option *option, const char *word) {
    if (word[1] != '-') return is_lettered(option, word);
    return is_named(option, word + 2, strcspn(word + 2, "="));
}

/* The option that `word` (which starts with a dash) names, and where its value goes; NULL for none. */
static const struct cli_option *option_find(struct cli_args *args, const char *word, struct cli_value **value) {
    for (size_t i = 0; i < cli_common_count(args->command); i++) {
        if (!matches(&cli_common_options[i], word)) continue;
        *value = &args->common[i];
        return &cli_common_options[i];
    }
    for (size_t i = 0; i < args->command->option_count; i++) {
        if (!matches(&args->command->options[i], word)) continue;
        *value = &args->own[i];
        return &args->command->options[i];
    }
    return NULL;
}

static void option_unknown(const struct cli_command *command, const char *word) {
    int length = (int)strcspn(word, "=");
    struct cli_guess guess = cli_guess_start(word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));
    for (size_t i = 0; i < cli_common_count(command); i++) cli_guess_try(&guess, cli_common_options[i].name);
    for (size_t i = 0; i < command->option_count; i++) cli_guess_try(&guess, command->options[i].name);
    if (guess.best)
        cli_args_refuse(command, "unknown option '%.*s' (did you mean --%s?)", length, word, guess.best);
    else
        cli_args_refuse(command, "unknown option '%.*s'", length, word);
}

/* ---- values ---- */

static bool value_set(const struct cli_command *command, const struct cli_option *option, struct cli_value *value,
                      const char *text) {
    value->text = text;
    if (!option->number) return true;
    if (!cli_number_parse(text, &value->number)) {
        cli_args_refuse(command, "--%s: '%s' is no number, or too large (digits, then K, M or G for 2^10, 2^20, 2^30)",
                        option->name, text);
        return false;
    }
    if (value->number >= option->minimum && value->number <= option->maximum) return true;
    cli_args_refuse(command, "--%s: %s is out of range, %llu to %llu", option->name, text,
                    (unsigned long long)option->minimum, (unsigned long long)option->maximum);
    return false;
}

/* Reads the option at argv[*at], and the value behind it. */
static bool option_read(struct cli_args *args, int argc, char *const *argv, int *at) {
    const char *word = argv[*at], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    struct cli_value *value;
    const struct cli_option *option = option_find(args, word, &value);
    if (!option) {
        option_unknown(args->command, word);
        return false;
    }
    value->given = true;
    if (!option->value) {
        if (equals) cli_args_refuse(args->command, "--%s takes no value", option->name);
        return !equals;
    }
    if (!equals && ++*at >= argc) {
        cli_args_refuse(args->command, "--%s needs a value: --%s %s", option->name, option->name, option->value);
        return false;
    }
    return value_set(args->command, option, value, equals ? equals + 1 : argv[*at]);
}

static void defaults_set(struct cli_args *args) {
    for (size_t i = 0; i < args->command->option_count; i++) {
        const struct cli_option *option = &args->command->options[i];
        if (!option->standard) continue;
        bool fine = value_set(args->command, option, &args->own[i], option->standard);
        assert(fine && "a default of our own table");
        (void)fine;
    }
}

/* ---- the whole ---- */

static bool operand_add(struct cli_args *args, const char *word) {
    if (args->operand_count == args->command->operand_max) {
        cli_args_refuse(args->command, "'%s' is one argument too many", word);
        return false;
    }
    args->operands[args->operand_count++] = word;
    return true;
}

bool cli_args_parse(struct cli_args *args, const struct cli_command *command, int argc, char *const *argv) {
    assert(command->option_count <= CLI_MAX_OPTIONS && command->operand_max <= CLI_MAX_OPERANDS);
    *args = (struct cli_args){.command = command};
    defaults_set(args);
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!option_read(args, argc, argv, &i)) return false;
        } else if (!operand_add(args, argv[i]))
            return false;
    }
    if (args->common[CLI_HELP].given || args->operand_count >= command->operand_min) return true;
    cli_args_refuse(command, "%s is missing", command->operands);
    return false;
}

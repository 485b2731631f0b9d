/*
 * cmd_profile.c: `svmx profile show|plot|clear`: what executors measured. Opens no executor and loads no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include <errno.h>
#include <string.h>

static const struct cli_option options[PROFILE_OPTION_COUNT] = {
    [PROFILE_FILE] = {.name = "file", .value = "PATH", .help = "this file, absolute, not the one of the settings"},
    [PROFILE_OP] = {.name = "op", .value = "NAME", .help = "show, plot: this operation only"},
    [PROFILE_DEVICE] = {.name = "device",
                        .value = "DEVICE",
                        .help = "show, plot: these devices only: a number as show prints it, or a part\n"
                                "of backend, name, variant"},
    [PROFILE_WORK] = {.name = "work",
                      .value = "W",
                      .number = true,
                      .minimum = 1,
                      .maximum = UINT64_C(1) << 23,
                      .help = "plot: sizes with W of work for each unit, a power of two;\n"
                              "else those of which there are most"},
    [PROFILE_SVG] = {.name = "svg", .value = "FILE", .help = "plot: an SVG drawing, to FILE or - for standard output"},
};

/* ---- show ------------------------------------------------------------------------------------------------------- */

static enum cli_exit show(const struct cli_args *args, svmx_profile_t *profile) {
    struct profile_view view;
    enum cli_exit code = profile_view_read(&view, args, profile);
    if (code == CLI_OK && cli_args_json(args))
        profile_show_json(&view);
    else if (code == CLI_OK && *svmx_profile_path(profile) == '\0')
        puts("The profile is switched off (SUPERVM_PROFILE).");
    else if (code == CLI_OK)
        profile_show(&view);
    profile_view_free(&view);
    return code;
}

/* ---- plot ------------------------------------------------------------------------------------------------------- */

static enum cli_exit write_svg(const struct curves *curves, const char *path) {
    if (strcmp(path, "-") == 0) {
        plot_svg(curves, stdout);
        return CLI_OK;
    }
    FILE *out = fopen(path, "w");
    if (out) plot_svg(curves, out);
    bool failed = !out || ferror(out);
    if (out && fclose(out) != 0) failed = true;
    if (!failed) return CLI_OK;
    cli_error("cannot write %s: %s", path, strerror(errno));
    return CLI_FAILED;
}

static enum cli_exit draw(const struct cli_args *args, const struct curves *curves) {
    const char *svg = args->own[PROFILE_SVG].text;
    if (svg) {
        enum cli_exit code = write_svg(curves, svg);
        if (code != CLI_OK) return code;
    }
    if (cli_args_json(args))
        curves_json(curves);
    else if (!svg)
        plot_text(curves);
    return CLI_OK;
}

static enum cli_exit plot(const struct cli_args *args, svmx_profile_t *profile) {
    struct profile_view view;
    struct curves curves = {.view = NULL};
    enum cli_exit code = profile_view_read(&view, args, profile);
    if (code == CLI_OK) code = curves_make(&curves, &view, args->own[PROFILE_WORK].number);
    if (code == CLI_OK) code = draw(args, &curves);
    curves_free(&curves);
    profile_view_free(&view);
    return code;
}

/* ---- clear ------------------------------------------------------------------------------------------------------ */

static enum cli_exit clear(const struct cli_args *args, svmx_profile_t *profile) {
    struct svmx_error error = {SVMX_OK, ""};
    const char *path = svmx_profile_path(profile);
    const uint32_t cells = svmx_profile_count(profile);
    enum svmx_status status = svmx_profile_remove(profile, &error);
    if (status != SVMX_OK) {
        cli_error("%s (%s)", error.text, svmx_status_name(status));
        return CLI_FAILED;
    }
    if (!cli_args_json(args)) {
        if (*path)
            printf("removed %s, %s\n", cli_counted(cells, "cell").line, path);
        else
            puts("The profile is switched off (SUPERVM_PROFILE).");
        return CLI_OK;
    }
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "path", path);
    cli_json_number(&json, "removed", cells);
    cli_json_close(&json);
    return CLI_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static const struct action {
    const char *name;
    enum cli_exit (*run)(const struct cli_args *args, svmx_profile_t *profile);
} actions[] = {{"show", show}, {"plot", plot}, {"clear", clear}};

static bool given(const struct cli_args *args, int option) { return args->own[option].given; }

/* NULL after a message. */
static const struct action *action_find(const struct cli_args *args) {
    const struct action *found = NULL;
    const char *file = args->own[PROFILE_FILE].text, *svg = args->own[PROFILE_SVG].text;
    const uint64_t work = args->own[PROFILE_WORK].number;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(args->operands[0], actions[i].name) == 0) found = &actions[i];
    if (!found)
        cli_args_refuse(args->command, "'%s' is not show, plot or clear", args->operands[0]);
    else if (found->run == clear && (given(args, PROFILE_OP) || given(args, PROFILE_DEVICE)))
        cli_args_refuse(args->command, "--op and --device do not go with clear, which removes all");
    else if (found->run != plot && (given(args, PROFILE_SVG) || given(args, PROFILE_WORK)))
        cli_args_refuse(args->command, "--svg and --work go with plot only");
    else if (found->run == plot && !given(args, PROFILE_OP))
        cli_args_refuse(args->command, "plot needs --op NAME");
    else if (given(args, PROFILE_WORK) && (work & (work - 1)))
        cli_args_refuse(args->command, "--work: %s is no power of two", args->own[PROFILE_WORK].text);
    else if (svg && strcmp(svg, "-") == 0 && cli_args_json(args))
        cli_args_refuse(args->command, "--svg - and --json both want standard output");
    else if (file && *file != '/')
        cli_args_refuse(args->command, "--file: '%s' is no absolute path", file);
    else
        return found;
    return NULL;
}

/* A damaged profile is empty, for executors as well; whoever looks at it wants to know. */
static enum cli_exit run_action(const struct action *action, const struct cli_args *args, svmx_profile_t *profile) {
    const char *defect = svmx_profile_defect(profile);
    if (!*defect || action->run == clear) return action->run(args, profile);
    cli_error("%s is ignored by executors: %s", svmx_profile_path(profile), defect);
    if (action->run == show && cli_args_json(args)) (void)show(args, profile);
    return CLI_BAD_INPUT;
}

static enum cli_exit profile_run(const struct cli_args *args) {
    struct svmx_error error = {SVMX_OK, ""};
    svmx_profile_t *profile;
    const struct action *action = action_find(args);
    if (!action) return CLI_USAGE;
    enum svmx_status status = svmx_profile_open(&profile, args->own[PROFILE_FILE].text, &error);
    if (status != SVMX_OK) {
        cli_error("cannot open the profile: %s (%s)", error.text, svmx_status_name(status));
        return CLI_NO_EXECUTOR;
    }
    enum cli_exit code = run_action(action, args, profile);
    svmx_profile_close(profile);
    return code;
}

const struct cli_command cli_profile = {
    .name = "profile",
    .operands = "show|plot|clear",
    .summary = "what was measured of operations and devices: show, plot or forget it",
    .details = "show   every operation, size and device that was measured: time, spread, samples, parts\n"
               "plot   the time of one operation (--op) against its size, a curve for each device,\n"
               "       and where they cross; in the terminal, or as SVG\n"
               "clear  removes it: the next process measures anew\n"
               "Executors write it when they close. svmx config shows where it is.\n",
    .operand_min = 1,
    .operand_max = 1,
    .options = options,
    .option_count = PROFILE_OPTION_COUNT,
    .run = profile_run,
};

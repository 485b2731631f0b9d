/*
 * cmd_top.c: `svmx top`: what the dashboard shows, in a terminal: of a program that serves its metrics, or of a demonstration
 * load. On a terminal a picture takes the place of the one before; else they follow one another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "demo.h"
#include "text.h"
#include "top.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL, COUNT, LOAD };

static const struct cli_option options[] = {
    [INTERVAL] = {.name = "interval",
                  .value = "MS",
                  .number = true,
                  .minimum = 100,
                  .maximum = 3600000,
                  .standard = "1000",
                  .help = "milliseconds from one picture to the next"},
    [COUNT] = {.name = "count",
               .value = "N",
               .number = true,
               .maximum = UINT64_MAX,
               .help = "so many pictures; without it until Ctrl-C, or q"},
    [LOAD] = {.name = "load",
              .value = "PERCENT",
              .number = true,
              .maximum = 100,
              .standard = "20",
              .help = "of the time that the demonstration load runs"},
};

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t asked;
static struct termios saved;

static void remember(int number) {
    (void)number;
    asked = 1;
}

/* Another screen, without a cursor; keys come one by one. */
static bool terminal_take(void) {
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved) != 0) return false;
    struct termios raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout);
    return true;
}

static void terminal_give_back(void) {
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* Until the next picture is due. False: the user has had enough. */
static bool pause_ms(uint64_t ms, bool terminal) {
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    struct pollfd keys = {.fd = terminal ? STDIN_FILENO : -1, .events = POLLIN};
    sigset_t none;
    char key;
    sigemptyset(&none);
    if (ppoll(&keys, 1, &left, &none) > 0 && read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q'))
        return false;
    return !asked;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum cli_exit samples_take(const struct top_source *source, struct cli_samples *samples) {
    char *text = top_source_read(source, TOP_METRICS);
    if (!text) return CLI_FAILED;
    if (cli_samples_read(samples, text)) return CLI_OK;
    cli_error("%s gives metrics that cannot be read", source->address ? source->address : "the executor");
    return CLI_FAILED;
}

/* As much of a picture as the terminal has room for: a line that wraps pushes the head of it out of sight. The last line is
 * for messages. */
static void print_clipped(const char *text, unsigned columns, unsigned lines) {
    for (unsigned line = 1; line < lines && *text; line++) {
        const char *end = text, *next = text + strcspn(text, "\n");
        for (unsigned column = 0; column < columns && end < next; column++) cli_utf8_next(&end);
        printf("%.*s\n", (int)(end - text), text);
        text = next + (*next == '\n');
    }
}

static void print_picture(const char *text) {
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
        print_clipped(text, size.ws_col, size.ws_row);
    else
        fputs(text, stdout);
}

/* False after a message: no memory for it. */
static bool view_print(const struct top_source *source, const struct cli_samples *before, const struct cli_samples *now,
                       const struct top_texts *texts, double seconds) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out) top_view_print(out, source, before, now, texts, seconds);
    const bool whole = out && fclose(out) == 0;
    if (whole)
        print_picture(text);
    else
        cli_error("no memory for a picture");
    free(text);
    return whole;
}

/* A picture of what happened since `before`, which then is what is now. False after a message: the source does not answer. */
static bool picture(const struct top_source *source, struct cli_samples *before, double *then_s, const char *lead) {
    struct cli_samples now;
    struct top_texts texts;
    if (samples_take(source, &now) != CLI_OK) return false;
    const double at_s = now_s();
    if (!top_texts_read(source, &texts)) return cli_samples_free(&now), false;
    fputs(lead, stdout);
    const bool printed = view_print(source, before, &now, &texts, at_s - *then_s);
    top_texts_free(&texts);
    cli_output_flush();
    cli_samples_free(before);
    *before = now;
    *then_s = at_s;
    return printed;
}

/* On a terminal a source that is gone may come back: its last picture stays, with a word under it. */
static enum cli_exit show(const struct top_source *source, const struct cli_args *args) {
    struct cli_samples before;
    enum cli_exit code = samples_take(source, &before);
    if (code != CLI_OK) return code;
    double then_s = now_s();
    const bool terminal = terminal_take();
    for (uint64_t i = 0; !args->own[COUNT].given || i < args->own[COUNT].number; i++) {
        if (!pause_ms(args->own[INTERVAL].number, terminal)) break;
        if (picture(source, &before, &then_s, terminal ? "\033[H\033[2J" : i ? "\n" : "") || terminal) continue;
        code = CLI_FAILED;
        break;
    }
    if (terminal) terminal_give_back();
    cli_samples_free(&before);
    return code;
}

/* A document each time. */
static enum cli_exit show_json(const struct top_source *source, const struct cli_args *args) {
    for (uint64_t i = 0; !args->own[COUNT].given || i < args->own[COUNT].number; i++) {
        if (!pause_ms(args->own[INTERVAL].number, false)) break;
        char *text = top_source_read(source, TOP_STATS);
        if (!text) return CLI_FAILED;
        fputs(text, stdout);
        free(text);
        cli_output_flush();
    }
    return CLI_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static enum cli_exit watch(const struct top_source *source, const struct cli_args *args) {
    return cli_args_json(args) ? show_json(source, args) : show(source, args);
}

static enum cli_exit watch_demo(const struct cli_args *args) {
    struct cli_session session;
    struct demo demo;
    enum cli_exit code = cli_session_open(&session, args, true);
    if (code != CLI_OK) return code;
    code = demo_start(&demo, &session, args->own[LOAD].number, 0);
    if (code == CLI_OK) {
        const struct top_source source = {.executor = session.executor};
        code = watch(&source, args);
        const enum cli_exit load = demo_stop(&demo);
        if (code == CLI_OK) code = load;
    }
    cli_session_close(&session);
    return code;
}

static enum cli_exit top_run(const struct cli_args *args) {
    struct sigaction action = {.sa_handler = remember};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* but while waiting, in this thread */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (args->operand_count == 0) return watch_demo(args);
    if (!top_address_parse(args->operands[0]))
        return cli_args_refuse(args->command, "'%s' is no address: give HOST:PORT, as 127.0.0.1:9469",
                               args->operands[0]);
    const struct top_source source = {.address = args->operands[0]};
    return watch(&source, args);
}

const struct cli_command cli_top = {
    .name = "top",
    .operands = "[HOST:PORT]",
    .summary = "what an executor does, live in the terminal",
    .details = "With HOST:PORT: that of a program with svmx_metrics_listen, or of svmx serve (127.0.0.1:9469).\n"
               "Without: that of a demonstration load. Rates, shares and latencies are those of the last interval.\n",
    .operand_max = 1,
    .executor = true,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = top_run,
};

/*
 * cmd_serve.c: `svmx serve`: a demonstration load, and the dashboard that shows what the executor does with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "demo.h"
#include "json.h"
#include "text.h"
#include <signal.h>
#include <stdio.h>

enum { ADDRESS, ANY_ADDRESS, LOAD, BATCHES };

static const struct cli_option options[] = {
    [ADDRESS] = {.name = "address",
                 .value = "IP:PORT",
                 .standard = "127.0.0.1:9469",
                 .help = "where to listen; port 0 takes a free one"},
    [ANY_ADDRESS] = {.name = "any-address",
                     .help = "also where other machines reach it: there is no password,\nand whoever can connect reads "
                             "everything"},
    [LOAD] = {.name = "load",
              .value = "PERCENT",
              .number = true,
              .maximum = 100,
              .standard = "20",
              .help = "of the time that the load runs; 0: no load"},
    [BATCHES] = {.name = "batches",
                 .value = "B",
                 .number = true,
                 .maximum = UINT64_MAX,
                 .help = "end the load after so many, and go on serving"},
};

#ifdef SVMX_HAVE_METRICS
#include <svmx/metrics.h>

static void tell(const svmx_metrics_t *metrics, const struct cli_args *args) {
    const char *address = svmx_metrics_address(metrics);
    if (cli_args_json(args)) {
        struct cli_json json = cli_json_start(stdout, CLI_JSON_LINE);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "address", address);
        cli_json_close(&json);
    } else {
        printf("The dashboard is at http://%s/ and the metrics are at http://%s/metrics; Ctrl-C ends it.\n", address,
               address);
    }
    cli_output_flush();
}

static enum cli_exit serve(const struct cli_session *session, const struct cli_args *args, const sigset_t *ends) {
    svmx_metrics_t *metrics;
    struct svmx_error error;
    struct demo demo;
    const uint32_t flags = args->own[ANY_ADDRESS].given ? SVMX_METRICS_ANY_ADDRESS : 0;
    const enum svmx_status status =
        svmx_metrics_listen(&metrics, session->executor, args->own[ADDRESS].text, flags, &error);
    if (status == SVMX_ERR_ARGUMENT || status == SVMX_ERR_PERMISSION)
        return cli_args_refuse(args->command, "%s", error.text);
    if (status != SVMX_OK) return cli_session_failed("svmx serve", status, error.text);
    enum cli_exit code = demo_start(&demo, session, args->own[LOAD].number, args->own[BATCHES].number);
    if (code == CLI_OK) {
        int number;
        tell(metrics, args);
        (void)sigwait(ends, &number);
        code = demo_stop(&demo);
    }
    svmx_metrics_close(metrics);
    return code;
}

static enum cli_exit serve_run(const struct cli_args *args) {
    struct cli_session session;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in the threads that are started from now on as well */
    enum cli_exit code = cli_session_open(&session, args, false);
    if (code != CLI_OK) return code;
    code = serve(&session, args, &ends);
    cli_session_close(&session);
    return code;
}
#else
static enum cli_exit serve_run(const struct cli_args *args) {
    (void)args;
    cli_error("this svmx was built without libsvmx-metrics: configure says why (apt install libmicrohttpd-dev "
              "libjs-chart.js); svmx top shows the same in a terminal");
    return CLI_FAILED;
}
#endif

const struct cli_command cli_serve = {
    .name = "serve",
    .operands = "",
    .summary = "run a demonstration load, and show in a browser what happens",
    .details = "A program that embeds the library has the same with svmx_metrics_listen (svmx/metrics.h).\n"
               "Paths: / (dashboard) /metrics (Prometheus) /stats.json /curves.json /receipts /fallbacks /healthz\n",
    .executor = true,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = serve_run,
};

/*
 * overlap.c: suite overlap on the modelled discrete GPU: a continuous stream of batches of 24 vector sums of 32 K elements, with
 * a window of 3 launches against one launch at a time, and against what the slowest of upload, compute and readback allows.
 *
 *   virtual     by the model alone: what the device does, the host takes no time. The same numbers every time
 *   executor    the whole library on plugins/sim, whose device is SLOWER times as slow as the model says: the reference code
 *               that computes in its place keeps up then, on any machine. What the host adds is that much too small
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"
#include "bench.h"
#include "stream.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 24, ELEMENTS = 32768, WINDOW = 3, LAUNCHES = 1000, SLOWER = 100, BATCHES = 24, ROUNDS = 5 };
#define MODEL "pcie4-discrete"

static const struct sim_load load = {.op = "vec_add_f32",
                                     .units = TASKS * ELEMENTS,
                                     .work = TASKS * ELEMENTS,
                                     .bytes_in = 2 * TASKS * ELEMENTS * sizeof(float),
                                     .bytes_out = TASKS * ELEMENTS * sizeof(float),
                                     .tasks = TASKS};

static void rows(struct bench *bench, const char *name, double windowed_us, double single_us, double bound_us,
                 bool right) {
    char text[96];
    (void)snprintf(text, sizeof text, "%s, window of 3", name);
    bench_row(bench, &(struct bench_row){.name = text,
                                         .ours = windowed_us,
                                         .peer = single_us,
                                         .peer_name = "window 1",
                                         .unit = "us a batch",
                                         .ask = BENCH_RATIO_AT_LEAST,
                                         .bound = 1.4,
                                         .wrong = !right});
    bench_row(bench, &(struct bench_row){.name = text,
                                         .ours = windowed_us,
                                         .peer = bound_us,
                                         .peer_name = "bound",
                                         .unit = "us a batch",
                                         .ask = BENCH_RATIO_AT_LEAST,
                                         .bound = 0.9,
                                         .wrong = !right});
}

/* ---- virtual time ---------------------------------------------------------------------------------------------------- */

static double larger(double a, double b) { return a > b ? a : b; }

/* ns a launch; *bound_ns: of the engine that has most to do. A launch is handed over when the one `window` before it is over. */
static double virtual_ns(const struct sim_model *model, uint32_t window, double *bound_ns) {
    struct sim_random random = {model->seed};
    struct sim_engines engines = {0};
    uint64_t over[LAUNCHES];
    double upload = 0, compute = 0, readback = 0;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct sim_load mine = load;
        struct sim_cost cost;
        const uint64_t at = i >= window ? over[i - window] : 0;
        mine.submitters = i < window ? i + 1 : window;
        sim_model_cost(model, SIM_GPU, &mine, at, i, &random, &cost);
        over[i] = sim_engines_take(model, &engines, &cost, at);
        upload += (double)cost.upload_ns;
        compute += (double)(cost.dispatch_ns + cost.compute_ns);
        readback += (double)cost.readback_ns;
    }
    *bound_ns = larger(upload, larger(compute, readback)) / LAUNCHES;
    return (double)over[LAUNCHES - 1] / LAUNCHES;
}

static void measure_virtual(struct bench *bench, const struct sim_model *model) {
    double bound;
    const double single = virtual_ns(model, 1, &bound), windowed = virtual_ns(model, WINDOW, &bound);
    rows(bench, "24 x 32 K on " MODEL ", virtual time", windowed / 1e3, single / 1e3, bound / 1e3, true);
}

/* ---- the executor ---------------------------------------------------------------------------------------------------- */

/* The model without its noise, and slower: a file that plugins/sim reads. */
static void write_model(const char *text, FILE *file) {
    while (*text) {
        const size_t length = strcspn(text, "\n") + 1;
        const bool noise = strncmp(text, "jitter", 6) == 0 || strncmp(text, "outliers", 8) == 0;
        if (strncmp(text, "name ", 5) == 0)
            fputs("name slow\n", file);
        else if (!noise)
            (void)fwrite(text, 1, length, file);
        text += length;
    }
    fprintf(file, "at 0 s slow %d x\n", SLOWER);
}

static int by_value(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* us a batch, the median of some rounds; the two take turns. */
static void measure_both(const struct bench *bench, struct stream streams[2], double us[2]) {
    double values[2][ROUNDS];
    const uint32_t rounds = bench_rounds(bench, ROUNDS);
    for (uint32_t round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++) {
            const uint64_t start = bench_now_ns();
            stream_run(&streams[i], BATCHES);
            values[i][round] = (double)(bench_now_ns() - start) / 1e3 / BATCHES;
        }
    for (int i = 0; i < 2; i++) {
        qsort(values[i], rounds, sizeof **values, by_value);
        us[i] = values[i][rounds / 2];
    }
}

/* For `svmx trace`, where SVMX_BENCH_RECEIPTS says. */
static void write_receipts(svmx_executor_t *executor) {
    static struct svmx_receipt receipts[64];
    const char *path = getenv("SVMX_BENCH_RECEIPTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    uint64_t from = 0;
    size_t count = 0;
    for (size_t i = 0; i < 64; i++) receipts[i].size = sizeof *receipts;
    if (!file) return;
    if (svmx_receipts_read(executor, &from, receipts, 64, &count) != SVMX_OK) count = 0;
    for (size_t i = 0; i < count; i++) {
        char line[4096];
        if (svmx_receipt_json(executor, &receipts[i], line, sizeof line, NULL) == SVMX_OK) fprintf(file, "%s\n", line);
    }
    (void)fclose(file);
}

static void measure_executor(struct bench *bench, const struct sim_model *model) {
    const char *name = "24 x 32 K on " MODEL ", executor";
    struct stream streams[2];
    size_t sizes[TASKS];
    double us[2];
    struct sim_cost cost;
    for (int i = 0; i < TASKS; i++) sizes[i] = ELEMENTS;
    for (int i = 0; i < 2; i++) {
        const struct svmx_options options = {.size = sizeof options,
                                             .backends = "+sim:slow,stop",
                                             .timeout_ms = 60000,
                                             .window = i ? WINDOW : 1,
                                             .log_level = SVMX_LOG_WARN};
        if (stream_open(&streams[i], &options, sizes, TASKS)) continue;
        if (i) stream_close(&streams[0]);
        bench_row(bench, &(struct bench_row){.name = name, .ours = NAN, .peer = NAN, .note = "skipped: no plugin sim"});
        return;
    }
    const bool right = stream_is_right(&streams[0]) && stream_is_right(&streams[1]);
    stream_run(&streams[1], BATCHES);
    write_receipts(streams[1].executor);
    measure_both(bench, streams, us);
    sim_model_cost(model, SIM_GPU, &load, 0, 0, NULL, &cost);
    const double compute = (double)(cost.dispatch_ns + cost.compute_ns);
    const double bound = larger((double)cost.upload_ns, larger(compute, (double)cost.readback_ns)) / 1e3;
    rows(bench, name, us[1] / SLOWER, us[0] / SLOWER, bound, right);
    for (int i = 0; i < 2; i++) stream_close(&streams[i]);
}

/* ---- all ------------------------------------------------------------------------------------------------------------- */

int main(void) {
    struct bench bench;
    struct sim_model model;
    char why[400], path[PATH_MAX];
    const char *text = sim_model_builtin(MODEL), *folder = getenv("TMPDIR");
    bench_open(&bench, "overlap");
    if (!text || !sim_model_parse(&model, text, strlen(text), why, sizeof why)) return 1;
    measure_virtual(&bench, &model);
    (void)snprintf(path, sizeof path, "%s/svmx-overlap-XXXXXX", folder && *folder == '/' ? folder : "/tmp");
    const int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) return 1;
    write_model(text, file);
    if (fclose(file) != 0 || setenv("SUPERVM_SIM_MODEL", path, 1) != 0) return 1;
    measure_executor(&bench, &model);
    (void)unlink(path);
    return bench_close(&bench);
}

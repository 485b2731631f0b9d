/*
 * chains_devices.c: see chains_devices.h.
 *
 *   launches    of a chain of four, as receipts tell, on OpenCL and Level Zero (the test driver, where there is no GPU)
 *   eight       a chain of eight operations on the modelled RTX 4090 in virtual time: launches as receipts of plugins/sim tell,
 *               what each takes as the model alone does. The same numbers every time
 *   scf         examples/scf on each device: dispatches and readbacks as it counts them, and its time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chains_devices.h"

#include "../../plugins/sim/model.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

enum { ELEMENTS = 65536, FOUR = 4, EIGHT = 8, TRIES = 300, LARGE = 1024 * 1024 };
#define MODEL "rtx4090-wgpu"

static const uint32_t chain[EIGHT] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_GELU_F32,    SVMX_OP_RELU_F32,
                                      SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_SIGMOID_F32, SVMX_OP_TANH_F32};
static const char *const names[EIGHT] = {"vec_add_f32", "vec_mul_f32", "gelu_f32",    "relu_f32",
                                         "vec_add_f32", "vec_mul_f32", "sigmoid_f32", "tanh_f32"};

static void skip(struct bench *bench, const char *name, const char *why) {
    bench_row(bench, &(struct bench_row){.name = name, .ours = NAN, .peer = NAN, .unit = "", .note = why});
}

/* ---- launches ------------------------------------------------------------------------------------------------------- */

static bool is_binary(uint32_t op) { return op == SVMX_OP_VEC_ADD_F32 || op == SVMX_OP_VEC_MUL_F32; }

static bool add_links(svmx_batch_t *batch, uint32_t links, const float *in, float *out) {
    for (uint32_t i = 0; i < links; i++) {
        const struct svmx_arg args[] = {
            i + 1 == links ? svmx_out(SVMX_F32, out, ELEMENTS) : svmx_out_passing(SVMX_F32, ELEMENTS),
            i ? svmx_result_of(SVMX_F32, i - 1, 0) : svmx_in(SVMX_F32, in, ELEMENTS), svmx_in(SVMX_F32, in, ELEMENTS)};
        if (svmx_batch_add(batch, chain[i], args, is_binary(chain[i]) ? 3 : 2) != SVMX_OK) return false;
    }
    return true;
}

static double launches_of(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    double launches = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) launches += receipt.launches;
    return launches;
}

/* Of the last of some runs, so that what is built beside the work is there; NAN: there is no such device. */
static double count_launches(const char *backends, uint32_t links) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "order",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    static float in[ELEMENTS], out[ELEMENTS];
    double launches = NAN;
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) return NAN;
    if (svmx_batch_create(executor, &batch) == SVMX_OK) {
        bool good = add_links(batch, links, in, out);
        for (int i = 0; good && i < TRIES && !(launches <= 1); i++) {
            if (i) (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
            good = (i == 0 || svmx_batch_rearm(batch) == SVMX_OK) && svmx_run(batch) == SVMX_OK;
            if (good) launches = launches_of(batch);
        }
        svmx_batch_destroy(batch);
    }
    svmx_close(executor);
    return launches;
}

static void row_of_launches(struct bench *bench, const char *backends, const char *name) {
    const double launches = count_launches(backends, FOUR);
    if (isnan(launches)) {
        skip(bench, name, "skipped: there is no such device");
        return;
    }
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = launches,
                                         .peer = FOUR,
                                         .peer_name = "separate runs",
                                         .unit = "launches",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = 1});
}

/* ---- eight, in virtual time ------------------------------------------------------------------------------------------ */

/* Computing of a launch, without what it takes to launch it. */
static double compute_ns(const struct sim_model *model, const char *op, double times) {
    const struct sim_load load = {
        .op = op, .units = LARGE, .work = (uint64_t)times * LARGE, .tasks = 1, .submitters = 1};
    struct sim_cost cost;
    sim_model_cost(model, SIM_GPU, &load, 0, 0, NULL, &cost);
    return (double)cost.compute_ns;
}

/* The way there and back of so many launches on LARGE elements in one submission: one array in, one out. */
static double overhead_ns(const struct sim_model *model, double launches) {
    const struct sim_load load = {
        .op = "*", .bytes_in = LARGE * sizeof(float), .bytes_out = LARGE * sizeof(float), .tasks = 1, .submitters = 1};
    struct sim_cost cost;
    sim_model_cost(model, SIM_GPU, &load, 0, 0, NULL, &cost);
    return (double)(cost.upload_ns + cost.readback_ns) + launches * (double)cost.dispatch_ns;
}

static void row_of_eight(struct bench *bench) {
    const char *name = "a chain of eight on the modelled RTX 4090, virtual time", *text = sim_model_builtin(MODEL);
    const double launches = count_launches("+sim:" MODEL ",stop", EIGHT);
    struct sim_model model;
    char why[400];
    double apart = 0;
    if (isnan(launches) || !text || !sim_model_parse(&model, text, strlen(text), why, sizeof why)) {
        skip(bench, name, "skipped: no plugin sim");
        return;
    }
    for (int i = 0; i < EIGHT; i++) apart += compute_ns(&model, names[i], 1);
    const double fused = launches <= 1 ? compute_ns(&model, "chain_f32", EIGHT) : apart;
    const double ours = overhead_ns(&model, launches) + fused, one = overhead_ns(&model, 1) + apart;
    char note[160];
    (void)snprintf(note, sizeof note,
                   "%.0f launch, %.2f ms, over the way of one operation plus the computing of eight, %.2f ms", launches,
                   ours / 1e6, one / 1e6);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = ours / one,
                                         .peer = NAN,
                                         .unit = "x",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = 1.2,
                                         .note = note});
}

/* ---- scf -------------------------------------------------------------------------------------------------------------- */

struct scf {
    double dispatches[2], readbacks[2], ms[2]; /* an iteration, naive and resident; all of it */
    bool same;
};

/* What it prints: two ways, each with its list and a line of counts, and a last word. */
static bool scf_run(const char *backends, const char *modules, struct scf *scf) {
    const char *folder = getenv("SVMX_BENCH_EXAMPLES");
    char command[4096], line[512];
    int ways = 0;
    if (!folder) return false;
    (void)snprintf(command, sizeof command, "SUPERVM_BACKENDS='%s' SUPERVM_POLICY=order '%s/scf' %s 2>/dev/null",
                   backends, folder, modules);
    FILE *printed = popen(command, "r");
    if (!printed) return false;
    *scf = (struct scf){.same = false};
    while (fgets(line, sizeof line, printed)) {
        const char *ms = strrchr(line, ',');
        if (strstr(line, "the same bytes: yes")) scf->same = true;
        if (ways < 2 && ms &&
            sscanf(line, " an iteration: %lf dispatches, %lf readbacks;", &scf->dispatches[ways],
                   &scf->readbacks[ways]) == 2)
            scf->ms[ways++] = atof(ms + 1);
    }
    return pclose(printed) == 0 && ways == 2;
}

static void scf_row(struct bench *bench, const char *device, const char *what, const double *ways, const char *unit,
                    double ask, bool wrong) {
    char name[96];
    (void)snprintf(name, sizeof name, "scf, %s, %s", what, device);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = ways[1],
                                         .peer = ways[0],
                                         .peer_name = "naive",
                                         .unit = unit,
                                         .ask = BENCH_RATIO_AT_LEAST,
                                         .bound = ask,
                                         .wrong = wrong});
}

/* Its operations as SPIR-V in a new folder, for Level Zero; false: there are no compilers for it. */
static bool scf_compile(char folder[]) {
    const char *examples = getenv("SVMX_BENCH_EXAMPLES"), *scripts = getenv("SVMX_BENCH_SCRIPTS");
    char command[4096];
    if (!examples || !scripts || !mkdtemp(folder)) return false;
    (void)snprintf(command, sizeof command, "'%s/scf' --code %s && '%s/compile-op' %s/*.cl 2>/dev/null", examples,
                   folder, scripts, folder);
    return system(command) == 0;
}

static void rows_of_scf(struct bench *bench, const char *backends, const char *modules, const char *device) {
    char name[96];
    struct scf scf;
    if (!scf_run(backends, modules, &scf)) {
        (void)snprintf(name, sizeof name, "scf, %s", device);
        skip(bench, name, "skipped: there is no such device, or no examples/scf");
        return;
    }
    scf_row(bench, device, "dispatches", scf.dispatches, "an iteration", 145, !scf.same);
    scf_row(bench, device, "readbacks", scf.readbacks, "an iteration", 725, !scf.same);
    scf_row(bench, device, "time", scf.ms, "ms", 1, !scf.same);
}

/* ---- all -------------------------------------------------------------------------------------------------------------- */

/* The driver of Intel GPUs, or else ours. */
static void choose_driver(void) {
    const char *test = getenv("SVMX_BENCH_ZE_DRIVER");
    void *intel = dlopen("libze_intel_gpu.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (intel)
        (void)dlclose(intel);
    else if (test && *test)
        setenv("ZE_ENABLE_ALT_DRIVERS", test, 0);
}

void chains_on_devices(struct bench *bench) {
    choose_driver();
    row_of_launches(bench, "+opencl:0,stop", "launches of a chain of four, OpenCL");
    row_of_launches(bench, "+levelzero:0,stop", "launches of a chain of four, Level Zero");
    row_of_eight(bench);
    rows_of_scf(bench, "+simd,stop", "", "SIMD");
    rows_of_scf(bench, "+opencl:0,stop", "", "OpenCL");
    char folder[] = "/tmp/svmx-scf-XXXXXX", command[64];
    if (scf_compile(folder))
        rows_of_scf(bench, "+levelzero:0,stop", folder, "Level Zero");
    else
        skip(bench, "scf, Level Zero", "skipped: its operations do not compile here (scripts/compile-op says why)");
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) (void)fprintf(stderr, "%s is left behind\n", folder);
}

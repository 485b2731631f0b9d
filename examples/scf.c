/*
 * scf.c: a self-consistent field, 52 problems with two spins each, in the naive way and resident.
 *
 *   field     matrix of a spin = core + strength x density of the other spin, on the diagonal
 *   eigh      its eigenvectors
 *   density   of the electrons in the lowest states: the sum of their squares
 *   mix       next = last + rate x (density - last)
 *   step      the largest difference between next and last; below a limit the problem is over
 *
 * Naive: each operation of each problem, spin and iteration is a batch that is waited for; so are its energy and its number
 * of electrons, which it sums up each time: 7 x 2 x 52. Resident: all problems are one loop (svmx_loop_run), data that stays
 * is in buffers, both spins of a problem are one task, and what belongs to the end is summed up at the end. Both give the
 * same bytes. Three of the operations are registered here, with the C function that defines each and OpenCL C for devices.
 * Level Zero has no compiler: it computes them from modules of SPIR-V, which scripts/compile-op makes of the same texts.
 *
 *   cc scf.c $(pkg-config --cflags --libs svmx) -o scf && ./scf
 *   ./scf --code . && scripts/compile-op scf_*.cl && ./scf .        writes the texts, compiles them, runs with the modules
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

enum { PROBLEMS = 52, SPINS = 2, ORDER = 8, CELLS = ORDER * ORDER, OCCUPIED = 4, MOST = 400, WINDOW = 8 };
static const double RATE = 0.4, LIMIT = 1e-9;

/* ---- the operations: of whole matrices of order 8 ----------------------------------------------------------------- */

static uint32_t op_field, op_density, op_mix;

/* A product and a sum are two roundings, whatever the compiler thinks. */
static double product(double a, double b) {
    volatile double rounded = a * b;
    return rounded;
}

static double scalar(const struct svmx_operand *arg) {
    double value;
    memcpy(&value, arg->data, sizeof value);
    return value;
}

/* Matrix s takes the density of the last spin but s: the other one of two. */
static void field_run(const struct svmx_operand *args, void *user) {
    const double *core = args[1].data, *density = args[2].data, strength = scalar(&args[3]);
    double *matrix = args[0].data;
    const uint64_t spins = args[2].bytes / (ORDER * sizeof(double));
    (void)user;
    memcpy(matrix, core, args[0].bytes);
    for (uint64_t s = 0; s < spins; s++)
        for (uint64_t i = 0; i < ORDER; i++)
            matrix[s * CELLS + i * (ORDER + 1)] += product(strength, density[(spins - 1 - s) * ORDER + i]);
}

static void density_run(const struct svmx_operand *args, void *user) {
    double *density = args[0].data;
    const double *vectors = args[1].data;
    (void)user;
    for (uint64_t s = 0; s < args[0].bytes / (ORDER * sizeof(double)); s++)
        for (uint64_t i = 0; i < ORDER; i++) {
            double sum = 0;
            for (uint64_t k = 0; k < OCCUPIED; k++) {
                const double v = vectors[s * CELLS + k * ORDER + i];
                sum += product(v, v);
            }
            density[s * ORDER + i] = sum;
        }
}

static void mix_run(const struct svmx_operand *args, void *user) {
    const double *last = args[1].data, *density = args[2].data, rate = scalar(&args[3]);
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / sizeof(double); i++)
        ((double *)args[0].data)[i] = last[i] + product(rate, density[i] - last[i]);
}

/* A unit is a spin. docs/KERNELS.md tells what is in front of these texts. */
#define KERNEL(name, width, body)                                                                                      \
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"                                                                  \
    "SVMX_KERNEL(" name ", 16) {\n"                                                                                    \
    "    const struct svmx_table t = svmx_table_open(table, table_at, tasks, " width ");\n"                            \
    "    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);\n"                               \
    "    struct svmx_piece piece;\n"                                                                                   \
    "    while (svmx_walk_next(&t, &walk, &piece))\n"                                                                  \
    "        for (ulong s = piece.begin; s < piece.end; s++) {\n"                                                      \
    "            __global double *to = (__global double *)(out + svmx_at(&t, piece.task, 0));\n"                       \
    "            __global const double *a = (__global const double *)(in + svmx_at(&t, piece.task, 1));\n" body        \
    "        }\n"                                                                                                      \
    "}\n"
#define MORE                                                                                                           \
    "            __global const double *b = (__global const double *)(in + svmx_at(&t, piece.task, 2));\n"             \
    "            const double p = as_double(svmx_at(&t, piece.task, 3));\n"

static const char field_cl[] =
    KERNEL("scf_field", "4",
           MORE "            const ulong spins = svmx_bytes(&t, piece.task, 2) / 64;\n"
                "            for (ulong i = 0; i < 64; i++) to[s * 64 + i] = a[s * 64 + i];\n"
                "            for (ulong i = 0; i < 8; i++)\n"
                "                to[s * 64 + i * 9] = a[s * 64 + i * 9] + p * b[(spins - 1 - s) * 8 + i];\n");
static const char density_cl[] =
    KERNEL("scf_density", "2",
           "            for (ulong i = 0; i < 8; i++) {\n"
           "                double sum = 0;\n"
           "                for (ulong k = 0; k < 4; k++) sum += a[s * 64 + k * 8 + i] * a[s * 64 + k * 8 + i];\n"
           "                to[s * 8 + i] = sum;\n"
           "            }\n");
static const char mix_cl[] = KERNEL(
    "scf_mix", "4", MORE "            for (ulong i = s * 8; i < s * 8 + 8; i++) to[i] = a[i] + p * (b[i] - a[i]);\n");

#define ARRAY(name, direction, record)                                                                                 \
    { name, direction, SVMX_F64, SVMX_ARRAY, 0, record }
#define SCALAR(name)                                                                                                   \
    { name, SVMX_IN, SVMX_F64, SVMX_SCALAR, 0, 1 }
static const struct svmx_param field_params[] = {ARRAY("matrix", SVMX_OUT, CELLS), ARRAY("core", SVMX_IN, CELLS),
                                                 ARRAY("density", SVMX_IN, ORDER), SCALAR("strength")},
                               density_params[] = {ARRAY("density", SVMX_OUT, ORDER), ARRAY("vectors", SVMX_IN, CELLS)},
                               mix_params[] = {ARRAY("next", SVMX_OUT, ORDER), ARRAY("last", SVMX_IN, ORDER),
                                               ARRAY("density", SVMX_IN, ORDER), SCALAR("rate")};

/* The module of an operation in a folder, which stays until the end; NULL: no folder was given. */
static const void *read_module(const char *folder, const char *name, size_t *bytes) {
    enum { ROOM = 1 << 20 };
    char path[1024];
    *bytes = 0;
    if (!folder) return NULL;
    (void)snprintf(path, sizeof path, "%s/%s.spv", folder, name);
    FILE *file = fopen(path, "rb");
    void *module = malloc(ROOM);
    if (file && module) *bytes = fread(module, 1, ROOM, file);
    if (*bytes == 0) {
        fprintf(stderr, "%s cannot be read: make it with --code and scripts/compile-op\n", path);
        exit(1);
    }
    fclose(file);
    return module;
}

static void write_code(const char *folder, const char *name, const char *opencl_c) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.cl", folder, name);
    FILE *file = fopen(path, "w");
    if (file && fputs(opencl_c, file) >= 0 && fclose(file) == 0) return;
    fprintf(stderr, "%s cannot be written\n", path);
    exit(1);
}

static uint32_t register_one(svmx_executor_t *executor, const char *name, const struct svmx_param *params,
                             uint32_t count, svmx_op_run_fn run, const char *opencl_c, const char *modules) {
    size_t bytes;
    const void *spirv = read_module(modules, name, &bytes);
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = name,
                                    .unit = "spin",
                                    .params = params,
                                    .param_count = count,
                                    .exactness = SVMX_EXACT,
                                    .run = run,
                                    .trial_size = 104,
                                    .opencl_c = opencl_c,
                                    .spirv = spirv,
                                    .spirv_bytes = bytes,
                                    .local = 16,
                                    .grain = 1,
                                    .min_bucket = 128};
    struct svmx_error error;
    uint32_t op;
    if (svmx_op_register(executor, &def, &op, &error) == SVMX_OK) return op;
    fprintf(stderr, "%s: %s\n", name, error.text);
    exit(1);
}

/* ---- the problems --------------------------------------------------------------------------------------------------- */

static double cores[PROBLEMS][SPINS][CELLS], starts[PROBLEMS][SPINS][ORDER], strengths[PROBLEMS];

struct outcome {
    double density[PROBLEMS][SPINS][ORDER], values[PROBLEMS][SPINS][ORDER], energy[PROBLEMS][SPINS],
        electrons[PROBLEMS][SPINS];
    uint32_t iterations[PROBLEMS];
};
struct cost {
    uint64_t dispatches, readbacks;
    double ms;
};

static void make_problems(void) {
    for (int p = 0; p < PROBLEMS; p++) {
        strengths[p] = 0.2 + 0.01 * p;
        for (int s = 0; s < SPINS; s++)
            for (int i = 0; i < ORDER; i++) {
                cores[p][s][i * (ORDER + 1)] = (double)((i * 7 + p * 3) % 11) / 8;
                if (i) cores[p][s][i * ORDER + i - 1] = cores[p][s][(i - 1) * ORDER + i] = -1;
                starts[p][s][i] = (i + s) % 2 ? 0.75 : 0.25;
            }
    }
}

static void expect(enum svmx_status status, const svmx_batch_t *batch) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- the naive way -------------------------------------------------------------------------------------------------- */

/* As its receipts tell. What a device writes into the host's memory is waited for, if not copied. */
static void add_cost(const svmx_batch_t *batch, struct cost *cost) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint64_t copies = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        cost->dispatches += receipt.launches;
        copies += receipt.readbacks;
    }
    cost->readbacks += copies ? copies : 1;
}

static void one(svmx_batch_t *batch, uint32_t op, const struct svmx_arg *args, size_t count, struct cost *cost) {
    expect(svmx_batch_reset(batch), batch);
    expect(svmx_batch_add(batch, op, args, count), batch);
    expect(svmx_run(batch), batch);
    add_cost(batch, cost);
}

#define OUT(to, n)  svmx_out(SVMX_F64, to, n)
#define IN(from, n) svmx_in(SVMX_F64, from, n)
#define RUN(op, ...)                                                                                                   \
    one(batch, op, (const struct svmx_arg[]){__VA_ARGS__},                                                             \
        sizeof((const struct svmx_arg[]){__VA_ARGS__}) / sizeof(struct svmx_arg), cost)

/* One iteration of a problem; the largest step of both spins. */
static double iterate(svmx_batch_t *batch, struct outcome *outcome, int p, struct cost *cost) {
    double matrix[CELLS], vectors[SPINS][CELLS], density[ORDER], next[SPINS][ORDER], step, largest = 0;
    for (int s = 0; s < SPINS; s++) {
        double *last = outcome->density[p][s], *values = outcome->values[p][s];
        RUN(op_field, OUT(matrix, CELLS), IN(cores[p][s], CELLS), IN(outcome->density[p][1 - s], ORDER),
            svmx_f64(strengths[p]));
        RUN(SVMX_OP_EIGH_F64, OUT(values, ORDER), OUT(vectors[s], CELLS), IN(matrix, CELLS), svmx_u32(ORDER));
        RUN(op_density, OUT(density, ORDER), IN(vectors[s], CELLS));
        RUN(op_mix, OUT(next[s], ORDER), IN(last, ORDER), IN(density, ORDER), svmx_f64(RATE));
        RUN(SVMX_OP_MAX_ABS_DIFF_F64, OUT(&step, 1), IN(next[s], ORDER), IN(last, ORDER));
        RUN(SVMX_OP_SUM_F64, OUT(&outcome->energy[p][s], 1), IN(values, OCCUPIED));
        RUN(SVMX_OP_SUM_F64, OUT(&outcome->electrons[p][s], 1), IN(next[s], ORDER));
        if (step > largest) largest = step;
    }
    memcpy(outcome->density[p], next, sizeof next);
    return largest;
}

static struct cost run_naive(svmx_executor_t *executor, struct outcome *outcome) {
    struct cost cost = {.ms = now_ms()};
    svmx_batch_t *batch;
    expect(svmx_batch_create(executor, &batch), NULL);
    memcpy(outcome->density, starts, sizeof starts);
    for (int p = 0; p < PROBLEMS; p++)
        for (bool over = false; !over && outcome->iterations[p] < MOST; outcome->iterations[p]++)
            over = iterate(batch, outcome, p, &cost) < LIMIT;
    cost.ms = now_ms() - cost.ms;
    svmx_batch_destroy(batch);
    return cost;
}

/* ---- resident --------------------------------------------------------------------------------------------------------- */

static uint32_t add(svmx_batch_t *body, uint32_t op, const struct svmx_arg *args, size_t count) {
    const uint32_t number = svmx_batch_task_count(body);
    expect(svmx_batch_add(body, op, args, count), body);
    return number;
}

#define ADD(op, ...)                                                                                                   \
    add(body, op, (const struct svmx_arg[]){__VA_ARGS__},                                                              \
        sizeof((const struct svmx_arg[]){__VA_ARGS__}) / sizeof(struct svmx_arg))
#define PASSING(n)        svmx_out_passing(SVMX_F64, n)
#define RESULT(task, out) svmx_result_of(SVMX_F64, task, out)

static void add_problem(svmx_batch_t *body, struct outcome *outcome, uint32_t p, svmx_buffer_t *kept,
                        svmx_buffer_t *state, struct svmx_carry *carry, struct svmx_until *until) {
    const struct svmx_arg core = svmx_view(SVMX_F64, kept, p * SPINS * CELLS, SPINS * CELLS),
                          last = svmx_view(SVMX_F64, state, p * SPINS * ORDER, SPINS * ORDER);
    const uint32_t field = ADD(op_field, PASSING(SPINS * CELLS), core, last, svmx_f64(strengths[p]));
    const uint32_t eigh = ADD(SVMX_OP_EIGH_F64, OUT(outcome->values[p], SPINS * ORDER), PASSING(SPINS * CELLS),
                              RESULT(field, 0), svmx_u32(ORDER));
    const uint32_t density = ADD(op_density, PASSING(SPINS * ORDER), RESULT(eigh, 1));
    const uint32_t next = ADD(op_mix, PASSING(SPINS * ORDER), last, RESULT(density, 0), svmx_f64(RATE));
    const uint32_t step = ADD(SVMX_OP_MAX_ABS_DIFF_F64, PASSING(1), RESULT(next, 0), last);
    *carry = (struct svmx_carry){next, 0, state, p * sizeof starts[0]};
    *until = (struct svmx_until){.task = step, .kind = SVMX_UNTIL_BELOW, .limit = LIMIT};
}

static void sum_up(svmx_executor_t *executor, struct outcome *outcome, struct cost *cost) {
    svmx_batch_t *batch;
    expect(svmx_batch_create(executor, &batch), NULL);
    for (int p = 0; p < PROBLEMS; p++)
        for (int s = 0; s < SPINS; s++) {
            expect(svmx_sum_f64(batch, &outcome->energy[p][s], outcome->values[p][s], OCCUPIED), batch);
            expect(svmx_sum_f64(batch, &outcome->electrons[p][s], outcome->density[p][s], ORDER), batch);
        }
    expect(svmx_run(batch), batch);
    add_cost(batch, cost);
    svmx_batch_destroy(batch);
}

static struct cost run_resident(svmx_executor_t *executor, struct outcome *outcome, struct svmx_loop_counts *counts) {
    struct cost cost = {.ms = now_ms()};
    static struct svmx_carry carries[PROBLEMS];
    static struct svmx_until untils[PROBLEMS];
    static struct svmx_loop_end ends[PROBLEMS];
    const struct svmx_loop loop = {sizeof loop, carries, untils, PROBLEMS, PROBLEMS, MOST, WINDOW};
    svmx_buffer_t *kept, *state;
    svmx_batch_t *body;
    expect(svmx_buffer_create(executor, sizeof cores, &kept), NULL);
    expect(svmx_buffer_create(executor, sizeof starts, &state), NULL);
    expect(svmx_buffer_write(kept, 0, cores, sizeof cores), NULL);
    expect(svmx_buffer_write(state, 0, starts, sizeof starts), NULL);
    expect(svmx_batch_create(executor, &body), NULL);
    for (uint32_t p = 0; p < PROBLEMS; p++) add_problem(body, outcome, p, kept, state, &carries[p], &untils[p]);
    expect(svmx_loop_run(body, &loop, ends, counts), body);
    expect(svmx_buffer_read(state, 0, outcome->density, sizeof outcome->density), NULL);
    for (int p = 0; p < PROBLEMS; p++) outcome->iterations[p] = ends[p].iterations;
    cost.dispatches = counts->launches;
    cost.readbacks = counts->readbacks > counts->windows ? counts->readbacks : counts->windows;
    sum_up(executor, outcome, &cost);
    cost.ms = now_ms() - cost.ms;
    svmx_batch_destroy(body);
    svmx_buffer_destroy(kept);
    svmx_buffer_destroy(state);
    return cost;
}

/* ---- both --------------------------------------------------------------------------------------------------------------- */

static void print(const char *way, const char *list, double dispatches, double readbacks, const struct cost *cost) {
    printf("%-8s  %s\n          an iteration: %g dispatches, %g readbacks; in all: %llu and %llu, %.1f ms\n", way, list,
           dispatches, readbacks, (unsigned long long)cost->dispatches, (unsigned long long)cost->readbacks, cost->ms);
}

int main(int count, char **words) {
    const char *modules = count == 2 ? words[1] : NULL; /* the folder that has them */
    if (count == 3 && strcmp(words[1], "--code") == 0) {
        write_code(words[2], "scf_field", field_cl);
        write_code(words[2], "scf_density", density_cl);
        write_code(words[2], "scf_mix", mix_cl);
        return 0;
    }
    if (count > 2 || (modules && *modules == '-')) {
        fprintf(stderr, "usage: scf [FOLDER-OF-SPIRV] | scf --code FOLDER\n");
        return 2;
    }
    static struct outcome naive, resident;
    struct svmx_loop_counts counts;
    struct svmx_error error;
    svmx_executor_t *executor;
    if (svmx_open(&executor, NULL, &error) != SVMX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    op_field = register_one(executor, "scf_field", field_params, 4, field_run, field_cl, modules);
    op_density = register_one(executor, "scf_density", density_params, 2, density_run, density_cl, modules);
    op_mix = register_one(executor, "scf_mix", mix_params, 4, mix_run, mix_cl, modules);
    make_problems();
    (void)run_resident(executor, &resident, &counts); /* devices compile, and are measured */
    memset(&resident, 0, sizeof resident);
    const struct cost loop = run_resident(executor, &resident, &counts), plain = run_naive(executor, &naive);
    uint32_t least = MOST, most = 0, sum = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        if (resident.iterations[p] < least) least = resident.iterations[p];
        if (resident.iterations[p] > most) most = resident.iterations[p];
        sum += resident.iterations[p];
    }
    const double run = (double)counts.windows * WINDOW;
    print("naive", "scf_field eigh_f64 scf_density scf_mix max_abs_diff_f64 sum_f64 sum_f64, of a problem and a spin",
          (double)plain.dispatches / sum * PROBLEMS, (double)plain.readbacks / sum * PROBLEMS, &plain);
    print("resident", "scf_field eigh_f64 scf_density scf_mix max_abs_diff_f64, of all; at the end sum_f64",
          (double)counts.launches / run,
          (double)(counts.readbacks > counts.windows ? counts.readbacks : counts.windows) / run, &loop);
    const int same = memcmp(&naive, &resident, sizeof naive) == 0;
    printf("%d problems of %u to %u iterations; the same bytes: %s\n", PROBLEMS, least, most, same ? "yes" : "NO");
    svmx_close(executor);
    return same ? 0 : 1;
}

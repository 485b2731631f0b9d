/*
 * scan.h: the parts of `svmx threshold-scan`.
 *
 *   cmd_scan.c        devices, the loop over operations, sizes and devices
 *   scan_options.c    options, and whether they go together
 *   scan_plan.c       which operations, in which sizes
 *   scan_side.c       an executor with one device in it: the CPU, or a GPU
 *   scan_task.c       made-up data of one size, and what the reference code makes of it
 *   scan_measure.c    one row: compared with the reference code, warmed up, both sides in turns
 *   scan_stats.c      medians, intervals, the 90 % rule: numbers only
 *   scan_cells.c      a row as named cells -> scan_csv.c the file, scan_json.c the document
 *   scan_crossover.c  from which size on a GPU wins, for people
 *   scan_progress.c   lines, and a bar on a terminal
 *   scan_stop.c       Ctrl-C
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_SCAN_H
#define SVMX_CLI_SCAN_H

#include "json.h"
#include "session.h"
#include <stdio.h>

/* Options of `threshold-scan`, in the order of its table. */
enum {
    SCAN_OP,
    SCAN_SIZES,
    SCAN_SAMPLES,
    SCAN_MAX_SAMPLES,
    SCAN_WARMUP,
    SCAN_CPU,
    SCAN_LIMIT,
    SCAN_OUTPUT,
    SCAN_APPEND,
    SCAN_FORMAT,
    SCAN_SEED,
    SCAN_VERIFY,
    SCAN_QUIET,
    SCAN_OPTION_COUNT
};

/* ---- scan_options.c ---- */

extern const struct cli_option scan_options[SCAN_OPTION_COUNT];

struct scan_settings {
    uint32_t samples, max_samples, warmup;
    bool verify;       /* after every run, not only before the first that counts */
    uint64_t limit_ns; /* more samples are not taken beyond that */
};

enum scan_format {
    SCAN_LONG,     /* with the spread of both sides */
    SCAN_SHORT,    /* one sample has none */
    SCAN_PROTOTYPE /* size, device, duration_ms, first, backend_mask_hint */
};

/* CLI_OK, or CLI_USAGE after a message. */
enum cli_exit scan_options_take(struct scan_settings *settings, const struct cli_args *args);
enum scan_format scan_format_of(const struct scan_settings *settings, const struct cli_args *args);

/* ---- scan_stats.c ---- */

/* What several runs of the same thing took, ns. */
struct scan_spread {
    double mean, median, p90, min, max;
    double low, high; /* the median of many more runs lies in between, most likely */
};

/* Sorts the times; count > 0. */
struct scan_spread scan_spread_of(uint64_t *times_ns, size_t count);

/* Half of what lies between `low` and `high`, in percent of the median. */
double scan_spread_percent(const struct scan_spread *spread);

/* The middle one, or the mean of the two in the middle. Sorts the numbers; count > 0. */
double scan_median(uint64_t *numbers, size_t count);

/* The 90 % rule: the GPU's median is below 0.9 of the CPU's. */
bool scan_gpu_wins(const struct scan_spread *cpu, const struct scan_spread *gpu);

/* Would more runs most likely say the same? */
bool scan_is_decided(const struct scan_spread *cpu, const struct scan_spread *gpu);

/*
 * The smallest size from which on the GPU wins at every larger one, of `count` sizes in ascending order: its position, or
 * `count` for none.
 */
size_t scan_crossover(const bool *wins, size_t count);

/* ---- scan_plan.c ---- */

enum { SCAN_MAX_SIZES = 64, SCAN_WHY_BYTES = 160 };

struct scan_sizes {
    uint64_t size[SCAN_MAX_SIZES]; /* ascending, each once */
    unsigned count;
};

/*
 * Reads "1024,4K", "1K:4M:2" (from 1K to 4M, times 2^2 each), "1K:4M:x4" (the same), "1K:4M" (the same), or several of these
 * with commas. False: `why` (SCAN_WHY_BYTES) says what is wrong.
 */
bool scan_sizes_parse(struct scan_sizes *sizes, const char *text, char *why);

/* What a size counts. */
enum scan_measure {
    SCAN_ELEMENTS, /* units of the operation, as in svmx run */
    SCAN_BYTES,    /* of messages, 32 each, that are hashed */
    SCAN_SIDE      /* of square matrices */
};

struct scan_op {
    struct svmx_op op;
    enum scan_measure measure;
    struct scan_sizes sizes;
};

struct scan_plan {
    struct scan_op *ops;
    unsigned count;
};

/* From --op and --sizes. CLI_OK, or another code after a message; free it in any case. */
enum cli_exit scan_plan_make(struct scan_plan *plan, const struct cli_session *session, const struct cli_args *args);
void scan_plan_free(struct scan_plan *plan);

/* What time goes with: elements, bytes, or multiplications and additions of a matrix product. */
double scan_work(const struct scan_op *op, uint64_t size);

/* ---- scan_task.c ---- */

struct scan_task {
    const struct scan_op *op;
    uint64_t size;
    struct svmx_example example; /* owns the memory that args name */
    struct svmx_arg args[SVMX_OP_MAX_PARAMS];
    size_t arg_count;
    uint8_t *want[SVMX_OP_MAX_PARAMS]; /* of each output, what the reference code wrote */
    uint64_t reference_ns;             /* what it took */
};

/* Makes up data and runs the reference code on it. CLI_USAGE: a size that the operation cannot have; nothing was said.
 * CLI_FAILED, after a message: one that this machine cannot do. Free it in any case. */
enum cli_exit scan_task_make(struct scan_task *task, const struct cli_session *reference, const struct scan_op *op,
                             uint64_t size, uint64_t seed);
void scan_task_free(struct scan_task *task);

/* Fills the outputs with what no operation would leave there; are they what the reference code wrote? */
void scan_task_dirty(const struct scan_task *task);
bool scan_task_agrees(const struct scan_task *task);

/* ---- scan_side.c ---- */

struct scan_side {
    struct cli_session session;
    struct svmx_device device;
    uint32_t number; /* of it in the executor */
    uint32_t policy;
    svmx_batch_t *batch;
    char label[256]; /* the device, with plain words where it is no GPU */
    char shown[48];  /* in words of SUPERVM_BACKENDS: its backend, and its index where there are several GPUs */
    /* Of the operation under way: */
    bool out, too_long, too_large; /* nothing more is measured on it; for that reason */
    double last_ns;                /* what the last row took beside its first run, and its size */
    uint64_t last_size;
};

/* The CPU: --cpu. */
enum cli_exit scan_cpu_open(struct scan_side *side, const struct cli_args *args);

/* All devices that --backend or --device leave and that do not compute in the caller's memory, each in an executor of its
 * own. *sides is free()d by the caller, who closes each. */
enum cli_exit scan_gpus_open(struct scan_side **sides, unsigned *count, const struct cli_args *args);

/* Two executors, but one device: nothing to compare. */
bool scan_same_device(const struct scan_side *one, const struct scan_side *other);

void scan_side_close(struct scan_side *side);

/* Puts a task in: from now on scan_side_run runs it. */
enum cli_exit scan_side_load(struct scan_side *side, const struct scan_task *task);

/* One run of the task: what it took, and its receipt. SVMX_ERR_WRONG_RESULT stands for another device that answered. `why`
 * (SCAN_WHY_BYTES) has the reason of an error. */
enum svmx_status scan_side_run(struct scan_side *side, uint64_t *ns, struct svmx_receipt *receipt, char *why);

uint64_t scan_now_ns(void);

/* ---- scan_measure.c ---- */

/* One operation in one size on the CPU and on one GPU. Times are ns. */
struct scan_row {
    const struct scan_op *op;
    uint64_t size, bucket;
    const struct scan_side *cpu, *gpu; /* no GPU: NULL, and what is of it counts for nothing */
    uint32_t samples;
    struct scan_spread cpu_ns, gpu_ns;
    uint64_t cpu_first_ns;
    /* Of the GPU: its first run; medians of what receipts say of the others; counts of one run. */
    uint64_t first_ns;
    double setup_ns, upload_ns, compute_ns, readback_ns, device_ns;
    uint32_t dispatches, readbacks;
    bool verified, decided;
};

enum scan_outcome {
    SCAN_MEASURED,
    SCAN_NOT_OFFERED, /* the device does not have the operation */
    SCAN_TOO_LARGE,   /* the device has no memory for it */
    SCAN_FAILED,      /* after a message */
    SCAN_NO_CLOCK,    /* the device's clock says nothing: after a message */
    SCAN_STOPPED      /* Ctrl-C */
};

enum scan_outcome scan_measure(struct scan_row *row, struct scan_side *cpu, struct scan_side *gpu,
                               const struct scan_task *task, const struct scan_settings *settings);

/* ---- scan_cells.c ---- */

enum { SCAN_CELLS = 32, SCAN_CELL_BYTES = 320, SCAN_LINE_BYTES = 4096 };

struct scan_cells {
    struct scan_cell {
        const char *name;
        char text[SCAN_CELL_BYTES]; /* "": there is none */
        bool number;
    } cells[SCAN_CELLS];
    unsigned count;
};

/* A row in a format; of an empty row the names count. */
void scan_cells_of(struct scan_cells *cells, const struct scan_row *row, enum scan_format format);
/* The CPU's line of SCAN_PROTOTYPE, which has one a device. */
void scan_cells_of_cpu(struct scan_cells *cells, const struct scan_row *row);

/* As a line of CSV (RFC 4180, but for the end of a line, which is that of Unix): the cells, or their names. */
void scan_cells_line(const struct scan_cells *cells, bool names, char line[SCAN_LINE_BYTES]);

/* ---- scan_csv.c ---- */

struct scan_csv {
    FILE *out;
    const char *path; /* for messages */
    enum scan_format format;
    const struct scan_op *op; /* of the last row, and its size */
    uint64_t size;
};

/* Opens --output and writes the header, which an --append finds there. CLI_OK, or another code after a message. */
enum cli_exit scan_csv_open(struct scan_csv *csv, const struct cli_args *args, enum scan_format format);
/* Writes a row, and out to the file. CLI_FAILED after a message. */
enum cli_exit scan_csv_row(struct scan_csv *csv, const struct scan_row *row);
enum cli_exit scan_csv_close(struct scan_csv *csv, enum cli_exit so_far);

/* ---- scan_crossover.c, scan_json.c ---- */

/* Rows that were measured, in their order. */
struct scan_rows {
    struct scan_row *rows;
    size_t count;
    unsigned wrong, failed, left_out; /* rows that disagreed, that could not be measured, that would take too long */
    unsigned too_large;               /* for their device, or for their operation */
    bool stopped;
};

/* Of one operation on one GPU. */
struct scan_crossing {
    const struct scan_op *op;
    const struct scan_side *gpu;
    bool found;
    uint64_t size, largest;    /* from which on the GPU wins; of those tested */
    double best;               /* most times the CPU's speed */
    double first_ns, later_ns; /* of the size where they differ most: its first run, and the median of the later ones */
    double spread;             /* of the GPU's times at the size where it is widest, percent; less than 0: one sample */
    unsigned undecided;        /* sizes at which more samples might turn the winner */
};

/* The next one after *at rows (start with 0) whose operation and GPU did not come before; false: there is none. */
bool scan_crossing_next(const struct scan_rows *rows, size_t *at, struct scan_crossing *crossing);

/* "gpu" or "cpu", by the 90 % rule; a wrong result wins nothing. */
const char *scan_winner(const struct scan_row *row);

void scan_crossings_text(const struct scan_rows *rows, FILE *out);
void scan_json(const struct scan_rows *rows, const struct scan_side *cpu);

/* ---- scan_progress.c ---- */

struct scan_progress {
    FILE *out;     /* NULL: quiet */
    bool terminal; /* a bar may be drawn, and drawn over */
    bool drawn;
    uint64_t start_ns;
    double done, whole; /* in any measure */
};

void scan_progress_start(struct scan_progress *progress, FILE *out, const struct scan_plan *plan, unsigned devices);
/* A line that stays, below those before. */
__attribute__((format(printf, 2, 3))) void scan_progress_say(struct scan_progress *progress, const char *format, ...);
void scan_progress_row(struct scan_progress *progress, const struct scan_row *row);
/* One more size of an operation on one device is done, or left out. */
void scan_progress_step(struct scan_progress *progress, const struct scan_op *op, uint64_t size);
void scan_progress_end(struct scan_progress *progress);

/* ---- scan_stop.c ---- */

/* From now on Ctrl-C and SIGTERM are remembered; the second one ends the process. */
void scan_stop_watch(void);
bool scan_stop_asked(void);

#endif

/*
 * model.h: what work costs on each device: learned from what it took, inferred where nothing was tried.
 *
 * Pure numbers: no clock, no device, no thread. learn.c tells it what a part took; choice.c asks what one would take; the
 * profile keeps it from one process to the next; tests, the routing benchmarks and `svmx replay` drive it without any
 * device.
 *
 *   operation x device -> a curve of cells      cell: log2 of the units (how parallel) and of the work in each (how deep)
 *
 *      ns |            *                        *  cells with samples: the median of the last ones
 *         |      *  .                           .  between two of them: a straight line by work; beyond them: the nearest,
 *         |  . .                                   stretched; nothing of that operation yet: the first guess
 *         +---------------- units
 *
 * First guess: what the device takes for anything at all, plus bytes over its bandwidth, plus what the CPU took for the
 * same over how many times faster it is thought to be. The arithmetic of an operation for each byte is thus measured (on
 * the CPU, which always answers first) and not written down anywhere. docs/ROUTING.md.
 *
 * THREADS. Any number may learn and ask at once. A cell is held for some 100 ns; who finds it held and has a sample
 * drops the sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_MODEL_H
#define SVMX_EXECUTOR_MODEL_H

#include "ops/op.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <svmx/types.h>

/* Cells: units from 1 to 2^39, work for each unit from 1 to 2^23; what is larger goes into the last. */
enum { SVMX__LANES = 40, SVMX__DEPTHS = 24, SVMX__CELLS = SVMX__LANES * SVMX__DEPTHS };

/* Devices that take part in routing. */
enum { SVMX__ROUTED = 16 };

/* How large a launch is. */
struct svmx__load {
    uint64_t units, work;
    uint64_t bytes; /* in and out */
};

/* Work that a task stands for, however small it is: what it takes to place it, look it up and give its results out. */
enum { SVMX__TASK_WORK = 64 };

/* The load of a launch. Many tasks of next to nothing are more than one task of as many units: tasks beyond the first count
 * for so much work at least, so that they are in other cells, and are told apart by inference as well. */
static inline struct svmx__load svmx__load_of(uint64_t units, uint64_t work, uint64_t bytes, uint32_t tasks) {
    const uint64_t least = tasks > 1 ? (uint64_t)(tasks - 1) * SVMX__TASK_WORK : 0;
    return (struct svmx__load){units, work > least ? work : least, bytes};
}

/* The cell that a launch falls into. */
static inline uint32_t svmx__log2_up(uint64_t n) { return n <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(n - 1); }
static inline uint32_t svmx__cell_of(uint64_t units, uint64_t work) {
    uint32_t lanes = svmx__log2_up(units), total = svmx__log2_up(work);
    uint32_t depth = total > lanes ? total - lanes : 0;
    if (lanes >= SVMX__LANES) lanes = SVMX__LANES - 1;
    if (depth >= SVMX__DEPTHS) depth = SVMX__DEPTHS - 1;
    return lanes * SVMX__DEPTHS + depth;
}
/* Its two coordinates, and the size that stands for all sizes in it (without bytes). */
static inline uint32_t svmx__cell_lanes(uint32_t cell) { return cell / SVMX__DEPTHS; }
static inline uint32_t svmx__cell_depth(uint32_t cell) { return cell % SVMX__DEPTHS; }
struct svmx__load svmx__cell_load(uint32_t cell);

/* What is assumed of a device before it has computed anything, and what it is. */
struct svmx__model_device {
    bool on_host;        /* computes in the caller's memory: nothing to transfer */
    double latency_ns;   /* of the smallest launch; this and the next: svmx__model_set_bus may set them meanwhile */
    double bytes_per_ns; /* to and from it */
    double times_faster; /* than the CPU at computing */
    bool measured;       /* latency and bandwidth were: they go into the profile */
};

/* Where a device computes; in brackets the word that logs have for it. */
enum svmx__seat {
    SVMX__ON_HOST = 1,   /* (host) in the caller's memory */
    SVMX__ON_CORES = 2,  /* (cores) a driver that computes on the host's cores */
    SVMX__ON_SHARED = 3, /* (shared) a device of its own in the host's memory */
    SVMX__ON_DEVICE = 4  /* (device) in memory of its own */
};

/* What is thought of a device at some place before it has done anything; `svmx bandwidth` measures it. */
struct svmx__model_device svmx__model_assume(enum svmx__seat place);

/* One launch that is over. */
struct svmx__sample {
    uint64_t setup_ns, transfer_ns, compute_ns; /* their sum is its cost */
    bool contended;                             /* something else wanted the cores meanwhile */
    bool first_use;                             /* it compiled or allocated what the next ones find */
};

enum svmx__cost_kind {
    SVMX__GUESSED = 1,  /* nothing of this operation was tried on this device */
    SVMX__INFERRED = 2, /* other sizes were */
    SVMX__MEASURED = 3
};

struct svmx__cost {
    double ns; /* what it is expected to take */
    double setup_ns, transfer_ns, compute_ns;
    double p99_ns;       /* of the window; ns where nothing was measured */
    double first_use_ns; /* 0: not seen */
    uint32_t kind;       /* enum svmx__cost_kind */
    uint32_t samples;    /* in the window */
    uint64_t learned;    /* samples ever */
    uint32_t changes;    /* how often it changed for good */
    double hoped_ns;     /* what the last samples say if the device is much faster than it was; 0: they do not */
};

struct svmx__curve; /* of an operation on a device; curve.h */

struct svmx__model {
    uint32_t device_count;
    struct svmx__model_device devices[SVMX__ROUTED];
    _Atomic(struct svmx__curve *) curves[SVMX__ROUTED][SVMX__OP_LIMIT];
    /* The best that was seen of each device in any cell, and replaces what was assumed; 0: nothing was seen. */
    _Atomic uint64_t least_ns[SVMX__ROUTED];          /* of a launch, beside computing */
    _Atomic uint64_t least_transfer_ns[SVMX__ROUTED]; /* of which this is for bytes, however few */
    _Atomic uint64_t most_bytes_per_us[SVMX__ROUTED]; /* once they go */
    _Atomic uint64_t changes;                         /* alarms of all cells */
};

/* Cannot fail: curves are made when the first sample comes. */
void svmx__model_init(struct svmx__model *model, const struct svmx__model_device *devices, uint32_t device_count);
void svmx__model_fini(struct svmx__model *model);

/* One of the numbers of a device that may be set meanwhile. */
static inline double svmx__model_number(const double *number) {
    double value;
    __atomic_load(number, &value, __ATOMIC_RELAXED);
    return value;
}

/* What a measurement found of the bus of a device, instead of what was assumed. */
void svmx__model_set_bus(struct svmx__model *model, uint32_t device, double latency_ns, double bytes_per_ns);

/* Takes a sample. false: it was dropped (no memory, the cell was held, or contended and there are better ones). */
bool svmx__model_learn(struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                       const struct svmx__sample *sample);

/* What a launch of that size would cost; infer.c. */
void svmx__model_cost(const struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                      struct svmx__cost *cost);

/* What a device of which nothing is known would take for what takes the CPU `on_cpu_ns`; 0: that is not known either. */
void svmx__model_guess(const struct svmx__model *model, uint32_t device, const struct svmx__load *load,
                       double on_cpu_ns, struct svmx__cost *cost);

/* ---- for the profile ---- */

/* What is kept of a cell. */
struct svmx__cell_summary {
    uint32_t op, device, cell;
    uint32_t samples;       /* 1 or more */
    double ns;              /* the median */
    double low_ns, high_ns; /* tenth and ninetieth percentile */
    double setup_ns, transfer_ns, compute_ns, first_use_ns;
    uint64_t bytes;   /* of a launch in it */
    uint64_t learned; /* samples since it was put back; 0: it is as the profile had it. Ignored by restore */
};

/* Calls `visit` for every cell with samples, in order of operation, device and cell, until it returns false. */
void svmx__model_visit(const struct svmx__model *model,
                       bool (*visit)(void *user, const struct svmx__cell_summary *summary), void *user);
/* Puts a cell back, as if its samples had been seen; they count for a few, so that new ones soon outweigh them. false: no
 * memory, or numbers that no sample can have. */
bool svmx__model_restore(struct svmx__model *model, const struct svmx__cell_summary *summary);
/* Forgets all that was learned of a device. */
void svmx__model_forget(struct svmx__model *model, uint32_t device);

#endif

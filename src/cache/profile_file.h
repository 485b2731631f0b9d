/*
 * profile_file.h: the profile as a text: what work took on which device, in lines that a person can read.
 *
 *   svmx-profile 2
 *   # comment
 *   device                                         one block for each device, last used first
 *   backend opencl
 *   version 0.1.0+52f1c0de                         of the plugin, with the hash of its kernels where it tells one
 *   abi 1.1
 *   name Some GPU                                  name, driver, variant and pci as the device tells them; control
 *   driver Some driver 1.2                         characters and '%' are written %0A
 *   variant
 *   pci 0000:03:00.0
 *   threads 80
 *   kind gpu                                       unknown, cpu, gpu, accelerator or modelled; then "test" if made for tests
 *   used 1794909600                                seconds since 1970
 *   link 5200 11.25                                only if measured: ns of the smallest launch, bytes each ns
 *   wrong exp_f32 wrong bytes in task 3            an operation that it gave wrong bytes for, and what was seen; in order
 *   cell sha256 14 6 31 91000 90100 93000 5000 21000 65000 0 1572864
 *        operation, log2 of units, log2 of work for each, samples, ns (median, low, high, setup, transfer, compute, first
 *        use), bytes; in order, so that none is there twice
 *   end 1 0123456789abcdef0123456789abcdef         how many cells, and XXH3-128 of everything before this line
 *
 * Called by profile_disk.c, which knows files, and by executor/profile.c, which knows devices. Works in memory; no state.
 * Numbers are decimal, without sign or exponent, with up to three digits behind a point, whatever the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_PROFILE_FILE_H
#define SVMX_CACHE_PROFILE_FILE_H

#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SVMX__PROFILE_FORMAT = 2, /* raised with every change of the drawing above */
    SVMX__PROFILE_MAX_BYTES = 1 << 20,
    SVMX__PROFILE_LINE_BYTES = 512, /* the longest line, with its end */
    SVMX__PROFILE_DEVICES = 64,
    SVMX__PROFILE_LANES = 40, /* as cells have them; executor/model.h */
    SVMX__PROFILE_DEPTHS = 24
};

/* Longer than any launch may take: eleven days. */
#define SVMX__PROFILE_MAX_NS 1e15

/* What a device was when it was measured. Costs of one that differs in anything say nothing of it. */
struct svmx__profile_device {
    char backend[32], version[32]; /* of the plugin */
    char name[64], driver[64], variant[32], pci[16];
    uint32_t abi_major, abi_minor;
    uint32_t threads;
    /* From here on not part of what it was. */
    uint32_t kind;   /* enum svmx_device_kind; 0: unknown */
    bool test;       /* made for tests */
    bool measured;   /* the two numbers of the link were; they are 0 else */
    uint64_t used_s; /* since 1970 */
    double latency_ns, bytes_per_ns;
};

struct svmx__profile_cell {
    uint32_t device; /* in the records */
    char op[32];
    uint32_t lanes, depth;
    uint32_t samples;
    double ns, low_ns, high_ns;
    double setup_ns, transfer_ns, compute_ns, first_use_ns;
    uint64_t bytes;
};

/* An operation that a device does not get any more. */
struct svmx__profile_wrong {
    uint32_t device; /* in the records */
    char op[32], reason[64];
};

/* All zero is empty. */
struct svmx__profile_records {
    struct svmx__profile_device *devices;
    struct svmx__profile_cell *cells;
    struct svmx__profile_wrong *wrongs;
    size_t device_count, cell_count, wrong_count, device_capacity, cell_capacity, wrong_capacity;
};

void svmx__profile_records_free(struct svmx__profile_records *records);
/* Append. false: no memory. */
bool svmx__profile_add_device(struct svmx__profile_records *records, const struct svmx__profile_device *device);
bool svmx__profile_add_cell(struct svmx__profile_records *records, const struct svmx__profile_cell *cell);
bool svmx__profile_add_wrong(struct svmx__profile_records *records, const struct svmx__profile_wrong *wrong);

/* Is it the same device, as it was? */
bool svmx__profile_same(const struct svmx__profile_device *a, const struct svmx__profile_device *b);
/* By device, operation, units, work: negative, zero, positive. */
int svmx__profile_order(const struct svmx__profile_cell *a, const struct svmx__profile_cell *b);

/* Has it the numbers that a cell, or a device, can have? What is not sound is neither written nor read. */
bool svmx__profile_cell_ok(const struct svmx__profile_cell *cell);
bool svmx__profile_link_ok(double latency_ns, double bytes_per_ns);
/* The words for a kind of device; NULL behind the last. */
const char *svmx__profile_kind(uint32_t kind);
/* A small letter, then small letters, digits and '_'. */
bool svmx__profile_op_ok(const char *name);

/*
 * The text of some records; free() takes it. Puts them in order first: devices last used first, then their lines. What does not
 * fit into SVMX__PROFILE_MAX_BYTES or SVMX__PROFILE_DEVICES, the devices not used for longest, is left out, and so is what
 * is not sound. NULL: no memory.
 */
char *svmx__profile_format(struct svmx__profile_records *records, size_t *length);

/* Reads a text into `records`, which are empty. OK. ARGUMENT: it is no sound profile, `why` says what is wrong, and where;
 * MEMORY. On error nothing is left in them. */
enum svmx_status svmx__profile_parse(struct svmx__profile_records *records, const char *text, size_t length,
                                     struct svmx__text *why);

/* ---- profile_disk.c: the file ---- */

/*
 * Reads the file at an absolute path. OK, also for one that is not there or not sound: then there are no records, and
 * `defect`, "" else, says what is wrong with it. PERMISSION: it, or its folder, is not the user's alone. SYSTEM, MEMORY.
 */
enum svmx_status svmx__profile_read(struct svmx__profile_records *records, const char *path, struct svmx__text *defect,
                                    struct svmx__text *why);

/* What every profile begins with. */
#define SVMX__PROFILE_MAGIC "svmx-profile "

/* Writes it, whole or not at all, and its folder if there is none. `set_aside`: what is there now is a damaged profile, and is
 * renamed to PATH.bad, unless there is one. PERMISSION (also for a file that is no profile at all: it is somebody's), SYSTEM,
 * MEMORY: what was there is still there. */
enum svmx_status svmx__profile_write(struct svmx__profile_records *records, const char *path, bool set_aside,
                                     struct svmx__text *why);

/* Removes it. One that is not there is fine. PERMISSION (as above), SYSTEM, MEMORY. */
enum svmx_status svmx__profile_unlink(const char *path, struct svmx__text *why);

#endif

/*
 * on_opencl.h: the contract on OpenCL devices: whatever a device does, it does with the bytes of the reference code.
 *
 * A suite a driver, so that they run beside one another: opencl_pocl.c, opencl_rusticl.c, opencl_oclgrind.c, and
 * opencl_others.c for whatever else the loader finds. A driver that is not there is a test skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CONTRACT_ON_OPENCL_H
#define TESTS_CONTRACT_ON_OPENCL_H

#include "compare.h"

struct driver {
    const char *file;    /* for the loader */
    const char *package; /* of Debian */
    bool complete;       /* nothing that there is device code for may be missing or wrong */
    bool slow;           /* of signatures nothing but the known answers */
    uint64_t size_cap;
    uint32_t batch, random_sizes;
};

/* On every device of the driver. Sets the environment of the process. */
void on_driver(const struct driver *driver);
/* On the first device of the driver that on_driver set, a CPU: every variant of every operation that has several. */
void on_every_variant(void);
/* On every device of the machine, or of OCL_ICD_VENDORS, whose driver has no suite of its own. */
void on_other_drivers(void);

#endif

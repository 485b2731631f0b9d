/*
 * opencl_pocl.c: the contract on PoCL, which computes on the CPU: it has to do everything that there is device code for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include <criterion/criterion.h>

Test(contract_opencl, pocl) {
    static const struct driver pocl = {
        "/etc/OpenCL/vendors/pocl.icd", "pocl-opencl-icd", true, false, 0, BATCH, RANDOM_SIZES};
    on_driver(&pocl);
    on_every_variant(); /* what on_driver compiled is in PoCL's own cache */
}

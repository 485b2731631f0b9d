/*
 * opencl_rusticl.c: the contract on Rusticl, Mesa's, on the CPU by way of llvmpipe; it has known defects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(contract_opencl, rusticl) {
    static const struct driver rusticl = {
        "/etc/OpenCL/vendors/rusticl.icd", "mesa-opencl-icd", false, false, 20000, 150, 20};
    setenv("RUSTICL_ENABLE", "llvmpipe", 1);
    on_driver(&rusticl);
}

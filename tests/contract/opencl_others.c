/*
 * opencl_others.c: the contract on whatever else the OpenCL loader finds, or OCL_ICD_VENDORS names: a user's GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include <criterion/criterion.h>

Test(contract_opencl, others) { on_other_drivers(); }

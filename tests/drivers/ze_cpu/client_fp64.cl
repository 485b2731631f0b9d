/*
 * client_fp64.cl: a kernel that needs doubles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void twice(__global double *values) { values[get_global_id(0)] *= 2.0; }

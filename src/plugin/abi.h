/*
 * abi.h: the layout of every plugin ABI that was shipped, nailed down.
 *
 * A table that another side filled in is read only as far as the size that it states; the first ABI's sizes are the
 * least that may be stated. The assertions break the build when somebody changes what is shipped: append instead, raise
 * SVMX_ABI_MINOR and add the new sizes below the old ones. Included by loader.c and registry.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_ABI_H
#define SVMX_PLUGIN_ABI_H

#include <assert.h>
#include <svmx/plugin.h>

/* ABI 1.0. Up to and including the last field that it had. */
#define SVMX__ABI_1_0_PLUGIN_BYTES (offsetof(struct svmx_plugin, open) + sizeof(void *))
#define SVMX__ABI_1_0_OPS_BYTES    (offsetof(struct svmx_backend_ops, close) + sizeof(void *))

#if UINTPTR_MAX == UINT64_MAX
#define SVMX__NAILED(type, field, offset) static_assert(offsetof(struct type, field) == (offset), #type "." #field)

SVMX__NAILED(svmx_plugin, magic, 0);
SVMX__NAILED(svmx_plugin, size, 8);
SVMX__NAILED(svmx_plugin, abi_major, 12);
SVMX__NAILED(svmx_plugin, abi_minor, 14);
SVMX__NAILED(svmx_plugin, flags, 16);
SVMX__NAILED(svmx_plugin, name, 24);
SVMX__NAILED(svmx_plugin, version, 56);
SVMX__NAILED(svmx_plugin, licence, 88);
SVMX__NAILED(svmx_plugin, open, 120);

SVMX__NAILED(svmx_backend, ops, 0);
SVMX__NAILED(svmx_backend, self, 8);

SVMX__NAILED(svmx_backend_ops, size, 0);
SVMX__NAILED(svmx_backend_ops, device_info, 8);
SVMX__NAILED(svmx_backend_ops, memory_alloc, 16);
SVMX__NAILED(svmx_backend_ops, memory_free, 24);
SVMX__NAILED(svmx_backend_ops, pipeline_build, 32);
SVMX__NAILED(svmx_backend_ops, pipeline_free, 40);
SVMX__NAILED(svmx_backend_ops, pipeline_binary, 48);
SVMX__NAILED(svmx_backend_ops, list_record, 56);
SVMX__NAILED(svmx_backend_ops, list_free, 64);
SVMX__NAILED(svmx_backend_ops, submit, 72);
SVMX__NAILED(svmx_backend_ops, wait, 80);
SVMX__NAILED(svmx_backend_ops, close, 88);

SVMX__NAILED(svmx_host, size, 0);
SVMX__NAILED(svmx_host, abi_major, 8);
SVMX__NAILED(svmx_host, log, 16);
SVMX__NAILED(svmx_host, alloc, 24);
SVMX__NAILED(svmx_host, release, 32);
SVMX__NAILED(svmx_host, option, 40);
SVMX__NAILED(svmx_host, now, 48);
SVMX__NAILED(svmx_host, reference, 56);

SVMX__NAILED(svmx_device_info, name, 8);
SVMX__NAILED(svmx_device_info, driver, 72);
SVMX__NAILED(svmx_device_info, variant, 136);
SVMX__NAILED(svmx_device_info, pci, 168);
SVMX__NAILED(svmx_device_info, uuid, 184);
SVMX__NAILED(svmx_device_info, kind, 200);
SVMX__NAILED(svmx_device_info, flags, 204);
SVMX__NAILED(svmx_device_info, compute_engines, 208);
SVMX__NAILED(svmx_device_info, copy_engines, 212);
SVMX__NAILED(svmx_device_info, threads, 216);
SVMX__NAILED(svmx_device_info, alignment, 220);
SVMX__NAILED(svmx_device_info, memory_bytes, 224);
SVMX__NAILED(svmx_device_info, max_alloc_bytes, 232);
SVMX__NAILED(svmx_device_info, max_in_flight, 240);
SVMX__NAILED(svmx_device_info, max_group, 248); /* ABI 1.3 */
SVMX__NAILED(svmx_device_info, timer_ns, 252);
SVMX__NAILED(svmx_device_info, fp32, 256);
SVMX__NAILED(svmx_device_info, fp64, 260);
SVMX__NAILED(svmx_device_info, local_bytes, 264);

SVMX__NAILED(svmx_memory_desc, kind, 8);
SVMX__NAILED(svmx_memory_desc, usage, 12);
SVMX__NAILED(svmx_memory_desc, bytes, 16);
SVMX__NAILED(svmx_memory_desc, import, 24);

SVMX__NAILED(svmx_op_desc, name, 8);
SVMX__NAILED(svmx_op_desc, params, 16);
SVMX__NAILED(svmx_op_desc, param_count, 24);
SVMX__NAILED(svmx_op_desc, scratch_bytes_per_unit, 28);
SVMX__NAILED(svmx_op_desc, opencl_c, 32); /* 1.1 */
SVMX__NAILED(svmx_op_desc, spirv, 40);
SVMX__NAILED(svmx_op_desc, spirv_bytes, 48);
SVMX__NAILED(svmx_op_desc, local, 56);
SVMX__NAILED(svmx_op_desc, grain, 60);

SVMX__NAILED(svmx_pipeline_desc, op, 8);
SVMX__NAILED(svmx_pipeline_desc, bucket, 16);
SVMX__NAILED(svmx_pipeline_desc, binary, 24);
SVMX__NAILED(svmx_pipeline_desc, binary_bytes, 32);
SVMX__NAILED(svmx_pipeline_desc, variant, 40); /* 1.1 */

SVMX__NAILED(svmx_dispatch, pipeline, 0);
SVMX__NAILED(svmx_dispatch, slots, 8);
SVMX__NAILED(svmx_dispatch, first_unit, 16);
SVMX__NAILED(svmx_dispatch, task_count, 24);
SVMX__NAILED(svmx_dispatch, slot_count, 28);
SVMX__NAILED(svmx_dispatch, work, 32);
SVMX__NAILED(svmx_dispatch, inputs, 40);
SVMX__NAILED(svmx_dispatch, outputs, 64);
SVMX__NAILED(svmx_dispatch, table, 88);
SVMX__NAILED(svmx_dispatch, scratch, 112);
SVMX__NAILED(svmx_dispatch, host_scratch, 136);
SVMX__NAILED(svmx_dispatch, arrays, 144); /* ABI 1.2 */
SVMX__NAILED(svmx_dispatch, passing, 148);
SVMX__NAILED(svmx_copy, target, 24);
SVMX__NAILED(svmx_fill, value, 24);
SVMX__NAILED(svmx_command, kind, 0);
SVMX__NAILED(svmx_command, as, 8);

SVMX__NAILED(svmx_command_list, command_size, 8);
SVMX__NAILED(svmx_command_list, commands, 16);
SVMX__NAILED(svmx_command_list, count, 24);

SVMX__NAILED(svmx_submission, device, 8);
SVMX__NAILED(svmx_submission, engine, 12);
SVMX__NAILED(svmx_submission, list, 16);
SVMX__NAILED(svmx_submission, recorded, 24);
SVMX__NAILED(svmx_submission, after, 32);
SVMX__NAILED(svmx_submission, after_count, 40);

SVMX__NAILED(svmx_timing, copy_in_ns, 8);
SVMX__NAILED(svmx_timing, compute_ns, 16);
SVMX__NAILED(svmx_timing, copy_out_ns, 24);

/* Arrays of these cross the border without a stride: they can never grow. */
static_assert(sizeof(struct svmx_slot) == 16, "svmx_slot");
static_assert(sizeof(struct svmx_span) == 24, "svmx_span");
static_assert(sizeof(struct svmx_param) == 16, "svmx_param");

#undef SVMX__NAILED
#endif
#endif

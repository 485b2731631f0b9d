/*
 * pipeline.c: the kernels of an operation with the geometry of a bucket.
 *
 * The catalog (plugins/kernels) says which source, which kernels and how many units a work-item takes; a registered
 * operation brings its own. A program is shared by all buckets of an operation and variant; so is the pipeline itself
 * where two buckets have the same geometry. Kernels belong to the submitter: two threads at one cl_kernel get each
 * other's arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

/* ---- what is to be built ---------------------------------------------------------------------------------- */

static struct kernels_limits limits_of(const struct ocl_device *device) {
    return (struct kernels_limits){.name = device->info.name,
                                   .kind = device->catalog_kind,
                                   .compute_units = device->compute_units,
                                   .max_group = device->max_group,
                                   .no_f64 = (device->info.flags & SVMX_DEVICE_NO_F64) != 0,
                                   .inlines_all = device->inlines_all};
}

/* The text of a recipe. */
static enum svmx_status source_of(const struct ocl_device *device, const struct kernels_recipe *recipe,
                                  const struct svmx_op_desc *op, struct ocl_source *source) {
    *source = (struct ocl_source){.op = recipe->op, .files = {"common.cl"}, .options = ""};
    if (recipe->entry) {
        source->options = recipe->variant->options;
        source->f64 = recipe->entry->f64;
        for (size_t i = 0; i < CATALOG_SOURCES; i++) source->files[1 + i] = recipe->entry->sources[i];
        return SVMX_OK;
    }
    source->text = op->opencl_c;
    source->f64 = !(device->info.flags & SVMX_DEVICE_NO_F64);
    if (op->opencl_c) return SVMX_OK;
    ocl_log(device->backend, SVMX_LOG_INFO, "%s: no OpenCL C was registered with it", recipe->op);
    return SVMX_ERR_UNSUPPORTED;
}

/* ---- kernels ---------------------------------------------------------------------------------------------- */

static void pipeline_destroy(struct svmx_pipeline *pipeline) {
    const struct svmx_host *host = pipeline->program->device->backend->host;
    for (uint32_t i = 0; i < pipeline->pass_count; i++)
        if (pipeline->passes[i].kernel) clReleaseKernel(pipeline->passes[i].kernel);
    ocl_program_release(pipeline->program);
    host->release(host, pipeline);
}

static enum svmx_status make_kernels(struct svmx_pipeline *pipeline) {
    for (uint32_t i = 0; i < pipeline->pass_count; i++) {
        struct ocl_pass *pass = &pipeline->passes[i];
        cl_int error;
        pass->kernel = clCreateKernel(pipeline->program->program, pass->shape.kernel, &error);
        if (!pass->kernel)
            return ocl_fail(pipeline->program->device->backend, error, "%s: no kernel %s", pipeline->program->shared.op,
                            pass->shape.kernel);
        if (clSetKernelArg(pass->kernel, 7, sizeof(cl_uint), &pass->grain) != CL_SUCCESS)
            return ocl_fail(pipeline->program->device->backend, CL_INVALID_KERNEL_ARGS,
                            "%s: the arguments of %s are not those of common.cl", pipeline->program->shared.op,
                            pass->shape.kernel);
    }
    return SVMX_OK;
}

/* Takes over the reference to the program, on failure too. */
static enum svmx_status pipeline_make(struct ocl_program *program, const struct kernels_recipe *recipe,
                                      struct svmx_pipeline **made) {
    const struct ocl_backend *backend = program->device->backend;
    struct svmx_pipeline *pipeline =
        backend->host->alloc(backend->host, sizeof *pipeline, _Alignof(struct svmx_pipeline));
    if (!pipeline) {
        ocl_program_release(program);
        return ocl_refuse(backend, SVMX_ERR_MEMORY, "%s: no memory for a pipeline", recipe->op);
    }
    *pipeline = (struct svmx_pipeline){.program = program, .pass_count = recipe->pass_count};
    for (uint32_t i = 0; i < recipe->pass_count; i++) {
        pipeline->passes[i].shape = recipe->passes[i];
        pipeline->passes[i].grain = recipe->grains[i];
    }
    enum svmx_status status = make_kernels(pipeline);
    /* The name of a registered operation is the caller's to free: a kernel has its own. */
    for (uint32_t i = 0; i < recipe->pass_count; i++) pipeline->passes[i].shape.kernel = NULL;
    if (status != SVMX_OK)
        pipeline_destroy(pipeline);
    else
        *made = pipeline;
    return status;
}

/* ---- sharing ---------------------------------------------------------------------------------------------- */

enum svmx_status ocl_pipeline_build(void *self, uint32_t index, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline) {
    enum svmx_status status;
    struct ocl_device *device = ocl_device_ready(self, index, &status);
    if (!device) return status;
    const struct kernels_limits limits = limits_of(device);
    struct kernels_recipe recipe;
    struct ocl_source source;
    status = kernels_recipe_make(device->backend->host, &limits, desc, &recipe);
    if (status == SVMX_OK) status = source_of(device, &recipe, desc->op, &source);
    if (status != SVMX_OK) return status;
    struct ocl_program *program;
    status = ocl_program_acquire(device, &source, desc->binary, desc->binary_bytes, &program);
    if (status != SVMX_OK) return status;
    struct svmx_pipeline *found =
        (void *)kernels_shared_find(&device->lock, &device->pipelines, program, recipe.grains);
    if (found) {
        ocl_program_release(program); /* the pipeline has its own reference */
    } else {
        status = pipeline_make(program, &recipe, &found);
        if (status != SVMX_OK) return status;
        kernels_shared_add(&device->lock, &device->pipelines, &found->shared, program, recipe.grains);
    }
    *pipeline = found;
    return SVMX_OK;
}

void ocl_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    if (!pipeline) return;
    struct ocl_device *device = pipeline->program->device;
    if (kernels_shared_release(&device->lock, &device->pipelines, &pipeline->shared)) pipeline_destroy(pipeline);
}

enum svmx_status ocl_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    (void)self;
    return ocl_program_binary(pipeline->program, buffer, bytes);
}

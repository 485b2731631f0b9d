/*
 * pipeline.c: the kernels of an operation with the geometry of a bucket.
 *
 * The catalog (plugins/kernels) says which module, which kernels and how many units a work-item takes; a registered
 * operation brings its own SPIR-V. A program is shared by all buckets of an operation and variant; so is the pipeline itself
 * where two buckets have the same geometry. Kernels belong to the submitter: two threads at one kernel get each other's
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

enum { ARGUMENT_GRAIN = 7 }; /* of SVMX_KERNEL in common.cl */

/* ---- what is to be built ---------------------------------------------------------------------------------- */

static struct kernels_limits limits_of(const struct lz_device *device) {
    return (struct kernels_limits){.name = device->info.name,
                                   .kind = CATALOG_GPU,
                                   .compute_units = device->compute_units,
                                   .max_group = device->max_group,
                                   .no_f64 = (device->info.flags & SVMX_DEVICE_NO_F64) != 0};
}

/* The SPIR-V of a recipe. */
static enum svmx_status source_of(const struct lz_device *device, const struct kernels_recipe *recipe,
                                  const struct svmx_op_desc *op, struct lz_source *source) {
    if (recipe->entry) {
        const struct catalog_module *module = catalog_module(recipe->op, recipe->variant->name);
        if (!module)
            return lz_refuse(device->backend, SVMX_ERR_BACKEND, "%s: variant %s was not compiled", recipe->op,
                             recipe->variant->name);
        *source = (struct lz_source){.op = recipe->op, .spirv = module->words, .bytes = module->bytes};
        return SVMX_OK;
    }
    *source = (struct lz_source){.op = recipe->op, .spirv = op->spirv, .bytes = op->spirv_bytes};
    if (op->spirv) return SVMX_OK;
    lz_log(device->backend, SVMX_LOG_INFO, "%s: no SPIR-V was registered with it, and there is no compiler here",
           recipe->op);
    return SVMX_ERR_UNSUPPORTED;
}

/* ---- kernels ---------------------------------------------------------------------------------------------- */

static void pipeline_destroy(struct svmx_pipeline *pipeline) {
    struct lz_device *device = pipeline->program->device;
    const struct svmx_host *host = device->backend->host;
    for (uint32_t i = 0; i < pipeline->pass_count; i++)
        if (pipeline->passes[i].kernel && !lz_is_stuck(device))
            lz_note(device, zeKernelDestroy(pipeline->passes[i].kernel));
    lz_program_release(pipeline->program);
    host->release(host, pipeline);
}

static enum svmx_status make_kernel(struct lz_program *program, struct lz_pass *pass) {
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = pass->shape.kernel};
    ze_result_t result = zeKernelCreate(program->module, &desc, &pass->kernel);
    if (result != ZE_RESULT_SUCCESS) {
        pass->kernel = NULL;
        return lz_fail(program->device, result, "%s: no kernel %s", program->shared.op, pass->shape.kernel);
    }
    result = zeKernelSetGroupSize(pass->kernel, pass->shape.local, 1, 1);
    if (result != ZE_RESULT_SUCCESS)
        return lz_fail(program->device, result, "%s: %s takes no work-groups of %u", program->shared.op,
                       pass->shape.kernel, (unsigned)pass->shape.local);
    result = zeKernelSetArgumentValue(pass->kernel, ARGUMENT_GRAIN, sizeof pass->grain, &pass->grain);
    if (result != ZE_RESULT_SUCCESS)
        return lz_fail(program->device, result, "%s: the arguments of %s are not those of common.cl",
                       program->shared.op, pass->shape.kernel);
    return SVMX_OK;
}

/* Takes over the reference to the program, on failure too. */
static enum svmx_status pipeline_make(struct lz_program *program, const struct kernels_recipe *recipe,
                                      struct svmx_pipeline **made) {
    const struct lz_backend *backend = program->device->backend;
    struct svmx_pipeline *pipeline =
        backend->host->alloc(backend->host, sizeof *pipeline, _Alignof(struct svmx_pipeline));
    if (!pipeline) {
        lz_program_release(program);
        return lz_refuse(backend, SVMX_ERR_MEMORY, "%s: no memory for a pipeline", recipe->op);
    }
    *pipeline = (struct svmx_pipeline){.program = program, .pass_count = recipe->pass_count};
    enum svmx_status status = SVMX_OK;
    for (uint32_t i = 0; i < recipe->pass_count && status == SVMX_OK; i++) {
        pipeline->passes[i].shape = recipe->passes[i];
        pipeline->passes[i].grain = recipe->grains[i];
        status = make_kernel(program, &pipeline->passes[i]);
        pipeline->passes[i].shape.kernel = NULL; /* the name of a registered operation is the caller's to free */
    }
    if (status != SVMX_OK)
        pipeline_destroy(pipeline);
    else
        *made = pipeline;
    return status;
}

/* ---- sharing ---------------------------------------------------------------------------------------------- */

enum svmx_status lz_pipeline_build(void *self, uint32_t index, const struct svmx_pipeline_desc *desc,
                                   struct svmx_pipeline **pipeline) {
    enum svmx_status status;
    struct lz_device *device = lz_device_ready(self, index, &status);
    if (!device) return status;
    const struct kernels_limits limits = limits_of(device);
    struct kernels_recipe recipe;
    struct lz_source source;
    status = kernels_recipe_make(device->backend->host, &limits, desc, &recipe);
    if (status == SVMX_OK) status = source_of(device, &recipe, desc->op, &source);
    if (status != SVMX_OK) return status;
    struct lz_program *program;
    status = lz_program_acquire(device, &source, desc->binary, desc->binary_bytes, &program);
    if (status != SVMX_OK) return status;
    struct svmx_pipeline *found =
        (void *)kernels_shared_find(&device->lock, &device->pipelines, program, recipe.grains);
    if (found) {
        lz_program_release(program); /* the pipeline has its own reference */
    } else {
        status = pipeline_make(program, &recipe, &found);
        if (status != SVMX_OK) return status;
        kernels_shared_add(&device->lock, &device->pipelines, &found->shared, program, recipe.grains);
    }
    *pipeline = found;
    return SVMX_OK;
}

void lz_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    if (!pipeline) return;
    struct lz_device *device = pipeline->program->device;
    if (kernels_shared_release(&device->lock, &device->pipelines, &pipeline->shared)) pipeline_destroy(pipeline);
}

enum svmx_status lz_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    (void)self;
    return lz_program_binary(pipeline->program, buffer, bytes);
}

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

#include <string.h>

/* ---- what is to be built ---------------------------------------------------------------------------------- */

/* A recipe: source and passes, of the catalog or of whoever registered the operation. */
struct recipe {
    struct ocl_source source;
    struct catalog_pass passes[CATALOG_PASSES];
    uint32_t pass_count;
};

static enum svmx_status recipe_of_catalog(const struct ocl_device *device, const struct svmx_pipeline_desc *desc,
                                          struct recipe *recipe) {
    const struct ocl_backend *backend = device->backend;
    const char *op = desc->op->name;
    const struct catalog_entry *entry = catalog_find(op);
    if (!entry || (entry->f64 && (device->info.flags & SVMX_DEVICE_NO_F64)) || (entry->calls && device->inlines_all)) {
        ocl_log(backend, SVMX_LOG_DEBUG, "%s has no form for %s", op, device->info.name); /* the core asks for each */
        return SVMX_ERR_UNSUPPORTED;
    }
    const char *only = backend->host->option(backend->host, "variant");
    const struct catalog_variant *variant =
        catalog_pick(entry, device->catalog_kind, device->max_group, only, desc->variant);
    if (!variant) return desc->variant ? SVMX_ERR_UNKNOWN : SVMX_ERR_UNSUPPORTED;
    recipe->source =
        (struct ocl_source){.op = op, .files = {"common.cl"}, .options = variant->options, .f64 = entry->f64};
    for (size_t i = 0; i < CATALOG_SOURCES; i++) recipe->source.files[1 + i] = entry->sources[i];
    for (recipe->pass_count = 0; recipe->pass_count < CATALOG_PASSES && variant->passes[recipe->pass_count].kernel;
         recipe->pass_count++)
        recipe->passes[recipe->pass_count] = variant->passes[recipe->pass_count];
    return SVMX_OK;
}

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

static enum svmx_status recipe_of_user(const struct ocl_device *device, const struct svmx_pipeline_desc *desc,
                                       struct recipe *recipe) {
    const struct svmx_op_desc *op = desc->op;
    if (desc->variant) return SVMX_ERR_UNKNOWN;
    if (!op->local || !is_power_of_two(op->grain))
        return ocl_refuse(device->backend, SVMX_ERR_ARGUMENT, "%s: local is 0, or grain no power of two", op->name);
    if (op->local > device->max_group) {
        ocl_log(device->backend, SVMX_LOG_INFO, "%s: work-groups of %u are too large for %s", op->name,
                (unsigned)op->local, device->info.name);
        return SVMX_ERR_UNSUPPORTED;
    }
    recipe->source = (struct ocl_source){.op = op->name, .files = {"common.cl"}, .text = op->opencl_c, .options = ""};
    recipe->source.f64 = !(device->info.flags & SVMX_DEVICE_NO_F64);
    recipe->passes[0] = (struct catalog_pass){op->name, CATALOG_UNITS, CATALOG_ITEM, op->local, op->grain, op->grain};
    recipe->pass_count = 1;
    return SVMX_OK;
}

/* Fields of ABI 1.1 are there only if the core's description is long enough. */
static bool has_source(const struct svmx_op_desc *op) {
    return op->size >= offsetof(struct svmx_op_desc, grain) + sizeof op->grain && op->opencl_c;
}

static enum svmx_status recipe_make(const struct ocl_device *device, const struct svmx_pipeline_desc *given,
                                    struct recipe *recipe) {
    struct svmx_pipeline_desc desc = {.size = sizeof desc};
    memcpy(&desc, given, given->size < sizeof desc ? given->size : sizeof desc); /* what 1.0 does not say is 0 */
    return has_source(desc.op) ? recipe_of_user(device, &desc, recipe) : recipe_of_catalog(device, &desc, recipe);
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
            return ocl_fail(pipeline->program->device->backend, error, "%s: no kernel %s", pipeline->program->op,
                            pass->shape.kernel);
        if (clSetKernelArg(pass->kernel, 7, sizeof(cl_uint), &pass->grain) != CL_SUCCESS)
            return ocl_fail(pipeline->program->device->backend, CL_INVALID_KERNEL_ARGS,
                            "%s: the arguments of %s are not those of common.cl", pipeline->program->op,
                            pass->shape.kernel);
    }
    return SVMX_OK;
}

/* Takes over the reference to the program, on failure too. */
static enum svmx_status pipeline_make(struct ocl_program *program, const struct recipe *recipe, const uint32_t *grains,
                                      struct svmx_pipeline **made) {
    const struct ocl_backend *backend = program->device->backend;
    struct svmx_pipeline *pipeline =
        backend->host->alloc(backend->host, sizeof *pipeline, _Alignof(struct svmx_pipeline));
    if (!pipeline) {
        ocl_program_release(program);
        return ocl_refuse(backend, SVMX_ERR_MEMORY, "%s: no memory for a pipeline", recipe->source.op);
    }
    *pipeline = (struct svmx_pipeline){.program = program, .references = 1, .pass_count = recipe->pass_count};
    for (uint32_t i = 0; i < recipe->pass_count; i++) {
        pipeline->passes[i].shape = recipe->passes[i];
        pipeline->passes[i].grain = grains[i];
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

static bool is_same(const struct svmx_pipeline *pipeline, const struct ocl_program *program, const uint32_t *grains) {
    if (pipeline->program != program) return false;
    for (uint32_t i = 0; i < pipeline->pass_count; i++)
        if (pipeline->passes[i].grain != grains[i]) return false;
    return true;
}

/* One that was given before, with one more reference; NULL: none. */
static struct svmx_pipeline *pipeline_find(struct ocl_device *device, const struct ocl_program *program,
                                           const uint32_t *grains) {
    pthread_mutex_lock(&device->lock);
    struct svmx_pipeline *pipeline = device->pipelines;
    while (pipeline && !is_same(pipeline, program, grains)) pipeline = pipeline->next;
    if (pipeline) pipeline->references++;
    pthread_mutex_unlock(&device->lock);
    return pipeline;
}

static void pipeline_list(struct ocl_device *device, struct svmx_pipeline *pipeline) {
    pthread_mutex_lock(&device->lock);
    pipeline->next = device->pipelines;
    device->pipelines = pipeline;
    pthread_mutex_unlock(&device->lock);
}

enum svmx_status ocl_pipeline_build(void *self, uint32_t index, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline) {
    enum svmx_status status;
    struct ocl_device *device = ocl_device_ready(self, index, &status);
    if (!device) return status;
    struct recipe recipe = {.pass_count = 0};
    status = recipe_make(device, desc, &recipe);
    if (status != SVMX_OK) return status;
    uint32_t grains[CATALOG_PASSES] = {0};
    for (uint32_t i = 0; i < recipe.pass_count; i++)
        grains[i] = catalog_grain(&recipe.passes[i], desc->bucket, device->compute_units);
    struct ocl_program *program;
    status = ocl_program_acquire(device, &recipe.source, desc->binary, desc->binary_bytes, &program);
    if (status != SVMX_OK) return status;
    struct svmx_pipeline *found = pipeline_find(device, program, grains);
    if (found) {
        ocl_program_release(program); /* the pipeline has its own reference */
    } else {
        status = pipeline_make(program, &recipe, grains, &found);
        if (status != SVMX_OK) return status;
        pipeline_list(device, found);
    }
    *pipeline = found;
    return SVMX_OK;
}

void ocl_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    if (!pipeline) return;
    struct ocl_device *device = pipeline->program->device;
    pthread_mutex_lock(&device->lock);
    const bool last = --pipeline->references == 0;
    if (last) {
        struct svmx_pipeline **at = &device->pipelines;
        while (*at != pipeline) at = &(*at)->next;
        *at = pipeline->next;
    }
    pthread_mutex_unlock(&device->lock);
    if (last) pipeline_destroy(pipeline);
}

enum svmx_status ocl_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    (void)self;
    return ocl_program_binary(pipeline->program, buffer, bytes);
}

/*
 * recipe.c: see recipe.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recipe.h"

#include <stdio.h>
#include <string.h>

static void tell(const struct svmx_host *host, enum svmx_log_level level, const char *op, const char *what,
                 const char *device) {
    char line[256];
    (void)snprintf(line, sizeof line, "%s%s%s", op, what, device);
    host->log(host, level, line);
}

/* Why an operation cannot be had, or NULL. */
static const char *lacks(const struct catalog_entry *entry, const struct kernels_limits *limits) {
    if (!entry) return " has no device code";
    if (entry->f64 && limits->no_f64) return " needs double precision, which the device does not have";
    return entry->calls && limits->inlines_all ? " needs calls in device code, which its driver does not have" : NULL;
}

static enum svmx_status of_catalog(const struct svmx_host *host, const struct kernels_limits *limits,
                                   const struct svmx_pipeline_desc *desc, struct kernels_recipe *recipe) {
    const struct catalog_entry *entry = catalog_find(recipe->op);
    const char *lack = lacks(entry, limits);
    if (lack) {
        tell(host, SVMX_LOG_DEBUG, recipe->op, lack, ""); /* the core asks for each */
        return SVMX_ERR_UNSUPPORTED;
    }
    const char *only = host->option(host, "variant");
    const struct catalog_variant *variant = catalog_pick(entry, limits->kind, limits->max_group, only, desc->variant);
    if (!variant && desc->variant) return SVMX_ERR_UNKNOWN;
    if (!variant) {
        tell(host, SVMX_LOG_DEBUG, recipe->op, " has no variant that fits ", limits->name);
        return SVMX_ERR_UNSUPPORTED;
    }
    recipe->entry = entry;
    recipe->variant = variant;
    while (recipe->pass_count < CATALOG_PASSES && variant->passes[recipe->pass_count].kernel) {
        recipe->passes[recipe->pass_count] = variant->passes[recipe->pass_count];
        recipe->pass_count++;
    }
    return SVMX_OK;
}

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

static enum svmx_status of_user(const struct svmx_host *host, const struct kernels_limits *limits,
                                const struct svmx_pipeline_desc *desc, struct kernels_recipe *recipe) {
    const struct svmx_op_desc *op = desc->op;
    if (desc->variant) return SVMX_ERR_UNKNOWN;
    if (!op->local || !is_power_of_two(op->grain)) {
        tell(host, SVMX_LOG_ERROR, op->name, ": local is 0, or grain no power of two", "");
        return SVMX_ERR_ARGUMENT;
    }
    if (op->local > limits->max_group) {
        tell(host, SVMX_LOG_INFO, op->name, ": its work-groups are too large for ", limits->name);
        return SVMX_ERR_UNSUPPORTED;
    }
    recipe->passes[0] = (struct catalog_pass){op->name, CATALOG_UNITS, CATALOG_ITEM, op->local, op->grain, op->grain};
    recipe->pass_count = 1;
    return SVMX_OK;
}

/* Fields of ABI 1.1 are there only if the core's description is long enough. */
static bool is_registered(const struct svmx_op_desc *op) {
    return op->size >= offsetof(struct svmx_op_desc, grain) + sizeof op->grain && (op->opencl_c || op->spirv);
}

enum svmx_status kernels_recipe_make(const struct svmx_host *host, const struct kernels_limits *limits,
                                     const struct svmx_pipeline_desc *given, struct kernels_recipe *recipe) {
    struct svmx_pipeline_desc desc = {.size = sizeof desc};
    memcpy(&desc, given, given->size < sizeof desc ? given->size : sizeof desc); /* what 1.0 does not say is 0 */
    *recipe = (struct kernels_recipe){.op = desc.op->name};
    const enum svmx_status status =
        is_registered(desc.op) ? of_user(host, limits, &desc, recipe) : of_catalog(host, limits, &desc, recipe);
    for (uint32_t i = 0; i < recipe->pass_count; i++)
        recipe->grains[i] = catalog_grain(&recipe->passes[i], desc.bucket, limits->compute_units);
    return status;
}

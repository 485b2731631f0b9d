/*
 * recipe.h: what is built for an operation: of the catalog, or of the program that registered it.
 *
 * Shared by the backends that run device code; each of them makes its driver's code of a recipe. Knows no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_RECIPE_H
#define SVMX_KERNELS_RECIPE_H

#include "catalog.h"

/* What a device can take. */
struct kernels_limits {
    const char *name;       /* of the device */
    uint32_t kind;          /* CATALOG_CPU or CATALOG_GPU */
    uint32_t compute_units; /* that work goes to */
    size_t max_group;       /* work-items of a work-group */
    bool no_f64;
    bool inlines_all; /* its compiler knows no calls */
};

struct kernels_recipe {
    const char *op;
    const struct catalog_entry *entry; /* NULL: registered; its code is in op_desc */
    const struct catalog_variant *variant;
    struct catalog_pass passes[CATALOG_PASSES];
    uint32_t grains[CATALOG_PASSES];
    uint32_t pass_count;
};

/* UNKNOWN: there is no variant of that number. UNSUPPORTED: the device has no form of the operation. ARGUMENT: what was
 * registered cannot be. All but the first are logged. The recipe points into what it was made of. */
enum svmx_status kernels_recipe_make(const struct svmx_host *host, const struct kernels_limits *limits,
                                     const struct svmx_pipeline_desc *desc, struct kernels_recipe *recipe);

#endif

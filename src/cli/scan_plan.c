/*
 * scan_plan.c: which operations a scan measures, and in which sizes: --op and --sizes. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

static const char some_ops[] = "vec_add_f32,sigmoid_f32,matmul_f32,sha256,keccak256";
static const char some_sizes[] = "1K:4M:x4", some_sides[] = "100,500,1000";

enum { ITEM_BYTES = 64 };

/* The item of a list with commas at *text, and *text behind it. False: it is empty or too long. */
static bool item_next(const char **text, char item[ITEM_BYTES]) {
    const size_t length = strcspn(*text, ",");
    const bool fine = length > 0 && length < ITEM_BYTES;
    snprintf(item, ITEM_BYTES, "%.*s", fine ? (int)length : 0, *text);
    *text += length + ((*text)[length] == ',' && (*text)[length + 1] != '\0');
    return fine;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* Keeps them in order, each once. */
static bool size_add(struct scan_sizes *sizes, uint64_t size, char *why) {
    unsigned at = 0;
    while (at < sizes->count && sizes->size[at] < size) at++;
    if (at < sizes->count && sizes->size[at] == size) return true;
    if (size == 0 || sizes->count == SCAN_MAX_SIZES) {
        snprintf(why, SCAN_WHY_BYTES, size ? "there are more than %d sizes" : "a size is 0", SCAN_MAX_SIZES);
        return false;
    }
    memmove(&sizes->size[at + 1], &sizes->size[at], (sizes->count - at) * sizeof *sizes->size);
    sizes->size[at] = size;
    sizes->count++;
    return true;
}

/* "x4": times 4. "2": times 2^2. */
static bool factor_parse(const char *text, uint64_t *factor) {
    if (*text == 'x') return cli_number_parse(text + 1, factor) && *factor >= 2;
    if (!cli_number_parse(text, factor) || *factor < 1 || *factor > 32) return false;
    *factor = UINT64_C(1) << *factor;
    return true;
}

/* What is behind the next colon, where the text is cut off; NULL: there is none. */
static char *colon_cut(char *text) {
    char *colon = strchr(text, ':');
    if (!colon) return NULL;
    *colon = '\0';
    return colon + 1;
}

static bool range_add(struct scan_sizes *sizes, char *item, char *why) {
    char *last = colon_cut(item), *step = last ? colon_cut(last) : NULL;
    uint64_t from, to, factor = 4;
    if (!cli_number_parse(item, &from) || !last || !cli_number_parse(last, &to) || from == 0 || from > to) {
        snprintf(why, SCAN_WHY_BYTES, "a range is FROM:TO:STEP with 0 < FROM <= TO, such as 1K:4M:x4");
        return false;
    }
    if (step && !factor_parse(step, &factor)) {
        snprintf(why, SCAN_WHY_BYTES, "the step of a range is xF to multiply by F, or N to multiply by 2^N");
        return false;
    }
    for (uint64_t size = from; size <= to; size *= factor) {
        if (!size_add(sizes, size, why)) return false;
        if (size > to / factor) break;
    }
    return true;
}

bool scan_sizes_parse(struct scan_sizes *sizes, const char *text, char *why) {
    char item[ITEM_BYTES];
    *sizes = (struct scan_sizes){.count = 0};
    do {
        uint64_t size;
        if (!item_next(&text, item)) {
            snprintf(why, SCAN_WHY_BYTES, "a size is missing");
            return false;
        }
        if (strchr(item, ':')) {
            if (!range_add(sizes, item, why)) return false;
        } else if (!cli_number_parse(item, &size)) {
            snprintf(why, SCAN_WHY_BYTES, "'%s' is no number, or too large (digits, then K, M or G)", item);
            return false;
        } else if (!size_add(sizes, size, why)) {
            return false;
        }
    } while (*text != '\0');
    return true;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

static enum scan_measure measure_of(const struct svmx_op *op) {
    if (strcmp(op->name, "matmul_f32") == 0) return SCAN_SIDE;
    return op->param_count == 3 && op->params[1].shape == SVMX_RAGGED ? SCAN_BYTES : SCAN_ELEMENTS;
}

double scan_work(const struct scan_op *op, uint64_t size) {
    const double n = (double)size;
    return op->measure == SCAN_SIDE ? n * n * n : n;
}

static enum cli_exit op_add(struct scan_plan *plan, const struct svmx_op *op, const struct cli_args *args) {
    const char *given = args->own[SCAN_SIZES].text;
    char why[SCAN_WHY_BYTES];
    struct scan_op *added = &plan->ops[plan->count];
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->ops[i].op.id == op->id) return CLI_OK;
    *added = (struct scan_op){.op = *op, .measure = measure_of(op)};
    if (!given) given = added->measure == SCAN_SIDE ? some_sides : some_sizes;
    if (!scan_sizes_parse(&added->sizes, given, why)) return cli_args_refuse(args->command, "--sizes: %s", why);
    plan->count++;
    return CLI_OK;
}

/* The names of a list; `all` is every operation. */
static enum cli_exit ops_add(struct scan_plan *plan, const struct cli_session *session, const struct cli_args *args,
                             const char *list) {
    struct svmx_op op = {.size = sizeof op};
    enum cli_exit code = CLI_OK;
    if (strcmp(list, "all") == 0) {
        for (uint32_t i = 0; code == CLI_OK && svmx_op_get(session->executor, i, &op) == SVMX_OK; i++)
            code = op_add(plan, &op, args);
        return code;
    }
    do {
        char name[ITEM_BYTES];
        if (!item_next(&list, name)) return cli_args_refuse(args->command, "--op: a name is missing, or too long");
        if (strcmp(name, "all") == 0) return cli_args_refuse(args->command, "--op: all stands alone, without names");
        code = cli_session_op(session, name, &op);
        if (code == CLI_OK) code = op_add(plan, &op, args);
    } while (code == CLI_OK && *list != '\0');
    return code;
}

enum cli_exit scan_plan_make(struct scan_plan *plan, const struct cli_session *session, const struct cli_args *args) {
    const bool prototype = strcmp(args->own[SCAN_FORMAT].text, "prototype") == 0;
    const char *list = args->own[SCAN_OP].text;
    *plan = (struct scan_plan){.ops = cli_grow(NULL, svmx_op_count(session->executor), sizeof *plan->ops)};
    enum cli_exit code = ops_add(plan, session, args, list ? list : prototype ? "vec_add_f32" : some_ops);
    if (code == CLI_OK && prototype && plan->count > 1)
        return cli_args_refuse(args->command, "--format prototype has no column for the operation: give one --op");
    return code;
}

void scan_plan_free(struct scan_plan *plan) { free(plan->ops); }

/*
 * custom.c: see custom.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/custom.h"

#include "base/versioned.h"
#include "ops/access.h"
#include "ops/items.h"
#include "ops/messages.h"
#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, MAX_LOCAL = 1024, EXAMPLE_MESSAGE = 32, SPIRV_HEADER = 20 };
#define SPIRV_MAGIC    UINT32_C(0x07230203)
#define MAX_UNITS      (UINT64_C(1) << 46) /* as many as the largest argument has bytes: sums of a few do not overflow */
#define MAX_MIN_BUCKET (UINT64_C(1) << 40)
#define MAX_CODE       (SIZE_MAX / 4)

static_assert((int)SVMX__MAX_PARAMS == (int)SVMX_OP_MAX_PARAMS, "svmx.h and op.h must agree");
static_assert((int)SVMX__MAX_KNOWN == (int)SVMX_OP_MAX_KNOWN, "svmx.h and op.h must agree");
static_assert(sizeof(struct svmx__known) == sizeof(struct svmx_known), "copied as they are");

/* A copy of something that the definition points at. */
struct kept {
    struct kept *next;
    alignas(max_align_t) unsigned char bytes[];
};

struct custom {
    struct svmx__op op; /* first: the core has this pointer */
    svmx_op_run_fn run;
    svmx_op_check_fn check;
    svmx_op_shape_fn shape;
    void *user;
    struct kept *kept;
};

static const struct custom *custom_of(const struct svmx__op *op) { return (const void *)op; }

/* ---- looking at a definition --------------------------------------------------------------------------------- */

#define REFUSE(...) svmx__fail(why, SVMX_ERR_ARGUMENT, __VA_ARGS__)

/* A small letter, then small letters, digits and '_'; with its end inside NAME_BYTES. */
static bool is_name(const char *text) {
    if (!text || text[0] < 'a' || text[0] > 'z') return false;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return text[length] == '\0' && length < NAME_BYTES;
}

static bool is_line(const char *text) { return !strpbrk(text, "\r\n"); }

/* The definition as this version knows it: a shorter one of an older caller reads as unset at its end. */
static enum svmx_status copy_def(const struct svmx_op_def *given, struct svmx_op_def *def, struct svmx__text *why) {
    if (given->size < SVMX__THROUGH(struct svmx_op_def, check_reads) || given->size > 4096)
        return REFUSE("size is %zu: set it to sizeof(struct svmx_op_def)", given->size);
    *def = (struct svmx_op_def){0};
    memcpy(def, given, given->size < sizeof *def ? given->size : sizeof *def);
    return SVMX_OK;
}

static enum svmx_status look_at_words(const struct svmx_op_def *def, struct svmx__text *why) {
    if (!is_name(def->name))
        return REFUSE("name is %s%.40s%s: a small letter, then small letters, digits and '_', at most %d",
                      def->name ? "'" : "", def->name ? def->name : "NULL", def->name ? "'" : "", NAME_BYTES - 1);
    if (def->summary && !is_line(def->summary)) return REFUSE("summary is more than one line");
    if (def->unit && !is_name(def->unit))
        return REFUSE("unit is '%.40s': one word in small letters, or NULL", def->unit);
    if (!def->run) return REFUSE("run is NULL: it is the definition of the operation");
    if (def->exactness != SVMX_EXACT)
        return REFUSE("exactness is %" PRIu32 ": this version knows SVMX_EXACT only", def->exactness);
    if ((def->min_bucket & (def->min_bucket - 1)) || def->min_bucket > MAX_MIN_BUCKET)
        return REFUSE("min_bucket is %" PRIu64 ": a power of two up to 2^40, or 0", def->min_bucket);
    return SVMX_OK;
}

/* What is wrong with the kind of a parameter, or NULL. */
static const char *wrong_kind(const struct svmx_param *param, const struct svmx_param *before) {
    bool after_ragged = before && before->shape == SVMX_RAGGED;
    if (param->direction != SVMX_OUT && param->direction != SVMX_IN) return "direction is neither SVMX_OUT nor SVMX_IN";
    if (!svmx_type_bytes((enum svmx_type)param->type)) return "type is none of enum svmx_type";
    if (param->shape < SVMX_ARRAY || param->shape > SVMX_OFFSETS) return "shape is none of enum svmx_shape";
    if (param->record < 1 || param->record > UINT32_C(1) << 24) return "record is not 1 to 2^24";
    if (param->shape != SVMX_ARRAY && param->record != 1) return "record is not 1, and it is no array";
    if (param->reserved) return "reserved is not 0";
    if (param->direction == SVMX_OUT && before && before->direction == SVMX_IN)
        return "an output stands after an input";
    if (param->direction == SVMX_OUT && param->shape != SVMX_ARRAY) return "an output is an array, nothing else";
    if (param->shape == SVMX_SCALAR && param->type == SVMX_U8) return "a scalar is of 4 or 8 bytes";
    if (param->shape == SVMX_RAGGED && param->type != SVMX_U8) return "what is ragged is SVMX_U8";
    if (param->shape == SVMX_OFFSETS && param->type != SVMX_U64) return "offsets are SVMX_U64";
    if ((param->shape == SVMX_OFFSETS) != after_ragged)
        return after_ragged ? "offsets must stand here, after what is ragged" : "offsets stand after what is ragged";
    return NULL;
}

static enum svmx_status look_at_params(const struct svmx_op_def *def, struct svmx__text *why) {
    if (!def->params) return REFUSE("params is NULL");
    if (def->param_count < 1 || def->param_count > SVMX__MAX_PARAMS)
        return REFUSE("param_count is %" PRIu32 ": 1 to %d", def->param_count, SVMX__MAX_PARAMS);
    for (uint32_t i = 0; i < def->param_count; i++) {
        const struct svmx_param *param = &def->params[i];
        if (!is_name(param->name)) return REFUSE("params[%" PRIu32 "].name is no name, as an operation has one", i);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(param->name, def->params[j].name) == 0)
                return REFUSE("params[%" PRIu32 "].name is '%s', as that of params[%" PRIu32 "]", i, param->name, j);
        const char *wrong = wrong_kind(param, i ? param - 1 : NULL);
        if (wrong) return REFUSE("params[%" PRIu32 "] ('%s'): %s", i, param->name, wrong);
    }
    if (def->params[0].direction != SVMX_OUT) return REFUSE("params: the first must be an output");
    for (uint32_t i = 0; i < 32; i++)
        if (def->check_reads >> i & 1 && (i >= def->param_count || def->params[i].direction == SVMX_OUT))
            return REFUSE("check_reads is 0x%" PRIx32 ": argument %" PRIu32 " is no input", def->check_reads, i);
    if (def->params[def->param_count - 1].shape == SVMX_RAGGED)
        return REFUSE("params: the last is ragged and has no offsets after it");
    return SVMX_OK;
}

static enum svmx_status look_at_code(const struct svmx_op_def *def, struct svmx__text *why) {
    if (!def->spirv != !def->spirv_bytes) return REFUSE("spirv and spirv_bytes: either both are set or none");
    if (def->spirv) {
        uint32_t magic = 0;
        if (def->spirv_bytes >= SPIRV_HEADER) memcpy(&magic, def->spirv, sizeof magic);
        if (magic != SPIRV_MAGIC || def->spirv_bytes % 4 || def->spirv_bytes > MAX_CODE)
            return REFUSE("spirv is no SPIR-V module of this machine's byte order");
    }
    if (def->opencl_c && !def->opencl_c[0]) return REFUSE("opencl_c is an empty text: NULL means none");
    if (!def->opencl_c && !def->spirv) return SVMX_OK;
    if (def->local < 1 || def->local > MAX_LOCAL)
        return REFUSE("local is %" PRIu32 ": with device code 1 to %d", def->local, MAX_LOCAL);
    if (def->grain < 1 || (def->grain & (def->grain - 1)))
        return REFUSE("grain is %" PRIu32 ": with device code a power of two", def->grain);
    return SVMX_OK;
}

static enum svmx_status look_at_known(const struct svmx_op_def *def, struct svmx__text *why) {
    if (!def->known_count) return SVMX_OK;
    if (def->known_count > SVMX__MAX_KNOWN)
        return REFUSE("known_count is %" PRIu32 ": at most %d", def->known_count, SVMX__MAX_KNOWN);
    if (!def->known) return REFUSE("known is NULL, but known_count is not 0");
    for (uint32_t i = 0; i < def->known_count * def->param_count; i++) {
        const struct svmx_param *param = &def->params[i % def->param_count];
        const struct svmx_known *known = &def->known[i];
        uint64_t item = svmx__item_bytes(param);
        bool fits = param->shape == SVMX_SCALAR ? known->bytes == item : known->bytes % item == 0;
        if (!fits || (known->bytes && !known->data) || known->bytes > MAX_CODE)
            return REFUSE("known: row %" PRIu32 ", '%s': %s", i / def->param_count, param->name,
                          fits ? "data is NULL" : "bytes are no whole items");
    }
    return SVMX_OK;
}

/* What is wrong with an operation that says of itself that it is elementwise, or NULL. */
static const char *not_elementwise(const struct svmx_op_def *def) {
    if (def->check || def->shape) return "it has a check or a shape of its own";
    for (uint32_t i = 0; i < def->param_count; i++) {
        const struct svmx_param *param = &def->params[i];
        if (i && param->direction == SVMX_OUT) return "it has more than one output";
        if (param->shape == SVMX_SCALAR) continue;
        if (param->shape != SVMX_ARRAY || param->record != 1)
            return "it takes more than elements of arrays, and scalars";
        if (svmx__item_bytes(param) != svmx__item_bytes(&def->params[0]))
            return "its arrays have elements of several sizes";
    }
    return NULL;
}

static enum svmx_status look_at_flags(const struct svmx_op_def *def, struct svmx__text *why) {
    if (def->flags & ~(uint32_t)SVMX_OP_ELEMENTWISE)
        return REFUSE("flags is 0x%" PRIx32 ": this version knows SVMX_OP_ELEMENTWISE only", def->flags);
    const char *wrong = def->flags ? not_elementwise(def) : NULL;
    return wrong ? REFUSE("flags: SVMX_OP_ELEMENTWISE, but %s", wrong) : SVMX_OK;
}

/* ---- keeping it ---------------------------------------------------------------------------------------------- */

/* A copy that lives as long as the operation; NULL: no memory. */
static void *keep(struct custom *custom, const void *data, size_t bytes) {
    struct kept *kept = malloc(sizeof *kept + bytes);
    if (!kept) return NULL;
    if (bytes) memcpy(kept->bytes, data, bytes);
    kept->next = custom->kept;
    custom->kept = kept;
    return kept->bytes;
}

static bool keep_text(struct custom *custom, const char **to, const char *text) {
    *to = keep(custom, text, strlen(text) + 1);
    return *to;
}

static bool keep_params(struct custom *custom, const struct svmx_op_def *def) {
    struct svmx_param *params = keep(custom, def->params, def->param_count * sizeof *params);
    if (!params) return false;
    for (uint32_t i = 0; i < def->param_count; i++)
        if (!keep_text(custom, &params[i].name, params[i].name)) return false;
    custom->op.params = params;
    custom->op.param_count = def->param_count;
    custom->op.check_reads = def->check_reads;
    for (uint32_t i = 0; i < def->param_count; i++)
        if (params[i].shape == SVMX_OFFSETS) custom->op.check_reads |= UINT32_C(1) << i; /* by check_cuts */
    return true;
}

static bool keep_known(struct custom *custom, const struct svmx_op_def *def) {
    const size_t count = (size_t)def->known_count * def->param_count;
    struct svmx__known *known = count ? keep(custom, def->known, count * sizeof *known) : NULL;
    if (count && !known) return false;
    for (size_t i = 0; i < count; i++)
        if (!(known[i].data = keep(custom, known[i].data, (size_t)known[i].bytes))) return false;
    custom->op.known = known;
    custom->op.known_count = def->known_count;
    return true;
}

static bool keep_all(struct custom *custom, const struct svmx_op_def *def) {
    struct svmx__op *op = &custom->op;
    custom->run = def->run;
    custom->check = def->check;
    custom->shape = def->shape;
    custom->user = def->user;
    op->trial_size = def->trial_size;
    op->min_bucket = def->min_bucket;
    op->elementwise = (def->flags & SVMX_OP_ELEMENTWISE) != 0;
    if (!keep_text(custom, &op->name, def->name) || !keep_text(custom, &op->unit, def->unit ? def->unit : "item") ||
        !keep_text(custom, &op->summary, def->summary ? def->summary : "") || !keep_params(custom, def) ||
        !keep_known(custom, def))
        return false;
    if (!def->opencl_c && !def->spirv) return true;
    op->local = def->local;
    op->grain = def->grain;
    op->scratch_bytes_per_unit = def->scratch_bytes_per_unit;
    op->spirv_bytes = def->spirv_bytes;
    if (def->spirv && !(op->spirv = keep(custom, def->spirv, def->spirv_bytes))) return false;
    return !def->opencl_c || keep_text(custom, &op->opencl_c, def->opencl_c);
}

void svmx__custom_destroy(struct svmx__op *op) {
    if (!op) return;
    struct custom *custom = (struct custom *)(void *)op;
    for (struct kept *kept = custom->kept, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    free(custom);
}

enum svmx_status svmx__custom_create(const struct svmx_op_def *given, struct svmx__op **op, struct svmx__text *why) {
    static enum svmx_status (*const looks[])(const struct svmx_op_def *, struct svmx__text *) = {
        look_at_words, look_at_params, look_at_code, look_at_known, look_at_flags};
    struct svmx_op_def copy;
    const struct svmx_op_def *def = &copy;
    enum svmx_status status = copy_def(given, &copy, why);
    for (size_t i = 0; i < sizeof looks / sizeof *looks && status == SVMX_OK; i++) status = looks[i](def, why);
    if (status != SVMX_OK) return status;
    struct custom *custom = calloc(1, sizeof *custom);
    if (!custom || !keep_all(custom, def)) {
        svmx__custom_destroy(custom ? &custom->op : NULL);
        return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to keep %s", def->name);
    }
    *op = &custom->op;
    return SVMX_OK;
}

/* ---- between slots and operands ------------------------------------------------------------------------------ */

/* A scalar is in the slot itself. The bytes of one are its type's, whatever the caller said. */
static void operands_of(const struct svmx__op *op, const struct svmx_slot *slots, struct svmx_operand *operands) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR)
            operands[i] = (struct svmx_operand){(void *)(uintptr_t)&slots[i].at, svmx__item_bytes(&op->params[i])};
        else
            operands[i] = (struct svmx_operand){(void *)(uintptr_t)slots[i].at, slots[i].bytes};
    }
}

void svmx__custom_run(const struct svmx__op *op, const struct svmx_slot *slots) {
    struct svmx_operand operands[SVMX__MAX_PARAMS];
    operands_of(op, slots, operands);
    custom_of(op)->run(operands, custom_of(op)->user);
}

/* Offsets cut what is before them: the library sees to that, whatever else is checked. */
static enum svmx_status check_cuts(const struct svmx__op *op, const struct svmx_slot *slots, struct svmx__text *why) {
    for (uint32_t i = 1; i < op->param_count; i++) {
        if (op->params[i].shape != SVMX_OFFSETS || !slots[i].bytes) continue;
        enum svmx_status status = svmx__offsets_check(&slots[i], slots[i].bytes / sizeof(uint64_t) - 1,
                                                      op->params[i - 1].name, slots[i - 1].bytes, why);
        if (status != SVMX_OK) return status;
    }
    return SVMX_OK;
}

/* As many items in everything as in the first output. */
static enum svmx_status check_items(const struct svmx__op *op, const struct svmx_slot *slots, struct svmx__size *size,
                                    struct svmx__text *why) {
    uint64_t n;
    enum svmx_status status = svmx__items_equal(op->params, slots, op->param_count, &n, why);
    if (status != SVMX_OK) return status;
    for (uint32_t i = 1; i < op->param_count; i++) {
        uint64_t entries = slots[i].bytes / sizeof(uint64_t);
        if (op->params[i].shape != SVMX_OFFSETS || entries == n + 1 || (n == 0 && entries == 0)) continue;
        return REFUSE("%s has %" PRIu64 " entries but must have %" PRIu64 ": one more than %s has items",
                      op->params[i].name, entries, n + 1, op->params[0].name);
    }
    *size = (struct svmx__size){n, n};
    return SVMX_OK;
}

enum svmx_status svmx__custom_check(const struct svmx__op *op, const struct svmx_slot *slots, struct svmx__size *size,
                                    struct svmx__text *why) {
    const struct custom *custom = custom_of(op);
    enum svmx_status status = check_cuts(op, slots, why);
    if (status != SVMX_OK) return status;
    if (!custom->check) return check_items(op, slots, size, why);
    struct svmx_operand operands[SVMX__MAX_PARAMS];
    struct svmx_op_size given = {0, 0};
    struct svmx_error error; /* not cleared as a whole: that takes longer than most checks */
    error.text[0] = '\0';
    operands_of(op, slots, operands);
    for (uint32_t i = 0; i < op->param_count; i++) /* of a result, or of the library's: no address yet */
        if (op->params[i].shape != SVMX_SCALAR && !(op->check_reads >> i & 1)) operands[i].data = NULL;
    status = custom->check(operands, &given, &error, custom->user);
    if (status != SVMX_OK)
        return svmx__fail(why, status < 0 ? status : SVMX_ERR_ARGUMENT, "%.*s", (int)sizeof error.text - 1,
                          error.text[0] ? error.text : "its check refuses the task and does not say why");
    if (given.units > MAX_UNITS)
        return svmx__fail(why, SVMX_ERR_OVERFLOW, "its check counts %" PRIu64 " units, which is too many", given.units);
    *size = (struct svmx__size){given.units, given.work};
    return SVMX_OK;
}

/* ---- examples ------------------------------------------------------------------------------------------------ */

/* 1 of a type, as bits. */
static uint64_t one_of(uint8_t type) {
    if (type == SVMX_F32) return UINT32_C(0x3f800000);
    return type == SVMX_F64 ? UINT64_C(0x3ff0000000000000) : 1;
}

static enum svmx_status shape_items(const struct svmx__op *op, uint64_t size, uint64_t *bytes) {
    if (size > UINT64_MAX / EXAMPLE_MESSAGE - 1) return SVMX_ERR_OVERFLOW;
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR) bytes[i] = one_of(op->params[i].type);
        if (op->params[i].shape == SVMX_RAGGED) bytes[i] = size * EXAMPLE_MESSAGE;
        if (op->params[i].shape == SVMX_OFFSETS) bytes[i] = (size + 1) * sizeof(uint64_t);
    }
    return svmx__items_shape(op->params, op->param_count, size, bytes);
}

enum svmx_status svmx__custom_shape(const struct svmx__op *op, uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    const struct custom *custom = custom_of(op);
    if (!custom->shape) return shape_items(op, size, bytes);
    enum svmx_status status = custom->shape(size, bytes, custom->user);
    if (status != SVMX_OK) return status < 0 ? status : SVMX_ERR_ARGUMENT;
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape != SVMX_SCALAR && bytes[i] % svmx__item_bytes(&op->params[i])) return SVMX_ERR_ARGUMENT;
    return SVMX_OK;
}

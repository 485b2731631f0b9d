/*
 * spirv.c: reads from SPIR-V what a driver must know of it: kernels, the kind and size of their arguments, specialisation
 * constants, whether doubles are used. It knows nothing of what the code does.
 *
 * A module is words: five of header, then instructions, the first word of each being length << 16 | opcode. Types and
 * constants come before the functions that use them, so one pass is enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x07230203, HEADER = 5, MOST_IDS = 1 << 22 };

enum {
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_TYPE_FIRST = 19,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_IMAGE = 25,
    OP_TYPE_SAMPLED_IMAGE = 27,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_TYPE_LAST = 39,
    OP_CONSTANT = 43,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT = 50,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_DECORATE = 71,
};

enum {
    MODEL_KERNEL = 6,
    MODE_LOCAL_SIZE = 17,
    MODE_SUBGROUP_SIZE = 35,
    CAPABILITY_FLOAT64 = 10,
    DECORATION_SPEC_ID = 1,
    DECORATION_FUNC_PARAM_ATTR = 38,
    ATTRIBUTE_NO_WRITE = 6,
    STORAGE_WORKGROUP = 4,
    STORAGE_FUNCTION = 7, /* of a parameter: a structure by value */
};

/* What is known of an id. */
struct id {
    const uint32_t *words; /* of the instruction that defines a type or constant; NULL: something else */
    uint32_t length;
    uint32_t kernel;  /* an entry point: its number + 1 */
    uint32_t spec_id; /* the number that clients know it by, + 1 */
    bool never_written;
};

struct reader {
    struct id *ids;
    uint32_t bound;
    struct zecpu_spirv *out;
    uint32_t kernel; /* whose parameters are being read, + 1; 0: none */
};

static uint32_t opcode_of(const struct id *id) { return id->words ? id->words[0] & 0xffff : 0; }

static uint32_t size_of(const struct reader *reader, uint32_t type);

static uint32_t alignment_of(const struct reader *reader, uint32_t type) {
    const struct id *id = &reader->ids[type];
    uint32_t most = 1;
    if (opcode_of(id) == OP_TYPE_ARRAY) return alignment_of(reader, id->words[2]);
    if (opcode_of(id) != OP_TYPE_STRUCT) return size_of(reader, type);
    for (uint32_t i = 2; i < id->length; i++) {
        const uint32_t member = alignment_of(reader, id->words[i]);
        if (member > most) most = member;
    }
    return most;
}

static uint32_t round_up(uint32_t bytes, uint32_t to) { return to ? (bytes + to - 1) / to * to : bytes; }

static uint32_t size_of(const struct reader *reader, uint32_t type) {
    const struct id *id = &reader->ids[type];
    uint32_t bytes = 0;
    switch (opcode_of(id)) {
    case OP_TYPE_BOOL: return 1;
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT: return id->words[2] / 8;
    case OP_TYPE_VECTOR: return size_of(reader, id->words[2]) * (id->words[3] == 3 ? 4 : id->words[3]);
    case OP_TYPE_ARRAY: {
        const struct id *length = &reader->ids[id->words[3]];
        return opcode_of(length) == OP_CONSTANT ? size_of(reader, id->words[2]) * length->words[3] : 0;
    }
    case OP_TYPE_STRUCT:
        for (uint32_t i = 2; i < id->length; i++)
            bytes = round_up(bytes, alignment_of(reader, id->words[i])) + size_of(reader, id->words[i]);
        return round_up(bytes, alignment_of(reader, type));
    default: return 8; /* a pointer, a size */
    }
}

/* ---- one instruction ------------------------------------------------------------------------------------------ */

static bool add_kernel(struct reader *reader, const uint32_t *words, uint32_t length) {
    struct zecpu_spirv *out = reader->out;
    struct zecpu_kernel_info *more = realloc(out->kernels, (out->kernel_count + 1) * sizeof *more);
    if (!more) return false;
    struct zecpu_kernel_info *kernel = &more[out->kernel_count++];
    const size_t room = (length - 3) * sizeof *words;
    out->kernels = more;
    memset(kernel, 0, sizeof *kernel);
    memcpy(kernel->name, words + 3, room < sizeof kernel->name ? room : sizeof kernel->name - 1);
    kernel->name[sizeof kernel->name - 1] = 0;
    reader->ids[words[2]].kernel = out->kernel_count;
    return true;
}

static void note_mode(const struct reader *reader, const uint32_t *words, uint32_t length) {
    const uint32_t number = reader->ids[words[1]].kernel;
    if (!number) return;
    struct zecpu_kernel_info *kernel = &reader->out->kernels[number - 1];
    if (words[2] == MODE_LOCAL_SIZE && length >= 6) memcpy(kernel->group_size, words + 3, sizeof kernel->group_size);
    if (words[2] == MODE_SUBGROUP_SIZE && length >= 4) kernel->subgroup_size = words[3];
}

static void note_decoration(const struct reader *reader, const uint32_t *words, uint32_t length) {
    struct id *id = &reader->ids[words[1]];
    if (length < 4) return;
    if (words[2] == DECORATION_SPEC_ID) id->spec_id = words[3] + 1;
    if (words[2] == DECORATION_FUNC_PARAM_ATTR && words[3] == ATTRIBUTE_NO_WRITE) id->never_written = true;
}

static void add_constant(const struct reader *reader, const uint32_t *words, uint32_t opcode) {
    struct zecpu_spirv *out = reader->out;
    const uint32_t spec_id = reader->ids[words[2]].spec_id;
    if (!spec_id || out->constant_count == sizeof out->constants / sizeof *out->constants) return;
    const bool is_float = opcode_of(&reader->ids[words[1]]) == OP_TYPE_FLOAT;
    out->constants[out->constant_count++] =
        (struct zecpu_constant){.id = spec_id - 1,
                                .bytes = opcode == OP_SPEC_CONSTANT ? size_of(reader, words[1]) : 1,
                                .letter = is_float ? 'f' : 'i'};
}

static struct zecpu_argument argument_of(const struct reader *reader, uint32_t type, bool never_written) {
    const struct id *id = &reader->ids[type];
    const uint32_t opcode = opcode_of(id);
    if (opcode >= OP_TYPE_IMAGE && opcode <= OP_TYPE_SAMPLED_IMAGE)
        return (struct zecpu_argument){.kind = ZECPU_UNSUPPORTED};
    if (opcode != OP_TYPE_POINTER) return (struct zecpu_argument){.kind = ZECPU_VALUE, .bytes = size_of(reader, type)};
    if (id->words[2] == STORAGE_WORKGROUP) return (struct zecpu_argument){.kind = ZECPU_LOCAL};
    if (id->words[2] == STORAGE_FUNCTION)
        return (struct zecpu_argument){.kind = ZECPU_VALUE, .bytes = size_of(reader, id->words[3])};
    return (struct zecpu_argument){.kind = ZECPU_GLOBAL, .bytes = sizeof(void *), .reads_only = never_written};
}

static bool add_parameter(const struct reader *reader, const uint32_t *words) {
    if (!reader->kernel) return true;
    struct zecpu_kernel_info *kernel = &reader->out->kernels[reader->kernel - 1];
    if (kernel->argument_count == ZECPU_MAX_ARGUMENTS) return false;
    kernel->arguments[kernel->argument_count++] = argument_of(reader, words[1], reader->ids[words[2]].never_written);
    return true;
}

/* A type that stands earlier: so no type is made of itself. */
static bool known(const struct reader *reader, uint32_t type) {
    return type < reader->bound && reader->ids[type].words;
}

/* Ids that an instruction which is looked at names must be below the bound. */
static bool sound(const struct reader *reader, const uint32_t *words, uint32_t length, uint32_t opcode) {
    switch (opcode) {
    case OP_ENTRY_POINT: return length > 3 && words[2] < reader->bound;
    case OP_EXECUTION_MODE:
    case OP_DECORATE: return length > 2 && words[1] < reader->bound;
    case OP_CONSTANT: return length > 3 && words[1] < reader->bound && words[2] < reader->bound;
    case OP_SPEC_CONSTANT_TRUE:
    case OP_SPEC_CONSTANT_TRUE + 1:
    case OP_SPEC_CONSTANT:
    case OP_FUNCTION:
    case OP_FUNCTION_PARAMETER: return length > 2 && words[1] < reader->bound && words[2] < reader->bound;
    default: break;
    }
    if (opcode < OP_TYPE_FIRST || opcode > OP_TYPE_LAST) return true;
    if (length < 2 || words[1] >= reader->bound) return false;
    if (opcode == OP_TYPE_INT || opcode == OP_TYPE_FLOAT) return length > 2;
    if (opcode == OP_TYPE_POINTER) return length > 3 && words[3] < reader->bound;
    if (opcode == OP_TYPE_VECTOR) return length > 3 && known(reader, words[2]);
    if (opcode == OP_TYPE_ARRAY) return length > 3 && known(reader, words[2]) && words[3] < reader->bound;
    for (uint32_t i = 2; opcode == OP_TYPE_STRUCT && i < length; i++)
        if (!known(reader, words[i])) return false;
    return true;
}

static bool read_instruction(struct reader *reader, const uint32_t *words, uint32_t length) {
    const uint32_t opcode = words[0] & 0xffff;
    if (!sound(reader, words, length, opcode)) return false;
    if ((opcode >= OP_TYPE_FIRST && opcode <= OP_TYPE_LAST) || opcode == OP_CONSTANT) {
        struct id *id = &reader->ids[words[opcode == OP_CONSTANT ? 2 : 1]];
        id->words = words;
        id->length = length;
        return true;
    }
    switch (opcode) {
    case OP_CAPABILITY: reader->out->fp64 |= length > 1 && words[1] == CAPABILITY_FLOAT64; return true;
    case OP_ENTRY_POINT: return words[1] != MODEL_KERNEL || add_kernel(reader, words, length);
    case OP_EXECUTION_MODE: note_mode(reader, words, length); return true;
    case OP_DECORATE: note_decoration(reader, words, length); return true;
    case OP_SPEC_CONSTANT_TRUE:
    case OP_SPEC_CONSTANT_TRUE + 1:
    case OP_SPEC_CONSTANT: add_constant(reader, words, opcode); return true;
    case OP_FUNCTION: reader->kernel = reader->ids[words[2]].kernel; return true;
    case OP_FUNCTION_PARAMETER: return add_parameter(reader, words);
    default: return true;
    }
}

bool zecpu_spirv_read(const uint32_t *words, size_t count, struct zecpu_spirv *out) {
    *out = (struct zecpu_spirv){0};
    if (count < HEADER || words[0] != MAGIC || words[3] > MOST_IDS) return false;
    struct reader reader = {.ids = calloc(words[3] + 1, sizeof *reader.ids), .bound = words[3], .out = out};
    bool good = reader.ids;
    for (size_t at = HEADER; good && at < count; at += words[at] >> 16) {
        const uint32_t length = words[at] >> 16;
        good = length && length <= count - at && read_instruction(&reader, words + at, length);
        if (!good) break;
    }
    free(reader.ids);
    if (good) return true;
    free(out->kernels);
    out->kernels = NULL;
    return false;
}

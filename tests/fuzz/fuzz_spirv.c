/*
 * fuzz_spirv.c: operations that a program registers with device code that is almost SPIR-V: what is taken in is a whole number
 * of words behind the right magic, is the library's own copy, and does not change what the operation answers; what is refused is
 * told.
 *
 * What a driver makes of such a module is the driver's, and not tried here: it may crash (docs/ISOLATION.md).
 *
 * A plain program: the same rounds every time, 4,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include <svmx/svmx.h>

/* Header, capability Kernel, memory model: a module that has nothing in it. */
static const uint32_t module[] = {0x07230203, 0x00010000, 0, 8, 0, 0x00020011, 6, 0x0003000e, 2, 2};
enum { MAGIC = 0x07230203, FULL = 100 };

static void twice(const struct svmx_operand *args, void *user) {
    (void)user;
    float *out = args[0].data;
    const float *in = args[1].data;
    for (uint64_t i = 0; i < args[0].bytes / sizeof *out; i++) out[i] = 2 * in[i];
}

static const struct svmx_param params[] = {
    {.name = "out", .type = SVMX_F32, .direction = SVMX_OUT, .shape = SVMX_ARRAY, .record = 1},
    {.name = "a", .type = SVMX_F32, .direction = SVMX_IN, .shape = SVMX_ARRAY, .record = 1}};

static bool answers(svmx_executor_t *executor, uint32_t op) {
    const float in[3] = {1, 2, 3};
    float out[3] = {0};
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 3), svmx_in(SVMX_F32, in, 3)};
    svmx_batch_t *batch;
    if (svmx_batch_create(executor, &batch) != SVMX_OK) exit(2);
    const bool good = svmx_batch_add(batch, op, args, 2) == SVMX_OK && svmx_run(batch) == SVMX_OK;
    svmx_batch_destroy(batch);
    return good && out[0] == 2 && out[1] == 4 && out[2] == 6;
}

/* One module; `number` gives its operation a name. */
static void look_at_text(const struct text *text, svmx_executor_t *executor, unsigned number, struct tally *tally) {
    struct svmx_error error = {SVMX_OK, ""};
    char name[32];
    uint32_t op = 0, magic = 0;
    (void)snprintf(name, sizeof name, "fuzzed_%u", number);
    void *exact = fuzz_exact(text->bytes, text->length);
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = name,
                                    .params = params,
                                    .param_count = 2,
                                    .exactness = SVMX_EXACT,
                                    .run = twice,
                                    .spirv = exact,
                                    .spirv_bytes = text->length,
                                    .local = 1,
                                    .grain = 1};
    const enum svmx_status status = svmx_op_register(executor, &def, &op, &error);
    free(exact); /* the library has its own */
    if (text->length >= sizeof magic) memcpy(&magic, text->bytes, sizeof magic);
    if (status == SVMX_OK) {
        tally->taken++;
        expect(tally, magic == MAGIC && text->length % 4 == 0, "what is taken looks like SPIR-V", "");
        expect(tally, answers(executor, op), "what was registered answers", name);
    } else {
        tally->refused++;
        expect(tally, status == SVMX_ERR_ARGUMENT && strstr(error.text, "spirv"), "a refusal names it", error.text);
        expect(tally, magic != MAGIC || text->length % 4 || text->length < 20, "what looks like SPIR-V is taken", "");
    }
}

static void round_of(svmx_executor_t *executor, unsigned number, struct tally *tally) {
    static void (*const changes[])(struct text *) = {change_byte, change_bit, drop_some, repeat_piece, cut_short};
    static struct text text;
    text_set(&text, module, sizeof module);
    if (below(8)) fuzz_change(&text, changes, sizeof changes / sizeof *changes, 2);
    if (below(2)) text.length -= text.length % 4;
    look_at_text(&text, executor, number, tally);
}

static const struct svmx_options options = {
    .size = sizeof options, .backends = "none", .flags = SVMX_OPEN_NO_ENVIRONMENT};

#ifdef SVMX_LIBFUZZER
FUZZ_ENTRY(false)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {
    static struct text text;
    static svmx_executor_t *executor;
    static unsigned number;
    if (number % FULL == 0) { /* an executor has room for so many operations */
        svmx_close(executor);
        if (svmx_open(&executor, &options, NULL) != SVMX_OK) exit(2);
    }
    text_set(&text, bytes, length);
    look_at_text(&text, executor, number++ % FULL, tally);
}
#endif

int main(void) {
    struct tally tally = {0, 0, 0};
    const unsigned long rounds = fuzz_rounds(4000);
    for (unsigned long done = 0; done < rounds;) { /* an executor has room for so many operations */
        svmx_executor_t *executor;
        if (svmx_open(&executor, &options, NULL) != SVMX_OK) return 2;
        for (unsigned i = 0; i < FULL && done < rounds; i++, done++) round_of(executor, i, &tally);
        svmx_close(executor);
    }
    return fuzz_end_of("modules", &tally);
}

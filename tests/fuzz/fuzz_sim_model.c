/*
 * fuzz_sim_model.c: texts that are almost models: those that are shipped, with bytes, words and lines changed, moved and
 * left out. Whatever comes of it is refused with a line that says why, or is a model whose costs are sound. What else may
 * go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 40,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"

#include "fuzz.h"

/* ---- changes ---------------------------------------------------------------------------------------------- */

static const char *const words[] = {"nan",
                                    "inf",
                                    "-1",
                                    "0",
                                    "1e308",
                                    "0x1p3",
                                    "99999999999999999999",
                                    "0.0000000000000001",
                                    "1000000",
                                    ",",
                                    ".",
                                    "#",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    " ",
                                    "ns",
                                    "us",
                                    "ms",
                                    "s",
                                    "x",
                                    "%",
                                    "GB/s",
                                    "work/ns",
                                    "cpu ",
                                    "op ",
                                    "op * ",
                                    "at ",
                                    "launch ",
                                    "slow ",
                                    "table ",
                                    "rate ",
                                    "fixed ",
                                    "lanes ",
                                    "memory shared\n",
                                    "memory separate\n",
                                    "name a\n",
                                    "seed 7\n",
                                    "contention 2 1 s, 3 2 s\n",
                                    "jitter 100 %\n",
                                    "outliers 100 % 1000000 x\n",
                                    "at launch 0 slow 1000000 x\n",
                                    "cpu op x table 1 1 ns, 2 1000000 s\n",
                                    "op y rate 0.000000001 work/ns fixed 1000000 s lanes 1000000000\n"};

FUZZ_WORDS(words)

static void replace_word(struct text *text) { replace_between(text, " ,\n", some_word()); }

static void change(struct text *text) {
    static void (*const changes[])(struct text *) = {change_byte, insert_word, replace_word, replace_word,
                                                     drop_line,   repeat_line, insert_word,  change_byte};
    fuzz_change(text, changes, sizeof changes / sizeof *changes, 4);
    if (below(50) == 0) cut_short(text);
}

/* ---- what has to hold ------------------------------------------------------------------------------------- */

static bool sound(const struct sim_model *model) {
    static const char *const ops[] = {"vec_add_f32", "keccak256", "x", "y", "", NULL};
    const uint64_t limit = UINT64_C(1) << 60;
    for (int i = 0; i < 8; i++) {
        const struct sim_load load = {.op = ops[below(6)],
                                      .units = dice64() >> below(64),
                                      .work = dice64() >> below(64),
                                      .bytes_in = dice64() >> below(64),
                                      .bytes_out = dice64() >> below(64),
                                      .tasks = (uint32_t)below(1u << 20),
                                      .submitters = (uint32_t)below(100)};
        const enum sim_side side = below(2) ? SIM_GPU : SIM_CPU;
        const uint64_t now = dice64() >> below(64), launch = below(1000);
        struct sim_random one = {model->seed}, two = {model->seed};
        struct sim_cost cost, again;
        sim_model_cost(model, side, &load, now, launch, &one, &cost);
        sim_model_cost(model, side, &load, now, launch, &two, &again);
        if (memcmp(&cost, &again, sizeof cost) != 0) return false;
        if (cost.create_ns > limit || cost.upload_ns > limit || cost.dispatch_ns > limit || cost.compute_ns > limit ||
            cost.readback_ns > limit)
            return false;
    }
    return true;
}

static void look_at_text(const struct text *text, struct tally *tally) {
    static struct sim_model model;
    char why[400] = "";
    char *exact = fuzz_exact(text->bytes, text->length);
    if (sim_model_parse(&model, exact, text->length, why, sizeof why)) {
        tally->taken++;
        expect(tally, model.name[0] && sound(&model), "a model that was taken is sound", model.name);
    } else {
        tally->refused++;
        expect(tally,
               strstr(why, "write") || strstr(why, "leave") || strstr(why, "round it") || strstr(why, "no model") ||
                   strstr(why, "only comments"),
               "a refusal says what to do", why);
    }
    free(exact);
}

static void round_of(const char *original, struct tally *tally) {
    static struct text text;
    text_set(&text, original, strlen(original));
    change(&text);
    look_at_text(&text, tally);
}

FUZZ_TEXT_ENTRY(look_at_text)

int main(void) {
    const unsigned long rounds = fuzz_rounds(40000);
    const char *name;
    unsigned passed = 0, models = 0;
    while (sim_model_builtin_name(models)) models++;
    for (uint32_t m = 0; (name = sim_model_builtin_name(m)); m++) {
        struct tally tally = {0, 0, 0};
        for (unsigned long i = 0; i < rounds / models; i++) round_of(sim_model_builtin(name), &tally);
        passed += fuzz_tell(name, &tally);
    }
    return fuzz_end(passed, models - passed);
}

/*
 * test_registered_drivers.c: operations that a program registered, on real drivers, with OpenCL C or SPIR-V: right code serves, wrong
 * code and code that does not compile is off there, the log says why, and the rest goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "registered_fixture.h"

static const char *const ze_cpu_names[] = {"registered-right", "registered-wrong", "registered-broken", NULL};
#include "registered_drivers.h"

static void expect_right_code_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    struct svmx_op_def def = def_of("mix_u32", RIGHT("mix_u32"), spirv);
    def.known = mix_known;
    def.known_count = 1;
    const uint32_t op = register_code(executor, def);
    cr_assert(comes_to_serve(executor, op, 0), "%s never answered:\n%s", target->name, lines.text);
    cr_assert(!was_logged(" is off"), "%s", lines.text);
}

static void expect_the_other_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const uint32_t good = register_code(executor, def_of("mix_u32", RIGHT("mix_u32"), spirv));
    cr_assert(comes_to_serve(executor, good, 0), "%s: right code is off as well:\n%s", target->name, lines.text);
}

static void expect_wrong_code_to_go_off(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const char *code = MIX_CODE("wrong_mix", "a[i] * k + rotate(b[i], 6u)");
    const uint32_t bad = register_code(executor, def_of("wrong_mix", code, spirv));
    goes_off(executor, bad, "wrong_mix");
    cr_assert(was_logged("wrong_mix gives wrong bytes"), "%s", lines.text);
    expect_the_other_to_serve(executor, target, spirv);
}

/* Text that does not compile; a module that has another kernel. */
static void expect_broken_code_to_go_off(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const char *code = spirv ? RIGHT("another") : MIX_CODE("broken_mix", "a[i] * undeclared_number");
    const uint32_t bad = register_code(executor, def_of("broken_mix", code, spirv));
    goes_off(executor, bad, "broken_mix");
    cr_assert(was_logged(spirv ? "no kernel broken_mix" : "undeclared_number"),
              "the compiler's words are not in the log:\n%s", lines.text);
    if (!spirv) cr_assert(was_logged("does not build: error: "), "the kept reason does not say why:\n%s", lines.text);
    expect_the_other_to_serve(executor, target, spirv);
}

ParameterizedTestParameters(registered, right_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, right_code_on_every_driver) {
    on_each(choice, "right", expect_right_code_to_serve);
}
ParameterizedTestParameters(registered, wrong_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, wrong_code_on_every_driver) {
    on_each(choice, "wrong", expect_wrong_code_to_go_off);
}
ParameterizedTestParameters(registered, broken_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, broken_code_on_every_driver) {
    on_each(choice, "broken", expect_broken_code_to_go_off);
}

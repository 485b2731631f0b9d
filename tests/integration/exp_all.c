/*
 * exp_all.c: the exponential and what is made of it, against double precision and between variants.
 *
 *   exp_all                 a sample of the floats, and all of them around the places where a recipe changes
 *   exp_all --all           all 2^32 of them, in as many processes as there are CPUs; some minutes
 *   exp_all [--all] OP...   the operations that are named only
 *
 * For each operation: the largest error in units in the last place (ulp) is at most what docs/OPERATIONS.md says, and
 * every variant of the SIMD plugin gives the bits of the reference code. The logarithm of log_softmax_f32 is no operation
 * by itself: its error alone. A plain program that counts its checks: it runs under every sanitizer and under qemu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/variant.h"
#include "ops/op.h"
#include "ops/recipe_f32.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096, MAX_PROCESSES = 64, VARIANTS = 3 };

/* ---- what is expected ------------------------------------------------------------------------------------- */

static double sigmoid(double x) {
    const double e = exp(-fabs(x)); /* NaN, infinities and all */
    return (x < 0 ? e : 1) / (1 + e);
}

static double swish(double x) { return x == -INFINITY ? -0.0 : x * sigmoid(x); }

static double gelu(double x) {
    return x == -INFINITY ? -0.0 : x * sigmoid(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}

static double elu(double x) { return x > 0 ? x : expm1(x); }

/* An operation on a range of its argument, with the largest error there, in ulp, as measured by --all and rounded up. */
static const struct claim {
    const char *op;
    double (*exact)(double);
    float low, high;
    double ulps;
} claims[] = {
    {"exp_f32", exp, -INFINITY, INFINITY, 1.0},
    {"tanh_f32", tanh, -INFINITY, INFINITY, 1.3},
    {"sigmoid_f32", sigmoid, -INFINITY, INFINITY, 2.5},
    {"swish_f32", swish, -INFINITY, INFINITY, 2.5},
    {"gelu_f32", gelu, -1, INFINITY, 2.7},
    {"gelu_f32", gelu, -5, -1, 32},
    {"gelu_f32", gelu, -INFINITY, -5, 220},
    {"elu_f32", elu, -INFINITY, INFINITY, 1.0},
    {"log", log, 1, FLT_MAX, 1.0},
};
enum { CLAIMS = sizeof claims / sizeof claims[0] };

static const char *const variants[VARIANTS] = {"scalar", "avx2", "avx512"};

/* Operations that the command line names; none = all. Set before anything starts. */
static char **wanted;
static int wanted_count;

static bool is_wanted(size_t c) {
    for (int i = 0; i < wanted_count; i++)
        if (strcmp(wanted[i], claims[c].op) == 0) return true;
    return wanted_count == 0;
}

static bool is_known(const char *op) {
    for (size_t c = 0; c < CLAIMS; c++)
        if (strcmp(op, claims[c].op) == 0) return true;
    return false;
}

/* How far a comparison goes: which variants the machine has, and whether the first, scalar, is left out. */
struct run {
    uint32_t features;
    size_t first_variant;
};

/* What one process found out. */
struct findings {
    double worst[CLAIMS];
    uint32_t worst_at[CLAIMS];
    uint64_t wrong[CLAIMS];            /* a NaN for a number, or the other way round */
    uint64_t differ[CLAIMS][VARIANTS]; /* from the reference code */
    uint32_t differ_at[CLAIMS][VARIANTS];
    uint64_t points;
};

/* 2^(e - 23) for a normal double from 2^e to 2^(e + 1): the distance of floats there. By the bits, since frexp and ldexp
 * would take most of the time. */
static double ulp_at(double exact) {
    uint64_t bits;
    memcpy(&bits, &exact, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff;
    if (exponent < 1023 - 126) exponent = 1023 - 126; /* denormal floats */
    bits = (exponent - 23) << 52;
    memcpy(&exact, &bits, sizeof bits);
    return exact;
}

/* |got - exact| in ulp. Infinity is what follows the largest number; a NaN goes with a NaN only. */
static double error_of(float got, double exact) {
    if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
    if (isinf(exact) || isinf(got)) return fabs(exact) >= 0x1.ffffffp127 && isinf(got) ? 0 : INFINITY;
    return fabs(got - exact) / ulp_at(exact);
}

/* ---- one chunk -------------------------------------------------------------------------------------------- */

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static void run_reference(const struct claim *claim, const float *in, float *out, size_t count) {
    const struct svmx_slot slots[] = {slot(out, 4 * count), slot(in, 4 * count), {0x3f800000, 4}};
    if (strcmp(claim->op, "log") == 0)
        for (size_t i = 0; i < count; i++) out[i] = in[i] >= 1 ? svmx__log_f32(in[i]) : NAN;
    else
        svmx__reference_run(svmx__op_by_name(claim->op), slots);
}

static void compare_variants(size_t c, const float *in, const float *expected, size_t count, struct run run,
                             struct findings *f) {
    static float out[CHUNK];
    for (size_t v = run.first_variant; v < VARIANTS; v++) {
        const char *variant = simd_variant_find(run.features, variants[v]);
        const struct simd_kernel *kernel = variant ? simd_kernel_find(run.features, variant, claims[c].op) : NULL;
        if (!kernel) continue;
        const struct svmx_slot slots[] = {slot(out, 4 * count), slot(in, 4 * count), {0x3f800000, 4}};
        const uint64_t first_unit[] = {0, count};
        const struct svmx_dispatch d = {.slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 3};
        kernel->run(&d, 0, count);
        if (memcmp(out, expected, 4 * count) == 0) continue;
        for (size_t i = 0; i < count; i++)
            if (memcmp(&out[i], &expected[i], 4) != 0 && f->differ[c][v]++ == 0)
                f->differ_at[c][v] = svmx__bits_f32(in[i]);
    }
}

static void measure(size_t c, const float *in, const float *got, size_t count, struct findings *f) {
    const struct claim *claim = &claims[c];
    for (size_t i = 0; i < count; i++) {
        if (isnan(in[i]) && strcmp(claim->op, "log") != 0) f->wrong[c] += svmx__bits_f32(got[i]) != 0x7fc00000;
        if (!(in[i] >= claim->low && in[i] <= claim->high)) continue;
        const double error = error_of(got[i], claim->exact(in[i]));
        if (!(error > f->worst[c])) continue;
        f->worst[c] = error;
        f->worst_at[c] = svmx__bits_f32(in[i]);
    }
}

static void do_chunk(const float *in, size_t count, struct run run, struct findings *f) {
    static float out[CHUNK];
    for (size_t c = 0; c < CLAIMS; c++) {
        if (!is_wanted(c)) continue;
        const bool again = c > 0 && strcmp(claims[c].op, claims[c - 1].op) == 0; /* another range of the same */
        if (!again) run_reference(&claims[c], in, out, count);
        if (!again) compare_variants(c, in, out, count, run, f);
        measure(c, in, out, count, f);
    }
    f->points += count;
}

/* ---- which floats ----------------------------------------------------------------------------------------- */

/* Of the chunks of all floats every `processes`-th. The scalar kernels are the text of the reference code and as slow: of
 * them one chunk in 16. */
static void do_all(uint32_t process, uint32_t processes, uint32_t features, struct findings *f) {
    static float in[CHUNK];
    for (uint64_t first = (uint64_t)process * CHUNK; first <= UINT32_MAX; first += (uint64_t)processes * CHUNK) {
        for (uint32_t i = 0; i < CHUNK; i++) in[i] = svmx__from_bits_f32((uint32_t)first + i);
        do_chunk(in, CHUNK, (struct run){features, first / CHUNK / processes % 16 != 0}, f);
    }
}

static void do_sample(uint32_t features, struct findings *f) {
    /* Zeros and denormals, infinities and NaNs; limits of the recipes; halves of ln 2, where n changes. */
    static const float edges[] = {0,           -0.0f,        0x1p-126f,    INFINITY,    -INFINITY,    88.7228394f,
                                  89,          -87.3365479f, -103.972084f, -104,        -120,         0.6875f,
                                  -0.6875f,    9.0109f,      10,           -10,         -17.3286800f, -20,
                                  0x1p0f,      -1,           0x1p64f,      0.34657359f, -0.34657359f, -5,
                                  1.03972077f, -11,          -110,         40};
    static float in[CHUNK];
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        const uint32_t first = svmx__bits_f32(edges[e]) - CHUNK / 2;
        for (uint32_t i = 0; i < CHUNK; i++) in[i] = svmx__from_bits_f32(first + i);
        do_chunk(in, CHUNK, (struct run){features, 0}, f);
    }
    const uint32_t step = 10007; /* a prime: all low bits come up */
    uint64_t bits = 0;
    while (bits <= UINT32_MAX) {
        size_t count = 0;
        for (; count < CHUNK && bits <= UINT32_MAX; bits += step) in[count++] = svmx__from_bits_f32((uint32_t)bits);
        do_chunk(in, count, (struct run){features, 0}, f);
    }
}

static bool do_all_in_processes(uint32_t features, struct findings *all) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t processes = cpus < 1 ? 1 : cpus > MAX_PROCESSES ? MAX_PROCESSES : (uint32_t)cpus;
    for (uint32_t p = 0; p < processes; p++) {
        const pid_t child = fork();
        if (child < 0) return false;
        if (child > 0) continue;
        do_all(p, processes, features, &all[p]);
        _exit(0);
    }
    bool well = true;
    for (uint32_t p = 0; p < processes; p++) {
        int status;
        well &= wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return well;
}

/* ---- the verdict ------------------------------------------------------------------------------------------ */

static void merge(struct findings *into, const struct findings *from) {
    for (size_t c = 0; c < CLAIMS; c++) {
        if (from->worst[c] > into->worst[c]) {
            into->worst[c] = from->worst[c];
            into->worst_at[c] = from->worst_at[c];
        }
        into->wrong[c] += from->wrong[c];
        for (size_t v = 0; v < VARIANTS; v++) {
            if (!into->differ[c][v]) into->differ_at[c][v] = from->differ_at[c][v];
            into->differ[c][v] += from->differ[c][v];
        }
    }
    into->points += from->points;
}

static unsigned passed, failed, skipped;

static void verdict_of_error(size_t c, const struct findings *f) {
    const struct claim *claim = &claims[c];
    const bool good = f->worst[c] <= claim->ulps && f->wrong[c] == 0;
    printf("%-12s %8g to %-8g %8.4f ulp of %g, at %08x%s\n", claim->op, (double)claim->low, (double)claim->high,
           f->worst[c], claim->ulps, f->worst_at[c], good ? "" : "   FAILED");
    passed += good;
    failed += !good;
}

static void verdict_of_variants(size_t c, uint32_t features, const struct findings *f) {
    if (strcmp(claims[c].op, "log") == 0 || (c > 0 && strcmp(claims[c].op, claims[c - 1].op) == 0)) return;
    for (size_t v = 0; v < VARIANTS; v++) {
        if (!simd_variant_find(features, variants[v])) {
            skipped++;
            continue;
        }
        const bool good = f->differ[c][v] == 0;
        if (!good)
            printf("%s, %s: %llu results differ from the reference, one at %08x   FAILED\n", claims[c].op, variants[v],
                   (unsigned long long)f->differ[c][v], f->differ_at[c][v]);
        passed += good;
        failed += !good;
    }
}

int main(int count, char **words) {
    const bool all = count > 1 && strcmp(words[1], "--all") == 0;
    wanted = words + 1 + all;
    wanted_count = count - 1 - all;
    for (int i = 0; i < wanted_count; i++) {
        if (is_known(wanted[i])) continue;
        fprintf(stderr, "usage: exp_all [--all] [OPERATION...]\nthere is no '%s' here\n", wanted[i]);
        return 2;
    }
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    struct findings *found =
        mmap(NULL, MAX_PROCESSES * sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) return 2;
    if (!all)
        do_sample(features, &found[0]);
    else if (!do_all_in_processes(features, found))
        failed++;
    for (uint32_t p = 1; p < MAX_PROCESSES; p++) merge(&found[0], &found[p]);
    printf("%llu floats\n", (unsigned long long)found[0].points);
    if (all && found[0].points != UINT64_C(1) << 32) failed++;
    for (size_t c = 0; c < CLAIMS; c++)
        if (is_wanted(c)) verdict_of_error(c, &found[0]);
    for (size_t c = 0; c < CLAIMS; c++)
        if (is_wanted(c)) verdict_of_variants(c, features, &found[0]);
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed != 0;
}

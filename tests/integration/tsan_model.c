/*
 * tsan_model.c: eight threads ask, tell, look, visit and forget at once, in one model and one table. Made for
 * -fsanitize=thread, under which Criterion does not run; useful without it as well.
 *
 * Prints "N passed, N failed"; status 1 when something failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/choice.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 20000, DEVICES = 4, OPS = 3 };

static struct svmx__model model;
static struct svmx__choices choices;
static atomic_uint passed, failed;

static void check(bool condition, const char *what) {
    atomic_fetch_add(condition ? &passed : &failed, 1);
    if (!condition) fprintf(stderr, "failed: %s\n", what);
}

static bool is_sane(void *user, const struct svmx__cell_summary *summary) {
    (void)user;
    check(summary->ns > 0 && summary->samples > 0, "a summary has samples");
    check(summary->low_ns <= summary->ns && summary->ns <= summary->high_ns, "a summary is in order");
    return true;
}

static void ask_and_tell(uint64_t random) {
    const uint64_t n = UINT64_C(1) << (random >> 8) % 24;
    const struct svmx__question question = {
        .op = 1 + (uint32_t)(random % OPS), .allowed = (1u << DEVICES) - 1, .load = {n, n, 12 * n}};
    struct svmx__answer answer;
    svmx__choose(&choices, &question, &answer);
    check(answer.device < DEVICES, "the answer is a device");
    if (random >> 40 & 15) {
        svmx__charge(&choices, &answer);
        const struct svmx__sample sample = {.setup_ns = 100 + (random >> 16 & 63),
                                            .compute_ns = n * (answer.device + 1),
                                            .contended = (random >> 24 & 7) == 0,
                                            .first_use = (random >> 28 & 63) == 0};
        svmx__told(&choices, &question, &answer, sample.setup_ns + sample.compute_ns, &sample);
    } else {
        svmx__unchoose(&choices, &answer);
    }
}

static void *work(void *argument) {
    uint64_t random = (uintptr_t)argument + 1;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ask_and_tell(random >> 8);
        if (i % 4096 == 17) svmx__model_visit(&model, is_sane, NULL);
        if (i % 8192 == 99) svmx__model_forget(&model, (uint32_t)(random >> 60) % DEVICES);
        if (i % 512 == 5) {
            const struct svmx__cell_summary summary = {.op = 1,
                                                       .device = 2,
                                                       .cell = (uint32_t)(random >> 33) % 99,
                                                       .samples = 5,
                                                       .ns = 9,
                                                       .low_ns = 8,
                                                       .high_ns = 10};
            check(svmx__model_restore(&model, &summary), "a cell is put back");
        }
    }
    return NULL;
}

int main(void) {
    struct svmx__model_device devices[DEVICES] = {{.on_host = true, .bytes_per_ns = 1, .times_faster = 1}};
    pthread_t threads[THREADS];
    for (uint32_t d = 1; d < DEVICES; d++)
        devices[d] = (struct svmx__model_device){.latency_ns = 5000, .bytes_per_ns = 6, .times_faster = 10};
    svmx__model_init(&model, devices, DEVICES);
    svmx__choices_init(&choices, &model, 3);
    for (uintptr_t t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, work, (void *)t) != 0) exit(2);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (uint32_t d = 0; d < DEVICES; d++) check(choices.backlog_ns[d] == 0, "nothing is left in the backlog");
    check(choices.busy_ns > 0, "time was counted");
    check(choices.probes > 0, "something was tried");
    svmx__choices_fini(&choices);
    svmx__model_fini(&model);
    printf("%u passed, %u failed\n", atomic_load(&passed), atomic_load(&failed));
    return atomic_load(&failed) == 0 ? 0 : 1;
}

/*
 * ops.c: see ops.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "ops_others.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A pair of lanes takes about as long at most, and never fewer rounds than these: a matrix product takes 0.2 s. */
enum { MIN_ROUNDS = 15, MAX_PAIR_S = 6, TEXT = 512 };

/* Slices of all threads are so many times as long: in each anew, threads of both sides wake up and fetch back into their
 * caches what the other side had. Of slices of 200 us the same row had memcpy at 50 GB/s in one run, at 178 in another. */
enum { ALL_SLICES = 10 };

/* Rows of all threads are not judged when others use more of the machine. */
static const double too_busy = 0.1;

/* ---- memory and made-up data -------------------------------------------------------------------------------- */

void *ops_memory(size_t bytes) {
    enum { PAGE = 4096, LINE = 64, STEPS = 11 }; /* 11 lines apart: no two of the first 64 blocks meet */
    static size_t blocks;
    size_t shift = blocks++ * STEPS * LINE % PAGE;
    size_t room = (bytes + shift + 2 * PAGE) / PAGE * PAGE;
    char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("memory for the benchmark");
        exit(1);
    }
    (void)madvise(at, room, MADV_HUGEPAGE); /* for both sides alike; refused where there are none */
    return at + shift;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void ops_fill_bytes(void *out, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = next_random(&seed);
        memcpy((char *)out + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

void ops_fill_f32(float *out, size_t n, float low, float high, uint64_t seed) {
    for (size_t i = 0; i < n; i++)
        out[i] = low + (high - low) * (float)(next_random(&seed) >> 40) / (float)(UINT32_C(1) << 24);
}

/* ---- set-up ------------------------------------------------------------------------------------------------- */

static bool open_one(struct svmx_options options, svmx_executor_t **executor, svmx_batch_t **batch,
                     struct svmx_error *error) {
    options.size = sizeof options;
    if (svmx_open(executor, &options, error) != SVMX_OK) return false;
    if (svmx_batch_create(*executor, batch) == SVMX_OK) return true;
    fputs("no memory for a batch\n", stderr);
    exit(1);
}

static void look_at_device(struct ops *ops) {
    struct svmx_device device = {.size = sizeof device};
    for (uint32_t i = 0; svmx_device_get(ops->executors[OPS_ALL], i, &device) == SVMX_OK; i++) {
        if (strcmp(device.backend, "simd") != 0) continue;
        ops->threads = device.threads;
        ops->class = strcmp(device.variant, "avx512") == 0 ? OPS_AVX512
                     : strcmp(device.variant, "avx2") == 0 ? OPS_AVX2
                                                           : OPS_NO_CLASS;
        return;
    }
}

bool ops_open(struct ops *ops, const char *cases) { return ops_open_as(ops, "ops", cases); }

bool ops_open_as(struct ops *ops, const char *suite, const char *cases) {
    *ops = (struct ops){.threads = 1};
    bench_open(&ops->bench, suite);
    struct svmx_error error;
    if (open_one((struct svmx_options){.backends = "+simd,stop", .threads = 1}, &ops->executors[OPS_ONE],
                 &ops->batches[OPS_ONE], &error) &&
        open_one((struct svmx_options){.backends = "+simd,stop"}, &ops->executors[OPS_ALL], &ops->batches[OPS_ALL],
                 &error) &&
        open_one((struct svmx_options){.backends = "none"}, &ops->reference, &ops->reference_batch, &error)) {
        look_at_device(ops);
        ops->teams[OPS_ONE] = ops_team_open(1);
        ops->teams[OPS_ALL] = ops_team_open(ops->threads);
        return true;
    }
    bench_row(&ops->bench,
              &(struct bench_row){.name = cases, .ours = NAN, .peer = NAN, .unit = "-", .note = error.text});
    return false;
}

int ops_close(struct ops *ops) {
    for (int i = 0; i < 2; i++) {
        ops_team_close(ops->teams[i]);
        svmx_batch_destroy(ops->batches[i]);
        svmx_close(ops->executors[i]);
    }
    svmx_batch_destroy(ops->reference_batch);
    svmx_close(ops->reference);
    return bench_close(&ops->bench);
}

/* ---- lanes -------------------------------------------------------------------------------------------------- */

/* A call on one executor, ready to run. */
struct bound {
    const struct ops_call *call;
    uint32_t op;
    svmx_batch_t *batch;
};

struct peer_lane {
    const struct ops_peer *peer;
    struct ops_team *team;
    void *user;
};

static void demand(const struct bound *bound, enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s: %s\n", bound->call->op, what, svmx_status_name(status),
            svmx_batch_error(bound->batch));
    exit(1);
}

static void run_ours(void *user, uint64_t repeats) {
    const struct bound *bound = user;
    const struct ops_call *call = bound->call;
    while (repeats-- > 0) {
        demand(bound, svmx_batch_reset(bound->batch), "svmx_batch_reset");
        demand(bound, svmx_batch_add(bound->batch, bound->op, call->args, call->count), "svmx_batch_add");
        demand(bound, svmx_run(bound->batch), "svmx_run");
    }
}

static void run_peer(void *user, uint64_t repeats) {
    const struct peer_lane *lane = user;
    while (repeats-- > 0) lane->peer->run(lane->user, lane->team);
}

static void enter_peer(void *user) {
    const struct peer_lane *lane = user;
    if (lane->peer->enter) lane->peer->enter(lane->user, lane->team);
}

static void leave_peer(void *user) {
    const struct peer_lane *lane = user;
    if (lane->peer->leave) lane->peer->leave(lane->user, lane->team);
}

/* ---- results ------------------------------------------------------------------------------------------------ */

static const struct svmx_param *params_of(const svmx_executor_t *executor, uint32_t op) {
    struct svmx_op about = {.size = sizeof about};
    for (uint32_t i = 0; svmx_op_get(executor, i, &about) == SVMX_OK; i++)
        if (about.id == op) return about.params;
    return NULL;
}

/* Runs on outputs that were cleared; answers how many bytes they have. */
static size_t run_cleared(struct bound *bound, const struct svmx_param *params) {
    const struct ops_call *call = bound->call;
    size_t bytes = 0;
    for (size_t i = 0; i < call->count; i++) {
        if (params[i].direction != SVMX_OUT) continue;
        memset(call->args[i].from.out, 0xa5, call->args[i].bytes);
        bytes += call->args[i].bytes;
    }
    run_ours(bound, 1);
    return bytes;
}

/* The same, and a copy of the outputs, end to end. */
static unsigned char *outputs_of(struct bound *bound, const struct svmx_param *params, size_t *bytes) {
    const struct ops_call *call = bound->call;
    *bytes = run_cleared(bound, params);
    unsigned char *copy = malloc(*bytes + 1);
    size_t at = 0;
    for (size_t i = 0; copy && i < call->count; i++) {
        if (params[i].direction != SVMX_OUT) continue;
        memcpy(copy + at, call->args[i].from.out, call->args[i].bytes);
        at += call->args[i].bytes;
    }
    return copy;
}

/* Leaves the outputs of ours in place. */
static bool same_as_reference(struct ops *ops, struct bound *ours, const struct svmx_param *params) {
    struct bound reference = {ours->call, ours->op, ops->reference_batch};
    size_t bytes, expected_bytes;
    unsigned char *expected = outputs_of(&reference, params, &expected_bytes);
    unsigned char *got = outputs_of(ours, params, &bytes);
    bool same = expected && got && bytes == expected_bytes && memcmp(expected, got, bytes) == 0;
    free(expected);
    free(got);
    return same;
}

static bool ours_right(struct ops *ops, const struct ops_case *c, struct bound *ours) {
    const struct svmx_param *params = params_of(ops->reference, ours->op);
    if (!params) return false;
    if (!c->right) return same_as_reference(ops, ours, params);
    (void)run_cleared(ours, params);
    return c->right(ours->call);
}

/* Whether the SIMD backend answered; where it has no kernel, the reference code does. */
static bool simd_answered(const struct ops *ops, enum ops_width width) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    struct svmx_device device = {.size = sizeof device};
    return svmx_receipt_get(ops->batches[width], 0, &receipt) == SVMX_OK &&
           svmx_device_get(ops->executors[width], receipt.device, &device) == SVMX_OK &&
           strcmp(device.backend, "simd") == 0;
}

/* ---- one pair of lanes, one row ------------------------------------------------------------------------------ */

struct note {
    char text[TEXT];
    size_t length;
};

static SVMX_PRINTF(2, 3) void say(struct note *note, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (note->length > 0 && note->length + 2 < TEXT) {
        memcpy(note->text + note->length, "; ", 3);
        note->length += 2;
    }
    int length = vsnprintf(note->text + note->length, TEXT - note->length, format, args);
    va_end(args);
    if (length > 0) note->length += (size_t)length;
    if (note->length >= TEXT) note->length = TEXT - 1;
}

static double bound_of(const struct ops *ops, const struct ops_ask *ask) {
    return ops->class == OPS_AVX512 ? ask->avx512 : ops->class == OPS_AVX2 ? ask->avx2 : 0;
}

/* Fewer rounds for what takes long. */
static uint32_t rounds_for(const struct bench *bench, struct bench_lane *const *lanes) {
    uint64_t round_ns = 0;
    for (int i = 0; i < 2; i++) {
        if (!lanes[i]) continue;
        if (lanes[i]->enter) lanes[i]->enter(lanes[i]->user);
        uint64_t start = bench_now_ns();
        lanes[i]->run(lanes[i]->user, 1);
        uint64_t took = bench_now_ns() - start;
        if (lanes[i]->leave) lanes[i]->leave(lanes[i]->user);
        round_ns += took > bench->slice_ns ? took : bench->slice_ns;
    }
    uint64_t rounds = (bench->quick ? 1 : MAX_PAIR_S) * UINT64_C(1000000000) / round_ns;
    const uint32_t least = bench_rounds(bench, MIN_ROUNDS);
    if (rounds < least) rounds = least;
    return rounds < bench->rounds ? (uint32_t)rounds : bench->rounds;
}

static void say_noise(struct note *note, const struct bench *bench, struct bench_lane *const *lanes, double others) {
    double noise = bench_noise(bench, lanes[0]);
    if (lanes[1]) noise = fmax(noise, bench_noise(bench, lanes[1]));
    if (noise > 1.3) say(note, "the machine was unquiet (%.1fx)", noise);
    if (others > too_busy) say(note, "others used %.0f %% of the machine", 100 * others);
}

static void write_row(struct ops *ops, const struct ops_case *c, enum ops_width width, struct bench_row row) {
    char name[TEXT];
    (void)snprintf(name, sizeof name, "%s, %s", c->name, width == OPS_ONE ? "one thread" : "all threads");
    row.name = name;
    row.peer_name = c->peer.name;
    row.unit = c->unit;
    row.more_is_better = true;
    row.bound = bound_of(ops, &c->ask[width]);
    row.ask = row.bound > 0 ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK;
    bench_row(&ops->bench, &row);
}

static void skip(struct ops *ops, const struct ops_case *c, enum ops_width width, const char *why) {
    write_row(ops, c, width, (struct bench_row){.ours = NAN, .peer = NAN, .note = why});
}

/* Lanes of one case and width. Too large for a stack. */
struct pair {
    struct bound ours, other;
    struct peer_lane peer;
    struct bench_lane lanes[2];
    bool wrong;
};

static uint64_t items_or(uint64_t items, uint64_t otherwise) { return items ? items : otherwise; }

/* false: the other operation is not in this build. */
static bool set_up(struct ops *ops, const struct ops_case *c, enum ops_width width, struct pair *pair) {
    enum ops_width peer_width = c->peer_alone ? OPS_ONE : width;
    const struct ops_call *call = c->call[width].count ? &c->call[width] : &c->call[OPS_ONE];
    pair->ours = (struct bound){call, 0, ops->batches[width]};
    pair->peer = (struct peer_lane){&c->peer, ops->teams[peer_width], c->peer.user[peer_width]};
    pair->lanes[0] = (struct bench_lane){.run = run_ours, .user = &pair->ours, .items = call->items};
    pair->lanes[1] = (struct bench_lane){.run = run_peer,
                                         .enter = enter_peer,
                                         .leave = leave_peer,
                                         .user = &pair->peer,
                                         .items = items_or(c->peer.items[peer_width], call->items)};
    if (c->peer.ours) {
        pair->other = (struct bound){c->peer.ours, 0, ops->batches[peer_width]};
        pair->lanes[1] = (struct bench_lane){.run = run_ours, .user = &pair->other, .items = c->peer.ours->items};
    }
    pair->lanes[0].cpu_time = pair->lanes[1].cpu_time = width == OPS_ONE;
    if (svmx_op_find(ops->executors[width], call->op, &pair->ours.op, NULL) != SVMX_OK) return false;
    return !c->peer.ours || svmx_op_find(ops->executors[width], c->peer.ours->op, &pair->other.op, NULL) == SVMX_OK;
}

static bool check(struct ops *ops, const struct ops_case *c, struct pair *pair, struct note *note) {
    if (!ours_right(ops, c, &pair->ours)) {
        say(note, "the results are wrong");
        return false;
    }
    if (c->peer.missing || !c->peer_right) return true;
    if (c->peer.enter) c->peer.enter(pair->peer.user, pair->peer.team);
    c->peer.run(pair->peer.user, pair->peer.team);
    if (c->peer.leave) c->peer.leave(pair->peer.user, pair->peer.team);
    if (c->peer_right(pair->ours.call, pair->peer.user)) return true;
    say(note, "the peer's results are wrong");
    return false;
}

static void measure(struct ops *ops, const struct ops_case *c, enum ops_width width, struct pair *pair) {
    struct note note = {.length = 0};
    bool wrong = !check(ops, c, pair, &note);
    run_ours(&pair->ours, 1);
    if (!simd_answered(ops, width)) say(&note, "the SIMD backend has no kernel for it");
    struct bench_lane *lanes[] = {&pair->lanes[0], c->peer.missing ? NULL : &pair->lanes[1]};
    struct bench bench = ops->bench; /* with rounds of its own */
    if (width == OPS_ALL) bench.slice_ns *= ALL_SLICES;
    bench.rounds = rounds_for(&bench, lanes);
    bench.patience_ns = 0;
    const struct ops_others before = ops_others_now();
    bench_measure(&bench, lanes, 2);
    double others = ops_others_since(&before);
    if (width == OPS_ALL) say(&note, "%u threads", (unsigned)ops->threads);
    if (c->remark) say(&note, "%s", c->remark);
    if (c->peer.missing) say(&note, "%s skipped: %s", c->peer.name, c->peer.missing);
    say_noise(&note, &bench, lanes, others);
    bool unjudged = width == OPS_ALL && others > too_busy && bound_of(ops, &c->ask[width]) > 0;
    if (unjudged) say(&note, "too busy to judge");
    write_row(ops, c, width,
              (struct bench_row){.ours = c->scale / bench_median(&bench, lanes[0]),
                                 .peer = c->scale / bench_median(&bench, lanes[1]),
                                 .wrong = wrong,
                                 .unjudged = unjudged,
                                 .note = note.length ? note.text : NULL});
}

void ops_run(struct ops *ops, const struct ops_case *c) {
    static struct pair pair;
    if (ops->bench.only && !strstr(c->name, ops->bench.only)) return;
    for (enum ops_width width = OPS_ONE; width <= OPS_ALL; width++) {
        if (width == OPS_ALL && ops->threads == 1)
            skip(ops, c, width, "the process may use one CPU only");
        else if (!set_up(ops, c, width, &pair))
            skip(ops, c, width, "not in this build");
        else
            measure(ops, c, width, &pair);
    }
}

/*
 * watching.c: suite watching: what it costs an executor to be watched. The same batches with and without somebody who asks
 * its server (libsvmx-metrics) for /metrics and /stats.json by turns, 200 times a second.
 *
 *   this process   executor, server, batches of keccak256 on all cores
 *   a child        asks, on one connection, once in 5 ms; it was forked before the executor had threads
 *
 * The child computes on the same cores, so that what it takes is counted in: the cost is less than the figure says. A
 * hundredth is little: a second lane in which nobody asks, compared with the first, says how much the machine itself differs
 * from slice to slice. Where that is more than a hundredth, the ratio is in the note and not judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/metrics.h>
#include <svmx/ops.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PER_SECOND = 200, MESSAGES = 20000, BYTES = 64, SLICE_MS = 250, ROUNDS = 41 };

/* What both processes see. */
struct shared {
    _Atomic int port;    /* 0: not yet */
    _Atomic bool asking; /* while a slice of the watched lane runs */
    _Atomic bool over;
    _Atomic uint64_t answers, bytes;
};

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "watching: %s\n", what);
    exit(1);
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

static int connect_to(int port) {
    const struct sockaddr_in place = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&place, sizeof place) != 0) fail("cannot connect");
    return fd;
}

/* One answer, as long as its Content-Length says. False: the connection ended. */
static bool read_answer(int fd, struct shared *shared) {
    static char answer[1 << 20];
    size_t length = 0, wanted = sizeof answer;
    while (length < wanted) {
        const ssize_t got = read(fd, answer + length, sizeof answer - 1 - length);
        if (got <= 0) return false;
        length += (size_t)got;
        answer[length] = '\0';
        const char *body = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, "content-length:");
        if (body && field) wanted = (size_t)(body + 4 - answer) + strtoul(field + 15, NULL, 10);
    }
    shared->answers++;
    shared->bytes += length;
    return true;
}

static void ask(struct shared *shared) {
    static const char *const requests[] = {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                           "GET /stats.json HTTP/1.1\r\nHost: localhost\r\n\r\n"};
    int fd = -1;
    while (!shared->port && !shared->over) usleep(1000);
    uint64_t next_ns = bench_now_ns();
    for (unsigned i = 0; !shared->over; i++) {
        next_ns += 1000000000 / PER_SECOND; /* by the clock: what an answer takes is no pause */
        if (!shared->asking) next_ns = bench_now_ns() + 1000000;
        const struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000),
                                      .tv_nsec = (long)(next_ns % 1000000000)};
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (!shared->asking) continue;
        if (fd < 0) fd = connect_to(shared->port);
        const char *request = requests[i % 2];
        if (write(fd, request, strlen(request)) == (ssize_t)strlen(request) && read_answer(fd, shared)) continue;
        close(fd); /* it was idle for too long between two slices */
        fd = -1;
    }
    _exit(0);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

struct scene {
    struct shared *shared;
    svmx_batch_t *batch;
    double asked_s; /* time with somebody asking */
    uint64_t since_ns;
};

static void run(void *user, uint64_t repeats) {
    const struct scene *scene = user;
    while (repeats--)
        if (svmx_run(scene->batch) != SVMX_OK || svmx_batch_rearm(scene->batch) != SVMX_OK) fail("svmx_run");
}

static void enter(void *user) {
    struct scene *scene = user;
    scene->shared->asking = true;
    scene->since_ns = bench_now_ns();
}

static void leave(void *user) {
    struct scene *scene = user;
    scene->shared->asking = false;
    scene->asked_s += (double)(bench_now_ns() - scene->since_ns) / 1e9;
}

/* CPU time of the server's thread, s; NAN where the system does not tell. */
static double server_s(void) {
    DIR *tasks = opendir("/proc/self/task");
    double found = NAN;
    char path[64], line[64];
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        const bool ours = file && fgets(line, sizeof line, file) && strcmp(line, "svmx-metrics\n") == 0;
        if (file) fclose(file);
        (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
        file = ours ? fopen(path, "r") : NULL;
        if (file && fgets(line, sizeof line, file)) found = strtod(line, NULL) / 1e9;
        if (file) fclose(file);
    }
    if (tasks) closedir(tasks);
    return found;
}

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

static void fill(svmx_executor_t *executor, struct scene *scene) {
    static unsigned char messages[MESSAGES * BYTES], digests[MESSAGES][32];
    static uint64_t offsets[MESSAGES + 1];
    for (size_t i = 0; i < sizeof messages; i++) messages[i] = (unsigned char)(i * 31);
    for (size_t i = 0; i <= MESSAGES; i++) offsets[i] = i * BYTES;
    if (svmx_batch_create(executor, &scene->batch) != SVMX_OK ||
        svmx_keccak256(scene->batch, digests[0], messages, offsets, MESSAGES) != SVMX_OK)
        fail("cannot make a batch");
}

/* The ratio is taken round by round, since the two slices of a round have the same neighbours, and its median counts. */
static double median_ratio(const struct bench *bench, const struct bench_lane *ours, const struct bench_lane *peer) {
    static struct bench_lane ratios;
    ratios.rounds = ours->rounds;
    for (uint32_t i = 0; i < ratios.rounds; i++) ratios.ns[i] = peer->ns[i] / ours->ns[i];
    return bench_median(bench, &ratios);
}

static void write_ratio(struct bench *bench, const struct scene *scene, double quiet_ns, double ratio, double control) {
    char note[256];
    const bool quiet_enough = fabs(control - 1) <= 0.01;
    (void)snprintf(note, sizeof note,
                   "%.0f answers a second of %.1f KiB each; ratio %.3f, of two lanes where nobody asks %.3f%s",
                   (double)scene->shared->answers / scene->asked_s,
                   (double)scene->shared->bytes / (double)scene->shared->answers / 1024, ratio, control,
                   quiet_enough ? "" : ": skipped, the machine is too unquiet to tell");
    bench_row(bench, &(struct bench_row){.name = "keccak256, 20,000 messages a batch, 200 requests a second",
                                         .ours = ratio * 1e9 / quiet_ns,
                                         .peer = 1e9 / quiet_ns,
                                         .peer_name = "nobody asks",
                                         .unit = "batches/s",
                                         .more_is_better = true,
                                         .ask = BENCH_RATIO_AT_LEAST,
                                         .bound = 0.99,
                                         .unjudged = !quiet_enough,
                                         .note = note});
}

static void write_share(struct bench *bench, double server_share) {
    char note[128];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    (void)snprintf(note, sizeof note, "CPU time of its thread: %.2f %% of one of %ld cores", 100 * server_share, cores);
    bench_row(bench, &(struct bench_row){.name = "what the server takes meanwhile",
                                         .ours = 100 * server_share / (double)cores,
                                         .peer = NAN,
                                         .unit = "% of all cores",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = 1,
                                         .note = note});
}

static void measure(struct bench *bench, struct scene *scene) {
    static struct bench_lane watched, quiet, control; /* too large for a stack */
    watched = (struct bench_lane){.run = run, .enter = enter, .leave = leave, .user = scene};
    quiet = control = (struct bench_lane){.run = run, .user = scene};
    struct bench_lane *const lanes[] = {&watched, &quiet, &control};
    const double before_s = server_s();
    bench_measure(bench, lanes, 3);
    write_ratio(bench, scene, bench_median(bench, &quiet), median_ratio(bench, &watched, &quiet),
                median_ratio(bench, &control, &quiet));
    write_share(bench, (server_s() - before_s) / scene->asked_s);
}

int main(void) {
    struct bench bench;
    struct scene scene = {
        .shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    if (scene.shared == MAP_FAILED) return 1;
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) ask(scene.shared);

    bench_open(&bench, "watching");
    if (bench.slice_ns < SLICE_MS * UINT64_C(1000000)) bench.slice_ns = SLICE_MS * UINT64_C(1000000);
    bench.rounds = bench_rounds(&bench, ROUNDS);
    bench.patience_ns = 0;
    svmx_executor_t *executor;
    svmx_metrics_t *metrics = NULL;
    struct svmx_error error;
    if (svmx_open(&executor, NULL, &error) != SVMX_OK ||
        svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, &error) != SVMX_OK)
        fail(error.text);
    scene.shared->port = atoi(strrchr(svmx_metrics_address(metrics), ':') + 1);
    fill(executor, &scene);
    measure(&bench, &scene);
    scene.shared->over = true;
    svmx_batch_destroy(scene.batch);
    svmx_metrics_close(metrics);
    svmx_close(executor);
    (void)waitpid(child, NULL, 0);
    return bench_close(&bench);
}

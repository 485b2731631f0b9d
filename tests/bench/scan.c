/*
 * scan.c: suite scan: how long a newcomer waits: `svmx threshold-scan` without options, SIMD beside PoCL, with nothing compiled
 * before. Most of it is compiling.
 *
 * A process of its own with a home, a cache and a cache of PoCL that are empty, and gone afterwards. Wall time: when something
 * else wanted the cores for most of it, the row is not judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char icd[] = "/etc/OpenCL/vendors/pocl.icd";
enum { PATH = 256, BUSY_SHARE = 3 };

static void set_below(const char *name, const char *folder, const char *below) {
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/%s", folder, below);
    (void)setenv(name, path, 1);
}

/* In the child: nothing of the user's, and nothing of an earlier run. */
static void scan(const char *command, const char *folder) {
    static const char *const own[] = {"SUPERVM_BACKENDS", "SUPERVM_PROFILE", "SUPERVM_POLICY", "SUPERVM_LEARN"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) (void)unsetenv(own[i]);
    (void)setenv("HOME", folder, 1);
    (void)setenv("OCL_ICD_VENDORS", icd, 1);
    set_below("SUPERVM_CACHE_DIR", folder, "cache");
    set_below("POCL_CACHE_DIR", folder, "pocl");
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) (void)dup2(null, STDOUT_FILENO), (void)dup2(null, STDERR_FILENO);
    if (chdir(folder) == 0) (void)execl(command, "svmx", "threshold-scan", (char *)NULL);
    _exit(127);
}

static void empty(const char *folder) {
    const pid_t child = fork();
    if (child == 0) {
        (void)execlp("rm", "rm", "-rf", folder, (char *)NULL);
        _exit(127);
    }
    if (child > 0) (void)waitpid(child, NULL, 0);
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static void row(struct bench *bench, double wall_s, bool failed, bool unjudged, const char *note) {
    bench_row(bench, &(struct bench_row){.name = "threshold-scan with defaults, SIMD and PoCL, cold",
                                         .ours = wall_s,
                                         .peer = NAN,
                                         .unit = "s",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = 120,
                                         .wrong = failed,
                                         .unjudged = unjudged,
                                         .note = note});
}

static void measure(struct bench *bench, const char *command, const char *folder) {
    char note[128];
    int status = -1;
    const uint64_t start = bench_now_ns();
    const pid_t child = fork();
    if (child == 0) scan(command, folder);
    struct rusage used = {0};
    if (child > 0) (void)wait4(child, &status, 0, &used);
    const double wall_s = (double)(bench_now_ns() - start) / 1e9,
                 cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    const bool held_up = wall_s > 120 && cpu_s < wall_s / BUSY_SHARE;
    (void)snprintf(note, sizeof note, "%.0f s of CPU time%s", cpu_s, held_up ? "; held up by others, not judged" : "");
    row(bench, wall_s, status != 0, held_up, note);
}

int main(void) {
    const char *command = getenv("SVMX_BENCH_COMMAND");
    char folder[] = "/tmp/svmx-bench-XXXXXX";
    struct bench bench;
    bench_open(&bench, "scan");
    if (!command || !*command || access(icd, R_OK) != 0 || !mkdtemp(folder)) {
        row(&bench, NAN, false, false, "skipped: no PoCL, or SVMX_BENCH_COMMAND does not name the command");
        return bench_close(&bench);
    }
    measure(&bench, command, folder);
    empty(folder);
    return bench_close(&bench);
}

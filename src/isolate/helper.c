/*
 * helper.c: see helper.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/helper.h"

#include "base/clock.h"
#include "isolate/calls.h"
#include "plugin/loader.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- finding ---------------------------------------------------------------------------------------------------- */

/* FOLDER/svmx-host, links in the folder's path resolved, if it is there; free() takes it. */
static char *program_in(const char *folder, size_t length) {
    char *given = strndup(folder, length), *program = NULL;
    char *real = given && length ? realpath(given, NULL) : NULL;
    if (real && asprintf(&program, "%s/" SVMX__HOST_PROGRAM, real) < 0) program = NULL;
    if (program && access(program, F_OK) != 0) {
        free(program);
        program = NULL;
    }
    free(real);
    free(given);
    return program;
}

static char *find_program(const char *path, const char *backend_path) {
    char *program = program_in(path, (size_t)(strrchr(path, '/') - path));
    for (const char *part = backend_path; !program && *part;) {
        const size_t length = strcspn(part, ":");
        program = program_in(part, length);
        part += length + (part[length] == ':');
    }
    return program ? program : program_in(SVMX_BACKEND_DIR, strlen(SVMX_BACKEND_DIR));
}

/* ---- starting --------------------------------------------------------------------------------------------------- */

/* Both ends above the numbers that mean something to a program, of which it may have closed some. */
static bool make_pair(int ends[2]) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    ends[0] = fcntl(pair[0], F_DUPFD_CLOEXEC, SVMX__HOST_CONTROL + 1);
    ends[1] = fcntl(pair[1], F_DUPFD_CLOEXEC, SVMX__HOST_CONTROL + 1);
    const int error = errno;
    (void)close(pair[0]);
    (void)close(pair[1]);
    if (ends[0] >= 0 && ends[1] >= 0) return true;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) (void)close(ends[i]);
    errno = error;
    return false;
}

/* What it has as standard files: nothing to read, and what drivers print goes to standard error. 0, or an error
 * number. */
static int choose_files(posix_spawn_file_actions_t *actions, int control) {
    const bool errors = fcntl(STDERR_FILENO, F_GETFD) >= 0;
    int error = posix_spawn_file_actions_adddup2(actions, control, SVMX__HOST_CONTROL);
    if (!error) error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error && !errors) error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return error ? error : posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
}

static int choose_signals(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
    const short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    return error ? error : posix_spawnattr_setflags(attributes, flags);
}

static int spawn(const char *program, const char *title, int control, pid_t *pid) {
    char *const arguments[] = {(char *)(uintptr_t)SVMX__HOST_PROGRAM, (char *)(uintptr_t)title, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = choose_files(&actions, control);
        if (!error) error = choose_signals(&attributes);
        if (!error) error = posix_spawn(pid, program, &actions, &attributes, arguments, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static enum svmx_status start(struct svmx__helper *helper, const char *program, const char *title,
                              struct svmx__text *why) {
    int ends[2];
    pid_t pid = 0;
    if (!make_pair(ends)) return svmx__fail(why, SVMX_ERR_SYSTEM, "no socket for %s: %s", program, strerror(errno));
    const int error = spawn(program, title, ends[1], &pid);
    (void)close(ends[1]);
    if (error) {
        (void)close(ends[0]);
        return svmx__fail(why, SVMX_ERR_SYSTEM, "cannot start %s: %s", program, strerror(error));
    }
    *helper = (struct svmx__helper){.pid = pid, .control = ends[0]};
    return SVMX_OK;
}

enum svmx_status svmx__helper_start(struct svmx__helper *helper, const char *path, const char *backend_path,
                                    const char *title, struct svmx__text *why) {
    char *program = find_program(path, backend_path);
    if (!program)
        return svmx__fail(why, SVMX_ERR_SYSTEM,
                          "no program " SVMX__HOST_PROGRAM " beside %s, in the folders of plugins or in %s: install it",
                          path, SVMX_BACKEND_DIR);
    enum svmx_status status = svmx__loader_check_program(program, why);
    if (status == SVMX_OK) status = start(helper, program, title, why);
    free(program);
    return status;
}

/* ---- ending ----------------------------------------------------------------------------------------------------- */

/* Still our child, running or not yet waited for? Only then its number is surely its own. */
static bool is_ours(const struct svmx__helper *helper) {
    siginfo_t info;
    return waitid(P_PID, (id_t)helper->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void note_end(struct svmx__helper *helper, const siginfo_t *info) {
    helper->ended = true;
    if (info->si_code == CLD_EXITED)
        (void)snprintf(helper->how, sizeof helper->how, "it ended with status %d", info->si_status);
    else
        (void)snprintf(helper->how, sizeof helper->how, "signal %d (%s)", info->si_status, strsignal(info->si_status));
}

/* Waits for its end; false: it still runs. */
static bool await_end(struct svmx__helper *helper, uint64_t limit_ns) {
    const uint64_t start = svmx__clock_ns();
    const struct timespec pause = {0, 500000};
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        const int error = waitid(P_PID, (id_t)helper->pid, &info, WEXITED | WNOHANG);
        if (error == 0 && info.si_pid == helper->pid) {
            note_end(helper, &info);
            return true;
        }
        if (error != 0 && errno == ECHILD) { /* the program waited for it */
            helper->ended = true;
            (void)snprintf(helper->how, sizeof helper->how, "it has ended");
            return true;
        }
        if (svmx__clock_since(svmx__clock_ns(), start) >= limit_ns) return false;
        (void)nanosleep(&pause, NULL);
    }
}

void svmx__helper_stop(struct svmx__helper *helper, bool at_once, uint64_t limit_ns) {
    const uint64_t second_ns = UINT64_C(1000000000);
    if (helper->control >= 0) {
        (void)shutdown(helper->control, SHUT_RDWR); /* a child that the program forked meanwhile may have it, too */
        (void)close(helper->control);
    }
    helper->control = -1;
    if (!at_once && await_end(helper, limit_ns)) return;
    if (is_ours(helper)) {
        (void)kill(-helper->pid, SIGKILL); /* with whatever its drivers started, in the group that it was given */
        (void)kill(helper->pid, SIGKILL);
    }
    if (await_end(helper, second_ns)) return;
    helper->ended = true; /* a driver keeps it in the kernel; nobody can do more */
    (void)snprintf(helper->how, sizeof helper->how, "process %ld does not end", (long)helper->pid);
}

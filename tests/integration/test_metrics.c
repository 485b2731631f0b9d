/*
 * test_metrics.c: libsvmx-metrics as an embedder calls it. What it answers over HTTP: scripts/test_metrics.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/metrics.h>

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static svmx_executor_t *executor;
static svmx_metrics_t *metrics;
static struct svmx_error error;

static svmx_executor_t *open_one(void) {
    const struct svmx_options options = {
        .size = sizeof options, .backends = "none", .backend_path = "/nonexistent", .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *one = NULL;
    cr_assert_eq(svmx_open(&one, &options, NULL), SVMX_OK);
    return one;
}

static void set_up(void) { executor = open_one(); }
static void tear_down(void) { svmx_close(executor); }
TestSuite(metrics, .init = set_up, .fini = tear_down);

static int connect_to(const svmx_metrics_t *to) {
    const char *colon = strrchr(svmx_metrics_address(to), ':');
    const struct sockaddr_in place = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(fd, (const struct sockaddr *)&place, sizeof place), 0);
    return fd;
}

/* What it answers to a request, or "". */
static const char *ask(const svmx_metrics_t *of, const char *path) {
    static char answer[1 << 16];
    char request[256];
    size_t length = 0;
    ssize_t got;
    const int fd = connect_to(of), bytes = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", path);
    cr_assert_eq(write(fd, request, (size_t)bytes), bytes);
    while (length < sizeof answer - 1 && (got = read(fd, answer + length, sizeof answer - 1 - length)) > 0)
        length += (size_t)got;
    answer[length] = '\0';
    close(fd);
    return answer;
}

static unsigned entries_of(const char *folder) {
    DIR *dir = opendir(folder);
    unsigned count = 0;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

Test(metrics, listens_and_answers) {
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(strncmp(svmx_metrics_address(metrics), "127.0.0.1:", 10), 0);
    cr_assert_neq(atoi(svmx_metrics_address(metrics) + 10), 0, "the port that it got");
    const char *answer = ask(metrics, "/metrics");
    cr_assert(strstr(answer, "200 OK") && strstr(answer, "\nsvmx_batches_total 0\n"), "%s", answer);
    cr_assert(strstr(ask(metrics, "/stats.json"), "\"work\":{\"batches\":0,"));
    svmx_metrics_close(metrics);
}

Test(metrics, arguments) {
    cr_assert_eq(svmx_metrics_listen(NULL, executor, NULL, 0, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_metrics_listen(&metrics, NULL, NULL, 0, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, NULL, 2, &error), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(error.text, "flags is 0x2"));
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "nowhere", 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "nowhere", 0, &error), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(error.text,
                     "address 'nowhere': give IPv4:PORT, [IPv6]:PORT or localhost:PORT, as " SVMX_METRICS_ADDRESS);
    static const char *const wrong_ports[] = {"127.0.0.1:65536", "[::1]:99999999999999999999999", "localhost:70000"};
    for (size_t i = 0; i < sizeof wrong_ports / sizeof *wrong_ports; i++) {
        cr_assert_eq(svmx_metrics_listen(&metrics, executor, wrong_ports[i], 0, &error), SVMX_ERR_ARGUMENT);
        cr_assert(strstr(error.text, wrong_ports[i]) && strstr(error.text, "a port is 1 to 65535"), "%s", error.text);
    }
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "0.0.0.0:0", 0, &error), SVMX_ERR_PERMISSION);
    cr_assert_eq(error.status, SVMX_ERR_PERMISSION);
    cr_assert_null(metrics, "it is set on success only");
    svmx_metrics_close(NULL);
    cr_assert_str_eq(svmx_metrics_address(NULL), "");
}

Test(metrics, a_port_has_one_listener) {
    svmx_metrics_t *second = NULL;
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, &error), SVMX_OK);
    cr_assert_eq(svmx_metrics_listen(&second, executor, svmx_metrics_address(metrics), 0, &error), SVMX_ERR_SYSTEM);
    cr_assert(strstr(error.text, "cannot listen at 127.0.0.1:"), "%s", error.text);
    svmx_metrics_close(metrics);
}

Test(metrics, two_executors_two_servers) {
    svmx_executor_t *other = open_one();
    svmx_metrics_t *second = NULL;
    cr_assert_eq(svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, &error), SVMX_OK);
    cr_assert_eq(svmx_metrics_listen(&second, other, "127.0.0.1:0", 0, &error), SVMX_OK);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(other, &batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(strstr(ask(metrics, "/metrics"), "\nsvmx_batches_total 0\n"));
    cr_assert(strstr(ask(second, "/metrics"), "\nsvmx_batches_total 1\n"));
    svmx_batch_destroy(batch);
    svmx_metrics_close(second);
    svmx_metrics_close(metrics);
    svmx_close(other);
}

Test(metrics, nothing_is_left_behind) {
    const unsigned files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    for (int i = 0; i < 10; i++) {
        cr_assert_eq(svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, &error), SVMX_OK);
        const int idle = connect_to(metrics); /* a connection that is open when it closes */
        (void)ask(metrics, "/");
        svmx_metrics_close(metrics);
        close(idle);
    }
    cr_assert_eq(entries_of("/proc/self/fd"), files);
    cr_assert_eq(entries_of("/proc/self/task"), threads);
}

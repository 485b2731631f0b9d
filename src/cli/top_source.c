/*
 * top_source.c: counters as text: of an executor of this process by a call, of another one by HTTP from this machine.
 * See top.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"
#include "top.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, PATIENCE_S = 5, MOST_POINTS = 4096, MOST_FALLBACKS = 64 };

/* A text that grows, always ended by a zero. */
struct grown {
    char *text;
    size_t bytes;
};

static void append(void *user, const char *piece, size_t bytes) {
    struct grown *grown = user;
    grown->text = cli_grow(grown->text, grown->bytes + bytes + 1, 1);
    memcpy(grown->text + grown->bytes, piece, bytes);
    grown->bytes += bytes;
    grown->text[grown->bytes] = '\0';
}

/* As /curves.json of a server. */
static enum svmx_status write_curves(const svmx_executor_t *executor, struct grown *grown) {
    struct svmx_curve_point *points = cli_grow(NULL, MOST_POINTS, sizeof *points);
    size_t count = 0;
    points->size = sizeof *points;
    const enum svmx_status status = svmx_curves_read(executor, points, MOST_POINTS, &count);
    for (size_t i = 0; status == SVMX_OK && i < count && i < MOST_POINTS; i++) {
        char line[160];
        const int length = snprintf(line, sizeof line, "[%u,%u,%llu,%u,%.0f]\n", points[i].op, points[i].device,
                                    (unsigned long long)points[i].units, points[i].samples, points[i].ns);
        append(grown, line, (size_t)length);
    }
    free(points);
    return status;
}

/* As /fallbacks. */
static enum svmx_status write_fallbacks(svmx_executor_t *executor, struct grown *grown) {
    struct svmx_receipt *list = cli_grow(NULL, MOST_FALLBACKS, sizeof *list);
    uint64_t from = 0;
    size_t count = 0, length;
    char line[4096];
    list->size = sizeof *list;
    const enum svmx_status status = svmx_fallbacks_read(executor, &from, list, MOST_FALLBACKS, &count);
    for (size_t i = 0; status == SVMX_OK && i < count; i++) {
        if (svmx_receipt_json(executor, &list[i], line, sizeof line - 1, &length) != SVMX_OK) continue;
        line[length] = '\n';
        append(grown, line, length + 1);
    }
    free(list);
    return status;
}

static char *read_executor(svmx_executor_t *executor, enum top_text which) {
    struct grown grown = {NULL, 0};
    enum svmx_status status;
    append(&grown, "", 0);
    if (which == TOP_CURVES)
        status = write_curves(executor, &grown);
    else if (which == TOP_FALLBACKS)
        status = write_fallbacks(executor, &grown);
    else
        status =
            svmx_stats_write(executor, which == TOP_STATS ? SVMX_STATS_JSON : SVMX_STATS_PROMETHEUS, append, &grown);
    if (status == SVMX_OK) return grown.text;
    (void)cli_session_failed("the counters", status, "");
    free(grown.text);
    return NULL;
}

/* ---- HTTP -------------------------------------------------------------------------------------------------------- */

/* "host:port", "[::1]:port" -> host, port. */
static bool split(const char *address, char *host, size_t host_bytes, const char **port) {
    const char *colon = strrchr(address, ':');
    const bool brackets = *address == '[' && colon && colon > address && colon[-1] == ']';
    const char *start = address + brackets;
    const size_t length = colon ? (size_t)(colon - start) - brackets : 0;
    if (!length || length >= host_bytes || !colon[1]) return false;
    memcpy(host, start, length);
    host[length] = '\0';
    *port = colon + 1;
    return true;
}

bool top_address_parse(const char *address) {
    char host[256];
    const char *port;
    return split(address, host, sizeof host, &port) && strspn(port, "0123456789") == strlen(port) &&
           strtoul(port, NULL, 10) - 1 < 65535;
}

/* -1 after a message. */
static int connect_to(const char *address) {
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct addrinfo *found = NULL;
    char host[256];
    const char *port;
    int fd = -1;
    if (!split(address, host, sizeof host, &port)) return -1; /* it was looked at before */
    const int error = getaddrinfo(host, port, &wanted, &found);
    for (const struct addrinfo *at = error ? NULL : found; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) continue;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) break;
        close(fd);
        fd = -1;
    }
    if (found) freeaddrinfo(found);
    if (fd < 0)
        cli_error("%s does not answer: %s (is svmx serve, or a program with svmx_metrics_listen, running there?)",
                  address, error ? gai_strerror(error) : strerror(errno));
    return fd;
}

static bool exchange(int fd, const char *address, const char *path, struct grown *answer) {
    char request[512], piece[8192];
    const int length = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: %.256s\r\n\r\n", path, address);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length) return false;
    ssize_t got;
    while ((got = recv(fd, piece, sizeof piece, 0)) > 0 && answer->bytes < MOST_BYTES)
        append(answer, piece, (size_t)got);
    return got == 0;
}

static char *read_address(const char *address, enum top_text which) {
    static const char *const paths[] = {[TOP_METRICS] = "/metrics",
                                        [TOP_STATS] = "/stats.json",
                                        [TOP_CURVES] = "/curves.json",
                                        [TOP_FALLBACKS] = "/fallbacks"};
    struct grown answer = {NULL, 0};
    const int fd = connect_to(address);
    if (fd < 0) return NULL;
    const bool whole = exchange(fd, address, paths[which], &answer);
    close(fd);
    char *body = answer.text ? strstr(answer.text, "\r\n\r\n") : NULL;
    const char *code = body ? strchr(answer.text, ' ') : NULL;
    if (!whole || !code || strncmp(code, " 200 ", 5) != 0) {
        cli_error("%s gives no metrics: %.*s", address, body ? (int)strcspn(answer.text, "\r") : 9,
                  body ? answer.text : "no answer");
        free(answer.text);
        return NULL;
    }
    memmove(answer.text, body + 4, strlen(body + 4) + 1);
    return answer.text;
}

char *top_source_read(const struct top_source *source, enum top_text which) {
    return source->address ? read_address(source->address, which) : read_executor(source->executor, which);
}

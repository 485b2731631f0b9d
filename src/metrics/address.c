/*
 * address.c: where to listen: reads the address, sees that only this machine reaches it unless told otherwise, opens the
 * socket. Numbers only: a name would be somebody else's to resolve. See server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union place {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

enum svmx_status metrics_fail(struct svmx_error *error, enum svmx_status status, const char *format, ...) {
    if (!error) return status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->status = status;
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool port_of(const char *text, in_port_t *port) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    const unsigned long number = strtoul(text, &end, 10);
    if (*end || number > 65535) return false;
    *port = htons((uint16_t)number);
    return true;
}

/* "127.0.0.1:9469", "localhost:9469", "[::1]:9469". */
static bool place_of(const char *address, union place *place) {
    char host[64];
    const char *colon = strrchr(address, ':');
    const size_t length = colon ? (size_t)(colon - address) : sizeof host;
    if (length >= sizeof host) return false;
    memcpy(host, address, length);
    host[length] = '\0';
    memset(place, 0, sizeof *place);
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        place->v6.sin6_family = AF_INET6;
        return inet_pton(AF_INET6, host + 1, &place->v6.sin6_addr) == 1 && port_of(colon + 1, &place->v6.sin6_port);
    }
    place->v4.sin_family = AF_INET;
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    return inet_pton(AF_INET, number, &place->v4.sin_addr) == 1 && port_of(colon + 1, &place->v4.sin_port);
}

static bool is_local(const union place *place) {
    if (place->any.sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&place->v6.sin6_addr);
    return ntohl(place->v4.sin_addr.s_addr) >> 24 == 127;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static socklen_t bytes_of(const union place *place) {
    return place->any.sa_family == AF_INET6 ? sizeof place->v6 : sizeof place->v4;
}

/* -1, with errno. */
static int listen_at(union place *place) {
    const int one = 1, fd = socket(place->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t bytes = bytes_of(place);
    if (fd < 0) return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 && bind(fd, &place->any, bytes) == 0 &&
        listen(fd, METRICS_CONNECTIONS) == 0 && getsockname(fd, &place->any, &bytes) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* As it is listened at: with the port that it got. */
static void tell(struct svmx_metrics *metrics, const union place *place) {
    char host[INET6_ADDRSTRLEN];
    const bool v6 = place->any.sa_family == AF_INET6;
    (void)inet_ntop(place->any.sa_family, v6 ? (const void *)&place->v6.sin6_addr : &place->v4.sin_addr, host,
                    sizeof host);
    (void)snprintf(metrics->address, sizeof metrics->address, v6 ? "[%s]:%u" : "%s:%u", host,
                   ntohs(v6 ? place->v6.sin6_port : place->v4.sin_port));
}

/* Why an address is none, and what to give. */
static enum svmx_status refuse(const char *address, struct svmx_error *error) {
    const char *colon = strrchr(address, ':'), *port = colon ? colon + 1 : "";
    if (*port && !port[strspn(port, "0123456789")] && strtoul(port, NULL, 10) > UINT16_MAX)
        return metrics_fail(error, SVMX_ERR_ARGUMENT, "address '%.100s': a port is 1 to 65535, or 0 for a free one",
                            address);
    return metrics_fail(error, SVMX_ERR_ARGUMENT,
                        "address '%.100s': give IPv4:PORT, [IPv6]:PORT or localhost:PORT, as %s", address,
                        SVMX_METRICS_ADDRESS);
}

enum svmx_status metrics_address_open(struct svmx_metrics *metrics, const char *address, uint32_t flags,
                                      struct svmx_error *error) {
    union place place;
    if (!place_of(address, &place)) return refuse(address, error);
    metrics->local = is_local(&place);
    if (!metrics->local && !(flags & SVMX_METRICS_ANY_ADDRESS))
        return metrics_fail(error, SVMX_ERR_PERMISSION,
                            "address '%s': other machines reach it, and there is no password; give %s, or allow it "
                            "(SVMX_METRICS_ANY_ADDRESS, svmx serve --any-address)",
                            address, SVMX_METRICS_ADDRESS);
    metrics->socket = listen_at(&place);
    if (metrics->socket < 0)
        return metrics_fail(error, SVMX_ERR_SYSTEM, "cannot listen at %s: %s", address, strerror(errno));
    tell(metrics, &place);
    return SVMX_OK;
}

/*
 * answer.c: what a request gets: GET, or HEAD, of a path that there is, from a page or program of this machine. See server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <string.h>
#include <strings.h>

struct MHD_Response *metrics_response(const char *type, char *text, size_t bytes, bool owned) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes, text, owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response) return NULL;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)MHD_add_response_header(response, "X-Frame-Options", "DENY");
    return response;
}

/* A line of text. `allow` is for a method that is not allowed. */
static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *line, bool allow) {
    struct MHD_Response *response =
        metrics_response("text/plain; charset=utf-8", (char *)(uintptr_t)line, strlen(line), false);
    if (!response) return MHD_NO;
    if (allow) (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* A page of elsewhere may have a name of its own lead to 127.0.0.1, and read what is here: it says that name. */
static bool is_for_us(const struct svmx_metrics *metrics, struct MHD_Connection *connection) {
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!metrics->local || !host) return true;
    const size_t name = strncasecmp(host, "localhost", 9) == 0 ? 9 : strncmp(host, "[::1]", 5) == 0 ? 5 : 0;
    if (name) return host[name] == ':' || host[name] == '\0';
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.:") == strlen(host);
}

static const struct {
    const char *path;
    enum metrics_body body;
} paths[] = {{"/metrics", METRICS_PROMETHEUS}, {"/stats.json", METRICS_STATS},    {"/curves.json", METRICS_CURVES},
             {"/receipts", METRICS_RECEIPTS},  {"/fallbacks", METRICS_FALLBACKS}, {"/healthz", METRICS_HEALTH}};

static enum MHD_Result give(struct MHD_Connection *connection, struct MHD_Response *response) {
    if (response) return MHD_queue_response(connection, MHD_HTTP_OK, response);
    return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory, or the executor was closed\n", false);
}

static enum MHD_Result give_page(struct svmx_metrics *metrics, struct MHD_Connection *connection) {
    if (!metrics->page)
        metrics->page =
            metrics_response("text/html; charset=utf-8", (char *)(uintptr_t)metrics_page, metrics_page_bytes, false);
    return give(connection, metrics->page);
}

/* Called once when the head of a request is there, and again when the rest is. */
enum MHD_Result metrics_answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *upload, size_t *upload_bytes, void **state) {
    struct svmx_metrics *metrics = user;
    (void)version, (void)upload;
    /* libmicrohttpd sends no body to who asks for the head, and says how long it would be */
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n", true);
    if (!*state) {
        *state = metrics;
        return MHD_YES;
    }
    if (*upload_bytes) return MHD_NO; /* one that sends something: cut off */
    if (!is_for_us(metrics, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "ask for 127.0.0.1, localhost or [::1]\n", false);
    if (strcmp(url, "/") == 0) return give_page(metrics, connection);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(url, paths[i].path) == 0) return give(connection, metrics_body(metrics, paths[i].body));
    return refuse(connection, MHD_HTTP_NOT_FOUND,
                  "there are / /metrics /stats.json /curves.json /receipts /fallbacks /healthz\n", false);
}

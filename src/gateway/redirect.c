/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/redirect.h"

#include "config/config.h"
#include "edge/http_reply.h"
#include "gateway/routes_state.h"

enum { LOCATION_BYTES = HTTP_HEAD_MAX + 64, HTTPS_PORT = 443 };

/* "shop.example:8080" → "shop.example"; "[::1]:8080" → "[::1]". */
static struct span host_name(struct span host)
{
    const char *colon = host.size == 0 ? NULL : memrchr(host.data, ':', host.size);
    const char *bracket = host.size == 0 ? NULL : memrchr(host.data, ']', host.size);
    return colon == NULL || (bracket != NULL && bracket > colon)
        ? host
        : span_of(host.data, (size_t)(colon - host.data));
}

static bool is_host(struct span name)
{
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && memchr(".-_:[]", c, 6) == NULL)
            return false;
    }
    return name.size > 0;
}

static bool is_this_machine(struct span name, const char *own)
{
    const struct span bare = span_trim(name, SPAN("[]"));
    return span_equal_ignoring_case(name, SPAN("localhost")) || span_equal(bare, SPAN("::1"))
        || span_starts_with(name, SPAN("127.")) || span_equal(bare, span_from_string(own));
}

bool redirect_applies(const struct http_request *request, const char *own)
{
    const struct span path = request->path, name = host_name(request->host);
    if (span_equal(path, SPAN("/livez")) || span_equal(path, SPAN("/readyz"))
        || span_equal(path, SPAN("/metrics")))
        return false;
    return path.size > 0 && path.data[0] == '/' && is_host(name) && !is_this_machine(name, own);
}

void redirect_write(const struct http_request *request, uint16_t port, bool closing, struct text *out)
{
    char bytes[LOCATION_BYTES];
    struct text head = text_in(bytes, sizeof bytes);
    text_literal(&head, "Location: https://");
    text_add(&head, host_name(request->host));
    if (port != HTTPS_PORT) {
        text_literal(&head, ":");
        text_u64(&head, port);
    }
    text_add(&head, request->path);
    if (request->query.data != NULL) {
        text_literal(&head, "?");
        text_add(&head, request->query);
    }
    text_literal(&head, "\r\nCache-Control: no-store\r\n"); /* the setting may change */
    invariant(!head.overflow);                              /* all of it came in one head */
    http_reply(out, 308, SPAN_NONE, text_span(&head), SPAN_NONE, closing);
}

static bool is_left_alone(const struct routes *routes, const struct http_request *request)
{
    return edge_is_secure(routes->edge) || edge_is_forwarded(routes->edge, request)
        || !redirect_applies(request, routes->shared.config->address);
}

static enum edge_verdict redirect_request(void *self, const struct http_request *request,
    uint64_t token, bool closing, struct text *out, struct edge_reply *reply)
{
    struct routes *routes = self;
    if (is_left_alone(routes, request))
        return routes->redirected.request(self, request, token, closing, out, reply);
    redirect_write(request, routes->tls_port, closing, out);
    return EDGE_REPLIED;
}

/* A redirection is no answer that may wait for its turn. */
static bool redirect_overlaps(void *self, const struct http_request *request)
{
    const struct routes *routes = self;
    return edge_is_secure(routes->edge) && routes->redirected.overlaps(self, request);
}

void redirect_install(struct routes *routes, struct edge_handler *handler, uint16_t port)
{
    routes->redirected = *handler;
    routes->tls_port = port;
    handler->request = redirect_request;
    handler->overlaps = redirect_overlaps;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/media_upload.c: product pictures for everybody, from memory. A name is its content's hash, so
 * a browser may keep the picture for ever. */
#include "edge/http_reply.h"
#include "gateway/gateway_parts.h"
#include "media/media_service.h"

enum edge_verdict media_request(struct exchange *exchange, struct span name)
{
    const struct media_set *set = handover_get(&exchange->routes->shared.media->shown);
    const struct media_file *file = media_set_find(set, name);
    char etag_bytes[MEDIA_NAME_CHARS_MAX + 3], lines[512], origin[ORIGIN_BYTES_MAX + 64];
    struct text etag = text_in(etag_bytes, sizeof etag_bytes), head = text_in(lines, sizeof lines);
    if (exchange->request->method != HTTP_GET)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (file == NULL)
        return reply_problem(exchange, PROBLEM_NOT_FOUND, NULL);
    text_literal(&etag, "\"");
    text_add(&etag, name);
    text_literal(&etag, "\"");
    text_literal(&head, "ETag: ");
    text_add(&head, text_span(&etag));
    text_literal(&head,
        "\r\nCache-Control: public, max-age=31536000, immutable\r\n"
        "Content-Security-Policy: default-src 'none'\r\n");
    text_add(&head, cors_headers(exchange->routes, exchange->cors, origin));
    invariant(!head.overflow);
    if (span_equal(exchange->request->if_none_match, text_span(&etag))) {
        http_reply(exchange->out, 304, SPAN_NONE, text_span(&head), SPAN_NONE, exchange->closing);
        return EDGE_REPLIED;
    }
    http_reply_head(exchange->out, 200, picture_type(file->format), text_span(&head),
        file->body.size, exchange->closing);
    exchange->reply->body = file->body;
    return EDGE_REPLIED;
}

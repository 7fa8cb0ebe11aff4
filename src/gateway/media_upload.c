/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/media_upload.c: product pictures for everybody, from memory. A name is its content's hash, so
 * a browser may keep the picture for ever. */
#include "gateway/media_upload.h"

#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "media/media_service.h"

enum edge_verdict media_request(struct exchange *exchange, struct span name)
{
    const struct media_set *set = handover_get(&exchange->routes->shared.media->shown);
    const struct media_file *file = media_set_find(set, name);
    char etag_bytes[MEDIA_NAME_CHARS_MAX + 3], lines[512];
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
    invariant(!head.overflow);
    if (span_equal(exchange->request->if_none_match, text_span(&etag)))
        return reply_head(exchange, 304, SPAN_NONE, text_span(&head), 0);
    exchange->reply->body = file->body;
    return reply_head(exchange, 200, picture_type(file->format), text_span(&head), file->body.size);
}

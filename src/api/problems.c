/* SPDX-License-Identifier: Apache-2.0 */
#include "api/problems.h"

#include "edge/http_reply.h"

const struct problem_text problem_texts[PROBLEMS] = {
#define PROBLEM_TEXT(name, type, status, title, detail) \
    [PROBLEM_##name] = { type, status, title, detail },
    PROBLEM_LIST(PROBLEM_TEXT)
#undef PROBLEM_TEXT
};

void problem_body(struct text *out, enum problem problem, const char *detail, struct span more)
{
    invariant(problem > PROBLEM_NONE && problem < PROBLEMS);
    const struct problem_text *text = &problem_texts[problem];
    text_literal(out, "{\"type\":\"/problems/");
    text_string(out, text->type);
    text_literal(out, "\",\"title\":");
    text_json(out, span_from_string(text->title));
    text_literal(out, ",\"status\":");
    text_u64(out, (uint64_t)text->status);
    text_literal(out, ",\"detail\":");
    text_json(out, span_from_string(detail != NULL ? detail : text->detail));
    if (more.size > 0)
        text_add(out, more);
    text_literal(out, "}");
}

struct span problem_header(enum problem problem)
{
    if (problem_texts[problem].status != 401)
        return SPAN_NONE;
    if (problem == PROBLEM_ADMIN_REQUIRED)
        return SPAN("WWW-Authenticate: Bearer realm=\"admin\"\r\n");
    if (problem == PROBLEM_SIGNATURE_INVALID)
        return SPAN("WWW-Authenticate: Signature\r\n");
    return SPAN("WWW-Authenticate: Bearer realm=\"shop\"\r\n");
}

void problem_reply(struct text *out, enum problem problem, const char *detail, struct span more,
    struct span headers, bool closing)
{
    char bytes[1024], lines[1024];
    struct text body = text_in(bytes, sizeof bytes), head = text_in(lines, sizeof lines);
    problem_body(&body, problem, detail, more);
    text_add(&head, headers);
    text_add(&head, problem_header(problem));
    invariant(!body.overflow && !head.overflow);
    http_reply(out, problem_texts[problem].status, SPAN("application/problem+json"),
        text_span(&head), text_span(&body), closing);
}

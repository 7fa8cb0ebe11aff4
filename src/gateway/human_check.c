/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/human_check.c: the human check on the edge: hands out challenges, and asks for their solution
 * before a pass is given. */
#include "gateway/human_check.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/query.h"
#include "base/address.h"
#include "contract/command.h"
#include "funnel/switches.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/public_requests.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/sessions.h"

static _Thread_local char challenge[HUMAN_CHALLENGE_BYTES_MAX];

static struct human_visit visit_of(
    struct exchange *exchange, const struct catalog_sale *sale, item_id item, user_id user)
{
    const struct routes *routes = exchange->routes;
    const struct address source = address_group(exchange->request->client, ADDRESS_GROUP_BITS);
    return (struct human_visit){ .asked = sale->human_check,
        .item = item,
        .user = user,
        .source = address_hash(routes->keys.spent, &source),
        .pow_boost = switch_value(routes->shared.switches, SWITCH_POW_BOOST),
        .now_ms = edge_now_ms(routes->edge),
        .client = exchange->request->client };
}

/* ?kind=…, or what the sale asks for. False: answered with what is wrong. */
static bool kind_read(struct exchange *exchange, enum human_check asked, enum human_check *kind)
{
    const struct span text = query_value(exchange->request->query, "kind");
    *kind = asked;
    if (text.data == NULL)
        return true;
    if (span_equal(text, span_from_string(human_kind_name(&exchange->routes->human, asked))))
        return true;
    if (span_equal(text, SPAN("pow"))) {
        *kind = HUMAN_POW;
        return true;
    }
    reply_problem(exchange, PROBLEM_BAD_QUERY, "kind must be one that the sale accepts; see human_check.");
    return false;
}

/* Too many failures: come back when they have faded. */
static enum edge_verdict refused_reply(struct exchange *exchange)
{
    char bytes[32];
    struct text header = text_in(bytes, sizeof bytes);
    text_format(&header, "Retry-After: %d\r\n", HUMAN_REFUSED_RETRY_S);
    return reply_refusal(exchange,
        &(struct problem_answer){ .problem = PROBLEM_HUMAN_REFUSED, .headers = text_span(&header) });
}

enum edge_verdict public_challenge(struct exchange *exchange, item_id item)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct text body = text_in(challenge, sizeof challenge);
    enum human_check kind;
    const user_id user = session_user(exchange);
    if (user == 0)
        return EDGE_REPLIED;
    if (catalog == NULL)
        return reply_problem(exchange, PROBLEM_UNAVAILABLE, NULL);
    const struct catalog_item *found = catalog_item_find(catalog, item);
    const struct catalog_sale *sale = found == NULL ? NULL : catalog_sale_of(catalog, found);
    if (sale == NULL)
        return reply_problem(exchange, PROBLEM_UNKNOWN_ITEM, NULL);
    if (sale->human_check == HUMAN_NONE)
        return reply_problem(exchange, PROBLEM_CONFLICT, "This sale has no human check.");
    if (!kind_read(exchange, sale->human_check, &kind))
        return EDGE_REPLIED;
    const struct human_visit visit = visit_of(exchange, sale, item, user);
    if (human_refused(&routes->human, &visit))
        return refused_reply(exchange);
    human_challenge(&routes->human, &visit, kind, &body);
    return reply_json(exchange, 200, &body, false);
}

/* Of a refusal: the kinds that the sale accepts, and where to get a challenge. */
enum { INVITATION_BYTES = 160 };
static void invitation_write(
    const struct routes *routes, enum human_check asked, item_id item, struct text *more)
{
    text_literal(more, ",\"kinds\":[");
    if (asked != HUMAN_POW)
        text_format(more, "\"%s\",", human_kind_name(&routes->human, asked));
    text_format(more, "\"pow\"],\"challenge\":\"/v1/items/%u/challenge\"", item);
    invariant(!more->overflow);
}

static enum edge_verdict refuse(
    struct exchange *exchange, enum problem problem, const struct catalog_sale *sale, item_id item)
{
    char bytes[INVITATION_BYTES];
    struct text more = text_in(bytes, sizeof bytes);
    invitation_write(exchange->routes, sale->human_check, item, &more);
    return reply_refusal(
        exchange, &(struct problem_answer){ .problem = problem, .members = text_span(&more) });
}

/* What is answered to those who did not pass. */
static const struct {
    enum problem problem;
    const char *detail;
    bool invited; /* to get a challenge */
    bool blamed;  /* counts as a failure of the caller */
} refusals[HUMAN_ANSWERS] = {
    [HUMAN_ABSENT] = { PROBLEM_HUMAN_REQUIRED, .invited = true },
    [HUMAN_MALFORMED] = { PROBLEM_BAD_BODY, "Send {\"solution\":…} as the challenge asks." },
    [HUMAN_FAILED] = { PROBLEM_HUMAN_FAILED, .invited = true, .blamed = true },
    [HUMAN_OLD] = { PROBLEM_HUMAN_FAILED, .invited = true }, /* nobody's fault */
    [HUMAN_SPENT] = { PROBLEM_HUMAN_SPENT, .invited = true, .blamed = true },
    [HUMAN_CROWDED] = { PROBLEM_TOO_POPULAR },
    [HUMAN_PENDING] = { PROBLEM_IN_PROGRESS,
        "The check is still running. Send the same request again shortly." },
    [HUMAN_AWAY] = { PROBLEM_UNAVAILABLE, "The external check gave no verdict. Get a new challenge." },
    [HUMAN_REFUSED] = { PROBLEM_HUMAN_REFUSED, .blamed = true },
};

/* What the inventory says of a challenge that was good. */
static void challenge_spent(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    const struct catalog_item *item = catalog == NULL ? NULL : catalog_item_find(catalog, ask->item);
    const struct catalog_sale *sale = item == NULL ? NULL : catalog_sale_of(catalog, item);
    const struct human_visit visit = {
        .user = ask->pass.user, .source = ask->source, .now_ms = edge_now_ms(routes->edge)
    };
    const enum human_answer answer = outcome->answer == ANSWER_DONE ? HUMAN_PASSED
        : outcome->answer == ANSWER_UNCHANGED                       ? HUMAN_SPENT
                                                                    : HUMAN_CROWDED;
    human_told(&routes->human, &visit, answer);
    if (answer == HUMAN_PASSED) {
        pass_complete(routes, &ask->to, &ask->client, &ask->pass);
        return;
    }
    if (answer == HUMAN_CROWDED || sale == NULL) { /* nobody knows, or the item has gone meanwhile */
        complete_problem(routes, &ask->to, PROBLEM_UNAVAILABLE);
        return;
    }
    char bytes[INVITATION_BYTES];
    struct text more = text_in(bytes, sizeof bytes);
    routes_watch_failed_of(routes, &ask->client);
    invitation_write(routes, sale->human_check, ask->item, &more);
    complete_refusal(routes, &ask->to,
        &(struct problem_answer){ .problem = PROBLEM_HUMAN_SPENT, .members = text_span(&more) });
}

/* Other gateways accept the challenge too: all are asked whether it is fresh. */
static enum edge_verdict challenge_spend(struct exchange *exchange, const struct human_visit *visit,
    const struct human_mark *mark, const struct pass *pass)
{
    const struct command command = { .type = COMMAND_ASK_SPEND,
        .spend = { .mark = mark->mark, .until_ms = mark->expires_s * 1000ull } };
    struct ask *ask = ask_send(exchange, &command, challenge_spent);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->item = visit->item;
    ask->pass = *pass;
    ask->source = visit->source;
    ask->client = *exchange->request->client;
    return EDGE_DEFERRED;
}

enum edge_verdict human_pass(
    struct exchange *exchange, const struct catalog_sale *sale, const struct pass *pass)
{
    const struct routes *routes = exchange->routes;
    struct human_mark mark;
    if (sale->human_check == HUMAN_NONE
        || switch_value(routes->shared.switches, SWITCH_BYPASS_HUMAN_CHECK) != 0)
        return pass_reply(exchange, pass);
    const struct human_visit visit = visit_of(exchange, sale, pass->item, pass->user);
    const enum human_answer answer = human_judge_shared(&routes->human, &visit,
        exchange->request->body, routes->shared.inventory_shared ? &mark : NULL);
    if (answer == HUMAN_PASSED)
        return pass_reply(exchange, pass);
    if (answer == HUMAN_TO_ASK)
        return challenge_spend(exchange, &visit, &mark, pass);
    if (refusals[answer].blamed)
        routes_watch_failed(exchange);
    if (answer == HUMAN_REFUSED)
        return refused_reply(exchange);
    return refusals[answer].invited
        ? refuse(exchange, refusals[answer].problem, sale, pass->item)
        : reply_problem(exchange, refusals[answer].problem, refusals[answer].detail);
}

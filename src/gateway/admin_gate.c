/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/admin_gate.c: requests of operators. Their key, or session of the console (console_gate.c), is
 * checked here, so that strangers never reach the worker. A right key is let in at any rate, and from a
 * banned address too: a rule that bans an office must not keep its operators from lifting the ban. Wrong
 * keys count against the rate of their address, and after a few the address waits before it may show
 * another (funnel/lockout.h). */
#include "gateway/admin_gate.h"

#include "base/log.h"
#include "base/metrics.h"
#include "funnel/limits.h"
#include "funnel/lockout.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/console_gate.h"
#include "gateway/exchange.h"
#include "gateway/jobs.h"
#include "gateway/password_checks.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"

#include <string.h>

enum refused { REFUSED_MISSING, REFUSED_WRONG, REFUSED_WAITS, REFUSED_BUSY, REFUSED_REASONS };
#define REFUSED(reason) \
    { \
        .name = "stampede_admin_keys_refused_total", .labels = "reason=\"" reason "\"", \
        .help = "Requests to the admin API without a valid key or password.", .kind = METRIC_COUNTER \
    }
static struct metric refused[REFUSED_REASONS] = {
    [REFUSED_MISSING] = REFUSED("missing"),
    [REFUSED_WRONG] = REFUSED("wrong"),
    [REFUSED_WAITS] = REFUSED("waits"),
    [REFUSED_BUSY] = REFUSED("busy"),
};
METRIC_TABLE(refused);

/* A key of the file that was made by hand: its owner wonders. */
static void weak_key_tell(const struct routes *routes, struct span key)
{
    const struct admin_key *weak = admin_keys_find_weak(routes->admin, key);
    if (weak != NULL)
        log_warn("admin",
            "the key of %s is refused: it was not made by 'stampede key new'; make a new one",
            weak->name);
}

/* JSON everywhere but where pictures come in. */
static bool type_fits(struct span path, struct span type)
{
    if (!span_equal(path, SPAN("/media")))
        return content_is_json(type);
    return span_starts_with(type, SPAN("image/")) || span_equal(type, SPAN("application/octet-stream"));
}

enum edge_verdict admin_refuse(struct exchange *exchange, bool shown)
{
    struct routes *routes = exchange->routes;
    const uint64_t now_ms = edge_now_ms(routes->edge);
    metric_add(&refused[shown ? REFUSED_WRONG : REFUSED_MISSING], 1);
    if (shown) {
        routes_watch_failed(exchange);
        lockout_failed(routes->shared.lockout, exchange->request->client, now_ms);
    }
    if (routes_address_banned(exchange))
        return EDGE_REPLIED;
    const uint32_t wait_ms = limits_address(routes->shared.limits, exchange->request->client, now_ms);
    return wait_ms != 0 ? reply_too_fast(exchange, wait_ms)
                        : reply_problem(exchange, PROBLEM_ADMIN_REQUIRED, NULL);
}

void admin_refuse_later(struct routes *routes, const struct reply_to *to, const struct address *client)
{
    metric_add(&refused[REFUSED_WRONG], 1);
    routes_watch_failed_of(routes, client);
    password_checks_failed(routes->shared.passwords, client, edge_now_ms(routes->edge));
    complete_problem(routes, to, PROBLEM_ADMIN_REQUIRED);
}

enum edge_verdict admin_busy(struct exchange *exchange)
{
    metric_add(&refused[REFUSED_BUSY], 1);
    return reply_problem(exchange, PROBLEM_TOO_POPULAR, "Too many people are signing in at the moment.");
}

enum edge_verdict admin_wait(struct exchange *exchange, uint32_t wait_ms)
{
    metric_add(&refused[REFUSED_WAITS], 1);
    routes_watch_failed(exchange);
    return reply_too_fast(exchange, wait_ms);
}

bool admin_must_wait(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    const uint32_t wait_ms =
        lockout_wait_ms(routes->shared.lockout, exchange->request->client, edge_now_ms(routes->edge));
    if (wait_ms != 0)
        admin_wait(exchange, wait_ms);
    return wait_ms != 0;
}

static const struct admin_key *key_shown(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    const struct http_request *request = exchange->request;
    struct span key;
    const bool shown = request->authorization.data != NULL && token_bearer(request->authorization, &key);
    if (shown && admin_must_wait(exchange))
        return NULL;
    const struct admin_key *admin = shown ? admin_keys_find(routes->admin, key) : NULL;
    if (admin == NULL && shown)
        weak_key_tell(routes, key);
    if (admin == NULL)
        admin_refuse(exchange, shown);
    else
        lockout_passed(routes->shared.lockout, request->client, edge_now_ms(routes->edge));
    return admin;
}

/* A key of a channel opens nothing that is the operators', and theirs open nothing that is a channel's. */
static const struct admin_key *key_shown_of(struct exchange *exchange, bool of_channel)
{
    const struct admin_key *key = key_shown(exchange);
    if (key == NULL || (key->right.role == ADMIN_CHANNEL) == of_channel)
        return key;
    reply_problem(exchange, PROBLEM_ADMIN_ROLE, NULL);
    return NULL;
}

const struct admin_key *admin_key_shown(struct exchange *exchange)
{
    return key_shown_of(exchange, false);
}

const struct admin_key *channel_key_shown(struct exchange *exchange)
{
    return key_shown_of(exchange, true);
}

/* What the shop's own program does to single orders comes in crowds, and has a share of its own. */
static enum job_share share_of(const struct http_request *request, struct span path)
{
    const bool move = span_ends_with(path, SPAN("/paid")) || span_ends_with(path, SPAN("/cancel"))
        || span_ends_with(path, SPAN("/refund"));
    return move && span_starts_with(path, SPAN("/orders/")) && request->method == HTTP_POST
            && request->body.size <= JOB_BODY_SMALL
        ? SHARE_SHOP
        : SHARE_ADMIN;
}

enum edge_verdict keyed_hand_in(struct exchange *exchange, struct span path,
    const struct admin_key *key, const struct keyed_place *place)
{
    const struct http_request *request = exchange->request;
    struct span change_key = SPAN_NONE;
    if (request->idempotency_key.data != NULL && !door_key_read(request->idempotency_key, &change_key))
        return reply_problem(exchange, PROBLEM_BAD_KEY, NULL);
    struct job *job = exchange_job(exchange, JOB_ADMIN, (enum job_share)place->share, place->whose);
    if (job == NULL)
        return EDGE_REPLIED;
    size_t used = job_fill(job, request, path);
    job->key = job_copy(job, &used, change_key);
    job->role = key->right.role;
    job->channel = place->channel;
    memcpy(job->actor, key->name, sizeof job->actor);
    job_hand_in(exchange->routes, job);
    return EDGE_DEFERRED;
}

enum edge_verdict admin_request(struct exchange *exchange, struct span path)
{
    const struct http_request *request = exchange->request;
    const struct admin_key *admin =
        console_session_shown(request) ? console_key(exchange) : admin_key_shown(exchange);
    if (admin == NULL)
        return EDGE_REPLIED;
    if (request->body.size > 0 && !type_fits(path, request->content_type))
        return reply_problem(exchange, PROBLEM_MEDIA_TYPE, NULL);
    return keyed_hand_in(
        exchange, path, admin, &(struct keyed_place){ .share = share_of(request, path) });
}

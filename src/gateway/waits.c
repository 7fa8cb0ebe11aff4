/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/waits.h"

#include "gateway/exchange.h"
#include "gateway/jobs.h"
#include "gateway/news_marks.h"
#include "gateway/order_requests.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

struct waits {
    struct wait rows[WAITS_MAX];
    uint32_t count;
    uint64_t look_ms; /* the next look at them by time */
    struct news_marks news;
};

size_t waits_bytes(void)
{
    return sizeof(struct waits);
}

struct waits *waits_create(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct waits));
}

static enum job_share share_of(enum job_kind kind)
{
    return kind == JOB_PAYMENT ? SHARE_PAY : SHARE_VIEW;
}

bool waits_have_room(const struct routes *routes, user_id user)
{
    if (routes->waits->count < WAITS_MAX / 2)
        return true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < routes->waits->count; i++)
        count += routes->waits->rows[i].user == user;
    return routes->waits->count < WAITS_MAX && count < WAITS_PER_USER;
}

/* False: no job is free, or this user has enough of them. */
static bool job_start(struct routes *routes, const struct wait *wait, bool may_wait)
{
    struct job *job = job_take(routes,
        &(struct job_wish){
            .kind = wait->kind, .share = share_of(wait->kind), .user = wait->user, .to = wait->to });
    if (job == NULL)
        return false;
    job->ticket = wait->ticket;
    job->item = wait->item;
    job->quantity = wait->quantity;
    job->version_seen = wait->version_seen;
    job->news_seen = routes->waits->news.count;
    job->wait_until_ms = wait->until_ms;
    job->may_wait = may_wait;
    job_hand_in(routes, job);
    return true;
}

void wait_start(struct routes *routes, const struct wait *wait)
{
    const bool may_wait =
        wait->until_ms > edge_now_ms(routes->edge) && waits_have_room(routes, wait->user);
    if (!job_start(routes, wait, may_wait))
        complete_problem(routes, &wait->to, PROBLEM_TOO_POPULAR);
}

void wait_add(struct routes *routes, const struct job *job)
{
    struct wait wait = { .kind = job->kind == JOB_PUBLIC ? JOB_PAYMENT : (uint8_t)job->kind,
        .to = job->to,
        .user = job->user,
        .ticket = job->ticket,
        .version_seen = job->version_seen,
        .until_ms = job->wait_until_ms,
        .item = job->item,
        .quantity = job->quantity };
    wait.called =
        job->kind == JOB_ORDER && news_since(&routes->waits->news, job->ticket, job->news_seen);
    if (wait.called && job_start(routes, &wait, true))
        return;
    if (routes->waits->count == WAITS_MAX) {
        complete_problem(routes, &wait.to, PROBLEM_TOO_POPULAR);
        return;
    }
    routes->waits->rows[routes->waits->count++] = wait;
}

uint64_t waits_news_count(const struct routes *routes)
{
    return routes->waits->news.count;
}

bool wait_deciding(struct routes *routes, const struct wait *wait, uint64_t news_seen)
{
    const uint64_t now_ms = edge_now_ms(routes->edge);
    if (now_ms >= wait->until_ms || !waits_have_room(routes, wait->user))
        return false;
    struct wait *row = &routes->waits->rows[routes->waits->count++];
    *row = *wait;
    row->deciding = true;
    row->again_ms = now_ms + WAITS_DECIDING_MS;
    row->called = news_since(&routes->waits->news, wait->ticket, news_seen);
    return true;
}

/* False: there is no place for its job or its question now. */
static bool go_on(struct routes *routes, const struct wait *wait, bool may_wait)
{
    return wait->deciding ? order_view_ask(routes, wait, may_wait) : job_start(routes, wait, may_wait);
}

/* Hands in the jobs of the waits that are over, by news (of this ticket, 0: of any) or by time; the others
 * stay. Thousands may wait while there is much news, so requests that have gone are dropped only in the
 * sweep by time. */
static void sweep(struct routes *routes, bool news, ticket_number ticket, uint64_t now_ms)
{
    const bool stopping = atomic_load(routes->shared.draining); /* nobody is kept waiting any more */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < routes->waits->count; i++) {
        struct wait wait = routes->waits->rows[i];
        const bool late = now_ms >= wait.until_ms || stopping;
        wait.called |= news && (ticket == 0 || wait.ticket == ticket);
        wait.called |= wait.deciding && now_ms >= wait.again_ms;
        if ((wait.called || late || !news) && !edge_token_alive(routes->edge, wait.to.token))
            continue;
        if ((wait.called || late) && go_on(routes, &wait, !late))
            continue;
        /* One that was called and found no job is tried at the next look. */
        routes->waits->rows[kept++] = wait;
    }
    routes->waits->count = kept;
}

void waits_news(struct routes *routes, ticket_number ticket, uint64_t now_ms)
{
    news_mark(&routes->waits->news, ticket);
    if (routes->waits->count > 0)
        sweep(routes, true, ticket, now_ms);
}

void waits_turn(struct routes *routes, uint64_t now_ms)
{
    if (routes->waits->count == 0 || now_ms < routes->waits->look_ms)
        return;
    routes->waits->look_ms = now_ms + WAITS_LOOK_MS;
    sweep(routes, false, 0, now_ms);
}

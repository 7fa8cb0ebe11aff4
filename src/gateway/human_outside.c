/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/human_outside.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/ring.h"
#include "base/secret_file.h"
#include "funnel/human/human.h"
#include "funnel/spent.h"
#include "outgoing/courier.h"
#include "payment/provider.h"

#include <stdio.h>

enum { SWEEP_PLACES = 512 };

#define VERDICT_METRIC(verdict, text) \
    [verdict] = METRIC_ROW(METRIC_COUNTER, "stampede_human_outside_total", "verdict=\"" text "\"", \
        "Requests to the external human check, by verdict.")
static struct metric verdict_metrics[] = {
    VERDICT_METRIC(VERDICT_PERSON, "person"),
    VERDICT_METRIC(VERDICT_MACHINE, "machine"),
    VERDICT_METRIC(VERDICT_NONE, "none"),
};
METRIC_TABLE(verdict_metrics);

static enum status account_open(
    struct outside_service *outside, const struct config *config, char error[CONFIG_ERROR])
{
    size_t size = 0;
    outside->account.site_key = config->human_outside_site_key;
    outside->account.timeout_ms = (uint32_t)config->human_outside_timeout_ms;
    outside->let_in = strcmp(config->human_outside_fail, "open") == 0;
    snprintf(outside->account.url, sizeof outside->account.url, "%s",
        config->human_outside_url[0] != 0 ? config->human_outside_url : outside->ops->url);
    if (secret_file_read(config->human_outside_secret_file, outside->account.secret,
            sizeof outside->account.secret, &size)
        == STATUS_OK)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR,
        "human.outside_secret_file must be readable and hold a secret of %d characters at most",
        VERDICT_SECRET_MAX);
    return STATUS_BAD_INPUT;
}

static enum status memory_open(
    struct outside_service *outside, uint32_t marks_max, uint32_t edges, struct wake *wake)
{
    const size_t edge_bytes = sizeof(struct ring) + sizeof(struct human_outside)
        + OUTSIDE_QUESTIONS * sizeof(struct human_question) + 256;
    if (arena_open(&outside->arena, spent_bytes(marks_max) + edges * edge_bytes + 4096) != STATUS_OK)
        return STATUS_FULL;
    outside->verdicts = spent_create(&outside->arena, marks_max);
    outside->questions = arena_take(&outside->arena, edges, sizeof *outside->questions);
    outside->edges = arena_take(&outside->arena, edges, sizeof *outside->edges);
    outside->edge_count = edges;
    for (uint32_t i = 0; i < edges; i++) {
        ring_create(&outside->questions[i], &outside->arena, OUTSIDE_QUESTIONS,
            sizeof(struct human_question));
        outside->edges[i] = (struct human_outside){ .name = outside->ops->name,
            .site_key = outside->account.site_key,
            .verdicts = outside->verdicts,
            .questions = &outside->questions[i],
            .asker = wake };
    }
    return STATUS_OK;
}

enum status human_outside_open(struct outside_service *outside, const struct config *config,
    uint32_t edges, struct wake *wake, char error[CONFIG_ERROR])
{
    outside->ops = verdict_find(config->human_outside);
    if (outside->ops == NULL)
        return STATUS_OK; /* config.c: the name is a service's, or none */
    if (account_open(outside, config, error) != STATUS_OK)
        return STATUS_BAD_INPUT;
    if (memory_open(outside, (uint32_t)config->human_spent_max, edges, wake) != STATUS_OK
        || courier_open(&outside->courier, OUTSIDE_CALLS, wake) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no memory for human.outside");
        return STATUS_FULL;
    }
    log_info("human", "%s checks visitors instead of pictures; without its verdict visitors are %s",
        outside->ops->name, outside->let_in ? "let in" : "not let in");
    return STATUS_OK;
}

enum status human_outside_start(struct outside_service *outside)
{
    return outside->ops == NULL
        ? STATUS_OK
        : thread_start(&outside->thread, "verdicts", courier_run, outside->courier);
}

static void verdict_note(struct outside_service *outside, const struct outside_flight *flight,
    enum verdict verdict, uint32_t now_s)
{
    metric_add(&verdict_metrics[verdict], 1);
    const bool in = verdict == VERDICT_PERSON || (verdict == VERDICT_NONE && outside->let_in);
    const uint64_t mark = in         ? flight->person
        : verdict == VERDICT_MACHINE ? flight->machine
                                     : flight->none;
    if (spent_take(outside->verdicts, mark, flight->expires_s, now_s) == SPENT_FULL)
        log_warn("human", "no space to store a verdict: the visitor needs a new challenge");
}

static struct outside_flight *flight_take(struct outside_service *outside, uint64_t *at)
{
    *at = 0;
    while (outside->flights[*at].taken)
        ++*at;
    invariant(*at < OUTSIDE_CALLS); /* there are as many as calls */
    return &outside->flights[*at];
}

/* The first question of an edge; false: there is none, or no call for it. */
static bool question_ask(struct outside_service *outside, struct ring *ring, uint32_t now_s)
{
    const struct human_question *question = ring_peek(ring);
    struct outgoing_call *call = question != NULL ? courier_take(outside->courier) : NULL;
    if (call == NULL)
        return false;
    struct outside_flight *flight = flight_take(outside, &call->tag);
    *flight = (struct outside_flight){ .person = question->person,
        .machine = question->machine,
        .none = question->none,
        .expires_s = question->expires_s,
        .taken = true };
    const bool asked =
        outside->ops->ask(&outside->account, span_of(question->response, question->response_size),
            span_of(question->client, question->client_size), call);
    ring_pop(ring);
    ring_release(ring);
    if (asked) {
        courier_send(outside->courier, call);
        return true;
    }
    verdict_note(outside, flight, VERDICT_MACHINE, now_s); /* no response of theirs: nobody is called */
    flight->taken = false;
    explicit_bzero(call->body, sizeof call->body);
    courier_give(outside->courier, call);
    return true;
}

void human_outside_turn(struct outside_service *outside, uint32_t now_s)
{
    struct outgoing_call *call;
    bool more = true;
    if (outside->ops == NULL)
        return;
    while ((call = courier_collect(outside->courier)) != NULL) {
        struct outside_flight *flight = &outside->flights[call->tag];
        explicit_bzero(call->body, call->body_size); /* the secret was in it */
        verdict_note(outside, flight, outside->ops->read(call, outside->ops->name), now_s);
        flight->taken = false;
        courier_give(outside->courier, call);
    }
    while (more) {
        more = false;
        for (uint32_t i = 0; i < outside->edge_count; i++) /* in turns: no edge starves another */
            more |= question_ask(outside, &outside->questions[i], now_s);
    }
    spent_sweep(outside->verdicts, SWEEP_PLACES, now_s);
}

void human_outside_stop(struct outside_service *outside)
{
    if (!outside->thread.started)
        return;
    courier_stop(outside->courier);
    thread_join(&outside->thread);
}

void human_outside_close(struct outside_service *outside)
{
    if (outside->ops == NULL)
        return;
    human_outside_stop(outside);
    courier_close(outside->courier);
    arena_close(&outside->arena);
    explicit_bzero(&outside->account, sizeof outside->account);
    outside->ops = NULL;
}

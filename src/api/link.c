/* SPDX-License-Identifier: Apache-2.0 */
#include "api/link.h"

#include "base/arena.h"
#include "base/ring.h"
#include "contract/limits.h"

#include <stdatomic.h>

enum { NOTE_SLOTS = 4096 };
static_assert((int)NOTE_SLOTS >= 2 * (int)JOB_SLOTS, "notes have room beside all jobs");

/* Between one edge and one reader of order views. */
struct view_link {
    struct ring asked, answered; /* struct job * */
    uint32_t there;              /* the edge's: jobs that are at the reader */
};
struct edge_link {
    struct ring urgent, usual; /* struct job * */
    struct ring notes;         /* struct link_note */
    struct wake *wake;
    bool told;               /* the edge is to be woken */
    bool missed;             /* the ring was full: tell "many" when it has room */
    struct view_link *views; /* by reader */
};
struct link {
    struct arena arena;
    struct wake *worker, *view_wakes[VIEW_READERS_MAX];
    uint32_t edges, view_readers;
    uint32_t listeners; /* edges, and behind them, if there are any, the other processes: notes only */
    bool held;          /* what is said is not shown yet */
    struct edge_link each[EDGES_MAX + 1];
    _Atomic bool away, stopped;
    _Atomic(const char *) reason;
    _Atomic uint64_t lag, asks_since_ms;                      /* 0: the database has answered */
    void (*ask)(void *context, struct worker_health *health); /* NULL: nobody besides the worker knows */
    void *ask_context;
};

static void views_create(struct link *link, struct edge_link *edge)
{
    edge->views = arena_take(&link->arena, link->view_readers, sizeof *edge->views);
    for (uint32_t i = 0; i < link->view_readers; i++) {
        ring_create(&edge->views[i].asked, &link->arena, VIEW_SLOTS, sizeof(struct job *));
        ring_create(&edge->views[i].answered, &link->arena, VIEW_SLOTS, sizeof(struct job *));
    }
}

enum status link_open(struct link **out, uint32_t edges, uint32_t view_readers)
{
    const size_t views =
        view_readers * (sizeof(struct view_link) + 2 * VIEW_SLOTS * sizeof(struct job *) + 512);
    const size_t rings = (edges + 1)
        * (2 * JOB_SLOTS * sizeof(struct job *) + NOTE_SLOTS * sizeof(struct link_note) + 512 + views);
    struct link *link = *out = arena_object(sizeof *link, rings);
    invariant(edges <= EDGES_MAX && view_readers > 0 && view_readers <= VIEW_READERS_MAX);
    if (link == NULL)
        return STATUS_FULL;
    link->edges = link->listeners = edges;
    link->view_readers = view_readers;
    for (uint32_t i = 0; i < edges; i++) {
        ring_create(&link->each[i].urgent, &link->arena, JOB_SLOTS, sizeof(struct job *));
        ring_create(&link->each[i].usual, &link->arena, JOB_SLOTS, sizeof(struct job *));
        ring_create(&link->each[i].notes, &link->arena, NOTE_SLOTS, sizeof(struct link_note));
        views_create(link, &link->each[i]);
    }
    return STATUS_OK;
}

void link_others_wake(struct link *link, struct wake *wake)
{
    struct edge_link *others = &link->each[link->edges];
    ring_create(&others->notes, &link->arena, NOTE_SLOTS, sizeof(struct link_note));
    others->wake = wake;
    link->listeners = link->edges + 1;
}

void link_close(struct link *link)
{
    arena_object_free(link);
}

void link_worker_wake(struct link *link, struct wake *wake)
{
    link->worker = wake;
}

void link_edge_wake(struct link *link, uint32_t edge, struct wake *wake)
{
    link->each[edge].wake = wake;
}

void link_view_wake(struct link *link, uint32_t reader, struct wake *wake)
{
    link->view_wakes[reader] = wake;
}

/* To the reader that has fewest: one that hangs gets no more than the others. */
static void view_hand_in(struct link *link, struct edge_link *mine, struct job *job)
{
    uint32_t to = 0;
    for (uint32_t i = 1; i < link->view_readers; i++)
        if (mine->views[i].there < mine->views[to].there)
            to = i;
    invariant(ring_push(&mine->views[to].asked, &job));
    mine->views[to].there++;
    wake_signal(link->view_wakes[to]);
}

void link_hand_in(struct link *link, uint32_t edge, struct job *job)
{
    struct edge_link *mine = &link->each[edge];
    job->edge = edge;
    /* There are fewer jobs than slots. */
    if (job_kind_is_view(job->kind)) {
        view_hand_in(link, mine, job);
        return;
    }
    invariant(ring_push(job_share_is_urgent(job->share) ? &mine->urgent : &mine->usual, &job));
    wake_signal(link->worker);
}

/* The next job of a ring, which has room for another one then; NULL: none. */
static struct job *job_of(struct ring *ring)
{
    struct job **slot = ring_peek(ring);
    struct job *job = slot == NULL ? NULL : *slot;
    if (job != NULL) {
        ring_pop(ring);
        ring_release(ring);
    }
    return job;
}

static bool view_take_back(struct link *link, struct edge_link *mine, struct link_note *note)
{
    for (uint32_t i = 0; i < link->view_readers; i++) {
        struct job *job = job_of(&mine->views[i].answered);
        if (job == NULL)
            continue;
        mine->views[i].there--;
        *note = (struct link_note){ .job = job };
        return true;
    }
    return false;
}

static bool note_take(struct ring *ring, struct link_note *note)
{
    const struct link_note *slot = ring_peek(ring);
    if (slot != NULL) {
        *note = *slot;
        ring_pop(ring);
    }
    ring_release(ring);
    return slot != NULL;
}

bool link_take_back(struct link *link, uint32_t edge, struct link_note *note)
{
    return note_take(&link->each[edge].notes, note) || view_take_back(link, &link->each[edge], note);
}

bool link_others_take(struct link *link, struct link_note *note)
{
    return link->listeners > link->edges && note_take(&link->each[link->edges].notes, note);
}

struct job *link_next(struct link *link, uint32_t edge, bool urgent)
{
    return job_of(urgent ? &link->each[edge].urgent : &link->each[edge].usual);
}

struct job *link_view_next(struct link *link, uint32_t reader, uint32_t edge)
{
    return job_of(&link->each[edge].views[reader].asked);
}

void link_view_return(struct link *link, uint32_t reader, struct job *job)
{
    const struct edge_link *edge = &link->each[job->edge];
    invariant(ring_push(&edge->views[reader].answered, &job));
    wake_signal(edge->wake);
}

static void say(struct link *link, struct edge_link *edge, const struct link_note *note)
{
    invariant(ring_put(&edge->notes, note));
    edge->told = true;
    if (!link->held)
        ring_publish(&edge->notes);
}

void link_return(struct link *link, struct job *job)
{
    say(link, &link->each[job->edge], &(struct link_note){ .job = job });
}

/* Room is kept for all jobs. */
static void tell(struct link *link, struct edge_link *edge, const struct link_note *note)
{
    if (ring_written(&edge->notes) < NOTE_SLOTS - JOB_SLOTS)
        say(link, edge, note);
    else
        edge->missed = true;
}

static void tell_some(struct link *link, uint32_t listeners, ticket_number ticket, user_id user)
{
    const struct link_note note = { .ticket = ticket, .user = user };
    for (uint32_t i = 0; i < listeners; i++)
        tell(link, &link->each[i], &note);
}

void link_order_changed(struct link *link, ticket_number ticket, user_id user)
{
    tell_some(link, link->listeners, ticket, user);
}

void link_order_heard(struct link *link, ticket_number ticket, user_id user)
{
    tell_some(link, link->edges, ticket, user);
}

void link_many_changed(struct link *link)
{
    for (uint32_t i = 0; i < link->edges; i++)
        link->each[i].missed = true;
}

void link_hold(struct link *link)
{
    link->held = true;
}

void link_release(struct link *link)
{
    link->held = false;
    for (uint32_t i = 0; i < link->listeners; i++)
        ring_publish(&link->each[i].notes);
}

void link_flush(struct link *link)
{
    if (link->held)
        return;
    for (uint32_t i = 0; i < link->listeners; i++) {
        struct edge_link *edge = &link->each[i];
        if (edge->missed) {
            edge->missed = false;
            tell(link, edge, &(struct link_note){ .ticket = 0 });
        }
        if (edge->told)
            wake_signal(edge->wake);
        edge->told = false;
    }
}

void link_health_set(struct link *link, const struct worker_health *health)
{
    atomic_store(&link->away, health->away);
    atomic_store(&link->stopped, health->stopped);
    atomic_store(&link->lag, health->lag);
    atomic_store(&link->reason, health->reason);
    atomic_store(&link->asks_since_ms, 0);
}

void link_health_asks(struct link *link, uint64_t since_ms)
{
    atomic_store(&link->asks_since_ms, since_ms);
}

void link_health_from(
    struct link *link, void (*ask)(void *context, struct worker_health *health), void *context)
{
    link->ask = ask;
    link->ask_context = context;
}

void link_health(const struct link *link, uint64_t now_ms, struct worker_health *health)
{
    const uint64_t since_ms = atomic_load(&link->asks_since_ms);
    const bool silent = since_ms != 0 && now_ms > since_ms + DATABASE_SILENT_MS;
    *health = (struct worker_health){ .away = atomic_load(&link->away) || silent,
        .stopped = atomic_load(&link->stopped),
        .lag = atomic_load(&link->lag),
        .reason = atomic_load(&link->reason) };
    if (link->ask == NULL)
        return;
    struct worker_health now = { 0 };
    link->ask(link->ask_context, &now);
    health->away |= now.away;
    health->stopped |= now.stopped;
    if (now.reason != NULL)
        health->reason = now.reason;
}

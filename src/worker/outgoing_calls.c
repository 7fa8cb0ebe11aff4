/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/outgoing_calls.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "outgoing/courier.h"
#include "worker/task.h"

enum { ANSWERS_PER_TURN = 32 }; /* so that jobs don't wait for all of them */

#define CALL_TIMES(client, label) \
    [CALL_##client] = { .name = "stampede_outgoing_call_seconds", \
        .labels = "to=\"" label "\"", \
        .help = \
            "From handing a call to the courier to its answer or failure, by who is called." },
static struct histogram times[CALL_CLIENTS] = { CALL_CLIENT_LIST(CALL_TIMES) };
HISTOGRAM_TABLE(times);
GAUGE(calls_open, "stampede_outgoing_calls_open", "Calls to the outside that wait or are under way.");
GAUGE(calls_max, "stampede_outgoing_calls_max", "The bound of them.");

struct outgoing_calls {
    struct courier *courier;
    uint32_t open;
    struct {
        void (*answered)(void *self, uint64_t id, const struct outgoing_call *call);
        void *self;
    } clients[CALL_CLIENTS];
};

static uint64_t calls_turn(void *self, uint64_t now_ms)
{
    struct outgoing_calls *calls = self;
    struct outgoing_call *call = NULL;
    for (uint32_t done = 0;
         done < ANSWERS_PER_TURN && (call = courier_collect(calls->courier)) != NULL; done++) {
        const uint64_t client = call->tag >> CALL_CLIENT_SHIFT;
        invariant(client < CALL_CLIENTS && calls->clients[client].answered != NULL);
        histogram_note(&times[client], (clock_monotonic_ns() - call->sent_ns) / 1000);
        calls->clients[client].answered(calls->clients[client].self,
            call->tag & (((uint64_t)1 << CALL_CLIENT_SHIFT) - 1), call);
        outgoing_call_give(calls, call);
    }
    return call != NULL ? now_ms : TASK_IDLE;
}

static void calls_close(void *self)
{
    struct outgoing_calls *calls = self;
    courier_close(calls->courier);
}

enum status outgoing_calls_open(
    struct outgoing_calls **out, struct arena *arena, struct wake *wake, struct task *task)
{
    struct outgoing_calls *calls = arena_take(arena, 1, sizeof *calls);
    *out = calls;
    *task = (struct task){
        .name = "outgoing calls", .self = calls, .turn = calls_turn, .close = calls_close, .listens = true
    };
    metric_set(&calls_max, COURIER_CALLS_MAX);
    return courier_open(&calls->courier, COURIER_CALLS_MAX, wake);
}

struct courier *outgoing_calls_courier(struct outgoing_calls *calls)
{
    return calls->courier;
}

void outgoing_calls_listen(struct outgoing_calls *calls, enum call_client client,
    void (*answered)(void *self, uint64_t id, const struct outgoing_call *call), void *self)
{
    calls->clients[client].answered = answered;
    calls->clients[client].self = self;
}

struct outgoing_call *outgoing_call_take(struct outgoing_calls *calls)
{
    struct outgoing_call *call = courier_take(calls->courier);
    if (call != NULL)
        metric_set(&calls_open, ++calls->open);
    return call;
}

void outgoing_call_send(
    struct outgoing_calls *calls, enum call_client client, uint64_t id, struct outgoing_call *call)
{
    invariant(id >> CALL_CLIENT_SHIFT == 0);
    call->tag = (uint64_t)client << CALL_CLIENT_SHIFT | id;
    call->sent_ns = clock_monotonic_ns();
    courier_send(calls->courier, call);
}

void outgoing_call_give(struct outgoing_calls *calls, struct outgoing_call *call)
{
    courier_give(calls->courier, call);
    metric_set(&calls_open, --calls->open);
}

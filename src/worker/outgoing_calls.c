/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/outgoing_calls.h"

#include "base/arena.h"
#include "outgoing/courier.h"
#include "worker/task.h"

enum { ANSWERS_PER_TURN = 32 }; /* so that jobs don't wait for all of them */

struct outgoing_calls {
    struct courier *courier;
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
        calls->clients[client].answered(calls->clients[client].self,
            call->tag & (((uint64_t)1 << CALL_CLIENT_SHIFT) - 1), call);
        courier_give(calls->courier, call);
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
    return courier_take(calls->courier);
}

void outgoing_call_send(
    struct outgoing_calls *calls, enum call_client client, uint64_t id, struct outgoing_call *call)
{
    invariant(id >> CALL_CLIENT_SHIFT == 0);
    call->tag = (uint64_t)client << CALL_CLIENT_SHIFT | id;
    courier_send(calls->courier, call);
}

void outgoing_call_give(struct outgoing_calls *calls, struct outgoing_call *call)
{
    courier_give(calls->courier, call);
}

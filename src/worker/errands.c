/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/errands.h"

#include "api/job.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/admin_store.h"
#include "contract/inventory.h"
#include "contract/order_store.h"
#include "worker/fiber.h"
#include "worker/job_group.h"
#include "worker/task.h"

enum {
    ERRANDS_MAX = 1 + SHARED_ERRANDS, /* the first is the operators' */
    BUSY_MS = 20,                     /* until a task tries again for the operators' lane */
};

struct errand {
    struct fiber *fiber;
    void (*run)(void *self, void *what);
    void *self, *what;
    struct job *acting; /* the administrator's request that it carries out; NULL: none */
    /* What it waits for. */
    uint64_t tag; /* the first of `asked`; 0: it does not wait */
    uint32_t asked, answered;
    uint64_t give_up_ms;
    struct outcome *outcome;
};

struct errands {
    struct errands_config config;
    struct errand errands[ERRANDS_MAX];
    struct errand *current; /* the one that runs now; NULL: none */
    uint64_t next_tag;
    bool ending;
};

static struct errand *place_find(struct errands *errands, enum lane lane)
{
    const uint32_t first = lane == LANE_OPERATORS ? 0 : 1;
    const uint32_t end = lane == LANE_OPERATORS ? 1 : ERRANDS_MAX;
    for (uint32_t i = first; i < end; i++)
        if (fiber_is_free(errands->errands[i].fiber))
            return &errands->errands[i];
    return NULL;
}

bool errands_has_room(struct errands *errands, enum lane lane)
{
    return place_find(errands, lane) != NULL;
}

static void errand_main(void *argument)
{
    struct errand *errand = argument;
    errand->run(errand->self, errand->what);
}

bool errands_begin(struct errands *errands, enum lane lane, void (*run)(void *self, void *what),
    void *self, void *what)
{
    struct errand *errand = place_find(errands, lane);
    invariant(errands->current == NULL);
    if (errand == NULL)
        return false;
    *errand = (struct errand){ .fiber = errand->fiber, .run = run, .self = self, .what = what };
    job_group_join(errands->config.group, lane == LANE_SHARED);
    errands->current = errand;
    fiber_start(errand->fiber, errand_main, errand);
    errands->current = NULL;
    return true;
}

uint64_t errands_own(struct errands *errands, void (*run)(void *self, void *unused), void *self,
    bool *running, uint64_t now_ms)
{
    if (*running)
        return TASK_IDLE;
    *running = true;
    if (errands_begin(errands, LANE_OPERATORS, run, self, NULL))
        return *running ? TASK_IDLE : now_ms;
    *running = false;
    return now_ms + BUSY_MS; /* an operator's change is under way */
}

void errands_acting(struct errands *errands, struct job *job)
{
    invariant(errands->current != NULL);
    errands->current->acting = job;
}

/* ---- asking ---- */

/* What an errand wants to know. */
struct question {
    void (*fill)(void *context, uint32_t index, struct command *command);
    void *context;
    uint32_t next, count; /* of its commands */
    bool changes;
};

/* As many as fit are on their way. Answers how many. */
static uint32_t commands_send(struct errands *errands, struct question *question)
{
    struct errand *errand = errands->current;
    struct inventory_port *port = errands->config.port;
    struct inventory_request *request;
    uint32_t sent = 0;
    errand->tag = errands->next_tag + 1;
    while (sent < ASK_TOGETHER_MAX && question->next < question->count && !errands->ending
        && (request = port->ops->reserve(port)) != NULL) {
        *request = (struct inventory_request){ .tag = ++errands->next_tag };
        question->fill(question->context, question->next++, &request->command);
        question->changes = request->command.type < COMMAND_LOGGED_COUNT;
        if (errand->acting != NULL)
            origin_fill(errands->config.keys, errand->acting, &request->command);
        port->ops->commit(port);
        sent++;
    }
    if (question->changes)
        job_group_end(errands->config.group);
    port->ops->flush(port);
    errand->asked = sent;
    errand->answered = 0;
    return sent;
}

/* Parked until all answers are there, or they are given up. True: they are. */
static bool answers_wait(struct errands *errands, struct errand *errand)
{
    errand->give_up_ms = clock_now_ms() + ASK_MS;
    fiber_park(errand->fiber);
    invariant(errands->current == errand);
    errand->tag = 0;
    return errand->answered == errand->asked;
}

static bool was_refused(const struct outcome *outcome)
{
    return outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED;
}

enum status errands_ask_all(struct errands *errands, uint32_t count,
    void (*fill)(void *context, uint32_t index, struct command *command), void *context,
    struct outcome *outcome)
{
    struct errand *errand = errands->current;
    struct order_store *store = errands->config.store;
    struct question question = { .fill = fill, .context = context, .count = count };
    invariant(errand != NULL);
    *outcome = (struct outcome){ .answer = ANSWER_DONE };
    errand->outcome = outcome;
    while (question.next < count && !was_refused(outcome)) {
        const bool first = question.next == 0;
        const bool together =
            store->ops->admin->pause(store); /* a command ends the group that it is a part of */
        if (commands_send(errands, &question) == 0) {
            errand->tag = 0;
            if (together && store->ops->admin->begin(store) != STATUS_OK)
                log_warn("worker", "the database is away: an operator's request can't go on");
            return first || !question.changes ? STATUS_AWAY : STATUS_UNKNOWN;
        }
        bool known = answers_wait(errands, errand);
        const bool changed = known ? outcome->changed || outcome->repeated : question.changes;
        if (errand->acting != NULL)
            errand->acting->commanded |= changed;
        if (together && store->ops->admin->begin(store) != STATUS_OK)
            known = false;
        if (!known)
            return question.changes ? STATUS_UNKNOWN : STATUS_AWAY;
    }
    return STATUS_OK;
}

static void command_copy(void *context, uint32_t index, struct command *command)
{
    const struct command *const *one = context;
    (void)index;
    *command = **one;
}

enum status errands_ask(struct errands *errands, const struct command *command, struct outcome *outcome)
{
    return errands_ask_all(errands, 1, command_copy, &command, outcome);
}

/* ---- answers ---- */

static void errand_resume(struct errands *errands, struct errand *errand)
{
    job_group_join(errands->config.group, errand != &errands->errands[0]);
    errands->current = errand;
    fiber_resume(errand->fiber);
    errands->current = NULL;
}

/* The first that was refused stays. */
static void outcome_add(struct outcome *sum, const struct outcome *one)
{
    const struct outcome before = *sum;
    if (!was_refused(&before))
        *sum = *one;
    sum->applied = before.applied + one->applied;
    sum->changed = before.changed || one->changed;
    sum->repeated = before.repeated || one->repeated;
}

static void answer_take(struct errands *errands, const struct inventory_answer *answer)
{
    for (uint32_t i = 0; i < ERRANDS_MAX; i++) {
        struct errand *errand = &errands->errands[i];
        if (errand->tag == 0 || answer->tag - errand->tag >= errand->asked)
            continue;
        outcome_add(errand->outcome, &answer->outcome);
        errand->answered++;
        return;
    } /* none: it came too late for the one who asked */
}

static uint64_t errands_turn(void *self, uint64_t now_ms)
{
    struct errands *errands = self;
    struct inventory_port *port = errands->config.port;
    const struct inventory_answer *answer;
    uint64_t next_ms = TASK_IDLE;
    while ((answer = port->ops->collect(port)) != NULL)
        answer_take(errands, answer);
    const bool failed = errands->ending || inventory_failed(errands->config.inventory);
    for (uint32_t i = 0; i < ERRANDS_MAX; i++) {
        struct errand *errand = &errands->errands[i];
        if (errand->tag == 0)
            continue;
        if (errand->answered == errand->asked || failed || now_ms >= errand->give_up_ms)
            errand_resume(errands, errand);
        if (errand->tag != 0 && errand->give_up_ms < next_ms)
            next_ms = errand->give_up_ms;
    }
    return next_ms;
}

/* Each errand that waits gets no answer and ends; none can ask again. */
static void errands_end(void *self, uint64_t now_ms)
{
    struct errands *errands = self;
    errands->ending = true;
    (void)errands_turn(errands, now_ms);
}

static void errands_close(void *self)
{
    struct errands *errands = self;
    for (uint32_t i = 0; i < ERRANDS_MAX; i++)
        fiber_close(errands->errands[i].fiber);
}

enum status errands_open(struct errands **out, struct arena *arena,
    const struct errands_config *config, struct task *task)
{
    struct errands *errands = arena_take(arena, 1, sizeof *errands);
    enum status status = STATUS_OK;
    *out = errands;
    errands->config = *config;
    *task = (struct task){ .name = "errands",
        .self = errands,
        .turn = errands_turn,
        .end = errands_end,
        .close = errands_close,
        .listens = true };
    for (uint32_t i = 0; i < ERRANDS_MAX && status == STATUS_OK; i++)
        status = fiber_open(&errands->errands[i].fiber);
    return status;
}

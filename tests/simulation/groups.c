/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that share a commit, as the worker lets the jobs of a round share one (worker/job_group.h): the
 * real group and the real link to an edge, which is told. Power may fail at any moment of it. */
#include "api/job.h"
#include "api/link.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"
#include "worker/job_group.h"
#include "worker/task.h"

#include <string.h>

enum { GROUP_MOVES = 6, RESPONSE_BYTES = 4096, GROUP_ARENA = 1 << 16 };

struct group_job {
    struct job job; /* first */
    struct order_move move;
    struct order after;
    uint8_t answer;
    char response[RESPONSE_BYTES];
};

struct group_run {
    struct world *world;
    struct arena arena;
    struct wake wake;
    struct link *link;
    struct job_group *group;
    struct task task;
    struct group_job jobs[GROUP_MOVES];
    uint32_t count;
};

static void run_open(struct group_run *run, struct world *world)
{
    run->world = world;
    const bool opened = arena_open(&run->arena, GROUP_ARENA) == STATUS_OK
        && wake_open(&run->wake) == STATUS_OK && link_open(&run->link, 1, 1) == STATUS_OK;
    invariant(opened);
    link_edge_wake(run->link, 0, &run->wake);
    run->group = job_group_open(&run->arena, &world->sim_store.store, run->link, &run->task);
}

static void run_close(struct group_run *run)
{
    link_close(run->link);
    wake_close(&run->wake);
    arena_close(&run->arena);
}

/* What the edge sees by now is told, whatever happens next. */
static void answers_hear(struct group_run *run)
{
    struct link_note note;
    while (link_take_back(run->link, 0, &note)) {
        const struct group_job *row = (const struct group_job *)note.job;
        trace_step("told", row->move.ticket, row->move.event, (uint64_t)row->job.status);
        if (row->job.status == 200)
            world_move_told(run->world, &row->move, &row->after, row->answer);
    }
}

static void moves_choose(struct group_run *run)
{
    struct world *world = run->world;
    const uint64_t numbers = (world->model.ticket_count + 1) / 2;
    run->count = 2 + (uint32_t)world_below(world, GROUP_MOVES - 1);
    for (uint32_t i = 0; i < run->count; i++) {
        struct group_job *row = &run->jobs[i];
        const ticket_number ticket = world_below(world, numbers) * 2 + 1;
        memset(&row->job, 0, sizeof row->job);
        row->move = world_move_choose(world, ticket);
        row->job.kind = JOB_ADMIN;
        row->job.share = SHARE_SHOP;
        row->job.response = row->response;
        row->job.response_bytes = sizeof row->response;
        world_look(world, ticket);
    }
}

static void job_run(struct group_run *run, struct group_job *row)
{
    struct order_store *store = run->world->store;
    job_group_join(run->group, true);
    run->world->by_hand[row->move.ticket] |= row->move.event == ORDER_EVENT_REFUND;
    const enum status status = store->ops->orders_move(store, &row->move, 1, &row->after, &row->answer);
    row->job.status = status == STATUS_OK ? 200 : 503;
    trace_step("grouped", row->move.ticket, row->move.event, status == STATUS_OK ? row->answer : 100u);
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED)
        violation("orders", "the store fails a move: %s", status_name(status));
    job_group_answer(run->group, &row->job);
    answers_hear(run);
}

/* False: power failed. */
static bool jobs_run(struct group_run *run)
{
    struct world *world = run->world;
    const bool sqlite = world->store_kind == WORLD_STORE_SQLITE;
    const uint64_t dies_before = world_below(world, 10 * run->count);
    if (sqlite && world_chance(world, 10))
        sim_vfs_crash_in((uint32_t)world_below(world, 30));
    for (uint32_t i = 0; i < run->count; i++) {
        if (i == dies_before)
            return false;
        job_run(run, &run->jobs[i]);
        if (sqlite && sim_vfs_dead())
            return false;
    }
    job_group_end(run->group);
    if (sqlite && sim_vfs_dead())
        return false;
    answers_hear(run);
    return true;
}

void world_group(struct world *world)
{
    static struct group_run run; /* large */
    if (world->model.ticket_count == 0 || world->sim_store.away)
        return;
    run_open(&run, world);
    moves_choose(&run);
    const bool lives = jobs_run(&run);
    sim_vfs_crash_not();
    run_close(&run);
    if (!lives)
        world_crash(world);
}

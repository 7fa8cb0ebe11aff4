/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker_parts.h: the worker as its request handlers see it: the configuration, the time,
 * and the tasks, each known by its own header. Nobody outside of src/worker includes it. Thread:
 * the worker's. */
#ifndef STAMPEDE_WORKER_WORKER_PARTS_H
#define STAMPEDE_WORKER_WORKER_PARTS_H

#include "base/arena.h"
#include "base/thread.h"
#include "worker/errands.h"
#include "worker/job_line.h"
#include "worker/order_news.h"
#include "worker/order_recent.h"
#include "worker/order_views.h"
#include "worker/selling_rest.h"
#include "worker/task.h"
#include "worker/worker.h"

struct alarm_checks;
struct anomaly_findings;
struct ban_list;
struct catalog_updates;
struct high_water_mark;
struct job_group;
struct leadership;
struct mails;
struct members;
struct money;
struct order_writing;
struct outgoing_calls;
struct payment_waits;
struct reconcile_runs;
struct returns;
struct history;
struct room_driver;
struct sale_report;
struct sandbox_api;
struct store_readers;
struct unpaid_orders;
struct view_readers;
struct webhooks;

/* In the order of their turns. */
enum worker_task {
    TASK_ERRANDS,
    TASK_GROUP, /* what jobs and errands have changed is committed and told */
    TASK_LEADERSHIP,
    TASK_MEMBERS,
    TASK_HOLD,
    TASK_CHANGES,
    TASK_ROOMS,
    TASK_CALLS,
    TASK_SANDBOX,
    TASK_READERS,
    TASK_VIEWS,
    TASK_MONEY,
    TASK_FINDINGS,
    TASK_PICTURES,
    TASK_BANS,
    TASK_ORDERS,
    TASK_UNPAID,
    TASK_RETURNS,
    TASK_PAYMENT_WAITS,
    TASK_BOOKINGS,
    TASK_TIMETABLES,
    TASK_SCHEDULE,
    TASK_REPORT,
    TASK_HISTORY,
    TASK_ALARMS,
    TASK_BOUNDS,
    TASK_CROWD,
    TASK_TRENDS,
    TASK_MESSAGES, /* alarms that are to be told */
    TASK_TRACES,
    TASK_RECLAIM,
    TASK_ARCHIVING,
    TASK_BUYERS,
    TASK_RECONCILE,
    TASK_CUSTOMERS,
    TASK_WEBHOOKS,
    TASK_MAILS,
    TASK_CATALOG,
    TASK_HOLDERS, /* after the first catalog: from then on buyers are told by the inventory */
    TASK_PAGES,
    TASK_HIGH_WATER, /* the last: it marks what the others wrote */
    WORKER_TASKS,
};

/* worker.c: for the readers of the database (worker/store_readers.h). */
void worker_read_job(void *self, struct order_store *reader, struct job *job);
void worker_job_read(void *self, struct job *job);

struct worker {
    struct arena arena;
    struct worker_config config;
    struct wake wake;
    uint64_t now_ms;    /* of the present round */
    uint64_t others_ms; /* the leader's next look at what other processes have written */
    struct task tasks[WORKER_TASKS];
    struct selling_rest rest;
    struct job_line operators, buyers; /* until an errand can be begun for them */
    _Atomic bool stop, ended;

    struct errands *errands;
    uint64_t deposits[SHARED_ERRANDS]; /* bookings whose deposit is asked for right now; 0: none */
    struct job_group *group;
    struct order_news news;
    struct order_recent recent;
    struct order_views views;
    struct alarm_checks *alarms;
    struct anomaly_findings *findings;
    struct ban_list *bans;
    struct catalog_updates *catalog;
    struct high_water_mark *high_water;
    struct history *history;
    struct leadership *leadership;
    struct mails *mails;
    struct members *members;
    struct money *money;
    struct order_writing *orders;
    struct outgoing_calls *calls;
    struct page_export *pages;
    struct payment_waits *payment_waits;
    struct purchase_traces *traces; /* NULL: none is followed */
    struct reconcile_runs *reconciling;
    struct returns *returns;
    struct room_driver *rooms;
    struct sale_report *report;
    struct sandbox_api *sandbox;
    struct store_readers *readers;
    struct unpaid_orders *unpaid;
    struct view_readers *view_readers;
    struct webhooks *webhooks;
};

#endif

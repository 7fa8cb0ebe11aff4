/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/keeper_kit.h"

#include "base/clock.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- waiting ---- */

uint64_t kit_now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

bool kit_still(uint64_t since_ms, const char *what)
{
    if (kit_now_ms() - since_ms > PATIENCE_MS)
        fail_msg("not within a minute: %s", what);
    usleep(2000);
    return true;
}

/* ---- keepers ---- */

static void changed(void *context, ticket_number ticket, user_id user)
{
    struct worker *worker = context;
    pthread_mutex_lock(&worker->guard);
    worker->heard.changed++;
    worker->heard.strange += ticket == 0 || user == 0;
    pthread_mutex_unlock(&worker->guard);
}

static void alarm_note(void *context, uint32_t part, const char *what)
{
    struct worker *worker = context;
    struct heard *heard = &worker->heard;
    pthread_mutex_lock(&worker->guard);
    heard->strange += part < SHOP_PART;
    if (what == NULL)
        heard->cleared++;
    else if (heard->alarms++ == 0)
        snprintf(heard->first_alarm, sizeof heard->first_alarm, "%s", what);
    pthread_mutex_unlock(&worker->guard);
}

static struct keeper_config config_make(
    struct order_store *store, const struct shop *shop, uint64_t holder, uint32_t lease_ms)
{
    return (struct keeper_config){ .store = store,
        .redis = shop->config,
        .data_id = shop->data_id,
        .engine = parts_engine,
        .holder = holder,
        .lag_max = KEPT_LAG_MAX,
        .timeout_ms = 5000,
        .lease_ms = lease_ms,
        .parts_max = 16 };
}

void kept_start(struct worker *worker, const struct place *place, const struct shop *shop,
    uint64_t holder, uint32_t lease_ms)
{
    char error[200];
    memset(worker, 0, sizeof *worker);
    pthread_mutex_init(&worker->guard, NULL);
    assert_int_equal(sqlite_store_open(&worker->store, place->path, NULL, error, sizeof error), STATUS_OK);
    struct keeper_config config = config_make(worker->store, shop, holder, lease_ms);
    config.changed = changed;
    config.alarm = alarm_note;
    config.context = worker;
    assert_int_equal(keeper_open(&worker->keeper, &config), STATUS_OK);
    assert_int_equal(thread_start(&worker->thread, "keeper", keeper_run, worker->keeper), STATUS_OK);
}

void kept_stop(struct worker *worker)
{
    if (worker->keeper == NULL)
        return;
    keeper_stop(worker->keeper);
    thread_join(&worker->thread);
    assert_int_equal(worker->heard.strange, 0);
    keeper_close(worker->keeper);
    worker->store->ops->close(worker->store);
    worker->keeper = NULL;
}

struct keeper_health kept_health(const struct worker *worker)
{
    struct keeper_health found;
    keeper_health_read(worker->keeper, &found);
    return found;
}

struct heard kept_heard(struct worker *worker)
{
    pthread_mutex_lock(&worker->guard);
    const struct heard copy = worker->heard;
    pthread_mutex_unlock(&worker->guard);
    return copy;
}

void child_start(struct child *child, const struct place *place, const struct shop *shop)
{
    char data_id[24];
    snprintf(data_id, sizeof data_id, "%016" PRIx64, shop->data_id);
    *child = (struct child){ place, fork() };
    assert_true(child->id >= 0);
    if (child->id == 0) {
        execl("/proc/self/exe", "keeper", "keep", place->path, data_id, (char *)NULL);
        _exit(1);
    }
}

void child_kill(struct child *child)
{
    if (child->id <= 0)
        return;
    kill(child->id, SIGKILL);
    assert_int_equal(waitpid(child->id, NULL, 0), child->id);
    child->id = 0;
}

/* A process that is halted inside of a transaction would keep the file locked. */
void child_halt(struct child *child)
{
    sqlite3 *database;
    int status;
    assert_int_equal(sqlite3_open(child->place->path, &database), SQLITE_OK);
    EVENTUALLY(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    kill(child->id, SIGSTOP);
    assert_int_equal(waitpid(child->id, &status, WUNTRACED), child->id);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

void child_go_on(struct child *child)
{
    kill(child->id, SIGCONT);
}

int child_run(const char *addresses, char **words)
{
    struct shop shop = { 0 };
    struct order_store *store;
    struct keeper *keeper;
    struct span bad;
    char error[200];
    if (redis_nodes_read(span_from_string(addresses), shop.config.seeds, REDIS_SEEDS_MAX,
            &shop.config.seed_count, &bad)
            != STATUS_OK
        || span_to_hex64(span_from_string(words[1]), &shop.data_id) != STATUS_OK
        || sqlite_store_open(&store, words[0], NULL, error, sizeof error) != STATUS_OK)
        return 1;
    const struct keeper_config config = config_make(store, &shop, 1, LEASE_MS);
    if (keeper_open(&keeper, &config) != STATUS_OK)
        return 1;
    keeper_run(keeper); /* until it is killed */
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/password_checks.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/thread.h"
#include "contract/limits.h"
#include "funnel/lockout.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE_MS = 60 * 1000 };
enum state { STATE_FREE, STATE_WAITS, STATE_DONE };

struct place {
    enum state state;
    uint64_t order; /* the earliest goes first */
    uint32_t edge;
    struct address group;
    struct password_check check;
    bool right;
    size_t size;
    char password[PASSWORD_BYTES_MAX];
};
struct password_checks {
    pthread_mutex_t lock;
    struct lockout *lockout;
    struct thread thread;
    struct wake work;
    _Atomic bool stop;
    uint32_t v6_bits;
    uint64_t orders;
    uint8_t salt[PASSWORD_SALT_BYTES]; /* for names that nobody has */
    struct place places[PASSWORD_CHECKS_MAX];
    _Atomic uint32_t done[EDGES_MAX]; /* so that an edge without any looks at nothing else */
    struct wake *wakes[EDGES_MAX];
};

enum status password_checks_open(struct password_checks **out, uint32_t v6_bits)
{
    struct password_checks *checks = calloc(1, sizeof *checks);
    struct hash_key key;
    *out = checks;
    if (checks == NULL)
        return STATUS_FULL;
    checks->v6_bits = v6_bits;
    random_secret(checks->salt, sizeof checks->salt);
    invariant(pthread_mutex_init(&checks->lock, NULL) == 0);
    if (wake_open(&checks->work) != STATUS_OK)
        return STATUS_FULL;
    random_secret(&key, sizeof key);
    return lockout_open(&checks->lockout, key, v6_bits);
}

void password_checks_close(struct password_checks *checks)
{
    if (checks == NULL)
        return;
    if (checks->thread.started) {
        atomic_store(&checks->stop, true);
        wake_signal(&checks->work);
        thread_join(&checks->thread);
    }
    wake_close(&checks->work);
    lockout_close(checks->lockout);
    pthread_mutex_destroy(&checks->lock);
    explicit_bzero(checks, sizeof *checks);
    free(checks);
}

void password_checks_wake(struct password_checks *checks, uint32_t edge, struct wake *wake)
{
    invariant(edge < EDGES_MAX);
    checks->wakes[edge] = wake;
}

/* ---- edges */

static enum password_place place_find(
    struct password_checks *checks, const struct address *group, struct place **found)
{
    *found = NULL;
    for (uint32_t i = 0; i < PASSWORD_CHECKS_MAX; i++) {
        struct place *place = &checks->places[i];
        if (place->state == STATE_FREE)
            *found = place;
        else if (address_equal(&place->group, group))
            return PASSWORD_ONE_WAITS;
    }
    return *found == NULL ? PASSWORD_FULL : PASSWORD_WAITS;
}

enum password_place password_checks_add(struct password_checks *checks, uint32_t edge,
    const struct password_check *check, struct span password)
{
    const struct address group = address_group(&check->client, checks->v6_bits);
    struct place *place;
    invariant(password.size <= PASSWORD_BYTES_MAX);
    pthread_mutex_lock(&checks->lock);
    const enum password_place answer = place_find(checks, &group, &place);
    if (answer == PASSWORD_WAITS) {
        *place = (struct place){ .state = STATE_WAITS,
            .order = ++checks->orders,
            .edge = edge,
            .group = group,
            .check = *check,
            .size = password.size };
        memcpy(place->password, password.data, password.size);
        if (!check->known)
            memcpy(place->check.salt, checks->salt, sizeof checks->salt);
    }
    pthread_mutex_unlock(&checks->lock);
    if (answer == PASSWORD_WAITS)
        wake_signal(&checks->work);
    return answer;
}

bool password_checks_take(
    struct password_checks *checks, uint32_t edge, struct password_check *check, bool *right)
{
    bool found = false;
    if (atomic_load_explicit(&checks->done[edge], memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&checks->lock);
    for (uint32_t i = 0; i < PASSWORD_CHECKS_MAX && !found; i++) {
        struct place *place = &checks->places[i];
        found = place->state == STATE_DONE && place->edge == edge;
        if (!found)
            continue;
        *check = place->check;
        *right = place->right;
        *place = (struct place){ 0 };
        atomic_fetch_sub(&checks->done[edge], 1);
    }
    pthread_mutex_unlock(&checks->lock);
    return found;
}

uint32_t password_checks_wait_ms(
    struct password_checks *checks, const struct address *client, uint64_t now_ms)
{
    return lockout_wait_ms(checks->lockout, client, now_ms);
}

void password_checks_failed(struct password_checks *checks, const struct address *client, uint64_t now_ms)
{
    lockout_failed(checks->lockout, client, now_ms);
}

/* ---- the thread */

static struct place *place_next(struct password_checks *checks)
{
    struct place *next = NULL;
    for (uint32_t i = 0; i < PASSWORD_CHECKS_MAX; i++) {
        struct place *place = &checks->places[i];
        if (place->state == STATE_WAITS && (next == NULL || place->order < next->order))
            next = place;
    }
    return next;
}

/* Only this thread takes a place from WAITS to DONE, and edges leave it alone until then: so it is read
 * without the lock. */
static bool password_is_right(const struct place *place)
{
    uint8_t hash[HASH_SHA256_BYTES];
    const struct password_check *check = &place->check;
    if (password_hash(span_of(place->password, place->size), check->salt, hash) != STATUS_OK) {
        log_error("admin", "no memory to hash a password: the sign-in is refused");
        return false;
    }
    const bool equal =
        span_equal_constant_time(span_of(hash, sizeof hash), span_of(check->expected, sizeof hash));
    explicit_bzero(hash, sizeof hash);
    return equal && check->known;
}

/* False: nothing waits. */
static bool check_one(struct password_checks *checks)
{
    pthread_mutex_lock(&checks->lock);
    struct place *place = place_next(checks);
    pthread_mutex_unlock(&checks->lock);
    if (place == NULL)
        return false;
    const bool right = password_is_right(place);
    const uint32_t edge = place->edge;
    pthread_mutex_lock(&checks->lock);
    explicit_bzero(place->password, sizeof place->password);
    place->right = right;
    place->state = STATE_DONE;
    atomic_fetch_add(&checks->done[edge], 1);
    pthread_mutex_unlock(&checks->lock);
    wake_signal(checks->wakes[edge]);
    return true;
}

static void checks_run(void *context)
{
    struct password_checks *checks = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&checks->stop))
        if (!check_one(checks))
            wake_wait(&checks->work, IDLE_MS);
}

enum status password_checks_start(struct password_checks *checks)
{
    return thread_start(&checks->thread, "passwords", checks_run, checks);
}

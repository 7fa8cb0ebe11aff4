/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_check.c: reconciliation asks whether Redis has what the log says
 * (contract/part_checks.h), and here the host answers, one step of a comparison in each turn:
 *
 *   DUE ── asks Redis ──► SENT ── the reply is of record H ──► LOG ── the replica has applied H: judged
 *    ▲                      │ is of one that the replica is past, of no use, or none                  │
 *    └──────────────────────┴──────────────────────────────────────────────────── the next step ◄────┘
 *
 * What the replica has applied is what the database keeps, which is never ahead of Redis. So each reply comes
 * to be judged at its own record, however fast both go on. */
#include "base/metrics.h"
#include "contract/part_checks.h"
#include "contract/ticket_number.h"
#include "inventory/redis/comparison.h"
#include "inventory/redis/opening.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

#include <stdio.h>
#include <stdlib.h>

COUNTER(differences, "stampede_partition_differences_total",
    "Fields of Redis that were not what the log of their partition says.");

enum {
    PACE_MS = 2,           /* between two steps: Redis and the host have other things to do */
    CHECK_MS = 10 * 1000,  /* for a step */
    RELOAD_MS = 20 * 1000, /* until a worker has opened the partition anew */
};

enum check_step { CHECK_IDLE, CHECK_DUE, CHECK_SENT, CHECK_LOG, CHECK_OPENING };

struct remote_check {
    struct part_checks checks; /* first: a part_checks from us is this */
    struct wake *host;
    _Atomic bool is_any_open;
    pthread_mutex_t guard; /* of: */
    bool is_asked;
    uint32_t asked_part;
    enum part_question asked;
    enum part_answer answer;
    struct part_differences answered;
    /* The host's. */
    enum check_step step;
    enum part_question question;
    struct partition *partition;
    size_t index;   /* of it, among all */
    uint32_t epoch; /* when the question was sent */
    uint64_t until_ms, again_ms;
    struct part_differences found;
    struct comparison comparison;
    struct image_walk compared[]; /* by partition: how far the last comparison went */
};

/* ---- whoever asks ---- */

static void check_ask(struct part_checks *checks, uint32_t part, enum part_question question)
{
    struct remote_check *check = (struct remote_check *)checks;
    pthread_mutex_lock(&check->guard);
    check->is_asked = true;
    check->asked_part = part;
    check->asked = question;
    check->answer = PART_WAIT;
    pthread_mutex_unlock(&check->guard);
    wake_signal(check->host);
}

static enum part_answer check_answer(struct part_checks *checks, struct part_differences *found)
{
    struct remote_check *check = (struct remote_check *)checks;
    pthread_mutex_lock(&check->guard);
    const enum part_answer answer = check->answer;
    if (answer == PART_DIFFERS)
        *found = check->answered;
    pthread_mutex_unlock(&check->guard);
    return answer;
}

static bool check_is_any_open(struct part_checks *checks)
{
    const struct remote_check *check = (const struct remote_check *)checks;
    return atomic_load_explicit(&check->is_any_open, memory_order_relaxed);
}

static const struct part_checks_ops check_ops = {
    .ask = check_ask, .answer = check_answer, .is_any_open = check_is_any_open
};

struct part_checks *remote_checks(struct remote_check *check)
{
    return &check->checks;
}

enum status remote_check_open(struct remote *remote)
{
    const size_t walks = remote->config.parts_max * sizeof(struct image_walk);
    struct remote_check *check = remote->check = calloc(1, sizeof *check + walks); /* 130 kB, and these */
    if (check == NULL)
        return STATUS_FULL;
    check->checks.ops = &check_ops;
    check->host = &remote->wake;
    pthread_mutex_init(&check->guard, NULL);
    return STATUS_OK;
}

void remote_check_close(struct remote_check *check)
{
    if (check != NULL)
        pthread_mutex_destroy(&check->guard);
    free(check);
}

/* ---- the host ---- */

static void end(struct remote_check *check, enum part_answer answer)
{
    struct partition *partition = check->partition;
    check->step = CHECK_IDLE;
    if (partition != NULL) {
        replica_watch(partition->replica, 0);
        partition->was_equal =
            answer == PART_OVER || (answer == PART_EQUAL && check->question <= PART_COMPARE_RECENT);
        check->compared[check->index] = check->comparison.walk;
    }
    pthread_mutex_lock(&check->guard);
    if (!check->is_asked) { /* or somebody wants to know something else by now */
        check->answer = answer;
        check->answered = check->found;
    }
    pthread_mutex_unlock(&check->guard);
}

/* Nothing is expected any more; what comes all the same opens the partition again. */
static bool is_over(const struct remote *remote, const struct partition *partition)
{
    const struct engine *engine = replica_engine(partition->replica);
    uint32_t over = 0;
    if (remote->config.keep_ms == 0)
        return false;
    for (sale_id id = 1; id < engine->config.sales_max; id++) {
        const struct engine_sale *sale = &engine->sales[id];
        if (sale->defined && !sale->ended && remote->now_ms < sale->end_ms)
            return false;
        over += sale->defined;
    }
    for (item_id item = 1; item < engine->config.items_max; item++)
        if (engine->items[item].sale != 0 && engine->items[item].held > 0)
            return false;
    return over > 0;
}

static void question_begin(struct remote *remote)
{
    struct remote_check *check = remote->check;
    struct partition *partition = check->partition;
    check->found = (struct part_differences){ 0 };
    check->until_ms = remote->now_ms + (check->question == PART_RELOAD ? RELOAD_MS : CHECK_MS);
    check->again_ms = 0;
    if (partition == NULL || partition->epoch == 0 || partition->rests
        || (check->question == PART_REST && !is_over(remote, partition))) {
        end(check, PART_NOT_OPEN);
        return;
    }
    const bool is_recent = check->question == PART_COMPARE_RECENT && partition->was_equal;
    check->step = CHECK_DUE;
    comparison_begin(
        &check->comparison, &partition->keys, is_recent ? &check->compared[check->index] : NULL);
}

/* A question that is on its way to Redis is waited for: its answer would be taken for that of the next. */
static void question_take(struct remote *remote)
{
    struct remote_check *check = remote->check;
    pthread_mutex_lock(&check->guard);
    const bool is_new = check->is_asked && check->step != CHECK_SENT;
    const uint32_t part = check->asked_part;
    const enum part_question question = check->asked;
    if (is_new)
        check->is_asked = false;
    pthread_mutex_unlock(&check->guard);
    if (!is_new)
        return;
    if (check->partition != NULL)
        replica_watch(check->partition->replica, 0);
    check->partition = remote_partition(remote, part);
    check->index = check->partition == NULL ? 0 : (size_t)(check->partition - remote->partitions);
    check->question = question;
    question_begin(remote);
}

static struct image_head head_of(
    const struct remote *remote, const struct remote_check *check, uint64_t seq, uint64_t time_ms)
{
    return (struct image_head){
        .epoch = check->partition->epoch, .seq = seq, .time_ms = time_ms, .lag_max = remote->config.lag_max
    };
}

static enum status words_send(struct remote *remote, struct redis_words words)
{
    const struct span key = remote->check->partition->keys.names[SCRIPT_KEY_PART];
    return redis_client_send(
        remote->client, key, CHECK_TAG, remote->now_ms + remote->config.timeout_ms, words);
}

/* The scripts of an opening that any process may call. */
static enum status script_send(struct remote *remote, uint64_t seq)
{
    const struct partition_keys *keys = &remote->check->partition->keys;
    char epoch[12], record[24], keep[24];
    snprintf(epoch, sizeof epoch, "%u", remote->check->epoch);
    snprintf(record, sizeof record, "%llu", (unsigned long long)seq);
    snprintf(keep, sizeof keep, "%llu", (unsigned long long)remote->config.keep_ms);
    if (remote->check->question == PART_RELOAD)
        return words_send(remote,
            REDIS_WORDS(SPAN("EVAL"), span_from_string(partition_doubt_text), SPAN("1"),
                keys->names[SCRIPT_KEY_PART], span_from_string(epoch)));
    return words_send(remote,
        REDIS_WORDS(SPAN("EVAL"), span_from_string(partition_rest_text), SPAN("6"), keys->names[0],
            keys->names[1], keys->names[2], keys->names[3], keys->names[4], keys->rest,
            span_from_string(epoch), span_from_string(record), span_from_string(keep)));
}

static void question_send(struct remote *remote)
{
    struct remote_check *check = remote->check;
    const struct replica *replica = check->partition->replica;
    const uint64_t seq = replica_seq(replica);
    const struct image_head head = head_of(remote, check, seq, replica_time_ms(replica));
    const bool compares = check->question <= PART_COMPARE_RECENT;
    check->epoch = check->partition->epoch;
    check->again_ms = remote->now_ms + AGAIN_MS;
    const enum status status = compares
        ? words_send(remote, comparison_ask(&check->comparison, replica_engine(replica), &head))
        : script_send(remote, seq);
    if (status == STATUS_OK)
        check->step = CHECK_SENT;
}

/* Another opening by a worker is what PART_RELOAD waits for, and what a step of a comparison is void by. */
static void opening_look(struct remote *remote)
{
    struct remote_check *check = remote->check;
    struct partition *partition = check->partition;
    if (check->step == CHECK_LOG && partition->epoch != check->comparison.epoch) {
        replica_watch(partition->replica, 0);
        check->step = CHECK_DUE;
    }
    if (check->step != CHECK_OPENING || partition->epoch <= check->epoch)
        return;
    if (partition->open_epoch == partition->epoch) {
        end(check, PART_EQUAL);
    } else if (check->again_ms <= remote->now_ms) {
        check->again_ms = remote->now_ms + AGAIN_MS;
        partition->fence_ms = 0; /* is it open by now? */
    }
}

void remote_check_turn(struct remote *remote)
{
    struct remote_check *check = remote->check;
    atomic_store_explicit(&check->is_any_open, remote->health.open > 0, memory_order_relaxed);
    question_take(remote);
    if (check->step == CHECK_IDLE)
        return;
    opening_look(remote);
    if (check->step == CHECK_IDLE || check->step == CHECK_SENT) /* whose time is that of the request */
        return;
    if (check->until_ms < remote->now_ms || check->partition->damaged)
        end(check, PART_NOT_KNOWN);
    else if (check->step == CHECK_DUE && check->again_ms <= remote->now_ms)
        question_send(remote);
}

uint64_t remote_check_due(const struct remote *remote)
{
    return remote->check->step == CHECK_DUE ? remote->check->again_ms : UINT64_MAX;
}

/* ---- answers ---- */

static void difference_note(void *context, const char *text)
{
    struct remote_check *check = context;
    struct part_differences *found = &check->found;
    const uint32_t part = replica_part(check->partition->replica);
    metric_add(&differences, 1);
    if (found->found++ >= PART_DIFFERENCES_MAX)
        return;
    snprintf(found->texts[found->count++], PART_DIFFERENCE_TEXT_MAX + 1, "partition %u: %s", part, text);
}

static void judge(struct remote *remote, uint64_t time_ms)
{
    struct remote_check *check = remote->check;
    const struct image_head head = head_of(remote, check, check->comparison.seq, time_ms);
    check->until_ms = remote->now_ms + CHECK_MS;
    check->again_ms = remote->now_ms + PACE_MS;
    check->step = CHECK_DUE;
    comparison_judge(&check->comparison, replica_engine(check->partition->replica), &head,
        difference_note, check);
    if (check->comparison.step != COMPARISON_OVER)
        return;
    if (check->found.found > 0)
        end(check, PART_DIFFERS);
    else
        end(check, is_over(remote, check->partition) ? PART_OVER : PART_EQUAL);
}

void remote_check_reached(struct remote *remote, uint64_t time_ms)
{
    struct remote_check *check = remote->check;
    invariant(check->step == CHECK_LOG && remote->taking == check->partition);
    if (check->partition->epoch == check->comparison.epoch)
        judge(remote, time_ms);
    else /* the record is of another opening */
        check->step = CHECK_DUE;
}

static void compared(struct remote *remote, const struct redis_value *value)
{
    struct remote_check *check = remote->check;
    const struct partition *partition = check->partition;
    struct replica *replica = partition->replica;
    struct comparison *comparison = &check->comparison;
    if (partition->damaged || !comparison_take(comparison, replica_engine(replica), value)
        || comparison->epoch != partition->epoch || partition->doubted)
        return; /* it is being opened, or can't be compared */
    if (comparison->seq == replica_seq(replica)) {
        judge(remote, replica_time_ms(replica));
    } else if (comparison->seq > replica_seq(replica)) {
        replica_watch(replica, comparison->seq);
        check->step = CHECK_LOG;
    }
}

static void rested(struct remote_check *check, const struct redis_value *value)
{
    const bool is_at_rest = value->kind == REDIS_KIND_NUMBER && value->number == 1;
    check->partition->rests = is_at_rest; /* else something has come in between */
    end(check, is_at_rest ? PART_EQUAL : PART_NOT_KNOWN);
}

void remote_check_answered(struct remote *remote, enum redis_answer answer, const struct redis_value *value)
{
    struct remote_check *check = remote->check;
    invariant(check->step == CHECK_SENT);
    check->step = CHECK_DUE;
    if (answer != REDIS_ANSWER_OK)
        return; /* once more; fenced: it is being opened by somebody, perhaps with the state that is there */
    if (check->question == PART_RELOAD)
        check->step = CHECK_OPENING;
    else if (check->question == PART_REST)
        rested(check, value);
    else
        compared(remote, value);
}

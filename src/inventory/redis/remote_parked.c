/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_parked.c: answers that wait until the database has kept what they show. */
#include "inventory/redis/remote_parked.h"

#include "base/metrics.h"
#include "contract/ticket_number.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

COUNTER(wins_told, "stampede_proposals_kept_total", "Wins that Redis proposed and this process told.");
COUNTER(wins_late, "stampede_proposals_deciding_total",
    "Wins that were not kept in time and were told as being decided.");
COUNTER(wins_void, "stampede_proposals_void_total",
    "Wins that Redis proposed and the database never kept.");

/* How long wins waited for the database after Redis had answered: counts up to and with an edge. */
#define TOLD_WAIT(le) \
    METRIC_ROW(METRIC_COUNTER, "stampede_told_wait_total", "ms=\"" le "\"", \
        "Wins that waited at most so long for the database after Redis had answered.")
static const uint32_t wait_edges[] = { 2, 5, 10, 20, 50, 100, 300, UINT32_MAX };
static struct metric told_waits[] = { TOLD_WAIT("2"), TOLD_WAIT("5"), TOLD_WAIT("10"),
    TOLD_WAIT("20"), TOLD_WAIT("50"), TOLD_WAIT("100"), TOLD_WAIT("300"), TOLD_WAIT("all") };
METRIC_TABLE(told_waits);
static_assert(sizeof wait_edges / sizeof *wait_edges == sizeof told_waits / sizeof *told_waits,
    "an edge for each");

static void wait_count(uint64_t wait_ms)
{
    for (size_t i = 0; i < sizeof wait_edges / sizeof *wait_edges; i++)
        metric_add(&told_waits[i], wait_ms <= wait_edges[i]);
}

static void parked_free(struct remote *remote, struct parked *parked)
{
    parked->next = remote->free_parked;
    remote->free_parked = parked;
    remote->parked_count--;
}

static const struct outcome unavailable = { .answer = ANSWER_UNAVAILABLE };

static ticket_number proposed_number(
    const struct partition *partition, uint32_t epoch, const struct outcome *outcome)
{
    return ticket_number_make(&(struct ticket_parts){
        .part = replica_part(partition->replica), .epoch = epoch, .n = (uint32_t)outcome->ticket });
}

/* The ticket that an answer shows is what the log has under its number. Where a server decided from a state
 * that had lost records, the log has another win there. */
static bool ticket_fits(const struct partition *partition, const struct parked *parked)
{
    const struct outcome *outcome = &parked->outcome;
    const bool is_purchase = outcome->answer == ANSWER_WON || outcome->answer == ANSWER_REPEATED;
    const struct ticket_claim claim = { .user = parked->saw.user,
        .item = is_purchase ? outcome->item : 0,
        .quantity = outcome->quantity,
        .key = parked->saw.key };
    if (outcome->answer == ANSWER_WON
        && replica_number(partition->replica, outcome->ticket)
            != proposed_number(partition, parked->saw.epoch, outcome))
        return false;
    return parked->saw.user == 0 || replica_is_ticket(partition->replica, outcome->ticket, &claim);
}

/* The record is kept. */
static void kept_answer(struct remote *remote, struct partition *partition, struct parked *parked)
{
    struct outcome *outcome = &parked->outcome;
    const ticket_number number = replica_number(partition->replica, outcome->ticket);
    const bool is_proposed = ticket_fits(partition, parked);
    if (outcome->answer == ANSWER_WON) {
        metric_add(is_proposed ? &wins_told : &wins_void, 1);
        wait_count(remote->now_ms - parked->since_ms);
    }
    outcome->ticket = number;
    outcome->lsn = parked->saw.seq;
    remote_answer(remote, &parked->asker, is_proposed ? outcome : &unavailable);
}

/* Not kept yet, and whoever asked waits no longer. */
static void late_answer(struct remote *remote, struct partition *partition, const struct parked *parked)
{
    struct outcome outcome = unavailable;
    if (parked->saw.is_purchase) {
        metric_add(&wins_late, parked->outcome.answer == ANSWER_WON);
        outcome = parked->outcome;
        outcome.answer = parked->outcome.answer == ANSWER_WON ? ANSWER_DECIDING : ANSWER_IN_PROGRESS;
        outcome.ticket = parked->outcome.answer == ANSWER_WON
            ? proposed_number(partition, parked->saw.epoch, &parked->outcome)
            : 0;
        outcome.unit_price = outcome.pay_by_ms = 0;
    }
    remote_answer(remote, &parked->asker, &outcome);
}

static void void_answer(struct remote *remote, const struct parked *parked)
{
    metric_add(&wins_void, parked->outcome.answer == ANSWER_WON);
    remote_answer(remote, &parked->asker, &unavailable);
}

enum verdict { VERDICT_WAIT, VERDICT_KEPT, VERDICT_VOID, VERDICT_LATE };

static void parked_judge(struct remote *remote, struct partition *partition,
    enum verdict (*judge)(const struct remote *, const struct partition *, const struct parked *))
{
    for (struct parked **at = &partition->first; *at != NULL;) {
        struct parked *parked = *at;
        const enum verdict verdict = judge(remote, partition, parked);
        if (verdict == VERDICT_WAIT) {
            at = &parked->next;
            continue;
        }
        *at = parked->next;
        if (verdict == VERDICT_KEPT)
            kept_answer(remote, partition, parked);
        else if (verdict == VERDICT_LATE)
            late_answer(remote, partition, parked);
        else
            void_answer(remote, parked);
        parked_free(remote, parked);
    }
    partition->end = &partition->first;
    while (*partition->end != NULL)
        partition->end = &(*partition->end)->next;
}

static enum verdict judge_kept(
    const struct remote *remote, const struct partition *partition, const struct parked *parked)
{
    (void)remote;
    if (parked->saw.seq > replica_seq(partition->replica))
        return VERDICT_WAIT;
    /* Of an older epoch the number of the record may be another's by now; that of a ticket is not. */
    const bool certain = parked->saw.epoch == partition->epoch || parked->outcome.answer == ANSWER_WON;
    return certain ? VERDICT_KEPT : VERDICT_VOID;
}

static enum verdict judge_void(
    const struct remote *remote, const struct partition *partition, const struct parked *parked)
{
    (void)remote;
    return parked->saw.epoch < partition->epoch ? VERDICT_VOID : VERDICT_WAIT;
}

static enum verdict judge_late(
    const struct remote *remote, const struct partition *partition, const struct parked *parked)
{
    (void)partition;
    return parked->until_ms <= remote->now_ms ? VERDICT_LATE : VERDICT_WAIT;
}

void parked_release(struct remote *remote, struct partition *partition)
{
    parked_judge(remote, partition, judge_kept);
}

void parked_void(struct remote *remote, struct partition *partition)
{
    parked_judge(remote, partition, judge_void);
}

void parked_add(struct remote *remote, struct partition *partition, const struct asker *asker,
    const struct outcome *outcome, const struct parking *parking)
{
    struct parked *parked = remote->free_parked;
    invariant(parked != NULL); /* there are as many as requests can be in flight */
    remote->free_parked = parked->next;
    remote->parked_count++;
    *parked = (struct parked){ .saw = *parking,
        .since_ms = remote->now_ms,
        .until_ms = remote->now_ms + (parking->is_purchase ? remote->config.tell_ms : REMOTE_CONTROL_MS),
        .asker = *asker,
        .outcome = *outcome };
    *partition->end = parked;
    partition->end = &parked->next;
    if (parked->saw.seq <= replica_seq(partition->replica))
        parked_release(remote, partition);
    if (parking->epoch < partition->epoch) /* an answer that comes after its epoch */
        parked_void(remote, partition);
}

void parked_look(struct remote *remote)
{
    if (remote->now_ms < remote->parked_look_ms && remote->parked_look_ms < remote->now_ms + AGAIN_MS)
        return;
    remote->parked_look_ms = remote->now_ms + PARKED_LOOK_MS;
    for (uint32_t i = 0; i < remote->partition_count; i++)
        parked_judge(remote, &remote->partitions[i], judge_late);
}

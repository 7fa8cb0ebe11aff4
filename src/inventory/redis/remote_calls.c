/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_calls.c: requests become calls of the script, and its replies become answers. */
#include "contract/ticket_number.h"
#include "inventory/engine.h"
#include "inventory/redis/command_text.h"
#include "inventory/redis/log_reader.h"
#include "inventory/redis/record_text.h"
#include "inventory/redis/remote_parked.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

#include <string.h>

void remote_answer(struct remote *remote, const struct asker *asker, const struct outcome *outcome)
{
    const struct inventory_answer answer = { .tag = asker->tag, .outcome = *outcome };
    if (asker->kind == ASKER_WALK)
        remote_walk_answered(remote, asker->tag, outcome);
    else if (asker->kind == ASKER_LEVEL)
        remote_level_answered(remote, asker->tag);
    else
        ports_answer(remote->ports, asker->port, &asker->flow, &answer);
}

static void answer_plain(struct remote *remote, const struct asker *asker, enum answer what)
{
    const struct outcome outcome = { .answer = (uint8_t)what };
    remote_answer(remote, asker, &outcome);
}

/* ---- calls ---- */

struct call *call_take(struct remote *remote, bool for_purchases)
{
    struct call *call = remote->free_calls;
    if (call == NULL || (for_purchases && remote->calls_used >= CALLS_MAX - CALLS_KEPT))
        return NULL;
    remote->free_calls = call->next;
    remote->calls_used++;
    call->next = NULL;
    call->partition = NULL;
    call->count = 0;
    call->over = false;
    call->begun_ms = call->again_ms = remote->now_ms;
    return call;
}

static void call_free(struct remote *remote, struct call *call)
{
    call->next = remote->free_calls;
    remote->free_calls = call;
    remote->calls_used--;
}

void call_refuse(struct remote *remote, struct call *call, enum answer what)
{
    const uint32_t askers = call->count == 0 ? 1 : call->count;
    for (uint32_t i = 0; i < askers; i++) {
        const struct outcome outcome = { .answer = (uint8_t)what,
            .item = call->count == 0 ? 0 : call->purchases[i].item,
            .quantity = call->count == 0 ? 0 : call->purchases[i].quantity };
        remote_answer(remote, &call->askers[i], &outcome);
    }
    call_free(remote, call);
}

static void call_wait(struct remote *remote, struct call *call)
{
    call->again_ms = remote->now_ms + AGAIN_MS;
    *remote->waiting_end = call;
    remote->waiting_end = &call->next;
    call->next = NULL;
}

/* ---- sending ---- */

enum {
    PURCHASE_BYTES = 224,
    HEAD_WORDS = 9,
    WORDS_MAX = HEAD_WORDS + 1 + SCRIPT_PURCHASES_MAX * PURCHASE_WORDS,
    TIME_BYTES = 20
};

/* "0": the server's own. */
static struct span time_word(const struct remote *remote, struct text *text)
{
    text_u64(text, remote->config.given_ms == NULL ? 0 : *remote->config.given_ms);
    return text_span(text);
}

static struct redis_words call_words(
    const struct remote *remote, const struct call *call, struct span *words, struct text *text)
{
    const struct partition *partition = call->partition;
    const struct span head[HEAD_WORDS] = { SPAN("EVALSHA"), span_from_string(partition->sha),
        SPAN("5"), partition->keys.names[0], partition->keys.names[1], partition->keys.names[2],
        partition->keys.names[3], partition->keys.names[4], time_word(remote, text) };
    uint32_t count = HEAD_WORDS;
    static_assert(SCRIPT_KEYS == 5, "each is named here");
    memcpy(words, head, sizeof head);
    if (call->count == 0) {
        const size_t from = text->size;
        if (command_text_write(text, &call->command) != STATUS_OK)
            return (struct redis_words){ words, 0 };
        words[count++] = span_of(text->data + from, text->size - from);
        return (struct redis_words){ words, count };
    }
    words[count++] = SPAN("reserve");
    for (uint32_t i = 0; i < call->count; i++, count += PURCHASE_WORDS) {
        const struct command command = { .type = COMMAND_RESERVE, .reserve = call->purchases[i] };
        const struct purchase_door *door = command.reserve.asks_door ? &command.reserve.door : NULL;
        if (purchase_text_write(text, &command, door, &words[count]) != STATUS_OK)
            return (struct redis_words){ words, 0 };
    }
    return (struct redis_words){ words, count };
}

static bool call_may_be_repeated(const struct call *call)
{
    const uint8_t type = call->command.type;
    return call->count == 0
        && (call->command.origin.key != 0 || (type != COMMAND_ADJUST && type != COMMAND_MOVE));
}

/* It was not done, or it does not matter if it was: it is tried again while there is time. A partition that
 * is opened anew is closed for a moment only, so purchases wait for it, too. */
static void call_failed(struct remote *remote, struct call *call, bool known)
{
    const struct partition *partition = call->partition;
    if (partition != NULL && partition->rests && partition->epoch != 0)
        (void)!log_reader_rouse(remote->reader, replica_part(partition->replica), partition->epoch);
    const uint32_t patience_ms = call->count == 0 ? REMOTE_CONTROL_MS : remote->config.tell_ms;
    const bool in_time = remote->now_ms < call->begun_ms + patience_ms;
    if (in_time && (known || call_may_be_repeated(call))) {
        call_wait(remote, call);
    } else if (call->count == 0 && !known) { /* whoever asked must not hear that it was not done */
        call->over = true;
        call_wait(remote, call);
    } else {
        call_refuse(remote, call, ANSWER_UNAVAILABLE);
    }
}

static void call_send(struct remote *remote, struct call *call)
{
    static _Thread_local char bytes[TIME_BYTES + SCRIPT_PURCHASES_MAX * PURCHASE_BYTES + COMMAND_TEXT_MAX];
    static _Thread_local struct span words[WORDS_MAX];
    struct partition *partition = call->partition;
    struct text text = text_in(bytes, sizeof bytes);
    if (partition->epoch == 0 || partition->damaged || partition->doubted) {
        call_failed(remote, call, true);
        return;
    }
    const struct redis_words sent = call_words(remote, call, words, &text);
    if (sent.count == 0) { /* the script can't take this one */
        call_refuse(remote, call, ANSWER_UNAVAILABLE);
        return;
    }
    call->epoch = partition->epoch;
    const enum status status = redis_client_send(remote->client, partition->keys.names[0],
        (uint64_t)(call - remote->calls), remote->now_ms + remote->config.timeout_ms, sent);
    if (status == STATUS_OK)
        partition->in_flight += call->count > 0;
    else if (status == STATUS_FULL && call->count > 0)
        call_refuse(remote, call, ANSWER_TOO_POPULAR);
    else
        call_failed(remote, call, true);
    partition->refused |= status == STATUS_AWAY;
}

static void purchases_send(struct remote *remote, struct partition *partition)
{
    struct call *call = partition->filling;
    partition->filling = NULL;
    call_send(remote, call);
}

static void waiting_send(struct remote *remote)
{
    struct call *call = remote->waiting;
    remote->waiting = NULL;
    remote->waiting_end = &remote->waiting;
    for (struct call *next; call != NULL; call = next) {
        next = call->next;
        call->next = NULL;
        if (call->over && remote->now_ms >= call->begun_ms + NOT_KNOWN_MS) {
            call_refuse(remote, call, ANSWER_UNAVAILABLE);
        } else if (call->over || remote->now_ms < call->again_ms) {
            *remote->waiting_end = call;
            remote->waiting_end = &call->next;
        } else {
            call_send(remote, call);
        }
    }
}

void remote_calls_send(struct remote *remote)
{
    for (uint32_t i = 0; i < remote->partition_count; i++) {
        struct partition *partition = &remote->partitions[i];
        if (partition->filling != NULL && partition->in_flight < CALLS_AT_ONCE)
            purchases_send(remote, partition);
    }
    if (remote->waiting != NULL)
        waiting_send(remote);
}

/* ---- requests ---- */

static bool purchase_add(struct remote *remote, struct partition *partition,
    const struct asker *asker, const struct command *command)
{
    struct call *call = partition->filling;
    if (call == NULL) {
        call = call_take(remote, true);
        if (call == NULL)
            return false;
        call->partition = partition;
        partition->filling = call;
    }
    call->purchases[call->count] = command->reserve;
    call->askers[call->count++] = *asker;
    if (call->count == SCRIPT_PURCHASES_MAX)
        purchases_send(remote, partition);
    return true;
}

bool remote_command(struct remote *remote, struct partition *partition, const struct asker *asker,
    const struct command *command)
{
    struct call *call = call_take(remote, false);
    struct ticket_parts parts;
    if (call == NULL)
        return false;
    call->partition = partition;
    call->command = *command;
    call->askers[0] = *asker;
    if (command->type == COMMAND_SETTLE && ticket_number_split(command->settle.ticket, &parts)) {
        call->command.settle.ticket = parts.n;
        shards_settle(remote_shards(remote, part_sale(parts.part)), parts.part, &call->command.settle);
    }
    call_send(remote, call);
    return true;
}

static bool is_look(const struct command *command)
{
    return command->type >= COMMAND_LOGGED_COUNT;
}

static void look(struct remote *remote, struct partition *partition, const struct asker *asker,
    const struct command *command)
{
    struct command at = *command;
    struct outcome outcome;
    at.time_ms = remote->config.given_ms == NULL ? remote->now_ms : *remote->config.given_ms;
    replica_ask(partition->replica, &at, &outcome);
    outcome.lsn = replica_seq(partition->replica);
    struct board_update shown;
    if (command->type == COMMAND_ASK_COUNTS && board_read(&remote->board, command->ask.item, &shown))
        outcome.free = shown.counts.free; /* of all shards */
    remote_answer(remote, asker, &outcome);
}

/* The script knows the engine's number of a ticket only. In a later epoch that is another ticket's. */
static bool is_void(struct partition *partition, const struct command *command)
{
    const struct command look = { .type = COMMAND_ASK_TICKET,
        .ask = { .ticket = command->settle.ticket } };
    struct outcome outcome;
    replica_ask(partition->replica, &look, &outcome);
    return outcome.answer == ANSWER_VOID || outcome.answer == ANSWER_UNKNOWN_TICKET;
}

/* Nobody follows such a partition: what one machine would answer to something that it does not know. */
static enum answer unknown_answer(const struct command *command)
{
    static const uint8_t answers[UINT8_MAX + 1] = {
        [COMMAND_ADJUST... COMMAND_RESERVE] = ANSWER_UNKNOWN_ITEM,
        [COMMAND_ASK_MINE] = ANSWER_UNKNOWN_ITEM,
        [COMMAND_ASK_COUNTS] = ANSWER_UNKNOWN_ITEM,
        [COMMAND_SETTLE] = ANSWER_UNKNOWN_TICKET,
        [COMMAND_ASK_TICKET] = ANSWER_UNKNOWN_TICKET,
        [COMMAND_RECLAIM] = ANSWER_UNCHANGED, /* a partition goes as a whole */
        [COMMAND_ARCHIVE... COMMAND_SKIP] = ANSWER_UNCHANGED,
    };
    if (command->type == COMMAND_SETTLE && ticket_part(command->settle.ticket) != PART_EMBEDDED)
        return ANSWER_UNAVAILABLE; /* it comes, when the log is read */
    const enum answer found = (enum answer)answers[command->type];
    return found == ANSWER_NONE ? ANSWER_UNKNOWN_SALE : found;
}

/* These begin a sale: its partition is asked for. */
static bool command_begins(const struct command *command)
{
    return command->type == COMMAND_SALE || command->type == COMMAND_PREHEAT;
}

/* True: Redis need not be asked. */
static bool answer_here(struct remote *remote, struct partition *partition,
    const struct asker *asker, const struct command *command)
{
    if (partition == NULL || unknown_answer(command) == ANSWER_UNCHANGED) {
        answer_plain(remote, asker, unknown_answer(command));
        return true;
    }
    if (is_look(command)) {
        look(remote, partition, asker, command);
        return true;
    }
    if (command->type != COMMAND_SETTLE || !is_void(partition, command))
        return false;
    answer_plain(remote, asker, ANSWER_UNKNOWN_TICKET);
    return true;
}

/* Operators' commands go to all shards of a sale. True: this one does; *taken: there was place for it. */
static bool walk_begin(
    struct remote *remote, const struct asker *asker, const struct command *command, bool *taken)
{
    const struct shards *shards = remote_shards_of(remote, command);
    if (!command_is_for_all(command) || shards == NULL)
        return false;
    const sale_id sale = (sale_id)(shards - remote->sales);
    if (shards->count == 0
        && !(command_begins(command) && log_reader_want(remote->reader, part_of_sale(sale, 0))))
        return false;
    *taken = remote_walk_begin(remote, asker, command);
    return true;
}

bool remote_request(struct remote *remote, uint32_t port, const struct inventory_request *request)
{
    const struct command *command = &request->command;
    const struct asker asker = { .tag = request->tag, .flow = flow_of(command), .port = port };
    bool taken = false;
    if (command->type == COMMAND_ASK_SPEND)
        return remote_spend(remote, &asker, command);
    if (walk_begin(remote, &asker, command, &taken))
        return taken;
    struct partition *partition = remote_partition_of(remote, command);
    if (answer_here(remote, partition, &asker, command))
        return true;
    return command->type == COMMAND_RESERVE ? purchase_add(remote, partition, &asker, command)
                                            : remote_command(remote, partition, &asker, command);
}

/* ---- replies ---- */

/* A purchase of the server itself, in somebody's name: it asks again with the same key, and knows no
 * DECIDING. */
static bool is_own(const struct command_reserve *purchase)
{
    return (purchase->flags & (RESERVE_AFTER_END | RESERVE_OFFER)) != 0;
}

/* It is asked again while there is time; the door was asked with the first try. False: there is no time. */
static bool purchase_again(struct remote *remote, struct call *call, uint32_t index, struct call **again)
{
    if (remote->now_ms >= call->begun_ms + remote->config.tell_ms)
        return false;
    if (*again == NULL)
        *again = call_take(remote, true);
    if (*again == NULL)
        return false;
    (*again)->partition = call->partition;
    (*again)->begun_ms = call->begun_ms;
    (*again)->purchases[(*again)->count] = call->purchases[index];
    (*again)->purchases[(*again)->count].asks_door = false;
    (*again)->askers[(*again)->count++] = call->askers[index];
    return true;
}

/* What shows a ticket waits until that is kept; other refusals leave at once. */
static void purchase_take(struct remote *remote, struct call *call, uint32_t index,
    struct outcome *outcome, const struct script_head *head, uint64_t seq, struct call **again)
{
    const struct command_reserve *purchase = &call->purchases[index];
    if (purchase_is_short(remote, call->partition, purchase, outcome)) {
        remote_short_tell(remote, call->partition, purchase);
        if (purchase_again(remote, call, index, again))
            return;
        *outcome = (struct outcome){ .answer = ANSWER_TOO_POPULAR };
    }
    outcome->item = purchase->item;
    outcome->quantity = purchase->quantity;
    if (outcome->ticket == 0) {
        remote_answer(remote, &call->askers[index], outcome);
        return;
    }
    parked_add(remote, call->partition, &call->askers[index], outcome,
        &(struct parking){ .seq = seq,
            .epoch = head->epoch,
            .user = purchase->user,
            .key = purchase->key,
            .is_purchase = !is_own(purchase) });
}

/* What the script decided, or what the door's questions refuse. */
static bool answer_read(struct span text, struct outcome *outcome)
{
    struct script_refusal refusal;
    if (outcome_text_read(text, outcome) == STATUS_OK)
        return true;
    if (refusal_text_read(text, &refusal) != STATUS_OK)
        return false;
    *outcome = (struct outcome){ .answer = refusal.pass_spent ? ANSWER_PASS_SPENT : ANSWER_TOO_FAST,
        .number = refusal.wait_ms };
    return true;
}

/* Answers to purchases stand in their order; each that changed something has the next record. False: that is
 * not what the script says, and nothing was answered. */
static bool reply_read(const struct call *call, const struct redis_value *value,
    struct script_head *head, struct outcome *outcomes)
{
    const uint32_t count = call->count == 0 ? 1 : call->count;
    if (value->kind != REDIS_KIND_LIST || value->count != count + 1 || value->list[0].kind != REDIS_KIND_TEXT
        || script_head_read(value->list[0].text, head) != STATUS_OK)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (value->list[i + 1].kind != REDIS_KIND_TEXT
            || !answer_read(value->list[i + 1].text, &outcomes[i]))
            return false;
    return true;
}

/* The worker need not wait until it looks by itself. Lost: it does. */
static void proposed_tell(struct remote *remote, const struct partition *partition)
{
    const struct span channel = partition->keys.proposed;
    (void)!redis_client_send(remote->client, channel, NOTE_TAG, remote->now_ms + remote->config.timeout_ms,
        REDIS_WORDS(SPAN("SPUBLISH"), channel, SPAN(REMOTE_PROPOSED)));
}

static void reply_take(struct remote *remote, struct call *call, const struct redis_value *value)
{
    struct outcome outcomes[SCRIPT_PURCHASES_MAX];
    struct script_head head;
    if (!reply_read(call, value, &head, outcomes)) {
        call_failed(remote, call, false);
        return;
    }
    if (call->count == 0)
        parked_add(remote, call->partition, &call->askers[0], &outcomes[0],
            &(struct parking){ .seq = head.seq, .epoch = head.epoch });
    uint64_t seq = head.seq;
    bool changed = call->count == 0 && outcomes[0].changed;
    for (uint32_t i = 0; i < call->count; i++) {
        seq -= outcomes[i].changed;
        changed |= outcomes[i].changed;
    }
    if (changed)
        proposed_tell(remote, call->partition);
    struct call *again = NULL;
    for (uint32_t i = 0; i < call->count; i++) {
        seq += outcomes[i].changed;
        purchase_take(remote, call, i, &outcomes[i], &head, seq, &again);
    }
    if (again != NULL)
        call_wait(remote, again);
    call_free(remote, call);
}

void remote_answered(void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value)
{
    struct remote *remote = self;
    if (tag == NOTE_TAG)
        return;
    if (tag >= REST_TAG) {
        remote_rest_answered(remote, (uint32_t)(tag - REST_TAG), value);
        return;
    }
    if (tag == CHECK_TAG) {
        remote_check_answered(remote, answer, value);
        return;
    }
    if (tag >= FENCE_TAG) {
        remote_fence_answered(remote, (uint32_t)(tag - FENCE_TAG), value);
        return;
    }
    invariant(tag < CALLS_MAX);
    struct call *call = &remote->calls[tag];
    struct partition *partition = call->partition;
    if (partition == NULL) {
        remote_spend_answered(remote, call, answer, value);
        return;
    }
    partition->in_flight -= call->count > 0;
    partition->refused = answer != REDIS_ANSWER_OK;
    if (answer == REDIS_ANSWER_AWAY || answer == REDIS_ANSWER_UNKNOWN)
        remote_doubt(remote, partition);
    if (answer == REDIS_ANSWER_OK)
        reply_take(remote, call, value);
    else
        call_failed(remote, call, answer != REDIS_ANSWER_UNKNOWN);
    if (answer == REDIS_ANSWER_NOSCRIPT || answer == REDIS_ANSWER_FENCED)
        log_reader_look(remote->reader); /* perhaps it was opened anew */
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/confirm.h"

#include "base/text.h"
#include "inventory/redis/command_text.h"
#include "tests/unit/inventory/engine_kit.h"

#include <stdlib.h>

enum { PART = 9, DATA_ID = 77, TICKETS = 1000 };

/* What Redis would do: an engine that decides, and its records as the script writes them. */
struct proposals {
    struct kit kit;
    uint64_t seq, time_ms;
    uint32_t epoch;
    char bytes[64 * 1024];
    struct text lines;
};

struct fixture {
    struct proposals script;
    struct confirm *confirm;
    struct queue_record records[STREAM_RECORDS_MAX]; /* of the last entry */
    uint32_t count;
    struct journal_entry entry;
};

static const struct engine_config small = {
    .items_max = 16, .sales_max = 4, .tickets_max = TICKETS, .places_max = KIT_PLACES
};
static const struct confirm_config config = { .part = PART, .data_id = DATA_ID, .engine = &small };

static void outcome_write(struct text *out, const struct outcome *outcome)
{
    const struct {
        char letter;
        uint64_t value;
    } members[] = { { 'c', outcome->changed }, { 'd', outcome->detail }, { 't', outcome->ticket },
        { 'p', outcome->unit_price }, { 'y', outcome->pay_by_ms } };
    text_format(out, "%u", outcome->answer);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value != 0)
            text_format(out, " %c%llu", members[i].letter, (unsigned long long)members[i].value);
    if (outcome->user != 0)
        text_format(out, " u%016llx", (unsigned long long)outcome->user);
    if (outcome->applied != 0)
        text_format(out, " a%d", outcome->applied);
    if (outcome->quantity != 0)
        text_format(out, " q%u", outcome->quantity);
    if (outcome->item != 0)
        text_format(out, " i%u", outcome->item);
}

/* Decides, and writes the record if something changed. */
static struct outcome propose(struct proposals *script, struct command command)
{
    struct outcome outcome;
    command.time_ms = script->time_ms;
    engine_apply(&script->kit.engine, &command, true, &outcome);
    if (outcome.changed) {
        if (script->lines.size > 0)
            text_literal(&script->lines, "\n");
        assert_int_equal(command_text_write(&script->lines, &command), STATUS_OK);
        text_literal(&script->lines, " = ");
        outcome_write(&script->lines, &outcome);
        script->seq++;
    }
    return outcome;
}

static struct outcome buy(struct proposals *script, user_id user)
{
    return propose(script,
        (struct command){ .type = COMMAND_RESERVE,
            .reserve = { .user = user, .key = user + 100, .item = 1, .quantity = 1 } });
}

/* What was proposed since the last time, as one entry of the stream. */
static struct stream_entry entry_take(struct proposals *script)
{
    const struct stream_entry entry = { .seq = script->seq,
        .epoch = script->epoch,
        .time_ms = script->time_ms,
        .lines = text_span(&script->lines) };
    script->lines = text_in(script->bytes, sizeof script->bytes);
    return entry;
}

static enum status confirm_one(struct fixture *f, const struct stream_entry *entry)
{
    return confirm_entry(f->confirm, entry, f->records, &f->count);
}

static enum status confirm_next(struct fixture *f)
{
    const struct stream_entry entry = entry_take(&f->script);
    return confirm_one(f, &entry);
}

/* The records of the last entry are in the database. */
static void keep(struct fixture *f)
{
    log_entry_make(f->confirm, f->records, f->count, &f->entry);
    log_entry_kept(f->confirm);
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    struct proposals *script = &f->script;
    assert_int_equal(engine_open(&script->kit.engine, &small), STATUS_OK);
    assert_int_equal(confirm_open(&f->confirm, &config), STATUS_OK);
    script->lines = text_in(script->bytes, sizeof script->bytes);
    script->epoch = 1;
    script->time_ms = SALE_NOW;
    propose(script,
        (struct command){ .type = COMMAND_SALE,
            .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = SALE_END } });
    propose(script, (struct command){ .type = COMMAND_PREHEAT, .preheat = kit_item(1, 1) });
    assert_int_equal(script->seq, 2);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    engine_close(&f->script.kit.engine);
    confirm_close(f->confirm);
    test_free(f);
    return 0;
}

static bool engines_same(struct fixture *f)
{
    return engine_digest(&f->script.kit.engine) == engine_digest(confirm_engine(f->confirm));
}

static void what_the_script_proposed_is_confirmed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(confirm_next(f), STATUS_OK);
    assert_int_equal(f->count, 2);
    const struct outcome won = buy(&f->script, ANNA);
    assert_int_equal(won.answer, ANSWER_WON);
    (void)buy(&f->script, ANNA); /* a repetition is no record */
    (void)buy(&f->script, BERT);
    assert_int_equal(confirm_next(f), STATUS_OK);
    assert_true(engines_same(f));
    assert_int_equal(f->count, 2);
    const struct queue_record *record = &f->records[0];
    assert_int_equal(record->at.part, PART);
    assert_int_equal(record->at.seq, 3);
    assert_int_equal(record->command.reserve.user, ANNA);
    assert_int_equal(record->outcome.unit_price, PRICE);
    assert_true(record->outcome.ticket == ticket_number_make(&(struct ticket_parts){ PART, 1, 1 }));
}

/* Some of the records first, the rest then; or all once more, if the first time was not kept. */
static void an_entry_is_made_of_the_records_that_go_in_together(void **state)
{
    struct fixture *f = *state;
    struct journal_entry entry;
    struct confirm *again;
    (void)buy(&f->script, ANNA);
    (void)buy(&f->script, BERT);
    assert_int_equal(confirm_next(f), STATUS_OK);
    assert_int_equal(f->count, 4);
    assert_int_equal(confirm_open(&again, &config), STATUS_OK);
    log_entry_make(f->confirm, f->records, 4, &entry); /* refused */
    log_entry_make(f->confirm, f->records, 3, &entry);
    assert_int_equal(entry.first_seq, 1);
    assert_int_equal(entry.epoch, 1);
    assert_int_equal(confirm_replay(again, &entry), STATUS_OK);
    log_entry_kept(f->confirm);
    log_entry_make(f->confirm, f->records + 3, 1, &entry);
    assert_int_equal(entry.first_seq, 4);
    assert_int_equal(confirm_replay(again, &entry), STATUS_OK);
    assert_true(engine_digest(confirm_engine(again)) == engine_digest(confirm_engine(f->confirm)));
    confirm_close(again);
}

/* The engine is rebuilt from what the database kept, and goes on with the stream. */
static void a_partition_is_rebuilt_from_its_entries(void **state)
{
    struct fixture *f = *state;
    struct confirm *again;
    assert_int_equal(confirm_open(&again, &config), STATUS_OK);
    for (user_id user = 1; user <= 5; user++) {
        f->script.epoch = user < 4 ? 1 : 3;
        f->script.time_ms += user > 1; /* the first entry has what was proposed before */
        (void)buy(&f->script, user);
        assert_int_equal(confirm_next(f), STATUS_OK);
        keep(f);
        assert_int_equal(confirm_replay(again, &f->entry), STATUS_OK);
    }
    assert_true(engine_digest(confirm_engine(again)) == engine_digest(confirm_engine(f->confirm)));
    assert_true(confirm_seq(again) == confirm_seq(f->confirm));
    assert_true(confirm_time_ms(again) == confirm_time_ms(f->confirm));
    for (ticket_number ticket = 1; ticket <= 5; ticket++) {
        const uint32_t epoch = ticket < 4 ? 1 : 3;
        const ticket_number number =
            ticket_number_make(&(struct ticket_parts){ PART, epoch, (uint32_t)ticket });
        assert_true(confirm_number(f->confirm, ticket) == number);
        assert_true(confirm_number(again, ticket) == number);
    }
    assert_true(confirm_number(again, 0) == 0 && confirm_number(again, 6) == 0);
    (void)buy(&f->script, 6);
    const struct stream_entry entry = entry_take(&f->script);
    assert_int_equal(confirm_entry(again, &entry, f->records, &f->count), STATUS_OK);
    assert_int_equal(f->records[0].at.seq, 8);
    confirm_close(again);
}

static void a_return_names_the_ticket_as_others_do(void **state)
{
    struct fixture *f = *state;
    const ticket_number ticket = buy(&f->script, ANNA).ticket;
    char bytes[4096];
    assert_int_equal(confirm_next(f), STATUS_OK);
    keep(f);
    struct journal_entry first = f->entry;
    assert_true(first.bytes.size <= sizeof bytes);
    memcpy(bytes, first.bytes.data, first.bytes.size);
    first.bytes.data = bytes;
    f->script.epoch = 2;
    const struct outcome done = propose(&f->script,
        (struct command){ .type = COMMAND_SETTLE, .settle = { .ticket = ticket, .step = SETTLE_RETURN } });
    assert_int_equal(done.answer, ANSWER_DONE);
    assert_int_equal(confirm_next(f), STATUS_OK);
    assert_true(f->records[0].command.settle.ticket
        == ticket_number_make(&(struct ticket_parts){ PART, 1, (uint32_t)ticket }));
    assert_true(f->records[0].outcome.ticket == 0);
    keep(f); /* and the log names it as the engine does */
    struct confirm *again;
    assert_int_equal(confirm_open(&again, &config), STATUS_OK);
    assert_int_equal(confirm_replay(again, &first), STATUS_OK);
    assert_int_equal(confirm_replay(again, &f->entry), STATUS_OK);
    assert_true(engine_digest(confirm_engine(again)) == engine_digest(confirm_engine(f->confirm)));
    confirm_close(again);
}

static void what_is_in_already_is_passed_over(void **state)
{
    struct fixture *f = *state;
    const struct stream_entry entry = entry_take(&f->script);
    assert_int_equal(confirm_one(f, &entry), STATUS_OK);
    assert_int_equal(f->count, 2);
    assert_int_equal(confirm_one(f, &entry), STATUS_OK);
    assert_int_equal(f->count, 0);
}

static void refused(struct fixture *f, struct stream_entry entry, const char *why)
{
    assert_int_equal(confirm_one(f, &entry), STATUS_CORRUPT);
    if (strstr(confirm_trouble(f->confirm), why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", confirm_trouble(f->confirm), why);
}

static void an_entry_that_does_not_go_on_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(confirm_next(f), STATUS_OK);
    f->script.epoch = 2;
    f->script.time_ms++;
    (void)buy(&f->script, ANNA);
    const struct stream_entry good = entry_take(&f->script);
    struct stream_entry entry = good;
    entry.seq++;
    refused(f, entry, "does not go on after 2"); /* a record is missing */
    entry = good;
    entry.lines = SPAN_NONE;
    refused(f, entry, "with 0 records");
    entry = good;
    entry.time_ms -= 2;
    refused(f, entry, "time runs backwards");
    entry = good;
    entry.epoch = 0;
    refused(f, entry, "epoch 0 after epoch 1");
    entry.epoch = EPOCH_MAX + 1;
    refused(f, entry, "epoch 4096");
    entry = good;
    entry.lines.size--;
    entry.lines.data++;
    refused(f, entry, "can't be read");
    entry = good;
    assert_int_equal(confirm_one(f, &entry), STATUS_OK); /* nothing of it was taken */
    assert_true(engines_same(f));
}

static void an_older_epoch_is_refused(void **state)
{
    struct fixture *f = *state;
    f->script.epoch = 2;
    assert_int_equal(confirm_next(f), STATUS_OK);
    (void)buy(&f->script, ANNA);
    f->script.epoch = 1;
    refused(f, entry_take(&f->script), "epoch 1 after epoch 2");
}

static void a_script_that_decides_otherwise_is_noticed(void **state)
{
    static const char *const wrong[] = {
        "reserve 0000000000000007 0000000000000001 1 1 0 0 0 = 1 c1 t2 p499 y1800",  /* ticket */
        "reserve 0000000000000007 0000000000000001 1 1 0 0 0 = 1 c1 t1 p498 y1800",  /* price */
        "reserve 0000000000000007 0000000000000001 1 20 0 0 0 = 1 c1 t1 p499 y1800", /* too many */
    };
    struct fixture *f = *state;
    assert_int_equal(confirm_next(f), STATUS_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fixture *other;
        assert_int_equal(setup((void **)&other), 0);
        assert_int_equal(confirm_next(other), STATUS_OK);
        const struct stream_entry entry = {
            .seq = 3, .epoch = 1, .time_ms = SALE_NOW, .lines = span_from_string(wrong[i])
        };
        assert_int_equal(confirm_one(other, &entry), STATUS_CONFLICT);
        assert_non_null(strstr(confirm_trouble(other->confirm), "record 3: the engine answers"));
        assert_int_equal(teardown((void **)&other), 0);
    }
    const struct stream_entry entry = { .seq = 3,
        .epoch = 1,
        .time_ms = SALE_NOW,
        .lines = SPAN("reserve 0000000000000007 0000000000000001 1 1 0 0 0 = 1 c1 t1 p499 y1800") };
    assert_int_equal(confirm_one(f, &entry), STATUS_OK); /* as it should be */
}

static void damaged_entries_are_not_replayed(void **state)
{
    struct fixture *f = *state;
    struct confirm *again;
    char bytes[4096];
    assert_int_equal(confirm_next(f), STATUS_OK);
    keep(f);
    const struct journal_entry good = f->entry;
    assert_true(good.bytes.size < sizeof bytes);
    assert_int_equal(confirm_open(&again, &config), STATUS_OK);
    for (size_t i = 0; i <= good.bytes.size; i++) {
        struct journal_entry entry = good;
        memcpy(bytes, good.bytes.data, good.bytes.size);
        entry.bytes = span_of(bytes, i); /* cut */
        if (i < good.bytes.size)
            assert_int_equal(confirm_replay(again, &entry), STATUS_CORRUPT);
        bytes[i < good.bytes.size ? i : 0] ^= 4; /* changed */
        entry.bytes.size = good.bytes.size;
        assert_int_equal(confirm_replay(again, &entry), STATUS_CORRUPT);
    }
    struct journal_entry entry = good;
    entry.first_seq++;
    assert_int_equal(confirm_replay(again, &entry), STATUS_CORRUPT);
    confirm_close(again);
    assert_int_equal(confirm_open(&again, &config), STATUS_OK);
    assert_int_equal(confirm_replay(again, &good), STATUS_OK);
    assert_int_equal(confirm_replay(again, &good), STATUS_CORRUPT); /* not twice */
    confirm_close(again);
}

/* One machine has numbered its tickets without an epoch; its log goes on under the first one after. */
static void the_log_of_a_shop_that_was_moved_goes_on_and_told_numbers_stay(void **state)
{
    struct fixture *f = *state;
    struct confirm_config moved = config;
    char bytes[4096];
    moved.part = PART_EMBEDDED;
    buy(&f->script, 7);
    assert_int_equal(confirm_next(f), STATUS_OK);
    keep(f);
    struct journal_entry entry = f->entry;
    assert_true(entry.bytes.size < sizeof bytes);
    memcpy(bytes, entry.bytes.data, entry.bytes.size);
    entry.bytes.data = bytes;
    confirm_close(f->confirm);
    assert_int_equal(confirm_open(&f->confirm, &moved), STATUS_OK);
    entry.part = PART_EMBEDDED;
    entry.epoch = EPOCH_MOVED; /* never opened under it */
    assert_int_equal(confirm_replay(f->confirm, &entry), STATUS_CORRUPT);
    confirm_close(f->confirm);
    assert_int_equal(confirm_open(&f->confirm, &moved), STATUS_OK);
    entry.epoch = 0;
    assert_int_equal(confirm_replay(f->confirm, &entry), STATUS_OK);
    assert_int_equal(confirm_number(f->confirm, 1), 1);
    f->script.epoch = EPOCH_MOVED + 1;
    buy(&f->script, 8);
    assert_int_equal(confirm_next(f), STATUS_OK);
    const struct ticket_parts next = { PART_EMBEDDED, EPOCH_MOVED + 1, 2 };
    assert_true(f->records[0].outcome.ticket == ticket_number_make(&next));
    assert_int_equal(confirm_number(f->confirm, 1), 1);
    keep(f);
    assert_int_equal(f->entry.part, PART_EMBEDDED);
}

static void a_partition_that_can_not_be_is_refused(void **state)
{
    struct confirm *confirm;
    struct confirm_config one = config;
    (void)state;
    one.part = PART_MAX + 1;
    assert_int_equal(confirm_open(&confirm, &one), STATUS_BAD_INPUT);
    confirm_close(confirm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_script_proposed_is_confirmed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_entry_is_made_of_the_records_that_go_in_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_partition_is_rebuilt_from_its_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(a_return_names_the_ticket_as_others_do, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_in_already_is_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(an_entry_that_does_not_go_on_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_epoch_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_script_that_decides_otherwise_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_entries_are_not_replayed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_log_of_a_shop_that_was_moved_goes_on_and_told_numbers_stay, setup, teardown),
        cmocka_unit_test(a_partition_that_can_not_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

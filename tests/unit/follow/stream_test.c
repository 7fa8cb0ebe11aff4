/* SPDX-License-Identifier: Apache-2.0 */
/* How long answers wait for the follower, and what a follower gets that comes back. */
#include "follow/stream.h"

#include "base/clock.h"
#include "base/thread.h"
#include "follow/wire.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { RING = 1024 * 1024, AWAY_MS = 30 };

static struct wake wake;
static uint8_t out[2 * RING];

static struct stream *make(bool sync, bool sells_alone, uint64_t away_ms)
{
    struct stream *stream;
    const struct stream_config config = {
        .ring_bytes = RING, .sync = sync, .sells_alone = sells_alone, .away_ms = away_ms, .link = &wake
    };
    assert_int_equal(stream_open(&stream, &config), STATUS_OK);
    stream_arm(stream);
    return stream;
}

static uint64_t note(struct stream *stream, enum mirror_kind kind)
{
    struct mirror *mirror = stream_mirror(stream);
    return mirror->ops->note(mirror,
        &(struct mirror_change){ .kind = kind, .part = MIRROR_JOURNAL, .name = "segment-1" });
}

static enum status wait_for(struct stream *stream, uint64_t position, bool endless)
{
    struct mirror *mirror = stream_mirror(stream);
    return mirror->ops->wait(mirror, position, endless);
}

/* A follower that has a whole copy up to the present end. */
static void follower_make(struct stream *stream)
{
    uint64_t from, number;
    size_t bytes;
    struct stream_state state;
    assert_false(stream_attach(stream, 0, 0, false, &from));
    assert_true(stream_base_wanted(stream, &number));
    assert_true(stream_note_base(stream, number, &(struct mirror_change){ .kind = MIRROR_BASE_END }));
    assert_false(stream_base_wanted(stream, &number));
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    stream_look(stream, &state);
    assert_int_equal(stream_acknowledge(stream, state.head), STATUS_OK);
    stream_look(stream, &state);
    assert_true(state.current);
}

struct waiter {
    struct stream *stream;
    uint64_t position;
    enum status status;
    _Atomic bool done;
};
static void waiter_run(void *context)
{
    struct waiter *waiter = context;
    waiter->status = wait_for(waiter->stream, waiter->position, true);
    atomic_store(&waiter->done, true);
}

static void nothing_is_told_before_the_follower_has_it(void **state)
{
    (void)state;
    size_t bytes;
    struct thread thread;
    struct stream *stream = make(true, false, 60000);
    follower_make(stream);
    const uint64_t position = note(stream, MIRROR_SYNC);
    struct waiter waiter = { .stream = stream, .position = position, .status = STATUS_CORRUPT };
    assert_int_equal(thread_start(&thread, "waiter", waiter_run, &waiter), STATUS_OK);
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    assert_int_equal(stream_acknowledge(stream, position - 1), STATUS_OK);
    poll(NULL, 0, 60);
    assert_false(atomic_load(&waiter.done));
    assert_int_equal(stream_acknowledge(stream, position), STATUS_OK);
    thread_join(&thread);
    assert_int_equal(waiter.status, STATUS_OK);
    stream_close(stream);
}

static void an_acknowledgement_before_the_base_is_whole_tells_nothing(void **state)
{
    (void)state;
    uint64_t from, number;
    size_t bytes;
    struct stream *stream = make(true, false, AWAY_MS);
    assert_false(stream_attach(stream, 0, 0, false, &from));
    const uint64_t position = note(stream, MIRROR_SYNC);
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    assert_int_equal(stream_acknowledge(stream, position), STATUS_OK);
    assert_int_equal(wait_for(stream, position, false), STATUS_AWAY);
    assert_true(stream_base_wanted(stream, &number));
    assert_true(stream_note_base(stream, number, &(struct mirror_change){ .kind = MIRROR_BASE_END }));
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    assert_int_equal(stream_acknowledge(stream, position + bytes), STATUS_OK);
    assert_int_equal(wait_for(stream, position, false), STATUS_OK);
    stream_close(stream);
}

static void a_follower_that_is_away_fails_those_with_a_bound_or_lets_them_sell(void **state)
{
    (void)state;
    struct stream *refuses = make(true, false, AWAY_MS), *sells = make(true, true, AWAY_MS),
                  *async = make(false, false, 60000);
    assert_int_equal(wait_for(refuses, note(refuses, MIRROR_SYNC), false), STATUS_AWAY);
    assert_int_equal(wait_for(sells, note(sells, MIRROR_SYNC), true), STATUS_OK);
    assert_int_equal(wait_for(async, note(async, MIRROR_SYNC), true), STATUS_OK);
    follower_make(sells);
    struct stream_state look;
    stream_detach(sells);
    stream_look(sells, &look);
    assert_false(look.current);
    stream_stop(refuses);
    assert_int_equal(wait_for(refuses, note(refuses, MIRROR_SYNC), true), STATUS_IO);
    stream_close(refuses);
    stream_close(sells);
    stream_close(async);
}

static void before_it_is_armed_nobody_waits(void **state)
{
    (void)state;
    struct stream *stream;
    const struct stream_config config = { .ring_bytes = RING, .sync = true, .away_ms = 60000, .link = &wake };
    assert_int_equal(stream_open(&stream, &config), STATUS_OK);
    assert_int_equal(note(stream, MIRROR_SYNC), 0);
    assert_int_equal(wait_for(stream, 0, true), STATUS_OK);
    stream_close(stream);
}

static void who_comes_back_goes_on_and_who_is_too_late_gets_a_base(void **state)
{
    (void)state;
    uint64_t from, first, second;
    struct stream_state look;
    uint8_t *block = calloc(1, WIRE_DATA_MAX);
    block[0] = 1;
    struct stream *stream = make(false, false, AWAY_MS);
    follower_make(stream);
    stream_look(stream, &look);
    const uint64_t has = look.acked;
    stream_detach(stream);
    note(stream, MIRROR_SYNC);
    assert_true(stream_attach(stream, look.epoch, has, true, &from));
    assert_int_equal(from, has);
    stream_detach(stream);
    assert_false(stream_attach(stream, look.epoch + 2, has, true, &from)); /* of another run */
    (void)stream_base_wanted(stream, &first);
    stream_detach(stream);
    follower_make(stream);
    stream_look(stream, &look);
    struct mirror *mirror = stream_mirror(stream);
    for (int i = 0; i < 2 * RING / WIRE_DATA_MAX; i++)
        mirror->ops->note(mirror,
            &(struct mirror_change){
                .kind = MIRROR_WRITE, .name = "stampede.db", .data = block, .bytes = WIRE_DATA_MAX });
    size_t bytes;
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_FULL);
    stream_detach(stream);
    assert_false(stream_attach(stream, look.epoch, look.acked, true, &from));
    assert_true(stream_base_wanted(stream, &second));
    assert_true(second > first);
    assert_false(stream_note_base(stream, first, &(struct mirror_change){ .kind = MIRROR_BASE_END }));
    assert_false(stream_room_wait(stream, first));
    stream_close(stream);
    free(block);
}

static void a_follower_that_comes_again_and_again_without_getting_on_is_away(void **state)
{
    (void)state;
    uint64_t from;
    struct stream_state look;
    struct stream *stream = make(true, false, AWAY_MS);
    follower_make(stream);
    const uint64_t position = note(stream, MIRROR_SYNC);
    const uint64_t until_ms = clock_monotonic_ms() + 2 * AWAY_MS;
    stream_look(stream, &look);
    while (clock_monotonic_ms() < until_ms) {
        stream_detach(stream);
        assert_true(stream_attach(stream, look.epoch, look.acked, true, &from));
        assert_int_equal(stream_acknowledge(stream, look.acked), STATUS_OK);
        poll(NULL, 0, 1);
    }
    assert_int_equal(wait_for(stream, position, false), STATUS_AWAY);
    stream_close(stream);
}

/* It speaks all the time, and still nobody may wait for it longer than for one that is silent. */
static void a_follower_that_acknowledges_a_byte_now_and_then_is_away(void **state)
{
    (void)state;
    size_t bytes;
    struct stream_state look;
    uint8_t *block = calloc(1, WIRE_DATA_MAX);
    block[0] = 1;
    struct stream *stream = make(true, true, 10 * AWAY_MS); /* longer than a busy machine lets us wait */
    struct mirror *mirror = stream_mirror(stream);
    follower_make(stream);
    mirror->ops->note(mirror,
        &(struct mirror_change){
            .kind = MIRROR_WRITE, .name = "stampede.db", .data = block, .bytes = WIRE_DATA_MAX });
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    const uint64_t since_ms = clock_monotonic_ms();
    do {
        note(stream, MIRROR_SYNC);
        stream_look(stream, &look);
        assert_int_equal(stream_acknowledge(stream, look.acked + 1), STATUS_OK);
        poll(NULL, 0, 2);
        stream_look(stream, &look);
    } while (!look.away && clock_monotonic_ms() - since_ms < 100 * AWAY_MS);
    assert_true(look.away);
    assert_int_equal(wait_for(stream, look.head, true), STATUS_OK); /* it sells alone */
    assert_int_equal(stream_take(stream, out, sizeof out, &bytes), STATUS_OK);
    stream_look(stream, &look);
    assert_int_equal(stream_acknowledge(stream, look.head), STATUS_OK);
    stream_look(stream, &look);
    assert_false(look.away);
    stream_close(stream);
    free(block);
}

/* A base may speak of blocks of the copy that it was made for. */
static void a_whole_copy_does_not_go_through_the_base_of_another(void **state)
{
    (void)state;
    uint64_t from, number;
    struct stream_state look;
    struct stream *stream = make(true, false, AWAY_MS);
    follower_make(stream);
    stream_look(stream, &look);
    const uint64_t has = look.acked;
    stream_detach(stream);
    assert_true(stream_resumes(stream, look.epoch, has, true));
    assert_false(stream_attach(stream, 0, 0, false, &from)); /* another, with an empty folder */
    assert_false(stream_resumes(stream, look.epoch, has, true));
    assert_true(stream_resumes(stream, look.epoch, from, false));
    assert_true(stream_base_wanted(stream, &number));
    assert_true(stream_note_base(stream, number, &(struct mirror_change){ .kind = MIRROR_BASE_END }));
    assert_false(stream_resumes(stream, look.epoch, has, true));
    stream_look(stream, &look);
    assert_true(stream_resumes(stream, look.epoch, look.head, true));
    stream_close(stream);
}

static void what_was_not_sent_can_not_be_acknowledged(void **state)
{
    (void)state;
    struct stream *stream = make(true, false, 60000);
    follower_make(stream);
    const uint64_t position = note(stream, MIRROR_SYNC);
    assert_int_equal(stream_acknowledge(stream, position), STATUS_BAD_INPUT);
    assert_int_equal(stream_acknowledge(stream, 0), STATUS_BAD_INPUT);
    stream_close(stream);
}

int main(void)
{
    if (wake_open(&wake) != STATUS_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_before_the_follower_has_it),
        cmocka_unit_test(an_acknowledgement_before_the_base_is_whole_tells_nothing),
        cmocka_unit_test(a_follower_that_is_away_fails_those_with_a_bound_or_lets_them_sell),
        cmocka_unit_test(before_it_is_armed_nobody_waits),
        cmocka_unit_test(who_comes_back_goes_on_and_who_is_too_late_gets_a_base),
        cmocka_unit_test(a_follower_that_comes_again_and_again_without_getting_on_is_away),
        cmocka_unit_test(a_follower_that_acknowledges_a_byte_now_and_then_is_away),
        cmocka_unit_test(a_whole_copy_does_not_go_through_the_base_of_another),
        cmocka_unit_test(what_was_not_sent_can_not_be_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

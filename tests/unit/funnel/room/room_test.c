/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/room/room.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { SALE = 7 };

/* A draw among `count` whose secret is `seed`. */
static struct room_draw draw_of(uint64_t seed, uint32_t count)
{
    uint8_t secret[ROOM_SECRET_BYTES] = { 0 };
    struct room_chain chain;
    struct room_draw draw;
    memcpy(secret, &seed, sizeof seed);
    room_chain_begin(&chain, SALE);
    chain.count = count; /* what is in it does not matter here */
    room_draw_make(&draw, secret, SALE, &chain, SPAN_NONE);
    return draw;
}

static void everybody_gets_a_place_and_no_place_is_given_twice(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 3, 5, 63, 64, 65, 256, 257, 1000, 4096, 4097, 70000 };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct room_draw draw = draw_of(i + 1, counts[i]);
        bool *taken = calloc(counts[i] + 1, sizeof *taken);
        for (uint32_t number = 0; number < counts[i]; number++) {
            const uint32_t place = room_place(&draw, number);
            assert_true(place < counts[i] && !taken[place]);
            taken[place] = true;
        }
        free(taken);
    }
}

static void who_came_later_stands_behind_in_the_order_of_coming(void **state)
{
    const struct room_draw draw = draw_of(3, 100);
    (void)state;
    for (uint32_t number = 100; number < 200; number++)
        assert_int_equal(room_place(&draw, number), number);
    assert_int_equal(room_place(&draw, UINT32_MAX), UINT32_MAX);
}

/* χ² of counts that should all be the same. */
static double chi_square(const uint32_t *counts, uint32_t cells, double expected)
{
    double sum = 0;
    for (uint32_t i = 0; i < cells; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return sum;
}

/* Bounds: one in 10,000 fair draws would be above. The seeds are fixed, so it never changes. */
static void every_number_has_the_same_chance_of_every_place(void **state)
{
    static const struct {
        uint32_t count, draws;
        double bound;
    } cases[] = { { 2, 20000, 15.1 }, { 3, 30000, 18.4 }, { 10, 40000, 33.7 }, { 100, 40000, 157.4 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t count = cases[i].count;
        for (uint32_t number = 0; number < count; number += count / 3 + 1) {
            uint32_t places[100] = { 0 };
            for (uint64_t seed = 0; seed < cases[i].draws; seed++) {
                const struct room_draw draw = draw_of(seed * 31 + number, count);
                places[room_place(&draw, number)]++;
            }
            const double chi = chi_square(places, count, (double)cases[i].draws / count);
            printf("draw of %u, number %u: chi2 %.1f (below %.1f)\n", count, number, chi, cases[i].bound);
            assert_true(chi < cases[i].bound);
        }
    }
}

static void every_order_of_four_is_as_likely(void **state)
{
    enum { DRAWS = 48000, ORDERS = 256 };
    static uint32_t orders[ORDERS];
    uint32_t seen[24], distinct = 0;
    (void)state;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        const struct room_draw draw = draw_of(seed, 4);
        uint32_t order = 0;
        for (uint32_t number = 0; number < 4; number++)
            order = order << 2 | room_place(&draw, number);
        orders[order]++;
    }
    for (uint32_t i = 0; i < ORDERS; i++)
        if (orders[i] > 0 && distinct < 24)
            seen[distinct++] = orders[i];
    assert_int_equal(distinct, 24);
    const double chi = chi_square(seen, 24, DRAWS / 24.0);
    printf("orders of 4: chi2 %.1f (below 58.6)\n", chi);
    assert_true(chi < 58.6);
}

/* Two neighbours in the arrivals are as likely to be neighbours in the line as any two. */
static void places_of_neighbours_have_nothing_to_do_with_each_other(void **state)
{
    enum { COUNT = 16, DRAWS = 30000 };
    uint32_t distances[COUNT] = { 0 };
    (void)state;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        const struct room_draw draw = draw_of(seed, COUNT);
        distances[(room_place(&draw, 5) - room_place(&draw, 4) + COUNT) % COUNT]++;
    }
    assert_int_equal(distances[0], 0);
    const double chi = chi_square(distances + 1, COUNT - 1, DRAWS / (COUNT - 1.0));
    printf("neighbours: chi2 %.1f (below 42.6)\n", chi);
    assert_true(chi < 42.6);
}

static void the_key_depends_on_secret_sale_arrivals_count_and_beacon(void **state)
{
    uint8_t secret[ROOM_SECRET_BYTES] = { 1 }, other[ROOM_SECRET_BYTES] = { 2 };
    struct room_chain chain, longer;
    struct room_draw draw[6];
    (void)state;
    room_chain_begin(&chain, SALE);
    for (uint64_t mark = 1; mark <= 50; mark++)
        room_chain_add(&chain, mark);
    longer = chain;
    longer.count++;
    struct room_chain swapped;
    room_chain_begin(&swapped, SALE);
    for (uint64_t mark = 50; mark >= 1; mark--)
        room_chain_add(&swapped, mark);
    room_draw_make(&draw[0], secret, SALE, &chain, SPAN_NONE);
    room_draw_make(&draw[1], other, SALE, &chain, SPAN_NONE);
    room_draw_make(&draw[2], secret, SALE + 1, &chain, SPAN_NONE);
    room_draw_make(&draw[3], secret, SALE, &longer, SPAN_NONE);
    room_draw_make(&draw[4], secret, SALE, &swapped, SPAN_NONE);
    room_draw_make(&draw[5], secret, SALE, &chain, SPAN("lottery of Tuesday: 7"));
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_memory_not_equal(&draw[i].cipher, &draw[j].cipher, sizeof draw[i].cipher);
}

/* Worked out with Python: hashlib.sha256(b"stampede beacon 1" + struct.pack("<I", 5) + b"index" + b"42"). */
static void a_beacon_binds_name_and_value_and_neither_can_be_shifted(void **state)
{
    static const char wanted[] = "071f05435ebda02462bdf382ce07ee026762edc1f651e18540538236ed0adbfc";
    char beacon[5][ROOM_BEACON_MAX + 1];
    (void)state;
    room_beacon(SPAN("index"), SPAN("42"), beacon[0]);
    assert_string_equal(beacon[0], wanted);
    room_beacon(SPAN("index4"), SPAN("2"), beacon[1]);
    room_beacon(SPAN("inde"), SPAN("x42"), beacon[2]);
    room_beacon(SPAN("index"), SPAN("43"), beacon[3]);
    room_beacon(SPAN("Index"), SPAN("42"), beacon[4]);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(beacon[i], beacon[j]);
}

/* Draws that were published stay checkable: without a beacon the formula is what it was. */
static void the_key_without_a_beacon_is_what_it_always_was(void **state)
{
    static const uint8_t plain[ROOM_KEY_BYTES] = { 0x78, 0xa9, 0x04, 0x13, 0xcf, 0x9d, 0x88, 0x9c,
        0x29, 0xf0, 0x02, 0xb3, 0xcb, 0xe7, 0xbb, 0xc4 };
    static const uint8_t lit[ROOM_KEY_BYTES] = { 0x37, 0x1c, 0x2d, 0x8b, 0x93, 0xc8, 0xa8, 0x05,
        0xd8, 0x5f, 0x07, 0xd4, 0x3f, 0xf9, 0x94, 0x61 };
    uint8_t secret[ROOM_SECRET_BYTES] = { 1 };
    char beacon[ROOM_BEACON_MAX + 1];
    struct room_chain chain;
    struct room_draw draw;
    (void)state;
    room_chain_begin(&chain, SALE);
    for (uint64_t mark = 1; mark <= 3; mark++)
        room_chain_add(&chain, mark);
    room_draw_make(&draw, secret, SALE, &chain, SPAN_NONE);
    assert_memory_equal(draw.key, plain, sizeof plain);
    assert_string_equal(draw.beacon, "");
    room_beacon(SPAN("index"), SPAN("42"), beacon);
    room_draw_make(&draw, secret, SALE, &chain, span_from_string(beacon));
    assert_memory_equal(draw.key, lit, sizeof lit);
    assert_string_equal(draw.beacon, beacon);
}

/* The longest name and value that are allowed. */
static void a_beacon_may_be_as_long_as_the_limits_say(void **state)
{
    char name[BEACON_NAME_BYTES_MAX], value[BEACON_VALUE_BYTES_MAX], beacon[2][ROOM_BEACON_MAX + 1];
    (void)state;
    memset(name, 'n', sizeof name);
    memset(value, 'v', sizeof value);
    room_beacon(span_of(name, sizeof name), span_of(value, sizeof value), beacon[0]);
    room_beacon(span_of(name, sizeof name), span_of(value, sizeof value - 1), beacon[1]);
    assert_int_equal(strlen(beacon[0]), ROOM_BEACON_MAX);
    assert_string_not_equal(beacon[0], beacon[1]);
}

static void secrets_and_marks_differ_by_sale_and_user(void **state)
{
    struct funnel_keys keys;
    uint8_t one[ROOM_SECRET_BYTES], two[ROOM_SECRET_BYTES], first[32], second[32];
    (void)state;
    assert_int_equal(funnel_keys_derive(&keys, "a master secret of 32 bytes.....", 32), STATUS_OK);
    room_secret(&keys, 1, one);
    room_secret(&keys, 2, two);
    assert_memory_not_equal(one, two, sizeof one);
    room_commitment(1, one, first);
    room_commitment(2, one, second);
    assert_memory_not_equal(first, second, sizeof first);
    assert_true(room_mark(one, 1, 5) != room_mark(one, 1, 6));
    assert_true(room_mark(one, 1, 5) != room_mark(one, 2, 5));
    assert_true(room_mark(one, 1, 5) != room_mark(two, 1, 5));
}

/* ---- admission ---- */

static const struct room_rules rules = { .turn_ms = 10000, .rate_min = 2, .rate_max = 100 };
enum { TICK_MS = 100 };

struct line {
    struct room_control control;
    struct room_view view;
    struct room_stock stock;
    uint64_t now_ms;
    uint32_t head, arrived;
};

static uint32_t tick(struct line *line)
{
    const uint32_t before = line->head;
    line->now_ms += TICK_MS;
    line->head = room_admit(
        &line->control, &rules, line->now_ms, &line->stock, line->head, line->arrived, &line->view);
    assert_true(line->head >= before && line->head <= line->arrived);
    return line->head - before;
}

static uint32_t ticks(struct line *line, uint32_t count)
{
    uint32_t people = 0;
    while (count-- > 0)
        people += tick(line);
    return people;
}

static struct line line_of(uint32_t units, uint32_t arrived)
{
    struct line line = { .stock = { .free = units }, .now_ms = 1000000, .arrived = arrived };
    assert_int_equal(tick(&line), 0); /* the first look only begins */
    return line;
}

static void as_many_go_in_as_there_are_units_and_no_faster_than_allowed(void **state)
{
    struct line line = line_of(30, 1000);
    (void)state;
    assert_int_equal(tick(&line), 10);
    assert_int_equal(ticks(&line, 2), 20);
    /* Then only the floor, while these decide. */
    const uint32_t more = ticks(&line, 50);
    assert_true(more >= 9 && more <= 11);
}

static void who_buys_makes_room_for_nobody_and_who_leaves_for_the_next(void **state)
{
    struct line line = line_of(30, 100000);
    (void)state;
    const struct room_rules no_floor = { .turn_ms = 10000, .rate_min = 0, .rate_max = 100 };
    for (uint32_t i = 0; i < 5; i++) {
        line.now_ms += TICK_MS;
        line.head = room_admit(&line.control, &no_floor, line.now_ms, &line.stock, line.head,
            line.arrived, &line.view);
    }
    assert_int_equal(line.head, 30);
    line.stock = (struct room_stock){ .free = 20, .held = 10 };
    for (uint32_t i = 0; i < 20; i++) {
        line.now_ms += TICK_MS;
        line.head = room_admit(&line.control, &no_floor, line.now_ms, &line.stock, line.head,
            line.arrived, &line.view);
    }
    assert_int_equal(line.head, 30); /* twenty units, twenty who may still take them */
    for (uint32_t i = 0; i < 110; i++) {
        line.now_ms += TICK_MS;
        line.head = room_admit(&line.control, &no_floor, line.now_ms, &line.stock, line.head,
            line.arrived, &line.view);
    }
    assert_true(line.head >= 50); /* they are gone: one in three buys, so more than twenty are asked in */
}

static void without_stock_nobody_goes_in_and_returned_units_go_on(void **state)
{
    struct line line = line_of(0, 1000);
    (void)state;
    line.stock.held = 5;
    assert_int_equal(ticks(&line, 200), 0);
    assert_int_equal(room_odds(&line.view, 0), ROOM_FAIR);
    line.stock = (struct room_stock){ .free = 2, .held = 3 };
    assert_true(ticks(&line, 3) >= 2);
    line.stock = (struct room_stock){ .sold = 5 };
    assert_int_equal(ticks(&line, 10), 0);
    assert_int_equal(room_odds(&line.view, 0), ROOM_NONE);
}

static void a_pause_lets_no_crowd_in_at_once(void **state)
{
    struct line line = line_of(100000, 100000);
    (void)state;
    line.now_ms += 3600 * 1000;
    assert_true(tick(&line) <= rules.rate_max);
    line.now_ms -= 5000; /* a clock that was set back */
    assert_int_equal(tick(&line), 0);
}

static void those_far_behind_the_stock_hear_it_early(void **state)
{
    struct line line = line_of(100, 100000);
    (void)state;
    ticks(&line, 3);
    assert_int_equal(room_odds(&line.view, 0), ROOM_GOOD);
    assert_int_equal(room_odds(&line.view, 80), ROOM_FAIR);
    assert_int_equal(room_odds(&line.view, 200), ROOM_POOR);
    assert_int_equal(room_odds(&line.view, 99999), ROOM_POOR);
    assert_string_equal(room_odds_names[ROOM_POOR], "poor");
}

static void the_time_to_wait_follows_the_speed_of_the_line(void **state)
{
    struct line line = line_of(100000, 100000);
    (void)state;
    assert_int_equal(room_eta_ms(&line.view, 10), UINT64_MAX);
    ticks(&line, 300);
    const uint64_t eta_ms = room_eta_ms(&line.view, 999); /* a hundred a second */
    assert_true(eta_ms > 9000 && eta_ms < 11500);
    for (uint64_t random = 0; random < 5000; random += 7) {
        const uint32_t near_ms = room_poll_ms(0, random), far_ms = room_poll_ms(UINT64_MAX, random);
        assert_true(near_ms >= 1000 && near_ms < 1500 && far_ms >= 15000 && far_ms < 22500);
    }
    assert_true(room_poll_ms(0, 1) != room_poll_ms(0, 2));
}

static void who_comes_first_to_an_idle_room_is_told_to_go_in_at_once(void **state)
{
    struct line line = line_of(100, 0);
    (void)state;
    ticks(&line, 100);
    assert_int_equal(room_eta_ms(&line.view, 0), 0);
    assert_true(room_poll_ms(room_eta_ms(&line.view, 0), 7) < 1500);
    assert_true(line.view.ready <= rules.rate_max);
    assert_int_equal(room_eta_ms(&line.view, line.view.ready), UINT64_MAX); /* too many for one look */
    line.stock = (struct room_stock){ .sold = 100 };
    ticks(&line, 1);
    assert_int_equal(line.view.ready, 0);
    assert_int_equal(room_eta_ms(&line.view, 0), UINT64_MAX);
}

/* A whole sale: some leave before their turn, some look and go, some buy, some do not pay. All units
 * are sold, in the order of the line, and the line never stands while there is stock. */
static void a_sale_with_people_who_leave_sells_out_in_order(void **state)
{
    enum { UNITS = 500, PEOPLE = 100000 };
    struct line line = { .stock = { .free = UNITS }, .now_ms = 1000000, .arrived = PEOPLE };
    struct random random;
    uint32_t decided = 0, idle = 0, buyers_last = 0;
    (void)state;
    random_seed(&random, 5);
    while (line.stock.sold < UNITS && line.now_ms < 1000000 + 3600 * 1000) {
        const uint32_t head = line.head;
        tick(&line);
        idle = line.stock.free > 0 && line.head == head ? idle + 1 : 0;
        assert_true(idle < rules.turn_ms / TICK_MS + 20);
        /* Half a second after their turn came, a third of them buys; the rest never comes. */
        for (; decided < head; decided++) {
            if (random_next(&random) % 3 != 0 || line.stock.free == 0)
                continue;
            line.stock.free--;
            line.stock.held++;
            buyers_last = decided;
        }
        /* Now and then somebody pays or lets the time pass. */
        if (line.stock.held > 0 && random_next(&random) % 4 != 0) {
            line.stock.held--;
            if (random_next(&random) % 10 == 0)
                line.stock.free++;
            else
                line.stock.sold++;
        }
    }
    assert_int_equal(line.stock.sold, UNITS);
    printf("%u units: %u of %u went in, the last buyer had place %u\n", UNITS, line.head, PEOPLE,
        buyers_last);
    assert_true(line.head < 5 * UNITS && buyers_last < line.head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_gets_a_place_and_no_place_is_given_twice),
        cmocka_unit_test(who_came_later_stands_behind_in_the_order_of_coming),
        cmocka_unit_test(every_number_has_the_same_chance_of_every_place),
        cmocka_unit_test(every_order_of_four_is_as_likely),
        cmocka_unit_test(places_of_neighbours_have_nothing_to_do_with_each_other),
        cmocka_unit_test(the_key_depends_on_secret_sale_arrivals_count_and_beacon),
        cmocka_unit_test(a_beacon_binds_name_and_value_and_neither_can_be_shifted),
        cmocka_unit_test(the_key_without_a_beacon_is_what_it_always_was),
        cmocka_unit_test(a_beacon_may_be_as_long_as_the_limits_say),
        cmocka_unit_test(secrets_and_marks_differ_by_sale_and_user),
        cmocka_unit_test(as_many_go_in_as_there_are_units_and_no_faster_than_allowed),
        cmocka_unit_test(who_buys_makes_room_for_nobody_and_who_leaves_for_the_next),
        cmocka_unit_test(without_stock_nobody_goes_in_and_returned_units_go_on),
        cmocka_unit_test(a_pause_lets_no_crowd_in_at_once),
        cmocka_unit_test(those_far_behind_the_stock_hear_it_early),
        cmocka_unit_test(the_time_to_wait_follows_the_speed_of_the_line),
        cmocka_unit_test(who_comes_first_to_an_idle_room_is_told_to_go_in_at_once),
        cmocka_unit_test(a_sale_with_people_who_leave_sells_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

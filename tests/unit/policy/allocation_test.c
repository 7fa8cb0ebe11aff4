/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing units out among channels: exact sums, order kept, no data, the documents' example. */
#include "policy/allocation.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { CASES = 100000 };

static const struct allocation_weights standard = { 500, 300, 200 };

static uint64_t random_state;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Small and large numbers alike. */
static uint64_t random_upto(uint64_t most)
{
    const uint64_t number = random_next() >> (random_next() % 64);
    return number % (most + 1);
}

static uint64_t sum_of(const uint32_t *numbers, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

static void order_check(const uint32_t *shares, const uint32_t *units, uint32_t count)
{
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++) {
            if (shares[a] > shares[b])
                assert_true(units[a] >= units[b]);
            if (shares[a] == shares[b]) /* one more at most, for the lower number */
                assert_true(units[a] == units[b] || (units[a] == units[b] + 1) == (a < b));
        }
}

static void the_documents_example_gives_four_three_three(void **state)
{
    const uint32_t shares[] = { 400000, 320000, 280000 };
    uint32_t units[3];
    (void)state;
    allocation_units(10, shares, 3, units);
    assert_int_equal(units[0], 4);
    assert_int_equal(units[1], 3);
    assert_int_equal(units[2], 3);
}

/* Sales 5 : 3 : 2, conversions 3 % : 3 % : 4 %, mean values 90 : 100 : 110 yuan. */
static void shares_follow_the_formula(void **state)
{
    const struct sales_figures figures[] = { { 5000, 3000, 100000, 3000 * 9000 },
        { 3000, 2100, 70000, 2100 * 10000 }, { 2000, 1600, 40000, 1600 * 11000 } };
    struct allocation out;
    uint32_t units[3];
    (void)state;
    allocation_shares(figures, 3, &standard, &out);
    assert_int_equal(out.sales[0], 500000);
    assert_int_equal(out.conversion[0], 300000);
    assert_int_equal(out.conversion[2], 400000);
    assert_int_equal(out.value[0], 300000);
    assert_int_equal(out.value[2], 366667); /* the largest remainder */
    assert_int_equal(out.share[0], 400000); /* 0.25 + 0.09 + 0.06 */
    assert_in_range(out.share[1], 306666, 306668);
    assert_in_range(out.share[2], 293332, 293334);
    assert_true(out.conversion_known);
    allocation_units(10, out.share, 3, units);
    assert_int_equal(units[0] * 100 + units[1] * 10 + units[2], 433);
}

static void a_part_without_data_is_shared_equally(void **state)
{
    struct sales_figures figures[4] = { { 0 } };
    struct allocation out;
    (void)state;
    allocation_shares(figures, 4, &standard, &out);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out.share[i], 250000);
    assert_false(out.conversion_known);
    figures[0] = (struct sales_figures){ 10, 10, 100, 1000 };
    allocation_shares(figures, 4, &standard, &out);
    assert_int_equal(out.share[0], SHARE_ONE);
    assert_int_equal(out.share[3], 0);
    figures[1] = (struct sales_figures){ 10, 10, 0, 1000 }; /* visits are not known */
    allocation_shares(figures, 4, &standard, &out);
    assert_false(out.conversion_known);
    assert_int_equal(out.conversion[0], 250000);
    assert_int_equal(out.conversion[3], 250000);
    allocation_shares(figures, 1, &standard, &out);
    assert_int_equal(out.share[0], SHARE_ONE);
}

static void more_orders_than_visits_count_as_every_visit(void **state)
{
    const struct sales_figures figures[] = { { 1, 500, 100, 1 }, { 1, 100, 100, 1 } };
    struct allocation out;
    (void)state;
    allocation_shares(figures, 2, &standard, &out);
    assert_int_equal(out.conversion[0], out.conversion[1]);
}

static void weights_add_up_to_one_within_rounding(void **state)
{
    (void)state;
    assert_true(allocation_weights_are_good(&standard));
    assert_true(allocation_weights_are_good(&(struct allocation_weights){ 333, 333, 333 }));
    assert_true(allocation_weights_are_good(&(struct allocation_weights){ 334, 334, 333 }));
    assert_true(allocation_weights_are_good(&(struct allocation_weights){ 0, 0, 1000 }));
    assert_false(allocation_weights_are_good(&(struct allocation_weights){ 333, 333, 332 }));
    assert_false(allocation_weights_are_good(&(struct allocation_weights){ 500, 300, 202 }));
    assert_false(allocation_weights_are_good(&(struct allocation_weights){ UINT32_MAX, 1001, 0 }));
}

static void equal_remainders_go_to_the_lower_number(void **state)
{
    const uint32_t shares[] = { 0, 1, 1, 1 }, none[3] = { 0 };
    uint32_t units[4];
    (void)state;
    allocation_units(2, shares, 4, units);
    assert_int_equal(units[0], 0);
    assert_int_equal(units[1], 1);
    assert_int_equal(units[2], 1);
    assert_int_equal(units[3], 0);
    allocation_units(4, none, 3, units);
    assert_int_equal(units[0], 2);
    assert_int_equal(units[2], 1);
    allocation_units(0, shares, 4, units);
    assert_int_equal(sum_of(units, 4), 0);
}

static void case_check(void)
{
    const uint32_t count = 1 + (uint32_t)random_upto(CHANNELS_MAX - 1);
    struct sales_figures figures[CHANNELS_MAX];
    struct allocation_weights weights = { (uint32_t)random_upto(WEIGHTS_ONE), 0, 0 };
    struct allocation out;
    struct allocation_move moves[CHANNELS_MAX];
    uint32_t now[CHANNELS_MAX], wanted[CHANNELS_MAX];
    weights.conversion = (uint32_t)random_upto(WEIGHTS_ONE - weights.sales);
    weights.value = WEIGHTS_ONE - weights.sales - weights.conversion;
    for (uint32_t i = 0; i < count; i++) {
        figures[i] = (struct sales_figures){ random_upto(FIGURE_MAX), random_upto(FIGURE_MAX),
            random_upto(FIGURE_MAX), random_upto(FIGURE_VALUE_MAX) };
        now[i] = (uint32_t)random_upto(UNITS_MAX / CHANNELS_MAX);
    }
    allocation_shares(figures, count, &weights, &out);
    assert_int_equal(sum_of(out.sales, count), SHARE_ONE);
    assert_int_equal(sum_of(out.conversion, count), SHARE_ONE);
    assert_int_equal(sum_of(out.value, count), SHARE_ONE);
    assert_int_equal(sum_of(out.share, count), SHARE_ONE);
    const uint32_t units = (uint32_t)sum_of(now, count);
    allocation_units(units, out.share, count, wanted);
    assert_int_equal(sum_of(wanted, count), units);
    order_check(out.share, wanted, count);
    const uint32_t made = allocation_moves(now, wanted, count, moves);
    assert_true(made < count);
    for (uint32_t i = 0; i < made; i++) {
        assert_true(moves[i].quantity > 0 && moves[i].quantity <= now[moves[i].from]);
        now[moves[i].from] -= moves[i].quantity;
        now[moves[i].to] += moves[i].quantity;
    }
    assert_memory_equal(now, wanted, count * sizeof *now);
}

static void a_hundred_thousand_cases_add_up_and_keep_their_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        random_state = seed * 0x9e3779b97f4a7c15u;
        case_check();
    }
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(the_documents_example_gives_four_three_three),
        cmocka_unit_test(shares_follow_the_formula),
        cmocka_unit_test(a_part_without_data_is_shared_equally),
        cmocka_unit_test(more_orders_than_visits_count_as_every_visit),
        cmocka_unit_test(weights_add_up_to_one_within_rounding),
        cmocka_unit_test(equal_remainders_go_to_the_lower_number),
        cmocka_unit_test(a_hundred_thousand_cases_add_up_and_keep_their_order),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}

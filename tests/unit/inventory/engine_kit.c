/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/inventory/engine_kit.h"

enum answer kit_do(struct kit *kit, struct command command, uint64_t now_ms)
{
    command.time_ms = now_ms;
    if (command.type == COMMAND_RESERVE && command.reserve.pending_from == 0)
        command.reserve.pending_from = UINT64_MAX; /* everything before is durable */
    engine_apply(&kit->engine, &command, true, &kit->out);
    kit_check(kit);
    return kit->out.answer;
}

void kit_start(struct kit *kit, uint64_t tickets_max)
{
    const struct engine_config config = {
        .items_max = 4, .sales_max = 3, .tickets_max = tickets_max, .places_max = KIT_PLACES
    };
    assert_int_equal(engine_open(&kit->engine, &config), STATUS_OK);
}

void kit_stop(struct kit *kit)
{
    engine_close(&kit->engine);
}

enum answer kit_sale(struct kit *kit, uint32_t limit, bool eligible_only)
{
    return kit_do(kit,
        (struct command){ .type = COMMAND_SALE,
            .sale = { .sale = 1,
                .limit_per_user = limit,
                .start_ms = SALE_START,
                .end_ms = SALE_END,
                .eligible_only = eligible_only } },
        0);
}

struct command_preheat kit_item(item_id item, uint32_t limit)
{
    return (struct command_preheat){ .item = item,
        .sale = 1,
        .unit_price = PRICE,
        .limit_per_user = limit,
        .pay_window_ms = PAY_WINDOW,
        .total = 20,
        .locked = 4,
        .sold_before = 1,
        .safety = 3,
        .channel_units = { 10, 2 } };
}

enum answer kit_preheat(struct kit *kit, item_id item, uint32_t limit)
{
    return kit_do(kit, (struct command){ .type = COMMAND_PREHEAT, .preheat = kit_item(item, limit) }, 0);
}

void kit_ready(struct kit *kit, uint32_t item_limit, uint32_t sale_limit)
{
    kit_start(kit, 64);
    assert_int_equal(kit_sale(kit, sale_limit, false), ANSWER_DONE);
    assert_int_equal(kit_preheat(kit, 1, item_limit), ANSWER_DONE);
}

enum answer kit_buy(struct kit *kit, user_id user, uint64_t key, uint32_t quantity)
{
    return kit_do(kit,
        (struct command){ .type = COMMAND_RESERVE,
            .reserve = { .user = user, .key = key, .item = 1, .quantity = quantity } },
        SALE_NOW);
}

enum answer kit_settle(struct kit *kit, ticket_number ticket, enum settle_step step)
{
    return kit_do(kit,
        (struct command){ .type = COMMAND_SETTLE, .settle = { .ticket = ticket, .step = (uint8_t)step } },
        SALE_NOW);
}

uint32_t kit_free(const struct kit *kit, channel_index channel)
{
    struct item_counts counts;
    engine_item_counts(&kit->engine, 1, &counts);
    return counts.channel_free[channel];
}

void kit_check(const struct kit *kit)
{
    const char *wrong = engine_check(&kit->engine);
    assert_null(wrong);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/inventory/engine_kit.h: a small engine and short words for what is asked of it. The
 * sale (id 1) runs in [SALE_START, SALE_END); item 1 has 10 units on channel 0, 2 on channel 1, 3
 * in safety stock. */
#ifndef STAMPEDE_TESTS_ENGINE_KIT_H
#define STAMPEDE_TESTS_ENGINE_KIT_H

#include "inventory/engine.h"
#include "tests/unit/base/unit.h"

enum {
    SALE_START = 1000,
    SALE_NOW = 1500,
    SALE_END = 2000,
    PRICE = 499,
    PAY_WINDOW = 300,
    ANNA = 7,
    BERT = 8,
    CLEO = 9,
    KIT_PLACES = 5, /* in waiting rooms */
};

struct kit {
    struct engine engine;
    struct outcome out; /* of the last command */
};

enum answer kit_do(struct kit *kit, struct command command, uint64_t now_ms);
void kit_start(struct kit *kit, uint64_t tickets_max);
void kit_stop(struct kit *kit);
enum answer kit_sale(struct kit *kit, uint32_t limit, bool eligible_only);
enum answer kit_preheat(struct kit *kit, item_id item, uint32_t limit);
void kit_ready(struct kit *kit, uint32_t item_limit, uint32_t sale_limit); /* sale and item 1, running */
enum answer kit_buy(struct kit *kit, user_id user, uint64_t key, uint32_t quantity); /* item 1, channel 0 */
enum answer kit_settle(struct kit *kit, ticket_number ticket, enum settle_step step);
struct command_preheat kit_item(item_id item, uint32_t limit); /* what kit_preheat asks for */
uint32_t kit_free(const struct kit *kit, channel_index channel);
/* The state is sound, and refused commands have left it as it was. */
void kit_check(const struct kit *kit);
#define kit_expect_same(kit, act) \
    do { \
        const uint64_t before = engine_digest(&(kit)->engine); \
        act; \
        assert_false((kit)->out.changed); \
        assert_int_equal(engine_digest(&(kit)->engine), before); \
    } while (0)

#endif

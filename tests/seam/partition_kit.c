/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/partition_kit.h"

#include "base/random.h"
#include "inventory/redis/command_text.h"
#include "inventory/redis/record_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

const struct engine_config parts_engine = {
    .items_max = 8, .sales_max = 4, .tickets_max = 1000, .places_max = 100
};

void parts_open(struct shop *shop, const char *addresses)
{
    struct span bad;
    *shop = (struct shop){ 0 };
    assert_int_equal(redis_nodes_read(span_from_string(addresses), shop->config.seeds,
                         REDIS_SEEDS_MAX, &shop->config.seed_count, &bad),
        STATUS_OK);
    assert_int_equal(redis_caller_open(&shop->caller, &shop->config), STATUS_OK);
    assert_true(redis_caller_is_ready(shop->caller, SHOP_LONG_MS));
    random_secret(&shop->data_id, sizeof shop->data_id);
    partition_keys_make(&shop->keys, shop->data_id, SHOP_PART);
}

void parts_close(struct shop *shop)
{
    redis_caller_close(shop->caller);
}

void parts_do(struct shop *shop, struct redis_words words)
{
    assert_int_equal(redis_call(shop->caller, shop->keys.prefix, words, SHOP_LONG_MS, NULL, NULL),
        REDIS_ANSWER_OK);
}

static void reply_take(void *context, const struct redis_value *value)
{
    struct shop *shop = context;
    shop->error[0] = '\0';
    if (value->kind == REDIS_KIND_ERROR)
        snprintf(shop->error, sizeof shop->error, "%.*s", (int)value->text.size, value->text.data);
    else if (value->kind != REDIS_KIND_LIST || value->count != 2
        || outcome_text_read(value->list[1].text, &shop->outcome) != STATUS_OK)
        snprintf(shop->error, sizeof shop->error, "the reply can't be read");
}

enum redis_answer parts_ask(struct shop *shop, const struct command *command)
{
    char bytes[COMMAND_TEXT_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    const struct span *names = shop->keys.names;
    struct span words[10 + PURCHASE_WORDS] = { SPAN("EVALSHA"), span_from_string(shop->sha),
        SPAN("5"), names[0], names[1], names[2], names[3], names[4], SPAN("0"), SPAN("reserve") };
    struct redis_words call = { words, 10 };
    if (command->type == COMMAND_RESERVE) {
        assert_int_equal(purchase_text_write(&text, command, NULL, &words[call.count]), STATUS_OK);
        call.count += PURCHASE_WORDS;
    } else {
        assert_int_equal(command_text_write(&text, command), STATUS_OK);
        words[9] = text_span(&text);
    }
    return redis_call(shop->caller, names[0], call, SHOP_LONG_MS, reply_take, shop);
}

enum answer parts_must(struct shop *shop, const struct command *command)
{
    const enum redis_answer answer = parts_ask(shop, command);
    if (answer != REDIS_ANSWER_OK || shop->error[0] != '\0')
        fail_msg("%d: %s", answer, shop->error);
    return (enum answer)shop->outcome.answer;
}

struct command parts_purchase(user_id user)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = user + 1000, .item = 1, .quantity = 1 } };
}

enum answer parts_buy(struct shop *shop, user_id user)
{
    const struct command command = parts_purchase(user);
    return parts_must(shop, &command);
}

void parts_sale(struct shop *shop, uint64_t end_ms)
{
    struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1000, .end_ms = end_ms } };
    struct command item = { .type = COMMAND_PREHEAT };
    item.preheat =
        (struct command_preheat){ .item = 1, .sale = 1, .unit_price = 99, .total = SHOP_UNITS };
    item.preheat.limit_per_user = 1;
    item.preheat.pay_window_ms = 600000;
    item.preheat.channel_units[0] = SHOP_UNITS;
    assert_int_equal(parts_must(shop, &sale), ANSWER_DONE);
    assert_int_equal(parts_must(shop, &item), ANSWER_DONE);
}

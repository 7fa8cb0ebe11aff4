/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/partition_kit.h: the gateway's side of a partition on a real Redis: calls of its script. */
#ifndef STAMPEDE_TESTS_SEAM_PARTITION_KIT_H
#define STAMPEDE_TESTS_SEAM_PARTITION_KIT_H

#include "contract/command.h"
#include "inventory/engine.h"
#include "inventory/redis/keys.h"
#include "redis/caller.h"

enum { SHOP_PART = 7, SHOP_UNITS = 50, SHOP_LONG_MS = 60 * 1000 };

extern const struct engine_config parts_engine; /* a small one */

struct shop {
    struct redis_client_config config;
    struct redis_caller *caller;
    uint64_t data_id; /* a new one: others are on the server, too */
    struct partition_keys keys;
    char sha[SCRIPT_SHA_DIGITS + 1]; /* of the script that is called */
    struct outcome outcome;          /* of the last call */
    char error[160];                 /* or what was wrong */
};

void parts_open(struct shop *shop, const char *addresses);
void parts_close(struct shop *shop);
/* The words of a command for Redis itself; it must succeed. */
void parts_do(struct shop *shop, struct redis_words words);
enum redis_answer parts_ask(struct shop *shop, const struct command *command);
enum answer parts_must(struct shop *shop, const struct command *command); /* fails the test on an error */
/* One unit of item 1; the key depends on the user. */
struct command parts_purchase(user_id user);
enum answer parts_buy(struct shop *shop, user_id user);
void parts_sale(struct shop *shop, uint64_t end_ms); /* sale 1, item 1 with SHOP_UNITS; limit 1 */

#endif

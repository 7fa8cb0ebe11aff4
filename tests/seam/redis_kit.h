/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/redis_kit.h: a client (and a subscriber) of real servers, and what it was told; and a second way
 * to the servers, for what operators do. */
#ifndef STAMPEDE_TESTS_SEAM_REDIS_KIT_H
#define STAMPEDE_TESTS_SEAM_REDIS_KIT_H

#include "redis/subscriber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { REDIS_KIT_ANSWER_MS = 20 * 1000, REDIS_KIT_TEXT_MAX = 128, REDIS_KIT_TOLD_MAX = 16 * 1024 };

struct redis_kit {
    struct redis_client *client;
    struct redis_subscriber *subscriber;
    uint32_t told, informed;
    uint64_t tags[REDIS_KIT_TOLD_MAX];
    enum redis_answer answers[REDIS_KIT_TOLD_MAX];
    char text[REDIS_KIT_TEXT_MAX]; /* of the last reply; numbers too */
    uint32_t subscribed, notes;
    char note[REDIS_KIT_TEXT_MAX]; /* the last: channel, blank, message */
};

/* `user` and `password` may be NULL. */
void redis_kit_open(struct redis_kit *kit, const char *seeds, const char *user,
    const char *password, const struct redis_limits *limits);
void redis_kit_subscriber_open(struct redis_kit *kit);
void redis_kit_close(struct redis_kit *kit);
uint64_t redis_kit_now_ms(void);
void redis_kit_turn(struct redis_kit *kit);                /* waits for events, a little */
bool redis_kit_still(uint64_t since_ms, const char *what); /* false, and a failed test, after a minute */

/* Turns until the condition holds. */
#define REDIS_KIT_UNTIL(kit, condition) \
    for (const uint64_t kit_since = redis_kit_now_ms(); \
         !(condition) && redis_kit_still(kit_since, #condition);) \
    redis_kit_turn(kit)

/* Sends the words of a line, with blanks between, as soon as they are taken, and waits for the answer. */
enum redis_answer redis_kit_ask(struct redis_kit *kit, const char *key, const char *line);
/* The same again and again while the answer is "again", "away" or "not known". */
enum redis_answer redis_kit_ask_again(struct redis_kit *kit, const char *key, const char *line);
/* Sends without waiting. */
enum status redis_kit_send(
    struct redis_kit *kit, const char *key, uint64_t tag, uint32_t in_ms, const char *line);

/* By a connection of its own: the reply as a text. An error fails the test. */
void redis_kit_order(uint16_t port, char out[REDIS_KIT_TEXT_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *redis_kit_address(void); /* of the server beside this program, or it ends */
uint16_t redis_kit_port(const char *addresses, uint32_t index);

#endif

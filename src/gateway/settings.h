/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/settings.h: what can change while the server runs (SIGHUP): the shop's token keys,
 * which sessions count, admin keys, CORS origins, log level. A set is made whole or not at all,
 * never altered, and handed to the edges by one pointer. */
#ifndef STAMPEDE_GATEWAY_SETTINGS_H
#define STAMPEDE_GATEWAY_SETTINGS_H

#include "base/span.h"
#include "config/admin_keys.h"
#include "config/config.h"
#include "funnel/jwt.h"
#include "funnel/session_rules.h"

enum { ORIGINS_MAX = 15, ORIGIN_BYTES_MAX = 128 };

struct console_sessions;

struct settings {
    struct jwt_keys *jwt; /* NULL: no shop tokens */
    struct jwt_rules rules;
    struct session_rules sessions;
    char issuer[CONFIG_TEXT], audience[CONFIG_TEXT];
    struct admin_keys admin;
    bool guests;
    uint32_t origin_count;
    char origins[ORIGINS_MAX][ORIGIN_BYTES_MAX + 1];
};

MUST_CHECK enum status settings_make(
    struct settings **settings, const struct config *config, char error[CONFIG_ERROR]);
void settings_free(void *pointer); /* to settings */
/* A token that signs in to the console once, as the first of the admin keys (console_sessions.h).
 * NULL: none. */
void settings_invite(const struct settings *settings, struct console_sessions *sessions,
    const char *token, uint64_t now_ms);
/* 1 … ORIGINS_MAX; 0: not allowed. */
uint8_t settings_origin(const struct settings *settings, struct span origin);

#endif

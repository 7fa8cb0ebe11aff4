/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/settings.h: what can change while the server runs (SIGHUP): the shop's token keys,
 * which sessions count, CORS origins, log level. A set is made whole or not at all,
 * never altered, and handed to the edges by one pointer. */
#ifndef STAMPEDE_GATEWAY_SETTINGS_H
#define STAMPEDE_GATEWAY_SETTINGS_H

#include "base/span.h"
#include "config/config.h"
#include "funnel/jwt.h"
#include "funnel/session_rules.h"

struct handover;
struct key_ring;
struct reader_turns;

enum { ORIGINS_MAX = 15, ORIGIN_BYTES_MAX = 128 };

struct settings {
    struct jwt_keys *jwt; /* NULL: no shop tokens */
    struct jwt_rules rules;
    struct session_rules sessions;
    char issuer[CONFIG_TEXT], audience[CONFIG_TEXT];
    bool guests;
    uint32_t origin_count;
    char origins[ORIGINS_MAX][ORIGIN_BYTES_MAX + 1];
};

/* Reads them and the admin keys (api/key_ring.h), and shows both to the edges: all of it or nothing. */
MUST_CHECK enum status settings_load(struct handover *settings, struct key_ring *key_ring,
    struct reader_turns *turns, const struct config *config, char error[CONFIG_ERROR]);
void settings_free(void *pointer); /* to settings */
/* 1 … ORIGINS_MAX; 0: not allowed. */
uint8_t settings_origin(const struct settings *settings, struct span origin);

/* server.log_level and log.format, at the start and with new settings. Thread: any. */
void log_settings_use(const char *level, const char *format_name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/settings.h"

#include "api/handover.h"
#include "api/key_ring.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSION_AHEAD_S = 60 }; /* clocks may differ */

static bool origin_fits(struct span origin)
{
    const bool scheme =
        span_starts_with(origin, SPAN("https://")) || span_starts_with(origin, SPAN("http://"));
    return scheme && origin.size <= ORIGIN_BYTES_MAX && origin.data[origin.size - 1] != '/';
}

static enum status origins_read(struct settings *settings, const char *list, char error[CONFIG_ERROR])
{
    while (*list != 0) {
        const size_t size = strcspn(list, ", ");
        const struct span origin = span_of(list, size);
        list += size + strspn(list + size, ", ");
        if (size == 0)
            continue;
        if (settings->origin_count == ORIGINS_MAX || !origin_fits(origin)) {
            snprintf(error, CONFIG_ERROR,
                "cors.origins: %.*s is not like https://shop.example, or too many",
                (int)(size < 100 ? size : 100), origin.data);
            return STATUS_BAD_INPUT;
        }
        memcpy(settings->origins[settings->origin_count++], origin.data, size);
    }
    return STATUS_OK;
}

static void level_set(const char *name)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
        if (strcmp(name, names[level]) == 0)
            log_level_set((enum log_level)level);
}

void log_settings_use(const char *level, const char *format_name)
{
    static const char *const formats[] = { "text", "json", "logfmt" };
    level_set(level);
    for (int format = LOG_TEXT; format <= LOG_LOGFMT; format++)
        if (strcmp(format_name, formats[format]) == 0)
            log_format_set((enum log_format)format);
}

/* Tokens that the shop signs for other purposes would open sessions, too. */
static void audience_look(const struct settings *settings)
{
    const bool issuer = settings->rules.issuer != NULL, audience = settings->rules.audience != NULL;
    if (issuer && audience)
        return;
    log_warn("settings",
        "%s not set: any token that is signed with a key of session.jwt_keys opens a "
        "session, whatever its purpose; set %s to what the shop writes into %s",
        issuer         ? "session.audience is"
            : audience ? "session.issuer is"
                       : "session.issuer and session.audience are",
        issuer         ? "it"
            : audience ? "it"
                       : "them",
        issuer         ? "aud"
            : audience ? "iss"
                       : "iss and aud");
}

static enum status sessions_read(
    struct settings *settings, const struct config *config, char error[CONFIG_ERROR])
{
    settings->sessions.valid_from_s = (uint32_t)config->session_valid_from;
    if (config->session_valid_from > clock_wall_ms() / 1000 + SESSION_AHEAD_S) {
        snprintf(error, CONFIG_ERROR,
            "session.valid_from is in the future (seconds since 1970), so nobody could enter");
        return STATUS_BAD_INPUT;
    }
    if (settings->jwt == NULL)
        return STATUS_OK;
    settings->sessions.key_count = (uint32_t)jwt_keys_count(settings->jwt);
    for (uint32_t i = 0; i < settings->sessions.key_count; i++)
        settings->sessions.key_marks[i] = jwt_key_mark(settings->jwt, i);
    audience_look(settings);
    return STATUS_OK;
}

static enum status settings_make(
    struct settings **out, const struct config *config, char error[CONFIG_ERROR])
{
    struct settings *settings = calloc(1, sizeof *settings);
    char what[CONFIG_ERROR];
    static_assert((int)JWT_ERROR_BYTES <= (int)CONFIG_ERROR, "fits");
    enum status status = STATUS_OK;
    *out = NULL;
    if (settings == NULL)
        return STATUS_FULL;
    settings->guests = config->guests;
    memcpy(settings->issuer, config->issuer, sizeof settings->issuer);
    memcpy(settings->audience, config->audience, sizeof settings->audience);
    settings->rules = (struct jwt_rules){ .issuer = settings->issuer[0] == 0 ? NULL : settings->issuer,
        .audience = settings->audience[0] == 0 ? NULL : settings->audience,
        .id_required = config->jti_required,
        .leeway_s = (uint32_t)config->leeway_s };
    if (config->jwt_keys[0] != 0) {
        status = jwt_keys_load_folder(&settings->jwt, config->jwt_keys, what);
        if (status != STATUS_OK)
            snprintf(error, CONFIG_ERROR, "session.jwt_keys: %.200s", what);
    }
    if (status == STATUS_OK)
        status = sessions_read(settings, config, error);
    if (status == STATUS_OK)
        status = origins_read(settings, config->origins, error);
    if (status != STATUS_OK) {
        settings_free(settings);
        return status;
    }
    *out = settings;
    return STATUS_OK;
}

enum status settings_load(struct handover *handover, struct key_ring *key_ring,
    struct reader_turns *turns, const struct config *config, char error[CONFIG_ERROR])
{
    struct settings *settings;
    enum status status = settings_make(&settings, config, error);
    static_assert((int)ADMIN_ERROR <= (int)CONFIG_ERROR, "fits");
    if (status != STATUS_OK)
        return status;
    status = key_ring_load(key_ring, config->admin_keys, error);
    if (status != STATUS_OK) {
        settings_free(settings);
        return status;
    }
    log_settings_use(config->log_level, config->log_format);
    handover_put(handover, turns, settings);
    return STATUS_OK;
}

void settings_free(void *pointer)
{
    struct settings *settings = pointer;
    jwt_keys_free(settings->jwt);
    explicit_bzero(settings, sizeof *settings);
    free(settings);
}

uint8_t settings_origin(const struct settings *settings, struct span origin)
{
    for (uint32_t i = 0; i < settings->origin_count; i++)
        if (span_equal(origin, span_from_string(settings->origins[i])))
            return (uint8_t)(i + 1);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/span.h"
#include "config/mistakes.h"
#include "contract/bans.h"
#include "contract/limits.h"
#include "edge/caller_counts.h"
#include "funnel/human/altcha.h"
#include "funnel/human/picture_pool.h"
#include "funnel/limits.h"
#include "funnel/switches.h"
#include "orders/cashier.h"
#include "payment/provider.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NUMBER, KIND_FLAG, KIND_TEXT };

struct entry {
    const char *section, *key;
    enum kind kind;
    size_t offset, size; /* size: of a text */
    uint64_t least, most;
    const char *standard;
    bool reload; /* SIGHUP applies a new value; all others wait for the next start */
    bool or_off; /* "off" is another word for 0 */
    bool agreed; /* on many machines: the same in each process, or they answer and count differently */
};

/* A row may end with one of these. */
#define RELOADED .reload = true
#define AGREED .agreed = true
#define OR_OFF .or_off = true
#define ENTRY(in, name, kind_, field, ...) \
    { \
        .section = in, .key = name, .kind = kind_, .offset = offsetof(struct config, field), __VA_ARGS__ \
    }
#define NUMBER(in, name, field, low, high, ...) \
    ENTRY(in, name, KIND_NUMBER, field, .least = low, .most = high, .standard = __VA_ARGS__)
#define FLAG(in, name, field, ...) \
    ENTRY(in, name, KIND_FLAG, field, .most = 1, .standard = __VA_ARGS__)
#define TEXT(in, name, field, ...) \
    ENTRY(in, name, KIND_TEXT, field, .size = sizeof((struct config *)0)->field, .standard = __VA_ARGS__)

static const struct entry entries[] = {
    TEXT("server", "address", address, "127.0.0.1"),
    NUMBER("server", "port", port, 0, 65535, "8080"),
    NUMBER("server", "threads", threads, 0, EDGES_MAX, "0"),
    NUMBER("server", "connections_max", connections_max, 16, 1000000, "10000"),
    NUMBER("server", "head_timeout_ms", head_timeout_ms, 100, 600000, "10000"),
    NUMBER("server", "body_timeout_ms", body_timeout_ms, 100, 600000, "10000"),
    NUMBER("server", "idle_timeout_ms", idle_timeout_ms, 100, 3600000, "60000"),
    NUMBER("server", "send_timeout_ms", send_timeout_ms, 100, 600000, "15000"),
    NUMBER("server", "drain_ms", drain_ms, 0, 600000, "10000"),
    NUMBER("server", "drain_notice_ms", drain_notice_ms, 0, 600000, "100"),
    FLAG("server", "pin", pin, "no"),
    TEXT("server", "log_level", log_level, "info", RELOADED),
    TEXT("log", "format", log_format, "text", RELOADED),
    TEXT("data", "folder", folder, ""),
    NUMBER("data", "segment_bytes", segment_bytes, 1048576 + 4096, 4294967296, "67108864"),
    NUMBER("data", "items_max", items_max, 2, ITEMS_LIMIT, "4096", AGREED),
    NUMBER("data", "sales_max", sales_max, 2, SALES_LIMIT, "1024", AGREED),
    NUMBER("data", "tickets_max", tickets_max, 16, TICKETS_MAX_MOST, "4000000", AGREED),
    TEXT("session", "jwt_keys", jwt_keys, "", RELOADED),
    TEXT("session", "issuer", issuer, "", RELOADED),
    TEXT("session", "audience", audience, "", RELOADED),
    NUMBER("session", "leeway_s", leeway_s, 0, 300, "30", RELOADED),
    FLAG("session", "guests", guests, "no", RELOADED),
    NUMBER("session", "life_s", session_life_s, 60, 86399, "43200"),
    NUMBER("session", "life_min_s", session_life_min_s, 0, 86399, "1800"),
    NUMBER("session", "valid_from", session_valid_from, 0, UINT32_MAX, "0", RELOADED),
    FLAG("session", "jti_required", jti_required, "no", RELOADED),
    NUMBER("session", "jti_max", jti_max, 1000, 16000000, "1000000"),
    NUMBER("pass", "life_s", pass_life_s, 1, 3599, "120"),
    NUMBER("pass", "early_ms", pass_early_ms, 0, 3600000, "5000"),
    NUMBER("room", "places_max", room_places_max, 0, PLACES_MAX_MOST, "1000000", AGREED),
    NUMBER("room", "open_ms", room_open_ms, 0, 86400000, "900000", AGREED),
    NUMBER("room", "beacon_wait_ms", room_beacon_wait_ms, 0, 600000, "30000"),
    NUMBER("room", "turn_ms", room_turn_ms, 1000, 3600000, "60000"),
    NUMBER("room", "rate_min", room_rate_min, 0, 1000000, "1"),
    NUMBER("room", "rate_max", room_rate_max, 1, 1000000, "1000"),
    NUMBER("human", "pow_hashes", human_pow_hashes, 1, ALTCHA_HASHES_MAX, "50000"),
    NUMBER("human", "challenge_s", human_challenge_s, 10, 3600, "120"),
    NUMBER("human", "pictures", human_pictures, 0, PICTURE_POOL_SLOTS_MAX, "32"),
    NUMBER("human", "spent_max", human_spent_max, 1000, 16000000, "1000000"),
    TEXT("human", "outside", human_outside, "none"),
    TEXT("human", "outside_site_key", human_outside_site_key, ""),
    TEXT("human", "outside_secret_file", human_outside_secret_file, ""),
    TEXT("human", "outside_url", human_outside_url, ""),
    TEXT("human", "outside_fail", human_outside_fail, "closed"),
    NUMBER("human", "outside_timeout_ms", human_outside_timeout_ms, 100, 30000, "5000"),
    TEXT("admin", "keys", admin_keys, "", RELOADED),
    TEXT("cors", "origins", origins, "", RELOADED),
    TEXT("channels", "names", channels, "web", AGREED),
    NUMBER("channels", "weight_sales", weight_sales, 0, 1000, "500", AGREED),
    NUMBER("channels", "weight_conversion", weight_conversion, 0, 1000, "300", AGREED),
    NUMBER("channels", "weight_value", weight_value, 0, 1000, "200", AGREED),
    NUMBER("channels", "requests_per_s", channel_requests_per_s, 1, 10000, "50"),
    NUMBER("safety", "least", safety_least, 0, 1000, "50", AGREED),
    NUMBER("safety", "most", safety_most, 0, 1000, "150", AGREED),
    NUMBER("limits", "address_per_s", address_per_s, 0, LIMITS_RATE_MAX, "100", AGREED),
    NUMBER("limits", "address_burst", address_burst, 1, LIMITS_BURST_MAX, "200", AGREED),
    NUMBER("limits", "address_entries", address_entries, 8, 1 << 28, "2097152"),
    NUMBER("limits", "user_requests", user_requests, 0, LIMITS_REQUESTS_MAX, "10", AGREED),
    NUMBER("limits", "user_window_ms", user_window_ms, 1, LIMITS_WINDOW_MAX_MS, "10000", AGREED),
    NUMBER("limits", "user_entries", user_entries, 8, 1 << 26, "524288"),
    NUMBER("limits", "admission_per_s", admission_per_s, 0, LIMITS_RATE_MAX, "0", AGREED),
    NUMBER("limits", "connections_per_address", connections_per_address, 0, CALLER_CAP_MAX, "1000"),
    NUMBER("limits", "v6_prefix", v6_prefix, 16, ADDRESS_BITS, "64", AGREED),
    TEXT("proxy", "protocol", proxy_protocol, "off"),
    TEXT("proxy", "trusted", proxy_trusted, ""),
    TEXT("tls", "certificates", tls_certificates, "", RELOADED),
    TEXT("tls", "address", tls_address, ""),
    NUMBER("tls", "port", tls_port, 0, 65535, "443"),
    FLAG("tls", "redirect", tls_redirect, "no"),
    NUMBER("tls", "hsts_s", tls_hsts_s, 0, 63072000, "15552000"),
    NUMBER("tls", "handshake_ms", tls_handshake_ms, 100, 60000, "10000"),
    NUMBER("tls", "handshakes_per_address", tls_handshakes_per_address, 0, CALLER_CAP_MAX, "64"),
    NUMBER("tls", "handshakes_per_s", tls_handshakes_per_s, 0, LIMITS_RATE_MAX, "100"),
    TEXT("cluster", "role", cluster_role, "all"),
    TEXT("cluster", "secret_file", cluster_secret_file, ""),
    TEXT("inventory", "kind", inventory_kind, "embedded"),
    TEXT("inventory", "url", inventory_url, ""),
    TEXT("inventory", "user", inventory_user, ""),
    TEXT("inventory", "password_file", inventory_password_file, ""),
    NUMBER("inventory", "timeout_ms", inventory_timeout_ms, 20, 10000, "300"),
    NUMBER("inventory", "tell_ms", inventory_tell_ms, 10, 5000, "300"),
    NUMBER("inventory", "parts_max", inventory_parts_max, 1, 4096, "256", AGREED),
    NUMBER("inventory", "keep_ms", inventory_keep_ms, 0, 31536000000, "604800000"),
    TEXT("queue", "kind", queue_kind, "journal", AGREED),
    TEXT("queue", "url", queue_url, ""),
    TEXT("queue", "topic", queue_topic, "stampede", AGREED),
    TEXT("queue", "group", queue_group, "stampede"),
    NUMBER("queue", "partitions", queue_partitions, 1, 1024, "16", AGREED),
    NUMBER("queue", "replication", queue_replication, 1, 9, "3"),
    NUMBER("queue", "backlog_max", queue_backlog_max, 10, 100000000, "100000", AGREED),
    TEXT("queue", "settings_file", queue_settings_file, ""),
    TEXT("store", "kind", store_kind, "sqlite"),
    TEXT("store", "url", store_url, ""),
    NUMBER("store", "connections", store_connections, 3, 16, "4"),
    TEXT("store", "password_file", store_password_file, ""),
    TEXT("follow", "listen", follow_listen, ""),
    TEXT("follow", "secret_file", follow_secret_file, ""),
    TEXT("follow", "mode", follow_mode, "sync"),
    TEXT("follow", "alone", follow_alone, "refuse"),
    NUMBER("follow", "away_ms", follow_away_ms, 500, 600000, "5000"),
    TEXT("follow", "peer", follow_peer, ""),
    NUMBER("follow", "buffer_mib", follow_buffer_mib, 1, 65536, "64"),
    NUMBER("orders", "lag_max", lag_max, 1000, 100000000, "500000", AGREED),
    NUMBER("orders", "cache_mib", cache_mib, 4, 65536, "64"),
    NUMBER("orders", "grace_ms", grace_ms, 0, 86400000, "60000"),
    NUMBER("orders", "user_refund_ms", user_refund_ms, 0, 31536000000, "0"),
    TEXT("orders", "user_refund_to", user_refund_to, "stock"),
    TEXT("payment", "providers", providers, "", AGREED),
    TEXT("payment", "public_url", public_url, ""),
    NUMBER("payment", "extend_ms", extend_ms, 0, 86400000, "300000"),
    NUMBER("payment", "calls_max", payment_calls_max, 1, CASHIER_FLIGHT_MAX, "200"),
    NUMBER("payment", "query_ms", query_ms, 100, 3600000, "10000"),
    NUMBER("payment", "close_wait_ms", close_wait_ms, 0, 86400000, "600000"),
    NUMBER("payment", "ask_days", ask_days, 1, 366, "30"),
    NUMBER("payment", "late_wait_ms", late_wait_ms, 0, 86400000, "600000"),
    NUMBER("payment", "create_wait_ms", create_wait_ms, 0, 30000, "10000"),
    FLAG("sandbox", "allow_public", sandbox_allow_public, "no"),
    NUMBER("sandbox", "lost", sandbox_lost, 0, 100, "0"),
    NUMBER("sandbox", "doubled", sandbox_doubled, 0, 100, "0"),
    NUMBER("sandbox", "reordered", sandbox_reordered, 0, 100, "0"),
    NUMBER("sandbox", "wrong_amount", sandbox_wrong_amount, 0, 100, "0"),
    NUMBER("sandbox", "unreached", sandbox_unreached, 0, 100, "0"),
    NUMBER("sandbox", "unanswered", sandbox_unanswered, 0, 100, "0"),
    NUMBER("sandbox", "short_paid", sandbox_short_paid, 0, 100, "0"),
    NUMBER("sandbox", "delay_ms", sandbox_delay_ms, 0, 60000, "0"),
    FLAG("waitlist", "enabled", waitlist_enabled, "yes", AGREED),
    NUMBER("waitlist", "window_ms", waitlist_window_ms, 1000, 86400000, "300000"),
    NUMBER("waitlist", "max_per_item", waitlist_max_per_item, 1, 10000000, "100000", AGREED),
    NUMBER("archive", "after_days", archive_after_days, 0, 36500, "0", OR_OFF),
    TEXT("archive", "folder", archive_folder, ""),
    NUMBER("privacy", "keep_days", privacy_keep_days, 0, 36500, "0"),
    NUMBER("reconcile", "interval_ms", reconcile_interval_ms, 0, 86400000, "60000"),
    NUMBER("switches", "pow_boost", switch_pow_boost, 0, POW_BOOST_MAX, "0"),
    FLAG("switches", "refuse_new", switch_refuse_new, "no"),
    FLAG("switches", "bypass_address_limit", switch_bypass_address_limit, "no"),
    FLAG("switches", "bypass_user_limit", switch_bypass_user_limit, "no"),
    FLAG("switches", "bypass_human_check", switch_bypass_human_check, "no"),
    FLAG("switches", "bypass_waiting_room", switch_bypass_waiting_room, "no"),
    NUMBER("media", "quota_bytes", media_quota_bytes, 0, 1 << 30, "67108864"),
    NUMBER("media", "upload_bytes", media_upload_bytes, 1024, 32 << 20, "8388608"),
    TEXT("page", "image_origins", image_origins, ""),
    TEXT("page", "login_url", login_url, ""),
    TEXT("page", "theme", theme, ""),
    TEXT("page", "url", page_url, ""),
    TEXT("page", "export", export_folder, ""),
    TEXT("page", "api_url", api_url, ""),
    TEXT("page", "on_publish", on_publish, ""),
    TEXT("watch", "rate", watch_rate, "report"),
    NUMBER("watch", "rate_per_s", watch_rate_per_s, 1, 1000000, "20"),
    NUMBER("watch", "rate_for_s", watch_rate_for_s, 1, 3600, "10"),
    TEXT("watch", "failures", watch_failures, "report"),
    NUMBER("watch", "failures_per_minute", watch_failures_per_minute, 1, 1000000, "60"),
    TEXT("watch", "crowd", watch_crowd, "report"),
    NUMBER("watch", "crowd_users", watch_crowd_users, 2, 1000, "100"),
    TEXT("watch", "roaming", watch_roaming, "report"),
    NUMBER("watch", "roaming_addresses", watch_roaming_addresses, 2, 1000, "20"),
    TEXT("watch", "timing", watch_timing, "report"),
    NUMBER("watch", "early_ms", watch_early_ms, 0, 1000, "30"),
    NUMBER("watch", "early_starts", watch_early_starts, 1, 1000, "3"),
    NUMBER("watch", "regular_count", watch_regular_count, 5, 1000, "30"),
    TEXT("watch", "unpaid", watch_unpaid, "report"),
    NUMBER("watch", "unpaid_wins", watch_unpaid_wins, 1, 1000000, "10"),
    NUMBER("watch", "ban_minutes", watch_ban_minutes, 1, BAN_MINUTES_MAX, "60"),
    NUMBER("watch", "bans_per_minute", watch_bans_per_minute, 1, 10000, "60"),
    NUMBER("alarms", "sync_ms", alarms_sync_ms, 0, 60000, "100"),
    NUMBER("alarms", "order_lag", alarms_order_lag, 0, 100000000, "50000"),
    NUMBER("alarms", "attack_per_s", alarms_attack_per_s, 0, 10000000, "1000"),
    NUMBER("alarms", "sold_out_early_s", alarms_sold_out_early_s, 0, 86400, "1"),
    NUMBER("alarms", "disk_free_bytes", alarms_disk_free_bytes, 0, 1ull << 50, "0"),
    NUMBER("alarms", "calm_ms", alarms_calm_ms, 1000, 86400000, "600000"),
    NUMBER("alarms", "remind_ms", alarms_remind_ms, 0, 604800000, "3600000"),
    TEXT("alarms", "webhook_url", alarms_webhook_url, ""),
    TEXT("alarms", "webhook_secret_file", alarms_webhook_secret_file, ""),
    FLAG("alarms", "webhook_allow_private", alarms_webhook_allow_private, "no"),
    NUMBER("trace", "sample", trace_sample, 0, UINT32_MAX, "1000"),
    TEXT("trace", "endpoint", trace_endpoint, ""),
    FLAG("trace", "allow_private", trace_allow_private, "no"),
    TEXT("mail", "server", mail_server, ""),
    TEXT("mail", "from", mail_from, ""),
    TEXT("mail", "user", mail_user, ""),
    TEXT("mail", "password_file", mail_password_file, ""),
    NUMBER("remedy", "coupon_percent", coupon_percent, 0, 100, "10"),
    NUMBER("remedy", "coupon_days", coupon_days, 1, 3650, "30"),
    TEXT("webhook", "url", webhook_url, ""),
    TEXT("webhook", "secret_file", webhook_secret_file, ""),
    FLAG("webhook", "allow_private", webhook_allow_private, "no"),
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Ours, and after them the settings of every provider, each in the section of its name. False: there
 * are no more. */
static bool entry_at(size_t at, struct entry *entry)
{
    if (at < ENTRIES) {
        *entry = entries[at];
        return true;
    }
    at -= ENTRIES;
    for (size_t p = 0; provider_table[p] != NULL; p++) {
        const struct provider_setting *settings = provider_table[p]->settings;
        size_t count = 0;
        while (settings[count].name != NULL)
            count++;
        invariant(p < PROVIDERS_MAX && count <= PROVIDER_SETTINGS_MAX);
        if (at < count) {
            const char *standard = settings[at].standard;
            *entry = (struct entry){ provider_table[p]->name, settings[at].name, KIND_TEXT,
                offsetof(struct config, provider_values) + (p * PROVIDER_SETTINGS_MAX + at) * CONFIG_TEXT,
                CONFIG_TEXT, 0, 0, standard == NULL ? "" : standard, false, false, false };
            return true;
        }
        at -= count;
    }
    return false;
}

static bool entry_find(const char *section, const char *key, struct entry *entry, size_t *at)
{
    for (*at = 0; entry_at(*at, entry); ++*at)
        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0)
            return true;
    return false;
}

/* NULL: taken; else what is wrong with the value. */
static const char *entry_store(struct config *config, const struct entry *entry, const char *value)
{
    char *field = (char *)config + entry->offset;
    uint64_t number = 0;
    switch (entry->kind) {
    case KIND_TEXT:
        if (strlen(value) >= entry->size)
            return "is too long";
        memcpy(field, value, strlen(value) + 1);
        return NULL;
    case KIND_FLAG:
        if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
            return "must be yes or no";
        *(bool *)field = value[0] == 'y';
        return NULL;
    case KIND_NUMBER:
        if (!(entry->or_off && strcmp(value, "off") == 0)
            && span_to_u64(span_from_string(value), &number) != STATUS_OK)
            return entry->or_off ? "must be a whole number or off" : "must be a whole number";
        if (number < entry->least || number > entry->most)
            return "is out of bounds";
        memcpy(field, &number, sizeof number);
        return NULL;
    }
    return "has no kind";
}

size_t config_find(const char *section, const char *key)
{
    struct entry entry;
    size_t at;
    return entry_find(section, key, &entry, &at) ? at : CONFIG_SETTINGS_MAX;
}

enum status config_store(struct config *config, enum config_source source, const char *section,
    const char *key, const char *value, char error[CONFIG_MISTAKE])
{
    struct entry found, *entry = &found;
    size_t at;
    if (!entry_find(section, key, entry, &at)) {
        snprintf(error, CONFIG_MISTAKE, "unknown setting %.60s.%.60s (see `stampede config`)",
            section, key);
        return STATUS_BAD_INPUT;
    }
    const char *wrong = entry_store(config, entry, value);
    if (wrong == NULL) {
        config->sources[at] = (uint8_t)source;
        return STATUS_OK;
    }
    if (entry->kind == KIND_NUMBER)
        snprintf(error, CONFIG_MISTAKE, "%s.%s = %.60s %s (%" PRIu64 " to %" PRIu64 ")", section,
            key, value, wrong, entry->least, entry->most);
    else
        snprintf(error, CONFIG_MISTAKE, "%s.%s = %.60s %s", section, key, value, wrong);
    return STATUS_BAD_INPUT;
}

void config_reload(struct config *running, const struct config *fresh)
{
    struct entry entry;
    for (size_t i = 0; entry_at(i, &entry); i++) {
        const size_t size = entry.kind == KIND_TEXT ? entry.size
            : entry.kind == KIND_FLAG               ? sizeof(bool)
                                                    : sizeof(uint64_t);
        if (!entry.reload)
            continue;
        memcpy((char *)running + entry.offset, (const char *)fresh + entry.offset, size);
        running->sources[i] = fresh->sources[i];
    }
}

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    struct entry entry;
    for (size_t i = 0; entry_at(i, &entry); i++)
        invariant(i < CONFIG_SETTINGS_MAX && entry_store(config, &entry, entry.standard) == NULL);
}

static void environment_name(const struct entry *entry, char *name, size_t size)
{
    snprintf(name, size, "STAMPEDE_%s_%s", entry->section, entry->key);
    for (char *at = name; *at != 0; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
}

static enum status value_from_file(const char *path, char *value, size_t size, char error[CONFIG_MISTAKE])
{
    FILE *file = fopen(path, "re");
    const size_t got = file == NULL ? 0 : fread(value, 1, size - 1, file);
    const bool bad = file == NULL || ferror(file) != 0 || fgetc(file) != EOF;
    if (file != NULL)
        fclose(file);
    if (bad) {
        snprintf(error, CONFIG_MISTAKE, "%.100s can't be read, or is too long", path);
        return STATUS_BAD_INPUT;
    }
    value[got] = 0;
    value[strcspn(value, "\r\n")] = 0;
    return STATUS_OK;
}

enum status config_load_environment(struct config *config, char error[CONFIG_ERROR])
{
    struct entry entry;
    struct mistakes mistakes;
    mistakes_begin(&mistakes, error);
    for (size_t i = 0; entry_at(i, &entry); i++) {
        char name[128], file_name[136], from_file[CONFIG_LIST], wrong[CONFIG_MISTAKE] = "";
        environment_name(&entry, name, sizeof name);
        snprintf(file_name, sizeof file_name, "%s_FILE", name);
        const char *value = getenv(name);
        const char *path = getenv(file_name);
        if (value == NULL && path != NULL) {
            if (value_from_file(path, from_file, sizeof from_file, wrong) == STATUS_OK)
                value = from_file;
            else
                mistakes_add(&mistakes, wrong);
        }
        if (value != NULL
            && config_store(config, CONFIG_ENVIRONMENT, entry.section, entry.key, value, wrong) != STATUS_OK)
            mistakes_add(&mistakes, wrong);
    }
    return mistakes_end(&mistakes);
}

enum status config_set(
    struct config *config, const char *name, const char *value, char error[CONFIG_ERROR])
{
    char section[64];
    const char *dot = strchr(name, '.');
    if (dot == NULL || (size_t)(dot - name) >= sizeof section) {
        snprintf(error, CONFIG_ERROR, "unknown setting %.100s (see `stampede config`)", name);
        return STATUS_BAD_INPUT;
    }
    memcpy(section, name, (size_t)(dot - name));
    section[dot - name] = 0;
    return config_store(config, CONFIG_COMMAND, section, dot + 1, value, error);
}

/* Takes out what may be a secret of an address: https://name:password@host/path?token. */
static void address_clean(char *value)
{
    char *host = strstr(value, "://");
    if (host == NULL)
        return;
    host += 3;
    host[strcspn(host, "?#")] = 0;
    const char *at = memrchr(host, '@', strcspn(host, "/"));
    if (at != NULL)
        memmove(host, at + 1, strlen(at + 1) + 1);
}

/* As it would stand in a file of settings. */
static void value_write(const struct config *config, const struct entry *entry, char text[CONFIG_LIST])
{
    const char *field = (const char *)config + entry->offset;
    uint64_t number = 0;
    if (entry->kind == KIND_NUMBER) {
        memcpy(&number, field, sizeof number);
        snprintf(text, CONFIG_LIST, "%" PRIu64, number);
    } else {
        const char *flag = entry->kind == KIND_FLAG && *(const bool *)field ? "yes" : "no";
        snprintf(text, CONFIG_LIST, "%s", entry->kind == KIND_FLAG ? flag : field);
    }
}

bool config_setting(const struct config *config, size_t at, struct config_setting *setting)
{
    struct entry entry;
    if (!entry_at(at, &entry))
        return false;
    *setting = (struct config_setting){ .section = entry.section,
        .key = entry.key,
        .source = (enum config_source)config->sources[at],
        .reload = entry.reload,
        .agreed = entry.agreed };
    value_write(config, &entry, setting->value);
    if (entry.kind == KIND_TEXT)
        address_clean(setting->value);
    return true;
}

void config_print(const struct config *config)
{
    const char *section = "";
    char value[CONFIG_LIST];
    struct entry entry;
    for (size_t i = 0; entry_at(i, &entry); i++) {
        if (strcmp(section, entry.section) != 0)
            printf("%s[%s]\n", i == 0 ? "" : "\n", entry.section);
        section = entry.section;
        if (entry.reload)
            printf("; SIGHUP applies a new value:\n");
        if (entry.agreed)
            printf("; the same in each process of several machines:\n");
        value_write(config, &entry, value);
        printf("%s = %s\n", entry.key, value);
    }
}

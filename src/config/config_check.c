/* SPDX-License-Identifier: Apache-2.0 */
/* config/config_check.c: the rules that the table in config.c can't express: texts with a form of their own,
 * and settings that depend on each other. Each rule answers what is wrong, or NULL. */
#include "config/config.h"

#include "base/span.h"
#include "config/image_origins.h"
#include "config/mistakes.h"
#include "config/test_mode.h"
#include "contract/types.h"
#include "edge/forwarded.h"
#include "outgoing/mail.h"
#include "outgoing/verdict.h"
#include "policy/allocation.h"
#include "tls/certificate_list.h"

#include <stdio.h>
#include <string.h>

enum {
    REDIS_NODES_SET_MAX = 16, /* REDIS_SEEDS_MAX */
    KAFKA_NAMES_MAX = 249,    /* Kafka's own bound */
};

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(text, ...) is_one_of(text, (const char *const[]){ __VA_ARGS__, NULL })

static bool is_http_url(const char *url)
{
    return strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0;
}

/* Printable ASCII without spaces and without the characters of `forbidden`. */
static bool is_plain(const char *text, const char *forbidden)
{
    for (; *text != 0; text++)
        if (*text <= ' ' || *text > '~' || strchr(forbidden, *text) != NULL)
            return false;
    return true;
}

/* An address that may be left empty; NULL: it is good. The texts say what is wrong with scheme and form. */
static const char *url_wrong(
    const char *url, const char *forbidden, const char *bad_scheme, const char *bad_form)
{
    if (url[0] == 0)
        return NULL;
    if (!is_http_url(url))
        return bad_scheme;
    return is_plain(url, forbidden) ? NULL : bad_form;
}

static const char *data_wrong(const struct config *config)
{
    if (config->folder[0] == 0)
        return "data.folder must be set: --data DIR, or folder in the section [data] of the "
               "settings";
    return config->segment_bytes % 4096 != 0 ? "data.segment_bytes must be a multiple of 4096" : NULL;
}

static const char *log_level_wrong(const struct config *config)
{
    return IS_ONE_OF(config->log_level, "debug", "info", "warn", "error")
        ? NULL
        : "server.log_level must be debug, info, warn or error";
}

static const char *log_format_wrong(const struct config *config)
{
    return IS_ONE_OF(config->log_format, "text", "json", "logfmt")
        ? NULL
        : "log.format must be text, json or logfmt";
}

static const char *refund_wrong(const struct config *config)
{
    return IS_ONE_OF(config->user_refund_to, "stock", "safety", "write-off")
        ? NULL
        : "orders.user_refund_to must be stock, safety or write-off";
}

/* A password in the address would stand in lists of processes, in logs and on the settings page. */
static bool has_password(const char *url)
{
    const char *host = strstr(url, "://");
    const char *at = host == NULL ? NULL : strchr(host, '@');
    const char *colon = host == NULL ? NULL : strchr(host + 3, ':');
    return (at != NULL && colon != NULL && colon < at) || strstr(url, "password=") != NULL;
}

static const char *store_wrong(const struct config *config)
{
    const bool server = !IS_ONE_OF(config->store_kind, "sqlite");
    if (!IS_ONE_OF(config->store_kind, "sqlite", "postgres", "mysql"))
        return "store.kind must be sqlite, postgres or mysql";
    if (server != (config->store_url[0] != 0))
        return server
            ? "store.url must be the address of the database server"
            : "store.url is for store.kind postgres or mysql; SQLite is a file of data.folder";
    if (!server && config->store_password_file[0] != 0)
        return "store.password_file is for store.kind postgres or mysql";
    return has_password(config->store_url)
        ? "store.url must not contain a password; write it to a file and set store.password_file"
        : NULL;
}

/* HOST:PORT or [HOST]:PORT. Whether the host is there is found out at the start (redis/slots.h). */
static bool is_node(struct span text)
{
    static const char in_brackets[] = "0123456789abcdefABCDEF:.%";
    const char *colon = text.size == 0 ? NULL : memrchr(text.data, ':', text.size);
    uint32_t port;
    if (colon == NULL || colon == text.data
        || span_to_u32(span_of(colon + 1, text.size - (size_t)(colon - text.data) - 1), &port) != STATUS_OK
        || port < 1 || port > 65535)
        return false;
    const bool brackets = text.data[0] == '[' && colon[-1] == ']' && colon - text.data > 2;
    for (const char *at = text.data + brackets; at < colon - brackets; at++)
        if (brackets ? strchr(in_brackets, *at) == NULL : *at <= ' ' || strchr("[]:@/?#\"\\", *at) != NULL)
            return false;
    return true;
}

static bool is_node_list(const char *list)
{
    struct span rest = span_from_string(list), node;
    uint32_t count = 0;
    if (rest.size == 0 || rest.data[rest.size - 1] == ',')
        return false;
    while (span_take_until(&rest, ',', &node))
        if (!is_node(node) || ++count > REDIS_NODES_SET_MAX)
            return false;
    return true;
}

/* One process: the inventory is inside, and its journal is the queue. */
static const char *one_machine_wrong(const struct config *config)
{
    if (strcmp(config->cluster_role, "all") != 0)
        return "cluster.role gateway and worker need inventory.kind redis: the embedded inventory "
               "is "
               "part of one process";
    if (strcmp(config->queue_kind, "journal") != 0)
        return "queue.kind must be journal with inventory.kind embedded: orders are read from its "
               "journal";
    if (config->inventory_url[0] != 0)
        return "inventory.url is for inventory.kind redis; the embedded inventory is part of this "
               "process";
    if (config->inventory_user[0] != 0 || config->inventory_password_file[0] != 0)
        return "inventory.user and inventory.password_file are for inventory.kind redis";
    return config->cluster_secret_file[0] == 0 ? NULL
                                               : "cluster.secret_file is for inventory.kind redis; "
                                                 "the embedded server keeps its secret in "
                                                 "data.folder";
}

static uint32_t channels_count(const struct config *config)
{
    uint32_t count = 1;
    for (const char *at = config->channels; *at != 0; at++)
        count += *at == ',';
    return count;
}

static const char *channels_wrong(const struct config *config)
{
    const struct allocation_weights weights = { (uint32_t)config->weight_sales,
        (uint32_t)config->weight_conversion, (uint32_t)config->weight_value };
    if (!allocation_weights_are_good(&weights))
        return "channels.weight_sales, weight_conversion and weight_value must add up to 1000";
    return config->safety_least <= config->safety_most ? NULL
                                                       : "safety.least must not exceed safety.most";
}

/* What Kafka allows as the name of a topic, and no more for a group. */
static bool is_kafka_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t size = strlen(name);
    return size > 0 && size <= KAFKA_NAMES_MAX && strspn(name, allowed) == size
        && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static const char *queue_wrong(const struct config *config)
{
    if (strcmp(config->queue_kind, "kafka") != 0)
        return config->queue_url[0] == 0 && config->queue_settings_file[0] == 0
            ? NULL
            : "queue.url and queue.settings_file are for queue.kind kafka";
    if (!is_node_list(config->queue_url))
        return "queue.url must be the Kafka brokers, 1 to 16 of HOST:PORT separated by commas";
    if (!is_kafka_name(config->queue_topic) || !is_kafka_name(config->queue_group))
        return "queue.topic and queue.group may have 1 to 249 letters, digits, dots, dashes and "
               "underscores";
    return NULL;
}

static const char *many_machines_wrong(const struct config *config)
{
    if (strcmp(config->store_kind, "sqlite") == 0)
        return "inventory.kind redis needs store.kind postgres or mysql: several processes can't "
               "share "
               "SQLite";
    if (strcmp(config->queue_kind, "journal") == 0)
        return "queue.kind must be stream or kafka with inventory.kind redis: there is no journal "
               "file";
    if (config->cluster_secret_file[0] == 0)
        return "cluster.secret_file must be set with inventory.kind redis: all processes share one "
               "secret";
    if (channels_count(config) > CHANNEL_LINE)
        return "channels.names may name 7 channels at most with inventory.kind redis: the last one "
               "is "
               "for units that are offered to waitlists";
    return is_node_list(config->inventory_url)
        ? NULL
        : "inventory.url must be the Redis servers, 1 to 16 of HOST:PORT separated by commas, "
          "without user name and password";
}

/* Which inventory, queue, store and role go together. */
static const char *cluster_wrong(const struct config *config)
{
    if (!IS_ONE_OF(config->cluster_role, "all", "gateway", "worker"))
        return "cluster.role must be all, gateway or worker";
    if (!IS_ONE_OF(config->inventory_kind, "embedded", "redis"))
        return "inventory.kind must be embedded or redis";
    if (!IS_ONE_OF(config->queue_kind, "journal", "stream", "kafka"))
        return "queue.kind must be journal, stream or kafka";
    const char *wrong = strcmp(config->inventory_kind, "embedded") == 0 ? one_machine_wrong(config)
                                                                        : many_machines_wrong(config);
    return wrong != NULL ? wrong : queue_wrong(config);
}

static const char *session_wrong(const struct config *config)
{
    return config->guests || config->jwt_keys[0] != 0
        ? NULL
        : "session.jwt_keys must name a folder of keys, or session.guests must be yes; "
          "otherwise nobody could enter";
}

static const char *mail_wrong(const struct config *config)
{
    if (config->mail_server[0] == 0)
        return NULL;
    if (!mail_url_is_good(config->mail_server))
        return "mail.server must be smtp://host, smtp://host:port or smtps://host:port, "
               "without a name or password";
    if (strchr(config->mail_from, '@') == NULL || strpbrk(config->mail_from, "<> \t") != NULL)
        return "mail.from must be an address like shop@example.org";
    return (config->mail_user[0] == 0) != (config->mail_password_file[0] == 0)
        ? "mail.user and mail.password_file must be set together"
        : NULL;
}

static const char *webhook_wrong(const struct config *config)
{
    if (strchr(config->webhook_url, '@') != NULL)
        return "webhook.url must not contain a user name or password: messages are signed instead";
    if (config->webhook_url[0] != 0 && config->webhook_secret_file[0] == 0)
        return "webhook.secret_file must be set with webhook.url";
    return url_wrong(config->webhook_url, "", "webhook.url must start with https:// or http://",
        "webhook.url must be an address without spaces; write other characters as %XX");
}

static const char *alarms_wrong(const struct config *config)
{
    if (strchr(config->alarms_webhook_url, '@') != NULL)
        return "alarms.webhook_url must not contain a user name or password: messages are signed "
               "instead";
    if (config->alarms_webhook_url[0] != 0 && config->alarms_webhook_secret_file[0] == 0)
        return "alarms.webhook_secret_file must be set with alarms.webhook_url";
    return url_wrong(config->alarms_webhook_url, "",
        "alarms.webhook_url must start with https:// or http://",
        "alarms.webhook_url must be an address without spaces; write other characters as %XX");
}

static const char *trace_wrong(const struct config *config)
{
    if (strchr(config->trace_endpoint, '@') != NULL)
        return "trace.endpoint must not contain a user name or password";
    return url_wrong(config->trace_endpoint, "", "trace.endpoint must start with https:// or http://",
        "trace.endpoint must be an address without spaces; write other characters as %XX");
}

/* The server appends paths to this address, and signatures cover the result. */
static const char *public_url_wrong(const struct config *config)
{
    const size_t size = strlen(config->public_url);
    if (size > 0 && config->public_url[size - 1] == '/')
        return "payment.public_url must not end with a slash";
    return url_wrong(config->public_url, "?#", "payment.public_url must start with https:// or http://",
        "payment.public_url must be an address without spaces, query or fragment");
}

/* The pages link to this address, and JSON contains it without escapes. */
static const char *login_url_wrong(const struct config *config)
{
    return url_wrong(config->login_url, "\"\\", "page.login_url must start with https:// or http://",
        "page.login_url must be an address without spaces, quotes and backslashes");
}

/* An address that paths are appended to; it stands in HTML and in the policy of exported pages. */
static bool is_base(const char *url)
{
    const size_t size = strlen(url);
    return size == 0
        || (is_http_url(url) && url[size - 1] != '/' && url[strcspn(url, "?#\"'<>;, \\")] == 0);
}

static const char *export_wrong(const struct config *config)
{
    if (!is_base(config->page_url))
        return "page.url must be an address like https://sale.example, without a slash at the end";
    if (!is_base(config->api_url))
        return "page.api_url must be an address like https://api.sale.example, without a slash at "
               "the end";
    if (config->export_folder[0] != 0 && config->api_url[0] == 0)
        return "page.api_url must be set with page.export: exported pages ask there";
    if (config->on_publish[0] != 0 && (config->export_folder[0] == 0 || config->on_publish[0] != '/'))
        return "page.on_publish must be the whole path of a program, and needs page.export";
    return NULL;
}

static bool is_site_key(const char *text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return text[0] != 0 && text[strspn(text, allowed)] == 0;
}

/* The service that checks visitors. */
static const char *outside_wrong(const struct config *config)
{
    const char *url = config->human_outside_url;
    if (strcmp(config->human_outside, "none") == 0)
        return NULL;
    if (verdict_find(config->human_outside) == NULL)
        return "human.outside must be none, turnstile, hcaptcha or geetest";
    if (!is_site_key(config->human_outside_site_key))
        return "human.outside_site_key must be set: letters, digits, - _ and . only";
    if (config->human_outside_secret_file[0] == 0)
        return "human.outside_secret_file must be set with human.outside";
    if (!IS_ONE_OF(config->human_outside_fail, "closed", "open"))
        return "human.outside_fail must be closed or open";
    return url[0] == 0 || is_http_url(url) ? NULL : "human.outside_url must start with https:// or http://";
}

static bool is_mode(const char *text)
{
    return IS_ONE_OF(text, "off", "report", "ban");
}

static const char *watch_wrong(const struct config *config)
{
    return is_mode(config->watch_rate) && is_mode(config->watch_failures)
            && is_mode(config->watch_crowd) && is_mode(config->watch_roaming)
            && is_mode(config->watch_timing) && is_mode(config->watch_unpaid)
        ? NULL
        : "watch.rate, failures, crowd, roaming, timing and unpaid must each be off, report or ban";
}

static const char *proxy_wrong(const struct config *config)
{
    struct trusted trusted;
    struct span bad;
    const bool on = strcmp(config->proxy_protocol, "on") == 0;
    if (!on && strcmp(config->proxy_protocol, "off") != 0)
        return "proxy.protocol must be on or off";
    if (trusted_parse(&trusted, span_from_string(config->proxy_trusted), &bad) != STATUS_OK)
        return "proxy.trusted must be up to 32 addresses or blocks like 10.0.0.0/8, separated by "
               "commas";
    return on && trusted.count == 0
        ? "proxy.protocol = on needs proxy.trusted: the proxies whose headers are trusted"
        : NULL;
}

static const char *tls_wrong(const struct config *config)
{
    struct certificate_files files[CERTIFICATES_MAX];
    uint32_t count;
    if (config->tls_certificates[0] == 0)
        return config->tls_redirect
            ? "tls.redirect = yes needs tls.certificates: without them there is no TLS"
            : NULL;
    if (certificate_list_parse(span_from_string(config->tls_certificates), files, &count) != STATUS_OK)
        return "tls.certificates must be up to 16 pairs of files, certificate:key, separated by "
               "commas";
    const bool same_address =
        config->tls_address[0] == 0 || strcmp(config->tls_address, config->address) == 0;
    return config->tls_port != 0 && config->tls_port == config->port && same_address
        ? "tls.port must differ from server.port: that one is for connections without TLS"
        : NULL;
}

static bool is_host_and_port(const char *text)
{
    const char *colon = strrchr(text, ':');
    uint32_t port = 0;
    return colon != NULL && colon != text
        && span_to_u32(span_from_string(colon + 1), &port) == STATUS_OK && port <= UINT16_MAX;
}

/* A follower copies what one machine has on its disk. */
static const char *follow_wrong(const struct config *config)
{
    if (config->follow_listen[0] == 0)
        return config->follow_peer[0] == 0
            ? NULL
            : "follow.peer needs follow.listen, where the other machine asks this one";
    if (strcmp(config->inventory_kind, "embedded") != 0 || strcmp(config->store_kind, "sqlite") != 0)
        return "follow.listen is for one machine: inventory.kind embedded and store.kind sqlite; a "
               "database server has copies of its own";
    if (!is_host_and_port(config->follow_listen))
        return "follow.listen must be HOST:PORT";
    if (config->follow_peer[0] != 0 && !is_host_and_port(config->follow_peer))
        return "follow.peer must be HOST:PORT";
    if (config->follow_secret_file[0] == 0)
        return "follow.secret_file must be set with follow.listen";
    if (!IS_ONE_OF(config->follow_mode, "sync", "async"))
        return "follow.mode must be sync or async";
    return IS_ONE_OF(config->follow_alone, "refuse", "sell") ? NULL : "follow.alone must be refuse or sell";
}

static const char *pictures_wrong(const struct config *config)
{
    return image_origins_wrong(config->image_origins);
}

enum status config_check(const struct config *config, char error[CONFIG_ERROR])
{
    static const char *(*const rules[])(const struct config *) = { data_wrong, log_level_wrong,
        log_format_wrong, refund_wrong, store_wrong, cluster_wrong, session_wrong, mail_wrong,
        webhook_wrong, alarms_wrong, trace_wrong, public_url_wrong, test_mode_wrong, proxy_wrong,
        tls_wrong, watch_wrong, pictures_wrong, login_url_wrong, export_wrong, outside_wrong,
        channels_wrong, follow_wrong };
    struct mistakes mistakes;
    mistakes_begin(&mistakes, error);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *wrong = rules[i](config);
        if (wrong != NULL)
            mistakes_add(&mistakes, wrong);
    }
    return mistakes_end(&mistakes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* config/config.h: everything that can be set, with its default and its bounds (the table in
 * config.c is the list).
 * Order: defaults, then the file (INI), then the environment (STAMPEDE_SECTION_KEY, or
 * STAMPEDE_SECTION_KEY_FILE to read the value from a file), then the command line. An unknown
 * name, a wrong type or a value out of bounds is an error that names the place; nothing is
 * started then. */
#ifndef STAMPEDE_CONFIG_CONFIG_H
#define STAMPEDE_CONFIG_CONFIG_H

#include "base/status.h"
#include "contract/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONFIG_TEXT = 256, CONFIG_LIST = 1024, CONFIG_SETTINGS_MAX = 320 };
enum {
    CONFIG_MISTAKE = 320,
    CONFIG_ERROR = 7168
}; /* bytes: of one mistake; of up to 20, one a line */
enum config_source {
    CONFIG_DEFAULT,
    CONFIG_FILE,
    CONFIG_ENVIRONMENT,
    CONFIG_COMMAND,
    CONFIG_SOURCES
};

struct config {
    /* [server] */
    char address[CONFIG_TEXT];
    uint64_t port;
    uint64_t threads;         /* edges; 0: one per core */
    uint64_t connections_max; /* per edge */
    uint64_t head_timeout_ms, body_timeout_ms, idle_timeout_ms, send_timeout_ms, drain_ms;
    uint64_t drain_notice_ms; /* between /readyz failing and the drain, for load balancers to see it */
    bool pin;
    char log_level[CONFIG_TEXT];
    /* [log] */
    char log_format[CONFIG_TEXT]; /* text, json or logfmt */
    /* [data] */
    char folder[CONFIG_TEXT];
    uint64_t segment_bytes;
    uint64_t items_max, sales_max, tickets_max;
    /* [session] */
    char jwt_keys[CONFIG_TEXT]; /* folder; empty: no shop tokens */
    char issuer[CONFIG_TEXT], audience[CONFIG_TEXT];
    uint64_t leeway_s;
    bool guests;
    uint64_t session_life_s, session_life_min_s; /* the latter: however short the shop's token lives */
    uint64_t session_valid_from; /* seconds since 1970: sessions made before are over */
    bool jti_required;           /* each token of the shop has one */
    uint64_t jti_max;            /* used tokens that are remembered at a time */
    /* [pass] */
    uint64_t pass_life_s, pass_early_ms;
    /* [room] */
    uint64_t room_places_max;     /* people in the waiting rooms of all sales */
    uint64_t room_open_ms;        /* how long before the start a room opens */
    uint64_t room_beacon_wait_ms; /* how long a draw waits for the value of its beacon */
    uint64_t room_turn_ms;        /* after this time admitted visitors are no longer waited for */
    uint64_t room_rate_min, room_rate_max; /* people a second that go in while there is stock */
    /* [human] */
    uint64_t human_pow_hashes;  /* that solving takes, without suspicion or boost */
    uint64_t human_challenge_s; /* life of a challenge */
    uint64_t human_pictures;    /* ready for each edge and kind; 0: the work only */
    uint64_t human_spent_max;   /* challenges and passes that are remembered as used, at a time */
    char human_outside[CONFIG_TEXT];          /* none, or the service that stands in for pictures */
    char human_outside_site_key[CONFIG_TEXT]; /* public */
    char human_outside_secret_file[CONFIG_TEXT];
    char human_outside_url[CONFIG_TEXT];  /* empty: the service's own */
    char human_outside_fail[CONFIG_TEXT]; /* closed or open: where there is no verdict */
    uint64_t human_outside_timeout_ms;
    /* [admin] */
    char admin_keys[CONFIG_TEXT]; /* file: name:role:sha256 of the key, a line each */
    /* [cors] */
    char origins[CONFIG_LIST]; /* separated by spaces or commas */
    /* [channels] */
    char channels[CONFIG_TEXT];                             /* "web,app": the first is always web */
    uint64_t weight_sales, weight_conversion, weight_value; /* thousandths; they add up to 1,000 */
    uint64_t channel_requests_per_s;                        /* of each key of a channel */
    /* [safety]: thousandths of an item's units */
    uint64_t safety_least, safety_most;
    /* [limits] */
    uint64_t address_per_s, address_burst, address_entries;
    uint64_t user_requests, user_window_ms, user_entries;
    uint64_t admission_per_s;
    uint64_t connections_per_address;
    uint64_t v6_prefix; /* addresses that share this many bits count as one */
    /* [proxy] */
    char proxy_protocol[CONFIG_TEXT]; /* off or on */
    char proxy_trusted[CONFIG_LIST];  /* blocks of addresses, separated by commas */
    /* [tls] */
    char tls_certificates[CONFIG_LIST]; /* pairs of files (tls/certificate_list.h); empty: no TLS */
    char tls_address[CONFIG_TEXT];      /* empty: server.address */
    uint64_t tls_port;
    bool tls_redirect;   /* what comes without TLS is sent there */
    uint64_t tls_hsts_s; /* how long browsers remember to come with TLS only; 0: they are not told */
    uint64_t tls_handshake_ms, tls_handshakes_per_address, tls_handshakes_per_s;
    /* [cluster] */
    char cluster_role[CONFIG_TEXT]; /* all, gateway or worker */
    char cluster_secret_file[CONFIG_TEXT];
    /* [inventory], [queue], [store] */
    char inventory_kind[CONFIG_TEXT]; /* embedded or redis */
    char inventory_url[CONFIG_LIST];  /* HOST:PORT of Redis servers, separated by commas */
    char inventory_user[CONFIG_TEXT]; /* their ACL user; empty: the default one */
    char inventory_password_file[CONFIG_TEXT];
    uint64_t inventory_timeout_ms; /* for an answer of Redis */
    uint64_t inventory_tell_ms; /* a win that is not kept by then is told as one that is being decided */
    uint64_t inventory_parts_max; /* partitions that a process follows */
    uint64_t inventory_keep_ms; /* Redis keeps so long what it has of a sale that is over; 0: for ever */
    char queue_kind[CONFIG_TEXT]; /* journal, stream or kafka */
    char queue_url[CONFIG_LIST];  /* HOST:PORT of Kafka brokers, separated by commas */
    char queue_topic[CONFIG_TEXT], queue_group[CONFIG_TEXT];
    uint64_t queue_partitions, queue_replication; /* of a topic that is made */
    uint64_t queue_backlog_max; /* records of a partition that may wait for the brokers */
    char queue_settings_file[CONFIG_TEXT]; /* of librdkafka: TLS, SASL */
    char store_kind[CONFIG_TEXT];          /* sqlite, postgres or mysql */
    char store_url[CONFIG_TEXT];           /* of a database server */
    uint64_t store_connections;
    char store_password_file[CONFIG_TEXT];
    /* [follow]: a copy on a second machine (docs/follow.md) */
    char follow_listen[CONFIG_TEXT]; /* HOST:PORT; empty: no follower */
    char follow_secret_file[CONFIG_TEXT];
    char follow_mode[CONFIG_TEXT];  /* sync or async */
    char follow_alone[CONFIG_TEXT]; /* refuse or sell: while the follower is away, in mode sync */
    uint64_t follow_away_ms;        /* how long it may be missing before it counts as away */
    char follow_peer[CONFIG_TEXT]; /* HOST:PORT of the other machine's follow.listen; empty: not asked */
    uint64_t follow_buffer_mib; /* changes that are kept for a follower that was cut off */
    /* [orders] */
    uint64_t lag_max;                 /* records that orders may lag before wins stop */
    uint64_t cache_mib;               /* memory for pages of the database, at most */
    uint64_t grace_ms;                /* after a start, older orders are not closed for this time */
    uint64_t user_refund_ms;          /* how long a user can refund a paid order; 0: never */
    char user_refund_to[CONFIG_TEXT]; /* stock, safety or write-off */
    /* [payment] */
    char providers[CONFIG_TEXT]; /* separated by commas: which of payment/provider_table.c */
    char public_url[CONFIG_TEXT]; /* how providers and browsers reach this server; empty: as it listens */
    uint64_t extend_ms;           /* starting a payment leaves at least this time to pay, once */
    uint64_t payment_calls_max;                     /* questions to providers at a time */
    uint64_t query_ms, close_wait_ms, late_wait_ms; /* orders/cashier.h */
    uint64_t ask_days;                              /* how long an unanswered payment is queried */
    uint64_t create_wait_ms; /* how long the user's request waits for the provider */
    /* [sandbox], also read by the bank */
    bool sandbox_allow_public; /* other machines may reach a server that takes no real money */
    uint64_t sandbox_lost, sandbox_doubled, sandbox_reordered, sandbox_wrong_amount,
        sandbox_unreached, sandbox_unanswered, sandbox_short_paid, sandbox_delay_ms;
    /* The settings of providers, each in its own section: provider_table[p]->settings[s]. */
    char provider_values[PROVIDERS_MAX][PROVIDER_SETTINGS_MAX][CONFIG_TEXT];
    /* [waitlist] */
    bool waitlist_enabled;
    uint64_t waitlist_window_ms;    /* to pay an offer */
    uint64_t waitlist_max_per_item; /* the most users on the waitlist of one item */
    /* [reconcile] */
    uint64_t archive_after_days; /* a sale is archived by itself so long after its end; 0: never */
    char archive_folder[CONFIG_TEXT]; /* of bundles; empty: archive in the data folder, on one machine */
    uint64_t privacy_keep_days; /* then names and addresses of customers are erased; 0: never by itself */
    uint64_t reconcile_interval_ms; /* while a sale is open; 0: never by itself */
    /* [switches]: how they stand at start (funnel/switches.h) */
    uint64_t switch_pow_boost;
    bool switch_refuse_new;
    bool switch_bypass_address_limit, switch_bypass_user_limit, switch_bypass_human_check,
        switch_bypass_waiting_room;
    /* [media] */
    uint64_t media_quota_bytes, media_upload_bytes; /* of all pictures, of one as it is sent */
    /* [page] */
    char image_origins[CONFIG_LIST]; /* whose pictures products may show, besides ours */
    char login_url[CONFIG_TEXT];     /* where the shop's customers sign in */
    char page_url[CONFIG_TEXT];      /* where the pages are, if not at payment.public_url */
    char export_folder[CONFIG_TEXT]; /* the pages are written there whenever they change; empty: not */
    char api_url[CONFIG_TEXT];       /* where exported pages find this server */
    char on_publish[CONFIG_TEXT];    /* the program that runs after an export, with the folder */
    char theme[CONFIG_TEXT];         /* folder of the shop's look (theme.h); empty: ours */
    /* [watch]: each rule off, report or ban */
    char watch_rate[CONFIG_TEXT], watch_failures[CONFIG_TEXT], watch_crowd[CONFIG_TEXT],
        watch_roaming[CONFIG_TEXT], watch_timing[CONFIG_TEXT], watch_unpaid[CONFIG_TEXT];
    uint64_t watch_rate_per_s, watch_rate_for_s, watch_failures_per_minute, watch_crowd_users,
        watch_roaming_addresses, watch_early_ms, watch_early_starts, watch_regular_count,
        watch_unpaid_wins;
    uint64_t watch_ban_minutes, watch_bans_per_minute;
    /* [alarms]: when they are raised (worker/trend_checks.h), and whom they are told (alarm_messages.h) */
    uint64_t alarms_sync_ms, alarms_order_lag, alarms_attack_per_s, alarms_sold_out_early_s,
        alarms_disk_free_bytes, alarms_calm_ms, alarms_remind_ms;
    char alarms_webhook_url[CONFIG_LIST]; /* empty: nobody */
    char alarms_webhook_secret_file[CONFIG_TEXT];
    bool alarms_webhook_allow_private;
    /* [trace] */
    uint64_t trace_sample;            /* one purchase in so many; 0: none by itself */
    char trace_endpoint[CONFIG_LIST]; /* empty: none is followed */
    bool trace_allow_private;
    /* [mail] */
    char mail_server[CONFIG_LIST]; /* empty: no mails */
    char mail_from[CONFIG_TEXT], mail_user[CONFIG_TEXT], mail_password_file[CONFIG_TEXT];
    /* [remedy] */
    uint64_t coupon_percent, coupon_days;
    /* [webhook] */
    char webhook_url[CONFIG_LIST]; /* empty: the shop is not told */
    char webhook_secret_file[CONFIG_TEXT];
    bool webhook_allow_private;

    uint8_t sources[CONFIG_SETTINGS_MAX]; /* enum config_source, of each row of the table */
};

/* A setting as people read it. Secrets are in files, of which this tells the paths; an address is told
 * without its user name, password and query. */
struct config_setting {
    const char *section, *key;
    char value[CONFIG_LIST];
    enum config_source source; /* where the value comes from */
    bool reload;               /* SIGHUP applies a new value */
    bool agreed;               /* the same in each process of many machines (agreed.h) */
};

void config_defaults(struct config *config);
/* config_load_file, config_load_environment and config_check tell every mistake, one a line, up to
 * MISTAKES_TOLD_MAX. A setting that stands twice in a file is a mistake. */
MUST_CHECK enum status config_load_file(
    struct config *config, const char *path, char error[CONFIG_ERROR]);
MUST_CHECK enum status config_load_environment(struct config *config, char error[CONFIG_ERROR]);
/* "section.key" and a value, as from the command line. */
MUST_CHECK enum status config_set(
    struct config *config, const char *name, const char *value, char error[CONFIG_ERROR]);
MUST_CHECK enum status config_check(
    const struct config *config, char error[CONFIG_ERROR]); /* what depends on more than one */
/* For config_file.c: the row of a setting, or CONFIG_SETTINGS_MAX; one value, which a refusal leaves
 * as it is. */
size_t config_find(const char *section, const char *key);
MUST_CHECK enum status config_store(struct config *config, enum config_source source,
    const char *section, const char *key, const char *value, char error[CONFIG_MISTAKE]);
/* Takes the values of `fresh` that can change while the server runs, and no others. */
void config_reload(struct config *running, const struct config *fresh);
/* The settings one after another; false: there are no more. */
bool config_setting(const struct config *config, size_t at, struct config_setting *setting);
void config_print(const struct config *config); /* every name with its value, on standard output */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* contract/channels.h: what the database of record keeps of sales channels and of the safety stock:
 * figures that shares are worked out from, sales that a channel reports after the fact, and units that
 * left the safety stock. Channels are known by their names: the order of the setting may change. Thread,
 * errors: as contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_CHANNELS_H
#define STAMPEDE_CONTRACT_CHANNELS_H

#include "contract/order_store.h"

enum {
    REPORT_REFERENCE_MAX = 64, /* the channel's own name for what it reports */
    SAFETY_NOTE_MAX = 200,
};
static const uint64_t FIGURES_SPAN_MS = 30ull * 24 * 60 * 60 * 1000;
static const uint64_t FIGURE_MAX = 1000ull * 1000 * 1000 * 1000; /* of each but value */
static const uint64_t FIGURE_VALUE_MAX = 1000ull * 1000 * 1000 * 1000 * 1000;

/* Of one channel, in the same span of time. */
struct sales_figures {
    uint64_t units;  /* sold */
    uint64_t orders; /* paid */
    uint64_t visits; /* 0: not known */
    uint64_t value;  /* of the paid orders, in the currency's smallest unit */
};
/* As an operator or the channel itself has told them. */
struct channel_figures {
    char channel[CHANNEL_NAME_MAX + 1];
    struct sales_figures figures;
    uint64_t time_ms;
    char by[ACTOR_BYTES_MAX + 1]; /* the name of the key */
};

/* Units that a channel has sold elsewhere. What it had was taken from its pool; `missing` is the rest: it
 * sold more than it had. */
struct channel_report {
    uint64_t id;
    item_id item;
    char channel[CHANNEL_NAME_MAX + 1];
    char reference[REPORT_REFERENCE_MAX + 1];
    uint32_t reported, taken, missing;
    uint64_t time_ms;
};
struct channel_report_filter { /* a member that is 0 or empty asks for nothing */
    item_id item;
    char channel[CHANNEL_NAME_MAX + 1];
    bool missing; /* only reports of more than there was */
};

#define SAFETY_REASON_LIST(X) \
    X(EXCHANGE, "exchange") \
    X(DAMAGE, "damage") \
    X(LOSS, "loss") \
    X(OTHER, "other")
enum safety_reason { /* numbers in the database never change their meaning */
    SAFETY_NONE,
#define SAFETY_REASON(reason, name) SAFETY_##reason,
    SAFETY_REASON_LIST(SAFETY_REASON)
#undef SAFETY_REASON
        SAFETY_REASONS,
};
struct safety_use {
    item_id item;
    uint8_t reason; /* enum safety_reason */
    uint32_t units;
    char note[SAFETY_NOTE_MAX + 1];
    char by[ACTOR_BYTES_MAX + 1];
    uint64_t time_ms;
};
/* Units of finished sales. */
struct safety_history {
    uint64_t sold; /* also those that came back */
    uint64_t returned, exchanged, damaged, lost, other;
};

struct channel_store_ops {
    /* One row for each channel: the last figures count. */
    enum status (*figures_put)(struct order_store *, const struct channel_figures *);
    enum status (*figures)(struct order_store *, struct channel_figures *, uint32_t max, uint32_t *count);
    /* Paid orders of this currency that were made from from_ms on, by channel; visits stay 0. Slow: it reads
     * each of them. */
    enum status (*sales)(struct order_store *, uint64_t from_ms, const char *currency,
        struct sales_figures sales[CHANNELS_MAX]);
    /* STATUS_NOT_FOUND: there is no report of this item, channel and reference. */
    enum status (*report_get)(struct order_store *, struct channel_report *);
    /* Keeps it, unless there is one of this item, channel and reference; fills in what is kept. */
    enum status (*report_put)(struct order_store *, struct channel_report *);
    /* Rows with id > after, ascending. */
    enum status (*reports)(struct order_store *, uint64_t after,
        const struct channel_report_filter *, struct channel_report *, uint32_t max, uint32_t *count);
    /* Σ of an item's reports of one channel. */
    enum status (*report_sums)(
        struct order_store *, item_id, const char *channel, uint64_t *reported, uint64_t *missing);
    enum status (*safety_use_put)(struct order_store *, const struct safety_use *);
    /* Of sales that were over at now_ms. product 0: of all products. */
    enum status (*safety_history)(
        struct order_store *, uint32_t product, uint64_t now_ms, struct safety_history *);
};

#endif

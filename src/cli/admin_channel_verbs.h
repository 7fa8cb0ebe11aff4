/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_channel_verbs.h: the rows of the table of verbs (admin_verbs.c) about channels and safety
 * stock. */
#ifndef STAMPEDE_CLI_ADMIN_CHANNEL_VERBS_H
#define STAMPEDE_CLI_ADMIN_CHANNEL_VERBS_H

#define CHANNEL_UNITS \
    { \
        "--channel", "channels", OPTION_UNITS, false, "web=N; can be repeated; all to web if not given" \
    }
#define CHANNEL_RETURN \
    { \
        "--channel-return-ms", "channel_return_ms", OPTION_NUMBER, false, \
            "so long after the start channels give unsold units back to web; 0: never" \
    }
#define PERIOD_LIMITS \
    { "--period-limit", "period_limit", OPTION_NUMBER, false, \
        "units per user in the period, over all sales; 0: any" }, \
        { "--payer-limit", "payer_limit", OPTION_NUMBER, false, \
            "units per payment identity in the period, where it is known; 0: any" }, \
        { "--period-days", "period_days", OPTION_NUMBER, false, "days of the period; 1 to 366" }, \
    { \
        "--period-group", "period_group", OPTION_NUMBER, false, \
            "items with this number count together; 0: those of the product" \
    }
#define ADMIN_CHANNEL_VERBS \
    ONE("GET", "item allocation", "items/%/allocation", "item", \
        "show how its units would be shared out among channels"), \
        { .name = "item allocate", \
            .method = "POST", \
            .path = "/admin/v1/items/%/allocation", \
            .help = "share its units out; repeating it changes nothing", \
            .options = { NUMBER_OF("item"), \
                { "--share", "shares", OPTION_UNITS, true, \
                    "web=N in millionths, as `item allocation` shows; can be repeated" } } }, \
        ONE("GET", "item safety", "items/%/safety", "item", "show and suggest its safety stock"), \
        { .name = "safety use", \
            .method = "POST", \
            .path = "/admin/v1/items/%/safety", \
            .help = "take units out of the safety stock for good", \
            .options = { NUMBER_OF("item"), { "--quantity", "quantity", OPTION_NUMBER, true, "units" }, \
                { "--reason", "reason", OPTION_TEXT, true, "exchange, damage, loss or other" }, \
                { "--note", "note", OPTION_TEXT, false, "one line for the audit trail" } } }, \
        SHOW("channel list", "channels", "channel units orders visits value time_ms by", \
            "list the channels with the figures that were told"), \
        { .name = "channel figures", \
            .method = "POST", \
            .path = "/admin/v1/channels/figures", \
            .help = "tell what a channel sold in the last 30 days; of web only visits count", \
            .options = { { "--channel", "channel", OPTION_TEXT, true, "its name" }, \
                { "--units", "units", OPTION_NUMBER, true, "units sold" }, \
                { "--orders", "orders", OPTION_NUMBER, true, "paid orders" }, \
                { "--visits", "visits", OPTION_NUMBER, false, "visits; 0: not known" }, \
                { "--value", "value", OPTION_NUMBER, true, "of the paid orders, smallest unit" } } }, \
    { \
        .name = "channel reports", .pages = true, .method = "GET", \
        .path = "/admin/v1/channels/reports", \
        .columns = "id item channel reference reported taken missing time_ms", \
        .help = "list sales that channels have reported", .options = { \
            { "--item", "item", OPTION_NUMBER, false, "only of this item" }, \
            { "--channel", "channel", OPTION_TEXT, false, "only of this channel" }, \
            { "--missing", "missing", OPTION_NUMBER, false, "1: only those of more than there was" } \
        } \
    }

#endif

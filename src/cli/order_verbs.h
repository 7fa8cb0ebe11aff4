/* SPDX-License-Identifier: Apache-2.0 */
/* cli/order_verbs.h: the verbs of orders that go on, and of cases; a part of the table in admin_verbs.c. */
#ifndef STAMPEDE_CLI_ORDER_VERBS_H
#define STAMPEDE_CLI_ORDER_VERBS_H

#define CASE_COLUMNS \
    "id item channel reference missing state orders undecided assignee created_ms closed_ms " \
    "outcome"
#define CASE_ORDER \
    { \
        "--order", "order", OPTION_TEXT, true, "the order's id" \
    }

#define FULFILMENT_VERBS \
    { .name = "order ship", \
        .method = "POST", \
        .path = "/admin/v1/orders/@/ship", \
        .help = "an order is on its way; many at once: order ship --file FILE", \
        .options = { ORDER_ID, { "--carrier", "carrier", OPTION_TEXT, true, "who brings it" }, \
            { "--tracking", "tracking", OPTION_TEXT, true, "the carrier's number of the parcel" }, \
            { "--replace", "replace", OPTION_FLAG, false, "correct the carrier or the number" } } }, \
        { .name = "order ship-file", \
            .method = "POST", \
            .path = "/admin/v1/shipments", \
            .help = "ship the orders of a CSV file; with a bad line nothing is done", \
            .options = { { "--file", "file", OPTION_FILE, true, \
                "columns order, carrier, tracking, with a header; -: standard input" } } }, \
        { .name = "order deliver", \
            .method = "POST", \
            .path = "/admin/v1/orders/@/deliver", \
            .help = "an order that was shipped has arrived", \
            .options = { ORDER_ID } }, \
        { .name = "order refund-part", \
            .method = "POST", \
            .path = "/admin/v1/orders/@/refund-part", \
            .help = "give some of the money of a paid order back; once for a key", \
            .options = { ORDER_ID, { "--amount", "amount", OPTION_PRICE, true, "less than what is left" }, \
                { "--currency", "currency", OPTION_TEXT, true, "the currency of the order, like CNY" }, \
                { "--refund-key", "key", OPTION_TEXT, true, "your name for this refund, 1 to 64 bytes" }, \
                { "--reason", "reason", OPTION_TEXT, false, "why, up to 200 bytes" } } }, \
    { \
        .name = "order export", .method = "GET", .path = "/admin/v1/orders/export", \
        .help = "write orders as CSV to standard output, newest first", .options = { \
            { "--sale", "sale", OPTION_NUMBER, false, "only orders of this sale" }, \
            { "--item", "item", OPTION_NUMBER, false, "only orders of this item" }, \
            { "--state", "state", OPTION_TEXT, false, "pending, paid, closed or refunded" }, \
            { "--from", "from_ms", OPTION_TIME, false, "only orders created at or after this time" }, \
            { "--to", "to_ms", OPTION_TIME, false, "only orders created before this time" }, \
            { "--user", "user", OPTION_TEXT, false, "only orders of this user: 16 hex digits" }, \
            { "--subject", "subject", OPTION_TEXT, false, "only of this user: the shop's name" } \
        } \
    }

#define CASE_VERBS \
    { .name = "case list", \
        .pages = true, \
        .method = "GET", \
        .path = "/admin/v1/cases", \
        .columns = CASE_COLUMNS, \
        .help = "list cases of units that were sold twice", \
        .options = { { "--state", "state", OPTION_TEXT, false, "open or closed" } } }, \
        { .name = "case open", \
            .method = "POST", \
            .path = "/admin/v1/cases", \
            .help = "a channel reports more than it had; the newest orders are proposed", \
            .options = { { "--item", "item", OPTION_NUMBER, true, "the item" }, \
                { "--channel", "channel", OPTION_TEXT, true, "the channel that reports" }, \
                { "--reference", "reference", OPTION_TEXT, true, "its name for the report" }, \
                { "--missing", "missing", OPTION_NUMBER, true, "units that it did not have" }, \
                { "--reason", "reason", OPTION_TEXT, true, "what happened, up to 300 bytes" }, \
                { "--assignee", "assignee", OPTION_TEXT, false, "who works on it" } } }, \
        { .name = "case costs", \
            .method = "GET", \
            .path = "/admin/v1/cases/costs", \
            .columns = "currency orders refunds coupons losses", \
            .help = "what all cases have cost, by currency" }, \
        ONE("GET", "case show", "cases/%", "case", "show a case with its orders and remedies"), \
        { .name = "case log", \
            .pages = true, \
            .method = "GET", \
            .path = "/admin/v1/cases/%/notes", \
            .columns = "id time_ms actor way order text", \
            .help = "list the contact log of a case", \
            .options = { NUMBER_OF("case") } }, \
        { .name = "case note", \
            .method = "POST", \
            .path = "/admin/v1/cases/%/notes", \
            .help = "write into the contact log of a case", \
            .options = { NUMBER_OF("case"), { "--way", "way", OPTION_TEXT, true, "call, mail, chat, …" }, \
                { "--text", "text", OPTION_TEXT, true, "what was said, up to 300 bytes" }, \
                { "--order", "order", OPTION_TEXT, false, "about this order" } } }, \
        { .name = "case orders", \
            .method = "POST", \
            .path = "/admin/v1/cases/%/orders", \
            .help = "add orders to a case", \
            .options = { NUMBER_OF("case"), \
                { "--order", "orders", OPTION_TEXTS, true, "an order's id; can be repeated" } } }, \
        { .name = "case assign", \
            .method = "POST", \
            .path = "/admin/v1/cases/%/assign", \
            .help = "say who works on a case", \
            .options = { NUMBER_OF("case"), \
                { "--to", "assignee", OPTION_TEXT, true, "the name of a person" } } }, \
        { .name = "case apply", \
            .method = "POST", \
            .path = "/admin/v1/cases/%/apply", \
            .help = "do something for an order of a case, once, and tell its customer", \
            .options = { NUMBER_OF("case"), CASE_ORDER, \
                { "--remedy", "remedy", OPTION_TEXT, true, \
                    "refund-coupon, wait-coupon, substitute, ship-at-a-loss or dismiss" }, \
                { "--coupon-percent", "coupon_percent", OPTION_NUMBER, false, "of the order's amount" }, \
                { "--loss", "loss", OPTION_PRICE, false, "what else it costs the shop" }, \
                { "--note", "note", OPTION_TEXT, false, "a line for the customer" }, \
                { "--to", "to", OPTION_TEXT, false, "where the unit goes; write-off if not given" }, \
                { "--notify", "notify", OPTION_YES_NO, false, "whether a mail is sent; yes if not given" }, \
                { "--email", "email", OPTION_TEXT, false, "another address than the order's" } } }, \
    { \
        .name = "case close", .method = "POST", .path = "/admin/v1/cases/%/close", \
        .help = "close a case whose orders all have a remedy", .options = { \
            NUMBER_OF("case"), \
            { "--outcome", "outcome", OPTION_TEXT, true, "how it ended, up to 300 bytes" } \
        } \
    }

#endif

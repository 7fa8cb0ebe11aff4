/* SPDX-License-Identifier: Apache-2.0 */
/* cli/archive_verbs.h: rows of the table of verbs (admin_verbs.c): sales that leave for a bundle, and
 * erasing. Only that file includes it. */
#ifndef STAMPEDE_CLI_ARCHIVE_VERBS_H
#define STAMPEDE_CLI_ARCHIVE_VERBS_H

#define ARCHIVE_VERBS \
    { .name = "sale bundle", \
        .method = "GET", \
        .path = "/admin/v1/sales/%/bundle", \
        .help = "show how far the orders of a sale have left for its bundle", \
        .options = { NUMBER_OF("sale") } }, \
        { .name = "archive show", \
            .method = "GET", \
            .path = "/admin/v1/archive", \
            .help = "show where bundles go, and how many sales are asked to leave" }, \
        { .name = "archive sale", \
            .method = "POST", \
            .path = "/admin/v1/sales/%/bundle", \
            .help = "let a sale that is over leave for a bundle; `stampede archive` waits for " \
                    "it, too", \
            .options = { NUMBER_OF("sale") } }, \
        { .name = "archive due", \
            .method = "POST", \
            .path = "/admin/v1/archive", \
            .help = "let sales leave that ended so long ago, 64 looked at; again with --after", \
            .options = { { "--after-days", "after_days", OPTION_NUMBER, true, "since their end" }, \
                { "--after", "after", OPTION_NUMBER, false, "only sales with a higher number" } } }, \
    { \
        .name = "customer erase", .method = "POST", .path = "/admin/v1/customers/erase", \
        .help = "erase the name of a customer, and addresses and notes of all their orders", \
        .options = { \
            { "--subject", "subject", OPTION_TEXT, false, "the shop's name of the customer" }, \
            { "--user", "user", OPTION_TEXT, false, "or the user id, 16 hex digits" } \
        } \
    }

#endif

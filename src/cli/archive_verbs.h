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
        { .name = "sale bundled", \
            .method = "POST", \
            .path = "/admin/v1/sales/%/bundle", \
            .help = "let its orders leave for a bundle; `stampede archive` does this", \
            .options = { NUMBER_OF("sale"), { "--hash", "sha256", OPTION_TEXT, true, "of the bundle" }, \
                { "--bytes", "bytes", OPTION_NUMBER, true, "of the bundle" }, \
                { "--orders", "orders", OPTION_NUMBER, true, "in the bundle" }, \
                { "--versions", "versions", OPTION_NUMBER, true, "the sum of their versions" } } }, \
    { \
        .name = "customer erase", .method = "POST", .path = "/admin/v1/customers/erase", \
        .help = "erase the name of a customer, and addresses and notes of all their orders", \
        .options = { \
            { "--subject", "subject", OPTION_TEXT, false, "the shop's name of the customer" }, \
            { "--user", "user", OPTION_TEXT, false, "or the user id, 16 hex digits" } \
        } \
    }

#endif

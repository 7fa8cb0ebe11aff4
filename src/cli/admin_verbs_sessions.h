/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_verbs_sessions.h: the verbs of timetables, as rows of the table in admin_verbs.c. */
#ifndef STAMPEDE_CLI_ADMIN_VERBS_SESSIONS_H
#define STAMPEDE_CLI_ADMIN_VERBS_SESSIONS_H

#define TIMETABLE_OPTIONS(required) \
    { "--model", "model", OPTION_NUMBER, required, "the sale that each session is a copy of" }, \
        { "--title", "title", OPTION_TEXT, required, "the name of each session" }, \
        { "--start", "start", OPTION_TEXT, required, "the time of day there, like 20:00" }, \
        { "--duration", "duration_s", OPTION_NUMBER, required, "how long it lasts, in seconds" }, \
        { "--offset", "offset_min", OPTION_SIGNED, required, \
            "minutes of the time there from UTC, like 480 for Beijing" }, \
        { "--weekdays", "weekdays", OPTION_NUMBERS, false, \
            "1 (Monday) to 7, like 1,2,5; every day if not given" }, \
    { \
        "--ahead", "ahead_s", OPTION_NUMBER, false, "seconds before its start at which a session is listed" \
    }

#define SESSION_VERBS \
    { .name = "timetable create", \
        .method = "POST", \
        .path = "/admin/v1/timetables", \
        .help = "make a sale from a model each day, on time", \
        .options = { TIMETABLE_OPTIONS(true) } }, \
        { .name = "timetable change", \
            .method = "PATCH", \
            .path = "/admin/v1/timetables/%", \
            .help = "change the given options; sessions that are made stay as they are", \
            .options = { NUMBER_OF("timetable"), TIMETABLE_OPTIONS(false), \
                { "--active", "active", OPTION_YES_NO, false, "whether it makes sessions" } } }, \
        SHOW("timetable list", "timetables", \
            "id model title start duration_s offset_min ahead_s active", "list all timetables"), \
        ONE("GET", "timetable show", "timetables/%", "timetable", "show a timetable with its calendar"), \
    { \
        .name = "timetable day", .method = "POST", .path = "/admin/v1/timetables/%/days", \
        .help = "skip or edit the session of one day", .options = { \
            NUMBER_OF("timetable"), \
            { "--day", "day", OPTION_TEXT, true, "the date there, like 2026-11-11" }, \
            { "--skip", "skip", OPTION_YES_NO, false, "no session on this day; false takes it back" }, \
            { "--start", "start", OPTION_TEXT, false, "another time of day, like 20:30" }, \
            { "--duration", "duration_s", OPTION_NUMBER, false, "another duration, in seconds" } \
        } \
    }

#define PRESALE_VERBS \
    { .name = "item sold-out", \
        .method = "PUT", \
        .path = "/admin/v1/items/%/sold-out", \
        .help = "what an item offers when it is sold out", \
        .options = { NUMBER_OF("item"), \
            { "--offer", "when_sold_out", OPTION_TEXT, true, "end, waitlist, substitutes or presale" }, \
            { "--substitutes", "substitutes", OPTION_NUMBERS, false, "items to show instead, like 12,13" }, \
            { "--presale-item", "presale_item", OPTION_NUMBER, false, \
                "the item that takes the bookings, if it is another one" }, \
            { "--cap", "presale_cap", OPTION_NUMBER, false, "at most so many bookings; 0: any number" }, \
            { "--deposit-item", "deposit_item", OPTION_NUMBER, false, \
                "the item whose purchase is the deposit" }, \
            { "--balance-window", "balance_ms", OPTION_NUMBER, false, \
                "milliseconds to pay what a booking becomes" }, \
            { "--deposit-kept", "deposit_kept", OPTION_TEXT, false, \
                "when the shop keeps the deposit: never, unpaid or given-up" } } }, \
        { .name = "presale list", \
            .pages = true, \
            .method = "GET", \
            .path = "/admin/v1/items/%/presale", \
            .columns = "id user state quantity booked_ms deposit_paid offered", \
            .help = "list the bookings of an item, in order", \
            .options = { NUMBER_OF("item") } }, \
        { .name = "presale arrive", \
            .method = "POST", \
            .path = "/admin/v1/items/%/presale/arrive", \
            .help = "units have arrived: bookings become orders, in order", \
            .options = { NUMBER_OF("item"), { "--units", "units", OPTION_NUMBER, true, "how many" } } }, \
    { \
        .name = "presale purchases", .pages = true, .method = "GET", .path = "/admin/v1/purchases", \
        .columns = "item product name bookings units deposits" \
                   " deposits_amount currency deposits_due bought kept kept_amount", \
        .help = "list what procurement is to buy" \
    }

#endif

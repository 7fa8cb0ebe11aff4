/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/anomaly/watch_rules.h: which addresses and users behave like machines, from what the edges noted
 * (funnel/anomaly/watch.h). The book remembers a bounded number of them; each second the edges' tables are
 * folded in and the rules are asked about those that were touched. A finding says why in words and
 * numbers. What follows from it (a report, a ban) is the worker's to decide.
 *
 * An address with many users may be refused and fail more often in proportion: a school or an
 * office is not a machine because many sit in it.
 * Thread: the worker's. Memory: from the arena at start. */
#ifndef STAMPEDE_FUNNEL_ANOMALY_WATCH_RULES_H
#define STAMPEDE_FUNNEL_ANOMALY_WATCH_RULES_H

#include "funnel/anomaly/watch.h"

enum watch_rule {
    WATCH_RATE,     /* refused for speed, a lot, for long */
    WATCH_FAILURES, /* bad passes, sessions, tokens, challenges */
    WATCH_CROWD,    /* many users from one address */
    WATCH_ROAMING,  /* one user from many addresses */
    WATCH_TIMING,   /* at the very start again and again, or like a clock */
    WATCH_UNPAID,   /* wins that are let go: cancelled or not paid in time */
    WATCH_RULES,
};
enum watch_mode { WATCH_OFF, WATCH_REPORT, WATCH_BAN };

enum {
    WATCH_WINDOW_MS = 60 * 1000,           /* failures and regular purchases are counted in this */
    WATCH_SEEN_WINDOW_MS = 10 * 60 * 1000, /* users of an address, addresses of a user */
    WATCH_STARTS_MS = 24 * 60 * 60 * 1000, /* starts that a user was early at */
    WATCH_AGAIN_MS = 10 * 60 * 1000,       /* the same finding is not repeated for this time */
    WATCH_SUBJECTS = 16384,                /* addresses and users that are remembered */
    WATCH_USERS_ALLOWED = 50,              /* the most users of one address that count */
    WATCH_REGULAR_PERCENT = 3,             /* of the mean: a machine strays less */
    WATCH_REGULAR_LEAST_MS = 20,           /* faster is the rate's business */
    WATCH_REASON_BYTES = 160,
};

struct watch_settings {
    uint8_t modes[WATCH_RULES]; /* enum watch_mode */
    uint32_t rate_per_s, rate_for_s;
    uint32_t failures_per_minute;
    uint32_t crowd_users;
    uint32_t roaming_addresses;
    uint32_t early_ms, early_starts;
    uint32_t regular_count; /* purchases like a clock's */
    uint32_t unpaid_wins;   /* let go within WATCH_STARTS_MS */
};

struct watch_finding {
    enum watch_rule rule;
    user_id user; /* 0: an address */
    struct address address;
    uint8_t bits; /* of the address: 128, or 64 for IPv6 */
    char reason[WATCH_REASON_BYTES];
};

struct watch_book;
size_t watch_book_bytes(void);
struct watch_book *watch_book_create(struct arena *arena, struct hash_key key);
void watch_book_fold(struct watch_book *book, const struct watch_table *table, uint64_t now_ms);
/* A user let a win go. */
void watch_book_unpaid(struct watch_book *book, user_id user, uint64_t now_ms);
/* Once all tables of this second are folded in. Answers how many; those that do not fit are found
 * again next time, if they still are so. */
uint32_t watch_book_judge(struct watch_book *book, const struct watch_settings *settings,
    uint64_t now_ms, struct watch_finding *findings, uint32_t max);
/* A ban was lifted: what led to it is forgotten. */
void watch_book_forgive(struct watch_book *book, const struct address *address, user_id user);
/* How many different ones were folded in since the minute began; an address or user that comes
 * each second counts once. */
uint32_t watch_book_seen(const struct watch_book *book);
void watch_book_minute_begin(struct watch_book *book);

const char *watch_rule_name(enum watch_rule rule);
/* How many different ones set this number of WATCH_MARKS bits, on average. */
uint32_t watch_marks_estimate(const struct watch_book *book, const uint64_t marks[WATCH_MARK_WORDS]);

#endif

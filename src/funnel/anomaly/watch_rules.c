/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. The book is a table of buckets. The entry that was seen longest ago is replaced, except
 * that those who were early at a start or were found are kept before others: what counts about
 * them takes days, not seconds. Different users (addresses) are counted by bits (linear counting):
 * n strangers leave m·(1 − 1/m)^n of m bits empty, so the empty ones tell n, within a tenth up to
 * a thousand. */
#include "funnel/anomaly/watch_rules.h"

#include "base/hash.h"
#include "base/thread.h"

#include <stdio.h>

enum { BOOK_WAYS = 8, ESTIMATE_MOST = 1500 };

struct subject {
    struct address address;
    user_id user;
    uint64_t seen_ms;
    uint32_t round;  /* when it was touched last; 0: an empty place */
    uint32_t minute; /* in which it was counted last */
    /* rate */
    uint32_t too_fast, peak_per_s; /* since the last judging; the highest of this streak */
    uint64_t fast_for_ms;
    /* failures, regular purchases */
    uint64_t window_ms;
    uint32_t failed, intervals;
    uint64_t interval_sum, interval_squares, asked_last_ms;
    /* crowd, roaming */
    uint64_t seen_window_ms;
    uint64_t marks[WATCH_MARK_WORDS];
    /* early */
    uint64_t starts_window_ms, start_ms;
    uint32_t starts;
    /* unpaid */
    uint64_t unpaid_window_ms;
    uint32_t unpaid;
    uint64_t found_ms[WATCH_RULES];
};

struct watch_book {
    struct hash_key key;
    uint32_t round;
    uint32_t minute, minute_seen;
    uint64_t judged_ms;
    uint32_t touched_count;
    uint32_t touched[WATCH_SUBJECTS];
    uint16_t estimates[WATCH_MARKS + 1]; /* by bits that are set */
    struct subject subjects[WATCH_SUBJECTS];
};

static const char *const rule_names[] = { "rate", "failures", "crowd", "roaming", "timing", "unpaid" };
static_assert(sizeof rule_names / sizeof *rule_names == WATCH_RULES, "a name for each");

const char *watch_rule_name(enum watch_rule rule)
{
    invariant((unsigned)rule < WATCH_RULES);
    return rule_names[rule];
}

size_t watch_book_bytes(void)
{
    return sizeof(struct watch_book) + 64;
}

struct watch_book *watch_book_create(struct arena *arena, struct hash_key key)
{
    struct watch_book *book = arena_take(arena, 1, sizeof *book);
    double empty = WATCH_MARKS;
    book->key = key;
    book->round = 1;
    book->minute = 1;
    for (uint32_t count = 0, set = 0; set <= WATCH_MARKS; count++) {
        while (set <= WATCH_MARKS && (WATCH_MARKS - set + 0.5 > empty || count == ESTIMATE_MOST))
            book->estimates[set++] = (uint16_t)count;
        empty *= 1 - 1.0 / WATCH_MARKS;
    }
    return book;
}

uint32_t watch_marks_estimate(const struct watch_book *book, const uint64_t marks[WATCH_MARK_WORDS])
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < WATCH_MARK_WORDS; i++)
        set += (uint32_t)__builtin_popcountll(marks[i]);
    return book->estimates[set];
}

/* ---- folding */

static bool subject_is_kept(const struct subject *subject, uint64_t now_ms)
{
    if (subject->starts > 0 && now_ms - subject->starts_window_ms < WATCH_STARTS_MS)
        return true;
    if (subject->unpaid > 0 && now_ms - subject->unpaid_window_ms < WATCH_STARTS_MS)
        return true;
    for (uint32_t rule = 0; rule < WATCH_RULES; rule++)
        if (subject->found_ms[rule] != 0 && now_ms - subject->found_ms[rule] < WATCH_AGAIN_MS)
            return true;
    return false;
}

/* Whether a should give way rather than b. */
static bool gives_way(const struct subject *a, const struct subject *b, uint64_t now_ms)
{
    const bool a_kept = subject_is_kept(a, now_ms), b_kept = subject_is_kept(b, now_ms);
    return a_kept != b_kept ? b_kept : a->seen_ms < b->seen_ms;
}

static struct subject *bucket_of(struct watch_book *book, const struct address *address, user_id user)
{
    const uint64_t hash = user != 0 ? hash_place(book->key, user, 0) : address_hash(book->key, address);
    return &book->subjects[hash & (WATCH_SUBJECTS - BOOK_WAYS)];
}

static struct subject *subject_find(struct watch_book *book, const struct address *address, user_id user)
{
    struct subject *bucket = bucket_of(book, address, user);
    for (uint32_t way = 0; way < BOOK_WAYS; way++)
        if (bucket[way].round != 0 && bucket[way].user == user
            && address_equal(&bucket[way].address, address))
            return &bucket[way];
    return NULL;
}

/* NULL: all who are there were touched in this round too. */
static struct subject *subject_make(
    struct watch_book *book, const struct address *address, user_id user, uint64_t now_ms)
{
    struct subject *bucket = bucket_of(book, address, user), *victim = NULL;
    for (uint32_t way = 0; way < BOOK_WAYS; way++) {
        struct subject *at = &bucket[way];
        if (at->round == book->round)
            continue;
        if (at->round == 0) {
            victim = at;
            break;
        }
        if (victim == NULL || gives_way(at, victim, now_ms))
            victim = at;
    }
    if (victim != NULL)
        *victim = (struct subject){ .address = *address, .user = user };
    return victim;
}

static void subject_touch(struct watch_book *book, struct subject *subject, uint64_t now_ms)
{
    if (subject->round == book->round)
        return;
    invariant(book->touched_count < WATCH_SUBJECTS);
    book->touched[book->touched_count++] = (uint32_t)(subject - book->subjects);
    if (subject->round + 1 != book->round) /* was quiet in between */
        subject->fast_for_ms = 0;
    if (subject->minute != book->minute)
        book->minute_seen++;
    subject->minute = book->minute;
    subject->round = book->round;
    subject->seen_ms = now_ms;
    if (now_ms - subject->window_ms >= WATCH_WINDOW_MS) {
        subject->window_ms = now_ms;
        subject->failed = subject->intervals = 0;
        subject->interval_sum = subject->interval_squares = 0;
    }
    if (now_ms - subject->seen_window_ms >= WATCH_SEEN_WINDOW_MS) {
        subject->seen_window_ms = now_ms;
        memset(subject->marks, 0, sizeof subject->marks);
    }
    if (now_ms - subject->starts_window_ms >= WATCH_STARTS_MS) {
        subject->starts_window_ms = now_ms;
        subject->starts = 0;
        subject->start_ms = 0;
    }
}

/* The last purchase of the table before and the first of this one are an interval too. */
static void asked_fold(struct subject *subject, const struct watch_row *row)
{
    if (row->asked == 0)
        return;
    if (subject->asked_last_ms != 0 && row->asked_first_ms >= subject->asked_last_ms
        && row->asked_first_ms - subject->asked_last_ms < WATCH_WINDOW_MS) {
        const uint64_t apart_ms = row->asked_first_ms - subject->asked_last_ms;
        subject->intervals++;
        subject->interval_sum += apart_ms;
        subject->interval_squares += apart_ms * apart_ms;
    }
    subject->intervals += row->asked - 1;
    subject->interval_sum += row->asked_last_ms - row->asked_first_ms;
    subject->interval_squares += row->asked_squares;
    if (row->asked_last_ms > subject->asked_last_ms)
        subject->asked_last_ms = row->asked_last_ms;
}

static void row_fold(struct watch_book *book, const struct watch_row *row, uint64_t now_ms)
{
    struct subject *subject = subject_find(book, &row->address, row->user);
    if (subject == NULL)
        subject = subject_make(book, &row->address, row->user, now_ms);
    if (subject == NULL)
        return;
    subject_touch(book, subject, now_ms);
    subject->too_fast += row->too_fast;
    subject->failed += row->failed;
    asked_fold(subject, row);
    for (uint32_t i = 0; i < WATCH_MARK_WORDS; i++)
        subject->marks[i] |= row->marks[i];
    if (row->start_ms != 0 && row->start_ms != subject->start_ms) {
        subject->start_ms = row->start_ms;
        subject->starts++;
    }
}

void watch_book_fold(struct watch_book *book, const struct watch_table *table, uint64_t now_ms)
{
    for (uint32_t i = 0; i < WATCH_ROWS; i++) {
        if (table->rows[i].noted == 0)
            continue;
        thread_give_way();
        row_fold(book, &table->rows[i], now_ms);
    }
}

void watch_book_unpaid(struct watch_book *book, user_id user, uint64_t now_ms)
{
    static const struct address nowhere;
    struct subject *subject = subject_find(book, &nowhere, user);
    if (subject == NULL)
        subject = subject_make(book, &nowhere, user, now_ms);
    if (subject == NULL)
        return;
    subject_touch(book, subject, now_ms);
    if (now_ms - subject->unpaid_window_ms >= WATCH_STARTS_MS) {
        subject->unpaid_window_ms = now_ms;
        subject->unpaid = 0;
    }
    subject->unpaid++;
}

/* ---- judging */

struct judging {
    const struct watch_book *book;
    const struct watch_settings *settings;
    uint64_t now_ms, elapsed_ms;
};

/* How many times a single user's measure an address may have. */
static uint32_t allowance(const struct judging *judging, const struct subject *subject)
{
    const uint32_t users = subject->user != 0 ? 1 : watch_marks_estimate(judging->book, subject->marks);
    return users < 1 ? 1 : users > WATCH_USERS_ALLOWED ? WATCH_USERS_ALLOWED : users;
}

static bool rate_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    const uint32_t allowed = allowance(judging, subject);
    const uint32_t per_s = (uint32_t)((uint64_t)subject->too_fast * 1000 / judging->elapsed_ms);
    subject->too_fast = 0;
    if (per_s < (uint64_t)judging->settings->rate_per_s * allowed) {
        subject->fast_for_ms = 0;
        subject->peak_per_s = 0;
        return false;
    }
    if (per_s > subject->peak_per_s)
        subject->peak_per_s = per_s;
    subject->fast_for_ms += judging->elapsed_ms;
    snprintf(reason, WATCH_REASON_BYTES,
        "refused as too fast up to %u times a second, for %llu s; threshold allows for %u "
        "user%s",
        subject->peak_per_s, (unsigned long long)(subject->fast_for_ms / 1000), allowed,
        allowed == 1 ? "" : "s");
    return subject->fast_for_ms >= (uint64_t)judging->settings->rate_for_s * 1000;
}

static bool failures_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    const uint32_t allowed = allowance(judging, subject);
    snprintf(reason, WATCH_REASON_BYTES, "%u failed checks within %d s; threshold allows for %u user%s",
        subject->failed, WATCH_WINDOW_MS / 1000, allowed, allowed == 1 ? "" : "s");
    return subject->failed >= (uint64_t)judging->settings->failures_per_minute * allowed;
}

static bool crowd_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    const uint32_t users = watch_marks_estimate(judging->book, subject->marks);
    snprintf(reason, WATCH_REASON_BYTES, "about %u users from this address within %d min", users,
        WATCH_SEEN_WINDOW_MS / 60000);
    return subject->user == 0 && users >= judging->settings->crowd_users;
}

static bool roaming_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    const uint32_t addresses = watch_marks_estimate(judging->book, subject->marks);
    snprintf(reason, WATCH_REASON_BYTES, "one user from about %u addresses within %d min",
        addresses, WATCH_SEEN_WINDOW_MS / 60000);
    return subject->user != 0 && addresses >= judging->settings->roaming_addresses;
}

/* Spread² · 10⁴ ≤ mean² · percent², in whole numbers: n·Σx² − (Σx)² is n² times the spread². */
static bool is_regular(const struct subject *subject)
{
    __extension__ typedef unsigned __int128 wide;
    const wide sum_squared = (wide)subject->interval_sum * subject->interval_sum;
    const wide spread = (wide)subject->intervals * subject->interval_squares - sum_squared;
    return spread * 10000 <= sum_squared * (WATCH_REGULAR_PERCENT * WATCH_REGULAR_PERCENT);
}

static bool timing_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    if (subject->starts >= judging->settings->early_starts) {
        snprintf(reason, WATCH_REASON_BYTES, "bought within %u ms of the start, at %u starts",
            judging->settings->early_ms, subject->starts);
        return true;
    }
    if (subject->intervals < judging->settings->regular_count || subject->intervals == 0)
        return false;
    const uint64_t mean_ms = subject->interval_sum / subject->intervals;
    snprintf(reason, WATCH_REASON_BYTES, "asked to buy %u times, every %llu ms: too regular for a person",
        subject->intervals + 1, (unsigned long long)mean_ms);
    return mean_ms >= WATCH_REGULAR_LEAST_MS && is_regular(subject);
}

static bool unpaid_judge(
    const struct judging *judging, struct subject *subject, char reason[WATCH_REASON_BYTES])
{
    snprintf(reason, WATCH_REASON_BYTES, "won %u times within %d h without paying", subject->unpaid,
        WATCH_STARTS_MS / 3600000);
    return subject->user != 0 && subject->unpaid >= judging->settings->unpaid_wins;
}

static bool (*const judges[WATCH_RULES])(
    const struct judging *, struct subject *, char reason[WATCH_REASON_BYTES]) = {
    [WATCH_RATE] = rate_judge,
    [WATCH_FAILURES] = failures_judge,
    [WATCH_CROWD] = crowd_judge,
    [WATCH_ROAMING] = roaming_judge,
    [WATCH_TIMING] = timing_judge,
    [WATCH_UNPAID] = unpaid_judge,
};

static uint32_t subject_judge(const struct judging *judging, struct subject *subject,
    struct watch_finding *findings, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t rule = 0; rule < WATCH_RULES; rule++) {
        struct watch_finding found = { .rule = (enum watch_rule)rule,
            .user = subject->user,
            .address = subject->address,
            .bits = address_is_v4(&subject->address) ? ADDRESS_BITS : ADDRESS_GROUP_BITS };
        const bool is_new = subject->found_ms[rule] == 0
            || judging->now_ms - subject->found_ms[rule] >= WATCH_AGAIN_MS;
        if (judging->settings->modes[rule] == WATCH_OFF
            || !judges[rule](judging, subject, found.reason) || !is_new || count == max)
            continue;
        subject->found_ms[rule] = judging->now_ms;
        findings[count++] = found;
    }
    subject->too_fast = 0;
    return count;
}

uint32_t watch_book_judge(struct watch_book *book, const struct watch_settings *settings,
    uint64_t now_ms, struct watch_finding *findings, uint32_t max)
{
    uint64_t elapsed_ms = now_ms - book->judged_ms;
    if (book->judged_ms == 0 || elapsed_ms == 0)
        elapsed_ms = 1000;
    const struct judging judging = { book, settings, now_ms, elapsed_ms };
    uint32_t count = 0;
    for (uint32_t i = 0; i < book->touched_count; i++) {
        thread_give_way();
        count +=
            subject_judge(&judging, &book->subjects[book->touched[i]], findings + count, max - count);
    }
    book->touched_count = 0;
    book->judged_ms = now_ms;
    book->round++;
    return count;
}

uint32_t watch_book_seen(const struct watch_book *book)
{
    return book->minute_seen;
}

void watch_book_minute_begin(struct watch_book *book)
{
    book->minute++;
    book->minute_seen = 0;
}

void watch_book_forgive(struct watch_book *book, const struct address *address, user_id user)
{
    static const struct address nowhere;
    struct subject *subject = subject_find(book, user != 0 ? &nowhere : address, user);
    if (subject != NULL && subject->round != book->round)
        *subject = (struct subject){ .round = 0 };
    else if (subject != NULL) /* it stands in the list of those to judge */
        *subject = (struct subject){ .address = subject->address,
            .user = subject->user,
            .round = subject->round,
            .minute = subject->minute,
            .seen_ms = subject->seen_ms };
}

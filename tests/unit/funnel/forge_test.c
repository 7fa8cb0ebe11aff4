/* SPDX-License-Identifier: Apache-2.0 */
/* Forged, expired and foreign tokens in great number: none opens the door. FORGED_TOKENS=N sets how
 * many of each kind (200,000; the long form 10,000,000). The ways that need no key are bench/forge.h's,
 * the others are here: whoever has keys of another shop, of another hour or for another purpose. */
#include "bench/forge.h"

#include "base/arena.h"
#include "base/cipher.h"
#include "base/hash.h"
#include "contract/board.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "funnel/token.h"
#include "tests/unit/base/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum {
    NOW_S = 1700000000,
    LIFE_S = 300,
    ITEMS = 4,
    ITEM = 2,
    OTHER_ITEM = 3,
    REAL = 1024, /* real tokens that forgeries are made of */
    FORGED_QUICK = 200 * 1000,
    SEED = 20240601,
};

/* Ways beyond bench/forge.h. */
enum {
    WAY_OTHER_MASTER = FORGE_WAYS, /* signed, by another shop */
    WAY_OTHER_EPOCH,               /* signed by us, with the key of another hour or day */
    WAY_OTHER_PURPOSE,             /* a session as a pass, a pass as a session */
    WAY_EXPIRED,                   /* real, too late */
    WAY_LENGTH,                    /* cut, or longer */
    WAY_FOREIGN, /* a real pass of another item; a real session beside another's pass */
    WAYS,
};

static struct arena arena;
static struct board board;
static struct funnel_keys keys, others_keys;
static struct door_channels channels;
static const struct door door = { .board = &board, .keys = &keys, .channels = &channels };
static struct forge_token passes[REAL], sessions[REAL];
static struct random dice;
static uint64_t tried[WAYS];

static int open_door(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "a door's master secret, 32 bytes";
    static const char others_master[FUNNEL_MASTER_BYTES] = "the secret of some other shop...";
    static const struct span names[] = { { "web", 3 } };
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    assert_int_equal(funnel_keys_derive(&others_keys, others_master, sizeof others_master), STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    funnel_keys_turn(&others_keys, NOW_MS);
    assert_int_equal(door_channels_set(&channels, names, 1), STATUS_OK);
    assert_int_equal(arena_open(&arena, board_bytes(ITEMS, 1000)), STATUS_OK);
    board_create(&board, &arena, ITEMS, 1000);
    board.filter_key = keys.filter;
    for (item_id item = ITEM; item <= OTHER_ITEM; item++)
        board_publish(&board,
            &(struct board_update){ .item = item,
                .sale = 1,
                .start_ms = NOW_MS - 1000,
                .end_ms = NOW_MS + UINT64_C(86400) * 1000,
                .gate = GATE_SCHEDULED,
                .limit_per_user = 1,
                .counts = { .free = 10, .channel_free = { 10 } } });
    random_seed(&dice, SEED);
    memset(tried, 0, sizeof tried);
    for (uint32_t i = 0; i < REAL; i++) {
        const struct pass pass = { .user = 1000 + i, .item = ITEM, .expires_s = NOW_S + LIFE_S, .nonce = i };
        const struct session session = { .user = 1000 + i, .expires_s = NOW_S + LIFE_S, .issued_s = NOW_S };
        pass_issue(&keys, &pass, passes[i].text);
        session_issue(&keys, &session, sessions[i].text);
        passes[i].expires_at = FORGE_PASS_EXPIRES_AT;
        sessions[i].expires_at = FORGE_SESSION_EXPIRES_AT;
    }
    return 0;
}

static int close_door(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

/* What is asked at the door: texts are as long as their sizes say. */
struct visit {
    char pass[TOKEN_CHARS + 8], session[7 + TOKEN_CHARS + 8];
    size_t pass_chars, session_chars;
    bool has_session;
    uint64_t now_ms;
};

static enum door_reason visit_ask(const struct visit *visit)
{
    struct door_request in = {
        .now_ms = visit->now_ms, .item = ITEM, .pass = span_of(visit->pass, visit->pass_chars)
    };
    struct door_result out;
    if (visit->has_session)
        in.authorization = span_of(visit->session, 7 + visit->session_chars);
    return funnel_door(&door, &in, &out);
}

/* Real, of one user. */
static struct visit visit_real(uint32_t who, bool with_session)
{
    struct visit visit = { .pass_chars = TOKEN_CHARS, .now_ms = NOW_MS };
    memcpy(visit.pass, passes[who].text, TOKEN_CHARS);
    memcpy(visit.session, "Bearer ", 7);
    memcpy(visit.session + 7, sessions[who].text, TOKEN_CHARS);
    visit.session_chars = TOKEN_CHARS;
    visit.has_session = with_session;
    return visit;
}

/* Signs a token of ours with a key that is not the one of the epoch in which it expires. */
static void sign_with_another_epoch(char text[TOKEN_CHARS], const struct epoch_keys *epochs, uint32_t right)
{
    uint8_t bytes[TOKEN_BYTES];
    uint32_t index = right - epochs->first;
    invariant(index < FUNNEL_EPOCHS_HELD);
    forge_bytes(text, bytes);
    index = (index + 1 + (uint32_t)random_below(&dice, FUNNEL_EPOCHS_HELD - 1)) % FUNNEL_EPOCHS_HELD;
    const struct hash128 mac = cipher_mac_of(&epochs->keys[index], bytes);
    bytes_put_u64(bytes + TOKEN_SIGNED_BYTES, mac.low);
    bytes_put_u64(bytes + TOKEN_SIGNED_BYTES + 8, mac.high);
    base64_encode(bytes, TOKEN_BYTES, text);
}

/* Cut at every length, or one to eight characters more. */
static size_t length_other(char *text, uint64_t number)
{
    const size_t chars = number % (TOKEN_CHARS + 8);
    if (chars < TOKEN_CHARS)
        return chars;
    for (size_t i = TOKEN_CHARS; i <= chars; i++)
        text[i] = "A=_"[random_below(&dice, 3)];
    return chars + 1;
}

static void pass_forge(struct visit *visit, unsigned way, uint64_t number, uint32_t who)
{
    const uint32_t other = (uint32_t)random_below(&dice, REAL);
    struct pass pass = {
        .user = 1000 + who, .item = ITEM, .expires_s = NOW_S + LIFE_S, .nonce = (uint32_t)number
    };
    switch (way) {
    case WAY_OTHER_MASTER:
        pass_issue(&others_keys, &pass, visit->pass);
        break;
    case WAY_OTHER_EPOCH:
        sign_with_another_epoch(visit->pass, &keys.pass, (NOW_S + LIFE_S) / PASS_EPOCH_S);
        break;
    case WAY_OTHER_PURPOSE:
        memcpy(visit->pass, sessions[who].text, TOKEN_CHARS);
        break;
    case WAY_EXPIRED:
        visit->now_ms = (NOW_S + LIFE_S) * UINT64_C(1000) + random_below(&dice, UINT64_C(80000) * 1000);
        break;
    case WAY_LENGTH:
        visit->pass_chars = length_other(visit->pass, number);
        break;
    case WAY_FOREIGN:
        if (number % 2 == 0) {
            pass.item = OTHER_ITEM;
            pass_issue(&keys, &pass, visit->pass);
        } else {
            *visit = visit_real(who, true);
            memcpy(visit->pass, passes[(who + 1) % REAL].text, TOKEN_CHARS);
        }
        break;
    default:
        forge_make(&dice, (enum forge_way)way, number, &passes[who], &passes[other], visit->pass);
    }
}

static void session_forge(struct visit *visit, unsigned way, uint64_t number, uint32_t who)
{
    const uint32_t other = (uint32_t)random_below(&dice, REAL);
    char *text = visit->session + 7;
    const struct session session = {
        .user = 1000 + who, .expires_s = NOW_S + LIFE_S, .issued_s = NOW_S, .guest = number % 2 == 0
    };
    switch (way) {
    case WAY_OTHER_MASTER:
        session_issue(&others_keys, &session, text);
        break;
    case WAY_OTHER_EPOCH:
        sign_with_another_epoch(text, &keys.session, (NOW_S + LIFE_S) / SESSION_EPOCH_S);
        break;
    case WAY_OTHER_PURPOSE:
        memcpy(text, passes[who].text, TOKEN_CHARS);
        break;
    case WAY_EXPIRED: { /* beside a pass that is still good */
        const struct session over = { .user = 1000 + who,
            .expires_s = NOW_S - (uint32_t)random_below(&dice, 3600),
            .issued_s = NOW_S - 7200 };
        session_issue(&keys, &over, text);
        break;
    }
    case WAY_LENGTH:
        visit->session_chars = length_other(text, number);
        break;
    case WAY_FOREIGN:
        memcpy(text, sessions[(who + 1) % REAL].text, TOKEN_CHARS);
        break;
    default:
        forge_make(&dice, (enum forge_way)way, number, &sessions[who], &sessions[other], text);
    }
}

static uint64_t forged_wanted(void)
{
    const char *text = getenv("FORGED_TOKENS");
    return text != NULL && *text != 0 ? strtoull(text, NULL, 10) : FORGED_QUICK;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void none_opens(const char *what, bool with_session,
    void (*forge)(struct visit *, unsigned, uint64_t, uint32_t))
{
    const uint64_t count = forged_wanted();
    const double began_s = seconds_now();
    uint64_t accepted = 0, real_refused = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t who = (uint32_t)random_below(&dice, REAL);
        const unsigned way = (unsigned)(i % WAYS);
        struct visit visit = visit_real(who, with_session);
        /* The visit that is spoilt would be let in: what refuses it is what was changed. */
        real_refused += visit_ask(&visit) != DOOR_GO;
        forge(&visit, way, i / WAYS, who);
        tried[way]++;
        accepted += visit_ask(&visit) == DOOR_GO;
    }
    const double seconds = seconds_now() - began_s;
    printf("     %" PRIu64 " forged %s in %u ways, %" PRIu64
           " accepted; %.0f a second, forging included\n",
        count, what, (unsigned)WAYS, accepted, (double)count / seconds);
    assert_int_equal(accepted, 0);
    assert_int_equal(real_refused, 0);
    for (unsigned way = 0; way < WAYS && count >= WAYS; way++)
        assert_true(tried[way] > 0);
}

static void no_forged_expired_or_foreign_pass_opens_the_door(void **state)
{
    (void)state;
    none_opens("passes", false, pass_forge);
}

static void no_forged_expired_or_foreign_session_opens_the_door(void **state)
{
    (void)state;
    none_opens("sessions", true, session_forge);
}

static void every_way_without_keys_makes_something_else_than_the_real_token(void **state)
{
    (void)state;
    for (unsigned way = 0; way < FORGE_WAYS; way++) {
        char text[TOKEN_CHARS];
        assert_non_null(forge_names[way]);
        for (uint64_t number = 0; number < UINT64_C(2) * 8 * TOKEN_BYTES; number++) {
            /* The same token twice: even a splice of it is not it. */
            forge_make(&dice, (enum forge_way)way, number, &passes[0], &passes[0], text);
            assert_memory_not_equal(text, passes[0].text, TOKEN_CHARS);
        }
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)
    const struct CMUnitTest rules[] = {
        RULE(no_forged_expired_or_foreign_pass_opens_the_door),
        RULE(no_forged_expired_or_foreign_session_opens_the_door),
        RULE(every_way_without_keys_makes_something_else_than_the_real_token),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}

/* api/problems.h: every refusal that a client can get, as an RFC 9457 problem document with a
 * stable type. */
#ifndef STAMPEDE_API_PROBLEMS_H
#define STAMPEDE_API_PROBLEMS_H

#include "base/text.h"

/* name, status, title, detail */
#define PROBLEM_LIST(X) \
    X(SOLD_OUT, "sold-out", 409, "Sold out", "There are not enough units left.") \
    X(ALREADY_BOUGHT, "already-bought", 409, "Already bought", \
        "You have bought this item; see the ticket.") \
    X(LIMIT_REACHED, "limit-reached", 409, "Limit reached", "This would be more than one user may buy.") \
    X(OPEN_ORDER, "open-order", 409, "Open order", \
        "You have an order of this sale that is not paid yet; see the ticket.") \
    X(COOLING_DOWN, "cooling-down", 409, "Cooling down", \
        "You let this item go a short while ago. You can buy it again at again_ms.") \
    X(NOT_YOUR_MOMENT, "not-your-moment", 409, "Not your moment", \
        "These units are given out by a short draw. Your moment is at again_ms: ask again then.") \
    X(IN_PROGRESS, "in-progress", 409, "In progress", "Another purchase of yours is being written.") \
    X(KEY_REUSED, "key-reused", 422, "Key used before", \
        "This Idempotency-Key was used for another request.") \
    X(KEY_REQUIRED, "key-required", 400, "Key required", \
        "An Idempotency-Key is needed for an item of which one may buy several.") \
    X(BAD_KEY, "bad-key", 400, "Bad key", "Idempotency-Key must be 1 to 64 visible ASCII characters.") \
    X(NOT_SOLD_OUT, "not-sold-out", 409, "Not sold out", "There are units left: buy instead of waiting.") \
    X(WAITLIST_FULL, "waitlist-full", 409, "Waitlist full", "As many wait for this item as may.") \
    X(NOT_WAITING, "not-waiting", 404, "Not waiting", "You have no place in the waitlist of this item.") \
    X(NOT_STARTED, "not-started", 403, "Not started", "The sale has not started.") \
    X(ENDED, "ended", 410, "Ended", "The sale is over.") \
    X(PAUSED, "paused", 403, "Paused", "The sale pauses. Try again shortly.") \
    X(NOT_ELIGIBLE, "not-eligible", 403, "Not eligible", "This sale is for invited users only.") \
    X(BANNED, "banned", 403, "Banned", \
        "You are kept out of the shop for now. If that is a mistake, please ask the shop.") \
    X(NOT_YOUR_TURN, "not-your-turn", 403, "Not your turn", \
        "This sale has a waiting room, and others are before you.") \
    X(ROOM_NOT_OPEN, "room-not-open", 403, "Room not open", \
        "The waiting room of this sale is not open yet.") \
    X(NOT_IN_ROOM, "not-in-room", 404, "Not in the room", \
        "Enter the waiting room first: POST /v1/sales/{sale}/room.") \
    X(NO_ROOM, "no-room", 404, "No waiting room", "This sale has no waiting room.") \
    X(TOO_POPULAR, "too-popular", 503, "Too popular", "Too many people at once. Try again shortly.") \
    X(TOO_FAST, "too-fast", 429, "Too fast", "Too many requests. Try again shortly.") \
    X(UNAVAILABLE, "unavailable", 503, "Unavailable", \
        "Purchases can't be taken right now. Try again shortly.") \
    X(OUTCOME_UNKNOWN, "outcome-unknown", 504, "Outcome unknown", \
        "It may have been done: ask again with the same Idempotency-Key, or look first.") \
    X(SESSION_REQUIRED, "session-required", 401, "Session required", \
        "Send Authorization: Bearer with a session from POST /v1/session.") \
    X(SESSION_INVALID, "session-invalid", 401, "Session invalid", \
        "The session is not valid, or has expired.") \
    X(TOKEN_INVALID, "token-invalid", 401, "Token invalid", "The shop's token was refused.") \
    X(PASS_REQUIRED, "pass-required", 403, "Pass required", \
        "Send Stampede-Pass with a pass from POST /v1/items/{item}/pass.") \
    X(PASS_INVALID, "pass-invalid", 403, "Pass invalid", "The pass is not valid.") \
    X(PASS_EXPIRED, "pass-expired", 403, "Pass expired", "The pass has expired. Get a new one.") \
    X(PASS_FOREIGN, "pass-foreign", 403, "Foreign pass", "The pass is for another item or another user.") \
    X(PASS_SPENT, "pass-spent", 403, "Pass used", "The pass was used, and is good once. Get a new one.") \
    X(HUMAN_REQUIRED, "human-check-required", 403, "Human check required", \
        "Solve a challenge first and send its solution; see kinds and challenge.") \
    X(HUMAN_FAILED, "human-check-failed", 403, "Human check failed", \
        "The solution is wrong, too old or for something else. Get a new challenge.") \
    X(HUMAN_SPENT, "human-check-spent", 409, "Human check used", \
        "This challenge was used before. Get a new one.") \
    X(HUMAN_REFUSED, "human-check-refused", 429, "Human check refused", \
        "Too many checks failed for this user or address. Wait a minute, then try again.") \
    X(BAD_QUANTITY, "bad-quantity", 422, "Bad quantity", "quantity must be a whole number from 1 to 1000.") \
    X(BAD_CHANNEL, "bad-channel", 422, "Bad channel", "There is no such channel.") \
    X(BAD_BODY, "bad-body", 400, "Bad body", "The body is not what is expected here.") \
    X(BAD_VALUE, "bad-value", 422, "Bad value", "A value is missing or not allowed.") \
    X(BAD_QUERY, "bad-query", 400, "Bad query", \
        "A query parameter is not allowed here, or its value is wrong.") \
    X(UNKNOWN_ITEM, "unknown-item", 404, "Unknown item", "There is no such item on sale.") \
    X(UNKNOWN_SALE, "unknown-sale", 404, "Unknown sale", "There is no such sale.") \
    X(UNKNOWN_ORDER, "unknown-order", 404, "Unknown order", "You have no such order or ticket.") \
    X(ORDER_CLOSED, "order-closed", 409, "Order closed", "The order is over; see its state and reason.") \
    X(ALREADY_PAID, "already-paid", 409, "Already paid", "The order is paid.") \
    X(NOT_PAID, "not-paid", 409, "Not paid", "Only a paid order can be refunded.") \
    X(AMOUNT_MISMATCH, "amount-mismatch", 409, "Amount mismatch", \
        "Amount or currency are not the order's; nothing was changed.") \
    X(REFERENCE_USED, "reference-used", 409, "Reference used", \
        "This payment reference has paid another order.") \
    X(PAYMENT_REFUSED, "payment-refused", 502, "Payment refused", \
        "The payment provider refused this payment.") \
    X(NO_PROVIDER, "no-provider", 409, "No provider", "This shop takes no payments here.") \
    X(DETAILS_REQUIRED, "details-required", 409, "Details required", \
        "Say where it goes first: PUT /v1/orders/{order}/details.") \
    X(TOO_MANY_PAYMENTS, "too-many-payments", 409, "Too many payments", \
        "Too many attempts to pay this order.") \
    X(REFUND_NOT_ALLOWED, "refund-not-allowed", 409, "Refund not allowed", \
        "The shop does not take this order back, or not any more.") \
    X(INTENT_INVALID, "intent-invalid", 403, "Intent invalid", "The intent is not valid, or has expired.") \
    X(PAY_FIRST, "pay-first", 409, "Pay first", \
        "Units of this item are taken on payment: POST /v1/items/{item}/intent.") \
    X(SIGNATURE_INVALID, "signature-invalid", 401, "Signature invalid", \
        "The signature is wrong, missing or too old.") \
    X(NOT_FOUND, "not-found", 404, "Not found", "There is nothing here.") \
    X(METHOD, "method-not-allowed", 405, "Method not allowed", "This address does not take that method.") \
    X(MEDIA_TYPE, "media-type", 415, "Unsupported media type", "Send application/json.") \
    X(MALFORMED, "malformed-request", 400, "Malformed request", "The request is not well-formed HTTP.") \
    X(ADMIN_REQUIRED, "admin-key-required", 401, "Admin key required", \
        "Send Authorization: Bearer with an admin key.") \
    X(ADMIN_ROLE, "admin-role", 403, "Not allowed", "This key's role does not allow that.") \
    X(ORIGIN, "origin-not-allowed", 403, "Origin not allowed", \
        "Pages of this origin may not open a push connection; see cors.origins.") \
    X(UPGRADE, "upgrade-required", 426, "Upgrade required", "Connect here with WebSocket, version 13.") \
    X(CONFLICT, "conflict", 409, "Conflict", "That can't be done in the present state.") \
    X(INTERNAL, "internal", 500, "Internal error", "Something is wrong on our side; it has been logged.")

enum problem {
    PROBLEM_NONE,
#define PROBLEM_ENUM(name, type, status, title, detail) PROBLEM_##name,
    PROBLEM_LIST(PROBLEM_ENUM)
#undef PROBLEM_ENUM
        PROBLEMS,
};

struct problem_text {
    const char *type; /* without /problems/ */
    int status;
    const char *title, *detail;
};
extern const struct problem_text problem_texts[PROBLEMS];

/* problems_chinese.c. The detail for those who prefer Chinese; NULL: there is none, or the table was
 * not made yet. Any thread, once it is made. */
const char *problem_chinese(enum problem problem);
void problems_chinese_create(void); /* once, at start */

/* The first language of an Accept-Language is the one that a browser's user has chosen; further
 * ones are not looked at. */
static inline bool language_is_chinese(struct span accept_language)
{
    const char *text = accept_language.data;
    if (__builtin_expect(text == NULL, 1) || accept_language.size < 2)
        return false;
    return (text[0] | 0x20) == 'z' && (text[1] | 0x20) == 'h'
        && (accept_language.size == 2 || text[2] == '-' || text[2] == ',' || text[2] == ';');
}

/* The JSON body. `detail` NULL: the standard one. `more`: further members, beginning with a
 * comma, or empty. */
void problem_body(struct text *out, enum problem problem, const char *detail, struct span more);
/* The header that a status must have (401: how to prove who one is), with its line end; empty: none. */
struct span problem_header(enum problem problem);
/* The whole response. */
void problem_reply(struct text *out, enum problem problem, const char *detail, struct span more,
    struct span headers, bool closing);

#endif

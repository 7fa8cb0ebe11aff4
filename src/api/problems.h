/* SPDX-License-Identifier: Apache-2.0 */
/* api/problems.h: every refusal that a client can get, as an RFC 9457 problem document with a
 * stable type. */
#ifndef STAMPEDE_API_PROBLEMS_H
#define STAMPEDE_API_PROBLEMS_H

#include "base/text.h"

/* name, status, title, detail */
#define PROBLEM_LIST(X) \
    X(SOLD_OUT, "sold-out", 409, "Sold out", "There are not enough units left.") \
    X(ALREADY_BOUGHT, "already-bought", 409, "Already bought", \
        "You have already bought this item; see ticket.") \
    X(LIMIT_REACHED, "limit-reached", 409, "Limit reached", \
        "This purchase would exceed the limit per user.") \
    X(OPEN_ORDER, "open-order", 409, "Open order", \
        "You have an unpaid order in this sale; see ticket. Pay or cancel it first.") \
    X(COOLING_DOWN, "cooling-down", 409, "Cooling down", \
        "You gave this item up a short while ago. You can buy it again at again_ms.") \
    X(NOT_YOUR_MOMENT, "not-your-moment", 409, "Not your moment", \
        "A short draw decides who gets these units. Ask again at again_ms.") \
    X(IN_PROGRESS, "in-progress", 409, "In progress", \
        "Another purchase of yours is still being processed.") \
    X(KEY_REUSED, "key-reused", 422, "Key used before", \
        "This Idempotency-Key was used for another request.") \
    X(KEY_REQUIRED, "key-required", 400, "Key required", \
        "An Idempotency-Key is required, because users may buy this item more than once.") \
    X(BAD_KEY, "bad-key", 400, "Bad key", "Idempotency-Key must be 1 to 64 visible ASCII characters.") \
    X(NOT_SOLD_OUT, "not-sold-out", 409, "Not sold out", \
        "This item is not sold out: buy it instead of joining the waitlist.") \
    X(WAITLIST_FULL, "waitlist-full", 409, "Waitlist full", "The waitlist for this item is full.") \
    X(NOT_WAITING, "not-waiting", 404, "Not waiting", "You are not on the waitlist for this item.") \
    X(NOT_STARTED, "not-started", 403, "Not started", "The sale has not started yet.") \
    X(ENDED, "ended", 410, "Ended", "The sale has ended.") \
    X(PAUSED, "paused", 403, "Paused", "The sale is paused. Try again shortly.") \
    X(NOT_ELIGIBLE, "not-eligible", 403, "Not eligible", "This sale is for invited users only.") \
    X(BANNED, "banned", 403, "Banned", \
        "You are banned from this shop at the moment. If this is a mistake, contact the shop.") \
    X(NOT_YOUR_TURN, "not-your-turn", 403, "Not your turn", \
        "This sale has a waiting room, and it is not your turn yet.") \
    X(ROOM_NOT_OPEN, "room-not-open", 403, "Waiting room not open", \
        "The waiting room of this sale is not open yet.") \
    X(NOT_IN_ROOM, "not-in-room", 404, "Not in the waiting room", \
        "Enter the waiting room first: POST /v1/sales/{sale}/room.") \
    X(NO_ROOM, "no-room", 404, "No waiting room", "This sale has no waiting room.") \
    X(TOO_POPULAR, "too-popular", 503, "Too popular", \
        "Too many people are buying at once. Try again shortly.") \
    X(TOO_FAST, "too-fast", 429, "Too fast", "Too many requests. Try again shortly.") \
    X(UNAVAILABLE, "unavailable", 503, "Unavailable", \
        "Purchases are not possible right now. Try again shortly.") \
    X(OUTCOME_UNKNOWN, "outcome-unknown", 504, "Outcome unknown", \
        "The change may have been made. Repeat it with the same Idempotency-Key, or check first.") \
    X(SESSION_REQUIRED, "session-required", 401, "Session required", \
        "Send Authorization: Bearer with a session from POST /v1/session.") \
    X(SESSION_INVALID, "session-invalid", 401, "Session invalid", \
        "The session is not valid or has expired.") \
    X(TOKEN_INVALID, "token-invalid", 401, "Token invalid", "The shop's token was refused.") \
    X(PASS_REQUIRED, "pass-required", 403, "Pass required", \
        "Send Stampede-Pass with a pass from POST /v1/items/{item}/pass.") \
    X(PASS_INVALID, "pass-invalid", 403, "Pass invalid", "The pass is not valid.") \
    X(PASS_EXPIRED, "pass-expired", 403, "Pass expired", "The pass has expired. Get a new one.") \
    X(PASS_FOREIGN, "pass-foreign", 403, "Foreign pass", "The pass is for another item or another user.") \
    X(PASS_SPENT, "pass-spent", 403, "Pass used", \
        "The pass was already used; it is valid for one purchase. Get a new one.") \
    X(HUMAN_REQUIRED, "human-check-required", 403, "Human check required", \
        "Solve a challenge first and send its solution; see kinds and challenge.") \
    X(HUMAN_FAILED, "human-check-failed", 403, "Human check failed", \
        "The solution is wrong, expired, or belongs to another challenge. Get a new challenge.") \
    X(HUMAN_SPENT, "human-check-spent", 409, "Human check used", \
        "This challenge was already used. Get a new one.") \
    X(HUMAN_REFUSED, "human-check-refused", 429, "Human check refused", \
        "Too many checks failed for this user or address. Wait a minute, then try again.") \
    X(BAD_QUANTITY, "bad-quantity", 422, "Bad quantity", "quantity must be a whole number from 1 to 1000.") \
    X(BAD_CHANNEL, "bad-channel", 422, "Bad channel", "This channel does not exist.") \
    X(BAD_BODY, "bad-body", 400, "Bad body", "The body does not have the expected form.") \
    X(BAD_VALUE, "bad-value", 422, "Bad value", "A value is missing or not allowed.") \
    X(BAD_QUERY, "bad-query", 400, "Bad query", \
        "A query parameter is not allowed here, or its value is wrong.") \
    X(UNKNOWN_ITEM, "unknown-item", 404, "Unknown item", "This item does not exist or is not on sale.") \
    X(UNKNOWN_SALE, "unknown-sale", 404, "Unknown sale", "This sale does not exist.") \
    X(UNKNOWN_ORDER, "unknown-order", 404, "Unknown order", "You have no such order or ticket.") \
    X(ORDER_CLOSED, "order-closed", 409, "Order closed", "The order is closed; see state and reason.") \
    X(ALREADY_PAID, "already-paid", 409, "Already paid", "The order is already paid.") \
    X(NOT_PAID, "not-paid", 409, "Not paid", "Only a paid order can be refunded.") \
    X(ALREADY_SHIPPED, "already-shipped", 409, "Already shipped", "The order is already shipped.") \
    X(NOT_SHIPPED, "not-shipped", 409, "Not shipped", "The order is not shipped yet.") \
    X(AMOUNT_MISMATCH, "amount-mismatch", 409, "Amount mismatch", \
        "The amount or the currency differs from the order's. Nothing was changed.") \
    X(REFERENCE_USED, "reference-used", 409, "Reference used", \
        "This payment reference has already paid another order.") \
    X(PAYMENT_REFUSED, "payment-refused", 502, "Payment refused", \
        "The payment provider refused this payment.") \
    X(NO_PROVIDER, "no-provider", 409, "No provider", "This shop has no payment provider configured.") \
    X(DETAILS_REQUIRED, "details-required", 409, "Details required", \
        "Delivery details are required first: PUT /v1/orders/{order}/details.") \
    X(TOO_MANY_PAYMENTS, "too-many-payments", 409, "Too many payments", \
        "There were too many attempts to pay this order.") \
    X(REFUND_NOT_ALLOWED, "refund-not-allowed", 409, "Refund not allowed", \
        "The shop does not accept a return of this order, or no longer does.") \
    X(INTENT_INVALID, "intent-invalid", 403, "Intent invalid", "The intent is not valid or has expired.") \
    X(PAY_FIRST, "pay-first", 409, "Pay first", \
        "Units of this item are reserved when payment starts: POST /v1/items/{item}/intent.") \
    X(SIGNATURE_INVALID, "signature-invalid", 401, "Signature invalid", \
        "The signature is wrong, missing or too old.") \
    X(NOT_FOUND, "not-found", 404, "Not found", "There is no resource at this address.") \
    X(METHOD, "method-not-allowed", 405, "Method not allowed", \
        "This address does not support this method.") \
    X(MEDIA_TYPE, "media-type", 415, "Unsupported media type", "Send the body as application/json.") \
    X(MALFORMED, "malformed-request", 400, "Malformed request", "The request is not well-formed HTTP.") \
    X(ADMIN_REQUIRED, "admin-key-required", 401, "Admin key required", \
        "Send Authorization: Bearer with an admin key.") \
    X(ADMIN_ROLE, "admin-role", 403, "Not allowed", "The role of this key does not allow this.") \
    X(ORIGIN, "origin-not-allowed", 403, "Origin not allowed", \
        "Pages of this origin may not open a push connection; see cors.origins.") \
    X(UPGRADE, "upgrade-required", 426, "Upgrade required", \
        "Connect to this address with WebSocket, version 13.") \
    X(CONFLICT, "conflict", 409, "Conflict", "This is not possible in the present state.") \
    X(INTERNAL, "internal", 500, "Internal error", "The server failed; the error was logged.")

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

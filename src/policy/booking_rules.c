/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/booking_rules.h"

/* By the terms of the booking. An offer that the shop rejected is not the user's doing. */
static bool deposit_stays(const struct booking *booking)
{
    if (booking->ticket == 0)
        return booking->deposit_kept == DEPOSIT_KEPT_GIVEN_UP;
    return booking->deposit_kept != DEPOSIT_KEPT_NEVER && booking->offer_reason != REASON_REJECTED;
}

/* Of a booking that did not come to anything. */
static enum booking_step deposit_back(const struct booking *booking)
{
    if (!booking->has_deposit || booking->deposit_state == ORDER_CLOSED)
        return BOOKING_CLOSE_ENDED;
    if (booking->deposit_state == ORDER_REFUNDED)
        return BOOKING_CLOSE_REFUNDED;
    return deposit_stays(booking) ? BOOKING_CLOSE_ENDED : BOOKING_REFUND;
}

static enum booking_step due_step(const struct booking *booking, uint64_t now_ms)
{
    if (booking->deposit == 0 && now_ms >= booking->booked_ms + BOOKING_LOST_MS)
        return BOOKING_CLOSE_ENDED;
    if (booking->deposit_state == ORDER_PAID)
        return BOOKING_PUT_IN_LINE;
    if (booking->deposit_state == ORDER_REFUNDED)
        return BOOKING_CLOSE_REFUNDED;
    return booking->deposit_state == ORDER_CLOSED ? BOOKING_CLOSE_ENDED : BOOKING_WAIT;
}

enum booking_step booking_step(const struct booking *booking, uint64_t now_ms)
{
    if (booking->state == BOOKING_DUE)
        return due_step(booking, now_ms);
    if (booking->state != BOOKING_PLACED)
        return BOOKING_WAIT;
    if (booking->place_state == PLACE_BOUGHT)
        return BOOKING_CLOSE_BOUGHT;
    if (booking->place_state == PLACE_LEFT || booking->place_state == PLACE_EXPIRED)
        return deposit_back(booking);
    if (booking->deposit_state != ORDER_REFUNDED)
        return BOOKING_WAIT;
    return booking->place_state == PLACE_OFFERED ? BOOKING_CANCEL_ORDER : BOOKING_DISMISS;
}

struct command booking_deposit_command(
    const struct booking *booking, const struct item *deposit, uint64_t now_ms)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .time_ms = now_ms,
        .reserve = { .user = booking->user,
            .key = booking_key(booking->id),
            .item = deposit->id,
            .quantity = booking->quantity,
            .channel = WAITLIST_CHANNEL,
            .flags = RESERVE_OFFER,
            .window_ms = deposit->pay_window_ms } };
}

bool booking_wants_deposit(const struct booking *booking, uint64_t now_ms)
{
    return booking->state == BOOKING_DUE && booking->deposit == 0
        && now_ms < booking->booked_ms + BOOKING_LOST_MS / 2;
}

/* IN_PROGRESS: the same booking was asked for a moment ago, and that may win. */
enum deposit_answer booking_deposit_answer(enum answer answer)
{
    if (answer == ANSWER_WON || answer == ANSWER_REPEATED || answer == ANSWER_DECIDING)
        return DEPOSIT_BOUGHT;
    return answer == ANSWER_IN_PROGRESS || answer == ANSWER_UNAVAILABLE || answer == ANSWER_TOO_POPULAR
        ? DEPOSIT_AGAIN
        : DEPOSIT_REFUSED;
}

enum book_answer book_decide(enum booking_state latest, uint64_t booked, uint32_t cap)
{
    if (latest == BOOKING_DUE || latest == BOOKING_PLACED)
        return BOOK_THERE;
    return cap == 0 || booked < cap ? BOOK_DONE : BOOK_FULL;
}

bool booking_late_joins(const struct booking_late *late)
{
    const struct booking *booking = &late->booking;
    if (booking->deposit_state != ORDER_CLOSED)
        return false;
    if (booking->state == BOOKING_DUE)
        return true;
    return booking->state == BOOKING_ENDED && late->takes_bookings
        && book_decide(late->latest, late->booked, late->cap) == BOOK_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* base/planted.h: bugs planted on purpose, to prove that the tests can see them.
 * Compiled in only with -DPLANTED_BUGS (simulator builds); elsewhere planted() is the constant 0.
 * tests/simulation/ runs one bug after another and expects each to be caught. */
#ifndef STAMPEDE_BASE_PLANTED_H
#define STAMPEDE_BASE_PLANTED_H

#define PLANTED_LIST(X) \
    X(NONE, "no bug") \
    X(SELL_ONE_TOO_MANY, "sells total + 1 (public peers)") \
    X(NEVER_SELL_LAST, "result after DECR > 0: the last unit never sells (S2)") \
    X(NEGATIVE_QUANTITY, "a negative quantity adds stock (S1)") \
    X(RETURN_TWICE, "a return can run twice (S1)") \
    X(MARK_WITHOUT_UNIT, "buyer is marked although nothing was deducted (S1)") \
    X(PREHEAT_OVERWRITES, "preheating again overwrites stock (S3)") \
    X(TOLD_BEFORE_DURABLE, "won is told before the log is synced (S3)") \
    X(LIMIT_CHECK_SKIPPED, "user limit counts orders, not units") \
    X(LIMIT_FORGETS_ON_RESTART, "user counters are not in the snapshot") \
    X(WINDOW_UNCHECKED, "sale window never checked (public peers)") \
    X(END_INCLUSIVE, "sells at the end moment itself") \
    X(FLAG_HIDES_WIN, "sold-out flag hides a win from its own buyer") \
    X(FLAG_STAYS, "sold-out flag stays when stock comes back (S0)") \
    X(KEY_FORGOTTEN, "a retry with the same key buys again") \
    X(KEY_OTHER_BODY, "same key with another body is not refused") \
    X(LIST_PRICE_CHARGED, "list price charged instead of the flash price (public peers)") \
    X(SKIP_FAILED_RECORD, "queue position moves past a failed record (S1)") \
    X(POSITION_APART, "queue position is committed apart from the orders") \
    X(DUPLICATE_ORDERS, "redelivered ticket makes a second order") \
    X(UNIQUE_WITHOUT_USER, "unique key without the user (S2)") \
    X(REJECT_KEEPS_STOCK, "a refused insert doesn't give the stock back (S4)") \
    X(IGNORE_SYNC_ERROR, "goes on after a failed sync") \
    X(RETRY_SYNC, "retries a failed sync and believes it") \
    X(IGNORE_CRC, "recovery does not check checksums") \
    X(TORN_TAIL_NOT_ZEROED, "torn tail is left behind the new end") \
    X(SNAPSHOT_EARLY, "snapshot names a position that it does not hold yet") \
    X(RESET_ALL_ITEMS, "stock of all items is reset when one runs out (public peers)") \
    X(ADJUST_BELOW_ZERO, "removing stock takes more than is free") \
    X(TICKET_REUSED, "ticket numbers start again after a restart") \
    X(CLOCK_BACKWARDS, "time in the log may run backwards after a restart") \
    X(PAID_ORDER_CLOSED, "the timer closes a paid order (public peers)") \
    X(CLOSE_WITHOUT_RETURN, "a closed order keeps its units") \
    X(RETURN_WITHOUT_CLOSE, "units come back while the order can still be paid") \
    X(EXPIRE_EARLY, "an order is closed before its time to pay is over") \
    X(PAY_WITHOUT_AMOUNT_CHECK, "any amount pays an order (public peers)") \
    X(MARK_NOT_FREED, "the unit comes back, but its buyer may not buy again") \
    X(CLOSE_WITH_OPEN_PAYMENT, "an order is closed while a payment of it is under way") \
    X(LATE_MONEY_REOPENS, "late money pays an order that was closed") \
    X(LATE_MONEY_KEPT, "losing the pay/cancel race only logs: no unit, no refund (S2)") \
    X(DOUBLE_MONEY_KEPT, "an order that is paid twice keeps both") \
    X(REFUND_TWICE, "news told again refund again") \
    X(REFUND_LOST, "a refund that fails once is never asked for again") \
    X(CALLBACK_AMOUNT_UNCHECKED, "a callback with any amount pays the order (public peers)") \
    X(CLOSED_NEWS_WIN, "news that come late undo a capture") \
    X(UNANSWERED_FORGOTTEN, "a payment closed while its provider was away is never asked about again") \
    X(SECOND_PAYMENT_LEFT_OPEN, "an order is paid, and its other payment can still be") \
    X(WAITER_OVER_LIMIT, "an offer to a waiter does not count toward the limit") \
    X(WAITER_SKIPS_LINE, "a later waiter is served before an earlier one that fits") \
    X(OPEN_ORDER_UNCHECKED, "a second unpaid order where one is allowed") \
    X(COOLDOWN_IGNORED, "who lets an item go takes it again at once") \
    X(COOLDOWN_FORGOTTEN, "a cool-down ends with a restart") \
    X(REJECTED_COOLS_DOWN, "a rejected order counts as let go") \
    X(DRAW_IGNORED, "drawn units go to whoever asks first") \
    X(REPEAT_WINS, "who asks for an old answer can win anew") \
    X(HOLD_WITHOUT_END, "every start of a payment makes the time to pay longer") \
    X(PLACE_FORGOTTEN, "places in the waiting room are not in the snapshot") \
    X(ADMIN_KEY_FORGOTTEN, "an admin command that is repeated with its key is done twice") \
    X(AUDIT_APART, "the audit row of a command is not written with it") \
    X(RECLAIM_HELD, "reclaiming forgets tickets that are still held") \
    X(RECLAIM_RUNNING_SALE, "reclaiming forgets keys while their sale runs") \
    X(NUMBER_REPEATS, "a reclaimed row gives its old number again") \
    X(DRAW_TWICE, "whoever came since takes part in a second draw") \
    X(IDS_REPEAT_AFTER_RESTORE, "after a restore, numbers that were given before are given again")

#define PLANTED_ENUM(name, what) PLANTED_##name,
enum planted_bug { PLANTED_LIST(PLANTED_ENUM) PLANTED_COUNT };
#undef PLANTED_ENUM

#ifdef PLANTED_BUGS
extern enum planted_bug planted_now; /* defined by the simulator */
#define planted(name) (planted_now == PLANTED_##name)
#else
#define planted(name) 0
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two commands ask for the same. */
#include "tests/simulation/model.h"

#include <string.h>

static bool preheat_same(const struct command_preheat *a, const struct command_preheat *b)
{
    return a->item == b->item && a->sale == b->sale && a->unit_price == b->unit_price
        && a->limit_per_user == b->limit_per_user && a->pay_window_ms == b->pay_window_ms
        && a->total == b->total && a->locked == b->locked && a->sold_before == b->sold_before
        && a->safety == b->safety && a->change == b->change
        && memcmp(a->channel_units, b->channel_units, sizeof a->channel_units) == 0
        && memcmp(a->currency, b->currency, sizeof a->currency) == 0;
}

bool model_same_wish(const struct command *a, const struct command *b)
{
    if (a->type != b->type)
        return false;
    if (command_has_origin(a->type)
        && (a->origin.key != b->origin.key || a->origin.request != b->origin.request
            || strcmp(a->origin.actor, b->origin.actor) != 0))
        return false;
    switch ((enum command_type)a->type) {
    case COMMAND_RESERVE:
        return a->reserve.user == b->reserve.user && a->reserve.key == b->reserve.key
            && a->reserve.item == b->reserve.item && a->reserve.quantity == b->reserve.quantity
            && a->reserve.channel == b->reserve.channel && a->reserve.flags == b->reserve.flags
            && a->reserve.window_ms == b->reserve.window_ms;
    case COMMAND_SETTLE:
        return a->settle.ticket == b->settle.ticket && a->settle.step == b->settle.step
            && a->settle.to == b->settle.to && a->settle.let_go == b->settle.let_go
            && a->settle.waiter_count == b->settle.waiter_count
            && (a->settle.waiter_window_ms == b->settle.waiter_window_ms || a->settle.waiter_count == 0)
            && memcmp(a->settle.waiters, b->settle.waiters,
                   a->settle.waiter_count * sizeof a->settle.waiters[0])
            == 0;
    case COMMAND_SALE:
        return a->sale.sale == b->sale.sale && a->sale.limit_per_user == b->sale.limit_per_user
            && a->sale.start_ms == b->sale.start_ms && a->sale.end_ms == b->sale.end_ms
            && a->sale.eligible_only == b->sale.eligible_only
            && a->sale.one_open_order == b->sale.one_open_order
            && a->sale.cooldown_s == b->sale.cooldown_s && a->sale.return_draw_ms == b->sale.return_draw_ms
            && a->sale.start_draw_ms == b->sale.start_draw_ms;
    case COMMAND_PREHEAT:
        return preheat_same(&a->preheat, &b->preheat);
    case COMMAND_GATE:
        return a->gate.sale == b->gate.sale && a->gate.move == b->gate.move;
    case COMMAND_USERS:
        return a->users.sale == b->users.sale && a->users.count == b->users.count
            && a->users.remove == b->users.remove
            && memcmp(a->users.users, b->users.users, a->users.count * sizeof a->users.users[0]) == 0;
    case COMMAND_ADJUST:
        return a->adjust.item == b->adjust.item && a->adjust.channel == b->adjust.channel
            && a->adjust.delta == b->adjust.delta && a->adjust.gone == b->adjust.gone;
    case COMMAND_MOVE:
        return a->move.item == b->move.item && a->move.from == b->move.from
            && a->move.to == b->move.to && a->move.quantity == b->move.quantity;
    case COMMAND_ARRIVE:
        return a->arrive.sale == b->arrive.sale && a->arrive.user == b->arrive.user;
    case COMMAND_ADMIT:
        return a->admit.sale == b->admit.sale && a->admit.head == b->admit.head;
    case COMMAND_RECLAIM:
        return a->reclaim.before_ms == b->reclaim.before_ms && a->reclaim.from == b->reclaim.from
            && a->reclaim.rows == b->reclaim.rows;
    case COMMAND_NONE:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
    case COMMAND_ASK_SPEND:
    case COMMAND_GIVE:
    case COMMAND_TAKE:
    case COMMAND_ARCHIVE: /* of long after, and these of restores: not in the simulator */
    case COMMAND_SKIP:
        break;
    }
    return false;
}

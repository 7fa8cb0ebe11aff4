/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/channel_returns.h"

#include "base/log.h"
#include "contract/board.h"
#include "contract/command.h"
#include "contract/order_store.h"
#include "worker/errands.h"

bool channel_return_is_due(const struct item *item, const struct sale *sale, uint64_t now_ms)
{
    return item->channel_return_ms != 0 && item->preheated && sale->gate != GATE_ENDED
        && now_ms >= sale->start_ms + item->channel_return_ms && now_ms < sale->end_ms;
}

void channel_units_return(
    struct errands *errands, const struct board *board, uint32_t channels, item_id item)
{
    struct board_update view;
    if (!board_read(board, item, &view))
        return;
    for (uint32_t channel = 1; channel < channels; channel++) {
        struct outcome outcome = { 0 };
        const struct command command = { .type = COMMAND_MOVE,
            .move = { .item = item,
                .from = (channel_index)channel,
                .to = 0,
                .quantity = view.counts.channel_free[channel] } };
        if (command.move.quantity == 0)
            continue;
        if (errands_ask(errands, &command, &outcome) != STATUS_OK)
            return; /* the next look tries again */
        if (outcome.applied > 0)
            log_info("channels", "item %u: %d units of channel %u went back to web: its time is over",
                item, outcome.applied, channel);
    }
}

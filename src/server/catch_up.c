/* SPDX-License-Identifier: Apache-2.0 */
#include "server/catch_up.h"

#include "base/clock.h"
#include "orders/order_writer.h"

#include <poll.h>

enum { PAUSE_MS_MAX = 100 };

enum status catch_up_run(struct catch_up *done, struct ticket_queue *queue, struct order_store *store)
{
    struct arena arena = { 0 };
    struct order_writer_progress progress = { .lag = 1 };
    *done = (struct catch_up){ 0 };
    enum status status = arena_open(&arena, order_writer_bytes(0) + 4096);
    if (status != STATUS_OK) {
        done->trouble = "no memory";
        return status;
    }
    struct order_writer *writer =
        order_writer_create(&arena, &(struct order_writer_config){ .queue = queue, .store = store });
    status = order_writer_start(writer);
    while (status == STATUS_OK && progress.lag > 0) {
        status = order_writer_turn(writer, clock_now_ms(), &progress);
        done->records += progress.records;
        done->dead += progress.dead;
        if (progress.state == ORDER_WRITER_AWAY)
            status = STATUS_AWAY;
        poll(NULL, 0, (int)(progress.wait_ms < PAUSE_MS_MAX ? progress.wait_ms : PAUSE_MS_MAX));
    }
    done->trouble = progress.trouble;
    arena_close(&arena);
    return status;
}

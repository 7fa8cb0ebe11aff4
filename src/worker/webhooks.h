/* SPDX-License-Identifier: Apache-2.0 */
/* worker/webhooks.h: tells the shop what became of its orders. The outbox (contract/outbox.h) goes
 * out: what is due is read, written as JSON, signed (outgoing/webhook.h) and handed to the courier;
 * what came of it is written back, all answers of a turn in one transaction. A crash in between
 * sends a message again, under the same id: at least once, never lost.
 *
 * The message shows the order as it was by that change: the row has state and version, and the rest
 * of an order does not change, but for pay_by_ms when a payment is started.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_WEBHOOKS_H
#define STAMPEDE_WORKER_WEBHOOKS_H

#include "base/status.h"
#include "contract/types.h"
#include "outgoing/webhook.h"

struct arena;
struct config;
struct funnel_keys;
struct order_store;
struct order_views;
struct outbox_event;
struct outgoing_calls;
struct task;

struct webhooks;
struct webhooks_config {
    const struct config *config; /* webhook.* */
    struct order_store *store;
    const struct order_views *views;
    struct outgoing_calls *calls;
    struct purchase_traces *traces; /* NULL: none is followed */
};
/* `error`: CONFIG_ERROR bytes. */
MUST_CHECK enum status webhooks_open(struct webhooks **webhooks, struct arena *arena,
    const struct webhooks_config *config, struct task *task, char *error);
void webhooks_look(struct webhooks *webhooks);          /* something may be due */
bool webhooks_enabled(const struct webhooks *webhooks); /* webhook.url is set */

/* An endpoint as settings name it; `section`: how they begin, for messages. */
struct webhook_settings {
    const char *section, *url, *secret_file;
    bool allow_private;
};
MUST_CHECK enum status webhook_endpoint_open(
    struct webhook_endpoint *endpoint, const struct webhook_settings *settings, char *error);

/* "order.paid". An order that was offered to somebody who waited begins with "order.offered". */
MUST_CHECK enum status webhook_event_name(
    struct order_store *store, const struct outbox_event *event, const char **name);
void webhook_event_id(const struct funnel_keys *keys, ticket_number ticket, uint64_t version,
    char out[WEBHOOK_ID_MAX]);

#endif

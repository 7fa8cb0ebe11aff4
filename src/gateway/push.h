/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/push.h: GET /v1/push: a websocket on which a user hears of their orders and of items that
 * they watch. The same texts as polling gives; docs/push.md has the messages.
 *
 * The worker's notes say whose order has changed. For a socket of that user, the order is read by a job
 * at the worker, as for a poll, and sent. Jobs come back in the order in which they read, so a socket
 * never hears of an older version after a newer one. Changes that come while a job is under way end in
 * one more job. Everything is bounded: sockets of a user, sockets of an edge, jobs at the worker, bytes
 * that wait for a slow reader; the rest stands in line or is cut.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_PUSH_H
#define STAMPEDE_GATEWAY_PUSH_H

#include "contract/types.h"
#include "edge/edge.h"

struct arena;
struct push;
struct routes;
struct exchange;
struct job;
struct push_watch;
struct session;

size_t push_bytes(uint64_t connections);
struct push *push_create(struct arena *arena, uint64_t connections); /* server.connections_max */

enum edge_verdict push_request(struct exchange *exchange); /* push_request.c */
bool push_is_full(const struct routes *routes);
/* The connection of this exchange becomes a push connection. `room`: the sale whose waiting room it follows;
 * 0: none. */
void push_add(struct exchange *exchange, const struct session *session,
    const struct push_watch *watch, sale_id room);
/* `id`: the edge's name of the socket. */
void push_message(struct routes *routes, uint64_t id, struct span text);
void push_gone(struct routes *routes, uint64_t id, enum edge_socket_end end);
void push_note(struct routes *routes, ticket_number ticket, user_id user); /* ticket 0: many */
void push_job_returned(struct routes *routes, const struct job *job);
/* True: sockets are still to be told, in the next turn. */
bool push_turn(struct routes *routes, uint64_t now_ms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/admin_gate.h: requests of operators. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ADMIN_GATE_H
#define STAMPEDE_GATEWAY_ADMIN_GATE_H

#include "contract/types.h"
#include "edge/edge.h"

struct address;
struct admin_key;
struct exchange;
struct reply_to;
struct routes;

const struct admin_key *admin_key_shown(struct exchange *exchange); /* NULL: refused, and told so */
const struct admin_key *channel_key_shown(struct exchange *exchange); /* likewise: a key of a channel */
bool admin_must_wait(struct exchange *exchange); /* true: told so; wrong keys came from this address */
/* `shown`: a key or token that is wrong, in contrast to none. */
enum edge_verdict admin_refuse(struct exchange *exchange, bool shown);
/* The same for a password that turned out wrong later (password_checks.h). */
void admin_refuse_later(struct routes *routes, const struct reply_to *to, const struct address *client);
enum edge_verdict admin_wait(struct exchange *exchange, uint32_t wait_ms); /* wrong ones came before */
enum edge_verdict admin_busy(struct exchange *exchange); /* too many passwords wait to be checked */
/* Where the request of who has shown a key goes. */
struct keyed_place {
    uint8_t share; /* enum job_share */
    user_id whose; /* within the share, where it is bounded for each; 0: nobody's */
    channel_index channel;
};
enum edge_verdict keyed_hand_in(struct exchange *exchange, struct span path,
    const struct admin_key *key, const struct keyed_place *place);
enum edge_verdict admin_request(struct exchange *exchange, struct span path); /* the path is under /admin */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/waiting_room.h: the waiting room, as users see it. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_WAITING_ROOM_H
#define STAMPEDE_GATEWAY_WAITING_ROOM_H

#include "contract/types.h"
#include "edge/edge.h"

struct catalog_sale;
struct exchange;
struct room_standing;
struct routes;

enum edge_verdict room_request(struct exchange *exchange, sale_id id); /* POST enters, GET looks */
enum edge_verdict room_draw_request(struct exchange *exchange, sale_id id, bool arrivals);
/* Members of a JSON object: the sale, and where somebody stands. */
void room_standing_members(struct routes *routes, const struct catalog_sale *sale,
    const struct room_standing *standing, struct text *out);
/* Whether the user may have passes of this sale; false: refused, and told so. */
bool room_lets_in(struct exchange *exchange, const struct catalog_sale *sale, user_id user);
bool room_has_admitted(struct routes *routes, const struct catalog_sale *sale, user_id user);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/media_upload.h: product pictures for everybody. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_MEDIA_UPLOAD_H
#define STAMPEDE_GATEWAY_MEDIA_UPLOAD_H

#include "edge/edge.h"

struct exchange;

enum edge_verdict media_request(struct exchange *exchange, struct span name); /* what follows /media/ */

#endif

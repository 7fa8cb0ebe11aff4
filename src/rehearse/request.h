/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/request.h: the bytes of a visitor's next request. Each visitor has an address of its own,
 * which the rehearsal server believes from X-Forwarded-For: so 100,000 of them share some hundred
 * connections, as behind a proxy. Pure. */
#ifndef STAMPEDE_REHEARSE_REQUEST_H
#define STAMPEDE_REHEARSE_REQUEST_H

#include "base/text.h"
#include "rehearse/plan.h"

enum { REQUEST_BYTES_MAX = 4096 };

struct request_place {
    const char *host;         /* as in the URL, with its port */
    const char *measure_path; /* of VISITOR_MEASURE */
};

/* `visitors`: all of them, for those who show somebody else's session. False: it does not fit. */
MUST_CHECK bool request_write(const struct request_place *place, const struct sale_facts *facts,
    const struct visitor *visitors, uint32_t number, struct text *out);

#endif

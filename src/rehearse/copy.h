/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/copy.h: a copy of a sale: read from the shop's server, made on the rehearsal server. Errors:
 * said on the sessions' `errors`. Thread: one. */
#ifndef STAMPEDE_REHEARSE_COPY_H
#define STAMPEDE_REHEARSE_COPY_H

#include "base/text.h"
#include "cli/admin_session.h"
#include "rehearse/plan.h"

enum { COPY_NOTES_MAX = 6, COPY_NOTE_BYTES = 160 };

/* What is to be played, as JSON bodies of the admin API. */
struct copy {
    json_t *sale;  /* without times */
    json_t *items; /* each with `product` (a name) */
    uint32_t note_count;
    char notes[COPY_NOTES_MAX][COPY_NOTE_BYTES]; /* what differs from the shop's sale */
};

/* The worked case: 1,000 units, 100,000 users, a human check, an early drop of 90 %, 1,000 purchases a
 * second. */
MUST_CHECK bool copy_example(struct copy *copy);
MUST_CHECK bool copy_read(struct copy *copy, struct admin_session *shop, uint32_t sale);
/* "section.key=value" lines of the shop's settings; none if the key may not read them, with a note. */
void copy_settings_read(struct copy *copy, struct admin_session *shop, struct text *out);
/* Makes and publishes it; it opens in `lead_ms` and stays open for `length_ms`. Fills sale, items,
 * units and what visitors know of it; start_ns is left to the caller, *start_ms is the server's. */
MUST_CHECK bool copy_make(const struct copy *copy, struct admin_session *server, uint64_t now_ms,
    uint64_t lead_ms, uint64_t length_ms, struct sale_facts *facts);
void copy_free(struct copy *copy);

/* Members of the copied sale. */
uint32_t copy_number(const struct copy *copy, const char *member);
bool copy_flag(const struct copy *copy, const char *member);
const char *copy_text(const struct copy *copy, const char *member); /* "": there is none */

#endif

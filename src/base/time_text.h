/* SPDX-License-Identifier: Apache-2.0 */
/* base/time_text.h: moments as people write them, for `verify` and `admin`. */
#ifndef STAMPEDE_BASE_TIME_TEXT_H
#define STAMPEDE_BASE_TIME_TEXT_H

#include "base/span.h"

enum { TIME_TEXT_BYTES = 64 };

/* Milliseconds since 1970, or ISO 8601 (2026-11-11T12:00:00Z or +08:00; without either it is the local
 * time of this machine; the seconds may be left out or have up to three digits more), or, where now_ms
 * is not 0, from now on: +250ms, +30s, +10m, +2h, +1d.
 * STATUS_BAD_INPUT: none of these; *ms is then unchanged. */
MUST_CHECK enum status time_text_parse(struct span text, uint64_t now_ms, uint64_t *ms);
/* ISO 8601 with milliseconds. */
void time_text_format(uint64_t ms, char out[TIME_TEXT_BYTES]);
/* The same in the local time of this machine, with its offset. */
void time_text_format_local(uint64_t ms, char out[TIME_TEXT_BYTES]);

#endif

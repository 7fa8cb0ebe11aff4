/* SPDX-License-Identifier: Apache-2.0 */
/* base/traceparent.h: the header of W3C Trace Context, level 1: "00-<trace>-<parent>-<flags>". Read strictly:
 * version 00, lower-case digits, neither id all zeros, nothing after it. Thread: any. */
#ifndef STAMPEDE_BASE_TRACEPARENT_H
#define STAMPEDE_BASE_TRACEPARENT_H

#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_BYTES = 16, TRACE_SPAN_BYTES = 8, TRACEPARENT_CHARS = 55 };

struct trace_context {
    uint8_t trace[TRACE_BYTES];
    uint8_t parent[TRACE_SPAN_BYTES];
    bool sampled;
};

bool traceparent_read(struct span text, struct trace_context *context); /* false: not well-formed */
void traceparent_write(const struct trace_context *context, char out[TRACEPARENT_CHARS + 1]);

#endif

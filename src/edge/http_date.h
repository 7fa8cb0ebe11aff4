/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_date.h: the Date header's value (RFC 9110 §6.6.1), made once a second per thread.
 * Thread: each has its own; http_date_turn once per loop turn, http_date from anywhere on that
 * thread. */
#ifndef STAMPEDE_EDGE_HTTP_DATE_H
#define STAMPEDE_EDGE_HTTP_DATE_H

#include <stdint.h>

enum { HTTP_DATE_CHARS = 29 };

void http_date_turn(uint64_t now_ms);
const char *http_date(void);     /* HTTP_DATE_CHARS characters, no NUL needed */
uint64_t http_date_second(void); /* another one: the date may have changed */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* payment/beijing_time.h: moments as Alipay and WeChat Pay write them: UTC+8, all year round. */
#ifndef STAMPEDE_PAYMENT_BEIJING_TIME_H
#define STAMPEDE_PAYMENT_BEIJING_TIME_H

#include "base/span.h"

enum { BEIJING_TIME_CHARS = 19 };

/* "2026-11-11 20:00:00" */
void beijing_time_write(uint64_t ms, char out[BEIJING_TIME_CHARS + 1]);
/* Exactly that form, from 1970 to 9999. STATUS_BAD_INPUT: anything else. */
MUST_CHECK enum status beijing_time_read(struct span text, uint64_t *seconds);

#endif

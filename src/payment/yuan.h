/* SPDX-License-Identifier: Apache-2.0 */
/* payment/yuan.h: amounts as Alipay writes them, yuan with two decimals; inside they are fen. Pure. */
#ifndef STAMPEDE_PAYMENT_YUAN_H
#define STAMPEDE_PAYMENT_YUAN_H

#include "base/text.h"

void yuan_write(struct text *text, uint64_t fen); /* with quotes */
/* "88", "88.8" and "88.80"; false: anything else, or too much for 64 bits. */
MUST_CHECK bool yuan_read(struct span text, uint64_t *fen);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* payment/alipay.h: Alipay's open platform, API 1.0 with RSA2 signatures (docs/payments.md). */
#ifndef STAMPEDE_PAYMENT_ALIPAY_H
#define STAMPEDE_PAYMENT_ALIPAY_H

#include "payment/provider.h"

extern const struct provider_ops alipay_provider;

#endif

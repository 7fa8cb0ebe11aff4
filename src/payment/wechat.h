/* SPDX-License-Identifier: Apache-2.0 */
/* payment/wechat.h: WeChat Pay, API v3 (docs/payments.md). */
#ifndef STAMPEDE_PAYMENT_WECHAT_H
#define STAMPEDE_PAYMENT_WECHAT_H

#include "payment/provider.h"

extern const struct provider_ops wechat_provider;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/alipay.h"
#include "payment/provider.h"
#include "payment/sandbox.h"
#include "payment/stripe.h"
#include "payment/wechat.h"

const struct provider_ops *const provider_table[] = {
    &alipay_provider,
    &wechat_provider,
    &stripe_provider,
    &sandbox_provider,
    NULL,
};

const struct provider_ops *provider_find(const char *name)
{
    for (const struct provider_ops *const *at = provider_table; *at != NULL; at++) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/test_mode.h"

#include "base/address.h"
#include "payment/sandbox.h"

#include <string.h>

bool test_mode_on(const struct config *config)
{
    struct span list = span_from_string(config->providers), name;
    while (span_take_until(&list, ',', &name)) {
        if (span_equal(name, span_from_string(sandbox_provider.name)))
            return true;
    }
    return false;
}

static bool is_loopback(struct span text)
{
    static const struct address one = { .bytes = { [15] = 1 } };
    struct address address;
    if (span_equal(text, SPAN("localhost")))
        return true;
    if (address_parse(text, &address) != STATUS_OK)
        return false;
    return address_equal(&address, &one) || (address_is_v4(&address) && address.bytes[12] == 127);
}

/* "http://[::1]:8080/shop" → "::1" */
static struct span host_of(const char *url)
{
    const char *host = strstr(url, "://");
    if (host == NULL)
        return SPAN_NONE;
    host += 3;
    if (host[0] == '[')
        return span_of(host + 1, strcspn(host + 1, "]/"));
    return span_of(host, strcspn(host, ":/"));
}

/* A gateway has no bank of its own; and whoever pays must find the one that the workers ask. */
static bool bank_is_missing(const struct config *config)
{
    size_t at = 0, setting = 0;
    while (provider_table[at] != &sandbox_provider)
        at++;
    while (strcmp(sandbox_provider.settings[setting].name, "base") != 0)
        setting++;
    return strcmp(config->cluster_role, "gateway") == 0 && config->provider_values[at][setting][0] == 0;
}

const char *test_mode_wrong(const struct config *config)
{
    if (!test_mode_on(config))
        return NULL;
    if (bank_is_missing(config))
        return "sandbox.base must be set on a gateway that takes payments in the sandbox: the "
               "address of the worker whose bank all processes ask";
    if (!span_equal(span_from_string(config->providers), span_from_string(sandbox_provider.name)))
        return "payment.providers: the sandbox moves no real money and can't be used beside "
               "another "
               "provider; remove sandbox, or all others";
    const bool local = is_loopback(span_from_string(config->address))
        && (config->public_url[0] == 0 || is_loopback(host_of(config->public_url)));
    if (local || config->sandbox_allow_public)
        return NULL;
    return "payment.providers: with the sandbox anybody pays without money, and this server can "
           "be reached from other machines; for a rehearsal set sandbox.allow_public = yes, "
           "otherwise use another provider";
}

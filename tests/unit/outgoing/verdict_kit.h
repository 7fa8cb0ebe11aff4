/* SPDX-License-Identifier: Apache-2.0 */
/* A call as the courier would give it, and an answer as the service would. */
#ifndef STAMPEDE_TESTS_UNIT_OUTGOING_VERDICT_KIT_H
#define STAMPEDE_TESTS_UNIT_OUTGOING_VERDICT_KIT_H

#include "outgoing/verdict.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static struct outgoing_call call;
static const struct verdict_account account = {
    .site_key = "site.key-1", .secret = "s3cret/+", .url = "https://verify.example/v", .timeout_ms = 700
};

static inline void call_fresh(void)
{
    memset(&call, 0, sizeof call);
}

static inline void body_is(const char *wanted)
{
    assert_int_equal(call.body_size, strlen(wanted));
    assert_memory_equal(call.body, wanted, call.body_size);
    assert_string_equal(call.method, "POST");
    assert_int_equal(call.timeout_ms, 700);
    assert_string_equal(call.headers, "Content-Type: application/x-www-form-urlencoded\n");
}

static inline enum verdict said(const struct verdict_ops *ops, int status, const char *reply)
{
    call_fresh();
    call.result = OUTGOING_ANSWERED;
    call.status = status;
    call.reply_size = (uint32_t)snprintf(call.reply, sizeof call.reply, "%s", reply);
    return ops->read(&call, ops->name);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/broker_memory_test.c: the broker that other tests hold in their hands keeps the rules, too. */
#include "tests/seam/broker_suite.h"
#include "tests/unit/queue/memory_broker.h"

static struct broker *made_open(void)
{
    return &memory_broker_open()->broker;
}

static void made_fail(struct broker *broker)
{
    memory_broker_fail((struct memory_broker *)broker);
}

int main(void)
{
    const struct broker_suite_maker maker = { .name = "memory", .open = made_open, .refuse = made_fail };
    return broker_suite_run(&maker);
}

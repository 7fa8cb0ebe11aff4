/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ID_A "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"
#define ID_B "bbbbbbbbbbccccccccccddddddddddeeeeeeeeee"
#define VERSION "redis_version:7.0.15\r\n"
#define RUN_ID "run_id:" ID_A "\r\n"
#define PROCESS "process_id:123\r\n"
#define POLICY "maxmemory_policy:noeviction\r\n"
#define ROLE "role:master\r\n"
#define REPLID "master_replid:" ID_B "\r\n"
#define CLUSTER "cluster_enabled:1\r\n"

static void a_server_tells_what_it_is(void **state)
{
    (void)state;
    struct redis_info info = { .asked_ms = 5 };
    const struct span text =
        SPAN("# Server\r\n" VERSION "redis_mode:x\r\n" PROCESS RUN_ID "\r\n# Memory\r\n"
             "maxmemory:0\r\n" POLICY ROLE "master_replid2:0\r\n" REPLID CLUSTER);
    assert_int_equal(redis_info_read(text, &info), STATUS_OK);
    assert_int_equal(info.version[0], 7);
    assert_int_equal(info.version[1], 0);
    assert_int_equal(info.version[2], 15);
    assert_string_equal(info.run_id, ID_A);
    assert_string_equal(info.replid, ID_B);
    assert_string_equal(info.policy, "noeviction");
    assert_int_equal(info.process_id, 123);
    assert_true(info.master);
    assert_true(info.cluster);
    assert_int_equal(info.asked_ms, 5);
    assert_int_equal(
        redis_info_read_again(SPAN("role:slave\r\nmaster_replid:" ID_A "\r\n"), &info), STATUS_OK);
    assert_false(info.master);
    assert_string_equal(info.replid, ID_A);
    assert_string_equal(info.policy, "noeviction");
}

static void a_missing_or_strange_field_refuses_all(void **state)
{
    (void)state;
    const char *bad[] = {
        "",
        RUN_ID PROCESS POLICY ROLE REPLID CLUSTER,
        VERSION PROCESS POLICY ROLE REPLID CLUSTER,
        VERSION RUN_ID POLICY ROLE REPLID CLUSTER,
        VERSION RUN_ID PROCESS ROLE REPLID CLUSTER,
        VERSION RUN_ID PROCESS POLICY REPLID CLUSTER,
        VERSION RUN_ID PROCESS POLICY ROLE CLUSTER,
        VERSION RUN_ID PROCESS POLICY ROLE REPLID,
        VERSION RUN_ID PROCESS POLICY "role:king\r\n" REPLID CLUSTER,
        VERSION RUN_ID PROCESS POLICY ROLE "master_replid:" ID_B "x\r\n" CLUSTER,
        VERSION RUN_ID PROCESS POLICY ROLE "master_replid:short\r\n" CLUSTER,
        VERSION RUN_ID PROCESS POLICY ROLE REPLID "cluster_enabled:2\r\n",
        "redis_version:7\r\n" RUN_ID PROCESS POLICY ROLE REPLID CLUSTER,
        "redis_version:7.x.1\r\n" RUN_ID PROCESS POLICY ROLE REPLID CLUSTER,
        VERSION RUN_ID PROCESS "maxmemory_policy:a-policy-with-a-name-of-32-chars\r\n" ROLE REPLID CLUSTER,
    };
    struct redis_info info = { .process_id = 77 };
    assert_int_equal(
        redis_info_read(SPAN(VERSION RUN_ID PROCESS POLICY ROLE REPLID CLUSTER), &info), STATUS_OK);
    const struct redis_info before = info;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(redis_info_read(span_from_string(bad[i]), &info), STATUS_BAD_INPUT);
        assert_memory_equal(&info, &before, sizeof info);
    }
    assert_int_equal(redis_info_read_again(SPAN(ROLE), &info), STATUS_BAD_INPUT);
    assert_memory_equal(&info, &before, sizeof info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_tells_what_it_is),
        cmocka_unit_test(a_missing_or_strange_field_refuses_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

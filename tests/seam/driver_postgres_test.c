/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_postgres_test.c: the driver suite against PostgreSQL. tools/with-postgres brings the server. */
#include "store/postgres/postgres.h"
#include "tests/seam/driver_suite.h"
#include "tests/seam/driver_suite_parts.h"

#include <stdio.h>
#include <stdlib.h>

static const char *url;

static enum status open_another(struct connection **connection)
{
    char error[512] = "";
    const enum status status = postgres_connect(connection, url, NULL, error, sizeof error);
    if (status != STATUS_OK)
        print_error("%s\n", error);
    return status;
}

static void cut(struct connection *victim)
{
    struct connection *killer = NULL;
    assert_int_equal(open_another(&killer), STATUS_OK);
    const int64_t process = suite_number(victim, "SELECT pg_backend_pid()", NONE_GIVEN);
    assert_int_equal(
        suite_number(killer, "SELECT pg_terminate_backend(?1::int, 20000)", GIVEN(NUMBER(process))), 1);
    suite_close(killer);
}

int main(void)
{
    url = getenv("STAMPEDE_TEST_POSTGRES");
    if (url == NULL) {
        puts("skipped: no PostgreSQL (run it by tools/with-postgres)");
        return 77;
    }
    const struct driver_world world = { .name = "postgres",
        .open = open_another,
        .cut = cut,
        .has_row_locks = true,
        .knows_the_key = true,
        .limits_text = true };
    return driver_suite_run(&world);
}

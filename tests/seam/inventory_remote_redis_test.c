/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_remote_redis_test.c: the inventory over Redis keeps the rules of the seam
 * (tools/with-redis). */
#include "tests/seam/inventory_remote.h"

int main(void)
{
    return inventory_remote_run("inventory over Redis", "STAMPEDE_TEST_REDIS");
}

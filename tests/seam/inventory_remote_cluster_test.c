/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_remote_cluster_test.c: the same over a Redis Cluster (tools/with-cluster). */
#include "tests/seam/inventory_remote.h"

int main(void)
{
    return inventory_remote_run("inventory over a Redis Cluster", "STAMPEDE_TEST_CLUSTER");
}

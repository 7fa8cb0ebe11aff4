/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate.h: `stampede migrate --from DIR --to FILE`: the shop of one machine moves to many machines
 * (docs/cluster.md, docs/decisions/0048-a-shop-moves-with-its-log.md). */
#ifndef STAMPEDE_SERVER_MIGRATE_H
#define STAMPEDE_SERVER_MIGRATE_H

int migrate_main(int argc, char **argv);

#endif

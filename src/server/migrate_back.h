/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate_back.h: `stampede migrate --from FILE --to DIR`: a shop of many machines moves to one
 * (docs/cluster.md, docs/decisions/0053-a-shop-moves-back-as-its-state.md). */
#ifndef STAMPEDE_SERVER_MIGRATE_BACK_H
#define STAMPEDE_SERVER_MIGRATE_BACK_H

#include <stdbool.h>

struct migrate;
/* False: its `error` says what is wrong. */
bool migrate_back_run(struct migrate *migrate);

#endif

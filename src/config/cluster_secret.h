/* SPDX-License-Identifier: Apache-2.0 */
/* config/cluster_secret.h: the secret that all processes of a cluster share (cluster.secret_file). The master
 * secret and the data id follow from it, so nothing else has to be agreed on. Where a shop was moved from one
 * machine, the file has the line of config/identity.h, and they are those of its data folder.
 * Thread: start-up only. Errors: `error` says in one sentence what is wrong. */
#ifndef STAMPEDE_CONFIG_CLUSTER_SECRET_H
#define STAMPEDE_CONFIG_CLUSTER_SECRET_H

#include "config/data_folder.h"

enum { CLUSTER_SECRET_BYTES_MIN = 32, CLUSTER_SECRET_BYTES_MAX = 256 };

bool cluster_is_set(const struct config *config); /* else: one machine */
/* Puts them in place of those of the folder; on one machine nothing. */
MUST_CHECK enum status cluster_secret_use(
    struct data_folder *folder, const struct config *config, char error[CONFIG_ERROR]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* follow/follower.h: `stampede follow`: keeps a copy of a server's data folder on this machine
 * (docs/follow.md). The copy is DIR; a base is made in DIR.part and takes its place when it is whole.
 * Thread: one, of a program of its own. */
#ifndef STAMPEDE_FOLLOW_FOLLOWER_H
#define STAMPEDE_FOLLOW_FOLLOWER_H

#include "config/config.h"

struct follower_options {
    const char *from, *folder, *secret_file;
    bool (*stops)(void); /* looked at between records: true: end cleanly */
};

/* Runs until it is stopped: STATUS_OK. STATUS_BAD_INPUT: the options are wrong. STATUS_CONFLICT: the folder
 * is no follower's copy, or the server has another shop, or was fenced by this copy. `error` says so. */
MUST_CHECK enum status follower_run(const struct follower_options *options, char error[CONFIG_ERROR]);

#endif

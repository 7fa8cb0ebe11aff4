/* SPDX-License-Identifier: Apache-2.0 */
/* follow/primary.h: the server's side: it listens for its follower, sends it what the stream has, and gives
 * up its shop when another machine has taken over (docs/follow.md).
 *
 * Threads of its own: "follow-door" greets whoever connects and answers questions; "follow-link" sends and
 * hears acknowledgements; "follow-files" reads files for a base and looks after small ones.
 * Memory: its own; folder and settings outlive it. */
#ifndef STAMPEDE_FOLLOW_PRIMARY_H
#define STAMPEDE_FOLLOW_PRIMARY_H

#include "config/config.h"
#include "follow/stream.h"

struct disk;

struct primary_config {
    const struct config *config;
    struct disk *root; /* of the data folder */
    uint64_t data_id;
    /* Another machine sells now: called once, by a thread of ours, after the folder was sealed. Nothing may
     * be told to anybody after it. */
    void (*fenced)(uint64_t generation);
};

struct primary; /* opaque */
/* Reads the secret, asks follow.peer, listens. STATUS_BAD_INPUT: a setting is wrong; STATUS_CONFLICT:
 * another machine has taken over. `error` says so. */
MUST_CHECK enum status primary_open(
    struct primary **primary, const struct primary_config *config, char error[CONFIG_ERROR]);
struct mirror *primary_mirror(struct primary *primary);
/* The data folder is open, and nobody was told anything yet. */
MUST_CHECK enum status primary_start(struct primary *primary);
/* Waits until the follower has everything, if there is one, and no longer than that. */
void primary_finish(struct primary *primary, uint64_t give_up_ms);
void primary_release(struct primary *primary); /* whoever waits for the follower gives up */
void primary_close(struct primary *primary);   /* when the database is closed; accepts NULL */

struct primary_state {
    bool connected, current, away;
    bool wins_wait; /* nothing may be won until the follower is back */
    uint64_t lag_bytes;
};
void primary_look(struct primary *primary, struct primary_state *state); /* any thread */

#endif

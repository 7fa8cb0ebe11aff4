/* SPDX-License-Identifier: Apache-2.0 */
/* follow/peer.h: which of two machines sells: a server's generation beside that of another (docs/follow.md).
 * Thread: any; it keeps no state. */
#ifndef STAMPEDE_FOLLOW_PEER_H
#define STAMPEDE_FOLLOW_PEER_H

#include "config/config.h"
#include "follow/session.h"

struct peer {
    const char *address; /* follow.peer; "": nobody is asked */
    const struct follow_secret *secret;
    struct disk *root; /* of our data folder */
    uint64_t data_id, generation;
};

struct wire_word peer_word(const struct peer *, enum wire_word_kind kind); /* what we say of ourselves */
/* Another machine has taken over this shop, after ours. */
bool peer_is_newer(const struct peer *, const struct wire_word *theirs);
/* STATUS_AWAY: it does not answer. */
MUST_CHECK enum status peer_ask(const struct peer *, struct wire_word *answer);
/* At a start: STATUS_CONFLICT: another machine sells this shop; the folder is sealed if that one is newer. */
MUST_CHECK enum status peer_check(const struct peer *, char error[CONFIG_ERROR]);

#endif

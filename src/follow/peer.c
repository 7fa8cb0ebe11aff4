/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/peer.h"

#include "base/log.h"
#include "config/fence.h"

#include <inttypes.h>
#include <stdio.h>

enum { ANSWER_MS = 1000 };

struct wire_word peer_word(const struct peer *peer, enum wire_word_kind kind)
{
    return (struct wire_word){
        .kind = kind, .sells = true, .data_id = peer->data_id, .generation = peer->generation
    };
}

bool peer_is_newer(const struct peer *peer, const struct wire_word *theirs)
{
    return theirs->data_id == peer->data_id && theirs->generation > peer->generation;
}

enum status peer_ask(const struct peer *peer, struct wire_word *answer)
{
    const struct wire_word question = peer_word(peer, WIRE_ASK);
    return session_ask(peer->address, peer->secret, ANSWER_MS, &question, answer);
}

static enum status answer_judge(
    const struct peer *peer, const struct wire_word *answer, char error[CONFIG_ERROR])
{
    if (peer_is_newer(peer, answer)) {
        const enum status written = fenced_write(peer->root, answer->generation);
        snprintf(error, CONFIG_ERROR,
            "%.80s has taken over this shop (generation %" PRIu64 ", ours is %" PRIu64
            "): this data folder sells no more%s",
            peer->address, answer->generation, peer->generation,
            written == STATUS_OK ? "" : "; the file fenced can't be written");
        return STATUS_CONFLICT;
    }
    if (answer->kind != WIRE_ANSWER || answer->data_id != peer->data_id || !answer->sells
        || answer->generation != peer->generation)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR,
        "%.80s sells this shop with the same generation: one of two copies must not be served",
        peer->address);
    return STATUS_CONFLICT;
}

enum status peer_check(const struct peer *peer, char error[CONFIG_ERROR])
{
    struct wire_word answer;
    if (peer->address[0] == 0)
        return STATUS_OK;
    const enum status status = peer_ask(peer, &answer);
    if (status == STATUS_OK)
        return answer_judge(peer, &answer, error);
    if (status == STATUS_BAD_INPUT) {
        snprintf(error, CONFIG_ERROR,
            "follow.peer %.100s has another secret in its follow.secret_file", peer->address);
        return STATUS_CONFLICT;
    }
    log_warn("follow", "follow.peer %s does not answer: whether it has taken over is not known",
        peer->address);
    return STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* follow/stream.h: the changes of a data folder in order, in a ring of memory, and how far the follower has
 * got. A position counts the bytes of all changes since the server started; the epoch names that start.
 *
 * The rule that nothing told is lost: stream_mirror's `wait` returns STATUS_OK for a position only if a
 * follower whose copy is whole has said that it is on its disk, or if the settings allow it (mode async, or
 * alone = sell and the follower away).
 *
 * Thread: any; one lock, held for a copy of at most WIRE_DATA_MAX bytes. enter and leave are one lock per
 * part, so that a file and its changes can be copied in one piece. */
#ifndef STAMPEDE_FOLLOW_STREAM_H
#define STAMPEDE_FOLLOW_STREAM_H

#include "contract/mirror.h"

#include <stddef.h>

struct wake;
struct stream;

struct stream_config {
    size_t ring_bytes; /* a power of two, at least 1 MiB */
    bool sync;         /* wait for the follower */
    bool sells_alone;  /* do not wait while it is away */
    uint64_t away_ms;  /* how long it may be missing before it counts as away */
    struct wake *link; /* woken when there is something to send */
};
MUST_CHECK enum status stream_open(struct stream **stream, const struct stream_config *config);
void stream_close(struct stream *stream); /* accepts NULL */
struct mirror *stream_mirror(struct stream *stream);

/* From now on changes are kept, and answers wait. Before: nobody was told anything. */
void stream_arm(struct stream *stream);
/* Nobody waits any more: whoever does gets STATUS_IO. */
void stream_stop(struct stream *stream);

/* ---- the thread of the connection ---- */

/* Whether a follower that has everything up to `position` of `epoch` could go on from there. */
bool stream_resumes(struct stream *stream, uint64_t epoch, uint64_t position, bool whole);
/* Such a follower is there. False: not all after the position is kept; it needs a base, and changes go to it
 * from the present end on. *from: where they begin. */
bool stream_attach(struct stream *stream, uint64_t epoch, uint64_t position, bool whole, uint64_t *from);
void stream_detach(struct stream *stream);
/* The next bytes to send; 0: none. STATUS_FULL: the follower was too slow, it needs a new base. */
MUST_CHECK enum status stream_take(struct stream *stream, uint8_t *out, size_t most, size_t *bytes);
/* STATUS_BAD_INPUT: it can't have that. */
MUST_CHECK enum status stream_acknowledge(struct stream *stream, uint64_t position);

/* ---- the thread that copies files ---- */

/* True: a base is asked for. Its number goes up with each. */
bool stream_base_wanted(struct stream *stream, uint64_t *number);
/* Waits for room in the ring, before a part is entered: nobody else may wait for that meanwhile. False:
 * another base is asked for since `number`, or the server stops: give up. */
bool stream_room_wait(struct stream *stream, uint64_t number);
/* Notes a change of a base or of a small file. False: as above. */
bool stream_note_base(struct stream *stream, uint64_t number, const struct mirror_change *change);

/* ---- what people want to know ---- */

struct stream_state {
    uint64_t epoch, head, sent, acked;
    bool connected;
    bool current; /* its copy is whole and nearly as new as ours */
    bool away;
    uint64_t waits; /* that are going on */
};
void stream_look(struct stream *stream, struct stream_state *state);
/* Everything so far is at the follower. */
bool stream_is_idle(struct stream *stream);

#endif

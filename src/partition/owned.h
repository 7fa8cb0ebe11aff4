/* SPDX-License-Identifier: Apache-2.0 */
/* partition/owned.h: a partition that this worker has the lease of.
 *
 *   CLOSED ──opener_start──► DRAINING ──nothing left, opener_finish──► OPEN
 *      ▲                        │                                       │
 *      └──── any trouble: after a pause of 200 ms to 5 s, from the beginning ◄─────┘
 *
 * OPEN: the order writer reads the stream, writes, and after each commit a note goes to the partition's
 * channel: "<part> <seq>". A note may be lost. Each second the script is told how far the database is, which
 * shows whether script and state are still there; and the master must be the one that was opened.
 * A database that can't be written is no trouble: the order writer waits for it.
 * RESTING instead of an opening: the partition's sale is over, and it was put to rest. Nothing is done, and
 * no lease is needed, until the database has another epoch or record.
 *
 * Thread: the keeper's. Memory: as partition/opener.h. Time: monotonic, ms. */
#ifndef STAMPEDE_PARTITION_OWNED_H
#define STAMPEDE_PARTITION_OWNED_H

#include "partition/opener.h"

enum {
    OWNED_PAUSE_MS_MIN = 200,
    OWNED_PAUSE_MS_MAX = 5000,
    OWNED_PAUSE_MS_AWAY = 500,       /* the longest one while Redis does not answer */
    OWNED_PAUSE_MS_LATE = 60 * 1000, /* the longest one, when few epochs are left */
    OWNED_EPOCHS_LATE = 1024,
    OWNED_CALM_MS = 10 * 1000, /* open for so long: the next pause is the shortest again */
    OWNED_TELL_MS = 1000,
    OWNED_AWAY_MS = 50,     /* between two looks for a server that is not connected */
    OWNED_IDLE_MS_MAX = 40, /* between two reads of a stream that has nothing new */
    OWNED_BROKER_MS = 20,   /* between two looks whether the broker has acknowledged something */
    OWNED_REST_MS = 5000,   /* between two looks whether Redis still knows that it rests */
};

enum owned_phase { OWNED_CLOSED, OWNED_DRAINING, OWNED_OPEN, OWNED_RESTING };

typedef void owned_alarm(void *context, uint32_t part, const char *what);

struct owned {
    struct opener opener;
    owned_alarm *alarm; /* as that of keeper_config */
    uint32_t *alarmed;  /* the keeper's: how many of its partitions are */
    enum owned_phase phase;
    uint64_t due_ms;             /* nothing to do before */
    uint64_t opened_ms, tell_ms; /* since when it is open; when the script is told next */
    uint32_t pause_ms, idle_ms;  /* the last ones */
    bool is_redis_away, is_alarmed;
    struct part_state rest;       /* OWNED_RESTING: where the database was */
    uint64_t lag;                 /* of the last turn */
    uint64_t backlog, backlog_ms; /* what waits for the broker, and since when; 0: nothing */
    uint64_t seen_seq, seen_ms;   /* a record that waits, and since when; 0: none */
};

void owned_init(
    struct owned *owned, const struct opener_config *config, owned_alarm *alarm, uint32_t *alarmed);
/* Does what is due: opens, drains, or follows. */
void owned_turn(struct owned *owned, uint64_t now_ms);
/* Nobody knows whether it is still ours, since the database can't be asked. Nothing is written, but what the
 * stream has goes to the broker: that harms nobody, and Redis may lose it. */
void owned_relay(struct owned *owned, uint64_t now_ms);
void owned_look(struct owned *owned); /* its stream may have something new */
/* The database is at this epoch. A later one than ours: gateways call another script by now, so that nothing
 * would come any more that could be refused. */
void owned_epoch(struct owned *owned, uint32_t epoch, uint64_t now_ms);
/* At rest: is it to be opened after all? By what the list says of it; and because Redis has lost the mark, so
 * that nobody else would know. */
void owned_listed(struct owned *owned, const struct part_state *state);
void owned_rest_look(struct owned *owned, uint64_t now_ms);
/* A turn would start to open it, which takes long. */
bool owned_is_to_open(const struct owned *owned, uint64_t now_ms);
bool owned_reads_back(const struct owned *owned); /* from the broker: one at a time can */
/* Writes what the stream has, until nothing is left, it can't be written now, or the time is over. */
void owned_last(struct owned *owned, uint64_t until_ms);
/* It is not ours any more. In Redis nothing changes. */
void owned_let_go(struct owned *owned);

#endif

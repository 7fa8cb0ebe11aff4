/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/world.h: one simulated machine: disk, clock, processes and their parts, all
 * from one seed. world.c starts, stops and crashes it; clients.c asks; steps.c lets time and
 * threads run in any order; rest.c brings it to rest and compares everything with everything. */
#ifndef STAMPEDE_TESTS_SIMULATION_WORLD_H
#define STAMPEDE_TESTS_SIMULATION_WORLD_H

#include "contract/payment.h"
#include "funnel/door.h"
#include "funnel/room/room_line.h"
#include "inventory/embedded.h"
#include "orders/booking_follow.h"
#include "orders/cashier.h"
#include "orders/late_money.h"
#include "orders/order_writer.h"
#include "orders/stock_pump.h"
#include "orders/waitlist.h"
#include "tests/simulation/model.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_queue.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/trace.h"

enum {
    CLIENT_PORTS = 3,
    PUMP_PORT = 3, /* the fourth */
    BUYERS = 40, /* users below this index buy all the time; the others come for the final sweep */
    PLACES_MAX = 60, /* in all lines, over the whole run */
    BOOKINGS_MAX = PLACES_MAX + 1,
    OFFER_WINDOW_MS = 700,
    COMMANDS_MIN = 200,
    COMMANDS_BURSTS = 700, /* sales with bursts take longer: they are after batches of several pages */
    BURSTS_ONE_IN = 16,
};
static_assert(PUMP_PORT + 1 == SIM_PORTS, "one port for the pump");

enum world_store { WORLD_STORE_MODEL, WORLD_STORE_SQLITE, WORLD_STORE_SERVER };

enum { SIM_PAYMENTS = 256, SIM_CALLS = 6 /* of the cashier under way */ };
/* A payment as its provider knows it; nothing of ours can take that back. */
struct sim_payment {
    ticket_number ticket;
    uint64_t amount, paid;
    uint8_t provider;
    bool is_known, is_paid, is_closed, refunded;
    bool is_away; /* the provider can't be reached and its callbacks are lost, until it is asked anew */
    bool told;    /* the store has answered that it has the money */
    uint64_t key; /* of the unit that late money asks for */
};
/* What a provider has said, and nobody has heard yet. */
struct sim_call {
    bool used;
    struct provider_said said;
};

/* A draw that was shown. */
struct sim_draw {
    bool shown;
    uint8_t key[ROOM_KEY_BYTES];
};

/* The pump's port: the model hears what the pump asks and is told. */
struct pump_port {
    struct inventory_port port;
    struct inventory_port *inner;
    struct inventory_request request;
    struct inventory_answer answer;
    uint64_t tags[SIM_REQUESTS + 1]; /* by the model's tag */
};

struct world {
    uint64_t seed;
    struct random random;
    enum world_store store_kind;
    struct sim_disk disk;
    struct model model;

    /* What the shop wanted. */
    uint32_t item_count, sale_count, channel_count;
    struct command_sale sale_wish[SIM_SALES];
    struct command_preheat item_wish[SIM_ITEMS];
    user_id users[SIM_USERS];
    uint32_t key_count, place_count;
    bool bursts;                        /* everybody at once, now and then */
    item_id presale_item, deposit_item; /* 0: none */
    uint32_t presale_cap, balance_ms;
    uint8_t deposit_kept;   /* enum deposit_kept */
    bool pooled[SIM_ITEMS]; /* these take their units from the stock of one product */
    uint32_t pool_units;    /* that it had */
    uint32_t refusing;      /* one in so many tickets is refused by the database; 0: none */

    /* Time. */
    uint64_t now_ms;    /* what this process believes */
    uint64_t engine_ms; /* the latest time that the engine has heard, or the floor of its log */
    int64_t wall_jump_ms;

    /* The process. */
    bool alive, just_opened;
    uint32_t lives;
    uint64_t data_id;
    struct embedded_config config;
    struct embedded *embedded;
    struct inventory_port *ports[SIM_PORTS];
    struct pump_port pump_port;
    struct ticket_queue *log_queue; /* what the model follows */
    struct arena orders_arena;
    struct order_writer *writer;
    struct stock_pump *pump;
    struct waitlist waitlist;
    struct booking_follow bookings;
    struct cashier cashier;
    struct late_money late;
    struct room_line rooms[SIM_SALES];
    struct sim_call calls[SIM_CALLS]; /* by the cashier's flight */
    struct order_writer_progress writer_progress;
    struct stock_pump_progress pump_progress;

    /* The database, which outlives the process. */
    struct order_store *store;
    struct sim_store sim_store;
    struct sim_queue sim_queue;

    /* What the order side was told about its own moves, by ticket: the answers outlive crashes. */
    uint8_t moved[SIM_NUMBERS + 1]; /* enum order_state; ORDER_NONE: nothing yet */

    bool by_hand[SIM_NUMBERS + 1];       /* somebody wanted this order refunded */
    uint64_t told_booking[SIM_USERS];    /* the latest; 0: none */
    uint8_t dismissed[BOOKINGS_MAX + 1]; /* by id: the shop ended it */
    uint64_t booking_last;               /* of all that were told */
    bool pool_known;                     /* no older copy of the database was put back */

    struct sim_draw draws[SIM_SALES];

    bool backup_there;      /* sim_vfs_keep has one */
    uint64_t place_id_last; /* of all places that were told */

    uint32_t payment_count;
    struct sim_payment payments[SIM_PAYMENTS]; /* the reference names the index */
    bool payment_danger;                       /* power may fail within a transaction */

    /* The log applied from its beginning, never interrupted. */
    struct engine shadow;

    struct funnel_keys keys;
    struct door_channels channels;

    uint32_t commands, crashes, stops, door_refusals;
    bool gave_up_waiting; /* disk trouble ended this life: only a restart helps */
};

/* Once for the program. */
void world_create(struct world *world);
/* One sale from one seed; ends the program on a violation. Answers the hash of everything that
 * happened. */
uint64_t world_run(struct world *world, uint64_t seed, enum world_store store);

/* world.c */
void world_open(struct world *world);  /* the process starts; repeats while the disk won't let it */
void world_crash(struct world *world); /* at this very moment */
void world_close(struct world *world); /* process and database, without a word */
void world_stop(struct world *world);  /* in good order: to rest, snapshot, gone */
void world_follow(struct world *world); /* the model reads what has become durable */
/* Engine, shadow and model agree; only when idle. `slowly`: engine_check as well. */
void world_check_state(struct world *world, const char *when, bool slowly);
static inline uint64_t world_below(struct world *world, uint64_t bound)
{
    return random_below(&world->random, bound);
}
static inline bool world_chance(struct world *world, uint32_t percent)
{
    return world_below(world, 100) < percent;
}

/* clients.c */
void client_act(struct world *world); /* somebody asks for something */
/* False: the port is full. */
bool client_ask(struct world *world, uint32_t port, const struct command *command);
void world_channels_act(struct world *world); /* channels.c: the shop, for its channels and safety stock */
void channels_told(struct world *world, const struct command *command, const struct outcome *told);
void client_burst(struct world *world); /* all buyers want one of everything */
void client_collect(struct world *world, uint32_t port);
void client_setup(struct world *world); /* the shop asks for whatever of its sales is not in the log yet */
bool client_purchase(struct world *world, const struct command_reserve *wish); /* through the door */
uint64_t client_key(struct world *world); /* a fresh one; 0: there are no more */

/* steps.c */
void world_turn(struct world *world);
void world_write(struct world *world);
void world_step(struct world *world); /* one of everything that can happen next */

/* moves.c */
void world_move(struct world *world); /* somebody pays, cancels, gives back, or time runs out */
/* Time goes by and nobody pays any more: the timer closes what is pending, and all units return. */
void world_expire(struct world *world);
struct order_move world_move_choose(struct world *world, ticket_number ticket);
/* Whoever asked for the move has its answer: it must be right, and is true for ever. */
void world_move_told(
    struct world *world, const struct order_move *move, const struct order *after, uint8_t answer);
void world_check_moved(const struct world *world, const struct order *order); /* at rest */

void world_move_ticket(struct world *world, ticket_number ticket, bool pays);

/* groups.c */
void world_group(struct world *world); /* a few at once, who share a commit */

/* waiting.c */
void world_wait(struct world *world);  /* somebody joins a line, or leaves it */
void world_serve(struct world *world); /* the pump's port is emptied, free units are offered */
/* At rest: nobody waits for units that are free and that he may have. */
void world_check_lines(const struct world *world);

/* presale.c */
void presale_choose(struct world *world);  /* what the shop wants */
void presale_catalog(struct world *world); /* the catalog has its items */
void presale_open(struct world *world);    /* the process starts */
void world_presale(struct world *world);   /* somebody books, pays, leaves, or units arrive */
void presale_follow(struct world *world);  /* one turn */
void presale_told(struct world *world, const struct command *command, const struct outcome *told);
void presale_asked(const struct world *world, const struct command *command); /* by the pump's port */
void presale_restored(struct world *world);
/* Whether the order of this ticket may be rejected because of a booking: an offer that came after the
 * deposit had gone, or what late money got for a deposit that nobody waits for. */
bool presale_rejects(const struct world *world, ticket_number ticket);
void world_check_presale(const struct world *world); /* at rest */

/* remedies.c */
void world_remedies(struct world *world, item_id item, uint32_t missing); /* units that were sold twice */

/* pools.c */
enum { POOL_PRODUCT = 2 }; /* the other one has no stock of its own */
void pools_choose(struct world *world);
/* The item's wish becomes what it takes from its product. False: not now. */
bool pools_draw(struct world *world, item_id id);
void world_pools(struct world *world);             /* past items give back what they have */
void world_check_pool(const struct world *world);  /* at any moment */
void world_check_units(const struct world *world); /* at rest */

void world_look(struct world *world, ticket_number ticket); /* a commit whose answer a crash took */

/* rooms.c */
void rooms_start(struct world *world);                /* the process starts */
void rooms_run(struct world *world, uint32_t budget); /* one turn of all waiting rooms; rows to read */
bool rooms_answer(struct world *world, const struct inventory_answer *answer); /* false: not theirs */

/* providers.c: the two providers, and what the cashier has of the world */
void providers_store(struct world *world); /* a store was opened: what is learned in it is checked */
void providers_open(struct world *world);  /* the process starts: the cashier */
const char *provider_name(const struct sim_payment *row);
void provider_reference(const struct world *world, const struct sim_payment *row,
    char reference[REFERENCE_BYTES_MAX + 1]);
struct provider_said provider_truth(const struct sim_payment *row);
void provider_danger(struct world *world); /* the machine may lose its power within what follows */
/* All of these: false: it did; this process is gone, and another one has started. */
bool provider_survived(struct world *world, enum status status);
bool provider_calls_back(
    struct world *world, const struct sim_payment *row, const struct provider_said *said);
bool provider_answers(struct world *world); /* what was said and not heard yet is heard */
/* Late money that asked for this ticket is still to be linked to it. */
bool world_late_waits(const struct world *world, ticket_number ticket);
/* 0: late money did not ask for this ticket; else the order that the money was for. */
ticket_number world_late_for(const struct world *world, ticket_number ticket);
/* The ticket is moved by the order side: its number is odd, it is a deposit or offered for one,
 * or late money asked for it. */
bool world_order_is_ours(const struct world *world, ticket_number ticket);

/* payments.c */
void world_pay(struct world *world); /* somebody pays, somebody tells, or the cashier works */
bool world_payments_live(const struct world *world, ticket_number ticket);
enum { EXTEND_MAX_MS = 5000 };
bool world_payment_started(const struct world *world, ticket_number ticket);
void world_check_money(const struct world *world); /* at rest */
/* The cashier works until nothing is due: no payment is live, no money waits, all refunds are
 * done. */
void world_payments_drain(struct world *world);

/* After a restore: the providers are asked about every payment that the store does not know, of those
 * that went back or of the others. */
void world_payments_search(struct world *world, bool refunded);

/* restore.c */
void world_backup(struct world *world);  /* now and then, where the store can be put back */
void world_restore(struct world *world); /* from rest to rest, if there is a backup */
bool world_payer_lost(const struct world *world, ticket_number ticket); /* paid, and nobody knows by what */

/* rest.c */
void world_rest(struct world *world); /* troubles end, everything drains */
void world_check_rest(struct world *world);
void world_sweep(struct world *world); /* eager buyers take what is left */

#endif

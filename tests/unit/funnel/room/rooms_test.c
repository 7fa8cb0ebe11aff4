/* SPDX-License-Identifier: Apache-2.0 */
/* A million people in one waiting room: numbers, memory, the draw, positions, admission while people
 * leave, and all of it again after a restart. Through the real inventory with its journal. */
#include "funnel/room/rooms.h"

#include "base/random.h"
#include "inventory/embedded.h"
#include "tests/unit/base/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PEOPLE = 1000000,
    EARLY = 700000, /* come before the start */
    SALE = 1,
    OTHER = 2, /* has a room too, with a few in it */
    START = 1000,
    END = 2000000000,
    BYTES_PER_USER_MAX = 32,
    LOOK_PAGES_MAX = 40, /* the longest run of taken slots, in a table that is half full */
    LOOK_PAGES_MEAN_MAX = 5,
};

static char folder[] = "/tmp/stampede-rooms-XXXXXX";
static struct disk *disk;
static struct embedded *embedded;
static struct inventory_port *port;
static struct rooms *rooms;
static struct cipher_permutation ids;
static struct funnel_keys keys;

static user_id user_of(uint32_t person)
{
    return cipher_permute(&ids, person + UINT64_C(1));
}

static void inventory_open(void)
{
    const struct embedded_config config = {
        .journal = { .disk = disk, .data_id = 5, .segment_bytes = 64 << 20, .batch_bytes = 1 << 20 },
        .engine = { .items_max = 4, .sales_max = 4, .tickets_max = 16, .places_max = PEOPLE + 10 },
        .filter_key = { 1, 2 },
        .ports = 1,
        .ring_slots = RING_SLOTS,
    };
    struct embedded_report report;
    assert_int_equal(embedded_open(&embedded, &config, &report), STATUS_OK);
    port = embedded_port(embedded, 0, NULL);
    assert_int_equal(rooms_open(&rooms, embedded_inventory(embedded), 4), STATUS_OK);
}

static void inventory_close(void)
{
    rooms_close(rooms);
    embedded_close(embedded);
}

/* One turn of everybody; what was answered goes to `told`, by tag, if there is one. */
static uint32_t cycle(uint64_t now_ms, uint32_t *told)
{
    const struct inventory_answer *answer;
    uint32_t answers = 0;
    port->ops->flush(port);
    while (embedded_turn(embedded, now_ms)) {
    }
    (void)embedded_write(embedded);
    (void)embedded_turn(embedded, now_ms);
    (void)embedded_write(embedded);
    (void)embedded_turn(embedded, now_ms);
    if (embedded_housekeep(embedded) != STATUS_OK)
        fail_msg("housekeeping failed");
    while ((answer = port->ops->collect(port)) != NULL) {
        assert_int_equal(answer->outcome.answer, ANSWER_DONE);
        if (told != NULL)
            told[answer->tag] = answer->outcome.number;
        answers++;
    }
    return answers;
}

static void ask(uint64_t tag, const struct command *command)
{
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    *request = (struct inventory_request){ .tag = tag, .command = *command };
    port->ops->commit(port);
}

static void people_enter(uint32_t from, uint32_t to, uint64_t now_ms, uint32_t *told)
{
    uint32_t answers = 0;
    for (uint32_t person = from; person < to;) {
        for (uint32_t i = 0; i < RING_SLOTS / 2 && person < to; i++, person++) {
            const struct command command = { .type = COMMAND_ARRIVE,
                .arrive = { .sale = SALE, .user = user_of(person) } };
            ask(person, &command);
        }
        answers += cycle(now_ms, told);
    }
    while (answers < to - from)
        answers += cycle(now_ms, told);
}

static void sales_define(void)
{
    for (sale_id sale = SALE; sale <= OTHER; sale++) {
        const struct command command = { .type = COMMAND_SALE,
            .sale = { .sale = sale, .start_ms = START, .end_ms = END } };
        ask(0, &command);
    }
    assert_int_equal(cycle(0, NULL), 2);
}

static void draw_show(uint32_t count)
{
    uint8_t secret[ROOM_SECRET_BYTES];
    struct room_chain chain;
    struct room_draw draw;
    const struct inventory *inventory = embedded_inventory(embedded);
    uint64_t cursor = 0;
    uint32_t budget = UINT32_MAX;
    struct arrival arrival;
    room_secret(&keys, SALE, secret);
    room_chain_begin(&chain, SALE);
    while (chain.count < count) {
        assert_int_equal(inventory->ops->arrivals(inventory, SALE, &cursor, &budget, &arrival, 1), 1);
        room_chain_add(&chain, room_mark(secret, SALE, arrival.user));
    }
    room_draw_make(&draw, secret, SALE, &chain, SPAN_NONE);
    rooms_show_draw(rooms, SALE, &draw, &chain, SPAN_NONE);
}

/* ---- how much of the tables a look reads, by taking them away and counting what is asked for back ---- */

struct hidden {
    char *first;
    size_t bytes;
};
static struct hidden hidden[2]; /* the inner pages of rows and slots */
static size_t page_bytes;
static volatile sig_atomic_t pages_read;

/* Anything else that is touched wrongly ends the test as it always did. */
static void page_give(int signal_number, siginfo_t *info, void *context)
{
    char *at = info->si_addr;
    (void)context;
    for (unsigned i = 0; i < 2; i++) {
        if (at < hidden[i].first || at >= hidden[i].first + hidden[i].bytes)
            continue;
        pages_read++;
        char *page = hidden[i].first + (size_t)(at - hidden[i].first) / page_bytes * page_bytes;
        if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0)
            return;
    }
    signal(signal_number, SIG_DFL);
}

static struct hidden pages_inside(const void *table, size_t bytes)
{
    const uintptr_t mask = page_bytes - 1;
    const uintptr_t first = ((uintptr_t)table + mask) & ~mask, end = ((uintptr_t)table + bytes) & ~mask;
    return (struct hidden){ (char *)first, end - first };
}

static void tables_protect(int how)
{
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(mprotect(hidden[i].first, hidden[i].bytes, how), 0);
}

/* Pages of both tables that one look reads, of which there are thousands: each slot that is tried is
 * one, and the row that it names. */
static void looks_read_few_pages(void)
{
    enum { LOOKS = 500 };
    const struct places *places = &embedded_engine(embedded)->places;
    const struct sigaction counting = { .sa_sigaction = page_give, .sa_flags = SA_SIGINFO };
    struct sigaction before;
    uint32_t most = 0, sum = 0;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    hidden[0] = pages_inside(places->rows, places->count * sizeof *places->rows);
    hidden[1] = pages_inside(places->slots, places->slot_count * sizeof *places->slots);
    assert_true(hidden[0].bytes / page_bytes + hidden[1].bytes / page_bytes > 4 * LOOK_PAGES_MAX);
    assert_int_equal(sigaction(SIGSEGV, &counting, &before), 0);
    for (uint32_t i = 0; i < LOOKS; i++) {
        struct room_standing standing;
        const user_id user = user_of((uint32_t)((uint64_t)i * (PEOPLE + PEOPLE / 10) / LOOKS));
        pages_read = 0;
        tables_protect(PROT_NONE);
        rooms_look(rooms, SALE, user, &standing); /* of the last tenth nobody is there */
        const uint32_t pages = (uint32_t)pages_read;
        tables_protect(PROT_READ | PROT_WRITE);
        most = pages > most ? pages : most;
        sum += pages;
    }
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    printf("a look among %d: %.1f pages of %zu, %u at most\n", PEOPLE, (double)sum / LOOKS,
        hidden[0].bytes / page_bytes + hidden[1].bytes / page_bytes, most);
    assert_true(sum >= LOOKS); /* it was counted at all */
    assert_true(most <= LOOK_PAGES_MAX && sum <= LOOKS * LOOK_PAGES_MEAN_MAX);
}

static void standings_check(uint32_t head, const uint32_t *told, uint32_t *places)
{
    uint8_t *seen = calloc(PEOPLE, 1);
    uint32_t admitted = 0;
    assert_non_null(seen);
    for (uint32_t person = 0; person < PEOPLE; person++) {
        struct room_standing standing;
        rooms_look(rooms, SALE, user_of(person), &standing);
        assert_int_equal(standing.number, told[person]);
        if (standing.state == ROOM_ADMITTED) {
            admitted++;
            assert_true(places[person] < head);
            continue;
        }
        assert_int_equal(standing.state, ROOM_WAITING);
        const uint32_t place = head + standing.ahead;
        assert_true(place < PEOPLE && seen[place]++ == 0);
        if (head == 0)
            places[person] = place;
        assert_int_equal(places[person], place);
        if (told[person] >= EARLY)
            assert_int_equal(place, told[person]); /* first come, first served */
        else
            assert_true(place < EARLY);
    }
    assert_int_equal(admitted, head); /* nobody twice, nobody left out */
    free(seen);
}

/* The line moves while only a third of those whose turn comes buy; the inventory keeps the head. */
static uint32_t line_move(void)
{
    static const struct room_rules rules = { .turn_ms = 10000, .rate_min = 10, .rate_max = 1000 };
    struct room_stock stock = { .free = 20000 };
    struct room_control control = { 0 };
    struct random random;
    uint32_t head = 0;
    uint64_t now_ms = START + 5000;
    random_seed(&random, 3);
    for (uint32_t i = 0; i < 600; i++, now_ms += 100) {
        struct room_view view;
        const uint32_t before = head;
        head = room_admit(&control, &rules, now_ms, &stock, head, PEOPLE, &view);
        rooms_show_view(rooms, SALE, &view);
        for (uint32_t person = before; person < head; person++) {
            const bool buys = stock.free > 0 && random_next(&random) % 3 == 0;
            stock.free -= buys;
            stock.sold += buys;
        }
        if (head == before)
            continue;
        uint32_t shown = 0;
        const struct command command = { .type = COMMAND_ADMIT, .admit = { .sale = SALE, .head = head } };
        ask(0, &command);
        assert_int_equal(cycle(now_ms, &shown), 1);
        assert_int_equal(shown, head);
    }
    assert_true(head > 20000);
    return head;
}

static void a_million_people_wait_their_turn(void **state)
{
    uint32_t *told = malloc(PEOPLE * sizeof *told), *places = malloc(PEOPLE * sizeof *places);
    const struct room_view nothing = { .free = 20000, .conversion_milli = 1000 };
    struct board_room_update shown;
    (void)state;
    assert_true(told != NULL && places != NULL);
    sales_define();
    const struct command stranger = { .type = COMMAND_ARRIVE, .arrive = { .sale = OTHER, .user = 77 } };
    ask(0, &stranger);
    assert_int_equal(cycle(0, NULL), 1);
    people_enter(0, 1000, 10, told);
    const double bytes = (double)places_bytes(PEOPLE, SALES_LIMIT) / PEOPLE;
    printf("%.1f bytes a person\n", bytes);
    assert_true(bytes <= BYTES_PER_USER_MAX);
    people_enter(1000, EARLY, 500, told);
    people_enter(EARLY, PEOPLE, START, told);
    for (uint32_t person = 0; person < PEOPLE; person++)
        assert_int_equal(told[person], person);
    assert_true(board_read_room(embedded_board(embedded), SALE, &shown));
    assert_true(shown.draw_done && shown.drawn == EARLY && shown.arrived == PEOPLE && shown.head == 0);
    draw_show(EARLY);
    rooms_show_view(rooms, SALE, &nothing);
    looks_read_few_pages();
    standings_check(0, told, places);
    const uint32_t head = line_move();
    printf("head after a minute: %u\n", head);
    standings_check(head, told, places);
    inventory_close();
    inventory_open();
    draw_show(EARLY);
    rooms_show_view(rooms, SALE, &nothing);
    standings_check(head, told, places);
    assert_null(engine_check(embedded_engine(embedded)));
    free(told);
    free(places);
}

static void before_the_draw_and_outside_nobody_has_a_place(void **state)
{
    struct room_standing standing;
    struct room_draw draw;
    struct room_chain chain;
    (void)state;
    rooms_look(rooms, OTHER, 77, &standing);
    assert_int_equal(standing.state, ROOM_EARLY);
    assert_false(rooms_draw(rooms, OTHER, &draw, &chain));
    rooms_look(rooms, OTHER, 78, &standing);
    assert_int_equal(standing.state, ROOM_ABSENT);
    assert_int_equal(standing.arrived, 1);
    rooms_look(rooms, 99, 77, &standing);
    assert_int_equal(standing.state, ROOM_ABSENT);
    assert_false(rooms_draw(rooms, 99, &draw, &chain));
}

static void a_draw_that_waits_for_its_beacon_says_so_until_it_is_made(void **state)
{
    char bytes[512];
    uint8_t secret[ROOM_SECRET_BYTES];
    struct room_standing standing;
    struct room_draw draw;
    struct room_chain chain;
    struct text out = text_in(bytes, sizeof bytes);
    (void)state;
    rooms_look(rooms, OTHER, 77, &standing);
    room_members(&standing, 0, 0, &out);
    assert_null(memmem(out.data, out.size, "beacon", 6));
    assert_true(room_wait_ms(&standing, START, 900) == START - 900);
    rooms_show_beacon_wait(rooms, OTHER, START + 500);
    rooms_look(rooms, OTHER, 77, &standing);
    assert_int_equal(standing.state, ROOM_EARLY);
    assert_true(standing.beacon_until_ms == START + 500);
    assert_true(room_wait_ms(&standing, START, 1200) == START + 500 - 1200);
    assert_true(room_wait_ms(&standing, START, START + 600) == 0);
    assert_int_equal(rooms_beacon_value(rooms, OTHER).size, 0);
    out = text_in(bytes, sizeof bytes);
    room_members(&standing, 0, 0, &out);
    assert_non_null(memmem(out.data, out.size, ",\"waits_for_beacon\":true", 24));
    room_secret(&keys, OTHER, secret);
    room_chain_begin(&chain, OTHER);
    room_draw_make(&draw, secret, OTHER, &chain, SPAN_NONE);
    rooms_show_draw(rooms, OTHER, &draw, &chain, SPAN("42"));
    assert_true(span_equal(rooms_beacon_value(rooms, OTHER), SPAN("42")));
    rooms_look(rooms, OTHER, 77, &standing);
    assert_true(standing.beacon_until_ms == 0);
    assert_int_equal(rooms_beacon_value(rooms, 99).size, 0);
    assert_true(rooms_beacon_until_ms(rooms, 99) == 0);
}

static void marks_come_in_pages_and_in_the_order_of_coming(void **state)
{
    static char bytes[1000 * 16];
    uint8_t secret[ROOM_SECRET_BYTES];
    uint64_t cursor = 0;
    uint32_t number = 0, pages = 0;
    (void)state;
    room_secret(&keys, SALE, secret);
    while (cursor != UINT64_MAX) {
        struct text out = text_in(bytes, sizeof bytes);
        uint32_t first = 0;
        const uint32_t count = rooms_marks(rooms, SALE, secret, EARLY, &cursor, 1000, &first, &out);
        assert_int_equal(out.size, count * 16);
        assert_true(count == 0 || first == number);
        uint64_t mark;
        if (count > 0) {
            assert_int_equal(span_to_hex64(span_of(bytes, 16), &mark), STATUS_OK);
            assert_true(mark == room_mark(secret, SALE, user_of(number)));
        }
        number += count;
        assert_true(++pages < 2 * PEOPLE / 1000);
    }
    assert_int_equal(number, EARLY);
}

static int start(void **state)
{
    (void)state;
    const struct hash_key key = { 3, 4 };
    cipher_permutation_make(&ids, key);
    assert_int_equal(funnel_keys_derive(&keys, "a master secret of 32 bytes.....", 32), STATUS_OK);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(disk_folder_open(folder, &disk), STATUS_OK);
    inventory_open();
    return 0;
}

static void remove_one(void *context, const char *name)
{
    (void)context;
    (void)disk->ops->remove(disk, name);
}

static int stop(void **state)
{
    (void)state;
    inventory_close();
    (void)disk->ops->list(disk, "", remove_one, NULL);
    disk_folder_close(disk);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_people_wait_their_turn),
        cmocka_unit_test(before_the_draw_and_outside_nobody_has_a_place),
        cmocka_unit_test(a_draw_that_waits_for_its_beacon_says_so_until_it_is_made),
        cmocka_unit_test(marks_come_in_pages_and_in_the_order_of_coming),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the seam are in tests/seam; here is what only this implementation can show: what was decided
 * and is not durable yet. */
#include "inventory/embedded.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

enum { ANNA = 7, BERT = 8, NOW = 10 };

static struct disk *disk;
static struct embedded *embedded;
static struct inventory *inventory;
static struct inventory_port *port;

static int setup(void **state)
{
    struct embedded_report report;
    (void)state;
    disk = memory_disk_open(3);
    const struct journal_config journal = {
        .disk = disk, .data_id = 5, .segment_bytes = 4 * JOURNAL_PAGE, .batch_bytes = 2 * JOURNAL_PAGE
    };
    const struct embedded_config config = {
        .journal = journal,
        .engine = { .items_max = 4, .sales_max = 3, .tickets_max = 16, .places_max = 8 },
        .ports = 1,
        .ring_slots = 16,
    };
    assert_int_equal(embedded_open(&embedded, &config, &report), STATUS_OK);
    inventory = embedded_inventory(embedded);
    port = inventory->ops->port(inventory, 0, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    inventory->ops->close(inventory);
    memory_disk_close(disk);
    return 0;
}

static void ask(struct command command)
{
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    *request = (struct inventory_request){ .tag = 1, .command = command };
    port->ops->commit(port);
    port->ops->flush(port);
    (void)inventory->ops->turn(inventory, NOW);
}

static void become_durable(void)
{
    assert_true(embedded_write(embedded));
    (void)inventory->ops->turn(inventory, NOW);
}

static uint32_t arrivals(uint64_t *cursor, struct arrival *out, uint32_t max)
{
    uint32_t budget = 100;
    return inventory->ops->arrivals(inventory, 1, cursor, &budget, out, max);
}

static void an_arrival_shows_when_it_is_durable_and_not_before(void **state)
{
    struct arrival found[4];
    uint64_t cursor = 0;
    uint32_t number;
    (void)state;
    ask((struct command){ .type = COMMAND_SALE, .sale = { .sale = 1, .start_ms = 100, .end_ms = 200 } });
    become_durable();
    ask((struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = ANNA } });
    assert_false(inventory->ops->arrival_find(inventory, 1, ANNA, &number));
    assert_int_equal(arrivals(&cursor, found, 4), 0);
    become_durable();
    ask((struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = BERT } });
    assert_true(inventory->ops->arrival_find(inventory, 1, ANNA, &number));
    assert_int_equal(number, 0);
    assert_false(inventory->ops->arrival_find(inventory, 1, BERT, &number));
    assert_int_equal(arrivals(&cursor, found, 4), 1);
    assert_int_equal(found[0].user, ANNA);
    become_durable();
    assert_int_equal(arrivals(&cursor, found, 4), 1); /* from where it stopped */
    assert_true(found[0].user == BERT && found[0].number == 1);
}

static void arrivals_of_a_sale_are_found_without_those_of_earlier_sales(void **state)
{
    struct arrival found[4];
    uint64_t cursor = 0;
    uint32_t budget = 1;
    (void)state;
    ask((struct command){ .type = COMMAND_SALE, .sale = { .sale = 1, .start_ms = 100, .end_ms = 200 } });
    ask((struct command){ .type = COMMAND_SALE, .sale = { .sale = 2, .start_ms = 100, .end_ms = 200 } });
    for (user_id user = 1; user <= 4; user++)
        ask((struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = user } });
    assert_int_equal(inventory->ops->arrivals(inventory, 2, &cursor, &budget, found, 4), 0);
    ask((struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = 2, .user = ANNA } });
    become_durable(); /* the first record */
    become_durable(); /* the others, which came meanwhile */
    assert_int_equal(inventory->ops->arrivals(inventory, 2, &cursor, &budget, found, 4), 1);
    assert_true(found[0].user == ANNA && found[0].number == 0);
}

static void asking_for_a_port_again_only_changes_whom_it_wakes(void **state)
{
    struct wake host, client;
    (void)state;
    assert_int_equal(wake_open(&host), STATUS_OK);
    assert_int_equal(wake_open(&client), STATUS_OK);
    embedded_host(embedded, &host);
    assert_ptr_equal(inventory->ops->port(inventory, 0, &client), port);
    ask((struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    uint64_t signals = 0;
    assert_int_equal(read(client.fd, &signals, sizeof signals), sizeof signals);
    assert_int_equal(signals, 1);
    wake_close(&client);
    wake_close(&host);
    embedded_host(embedded, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_arrival_shows_when_it_is_durable_and_not_before, setup, teardown),
        cmocka_unit_test_setup_teardown(
            arrivals_of_a_sale_are_found_without_those_of_earlier_sales, setup, teardown),
        cmocka_unit_test_setup_teardown(asking_for_a_port_again_only_changes_whom_it_wakes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

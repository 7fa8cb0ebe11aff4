/* SPDX-License-Identifier: Apache-2.0 */
#include "config/data_folder.h"

#include "store/sqlite/sqlite.h"
#include "tests/support/journal_put.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ID "0123456789abcdef"
#define SECRET_TAIL "0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SECRET "0" SECRET_TAIL

static char path[40];
static char error[CONFIG_ERROR];

static int folder_fresh(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/stampede-data-XXXXXX");
    error[0] = 0;
    return mkdtemp(path) == NULL;
}

static int folder_gone(void **state)
{
    (void)state;
    tree_remove(path);
    return 0;
}

static enum status opened(struct data_folder *folder, enum data_folder_use use)
{
    return data_folder_open(folder, path, use, error);
}

static void identity_write(const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%s/identity", path);
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct order_store *store_open(const struct data_folder *folder)
{
    struct order_store *store;
    assert_int_equal(sqlite_store_open(&store, folder->database, NULL, error, sizeof error), STATUS_OK);
    return store;
}

static void the_first_start_makes_an_identity_that_stays(void **state)
{
    (void)state;
    struct data_folder first, second;
    struct stat entry;
    char name[64];
    assert_int_equal(opened(&first, DATA_SERVE), STATUS_OK);
    const uint64_t data_id = first.data_id;
    uint8_t master[MASTER_BYTES];
    memcpy(master, first.master, sizeof master);
    data_folder_close(&first);
    assert_int_equal(opened(&second, DATA_SERVE), STATUS_OK);
    assert_true(second.data_id == data_id && data_id != 0);
    assert_memory_equal(second.master, master, sizeof master);
    data_folder_close(&second);
    snprintf(name, sizeof name, "%s/identity", path);
    assert_int_equal(stat(name, &entry), 0);
    assert_int_equal(entry.st_mode & 077, 0); /* it holds the secret */
}

static void two_folders_have_different_identities(void **state)
{
    struct data_folder one, other;
    char first[sizeof path];
    memcpy(first, path, sizeof path);
    assert_int_equal(opened(&one, DATA_SERVE), STATUS_OK);
    assert_int_equal(folder_fresh(state), 0);
    assert_int_equal(opened(&other, DATA_SERVE), STATUS_OK);
    assert_true(one.data_id != other.data_id);
    assert_memory_not_equal(one.master, other.master, MASTER_BYTES);
    data_folder_close(&one);
    data_folder_close(&other);
    assert_int_equal(folder_gone(state), 0);
    memcpy(path, first, sizeof path);
}

static void a_second_server_is_kept_out_and_a_look_is_not(void **state)
{
    (void)state;
    struct data_folder server, second, look;
    assert_int_equal(opened(&server, DATA_SERVE), STATUS_OK);
    assert_int_equal(opened(&second, DATA_SERVE), STATUS_BUSY);
    assert_non_null(strstr(error, "is locked by another process"));
    assert_non_null(strstr(error, path));
    assert_int_equal(opened(&look, DATA_LOOK), STATUS_OK);
    data_folder_close(&look);
    data_folder_close(&server);
    assert_int_equal(opened(&second, DATA_SERVE), STATUS_OK); /* the lock went with the server */
    data_folder_close(&second);
}

static void a_look_does_not_make_an_identity(void **state)
{
    (void)state;
    struct data_folder look;
    char name[64];
    assert_int_not_equal(opened(&look, DATA_LOOK), STATUS_OK);
    assert_non_null(strstr(error, "/identity"));
    snprintf(name, sizeof name, "%s/identity", path);
    assert_int_not_equal(access(name, F_OK), 0);
}

static void a_damaged_identity_is_named_and_not_replaced(void **state)
{
    (void)state;
    struct data_folder folder;
    static const char *const bad[] = { "", "stampede-data 1 ", "stampede-data 2 " ID " " SECRET "\n",
        "stampede-data 1 0123456789abcdeg " SECRET "\n", "stampede-data 1 " ID " g" SECRET_TAIL "\n",
        "stampede-data 1 " ID " " SECRET " ", "stampede-data 1 " ID " " SECRET "\n\n" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        identity_write(bad[i]);
        assert_int_equal(opened(&folder, DATA_SERVE), STATUS_CORRUPT);
        assert_non_null(strstr(error, "/identity: is damaged or of another version"));
    }
    identity_write("stampede-data 1 " ID " " SECRET "\n");
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    assert_true(folder.data_id == UINT64_C(0x0123456789abcdef));
    assert_int_equal(folder.master[1], 0x11);
    data_folder_close(&folder);
}

/* Reads the file whole into `line`; answers its size. */
static size_t identity_text(char line[200])
{
    char name[64];
    snprintf(name, sizeof name, "%s/identity", path);
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    const size_t size = fread(line, 1, 199, file);
    line[size] = 0;
    assert_int_equal(fclose(file), 0);
    return size;
}

static void every_flipped_bit_of_an_identity_is_found(void **state)
{
    (void)state;
    struct data_folder folder;
    char line[200], other[200];
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    data_folder_close(&folder);
    const size_t size = identity_text(line);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(other, line, size + 1);
        other[bit / 8] = (char)(other[bit / 8] ^ 1 << bit % 8);
        identity_write(other);
        assert_int_equal(opened(&folder, DATA_SERVE), STATUS_CORRUPT);
        assert_non_null(strstr(error, "/identity: is damaged"));
    }
    identity_write(line);
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    data_folder_close(&folder);
}

static void an_identity_without_a_checksum_gets_one_when_its_secret_is_right(void **state)
{
    (void)state;
    struct data_folder folder;
    char line[200];
    identity_write("stampede-data 1 " ID " " SECRET "\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
        struct order_store *store = store_open(&folder);
        assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_OK);
        store->ops->close(store);
        data_folder_close(&folder);
    }
    assert_int_equal(identity_text(line), sizeof "stampede-data 2 " ID " " SECRET " 12345678");
    assert_memory_equal(line, "stampede-data 2 " ID " " SECRET " ", 98);
    /* The old file again, with another digit: nothing in it tells, but the database knows. */
    identity_write("stampede-data 1 " ID " 1" SECRET_TAIL "\n");
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "the secret in the file identity does not belong"));
    store->ops->close(store);
    data_folder_close(&folder);
    assert_int_equal(identity_text(line), sizeof "stampede-data 1 " ID " 1" SECRET_TAIL);
}

static void a_folder_that_cannot_be_is_named(void **state)
{
    (void)state;
    struct data_folder folder;
    assert_int_not_equal(data_folder_open(&folder, "/no/such/parent/data", DATA_SERVE, error), STATUS_OK);
    assert_non_null(strstr(error, "/no/such/parent/data"));
    assert_int_not_equal(data_folder_open(&folder, "/dev/null", DATA_SERVE, error), STATUS_OK);
    assert_non_null(strstr(error, "/dev/null"));
}

/* The log of a sale command at each position; the store takes it as a dead letter, which moves its
 * position. */
static void position_move(struct order_store *store, lsn_t position)
{
    struct queue_record record = { .command = { .type = COMMAND_SALE,
                                       .sale = { .sale = 1, .start_ms = 1, .end_ms = 2 } },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    const uint8_t dead = DISPOSE_DEAD;
    while (record.at.seq++ < position) {
        struct refusal refusal = { .text = "test" };
        assert_int_equal(store->ops->apply(store, &record, &dead, 1, &refusal), STATUS_OK);
    }
}

static void a_new_database_takes_the_folders_id_and_keeps_it(void **state)
{
    (void)state;
    struct data_folder folder;
    uint64_t data_id;
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_OK);
    assert_int_equal(store->ops->identity(store, &data_id), STATUS_OK);
    assert_true(data_id == folder.data_id);
    assert_int_equal(data_folder_match(&folder, store, 5, error), STATUS_OK);
    store->ops->close(store);
    data_folder_close(&folder);
}

static void a_new_database_beside_a_journal_that_has_records_is_refused_and_gets_no_id(void **state)
{
    (void)state;
    struct data_folder folder;
    uint64_t data_id;
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(data_folder_match(&folder, store, 1, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "the database is new, but the journal ends at 1"));
    assert_int_equal(store->ops->identity(store, &data_id), STATUS_OK);
    assert_true(data_id == 0);
    store->ops->close(store);
    data_folder_close(&folder);
}

static void a_database_of_another_journal_is_refused(void **state)
{
    (void)state;
    struct data_folder folder;
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(store->ops->identity_set(store, folder.data_id + 1), STATUS_OK);
    assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "journal and database do not belong together"));
    store->ops->close(store);
    data_folder_close(&folder);
}

static void a_journal_older_than_its_database_is_named_and_an_equal_one_is_not(void **state)
{
    (void)state;
    struct data_folder folder;
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_OK);
    position_move(store, 7);
    assert_int_equal(data_folder_match(&folder, store, 7, error), STATUS_OK);
    assert_int_equal(data_folder_match(&folder, store, 6, error), STATUS_CONFLICT);
    assert_non_null(strstr(
        error, "the journal is older than the database: it ends at 6, orders are written up to 7"));
    store->ops->close(store);
    data_folder_close(&folder);
}

/* A journal whose oldest segment is gone: five records of which the first three are not kept. */
static void journal_make(const struct data_folder *folder)
{
    const struct journal_config config = { folder->journal, folder->data_id, 4 * 4096, 4096 };
    struct journal *journal;
    struct journal_recovery recovery;
    const struct journal_position beginning = { 0 };
    assert_int_equal(journal_open(&journal, &config, &beginning, NULL, NULL, &recovery), STATUS_OK);
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(journal_prepare(journal), STATUS_OK);
        assert_int_equal(journal_put(journal, 1, "x", 1), i);
        assert_true(journal_seal(journal, i));
        assert_int_equal(journal_write(journal), STATUS_OK);
    }
    journal_close(journal);
    assert_int_equal(folder->journal->ops->remove(folder->journal, "segment-0000000000000001"), STATUS_OK);
}

static void a_database_older_than_what_is_kept_of_the_journal_is_named(void **state)
{
    (void)state;
    struct data_folder folder;
    assert_int_equal(opened(&folder, DATA_SERVE), STATUS_OK);
    struct order_store *store = store_open(&folder);
    assert_int_equal(data_folder_match(&folder, store, 0, error), STATUS_OK);
    journal_make(&folder);
    assert_int_equal(data_folder_match(&folder, store, 5, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "the database is older than the journal: orders are written up to 0"));
    position_move(store, 2);
    assert_int_equal(data_folder_match(&folder, store, 5, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "but the log is kept only after 3"));
    position_move(store, 3);
    assert_int_equal(data_folder_match(&folder, store, 5, error), STATUS_OK);
    store->ops->close(store);
    data_folder_close(&folder);
}

#define each(test) cmocka_unit_test_setup_teardown(test, folder_fresh, folder_gone)

int main(void)
{
    const struct CMUnitTest tests[] = {
        each(the_first_start_makes_an_identity_that_stays),
        each(two_folders_have_different_identities),
        each(a_second_server_is_kept_out_and_a_look_is_not),
        each(a_look_does_not_make_an_identity),
        each(a_damaged_identity_is_named_and_not_replaced),
        each(every_flipped_bit_of_an_identity_is_found),
        each(an_identity_without_a_checksum_gets_one_when_its_secret_is_right),
        each(a_folder_that_cannot_be_is_named),
        each(a_new_database_takes_the_folders_id_and_keeps_it),
        each(a_new_database_beside_a_journal_that_has_records_is_refused_and_gets_no_id),
        each(a_database_of_another_journal_is_refused),
        each(a_journal_older_than_its_database_is_named_and_an_equal_one_is_not),
        each(a_database_older_than_what_is_kept_of_the_journal_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes between a server and its follower: what was written is read, and nothing else is. */
#include "follow/wire.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static uint8_t bytes[2 * WIRE_CHANGE_MAX];

static enum status read_change(size_t size, struct mirror_change *change, uint32_t *used)
{
    static char name[DISK_NAME_MAX];
    return wire_change_read(span_of(bytes, size), change, name, used);
}

static void a_change_is_read_as_it_was_written(void **state)
{
    (void)state;
    const uint8_t zeros[8] = { 0, 16 };
    const struct mirror_change changes[] = {
        { .kind = MIRROR_WRITE,
            .part = MIRROR_JOURNAL,
            .name = "segment-1",
            .offset = 4096,
            .data = "abc",
            .bytes = 3 },
        { .kind = MIRROR_ZEROS,
            .part = MIRROR_JOURNAL,
            .name = "next-segment",
            .offset = 1,
            .data = zeros,
            .bytes = 8 },
        { .kind = MIRROR_TRUNCATE, .name = "stampede.db-wal", .offset = 12 },
        { .kind = MIRROR_SYNC, .name = "stampede.db" },
        { .kind = MIRROR_RENAME, .name = "a", .data = "b", .bytes = 1 },
        { .kind = MIRROR_REMOVE, .part = MIRROR_MEDIA, .name = "a.webp" },
        { .kind = MIRROR_SYNC_FOLDER, .part = MIRROR_SANDBOX },
        { .kind = MIRROR_BASE_BEGIN },
        { .kind = MIRROR_BASE_END },
        { .kind = MIRROR_SAME,
            .part = MIRROR_MEDIA,
            .name = "a.webp.follow",
            .offset = 2 * WIRE_DATA_MAX,
            .data = "\0\0\1\0a.webp",
            .bytes = 10 },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct mirror_change got = { 0 };
        uint32_t used = 0;
        const uint32_t size = wire_change_put(bytes, &changes[i]);
        for (uint32_t cut = 0; cut < size; cut++) {
            assert_int_equal(read_change(cut, &got, &used), STATUS_OK);
            assert_int_equal(used, 0);
        }
        assert_int_equal(read_change(size + 5, &got, &used), STATUS_OK);
        assert_int_equal(used, size);
        assert_int_equal(got.kind, changes[i].kind);
        assert_int_equal(got.part, changes[i].part);
        assert_int_equal(got.offset, changes[i].offset);
        assert_int_equal(got.bytes, changes[i].bytes);
        if (changes[i].name != NULL)
            assert_string_equal(got.name, changes[i].name);
        if (got.bytes > 0)
            assert_memory_equal(got.data, changes[i].data, got.bytes);
    }
}

static void refused(uint32_t size)
{
    struct mirror_change got;
    uint32_t used = 7;
    assert_int_equal(read_change(size, &got, &used), STATUS_BAD_INPUT);
    assert_int_equal(used, 0);
}

static uint32_t put(
    enum mirror_kind kind, const char *name, uint64_t offset, const void *data, uint32_t size)
{
    return wire_change_put(bytes,
        &(struct mirror_change){
            .kind = kind, .name = name, .offset = offset, .data = data, .bytes = size });
}

static void a_change_that_nobody_writes_is_refused(void **state)
{
    (void)state;
    const uint8_t many[8] = { 1, 0, 0, 64 };
    uint32_t size = put(MIRROR_SYNC, "a", 0, NULL, 0);
    bytes[0] = 0;
    refused(size);
    bytes[0] = MIRROR_KINDS;
    refused(size);
    bytes[0] = MIRROR_SYNC;
    bytes[1] = MIRROR_PARTS;
    refused(size);
    bytes[1] = 0;
    bytes[3] = 1;
    refused(size);
    bytes[3] = 0;
    bytes_put_u32(bytes + 4, WIRE_DATA_MAX + 1);
    refused(size);
    refused(put(MIRROR_SYNC, "a", 1, NULL, 0));
    refused(put(MIRROR_SYNC, "a", 0, "x", 1));
    refused(put(MIRROR_SYNC, NULL, 0, NULL, 0));
    refused(put(MIRROR_SYNC_FOLDER, "a", 0, NULL, 0));
    refused(put(MIRROR_WRITE, "a", 0, NULL, 0));
    refused(put(MIRROR_WRITE, "a", WIRE_FILE_MAX + 1, "x", 1));
    refused(put(MIRROR_ZEROS, "a", 0, many, 7));
    refused(put(MIRROR_ZEROS, "a", 0, many, 8));
    refused(put(MIRROR_RENAME, "a", 0, "../b", 4));
    refused(put(MIRROR_RENAME, "a", 0, "lock", 4));
    /* A block of the old copy: an offset between blocks, no bytes, too many, no name, names of others. */
    refused(put(MIRROR_SAME, "a", 1, "\1\0\0\0a", 5));
    refused(put(MIRROR_SAME, "a", 0, "\0\0\0\0a", 5));
    refused(put(MIRROR_SAME, "a", 0, "\1\0\1\0a", 5));
    refused(put(MIRROR_SAME, "a", 0, "\1\0\0\0", 4));
    refused(put(MIRROR_SAME, "a", 0, "\1\0\0", 3));
    refused(put(MIRROR_SAME, "a", 0, "\1\0\0\0../b", 8));
    refused(put(MIRROR_SAME, "a", 0, "\1\0\0\0lock", 8));
    refused(put(MIRROR_SAME, "lock", 0, "\1\0\0\0a", 5));
}

static void a_name_stays_in_its_folder_and_leaves_our_own_files_alone(void **state)
{
    (void)state;
    static const char *const bad[] = { ".", "..", ".hidden", "a/b", "a b", "\xff", "lock",
        "following", "fenced", "follow-state", "stampede.db-shm" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(wire_name_good(MIRROR_ROOT, span_from_string(bad[i])));
        refused(put(MIRROR_REMOVE, bad[i], 0, NULL, 0));
    }
    assert_false(wire_name_good(MIRROR_ROOT, SPAN("")));
    assert_true(wire_name_good(MIRROR_ROOT, SPAN("stampede.db-wal")));
    assert_true(wire_name_good(MIRROR_ROOT, SPAN("generation")));
}

static void a_word_is_read_as_it_was_written_and_no_other(void **state)
{
    (void)state;
    uint8_t word[WIRE_WORD_BYTES];
    const struct wire_word wanted = { .kind = WIRE_WELCOME,
        .reason = WIRE_REASON_TAKEN,
        .whole = true,
        .resumes = true,
        .sells = true,
        .data_id = 1,
        .generation = 2,
        .epoch = 3,
        .position = 4,
        .head = UINT64_MAX };
    struct wire_word got;
    wire_word_put(word, &wanted);
    assert_int_equal(wire_word_read(span_of(word, sizeof word), &got), STATUS_OK);
    uint8_t again[WIRE_WORD_BYTES];
    wire_word_put(again, &got);
    assert_memory_equal(again, word, sizeof word);
    assert_true(got.whole && got.resumes && got.sells && got.head == UINT64_MAX && got.position == 4);
    assert_int_equal(wire_word_read(span_of(word, sizeof word - 1), &got), STATUS_BAD_INPUT);
    static const struct {
        size_t at;
        uint8_t value;
    } wrong[] = { { 0, 0 }, { 0, WIRE_WORD_KINDS }, { 1, WIRE_REASONS }, { 2, 2 }, { 3, 2 },
        { 4, 0 }, { 5, 2 }, { 6, 1 }, { WIRE_WORD_BYTES - 1, 1 } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wire_word_put(word, &wanted);
        word[wrong[i].at] = wrong[i].value;
        assert_int_equal(wire_word_read(span_of(word, sizeof word), &got), STATUS_BAD_INPUT);
    }
}

/* Programs of different versions do not follow each other, but a takeover is understood. */
static void who_may_sell_is_understood_in_every_version(void **state)
{
    (void)state;
    static const enum wire_word_kind about_selling[] = { WIRE_ASK, WIRE_FENCE, WIRE_ANSWER,
        WIRE_REFUSED, WIRE_FENCED };
    static const enum wire_word_kind about_more[] = { WIRE_FOLLOW, WIRE_WELCOME, WIRE_ACK, WIRE_COMPARE };
    uint8_t word[WIRE_WORD_BYTES];
    struct wire_word got;
    for (size_t i = 0; i < sizeof about_selling / sizeof *about_selling; i++) {
        wire_word_put(
            word, &(struct wire_word){ .kind = about_selling[i], .data_id = 5, .generation = 6 });
        word[4] = WIRE_VERSION + 1;
        assert_int_equal(wire_word_read(span_of(word, sizeof word), &got), STATUS_OK);
        assert_true(got.kind == about_selling[i] && got.version == WIRE_VERSION + 1);
        assert_true(got.data_id == 5 && got.generation == 6);
    }
    for (size_t i = 0; i < sizeof about_more / sizeof *about_more; i++) {
        wire_word_put(word, &(struct wire_word){ .kind = about_more[i] });
        assert_int_equal(wire_word_read(span_of(word, sizeof word), &got), STATUS_OK);
        word[4] = WIRE_VERSION + 1;
        assert_int_equal(wire_word_read(span_of(word, sizeof word), &got), STATUS_CONFLICT);
        assert_int_equal(got.version, WIRE_VERSION + 1);
    }
}

static void names_of_blocks_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    uint8_t record[WIRE_NAMES_BYTES + HASH_SHA256_BYTES] = { 1 };
    struct span names;
    bool more = false;
    assert_int_equal(wire_names_read(span_of(record, 1), &names, &more), STATUS_OK);
    assert_true(more && names.size == 0);
    assert_int_equal(wire_names_read(span_of(record, WIRE_NAMES_BYTES), &names, &more), STATUS_OK);
    assert_int_equal(names.size, WIRE_NAMES_MAX * HASH_SHA256_BYTES);
    assert_int_equal(wire_names_read(span_of(record, sizeof record), &names, &more), STATUS_BAD_INPUT);
    assert_int_equal(wire_names_read(span_of(record, 2), &names, &more), STATUS_BAD_INPUT);
    assert_int_equal(wire_names_read(span_of(record, 0), &names, &more), STATUS_BAD_INPUT);
    record[0] = 2;
    assert_int_equal(wire_names_read(span_of(record, 1), &names, &more), STATUS_BAD_INPUT);
    record[0] = 0;
    assert_int_equal(wire_names_read(span_of(record, 33), &names, &more), STATUS_OK);
    assert_false(more);
}

static void each_side_proves_the_secret_in_its_own_words(void **state)
{
    (void)state;
    const uint8_t a[WIRE_NONCE_BYTES] = { 1 }, b[WIRE_NONCE_BYTES] = { 2 };
    uint8_t server[WIRE_PROOF_BYTES], caller[WIRE_PROOF_BYTES], other[WIRE_PROOF_BYTES];
    struct wire_keys keys;
    wire_proof(SPAN("secret"), true, a, b, server);
    wire_proof(SPAN("secret"), false, a, b, caller);
    assert_memory_not_equal(server, caller, sizeof server);
    wire_proof(SPAN("secreu"), true, a, b, other);
    assert_memory_not_equal(server, other, sizeof server);
    wire_proof(SPAN("secret"), true, b, a, other);
    assert_memory_not_equal(server, other, sizeof server);
    wire_keys_make(SPAN("secret"), a, b, &keys);
    assert_memory_not_equal(keys.to_server, keys.to_caller, WIRE_KEY_BYTES);
    assert_memory_not_equal(keys.to_server, caller, WIRE_KEY_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_read_as_it_was_written),
        cmocka_unit_test(a_change_that_nobody_writes_is_refused),
        cmocka_unit_test(a_name_stays_in_its_folder_and_leaves_our_own_files_alone),
        cmocka_unit_test(a_word_is_read_as_it_was_written_and_no_other),
        cmocka_unit_test(who_may_sell_is_understood_in_every_version),
        cmocka_unit_test(names_of_blocks_are_read_whole_or_not_at_all),
        cmocka_unit_test(each_side_proves_the_secret_in_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/follow_fuzz.c: what a peer says to a server or its follower. A change that is read lies inside
 * its bytes, keeps every bound, and is written as the same bytes; cut anywhere it asks for more. The first
 * byte chooses between a stream of changes, words, and names of blocks. */
#include "follow/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of the change at the front; 0: there is none. */
static uint32_t check_change(const uint8_t *data, size_t size)
{
    struct mirror_change change = { 0 };
    char name[DISK_NAME_MAX];
    uint32_t used = 0, cut_used = 0;
    const enum status status = wire_change_read(span_of(data, size), &change, name, &used);
    if (status != STATUS_OK || used == 0) {
        invariant(used == 0);
        return 0;
    }
    invariant(used <= size && used <= WIRE_CHANGE_MAX && change.bytes <= WIRE_DATA_MAX);
    invariant(change.name == NULL || wire_name_good(change.part, span_from_string(change.name)));
    uint8_t *again = malloc(WIRE_CHANGE_MAX);
    invariant(again != NULL && wire_change_put(again, &change) == used && memcmp(again, data, used) == 0);
    free(again);
    for (size_t cut = 0; cut < used; cut += 1 + used / 64) {
        struct mirror_change part;
        invariant(wire_change_read(span_of(data, cut), &part, name, &cut_used) == STATUS_OK
            && cut_used == 0);
    }
    return used;
}

static void check_stream(const uint8_t *data, size_t size)
{
    for (uint32_t used = 1; size > 0 && used > 0; data += used, size -= used)
        used = check_change(data, size);
}

static void check_names(const uint8_t *data, size_t size)
{
    struct span names;
    bool more;
    if (wire_names_read(span_of(data, size), &names, &more) != STATUS_OK)
        return;
    invariant(names.size % HASH_SHA256_BYTES == 0 && names.size + 1 == size);
    invariant(names.size <= WIRE_NAMES_MAX * HASH_SHA256_BYTES && more == (data[0] == 1));
}

static void check_word(const uint8_t *data, size_t size)
{
    struct wire_word word;
    uint8_t again[WIRE_WORD_BYTES], caller[WIRE_NONCE_BYTES];
    if (wire_word_read(span_of(data, size), &word) == STATUS_OK) {
        wire_word_put(again, &word);
        again[4] = word.version; /* ours is written */
        invariant(memcmp(again, data, size) == 0);
    }
    (void)!wire_greeting_read(span_of(data, size), caller);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 0)
        check_stream(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        check_word(data + 1, size - 1);
    else
        check_names(data + 1, size - 1);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/identity.h"

#include "base/hash.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void identity_line(const struct data_folder *folder, char line[IDENTITY_BYTES])
{
    struct text text = text_in(line, IDENTITY_BYTES);
    text_literal(&text, IDENTITY_WORD "2 ");
    text_hex64(&text, folder->data_id);
    text_literal(&text, " ");
    text_hex(&text, span_of(folder->master, sizeof folder->master));
    invariant(text.size == IDENTITY_BODY_BYTES);
    text_format(&text, " %08x\n", hash_crc32c(0, line, IDENTITY_BODY_BYTES));
    invariant(text.size == IDENTITY_BYTES && !text.overflow);
}

static bool hex_read(struct span text, uint8_t *out, size_t bytes)
{
    if (text.size != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word;
        if (span_to_hex64(span_of(text.data + 2 * i, 16), &word) != STATUS_OK)
            return false;
        for (size_t j = 0; j < 8; j++)
            out[i + j] = (uint8_t)(word >> (56 - 8 * j));
    }
    return true;
}

static bool checksum_fits(const char *line)
{
    char crc[9];
    snprintf(crc, sizeof crc, "%08x", hash_crc32c(0, line, IDENTITY_BODY_BYTES));
    return line[IDENTITY_BODY_BYTES] == ' ' && memcmp(line + IDENTITY_BODY_BYTES + 1, crc, 8) == 0;
}

bool identity_read(struct span text, struct data_folder *folder)
{
    const char *line = text.data;
    uint64_t data_id = 0;
    uint8_t master[MASTER_BYTES];
    const bool first =
        text.size == IDENTITY_BYTES_FIRST && span_starts_with(text, SPAN(IDENTITY_WORD "1 "));
    const bool second = text.size == IDENTITY_BYTES
        && span_starts_with(text, SPAN(IDENTITY_WORD "2 ")) && checksum_fits(line);
    const bool good = (first || second) && line[text.size - 1] == '\n'
        && line[IDENTITY_WORD_BYTES + 16] == ' '
        && span_to_hex64(span_of(line + IDENTITY_WORD_BYTES, 16), &data_id) == STATUS_OK
        && hex_read(span_of(line + IDENTITY_WORD_BYTES + 17, (size_t)2 * MASTER_BYTES), master,
            MASTER_BYTES);
    if (good) {
        folder->data_id = data_id;
        folder->without_checksum = first;
        memcpy(folder->master, master, sizeof folder->master);
    }
    explicit_bzero(master, sizeof master);
    return good;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/journal_put.h: appends a record whose payload lies somewhere else. */
#ifndef STAMPEDE_TESTS_SUPPORT_JOURNAL_PUT_H
#define STAMPEDE_TESTS_SUPPORT_JOURNAL_PUT_H

#include "journal/journal.h"

#include <string.h>

static inline uint64_t journal_put(
    struct journal *journal, uint8_t type, const void *payload, uint32_t bytes)
{
    memcpy(journal_payload(journal, bytes), payload, bytes);
    return journal_append(journal, type, bytes);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* contract/record.h: the byte form of a command with its outcome, as the journal carries it
 * (docs/journal.md). Strict: decode refuses a wrong length, a wrong type, a value out of range. */
#ifndef STAMPEDE_CONTRACT_RECORD_H
#define STAMPEDE_CONTRACT_RECORD_H

#include "base/span.h"
#include "contract/command.h"

/* Writes at most RECORD_BYTES_MAX bytes to `out`; answers how many. The command must be a logged
 * one. */
uint32_t record_encode(const struct command *command, const struct outcome *outcome, uint8_t *out);
MUST_CHECK enum status record_decode(
    uint8_t type, struct span payload, struct command *command, struct outcome *outcome);

#endif

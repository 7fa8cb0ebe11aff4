/* SPDX-License-Identifier: Apache-2.0 */
/* config/imported.h: the file `imported` of a data folder into which a shop of many machines was moved back:
 * the numbers of its tickets (contract/ticket_ranges.h).
 *   stampede-imported 1
 *   <number of the first ticket, 16 hex digits> <how many>      a line for each range, ascending
 * Thread: start-up only. Errors: those of config/checked_file.h. */
#ifndef STAMPEDE_CONFIG_IMPORTED_H
#define STAMPEDE_CONFIG_IMPORTED_H

#include "contract/ticket_ranges.h"

struct disk;
/* *ranges: to be freed; NULL: there is no such file. STATUS_FULL: no memory. */
MUST_CHECK enum status imported_read(struct disk *folder, struct ticket_ranges **ranges);
MUST_CHECK enum status imported_write(struct disk *folder, const struct ticket_ranges *ranges);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* backup/backup.h: a backup of a data folder whose server may go on selling, and the way back
 * (docs/backup.md).
 * Thread: one, of a program of its own. Errors: `error` says what is wrong and where. */
#ifndef STAMPEDE_BACKUP_BACKUP_H
#define STAMPEDE_BACKUP_BACKUP_H

#include "backup/manifest.h"
#include "config/config.h"

/* Makes the folder `to`, which is not there or empty, out of the data folder `from`. */
MUST_CHECK enum status backup_make(
    const char *from, const char *to, struct manifest *made, char error[CONFIG_ERROR]);

struct backup_return {
    const char *from, *to; /* a backup; a data folder that is not there yet */
    const char *journal; /* NULL: the backup's own; else a folder with a later log of the same shop */
    uint64_t until_lsn, until_ms; /* UINT64_MAX: all */
    bool lose_later;              /* the operator knows that orders after the point are lost */
    /* What came of it. */
    uint64_t position;        /* of the database */
    uint64_t end_lsn, end_ms; /* of the log */
};
/* Checks the backup first; nothing of `to` is there before all of it is. */
MUST_CHECK enum status backup_return(struct backup_return *, char error[CONFIG_ERROR]);

int backup_main(int argc, char **argv); /* stampede backup */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify.h: `stampede verify`: replays a data folder, or the partitions that a database keeps for
 * many machines, and proves that every unit is accounted for. docs/verify.md says what is checked and how
 * to read the report. Changes nothing in the journal; the database is opened the way the server opens it
 * and only read.
 * Thread: one. Works beside stopped servers, and beside running ones up to what is durable by then. */
#ifndef STAMPEDE_VERIFY_VERIFY_H
#define STAMPEDE_VERIFY_VERIFY_H

#include "config/data_folder.h"
#include "inventory/engine.h"

#include <stdio.h>

/* What settings name. */
struct verify_source {
    struct order_store *store; /* NULL: the database is the file in the data folder */
    bool partitions;           /* many machines: the logs are in the database. Then: */
    uint64_t data_id;
    uint8_t master[MASTER_BYTES];
    struct engine_config engine;
};
/* Reads the settings in a file and opens what they name. `error` says what is wrong; `partitions` is true
 * even then, if the settings could be read and say so. */
typedef enum status (*verify_open)(
    const char *settings, struct verify_source *source, char error[CONFIG_ERROR]);

struct verify_options {
    const char *folder;   /* NULL: the logs are in the database that the settings name */
    const char *settings; /* NULL: the database is in the folder */
    verify_open open;     /* where there are settings */
    const char *user;     /* NULL: nobody; the shop's subject, or 16 hex digits of a user id */
    uint32_t item;        /* 0: all */
    bool at_wanted;
    uint64_t at_ms; /* counts at that moment */
    bool json, quiet;
};

enum verify_result {
    VERIFY_HOLDS = 0,
    VERIFY_FAILED = 1, /* a check does not hold */
    VERIFY_DAMAGED = 2, /* folder, its journal or a cluster's database can't be read; also: bad arguments */
};

enum verify_result verify_run(const struct verify_options *options, FILE *out);
int verify_main(int argc, char **argv, verify_open open);

#endif

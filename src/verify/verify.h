/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify.h: `stampede verify`: replays a data folder and proves that every unit is accounted
 * for. docs/verify.md says what is checked and how to read the report. Changes nothing in the
 * journal; the database is opened the way the server opens it and only read.
 * Thread: one. Works on the folder of a stopped server, and beside a running one up to what is
 * durable by then. */
#ifndef STAMPEDE_VERIFY_VERIFY_H
#define STAMPEDE_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct order_store;
/* Opens the database that the settings in a file name. *is_server: false: it is the file in the data folder,
 * and nothing was opened. Anything but 0: `error` says why. */
typedef int (*verify_open)(const char *settings, struct order_store **store, bool *is_server,
    char *error, size_t error_bytes);

struct verify_options {
    const char *folder;
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
    VERIFY_FAILED = 1,  /* a check does not hold */
    VERIFY_DAMAGED = 2, /* the folder or its journal can't be read; also: bad arguments */
};

enum verify_result verify_run(const struct verify_options *options, FILE *out);
int verify_main(int argc, char **argv, verify_open open);

#endif

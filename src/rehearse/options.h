/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/options.h: the command line of `stampede rehearse`. Pure but for messages. */
#ifndef STAMPEDE_REHEARSE_OPTIONS_H
#define STAMPEDE_REHEARSE_OPTIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum rehearse_exit {
    REHEARSE_DONE = 0,
    REHEARSE_DIFFERS = 1,
    REHEARSE_USAGE = 2,
    REHEARSE_FAILED = 3
};

struct rehearse_options {
    bool help, example, use_given_server, json;
    uint32_t sale;
    const char *url, *key_file;               /* of the shop */
    const char *server_url, *server_key_file; /* of a rehearsal server that is there already */
    const char *measure_url;
    const char *scratch, *html_file, *json_file, *text_file;
    uint64_t seed;
    uint32_t users, bots_percent, pays_percent, connections, early_s, late_s, seconds;
    uint32_t expect_users, machine_cores, p99_ms, rate;
};

extern const char rehearse_usage[];
/* False: said on `errors` what is wrong. */
MUST_CHECK bool rehearse_options_read(
    struct rehearse_options *options, int argc, char **argv, FILE *errors);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cli/draw_command.h: `stampede draw verify`: works a published draw out again: commitment, chain of
 * arrivals, beacon, key, places. Needs no key and no data folder: what everybody can download is enough. */
#ifndef STAMPEDE_CLI_DRAW_COMMAND_H
#define STAMPEDE_CLI_DRAW_COMMAND_H

#include "funnel/room/room.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A published draw: the document and the marks of all who took part, 16 hex digits each. */
struct draw_published {
    json_t *draw;
    json_t *marks; /* a string */
};
struct draw_wish {
    const char *commitment;                 /* as it was noted before the start; NULL: not known */
    const char *beacon_name, *beacon_value; /* as they were noted, and as the source says; NULL: not known */
    uint64_t user;                          /* whose place is asked for; 0: nobody's */
    bool places;                            /* print the place of every number */
};

/* Prints what was found. True: everything agrees. */
MUST_CHECK bool draw_check(
    const struct draw_published *published, const struct draw_wish *wish, FILE *out);

/* Exit: 0 the draw is what was published, 1 it is not, 2 could not run. */
int draw_main(int argc, char **argv);

#endif

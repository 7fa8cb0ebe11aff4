/* SPDX-License-Identifier: Apache-2.0 */
/* cli/mint_command.h: `stampede mint`: passes and sessions by the million, for benchmarks and
 * rehearsals. Needs the data folder itself (its secret), so it gives nobody a right that the owner
 * of the folder does not have. Users are the subjects "mint-<n>". Thread: one. */
#ifndef STAMPEDE_CLI_MINT_COMMAND_H
#define STAMPEDE_CLI_MINT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct mint_options {
    const char *folder;
    const struct config *settings; /* whose cluster's secret is used, if it is of one; NULL: none */
    uint32_t item;                 /* passes only */
    uint64_t first, count;
    uint32_t life_s; /* 0: as long as a pass or session can live */
    bool sessions;   /* instead of passes */
};

/* One token a line. False: `error` (at least 256 bytes) says why. */
bool mint_run(const struct mint_options *options, FILE *out, char *error);
int mint_main(int argc, char **argv);

#endif

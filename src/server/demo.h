/* SPDX-License-Identifier: Apache-2.0 */
/* server/demo.h: `stampede demo`: a server with a sale to play with, on an empty data folder. */
#ifndef STAMPEDE_SERVER_DEMO_H
#define STAMPEDE_SERVER_DEMO_H

int demo_main(int argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/rehearse.h: `stampede rehearse`: plays a crowd of people and bots against a copy of a sale
 * and reports (docs/rehearse.md). Speaks HTTP only. Thread: the caller's, and one that looks at /metrics.
 * */
#ifndef STAMPEDE_REHEARSE_REHEARSE_H
#define STAMPEDE_REHEARSE_REHEARSE_H

int rehearse_main(int argc, char **argv);

#endif

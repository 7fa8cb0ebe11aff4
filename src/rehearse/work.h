/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/work.h: the proof of work of the human check, as a browser does it (docs/human-check.md). A
 * rehearsal server asks for next to none of it: what is measured is the server, not the visitors' machines.
 * Thread: any. */
#ifndef STAMPEDE_REHEARSE_WORK_H
#define STAMPEDE_REHEARSE_WORK_H

#include "base/span.h"

enum { WORK_HASHES_MAX = 65536 }; /* a challenge that needs more tries is given up */

/* The challenge as the server sent it: {"parameters":{…},"signature":"…"}. The payload in base64, which
 * the caller frees; NULL: it is no such challenge, or too much work. */
char *work_solve(struct span challenge);

#endif

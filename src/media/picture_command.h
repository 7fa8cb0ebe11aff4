/* SPDX-License-Identifier: Apache-2.0 */
/* media/picture_command.h: a picture is decoded in a process of its own (this program again, under
 * the name PICTURE_VERB), with bounds on time, memory and output. A picture that breaks a decoder
 * ends that process, not the server. Both sides are here. */
#ifndef STAMPEDE_MEDIA_PICTURE_COMMAND_H
#define STAMPEDE_MEDIA_PICTURE_COMMAND_H

#include "base/span.h"

#include <sys/types.h>

#define PICTURE_VERB "clean-picture"
enum { PICTURE_CPU_S = 20, PICTURE_MEMORY_BYTES = 768 * 1024 * 1024, PICTURE_WAIT_MS = 40 * 1000 };

/* The child: a picture on standard input, the cleaned one on standard output. */
int picture_command_main(int argc, char **argv);

/* The server's side: one child. Thread: one. */
struct picture_child {
    pid_t pid; /* 0: none */
    int out;   /* what it writes */
    uint64_t deadline_ms;
};
enum picture_outcome {
    PICTURE_CHILD_RUNS,
    PICTURE_CHILD_DONE,     /* `bytes` is filled; free() it */
    PICTURE_CHILD_REFUSED,  /* the picture can't be decoded, or breaks the decoder */
    PICTURE_CHILD_TOO_LONG, /* it would be larger than PICTURE_KEPT_BYTES_MAX */
    PICTURE_CHILD_FAILED,   /* not the picture's fault: no memory, no process */
};
/* Copies the bytes before it returns. */
MUST_CHECK enum status picture_child_start(
    struct picture_child *child, struct span bytes, uint64_t now_ms);
/* Never waits. */
enum picture_outcome picture_child_look(
    struct picture_child *child, uint64_t now_ms, char **bytes, size_t *size);
void picture_child_end(struct picture_child *child); /* at once, whatever it does */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cli/received.h: the body of a server's answer, as curl brings it in pieces.
 * Memory: the caller frees `bytes`, which end with a zero byte. Thread: any. */
#ifndef STAMPEDE_CLI_RECEIVED_H
#define STAMPEDE_CLI_RECEIVED_H

#include <stddef.h>

enum { RECEIVED_BYTES_MAX = 64 * 1024 * 1024 };

struct received {
    char *bytes; /* NULL: nothing came */
    size_t size;
};
/* CURLOPT_WRITEFUNCTION, with a struct received as its data. */
size_t received_take(char *data, size_t one, size_t bytes, void *context);

#endif

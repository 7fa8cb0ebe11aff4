/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/received.h"

#include <stdlib.h>
#include <string.h>

size_t received_take(char *data, size_t one, size_t bytes, void *context)
{
    struct received *received = context;
    (void)one; /* it is 1 */
    if (bytes > RECEIVED_BYTES_MAX - received->size)
        return 0;
    char *more = realloc(received->bytes, received->size + bytes + 1);
    if (more == NULL)
        return 0;
    memcpy(more + received->size, data, bytes);
    received->bytes = more;
    received->size += bytes;
    more[received->size] = 0;
    return bytes;
}

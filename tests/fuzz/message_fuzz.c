/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/message_fuzz.c: what a broker gives back. A message is read whole or not at all; its lines lie
 * inside of its bytes; and what was read is written as the same bytes. */
#include "queue/message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message message = { .part = 7 };
    char *bytes = malloc(size); /* of exactly this size: a sanitizer sees what goes beyond it */
    char head[MESSAGE_HEAD_MAX];
    if (size > 0)
        memcpy(bytes, data, size);
    if (message_read(span_of(bytes, size), &message) != STATUS_OK) {
        invariant(message.part == 7);
    } else {
        const struct span lines = message.entry.lines;
        invariant(message.count > 0 && message.count <= STREAM_RECORDS_MAX);
        invariant(message_records(lines) == message.count && message.entry.seq >= message.count);
        const size_t head_size = message_head_write(&message, head);
        invariant(head_size + lines.size == size && lines.data == bytes + head_size);
        invariant(memcmp(head, bytes, head_size) == 0);
    }
    free(bytes);
    return 0;
}

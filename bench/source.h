/* SPDX-License-Identifier: Apache-2.0 */
/* Where the load client's requests come from.
 *
 * One of:
 *   a fixed request      template file without '@'
 *   a filled template    its run of '@' is replaced, per request, by one line of the fill file (all
 *                        lines as long as the run) or by a counter in lower-case hexadecimal
 *   a list of requests   file of "<decimal bytes>\n<raw request>" entries, one after the other
 *
 * Memory: files are mapped for the life of the program. Thread: one owner. */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_REQUEST_BYTES_MAX = 16384, SOURCE_LIST_MAX = 1 << 24 };

struct source {
    const char *text; /* template, or all of the list */
    size_t text_bytes;
    size_t request_bytes_max;
    size_t fill_offset; /* of the run of '@' in the template */
    size_t fill_bytes;  /* 0: nothing to fill */
    const char *fill;   /* lines of fill_bytes + 1; NULL: count in hexadecimal from counter_first */
    uint64_t counter_first;
    uint64_t count;   /* distinct requests; UINT64_MAX for a counter */
    uint64_t *starts; /* list only: where each request starts, and its size */
    uint32_t *sizes;
};

static inline const char *source_map(const char *path, size_t *bytes)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    *bytes = (size_t)status.st_size;
    void *text = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    return text == MAP_FAILED ? NULL : text;
}

/* NULL, or what is wrong. */
static inline const char *source_open_template(
    struct source *source, const char *path, const char *fill_path, uint64_t counter_first)
{
    *source = (struct source){ .counter_first = counter_first };
    source->text = source_map(path, &source->text_bytes);
    if (source->text == NULL || source->text_bytes > SOURCE_REQUEST_BYTES_MAX)
        return "the template can't be read, is empty or too long";
    source->request_bytes_max = source->text_bytes;
    const char *mark = memchr(source->text, '@', source->text_bytes);
    if (mark == NULL) {
        source->count = 1;
        return NULL;
    }
    source->fill_offset = (size_t)(mark - source->text);
    while (source->fill_offset + source->fill_bytes < source->text_bytes && mark[source->fill_bytes] == '@')
        source->fill_bytes++;
    if (fill_path == NULL) {
        source->count = UINT64_MAX;
        return NULL;
    }
    size_t bytes;
    source->fill = source_map(fill_path, &bytes);
    if (source->fill == NULL)
        return "the fill file can't be read or is empty";
    source->count = bytes / (source->fill_bytes + 1);
    if (source->count * (source->fill_bytes + 1) != bytes || source->fill[source->fill_bytes] != '\n')
        return "lines of the fill file are not as long as the run of '@' in the template";
    return NULL;
}

static inline const char *source_open_list(struct source *source, const char *path)
{
    *source = (struct source){ .count = 0 };
    source->text = source_map(path, &source->text_bytes);
    if (source->text == NULL)
        return "the list of requests can't be read or is empty";
    size_t capacity = 0;
    for (size_t at = 0; at < source->text_bytes;) {
        size_t size = 0;
        for (; at < source->text_bytes && source->text[at] >= '0' && source->text[at] <= '9'; at++)
            size = size < SOURCE_REQUEST_BYTES_MAX ? size * 10 + (size_t)(source->text[at] - '0') : size;
        if (size == 0 || size > SOURCE_REQUEST_BYTES_MAX || at == source->text_bytes
            || source->text[at++] != '\n' || size > source->text_bytes - at
            || source->count == SOURCE_LIST_MAX)
            return "an entry of the list of requests is not \"<bytes>\\n<request>\"";
        if (source->count == capacity) {
            capacity = capacity == 0 ? 1024 : capacity * 2;
            source->starts = realloc(source->starts, capacity * sizeof(*source->starts));
            source->sizes = realloc(source->sizes, capacity * sizeof(*source->sizes));
            if (source->starts == NULL || source->sizes == NULL)
                return "out of memory for the list of requests";
        }
        source->starts[source->count] = at;
        source->sizes[source->count++] = (uint32_t)size;
        if (size > source->request_bytes_max)
            source->request_bytes_max = size;
        at += size;
    }
    return NULL;
}

/* Writes request `index` to `out`. `template_there` says that `out` holds this source's template
 * already (filled or not), so that only the fill has to be copied. Returns the request's size. */
static inline size_t source_write(
    const struct source *source, uint64_t index, char *out, bool template_there)
{
    if (source->starts != NULL) {
        memcpy(out, source->text + source->starts[index], source->sizes[index]);
        return source->sizes[index];
    }
    if (!template_there)
        memcpy(out, source->text, source->text_bytes);
    if (source->fill_bytes == 0)
        return source->text_bytes;
    char *field = out + source->fill_offset;
    if (source->fill != NULL) {
        memcpy(field, source->fill + index * (source->fill_bytes + 1), source->fill_bytes);
        return source->text_bytes;
    }
    uint64_t value = source->counter_first + index;
    for (size_t digit = source->fill_bytes; digit-- > 0; value >>= 4)
        field[digit] = "0123456789abcdef"[value & 15];
    return source->text_bytes;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOG_MESSAGE_MAX = 1024, LOG_LINE_MAX = 2048 };

static _Atomic int log_least = LOG_INFO;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_level_set(enum log_level least)
{
    atomic_store_explicit(&log_least, (int)least, memory_order_relaxed);
}

/* True if the site may still log in this second. Second and count share a word, so the bound is
 * exact. */
static bool site_admit(struct log_site *site)
{
    /* + 1: never 0, the state of a fresh site */
    uint64_t second = clock_monotonic_ns() / 1000000000u + 1;
    uint64_t seen = atomic_load_explicit(&site->window, memory_order_relaxed);
    uint64_t next;
    do {
        if (seen >> 32 != (second & UINT32_MAX))
            next = second << 32 | 1;
        else if ((seen & UINT32_MAX) < LOG_BURST)
            next = seen + 1;
        else {
            atomic_fetch_add_explicit(&site->dropped, 1, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &site->window, &seen, next, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void add_time(struct text *line, uint64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    text_format(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ", utc.tm_year + 1900, utc.tm_mon + 1,
        utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (unsigned)(wall_ms % 1000));
}

/* A value from outside must not be able to start a line of its own or to steer the reader's
 * terminal. */
static void add_escaped(struct text *line, struct span message)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < message.size; i++) {
        unsigned char c = (unsigned char)message.data[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            text_add(line, span_of(message.data + i, 1));
        } else if (c == '\\') {
            text_literal(line, "\\\\");
        } else if (c == '\n') {
            text_literal(line, "\\n");
        } else {
            char escape[4] = { '\\', 'x', digits[c >> 4], digits[c & 15] };
            text_add(line, span_of(escape, sizeof escape));
        }
    }
}

void log_write(struct log_site *site, enum log_level level, const char *component, const char *format, ...)
{
    if ((int)level < atomic_load_explicit(&log_least, memory_order_relaxed))
        return;
    int errno_then = errno; /* callers log a fault and then still want to know which */
    if (!site_admit(site)) {
        errno = errno_then;
        return;
    }
    char message[LOG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t kept = size < 0 ? 0 : (size_t)size < sizeof message ? (size_t)size : sizeof message - 1;

    char buffer[LOG_LINE_MAX + 64]; /* the spare is for the ending, which comes even after a cut */
    struct text line = text_in(buffer, LOG_LINE_MAX);
    add_time(&line, clock_wall_ms());
    text_format(&line, " %s %s ", level_names[level], component);
    add_escaped(&line, span_of(message, kept));
    bool cut = line.overflow || size >= (int)sizeof message;
    line.overflow = false;
    line.capacity = sizeof buffer;
    if (cut)
        text_literal(&line, "...");
    uint32_t dropped = atomic_exchange_explicit(&site->dropped, 0, memory_order_relaxed);
    if (dropped > 0)
        text_format(&line, " dropped=%u", dropped);
    text_literal(&line, "\n");

    ssize_t done;
    do
        done = write(STDERR_FILENO, line.data, line.size);
    while (done < 0 && errno == EINTR); /* other faults: there is nobody left to tell */
    errno = errno_then;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_MESSAGE_MAX = 1024,
    LOG_LINE_MAX = 2048,
    LOG_ENCODED_MAX = 2 * LOG_LINE_MAX,
    LOG_SPARE = 256
};

static _Atomic int log_least = LOG_INFO;
static _Atomic int log_form = LOG_TEXT;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_level_set(enum log_level least)
{
    atomic_store_explicit(&log_least, (int)least, memory_order_relaxed);
}

void log_format_set(enum log_format format)
{
    atomic_store_explicit(&log_form, (int)format, memory_order_relaxed);
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

struct log_event {
    enum log_level level;
    const char *component;
    struct span message;
    bool cut; /* it was longer */
    uint32_t dropped;
};

static void line_write_text(struct text *line, const struct log_event *event)
{
    line->capacity = LOG_LINE_MAX; /* the spare is for the ending, which comes even after a cut */
    add_time(line, clock_wall_ms());
    text_format(line, " %s %s ", level_names[event->level], event->component);
    add_escaped(line, event->message);
    const bool cut = line->overflow || event->cut;
    line->overflow = false;
    line->capacity = LOG_LINE_MAX + LOG_SPARE;
    if (cut)
        text_literal(line, "...");
    if (event->dropped > 0)
        text_format(line, " dropped=%u", event->dropped);
}

/* One object, or pairs: the same members. What can't be shown is escaped as in text, then as in JSON. */
static void line_write_encoded(struct text *line, const struct log_event *event, bool json)
{
    char bytes[LOG_LINE_MAX];
    struct text message = text_in(bytes, sizeof bytes - 3);
    add_escaped(&message, event->message);
    const bool cut = message.overflow || event->cut;
    message.overflow = false;
    message.capacity = sizeof bytes;
    if (cut)
        text_literal(&message, "...");
    text_string(line, json ? "{\"time\":\"" : "time=");
    add_time(line, clock_wall_ms());
    text_string(line, json ? "\",\"level\":\"" : " level=");
    text_string(line, level_names[event->level]);
    text_string(line, json ? "\",\"component\":\"" : " component=");
    text_string(line, event->component);
    text_string(line, json ? "\",\"message\":" : " message=");
    text_json(line, text_span(&message));
    if (event->dropped > 0)
        text_string(line, json ? ",\"dropped\":" : " dropped=");
    if (event->dropped > 0)
        text_u64(line, event->dropped);
    if (json)
        text_literal(line, "}");
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

    const struct log_event event = { .level = level,
        .component = component,
        .message = span_of(message, kept),
        .cut = size >= (int)sizeof message,
        .dropped = atomic_exchange_explicit(&site->dropped, 0, memory_order_relaxed) };
    char buffer[LOG_ENCODED_MAX + LOG_SPARE];
    struct text line = text_in(buffer, LOG_ENCODED_MAX + LOG_SPARE);
    const int form = atomic_load_explicit(&log_form, memory_order_relaxed);
    if (form == LOG_TEXT)
        line_write_text(&line, &event);
    else
        line_write_encoded(&line, &event, form == LOG_JSON);
    text_literal(&line, "\n");

    ssize_t done;
    do
        done = write(STDERR_FILENO, line.data, line.size);
    while (done < 0 && errno == EINTR); /* other faults: there is nobody left to tell */
    errno = errno_then;
}

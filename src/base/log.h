/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.h: one line per event on standard error, `time level component message key=value…`.
 * For what a person must know: starts, stops, faults, alarms. Refusals are counted (metrics.h), not
 * logged. Repeats are held back: each call site logs at most LOG_BURST lines a second, and its next
 * line says how many it dropped.
 * Thread: any; a line is one write. Never pass secrets. */
#ifndef STAMPEDE_BASE_LOG_H
#define STAMPEDE_BASE_LOG_H

#include <stdatomic.h>
#include <stdint.h>

enum { LOG_BURST = 20 };
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Zero at start. Only log.c looks inside. */
struct log_site {
    _Atomic uint64_t window;  /* second << 32 | lines logged in it */
    _Atomic uint32_t dropped; /* since the last line; the next line tells */
};

/* text: `time level component message`. json: an object with time, level, component and message. logfmt: the
 * same as key=value. The last two also have `dropped`, when lines were. */
enum log_format { LOG_TEXT, LOG_JSON, LOG_LOGFMT };
void log_format_set(enum log_format format); /* LOG_TEXT unless set. Thread: any */
/* Less than `least` is not logged; LOG_INFO unless set. Thread: any. */
void log_level_set(enum log_level least);
/* Keeps errno. Control characters, backslashes and bytes past ASCII in the message come out
 * escaped. */
void log_write(struct log_site *site, enum log_level level, const char *component,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#define LOG_AT(level, component, ...) \
    do { \
        static struct log_site log_site_here; \
        log_write(&log_site_here, (level), (component), __VA_ARGS__); \
    } while (0)
#define log_debug(component, ...) LOG_AT(LOG_DEBUG, component, __VA_ARGS__)
#define log_info(component, ...) LOG_AT(LOG_INFO, component, __VA_ARGS__)
#define log_warn(component, ...) LOG_AT(LOG_WARN, component, __VA_ARGS__)
#define log_error(component, ...) LOG_AT(LOG_ERROR, component, __VA_ARGS__)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* tls/certificate_watch.h: when files that were replaced are to be loaded: pure.
 *
 * Clients of certificate authorities replace a certificate and its key one after the other, by a rename or
 * by another target of a symbolic link. So a change counts when it has stayed the same from one look to the
 * next, and what was refused is not tried again before it changes again.
 * Thread: any. */
#ifndef STAMPEDE_TLS_CERTIFICATE_WATCH_H
#define STAMPEDE_TLS_CERTIFICATE_WATCH_H

#include "tls/certificate_list.h"

struct file_mark { /* all 0: it is not there */
    uint64_t device, inode, size;
    int64_t changed_s, changed_ns;
};
struct certificate_marks {
    struct file_mark of[2 * CERTIFICATES_MAX]; /* certificate, key, certificate, key, … */
};
struct certificate_watch {
    struct certificate_marks tried; /* the last that were loaded or refused */
    struct certificate_marks seen;  /* at the last look */
};
enum watch_step { WATCH_SAME, WATCH_WAIT, WATCH_LOAD };

/* What is to be done now that a look has found `now`. WATCH_LOAD: they count as tried. */
enum watch_step certificate_watch_look(
    struct certificate_watch *watch, const struct certificate_marks *now);
/* They are loaded or refused at this moment, without a look. */
void certificate_watch_tried(struct certificate_watch *watch, const struct certificate_marks *now);

/* How the files are at this moment; symbolic links are followed. */
void certificate_marks_read(
    struct certificate_marks *marks, const struct certificate_files *files, uint32_t count);

#endif

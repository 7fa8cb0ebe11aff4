/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificate_watch.h"

#include <sys/stat.h>

static bool marks_equal(const struct certificate_marks *a, const struct certificate_marks *b)
{
    for (uint32_t i = 0; i < 2 * CERTIFICATES_MAX; i++) {
        const struct file_mark *x = &a->of[i], *y = &b->of[i];
        if (x->device != y->device || x->inode != y->inode || x->size != y->size
            || x->changed_s != y->changed_s || x->changed_ns != y->changed_ns)
            return false;
    }
    return true;
}

enum watch_step certificate_watch_look(
    struct certificate_watch *watch, const struct certificate_marks *now)
{
    const bool still = marks_equal(&watch->seen, now);
    watch->seen = *now;
    if (marks_equal(&watch->tried, now))
        return WATCH_SAME;
    if (!still)
        return WATCH_WAIT;
    watch->tried = *now;
    return WATCH_LOAD;
}

void certificate_watch_tried(struct certificate_watch *watch, const struct certificate_marks *now)
{
    watch->tried = watch->seen = *now;
}

static void mark_read(struct file_mark *mark, const char *path)
{
    struct stat found;
    *mark = (struct file_mark){ 0 };
    if (stat(path, &found) != 0)
        return;
    *mark = (struct file_mark){ .device = found.st_dev,
        .inode = found.st_ino,
        .size = (uint64_t)found.st_size,
        .changed_s = found.st_mtim.tv_sec,
        .changed_ns = found.st_mtim.tv_nsec };
}

void certificate_marks_read(
    struct certificate_marks *marks, const struct certificate_files *files, uint32_t count)
{
    *marks = (struct certificate_marks){ 0 };
    for (uint32_t i = 0; i < count; i++) {
        mark_read(&marks->of[2 * i], files[i].certificate);
        mark_read(&marks->of[2 * i + 1], files[i].key);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/written_news.h"

#include <stdio.h>

size_t written_news_bytes(void)
{
    return 2 * sizeof(struct written_block) + 128;
}

void written_news_open(struct written_news *news, struct arena *arena)
{
    (void)pthread_mutex_init(&news->lock, NULL);
    news->out = arena_take(arena, 1, sizeof *news->out);
    news->taken = arena_take(arena, 1, sizeof *news->taken);
}

void written_news_close(struct written_news *news)
{
    (void)pthread_mutex_destroy(&news->lock);
}

void written_news_note(struct written_news *news, ticket_number ticket, user_id user)
{
    (void)pthread_mutex_lock(&news->lock);
    struct written_block *out = news->out;
    if (out->note_count < WRITTEN_NOTES_MAX)
        out->notes[out->note_count++] = (struct written_note){ ticket, user };
    else
        out->many = true;
    (void)pthread_mutex_unlock(&news->lock);
}

void written_news_many(struct written_news *news)
{
    (void)pthread_mutex_lock(&news->lock);
    news->out->many = true;
    (void)pthread_mutex_unlock(&news->lock);
}

void written_news_turn(struct written_news *news, const struct order_writer_progress *progress)
{
    (void)pthread_mutex_lock(&news->lock);
    struct written_block *out = news->out;
    const struct order_writer_progress before = out->progress;
    out->progress = *progress;
    out->progress.records += before.records;
    out->progress.written += before.written;
    out->progress.rejected += before.rejected;
    out->progress.dead += before.dead;
    out->progress.trouble = NULL; /* that text is the writer's own */
    snprintf(out->trouble, sizeof out->trouble, "%s", progress->trouble == NULL ? "" : progress->trouble);
    out->turns++;
    (void)pthread_mutex_unlock(&news->lock);
}

bool written_news_take(struct written_news *news)
{
    (void)pthread_mutex_lock(&news->lock);
    struct written_block *full = news->out, *empty = news->taken;
    const bool fresh = full->turns != empty->turns;
    if (fresh) {
        empty->turns = full->turns;
        empty->progress = (struct order_writer_progress){ 0 };
        empty->note_count = 0;
        empty->many = false;
        news->out = empty;
        news->taken = full;
    }
    (void)pthread_mutex_unlock(&news->lock);
    if (fresh && full->trouble[0] != '\0')
        full->progress.trouble = full->trouble;
    return fresh;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/follow_host.h"

#include "base/clock.h"
#include "base/log.h"
#include "follow/mirrored_disk.h"
#include "follow/primary.h"
#include "inventory/embedded.h"
#include "store/sqlite/mirrored_files.h"
#include "worker/alarms.h"

#include <stdio.h>
#include <unistd.h>

enum { FINISH_MS = 5000 }; /* at a stop, for what the follower has not got yet */

/* Fail-stop: no answer and no write after it. */
static void fenced(uint64_t generation)
{
    log_error("server", "generation %llu sells on another machine: stopping at once",
        (unsigned long long)generation);
    _exit(1);
}

enum status follow_host_open(struct follow_host *follow, const struct config *config,
    struct data_folder *folder, char error[CONFIG_ERROR])
{
    if (config->follow_listen[0] == 0)
        return STATUS_OK;
    const struct primary_config primary = {
        .config = config, .root = folder->root, .data_id = folder->data_id, .fenced = fenced
    };
    enum status status = primary_open(&follow->primary, &primary, error);
    if (status != STATUS_OK)
        return status;
    struct mirror *mirror = primary_mirror(follow->primary);
    struct disk *mirrored;
    follow->vfs = mirrored_files_start(mirror);
    status = follow->vfs == NULL
        ? STATUS_FULL
        : mirrored_disk_open(&mirrored, folder->journal, mirror, MIRROR_JOURNAL, "segment-");
    if (status != STATUS_OK)
        return status;
    follow->journal = folder->journal;
    folder->journal = mirrored;
    follow->lag_bytes_max = config->follow_buffer_mib * 1024 * 1024 / 4;
    return STATUS_OK;
}

enum status follow_host_start(struct follow_host *follow)
{
    return follow->primary == NULL ? STATUS_OK : primary_start(follow->primary);
}

void follow_host_watch(struct follow_host *follow, struct host *host)
{
    struct primary_state state;
    if (follow->primary == NULL)
        return;
    primary_look(follow->primary, &state);
    if (host->embedded != NULL)
        embedded_hold_follower(host->embedded, state.wins_wait);
    const uint64_t now_ms = clock_now_ms();
    if (state.away && state.wins_wait)
        alarm_raise(ALARM_FOLLOWER_AWAY, now_ms,
            "no copy on a second machine is up to date: wins are stopped (follow.alone)");
    else
        alarm_set(ALARM_FOLLOWER_AWAY, state.away, now_ms,
            "no copy on a second machine is up to date: what is sold now is lost with this disk");
    alarm_set(ALARM_FOLLOWER_LAG, state.current && state.lag_bytes > follow->lag_bytes_max, now_ms,
        "the follower is %llu MiB behind", (unsigned long long)(state.lag_bytes >> 20));
}

void follow_host_release(struct follow_host *follow)
{
    struct primary_state state;
    if (follow->primary == NULL)
        return;
    primary_look(follow->primary, &state);
    if (!state.current)
        primary_release(follow->primary);
}

void follow_host_close(struct follow_host *follow, struct data_folder *folder)
{
    if (follow->primary != NULL)
        primary_finish(follow->primary, clock_now_ms() + FINISH_MS);
    if (follow->journal != NULL) {
        mirrored_disk_close(folder->journal);
        folder->journal = follow->journal;
    }
    primary_close(follow->primary);
    *follow = (struct follow_host){ 0 };
}

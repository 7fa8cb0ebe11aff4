/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/follower.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "config/fence.h"
#include "follow/blocks.h"
#include "follow/copy.h"
#include "follow/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SESSION_MS = 5000, /* without a byte of the server the connection counts as gone */
    AGAIN_MS = 500,    /* between attempts */
    LOOK_MS = 100,
    PROGRESS_MS = 5000, /* how often a base says how far it is */
    PATH_BYTES = CONFIG_TEXT + 32,
};

struct follower {
    const struct follower_options *options;
    struct follow_secret secret;
    struct copy *copy; /* DIR */
    struct copy *part; /* DIR.part while a base is made; NULL: none */
    char part_path[PATH_BYTES];
    struct session session;
    /* The front of a change whose rest has not come yet. */
    uint8_t pending[WIRE_CHANGE_MAX + WIRE_RECORD_MAX];
    size_t pending_bytes;
    uint64_t base_bytes, told_ms;
    char *error;
};

static struct copy *target(const struct follower *follower)
{
    return follower->part != NULL ? follower->part : follower->copy;
}

/* ---- the folder ---- */

static enum status mark_write(const struct follower *follower, struct disk *root)
{
    struct following following = { 0 };
    snprintf(following.from, CONFIG_TEXT, "%s", follower->options->from);
    snprintf(following.secret_file, CONFIG_TEXT, "%s", follower->options->secret_file);
    return following_write(root, &following);
}

static enum status folder_open(struct follower *follower)
{
    const char *path = follower->options->folder;
    struct following following;
    const bool empty = disk_folder_is_free(path);
    enum status status = copy_open(&follower->copy, path, false);
    if (status == STATUS_BUSY) {
        snprintf(follower->error, CONFIG_ERROR, "data folder %.150s is locked by another process", path);
        return STATUS_BUSY;
    }
    if (status == STATUS_OK && !empty) {
        status = following_read(copy_root(follower->copy), &following);
        if (status == STATUS_NOT_FOUND) {
            snprintf(follower->error, CONFIG_ERROR,
                "%.150s is not the copy of a follower (perhaps it has taken over): give a folder "
                "that is empty or not there",
                path);
            return STATUS_CONFLICT;
        }
    }
    if (status == STATUS_OK)
        status = mark_write(follower, copy_root(follower->copy));
    if (status != STATUS_OK)
        snprintf(follower->error, CONFIG_ERROR, "data folder %.150s: %s", path,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
    return status;
}

static enum status part_begin(struct follower *follower, const struct wire_word *welcome)
{
    copy_close(follower->part, false);
    follower->part = NULL;
    enum status status = copy_open(&follower->part, follower->part_path, true);
    if (status == STATUS_OK)
        status = mark_write(follower, copy_root(follower->part));
    if (status != STATUS_OK)
        return status;
    copy_begin(follower->part, welcome->data_id, welcome->generation, welcome->epoch, welcome->position);
    copy_source(follower->part, follower->copy);
    follower->base_bytes = 0;
    follower->told_ms = clock_monotonic_ms();
    return STATUS_OK;
}

static enum status parent_sync(const char *path)
{
    char parent[PATH_BYTES];
    struct disk *disk;
    const char *slash = strrchr(path, '/');
    snprintf(parent, sizeof parent, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
        slash == NULL ? "." : path);
    enum status status = disk_folder_open(parent, &disk);
    if (status == STATUS_OK) {
        status = disk->ops->sync_folder(disk);
        disk_folder_close(disk);
    }
    return status;
}

/* The base is whole: it takes the place of the old copy, which goes. */
static enum status part_end(struct follower *follower)
{
    const char *path = follower->options->folder;
    enum status status = copy_complete(follower->part);
    if (status == STATUS_OK
        && renameat2(AT_FDCWD, follower->part_path, AT_FDCWD, path, RENAME_EXCHANGE) != 0)
        status = STATUS_IO;
    if (status == STATUS_OK)
        status = parent_sync(path);
    if (status != STATUS_OK)
        return status;
    copy_source(follower->part, NULL);
    copy_close(follower->copy, false);
    follower->copy = follower->part;
    follower->part = NULL;
    log_info("follow", "the copy is whole, %" PRIu64 " MiB: following", follower->base_bytes >> 20);
    status = copy_remove(follower->part_path);
    if (status != STATUS_OK)
        log_warn("follow", "%s can't be removed: %s", follower->part_path, strerrordesc_np(errno));
    return STATUS_OK;
}

/* ---- changes ---- */

static enum status acknowledge(struct follower *follower)
{
    const struct wire_word word = { .kind = WIRE_ACK, .position = copy_state(target(follower)).position };
    return session_word_send(&follower->session, &word);
}

static enum status change_take(
    struct follower *follower, const struct mirror_change *change, uint32_t bytes)
{
    bool synced = false;
    enum status status = copy_change(target(follower), change, bytes, &synced);
    follower->base_bytes += bytes;
    if (status == STATUS_OK && change->kind == MIRROR_BASE_END && follower->part != NULL) {
        status = part_end(follower);
        synced = true;
    }
    return status == STATUS_OK && synced ? acknowledge(follower) : status;
}

/* The whole changes at the front of what has come. */
static enum status changes_take(struct follower *follower)
{
    size_t at = 0;
    enum status status = STATUS_OK;
    uint32_t used = 1;
    while (status == STATUS_OK && used > 0) {
        struct mirror_change change;
        char name[DISK_NAME_MAX];
        status = wire_change_read(
            span_of(follower->pending + at, follower->pending_bytes - at), &change, name, &used);
        if (status == STATUS_OK && used > 0)
            status = change_take(follower, &change, used);
        at += status == STATUS_OK ? used : 0;
    }
    memmove(follower->pending, follower->pending + at, follower->pending_bytes - at);
    follower->pending_bytes -= at;
    return status;
}

static void progress_tell(struct follower *follower)
{
    const uint64_t now_ms = clock_monotonic_ms();
    if (follower->part == NULL || now_ms - follower->told_ms < PROGRESS_MS)
        return;
    follower->told_ms = now_ms;
    log_info("follow", "whole copy: %" PRIu64 " MiB so far", follower->base_bytes >> 20);
}

static enum status stream_follow(struct follower *follower)
{
    enum status status = acknowledge(follower);
    follower->pending_bytes = 0;
    while (status == STATUS_OK && !follower->options->stops()) {
        struct span record;
        if (!session_has_bytes(&follower->session, LOOK_MS)) {
            if (clock_wall_ms() - copy_state(target(follower)).heard_ms > SESSION_MS)
                status = STATUS_AWAY;
            continue;
        }
        status = session_receive(&follower->session, &record);
        if (status != STATUS_OK)
            break;
        copy_heard(target(follower));
        if (record.size > sizeof follower->pending - follower->pending_bytes)
            return STATUS_BAD_INPUT;
        memcpy(follower->pending + follower->pending_bytes, record.data, record.size);
        follower->pending_bytes += record.size;
        status = changes_take(follower);
        if (status == STATUS_OK)
            status = acknowledge(follower);
        progress_tell(follower);
    }
    return status;
}

/* ---- the connection ---- */

static struct wire_word own_word(const struct follower *follower)
{
    const struct copy_state state = copy_state(target(follower));
    return (struct wire_word){ .kind = WIRE_FOLLOW,
        .data_id = state.data_id,
        .generation = state.generation,
        .epoch = state.epoch,
        .position = state.position,
        .whole = state.whole };
}

/* It may get our program, or we its: tried again. */
static enum status version_tell(const struct follower *follower, unsigned version)
{
    log_error("follow",
        "%s speaks version %u of the protocol, this program version %d: run the same program on "
        "both "
        "machines",
        follower->options->from, version, WIRE_VERSION);
    return STATUS_BUSY;
}

/* The server asks which blocks we have. */
static enum status names_send(void *context, struct span names, bool last)
{
    struct follower *follower = context;
    uint8_t record[WIRE_NAMES_BYTES] = { !last };
    invariant(names.size < sizeof record);
    if (names.size > 0)
        memcpy(record + 1, names.data, names.size);
    return follower->options->stops() ? STATUS_AWAY
                                      : session_send(&follower->session, record, 1 + names.size);
}

static enum status blocks_compare(struct follower *follower, struct wire_word *answer)
{
    const struct blocks_teller teller = { .tell = names_send, .context = follower };
    log_info("follow", "comparing the copy with what %s has", follower->options->from);
    const enum status status = blocks_tell(follower->options->folder, &teller);
    return status == STATUS_OK ? session_word_receive(&follower->session, answer) : status;
}

/* STATUS_CONFLICT: it will never take us. */
static enum status answer_judge(struct follower *follower, const struct wire_word *answer)
{
    const struct copy_state state = copy_state(follower->copy);
    const char *from = follower->options->from;
    if (answer->kind == WIRE_WELCOME && answer->generation < state.generation) {
        snprintf(follower->error, CONFIG_ERROR, "%.100s has an older generation than this copy", from);
        return STATUS_CONFLICT;
    }
    if (answer->kind == WIRE_WELCOME)
        return STATUS_OK;
    if (answer->kind == WIRE_REFUSED && answer->reason == WIRE_REASON_OTHER_SHOP)
        snprintf(follower->error, CONFIG_ERROR,
            "%.100s has another shop than this copy: give an empty folder to --data", from);
    else if (answer->kind == WIRE_FENCED)
        snprintf(follower->error, CONFIG_ERROR,
            "%.100s had an older generation than this copy, and sells no more", from);
    else if (answer->kind == WIRE_REFUSED && answer->reason == WIRE_REASON_TAKEN) {
        log_warn("follow", "%s has a follower already; trying again", from);
        return STATUS_BUSY;
    } else if (answer->kind == WIRE_REFUSED && answer->reason == WIRE_REASON_VERSION)
        return version_tell(follower, answer->version);
    else
        return STATUS_BAD_INPUT;
    return STATUS_CONFLICT;
}

static enum status server_call(struct follower *follower)
{
    const int fd = session_dial(follower->options->from, SESSION_MS);
    struct wire_word answer = { 0 };
    if (fd < 0)
        return STATUS_AWAY;
    enum status status = session_call(&follower->session, fd, &follower->secret, SESSION_MS);
    if (status != STATUS_OK)
        return status;
    const struct wire_word word = own_word(follower);
    status = session_word_send(&follower->session, &word);
    if (status == STATUS_OK)
        status = session_word_receive(&follower->session, &answer);
    if (status == STATUS_OK && answer.kind == WIRE_COMPARE)
        status = blocks_compare(follower, &answer);
    if (status == STATUS_CONFLICT)
        status = version_tell(follower, answer.version);
    else if (status == STATUS_OK)
        status = answer_judge(follower, &answer);
    if (status == STATUS_OK && !answer.resumes)
        status = part_begin(follower, &answer);
    if (status == STATUS_OK) {
        log_info("follow", "connected to %s: %s", follower->options->from,
            answer.resumes ? "going on where it was" : "a whole copy comes first");
        copy_heard(target(follower));
        status = stream_follow(follower);
    }
    session_end(&follower->session);
    return status;
}

static void trouble_tell(const struct follower *follower, enum status status, int trouble)
{
    if (status == STATUS_BUSY)
        return; /* it was told by whoever knew why */
    const char *from = follower->options->from;
    if (status == STATUS_BAD_INPUT)
        log_error("follow", "%s does not know the secret of %s, or does not keep to the protocol",
            from, follower->options->secret_file);
    else if (status == STATUS_AWAY)
        log_warn("follow", "%s does not answer; trying again", from);
    else
        log_error("follow", "the copy can't be written: %s; trying again",
            status == STATUS_FULL ? "no space" : strerrordesc_np(trouble));
}

static enum status options_check(struct follower *follower)
{
    const struct follower_options *options = follower->options;
    if (!session_address_good(options->from)) {
        snprintf(follower->error, CONFIG_ERROR, "--from must be HOST:PORT");
        return STATUS_BAD_INPUT;
    }
    if (strlen(options->folder) >= CONFIG_TEXT || strlen(options->secret_file) >= CONFIG_TEXT) {
        snprintf(follower->error, CONFIG_ERROR, "a path is too long");
        return STATUS_BAD_INPUT;
    }
    if (follow_secret_read(options->secret_file, &follower->secret) != STATUS_OK) {
        snprintf(follower->error, CONFIG_ERROR, "%.150s must be readable and hold %d to %d characters",
            options->secret_file, WIRE_SECRET_MIN, WIRE_SECRET_MAX);
        return STATUS_BAD_INPUT;
    }
    return STATUS_OK;
}

enum status follower_run(const struct follower_options *options, char error[CONFIG_ERROR])
{
    struct follower *follower = calloc(1, sizeof *follower);
    if (follower == NULL)
        return STATUS_FULL;
    follower->options = options;
    follower->error = error;
    follower->session.fd = -1;
    snprintf(follower->part_path, sizeof follower->part_path, "%s.part", options->folder);
    enum status status = options_check(follower);
    if (status == STATUS_OK)
        status = folder_open(follower);
    while (status == STATUS_OK && !options->stops()) {
        const enum status got = server_call(follower);
        const int trouble = errno;
        if (got == STATUS_CONFLICT)
            status = got;
        else if (got != STATUS_OK)
            trouble_tell(follower, got, trouble);
        if (got != STATUS_OK && status == STATUS_OK)
            poll(NULL, 0, AGAIN_MS);
    }
    copy_close(follower->part, false);
    copy_close(follower->copy, status == STATUS_OK);
    explicit_bzero(&follower->secret, sizeof follower->secret);
    free(follower);
    return status;
}

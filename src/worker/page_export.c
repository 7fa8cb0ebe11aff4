/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/page_export.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/spawn.h"
#include "config/config.h"
#include "worker/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    GATHER_MS = 1000, /* changes that come together lead to one export */
    LOOK_MS = 100,
    RUN_MS_MAX = 10 * 60 * 1000,
    AGAIN_MS = 30 * 1000, /* after a failure */
    FROM_BYTES = CONFIG_TEXT + 32,
};

struct page_export {
    struct config settings; /* a copy: what starts a process wants to write into its words */
    struct task *task;
    char from[FROM_BYTES]; /* empty: the server does not listen yet */
    bool wanted;
    uint64_t due_ms;
    pid_t pid; /* 0: none runs */
    uint64_t started_ms;
};

static int child_start(struct page_export *export)
{
    struct config *config = &export->settings;
    char *argv[] = { "stampede", "export", config->export_folder, "--api", config->api_url, "--from",
        export->from, config->on_publish[0] == 0 ? NULL : "--then", config->on_publish, NULL };
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return errno;
    const int result = spawn_self(&export->pid, argv, environ, nothing, nothing);
    (void)close(nothing);
    return result;
}

static void failed(struct page_export *export, uint64_t now_ms, const char *what)
{
    log_error("pages", "the pages can't be exported to %s: %s; trying again in %d s",
        export->settings.export_folder, what, AGAIN_MS / 1000);
    export->wanted = true;
    export->due_ms = now_ms + AGAIN_MS;
}

static void child_look(struct page_export *export, uint64_t now_ms)
{
    int status = 0;
    const pid_t ended = waitpid(export->pid, &status, WNOHANG);
    if (ended == 0 && now_ms - export->started_ms > RUN_MS_MAX)
        kill(-export->pid, SIGKILL); /* the next look finds it ended */
    if (ended == 0)
        return;
    export->pid = 0;
    if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        log_info("pages", "exported to %s in %llu ms", export->settings.export_folder,
            (unsigned long long)(now_ms - export->started_ms));
    } else {
        failed(export, now_ms, "its process failed");
    }
}

static uint64_t export_turn(void *self, uint64_t now_ms)
{
    struct page_export *export = self;
    if (export->pid != 0)
        child_look(export, now_ms);
    if (export->pid == 0 && export->wanted && export->from[0] != 0 && now_ms >= export->due_ms) {
        export->wanted = false;
        export->started_ms = now_ms;
        const int result = child_start(export);
        if (result != 0) {
            export->pid = 0;
            failed(export, now_ms, strerrordesc_np(result));
        }
    }
    if (export->pid != 0)
        return now_ms + LOOK_MS;
    return export->wanted && export->from[0] != 0 ? export->due_ms : TASK_IDLE;
}

/* What runs is ended: the pages that it reads come from this server. */
static void export_close(void *self)
{
    struct page_export *export = self;
    if (export->pid == 0)
        return;
    kill(-export->pid, SIGKILL);
    (void)waitpid(export->pid, NULL, 0);
    export->pid = 0;
}

struct page_export *page_export_open(struct arena *arena, const struct config *config, struct task *task)
{
    struct page_export *export = arena_take(arena, 1, sizeof *export);
    *export = (struct page_export){ .settings = *config, .task = task };
    *task = (struct task){ .name = "pages", .self = export, .turn = export_turn, .close = export_close };
    return export;
}

void page_export_start(struct page_export *export, uint16_t port)
{
    const char *address = export->settings.address;
    const bool any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    const bool six = !any && strchr(address, ':') != NULL;
    snprintf(export->from, sizeof export->from, "http://%s%s%s:%u", six ? "[" : "",
        any ? "127.0.0.1" : address, six ? "]" : "", port);
}

void page_export_wanted(struct page_export *export)
{
    if (export->settings.export_folder[0] == 0)
        return;
    export->wanted = true;
    export->due_ms = clock_now_ms() + GATHER_MS;
    task_wake(export->task);
}

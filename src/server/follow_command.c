/* SPDX-License-Identifier: Apache-2.0 */
#include "server/follow_command.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "config/fence.h"
#include "follow/copy.h"
#include "follow/follower.h"
#include "follow/session.h"
#include "server/signals.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

enum {
    FENCE_MS = 2000, /* for the old server's answer */
    END_MS = 15000,  /* for the follower to end */
    LOOK_MS = 20,
    QUIET_MS = 5000, /* without a word of the server the follower is not following */
};

static const char usage[] =
    "usage: stampede follow --from HOST:PORT --data DIR --secret-file FILE\n"
    "         keeps a copy of a server's data folder in DIR, until it is stopped\n"
    "       stampede follow status --data DIR\n"
    "         says how the copy is; exit code 0: it is whole and the server is heard\n"
    "       stampede follow takeover --data DIR [--unverified]\n"
    "         ends following, fences the old server, checks the copy, and lets it be served\n";

struct follow_options {
    const char *from, *data, *secret_file;
    bool unverified;
    char folder[CONFIG_TEXT];
};

static bool option_take(struct follow_options *options, const char *name, const char *value)
{
    if (strcmp(name, "--from") == 0)
        options->from = value;
    else if (strcmp(name, "--data") == 0)
        options->data = value;
    else if (strcmp(name, "--secret-file") == 0)
        options->secret_file = value;
    else
        return false;
    return true;
}

static bool options_read(struct follow_options *options, int argc, char **argv, int from)
{
    for (int i = from; i < argc; i++) {
        if (strcmp(argv[i], "--unverified") == 0) {
            options->unverified = true;
            continue;
        }
        if (i + 1 == argc || !option_take(options, argv[i], argv[i + 1]))
            return false;
        i++;
    }
    if (options->data == NULL || options->data[0] == 0)
        return false;
    const int size = snprintf(options->folder, sizeof options->folder, "%s", options->data);
    if (size < 0 || (size_t)size >= sizeof options->folder)
        return false;
    for (size_t end = (size_t)size; end > 1 && options->folder[end - 1] == '/'; end--)
        options->folder[end - 1] = 0;
    return true;
}

/* ---- follow ---- */

static volatile sig_atomic_t stop_asked;

static void stop_note(int signal)
{
    (void)signal;
    stop_asked = 1;
}

static bool stops(void)
{
    return stop_asked != 0;
}

static int follow_run(const struct follow_options *options)
{
    char error[CONFIG_ERROR] = "";
    const struct sigaction stop = { .sa_handler = stop_note };
    const struct follower_options run = {
        .from = options->from, .folder = options->folder, .secret_file = options->secret_file, .stops = stops
    };
    if (options->from == NULL || options->secret_file == NULL || options->unverified) {
        fputs(usage, stderr);
        return 2;
    }
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    clock_start(0);
    sd_notify(0, "READY=1");
    const enum status status = follower_run(&run, error);
    if (status == STATUS_OK) {
        log_info("follow", "stopped");
        return 0;
    }
    fprintf(stderr, "stampede follow: %s\n", error[0] != 0 ? error : status_name(status));
    return status == STATUS_BAD_INPUT ? 2 : 1;
}

/* ---- status ---- */

static int follow_status(const struct follow_options *options)
{
    struct copy_state state;
    const enum status status = copy_state_look(options->folder, &state);
    if (status != STATUS_OK) {
        fprintf(stderr, "stampede follow: %s is not the copy of a follower: %s\n", options->folder,
            status_name(status));
        return 1;
    }
    const uint64_t now_ms = clock_wall_ms();
    const uint64_t quiet_ms = now_ms > state.heard_ms ? now_ms - state.heard_ms : 0;
    const bool runs = state.pid != 0 && kill((pid_t)state.pid, 0) == 0;
    const bool follows = runs && state.heard_ms != 0 && quiet_ms < QUIET_MS;
    printf("copy: %s\nfollower: %s\ngeneration: %" PRIu64 "\nposition: %" PRIu64 "\n",
        state.whole ? "whole" : "not whole yet",
        follows    ? "follows the server"
            : runs ? "runs, but does not hear the server"
                   : "does not run",
        state.generation, state.position);
    if (state.heard_ms != 0)
        printf("server heard: %" PRIu64 " ms ago\n", quiet_ms);
    return state.whole && follows ? 0 : 1;
}

/* ---- takeover ---- */

static int refused(const char *before, const char *what, const char *after)
{
    fprintf(stderr, "stampede follow: %s%s%s\n", before, what, after);
    return 1;
}

/* The lock of the folder, after the follower that has it was asked to end. NULL: it does not. */
static struct copy *folder_take(const char *folder)
{
    struct copy *copy = NULL;
    bool asked = false;
    const uint64_t until_ms = clock_monotonic_ms() + END_MS;
    while (clock_monotonic_ms() < until_ms) {
        struct copy_state state;
        const enum status status = copy_open(&copy, folder, false);
        if (status == STATUS_OK)
            return copy;
        if (status != STATUS_BUSY)
            return NULL;
        if (!asked && copy_state_look(folder, &state) == STATUS_OK && state.pid > 1) {
            asked = kill((pid_t)state.pid, SIGTERM) == 0;
            printf("the follower ends\n");
        }
        poll(NULL, 0, LOOK_MS);
    }
    errno = EBUSY;
    return NULL;
}

/* Tells the old server, if it still runs. False: it must not be fenced by us. */
static bool server_fence(const struct following *following, const struct copy_state *state)
{
    struct follow_secret secret;
    const struct wire_word word = {
        .kind = WIRE_FENCE, .data_id = state->data_id, .generation = state->generation + 1
    };
    struct wire_word answer = { 0 };
    if (follow_secret_read(following->secret_file, &secret) != STATUS_OK) {
        printf("the secret in %s can't be read: the old server is not told\n", following->secret_file);
        return true;
    }
    const enum status status = session_ask(following->from, &secret, FENCE_MS, &word, &answer);
    explicit_bzero(&secret, sizeof secret);
    if (status == STATUS_OK && answer.kind == WIRE_FENCED)
        printf("the old server at %s was told, and has stopped\n", following->from);
    else if (status == STATUS_OK && answer.kind == WIRE_REFUSED)
        return false;
    else
        printf("the old server at %s does not answer: make sure that it does not run\n", following->from);
    return true;
}

static int takeover_end(struct copy *copy, uint64_t generation, uint64_t began_ns)
{
    struct disk *root = copy_root(copy);
    enum status status = generation_write(root, generation);
    if (status == STATUS_OK)
        status = root->ops->remove(root, "follow-state");
    if (status == STATUS_OK)
        status = following_remove(root);
    if (status != STATUS_OK)
        return refused("the fence can't be written: ", status_name(status), "");
    printf("taken over: generation %" PRIu64 ", %.1f s. Serve this folder now\n", generation,
        (double)(clock_monotonic_ns() - began_ns) / 1e9);
    return 0;
}

static int takeover_run(struct copy *copy, const struct follow_options *options, uint64_t began_ns)
{
    struct following following;
    const struct copy_state state = copy_state(copy);
    uint64_t generation = 0;
    const enum status status = following_read(copy_root(copy), &following);
    if (status != STATUS_OK)
        return refused("", options->folder, " is not the copy of a follower");
    if (!state.whole)
        return refused("the copy in ", options->folder, " is not whole: it can't take over");
    if (generation_read(copy_root(copy), &generation) != STATUS_OK)
        return refused("the file generation in ", options->folder, " is damaged");
    if (!server_fence(&following, &state))
        return refused("", following.from, " has a newer generation than this copy: it can't take over");
    if (!options->unverified) {
        const struct verify_options check = { .folder = options->folder, .quiet = true };
        if (verify_run(&check, stdout) != VERIFY_HOLDS)
            return refused("the copy in ", options->folder,
                " does not verify: look at 'stampede verify', or give --unverified");
        printf("verified\n");
    }
    return takeover_end(copy, generation + 1, began_ns);
}

static int follow_takeover(const struct follow_options *options)
{
    const uint64_t began_ns = clock_monotonic_ns();
    struct disk *root = NULL;
    struct following following;
    enum status status = STATUS_NOT_FOUND;
    struct stat about;
    if (stat(options->folder, &about) == 0 && disk_folder_open(options->folder, &root) == STATUS_OK) {
        status = following_read(root, &following); /* before anything of a server's folder is changed */
        disk_folder_close(root);
    }
    if (status != STATUS_OK)
        return refused("", options->folder, " is not the copy of a follower");
    struct copy *copy = folder_take(options->folder);
    if (copy == NULL)
        return refused("the copy can't be taken: ", strerrordesc_np(errno), "");
    const int code = takeover_run(copy, options, began_ns);
    copy_close(copy, true);
    return code;
}

int follow_main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct follow_options *);
    } verbs[] = { { "status", follow_status }, { "takeover", follow_takeover } };
    struct follow_options options = { 0 };
    int (*run)(const struct follow_options *) = follow_run;
    if (argc > 1 && strcmp(argv[argc - 1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            run = verbs[i].run;
    if (!options_read(&options, argc, argv, run == follow_run ? 1 : 2)) {
        fputs(usage, stderr);
        return 2;
    }
    umask(S_IRWXG | S_IRWXO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return run(&options);
}

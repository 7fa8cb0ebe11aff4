/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mint_command.h"

#include "base/clock.h"
#include "base/text.h"
#include "config/cluster_secret.h"
#include "funnel/token.h"

#include <string.h>
#include <sys/stat.h>

enum { MINT_MOST = 1000 * 1000 * 1000, MINT_FAILED = 1, MINT_USAGE = 2, LINES_PER_WRITE = 1024 };

static user_id mint_user(const struct funnel_keys *keys, uint64_t number)
{
    char subject[32];
    struct text text = text_in(subject, sizeof subject);
    text_literal(&text, "mint-");
    text_u64(&text, number);
    return funnel_user_id(keys, text_span(&text));
}

static void token_mint(const struct mint_options *options, const struct funnel_keys *keys,
    uint32_t now_s, uint64_t number, char *out)
{
    const user_id user = mint_user(keys, number);
    if (options->sessions) {
        const struct session session = {
            .user = user, .expires_s = now_s + options->life_s, .issued_s = now_s
        };
        session_issue(keys, &session, out);
    } else {
        const struct pass pass = { .user = user,
            .item = options->item,
            .expires_s = now_s + options->life_s,
            .nonce = (uint32_t)number & PASS_NONCE_MAX };
        pass_issue(keys, &pass, out);
    }
    out[TOKEN_CHARS] = '\n';
}

static bool tokens_write(const struct mint_options *options, struct funnel_keys *keys, FILE *out)
{
    enum { LINE = TOKEN_CHARS + 1 };
    static char lines[LINES_PER_WRITE * LINE];
    const uint64_t now_ms = clock_wall_ms();
    funnel_keys_turn(keys, now_ms);
    for (uint64_t done = 0; done < options->count;) {
        uint64_t part = options->count - done;
        if (part > LINES_PER_WRITE)
            part = LINES_PER_WRITE;
        for (uint64_t i = 0; i < part; i++)
            token_mint(options, keys, (uint32_t)(now_ms / 1000), options->first + done + i,
                lines + i * LINE);
        if (fwrite(lines, LINE, part, out) != part)
            return false;
        done += part;
    }
    return fflush(out) == 0;
}

bool mint_run(const struct mint_options *options, FILE *out, char *error)
{
    struct mint_options whole = *options;
    struct data_folder folder;
    struct funnel_keys keys;
    struct stat entry;
    char path[CONFIG_TEXT + 32];
    const uint32_t most_s = options->sessions ? SESSION_LIFE_MAX_S : PASS_LIFE_MAX_S;
    snprintf(path, sizeof path, "%.255s/identity", options->folder);
    if (stat(path, &entry) != 0) {
        snprintf(error, CONFIG_ERROR, "%.150s is not a data folder: it has no identity", options->folder);
        return false;
    }
    if (whole.life_s == 0)
        whole.life_s = most_s;
    if (whole.life_s > most_s || options->count > MINT_MOST
        || (!options->sessions && options->item == 0)) {
        snprintf(error, CONFIG_ERROR,
            "--life is at most %u seconds, at most %d users, items count from 1", most_s, MINT_MOST);
        return false;
    }
    if (data_folder_open(&folder, options->folder, DATA_LOOK, error) != STATUS_OK)
        return false;
    if (options->settings != NULL && cluster_secret_use(&folder, options->settings, error) != STATUS_OK) {
        data_folder_close(&folder);
        return false;
    }
    const enum status status = funnel_keys_derive(&keys, folder.master, sizeof folder.master);
    data_folder_close(&folder);
    invariant(status == STATUS_OK);
    const bool written = tokens_write(&whole, &keys, out);
    explicit_bzero(&keys, sizeof keys);
    if (!written)
        snprintf(error, CONFIG_ERROR, "the tokens can't be written");
    return written;
}

static const char help_text[] =
    "usage: stampede mint --data DIR --item N --users FIRST:COUNT [--life SECONDS]\n"
    "       stampede mint --data DIR --session --users FIRST:COUNT [--life SECONDS]\n"
    "  One pass (or session) a line for the users mint-FIRST, mint-FIRST+1, …\n"
    "  --config FILE   instead of --data: take data.folder from the server's settings\n";

static int usage(const char *wrong)
{
    if (wrong != NULL)
        fprintf(stderr, "stampede mint: %s\n", wrong);
    fputs(help_text, wrong != NULL ? stderr : stdout);
    return wrong != NULL ? MINT_USAGE : 0;
}

static bool users_parse(const char *value, struct mint_options *options)
{
    struct span rest = span_from_string(value), first;
    return span_take_until(&rest, ':', &first) && span_to_u64(first, &options->first) == STATUS_OK
        && span_to_u64(rest, &options->count) == STATUS_OK && options->count <= MINT_MOST
        && options->first <= UINT64_MAX - options->count;
}

static bool config_take(const char *path, struct config *config, struct mint_options *options)
{
    char error[CONFIG_ERROR];
    config_defaults(config);
    if (config_load_file(config, path, error) != STATUS_OK
        || config_load_environment(config, error) != STATUS_OK) {
        fprintf(stderr, "stampede mint: %s\n", error);
        return false;
    }
    options->folder = config->folder;
    options->settings = config;
    return config->folder[0] != 0;
}

int mint_main(int argc, char **argv)
{
    static struct config config;
    struct mint_options options = { 0 };
    bool users = false;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0)
            return usage(NULL);
        if (strcmp(name, "--session") == 0) {
            options.sessions = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : "";
        bool good = value[0] != 0;
        if (strcmp(name, "--data") == 0)
            options.folder = value;
        else if (strcmp(name, "--config") == 0)
            good = good && config_take(value, &config, &options);
        else if (strcmp(name, "--item") == 0)
            good = span_to_u32(span_from_string(value), &options.item) == STATUS_OK && options.item > 0;
        else if (strcmp(name, "--life") == 0)
            good = span_to_u32(span_from_string(value), &options.life_s) == STATUS_OK
                && options.life_s > 0;
        else if (strcmp(name, "--users") == 0)
            users = good = users_parse(value, &options);
        else
            return usage("unknown option");
        if (!good)
            return usage("an option has no value or a wrong one");
    }
    if (options.folder == NULL || !users || (!options.sessions && options.item == 0))
        return usage("--data (or --config), --users and --item (or --session) are needed");
    char error[CONFIG_ERROR];
    if (mint_run(&options, stdout, error))
        return 0;
    fprintf(stderr, "stampede mint: %s\n", error);
    return MINT_FAILED;
}

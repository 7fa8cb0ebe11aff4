/* SPDX-License-Identifier: Apache-2.0 */
#include "server/demo.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "gateway/console_sessions.h"
#include "server/serve.h"
#include "server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPENS_IN_MS = 30 * 1000, LASTS_MS = 3600 * 1000, REFUND_MS = 3600 * 1000, KEY_CHARS = 43 };

struct demo_thing {
    const char *name, *description, *texts, *image;
    uint64_t list_price, flash_price;
    uint32_t total, limit_per_user;
};
static const struct demo_thing things[] = {
    { "极光手机", "屏幕明亮，设计安静。",
        "{\"en\":{\"name\":\"Aurora phone\","
        "\"description\":\"A calm phone with a bright screen.\"}}",
        "/demo/phone.svg", 499900, 99900, 100, 1 },
    { "静音耳机", "把噪音留在外面。",
        "{\"en\":{\"name\":\"Quiet headphones\",\"description\":\"They keep the noise outside.\"}}",
        "/demo/headphones.svg", 129900, 19900, 20, 2 },
    { "晨光手表", "只有一块。",
        "{\"en\":{\"name\":\"First-light watch\",\"description\":\"There is exactly one.\"}}",
        "/demo/watch.svg", 899900, 9900, 1, 1 },
};

static enum status demo_seed(struct order_store *store, uint64_t now_ms)
{
    struct sale sale = { .start_ms = now_ms + OPENS_IN_MS,
        .end_ms = now_ms + OPENS_IN_MS + LASTS_MS,
        .preheat_at_ms = now_ms,
        .published = true };
    struct sale first;
    uint32_t count = 0;
    enum status status = store->ops->sales(store, 0, &first, 1, &count);
    if (status != STATUS_OK || count > 0)
        return status; /* a demo that goes on */
    snprintf(sale.title, sizeof sale.title, "马上开抢");
    snprintf(sale.texts, sizeof sale.texts, "{\"en\":{\"title\":\"Today's flash sale\"}}");
    status = store->ops->sale_insert(store, &sale);
    if (status == STATUS_OK)
        status = store->ops->sale_update(store, &sale);
    for (size_t i = 0; i < sizeof things / sizeof *things && status == STATUS_OK; i++) {
        struct product product = { .list_price = things[i].list_price, .currency = "CNY" };
        snprintf(product.name, sizeof product.name, "%s", things[i].name);
        snprintf(product.description, sizeof product.description, "%s", things[i].description);
        snprintf(product.texts, sizeof product.texts, "%s", things[i].texts);
        snprintf(product.images, sizeof product.images, "[\"%s\"]", things[i].image);
        status = store->ops->product_insert(store, &product);
        struct item item = { .sale = sale.id,
            .product = product.id,
            .flash_price = things[i].flash_price,
            .limit_per_user = things[i].limit_per_user,
            .pay_window_ms = 15 * 60 * 1000,
            .total = things[i].total,
            .channel_units = { things[i].total } };
        if (status == STATUS_OK)
            status = store->ops->item_insert(store, &item);
    }
    return status;
}

struct demo {
    char key[ADMIN_KEY_CHARS + 1];
    char invitation[sizeof CONSOLE_INVITE_PREFIX + KEY_CHARS];
};

static void demo_started(const struct config *config, uint16_t port, void *context)
{
    const struct demo *demo = context;
    const char *host = strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0
        ? "127.0.0.1"
        : config->address;
    printf("\n"
           "  storefront  http://%s:%u/\n"
           "  console     http://%s:%u/console/#%s\n"
           "              signs you in once, within a quarter of an hour; then with the admin key\n"
           "  admin API   http://%s:%u/admin/v1/\n"
           "              admin key: %s\n"
           "              try: STAMPEDE_ADMIN_KEY=… stampede admin sale list --url http://%s:%u\n"
           "  The sale of a new demo opens in half a minute. Orders are paid in a sandbox, without "
           "real money.\n"
           "  Ctrl-C stops the server.\n\n",
        host, port, host, port, demo->invitation, host, port, demo->key, host, port);
    fflush(stdout);
}

static const char usage[] =
    "usage: stampede demo --data DIR [--port 8080] [--address 127.0.0.1] [--set "
    "section.key=value]...\n"
    "  Runs a server with a sale to play with, and prints its addresses and an admin key. Payments "
    "go to\n"
    "  a sandbox: no real money. With the same DIR it goes on where it was; Ctrl-C stops it.\n";

static void invitation_make(struct demo *demo)
{
    uint8_t secret[32];
    const size_t prefix = strlen(CONSOLE_INVITE_PREFIX);
    random_secret(secret, sizeof secret);
    memcpy(demo->invitation, CONSOLE_INVITE_PREFIX, prefix);
    base64_encode(secret, sizeof secret, demo->invitation + prefix);
}

/* A key of its own for every demo, known to its file only as a hash. */
static bool key_file_make(struct demo *demo, struct config *config, const char *data)
{
    uint8_t hash[HASH_SHA256_BYTES];
    char line[128];
    struct text text = text_in(line, sizeof line);
    admin_key_make(demo->key);
    hash_sha256(demo->key, strlen(demo->key), hash);
    text_literal(&text, "demo:admin:");
    text_hex(&text, span_of(hash, sizeof hash));
    text_literal(&text, "\n");
    if (mkdir(data, 0700) != 0 && errno != EEXIST)
        return false;
    if (snprintf(config->admin_keys, sizeof config->admin_keys, "%s/admin.keys", data)
        >= (int)sizeof config->admin_keys)
        return false;
    const int fd = open(config->admin_keys, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && write(fd, text.data, text.size) == (ssize_t)text.size;
    if (fd >= 0)
        close(fd);
    return good;
}

int demo_main(int argc, char **argv)
{
    struct config config;
    struct demo demo = { 0 };
    char error[CONFIG_ERROR];
    const char *data = NULL;
    if (argc > 1 && strcmp(argv[argc - 1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    config_defaults(&config);
    config.guests = true;
    config.user_refund_ms = REFUND_MS;
    snprintf(config.providers, sizeof config.providers, "sandbox");
    config.sandbox_allow_public = true; /* a demo is never taken for a shop */
    for (int i = 1; i < argc; i += 2) {
        error[0] = 0;
        if (i + 1 < argc && strcmp(argv[i], "--config") != 0
            && serve_option_take(&config, argv[i], argv[i + 1], error) == STATUS_OK)
            continue;
        if (error[0] == 0)
            snprintf(error, sizeof error, "'%.60s' is not known here, or has no value", argv[i]);
        fprintf(stderr, "stampede: %s\n", error);
        return 2;
    }
    data = config.folder;
    if (config_check(&config, error) != STATUS_OK) {
        fprintf(stderr, "stampede: %s\n", error);
        return 2;
    }
    if (!key_file_make(&demo, &config, data)) {
        fprintf(stderr, "stampede: %s: an admin key can't be written there\n", data);
        return 1;
    }
    invitation_make(&demo);
    const struct server_options options = {
        .seed = demo_seed, .console_invitation = demo.invitation, .started = demo_started, .context = &demo
    };
    return server_run(&config, &options);
}

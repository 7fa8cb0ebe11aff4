/* SPDX-License-Identifier: Apache-2.0 */
#include "server/tls_service.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "edge/caller_counts.h"
#include "edge/handshakes.h"
#include "edge/listener.h"
#include "funnel/limits.h"
#include "server/listening.h"
#include "tls/certificates.h"
#include "worker/alarms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_MS = 2000, /* how often the files are looked at */
    EXPIRES_SOON_S = 14 * 24 * 3600,
    RATE_ADDRESSES = 1 << 16, /* whose handshakes are counted apart */
    RATE_BURST = 2,           /* seconds' worth at once */
};
static_assert((int)CERTIFICATE_ERROR <= (int)CONFIG_ERROR, "what is wrong with a file fits");

GAUGE(expires_metric, "stampede_tls_certificate_expires_seconds",
    "Until the first of the TLS certificates expires; 0: it has, or there is no TLS.");

static bool may_begin(void *context, const struct address *client, uint64_t now_ms)
{
    return limits_address(context, client, now_ms) == 0;
}

static enum status limits_open(struct tls_service *tls, uint32_t edges)
{
    const struct config *config = tls->config;
    struct hash_key key;
    const uint32_t per_s = (uint32_t)config->tls_handshakes_per_s;
    struct limits_config rates = { .addresses = RATE_ADDRESSES,
        .users = 8,
        .items = 1,
        .user_requests_max = 1,
        .v6_bits = (uint32_t)config->v6_prefix,
        .rates = { .address_per_s = per_s, .address_burst = per_s * RATE_BURST } };
    random_secret(&rates.key, sizeof rates.key);
    enum status status = STATUS_OK;
    if (per_s > 0)
        status = limits_create(&tls->rates, &rates);
    random_secret(&key, sizeof key);
    if (status == STATUS_OK && config->tls_handshakes_per_address > 0)
        status = caller_counts_create(&tls->callers, edges * HANDSHAKES_MAX,
            (uint32_t)config->tls_handshakes_per_address, (uint32_t)config->v6_prefix, key);
    return status;
}

enum status tls_service_open(struct tls_service *tls, uint32_t edges, const struct trusted *trusted,
    char error[CONFIG_ERROR])
{
    const struct config *config = tls->config;
    if (config->tls_certificates[0] == 0)
        return STATUS_OK;
    tls->trusted = trusted;
    if (config->tls_hsts_s > 0)
        snprintf(tls->header, sizeof tls->header,
            "Strict-Transport-Security: max-age=%" PRIu64 "\r\n", config->tls_hsts_s);
    if (limits_open(tls, edges) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no memory for the limits of TLS handshakes");
        return STATUS_FULL;
    }
    return certificates_open(&tls->certificates, span_from_string(config->tls_certificates), error);
}

enum status tls_service_listen(struct tls_service *tls, uint32_t edge,
    const struct listening *listening, char error[CONFIG_ERROR])
{
    struct config *config = tls->config;
    if (tls->certificates == NULL)
        return STATUS_OK;
    const char *address = config->tls_address[0] != 0 ? config->tls_address : config->address;
    const struct handshakes_config shared = { .certificates = tls->certificates,
        .address = address,
        .port = (uint16_t)config->tls_port,
        .listen_fd = listening_tls(listening, edge),
        .timeout_ms = (uint32_t)config->tls_handshake_ms,
        .trusted = tls->trusted,
        .callers = tls->callers,
        .may_begin = tls->rates == NULL ? NULL : may_begin,
        .context = tls->rates };
    errno = EADDRINUSE;
    enum status status = STATUS_IO;
    if (edge > 0 || shared.listen_fd >= 0 || !listener_taken(address, shared.port))
        status = handshakes_open(&tls->handshakes[edge], &shared);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "can't listen for TLS on %.100s port %u: %s", address, shared.port,
            status == STATUS_BAD_INPUT ? "tls.address is not an address" : strerrordesc_np(errno));
        return status;
    }
    config->tls_port = handshakes_port(tls->handshakes[edge]);
    return STATUS_OK;
}

bool tls_service_start(struct tls_service *tls)
{
    for (uint32_t i = 0; i < EDGES_MAX && tls->handshakes[i] != NULL; i++) {
        char name[16];
        snprintf(name, sizeof name, "tls-%u", i);
        if (thread_start(&tls->threads[i], name, handshakes_run, tls->handshakes[i]) != STATUS_OK)
            return false;
    }
    return true;
}

void tls_service_stop(struct tls_service *tls)
{
    for (uint32_t i = 0; i < EDGES_MAX && tls->handshakes[i] != NULL; i++)
        handshakes_stop(tls->handshakes[i]);
    for (uint32_t i = 0; i < EDGES_MAX; i++)
        thread_join(&tls->threads[i]);
}

void tls_service_close(struct tls_service *tls)
{
    for (uint32_t i = 0; i < EDGES_MAX; i++)
        handshakes_close(tls->handshakes[i]);
    certificates_close(tls->certificates);
    caller_counts_free(tls->callers);
    limits_free(tls->rates);
}

struct span tls_service_header(const struct tls_service *tls)
{
    return span_from_string(tls->header);
}

/* ---- the files */

static void expiry_watch(const struct tls_service *tls, uint64_t now_ms)
{
    const char *path;
    const uint64_t now_s = clock_wall_ms() / 1000,
                   expires_s = certificates_expire(tls->certificates, &path);
    const uint64_t left_s = expires_s > now_s ? expires_s - now_s : 0;
    metric_set(&expires_metric, left_s);
    alarm_set(ALARM_CERTIFICATE_EXPIRES, left_s < EXPIRES_SOON_S, now_ms,
        "%.100s %s: see why it is not renewed; new files are used without a restart", path,
        left_s == 0 ? "has expired" : "expires in less than 14 days");
}

static void news_tell(const struct tls_service *tls, bool good, const char *error, uint64_t now_ms)
{
    alarm_set(ALARM_CERTIFICATE_REFUSED, !good, now_ms, "%.150s; the old ones stay in use", error);
    if (good)
        log_info("tls", "%u certificates are in use", certificates_count(tls->certificates));
    else
        log_error("tls", "new certificates are not used: %s", error);
}

void tls_service_watch(struct tls_service *tls, uint64_t now_ms)
{
    char error[CERTIFICATE_ERROR] = "";
    if (tls->certificates == NULL || now_ms - tls->looked_ms < LOOK_MS)
        return;
    tls->looked_ms = now_ms;
    const enum certificates_news news = certificates_look(tls->certificates, error);
    if (news != CERTIFICATES_SAME)
        news_tell(tls, news == CERTIFICATES_REPLACED, error, now_ms);
    expiry_watch(tls, now_ms);
}

void tls_service_reload(struct tls_service *tls, const char *list, uint64_t now_ms)
{
    char error[CERTIFICATE_ERROR] = "";
    if (tls->certificates == NULL)
        return;
    const bool good = certificates_load(tls->certificates, span_from_string(list), error) == STATUS_OK;
    news_tell(tls, good, error, now_ms);
    expiry_watch(tls, now_ms);
}

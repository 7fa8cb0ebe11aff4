/* SPDX-License-Identifier: Apache-2.0 */
#include "server/reload.h"

#include "base/clock.h"
#include "base/log.h"
#include "gateway/settings.h"
#include "server/server.h"
#include "server/tls_service.h"

#include <systemd/sd-daemon.h>

void reload_settings(const struct reload *reload)
{
    struct config config = *reload->config, fresh = *reload->config;
    char error[CONFIG_ERROR];
    const struct server_options *options = reload->options;
    sd_notify(0, "RELOADING=1");
    enum status status = options->settings_read == NULL
        ? STATUS_OK
        : options->settings_read(&fresh, options->context, error);
    if (status == STATUS_OK)
        config_reload(&config, &fresh);
    if (status == STATUS_OK)
        status = settings_load(reload->settings, reload->key_ring, reload->turns, &config, error);
    if (status == STATUS_OK)
        log_info("server", "settings reloaded");
    else
        log_error("server", "settings not reloaded: %s", error);
    tls_service_reload(reload->tls, config.tls_certificates, clock_now_ms());
    sd_notify(0, "READY=1");
}

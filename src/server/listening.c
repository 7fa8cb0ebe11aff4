/* SPDX-License-Identifier: Apache-2.0 */
#include "server/listening.h"

#include "edge/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

void listening_find(struct listening *listening)
{
    char **names = NULL;
    const int count = sd_listen_fds_with_names(1, &names);
    *listening = (struct listening){ .plain_count = 0 };
    for (int i = 0; i < count; i++) {
        const int fd = SD_LISTEN_FDS_START + i;
        const bool tls = names != NULL && strcmp(names[i], "tls") == 0;
        if (tls && listening->tls_count < LISTENING_MAX)
            listening->tls[listening->tls_count++] = fd;
        else if (!tls && listening->plain_count < LISTENING_MAX)
            listening->plain[listening->plain_count++] = fd;
        if (names != NULL)
            free(names[i]);
    }
    free(names);
}

int listening_plain(const struct listening *listening, uint32_t edge)
{
    return listening->plain_count == 0 ? -1 : dup(listening->plain[edge % listening->plain_count]);
}

int listening_tls(const struct listening *listening, uint32_t edge)
{
    return listening->tls_count == 0 ? -1 : dup(listening->tls[edge % listening->tls_count]);
}

bool listening_is_taken(
    const struct listening *listening, const char *address, uint16_t port, char error[CONFIG_ERROR])
{
    if (listening->plain_count > 0 || !listener_taken(address, port))
        return false;
    snprintf(error, CONFIG_ERROR,
        "can't listen on %.100s port %u: another program does (`ss -ltnp` shows it); "
        "stop it or change server.port",
        address, port);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* server/listening.h: sockets that systemd has opened for us (socket activation). One that is named "tls"
 * (FileDescriptorName=tls) is for TLS, all others are not.
 * Thread: main. */
#ifndef STAMPEDE_SERVER_LISTENING_H
#define STAMPEDE_SERVER_LISTENING_H

#include "config/config.h"

enum { LISTENING_MAX = 16 };
struct listening {
    int plain[LISTENING_MAX], tls[LISTENING_MAX];
    uint32_t plain_count, tls_count;
};

void listening_find(struct listening *listening);
/* A descriptor of its own for this edge; -1: there is none, and the edge opens its own. */
int listening_plain(const struct listening *listening, uint32_t edge);
int listening_tls(const struct listening *listening, uint32_t edge);
/* Whether somebody else listens at server.port already, and none is given; `error` says so. */
MUST_CHECK bool listening_is_taken(const struct listening *listening, const char *address,
    uint16_t port, char error[CONFIG_ERROR]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* server/reload.h: SIGHUP: the settings that can change while the server runs, the keys and the certificates.
 * What is wrong is told in the log, and the old stays.
 * Thread: main. */
#ifndef STAMPEDE_SERVER_RELOAD_H
#define STAMPEDE_SERVER_RELOAD_H

struct config;
struct handover;
struct key_ring;
struct reader_turns;
struct server_options;
struct tls_service;

struct reload {
    const struct config *config; /* as the server was started with */
    const struct server_options *options;
    struct handover *settings;
    struct key_ring *key_ring;
    struct reader_turns *turns;
    struct tls_service *tls;
};
void reload_settings(const struct reload *reload);

#endif

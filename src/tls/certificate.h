/* SPDX-License-Identifier: Apache-2.0 */
/* tls/certificate.h: one certificate with its key, loaded and checked, as an SSL_CTX that handshakes start
 * from. All have the same rules: TLS 1.2 and 1.3, ECDHE and AEAD only, our order of ciphers, no
 * renegotiation, no compression, no early data, http/1.1 as the only protocol, tickets of tls/tickets.h.
 * Private to the folder. Thread: any; nothing of it changes after certificate_load. */
#ifndef STAMPEDE_TLS_CERTIFICATE_H
#define STAMPEDE_TLS_CERTIFICATE_H

#include "tls/certificate_list.h"
#include "tls/server_name.h"

#include <openssl/ssl.h>

struct tickets;

struct certificate {
    SSL_CTX *context;
    struct server_names names;
    uint64_t expires_s; /* since 1970 */
};

/* Errors: STATUS_BAD_INPUT, and `error` says which file and why; nothing is left open then. */
MUST_CHECK enum status certificate_load(struct certificate *certificate,
    const struct certificate_files *files, struct tickets *tickets, char *error, size_t error_bytes);
void certificate_close(struct certificate *certificate); /* accepts a zeroed one */

#endif

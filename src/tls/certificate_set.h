/* SPDX-License-Identifier: Apache-2.0 */
/* tls/certificate_set.h: the certificates that a handshake chooses from. Private to the folder.
 * Thread: any; only `users` changes. */
#ifndef STAMPEDE_TLS_CERTIFICATE_SET_H
#define STAMPEDE_TLS_CERTIFICATE_SET_H

#include "tls/certificate.h"
#include "tls/certificates.h"

#include <stdatomic.h>

struct certificate_set {
    _Atomic uint32_t users; /* the one that is in use counts as one */
    uint32_t count;
    struct certificate list[CERTIFICATES_MAX];
    const struct server_names *names[CERTIFICATES_MAX];
    struct certificate_files files[CERTIFICATES_MAX];
};

struct certificate_set *certificate_set_take(struct certificates *certificates);
void certificate_set_give(struct certificate_set *set); /* the last one frees it */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* tls/certificates.h: the certificates that handshakes use now, and how they are replaced while the server
 * runs. A new set takes the place of the old one only when every pair of it is good; handshakes that began
 * with the old set end with it.
 * Thread: open, close, load and look by one; streams (tls/stream.h) take the set from any, under a lock that
 * edges never touch. */
#ifndef STAMPEDE_TLS_CERTIFICATES_H
#define STAMPEDE_TLS_CERTIFICATES_H

#include "tls/certificate_list.h"

enum { CERTIFICATE_ERROR = 256 };

struct certificates;
enum certificates_news { CERTIFICATES_SAME, CERTIFICATES_REPLACED, CERTIFICATES_REFUSED };

/* `list`: tls.certificates. Errors: STATUS_BAD_INPUT, and `error` says what is wrong. */
MUST_CHECK enum status certificates_open(
    struct certificates **certificates, struct span list, char error[CERTIFICATE_ERROR]);
void certificates_close(struct certificates *certificates); /* accepts NULL; no stream is in a handshake */
/* Reads the files of the list anew. On failure the set stays as it is. */
MUST_CHECK enum status certificates_load(
    struct certificates *certificates, struct span list, char error[CERTIFICATE_ERROR]);
/* Whether the files were replaced, and loads them then. Call it every few seconds. */
enum certificates_news certificates_look(
    struct certificates *certificates, char error[CERTIFICATE_ERROR]);
/* When the first of them expires, in seconds since 1970; *path is its file. */
uint64_t certificates_expire(const struct certificates *certificates, const char **path);
uint32_t certificates_count(const struct certificates *certificates);

#endif

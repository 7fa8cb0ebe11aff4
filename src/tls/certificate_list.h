/* SPDX-License-Identifier: Apache-2.0 */
/* tls/certificate_list.h: the setting tls.certificates: pairs of files, CERTIFICATE:KEY, separated by commas.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_TLS_CERTIFICATE_LIST_H
#define STAMPEDE_TLS_CERTIFICATE_LIST_H

#include "base/span.h"

#include <stdint.h>

enum { CERTIFICATES_MAX = 16, CERTIFICATE_PATH_MAX = 256 };

struct certificate_files { /* paths in PEM form; of the certificate: with its chain */
    char certificate[CERTIFICATE_PATH_MAX], key[CERTIFICATE_PATH_MAX];
};

/* Errors: STATUS_BAD_INPUT: no pair, more than CERTIFICATES_MAX, or a path that is missing or too long. */
MUST_CHECK enum status certificate_list_parse(
    struct span list, struct certificate_files files[CERTIFICATES_MAX], uint32_t *count);

#endif

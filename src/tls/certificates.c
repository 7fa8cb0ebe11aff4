/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificates.h"

#include "base/clock.h"
#include "base/text.h"
#include "tls/certificate_set.h"
#include "tls/certificate_watch.h"
#include "tls/tickets.h"

#include <stdio.h>
#include <stdlib.h>

struct certificates {
    pthread_mutex_t lock; /* of `set` */
    struct certificate_set *set;
    struct tickets tickets;
    struct certificate_watch watch;
};

struct certificate_set *certificate_set_take(struct certificates *certificates)
{
    pthread_mutex_lock(&certificates->lock);
    struct certificate_set *set = certificates->set;
    atomic_fetch_add(&set->users, 1);
    pthread_mutex_unlock(&certificates->lock);
    return set;
}

void certificate_set_give(struct certificate_set *set)
{
    if (set == NULL || atomic_fetch_sub(&set->users, 1) > 1)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        certificate_close(&set->list[i]);
    free(set);
}

/* A name that nobody knows gets the first one: a client may want no name at all. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's */
static int name_ask(SSL *ssl, int *alert, void *context)
{
    const struct certificate_set *set = context;
    const struct span name = span_from_string(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    const uint32_t chosen = server_name_choose(set->names, set->count, name);
    (void)alert;
    if (chosen != 0)
        SSL_set_SSL_CTX(ssl, set->list[chosen].context);
    return SSL_TLSEXT_ERR_OK;
}

/* NULL: `error` says why. */
static struct certificate_set *set_load(
    struct tickets *tickets, struct span list, struct certificate_marks *marks, char *error)
{
    struct certificate_set *set = calloc(1, sizeof *set);
    uint32_t count = 0;
    if (set == NULL || certificate_list_parse(list, set->files, &count) != STATUS_OK) {
        snprintf(error, CERTIFICATE_ERROR, "%s",
            set == NULL
                ? "no memory for the certificates"
                : "tls.certificates must be pairs of files, certificate:key, separated by commas");
        free(set);
        return NULL;
    }
    atomic_store(&set->users, 1);
    certificate_marks_read(marks, set->files, count); /* before: a later change is seen at the next look */
    for (; set->count < count; set->count++) {
        struct certificate *certificate = &set->list[set->count];
        if (certificate_load(certificate, &set->files[set->count], tickets, error, CERTIFICATE_ERROR)
            != STATUS_OK) {
            certificate_set_give(set);
            return NULL;
        }
        set->names[set->count] = &certificate->names;
        SSL_CTX_set_tlsext_servername_callback(certificate->context, name_ask);
        SSL_CTX_set_tlsext_servername_arg(certificate->context, set);
    }
    return set;
}

enum status certificates_open(struct certificates **out, struct span list, char error[CERTIFICATE_ERROR])
{
    struct certificate_marks marks = { 0 };
    struct certificates *certificates = *out = calloc(1, sizeof *certificates);
    if (certificates == NULL) {
        snprintf(error, CERTIFICATE_ERROR, "no memory for the certificates");
        return STATUS_FULL;
    }
    invariant(pthread_mutex_init(&certificates->lock, NULL) == 0);
    tickets_open(&certificates->tickets, clock_monotonic_ms());
    certificates->set = set_load(&certificates->tickets, list, &marks, error);
    if (certificates->set == NULL) {
        certificates_close(certificates);
        *out = NULL;
        return STATUS_BAD_INPUT;
    }
    certificate_watch_tried(&certificates->watch, &marks);
    return STATUS_OK;
}

void certificates_close(struct certificates *certificates)
{
    if (certificates == NULL)
        return;
    certificate_set_give(certificates->set);
    tickets_close(&certificates->tickets);
    pthread_mutex_destroy(&certificates->lock);
    free(certificates);
}

/* Which of the set expires first. */
static uint32_t first_to_expire(const struct certificate_set *set)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < set->count; i++)
        if (set->list[i].expires_s < set->list[first].expires_s)
            first = i;
    return first;
}

enum status certificates_load(
    struct certificates *certificates, struct span list, char error[CERTIFICATE_ERROR])
{
    struct certificate_marks marks = { 0 };
    struct certificate_set *fresh = set_load(&certificates->tickets, list, &marks, error);
    if (fresh != NULL) {
        const uint32_t first = first_to_expire(fresh);
        if (fresh->list[first].expires_s <= clock_wall_ms() / 1000) {
            snprintf(error, CERTIFICATE_ERROR, "tls.certificates: %.120s has expired",
                fresh->files[first].certificate);
            certificate_set_give(fresh);
            fresh = NULL;
        }
    }
    certificate_watch_tried(&certificates->watch, &marks);
    if (fresh == NULL)
        return STATUS_BAD_INPUT;
    pthread_mutex_lock(&certificates->lock);
    struct certificate_set *old = certificates->set;
    certificates->set = fresh;
    pthread_mutex_unlock(&certificates->lock);
    certificate_set_give(old);
    return STATUS_OK;
}

/* The list as it was given: the paths of the set. */
static struct span list_write(const struct certificate_set *set, struct text *out)
{
    for (uint32_t i = 0; i < set->count; i++) {
        text_string(out, i == 0 ? "" : ",");
        text_string(out, set->files[i].certificate);
        text_literal(out, ":");
        text_string(out, set->files[i].key);
    }
    invariant(!out->overflow);
    return text_span(out);
}

enum certificates_news certificates_look(struct certificates *certificates, char error[CERTIFICATE_ERROR])
{
    char paths[2 * CERTIFICATES_MAX * (CERTIFICATE_PATH_MAX + 1)];
    struct text list = text_in(paths, sizeof paths);
    struct certificate_marks now;
    certificate_marks_read(&now, certificates->set->files, certificates->set->count);
    if (certificate_watch_look(&certificates->watch, &now) != WATCH_LOAD)
        return CERTIFICATES_SAME;
    return certificates_load(certificates, list_write(certificates->set, &list), error) == STATUS_OK
        ? CERTIFICATES_REPLACED
        : CERTIFICATES_REFUSED;
}

uint64_t certificates_expire(const struct certificates *certificates, const char **path)
{
    const struct certificate_set *set = certificates->set;
    const uint32_t first = first_to_expire(set);
    *path = set->files[first].certificate;
    return set->list[first].expires_s;
}

uint32_t certificates_count(const struct certificates *certificates)
{
    return certificates->set->count;
}

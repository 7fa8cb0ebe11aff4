/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificate.h"

#include "base/clock.h"
#include "base/random.h"
#include "tls/tickets.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SUITES_13 "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define SUITES_12 \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:" \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GROUPS "X25519:P-256:P-384"
#define CONTEXT_NAME "stampede"

/* ---- callbacks of a handshake */

static bool ticket_cipher(const struct ticket_key *key, unsigned char *iv, EVP_CIPHER_CTX *cipher,
    EVP_MAC_CTX *mac, bool seal)
{
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(
            OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)key->mac, sizeof key->mac),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t) "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_CipherInit_ex2(cipher, EVP_aes_256_cbc(), key->cipher, iv, seal, NULL) == 1
        && EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* 1: done; 2: done, and the client should get a new ticket; 0: a ticket that is not ours, so a whole
 * handshake; -1: it fails. */
static int ticket_key_give(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
    EVP_MAC_CTX *mac, int seal)
{
    struct tickets *tickets = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct ticket_key key;
    bool renew = false;
    if (seal != 0) {
        tickets_seal(tickets, clock_monotonic_ms(), &key);
        memcpy(name, key.name, sizeof key.name);
        random_secret(iv, EVP_MAX_IV_LENGTH);
    } else if (!tickets_find(tickets, name, clock_monotonic_ms(), &key, &renew)) {
        return 0;
    }
    const bool good = ticket_cipher(&key, iv, cipher, mac, seal != 0);
    explicit_bzero(&key, sizeof key);
    return !good ? -1 : renew ? 2 : 1;
}

static int protocol_choose(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_bytes,
    const unsigned char *offered, unsigned int offered_bytes, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *found = NULL;
    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&found, chosen_bytes, ours, sizeof ours - 1, offered, offered_bytes)
        != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/* A key with a passphrase: there is nobody to type it. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's */
static int passphrase_none(char *buffer, int size, int writes, void *context)
{
    (void)buffer;
    (void)size;
    (void)writes;
    (void)context;
    return -1;
}

/* ---- loading */

static bool rules_set(SSL_CTX *context, struct tickets *tickets)
{
    SSL_CTX_set_options(context,
        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
            | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context,
        SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets only */
    SSL_CTX_set_timeout(context, TICKET_KEY_S);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_app_data(context, tickets);
    SSL_CTX_set_alpn_select_cb(context, protocol_choose, NULL);
    SSL_CTX_set_default_passwd_cb(context, passphrase_none);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1
        && SSL_CTX_set_cipher_list(context, SUITES_12) == 1
        && SSL_CTX_set_ciphersuites(context, SUITES_13) == 1
        && SSL_CTX_set1_groups_list(context, GROUPS) == 1
        && SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key_give) == 1
        && SSL_CTX_set_session_id_context(
               context, (const unsigned char *)CONTEXT_NAME, sizeof CONTEXT_NAME - 1)
        == 1;
}

static void names_read(X509 *certificate, struct server_names *names)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(all) && names->count < SERVER_NAMES_MAX; i++) {
        int kind;
        const ASN1_STRING *text = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &kind);
        if (kind != GEN_DNS)
            continue;
        const size_t size = (size_t)ASN1_STRING_length(text);
        const void *bytes = ASN1_STRING_get0_data(text);
        if (size == 0 || size >= SERVER_NAME_BYTES || memchr(bytes, 0, size) != NULL)
            continue; /* no name that a client can ask for */
        memcpy(names->list[names->count], bytes, size);
        names->list[names->count++][size] = 0;
    }
    GENERAL_NAMES_free(all);
}

static bool expiry_read(X509 *certificate, uint64_t *expires_s)
{
    struct tm time;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1)
        return false;
    const time_t seconds = timegm(&time);
    *expires_s = seconds < 0 ? 0 : (uint64_t)seconds;
    return true;
}

/* NULL: good. The texts follow the path of the file. */
static const char *key_wrong(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return "can't be read: name the file of the key, and let the server's user read it";
    return (found.st_mode & S_IROTH) != 0
        ? "is a key that everybody on this machine can read: take that right away (chmod o-rwx)"
        : NULL;
}

static const char *pair_wrong(SSL_CTX *context, const struct certificate_files *files, const char **path)
{
    *path = files->certificate;
    if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
        return "is not a certificate in PEM form that can be read";
    *path = files->key;
    const char *wrong = key_wrong(files->key);
    if (wrong != NULL)
        return wrong;
    if (SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) != 1)
        return ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH
            ? "is not the key of its certificate"
            : "is not a key in PEM form, without a passphrase, that can be read";
    return SSL_CTX_check_private_key(context) == 1 ? NULL : "is not the key of its certificate";
}

enum status certificate_load(struct certificate *certificate, const struct certificate_files *files,
    struct tickets *tickets, char *error, size_t error_bytes)
{
    const char *path = files->certificate, *wrong = "can't be used: OpenSSL refuses our rules";
    ERR_clear_error();
    *certificate = (struct certificate){ .context = SSL_CTX_new(TLS_server_method()) };
    if (certificate->context != NULL && rules_set(certificate->context, tickets))
        wrong = pair_wrong(certificate->context, files, &path);
    X509 *loaded = wrong != NULL ? NULL : SSL_CTX_get0_certificate(certificate->context);
    if (wrong == NULL && (loaded == NULL || !expiry_read(loaded, &certificate->expires_s)))
        wrong = "has no end of its validity";
    if (wrong == NULL) {
        names_read(loaded, &certificate->names);
        return STATUS_OK;
    }
    snprintf(error, error_bytes, "tls.certificates: %.120s %s", path, wrong);
    ERR_clear_error();
    certificate_close(certificate);
    return STATUS_BAD_INPUT;
}

void certificate_close(struct certificate *certificate)
{
    SSL_CTX_free(certificate->context);
    certificate->context = NULL;
}

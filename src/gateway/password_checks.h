/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/password_checks.h: passwords of people who sign in to the console. Hashing one takes a good part
 * of a second (base/password.h), so a thread of its own does it, one after another, at low priority; the
 * edge that handed one in gets it back in a later turn.
 *
 * Bounded: PASSWORD_CHECKS_MAX wait at a time, one for each address (address_group), so that nobody tries
 * many passwords before the first is refused. Addresses that send wrong ones must wait, as with keys
 * (funnel/lockout.h); but a right one spares no address: passwords can be guessed, and a viewer must not
 * guess the administrator's after signing in. A password is wiped as soon as it is hashed.
 * Thread: as said below; all share one table, behind a lock. Memory: its own, at open. */
#ifndef STAMPEDE_GATEWAY_PASSWORD_CHECKS_H
#define STAMPEDE_GATEWAY_PASSWORD_CHECKS_H

#include "api/reply_to.h"
#include "base/address.h"
#include "base/password.h"
#include "base/thread.h"
#include "gateway/console_sessions.h"

enum { PASSWORD_CHECKS_MAX = 8 };

struct password_check {
    struct reply_to to;
    struct address client;
    uint8_t salt[PASSWORD_SALT_BYTES], expected[HASH_SHA256_BYTES];
    bool known;  /* there is such a name: what is expected counts */
    bool secure; /* the page came over TLS */
    char replaced[CONSOLE_ID_CHARS];
    size_t replaced_size; /* the session that the request shows; 0: none */
};
enum password_place { PASSWORD_WAITS, PASSWORD_FULL, PASSWORD_ONE_WAITS };

struct password_checks;
MUST_CHECK enum status password_checks_open(struct password_checks **checks, uint32_t v6_bits);
MUST_CHECK enum status password_checks_start(struct password_checks *checks);
void password_checks_close(struct password_checks *checks); /* ends the thread; accepts NULL */
/* Before the threads run. */
void password_checks_wake(struct password_checks *checks, uint32_t edge, struct wake *wake);

/* Edge threads. A check whose name is not known takes as long as any: its salt is made up here.
 * PASSWORD_FULL and PASSWORD_ONE_WAITS (of this address): nothing was taken. */
MUST_CHECK enum password_place password_checks_add(struct password_checks *checks, uint32_t edge,
    const struct password_check *check, struct span password);
/* A check of this edge that is done, and whether the password is right; false: none. */
bool password_checks_take(
    struct password_checks *checks, uint32_t edge, struct password_check *check, bool *right);
/* How long the address has to wait before it may send a password; 0: it may. */
uint32_t password_checks_wait_ms(
    struct password_checks *checks, const struct address *client, uint64_t now_ms);
void password_checks_failed(struct password_checks *checks, const struct address *client, uint64_t now_ms);

#endif

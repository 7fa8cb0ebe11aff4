/* SPDX-License-Identifier: Apache-2.0 */
/* payment/sandbox.h: the built-in provider for rehearsals; its bank is in sandbox_bank.h. */
#ifndef STAMPEDE_PAYMENT_SANDBOX_H
#define STAMPEDE_PAYMENT_SANDBOX_H

#include "payment/provider.h"
#include "payment/sandbox_wire.h"

extern const struct provider_ops sandbox_provider;

/* Makes the file `name` in the folder with a secret of its own, whole and durable or not at all, unless
 * it has one. A file that is empty or cut short was never used (it was not whole when the machine
 * stopped) and is made anew. */
MUST_CHECK enum status sandbox_secret_keep(const char *folder, const char *name);
/* From the file, as the provider reads it; the bank needs the same one. */
MUST_CHECK enum status sandbox_secret_read(const char *path, struct sandbox_secret *secret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/text.h: the SQL of the store (store/driver.h, forms 1 to 6) in PostgreSQL's
 * words. What stands in quotes stays as it is. Errors: only `overflow` of the text:
 * POSTGRES_TEXT_GROWTH times the bytes, and one, are enough. */
#ifndef STAMPEDE_STORE_POSTGRES_TEXT_H
#define STAMPEDE_STORE_POSTGRES_TEXT_H

#include "base/text.h"

enum { POSTGRES_TEXT_GROWTH = 4 };

/* ?1 becomes $1, or NULL where unknown[0] says that nothing is known of its type: PostgreSQL would
 * have to guess it, and refuses to where it is used for two columns. */
void postgres_text_statement(struct text *out, const char *sql, const bool *unknown, size_t count);
void postgres_text_script(struct text *out, const char *sql);

#endif

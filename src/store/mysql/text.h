/* SPDX-License-Identifier: Apache-2.0 */
/* store/mysql/text.h: the texts of store/driver.h in the words of MySQL and MariaDB. Only words
 * that both know come out. What differs between the two comes in (struct mysql_dialect). A text that breaks
 * the forms of driver.h is a bug and stops the program.
 * Thread: any. */
#ifndef STAMPEDE_STORE_MYSQL_TEXT_H
#define STAMPEDE_STORE_MYSQL_TEXT_H

#include "base/text.h"

enum { MYSQL_PARAMETERS_MAX = 65535 }; /* more can not be sent with one statement */

/* A statement with values. */
struct mysql_text {
    struct text sql; /* in the caller's memory, mysql_text_room(size of the text) bytes */
    uint16_t *order; /* in the caller's memory, MYSQL_PARAMETERS_MAX: which value (from 0) each "?" is */
    uint32_t parameters;
    uint32_t values; /* the highest number of a value */
    bool is_upsert;  /* ends in DO UPDATE SET: each row counts as matched */
    bool returns_id; /* RETURNING id */
};
/* How many bytes are enough for a text of this size; also for a statement of a script. */
size_t mysql_text_room(size_t bytes);
void mysql_text_make(struct mysql_text *text, struct span sql);

/* Takes the next statement of a script, without its ";". False: no more. */
bool mysql_script_take(struct span *script, struct span *statement);
struct mysql_dialect {
    const char *collation; /* compares texts byte by byte, without ignoring blanks at the end */
    bool checks_by_table; /* MySQL's names of a table's CHECKs: t_chk_1, …; else MariaDB's: CONSTRAINT_1, … */
};
/* A statement of a script: forms 5, 6 and 8; others as mysql_text_make, without values. */
void mysql_script_text(struct text *out, struct span statement, const struct mysql_dialect *dialect);

/* Reading a text word by word. A piece is a word, a string with its quotes, "?1", white space or
 * one other character. */
struct span mysql_piece_take(struct span *rest); /* empty: the end */
struct span mysql_word_take(struct span *rest);  /* the next piece that is not white space */
struct span mysql_word_peek(struct span rest);
bool mysql_is(struct span piece, const char *word); /* SQL's words are written in capitals */
/* What stands between "(" and its ")", or "{" and its "}"; `rest` begins with the opening one. */
struct span mysql_inner_take(struct span *rest);
/* Adds a text as it is, with char_length for length. */
void mysql_plain_add(struct text *out, struct span sql);

#endif

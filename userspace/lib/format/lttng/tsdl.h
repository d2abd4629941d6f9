/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parser of CTF 1.8 metadata consists of: tokens (tsdl_token.c), types (tsdl_type.c)
 * and blocks (tsdl.c).
 */
#ifndef _KT_LTTNG_TSDL_H
#define _KT_LTTNG_TSDL_H

#include "ctf.h"

#define TSDL_ALIAS 4096U /* bytes of the name of a type, of all its words */

enum tsdl_token { TSDL_END, TSDL_WORD, TSDL_TEXT, TSDL_NUMBER, TSDL_SIGN };

/**
 * struct tsdl_alias - name of a type
 * @word: the name
 * @hidden: what it meant before, outside the braces
 * @before: the one that was declared before
 * @type: the type
 */
struct tsdl_alias {
	struct ctf_word *word;
	const struct tsdl_alias *hidden;
	const struct tsdl_alias *before;
	const struct ctf_type *type;
};

/**
 * struct tsdl - a text that is being parsed
 * @c: filled
 * @text: the text
 * @at: the next character
 * @end: after the last one
 * @error: filled at the first error
 * @token: the current token
 * @from: where it begins
 * @word: WORD, TEXT (without quotes, escapes resolved) or SIGN, as of ctf_name()
 * @number: value of a NUMBER
 * @aliases: the last name of a type that was declared, and still holds
 * @depth: types inside types
 * @failed: -EBADMSG or -ENOMEM, 0 = none
 */
struct tsdl {
	struct ctf *c;
	const char *text;
	const char *at;
	const char *end;
	struct ktape_error *error;
	enum tsdl_token token;
	const char *from;
	const char *word;
	int64_t number;
	const struct tsdl_alias *aliases;
	unsigned int depth;
	int failed;
};

/*
 * tsdl_token.c.  After an error there are no more tokens: tsdl_next() finds TSDL_END.  tsdl_bad(),
 * tsdl_no_memory(), and tsdl_expect() if it fails, return false for the caller to return.
 */
bool tsdl_bad(struct tsdl *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool tsdl_no_memory(struct tsdl *p);
void tsdl_next(struct tsdl *p);
bool tsdl_is(const struct tsdl *p, const char *word);
bool tsdl_accept(struct tsdl *p, const char *word);
bool tsdl_expect(struct tsdl *p, const char *word);
void tsdl_skip_statement(struct tsdl *p);

/* tsdl_type.c.  @outside: @aliases of struct tsdl before the brace that is left */
const struct ctf_type *tsdl_parse_type(struct tsdl *p);
bool tsdl_parse_alias(struct tsdl *p);
void tsdl_leave(struct tsdl *p, const struct tsdl_alias *outside);
bool tsdl_parse_typedef(struct tsdl *p);
void tsdl_set_order(const struct tsdl *p, struct ctf_type *t);

#endif /* _KT_LTTNG_TSDL_H */

// SPDX-License-Identifier: LGPL-2.1-or-later
/* CTF 1.8 metadata as words, texts, numbers and signs; comments are passed over. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "tsdl.h"

/* Set the first error.  Return: false. */
bool tsdl_bad(struct tsdl *p, const char *format, ...)
{
	va_list args;

	if (p->failed)
		return false;
	p->failed = -EBADMSG;
	va_start(args, format);
	vsnprintf(p->error->text, sizeof(p->error->text), format, args);
	va_end(args);
	p->error->offset = (uint64_t)(p->from - p->text);
	return false;
}

/* Fail without memory, or because ctf_new_type() has reached CTF_TYPES.  Return: false. */
bool tsdl_no_memory(struct tsdl *p)
{
	if (p->c->nr_types == CTF_TYPES)
		return tsdl_bad(p, "the metadata has more than %u types", CTF_TYPES);
	if (!p->failed)
		p->failed = -ENOMEM;
	return false;
}

/* ---- tokens ---------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

static void skip_tsdl_space(struct tsdl *p)
{
	while (p->at < p->end) {
		if (strchr(" \t\r\n", *p->at) && *p->at) {
			p->at++;
		} else if (p->end - p->at > 1 && p->at[0] == '/' && p->at[1] == '*') {
			const char *stop = memmem(
				p->at + 2, (size_t)(p->end - p->at - 2), "*/", 2);

			p->at = stop ? stop + 2 : p->end;
		} else if (p->end - p->at > 1 && p->at[0] == '/' && p->at[1] == '/') {
			const char *stop =
				memchr(p->at, '\n', (size_t)(p->end - p->at));

			p->at = stop ? stop : p->end;
		} else {
			return;
		}
	}
}

static void set_word(struct tsdl *p, const char *text, size_t len)
{
	const struct ctf_word *w = ctf_word(p->c, text, len, true);

	p->word = w ? w->text : "";
	if (!w)
		tsdl_no_memory(p);
}

/* Return the value of a digit, 16 = it is none. */
static unsigned int tsdl_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c |= 32;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10) : 16;
}

/*
 * Take what is behind a backslash; @at is left at its last character.  As for babeltrace2, a number
 * has up to three digits, and its low 8 bits are the character.  Any other character that has no
 * meaning stands for itself.
 */
static char take_escape(const char **at, const char *end)
{
	static const char names[] = "abefnrtv", means[] = "\a\b\033\f\n\r\t\v";
	const unsigned int base = **at == 'x' ? 16 : 8;
	const char *from = *at + (base == 16), *known;
	unsigned int v = 0;

	if (base == 8 && tsdl_digit_of(**at) >= base) {
		known = memchr(names, **at, sizeof(names) - 1);
		return known ? means[known - names] : **at;
	}
	for (*at = from;
	     *at < end && *at - from < 3 && tsdl_digit_of(**at) < base; (*at)++)
		v = v * base + tsdl_digit_of(**at);
	(*at)--;
	return (char)v;
}

static void take_tsdl_text(struct tsdl *p)
{
	const char *from = ++p->at;
	size_t len = 0;
	char *plain;

	p->token = TSDL_TEXT;
	for (; p->at < p->end && *p->at != '"'; p->at++) {
		if (*p->at == '\\' && p->at + 1 < p->end)
			p->at++;
	}
	if (p->at == p->end) {
		tsdl_bad(p, "a text has no closing quote");
		return;
	}
	plain = malloc((size_t)(p->at - from) + 1);
	if (!plain) {
		tsdl_no_memory(p);
		return;
	}
	for (; from < p->at; from++) {
		if (*from == '\\' && from + 1 < p->at) {
			from++;
			plain[len++] = take_escape(&from, p->at);
		} else {
			plain[len++] = *from;
		}
	}
	/* Cut it at a NUL, because its users take a NUL for its end. */
	set_word(p, plain, strnlen(plain, len));
	free(plain);
	p->at++;
}

/* Take a number, decimal, octal or hexadecimal; of one beyond 64 bits the low ones. */
static void take_tsdl_number(struct tsdl *p)
{
	bool minus = *p->at == '-';
	uint64_t v = 0;
	unsigned int base = 10, digit;

	p->token = TSDL_NUMBER;
	p->at += minus;
	if (p->end - p->at > 1 && p->at[0] == '0') {
		base = (p->at[1] | 32) == 'x' ? 16 : 8;
		p->at += base == 16 ? 2 : 0;
	}
	for (; p->at < p->end && is_word(*p->at); p->at++) {
		char c = *p->at | 32;

		digit = *p->at <= '9' ? (unsigned int)(*p->at - '0') :
					(unsigned int)(c - 'a' + 10);
		if (digit >= base) { /* a suffix, as in 1ULL */
			if (c == 'u' || c == 'l')
				continue;
			tsdl_bad(p, "a number is malformed");
			return;
		}
		v = v * base + digit;
	}
	p->number = minus ? (int64_t)(0 - v) : (int64_t)v;
}

static void take_sign(struct tsdl *p)
{
	static const char *const longer[] = { ":=", "...", "->" };
	size_t n = 1;

	p->token = TSDL_SIGN;
	for (size_t i = 0; i < KT_ARRAY_SIZE(longer); i++) {
		size_t len = strlen(longer[i]);

		if ((size_t)(p->end - p->at) >= len && !memcmp(p->at, longer[i], len))
			n = len;
	}
	set_word(p, p->at, n);
	p->at += n;
}

/* Take the next token; TSDL_END at the end of the text, at a NUL, and after an error. */
void tsdl_next(struct tsdl *p)
{
	skip_tsdl_space(p);
	p->from = p->at;
	p->word = "";
	if (p->failed || p->at == p->end || !*p->at) {
		p->token = TSDL_END;
	} else if (*p->at == '"') {
		take_tsdl_text(p);
	} else if ((*p->at >= '0' && *p->at <= '9') ||
		   (*p->at == '-' && p->end - p->at > 1 && p->at[1] >= '0' &&
		    p->at[1] <= '9')) {
		take_tsdl_number(p);
	} else if (is_word(*p->at)) {
		p->token = TSDL_WORD;
		for (; p->at < p->end && is_word(*p->at); p->at++)
			;
		set_word(p, p->from, (size_t)(p->at - p->from));
	} else {
		take_sign(p);
	}
}

/* Check whether the current token is this word or sign. */
bool tsdl_is(const struct tsdl *p, const char *word)
{
	return (p->token == TSDL_WORD || p->token == TSDL_SIGN) &&
	       !strcmp(p->word, word);
}

/* Go past a word or sign.  Return: false if something else is there. */
bool tsdl_accept(struct tsdl *p, const char *word)
{
	if (!tsdl_is(p, word))
		return false;
	tsdl_next(p);
	return true;
}

/* Go past a word or sign.  Return: false after tsdl_bad() if something else is there. */
bool tsdl_expect(struct tsdl *p, const char *word)
{
	if (tsdl_accept(p, word))
		return true;
	if (p->token == TSDL_END)
		return tsdl_bad(p, "the metadata ends where \"%s\" is missing",
				word);
	return tsdl_bad(p, "\"%s\" is missing before \"%.40s\"", word, p->word);
}

/* Go to the semicolon that ends a statement, past blocks in braces. */
void tsdl_skip_statement(struct tsdl *p)
{
	unsigned int depth = 0;

	while (p->token != TSDL_END && !p->failed) {
		if (tsdl_is(p, "{"))
			depth++;
		if (tsdl_is(p, "}") && depth)
			depth--;
		if (tsdl_is(p, ";") && !depth)
			return;
		tsdl_next(p);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse JSON strictly and print it for shell scripts: one line for each value
 * of the input, or for each element if the whole input is an array:
 *
 * 	name=sched_switch<TAB>fields[0].name=prev_prio<TAB>available=true
 *
 * Strings are printed as written, with their escapes. This shares no code with
 * the program that writes JSON.
 *
 * usage: json <FILE	exit status 1, and the place, if the input is not JSON
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_LEN	256
#define DEPTH_MAX	32

static char *text, *at;
static char path[PATH_MAX_LEN];
static bool first = true;

static void bad(const char *what)
{
	size_t line = 1;

	for (const char *p = text; p < at; p++)
		line += *p == '\n';
	fprintf(stderr, "json: line %zu: %s at \"%.30s\"\n", line, what, at);
	exit(1);
}

static void blanks(void)
{
	at += strspn(at, " \t\r\n");
}

static void expect(char c)
{
	if (*at != c)
		bad("something else was expected");
	at++;
}

/* Parse a value at the current path. */
static void show(const char *from, size_t len)
{
	printf("%s%s=%.*s", first ? "" : "\t", path, (int)len, from);
	first = false;
}

/* Return the bytes of a UTF-8 character in its shortest form, or 0. */
static size_t utf8(const unsigned char *p)
{
	static const struct {
		unsigned char mask, lead, least;
	} form[] = {
		{ 0x80, 0x00, 0x00 },
		{ 0xe0, 0xc0, 0xc2 },
		{ 0xf0, 0xe0, 0xe0 },
		{ 0xf8, 0xf0, 0xf0 },
	};

	for (size_t n = 0; n < 4; n++) {
		if ((*p & form[n].mask) != form[n].lead)
			continue;
		if (*p < form[n].least || (*p == 0xe0 && p[1] < 0xa0) ||
		    (*p == 0xf0 && p[1] < 0x90))
			return 0;
		for (size_t i = 1; i <= n; i++)
			if ((p[i] & 0xc0) != 0x80)
				return 0;
		return n + 1;
	}
	return 0;
}

/* Parse a string up to its closing quote. Return: its length. */
static size_t string(const char **from)
{
	size_t n;

	expect('"');
	*from = at;
	while (*at != '"') {
		if ((unsigned char)*at < 0x20)
			bad("a control character in a string");
		if (*at == '\\') {
			at++;
			if (*at == 'u' &&
			    strspn(at + 1, "0123456789abcdefABCDEF") < 4)
				bad("no four digits");
			if (!*at || !strchr("\"\\/bfnrtu", *at))
				bad("no such escape");
			at++;
			continue;
		}
		n = utf8((unsigned char *)at);
		if (!n)
			bad("no UTF-8");
		at += n;
	}
	return (size_t)(at++ - *from);
}

static void digits(void)
{
	if (!isdigit((unsigned char)*at))
		bad("no digit");
	while (isdigit((unsigned char)*at))
		at++;
}

static void number(void)
{
	const char *from = at;

	at += *at == '-';
	if (*at == '0')
		at++;
	else
		digits();
	if (*at == '.') {
		at++;
		digits();
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		digits();
	}
	show(from, (size_t)(at - from));
}

static void value(int depth);

/* Parse a member or an element: its value, with its name appended to the path. */
static void below(int depth, const char *name, size_t len, int index)
{
	size_t old = strlen(path);

	if (len + old + 16 > sizeof(path))
		bad("a path that is too long");
	if (name)
		snprintf(path + old, sizeof(path) - old, "%s%.*s",
			 old ? "." : "", (int)len, name);
	else
		snprintf(path + old, sizeof(path) - old, "[%d]", index);
	value(depth + 1);
	path[old] = '\0';
}

static void members(int depth, char close)
{
	const char *name = NULL;
	size_t len = 0;
	int index = 0;

	at++;
	blanks();
	if (*at == close) {
		at++;
		return;
	}
	for (;; at++) {
		blanks();
		if (close == '}') {
			len = string(&name);
			blanks();
			expect(':');
		}
		below(depth, name, len, index++);
		blanks();
		if (!depth && close == ']') {
			puts("");
			first = true;
		}
		if (*at != ',')
			break;
	}
	expect(close);
}

/* The elements of a top-level array have no path. */
static void value(int depth)
{
	static const char *const words[] = { "true", "false", "null" };
	const char *from;
	size_t len;

	blanks();
	if (depth > DEPTH_MAX)
		bad("too deep");
	if (depth == 1 && path[0] == '[')
		path[0] = '\0';
	if (*at == '{' || *at == '[') {
		members(depth, *at == '{' ? '}' : ']');
		return;
	}
	if (*at == '"') {
		len = string(&from);
		show(from, len);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		len = strlen(words[i]);
		if (!strncmp(at, words[i], len)) {
			show(at, len);
			at += len;
			return;
		}
	}
	number();
}

/* Read standard input to its end and append a NUL. */
static void slurp(void)
{
	size_t len = 0, room = 1 << 16;

	text = malloc(room + 1);
	while (text) {
		len += fread(text + len, 1, room - len, stdin);
		if (len < room)
			break;
		room *= 2;
		text = realloc(text, room + 1);
	}
	if (!text)
		abort();
	text[len] = '\0';
	at = text;
	if (strlen(text) != len)
		bad("a byte of zero");
}

int main(void)
{
	bool array;

	slurp();
	blanks();
	if (!*at)
		bad("nothing");
	while (*at) {
		array = *at == '[';
		value(0);
		if (!array)
			puts("");
		first = true;
		at += strspn(at, " \t\r");
		if (*at && *at != '\n')
			bad("two values in a line");
		blanks();
	}
	return 0;
}

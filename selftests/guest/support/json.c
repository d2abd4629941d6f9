// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse JSON strictly and print it for shell scripts: one line for each value
 * of the input, or for each element if the whole input is an array:
 *
 * 	name=sched_switch<TAB>fields[0].name=prev_prio<TAB>available=true
 *
 * Strings are printed as written, with their escapes.
 *
 * usage: json <FILE	exit status 1, and the place, if the input is not JSON
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "json.h"

#define PATH_MAX_LEN 256
#define DEPTH_MAX    32

static char *text;
static const char *at;
static char path[PATH_MAX_LEN];
static bool first = true;

static void reject_json(const char *what)
{
	size_t line = 1;

	for (const char *p = text; p < at; p++)
		line += *p == '\n';
	fprintf(stderr, "json: line %zu: %s at \"%.30s\"\n", line, what, at);
	exit(1);
}

static void skip_blanks(void)
{
	at += strspn(at, " \t\r\n");
}

static void expect_char(char c)
{
	if (*at != c)
		reject_json(c == ':' ? "no colon after a name" :
				       "no comma or end after a value");
	at++;
}

/* Print a value as PATH=VALUE, by the current path. */
static void print_value(const char *from, size_t len)
{
	printf("%s%s=%.*s", first ? "" : "\t", path, (int)len, from);
	first = false;
}

/* Parse a string. Return: its length without the quotes. */
static size_t parse_string(const char **from)
{
	*from = at + 1;
	if (!json_string(&at))
		reject_json("no string in UTF-8 with the escapes of JSON");
	return (size_t)(at - 1 - *from);
}

static void parse_value(int depth);

/*
 * Parse a member or an element: its value, with its name appended to the path. The elements of
 * a top-level array have no path.
 */
static void parse_below(int depth, const char *name, size_t len, int index)
{
	size_t old = strlen(path);

	if (len + old + 16 > sizeof(path))
		reject_json("a path that is too long");
	if (name)
		snprintf(path + old, sizeof(path) - old, "%s%.*s",
			 old ? "." : "", (int)len, name);
	else if (depth)
		snprintf(path + old, sizeof(path) - old, "[%d]", index);
	parse_value(depth + 1);
	path[old] = '\0';
}

/* Parse an object or an array up to the character that closes it. */
static void parse_elements(int depth, char close)
{
	const char *name = NULL;
	size_t len = 0;
	int index = 0;

	at++;
	skip_blanks();
	if (*at == close) {
		at++;
		return;
	}
	for (;; at++) {
		skip_blanks();
		if (close == '}') {
			len = parse_string(&name);
			skip_blanks();
			expect_char(':');
		}
		parse_below(depth, name, len, index++);
		skip_blanks();
		if (!depth && close == ']') {
			puts("");
			first = true;
		}
		if (*at != ',')
			break;
	}
	expect_char(close);
}

/* Parse a value of any kind. */
static void parse_value(int depth)
{
	const char *from;
	size_t len;

	skip_blanks();
	if (depth > DEPTH_MAX)
		reject_json("too deep");
	if (*at == '{' || *at == '[') {
		parse_elements(depth, *at == '{' ? '}' : ']');
		return;
	}
	if (*at == '"') {
		len = parse_string(&from);
		print_value(from, len);
		return;
	}
	from = at;
	if (!json_word(&at) && !json_skip_number(&at))
		reject_json("no value");
	print_value(from, (size_t)(at - from));
}

/* Read standard input to its end and append a NUL. */
static void read_whole_stdin(void)
{
	size_t len = 0, room = 1 << 16;

	text = grow_to(NULL, room + 1);
	for (;;) {
		len += fread(text + len, 1, room - len, stdin);
		if (len < room)
			break;
		room *= 2;
		text = grow_to(text, room + 1);
	}
	text[len] = '\0';
	at = text;
	if (strlen(text) != len)
		reject_json("a byte of zero");
}

int main(void)
{
	bool array;

	read_whole_stdin();
	skip_blanks();
	if (!*at)
		reject_json("nothing");
	while (*at) {
		array = *at == '[';
		parse_value(0);
		if (!array)
			puts("");
		first = true;
		at += strspn(at, " \t\r");
		if (*at && *at != '\n')
			reject_json("two values in a line");
		skip_blanks();
	}
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions of a kernel by their address: parse a copy of /proc/kallsyms, and search in it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

#define FAR (1U << 20) /* no function is that long */

static int by_symbol_address(const void *a, const void *b)
{
	const struct kt_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Names point into the copy, so this keeps the order that they have there. */
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Parse "ADDRESS TYPE NAME[ \t[MODULE]]".  Return: false if the line is no such. */
static bool parse_symbol_line(char *line, struct kt_symbol *symbol, char *type)
{
	char *end, *name;

	symbol->address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return false;
	*type = end[1];
	name = end + 3;
	end = name + strcspn(name, "\t ");
	*end = '\0';
	symbol->name = name;
	return *name;
}

/* Of several names of an address keep the first one, which the kernel prints as well. */
static void drop_aliases(struct kt_symbols *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (!kept || s->list[kept - 1].address != s->list[i].address)
			s->list[kept++] = s->list[i];
	}
	s->nr = kept;
}

/**
 * kt_symbols_take() - take a copy of /proc/kallsyms
 * @s: empty; filled.  Functions only: types t and T
 * @text: from malloc(), with a NUL behind it; owned by @s from here on
 * @len: bytes of @text without the NUL
 *
 * A kernel that hides addresses shows 0 for all: then there are no functions.
 *
 * Return: 0 or -ENOMEM.
 */
int kt_symbols_take(struct kt_symbols *s, char *text, size_t len)
{
	char *line = text, *end = text + len, type;
	struct kt_symbol symbol;
	struct kt_symbol *more;

	s->text = text;
	/* Each pass ends with @line at the NUL behind it. */
	for (; line < end; line = strchr(line, '\0') + 1) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		if (stop)
			*stop = '\0';
		else
			stop = end;
		if (parse_symbol_line(line, &symbol, &type) && symbol.address &&
		    (type | 32) == 't') {
			/* The list has room for a power of two. */
			if (!(s->nr & (s->nr - 1))) {
				more = realloc(s->list, (s->nr ? s->nr * 2 : 1) *
								sizeof(*more));
				if (!more)
					return -ENOMEM;
				s->list = more;
			}
			s->list[s->nr++] = symbol;
		}
		line = stop;
	}
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), by_symbol_address);
	drop_aliases(s);
	return 0;
}

/**
 * kt_symbols_find() - find the function at an address
 * @symbols: struct kt_symbols
 * @address: the address
 * @offset: set to the offset in the function
 *
 * Return: its name, or NULL.
 */
const char *kt_symbols_find(void *symbols, uint64_t address, uint64_t *offset)
{
	const struct kt_symbols *s = symbols;
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - s->list[low - 1].address > FAR)
		return NULL;
	*offset = address - s->list[low - 1].address;
	return s->list[low - 1].name;
}

void kt_symbols_free(struct kt_symbols *s)
{
	free(s->text);
	free(s->list);
	memset(s, 0, sizeof(*s));
}

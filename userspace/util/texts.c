// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts that are freed together: in pieces of memory, one behind the other. */
#include <stdlib.h>
#include <string.h>

#include "texts.h"

#define PIECE (16U << 10) /* bytes of a piece, unless one text needs more */

struct kt_texts_piece {
	struct kt_texts_piece *next;
	char data[];
};

/**
 * kt_texts_add() - add a text
 * @p: the texts
 * @text: the text
 * @len: its bytes, less than SIZE_MAX / 4
 * @behind: what follows it, with a NUL
 *
 * Return: the text with @behind and a NUL, or NULL without memory.
 */
char *kt_texts_add(struct kt_texts *p, const char *text, size_t len,
		   const char *behind)
{
	const size_t more = strlen(behind) + 1, need = len + more;
	const size_t size = need > PIECE ? need : PIECE;
	struct kt_texts_piece *piece;
	char *to;

	if (need > p->room - p->used) {
		piece = malloc(sizeof(*piece) + size);
		if (!piece)
			return NULL;
		piece->next = p->pieces;
		p->pieces = piece;
		p->room = size;
		p->used = 0;
	}
	to = p->pieces->data + p->used;
	p->used += need;
	if (len)
		memcpy(to, text, len);
	memcpy(to + len, behind, more);
	return to;
}

static void free_pieces(struct kt_texts_piece *piece)
{
	while (piece) {
		struct kt_texts_piece *next = piece->next;

		free(piece);
		piece = next;
	}
}

/**
 * kt_texts_clear() - forget all texts
 * @p: the texts, which keep one piece of memory
 */
void kt_texts_clear(struct kt_texts *p)
{
	if (p->pieces) {
		free_pieces(p->pieces->next);
		p->pieces->next = NULL;
	}
	p->used = 0;
}

/**
 * kt_texts_free() - free all texts
 * @p: the texts, of which there are none then
 */
void kt_texts_free(struct kt_texts *p)
{
	free_pieces(p->pieces);
	*p = (struct kt_texts){ .pieces = NULL };
}

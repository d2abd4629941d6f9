/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that are freed together. */
#ifndef _KT_TEXTS_H
#define _KT_TEXTS_H

#include <stddef.h>

/**
 * struct kt_texts - texts, which stay where they are until all are freed; all zero = none
 * @pieces: memory, the piece in use first
 * @used: bytes of that one in use
 * @room: bytes it has
 */
struct kt_texts {
	struct kt_texts_piece *pieces;
	size_t used;
	size_t room;
};

char *kt_texts_add(struct kt_texts *p, const char *text, size_t len,
		   const char *behind);
void kt_texts_clear(struct kt_texts *p);
void kt_texts_free(struct kt_texts *p);

#endif /* _KT_TEXTS_H */

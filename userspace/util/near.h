/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find the known word that a mistyped one is nearest to: set @word, @len and @begins, all else
 * zero, and call kt_near_try() for each known word.  Then @best is the answer.
 */
#ifndef _KT_NEAR_H
#define _KT_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct kt_near - a search
 * @word: the mistyped word, which need not end with a NUL
 * @len: bytes of @word
 * @begins: @word is only the beginning of one
 * @best: the nearest word so far, or NULL if none is near
 * @distance: number of typing mistakes between both
 */
struct kt_near {
	const char *word;
	size_t len;
	bool begins;
	const char *best;
	unsigned int distance;
};

void kt_near_try(struct kt_near *n, const char *known);

#endif /* _KT_NEAR_H */

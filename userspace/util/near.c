// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the known word that a mistyped one is nearest to: with the fewest characters
 * added, left out, replaced, or swapped with their neighbour.
 */
#include <string.h>

#include "util/bits.h"
#include "util/near.h"

#define WORD_MAX  40U /* longer words are not compared */
#define BEGIN_MIN 3U  /* so much of a word stands for all of it */

static unsigned int smaller_count(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Count the mistakes between two words, row by row of the usual table. */
static unsigned int count_mistakes(const char *a, size_t a_len, const char *b,
				   size_t b_len)
{
	unsigned int rows[3][WORD_MAX + 1];
	unsigned int *before = rows[0], *last = rows[1], *now = rows[2];
	unsigned int *reuse, best;

	for (size_t j = 0; j <= b_len; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			best = last[j - 1] + (a[i - 1] != b[j - 1]);
			best = smaller_count(best, last[j] + 1);
			best = smaller_count(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = smaller_count(best, before[j - 2] + 1);
			now[j] = best;
		}
		reuse = before;
		before = last;
		last = now;
		now = reuse;
	}
	return last[b_len];
}

/**
 * kt_near_try() - compare a known word with the mistyped one
 * @n: the search; @n->best is set to @known if no word before was as near
 * @known: a word; kept as a pointer
 *
 * One mistake in three characters is near, and so is the beginning of a word.  A mistyped
 * beginning is compared with as many characters of @known.
 */
void kt_near_try(struct kt_near *n, const char *known)
{
	size_t len = strlen(known);
	unsigned int distance;

	if (!n->len || n->len > WORD_MAX || !len || len > WORD_MAX)
		return;
	if (n->begins && n->len < BEGIN_MIN)
		return;
	if (n->begins)
		len = kt_min(len, n->len);
	distance = count_mistakes(n->word, n->len, known, len);
	if (n->len >= BEGIN_MIN && n->len < len && !memcmp(n->word, known, n->len))
		distance = 1;
	/* With as many mistakes as characters no character of @known is left. */
	if (distance > kt_max(n->len / 3, 1) || distance >= len ||
	    (n->best && distance >= n->distance))
		return;
	n->best = known;
	n->distance = distance;
}

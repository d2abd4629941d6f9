// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checksum in the env block, which covers the whole text of the metadata. */
#include "util/crc32c.h"

#include <ktape/ctf.h>

#include "stream/metadata.h"

/* Find a string in the text.  Return: its first place, or NULL. */
const char *kt_metadata_find(const struct kt_text *t, const char *what)
{
	return memmem(t->at, t->len, what, strlen(what));
}

/* Return the digits of the checksum in the text, or NULL. */
const char *kt_metadata_digits(const struct kt_text *t)
{
	const char *key = kt_metadata_find(t, KTAPE_CTF_CRC);
	size_t before;

	if (!key)
		return NULL;
	before = (size_t)(key - t->at) + strlen(KTAPE_CTF_CRC);
	return t->len - before < KTAPE_CTF_CRC_DIGITS ? NULL : t->at + before;
}

/*
 * Compute the checksum of the text without the bytes from @from to @to, which is
 * before @digits, and without the bytes from @end on.  The digits themselves count as zeros.
 */
static void compute_digits(const struct kt_text *t, const char *digits,
			   size_t from, size_t to, size_t end,
			   char crc[KTAPE_CTF_CRC_DIGITS + 1])
{
	static const char zeros[] = "00000000";
	const char *behind = digits + KTAPE_CTF_CRC_DIGITS;
	uint32_t v;

	v = kt_crc32c(0, t->at, from);
	v = kt_crc32c(v, t->at + to, (size_t)(digits - t->at) - to);
	v = kt_crc32c(v, zeros, KTAPE_CTF_CRC_DIGITS);
	v = kt_crc32c(v, behind, (size_t)(t->at + end - behind));
	snprintf(crc, KTAPE_CTF_CRC_DIGITS + 1, "%08x", v);
}

/* Check the checksum of the text without some bytes, see compute_digits(). */
bool kt_metadata_is_sealed_without(const struct kt_text *t, size_t from,
				   size_t to, size_t end)
{
	const char *digits = kt_metadata_digits(t);
	char crc[KTAPE_CTF_CRC_DIGITS + 1];

	if (!digits || t->at + to > digits ||
	    t->at + end < digits + KTAPE_CTF_CRC_DIGITS)
		return false;
	compute_digits(t, digits, from, to, end, crc);
	return !memcmp(digits, crc, KTAPE_CTF_CRC_DIGITS);
}

/* Check whether the text has a checksum and the checksum is right. */
bool kt_metadata_is_sealed(const char *text, size_t len)
{
	const struct kt_text t = { text, len };

	return kt_metadata_is_sealed_without(&t, 0, 0, len);
}

/* Update the checksum after a change, if the text has one. */
void kt_metadata_seal(char *text, size_t len)
{
	const struct kt_text t = { text, len };
	const char *digits = kt_metadata_digits(&t);
	char crc[KTAPE_CTF_CRC_DIGITS + 1];

	if (!digits)
		return;
	compute_digits(&t, digits, 0, 0, len, crc);
	/* @digits points into @text, but to const. */
	memcpy(text + (digits - text), crc, KTAPE_CTF_CRC_DIGITS);
}

/*
 * Make a text of ktape_metadata_format() not claim to be checked, because it repeats values of an
 * input that was not.  If the input was @damaged, write a wrong checksum; otherwise
 * remove the checksum, as in versions before 0.9.
 */
void kt_metadata_unseal(char *text, size_t *len, bool damaged)
{
	static const char hex[] = "0123456789abcdef";
	const struct kt_text t = { text, *len };
	const char *digits = kt_metadata_digits(&t);
	const char *minor = kt_metadata_find(&t, KT_METADATA_MINOR);
	const char *line = kt_metadata_find(&t, KTAPE_CTF_CRC);
	const char *next = digits ? strchr(digits, '\n') : NULL;

	if (!digits || !minor || !next)
		return;
	if (damaged) {
		/* Change each digit d to 15 - d. */
		for (char *c = text + (digits - text);
		     c < digits + KTAPE_CTF_CRC_DIGITS; c++)
			*c = hex[15 - (strchr(hex, *c) - hex)];
		return;
	}
	text[minor + strlen(KT_METADATA_MINOR) - text] = '0';
	next++;
	memmove(text + (line - text), next, (size_t)(text + *len - next));
	*len -= (size_t)(next - line);
}

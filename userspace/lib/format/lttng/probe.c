// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recognise the metadata of a CTF trace of another tracer. */
#include <ctype.h>

#include "stream/metadata.h"
#include "format/reader.h"
#include "internal.h"
#include "packet.h"

#define JSON_MARK '\x1e'

static bool has_text(const uint8_t *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text));
}

/* Go past white space and comments. */
static const uint8_t *skip_probe_space(const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		if (isspace(*p)) {
			p++;
		} else if (end - p > 1 && p[0] == '/' &&
			   (p[1] == '*' || p[1] == '/')) {
			const char *stop = p[1] == '*' ? "*/" : "\n";

			p = memmem(p + 2, (size_t)(end - p - 2), stop, strlen(stop));
			if (!p)
				return end;
			p += strlen(stop);
		} else {
			break;
		}
	}
	return p;
}

/*
 * Check whether a text has declarations of CTF 1.8, which it may have without the comment
 * that it should begin with.
 */
static bool is_tsdl(const uint8_t *data, size_t len)
{
	static const char *const words[] = {
		"typealias", "typedef", "trace",    "env",
		"clock",     "stream",	"event",    "struct",
		"enum",	     "variant", "callsite", "integer",
	};
	const uint8_t *end = data + len, *p = skip_probe_space(data, end);
	size_t n = 0;

	while (p + n < end && isalpha(p[n]))
		n++;
	for (size_t i = 0; i < KT_ARRAY_SIZE(words); i++) {
		if (n == strlen(words[i]) && !memcmp(p, words[i], n))
			return has_text(data, len, "trace {") ||
			       has_text(data, len, "trace{") ||
			       has_text(data, len, ":= struct") ||
			       has_text(data, len, ":=struct");
	}
	return false;
}

/*
 * Recognise metadata, which may be in packets.  Damaged metadata of ktape must not be taken
 * for those of another tracer, so each of several marks is enough.
 * Return: from 0 (no) to 100 (certain); less than 90 if only words of CTF 1.8 are there.
 */
int lt_probe(const uint8_t *data, size_t len, bool whole)
{
	static const char v1[] = "/* CTF 1.8";
	/* Texts that only metadata of ktape have. */
	static const char *const mine[] = {
		"tracer_name = \"ktape\"",
		"table_hash = ",
		"metadata_crc32c",
		" := b3;",
		" := ts64;",
	};

	(void)whole;
	for (size_t i = 0; i < KT_ARRAY_SIZE(mine); i++) {
		if (has_text(data, len, mine[i]))
			return 0;
	}
	if (len > sizeof(v1) && !memcmp(data, v1, sizeof(v1) - 1))
		return 90;
	if (len > 2 && data[0] == JSON_MARK && memchr(data, '{', kt_min(len, 16)))
		return 90;
	if (kt_metadata_is_packets(data, len))
		return has_text(data, len, "trace") ||
				       has_text(data, len, "\"type\"") ?
			       90 :
			       0;
	return is_tsdl(data, len) ? 60 : 0;
}

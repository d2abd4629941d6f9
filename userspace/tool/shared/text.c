// SPDX-License-Identifier: GPL-2.0-only
/* Write texts of traces as JSON and for a terminal, and sizes with their unit. */
#include <stdio.h>
#include <string.h>

#include "util/bits.h"
#include "util/put.h"

#include "tool/shared/text.h"

#define JSON_TEXT_MAX 1024

/**
 * write_json_text() - write a text as a JSON string
 * @f: where to write
 * @text: the text; cut after JSON_TEXT_MAX bytes
 */
void write_json_text(FILE *f, const char *text)
{
	char line[JSON_TEXT_MAX * 6 + 2 + KT_PUT_OVER];
	const char *end = kt_put_json(line, text, strnlen(text, JSON_TEXT_MAX));

	fwrite(line, 1, (size_t)(end - line), f);
}

/**
 * put_shown() - write a text from a trace or a file name, without characters that control a terminal
 * @f: where to write
 * @text: the text
 */
void put_shown(FILE *f, const char *text)
{
	size_t len = strlen(text), n;
	char shown[KT_PUT_MESSAGE_MAX];

	for (; len; text += n, len -= n) {
		n = kt_utf8_length(text, len);
		n = n ? n : 1; /* a byte that is no UTF-8 */
		fwrite(shown, 1,
		       (size_t)(kt_put_message(shown, text, n) - shown), f);
	}
}

/* Print a text as a JSON string. */
void put_json_text(const char *text)
{
	write_json_text(stdout, text);
}

/**
 * put_human() - write a number of bytes with a unit: "1.5 MB"
 * @to: where to write
 * @size: bytes of @to
 * @bytes: the number
 */
void put_human(char *to, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	unsigned int i = 0;

	for (; v >= 1000 && i < KT_ARRAY_SIZE(units) - 1; i++)
		v /= 1000;
	snprintf(to, size, "%.*f %s", i ? 1 : 0, v, units[i]);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse numbers, sizes, times and masks; trailing characters are an error. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "parse.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "K", 1ULL << 10 },
	{ "M", 1ULL << 20 },
	{ "G", 1ULL << 30 },
	{ "k", 1ULL << 10 },
	{ "KiB", 1ULL << 10 },
	{ "MiB", 1ULL << 20 },
	{ "GiB", 1ULL << 30 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1000000000 },
	{ "s", 1000000000 },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
	{ "m", 60000000000ULL },
	{ "min", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ NULL, 0 },
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Read the decimal digits at *@text, and advance *@text. */
static int read_digits(const char **text, uint64_t *value)
{
	const char *p = *text;

	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
			return -ERANGE;
	}
	if (p == *text)
		return -EINVAL;
	*text = p;
	return 0;
}

/**
 * kt_parse_u64() - Parse a decimal number, or a hexadecimal one with 0x
 * @text: the number
 * @value: set to the number
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int kt_parse_u64(const char *text, uint64_t *value)
{
	int err;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		*value = 0;
		text += 2;
		if (!*text || strlen(text) > 16)
			return -EINVAL;
		for (; *text; text++) {
			if (hex_value(*text) > 15)
				return -EINVAL;
			*value = *value << 4 | (uint64_t)hex_value(*text);
		}
		return 0;
	}
	err = read_digits(&text, value);
	if (err)
		return err;
	return *text ? -EINVAL : 0;
}

/* Parse a number, perhaps with up to 9 decimals, and a unit.  Return: 0, -EINVAL or -ERANGE. */
static int parse_with_unit(const char *text, const struct unit *unit, uint64_t *value)
{
	uint64_t decimals = 0, scale = 1;
	const char *digits;
	int err = read_digits(&text, value);

	if (err)
		return err;
	if (*text == '.') {
		digits = ++text;
		err = read_digits(&text, &decimals);
		if (err)
			return err;
		if (text - digits > 9)
			return -EINVAL;
		for (; digits < text; digits++)
			scale *= 10;
	}
	while (unit->name && strcmp(unit->name, text))
		unit++;
	if (!unit->name)
		return -EINVAL;
	if (__builtin_mul_overflow(*value, unit->factor, value) ||
	    __builtin_mul_overflow(decimals, unit->factor, &decimals) ||
	    __builtin_add_overflow(*value, decimals / scale, value))
		return -ERANGE;
	return 0;
}

/**
 * kt_parse_size() - Parse a size in bytes, or with K, M or G (powers of 1024)
 * @text: the size
 * @bytes: set to the size in bytes
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int kt_parse_size(const char *text, uint64_t *bytes)
{
	return parse_with_unit(text, size_units, bytes);
}

/**
 * kt_parse_time() - Parse a time with ns, us, ms, s, m, min or h; seconds without a unit
 * @text: the time
 * @ns: set to the time in nanoseconds
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int kt_parse_time(const char *text, uint64_t *ns)
{
	return parse_with_unit(text, time_units, ns);
}

/**
 * kt_parse_mask() - Parse a mask of 256 bits in hexadecimal with 0x
 * @text: the mask; bit 0 is the lowest bit of the last digit
 * @mask: set to the mask, word 0 has bits 0 to 63
 *
 * Return: 0 or -EINVAL.
 */
int kt_parse_mask(const char *text, uint64_t mask[4])
{
	size_t len;

	memset(mask, 0, 4 * sizeof(*mask));
	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
		return -EINVAL;
	text += 2;
	len = strlen(text);
	if (!len || len > 64)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		size_t bit = (len - 1 - i) * 4;

		if (hex_value(text[i]) > 15)
			return -EINVAL;
		mask[bit / 64] |= (uint64_t)hex_value(text[i]) << bit % 64;
	}
	return 0;
}

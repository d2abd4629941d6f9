// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print how many rows Parquet files have together, by their footers: the kernel of the
 * guest has no engine that reads them.
 *
 * usage: rows FILE...
 *
 * The footer is a structure in Thrift's compact encoding; its third field is the number of
 * rows.  It stands before the last 8 bytes: its size, and "PAR1".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOOTER_MAX (16U << 20)
#define ROWS_FIELD 3

/* Types of fields in Thrift's compact encoding. */
enum {
	STOP,
	TRUE,
	FALSE,
	BYTE,
	I16,
	I32,
	I64,
	DOUBLE,
	BINARY,
	LIST,
	SET,
	MAP,
	STRUCT
};

/* The part of a footer that is not read yet. */
struct footer {
	const uint8_t *at;
	const uint8_t *end;
};

static void reject_footer(const char *what)
{
	fprintf(stderr, "rows: %s\n", what);
	exit(1);
}

static uint8_t next_footer_byte(struct footer *f)
{
	if (f->at == f->end)
		reject_footer("the footer ends early");
	return *f->at++;
}

/* Read a number of 7 bits in a byte, the lowest first.  Signed ones are zigzag: 2n or -2n - 1. */
static uint64_t next_number(struct footer *f)
{
	uint64_t n = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		byte = next_footer_byte(f);
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	reject_footer("a number has more than 64 bits");
	return 0;
}

static void skip_footer_bytes(struct footer *f, uint64_t bytes)
{
	if (bytes > (uint64_t)(f->end - f->at))
		reject_footer("the footer ends early");
	f->at += bytes;
}

/* Read the head of the next field of a structure.  Return: its type. */
static unsigned int next_footer_field(struct footer *f, unsigned int *field)
{
	uint8_t head = next_footer_byte(f);

	if (!head)
		return STOP;
	if (head >> 4)
		*field += head >> 4;
	else
		*field = (unsigned int)(next_number(f) >> 1);
	return head & 15;
}

/* Skip the value of a field.  A Boolean's is its type. */
static void skip_field_value(struct footer *f, unsigned int type)
{
	unsigned int field = 0, inner;
	uint64_t nr;
	uint8_t head;

	switch (type) {
	case TRUE:
	case FALSE:
		break;
	case BYTE:
		skip_footer_bytes(f, 1);
		break;
	case I16:
	case I32:
	case I64:
		next_number(f);
		break;
	case DOUBLE:
		skip_footer_bytes(f, 8);
		break;
	case BINARY:
		skip_footer_bytes(f, next_number(f));
		break;
	case LIST:
	case SET:
		head = next_footer_byte(f);
		nr = head >> 4 == 15 ? next_number(f) : head >> 4;
		while (nr--)
			skip_field_value(f, head & 15);
		break;
	case STRUCT:
		while ((inner = next_footer_field(f, &field)) != STOP)
			skip_field_value(f, inner);
		break;
	default:
		reject_footer("a field has an unknown type");
	}
}

static uint64_t count_rows_of(const char *path)
{
	FILE *file = fopen(path, "rb");
	unsigned int field = 0, type;
	struct footer f;
	uint8_t tail[8], *bytes;
	uint32_t size;
	uint64_t rows;

	if (!file || fseek(file, -8, SEEK_END) ||
	    fread(tail, 8, 1, file) != 1 || memcmp(tail + 4, "PAR1", 4) != 0)
		reject_footer("no Parquet file");
	memcpy(&size, tail, sizeof(size));
	bytes = size && size < FOOTER_MAX ? malloc(size) : NULL;
	if (!bytes || fseek(file, -8 - (long)size, SEEK_END) ||
	    fread(bytes, size, 1, file) != 1)
		reject_footer("the footer cannot be read");
	fclose(file);
	f = (struct footer){ bytes, bytes + size };
	while ((type = next_footer_field(&f, &field)) != STOP && field != ROWS_FIELD)
		skip_field_value(&f, type);
	if (type != I64)
		reject_footer("the footer has no number of rows");
	rows = next_number(&f) >> 1;
	free(bytes);
	return rows;
}

int main(int argc, char **argv)
{
	uint64_t rows = 0;

	for (int i = 1; i < argc; i++)
		rows += count_rows_of(argv[i]);
	printf("%llu\n", (unsigned long long)rows);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a tar archive of files (POSIX ustar).
 *
 *	| header 512 | content | zeros up to 512 | header ... | 1024 zeros |
 *
 * Sizes from 8 GiB on are binary, as GNU tar writes them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/convert/tar.h"

#define BLOCK 512U
#define OCTAL_MAX \
	(((uint64_t)1 << 33) - 1) /* largest size of 11 octal digits */
#define BINARY 0x80 /* first byte of a size in binary, the last byte lowest */

/* Offsets and sizes of the members of a header. */
enum {
	NAME = 0,
	NAME_SIZE = 100,
	MODE = 100,
	UID = 108,
	GID = 116,
	SIZE = 124,
	TIME = 136,
	SUM = 148,
	TYPE = 156,
	MAGIC = 257
};

/**
 * tar_begin() - write the header of a file
 * @fd: the archive
 * @name: name of the file, up to 99 bytes
 * @size: bytes of the file, which the caller writes next
 *
 * Return: 0 or negative errno.
 */
int tar_begin(int fd, const char *name, uint64_t size)
{
	char head[BLOCK] = { 0 };
	unsigned int sum = 0;

	if (strlen(name) >= NAME_SIZE)
		return -ENAMETOOLONG;
	strcpy(head + NAME, name);
	strcpy(head + MODE, "0000644");
	strcpy(head + UID, "0000000");
	strcpy(head + GID, "0000000");
	strcpy(head + TIME, "00000000000");
	if (size <= OCTAL_MAX) {
		snprintf(head + SIZE, 12, "%011llo", (unsigned long long)size);
	} else {
		head[SIZE] = (char)BINARY;
		for (unsigned int i = 0; i < 8; i++)
			head[SIZE + 11 - i] = (char)(size >> i * 8);
	}
	head[TYPE] = '0';
	memcpy(head + MAGIC,
	       "ustar\0"
	       "00",
	       8);
	/* The sum is that of the header with blanks in its place. */
	memset(head + SUM, ' ', 8);
	for (unsigned int i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	snprintf(head + SUM, 8, "%06o", sum);
	return kt_write_all(fd, head, sizeof(head));
}

/**
 * tar_end_file() - fill the last block of a file
 * @fd: the archive
 * @size: bytes of the file
 *
 * Return: 0 or negative errno.
 */
int tar_end_file(int fd, uint64_t size)
{
	static const char zeros[BLOCK];

	return kt_write_all(fd, zeros, (size_t)(-size % BLOCK));
}

/**
 * tar_end() - write the end of the archive
 * @fd: the archive
 *
 * Return: 0 or negative errno.
 */
int tar_end(int fd)
{
	static const char zeros[2 * BLOCK];

	return kt_write_all(fd, zeros, sizeof(zeros));
}

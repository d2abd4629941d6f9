// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a reader of a trace does: read the bytes of its files and compute their
 * checksum.  Other timings of make bench are compared with it.
 *
 *	reading TIMES FILE...
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/crc32c.h"

static char buffer[1 << 18];

static uint32_t read_file(const char *path, uint32_t crc)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		err(1, "%s", path);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		crc = kt_crc32c(crc, buffer, (size_t)got);
	if (got < 0)
		err(1, "%s", path);
	close(fd);
	return crc;
}

int main(int argc, char **argv)
{
	uint32_t crc = 0;

	if (argc < 3)
		errx(2, "usage: reading TIMES FILE...");
	for (int times = atoi(argv[1]); times > 0; times--) {
		for (int i = 2; i < argc; i++)
			crc = read_file(argv[i], crc);
	}
	printf("%08x\n", crc);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Test where compressed files end: behind whole frames, whatever room the caller has. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <ktape.h>

#include "stream/zin.h"
#include "tap.h"

#define FRAMES 3U
#define BYTES  65536U /* of a frame, unpacked */

static unsigned char data[BYTES], packed[2 * BYTES], out[FRAMES * BYTES];

/* A file of so many frames, without its last @missing bytes. */
static int make_file(size_t missing)
{
	int fd = memfd_create("frames", 0);
	size_t len = ZSTD_compress(packed, sizeof(packed), data, sizeof(data), 1);

	for (unsigned int i = 0; i < FRAMES; i++)
		if (write(fd, packed, len) != (ssize_t)len)
			abort();
	if (lseek(fd, 0, SEEK_SET) || ftruncate(fd, (off_t)(FRAMES * len - missing)))
		abort();
	return fd;
}

/* Unpack all with @room for each read.  Return: bytes or an errno; @trouble: what was wrong. */
static ssize_t unpack_zin(int fd, bool seekable, size_t room,
			  struct kt_zin_trouble *trouble)
{
	struct kt_zin *z = kt_zin_new(fd, seekable, NULL, 0);
	size_t len = 0;
	ssize_t n;

	memset(trouble, 0, sizeof(*trouble));
	do {
		n = sizeof(out) - len < room ? (ssize_t)(sizeof(out) - len) :
					       (ssize_t)room;
		/* At the end there is room for more than there is. */
		n = kt_zin_read(z, n ? out + len : packed,
				n ? (size_t)n : sizeof(packed), trouble);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || n == -EAGAIN);
	kt_zin_free(z);
	close(fd);
	return n ? n : (ssize_t)len;
}

static void whole_frames(void)
{
	static const size_t rooms[] = { BYTES,	   BYTES / 2, BYTES - 1,
					BYTES + 1, 2 * BYTES, FRAMES * BYTES,
					4096 };
	struct kt_zin_trouble t;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(rooms); i++) {
		check_equal(unpack_zin(make_file(0), i % 2, rooms[i / 2], &t),
			    FRAMES * BYTES);
		check(!t.text, "room %zu: %s", rooms[i / 2], t.text);
	}
}

static void cut_frame(void)
{
	struct kt_zin_trouble t;

	for (size_t missing = 1; missing < 8; missing++) {
		check(unpack_zin(make_file(missing), true, BYTES, &t) >= 0,
		      "an error");
		check(t.text && t.cut,
		      "%zu bytes are missing, and nobody says so", missing);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "whole frames", whole_frames },
		{ "a frame that is cut off", cut_frame },
	};

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i >> 7);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

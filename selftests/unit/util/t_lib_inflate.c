// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the reader of zlib's streams: what is too short or is no such stream is refused.
 *
 * With --streams it unpacks streams from its standard input, each as: its size 32, room for the
 * result 32, bytes.  It answers each with the size of the result, or -1, then its bytes:
 * util/t_tool_inflate.py compares that with zlib.
 */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "tap.h"
#include "util/inflate.h"

static const uint8_t abc[] = {
	/* zlib.compress(b'abcabcabcabc') */
	0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x4e, 0x84,
	0x21, 0x00, 0x1d, 0xe0, 0x04, 0x99,
};

/* Unpack from memory that ends where the stream does. */
static ssize_t inflate_copy(const uint8_t *from, size_t len, size_t room,
			    uint8_t *to)
{
	uint8_t *copy = malloc(len ? len : 1);
	ssize_t got;

	if (!copy)
		abort();
	memcpy(copy, from, len);
	got = kt_inflate(copy, len, to, room);
	free(copy);
	return got;
}

static void inflate_whole(void)
{
	uint8_t to[12];

	check_equal(inflate_copy(abc, sizeof(abc), sizeof(to), to), 12);
	check(!memcmp(to, "abcabcabcabc", 12), "it is another text");
	check_equal(inflate_copy(abc, sizeof(abc), sizeof(to) - 1, to), -EBADMSG);
}

static void inflate_cut(void)
{
	uint8_t to[12];

	for (size_t len = 0; len < sizeof(abc); len++)
		check_equal(inflate_copy(abc, len, sizeof(to), to), -EBADMSG);
	check_equal(kt_inflate(NULL, 0, to, sizeof(to)), -EBADMSG);
}

static int answer_streams(void)
{
	uint32_t head[2];

	while (fread(head, sizeof(head), 1, stdin) == 1) {
		uint8_t *from = malloc(head[0] ? head[0] : 1);
		uint8_t *to = malloc(head[1] ? head[1] : 1);
		int32_t got;

		if (!from || !to || fread(from, 1, head[0], stdin) != head[0])
			return 1;
		got = (int32_t)kt_inflate(from, head[0], to, head[1]);
		got = got < 0 ? -1 : got;
		fwrite(&got, sizeof(got), 1, stdout);
		fwrite(to, 1, got < 0 ? 0 : (size_t)got, stdout);
		free(from);
		free(to);
	}
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a whole stream", inflate_whole },
		{ "streams that are cut off", inflate_cut },
	};

	if (argc == 2 && !strcmp(argv[1], "--streams"))
		return answer_streams();
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the folder of a CTF trace of another tracer: metadata in CTF 1.8 or
 * 2, and a stream.  The first two bytes are the length of the metadata; the stream follows.
 * Reading stays within memory, a refusal has a text, and no line is longer than
 * ktape_format_bound() says.
 */
#include <assert.h>
#include <sys/stat.h>

#include "lib_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void write_ctf_file(const char *folder, const char *name,
			   const uint8_t *data, size_t len)
{
	char path[CODEC_PATH];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void fuzz_ctf_event(struct ktape_trace *t, const struct ktape_event *e)
{
	size_t room = ktape_format_bound(e);
	char *line = malloc(room);

	assert(line);
	assert(ktape_format_text(ktape_trace_info(t), ktape_trace_registry(t),
				 e, line) <= room);
	assert(ktape_format_json(ktape_trace_info(t), ktape_trace_registry(t),
				 e, line) <= room);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct ktape_trace_options how = { .format = "lttng" };
	static char folder[] = "ktape-ctf.XXXXXX";
	static bool made;
	const struct ktape_event *e;
	struct ktape_error error;
	struct ktape_trace *t;
	size_t text;

	if (len < 2)
		return 0;
	text = (data[0] | (size_t)data[1] << 8) % (len - 1);
	if (!made)
		made = mkdtemp(folder);
	write_ctf_file(folder, "metadata", data + 2, text);
	write_ctf_file(folder, "channel0_0", data + 2 + text, len - 2 - text);
	if (ktape_trace_open(folder, &how, &t, &error)) {
		assert(memchr(error.text, 0, sizeof(error.text)));
		return 0;
	}
	while (ktape_trace_next(t, &e) > 0)
		fuzz_ctf_event(t, e);
	ktape_trace_close(t);
	return 0;
}

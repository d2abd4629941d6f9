// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: a trace in a foreign format. The first byte says which
 * format (0: detected; the last number: Tonbandgeraet from a serial line),
 * whether it is sorted and, with the last byte, in which format it is written;
 * the trace follows.  Reading, printing and writing stay within memory, no line is longer
 * than ktape_format_bound() says, and an event in terms of its format is a JSON object.
 */
#include <assert.h>
#include <fcntl.h>

#include "lib_codec.h"

#define FORMATS	     16 /* the low bits of the first byte */
#define LINE	     15 /* of these numbers: Tonbandgeraet from a serial line */
#define SORTED	     16
#define OUTPUTS	     16 /* chosen by its high bits and the last byte */
#define OUTPUT_SHIFT 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Return the n-th readable format that is not native, from 1 on; NULL: there is none. */
static const char *input_name(unsigned int n)
{
	const struct ktape_codec *codec;

	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		if (codec->in && n-- == 1)
			return codec->name;
	}
	return NULL;
}

/* Return the n-th format that can be written to a file, modulo their number. */
static const char *output_name(unsigned int n)
{
	const struct ktape_codec *codec;
	unsigned int nr = 0;

	for (unsigned int i = 0; (codec = ktape_codec(i)); i++)
		nr += codec->out != NULL;
	n %= nr;
	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		if (codec->out && !n--)
			return codec->name;
	}
	return NULL;
}

static void fuzz_codec_event(struct ktape_trace *t, const struct ktape_event *e)
{
	size_t room = ktape_format_bound(e), len;
	char *line = malloc(room);
	const char *source;

	assert(line);
	assert(ktape_format_text(ktape_trace_info(t), ktape_trace_registry(t),
				 e, line) <= room);
	assert(ktape_format_json(ktape_trace_info(t), ktape_trace_registry(t),
				 e, line) <= room);
	source = ktape_trace_source(t, &len);
	assert(!source || (len && source[0] == '{' && source[len - 1] == '}'));
	free(line);
}

static void convert_fuzzed(struct ktape_trace *t, const char *to, bool line)
{
	static char folder[] = "ktape-fuzz.XXXXXX";
	static bool made;
	const struct ktape_sink_options how = {
		.format = to,
		.path = !strcmp(to, "lttng") ? folder : "/dev/null",
		.flags = KTAPE_SINK_FORCE,
		.options = !strcmp(to, "native")	? "form=pipe" :
			   !strcmp(to, "tband") && line ? "check=1" :
							  NULL,
		.info = ktape_trace_info(t),
		.registry = ktape_trace_registry(t),
	};
	struct ktape_sink *sink = NULL;
	const struct ktape_event *e;
	int err;

	if (!made)
		made = mkdtemp(folder);
	err = ktape_sink_open(&how, &sink, NULL);
	while (ktape_trace_next(t, &e) > 0) {
		fuzz_codec_event(t, e);
		if (!err)
			err = ktape_sink_event(sink, e);
	}
	if (sink)
		ktape_sink_finish(sink);
	ktape_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ktape_trace_options how = { .window = 4096 };
	struct ktape_trace *t;
	char path[CODEC_PATH];
	bool line;
	int fd;

	if (len < 2)
		return 0;
	line = data[0] % FORMATS == LINE;
	how.format = line ? "tband" : input_name(data[0] % FORMATS);
	how.format_options = line ? "check=1" : NULL;
	how.flags = data[0] & SORTED ? KTAPE_TRACE_SORTED : 0;
	fd = codec_file(path, data + 1, len - 1);
	if (!ktape_trace_open(path, &how, &t, NULL)) {
		convert_fuzzed(t,
			       output_name((data[0] >> OUTPUT_SHIFT) +
					   data[len - 1] % OUTPUTS),
			       line);
		ktape_trace_close(t);
	}
	close(fd);
	return 0;
}

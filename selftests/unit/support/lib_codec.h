/* SPDX-License-Identifier: GPL-2.0-only */
/* Open, read and convert traces of other formats from memory. */
#ifndef _LIB_CODEC_H
#define _LIB_CODEC_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ktape.h>

#define CODEC_PATH 64

/* Create a file in memory with @data and set @path. Return: its descriptor. */
__attribute__((unused)) static int codec_file(char path[CODEC_PATH],
					      const void *data, size_t len)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, CODEC_PATH, "/proc/self/fd/%d", fd);
	return fd;
}

/* Read a file of codec_file() and append a NUL. Return: its contents, to be freed. */
__attribute__((unused)) static char *codec_content(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *data = malloc((size_t)size + 1);

	if (size < 0 || !data || pread(fd, data, (size_t)size, 0) != size)
		abort();
	data[size] = '\0';
	*len = (size_t)size;
	return data;
}

/* Reported losses and damages; @text is that of the last other notice than a loss. */
struct codec_reports {
	uint64_t lost;
	unsigned int gaps;
	unsigned int corrupt;
	unsigned int truncated;
	unsigned int assumed;
	char text[200];
	struct ktape_sink *sink; /* gets the losses, too, unless NULL */
};

__attribute__((unused)) static void codec_notice(void *arg,
						 const struct ktape_notice *n)
{
	struct codec_reports *reported = arg;

	if (n->kind == KTAPE_NOTICE_LOST) {
		reported->lost += n->count;
		reported->gaps++;
		if (reported->sink && ktape_sink_notice(reported->sink, n))
			abort();
	}
	reported->corrupt += n->kind == KTAPE_NOTICE_CORRUPT;
	reported->truncated += n->kind == KTAPE_NOTICE_TRUNCATED;
	reported->assumed += n->kind == KTAPE_NOTICE_ASSUMED;
	if (n->kind != KTAPE_NOTICE_LOST)
		snprintf(reported->text, sizeof(reported->text), "%s",
			 n->error.text);
}

/* Return an event as a line of text, to be freed. */
__attribute__((unused)) static char *codec_line(struct ktape_trace *t,
						const struct ktape_event *e)
{
	char *line = malloc(ktape_format_bound(e) + 1);
	size_t len;

	if (!line)
		abort();
	len = ktape_format_text(ktape_trace_info(t), ktape_trace_registry(t), e,
				line);
	line[len - 1] = '\0';
	return line;
}

/*
 * Convert a file into another one in memory. Return: its descriptor, or a
 * negative errno.
 */
__attribute__((unused)) static int codec_convert(const char *path, const char *to,
						 const char *options,
						 struct codec_reports *reported)
{
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = reported,
		.flags = KTAPE_TRACE_SORTED,
	};
	struct ktape_sink_options sink = { .format = to, .options = options };
	const struct ktape_event *e;
	struct ktape_trace *t;
	char out[CODEC_PATH];
	int fd = codec_file(out, "", 0), ret;

	memset(reported, 0, sizeof(*reported));
	sink.path = out;
	ret = ktape_trace_open(path, &how, &t, NULL);
	if (ret) {
		close(fd);
		return ret;
	}
	sink.info = ktape_trace_info(t);
	sink.registry = ktape_trace_registry(t);
	ret = ktape_sink_open(&sink, &reported->sink, NULL);
	while (!ret && (ret = ktape_trace_next(t, &e)) > 0)
		ret = ktape_sink_event(reported->sink, e);
	if (reported->sink && !ret)
		ret = ktape_sink_finish(reported->sink);
	ktape_sink_close(reported->sink);
	reported->sink = NULL;
	ktape_trace_close(t);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

#endif /* _LIB_CODEC_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as a list of packets that can be changed: read it from a folder, change it by
 * lib_tamper_ops.h, and write it to another folder or as a pipe form.  What cannot be read
 * or written ends the test by abort().
 */
#ifndef LIB_TAMPER_H
#define LIB_TAMPER_H

#include <dirent.h>
#include <stddef.h>

#include "lib_trace.h"

#define TAMPER_STREAMS 64U
#define TAMPER_PACKETS 4096U

struct tamper_packet {
	uint8_t *data;
	size_t len;
};

/**
 * struct tamper_stream - a stream file
 * @name: its name
 * @kind: enum ktape_ring_kind
 * @cpu: its CPU
 * @nr: number of packets
 * @packets: its packets
 * @tail: bytes that are cut from the end of the file
 * @gone: there is no file
 */
struct tamper_stream {
	char name[24];
	unsigned int kind;
	unsigned int cpu;
	unsigned int nr;
	struct tamper_packet packets[TAMPER_PACKETS];
	size_t tail;
	bool gone;
};

/**
 * struct tamper - a trace
 * @streams: its stream files, by name
 * @nr: entries of @streams
 * @text: its metadata
 * @len: bytes of @text
 */
struct tamper {
	struct tamper_stream *streams;
	unsigned int nr;
	char *text;
	size_t len;
};

static inline struct ktape_block *tamper_head(const struct tamper_stream *s,
					      unsigned int at)
{
	return (void *)s->packets[at].data;
}

static inline bool tamper_empty(const struct tamper_stream *s, unsigned int at)
{
	return tamper_head(s, at)->content_bits == KTAPE_BLOCK_HEADER * 8;
}

static inline void tamper_seal(const struct tamper_stream *s, unsigned int at)
{
	ktape_packet_seal(s->packets[at].data);
}

static inline uint8_t *tamper_file(const char *dir, const char *name, size_t *len)
{
	char path[700];
	struct stat st;
	uint8_t *data;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		abort();
	data = malloc((size_t)st.st_size + 1);
	if (!data || read(fd, data, (size_t)st.st_size) != st.st_size)
		abort();
	data[st.st_size] = '\0';
	close(fd);
	*len = (size_t)st.st_size;
	return data;
}

/* Insert a copy of @data as packet @at. */
static inline void tamper_add(struct tamper_stream *s, unsigned int at,
			      const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len);

	if (!copy || s->nr == TAMPER_PACKETS)
		abort();
	memcpy(copy, data, len);
	memmove(&s->packets[at + 1], &s->packets[at],
		(s->nr - at) * sizeof(s->packets[0]));
	s->packets[at] = (struct tamper_packet){ copy, len };
	s->nr++;
}

static inline void tamper_take(struct tamper_stream *s, unsigned int at)
{
	free(s->packets[at].data);
	memmove(&s->packets[at], &s->packets[at + 1],
		(s->nr - at - 1) * sizeof(s->packets[0]));
	s->nr--;
}

static inline int tamper_by_name(const void *a, const void *b)
{
	const struct tamper_stream *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

/* Read the packets of a stream file. */
static inline void tamper_split(struct tamper_stream *s, const char *dir)
{
	size_t len, size;
	uint8_t *data = tamper_file(dir, s->name, &len);

	for (size_t at = 0; at < len; at += size) {
		const struct ktape_block *h = (const void *)(data + at);

		size = h->packet_bits / 8;
		if (len - at < sizeof(*h) || size < sizeof(*h) || size > len - at)
			abort();
		s->kind = h->kind;
		s->cpu = h->cpu;
		tamper_add(s, s->nr, data + at, size);
	}
	free(data);
}

/* Read a folder. */
static inline void tamper_load(struct tamper *t, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	memset(t, 0, sizeof(*t));
	t->streams = calloc(TAMPER_STREAMS, sizeof(*t->streams));
	if (!t->streams || !d)
		abort();
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "metadata"))
			continue;
		if (t->nr == TAMPER_STREAMS)
			abort();
		snprintf(t->streams[t->nr].name, sizeof(t->streams->name),
			 "%.20s", e->d_name);
		tamper_split(&t->streams[t->nr++], dir);
	}
	closedir(d);
	qsort(t->streams, t->nr, sizeof(*t->streams), tamper_by_name);
	t->text = (char *)tamper_file(dir, "metadata", &t->len);
}

static inline void tamper_free(struct tamper *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		while (t->streams[i].nr)
			tamper_take(&t->streams[i], t->streams[i].nr - 1);
	free(t->streams);
	free(t->text);
}

/* Copy the packets and the metadata; @tail and @gone begin as 0. */
static inline void tamper_copy(struct tamper *to, const struct tamper *from)
{
	*to = (struct tamper){ .nr = from->nr, .len = from->len };
	to->streams = calloc(TAMPER_STREAMS, sizeof(*to->streams));
	to->text = malloc(from->len + 1);
	if (!to->streams || !to->text)
		abort();
	memcpy(to->text, from->text, from->len + 1);
	for (unsigned int i = 0; i < from->nr; i++) {
		const struct tamper_stream *s = &from->streams[i];

		snprintf(to->streams[i].name, sizeof(s->name), "%s", s->name);
		to->streams[i].kind = s->kind;
		to->streams[i].cpu = s->cpu;
		for (unsigned int k = 0; k < s->nr; k++)
			tamper_add(&to->streams[i], k, s->packets[k].data,
				   s->packets[k].len);
	}
}

/* Write a folder. */
static inline void tamper_save(const struct tamper *t, const char *dir)
{
	char path[700];
	off_t size;

	if (t->text)
		trace_append(dir, "metadata", t->text, t->len);
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct tamper_stream *s = &t->streams[i];

		if (s->gone)
			continue;
		trace_append(dir, s->name, "", 0);
		size = 0;
		for (unsigned int k = 0; k < s->nr; k++) {
			trace_append(dir, s->name, s->packets[k].data,
				     s->packets[k].len);
			size += (off_t)s->packets[k].len;
		}
		snprintf(path, sizeof(path), "%s/%s", dir, s->name);
		if (s->tail && truncate(path, size - (off_t)s->tail))
			abort();
	}
}

/*
 * Write a pipe form: names first, then a packet of each ring in turn. An empty packet with
 * which a file of a folder begins is left out, as a pipe form has none.  If a stream has a @tail,
 * so much is cut from the end of the file, whatever stands there.
 */
static inline void tamper_pipe(const struct tamper *t, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	size_t cut = 0;
	bool more = true;

	if (fd < 0 || ktape_pipe_metadata(fd, trace_info.uuid, t->text, t->len))
		abort();
	/* First the names (1), then the rings (0); 0 - 1 wraps and ends the loop. */
	for (unsigned int names = 1; names < 2; names--) {
		more = true;
		for (unsigned int k = 0; more; k++) {
			more = false;
			for (unsigned int i = 0; i < t->nr; i++) {
				const struct tamper_stream *s = &t->streams[i];

				if ((s->kind == KTAPE_RING_REGISTRY) != names ||
				    s->gone || k >= s->nr)
					continue;
				more = true;
				if (!k && tamper_empty(s, k) &&
				    !(tamper_head(s, k)->flags & KTAPE_BLOCK_OPEN))
					continue;
				if (write(fd, s->packets[k].data, s->packets[k].len) !=
				    (ssize_t)s->packets[k].len)
					abort();
				if (s->tail && k + 1 == s->nr)
					cut = s->tail;
			}
		}
	}
	if (cut && ftruncate(fd, lseek(fd, 0, SEEK_CUR) - (off_t)cut))
		abort();
	close(fd);
}

#endif /* LIB_TAMPER_H */

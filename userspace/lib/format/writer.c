// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing a trace in any format: output file, buffer, counts of what was missed. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "stream/event.h"

#include "writer.h"

#define BUFFER	  (256U << 10) /* bytes; small enough for the L2 cache */
#define MODE_FILE 0666
#define MODE_DIR  0777

/* The name that struct kt_sink has in the public functions. */
struct ktape_sink {
	struct kt_sink s;
};

/*
 * Write the buffer to the file, and empty it; after an error only that.
 * Return: @s->error.
 */
static int flush_buffer(struct kt_sink *s)
{
	if (s->len && !s->error)
		s->error = kt_write_all(s->fd, s->buf, s->len);
	s->offset += s->len;
	s->len = 0;
	return s->error;
}

/**
 * kt_sink_flush() - write what is in the buffer to the output file
 * @s: the sink
 *
 * A format with @own_files that puts bytes here as well calls it at its end.
 *
 * Return: 0 or the negative errno of @s->error.
 */
int kt_sink_flush(struct kt_sink *s)
{
	return flush_buffer(s);
}

/**
 * kt_sink_room() - return room at the end of the output
 * @s: the sink
 * @n: bytes that are needed; KT_PUT_OVER more may be overwritten
 *
 * The caller ends with kt_sink_done(), which says how much it used.
 *
 * Return: the room, or NULL with @s->error set.
 */
char *kt_sink_room(struct kt_sink *s, size_t n)
{
	size_t cap;
	char *buf;

	n += KT_PUT_OVER;
	cap = kt_max(n, BUFFER);
	/* A part stays in memory: its buffer grows instead of being written. */
	if (s->cap - s->len < n && !s->part && flush_buffer(s))
		return NULL;
	if (s->cap - s->len >= n)
		return s->buf + s->len;
	if (s->part)
		cap = kt_max(s->len + n, s->cap * 2);
	buf = realloc(s->buf, cap);
	if (!buf) {
		s->error = -ENOMEM;
		return NULL;
	}
	s->buf = buf;
	s->cap = cap;
	return s->buf + s->len;
}

/**
 * kt_sink_put() - put bytes at the end of the output
 * @s: the sink
 * @data: the bytes
 * @len: how many
 *
 * Return: 0 or negative errno.
 */
int kt_sink_put(struct kt_sink *s, const void *data, size_t len)
{
	char *to = kt_sink_room(s, len);

	if (!to)
		return s->error;
	memcpy(to, data, len);
	s->len += len;
	return 0;
}

/**
 * kt_sink_patch() - overwrite a part of the output
 * @s: the sink; @s->seekable must be true
 * @offset: offset in the output
 * @data: the bytes
 * @len: how many
 *
 * Return: 0 or negative errno.
 */
int kt_sink_patch(struct kt_sink *s, uint64_t offset, const void *data, size_t len)
{
	int err = flush_buffer(s);

	if (!err)
		err = kt_pwrite_all(s->fd, data, len, offset);
	if (err && !s->error)
		s->error = err;
	return err;
}

/**
 * kt_sink_fail() - set the reason why begin(), event() or end() fails
 * @s: the sink
 * @format: what is wrong
 *
 * Return: -EBADMSG, for the caller to return.
 */
int kt_sink_fail(struct kt_sink *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->why.text, sizeof(s->why.text), format, args);
	va_end(args);
	return -EBADMSG;
}

/**
 * kt_sink_mix() - note a CPU whose events readers cannot distinguish from those of others
 * @s: the sink
 * @cpu: number of the CPU that an event was written for
 */
void kt_sink_mix(struct kt_sink *s, uint32_t cpu)
{
	if (cpu < KT_CPUS_MAX)
		s->mixed[cpu / 64] |= 1ULL << (cpu % 64);
}

/**
 * kt_sink_miss() - count something that the format cannot hold
 * @s: the sink
 * @what: what it is, in the plural, such as "names longer than 20 bytes"; the string
 *	must stay valid
 * @count: how many
 *
 * Kinds beyond KT_SINK_MISSES are not counted; these are more than there are kinds of events.
 */
void kt_sink_miss(struct kt_sink *s, const char *what, uint64_t count)
{
	unsigned int i = 0;

	while (i < s->nr_misses && strcmp(s->misses[i].what, what))
		i++;
	if (i == KT_SINK_MISSES)
		return;
	if (i == s->nr_misses)
		s->misses[s->nr_misses++].what = what;
	s->misses[i].count += count;
}

/**
 * kt_sink_miss_extra() - count the extra fields of an event, which the format cannot hold
 * @s: the sink
 * @event: the event
 */
void kt_sink_miss_extra(struct kt_sink *s, const struct ktape_event *event)
{
	const uint8_t *at = event->extra, *end = at + event->extra_size;
	struct kt_typed typed;
	uint64_t nr = 0;

	for (; at < end; nr++)
		kt_typed_next(&at, end, &typed);
	/* A field is two typed arguments: its name and its value. */
	if (nr)
		kt_sink_miss(s, "fields of another tracer's events", nr / 2);
}

/**
 * kt_sink_open_file() - open the output file, or take standard output
 * @s: the sink; @s->path is the name
 *
 * Return: 0 or negative errno.
 */
int kt_sink_open_file(struct kt_sink *s)
{
	struct stat st;

	s->owned = strcmp(s->path, "-");
	if (!s->owned)
		s->fd = STDOUT_FILENO;
	else if (s->flags & KTAPE_SINK_IN_PLACE)
		s->fd = kt_stage_direct(s->path, MODE_FILE);
	else
		s->fd = kt_stage_file(&s->stage, s->path, MODE_FILE);
	if (s->fd < 0)
		return s->fd;
	if (fstat(s->fd, &st))
		return -errno;
	/* Standard output may be shared, or open for appending: never seek in it. */
	s->seekable = s->owned && S_ISREG(st.st_mode);
	return 0;
}

static int setup_sink(struct kt_sink *s, const struct kt_codec_out *codec,
		      const struct ktape_sink_options *o, struct ktape_error *error)
{
	int err;

	s->codec = codec;
	s->info = o->info;
	s->registry = o->registry;
	s->metadata = o->metadata;
	s->metadata_len = o->metadata_len;
	s->path = o->path;
	s->flags = o->flags;
	err = kt_codec_options_parse(&s->options, o->options, s->codec->options,
				     o->format, error);
	if (err)
		return err;
	s->state = calloc(1, kt_max(s->codec->size, 1));
	if (!s->state)
		return -ENOMEM;
	if (!s->codec->own_files)
		err = kt_sink_open_file(s);
	if (!err)
		err = s->codec->begin(s);
	if (!err || !*s->why.text)
		return err;
	/* Where begin() says why, an option or the input does not suit the format. */
	if (error)
		*error = s->why;
	return err == -EBADMSG ? -EINVAL : err;
}

/**
 * kt_sink_open() - begin to write a trace in a format
 * @codec: how the format is written
 * @options: options of ktape_sink_open()
 * @sink: set; ends with ktape_sink_close()
 * @error: filled on -EINVAL; may be NULL
 *
 * Return: 0 or negative errno, as ktape_sink_open().
 */
int kt_sink_open(const struct kt_codec_out *codec,
		 const struct ktape_sink_options *options,
		 struct ktape_sink **sink, struct ktape_error *error)
{
	struct ktape_sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->s.fd = -1;
	s->s.stage = (struct kt_stage)KT_STAGE_NONE;
	err = setup_sink(&s->s, codec, options, error);
	if (err) {
		ktape_sink_close(s);
		return err;
	}
	*sink = s;
	return 0;
}

/* Check whether parts of an output can be written by themselves (struct kt_codec_out). */
bool kt_sink_is_alone(const struct ktape_sink *sink)
{
	return sink->s.codec->alone;
}

/**
 * kt_sink_part_new() - Prepare to write a part of an output into memory
 * @sink: the output, in a format for which kt_sink_is_alone()
 * @part: set on success; takes events in any thread; ends with ktape_sink_close()
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sink_part_new(const struct ktape_sink *sink, struct ktape_sink **part)
{
	const struct kt_sink *s = &sink->s;
	struct ktape_sink *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->s.codec = s->codec;
	p->s.info = s->info;
	p->s.flags = s->flags;
	p->s.fd = -1;
	p->s.stage = (struct kt_stage)KT_STAGE_NONE;
	p->s.part = true;
	p->s.state = calloc(1, kt_max(s->codec->size, 1));
	if (!p->s.state || !kt_sink_room(&p->s, BUFFER)) {
		ktape_sink_close(p);
		return -ENOMEM;
	}
	*part = p;
	return 0;
}

/* Begin a part, whose events have the names of @registry. */
void kt_sink_part_begin(struct ktape_sink *part, const struct ktape_registry *registry)
{
	part->s.registry = registry;
	part->s.len = 0;
	part->s.error = 0;
}

/*
 * Append a part to the output; ktape_sink_event() has returned errors of the part itself.  Misses
 * of the part need not be added, because there are none: event() of a format that is alone counts
 * none, and ktape_sink_event() counts some only for formats without kt_codec_out.entries or .extra.
 * Return: 0 or negative errno.
 */
int kt_sink_part_take(struct ktape_sink *sink, const struct ktape_sink *part)
{
	struct kt_sink *s = &sink->s;
	int err = flush_buffer(s);

	if (err)
		return err;
	s->error = kt_write_all(s->fd, part->s.buf, part->s.len);
	s->offset += part->s.len;
	return s->error;
}

int ktape_sink_event(struct ktape_sink *sink, const struct ktape_event *event)
{
	struct kt_sink *s = &sink->s;
	int err = s->error;

	/* The reader has made it up, for formats that write the input's own stream again. */
	if (!err && !s->codec->assumed && ktape_event_is_assumed(event))
		return 0;
	/* It does not fit the event table, so no name can be taken from it. */
	if (event->opcode == KTAPE_EV_REGISTRY && !s->codec->entries &&
	    !kt_event_fits(event)) {
		kt_sink_miss(s, ktape_event_desc(KTAPE_EV_REGISTRY)->name, 1);
		return err;
	}
	if (event->extra && !s->codec->extra)
		kt_sink_miss_extra(s, event);
	if (!err)
		err = s->codec->event(s, event);
	return err ? err : s->error;
}

int ktape_sink_notice(struct ktape_sink *sink, const struct ktape_notice *notice)
{
	struct kt_sink *s = &sink->s;
	int err = s->error;

	if (notice->kind != KTAPE_NOTICE_LOST || err)
		return err;
	if (s->codec->notice)
		return s->codec->notice(s, notice);
	kt_sink_miss(s, "gaps where events were lost", 1);
	return 0;
}

bool ktape_sink_takes_texts(const struct ktape_sink *sink)
{
	return sink->s.codec->attach;
}

int ktape_sink_attach(struct ktape_sink *sink, const char *name,
		      const char *text, size_t len)
{
	struct kt_sink *s = &sink->s;

	if (!s->codec->attach)
		return -EOPNOTSUPP;
	for (const char *p = name; *p; p++) {
		if (p - name == KTAPE_TEXT_NAME_MAX)
			return -EINVAL;
		if ((*p < 'a' || *p > 'z') && *p != '_')
			return -EINVAL;
	}
	return s->error ? s->error : s->codec->attach(s, name, text, len);
}

const char *ktape_sink_error(const struct ktape_sink *sink)
{
	return sink->s.why.text;
}

uint64_t ktape_sink_missed(const struct ktape_sink *sink, unsigned int i,
			   const char **what)
{
	if (i >= sink->s.nr_misses)
		return 0;
	*what = sink->s.misses[i].what;
	return sink->s.misses[i].count;
}

uint64_t ktape_sink_bytes(const struct ktape_sink *sink)
{
	return kt_sink_at(&sink->s);
}

const char *ktape_sink_warning(const struct ktape_sink *sink)
{
	const struct kt_codec_out *codec = sink->s.codec;

	return codec->large && kt_sink_at(&sink->s) >= codec->large ?
		       codec->warning :
		       NULL;
}

unsigned int ktape_sink_mixed_cpus(const struct ktape_sink *sink)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < KT_ARRAY_SIZE(sink->s.mixed); i++)
		nr += (unsigned int)__builtin_popcountll(sink->s.mixed[i]);
	return nr;
}

bool ktape_sink_is_staged(const struct ktape_sink *sink)
{
	const struct kt_sink *s = &sink->s;

	return kt_stage_is_open(&s->stage) ||
	       (s->codec->is_staged && s->codec->is_staged(s));
}

/*
 * Let a folder that has a temporary name go to another folder, which is made.  If somebody else has
 * made it meanwhile, the format's move() accepts it or not; so after an error it is removed only if
 * it was made here.
 */
static int move_folder(struct kt_sink *s, const char *path)
{
	bool made = !mkdir(path, MODE_DIR);
	int fd, err;

	if (!made && errno != EEXIST)
		return -errno;
	/* The caller has chosen a name that nothing had: a link put there since is not followed. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = s->codec->move(s, fd);
	if (err) {
		close(fd);
		if (made)
			rmdir(path);
	}
	return err;
}

/**
 * kt_sink_move() - Let an output that has a temporary name get another final name
 * @sink: the output, for which ktape_sink_is_staged()
 * @path: the name, which nothing had when the caller chose it; for a file in the folder of the
 *	first one
 *
 * Return: 0; -EEXIST if something has the name by now that must stay; or another negative errno.
 * After an error the output will get its first name.
 */
int kt_sink_move(struct ktape_sink *sink, const char *path)
{
	struct kt_sink *s = &sink->s;
	const char *slash = strrchr(path, '/');

	/* A staged file.  Of a folder, a format may have its own stage, so its move() is asked. */
	if (kt_stage_is_open(&s->stage) && s->stage.inner < 0)
		return kt_stage_rename(&s->stage, slash ? slash + 1 : path);
	return s->codec->move ? move_folder(s, path) : -EOPNOTSUPP;
}

bool ktape_sink_switches(const struct ktape_sink *sink)
{
	return sink->s.codec->switches;
}

int ktape_sink_flush(struct ktape_sink *sink)
{
	struct kt_sink *s = &sink->s;

	if (!s->codec->own_files)
		return flush_buffer(s);
	if (!s->error && s->codec->flush)
		s->error = s->codec->flush(s);
	return s->error;
}

int ktape_sink_finish(struct ktape_sink *sink)
{
	struct kt_sink *s = &sink->s;
	int err = 0;

	if (!s->finished)
		err = s->codec->end(s);
	s->finished = true;
	if (!err && !s->codec->own_files)
		err = flush_buffer(s);
	if (!err)
		err = s->error;
	if (s->owned && s->fd >= 0) {
		if (close(s->fd) && !err)
			err = -errno;
		s->fd = -1;
	}
	return err ? err : kt_stage_commit(&s->stage);
}

void ktape_sink_close(struct ktape_sink *sink)
{
	struct kt_sink *s;

	if (!sink)
		return;
	s = &sink->s;
	if (s->state && s->codec->close)
		s->codec->close(s);
	if (s->owned && s->fd >= 0)
		close(s->fd);
	kt_stage_drop(&s->stage);
	kt_codec_options_free(&s->options);
	free(s->state);
	free(s->buf);
	free(sink);
}

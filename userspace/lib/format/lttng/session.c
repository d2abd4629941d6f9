// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The traces of a folder: the metadata of each, and their common clock.
 *
 * A session of LTTng has a trace for each domain, and for each time that it was rotated.
 * They are read as one trace.  Their clocks have different origins, even if they are the
 * same clock, because each domain measures it.  Times are those of the clock that begins
 * first; those of the others are ahead by the difference, so that all have the time since
 * 1970 that their own metadata give them.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/file.h"
#include "util/nanoseconds.h"

#include "stream/metadata.h"
#include "format/folders.h"
#include "internal.h"
#include "session.h"

#define JSON_MARK '\x1e'

/* Say why a trace cannot be read.  Return: -EBADMSG. */
static int refuse_session(struct kt_import *in, const struct lt_trace *t,
			  uint64_t offset, const char *why)
{
	return kt_import_fail(in, offset, "%.60s%smetadata: %s", t->path,
			      *t->path ? "/" : "", why);
}

/* ---- metadata ----------------------------------------------------------------------- */

static int parse_text(struct kt_import *in, struct lt_trace *t,
		      const char *text, size_t len)
{
	struct ktape_error error = { .text = "" };
	int err;

	if (len && *text == JSON_MARK)
		err = ctf_parse_json(&t->c, text, len, &error);
	else
		err = ctf_parse_tsdl(&t->c, text, len, &error);
	if (!err)
		err = ctf_complete(&t->c, &error);
	if (t->c.limit)
		return refuse_session(in, t, 0, t->c.limit);
	return err == -EBADMSG ? refuse_session(in, t, error.offset, error.text) :
				 err;
}

static int parse_data(struct kt_import *in, struct lt_trace *t,
		      const uint8_t *data, size_t size)
{
	struct ktape_error error;
	char *text = NULL;
	size_t len;
	int err;

	if (!size)
		return refuse_session(in, t, 0, "the file is empty");
	if (!kt_metadata_is_packets(data, size))
		return parse_text(in, t, (const char *)data, size);
	err = kt_metadata_unpack(data, size, &text, &len, &error);
	if (err == -EBADMSG)
		return refuse_session(in, t, error.offset, error.text);
	if (!err)
		err = parse_text(in, t, text, len);
	free(text);
	return err;
}

/* Read the metadata of a trace that is not the only one, from its own folder. */
static int read_session_file(struct kt_import *in, struct lt_trace *t)
{
	uint8_t *data = NULL;
	ssize_t size = kt_read_file(t->folder, "metadata", KT_METADATA_MAX, &data);
	int err;

	if (size == -EINVAL)
		err = refuse_session(in, t, 0, "not a regular file");
	else if (size == -ENOMEM || size == -EMFILE || size == -ENFILE)
		err = (int)size;
	else if (size < 0)
		err = refuse_session(in, t, 0, strerror((int)-size));
	else if (size && !lt_probe(data, (size_t)size, true))
		err = refuse_session(in, t, 0, "this is no trace of another tracer");
	else
		err = parse_data(in, t, data, (size_t)size);
	free(data);
	return err;
}

/* Read the metadata of the only trace, which is what kt_import.in reads. */
static int read_input(struct kt_import *in, struct lt_trace *t)
{
	int64_t there = kt_scan_need(in->in, KT_METADATA_MAX + 1ULL);

	if (there < 0)
		return (int)there;
	if (there > (int64_t)KT_METADATA_MAX)
		return refuse_session(in, t, 0, "the file is too large");
	return parse_data(in, t, kt_scan_head(in->in), (size_t)there);
}

/* ---- clocks --------------------------------------------------------------------------- */

/*
 * Put whole seconds of the offset into the seconds.
 * Return: 0, or -EBADMSG if the origin does not fit 64 bits in ns.
 */
static int take_session_origin(struct kt_import *in, struct lt_trace *t,
			       struct ctf_origin *o)
{
	struct ktape_info clock = { .freq = o->freq, .offset = o->offset % o->freq };
	struct ktape_error error;

	if (__builtin_add_overflow(o->offset_s, o->offset / o->freq, &clock.offset_s))
		clock.offset_s = INT64_MAX;
	if (kt_clock_check(&clock, &error))
		return refuse_session(in, t, 0, error.text);
	o->offset_s = clock.offset_s;
	o->offset = clock.offset;
	return 0;
}

static int take_origins(struct kt_import *in, struct lt_trace *t)
{
	int err = take_session_origin(in, t, &t->c.origin);

	for (size_t i = 0; i < t->c.nr_streams && !err; i++)
		err = take_session_origin(in, t, &t->c.streams[i].origin);
	return err;
}

/* Convert ticks of another frequency, at most UINT64_MAX. */
static uint64_t rescale_time(uint64_t ticks, uint64_t from, uint64_t to)
{
	unsigned __int128 v = ticks;

	if (from == to)
		return ticks;
	v = v * to / from;
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/* Return the origin of the clock in ns, below 2^63 by take_session_origin(). */
static int64_t origin_of(const struct ctf_origin *o)
{
	return o->offset_s * NS_PER_S +
	       (int64_t)rescale_time(o->offset, o->freq, NS_PER_S);
}

/* Set how far a clock is ahead of the first one, and its last time below 2^63 ns. */
static void set_ahead(const struct lt_session *all, struct ctf_origin *o,
		      const struct ctf_origin *first)
{
	int64_t origin = origin_of(o);
	uint64_t seconds = (uint64_t)(o->offset_s - first->offset_s);
	uint64_t part = rescale_time(o->offset, o->freq, all->freq);

	o->ahead = rescale_time(seconds, 1, all->freq) + part -
		   rescale_time(first->offset, first->freq, all->freq);
	/* More than 64 bits can hold: keep it large, without wrapping around. */
	if (rescale_time(seconds, 1, all->freq) > UINT64_MAX / 2)
		o->ahead = UINT64_MAX / 2;
	/* 2 ns less, because converting rounds. */
	o->latest = rescale_time((uint64_t)INT64_MAX - 2 -
					 (uint64_t)(origin > 0 ? origin : 0),
				 NS_PER_S, o->freq);
}

/* Find the clock that begins first.  Times are in ns if clocks have several frequencies. */
static const struct ctf_origin *find_first(struct lt_session *all)
{
	const struct ctf_origin *first = &all->list[0].c.streams[0].origin;

	all->freq = first->freq;
	for (size_t i = 0; i < all->nr; i++) {
		const struct ctf *c = &all->list[i].c;

		for (size_t k = 0; k < c->nr_streams; k++) {
			const struct ctf_origin *o = &c->streams[k].origin;

			if (origin_of(o) < origin_of(first))
				first = o;
			if (o->freq != all->freq)
				all->freq = NS_PER_S;
		}
	}
	return first;
}

static void set_session_clock(struct kt_import *in, struct lt_session *all)
{
	const struct ctf_origin first = *find_first(all);
	const char *name = all->list[0].c.clock;
	struct ktape_info *info = in->info;

	for (size_t i = 0; i < all->nr; i++) {
		struct ctf *c = &all->list[i].c;

		for (size_t k = 0; k < c->nr_streams; k++)
			set_ahead(all, &c->streams[k].origin, &first);
	}
	info->freq = all->freq;
	info->offset_s = first.offset_s;
	info->offset = rescale_time(first.offset, first.freq, all->freq);
	info->real_offset_ns = origin_of(&first);
	if (*name)
		snprintf(info->clock, sizeof(info->clock), "%s", name);
}

/* Return a time of a clock as it is delivered, at most UINT64_MAX. */
uint64_t lt_session_time(const struct lt_session *all,
			 const struct ctf_origin *o, uint64_t ticks)
{
	uint64_t time = rescale_time(ticks, o->freq, all->freq);

	return time > UINT64_MAX - o->ahead ? UINT64_MAX : time + o->ahead;
}

/* ---- traces --------------------------------------------------------------------------- */

/* Check whether a trace declares events of system calls, by any of LTTng's names of them. */
static bool has_calls(const struct lt_session *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		const struct ctf *c = &all->list[i].c;

		for (size_t k = 0; k < c->nr_classes; k++) {
			const char *name = c->classes[k].name;

			if (name &&
			    (strstr(name, "sys_") || strstr(name, "syscall")))
				return true;
		}
	}
	return false;
}

static void fill_session_info(struct kt_import *in, const struct lt_session *all)
{
	const char *machine = kt_codec_option(&in->options, "machine");
	struct ktape_info *info = in->info;
	struct utsname here;

	for (size_t i = 0; i < all->nr; i++) {
		const struct ctf *c = &all->list[i].c;

		if (c->has_uuid && !i)
			memcpy(info->uuid, c->uuid, sizeof(info->uuid));
		if (!*info->hostname)
			snprintf(info->hostname, sizeof(info->hostname), "%s",
				 c->hostname);
		if (!*info->release)
			snprintf(info->release, sizeof(info->release), "%s",
				 c->release);
	}
	if (!machine && !uname(&here)) {
		machine = here.machine;
		if (has_calls(all))
			kt_import_note(in, "the trace does not name its architecture: numbers of system calls are those of %s (option machine=)",
				       machine);
	}
	if (machine)
		snprintf(info->machine, sizeof(info->machine), "%s", machine);
}

static void free_trace(struct lt_trace *t)
{
	ctf_free(&t->c);
	if (t->folder >= 0)
		close(t->folder);
	free(t->path);
}

/*
 * Open a trace at the end of the list, where it is also after a failure, except without memory for
 * its path.
 * Return: 0; -EBADMSG if this trace cannot be read, others may be; or another negative errno.
 */
static int open_trace(struct kt_import *in, struct lt_session *all,
		      const char *path, bool alone)
{
	struct lt_trace *t = &all->list[all->nr];
	int err;

	*t = (struct lt_trace){ .folder = -1,
				.path = strdup(strcmp(path, ".") ? path : "") };
	if (!t->path)
		return -ENOMEM;
	all->nr++;
	t->folder = openat(in->folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->folder < 0 && (errno == ENOMEM || errno == EMFILE || errno == ENFILE))
		return -errno;
	if (t->folder < 0)
		return kt_import_fail(in, 0, "%.60s: %s", path, strerror(errno));
	t->c.bytes = all->bytes;
	err = alone ? read_input(in, t) : read_session_file(in, t);
	if (!err)
		err = take_origins(in, t);
	if (err)
		return err;
	t->bytes = t->c.bytes - all->bytes;
	all->bytes = t->c.bytes;
	return 0;
}

/*
 * Open the traces that can be read, and report those that cannot.
 * Return: 0, negative errno, or -EBADMSG with the reason of the last one if none can be read.
 */
static int open_traces(struct kt_import *in, struct lt_session *all,
		       const struct kt_folders *found)
{
	int err = 0;

	for (size_t i = 0; i < found->nr && !err; i++) {
		err = open_trace(in, all, found->list[i], found->nr == 1);
		if (err == -EMFILE || err == -ENFILE)
			return kt_import_fail(
				in, 0,
				"%.60s: too many open files: there are %zu traces: raise the limit (ulimit -Hn %zu, as root)",
				found->list[i], found->nr, found->nr + 64);
		if (err != -EBADMSG || found->nr == 1)
			continue;
		if (i + 1 == found->nr && all->nr == 1)
			return err;
		kt_import_bad(in, in->error.offset,
			      "%s: this trace is left out", in->error.text);
		free_trace(&all->list[--all->nr]);
		err = 0;
	}
	return err;
}

static void skip_folder(void *arg, const char *path, const char *why)
{
	kt_import_bad(arg, 0, "%.100s: %s: this folder is left out", path, why);
}

/**
 * lt_session_open() - read the metadata of all traces of the folder
 * @in: the trace
 * @all: filled; ends with lt_session_close(), also after a failure
 *
 * Return: 0 or negative errno.
 */
int lt_session_open(struct kt_import *in, struct lt_session *all)
{
	struct kt_folders found = { .skip = skip_folder, .arg = in };
	int err = kt_folders_find(in->folder, &found);

	if (err == -E2BIG)
		err = kt_import_fail(
			in, 0,
			"more than %u traces or %u folders are below this one: give a part of them",
			KT_FOLDERS_MAX, KT_FOLDERS_SEEN);
	if (!err)
		all->list = calloc(kt_max(found.nr, 1), sizeof(*all->list));
	if (!err && !all->list)
		err = -ENOMEM;
	if (!err)
		err = open_traces(in, all, &found);
	kt_folders_free(&found);
	if (!err && !all->nr)
		err = kt_import_fail(in, 0, "the folder has no metadata");
	if (err)
		return err;
	set_session_clock(in, all);
	fill_session_info(in, all);
	return 0;
}

/* Find out what the events of a trace become.  Return: as lt_session_bind(). */
static int bind_trace(struct kt_tp *tp, struct lt_session *all,
		      struct lt_trace *t, struct lt_values *v)
{
	const size_t nr = t->c.nr_classes;
	int err = 0;

	tp->relative_prio |=
		!strncmp(t->c.tracer, "lttng-modules", strlen("lttng-modules"));
	t->c.bytes = all->bytes;
	t->classes = ctf_alloc(&t->c, nr * sizeof(*t->classes));
	if (!t->classes)
		err = -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		err = lt_class_bind(tp, &t->c, &t->c.classes[i], &t->classes[i], v);
	kt_map_free(&v->shapes);
	v->shapes = (struct kt_map){ .entries = NULL };
	t->bytes += t->c.bytes - all->bytes;
	all->bytes = t->c.bytes;
	return t->c.limit ? refuse_session(tp->s, t, 0, t->c.limit) : err;
}

/*
 * Leave out a trace whose types need too much memory.
 * Return: 0, or -EBADMSG if no other trace is left.
 */
static int drop_trace(struct kt_import *in, struct lt_session *all, size_t nr)
{
	if (all->nr == 1)
		return -EBADMSG;
	kt_import_bad(in, in->error.offset, "%s: this trace is left out",
		      in->error.text);
	all->bytes -= all->list[nr].bytes;
	free_trace(&all->list[nr]);
	all->nr--;
	memmove(&all->list[nr], &all->list[nr + 1],
		(all->nr - nr) * sizeof(*all->list));
	return 0;
}

/**
 * lt_session_bind() - find out what the events of all traces become
 * @tp: memory of the mapping
 * @all: the traces
 * @v: its fields are overwritten
 *
 * Return: 0 or negative errno.
 */
int lt_session_bind(struct kt_tp *tp, struct lt_session *all, struct lt_values *v)
{
	int err = 0;

	for (size_t n = 0; n < all->nr && !err; n++) {
		err = bind_trace(tp, all, &all->list[n], v);
		if (err == -EBADMSG)
			err = drop_trace(tp->s, all, n--);
	}
	return err;
}

/* Free what lt_session_open() has opened. */
void lt_session_close(struct lt_session *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free_trace(&all->list[i]);
	free(all->list);
}

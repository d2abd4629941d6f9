// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stream files of a CTF trace: which ones there are, and which belong together.
 *
 * LTTng can limit the size of its files (--tracefile-size, --tracefile-count).  Then the
 * stream of a CPU is in CHANNEL_CPU_0, CHANNEL_CPU_1 and so on; the numbers begin again
 * when the oldest file is overwritten.  Files whose names differ in the last number only
 * are one stream if their packets are of the same CPU and stream class.  The numbers of
 * their packets give the order.  So what is missing between two files is reported, and only
 * one of them is open.
 *
 * Likewise for files of one name in traces with one UUID: the archives of a rotated session,
 * whose packets and losses are counted on, and snapshots of a session, which may have the
 * same packets.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/reader.h"
#include "internal.h"
#include "session.h"

#define FILES_MAX 65536U

/**
 * struct found - a stream file
 * @trace: its trace
 * @of: number of the first trace with the UUID and the frequency of @trace
 * @name: its name
 * @joins: its first packet has a number, so it may continue another file.  The members below
 *	are of that packet
 * @class: stream class
 * @cpu: CPU
 * @seq: number of the packet
 * @time: time of its begin, in ticks
 */
struct found {
	struct lt_trace *trace;
	size_t of;
	char *name;
	bool joins;
	const struct ctf_stream *class;
	uint32_t cpu;
	uint64_t seq;
	uint64_t time;
};

/* Check whether a name may be that of a stream file. */
static int is_stream(const struct dirent *d)
{
	return *d->d_name != '.' && strcmp(d->d_name, "metadata") != 0;
}

/* Notify of a file that cannot be read. */
static void leave_file_out(struct kt_import *in, const struct lt_trace *x,
			   const char *name, int err)
{
	kt_import_bad(in, 0, "%.60s%s%.60s: %s: this file is left out", x->path,
		      *x->path ? "/" : "", name, strerror(err));
}

/*
 * A file cannot be opened: notify of it, but fail without memory, or if too many files are open.
 * @nr: files of the trace.
 * Return: 0 or negative errno.
 */
static int report_file_failed(struct kt_import *in, const struct lt_trace *x,
			      const char *name, size_t nr)
{
	if (errno == ENOMEM)
		return -errno;
	if (errno != EMFILE && errno != ENFILE) {
		leave_file_out(in, x, name, errno);
		return 0;
	}
	return kt_import_fail(
		in, 0,
		"%.40s: too many open files: the trace has %zu: raise the limit (ulimit -Hn %zu, as root)",
		name, nr, nr + 64);
}

/*
 * Return the length of a name CHANNEL_CPU_NUMBER up to its last number; 0 if it has another form:
 * then no file of another name has a part of its stream.
 */
static size_t stem_of(const char *name)
{
	size_t len = strlen(name), end = len, at;

	for (at = len; at && isdigit((unsigned char)name[at - 1]);)
		at--;
	if (at == end || at < 3 || name[at - 1] != '_')
		return 0;
	return isdigit((unsigned char)name[at - 2]) ? at : 0;
}

/* Return the length of what the names of all files of the stream have in common. */
static size_t common_length(const char *name)
{
	size_t len = stem_of(name);

	return len ? len : strlen(name);
}

static int by_file_name(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	order = strverscmp(x->name, y->name);
	if (order)
		return order;
	return x->trace < y->trace ? -1 : x->trace > y->trace;
}

/* Check by traces and names whether two files may have parts of one stream. */
static bool may_join(const struct found *a, const struct found *b)
{
	size_t len = common_length(a->name);

	return a->of == b->of && len == common_length(b->name) &&
	       !memcmp(a->name, b->name, len);
}

/* Read the first packet of a file.  Return: 0 or negative errno. */
static int look_at_entry(struct found *f)
{
	struct lt_file file = { f->trace, f->name };
	struct lt_stream s = { .trace = f->trace, .files = &file, .nr_files = 1 };
	struct ktape_error error;
	int ret;

	s.fd = openat(f->trace->folder, f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* add_ctf_stream() fails likewise, and says so. */
	if (s.fd < 0)
		return 0;
	ret = lt_packet_next(&s, &error);
	f->joins = ret == LT_OK && s.numbered;
	f->class = s.class;
	f->cpu = s.cpu;
	f->seq = s.seq;
	f->time = s.time;
	free(s.buf);
	close(s.fd);
	/* What cannot be read is a stream of its own, which says so. */
	return ret == -ENOMEM ? ret : 0;
}

/* Check whether two files have parts of one stream, by their first packets. */
static bool same_stream(const struct found *a, const struct found *b)
{
	return a->joins && b->joins && a->class->id == b->class->id &&
	       a->cpu == b->cpu;
}

/* Order files by stream, then by number; those that are streams of their own come last. */
static int by_packet(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (!same_stream(x, y)) {
		if (x->joins != y->joins)
			return x->joins ? -1 : 1;
		if (!x->joins)
			return 0;
		if (x->class->id != y->class->id)
			return x->class->id < y->class->id ? -1 : 1;
		return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
	}
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->trace < y->trace ? -1 : x->trace > y->trace;
}

/*
 * Check whether a file goes on where the one before it ends: its packets have later numbers,
 * or it is of another snapshot, which begins with the same packet.
 */
static bool goes_on(const struct found *f, const struct found *before)
{
	if (!same_stream(before, f))
		return false;
	return f->seq > before->seq ||
	       (f->seq == before->seq && f->trace != before->trace &&
		f->time == before->time);
}

/*
 * Make a stream of @nr files, of @all that there are.  If the first cannot be opened, the
 * stream is left out.
 * Return: 0 or negative errno.
 */
static int add_ctf_stream(struct kt_import *in, struct lt_streams *t,
			  const struct found *f, size_t nr, size_t all)
{
	int fd = openat(f->trace->folder, f->name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct lt_stream *s;
	struct stat st;

	if (fd < 0)
		return report_file_failed(in, f->trace, f->name, all);
	/* is_file() has found a regular file, which was replaced since. */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	s = realloc(t->list, (t->nr + 1) * sizeof(*s));
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	t->list = s;
	s += t->nr;
	*s = (struct lt_stream){
		.fd = fd,
		.trace = f->trace,
		.cpu = (uint32_t)t->nr, /* for packets that do not say their CPU */
		.files = calloc(nr, sizeof(*s->files)),
		.nr_files = nr,
	};
	t->nr++;
	if (!s->files)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		s->files[i] = (struct lt_file){ f[i].trace, strdup(f[i].name) };
		if (!s->files[i].name)
			return -ENOMEM;
	}
	return 0;
}

/* Make streams of files that may belong together, by their first packets. */
static int add_group(struct kt_import *in, struct lt_streams *t,
		     struct found *f, size_t nr, size_t all)
{
	size_t n;
	int err = 0;

	for (size_t i = 0; nr > 1 && i < nr && !err; i++)
		err = look_at_entry(&f[i]);
	if (nr > 1)
		qsort(f, nr, sizeof(*f), by_packet);
	for (size_t i = 0; i < nr && !err; i += n) {
		n = 1;
		while (i + n < nr && goes_on(&f[i + n], &f[i + n - 1]))
			n++;
		err = add_ctf_stream(in, t, &f[i], n, all);
	}
	return err;
}

static int add_all_files(struct kt_import *in, struct lt_streams *t,
			 struct found *f, size_t nr)
{
	size_t n;
	int err = 0;

	if (nr > FILES_MAX)
		return kt_import_fail(
			in, 0,
			"the trace has %zu files, and %u can be read at once: give a part of them",
			nr, FILES_MAX);
	for (size_t i = 0; i < nr && !err; i += n) {
		n = 1;
		while (i + n < nr && may_join(&f[i], &f[i + n]))
			n++;
		err = add_group(in, t, &f[i], n, nr);
	}
	return err;
}

/* Check whether a name is that of a regular file; LTTng makes a folder of indexes as well. */
static bool is_file(struct kt_import *in, const struct lt_trace *x, const char *name)
{
	struct stat st;

	if (!fstatat(x->folder, name, &st, 0))
		return S_ISREG(st.st_mode);
	leave_file_out(in, x, name, errno);
	return false;
}

/**
 * struct files - the files that have been found
 * @list: the files; their names are allocated
 * @nr: entries of @list
 */
struct files {
	struct found *list;
	size_t nr;
};

/* Return the first trace that has the UUID and the frequency of trace @nr, which may be @nr. */
static size_t first_of(const struct lt_session *all, size_t nr)
{
	const struct ctf *c = &all->list[nr].c;
	size_t i;

	for (i = 0; i < nr && c->has_uuid; i++) {
		const struct ctf *other = &all->list[i].c;

		if (other->has_uuid &&
		    !memcmp(other->uuid, c->uuid, sizeof(c->uuid)) &&
		    other->origin.freq == c->origin.freq)
			return i;
	}
	return nr;
}

/* Find the files of a trace.  Return: 0 or negative errno. */
static int find_files(struct kt_import *in, const struct lt_session *all,
		      size_t nr, struct files *f)
{
	struct lt_trace *x = &all->list[nr];
	const size_t of = first_of(all, nr);
	struct dirent **names;
	int n = scandirat(x->folder, ".", &names, is_stream, versionsort), err = 0;
	struct found *more;

	if (n < 0 && errno != ENOMEM && errno != EMFILE && errno != ENFILE) {
		leave_file_out(in, x, ".", errno);
		return 0;
	}
	if (n < 0)
		return -errno;
	more = realloc(f->list, (f->nr + (size_t)n + 1) * sizeof(*more));
	if (more)
		f->list = more;
	else
		err = -ENOMEM;
	for (int i = 0; i < n && !err; i++) {
		if (!is_file(in, x, names[i]->d_name))
			continue;
		more = &f->list[f->nr];
		*more = (struct found){
			.trace = x,
			.of = of,
			.name = strdup(names[i]->d_name),
		};
		if (more->name)
			f->nr++;
		else
			err = -ENOMEM;
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return err;
}

/**
 * lt_files_open() - find the streams of all traces
 * @in: the trace that is read
 * @all: the traces
 * @t: filled, also after a failure: lt_files_close()
 *
 * Return: 0 or negative errno.
 */
int lt_files_open(struct kt_import *in, struct lt_session *all, struct lt_streams *t)
{
	struct files f = { .list = NULL };
	int err = 0;

	for (size_t i = 0; i < all->nr && !err; i++)
		err = find_files(in, all, i, &f);
	if (!err && f.nr)
		qsort(f.list, f.nr, sizeof(*f.list), by_file_name);
	if (!err)
		err = add_all_files(in, t, f.list, f.nr);
	for (size_t i = 0; i < f.nr; i++)
		free(f.list[i].name);
	free(f.list);
	return err;
}

/**
 * lt_files_close() - close the files, and free what belongs to the streams
 * @t: from lt_files_open()
 */
void lt_files_close(struct lt_streams *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct lt_stream *s = &t->list[i];

		if (s->fd >= 0)
			close(s->fd);
		for (size_t k = 0; s->files && k < s->nr_files; k++)
			free(s->files[k].name);
		free(s->files);
		free(s->buf);
	}
	free(t->list);
}

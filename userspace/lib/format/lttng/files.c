// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stream files of a CTF trace: which ones there are, and which belong together.
 *
 * LTTng can limit the size of its files (--tracefile-size, --tracefile-count).  Then the
 * stream of a CPU is in CHANNEL_CPU_0, CHANNEL_CPU_1 and so on; the numbers begin again
 * when the oldest file is overwritten.  Files whose names differ in the last number only
 * are one stream if their packets are of the same CPU and stream class.  The numbers of
 * their packets give the order.  So what is missing between two files is told, and only
 * one of them is open.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/import.h"
#include "internal.h"
#include "session.h"

#define FILES_MAX	65536U

/**
 * struct found - a stream file
 * @name: its name
 * @joins: it may belong to others; the rest is of its first packet
 * @class: stream class
 * @cpu: CPU
 * @seq: number
 */
struct found {
	char *name;
	bool joins;
	const struct ctf_stream *class;
	uint32_t cpu;
	uint64_t seq;
};

static int is_stream(const struct dirent *d)
{
	return *d->d_name != '.' && strcmp(d->d_name, "metadata") != 0;
}

/* Notify of a file that cannot be read. */
static void leave_out(struct kt_import *in, const struct lt_trace *x, const char *name,
		      int err)
{
	kt_import_bad(in, 0, "%.60s%s%.60s: %s: this file is left out", x->path,
		      *x->path ? "/" : "", name, strerror(err));
}

/*
 * A file cannot be opened: notify of it, but fail if the process has too many files open.
 * Return: 0 or negative errno.
 */
static int open_failed(struct kt_import *in, const struct lt_trace *x, const char *name,
		       size_t nr)
{
	if (errno == ENOMEM)
		return -errno;
	if (errno != EMFILE && errno != ENFILE) {
		leave_out(in, x, name, errno);
		return 0;
	}
	return kt_import_fail(in, 0,
			      "%.40s: too many open files: the trace has %zu: raise the limit (ulimit -Hn %zu, as root)",
			      name, nr, nr + 64);
}

/* Return the length of a name up to its last number; 0: others cannot belong to it. */
static size_t stem_of(const char *name)
{
	size_t len = strlen(name), end = len, at;

	for (at = len; at && isdigit((unsigned char)name[at - 1]);)
		at--;
	if (at == end || at < 3 || name[at - 1] != '_')
		return 0;
	return isdigit((unsigned char)name[at - 2]) ? at : 0;
}

static bool same_stem(const char *a, const char *b)
{
	size_t len = stem_of(a);

	return len && len == stem_of(b) && !memcmp(a, b, len);
}

/* Read the first packet of a file.  Return: 0 or negative errno. */
static int look_at(struct lt_trace *x, struct found *f)
{
	struct lt_stream s = {
		.folder = x->folder, .path = x->path, .files = &f->name, .nr_files = 1,
	};
	struct ktape_error error;
	int ret;

	s.fd = openat(x->folder, f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* add_stream() fails likewise, and says so. */
	if (s.fd < 0)
		return 0;
	ret = lt_packet_next(&x->c, &s, &error);
	f->joins = ret == LT_OK && s.numbered;
	f->class = s.class;
	f->cpu = s.cpu;
	f->seq = s.seq;
	free(s.buf);
	close(s.fd);
	/* What cannot be read is a stream of its own, which says so. */
	return ret == -ENOMEM ? ret : 0;
}

static bool same_stream(const struct found *a, const struct found *b)
{
	return a->joins && b->joins && a->class == b->class && a->cpu == b->cpu;
}

static int by_packet(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (!same_stream(x, y)) {
		if (x->joins != y->joins)
			return x->joins ? -1 : 1;
		if (x->class != y->class)
			return x->class < y->class ? -1 : 1;
		return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
	}
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Make a stream of some files.  Return: 0 or negative errno. */
static int add_stream(struct kt_import *in, struct lt_trace *x, struct lt_streams *t,
		      const struct found *f, size_t nr, size_t all)
{
	int fd = openat(x->folder, f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct lt_stream *s;
	struct stat st;

	if (fd < 0)
		return open_failed(in, x, f->name, all);
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
		.trace = x,
		.folder = x->folder,
		.path = x->path,
		.cpu = (uint32_t)t->nr,
		.files = calloc(nr, sizeof(*s->files)),
		.nr_files = nr,
	};
	t->nr++;
	if (!s->files)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		s->files[i] = strdup(f[i].name);
		if (!s->files[i])
			return -ENOMEM;
	}
	return 0;
}

/* Make streams of files whose names differ in the last number only. */
static int add_group(struct kt_import *in, struct lt_trace *x,
		     struct lt_streams *t, struct found *f, size_t nr, size_t all)
{
	size_t n;
	int err = 0;

	for (size_t i = 0; nr > 1 && i < nr && !err; i++)
		err = look_at(x, &f[i]);
	if (nr > 1)
		qsort(f, nr, sizeof(*f), by_packet);
	for (size_t i = 0; i < nr && !err; i += n) {
		n = 1;
		while (i + n < nr && same_stream(&f[i], &f[i + n]) &&
		       f[i + n].seq > f[i + n - 1].seq)
			n++;
		err = add_stream(in, x, t, &f[i], n, all);
	}
	return err;
}

static int add_all(struct kt_import *in, struct lt_trace *x, struct lt_streams *t,
		   struct found *f, size_t nr)
{
	size_t n;
	int err = 0;

	if (nr > FILES_MAX)
		return kt_import_fail(in, 0, "the trace has %zu files, and %u can be read at once: give a part of them",
				      nr, FILES_MAX);
	for (size_t i = 0; i < nr && !err; i += n) {
		n = 1;
		while (i + n < nr && same_stem(f[i].name, f[i + n].name))
			n++;
		err = add_group(in, x, t, &f[i], n, nr);
	}
	return err;
}

/* Check whether a name is that of a regular file; LTTng makes a folder of indexes as well. */
static bool is_file(struct kt_import *in, const struct lt_trace *x, const char *name)
{
	struct stat st;

	if (!fstatat(x->folder, name, &st, 0))
		return S_ISREG(st.st_mode);
	leave_out(in, x, name, errno);
	return false;
}

/**
 * lt_files_open() - find the streams of a trace
 * @in: the trace that is read
 * @x: the trace
 * @t: filled, also after a failure: lt_files_close()
 *
 * Return: 0 or negative errno.
 */
int lt_files_open(struct kt_import *in, struct lt_trace *x, struct lt_streams *t)
{
	struct dirent **names;
	int nr = scandirat(x->folder, ".", &names, is_stream, versionsort), err;
	struct found *f;
	size_t files = 0;

	if (nr < 0 && errno != ENOMEM && errno != EMFILE && errno != ENFILE) {
		leave_out(in, x, ".", errno);
		return 0;
	}
	if (nr < 0)
		return -errno;
	f = calloc((size_t)nr + 1, sizeof(*f));
	for (int i = 0; f && i < nr; i++) {
		if (is_file(in, x, names[i]->d_name))
			f[files++].name = names[i]->d_name;
	}
	err = f ? add_all(in, x, t, f, files) : -ENOMEM;
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	free(f);
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
			free(s->files[k]);
		free(s->files);
		free(s->buf);
	}
	free(t->list);
}

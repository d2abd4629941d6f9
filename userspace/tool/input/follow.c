// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape dump --follow: turn a growing directory or file into a stream.
 *
 * A child process polls and copies what it finds into a pipe, which is the standard input of the
 * dump: of a directory whole packets, of those that are complete the one with the earliest begin
 * first; of a file in pipe form whatever bytes it has got.  The process ends when the pipe has no
 * reader, after an error, or by a signal.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/input/follow.h"
#include "tool/shared/message.h"

#define FILES_MAX 20000U     /* two for each of 8192 CPUs, and more */
#define PAUSE_MS  200	     /* between two polls */
#define PART	  (1U << 16) /* bytes that are copied at once */

/* Bytes of metadata; larger ones are refused. */
#define METADATA_MOST (16 << 20)

/**
 * struct source - a stream file of the directory
 * @name: file name
 * @fd: the file
 * @at: offset of the next packet
 * @size: bytes of that packet; 0: it is not complete yet
 * @ts: time at which that packet begins, in ticks
 */
struct source {
	char name[NAME_MAX + 1];
	int fd;
	uint64_t at;
	uint64_t size;
	uint64_t ts;
};

/**
 * struct follow - what the child process follows
 * @path: operand
 * @to: write end of the pipe
 * @dir: the directory, or the file
 * @sources: stream files of a directory
 * @nr: entries of @sources
 */
struct follow {
	const char *path;
	int to;
	int dir;
	struct source *sources;
	size_t nr;
};

static bool has_reader(const struct follow *f)
{
	struct pollfd p = { .fd = f->to };

	return poll(&p, 1, 0) <= 0 || !(p.revents & (POLLERR | POLLHUP));
}

static int copy_range(const struct follow *f, int fd, uint64_t at, uint64_t size)
{
	char part[PART];

	while (size) {
		ssize_t n = pread(fd, part, kt_min(size, PART), (off_t)at);

		if (n <= 0)
			return n ? -errno : -EBADMSG;
		if (kt_write_all(f->to, part, (size_t)n))
			return -EPIPE;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* ---- a file ------------------------------------------------------------------------ */

/* Copy what a file in pipe form gets, until the pipe has no reader. */
static int follow_file(struct follow *f, int fd)
{
	uint64_t at = 0;
	struct stat st;
	int err = 0;

	while (!err && has_reader(f)) {
		if (fstat(fd, &st))
			return -errno;
		if ((uint64_t)st.st_size < at)
			return -ESTALE;
		err = copy_range(f, fd, at, (uint64_t)st.st_size - at);
		if ((uint64_t)st.st_size == at)
			usleep(PAUSE_MS * 1000);
		at = (uint64_t)st.st_size;
	}
	return err;
}

/* ---- a directory ---------------------------------------------------------------------- */

static bool is_known_file(const struct follow *f, const char *name)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (!strcmp(f->sources[i].name, name))
			return true;
	}
	return false;
}

static int add_source(struct follow *f, const char *name)
{
	struct source *more, *s;

	if (f->nr == FILES_MAX)
		return -EMFILE;
	more = realloc(f->sources, (f->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->sources = more;
	s = &more[f->nr];
	memset(s, 0, sizeof(*s));
	strcpy(s->name, name);
	s->fd = openat(f->dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	f->nr++;
	return 0;
}

/* Open new stream files: a CPU that comes online later gets its files later. */
static int find_sources(struct follow *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		/* The metadata are replaced by others, made under another name. */
		if (*e->d_name == '.' ||
		    !strncmp(e->d_name, "metadata", strlen("metadata")) ||
		    is_known_file(f, e->d_name))
			continue;
		if (len > 4 && !strcmp(e->d_name + len - 4, ".zst"))
			err = -EOPNOTSUPP;
		else
			err = add_source(f, e->d_name);
	}
	closedir(d);
	return err;
}

/*
 * Set s->size, and with it s->ts, if the next packet is complete.
 * Return: 0, also if it is not; -EBADMSG if it is no packet; or negative errno.
 */
static int look_for_packet(struct source *s)
{
	struct ktape_block head;
	struct stat st;

	if (fstat(s->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < s->at + sizeof(head) ||
	    pread(s->fd, &head, sizeof(head), (off_t)s->at) != sizeof(head))
		return 0;
	s->size = le64toh(head.packet_bits) / 8;
	s->ts = le64toh(head.ts_begin);
	if (s->size < sizeof(head) || s->size > KTAPE_BLOCK_MAX)
		return -EBADMSG;
	if ((uint64_t)st.st_size < s->at + s->size)
		s->size = 0;
	return 0;
}

/* Set @first to the file with the earliest complete packet, or NULL. */
static int find_earliest(struct follow *f, struct source **first)
{
	int err = 0;

	*first = NULL;
	for (size_t i = 0; i < f->nr && !err; i++) {
		struct source *s = &f->sources[i];

		if (!s->size)
			err = look_for_packet(s);
		if (!err && s->size && (!*first || s->ts < (*first)->ts))
			*first = s;
	}
	return err;
}

static int send_metadata(struct follow *f)
{
	struct ktape_info info;
	struct stat st;
	char *text;
	int fd = openat(f->dir, "metadata", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int err = -EBADMSG;

	if (fd < 0)
		return -errno;
	text = fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > METADATA_MOST ?
		       NULL :
		       malloc((size_t)st.st_size + 1);
	if (text && pread(fd, text, (size_t)st.st_size, 0) == st.st_size &&
	    !ktape_metadata_parse(text, (size_t)st.st_size, &info, NULL))
		err = ktape_pipe_metadata(f->to, info.uuid, text,
					  (size_t)st.st_size);
	free(text);
	close(fd);
	return err;
}

/* Copy the metadata of a directory, then its packets by time, until the pipe has no reader. */
static int follow_folder(struct follow *f)
{
	int err = send_metadata(f);

	while (!err && has_reader(f)) {
		struct source *first = NULL;

		err = find_sources(f);
		if (!err)
			err = find_earliest(f, &first);
		while (!err && first) {
			err = copy_range(f, first->fd, first->at, first->size);
			first->at += first->size;
			first->size = 0;
			if (!err)
				err = find_earliest(f, &first);
		}
		if (!err)
			usleep(PAUSE_MS * 1000);
	}
	return err;
}

/* ---- the process --------------------------------------------------------------------------- */

static void feed_pipe(const char *path, int to)
{
	struct follow f = { .path = path, .to = to };
	struct stat st;
	/* The callers have checked that it is no FIFO, on which open() would wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	/* End with the parent, even if a signal kills the parent. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	f.dir = fd;
	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else
		err = S_ISDIR(st.st_mode) ? follow_folder(&f) : follow_file(&f, fd);
	if (err && err != -EPIPE)
		note("%s: %s", path,
		     err == -EBADMSG ?
			     "not a trace that can be followed" :
		     err == -ESTALE ?
			     "the file became shorter while it was followed" :
		     err == -EOPNOTSUPP ?
			     "compressed files cannot be followed: dump without --follow" :
			     strerror(-err));
	_exit(err && err != -EPIPE ? EXIT_FAILED : EXIT_OK);
}

/**
 * follow_begin() - start the child process and make its pipe standard input
 * @path: directory or pipe-form file
 * @child: set to the process
 *
 * Return: 0 or the exit code.
 */
int follow_begin(const char *path, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return fail("pipe: %s", strerror(errno));
	*child = fork();
	if (*child < 0)
		return fail("fork: %s", strerror(errno));
	if (!*child) {
		close(ends[0]);
		feed_pipe(path, ends[1]);
	}
	close(ends[1]);
	if (dup2(ends[0], STDIN_FILENO) < 0)
		return fail("pipe: %s", strerror(errno));
	close(ends[0]);
	return 0;
}

/**
 * follow_end() - close the pipe and end the child process
 * @child: the process
 *
 * Return: its exit code; 0 if the signal ended it before it could exit; EXIT_FAILED if it cannot be
 * waited for.
 */
int follow_end(pid_t child)
{
	int status = 0;

	close(STDIN_FILENO);
	kill(child, SIGTERM);
	if (waitpid(child, &status, 0) != child)
		return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OK;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: run this command again, with its output to a pipe.
 *
 * A trace is input that may be hostile, large, or endless; a process of its own can be
 * ended, and its failure does not end the server.  The trace is descriptor 3 of the
 * process, so its name cannot be taken for an option, nor exchanged for another file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/bits.h"

#include "tool/serve/serve.h"
#include "tool/shared/message.h"

#define TRACE_FD 3    /* descriptor of the trace in the process */
#define KILLED	 255  /* exit status that stands for the end by a signal */
#define BEAT_MS	 5000 /* after this long, a stream of events gets a comment */
#define GONE	 (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)

/* How an event of text/event-stream begins: a line of output, and a message. */
static const char event_begin[] = "data: ";
static const char note_begin[] = "event: note\ndata: ";

/**
 * struct serve_child - a running conversion
 * @pid: its process, which leads a process group
 * @fd: its output
 * @errors: its messages if @events, or -1
 * @client: socket of the client that reads the output
 * @events: each line becomes an event of text/event-stream
 * @part: &@fd or &@errors if an event of it has begun, or NULL
 * @status: exit status, or -1 while it runs
 */
struct serve_child {
	pid_t pid;
	int fd;
	int errors;
	int client;
	bool events;
	const int *part;
	int status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Those that end by themselves, and those that follow a trace: neither block the others. */
static struct serve_child *running[2][SERVE_CHILDREN]; /* @lock */
static bool ending;				       /* @lock */

/*
 * Make room for another conversion.  This comes before waitpid(), which frees the process id:
 * serve_child_end_all() must not kill another process that has got it.
 */
static void leave_place(const struct serve_child *c)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < SERVE_CHILDREN; i++) {
		if (running[c->events][i] == c)
			running[c->events][i] = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Run the process.  @out: descriptors for its output and its messages; -1: messages are dropped,
 * as those of a conversion without events are.  Return: 0 or negative errno.
 */
static int spawn_child(struct serve_child *c, const char *const words[SERVE_WORDS],
		       int trace, const int out[2])
{
	static const char *const environment[] = { "LC_ALL=C", "TZ=UTC0",
						   "PATH=/usr/bin:/bin", NULL };
	const char *all_words[SERVE_WORDS + 2] = { "ktape" };
	bool own = strcmp(words[0], "tar"); /* a subcommand of ktape: "ktape" goes before it */
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int err;

	for (unsigned int i = 0; i < SERVE_WORDS; i++)
		all_words[i + 1] = words[i];
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (out[1] < 0)
		posix_spawn_file_actions_addopen(&files, 2, "/dev/null",
						 O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&files, out[1], STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[0], STDOUT_FILENO);
	if (trace >= 0)
		posix_spawn_file_actions_adddup2(&files, trace, TRACE_FD);
	err = posix_spawnp(&c->pid, own ? "/proc/self/exe" : words[0], &files,
			   &attributes, (char *const *)(all_words + !own),
			   (char *const *)environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

/* Take a place among the running ones, and run.  Return: 0 or negative errno. */
static int take_place(struct serve_child *c, const char *const words[SERVE_WORDS],
		      int trace, const int out[2])
{
	int err = -EBUSY;

	/* serve_child_end_all() must see the process, or prevent it. */
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < SERVE_CHILDREN && !ending; i++) {
		if (running[c->events][i])
			continue;
		err = spawn_child(c, words, trace, out);
		if (!err)
			running[c->events][i] = c;
		break;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static int make_pipe(int *reads, int *writes)
{
	int ends[2] = { -1, -1 }, err = pipe2(ends, O_CLOEXEC) ? -errno : 0;

	*reads = ends[0];
	*writes = ends[1];
	return err;
}

/**
 * serve_child_start() - start a conversion
 * @words: the command's arguments, the first one is its name; "tar" is another command
 * @trace: descriptor of the trace, which the process has as /proc/self/fd/3; -1: none
 * @client: socket of the client that reads the output
 * @events: each line of the output becomes an event of text/event-stream, and each line
 *	of messages an event "note"
 * @child: set to the conversion; end it with serve_child_end()
 *
 * Return: 0, -EBUSY if too many run or the server ends, or negative errno.
 */
int serve_child_start(const char *const words[SERVE_WORDS], int trace,
		      int client, bool events, struct serve_child **child)
{
	struct serve_child *c = calloc(1, sizeof(*c));
	int out[2] = { -1, -1 }, err;

	if (!c)
		return -ENOMEM;
	c->client = client;
	c->events = events;
	c->status = -1;
	c->errors = -1;
	err = make_pipe(&c->fd, &out[0]);
	if (!err && events)
		err = make_pipe(&c->errors, &out[1]);
	if (!err)
		err = take_place(c, words, trace, out);
	for (size_t i = 0; i < KT_ARRAY_SIZE(out); i++) {
		if (out[i] >= 0)
			close(out[i]);
	}
	if (err) {
		serve_child_end(c);
		return err;
	}
	*child = c;
	return 0;
}

static void wait_child(struct serve_child *c)
{
	int status;

	if (c->status >= 0 || c->pid <= 0)
		return;
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}

/* Make events of lines.  @fd: &c->fd or &c->errors.  @size: room, at least 64. */
static ssize_t read_child_events(struct serve_child *c, const int *fd, char *to,
				 size_t size)
{
	const char *begin = fd == &c->errors ? note_begin : event_begin;
	/* Each byte may be a line: its begin, itself, and the end of the event. */
	const size_t most = strlen(begin) + 2;
	char part[4096];
	ssize_t n = read(*fd, part, kt_min(sizeof(part), (size - 1) / most));
	char *at = to;

	for (ssize_t i = 0; i < n; i++) {
		if (!c->part)
			at = stpcpy(at, begin);
		c->part = part[i] == '\n' ? NULL : fd;
		/* This, too, would end a line of an event. */
		*at++ = part[i] == '\r' ? ' ' : part[i];
		/* An empty line ends an event. */
		if (!c->part)
			*at++ = '\n';
	}
	return n <= 0 ? n : at - to;
}

/* Close the messages at their end.  Return the bytes that end an event of them. */
static ssize_t end_errors(struct serve_child *c, char *to)
{
	close(c->errors);
	c->errors = -1;
	if (c->part != &c->errors)
		return 0;
	c->part = NULL;
	return stpcpy(to, "\n\n") - to;
}

/*
 * The client has closed its end.  A conversion that writes nothing for long would keep
 * its place until a write fails.  Return: -1 with errno set.
 */
static ssize_t leave_client(void)
{
	errno = ECONNRESET;
	return -1;
}

/* Wait for output, or for its end.  Return: what poll(2) says of it; or -1 with errno set. */
static int wait_for_bytes(const struct serve_child *c)
{
	struct pollfd p[] = {
		{ .fd = c->fd, .events = POLLIN },
		{ .fd = c->client, .events = POLLRDHUP },
	};
	int nr;

	do {
		nr = poll(p, KT_ARRAY_SIZE(p), -1);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		return -1;
	return p[1].revents & GONE ? (int)leave_client() : p[0].revents;
}

/* Read the output as it is, unless the client goes first. */
static ssize_t read_bytes(const struct serve_child *c, char *to, size_t size)
{
	return wait_for_bytes(c) < 0 ? -1 : read(c->fd, to, size);
}

/**
 * serve_child_wait_begun() - wait until a conversion has begun its output
 * @c: the conversion, not of events
 *
 * Return: 0, also if it has succeeded without output; -EBADMSG: it has none because this is no
 * trace; -ECONNRESET: the client has gone; or another negative errno.
 */
int serve_child_wait_begun(struct serve_child *c)
{
	int said = wait_for_bytes(c);

	if (said < 0)
		return -errno;
	if (said & POLLIN)
		return 0;
	leave_place(c);
	wait_child(c);
	if (!c->status)
		return 0;
	return c->status == EXIT_FAILED ? -EBADMSG : -EIO;
}

/* Read events of output and messages, or make a comment if there is neither for long. */
static ssize_t read_stream(struct serve_child *c, char *to, size_t size)
{
	for (;;) {
		struct pollfd p[] = {
			{ .fd = c->part == &c->fd ? -1 : c->errors, .events = POLLIN },
			{ .fd = c->part == &c->errors ? -1 : c->fd, .events = POLLIN },
			{ .fd = c->client, .events = POLLRDHUP },
		};
		int nr = poll(p, KT_ARRAY_SIZE(p), BEAT_MS);
		ssize_t n;

		if (nr < 0 && errno != EINTR)
			return -1;
		if (nr > 0 && p[2].revents & GONE)
			return leave_client();
		/* Only a write shows that the client's machine is gone. */
		if (!nr && !c->part)
			return stpcpy(to, ":\n\n") - to;
		if (nr <= 0)
			continue;
		/* What explains the end of the output stands before it. */
		if (!p[0].revents)
			return read_child_events(c, &c->fd, to, size);
		n = read_child_events(c, &c->errors, to, size);
		if (!n)
			n = end_errors(c, to);
		if (n)
			return n;
	}
}

/**
 * serve_child_read() - read a part of the output
 * @c: the conversion
 * @to: where to write it
 * @size: bytes of @to, at least 64
 *
 * Return: bytes, 0 at the end of a conversion that succeeded, or negative errno.
 */
ssize_t serve_child_read(struct serve_child *c, char *to, size_t size)
{
	ssize_t n = c->events ? read_stream(c, to, size) : read_bytes(c, to, size);

	if (n)
		return n < 0 ? -errno : n;
	leave_place(c);
	wait_child(c);
	return c->status ? -EIO : 0;
}

/**
 * serve_child_end() - end a conversion
 * @c: the conversion
 */
void serve_child_end(struct serve_child *c)
{
	leave_place(c);
	if (c->pid > 0 && c->status < 0)
		kill(-c->pid, SIGKILL);
	wait_child(c);
	if (c->fd >= 0)
		close(c->fd);
	if (c->errors >= 0)
		close(c->errors);
	free(c);
}

/**
 * serve_child_end_all() - end all conversions, and start no more
 *
 * Their readers see the end of their output.
 */
void serve_child_end_all(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	for (size_t i = 0; i < 2 * SERVE_CHILDREN; i++) {
		const struct serve_child *c =
			running[i / SERVE_CHILDREN][i % SERVE_CHILDREN];

		if (c)
			kill(-c->pid, SIGKILL);
	}
	pthread_mutex_unlock(&lock);
}

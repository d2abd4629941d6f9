// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test live streams: received events are delivered although the sender
 * continues, stops within a packet, or sends damaged data. SIGALRM kills a test
 * that waits for ever.
 */
#include <signal.h>
#include <sys/wait.h>

#include "lib_trace.h"

#define PATIENCE 200 /* time limit of a test, in seconds */

/* A sender whose output is our standard input; it continues after a byte from the pipe. */
struct sender {
	pid_t pid;
	int go;
	int saved;
};

static int out, may_go_on; /* in the sender */

static void send_packet(uint64_t seq, size_t from, size_t to)
{
	const struct trace_packet p = { .seq = seq, .ts = 1000 + seq * 100 };
	unsigned char data[TRACE_PACKET];
	size_t len = trace_packet(data, &p);

	if (to > len)
		to = len;
	if (write(out, data + from, to - from) < 0)
		_exit(1);
}

/*
 * Offset of the second size that is damaged: that of the packet again, or that
 * of its content.
 */
static size_t bad_size;

static void send_bad_size(uint64_t seq)
{
	const struct trace_packet p = { .seq = seq, .ts = 1000 + seq * 100 };
	unsigned char data[TRACE_PACKET];
	size_t len = trace_packet(data, &p);

	data[AT_PACKET_BITS + 3] ^= 0x10;
	data[bad_size + 3] |= 0x10;
	if (write(out, data, len) < 0)
		_exit(1);
}

static void wait_for_go(void)
{
	char byte;

	if (read(may_go_on, &byte, 1) != 1)
		_exit(1);
}

static void start_sender(struct sender *s, void (*send)(void))
{
	int data[2], go[2];

	if (pipe(data) || pipe(go))
		abort();
	alarm(PATIENCE);
	s->pid = fork();
	if (!s->pid) {
		alarm(PATIENCE);
		close(data[0]);
		close(go[1]);
		out = data[1];
		may_go_on = go[0];
		trace_begin_pipe(out);
		send();
		_exit(0);
	}
	close(data[1]);
	close(go[0]);
	s->go = go[1];
	s->saved = dup(STDIN_FILENO);
	dup2(data[0], STDIN_FILENO);
	close(data[0]);
}

static void let_sender_go(const struct sender *s)
{
	if (write(s->go, "", 1) != 1)
		abort();
}

static void end_sender(const struct sender *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->go);
	dup2(s->saved, STDIN_FILENO);
	close(s->saved);
	alarm(0);
}

/* Return the number of events received, up to @wanted. */
static unsigned int live_events(struct ktape_trace *t, unsigned int wanted)
{
	const struct ktape_event *e;
	unsigned int n = 0;

	while (n < wanted && ktape_trace_next(t, &e) > 0)
		n++;
	return n;
}

static void send_on_and_on(void)
{
	uint64_t seq = 1;

	for (;; seq++) {
		send_packet(seq, 0, TRACE_PACKET);
		usleep(5000);
	}
}

static void test_continuous(void)
{
	struct ktape_trace *t;
	unsigned int n = 0;
	struct sender s;
	int err;

	start_sender(&s, send_on_and_on);
	err = ktape_trace_open("-", NULL, &t, NULL);
	if (!err) {
		n = live_events(t, 100);
		ktape_trace_close(t);
	}
	end_sender(&s);
	check(!err && n == 100, "open: %d, %u events", err, n);
}

/*
 * Send three packets and part of the fourth; the rest follows when the three
 * were read.
 */
static size_t piece;

static void send_in_pieces(void)
{
	uint64_t seq;

	for (seq = 1; seq <= 3; seq++)
		send_packet(seq, 0, TRACE_PACKET);
	send_packet(4, 0, piece);
	wait_for_go();
	send_packet(4, piece, TRACE_PACKET);
}

static void test_stall(void)
{
	static const size_t pieces[] = { 0, 1, 100, KTAPE_BLOCK_HEADER,
					 KTAPE_BLOCK_HEADER + 28 };
	unsigned int before, after;
	struct ktape_trace *t;
	struct sender s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		piece = pieces[i];
		start_sender(&s, send_in_pieces);
		check(!ktape_trace_open("-", NULL, &t, NULL), "open");
		before = live_events(t, 3 * TRACE_RECORDS);
		let_sender_go(&s);
		after = live_events(t, TRACE_RECORDS + 1);
		ktape_trace_close(t);
		end_sender(&s);
		check(before == 3 * TRACE_RECORDS && after == TRACE_RECORDS,
		      "piece of %zu: %u, then %u events", piece, before, after);
	}
}

static void send_damage(void)
{
	send_packet(1, 0, TRACE_PACKET);
	send_bad_size(2);
	send_packet(3, 0, TRACE_PACKET);
	wait_for_go();
	send_packet(4, 0, TRACE_PACKET);
}

static void test_live_damage(void)
{
	static const size_t members[] = { AT_PACKET_BITS, AT_CONTENT_BITS };
	struct trace_result r;
	const struct ktape_trace_options how = {
		.notice = trace_notice,
		.arg = &r,
	};
	unsigned int before, after;
	struct ktape_trace *t;
	struct sender s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		bad_size = members[i];
		memset(&r, 0, sizeof(r));
		start_sender(&s, send_damage);
		check(!ktape_trace_open("-", &how, &t, NULL), "open");
		before = live_events(t, 2 * TRACE_RECORDS);
		let_sender_go(&s);
		after = live_events(t, TRACE_RECORDS + 1);
		ktape_trace_close(t);
		end_sender(&s);
		check(before == 2 * TRACE_RECORDS && after == TRACE_RECORDS,
		      "%zu: %u, then %u events", i, before, after);
		check(r.corrupt == 1 && !r.truncated && r.packets == 1,
		      "%zu: corrupt %u, truncated %u, %llu packets missing", i,
		      r.corrupt, r.truncated, (unsigned long long)r.packets);
	}
}

/* Received events are delivered although the stream does not end. */
static void test_live_wake(void)
{
	struct ktape_trace_options how = { .window = 0 };
	struct ktape_trace *t;
	struct sender s;
	unsigned int n;
	int wake[2];

	check(!pipe(wake) && write(wake[1], "", 1) == 1, "pipe");
	how.wake = wake[0];
	piece = 200;
	start_sender(&s, send_in_pieces);
	check(!ktape_trace_open("-", &how, &t, NULL), "open");
	n = live_events(t, 4 * TRACE_RECORDS);
	ktape_trace_close(t);
	end_sender(&s);
	close(wake[0]);
	close(wake[1]);
	check(n == 3 * TRACE_RECORDS, "%u events", n);
	/* A stream without pauses does not delay them. */
	check(!pipe(wake) && write(wake[1], "", 1) == 1, "pipe");
	how.wake = wake[0];
	start_sender(&s, send_on_and_on);
	check(!ktape_trace_open("-", &how, &t, NULL), "open");
	n = live_events(t, UINT32_MAX);
	ktape_trace_close(t);
	end_sender(&s);
	close(wake[0]);
	close(wake[1]);
	check(n, "no events");
}

/* Write a packet of records at the times @ts, which ends at @end_ts, to a pipe. */
static void put_timed_packet(int to, unsigned int cpu, const uint64_t *ts,
			     unsigned int nr, uint64_t end_ts)
{
	struct ktape_block head = { .cpu = cpu, .ts_begin = *ts, .tid = 1 };
	unsigned char data[TRACE_PACKET] = { 0 };
	struct ktape_builder b;
	size_t len;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (uint32_t i = 0; i < nr; i++) {
		struct ktape_record record = {
			.ts = ts[i],
			.args = &i,
			.nargs = 1,
			.opcode = TRACE_OPCODE,
		};

		if (ktape_build_add(&b, &record))
			abort();
	}
	len = ktape_build_end(&b, end_ts, 0);
	if (write(to, data, len) != (ssize_t)len)
		abort();
}

/* The input of the trace: a folder can be opened and polled, but read() fails. */
static struct {
	int fd;
	int pipe;
	bool fails;
} input;

static void fail_once(void *arg)
{
	int folder = open("/", O_RDONLY);

	(void)arg;
	if (input.fails && dup2(folder, input.fd) < 0)
		abort();
	close(folder);
	input.fails = false;
}

/*
 * While one event waits for its time, a stream with earlier events comes, and
 * then read() fails once. The pipe ends before it is read again.
 */
static unsigned int read_past_failure(struct ktape_trace *t, int to, uint64_t *args)
{
	static const uint64_t before[] = { 1500, 1600 };
	const struct ktape_event *e;
	unsigned int n = 0, failed = 0;
	int ret;

	while ((ret = ktape_trace_next(t, &e)) && failed < 2) {
		if (ret < 0) {
			failed++;
			dup2(input.pipe, input.fd);
			close(to);
			continue;
		}
		n++;
		*args += ktape_event_arg(e, 0);
		if (e->ts != 950)
			continue;
		put_timed_packet(to, 2, before, 2, 5000);
		input.fails = true;
	}
	return n;
}

static void test_failure(void)
{
	static const uint64_t first[60], second[] = { 950, 2000 };
	const struct ktape_trace_options how = {
		.idle = fail_once,
		.window = 4096,
	};
	int saved = dup(STDIN_FILENO), fds[2], err;
	struct ktape_trace *t;
	unsigned int n = 0;
	uint64_t args = 0;

	if (pipe(fds) || dup2(fds[0], STDIN_FILENO) < 0)
		abort();
	alarm(PATIENCE);
	trace_begin_pipe(fds[1]);
	put_timed_packet(fds[1], 1, first, ARRAY_SIZE(first), 1000);
	put_timed_packet(fds[1], 0, second, ARRAY_SIZE(second), 5000);
	input.pipe = fds[0];
	/* The descriptor that opening will get: the lowest that is free. */
	input.fd = fcntl(STDIN_FILENO, F_DUPFD, 3);
	close(input.fd);
	err = ktape_trace_open("-", &how, &t, NULL);
	if (!err) {
		n = read_past_failure(t, fds[1], &args);
		ktape_trace_close(t);
	}
	close(fds[0]);
	dup2(saved, STDIN_FILENO);
	close(saved);
	alarm(0);
	/* All 60, 2 and 2 records; each packet's arguments count from 0. */
	check(!err && n == 64 && args == 59 * 60 / 2 + 2, "open: %d, %u events",
	      err, n);
}

static const struct tap_test tests[] = {
	{ "a stream without a pause is delivered", test_continuous },
	{ "a pause in the middle of a packet", test_stall },
	{ "damage does not delay other events", test_live_damage },
	{ "the wake descriptor ends the stream", test_live_wake },
	{ "a failed read loses no received event", test_failure },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape send: a trace over a slow line that loses bytes, in frames of RKH or of
 * Tonbandgeraet: a byte to find the next one, a sequence number, a checksum.
 *
 * What comes faster than the line is shed, the least important classes first, and
 * told at the other end as lost.
 *
 * A signal, or a line that is hung up, wakes us while nothing comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "util/bits.h"

#include "input.h"
#include "send_queue.h"
#include "serial.h"
#include "signals.h"

#define BITS_PER_BYTE	10	/* with start and stop */
#define CPUS_MAX	8192U
#define PRIORITIES	3	/* of classes that may be shed */
/*
 * Bytes of so long may wait for the line.  What is live comes in heaps of half a
 * second: a quarter has to hold one, and some more, if the line is fast enough.
 */
#define BACKLOG_MS	3000
#define GRACE_MS	2000	/* after a signal, for what has come */
#define LEAVE_MS	8000	/* after a signal, for all that waits */
#define NS_PER_MS	1000000ULL
#define NS_PER_S	1000000000ULL

struct send_options {
	uint64_t baud;
	const char *frame;
	const char *events;
	bool shed;
	bool verbose;
	struct input_options in;
};

#define OPT(member) offsetof(struct send_options, member)

static const struct kt_option options[] = {
	{ "frame", 0, KT_OPT_TEXT, OPT(frame), SERIAL_FRAMES,
	  "form of the frames (default rkh)" },
	{ "baud", 'b', KT_OPT_NUMBER, OPT(baud), "N",
	  "speed of the line (default: unchanged, no shedding)" },
	{ "event", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "only these events, classes, globs" },
	{ "shed", 0, KT_OPT_FLAG, OPT(shed), NULL,
	  "also shed from a file, as if its events came now" },
	{ "from", 'f', KT_OPT_TEXT, OPT(in.from), "FORMAT[:KEY=VALUE,...]",
	  "format of the input (default: detected)" },
	INPUT_OPTIONS(OPT(in.more)),
	{ "verbose", 'v', KT_OPT_FLAG, OPT(verbose), NULL,
	  "list everything that frames cannot hold" },
	{ .name = NULL },
};

/* Events of a CPU that were shed since its last one that was sent. */
struct shed {
	uint64_t count;
	uint64_t from;
};

struct send {
	struct send_options o;
	uint64_t mask[KTAPE_MASK_WORDS];
	struct ktape_trace *trace;
	struct ktape_sink *sink;
	struct shed shed[CPUS_MAX];
	const struct serial_frame *frame;
	const char *path;
	const char *line;
	struct send_queue queue;
	int signal;
	int wake;
	uint64_t clear;		/* ns: when the line has sent all there is */
	uint64_t made;		/* bytes that were counted in it */
	uint64_t stopped;	/* ns: of a signal, or 0 */
	uint64_t last[CPUS_MAX];
	uint64_t end;		/* the last event, sent or not */
	uint64_t sent;
	uint64_t dropped;
	uint64_t lost;		/* before they were read */
	uint64_t late;		/* behind what was sent already */
	int error;		/* of the line */
	bool damaged;
	bool live;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void take_notice(void *arg, const struct ktape_notice *n)
{
	struct send *s = arg;

	if (n->kind == KTAPE_NOTICE_LOST)
		s->lost += n->count;
	if (n->kind == KTAPE_NOTICE_LATE)
		s->late += n->count;
	if (n->kind == KTAPE_NOTICE_LOST && s->sink && !s->error)
		s->error = ktape_sink_notice(s->sink, n);
	if (n->kind != KTAPE_NOTICE_LOST && n->kind != KTAPE_NOTICE_LATE)
		tell_damage(s->path, n);
	s->damaged |= is_damage(n);
}

static void flush_sink(void *arg)
{
	struct send *s = arg;

	if (s->sink && !s->error)
		s->error = ktape_sink_flush(s->sink);
}

/* Bytes that the line takes in BACKLOG_MS. */
static uint64_t backlog_bytes(const struct send *s)
{
	return s->o.baud * BACKLOG_MS / (1000 * BITS_PER_BYTE);
}

/* Of a line that takes less than it should. */
static uint64_t waiting_parts(const struct send *s)
{
	uint64_t most = kt_max(kt_min(backlog_bytes(s), s->queue.size), 1);

	return send_queue_waits(&s->queue) * (PRIORITIES + 1) / most;
}

/*
 * What waits for the line, in parts of PRIORITIES + 1 of what may.  A line that
 * was idle is not owed anything.
 */
static unsigned int fullness(struct send *s)
{
	uint64_t made = ktape_sink_bytes(s->sink), now = now_ns(), parts;

	if (!s->queue.runs)
		return 0;
	s->clear = kt_max(s->clear, now) +
		   (made - s->made) * BITS_PER_BYTE * NS_PER_S / s->o.baud;
	s->made = made;
	parts = (s->clear - now) * (PRIORITIES + 1) / (BACKLOG_MS * NS_PER_MS);
	return (unsigned int)kt_min(kt_max(parts, waiting_parts(s)),
				    PRIORITIES);
}

/* After a signal there is some time for what has come, not for all of it. */
static bool is_over(struct send *s)
{
	if (!signals_came())
		return false;
	if (!s->stopped)
		s->stopped = now_ns();
	return now_ns() - s->stopped > GRACE_MS * NS_PER_MS;
}

static bool is_shed(struct send *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	const struct ktape_class_desc *c =
		d ? ktape_class_desc(d->event_class) : NULL;
	struct shed *shed = &s->shed[e->cpu];

	if (e->opcode == KTAPE_EV_REGISTRY)
		return false;
	/* The lowest goes when a quarter of the room is taken, and so on. */
	if (!is_over(s) && (!s->o.shed || !c || c->priority >= fullness(s)))
		return false;
	if (!shed->count++)
		shed->from = s->last[e->cpu];
	s->dropped++;
	return true;
}

/* What was shed of a CPU is told before its next event, or at the end. */
static int tell_shed(struct send *s, uint32_t cpu, uint64_t ts)
{
	struct shed *shed = &s->shed[cpu];
	const struct ktape_notice lost = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.cpu = cpu,
		.count = shed->count,
		.from = shed->from,
		.to = ts,
	};

	if (!shed->count)
		return 0;
	shed->count = 0;
	return ktape_sink_notice(s->sink, &lost);
}

static int send_event(struct send *s, const struct ktape_event *e)
{
	uint64_t before;
	int err;

	/* What is only there for the native form's clock is no event. */
	if (e->opcode == KTAPE_TIME_EXTEND)
		return 0;
	s->end = kt_max(s->end, e->ts);
	if (e->cpu >= CPUS_MAX || !kt_mask_has(s->mask, e->opcode) ||
	    is_shed(s, e))
		return 0;
	err = tell_shed(s, e->cpu, e->ts);
	before = ktape_sink_bytes(s->sink);
	if (!err)
		err = ktape_sink_event(s->sink, e);
	if (!err)
		err = ktape_sink_flush(s->sink);
	s->last[e->cpu] = e->ts;
	/* Names do not count, nor does what the format has no place for. */
	s->sent += !err && e->opcode != KTAPE_EV_REGISTRY &&
		   ktape_sink_bytes(s->sink) > before;
	return err;
}

/* A line that is hung up wakes us, too; what is no line cannot. */
static void watch_line(const struct send *s, int fd)
{
	struct epoll_event e = { .events = 0 };

	epoll_ctl(s->wake, EPOLL_CTL_ADD, fd, &e);
}

/* Only what is shed needs a queue.  Return: what is to be written to. */
static int begin_queue(struct send *s, int line)
{
	int err;

	if (!s->o.baud || !s->o.shed)
		return line;
	s->queue.line = line;
	s->queue.signal = s->signal;
	s->queue.leave_ms = LEAVE_MS;
	err = send_queue_begin(&s->queue, backlog_bytes(s));
	return err ? err : s->queue.ends[1];
}

static int open_line(struct send *s)
{
	struct ktape_sink_options how = {
		.format = s->frame->format,
		.options = s->frame->options,
	};
	char path[32];
	int fd = serial_open(s->line, O_WRONLY | O_CREAT, s->o.baud), err;

	if (fd == -EINVAL)
		return misuse(&command_send,
			      "--baud %llu: not a speed of serial lines",
			      (unsigned long long)s->o.baud);
	if (fd < 0)
		return fail("%s: %s", s->line, strerror(-fd));
	watch_line(s, fd);
	fd = begin_queue(s, fd);
	if (fd < 0)
		return fail("%s", strerror(-fd));
	/* It stays open, so that its settings do. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	how.path = path;
	how.info = ktape_trace_info(s->trace);
	how.registry = ktape_trace_registry(s->trace);
	err = ktape_sink_open(&how, &s->sink, NULL);
	return err ? fail("%s: %s", s->line, strerror(-err)) : 0;
}

/* Return: 0, or negative errno of the input; that of the line is in @s->error. */
static int send_all(struct send *s)
{
	const struct ktape_event *e;
	int ret = 0, err;

	/* An input that is waited for ends, and what has come of it is sent. */
	while (!(signals_came() && !s->live) && !s->error &&
	       (ret = ktape_trace_next(s->trace, &e)) > 0)
		s->error = send_event(s, e);
	for (uint32_t cpu = 0; cpu < CPUS_MAX && !s->error; cpu++)
		s->error = tell_shed(s, cpu, s->end);
	/* What was sent is whole, however it ended. */
	err = ktape_sink_finish(s->sink);
	s->error = s->error ? s->error : err;
	/* Of a line behind a queue, this is the cause. */
	err = send_queue_end(&s->queue);
	s->error = err ? err : s->error;
	return ret < 0 ? ret : 0;
}

static int tell_results(const struct send *s, int ret)
{
	tell_missed("frames", s->sink, s->o.verbose);
	if (s->lost)
		note("%llu events were lost before they were read",
		     (unsigned long long)s->lost);
	if (s->late)
		note("%llu events came too late to be sorted",
		     (unsigned long long)s->late);
	if (s->queue.left)
		note("%llu bytes were not sent",
		     (unsigned long long)s->queue.left);
	if (signals_came() && !s->error)
		note("stopped by a signal: the stream is complete up to that point");
	if (ret)
		ret = fail("%s", read_error(ret));
	if (s->error)
		ret = fail("%s: %s", s->line, strerror(-s->error));
	note("%llu events sent, %llu shed", (unsigned long long)s->sent,
	     (unsigned long long)s->dropped);
	return ret ? ret : s->damaged ? EXIT_FAILED : EXIT_OK;
}

/* What ends a wait: a signal, and later the line. */
static int prepare_waiting(struct send *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	s->signal = signals_pipe();
	s->wake = epoll_create1(EPOLL_CLOEXEC);
	if (s->signal < 0 || s->wake < 0 ||
	    epoll_ctl(s->wake, EPOLL_CTL_ADD, s->signal, &e))
		return fail("%s", strerror(errno));
	signals_catch();
	/* Of a line that is a pipe. */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int send_trace(struct send *s, const char *path)
{
	struct ktape_trace_options how = {
		.notice = take_notice,
		.idle = flush_sink,
		.arg = s,
		.flags = KTAPE_TRACE_SORTED,
	};
	int ret = prepare_waiting(s);

	how.wake = s->wake;
	s->path = path;
	if (!ret)
		ret = input_open(&command_send, &s->o.in, path, &how,
				 &s->trace);
	if (ret)
		return ret;
	s->live = ktape_trace_is_live(s->trace);
	s->o.shed |= s->live;
	ret = open_line(s);
	return ret ? ret : tell_results(s, send_all(s));
}

static int cmd_send(int argc, char **argv)
{
	struct send *s = calloc(1, sizeof(*s));
	const char *bad = NULL;
	int first, ret;

	if (!s)
		return fail("%s", strerror(ENOMEM));
	ret = kt_options(&command_send, argc, argv, &s->o, &first);
	if (ret >= 0) {
		free(s);
		return ret;
	}
	memset(s->mask, 0xff, sizeof(s->mask));
	bad = s->o.events;
	s->frame = serial_frame(s->o.frame);
	s->line = argc - first == 2 ? argv[first + 1] : NULL;
	if (!s->line)
		ret = misuse(&command_send,
			     "give exactly one trace and one LINE");
	else if (!s->frame)
		ret = misuse(&command_send,
			     "--frame has to be one of " SERIAL_FRAMES);
	else if (bad && ktape_mask_parse_shown(bad, s->mask, &bad))
		ret = unknown_event(&command_send, bad);
	else
		ret = input_check(&s->o.in, s->line, argv + first, 1);
	if (!ret)
		ret = send_trace(s, argv[first]);
	ktape_sink_close(s->sink);
	send_queue_end(&s->queue);
	ktape_trace_close(s->trace);
	free(s);
	return ret;
}

const struct kt_command command_send = {
	.name = "send",
	.operands = "DIR|FILE|- LINE",
	.help = "send a trace over a serial line",
	.more = "exit status: 0 sent, 1 failed or the input is damaged, 2 usage error\n",
	.options = options,
	.run = cmd_send,
};

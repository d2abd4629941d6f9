// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape send: send a trace over a slow line that may lose bytes, in frames of RKH or
 * Tonbandgeraet, two other tracers.  A frame has a delimiter to resynchronise, a sequence number
 * and a checksum.
 *
 * If events come faster than the line takes them, events of the least important classes
 * are shed.  The receiver gets shed events as lost events.  Bytes that wait for the line
 * are in a queue (queue.c), so that ktape goes on reading.
 *
 * While there is no input, a signal or a hang-up of the line wakes the reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"

#include "tool/input/input.h"
#include "tool/serial/queue.h"
#include "tool/serial/serial.h"
#include "tool/shared/clock.h"
#include "tool/shared/event_list.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"

#define BITS_PER_BYTE 10    /* with start and stop bit */
#define CPUS_MAX      8192U /* as many as Linux can have */
#define PRIORITIES    3	    /* priorities of classes that may be shed */
/*
 * The queue holds what the line sends in this time.  Live input arrives in batches of half
 * a second, and a quarter of the queue has to hold a batch, because shedding begins there.
 */
#define BACKLOG_MS 3000
#define GRACE_MS   2000 /* after a signal, send input for this long */
#define LEAVE_MS   8000 /* after a signal, drain the queue for this long */

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

/* Events of a CPU that were shed since the last one that was sent.  @from: its time, in ticks. */
struct shed {
	uint64_t count;
	uint64_t from;
};

/**
 * struct send - a transmission
 * @o: options
 * @mask: events to send
 * @trace: input
 * @sink: encoder that writes to the line or the queue
 * @shed: by CPU, events that were shed
 * @frame: frame format
 * @path: operand of the trace
 * @line: operand of the line
 * @queue: bytes that wait for the line
 * @signal: readable once a signal came
 * @wake: epoll of @signal and the line, wakes the reader of the input
 * @clear: when the line will have sent all bytes so far, CLOCK_MONOTONIC in ns
 * @made: bytes of the sink that are counted in @clear
 * @stopped: when a signal came, in ns; 0: none
 * @last: by CPU, time of the last event that was sent, in ticks
 * @end: time of the last event, sent or shed, in ticks
 * @sent: events sent
 * @dropped: events shed
 * @lost: events lost before they were read
 * @late: events that came too late to be sorted
 * @error: negative errno of the line; 0: none
 * @damaged: the input is damaged
 * @live: the input is live
 */
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
	uint64_t clear;
	uint64_t made;
	uint64_t stopped;
	uint64_t last[CPUS_MAX];
	uint64_t end;
	uint64_t sent;
	uint64_t dropped;
	uint64_t lost;
	uint64_t late;
	int error;
	bool damaged;
	bool live;
};

static void take_send_notice(void *arg, const struct ktape_notice *n)
{
	struct send *s = arg;

	if (n->kind == KTAPE_NOTICE_LOST)
		s->lost += n->count;
	if (n->kind == KTAPE_NOTICE_LATE)
		s->late += n->count;
	if (n->kind == KTAPE_NOTICE_LOST && s->sink && !s->error)
		s->error = ktape_sink_notice(s->sink, n);
	if (n->kind != KTAPE_NOTICE_LOST && n->kind != KTAPE_NOTICE_LATE)
		report_input_damage(s->path, n);
	s->damaged |= is_damage(n);
}

static void flush_sink(void *arg)
{
	struct send *s = arg;

	if (s->sink && !s->error)
		s->error = ktape_sink_flush(s->sink);
}

/* Return the bytes that the line sends in BACKLOG_MS. */
static uint64_t backlog_bytes(const struct send *s)
{
	return s->o.baud * BACKLOG_MS / (1000 * BITS_PER_BYTE);
}

/* Return how full the queue really is, because a line may be slower than its speed. */
static uint64_t waiting_in_parts(const struct send *s)
{
	uint64_t most = kt_max(kt_min(backlog_bytes(s), s->queue.size), 1);

	return send_queue_waits(&s->queue) * (PRIORITIES + 1) / most;
}

/*
 * Return how full the queue is: 0 to PRIORITIES, in parts of its size.  Take the larger
 * of what waits and an estimate from the line's speed.  The line cannot make up for time
 * in which it was idle.
 */
static unsigned int queue_fullness(struct send *s)
{
	uint64_t made = ktape_sink_bytes(s->sink), now = monotonic_ns(), parts;

	if (!s->queue.runs)
		return 0;
	s->clear = kt_max(s->clear, now) +
		   (made - s->made) * BITS_PER_BYTE * NS_PER_S / s->o.baud;
	s->made = made;
	parts = (s->clear - now) * (PRIORITIES + 1) / (BACKLOG_MS * NS_PER_MS);
	return (unsigned int)kt_min(kt_max(parts, waiting_in_parts(s)), PRIORITIES);
}

/* Return true if a signal came GRACE_MS ago: the rest of the input is shed. */
static bool grace_is_over(struct send *s)
{
	if (!signals_came())
		return false;
	if (!s->stopped)
		s->stopped = monotonic_ns();
	return monotonic_ns() - s->stopped > GRACE_MS * NS_PER_MS;
}

/* Decide whether an event is shed, and count it if it is. */
static bool is_shed(struct send *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	const struct ktape_class_desc *c = d ? ktape_class_desc(d->event_class) :
					       NULL;
	struct shed *shed = &s->shed[e->cpu];

	if (e->opcode == KTAPE_EV_REGISTRY)
		return false;
	/* Shed priority 0 from a quarter of the queue on, 1 from a half, 2 from 3/4. */
	if (!grace_is_over(s) &&
	    (!s->o.shed || !c || c->priority >= queue_fullness(s)))
		return false;
	if (!shed->count++)
		shed->from = s->last[e->cpu];
	s->dropped++;
	return true;
}

/* Send the shed events of a CPU as a gap, before its next event or at the end. */
static int report_shed(struct send *s, uint32_t cpu, uint64_t ts)
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

	/* Time extensions belong to the native format only. */
	if (e->opcode == KTAPE_TIME_EXTEND)
		return 0;
	s->end = kt_max(s->end, e->ts);
	if (e->cpu >= CPUS_MAX || !kt_mask_has(s->mask, e->opcode) || is_shed(s, e))
		return 0;
	err = report_shed(s, e->cpu, e->ts);
	before = ktape_sink_bytes(s->sink);
	if (!err)
		err = ktape_sink_event(s->sink, e);
	if (!err)
		err = ktape_sink_flush(s->sink);
	s->last[e->cpu] = e->ts;
	/* Do not count names, nor events that the frames cannot hold. */
	s->sent += !err && e->opcode != KTAPE_EV_REGISTRY &&
		   ktape_sink_bytes(s->sink) > before;
	return err;
}

/*
 * Wake the reader when the line hangs up or fails, which epoll reports without being asked.
 * Regular files do not, and cannot be watched.
 */
static void watch_line(const struct send *s, int fd)
{
	struct epoll_event e = { .events = 0 };

	epoll_ctl(s->wake, EPOLL_CTL_ADD, fd, &e);
}

/*
 * Put a queue before the line if events may be shed.
 * Return: descriptor to write to, or negative errno.
 */
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

/* Open the line, with a queue if needed, and the encoder.  Return: 0 or the exit code. */
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
		return fail("%s: cannot set up the queue: %s", s->line,
			    strerror(-fd));
	/* Keep the line open: closing it would reset its settings. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	how.path = path;
	how.info = ktape_trace_info(s->trace);
	how.registry = ktape_trace_registry(s->trace);
	err = ktape_sink_open(&how, &s->sink, NULL);
	return err ? fail("%s: %s", s->line, strerror(-err)) : 0;
}

/* Send all events.  Return: 0 or negative errno of the input; the line's: s->error. */
static int send_all(struct send *s)
{
	const struct ktape_event *e;
	int ret = 0, err;

	/* After a signal, a live input returns what has arrived, then ends by itself. */
	while (!(signals_came() && !s->live) && !s->error &&
	       (ret = ktape_trace_next(s->trace, &e)) > 0)
		s->error = send_event(s, e);
	for (uint32_t cpu = 0; cpu < CPUS_MAX && !s->error; cpu++)
		s->error = report_shed(s, cpu, s->end);
	/* Finish the stream in any case, so that what was sent is complete. */
	err = ktape_sink_finish(s->sink);
	s->error = s->error ? s->error : err;
	/* The queue returns the error of the line; the sink only got a broken pipe. */
	err = send_queue_end(&s->queue);
	s->error = err ? err : s->error;
	return ret < 0 ? ret : 0;
}

static int report_sent(const struct send *s, int ret)
{
	report_not_held("frames", s->sink, s->o.verbose);
	if (s->lost)
		note("%llu events were lost before they were read",
		     (unsigned long long)s->lost);
	if (s->late)
		note("%llu events came too late to be sorted",
		     (unsigned long long)s->late);
	if (s->queue.left)
		note("%llu bytes were not sent", (unsigned long long)s->queue.left);
	if (signals_came() && !s->error)
		note("stopped by a signal: the stream is complete up to that point");
	if (ret)
		ret = fail("cannot read the trace: %s", read_error(ret));
	if (s->error)
		ret = fail("%s: %s", s->line, strerror(-s->error));
	note("%llu events sent, %llu shed", (unsigned long long)s->sent,
	     (unsigned long long)s->dropped);
	return ret ? ret : s->damaged ? EXIT_FAILED : EXIT_OK;
}

/* Set up what wakes the reader of the input: signals now, the line later. */
static int prepare_waiting(struct send *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	s->signal = signals_pipe();
	s->wake = epoll_create1(EPOLL_CLOEXEC);
	if (s->signal < 0 || s->wake < 0 ||
	    epoll_ctl(s->wake, EPOLL_CTL_ADD, s->signal, &e))
		return fail("cannot wait for signals: %s", strerror(errno));
	signals_catch();
	/* If the line is a pipe, write() returns EPIPE instead. */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int send_trace(struct send *s, const char *path)
{
	struct ktape_trace_options how = {
		.notice = take_send_notice,
		.idle = flush_sink,
		.arg = s,
		.flags = KTAPE_TRACE_SORTED,
	};
	int ret = prepare_waiting(s);

	how.wake = s->wake;
	s->path = path;
	if (!ret)
		ret = input_open(&command_send, &s->o.in, path, &how, &s->trace);
	if (ret)
		return ret;
	s->live = ktape_trace_is_live(s->trace);
	s->o.shed |= s->live;
	ret = open_line(s);
	return ret ? ret : report_sent(s, send_all(s));
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
		ret = misuse(&command_send, "give exactly one trace and one LINE");
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
	.run = KT_RUN(cmd_send),
};

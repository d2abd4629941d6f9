// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape send: a trace over a slow line that loses bytes, in frames of RKH: a flag
 * to find the next one, a sequence number, a checksum.
 *
 * What comes faster than the line is shed, the least important classes first, and
 * told at the other end as lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/bits.h"

#include "input.h"
#include "serial.h"

#define BITS_PER_BYTE	10	/* with start and stop */
#define CPUS_MAX	8192U
#define PRIORITIES	3	/* of classes that may be shed */
#define BACKLOG_MS	500	/* that may wait for the line */
#define NS_PER_S	1000000000ULL

struct send_options {
	uint64_t baud;
	const char *frame;
	const char *events;
	bool shed;
	struct input_options in;
};

#define OPT(member) offsetof(struct send_options, member)

static const struct kt_option options[] = {
	{ "frame", 0, KT_OPT_TEXT, OPT(frame), "rkh", "form of the frames" },
	{ "baud", 'b', KT_OPT_NUMBER, OPT(baud), "N",
	  "speed of the line (default: as it is, nothing is shed)" },
	{ "event", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "only these events, classes, globs" },
	{ "shed", 0, KT_OPT_FLAG, OPT(shed), NULL,
	  "shed from a file, too, as if it came now" },
	{ "from", 'f', KT_OPT_TEXT, OPT(in.from), "FORMAT[:KEY=VALUE,...]",
	  "format of the input (default: what it looks like)" },
	INPUT_OPTIONS(OPT(in.more)),
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
	uint64_t begun;		/* ns */
	uint64_t last[CPUS_MAX];
	uint64_t end;		/* the last event, sent or not */
	uint64_t sent;
	uint64_t dropped;
	int error;
	bool damaged;
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

	if (n->kind == KTAPE_NOTICE_LOST && s->sink && !s->error)
		s->error = ktape_sink_notice(s->sink, n);
	if (n->kind != KTAPE_NOTICE_LOST && n->kind != KTAPE_NOTICE_LATE)
		tell_damage(n);
	s->damaged |= n->kind == KTAPE_NOTICE_CORRUPT;
}

static void flush(void *arg)
{
	struct send *s = arg;

	if (s->sink && !s->error)
		s->error = ktape_sink_flush(s->sink);
}

/* Bytes that wait for the line, in parts of PRIORITIES + 1 of what may. */
static unsigned int fullness(const struct send *s)
{
	uint64_t rate = s->o.baud / BITS_PER_BYTE;
	uint64_t gone = (uint64_t)((unsigned __int128)(now_ns() - s->begun) *
				   rate / NS_PER_S);
	uint64_t made = ktape_sink_bytes(s->sink);
	uint64_t room = kt_max(rate * BACKLOG_MS / 1000, 1);

	if (!s->o.baud || made <= gone)
		return 0;
	return (unsigned int)kt_min((made - gone) * (PRIORITIES + 1) / room,
				    PRIORITIES);
}

static bool is_shed(struct send *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	const struct ktape_class_desc *c =
		d ? ktape_class_desc(d->event_class) : NULL;
	struct shed *shed = &s->shed[e->cpu];

	/* The lowest goes when a quarter of the room is taken, and so on. */
	if (!s->o.shed || e->opcode == KTAPE_EV_REGISTRY || !c ||
	    c->priority >= fullness(s))
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
	int err;

	s->end = kt_max(s->end, e->ts);
	if (e->cpu >= CPUS_MAX || !kt_mask_has(s->mask, e->opcode) ||
	    is_shed(s, e))
		return 0;
	err = tell_shed(s, e->cpu, e->ts);
	if (!err)
		err = ktape_sink_event(s->sink, e);
	if (!err)
		err = ktape_sink_flush(s->sink);
	s->last[e->cpu] = e->ts;
	s->sent++;
	return err;
}

static int open_line(struct send *s, const char *line)
{
	struct ktape_sink_options how = { .format = SERIAL_FRAME };
	char path[32];
	int fd = serial_open(line, O_WRONLY | O_CREAT, s->o.baud), err;

	if (fd == -EINVAL)
		return misuse(&command_send, "no line has %llu baud",
			      (unsigned long long)s->o.baud);
	if (fd < 0)
		return fail("%s: %s", line, strerror(-fd));
	/* It stays open, so that its settings do. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	how.path = path;
	how.info = ktape_trace_info(s->trace);
	how.registry = ktape_trace_registry(s->trace);
	err = ktape_sink_open(&how, &s->sink, NULL);
	return err ? fail("%s: %s", line, strerror(-err)) : 0;
}

static int send_all(struct send *s)
{
	const struct ktape_event *e;
	int ret = 0;

	s->begun = now_ns();
	s->o.shed |= ktape_trace_is_live(s->trace);
	while (!s->error && (ret = ktape_trace_next(s->trace, &e)) > 0) {
		ret = send_event(s, e);
		if (ret)
			break;
	}
	if (s->error)
		ret = s->error;
	for (uint32_t cpu = 0; cpu < CPUS_MAX && !ret; cpu++)
		ret = tell_shed(s, cpu, s->end);
	return ret ? ret : ktape_sink_finish(s->sink);
}

static int send(struct send *s, const char *path, const char *line)
{
	struct ktape_trace_options how = {
		.notice = take_notice,
		.idle = flush,
		.arg = s,
		.flags = KTAPE_TRACE_SORTED,
	};
	int ret = input_open(&command_send, &s->o.in, path, &how, &s->trace);

	if (!ret)
		ret = open_line(s, line);
	if (ret)
		return ret;
	ret = send_all(s);
	if (ret)
		return fail("%s", read_error(ret));
	note("%llu events sent, %llu shed", (unsigned long long)s->sent,
	     (unsigned long long)s->dropped);
	return s->damaged ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
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
	if (argc - first != 2)
		ret = misuse(&command_send, "a trace and a line, please");
	else if (s->o.frame && strcmp(s->o.frame, SERIAL_FRAME))
		ret = misuse(&command_send, "--frame is " SERIAL_FRAME);
	else if (bad && ktape_mask_parse_shown(bad, s->mask, &bad))
		ret = unknown_event(&command_send, bad);
	else
		ret = send(s, argv[first], argv[first + 1]);
	ktape_sink_close(s->sink);
	ktape_trace_close(s->trace);
	free(s);
	return ret;
}

const struct kt_command command_send = {
	.name = "send",
	.operands = "DIR|FILE|- LINE",
	.help = "send a trace over a serial line",
	.more = "exit: 0 sent, 1 failed or the input is damaged, 2 usage\n",
	.options = options,
	.run = run,
};

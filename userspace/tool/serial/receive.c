// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape receive: read the frames of ktape send from a serial line and write them as
 * a native trace.  Frames that the line lost or damaged are counted.
 *
 * A child process copies the line to a pipe, which is the input of the decoder.  So a
 * signal or a hang-up ends the input like the end of a file, and the rest is written.
 *
 * The trace is live: what has arrived is in it about a second later, so that a reader can
 * follow it, and what cannot be caught (SIGKILL, a power cut) costs no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/input/input.h"
#include "tool/serial/serial.h"
#include "tool/shared/clock.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"

#define PART	 4096	      /* bytes that are copied at once */
#define WINDOW	 (256U << 10) /* bytes of events kept for sorting by time */
#define FLUSH_MS 250 /* packets of less time than this would be very small */

struct receive_options {
	uint64_t baud;
	const char *frame;
	const char *out;
	bool force;
	bool verbose;
};

#define OPT(member) offsetof(struct receive_options, member)

static const struct kt_option options[] = {
	{ "frame", 0, KT_OPT_TEXT, OPT(frame), SERIAL_FRAMES,
	  "form of the frames (default rkh)" },
	{ "baud", 'b', KT_OPT_NUMBER, OPT(baud), "N",
	  "speed of the line (default: unchanged)" },
	{ "output", 'o', KT_OPT_TEXT, OPT(out), "OUT",
	  "directory to write; -: pipe form on standard output" },
	{ "force", 0, KT_OPT_FLAG, OPT(force), NULL, "replace a trace's directory" },
	{ "verbose", 'v', KT_OPT_FLAG, OPT(verbose), NULL,
	  "list everything that the trace cannot hold" },
	{ .name = NULL },
};

/**
 * struct receive - a reception
 * @trace: decoder of the frames
 * @sink: native trace being written
 * @frame: frame format
 * @line: operand of the line
 * @events: events received, without names
 * @losses: events lost
 * @bad: frames that were damaged
 * @error: negative errno of a gap or a flush that could not be written; 0: none
 * @flushed: when the trace was flushed last, in ms
 */
struct receive {
	struct ktape_trace *trace;
	struct ktape_sink *sink;
	const struct serial_frame *frame;
	const char *line;
	uint64_t events;
	struct losses losses;
	uint64_t bad;
	int error;
	uint64_t flushed;
};

/* Signals that end the reception; the trace is completed. */
static const int ends[] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
			    SIGUSR1, SIGUSR2, SIGALRM };

static volatile sig_atomic_t child; /* id of the process of copy_line(); 0: none yet */

/* On a signal, end the child process: the input ends and the trace is completed. */
static void take_receive_signal(int number)
{
	(void)number;
	if (child > 0)
		kill((pid_t)child, SIGTERM);
}

static void take_receive_notice(void *arg, const struct ktape_notice *n)
{
	struct receive *r = arg;

	if (n->kind == KTAPE_NOTICE_CORRUPT)
		r->bad += n->count;
	if (n->kind == KTAPE_NOTICE_ASSUMED)
		report_input_damage(r->line, n);
	if (n->kind != KTAPE_NOTICE_LOST)
		return;
	losses_add(&r->losses, n);
	if (r->sink && !r->error)
		r->error = ktape_sink_notice(r->sink, n);
}

/* Write the packets that have begun, so that a reader sees the events in them. */
static void flush_trace(void *arg)
{
	struct receive *r = arg;
	uint64_t now = monotonic_ns() / 1000000;

	if (!r->sink || r->error || now - r->flushed < FLUSH_MS)
		return;
	r->flushed = now;
	r->error = ktape_sink_flush(r->sink);
}

/* Copy the line to the pipe until it hangs up or the pipe has no reader. */
static void copy_line(int line, int to, const sigset_t *mask)
{
	char part[PART];
	ssize_t n;

	/* Ctrl-C reaches this process, too; only the parent decides on the end. */
	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++)
		signal(ends[i], SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	while ((n = read(line, part, sizeof(part))) > 0 ||
	       (n < 0 && errno == EINTR)) {
		if (n > 0 && kt_write_all(to, part, (size_t)n))
			break;
	}
	_exit(0);
}

/* Start the child process and make its pipe standard input.  Return: 0 or the exit code. */
static int connect_line(int line)
{
	sigset_t all, before;
	int pipe[2];

	if (pipe2(pipe, O_CLOEXEC))
		return fail("pipe: %s", strerror(errno));
	/* Block signals until the handler knows the child's process id. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = fork();
	if (!child) {
		close(pipe[0]);
		copy_line(line, pipe[1], &before);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		return fail("fork: %s", strerror(errno));
	close(pipe[1]);
	if (dup2(pipe[0], STDIN_FILENO) < 0)
		return fail("pipe: %s", strerror(errno));
	close(pipe[0]);
	return 0;
}

/* Each handler runs once (SA_RESETHAND): the second signal of a kind ends ktape. */
static void catch_receive_signals(void)
{
	const struct sigaction action = {
		.sa_handler = take_receive_signal,
		.sa_flags = (int)SA_RESETHAND,
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &action, NULL);
}

static int write_received(struct receive *r, const struct receive_options *o)
{
	const struct ktape_sink_options how = {
		.format = "native",
		.path = o->out,
		/* In place: the line does not repeat the trace, so keep what was received. */
		.flags = KTAPE_SINK_IN_PLACE | (o->force ? KTAPE_SINK_FORCE : 0),
		.info = ktape_trace_info(r->trace),
		.registry = ktape_trace_registry(r->trace),
	};
	const struct ktape_event *e;
	int ret = ktape_sink_open(&how, &r->sink, NULL);

	if (ret)
		return fail("%s: %s", o->out, strerror(-ret));
	while (!r->error && (ret = ktape_trace_next(r->trace, &e)) > 0) {
		ret = ktape_sink_event(r->sink, e);
		if (ret)
			break;
		r->events += e->opcode != KTAPE_EV_REGISTRY;
	}
	if (!ret)
		ret = r->error;
	if (!ret)
		ret = ktape_sink_finish(r->sink);
	return ret ? fail("%s to %s: %s", r->line, o->out, read_error(ret)) : 0;
}

static void report_received(const struct receive *r, const struct receive_options *o)
{
	char lost[LOSS_TEXT] = "nothing lost", bad[32] = "no bad frame";

	report_not_held("the trace", r->sink, o->verbose);
	if (r->losses.gaps)
		losses_text(lost, &r->losses, "lost");
	if (r->bad)
		snprintf(bad, sizeof(bad), "%llu bad frame%s",
			 (unsigned long long)r->bad, r->bad == 1 ? "" : "s");
	note("%llu events received, %s, %s", (unsigned long long)r->events,
	     lost, bad);
}

static int receive_trace(struct receive *r, const struct receive_options *o)
{
	struct ktape_trace_options how = {
		.notice = take_receive_notice,
		.idle = flush_trace,
		.arg = r,
		.format = r->frame->format,
		.format_options = r->frame->options,
		.window = WINDOW,
		.flags = KTAPE_TRACE_SORTED | KTAPE_TRACE_PROMPT,
	};
	struct ktape_error error;
	int ret = ktape_trace_open("-", &how, &r->trace, &error);

	if (ret)
		return fail("%s: %s", r->line,
			    *error.text ? error.text : strerror(-ret));
	ret = write_received(r, o);
	if (ret)
		return ret;
	report_received(r, o);
	return EXIT_OK;
}

static int cmd_receive(int argc, char **argv)
{
	struct receive_options o = { .baud = 0 };
	struct receive r = { .events = 0 };
	int first, line, ret;

	ret = kt_options(&command_receive, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first != 1 || !o.out)
		return misuse(&command_receive,
			      "missing -o OUT or the LINE to read from");
	r.frame = serial_frame(o.frame);
	if (!r.frame)
		return misuse(&command_receive,
			      "--frame has to be one of " SERIAL_FRAMES);
	ret = output_check(o.out, argv + first, 1);
	if (!ret)
		ret = output_check_place(o.out);
	if (ret)
		return ret;
	line = serial_open(argv[first], O_RDONLY, o.baud);
	if (line == -EINVAL)
		return misuse(&command_receive,
			      "--baud %llu: not a speed of serial lines",
			      (unsigned long long)o.baud);
	if (line < 0)
		return fail("%s: %s", argv[first], strerror(-line));
	r.line = argv[first];
	catch_receive_signals();
	ret = connect_line(line);
	if (!ret)
		ret = receive_trace(&r, &o);
	ktape_sink_close(r.sink);
	ktape_trace_close(r.trace);
	if (child > 0) {
		kill((pid_t)child, SIGTERM);
		waitpid((pid_t)child, NULL, 0);
	}
	return ret;
}

const struct kt_command command_receive = {
	.name = "receive",
	.operands = "LINE",
	.help = "receive a trace from a serial line",
	.more = "exit status: 0 received, 1 failed, 2 usage error\n",
	.options = options,
	.run = KT_RUN(cmd_receive),
};

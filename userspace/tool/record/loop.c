// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape record: the loop that waits for the rings, the command, the time and
 * signals, lets the recorder drain the rings, and shows progress.
 *
 * The device wakes the loop when a ring reaches its watermark, a timer ten times a
 * second.  A single event does not wake it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/nanoseconds.h"

#include "tool/record/record.h"
#include "tool/shared/clock.h"
#include "tool/shared/message.h"
#include "tool/shared/text.h"

#define TICK_NS	    (NS_PER_S / 10) /* period of the timer */
#define TICK_MS	    100 /* the same, while the output pipe is full */
#define TICKS_PER_S 10U
#define GRACE_NS    NS_PER_S /* for the command to end after a signal */
/* Pause when the device is ready but has no complete block. */
#define REST_MS 10

/* The loop owns those before FD_SHIPPER.  FD_DEVICE is last: poll() can leave it out. */
enum { FD_SIGNAL, FD_TIMER, FD_SHIPPER, FD_DEVICE, NR_FDS };

/**
 * struct loop - state of the loop
 * @r: the recording
 * @fds: signalfd, timerfd, messages of ktape ship and device
 * @began: when the recording began, CLOCK_MONOTONIC in ns
 * @last_second: when progress was shown last, in ns
 * @last_records: number of records then
 * @grace_ends: end of GRACE_NS after a signal, in ns; 0: no signal
 * @ticks: how often the loop found the timer expired
 * @signals: number of SIGINT and SIGTERM that came, and without -l of SIGHUP
 * @tty: show progress
 * @flush: SIGUSR1 came
 * @rotate: SIGHUP came, with -l
 * @done: end the loop
 * @stopped: the session was stopped
 */
struct loop {
	struct record *r;
	struct pollfd fds[NR_FDS];
	uint64_t began;
	uint64_t last_second;
	uint64_t last_records;
	uint64_t grace_ends;
	unsigned int ticks;
	unsigned int signals;
	bool tty;
	bool flush;
	bool rotate;
	bool done;
	bool stopped;
};

static int open_fds(struct loop *l)
{
	const struct itimerspec tick = {
		.it_value.tv_nsec = TICK_NS,
		.it_interval.tv_nsec = TICK_NS,
	};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l->fds[FD_SIGNAL].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	l->fds[FD_TIMER].fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	l->fds[FD_SHIPPER].fd = -1;
	l->fds[FD_DEVICE].fd = ktape_device_fd(l->r->session);
	for (unsigned int i = 0; i < NR_FDS; i++)
		l->fds[i].events = POLLIN;
	if (l->fds[FD_SIGNAL].fd < 0 || l->fds[FD_TIMER].fd < 0 ||
	    timerfd_settime(l->fds[FD_TIMER].fd, 0, &tick, NULL))
		return -errno;
	return 0;
}

static void close_fds(const struct loop *l)
{
	for (unsigned int i = 0; i < FD_SHIPPER; i++) {
		if (l->fds[i].fd >= 0)
			close(l->fds[i].fd);
	}
}

static void show_record_progress(struct loop *l, uint64_t now)
{
	struct ktape_recorder_stats s;
	uint64_t records;
	double seconds;
	char size[16];

	ktape_recorder_stats(l->r->recorder, &s);
	/* Count records that are not written yet, too. */
	records = s.records + s.pending;
	seconds = (double)(now - l->last_second) / NS_PER_S;
	put_human(size, sizeof(size), s.bytes);
	/* "%.0llu" prints nothing for 0: without -l there is no number of pieces. */
	fprintf(stderr,
		"\r%7.1f s  %llu events  %s  %llu lost  %.0f events/s%s%.0llu\033[K",
		(double)(now - l->began) / NS_PER_S, (unsigned long long)records,
		size, (unsigned long long)(s.lost + s.missed),
		seconds > 0 ? (double)(records - l->last_records) / seconds : 0.0,
		l->r->o.log ? "  piece " : "", (unsigned long long)l->r->log.made);
	l->last_records = records;
	l->last_second = now;
}

/* Once a second, check for new CPUs and show progress. */
static int every_second(struct loop *l, uint64_t now)
{
	int err = ktape_recorder_refresh(l->r->recorder);

	if (l->tty)
		show_record_progress(l, now);
	return err;
}

static int take_ticks(struct loop *l)
{
	uint64_t expired, now = monotonic_ns();

	if (kt_read_some(l->fds[FD_TIMER].fd, &expired, sizeof(expired)) <= 0)
		return 0;
	if (l->grace_ends && now >= l->grace_ends)
		l->done = true;
	l->ticks++;
	return l->ticks % TICKS_PER_S ? 0 : every_second(l, now);
}

/*
 * Handle signals.  SIGINT and SIGTERM are passed to the command, whose end ends the
 * recording; without a command, and after GRACE_NS or a second signal in any case, they end it.
 * SIGUSR1 flushes, SIGHUP begins the next piece of a log, or without one acts as SIGTERM.
 */
static void take_loop_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (kt_read_some(l->fds[FD_SIGNAL].fd, &info, sizeof(info)) ==
	       sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			child_reap(&l->r->child);
			record_ship_reap(l->r);
			l->done |= l->r->child.ended;
			continue;
		}
		if (info.ssi_signo == SIGUSR1) {
			l->flush = true;
			continue;
		}
		if (info.ssi_signo == SIGHUP && l->r->o.log) {
			l->rotate = true;
			continue;
		}
		child_signal(&l->r->child, (int)info.ssi_signo);
		l->grace_ends = monotonic_ns() + GRACE_NS;
		if (l->signals++ || !l->r->child.pid)
			l->done = true;
	}
}

/* Return the timeout for poll() in ms: at most 1 s, and not beyond the end of -d; -1: none. */
static int poll_timeout_ms(const struct loop *l, bool busy)
{
	uint64_t gone;

	if (busy)
		return 0;
	if (l->r->o.time == NOT_GIVEN)
		return -1;
	gone = monotonic_ns() - l->began;
	if (gone >= l->r->o.time)
		return 0;
	/* + 1: not before the end. */
	return (int)kt_min((l->r->o.time - gone) / NS_PER_MS + 1, 1000);
}

static bool time_is_over(const struct loop *l)
{
	return l->r->o.time != NOT_GIVEN &&
	       monotonic_ns() - l->began >= l->r->o.time;
}

static int wait_for_work(struct loop *l, bool busy)
{
	bool rest = l->fds[FD_DEVICE].revents && !busy;
	int ms = poll_timeout_ms(l, busy);

	/* The device was ready without a complete block: do not poll it at once. */
	if (rest)
		ms = ms < 0 || ms > REST_MS ? REST_MS : ms;
	l->fds[FD_DEVICE].revents = 0;
	l->fds[FD_SHIPPER].fd = l->r->shipper.out;
	if (poll(l->fds, rest ? FD_DEVICE : NR_FDS, ms) < 0 && errno != EINTR)
		return -errno;
	if (l->fds[FD_SIGNAL].revents)
		take_loop_signals(l);
	if (l->fds[FD_SHIPPER].revents)
		record_ship_read(l->r);
	/* The session has stopped: a full snapshot, or another process stopped it. */
	if (l->fds[FD_DEVICE].revents & POLLHUP)
		l->done = true;
	l->done |= time_is_over(l);
	return l->fds[FD_TIMER].revents ? take_ticks(l) : 0;
}

/* Flush or begin a piece if a signal, the size or the time asks for it. */
static int serve_requests(struct loop *l)
{
	uint64_t now = monotonic_ns();
	int err = 0;

	/* Flush before rotating: the piece's events may all be in open blocks. */
	if (l->flush || l->rotate)
		err = ktape_recorder_flush(l->r->recorder);
	l->flush = false;
	if (!err && l->r->o.log && (l->rotate || record_is_full(l->r, now)))
		record_next_piece(l->r, now);
	l->rotate = false;
	return err;
}

/* Write what comes into the rings until the recording ends.  Return: 0 or negative errno. */
static int move_rings(struct loop *l)
{
	int ret = 0, err = 0;

	while (!l->done && ret >= 0) {
		ret = wait_for_work(l, ret > 0);
		if (ret < 0)
			break;
		ret = ktape_recorder_step(l->r->recorder);
		if (ret >= 0)
			err = serve_requests(l);
		ret = err ? err : ret;
	}
	return ret < 0 ? ret : 0;
}

/* Stop the session; what is in the rings remains to be written. */
static int stop_recording(struct loop *l)
{
	if (l->stopped)
		return 0;
	l->done = true;
	l->stopped = true;
	l->r->seconds = (double)(monotonic_ns() - l->began) / NS_PER_S;
	/* A session of -S goes on. */
	return l->r->o.session ? 0 : ktape_device_stop(l->r->session);
}

/**
 * record_wait() - wait until the reader of the output pipe reads
 * @arg: the recording
 *
 * Called by the recorder when the pipe is full.  Meanwhile, stop the session and end the command
 * when the recording is over.  After a signal, do not wait longer than GRACE_NS for the reader,
 * and after a second one not at all.
 *
 * Return: 0: try again; -ECANCELED: give up; or another negative errno.
 */
int record_wait(void *arg)
{
	struct record *r = arg;
	struct loop *l = r->loop;
	uint64_t since = monotonic_ns();
	struct pollfd fds[] = {
		{ .fd = r->pipe, .events = POLLOUT },
		{ .fd = l->fds[FD_SIGNAL].fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, TICK_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			take_loop_signals(l);
		if (fds[0].revents)
			return 0;
		l->done |= time_is_over(l) ||
			   (l->grace_ends && monotonic_ns() >= l->grace_ends);
		if (!l->done)
			continue;
		if (!l->stopped) {
			stop_recording(l);
			child_signal(&r->child, SIGTERM);
		}
		if (l->signals > 1 ||
		    (l->signals && monotonic_ns() - since >= GRACE_NS))
			return -ECANCELED;
	}
}

static int begin_recording(struct loop *l)
{
	struct record *r = l->r;
	int err = open_fds(l);

	if (!err && !r->o.session)
		err = ktape_device_start(r->session);
	/* CPUs that came online since the last check and before the start have no record of it. */
	if (!err)
		err = ktape_recorder_refresh(r->recorder);
	l->began = monotonic_ns();
	l->last_second = l->began;
	r->log.began = l->began;
	if (!err && r->child.pid) {
		r->child.trouble_errno = child_begin(&r->child);
		err = r->child.trouble_errno;
	}
	return err;
}

/**
 * record_needs_redirect() - does record_redirect() have to be called: for --daemon or --logfile?
 * @r: the recording
 *
 * Return: true or false.
 */
bool record_needs_redirect(const struct record *r)
{
	return r->o.log && (r->daemon.on || r->o.logfile);
}

/**
 * record_redirect() - go into the background (--daemon), and open --logfile, once
 * @r: the recording
 *
 * Return: 0 or the exit code.
 */
int record_redirect(struct record *r)
{
	int ret = r->detached ? 0 : daemon_redirect(&r->daemon, r->o.logfile);

	r->detached = !ret;
	return ret;
}

/*
 * Report that recording has begun; with --daemon, detach.
 * Return: 0, or -ECANCELED after a message.
 */
static int report_begin(struct record *r)
{
	if (!record_needs_redirect(r))
		return 0;
	if (record_redirect(r))
		return -ECANCELED;
	note("recording into %s", log_current(&r->log));
	return 0;
}

/**
 * record_loop() - record until the time, the command or a signal ends it
 * @r: recording that is set up
 *
 * @r->began is set if it began, and @r->seconds to how long it took.  Once it has begun, all that
 * was recorded is written when this returns, also after an error.  The session is stopped, but
 * not that of -S.
 *
 * Return: 0 or negative errno.
 */
int record_loop(struct record *r)
{
	struct loop l = { .r = r };
	int err, ret;

	r->loop = &l;
	l.tty = !r->o.quiet && !r->daemon.on && isatty(STDERR_FILENO);
	err = begin_recording(&l);
	r->began = !err;
	if (!err)
		err = report_begin(r);
	if (!err)
		record_ship_begin(r);
	if (!err)
		err = move_rings(&l);
	ret = stop_recording(&l);
	err = err ? err : ret;
	if (l.tty)
		fputs("\r\033[K", stderr);
	if (r->began) {
		ret = ktape_recorder_finish(r->recorder);
		err = err ? err : ret;
	}
	close_fds(&l);
	r->loop = NULL;
	return err;
}

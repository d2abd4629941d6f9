// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape record --activate: wait for a moment of the clock that all machines share, so that
 * many of them record the same seconds.  Nothing is recorded before.
 *
 * If the clock is set meanwhile, the kernel cancels the timer, and the moment is computed
 * anew.
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

#include "util/nanoseconds.h"
#include "util/parse.h"

#include "tool/record/record.h"
#include "tool/shared/message.h"

#define TIME_TEXT 40

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Parse 2026-11-25T22:00:00, local time, or with a Z: UTC. */
static int parse_date(const char *text, uint64_t *ns)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t t;

	if (!end || (*end && strcmp(end, "Z") != 0))
		return -EINVAL;
	t = *end ? timegm(&tm) : mktime(&tm);
	if (t < 0)
		return -ERANGE;
	*ns = (uint64_t)t * NS_PER_S;
	return 0;
}

/**
 * record_activate_parse() - parse the argument of --activate
 * @command: ktape record, for messages
 * @a: filled
 * @text: "/TIME", "@SECONDS" or a date
 *
 * Return: 0 or the exit code.
 */
int record_activate_parse(const struct kt_command *command,
			  struct activation *a, const char *text)
{
	uint64_t seconds;
	int err;

	if (*text == '/') {
		err = kt_parse_time(text + 1, &a->period);
		return err || !a->period ?
			       misuse(command,
				      "--activate /TIME needs a time: /10s") :
			       0;
	}
	if (*text == '@') {
		err = kt_parse_u64(text + 1, &seconds);
		if (!err && __builtin_mul_overflow(seconds, NS_PER_S, &a->at))
			err = -ERANGE;
	} else {
		err = parse_date(text, &a->at);
	}
	if (err)
		return misuse(command,
			      "--activate %s: it takes /10s, @SECONDS since 1970 or 2026-11-25T22:00:00Z",
			      text);
	if (a->at <= realtime_ns())
		return fail("--activate %s: this time has passed", text);
	return 0;
}

/* Return the moment, in ns since the epoch: the next multiple of a period, or the date. */
static uint64_t moment_of_activation(const struct activation *a)
{
	const uint64_t now = realtime_ns();

	return a->period ? now - now % a->period + a->period : a->at;
}

static void announce(uint64_t moment)
{
	const time_t t = (time_t)(moment / NS_PER_S);
	char text[TIME_TEXT];
	struct tm tm;

	if (!gmtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	note("recording begins at %s.%03uZ", text,
	     (unsigned int)(moment % NS_PER_S / 1000000));
}

/* Set the timer to the moment.  Return: 0 or negative errno. */
static int set_timer(int timer, const struct activation *a, bool quiet)
{
	struct itimerspec at = { .it_value.tv_sec = 0 };
	uint64_t moment;
	int err;

	do {
		moment = moment_of_activation(a);
		at.it_value.tv_sec = (time_t)(moment / NS_PER_S);
		at.it_value.tv_nsec = (long)(moment % NS_PER_S);
		err = timerfd_settime(timer,
				      TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
				      &at, NULL);
		/* ECANCELED: the clock was set just now. */
	} while (err && errno == ECANCELED);
	if (err)
		return -errno;
	if (!quiet)
		announce(moment);
	return 0;
}

/* Wait for the timer.  Return: 0, -EINTR: a signal came, or negative errno. */
static int wait_for_timer(int timer, int signals, const struct activation *a,
			  bool quiet)
{
	struct pollfd fds[] = {
		{ .fd = timer, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	uint64_t expired;
	int err = set_timer(timer, a, quiet);

	while (!err) {
		if (poll(fds, 2, -1) < 0) {
			err = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (fds[1].revents)
			return -EINTR;
		if (read(timer, &expired, sizeof(expired)) == sizeof(expired))
			return 0;
		/* ECANCELED: the clock was set. */
		if (errno == ECANCELED)
			err = set_timer(timer, a, quiet);
		else if (errno != EAGAIN && errno != EINTR)
			err = -errno;
	}
	return err;
}

/**
 * record_activate() - wait until the recording should begin
 * @a: from record_activate_parse()
 * @quiet: do not say when that will be
 *
 * Return: 0, -EINTR if a signal came before, or negative errno.
 */
int record_activate(const struct activation *a, bool quiet)
{
	int timer, signals, err;
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	err = signals < 0 || timer < 0 ? -errno :
					 wait_for_timer(timer, signals, a, quiet);
	if (timer >= 0)
		close(timer);
	if (signals >= 0)
		close(signals);
	/* A signal stays pending and blocked: the caller ends in order. */
	if (err != -EINTR)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

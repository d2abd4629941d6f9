// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGINT, SIGTERM and SIGHUP for commands that wait or take long: the first one
 * is told, the second one ends us.  What was ignored when we came stays ignored.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"

#include "signals.h"

static volatile sig_atomic_t came;
static int ends[2] = { -1, -1 };

static void take_signal(int number)
{
	int saved = errno;

	(void)number;
	came = 1;
	if (ends[1] >= 0)
		kt_write_all(ends[1], "", 1);
	errno = saved;
}

/**
 * signals_pipe() - a descriptor to wait on beside others
 *
 * Return: can be read once a signal has come; or a negative errno.
 */
int signals_pipe(void)
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? -errno : ends[0];
}

/**
 * signals_catch() - from now on
 *
 * System calls that wait are interrupted.
 */
void signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = {
		.sa_handler = take_signal,
		.sa_flags = (int)SA_RESETHAND,
	};
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/**
 * signals_came() - is it time to end?
 *
 * Return: whether one was caught.
 */
bool signals_came(void)
{
	return came;
}

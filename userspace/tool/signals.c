// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGINT, SIGTERM and SIGHUP for commands that wait or take long: the first one of
 * each is told, the second one ends us.  What was ignored when we came stays ignored.
 *
 * Before any signal ends us, temporary files are removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/temp.h"

#include "signals.h"

static volatile sig_atomic_t came;
static int ends[2] = { -1, -1 };

static bool sweeps;

/* The folder that we made for an output, or NULL. */
static char *made;

/* It ends us as soon as this returns. */
static void end_by_signal(int number)
{
	kt_temp_sweep();
	if (made)
		rmdir(made);
	signal(number, SIG_DFL);
	raise(number);
}

/* The first one of a signal that is caught: it is told. */
static void take_signal(int number)
{
	int saved = errno;

	came = 1;
	if (ends[1] >= 0)
		kt_write_all(ends[1], "", 1);
	signal(number, sweeps ? end_by_signal : SIG_DFL);
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
	};
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* What ends us before it is caught, or is never caught. */
static void sweep_at_end(void)
{
	static const int numbers[] = { SIGINT,	SIGTERM, SIGHUP,
				       SIGQUIT, SIGPIPE, SIGXCPU };
	const struct sigaction action = { .sa_handler = end_by_signal };
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
}

/**
 * signals_sweep() - a signal that ends us removes an output's temporary files
 * @path: the output, which may be a link; "-": there are none
 *
 * Return: 0 or negative errno.
 */
int signals_sweep(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st)) {
		made = strdup(path);
		if (!made)
			return -ENOMEM;
	}
	sweeps = true;
	sweep_at_end();
	return 0;
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

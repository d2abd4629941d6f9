// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGINT, SIGTERM and SIGHUP for subcommands that wait or take long.  The first
 * signal of each kind sets a flag and wakes a pipe, so that the subcommand can finish
 * its output.  The second one ends the process.  Signals that were ignored at start
 * stay ignored.
 *
 * If the subcommand has called signals_sweep(), the temporary files of its output are removed
 * before a signal ends the process.
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

#include "tool/shared/signals.h"

static volatile sig_atomic_t came; /* one of the signals has been caught */
static int ends[2] = { -1, -1 }; /* of the pipe that signals_pipe() makes; -1: none */

static bool sweeps; /* signals_sweep() was called */

/* The output, if it did not exist before: if it is an empty folder, it is removed. */
static char *made;

/* Clean up, then raise the signal again; it ends the process when this returns. */
static void end_swept_by_signal(int number)
{
	kt_temp_sweep();
	if (made)
		rmdir(made);
	signal(number, SIG_DFL);
	raise(number);
}

/* Note the first signal of a kind; from then on the same signal ends the process. */
static void take_first_signal(int number)
{
	int saved = errno;

	came = 1;
	if (ends[1] >= 0)
		kt_write_all(ends[1], "", 1);
	signal(number, sweeps ? end_swept_by_signal : SIG_DFL);
	errno = saved;
}

/**
 * signals_pipe() - make a descriptor to poll for signals
 *
 * Return: descriptor that is readable once a signal came; or negative errno.
 */
int signals_pipe(void)
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? -errno : ends[0];
}

/**
 * signals_catch() - catch SIGINT, SIGTERM and SIGHUP from now on
 *
 * They interrupt system calls that wait (no SA_RESTART).
 */
void signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = {
		.sa_handler = take_first_signal,
	};
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* Clean up for signals that end the process and are not (yet) caught. */
static void sweep_at_end(void)
{
	static const int numbers[] = { SIGINT,	SIGTERM, SIGHUP,
				       SIGQUIT, SIGPIPE, SIGXCPU };
	const struct sigaction action = { .sa_handler = end_swept_by_signal };
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
}

/**
 * signals_sweep() - remove an output's temporary files if a signal ends the process
 * @path: path of the output, may be a link; "-": nothing to remove
 *
 * If nothing exists at @path yet, and a folder is made there, that is removed while it is empty.
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
 * signals_came() - has a signal been caught?
 *
 * Return: true if the subcommand should end.
 */
bool signals_came(void)
{
	return came;
}

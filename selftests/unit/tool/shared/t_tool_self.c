// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test programs that the command runs: which signals they get, and what a signal to the
 * command ends.  The program is this one, with a word that says what it does.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tool/shared/message.h"
#include "tool/shared/self.h"

#define LONG_S	  60	 /* nothing but a signal ends the program earlier */
#define MOMENT_US 100000 /* for a signal that must not come */

/* ---- the rest of the command -------------------------------------------------------- */

int fail(const char *format, ...)
{
	(void)format;
	return EXIT_FAILED;
}

void note(const char *format, ...)
{
	(void)format;
}

/* ---- the program -------------------------------------------------------------------- */

enum { RAISED_TERM = 11, RAISED_PIPE, LASTED, WENT_ON };

static int be_program(const char *what)
{
	if (!strcmp(what, "term")) {
		raise(SIGTERM);
		return RAISED_TERM;
	}
	if (!strcmp(what, "pipe")) {
		raise(SIGPIPE);
		return RAISED_PIPE;
	}
	if (!strcmp(what, "end-me")) {
		kill(getppid(), SIGTERM);
		sleep(LONG_S);
		return LASTED;
	}
	if (!strcmp(what, "ignored"))
		kill(getppid(), SIGINT);
	usleep(MOMENT_US);
	return WENT_ON;
}

/* ---- tests -------------------------------------------------------------------------- */

/* @how: run_self() or run_self_until_signal().  Return: exit status; -EINTR: a signal ended it. */
static int run_self_command(int (*how)(char *const argv[]), const char *what)
{
	char *const argv[] = { (char *)"self", (char *)what, NULL };

	return how(argv);
}

static void block_signal(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(how, &set, NULL);
}

static bool is_blocked(int number)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, number);
}

static void plain(void)
{
	block_signal(SIG_BLOCK, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	check_equal(run_self_command(run_self, "term"), -EINTR);
	check_equal(run_self_command(run_self, "pipe"), -EINTR);
	check_equal(run_self_command(run_self_until_signal, "term"), -EINTR);
	check_equal(run_self_command(run_self, "go on"), WENT_ON);
	check(is_blocked(SIGTERM), "not blocked any more");
	signal(SIGPIPE, SIG_DFL);
	block_signal(SIG_UNBLOCK, SIGTERM);
}

static void passed_on(void)
{
	check_equal(run_self_command(run_self_until_signal, "end-me"), -EINTR);
	check(!is_blocked(SIGTERM), "still blocked");
	block_signal(SIG_BLOCK, SIGTERM);
	check_equal(run_self_command(run_self_until_signal, "end-me"), -EINTR);
	check(is_blocked(SIGTERM), "not blocked any more");
	block_signal(SIG_UNBLOCK, SIGTERM);
}

static void earlier(void)
{
	block_signal(SIG_BLOCK, SIGTERM);
	raise(SIGTERM);
	check_equal(run_self_command(run_self_until_signal, "go on"), WENT_ON);
	block_signal(SIG_UNBLOCK, SIGTERM);
}

static void ignored(void)
{
	signal(SIGINT, SIG_IGN);
	check_equal(run_self_command(run_self_until_signal, "ignored"), WENT_ON);
	signal(SIGINT, SIG_DFL);
}

static const struct tap_test tests[] = {
	{ "signals that are blocked or ignored here are not in a program", plain },
	{ "a signal ends the program, not the command", passed_on },
	{ "a signal from before ends nothing", earlier },
	{ "an ignored signal ends nothing", ignored },
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[0], "self"))
		return be_program(argv[1]);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

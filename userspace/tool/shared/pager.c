// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show text on a terminal by a pager, as git does: $KTAPE_PAGER, $PAGER, or less.
 *
 * Standard output, and standard error if it is a terminal, lead to the pager.  Ctrl-C
 * reaches both processes: ktape ends its text and then waits for the pager, because a
 * shell that took the terminal back would leave the pager without it.  A pager that
 * the user quits closes the pipe: ktape ends quietly.
 *
 * Where a user may run ktape as another one, the environment is that user's, and a pager
 * starts commands: "!" of less is a shell.  Then only less is run, with LESSSECURE=1,
 * which turns all of that off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/shared/color.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"

#define USUAL_PAGER "less"
#define SHELL_ONLY \
	"|&;<>()$`\\\"' \t\n*?[#~=%" /* characters that need a shell */

extern char **environ;

static pid_t pager; /* 0: none */

/* Is a text the user id of this process? */
static bool is_own(const char *text)
{
	uint64_t id;

	return !kt_parse_u64(text, &id) && id == geteuid();
}

/* Has another user logged in, as far as the audit system knows? */
static bool is_login_foreign(void)
{
	static const char unknown[] = "4294967295"; /* (uid_t)-1: nobody has logged in */
	char text[16] = "";
	int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return *text && strcmp(text, unknown) && !is_own(text);
}

/*
 * May the environment be that of another user?  It may if this file is setuid, setgid or has
 * capabilities (AT_SECURE), if sudo, pkexec or doas has run it, or if another user has logged
 * in.  KTAPE_PAGERSECURE decides instead of the last two.
 */
static bool is_foreign(void)
{
	static const char *const users[] = { "SUDO_UID", "PKEXEC_UID" };
	const char *chosen = getenv("KTAPE_PAGERSECURE");

	if (getauxval(AT_SECURE))
		return true;
	if (chosen && *chosen)
		return strcmp(chosen, "0") != 0;
	for (size_t i = 0; i < KT_ARRAY_SIZE(users); i++) {
		const char *user = getenv(users[i]);

		if (user && !is_own(user))
			return true;
	}
	return getenv("DOAS_USER") || is_login_foreign();
}

/* Return the command of the pager, or NULL: none is wanted. */
static const char *pager_command(bool foreign)
{
	const char *text = getenv("KTAPE_PAGER"), *term = getenv("TERM");

	/* A terminal that cannot move its cursor is none for a pager. */
	if (!text && (!term || !strcmp(term, "dumb")))
		return NULL;
	if (!text)
		text = getenv("PAGER");
	if (!text)
		text = USUAL_PAGER;
	if (!*text || !strcmp(text, "cat"))
		return NULL;
	return foreign ? USUAL_PAGER : text;
}

/*
 * Options of less: end if all fits on the screen, keep colours, do not clear; of lv: keep
 * colours.  Those that the user has set stay, except those of less in a foreign environment.
 */
static void set_environment(bool foreign)
{
	setenv("LESS", "FRX", foreign);
	setenv("LV", "-c", 0);
	if (!foreign)
		return;
	setenv("LESSSECURE", "1", 1);
	/* Its words would turn parts of it on again. */
	unsetenv("LESSSECURE_ALLOW");
}

/* Run the pager, which reads @input.  Return: 0 or an errno. */
static int run_pager(const char *text, int input, bool foreign)
{
	char shell[] = "sh", option[] = "-c";
	char *by_shell[] = { shell, option, (char *)text, NULL };
	char *direct[] = { (char *)text, NULL };
	char **words = strpbrk(text, SHELL_ONLY) ? by_shell : direct;
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	set_environment(foreign);
	err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!err)
		err = posix_spawnp(&pager, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/*
 * Close the pipe and wait for the pager.  A signal handler calls this, so it may only call
 * functions that are async-signal-safe.
 */
static void wait_for_pager(void)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

static void end_pager_by_signal(int number)
{
	wait_for_pager();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_pager_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_handler = end_pager_by_signal };
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
	/* The pager was started before: it does not inherit this. */
	signal(SIGPIPE, SIG_IGN);
}

/**
 * pager_start() - show what is printed from now on by a pager
 * @o: options of the subcommand
 *
 * Nothing happens if standard output is no terminal, or without a pager.
 */
void pager_start(const struct text_options *o)
{
	const bool foreign = is_foreign();
	const char *text = pager_command(foreign);
	int ends[2], err;

	if (o->no_pager || !text || !isatty(STDOUT_FILENO))
		return;
	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		return;
	err = run_pager(text, ends[0], foreign);
	close(ends[0]);
	if (err) {
		pager = 0;
		close(ends[1]);
		if (strcmp(text, USUAL_PAGER))
			note("pager \"%s\": %s", text, strerror(err));
		return;
	}
	/* Decide now whether messages have colours: below, standard error is redirected. */
	message_begin(ROLE_ERROR);
	dup2(ends[1], STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	catch_pager_signals();
}

/**
 * pager_has_ended() - check whether the user has quit the pager
 *
 * Return: true if nothing reads the text any more; false also without a pager.
 */
bool pager_has_ended(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return pager && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/**
 * pager_finish() - end the text and wait until the user quits the pager
 */
void pager_finish(void)
{
	if (!pager)
		return;
	fflush(stdout);
	wait_for_pager();
	pager = 0;
}

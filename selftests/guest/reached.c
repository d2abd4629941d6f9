// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command that SIGINT reaches, though a shell without job control has
 * started it in the background: such a shell ignores that signal for it, and
 * cannot take that back.
 *
 * usage: reached COMMAND [ARGUMENT...]
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	signal(SIGINT, SIG_DFL);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}

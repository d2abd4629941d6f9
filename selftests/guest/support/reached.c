// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command with SIGINT enabled. A shell without job control ignores SIGINT
 * for the commands it starts in the background and cannot undo that.
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

// SPDX-License-Identifier: GPL-2.0-only
/* Test that ktape receive signals no process if fork() fails while a signal arrives. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tool/serial/serial.h"
#include "tool/shared/opt.h"

#include "tap.h"

static unsigned int forks, kills;
static pid_t killed;

/* A signal arrives at that moment: it is handled as soon as it is unblocked. */
pid_t fork(void)
{
	forks++;
	raise(SIGTERM);
	errno = EAGAIN;
	return -1;
}

/* kill(-1) would signal every process. */
int kill(pid_t pid, int number)
{
	(void)number;
	kills++;
	killed = pid;
	return 0;
}

static void test_no_child(void)
{
	char name[] = "receive", out[] = "-onowhere", line[] = "/dev/null";
	char *args[] = { name, out, line, NULL };

	check(command_receive.run(3, args) == 1, "receive did not fail");
	check(forks == 1, "%u forks", forks);
	check(!kills, "%u times a signal, the last to %d", kills, (int)killed);
	check(access("nowhere", F_OK) && errno == ENOENT, "receive wrote an output");
}

static const struct tap_test tests[] = {
	{ "a signal without a child process", test_no_child },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

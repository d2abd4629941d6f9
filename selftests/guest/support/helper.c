// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with more rights than its caller (set-user-ID), which writes to a
 * descriptor that the caller chose: its standard output.
 *
 * usage: helper N
 *   Write N texts to standard output, and request an exception there.
 * exit status: bit 0: it runs as root, 1: all texts were accepted, 2: the exception was
 *   accepted, 3: a text had another error than EBUSY
 */
#include <ktape/mark.h>

#include "kt.h"

int main(int argc, char **argv)
{
	struct ktape_trace t = { .size = sizeof(t),
				 .opcode = KTAPE_EV_EXCEPTION,
				 .code = 0x100 };
	int n = argc > 1 ? atoi(argv[1]) : 1, result = geteuid() ? 0 : 1;
	bool all = true;

	for (int i = 0; i < n; i++)
		if (write(STDOUT_FILENO, "text", 4) != 4) {
			all = false;
			if (errno != EBUSY)
				result |= 8;
		}
	if (all)
		result |= 2;
	if (!ioctl(STDOUT_FILENO, KTAPE_MARK_IOC_TRACE, &t))
		result |= 4;
	return result;
}

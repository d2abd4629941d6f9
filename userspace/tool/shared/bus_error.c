// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGBUS ends the process, unless it is about rings of a session that has ended.
 */
#include <ktape.h>

#include "tool/shared/bus_error.h"

/**
 * bus_error_is_ours() - is a SIGBUS about rings that were taken away?
 * @info: information of the signal
 *
 * Return: true if it is, and the reader of the rings knows now; false: end the process.
 */
bool bus_error_is_ours(const siginfo_t *info)
{
	return info->si_code > 0 && ktape_device_bus_error(info->si_addr);
}

static void take_ring_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (bus_error_is_ours(info))
		return;
	/* The access is tried again, but a signal of another process does not come again. */
	signal(number, SIG_DFL);
	if (info->si_code <= 0)
		raise(number);
}

/**
 * bus_error_catch() - go on when the rings of a session that has ended are taken away
 */
void bus_error_catch(void)
{
	const struct sigaction action = {
		.sa_sigaction = take_ring_bus_error,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGBUS, &action, NULL);
}

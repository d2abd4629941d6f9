// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a session has ended, the module takes its mapped rings away from readers that may not
 * control it.  Reading them then raises SIGBUS.  The library maps zero pages in their place, and
 * the reader's call fails, so that the process goes on.  Any other SIGBUS ends the process.
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
	/* Only a signal of the kernel, whose code is positive, has an address. */
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

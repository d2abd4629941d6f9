// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of the kernel log.
 *
 * The callback runs under the locks of printk, on newer kernels even in NMIs: it
 * copies and does nothing else.  Who waits for data is woken by irq_work.
 */
#include <linux/kernel.h>
#include <trace/events/printk.h>

#include "event/event.h"
#include "internal.h"

static void notrace probe_console(void *data, const char *text, size_t len)
{
	static const u32 none[] = {};
	size_t taken;

	kt_probe_enter();
	if (len && text[len - 1] == '\n')
		len--;
	taken = min_t(size_t, len, KT_TEXT_MAX);
	KT_EVENT_LONG(CONSOLE, taken < len, none, text, taken);
	kt_probe_leave();
}

struct kt_probe kt_probes_console[] = {
	KT_PROBE(console, CONSOLE, probe_console, const char *, size_t),
	{}
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The minimal cost of a tracer: a probe on each tracepoint that does nothing,
 * or that reads the cycle counter and stores 32 bytes in per-CPU memory. No
 * reservation, no profile, no losses, no readers.
 *
 * One probe serves tracepoints of any prototype by taking the first words of
 * its arguments. That works where arguments are passed in registers and
 * indirect calls are not checked, as on the measured kernels.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>

static char *events = "";
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "tracepoints, separated by commas");

static bool store;
module_param(store, bool, 0444);
MODULE_PARM_DESC(store, "read the clock and store 32 bytes");

#define CELLS		512
#define TRACEPOINTS_MAX 32

struct cell {
	u64 clock;
	unsigned long words[3];
};

struct buffer {
	unsigned long at;
	struct cell cells[CELLS];
};

static struct buffer __percpu *buffers;
static struct tracepoint *attached[TRACEPOINTS_MAX];
static unsigned int nr_attached;

static void notrace probe_empty(void *data)
{
}

static void notrace probe_store(void *data, unsigned long a, unsigned long b,
				unsigned long c)
{
	struct buffer *buf = this_cpu_ptr(buffers);
	struct cell *cell = &buf->cells[buf->at++ % CELLS];

	cell->clock = get_cycles();
	cell->words[0] = a;
	cell->words[1] = b;
	cell->words[2] = c;
}

static void *floor_probe(void)
{
	return store ? (void *)probe_store : (void *)probe_empty;
}

static bool event_is_listed(const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = events; (at = strstr(at, name)); at += len)
		if ((at == events || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static void attach_floor_probe(struct tracepoint *tp, void *unused)
{
	if (event_is_listed(tp->name) && nr_attached < TRACEPOINTS_MAX &&
	    !tracepoint_probe_register(tp, floor_probe(), NULL))
		attached[nr_attached++] = tp;
}

static void detach_all(void)
{
	while (nr_attached)
		tracepoint_probe_unregister(attached[--nr_attached],
					    floor_probe(), NULL);
	tracepoint_synchronize_unregister();
	free_percpu(buffers);
}

static int __init floor_init(void)
{
	unsigned int wanted = 1;
	const char *at;

	for (at = events; (at = strchr(at, ',')); at++)
		wanted++;
	buffers = alloc_percpu(struct buffer);
	if (!buffers)
		return -ENOMEM;
	for_each_kernel_tracepoint(attach_floor_probe, NULL)
		;
	if (nr_attached == wanted)
		return 0;
	detach_all();
	return -ENOENT;
}

static void __exit floor_exit(void)
{
	detach_all();
}

module_init(floor_init);
module_exit(floor_exit);

MODULE_DESCRIPTION("probes that do nothing, for comparison");
MODULE_LICENSE("GPL");

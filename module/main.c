// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and unload: each part of the module in the order in which it needs the
 * others.  The parameters are checked in params.c.
 *
 * A part that cannot be made leaves a line in the log, whatever the reason: insmod
 * prints no more than the error's name.  The parts that know how much they need say
 * that as well, before.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "dev/dev.h"
#include "emit/emit.h"
#include "event/event.h"
#include "filter/filter.h"
#include "names/names.h"
#include "params.h"
#include "persist/persist.h"
#include "probes/probes.h"
#include "session/session.h"

static struct kt_params params;
static struct kt_session *session0;

static int init_clock(void)
{
	int ret = kt_clock_init(params.clock, kt_session_resumed);

	if (ret)
		kt_params_clock_refused(ret);
	return ret;
}

static int init_registry(void)
{
	return kt_registry_init(params.registry, params.registry_max);
}

static int init_symbols(void)
{
	int ret = kt_symbol_init();

	if (!ret)
		kt_names_init();
	return ret;
}

static void exit_symbols(void)
{
	kt_names_exit();
	/* Probes and sessions used it: the first pid filter allocates it. */
	kt_track_exit();
	kt_symbol_exit();
}

static int init_sinks(void)
{
	/* The probes enter what is created from now on; these enter what exists. */
	kt_registry_walk();
	kt_cgroups_walk();
	return kt_sink_init(kt_session_sinks);
}

static int init_emit(void)
{
	return kt_emit_init(params.max_str);
}

static int init_persist(void)
{
	struct kt_persist_config *c = &params.persist;

	c->table_hash = kt_metadata_hash();
	c->metadata = kt_metadata_text(&c->length);
	return kt_persist_init(c);
}

static int init_session0(void)
{
	session0 = kt_session_create_first(&params.session, params.profile);
	kt_params_session_created(&params.session, session0);
	return PTR_ERR_OR_ZERO(session0);
}

static int init_device(void)
{
	return kt_dev_init(session0, params.dev_mode);
}

static int init_mark(void)
{
	return kt_dev_mark_init(params.mark_mode, params.mark_rate);
}

/*
 * What the module is made of, in the order in which it is made.  @what is for the log, if
 * @init fails: the part that could not be made, or the means of the kernel that it needs.
 */
static const struct {
	const char *what;
	int (*init)(void);
	void (*exit)(void);
} steps[] = {
	{ "trace clock", init_clock, kt_clock_exit },
	{ "state of each CPU", kt_cpus_init, kt_cpus_exit },
	{ "metadata", kt_metadata_init, kt_metadata_exit },
	{ "registry of names", init_registry, kt_registry_exit },
	{ "notifier of modules", init_symbols, exit_symbols },
	{ "probes", kt_probe_init, kt_probe_exit },
	{ "sinks", init_sinks, kt_sink_exit },
	{ "buffers for other modules", init_emit, kt_emit_exit },
	{ "dynamic states of CPU hotplug", kt_session_hotplug_init,
	  kt_session_hotplug_exit },
	{ "memory that survives a reset", init_persist, kt_persist_exit },
	{ "session 0", init_session0, kt_session_end_all },
	{ "notifier of power management", kt_session_pm_init, kt_session_pm_exit },
	{ "/dev/ktape", init_device, kt_dev_exit },
	{ "/dev/ktape_mark", init_mark, kt_dev_mark_exit },
};

/* Undo the first @i steps, the last one first. */
static void undo_steps(unsigned int i)
{
	while (i--)
		steps[i].exit();
}

static int __init ktape_init(void)
{
	unsigned int i;
	int ret = kt_params_parse(&params);

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		ret = steps[i].init();
		if (!ret)
			continue;
		pr_err("cannot be loaded: %s: error %d, with %lu KiB of memory available\n",
		       steps[i].what, ret,
		       (unsigned long)si_mem_available() << (PAGE_SHIFT - 10));
		undo_steps(i);
		return ret;
	}
	return 0;
}

static void __exit ktape_exit(void)
{
	undo_steps(ARRAY_SIZE(steps));
}

module_init(ktape_init);
module_exit(ktape_exit);

MODULE_DESCRIPTION("trace events of the kernel into per-CPU rings");
MODULE_AUTHOR("the ktape developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(KTAPE_VERSION);

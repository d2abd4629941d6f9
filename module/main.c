// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and unload: each part of the module in the order in which it needs the
 * others.  The parameters are checked in params.c.
 */
#include <linux/err.h>
#include <linux/init.h>
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

static int __init init_clock(const struct kt_params *params)
{
	int ret = kt_clock_init(params->clock, kt_session_resumed);

	if (ret)
		kt_params_clock_refused(ret);
	return ret;
}

static int __init init_persist(struct kt_persist_config *c)
{
	c->table_hash = kt_metadata_hash();
	c->metadata = kt_metadata_text(&c->length);
	return kt_persist_init(c);
}

static struct kt_session *__init make_session0(struct kt_params *p)
{
	struct kt_session *s = kt_session_create_first(&p->session, p->profile);

	kt_params_session_created(&p->session, s);
	return s;
}

static int __init ktape_init(void)
{
	struct kt_params params = {};
	struct kt_session *session0;
	int ret = kt_params_parse(&params);

	if (ret)
		return ret;
	ret = init_clock(&params);
	if (ret)
		return ret;
	ret = kt_cpus_init();
	if (ret)
		goto err_clock;
	ret = kt_metadata_init();
	if (ret)
		goto err_cpus;
	ret = kt_registry_init(params.registry);
	if (ret)
		goto err_metadata;
	ret = kt_symbol_init();
	if (ret)
		goto err_registry;
	kt_names_init();
	ret = kt_probe_init();
	if (ret)
		goto err_symbol;
	kt_registry_walk();
	kt_cgroups_walk();
	ret = kt_sink_init(kt_session_sinks);
	if (ret)
		goto err_probe;
	ret = kt_emit_init(params.max_str);
	if (ret)
		goto err_sink;
	ret = kt_session_hotplug_init();
	if (ret)
		goto err_emit;
	ret = init_persist(&params.persist);
	if (ret)
		goto err_hotplug;
	session0 = make_session0(&params);
	ret = PTR_ERR_OR_ZERO(session0);
	if (ret)
		goto err_persist;
	ret = kt_session_pm_init();
	if (ret)
		goto err_session;
	ret = kt_dev_init(session0, params.dev_mode);
	if (ret)
		goto err_pm;
	ret = kt_dev_mark_init(params.mark_mode, params.mark_rate);
	if (ret)
		goto err_dev;
	return 0;

err_dev:
	kt_dev_exit();
err_pm:
	kt_session_pm_exit();
err_session:
	kt_session_end_all();
err_persist:
	kt_persist_exit();
err_hotplug:
	kt_session_hotplug_exit();
err_emit:
	kt_emit_exit();
err_sink:
	kt_sink_exit();
err_probe:
	kt_probe_exit();
err_symbol:
	kt_names_exit();
	kt_track_exit();
	kt_symbol_exit();
err_registry:
	kt_registry_exit();
err_metadata:
	kt_metadata_exit();
err_cpus:
	kt_cpus_exit();
err_clock:
	kt_clock_exit();
	return ret;
}

static void __exit ktape_exit(void)
{
	kt_dev_mark_exit();
	kt_dev_exit();
	kt_session_pm_exit();
	kt_session_end_all();
	kt_persist_exit();
	kt_session_hotplug_exit();
	kt_emit_exit();
	kt_sink_exit();
	kt_probe_exit();
	kt_names_exit();
	kt_track_exit();
	kt_symbol_exit();
	kt_registry_exit();
	kt_metadata_exit();
	kt_cpus_exit();
	kt_clock_exit();
}

module_init(ktape_init);
module_exit(ktape_exit);

MODULE_DESCRIPTION("trace events of the kernel into per-CPU rings");
MODULE_AUTHOR("the ktape developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(KTAPE_VERSION);

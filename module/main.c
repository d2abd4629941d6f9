// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload: what exists, in which order, and session 0. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/suspend.h>

#include "dev/dev.h"
#include "dev/mark.h"
#include "emit/emit.h"
#include "filter/filter.h"
#include "dev/metadata.h"
#include "names/late.h"
#include "persist/persist.h"
#include "probes/probes.h"
#include "names/registry.h"
#include "emit/sink.h"
#include "names/symbol.h"

static char *size = "1M";
module_param(size, charp, 0444);
MODULE_PARM_DESC(size, "session 0: bytes of each CPU's event ring (1M)");

static char *block = "0";
module_param(block, charp, 0444);
MODULE_PARM_DESC(block, "session 0: bytes of a block (64K, less in small rings)");

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "session 0: overwrite, discard, snapshot, persistent (overwrite; with persist= persistent)");

static char *profile = "default";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "session 0: none, default, all or a mask in hex");

static char *clock = "auto";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "trace clock: cycles, mono or auto");

static unsigned int registry = 8192;
module_param(registry, uint, 0444);
MODULE_PARM_DESC(registry, "how many objects can have a name (8192)");

static unsigned int max_str = KTAPE_MARK_TEXT_MAX;
module_param(max_str, uint, 0444);
MODULE_PARM_DESC(max_str, "bytes of a marker's message that are recorded (1024)");

static ushort mark_mode = 0600;
module_param(mark_mode, ushort, 0444);
MODULE_PARM_DESC(mark_mode, "permissions of /dev/ktape_mark (0600)");

static unsigned int mark_rate = 10000;
module_param(mark_rate, uint, 0444);
MODULE_PARM_DESC(mark_rate, "short events a second of a user without rights (10000)");

/* An address: lockdown has a word in it. */
static char *persist = "";
module_param_hw(persist, charp, iomem, 0444);
MODULE_PARM_DESC(persist, "memory that survives a reset: ADDRESS,SIZE as kept out by memmap=, or the name of reserved memory");

static bool persist_drop;
module_param(persist_drop, bool, 0444);
MODULE_PARM_DESC(persist_drop, "forget the trace that is in that memory (0)");

#define REGISTRY_MIN	64
#define REGISTRY_MAX	(1U << 20)

static struct kt_session *session0;

static int parse_size(const char *what, const char *text, u64 *to)
{
	char *end;

	*to = memparse(text, &end);
	if (end == text || *end) {
		pr_err("%s=%s is no size\n", what, text);
		return -EINVAL;
	}
	return 0;
}

static int parse_emit(void)
{
	if (max_str > KTAPE_MARK_TEXT_MAX) {
		pr_err("max_str=%u is above %u\n", max_str,
		       KTAPE_MARK_TEXT_MAX);
		return -EINVAL;
	}
	if (mark_mode & ~0777) {
		pr_err("mark_mode=0%o is above 0777\n", mark_mode);
		return -EINVAL;
	}
	return 0;
}

static const char *const modes[] = {
	[KTAPE_MODE_OVERWRITE] = "overwrite",
	[KTAPE_MODE_DISCARD] = "discard",
	[KTAPE_MODE_SNAPSHOT] = "snapshot",
	[KTAPE_MODE_PERSISTENT] = "persistent",
};

static int parse_mode(struct kt_session_config *c)
{
	u32 i;

	if (!*mode) {
		c->mode = *persist ? KTAPE_MODE_PERSISTENT :
				     KTAPE_MODE_OVERWRITE;
	} else {
		for (i = 0; i < ARRAY_SIZE(modes); i++)
			if (!strcmp(mode, modes[i]))
				break;
		if (i == ARRAY_SIZE(modes)) {
			pr_err("mode=%s is not overwrite, discard, snapshot or persistent\n",
			       mode);
			return -EINVAL;
		}
		c->mode = i;
	}
	/* The memory says how large the rings are. */
	if (c->mode == KTAPE_MODE_PERSISTENT)
		c->ring_size = 0;
	return 0;
}

static int parse_config(struct kt_session_config *c, u64 *mask)
{
	if (parse_size("size", size, &c->ring_size) ||
	    parse_size("block", block, &c->block_size))
		return -EINVAL;
	if (parse_mode(c))
		return -EINVAL;
	if (kt_session_parse_profile(profile, mask)) {
		pr_err("profile=%s is not none, default, all or a mask of events that exist\n",
		       profile);
		return -EINVAL;
	}
	if (registry < REGISTRY_MIN || registry > REGISTRY_MAX) {
		pr_err("registry=%u is not from %u to %u\n", registry,
		       REGISTRY_MIN, REGISTRY_MAX);
		return -EINVAL;
	}
	return parse_emit();
}

static int init_persist(void)
{
	struct kt_persist_config c = {
		.where = persist,
		.drop = persist_drop,
		.table_hash = kt_metadata_hash(),
	};

	c.metadata = kt_metadata_text(&c.length);
	return kt_persist_init(&c);
}

/* The session that records from now on. */
static int make_session0(struct kt_session_config *c, const u64 *mask)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	session0 = kt_session_create(c);
	if (IS_ERR(session0)) {
		pr_err("no session with size=%s block=%s: error %ld\n", size,
		       block, PTR_ERR(session0));
		if (PTR_ERR(session0) == -ENOMEM)
			pr_err("CPU %d: %llu bytes wanted, there were %llu\n",
			       c->failed_cpu, c->failed_asked, c->failed_had);
		return PTR_ERR(session0);
	}
	if (c->ring_size && c->ring_size != session0->size[KTAPE_RING_EVENT])
		pr_info("size=%s: rings have %lu bytes\n", size,
			session0->size[KTAPE_RING_EVENT]);
	if (c->block_size &&
	    c->block_size != session0->block_size[KTAPE_RING_EVENT])
		pr_info("block=%s: blocks have %lu bytes\n", block,
			session0->block_size[KTAPE_RING_EVENT]);
	memcpy(p.mask, mask, sizeof(p.mask));
	kt_session_profile(session0, &p);
	kt_session_start(session0);
	return 0;
}

static void exit_sessions(void)
{
	kt_session_end_all();
	kt_persist_exit();
}

static int init_sessions(struct kt_session_config *c, const u64 *mask)
{
	int ret = init_persist();

	if (ret)
		return ret;
	ret = make_session0(c, mask);
	if (ret)
		exit_sessions();
	return ret;
}

static int pm_event(struct notifier_block *nb, unsigned long event, void *data)
{
	int ret;

	switch (event) {
	case PM_HIBERNATION_PREPARE:
		ret = kt_persist_hibernate();
		if (ret)
			return notifier_from_errno(ret);
		fallthrough;
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		kt_clock_may_stop();
		break;
	case PM_POST_HIBERNATION:
		kt_persist_hibernated();
		fallthrough;
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		kt_session_resumed();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block pm_notifier = { .notifier_call = pm_event };

static int __init ktape_init(void)
{
	struct kt_session_config config = {};
	u64 mask[KTAPE_MASK_WORDS];
	int ret;

	ret = parse_config(&config, mask);
	if (ret)
		return ret;
	ret = kt_clock_init(clock, kt_session_resumed);
	if (ret) {
		pr_err("clock=%s is %s\n", clock,
		       ret == -ENODEV ? "not to be trusted on this machine" :
					"not cycles, mono or auto");
		return ret;
	}
	ret = kt_metadata_init();
	if (ret)
		goto err_clock;
	ret = kt_registry_init(registry);
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
	ret = kt_emit_init(max_str);
	if (ret)
		goto err_sink;
	ret = kt_session_hotplug_init();
	if (ret)
		goto err_emit;
	ret = init_sessions(&config, mask);
	if (ret)
		goto err_hotplug;
	ret = register_pm_notifier(&pm_notifier);
	if (ret)
		goto err_session;
	ret = kt_dev_init(session0);
	if (ret)
		goto err_pm;
	ret = kt_dev_mark_init(mark_mode, mark_rate);
	if (ret)
		goto err_dev;
	return 0;

err_dev:
	kt_dev_exit();
err_pm:
	unregister_pm_notifier(&pm_notifier);
err_session:
	exit_sessions();
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
err_clock:
	kt_clock_exit();
	return ret;
}

static void __exit ktape_exit(void)
{
	kt_dev_mark_exit();
	kt_dev_exit();
	unregister_pm_notifier(&pm_notifier);
	exit_sessions();
	kt_session_hotplug_exit();
	kt_emit_exit();
	kt_sink_exit();
	kt_probe_exit();
	kt_names_exit();
	kt_track_exit();
	kt_symbol_exit();
	kt_registry_exit();
	kt_metadata_exit();
	kt_clock_exit();
}

module_init(ktape_init);
module_exit(ktape_exit);

MODULE_DESCRIPTION("trace events of the kernel into per-CPU rings");
MODULE_AUTHOR("the ktape developers");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");

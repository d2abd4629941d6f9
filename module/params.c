// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's parameters: their defaults, their checks, and what the log says
 * when one is refused or rounded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include <ktape/mark.h>

#include "params.h"

static char *size = "1M";
module_param(size, charp, 0444);
MODULE_PARM_DESC(size, "session 0: bytes of each CPU's event ring (1M)");

static char *block = "0";
module_param(block, charp, 0444);
MODULE_PARM_DESC(block, "session 0: bytes of a block (64K, less in small rings)");

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode,
		 "session 0: overwrite, discard, snapshot or persistent (overwrite; persistent if persist= is given)");

static char *profile = "default";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "session 0: none, default, all or a hexadecimal mask");

static char *clock = "auto";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "trace clock: cycles, mono or auto");

static unsigned int registry = 8192;
module_param(registry, uint, 0444);
MODULE_PARM_DESC(registry,
		 "names for which there is room at first; more as needed (8192)");

static unsigned int registry_max;
module_param(registry_max, uint, 0444);
MODULE_PARM_DESC(registry_max,
		 "names for which there can be room (0: 1/64 of the memory)");

static unsigned int max_str = KTAPE_MARK_TEXT_MAX;
module_param(max_str, uint, 0444);
MODULE_PARM_DESC(max_str, "bytes of a marker's message that are recorded (1024)");

static ushort dev_mode = 0600;
module_param(dev_mode, ushort, 0444);
MODULE_PARM_DESC(dev_mode,
		 "permissions of /dev/ktape (0600); with rights for the group or others they decide instead of CAP_PERFMON");

static ushort mark_mode = 0600;
module_param(mark_mode, ushort, 0444);
MODULE_PARM_DESC(mark_mode, "permissions of /dev/ktape_mark (0600)");

static unsigned int mark_rate = 10000;
module_param(mark_rate, uint, 0444);
MODULE_PARM_DESC(mark_rate,
		 "short events per second of an unprivileged user (10000)");

/* An address, so lockdown may forbid this parameter. */
static char *persist = "";
module_param_hw(persist, charp, iomem, 0444);
MODULE_PARM_DESC(persist,
		 "memory that survives a reset: ADDRESS,SIZE as reserved by memmap=, or the name of reserved memory");

static bool persist_drop;
module_param(persist_drop, bool, 0444);
MODULE_PARM_DESC(persist_drop,
		 "discard the traces of earlier loads in that memory (0)");

/* Limits of registry=, and the largest registry_max=. */
#define REGISTRY_MIN  64
#define REGISTRY_MAX  (1U << 20)
#define REGISTRY_MOST (1U << 22)

/* Parse bytes with an optional K, M or G.  Return: 0 or -EINVAL. */
static int params_parse_size(const char *what, const char *text, u64 *to)
{
	char *end;

	*to = memparse(text, &end);
	if (end == text || *end) {
		pr_err("%s=%s is not a size: use bytes or K, M, G, for example 4M\n",
		       what, text);
		return -EINVAL;
	}
	return 0;
}

static int params_check_file_mode(const char *what, unsigned int value)
{
	if (!(value & ~0777))
		return 0;
	pr_err("%s=0%o is not a file mode: the maximum is 0777\n", what, value);
	return -EINVAL;
}

/* Check how large the registry is to be.  Return: 0 or -EINVAL. */
static int params_check_registry(void)
{
	if (registry < REGISTRY_MIN || registry > REGISTRY_MAX) {
		pr_err("registry=%u is not between %u and %u\n", registry,
		       REGISTRY_MIN, REGISTRY_MAX);
		return -EINVAL;
	}
	if (!registry_max ||
	    (registry_max >= registry && registry_max <= REGISTRY_MOST))
		return 0;
	pr_err("registry_max=%u is not between registry=%u and %u\n",
	       registry_max, registry, REGISTRY_MOST);
	return -EINVAL;
}

/* Check the parameters of the devices.  Return: 0 or -EINVAL. */
static int params_check_devices(void)
{
	if (max_str > KTAPE_MARK_TEXT_MAX) {
		pr_err("max_str=%u is too large: the maximum is %u\n", max_str,
		       KTAPE_MARK_TEXT_MAX);
		return -EINVAL;
	}
	if (params_check_file_mode("dev_mode", dev_mode))
		return -EINVAL;
	return params_check_file_mode("mark_mode", mark_mode);
}

static const char *const mode_names[] = {
	[KTAPE_MODE_OVERWRITE] = "overwrite",
	[KTAPE_MODE_DISCARD] = "discard",
	[KTAPE_MODE_SNAPSHOT] = "snapshot",
	[KTAPE_MODE_PERSISTENT] = "persistent",
};

static int params_parse_mode(struct kt_session_config *c)
{
	u32 i;

	if (!*mode) {
		c->mode = *persist ? KTAPE_MODE_PERSISTENT : KTAPE_MODE_OVERWRITE;
	} else {
		for (i = 0; i < ARRAY_SIZE(mode_names); i++)
			if (!strcmp(mode, mode_names[i]))
				break;
		if (i == ARRAY_SIZE(mode_names)) {
			pr_err("mode=%s is not overwrite, discard, snapshot or persistent\n",
			       mode);
			return -EINVAL;
		}
		c->mode = i;
	}
	/* The rings fill the persistent region, whatever size= says. */
	if (c->mode == KTAPE_MODE_PERSISTENT)
		c->ring_size = 0;
	return 0;
}

/**
 * kt_params_parse() - check the parameters
 * @p: receives the parameters; of @session and @persist only what parameters decide
 *
 * Context: module load.
 * Return: 0, or -EINVAL, and the log says which parameter is wrong.
 */
int kt_params_parse(struct kt_params *p)
{
	struct kt_session_config *c = &p->session;

	if (params_parse_size("size", size, &c->ring_size) ||
	    params_parse_size("block", block, &c->block_size))
		return -EINVAL;
	if (params_parse_mode(c))
		return -EINVAL;
	if (kt_session_parse_profile(profile, p->profile)) {
		pr_err("profile=%s is not none, default, all or a hexadecimal mask of existing events\n",
		       profile);
		return -EINVAL;
	}
	if (params_check_registry())
		return -EINVAL;
	if (params_check_devices())
		return -EINVAL;
	p->clock = clock;
	p->registry = registry;
	p->registry_max = registry_max;
	p->max_str = max_str;
	p->dev_mode = dev_mode;
	p->mark_mode = mark_mode;
	p->mark_rate = mark_rate;
	p->persist.where = persist;
	p->persist.drop = persist_drop;
	return 0;
}

/**
 * kt_params_clock_refused() - log why the clock cannot be used
 * @err: what kt_clock_init() returned
 *
 * Context: module load.
 */
void kt_params_clock_refused(int err)
{
	pr_err("clock=%s is %s\n", clock,
	       err == -ENODEV ? "not reliable on this machine: use mono or auto" :
				"not cycles, mono or auto");
}

/* Log why session 0 could not be created. */
static void params_session_refused(const struct kt_session_config *c, int err)
{
	pr_err("session 0 cannot be created with size=%s block=%s: error %d\n",
	       size, block, err);
	if (err != -ENOMEM || !c->failed_asked)
		return;
	if (c->failed_cpu < 0)
		pr_err("all rings together need %llu bytes, %llu are available: use a smaller size=\n",
		       c->failed_asked, c->failed_had);
	else
		pr_err("a ring of CPU %d needs %llu bytes, %llu are available: use a smaller size= or block=\n",
		       c->failed_cpu, c->failed_asked, c->failed_had);
}

/**
 * kt_params_session_created() - log why session 0 failed, or sizes that were rounded
 * @c: the configuration that session 0 was made from; after -ENOMEM says what failed
 * @s: session 0, or ERR_PTR
 *
 * Context: module load.
 */
void kt_params_session_created(const struct kt_session_config *c,
			       const struct kt_session *s)
{
	if (IS_ERR(s)) {
		params_session_refused(c, PTR_ERR(s));
		return;
	}
	if (c->ring_size && c->ring_size != s->size[KTAPE_RING_EVENT])
		pr_info("size=%s was rounded: each event ring has %lu bytes\n",
			size, s->size[KTAPE_RING_EVENT]);
	if (c->block_size && c->block_size != s->block_size[KTAPE_RING_EVENT])
		pr_info("block=%s was rounded: each block has %lu bytes\n",
			block, s->block_size[KTAPE_RING_EVENT]);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Not an example: a sink that, whenever an object gets a name or a marker is recorded, tries to
 * name an object, to remove a name and to register a sink.  ktape must refuse all three.
 *
 * For guest/names/t_sink.c.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include <ktape/kernel.h>

#define NAMER_ID 0x4a3e

static atomic_t refused;
module_param_named(refused, refused.counter, int, 0444);
MODULE_PARM_DESC(refused, "calls that returned EDEADLK, as they should");

static atomic_t others;
module_param_named(others, others.counter, int, 0444);
MODULE_PARM_DESC(others, "calls that returned anything else");

static struct ktape_sink other;

static void count_name_result(int ret)
{
	atomic_inc(ret == -EDEADLK ? &refused : &others);
}

static void name_another(struct ktape_sink *sink, const struct ktape_record *rec)
{
	count_name_result(ktape_name_marker(NAMER_ID, "by a sink"));
	count_name_result(ktape_name_marker(NAMER_ID, NULL));
	count_name_result(ktape_sink_register(&other));
}

static struct ktape_sink sink = { .owner = THIS_MODULE, .event = name_another };

static int __init namer_init(void)
{
	int ret;

	other = sink;
	sink.mask[0] = BIT_ULL(KTAPE_EV_REGISTRY) | BIT_ULL(KTAPE_EV_MARK);
	ret = ktape_sink_register(&sink);
	if (ret)
		return ret;
	/* Outside of the sink it works, and calls the sink. */
	ret = ktape_name_marker(NAMER_ID + 1, "not by a sink");
	if (ret)
		ktape_sink_unregister(&sink);
	return ret;
}
module_init(namer_init);

static void __exit namer_exit(void)
{
	ktape_sink_unregister(&sink);
	ktape_name_marker(NAMER_ID + 1, NULL);
}
module_exit(namer_exit);

MODULE_DESCRIPTION("a sink of ktape that names objects");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Example: count markers and exceptions as they are emitted.  The parameters forget and fail
 * are for guest/names/t_sink.c.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>

#include <ktape/kernel.h>

static atomic_t seen;
module_param_named(seen, seen.counter, int, 0444);
MODULE_PARM_DESC(seen, "records so far");

static bool forget;
module_param(forget, bool, 0444);
MODULE_PARM_DESC(forget, "do not unregister; ktape does it then");

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail,
		 "fail to load after the first record; ktape unregisters then");

static void count_sink_record(struct ktape_sink *sink, const struct ktape_record *rec)
{
	atomic_inc(&seen);
}

static struct ktape_sink sink = { .owner = THIS_MODULE, .event = count_sink_record };

/*
 * Fail while the sink is called.  It stays registered: ktape finds it by its owner, and a
 * module without such a test unregisters first.
 */
static int __init fail_when_called(void)
{
	int i;

	for (i = 0; i < 60000 && !atomic_read(&seen); i++)
		msleep(1);
	return atomic_read(&seen) ? -ENODEV : -ETIMEDOUT;
}

static int __init sink_init(void)
{
	int ret;

	sink.mask[0] = BIT_ULL(KTAPE_EV_MARK) | BIT_ULL(KTAPE_EV_EXCEPTION);
	ret = ktape_sink_register(&sink);
	return ret || !fail ? ret : fail_when_called();
}
module_init(sink_init);

static void __exit sink_exit(void)
{
	if (!forget)
		ktape_sink_unregister(&sink);
}
module_exit(sink_exit);

MODULE_DESCRIPTION("an example of a sink of ktape");
MODULE_LICENSE("GPL");

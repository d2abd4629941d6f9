// SPDX-License-Identifier: GPL-2.0-only
/*
 * Not an example: a sink that emits the events it wants, a recursion that ktape
 * must end.
 *
 * For guest/names/t_sink.c.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include <ktape/kernel.h>

#define ECHO_ID 0xec40

static atomic_t seen;
module_param_named(seen, seen.counter, int, 0444);
MODULE_PARM_DESC(seen, "records so far");

static void echo_record(struct ktape_sink *sink, const struct ktape_record *rec)
{
	atomic_inc(&seen);
	ktape_mark(ECHO_ID, "echo");
}

static struct ktape_sink sink = { .owner = THIS_MODULE, .event = echo_record };

static int __init echo_init(void)
{
	sink.mask[0] = BIT_ULL(KTAPE_EV_MARK);
	return ktape_sink_register(&sink);
}
module_init(echo_init);

static void __exit echo_exit(void)
{
	ktape_sink_unregister(&sink);
}
module_exit(echo_exit);

MODULE_DESCRIPTION("a sink of ktape that emits what it wants");
MODULE_LICENSE("GPL");

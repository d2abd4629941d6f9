// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell the kernel that the time stamp counter is unstable, as its watchdog does when
 * it finds out.  That holds until the next boot.
 *
 * For guest/ring/t_zz_clock.sh.
 */
#include <linux/module.h>

#include <asm/tsc.h>

static int __init kt_tsc_init(void)
{
	mark_tsc_unstable("by a test");
	return 0;
}
module_init(kt_tsc_init);

static void __exit kt_tsc_exit(void)
{
}
module_exit(kt_tsc_exit);

MODULE_DESCRIPTION("declares the time stamp counter unstable");
MODULE_LICENSE("GPL");

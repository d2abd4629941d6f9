// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake the system from suspend to idle after a time, like a device would: emulated
 * machines have none that does.  For guest/session/t_suspend.sh and used/scenes/suspend.sh.
 *
 * insmod kt_wake.ko ms=N
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

static unsigned int ms = 1000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "milliseconds after loading");

static void wake_system(struct work_struct *work)
{
	pm_system_wakeup();
}

static DECLARE_DELAYED_WORK(wake_work, wake_system);

static int __init kt_wake_init(void)
{
	schedule_delayed_work(&wake_work, msecs_to_jiffies(ms));
	return 0;
}
module_init(kt_wake_init);

static void __exit kt_wake_exit(void)
{
	cancel_delayed_work_sync(&wake_work);
}
module_exit(kt_wake_exit);

MODULE_DESCRIPTION("wakes the system from suspend to idle");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cause kernel events a known number of times: timers, work, tasklets, calls on
 * other CPUs, sleeps. Their functions have known names, so that a test can tell
 * these events from all others.
 *
 * echo "WHAT NUMBER" >/sys/module/kt_cause/parameters/run
 *
 * The write returns when everything has happened.  What has to be on another CPU is on CPU 1,
 * so tests of that write from CPU 0.
 *
 * For guest/probes/t_events_*.c, t_smoke.sh, guest/filter/t_filter_tool.sh, and
 * guest/hostile/t_hostile_leak.c.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

/* No CPU is descheduled long enough for this timer to expire. */
#define LONG_JIFFIES  10000
#define SHORT_JIFFIES 2
/*
 * If the timer expires before the thread has gone to sleep, the sleep is
 * repeated.
 */
#define SLEEP_MS 20

static DECLARE_COMPLETION(done);
static DEFINE_MUTEX(contended);

/* Not static, so that each is a separate symbol with one address. */
void kt_cause_timer_fn(struct timer_list *t);
void kt_cause_work_fn(struct work_struct *work);
void kt_cause_mutex_fn(struct work_struct *work);
void kt_cause_tasklet_fn(struct tasklet_struct *t);
void kt_cause_irq_fn(struct irq_work *work);
void kt_cause_io_sleep(void);

void kt_cause_timer_fn(struct timer_list *t)
{
	complete(&done);
}

void kt_cause_work_fn(struct work_struct *work)
{
	complete(&done);
}

/*
 * The thread that is about to wait for the mutex, and its number of sleeps
 * before.
 */
static struct task_struct *locker;
static unsigned long locker_slept;

void kt_cause_mutex_fn(struct work_struct *work)
{
	locker_slept = current->nvcsw;
	/* Pairs with the acquire in has_locker_slept(). */
	smp_store_release(&locker, current);
	mutex_lock(&contended);
	mutex_unlock(&contended);
	complete(&done);
}

void kt_cause_tasklet_fn(struct tasklet_struct *t)
{
	complete(&done);
}

static struct timer_list timer;
static DECLARE_WORK(work, kt_cause_work_fn);
static DECLARE_WORK(mutex_work, kt_cause_mutex_fn);
static DECLARE_TASKLET(tasklet, kt_cause_tasklet_fn);

/* Initialised, armed twice, and disarmed twice: by re-arming and by expiring. */
static void cause_timer(void)
{
	timer_setup(&timer, kt_cause_timer_fn, 0);
	mod_timer(&timer, jiffies + LONG_JIFFIES);
	mod_timer(&timer, jiffies + SHORT_JIFFIES);
	wait_for_completion(&done);
}

static void cause_work(void)
{
	queue_work(system_wq, &work);
	wait_for_completion(&done);
	flush_work(&work);
}

static void cause_work_on(void)
{
	queue_work_on(1, system_wq, &work);
	wait_for_completion(&done);
	flush_work(&work);
}

static void cause_tasklet(void)
{
	tasklet_schedule(&tasklet);
	wait_for_completion(&done);
	tasklet_unlock_wait(&tasklet);
}

static void ignore_call(void *arg)
{
}

void kt_cause_irq_fn(struct irq_work *work)
{
}

static struct irq_work irq;

static void cause_irq_work(void)
{
	irq_work_queue(&irq);
	irq_work_sync(&irq);
}

static void cause_call_single(void)
{
	smp_call_function_single(1, ignore_call, NULL, 1);
}

static void cause_call(void)
{
	smp_call_function(ignore_call, NULL, 1);
}

/*
 * Sleep once by @sleep. If this thread is descheduled on the way until the
 * timer has expired, it does not sleep, and the kernel does not count it.
 */
static void sleep_exactly_once(void (*sleep)(void))
{
	unsigned long before = current->nvcsw;

	do {
		sleep();
	} while (current->nvcsw == before);
}

static void sleep_long(void)
{
	msleep(SLEEP_MS);
}

static void cause_sleep(void)
{
	sleep_exactly_once(sleep_long);
}

noinline void kt_cause_io_sleep(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	io_schedule_timeout(msecs_to_jiffies(SLEEP_MS));
	/* Prevent a tail call above. */
	barrier();
}

static void cause_io_sleep(void)
{
	sleep_exactly_once(kt_cause_io_sleep);
}

/*
 * Has the worker slept in mutex_lock()?  From setting locker until this thread unlocks, it can
 * sleep nowhere else.
 */
static bool has_locker_slept(void)
{
	struct task_struct *who = smp_load_acquire(&locker);

	return who && READ_ONCE(who->nvcsw) != locker_slept;
}

/*
 * The worker sleeps once, because this thread holds the lock until it does.  This thread sleeps
 * once, too, so a test finds uninterruptible sleeps of both threads and can tell them apart.
 */
static void cause_mutex(void)
{
	locker = NULL;
	mutex_lock(&contended);
	queue_work(system_wq, &mutex_work);
	sleep_exactly_once(sleep_long);
	/* Use an interruptible sleep, because uninterruptible ones are counted. */
	while (!has_locker_slept())
		schedule_timeout_interruptible(1);
	mutex_unlock(&contended);
	wait_for_completion(&done);
	flush_work(&mutex_work);
}

static const struct {
	const char *name;
	void (*cause)(void);
} causes[] = {
	{ "timer", cause_timer },	{ "work", cause_work },
	{ "work_on", cause_work_on },	{ "tasklet", cause_tasklet },
	{ "irq_work", cause_irq_work }, { "call_single", cause_call_single },
	{ "call", cause_call },		{ "sleep", cause_sleep },
	{ "io_sleep", cause_io_sleep }, { "mutex", cause_mutex },
};

static int run_cause(const char *text, const struct kernel_param *param)
{
	unsigned int n, i;
	char what[16];

	if (sscanf(text, "%15s %u", what, &n) != 2)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(causes); i++)
		if (!strcmp(what, causes[i].name))
			break;
	if (i == ARRAY_SIZE(causes))
		return -EINVAL;
	while (n--)
		causes[i].cause();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_cause };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "what to cause, and how often");

static int __init kt_cause_init(void)
{
	init_irq_work(&irq, kt_cause_irq_fn);
	return 0;
}

/* A write returns when everything has happened: only wait until the tasklet is done. */
static void __exit kt_cause_exit(void)
{
	tasklet_kill(&tasklet);
}

module_init(kt_cause_init);
module_exit(kt_cause_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("causes kernel events for the tests of ktape");

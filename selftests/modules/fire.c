// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module kt_fire (fire.h): cause events of memory, locks, modules, power, the console, block
 * devices and interrupts in known numbers; errors are in fire_error.c. Tests call
 * it by guest/support/kt_fire.h. They expect the numbers and names that stand here:
 * guest/probes/t_events_*.c, t_irq_names.c, guest/names/t_registry.c.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/pm_wakeup.h>
#include <linux/slab.h>

#include "compat.h"
#include "fire.h"

#define NAME	      "kt-fire"
#define IRQ	      4000 /* no device has it */
#define KMALLOC_BYTES 12345
#define OBJECT_BYTES  3333
#define PAGE_ORDER    3
#define HOLD_MS	      20000 /* at most */

u64 fire_number; /* what a test cannot know of the last event: reading "fire" returns it */

struct lookup {
	const char *name;
	struct tracepoint *found;
};

static void match_tracepoint(struct tracepoint *tp, void *data)
{
	struct lookup *l = data;

	if (!strcmp(tp->name, l->name))
		l->found = tp;
}

/* Find a tracepoint of the kernel itself.  Return: NULL: there is none of this name. */
struct tracepoint *fire_find(const char *name)
{
	struct lookup l = { .name = name };

	for_each_kernel_tracepoint(match_tracepoint, &l)
		;
	return l.found;
}

static int fire_kmalloc(void)
{
	void *p = kmalloc(KMALLOC_BYTES, GFP_KERNEL);

	fire_number = ksize(p);
	kfree(p);
	return 0;
}

static struct kmem_cache *cache;

/* A cache with a constructor is not merged with others of its size. */
static void construct(void *object)
{
}

static int fire_cache(void)
{
	void *p = kmem_cache_alloc(cache, GFP_KERNEL);

	kmem_cache_free(cache, p);
	return 0;
}

static int fire_pages(void)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, PAGE_ORDER);

	if (!page)
		return -ENOMEM;
	fire_number = page_to_pfn(page);
	__free_pages(page, PAGE_ORDER);
	return 0;
}

/*
 * Hold the lock of this module's parameters until a signal comes, or for HOLD_MS: whoever
 * writes "nothing" meanwhile contends for it.
 */
static int fire_hold(void)
{
	msleep_interruptible(HOLD_MS);
	return 0;
}

/* Get and put a reference to this module: module_get and module_put. */
static int fire_use(void)
{
	if (!try_module_get(THIS_MODULE))
		return -ENOENT;
	module_put(THIS_MODULE);
	return 0;
}

/* Only take the lock of this module's parameters, as each write to one does. */
static int fire_nothing(void)
{
	return 0;
}

static int fire_idle_miss(void)
{
	return FIRE(cpu_idle_miss, (3, 2, true), unsigned int, unsigned int, bool);
}

static int fire_frequency(void)
{
	return FIRE(cpu_frequency, (1234567, 2), unsigned int, unsigned int);
}

static int fire_suspend(void)
{
	return FIRE(suspend_resume, ("kt-step", -7, true), const char *, int, bool);
}

/* A line longer than the longest recorded one. */
static int fire_console(void)
{
	static char text[1500];

	memset(text, 'x', sizeof(text));
	memcpy(text, "kt-long", 7);
	text[sizeof(text) - 1] = '\n';
	return FIRE(console, (text, sizeof(text)), const char *, size_t);
}

static struct platform_device *device;

/* Resumed, idle, suspended. */
static int fire_rpm(void)
{
	pm_runtime_get_sync(&device->dev);
	pm_runtime_put_sync(&device->dev);
	return 0;
}

static struct wakeup_source *source;

static int fire_wakeup(void)
{
	if (!source)
		return -ENOENT;
	__pm_stay_awake(source);
	__pm_relax(source);
	return 0;
}

static const char *disk_name = "kt-disk";

/*
 * A request of a disk that does not exist; the members that probes read are
 * valid.
 */
static int fire_request(int (*fire)(struct request *rq))
{
	struct request_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);
	struct gendisk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	struct request *rq = kzalloc(sizeof(*rq), GFP_KERNEL);
	int ret = -ENOMEM;

	if (q && disk && rq) {
		disk->major = 300;
		disk->first_minor = 5;
		strscpy(disk->disk_name, disk_name, sizeof(disk->disk_name));
		rq->q = q;
		kt_rq_disk(rq) = disk;
		rq->cmd_flags = REQ_OP_WRITE | REQ_SYNC;
		rq->__sector = 0x123456789aULL;
		rq->__data_len = 8192;
		ret = fire(rq);
	}
	kfree(rq);
	kfree(disk);
	kfree(q);
	return ret;
}

static int requeue(struct request *rq)
{
	return FIRE(block_rq_requeue, (rq), struct request *);
}

static int merge_request(struct request *rq)
{
	return FIRE(block_rq_merge, (rq), struct request *);
}

static int error(struct request *rq)
{
	return FIRE(block_rq_error, (rq, BLK_STS_IOERR, 512), struct request *,
		    blk_status_t, unsigned int);
}

static int fire_requeue(void)
{
	return fire_request(requeue);
}

static int fire_merge(void)
{
	return fire_request(merge_request);
}

/* Another disk with the same number. */
static int fire_other_disk(void)
{
	int ret;

	disk_name = "kt-other";
	ret = fire_request(requeue);
	disk_name = "kt-disk";
	return ret;
}

static int fire_irq(const char *of)
{
	static char name[16];
	static struct irqaction action = { .name = name };

	strscpy(name, of, sizeof(name));
	return FIRE(irq_handler_entry, (IRQ, &action), int, struct irqaction *);
}

static int fire_first_irq(void)
{
	return fire_irq("kt-irq");
}

/*
 * As if the interrupt had been freed and requested for another handler, with all structures
 * at the same addresses.
 */
static int fire_other_irq(void)
{
	return fire_irq("kt-other");
}

static int fire_block_error(void)
{
	return fire_request(error);
}

static const struct fire fires[] = { { "kmalloc", fire_kmalloc },
				     { "cache", fire_cache },
				     { "pages", fire_pages },
				     { "hold", fire_hold },
				     { "nothing", fire_nothing },
				     { "use", fire_use },
				     { "idle_miss", fire_idle_miss },
				     { "frequency", fire_frequency },
				     { "suspend", fire_suspend },
				     { "console", fire_console },
				     { "rpm", fire_rpm },
				     { "wakeup", fire_wakeup },
				     { "requeue", fire_requeue },
				     { "merge", fire_merge },
				     { "other_disk", fire_other_disk },
				     { "irq", fire_first_irq },
				     { "other_irq", fire_other_irq },
				     { "block_error", fire_block_error },
				     {} };

static int run_fire(const struct fire *table, const char *name)
{
	for (; table->name; table++)
		if (sysfs_streq(name, table->name))
			return table->run();
	return -EINVAL;
}

static int fire_by_name(const char *name, const struct kernel_param *kp)
{
	int ret = run_fire(fires, name);

	return ret == -EINVAL ? run_fire(fire_errors, name) : ret;
}

static int get_fire(char *to, const struct kernel_param *kp)
{
	return sprintf(to, "%llu\n", fire_number);
}

static const struct kernel_param_ops fire_ops = {
	.set = fire_by_name,
	.get = get_fire,
};

module_param_cb(fire, &fire_ops, NULL, 0600);
MODULE_PARM_DESC(fire, "name of the event to cause");

static int __init fire_init(void)
{
	int ret = -ENOMEM;

	cache = kmem_cache_create("kt_fire", OBJECT_BYTES, 8, 0, construct);
	if (!cache)
		return ret;
	device = platform_device_register_simple(NAME, 0, NULL, 0);
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto err_cache;
	}
	ret = fire_error_init();
	if (ret)
		goto err_device;
	pm_runtime_enable(&device->dev);
	/* NULL in kernels that cannot suspend. */
	source = wakeup_source_register(NULL, NAME);
	return 0;

err_device:
	platform_device_unregister(device);
err_cache:
	kmem_cache_destroy(cache);
	return ret;
}

static void __exit fire_exit(void)
{
	wakeup_source_unregister(source);
	pm_runtime_disable(&device->dev);
	fire_error_exit();
	platform_device_unregister(device);
	kmem_cache_destroy(cache);
}

module_init(fire_init);
module_exit(fire_exit);

MODULE_DESCRIPTION("causes events for the tests of ktape");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ktape_mark: events of user programs (uapi/ktape/mark.h).
 *
 * Who opened it with CAP_PERFMON may emit all of it.  Others share a few token
 * buckets by uid, one set for events and one for names, and beyond these one of
 * all of them, so that they can neither fill the rings of all nor the control
 * rings, where names go: descriptors, processes and user ids cost nothing.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "emit/emit.h"
#include "dev.h"

#define BUCKET_BITS	8

/* A long event counts as several: one more for each so many bytes. */
#define BYTES_OF_ONE	64U

/* All users together have the rate of so many. */
#define USERS_AT_ONCE	4

/* Names come seldom, and each is a record in all control rings' sessions. */
#define NAMES_AT_ONCE	64
#define NAMES_RATE	16		/* a second */

/* Bytes that need no allocation. */
#define BYTES_AT_HAND	128

/* Majors from here on are those of the kernel itself. */
#define MAJOR_OF_KERNEL	KTAPE_MAJOR_KERNEL

/**
 * struct kt_limit - how often something may happen
 * @gap: ns between two in the long run
 * @slack: ns by which one may be early
 */
struct kt_limit {
	u64 gap;
	u64 slack;
};

static struct kt_limit event_limit, all_events_limit;
static const struct kt_limit name_limit = {
	.gap = NSEC_PER_SEC / NAMES_RATE,
	.slack = NSEC_PER_SEC / NAMES_RATE * (NAMES_AT_ONCE - 1),
};

/* When the next one would be due; users with the same hash share one. */
static atomic64_t event_due[1 << BUCKET_BITS];
static atomic64_t name_due[1 << BUCKET_BITS];
/* The same for all of them. */
static atomic64_t all_events_due, all_names_due;

/* @n more?  Who is on time may go beyond, and waits the longer afterwards. */
static bool bucket_take(atomic64_t *due, const struct kt_limit *limit, u32 n)
{
	s64 now = ktime_get_ns(), old = atomic64_read(due), from;

	do {
		from = max(old, now);
		if (from > now + (s64)limit->slack)
			return false;
	} while (
		!atomic64_try_cmpxchg(due, &old, from + (s64)(n * limit->gap)));
	return true;
}

static bool mark_is_privileged(const struct file *file)
{
	return file->private_data;
}

static unsigned int mark_bucket_of(const struct file *file)
{
	return hash_32(__kuid_val(file->f_cred->uid), BUCKET_BITS);
}

/* May this file emit so many bytes now? If not it is counted. */
static int mark_admit(const struct file *file, u32 opcode, u32 bytes)
{
	const u32 n = 1 + bytes / BYTES_OF_ONE;

	if (mark_is_privileged(file) || !static_key_enabled(&ktape_listening))
		return 0;
	if (event_limit.gap &&
	    bucket_take(&event_due[mark_bucket_of(file)], &event_limit, n) &&
	    bucket_take(&all_events_due, &all_events_limit, n))
		return 0;
	kt_emit_lost(opcode, KTAPE_LOST_RATE);
	return -EBUSY;
}

/* ---- bytes from user space ------------------------------------------------ */

/**
 * struct kt_bytes - a copy of a few bytes
 * @p: where they are; ends with the scope
 * @few: room for those that need no allocation
 */
struct kt_bytes {
	char *p;
	char few[BYTES_AT_HAND];
};

static int bytes_alloc(struct kt_bytes *b, size_t length)
{
	b->p = b->few;
	if (length > sizeof(b->few))
		b->p = kmalloc(length, GFP_KERNEL);
	return b->p ? 0 : -ENOMEM;
}

static void bytes_free(struct kt_bytes *b)
{
	if (b->p != b->few)
		kfree(b->p);
}

/* What came is dropped by the caller if 0 is returned. */
static int bytes_get(struct kt_bytes *b, u64 from, u32 length)
{
	int ret = bytes_alloc(b, length);

	if (ret)
		return ret;
	if (!copy_from_user(b->p, u64_to_user_ptr(from), length))
		return 0;
	bytes_free(b);
	return -EFAULT;
}

/* ---- write(): text -------------------------------------------------------- */

static ssize_t kt_mark_write(struct kiocb *iocb, struct iov_iter *from)
{
	const size_t count = iov_iter_count(from);
	size_t length = min_t(size_t, count, KTAPE_MARK_TEXT_MAX + 1);
	struct kt_bytes text;
	ssize_t ret;

	ret = bytes_alloc(&text, length);
	if (ret)
		return ret;
	ret = -EFAULT;
	if (!copy_from_iter_full(text.p, length, from))
		goto out;
	ret = mark_admit(iocb->ki_filp, KTAPE_EV_TEXT, length);
	if (ret)
		goto out;
	if (length == count && length && text.p[length - 1] == '\n')
		length--;
	kt_emit_text(text.p, min_t(size_t, length, KTAPE_MARK_TEXT_MAX),
		     length > KTAPE_MARK_TEXT_MAX);
	ret = count;
out:
	bytes_free(&text);
	return ret;
}

/* ---- ioctl() --------------------------------------------------------------- */

union kt_mark_arg {
	u32 size;
	struct ktape_mark mark;
	struct ktape_trace trace;
	struct ktape_name name;
};

static long mark_ioctl_mark(const struct file *file,
			    const union kt_mark_arg *arg)
{
	const struct ktape_mark *m = &arg->mark;
	const u32 length = min_t(u32, m->length, KTAPE_MARK_TEXT_MAX);
	struct kt_bytes message;
	long ret;

	if (m->opcode < KTAPE_EV_MARK || m->opcode > KTAPE_EV_MARK_VALUE ||
	    (m->flags & ~KTAPE_MARK_TASK) || m->reserved ||
	    (m->value && m->opcode != KTAPE_EV_MARK_VALUE) ||
	    (m->length && !m->message))
		return -EINVAL;
	ret = bytes_get(&message, m->message, length);
	if (ret)
		return ret;
	ret = mark_admit(file, m->opcode, length);
	if (!ret)
		kt_emit_mark(m->opcode, m->flags & KTAPE_MARK_TASK, m->id,
			     m->value, message.p, length);
	bytes_free(&message);
	return ret;
}

static bool mark_trace_ok(const struct ktape_trace *t)
{
	const bool exception = t->opcode == KTAPE_EV_EXCEPTION;
	u32 flags = KTAPE_TRACE_BUFFER | (exception ? 0 : KTAPE_TRACE_TASK);
	u32 i;

	if ((!exception && t->opcode != KTAPE_EV_USER_EVENT) ||
	    (t->flags & ~flags) || t->reserved || t->nargs > KTAPE_TRACE_ARGS ||
	    t->severity > (exception ? KTAPE_HW_SEVERITY3 : 0))
		return false;
	for (i = t->nargs; i < KTAPE_TRACE_ARGS; i++)
		if (t->args[i])
			return false;
	return t->flags & KTAPE_TRACE_BUFFER || (!t->length && !t->buffer);
}

static long mark_ioctl_trace(const struct file *file,
			     const union kt_mark_arg *arg)
{
	const struct ktape_trace *t = &arg->trace;
	const bool exception = t->opcode == KTAPE_EV_EXCEPTION;
	struct kt_bytes buffer;
	long ret;

	if (!mark_trace_ok(t))
		return -EINVAL;
	if (t->length > KTAPE_MARK_BYTES_MAX)
		return -E2BIG;
	if (exception &&
	    (!mark_is_privileged(file) || t->code >> 8 >= MAJOR_OF_KERNEL))
		return -EPERM;
	ret = bytes_get(&buffer, t->buffer, t->length);
	if (ret)
		return ret;
	ret = mark_admit(file, t->opcode, t->length);
	if (ret)
		goto out;
	if (exception)
		kt_exception(t->severity, t->code, t->args, t->nargs, buffer.p,
			     t->length, t->flags & KTAPE_TRACE_BUFFER);
	else
		ktape_emit_user(t->flags & KTAPE_TRACE_TASK, t->code, t->args,
				t->nargs, buffer.p, t->length);
out:
	bytes_free(&buffer);
	return ret;
}

static long mark_ioctl_name(const struct file *file,
			    const union kt_mark_arg *arg)
{
	const struct ktape_name *n = &arg->name;

	if (n->flags || strnlen(n->name, sizeof(n->name)) == sizeof(n->name))
		return -EINVAL;
	if (n->type == KTAPE_OBJ_EXCEPTION && n->id >= MAJOR_OF_KERNEL &&
	    n->id < 1U << 24)
		return -EPERM;
	if (mark_is_privileged(file))
		return kt_emit_name(n, NULL);
	if (n->type == KTAPE_OBJ_EXCEPTION || n->type == KTAPE_OBJ_ISR)
		return -EPERM;
	if (!bucket_take(&name_due[mark_bucket_of(file)], &name_limit, 1) ||
	    !bucket_take(&all_names_due, &name_limit, 1))
		return -EBUSY;
	return kt_emit_name(n, &file->f_cred->uid);
}

static const struct {
	unsigned int cmd;
	u32 size;
	long (*call)(const struct file *file, const union kt_mark_arg *arg);
} mark_ioctls[] = {
	{ KTAPE_MARK_IOC_MARK, sizeof(struct ktape_mark), mark_ioctl_mark },
	{ KTAPE_MARK_IOC_TRACE, sizeof(struct ktape_trace), mark_ioctl_trace },
	{ KTAPE_MARK_IOC_NAME, sizeof(struct ktape_name), mark_ioctl_name },
};

static long kt_mark_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	void __user *user = (void __user *)arg;
	union kt_mark_arg copy = {};
	unsigned int i;
	u32 size;
	int ret;

	for (i = 0; i < ARRAY_SIZE(mark_ioctls) && mark_ioctls[i].cmd != cmd;
	     i++)
		;
	if (i == ARRAY_SIZE(mark_ioctls))
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < sizeof(u32) * 2)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&copy, mark_ioctls[i].size, user, size);
	if (ret)
		return ret;
	/* The size that was checked, not the one that was copied. */
	copy.size = size;
	return mark_ioctls[i].call(file, &copy);
}

/* ---- the device ------------------------------------------------------------ */

static int kt_mark_open(struct inode *inode, struct file *file)
{
	/* Emitting is writing, also by ioctl(). */
	if (!(file->f_mode & FMODE_WRITE))
		return -EACCES;
	/* Of the opener; a descriptor handed on keeps his rights. */
	file->private_data = perfmon_capable() ? file : NULL;
	return stream_open(inode, file);
}

static const struct file_operations mark_fops = {
	.owner = THIS_MODULE,
	.open = kt_mark_open,
	.write_iter = kt_mark_write,
	.unlocked_ioctl = kt_mark_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice mark_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ktape_mark",
	.fops = &mark_fops,
};

/**
 * kt_dev_mark_init() - make the device
 * @mode: its permissions
 * @rate: short events a second of a user without rights, and a quarter of those
 *	of all of them; a tenth of them at once; 0: none
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_dev_mark_init(unsigned int mode, unsigned int rate)
{
	if (rate) {
		event_limit.gap = max_t(u64, NSEC_PER_SEC / rate, 1);
		event_limit.slack = NSEC_PER_SEC / 10;
		all_events_limit = event_limit;
		all_events_limit.gap =
			max_t(u64, event_limit.gap / USERS_AT_ONCE, 1);
	}
	mark_misc.mode = mode;
	return misc_register(&mark_misc);
}

/**
 * kt_dev_mark_exit() - remove the device
 *
 * Context: module unload; nobody has it open.
 */
void kt_dev_mark_exit(void)
{
	misc_deregister(&mark_misc);
}

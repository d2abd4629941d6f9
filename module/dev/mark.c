// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ktape_mark: events and names of user programs (uapi/ktape/mark.h).
 *
 * A descriptor opened with CAP_PERFMON may emit without limits.  Without it, events
 * and names are limited in rate, per user and for all users together.  The limit
 * is per user and not per descriptor or process, because a program can create those
 * at no cost.  A user name space gives a program several uids, so there is also a
 * limit for all users.
 * So unprivileged programs can fill neither the event rings nor the control rings,
 * where names go in a discard session.
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
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include <ktape/formats.h>

#include "emit/emit.h"
#include "dev.h"

#define BUCKET_BITS 8

/* An event counts as one, and one more for each BYTES_OF_ONE bytes of content. */
#define BYTES_OF_ONE 64U

/* The limit for all users together is this many times that of one user. */
#define USERS_AT_ONCE 4

/*
 * Lower limits for names, for one user and for all users together: names are rare, and every
 * session records each.
 */
#define NAMES_AT_ONCE 64
#define NAMES_RATE    16 /* per second */

/* A copy of at most this many bytes is on the stack. */
#define BYTES_AT_HAND 128

/* Exception majors from here on belong to the kernel. */
#define MAJOR_OF_KERNEL KTAPE_MAJOR_KERNEL

/**
 * struct kt_limit - a rate limit
 * @interval: nanoseconds between two events on average; 0 = none allowed
 * @slack: nanoseconds by which an event may be early, which allows bursts
 */
struct kt_limit {
	u64 interval;
	u64 slack;
};

static struct kt_limit event_limit, all_events_limit;
static const struct kt_limit name_limit = {
	.interval = NSEC_PER_SEC / NAMES_RATE,
	.slack = (u64)NSEC_PER_SEC / NAMES_RATE * (NAMES_AT_ONCE - 1),
};

/* Monotonic time, in ns, of the next event on average; per hash of the user id. */
static atomic64_t event_due[1 << BUCKET_BITS];
static atomic64_t name_due[1 << BUCKET_BITS];
/* The same for all users together. */
static atomic64_t all_events_due, all_names_due;

/*
 * Take @n events out of a limit.  An event that is due is admitted even if @n is
 * large; the next one is then due @n intervals later.
 * Return: false: the limit is exceeded.
 */
static bool bucket_take(atomic64_t *due, const struct kt_limit *limit, u32 n)
{
	s64 now = ktime_get_ns(), old = atomic64_read(due), from;

	do {
		from = max(old, now);
		if (from > now + (s64)limit->slack)
			return false;
	} while (!atomic64_try_cmpxchg(due, &old,
				       from + (s64)(n * limit->interval)));
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

/*
 * Check the rate limits of an event with @bytes of content.  An event that only the limit of
 * all users refuses has been taken out of its user's limit.
 * Return: 0, also while no session wants such events; -EBUSY: a limit is exceeded, and the
 * event is counted as lost.
 */
static int mark_admit(const struct file *file, u32 opcode, u32 bytes)
{
	const u32 n = 1 + bytes / BYTES_OF_ONE;

	if (mark_is_privileged(file) || !static_key_enabled(&ktape_listening))
		return 0;
	if (event_limit.interval &&
	    bucket_take(&event_due[mark_bucket_of(file)], &event_limit, n) &&
	    bucket_take(&all_events_due, &all_events_limit, n))
		return 0;
	kt_emit_lost(opcode, KTAPE_LOST_RATE);
	return -EBUSY;
}

/* ---- bytes from user space ------------------------------------------------ */

/**
 * struct kt_bytes - bytes copied from user space
 * @p: the copy, released by bytes_free()
 * @few: buffer for a copy of at most BYTES_AT_HAND bytes
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

/* Copy bytes from user space.  If this returns 0, the caller calls bytes_free(). */
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

/*
 * Record a text, without a newline at its end.  Of a long text the first KTAPE_MARK_TEXT_MAX
 * bytes are recorded; one byte more is read, because it says that the text is cut.
 * Return: all bytes of the write, also if the text was cut; or a negative errno.
 */
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

static long mark_ioctl_mark(const struct file *file, const union kt_mark_arg *arg)
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

	if ((!exception && t->opcode != KTAPE_EV_USER_EVENT) ||
	    (t->flags & ~flags) || t->reserved || t->nargs > KTAPE_TRACE_ARGS ||
	    t->severity > (exception ? KTAPE_HW_SEVERITY3 : 0))
		return false;
	if (memchr_inv(t->args + t->nargs, 0,
		       (KTAPE_TRACE_ARGS - t->nargs) * sizeof(*t->args)))
		return false;
	return t->flags & KTAPE_TRACE_BUFFER || (!t->length && !t->buffer);
}

static long mark_ioctl_trace(const struct file *file, const union kt_mark_arg *arg)
{
	const struct ktape_trace *t = &arg->trace;
	const bool exception = t->opcode == KTAPE_EV_EXCEPTION;
	struct kt_bytes buffer;
	long ret;

	if (!mark_trace_ok(t))
		return -EINVAL;
	if (t->length > KTAPE_MARK_BYTES_MAX)
		return -E2BIG;
	if ((exception && !mark_is_privileged(file)) ||
	    t->code >= (exception ? MAJOR_OF_KERNEL << 8 : KTAPE_FORMAT_ID_FIRST))
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

static long mark_ioctl_name(const struct file *file, const union kt_mark_arg *arg)
{
	const struct ktape_name *n = &arg->name;

	if (n->flags || strnlen(n->name, sizeof(n->name)) == sizeof(n->name))
		return -EINVAL;
	/* Larger numbers than 24 bits are no majors: kt_emit_name() returns -EINVAL. */
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

static long kt_mark_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	union kt_mark_arg copy = {};
	unsigned int i;
	u32 size;
	int ret;

	for (i = 0; i < ARRAY_SIZE(mark_ioctls) && mark_ioctls[i].cmd != cmd; i++)
		;
	if (i == ARRAY_SIZE(mark_ioctls))
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	/* As for /dev/ktape: at least the size and one more word. */
	if (size < sizeof(u32) * 2)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&copy, mark_ioctls[i].size, user, size);
	if (ret)
		return ret;
	/* User space may have changed the size after it was checked. */
	copy.size = size;
	return mark_ioctls[i].call(file, &copy);
}

/* ---- the device ------------------------------------------------------------ */

static int kt_mark_open(struct inode *inode, struct file *file)
{
	/* Emitting events is writing, also through an ioctl. */
	if (!(file->f_mode & FMODE_WRITE))
		return -EACCES;
	/*
	 * The opener's rights also apply if the descriptor is passed to another process.
	 * mark_is_privileged() only asks whether the pointer is NULL.
	 */
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
 * kt_dev_mark_init() - register /dev/ktape_mark
 * @mode: permissions of the device node
 * @rate: short events per second of an unprivileged user; four times as many for
 *	all of them; a tenth of a second's events in one burst; 0 = none allowed
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_dev_mark_init(unsigned int mode, unsigned int rate)
{
	if (rate) {
		event_limit.interval = max_t(u64, NSEC_PER_SEC / rate, 1);
		event_limit.slack = NSEC_PER_SEC / 10;
		all_events_limit = event_limit;
		all_events_limit.interval =
			max_t(u64, event_limit.interval / USERS_AT_ONCE, 1);
	}
	mark_misc.mode = mode;
	return misc_register(&mark_misc);
}

/**
 * kt_dev_mark_exit() - unregister /dev/ktape_mark
 *
 * Context: module unload; no descriptor is open.
 */
void kt_dev_mark_exit(void)
{
	misc_deregister(&mark_misc);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ktape: opening and closing of descriptors, their rights, and the features
 * of the module.  A descriptor of open(2) stands for session 0, a descriptor that
 * the CREATE or OPEN ioctl returned for the session named there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "names/names.h"
#include "persist/persist.h"
#include "internal.h"

static struct kt_session *dev_session0;

/*
 * dev_mode= lets the group or others read or write: the permissions of the device
 * node decide, and CAP_PERFMON is not needed.
 */
static bool dev_by_mode;

static void file_free(struct kt_file *kf)
{
	kt_reader_exit(&kf->reader, kf->session);
	if (kf->polled)
		atomic_dec(&kf->session->owner.waiting);
	atomic_dec(&kf->session->files);
	if (kf->holds)
		kt_session_unhold(kf->session);
	kt_session_put(kf->session);
	kt_quota_return(&kf->quota);
	kvfree(kf->buf);
	kfree(kf);
}

/*
 * Return true if the caller has the right to control sessions, also by a descriptor
 * that it opens for reading.
 */
static bool file_is_trusted(bool control)
{
	return control || !dev_by_mode ||
	       ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/*
 * Allocate the state of a descriptor for @s, which may control the session if @control
 * is true.  Takes over the caller's reference to the session on success.
 */
static struct kt_file *file_make(struct kt_session *s, bool control)
{
	struct kt_file *kf = kzalloc(sizeof(*kf), GFP_KERNEL_ACCOUNT);
	bool trusted = file_is_trusted(control);
	int ret = -ENOMEM;

	if (!kf)
		return ERR_PTR(-ENOMEM);
	kf->session = s;
	mutex_init(&kf->lock);
	if (!trusted) {
		ret = kt_quota_take(&kf->quota,
				    sizeof(*kf) + kt_reader_bytes());
		if (ret)
			goto err;
	}
	ret = kt_reader_init(&kf->reader, s, trusted);
	if (ret)
		goto err_quota;
	ret = -ENOENT;
	if (control && !kt_session_hold(s))
		goto err_reader;
	kf->holds = control;
	atomic_inc(&s->files);
	return kf;

err_reader:
	kt_reader_exit(&kf->reader, s);
err_quota:
	kt_quota_return(&kf->quota);
err:
	kfree(kf);
	return ERR_PTR(ret);
}

/* Make a file a stream that has no position, but can seek to both of its ends. */
static int file_open_stream(struct inode *inode, struct file *file)
{
	int ret = stream_open(inode, file);

	file->f_mode |= FMODE_LSEEK;
	return ret;
}

/*
 * Give a file the address space of its session, so that the session's mappings, and
 * no others, can be unmapped.  All files of anon_inode_getfile() share one inode.
 */
static void file_own_mapping(struct file *file, struct kt_session *s)
{
	const struct address_space *shared = file->f_mapping;

	/* The same for all files. */
	WRITE_ONCE(s->mapping.host, shared->host);
	WRITE_ONCE(s->mapping.a_ops, shared->a_ops);
	file->f_mapping = &s->mapping;
}

/**
 * kt_dev_trusted() - check the caller's rights, but not lockdown
 *
 * With dev_mode= the kernel has checked the permissions of the node when the
 * caller's descriptor was opened: a descriptor that is passed on passes on the right.
 *
 * Context: process context.
 * Return: true if the caller may use sessions other than its descriptor's.
 */
bool kt_dev_trusted(void)
{
	return dev_by_mode || perfmon_capable();
}

/**
 * kt_dev_allowed() - check whether the caller may open or create a session
 *
 * Context: process context.
 * Return: 0; -EPERM: no CAP_PERFMON, or lockdown forbids tracing.
 */
int kt_dev_allowed(void)
{
	return kt_dev_trusted() ? security_locked_down(LOCKDOWN_TRACEFS) :
				  -EPERM;
}

/**
 * kt_dev_reads_log() - check whether the caller may read the kernel's log
 *
 * Modules do not see dmesg_restrict, so the capability is needed even if the kernel
 * lets everybody read its log.
 *
 * Context: process context.
 * Return: true if the caller has CAP_SYSLOG.
 */
bool kt_dev_reads_log(void)
{
	return capable(CAP_SYSLOG);
}

/**
 * kt_dev_may_control() - check whether a descriptor may control its session
 * @file: the descriptor
 *
 * Context: any.
 * Return: true if it was opened for writing, by a process with the rights.
 */
bool kt_dev_may_control(const struct file *file)
{
	/* The opener's rights count, not those of a process that inherits the file. */
	return (file->f_mode & FMODE_WRITE) &&
	       (dev_by_mode ||
		file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
		file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN));
}

static int kt_dev_open(struct inode *inode, struct file *file)
{
	struct kt_file *kf;
	int ret = kt_dev_allowed();

	if (ret)
		return ret;
	refcount_inc(&dev_session0->users);
	kf = file_make(dev_session0, kt_dev_may_control(file));
	if (IS_ERR(kf)) {
		kt_session_put(dev_session0);
		return PTR_ERR(kf);
	}
	/* CLEAR for ": > /dev/ktape", because devices have no ftruncate(). */
	if ((file->f_flags & O_TRUNC) && (file->f_mode & FMODE_WRITE))
		kt_session_clear(dev_session0);
	file->private_data = kf;
	return file_open_stream(inode, file);
}

static int kt_dev_release(struct inode *inode, struct file *file)
{
	file_free(file->private_data);
	return 0;
}

/**
 * kt_dev_open_session() - open a session
 * @s: the session; takes over the caller's reference, also on failure
 * @flags: O_RDWR or O_RDONLY
 *
 * Context: process context, may sleep.
 * Return: the file, or ERR_PTR.
 */
struct file *kt_dev_open_session(struct kt_session *s, int flags)
{
	/* As kt_dev_may_control() says of the file: the caller is its opener. */
	struct kt_file *kf =
		file_make(s, flags == O_RDWR && kt_dev_trusted());
	struct file *file;

	if (IS_ERR(kf)) {
		kt_session_put(s);
		return ERR_CAST(kf);
	}
	file = anon_inode_getfile("[ktape]", &kt_dev_fops, kf,
				  flags | O_CLOEXEC);
	if (IS_ERR(file)) {
		file_free(kf);
		return file;
	}
	file_own_mapping(file, s);
	file_open_stream(file_inode(file), file);
	return file;
}

const struct file_operations kt_dev_fops = {
	.owner = THIS_MODULE,
	.open = kt_dev_open,
	.release = kt_dev_release,
	.read = kt_dev_read,
	.poll = kt_dev_poll,
	.mmap = kt_dev_mmap,
	.unlocked_ioctl = kt_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = kt_dev_llseek,
};

/* Describe how full the registry is, and which names had no room. */
static void features_of_names(struct ktape_features *f)
{
	unsigned int i;

	f->registry_entries = kt_registry_entries();
	f->registry_max = kt_registry_max();
	f->registry_limit = kt_registry_limit();
	f->names_reused = kt_registry_reused();
	f->names_evicted = kt_registry_evicted();
	f->names_dropped = 0;
	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++) {
		f->no_room[i] = kt_registry_no_room(i);
		if (i != KTAPE_NO_ROOM_REGION)
			f->names_dropped += f->no_room[i];
	}
}

/**
 * kt_ioctl_features() - return what this module and kernel can do
 * @file: the descriptor
 * @arg: struct ktape_features; filled
 *
 * Context: process context.
 * Return: 0.
 */
long kt_ioctl_features(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_features *f = &arg->features;

	f->clock = kt_clock_id();
	f->features = KTAPE_FEATURE_CREATE | KTAPE_FEATURE_DISCARD |
		      KTAPE_FEATURE_FILTER | KTAPE_FEATURE_NAMES |
		      KTAPE_FEATURE_SNAPSHOT | KTAPE_FEATURE_TRIGGER |
		      KTAPE_FEATURE_GROWS;
	if (!kt_dcache_is_aliasing())
		f->features |= KTAPE_FEATURE_MMAP;
	if (IS_ENABLED(CONFIG_CGROUPS))
		f->features |= KTAPE_FEATURE_CGROUP;
	if (IS_ENABLED(CONFIG_TRACEPOINTS))
		f->features |= KTAPE_FEATURE_TRACEPOINTS;
	if (IS_ENABLED(CONFIG_KPROBES))
		f->features |= KTAPE_FEATURE_KPROBE;
	if (IS_ENABLED(CONFIG_STACKTRACE))
		f->features |= KTAPE_FEATURE_STACK;
	if (kt_persist_size())
		f->features |= KTAPE_FEATURE_PERSIST;
	if (!IS_ENABLED(CONFIG_64BIT))
		f->features |= KTAPE_FEATURE_POS32;
	f->clock_hz = kt_clock_hz();
	f->page_size = PAGE_SIZE;
	f->sessions_max = KT_SESSIONS;
	f->cpus = nr_cpu_ids;
	features_of_names(f);
	f->table_hash = kt_metadata_hash();
	memcpy(f->uuid, kt_uuid, sizeof(f->uuid));
	return 0;
}

static struct miscdevice dev_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ktape",
	.fops = &kt_dev_fops,
};

/**
 * kt_dev_init() - register /dev/ktape
 * @session0: session of descriptors from open(2)
 * @mode: permissions of the device node
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_dev_init(struct kt_session *session0, unsigned int mode)
{
	dev_session0 = session0;
	dev_misc.mode = mode;
	dev_by_mode = mode & 0066;
	if (kt_dcache_is_aliasing())
		pr_warn("the data cache of this CPU has aliases: rings cannot be mapped; use read() on /dev/ktape\n");
	return misc_register(&dev_misc);
}

/**
 * kt_dev_exit() - unregister /dev/ktape
 *
 * Context: module unload; no descriptor is open.
 */
void kt_dev_exit(void)
{
	misc_deregister(&dev_misc);
}

// SPDX-License-Identifier: GPL-2.0-only
/* /dev/ktape: who may open it, and what a descriptor stands for. */
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
#include "dev.h"

static struct kt_session *main_session;

static void free_file(struct kt_file *kf)
{
	kt_reader_exit(&kf->reader, kf->session);
	if (kf->polled)
		atomic_dec(&kf->session->owner.waiting);
	atomic_dec(&kf->session->files);
	kt_session_put(kf->session);
	kvfree(kf->buf);
	kfree(kf);
}

/* Of a session of which the caller is a user: that is the file's from now on. */
static struct kt_file *make_file(struct kt_session *s)
{
	struct kt_file *kf = kzalloc(sizeof(*kf), GFP_KERNEL_ACCOUNT);

	if (!kf)
		goto err;
	kf->session = s;
	mutex_init(&kf->lock);
	if (kt_reader_init(&kf->reader, s))
		goto err;
	atomic_inc(&s->files);
	return kf;
err:
	kfree(kf);
	kt_session_put(s);
	return ERR_PTR(-ENOMEM);
}

/* Packets follow each other; the only places to seek are both ends. */
static int open_stream(struct inode *inode, struct file *file)
{
	int ret = stream_open(inode, file);

	file->f_mode |= FMODE_LSEEK;
	return ret;
}

/**
 * kt_dev_allowed() - may the caller open a session?
 *
 * Context: process context.
 * Return: 0, -EPERM, or what lockdown says.
 */
int kt_dev_allowed(void)
{
	return perfmon_capable() ? security_locked_down(LOCKDOWN_TRACEFS) :
				   -EPERM;
}

static int kt_dev_open(struct inode *inode, struct file *file)
{
	struct kt_file *kf;
	int ret = kt_dev_allowed();

	if (ret)
		return ret;
	refcount_inc(&main_session->users);
	kf = make_file(main_session);
	if (IS_ERR(kf))
		return PTR_ERR(kf);
	/* So that ": > /dev/ktape" clears; there is no ftruncate() on devices. */
	if ((file->f_flags & O_TRUNC) && (file->f_mode & FMODE_WRITE))
		kt_session_clear(main_session);
	file->private_data = kf;
	return open_stream(inode, file);
}

static int kt_dev_release(struct inode *inode, struct file *file)
{
	free_file(file->private_data);
	return 0;
}

/**
 * kt_dev_open_session() - a file for a session
 * @s: the session, of which the caller is a user; that is the file's from now
 *	on, also when this fails
 * @flags: O_RDWR or O_RDONLY
 *
 * Context: process context, may sleep.
 * Return: the file, or ERR_PTR.
 */
struct file *kt_dev_open_session(struct kt_session *s, int flags)
{
	struct kt_file *kf = make_file(s);
	struct file *file;

	if (IS_ERR(kf))
		return ERR_CAST(kf);
	file = anon_inode_getfile("[ktape]", &kt_dev_fops, kf,
				  flags | O_CLOEXEC);
	if (IS_ERR(file))
		free_file(kf);
	else
		open_stream(file_inode(file), file);
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

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ktape",
	.fops = &kt_dev_fops,
	.mode = 0600,
};

/**
 * kt_dev_init() - make the device
 * @session0: the session that it stands for
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_dev_init(struct kt_session *session0)
{
	main_session = session0;
	if (kt_dcache_is_aliasing())
		pr_warn("the data cache of this CPU has aliases: rings cannot be mapped, read /dev/ktape\n");
	return misc_register(&device);
}

/**
 * kt_dev_exit() - remove the device
 *
 * Context: module unload; nobody has it open.
 */
void kt_dev_exit(void)
{
	misc_deregister(&device);
}

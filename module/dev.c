// SPDX-License-Identifier: GPL-2.0-only
/* /dev/ktape: who may open it, and what a descriptor stands for. */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "dev.h"

static struct kt_session *main_session;

static void free_file(struct kt_file *kf)
{
	kt_reader_exit(&kf->reader, kf->session);
	if (kf->polled)
		atomic_dec(&kf->session->owner.waiting);
	if (kf->own)
		kt_session_destroy(kf->session);
	kvfree(kf->buf);
	kfree(kf);
}

static struct kt_file *make_file(struct kt_session *s)
{
	struct kt_file *kf = kzalloc(sizeof(*kf), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!kf)
		return ERR_PTR(-ENOMEM);
	kf->session = s;
	mutex_init(&kf->lock);
	ret = kt_reader_init(&kf->reader, s);
	if (ret) {
		kfree(kf);
		return ERR_PTR(ret);
	}
	return kf;
}

static int kt_dev_open(struct inode *inode, struct file *file)
{
	struct kt_file *kf;
	int ret;

	if (!perfmon_capable())
		return -EPERM;
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	kf = make_file(main_session);
	if (IS_ERR(kf))
		return PTR_ERR(kf);
	/* So that ": > /dev/ktape" clears; there is no ftruncate() on devices. */
	if ((file->f_flags & O_TRUNC) && (file->f_mode & FMODE_WRITE))
		kt_session_clear(main_session);
	file->private_data = kf;
	return stream_open(inode, file);
}

static int kt_dev_release(struct inode *inode, struct file *file)
{
	free_file(file->private_data);
	return 0;
}

/**
 * kt_dev_open_session() - a file for a session of its own
 * @s: the session; the file owns it from now on, also when this fails
 *
 * Context: process context, may sleep.
 * Return: the file, or ERR_PTR.
 */
struct file *kt_dev_open_session(struct kt_session *s)
{
	struct kt_file *kf = make_file(s);
	struct file *file;

	if (IS_ERR(kf)) {
		kt_session_destroy(s);
		return ERR_CAST(kf);
	}
	kf->own = true;
	file = anon_inode_getfile("[ktape]", &kt_dev_fops, kf,
				  O_RDWR | O_CLOEXEC);
	if (IS_ERR(file))
		free_file(kf);
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
	.llseek = noop_llseek,
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device /dev/ktape.  A descriptor of open(2) stands for session 0, a descriptor
 * that the CREATE or OPEN ioctl returned for the session named there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "compat.h"
#include "internal.h"

static struct kt_session *dev_session0;

static int kt_dev_open(struct inode *inode, struct file *file)
{
	struct kt_file *kf;
	int ret = kt_dev_allowed();

	if (ret)
		return ret;
	refcount_inc(&dev_session0->users);
	kf = kt_file_make(dev_session0, kt_dev_may_control(file));
	if (IS_ERR(kf)) {
		kt_session_put(dev_session0);
		return PTR_ERR(kf);
	}
	/* CLEAR for ": > /dev/ktape", because devices have no ftruncate(). */
	if ((file->f_flags & O_TRUNC) && (file->f_mode & FMODE_WRITE))
		kt_session_clear(dev_session0);
	file->private_data = kf;
	return kt_file_open_stream(inode, file);
}

static int kt_dev_release(struct inode *inode, struct file *file)
{
	kt_file_free(file->private_data);
	return 0;
}

static const struct file_operations dev_fops = {
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

static struct miscdevice dev_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ktape",
	.fops = &dev_fops,
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
	kt_rights_init(mode);
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors: their state, and files for the sessions that CREATE and OPEN return.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * kt_file_free() - free the state of a descriptor
 * @kf: from kt_file_make()
 *
 * Context: process context, may sleep.
 */
void kt_file_free(struct kt_file *kf)
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

/**
 * kt_file_make() - allocate the state of a descriptor
 * @s: its session; takes over the caller's reference on success
 * @control: the descriptor may control the session
 *
 * Context: process context, may sleep.
 * Return: the state; ERR_PTR of -ENOMEM, of -EMFILE, if a user without control rights has too
 * many descriptors, or of -ENOENT, if the session that is to be controlled is ending.
 */
struct kt_file *kt_file_make(struct kt_session *s, bool control)
{
	struct kt_file *kf = kzalloc(sizeof(*kf), GFP_KERNEL_ACCOUNT);
	bool trusted = kt_dev_opener_may_control(control);
	int ret = -ENOMEM;

	if (!kf)
		return ERR_PTR(-ENOMEM);
	kf->session = s;
	mutex_init(&kf->lock);
	if (!trusted) {
		ret = kt_quota_take(&kf->quota, sizeof(*kf) + kt_reader_bytes());
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

/**
 * kt_file_open_stream() - make a file a stream, which can seek to both of its ends only
 * @inode: its inode
 * @file: the file
 *
 * Context: process context.
 * Return: 0 or a negative errno.
 */
int kt_file_open_stream(struct inode *inode, struct file *file)
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
 * kt_dev_open_session() - open a session
 * @s: the session; takes over the caller's reference, also on failure
 * @flags: O_RDWR or O_RDONLY
 * @fops: those of the caller's descriptor, which the new one gets as well
 *
 * Context: process context, may sleep.
 * Return: the file, or ERR_PTR.
 */
struct file *kt_dev_open_session(struct kt_session *s, int flags,
				 const struct file_operations *fops)
{
	/* What kt_dev_may_control() will say of the new file, whose opener the caller is. */
	struct kt_file *kf =
		kt_file_make(s, flags == O_RDWR && kt_dev_caller_has_rights());
	struct file *file;

	if (IS_ERR(kf)) {
		kt_session_put(s);
		return ERR_CAST(kf);
	}
	file = anon_inode_getfile("[ktape]", fops, kf, flags | O_CLOEXEC);
	if (IS_ERR(file)) {
		kt_file_free(kf);
		return file;
	}
	file_own_mapping(file, s);
	kt_file_open_stream(file_inode(file), file);
	return file;
}

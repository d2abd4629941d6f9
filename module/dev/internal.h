/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that only the files of this folder share. */
#ifndef _KT_DEV_INTERNAL_H
#define _KT_DEV_INTERNAL_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>

#include <ktape/abi.h>
#include <ktape/cost.h>
#include <ktape/filter.h>
#include <ktape/persist.h>
#include <ktape/session.h>
#include <ktape/trigger.h>

#include "session/session.h"
#include "dev.h"

/**
 * struct kt_quota - what an opener without control rights has taken
 * @user: counts of the user; NULL: the opener has control rights and no limit
 * @bytes: bytes of @user that belong to this descriptor
 */
struct kt_quota {
	struct kt_user *user;
	size_t bytes;
};

/**
 * struct kt_file - an open descriptor
 * @session: session of the descriptor
 * @holds: may control the session, and keeps it from ending
 * @quota: memory of this descriptor that counts for its opener
 * @reader: the descriptor as a reader of that session
 * @lock: serialises read() and protects the members below except @watermark and
 *	@polled; taken before all other locks
 * @watermark: unread bytes of one ring at which poll() returns; 0 = one block
 * @polled: poll() was called, and the descriptor counts as a waiting reader
 * @phase: what read() delivers next, see read.c
 * @slot: metadata: offset of the next byte; registry: next entry
 * @registry_seq: number of the last registry packet
 * @next_ring: ring that read() checks first
 * @sweep: number of rings from which read() still takes an open block
 * @swept: jiffies at which the last sweep began
 * @buf: bounce buffer for one packet; NULL until the first read()
 * @buf_size: bytes of @buf
 * @len: bytes of the packet in @buf
 * @left: bytes of the packet that were not delivered yet, the last ones; poll() reads
 *	this one word without @lock
 * @damaged: the next read() returns -EIO, because the last one delivered packets
 *	before it came to a damaged block
 * @drained: read() has returned 0, because the session has stopped and everything
 *	was delivered
 */
struct kt_file {
	struct kt_session *session;
	bool holds;
	struct kt_quota quota;
	struct kt_reader reader;
	struct mutex lock;
	u64 watermark;
	u32 polled;
	unsigned int phase;
	unsigned int slot;
	u64 registry_seq;
	unsigned int next_ring;
	unsigned int sweep;
	unsigned long swept;
	void *buf;
	size_t buf_size;
	size_t len;
	size_t left;
	bool damaged;
	bool drained;
};

/* Arguments of all commands; each begins with its size. */
union kt_ioctl_arg {
	u32 size;
	struct ktape_features features;
	struct ktape_layout layout;
	struct ktape_profile profile;
	struct ktape_command command;
	struct ktape_stats stats;
	struct ktape_consumer consumer;
	struct ktape_event_info event_info;
	struct ktape_metadata metadata;
	struct ktape_watermark watermark;
	struct ktape_create create;
	struct ktape_session_list sessions;
	struct ktape_session_ref ref;
	struct ktape_policy policy;
	struct ktape_reader_info reader;
	struct ktape_filter filter;
	struct ktape_probe probe;
	struct ktape_cost cost;
	struct ktape_trigger trigger;
	struct ktape_persist_info persist_info;
	struct ktape_persist_read persist_read;
};

/* rights.c */
void kt_rights_init(unsigned int mode);
bool kt_dev_opener_may_control(bool control);
bool kt_dev_caller_has_rights(void);
int kt_dev_allowed(void);
bool kt_dev_reads_log(void);
bool kt_dev_may_control(const struct file *file);

/* file.c */
struct kt_file *kt_file_make(struct kt_session *s, bool control);
void kt_file_free(struct kt_file *kf);
int kt_file_open_stream(struct inode *inode, struct file *file);
struct file *kt_dev_open_session(struct kt_session *s, int flags,
				 const struct file_operations *fops);

/* quota.c */
int kt_quota_take(struct kt_quota *q, size_t bytes);
int kt_quota_add(struct kt_quota *q, size_t bytes);
void kt_quota_sub(struct kt_quota *q, size_t bytes);
void kt_quota_return(struct kt_quota *q);

/* ioctl.c */
long kt_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* map.c */
int kt_dev_mmap(struct file *file, struct vm_area_struct *vma);
long kt_ioctl_layout(struct file *file, union kt_ioctl_arg *arg);

/* read.c */
ssize_t kt_dev_read(struct file *file, char __user *to, size_t count, loff_t *pos);
loff_t kt_dev_llseek(struct file *file, loff_t offset, int whence);
__poll_t kt_dev_poll(struct file *file, struct poll_table_struct *wait);
long kt_ioctl_consumer(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_watermark(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_reader(struct file *file, union kt_ioctl_arg *arg);

/* session.c */
long kt_ioctl_profile(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_start(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_stop(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_clear(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_flush(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_stats(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_create(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_sessions(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_open(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_destroy(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_policy(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_persist_info(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_persist_read(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_persist_drop(struct file *file, union kt_ioctl_arg *arg);

/* event.c */
long kt_ioctl_event_info(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_filter(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_probe(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_trigger(struct file *file, union kt_ioctl_arg *arg);
long kt_ioctl_cost(struct file *file, union kt_ioctl_arg *arg);

/* metadata.c */
const void *kt_metadata_packet(size_t *length);
long kt_ioctl_metadata(struct file *file, union kt_ioctl_arg *arg);

/* packet.c */
ssize_t kt_packet_copy(struct kt_ring *r, struct kt_cursor *c, u64 *pos,
		       void *buf, bool parts);
size_t kt_packet_registry(void *buf, size_t room, unsigned int *slot, u64 *seq);

static inline struct kt_file *kt_file_of(const struct file *file)
{
	return file->private_data;
}

#endif /* _KT_DEV_INTERNAL_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The character device. */
#ifndef _KT_DEV_H
#define _KT_DEV_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>

#include <ktape/filter.h>
#include <ktape/persist.h>
#include <ktape/trigger.h>

#include "session/session.h"

/**
 * struct kt_file - an open descriptor
 * @session: the session that it stands for
 * @reader: the file as the session sees it
 * @lock: serialises read(); taken before all other locks
 * @watermark: unread bytes in one ring that make poll() return; 0: a block
 * @polled: it has called poll() and counts as waiting
 * @phase: what read() delivers now, see dev_read.c
 * @slot: next registry entry
 * @registry_seq: number of the last registry packet
 * @next_ring: ring at which read() looks first
 * @sweep: rings of which read() still takes a part, from that one on
 * @swept: jiffies when it began to take parts
 * @buf: bounce buffer, one packet
 * @buf_size: bytes of @buf
 * @len: bytes in @buf
 * @off: bytes of them that were delivered
 * @damaged: the next read() returns -EIO: this one had something to deliver
 *	before it came to a damaged block
 */
struct kt_file {
	struct kt_session *session;
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
	size_t off;
	bool damaged;
};

int kt_dev_init(struct kt_session *session0);
void kt_dev_exit(void);
struct file *kt_dev_open_session(struct kt_session *s, int flags);
int kt_dev_allowed(void);
extern const struct file_operations kt_dev_fops;

int kt_dev_mmap(struct file *file, struct vm_area_struct *vma);
u64 kt_dev_region(const struct kt_session *s, unsigned int index);
unsigned int kt_dev_regions(void);

ssize_t kt_dev_read(struct file *file, char __user *to, size_t count,
		    loff_t *pos);
loff_t kt_dev_llseek(struct file *file, loff_t offset, int whence);
__poll_t kt_dev_poll(struct file *file, struct poll_table_struct *wait);

long kt_dev_filter(struct kt_session *s, struct ktape_filter *f);
long kt_dev_trigger(struct kt_session *s, struct ktape_trigger *t);
long kt_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* dev_session.c */
long kt_dev_create(struct ktape_create *c);
long kt_dev_sessions(struct ktape_session_list *l);
long kt_dev_open_ref(const struct ktape_session_ref *ref, bool control);
long kt_dev_destroy(const struct ktape_session_ref *ref);
long kt_dev_policy(struct kt_session *s, struct ktape_policy *p);
long kt_dev_reader(struct kt_file *kf, struct ktape_reader_info *info);

long kt_dev_probe(struct ktape_probe *p);

long kt_dev_persist_info(struct ktape_persist_info *info);
long kt_dev_persist_read(struct ktape_persist_read *rd);
long kt_dev_persist_drop(const struct ktape_command *c);

#endif /* _KT_DEV_H */

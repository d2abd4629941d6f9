// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() and poll(), and the ioctls by which a reader registers, reports its
 * positions and sets its watermark.  How a packet is made is packet.c.
 *
 * read() delivers the metadata, a checkpoint of the registry, and then packets of
 * all rings in turn.  A packet is copied into a bounce buffer and checked against
 * the ring's tail before it is delivered, so it is never torn.
 *
 * Full blocks are delivered whenever there are any.  While the session records,
 * every PATIENCE jiffies a sweep also takes the records of each ring's open block
 * as a packet of its own (a part).  This does not wait until no full blocks are
 * left: on a busy system an exception in a quiet ring would then never arrive.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "names/names.h"
#include "internal.h"

#define PATIENCE   (HZ / 4)	   /* jiffies between two sweeps */
#define WAKE_AGAIN max(HZ / 10, 1) /* poll() with a small watermark */

enum { PHASE_METADATA, PHASE_REGISTRY, PHASE_DATA };

static size_t read_refill_metadata(struct kt_file *kf)
{
	size_t length;
	const void *packet = kt_metadata_packet(&length);

	/* The packet may be larger than the buffer: slot is the offset in the packet. */
	length = min(length - kf->slot, kf->buf_size);
	memcpy(kf->buf, packet + kf->slot, length);
	kf->slot += length;
	if (!length) {
		WRITE_ONCE(kf->phase, PHASE_REGISTRY);
		kf->slot = 0;
	}
	return length;
}

static size_t read_refill_registry(struct kt_file *kf)
{
	size_t length = kt_packet_registry(kf->buf, kf->buf_size, &kf->slot,
					   &kf->registry_seq);

	if (!length)
		WRITE_ONCE(kf->phase, PHASE_DATA);
	return length;
}

static unsigned int read_nr_rings(void)
{
	return nr_cpu_ids * KTAPE_RINGS_PER_CPU;
}

/* Begin a sweep if PATIENCE is over.  A sweep takes many calls, one for each part. */
static void read_begin_sweep(struct kt_file *kf)
{
	if (kf->sweep || jiffies - kf->swept < PATIENCE)
		return;
	kf->sweep = read_nr_rings();
	kf->swept = jiffies;
}

/* Return true if the sweep includes the next ring. */
static bool read_take_part(struct kt_file *kf)
{
	if (!kf->sweep)
		return false;
	kf->sweep--;
	return true;
}

/*
 * Pass over the rings of CPUs that have none, from number @at on.  A sweep takes no
 * part of them.  Return: their number.
 */
static unsigned int read_pass_absent(struct kt_file *kf, unsigned int at)
{
	unsigned int cpu = at / KTAPE_RINGS_PER_CPU, nr;
	unsigned int next = find_next_bit(kf->session->with_rings, nr_cpu_ids, cpu);

	if (next == cpu)
		return 0;
	nr = next * KTAPE_RINGS_PER_CPU - at;
	kf->sweep -= min(kf->sweep, nr);
	return nr;
}

/*
 * Copy a packet of one ring into the buffer.  The ring may be taken away before and
 * after that, so the copy is made between kt_session_rings_get() and _put().
 * Return: bytes of the packet; 0: there is none; -EIO: a block is damaged and was
 * skipped; -ESTALE: the rings were taken away.
 */
static ssize_t read_refill_ring(struct kt_file *kf, unsigned int cpu,
				unsigned int kind, bool part)
{
	struct kt_session *s = kf->session;
	ssize_t length = 0;
	struct kt_cursor *c;
	struct kt_ring *r;
	u64 pos;

	if (!kt_session_rings_get(s))
		return -ESTALE;
	r = kt_session_ring(s, cpu, kind);
	if (r) {
		c = kt_reader_cursor(&kf->reader, cpu, kind);
		pos = c->pos;
		length = kt_packet_copy(r, c, &pos, kf->buf, part);
		if (pos != c->pos)
			kt_reader_moved(&kf->reader, s, cpu, kind, pos);
	}
	kt_session_rings_put(s);
	return length;
}

/*
 * Fill the buffer with a packet of the next ring that has one.  With @parts, take open
 * blocks, too; without, only a sweep does.
 * Return: bytes of the packet; 0: there is none, or a snapshot still records; else as
 * read_refill_ring().
 */
static ssize_t read_refill_data(struct kt_file *kf, bool parts)
{
	unsigned int nr = read_nr_rings();
	struct kt_session *s = kf->session;
	unsigned int i, at;
	ssize_t length;
	bool part;

	for (i = 0; i < nr && !kt_session_blocks_readers(s); i++) {
		i += read_pass_absent(kf, (kf->next_ring + i) % nr);
		if (i >= nr)
			break;
		at = (kf->next_ring + i) % nr;
		part = read_take_part(kf) || parts;
		length = read_refill_ring(kf, at / KTAPE_RINGS_PER_CPU,
					  at % KTAPE_RINGS_PER_CPU, part);
		if (!length)
			continue;
		kf->next_ring = (at + 1) % nr;
		return length;
	}
	return 0;
}

/*
 * Return true if a ring has at least @bytes unread bytes, or, with 0, a full block.
 *
 * A discard ring whose last free block is in use cannot open another block, so
 * its writer would never wake the reader: return true then, too.
 */
static bool read_has_enough_in(const struct kt_ring *r, u64 pos, u64 bytes)
{
	u64 commit = kt_ring_commit(r);
	u64 start = pos & ~((u64)r->block_size - 1);

	if (!kt_position_before(pos, commit) || kt_ring_is_damaged(r))
		return false;
	if (r->mode == KTAPE_MODE_DISCARD && commit - start > kt_ring_spare(r))
		return true;
	return bytes ? commit - pos >= bytes : commit - start > r->block_size;
}

/* Return true if read_has_enough_in() is true for any ring, and the rings may be read now. */
static bool read_has_enough(const struct kt_file *kf, u64 bytes)
{
	struct kt_session *s = kf->session;
	const struct kt_cursor *c;
	unsigned int cpu, kind;
	bool enough = false;
	struct kt_ring *r;

	if (kt_session_blocks_readers(s))
		return false;
	/*
	 * Against kt_reader_moved(): 32-bit kernels would tear a position.  The rings are not taken
	 * away meanwhile either, so that kt_session_rings_get(), which may sleep, is not needed.
	 */
	spin_lock(&s->reader_lock);
	for_each_set_bit(cpu, s->with_rings, nr_cpu_ids) {
		if (enough)
			break;
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU && !enough; kind++) {
			r = kt_session_ring(s, cpu, kind);
			c = kt_reader_cursor(&kf->reader, cpu, kind);
			enough = r && read_has_enough_in(r, c->pos, bytes);
		}
	}
	spin_unlock(&s->reader_lock);
	return enough;
}

/*
 * Wait until a ring has a full block, the session has stopped, or the next sweep
 * is due.  Return: 0 or -ERESTARTSYS.
 */
static int read_wait(struct kt_file *kf)
{
	struct kt_owner *owner = &kf->session->owner;
	unsigned long past = jiffies - kf->swept;
	long left;

	/* A recording snapshot has nothing to sweep: wait the whole time. */
	if (past >= PATIENCE)
		past = 0;
	atomic_inc(&owner->waiting);
	/* Pairs with the barrier in owner_opened(). */
	smp_mb__after_atomic();
	left = wait_event_interruptible_timeout(
		owner->wait,
		read_has_enough(kf, 0) || !READ_ONCE(kf->session->running),
		PATIENCE - past);
	atomic_dec(&owner->waiting);
	return left < 0 ? left : 0;
}

/*
 * Fill the bounce buffer.  With @wait, wait for data; with @parts, take parts of
 * open blocks without waiting for a sweep.
 * Return: bytes; 0: the session has stopped and everything was delivered; -EAGAIN;
 * -EIO; -ESTALE: the rings were taken away before everything was delivered;
 * -ERESTARTSYS.
 */
static ssize_t read_refill(struct kt_file *kf, bool wait, bool parts)
{
	bool running;
	ssize_t length;
	int ret;

	if (READ_ONCE(kf->session->taken))
		return kf->drained ? 0 : -ESTALE;
	if (kf->phase == PHASE_METADATA) {
		length = read_refill_metadata(kf);
		if (length)
			return length;
	}
	if (kf->phase == PHASE_REGISTRY) {
		length = read_refill_registry(kf);
		if (length)
			return length;
	}
	for (;;) {
		running = READ_ONCE(kf->session->running);
		/*
		 * Pairs with the release of running in session_stop_running():
		 * if it is false, the rings have their final commit.
		 */
		smp_rmb();
		read_begin_sweep(kf);
		length = read_refill_data(kf, parts || !running);
		if (length)
			return length;
		if (!running) {
			/* Taken away meanwhile: it passed over all rings. */
			if (READ_ONCE(kf->session->taken))
				return -ESTALE;
			kf->drained = true;
			return 0;
		}
		if (!wait)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		cond_resched();
		ret = read_wait(kf);
		if (ret)
			return ret;
	}
}

/*
 * Make the bounce buffer at the first read(); from then on the file counts as one that reads.
 * Return: 0, -ENOMEM, also if the opener's quota is used up.
 */
static int read_make_buffer(struct kt_file *kf)
{
	struct kt_session *s = kf->session;
	void *buf;
	int ret;

	if (kf->buf)
		return 0;
	kf->buf_size = max(s->block_size[0], s->block_size[1]);
	ret = kt_quota_add(&kf->quota, kf->buf_size);
	if (ret)
		return ret;
	buf = kvzalloc(kf->buf_size, GFP_KERNEL_ACCOUNT);
	if (!buf) {
		kt_quota_sub(&kf->quota, kf->buf_size);
		return -ENOMEM;
	}
	/* poll() checks without the lock whether there is one. */
	WRITE_ONCE(kf->buf, buf);
	kf->swept = jiffies;
	/*
	 * From now on a discard session without registered readers waits for us, if the opener
	 * has the right to control.
	 */
	kt_reader_reads(&kf->reader, s);
	return 0;
}

/*
 * Return: bytes; else as read_refill(), or -EFAULT.  After some bytes an error waits for the
 * next call: -EIO in @damaged, because a damaged block is reported once; others recur.
 */
static ssize_t read_packets(struct kt_file *kf, char __user *to, size_t count,
			    bool block)
{
	ssize_t length;
	size_t done = 0, n;

	if (kf->damaged && count) {
		WRITE_ONCE(kf->damaged, false);
		return -EIO;
	}
	while (done < count) {
		/* Fast writers can keep this loop busy for long. */
		if (done && signal_pending(current))
			return done;
		cond_resched();
		if (!kf->left) {
			/*
			 * Return what was read before waiting for more.  A reader that does not
			 * block gets all that is there, open blocks included.
			 */
			length = read_refill(kf, block && !done, !block);
			kf->len = max_t(ssize_t, length, 0);
			WRITE_ONCE(kf->left, kf->len);
			if (length == -EIO && done)
				WRITE_ONCE(kf->damaged, true);
			if (length <= 0)
				return done ? done : length;
		}
		n = min(count - done, kf->left);
		if (copy_to_user(to + done, kf->buf + kf->len - kf->left, n))
			return done ? done : -EFAULT;
		WRITE_ONCE(kf->left, kf->left - n);
		done += n;
	}
	return done;
}

/**
 * kt_dev_read() - deliver the trace as a stream of packets
 * @file: the descriptor
 * @to: user space buffer
 * @count: bytes of @to, any number
 * @pos: not used, the stream has no position
 *
 * Context: process context, may sleep.
 * Return: bytes; 0: the session has stopped and everything was read; -EAGAIN,
 * -EFAULT, -ENOMEM, -ERESTARTSYS; -ESTALE: the session has ended, and its rings were
 * taken away before everything was read; -EIO: a block of a persistent session is
 * damaged, and the next call goes on behind it.
 */
ssize_t kt_dev_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct kt_file *kf = file->private_data;
	ssize_t ret;

	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	ret = read_make_buffer(kf);
	if (!ret)
		ret = read_packets(kf, to, count, !(file->f_flags & O_NONBLOCK));
	mutex_unlock(&kf->lock);
	return ret;
}

/**
 * kt_dev_llseek() - restart the stream at the oldest or behind the newest data
 * @file: the descriptor
 * @offset: zero
 * @whence: SEEK_SET: oldest; SEEK_END: newest
 *
 * The stream begins again with metadata and registry.
 *
 * Context: process context.
 * Return: 0; -EINVAL; -ERESTARTSYS.
 */
loff_t kt_dev_llseek(struct file *file, loff_t offset, int whence)
{
	struct kt_file *kf = file->private_data;

	if (offset || (whence != SEEK_SET && whence != SEEK_END))
		return -EINVAL;
	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	WRITE_ONCE(kf->phase, PHASE_METADATA);
	kf->slot = 0;
	kf->registry_seq = 0;
	WRITE_ONCE(kf->left, 0);
	WRITE_ONCE(kf->damaged, false);
	kf->drained = false;
	kt_reader_seek(&kf->reader, kf->session, whence == SEEK_END);
	mutex_unlock(&kf->lock);
	return 0;
}

/*
 * Return true if read() can deliver something without checking a ring.  Only for
 * files that have called read(): for a file that reads by mapping, the metadata
 * would make poll() return at once for ever.
 */
static bool read_has_begun(const struct kt_file *kf)
{
	return READ_ONCE(kf->buf) &&
	       (READ_ONCE(kf->damaged) || READ_ONCE(kf->left) ||
		READ_ONCE(kf->phase) != PHASE_DATA);
}

/**
 * kt_dev_poll() - check whether there is enough to read
 * @file: the descriptor
 * @wait: poll table
 *
 * From the first call on, the file counts as one that waits, and writers wake it.
 *
 * Context: process context.
 * Return: 0; EPOLLIN: a ring has as many unread bytes as the watermark, or read() was called
 * and has something to return at once, which need not be of a ring; EPOLLIN | EPOLLHUP: the
 * session does not record; EPOLLPRI in addition: it is a full snapshot; EPOLLERR in addition:
 * its rings were taken away.  Each EPOLLIN comes with EPOLLRDNORM.
 */
__poll_t kt_dev_poll(struct file *file, struct poll_table_struct *wait)
{
	struct kt_file *kf = file->private_data;
	struct kt_session *s = kf->session;
	u64 mark = READ_ONCE(kf->watermark);

	poll_wait(file, &s->owner.wait, wait);
	/* From the first poll() until close, writers wake this file. */
	if (!READ_ONCE(kf->polled)) {
		atomic_inc(&s->owner.waiting);
		if (xchg(&kf->polled, 1))
			atomic_dec(&s->owner.waiting);
	}
	/* Pairs with the barrier in owner_opened(). */
	smp_mb();
	/* Pairs with the release in session_stop_running(): frozen is final. */
	if (!smp_load_acquire(&s->running))
		return EPOLLIN | EPOLLRDNORM | EPOLLHUP |
		       (READ_ONCE(s->frozen) ? EPOLLPRI : 0) |
		       (READ_ONCE(s->taken) ? EPOLLERR : 0);
	if (read_has_begun(kf) || read_has_enough(kf, mark))
		return EPOLLIN | EPOLLRDNORM;
	/* Writers wake pollers at full blocks only: wake them again after a while. */
	if (mark && mark < max(s->block_size[0], s->block_size[1]))
		schedule_delayed_work(&s->wake_again, WAKE_AGAIN);
	return 0;
}

/* ---- ioctls of readers ------------------------------------------------------- */

/*
 * Return true if a consumer may report a position: the begin of a block, or commit, and from its
 * former position to commit.
 */
static bool consumer_position_ok(const struct kt_file *kf,
				 const struct ktape_position *p)
{
	struct kt_ring *r = kt_session_ring(kf->session, p->cpu, p->kind);
	unsigned int cpu = array_index_nospec(p->cpu, nr_cpu_ids);
	unsigned int kind = array_index_nospec(p->kind, KTAPE_RINGS_PER_CPU);
	u64 pos = p->position, commit;

	if (!r)
		return false;
	commit = kt_ring_commit(r);
	if (kt_position_before(commit, pos) ||
	    kt_position_before(pos, kt_reader_cursor(&kf->reader, cpu, kind)->pos))
		return false;
	return pos == commit || !(pos & (r->block_size - 1));
}

/*
 * Check that all positions are valid and that each ring occurs at most once.
 * Return: 0, -EINVAL or -ENOMEM.
 */
static int consumer_check_positions(const struct kt_file *kf,
				    const struct ktape_position *p, u32 nr)
{
	unsigned int rings = nr_cpu_ids * KTAPE_RINGS_PER_CPU;
	unsigned long *named = bitmap_zalloc(rings, GFP_KERNEL);
	bool ok = true;
	u32 i;

	if (!named)
		return -ENOMEM;
	for (i = 0; ok && i < nr; i++)
		ok = consumer_position_ok(kf, &p[i]) &&
		     !test_and_set_bit(p[i].cpu * KTAPE_RINGS_PER_CPU + p[i].kind,
				       named);
	bitmap_free(named);
	return ok ? 0 : -EINVAL;
}

/* Take the positions that a consumer reports: all of them, or none if one is not valid. */
static long consumer_move(struct kt_file *kf, const struct ktape_consumer *c)
{
	struct ktape_position *p;
	long ret;
	u32 i;

	if (!c->nr || c->nr > nr_cpu_ids * KTAPE_RINGS_PER_CPU)
		return -EINVAL;
	p = memdup_user(u64_to_user_ptr(c->positions),
			array_size(c->nr, sizeof(*p)));
	if (IS_ERR(p))
		return PTR_ERR(p);
	/* read() moves the cursors, too, and may wait with the lock held. */
	if (mutex_lock_interruptible(&kf->lock)) {
		kfree(p);
		return -ERESTARTSYS;
	}
	ret = -ESTALE;
	if (!kt_session_rings_get(kf->session))
		goto out;
	/* A recording snapshot may yet be cut below these positions. */
	ret = -EINVAL;
	if (kt_session_blocks_readers(kf->session))
		goto out_rings;
	ret = consumer_check_positions(kf, p, c->nr);
	if (ret)
		goto out_rings;
	for (i = 0; i < c->nr; i++) {
		kt_reader_skips(&kf->reader, kf->session, p[i].cpu, p[i].kind,
				p[i].position);
		kt_reader_moved(&kf->reader, kf->session, p[i].cpu, p[i].kind,
				p[i].position);
	}
out_rings:
	kt_session_rings_put(kf->session);
out:
	mutex_unlock(&kf->lock);
	kfree(p);
	return ret;
}

/**
 * kt_ioctl_consumer() - register or unregister a consumer, or take its positions
 * @file: the descriptor
 * @arg: struct ktape_consumer
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL, -EPERM, -EFAULT, -ENOMEM, -ERESTARTSYS; -ESTALE: the rings
 * were taken away.
 */
long kt_ioctl_consumer(struct file *file, union kt_ioctl_arg *arg)
{
	const struct ktape_consumer *c = &arg->consumer;
	struct kt_file *kf = kt_file_of(file);

	if (c->flags || c->op > KTAPE_CONSUMER_POSITION)
		return -EINVAL;
	if (c->op == KTAPE_CONSUMER_POSITION)
		return consumer_move(kf, c);
	if (c->nr || c->positions)
		return -EINVAL;
	if (!kt_dev_may_control(file))
		return -EPERM;
	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	kt_reader_register(&kf->reader, kf->session,
			   c->op == KTAPE_CONSUMER_REGISTER);
	mutex_unlock(&kf->lock);
	return 0;
}

/**
 * kt_ioctl_watermark() - set the watermark of poll()
 * @file: the descriptor
 * @arg: struct ktape_watermark
 *
 * Context: process context.
 * Return: 0 or -EINVAL.
 */
long kt_ioctl_watermark(struct file *file, union kt_ioctl_arg *arg)
{
	struct kt_file *kf = kt_file_of(file);

	if (arg->watermark.flags ||
	    arg->watermark.bytes > kf->session->size[KTAPE_RING_EVENT])
		return -EINVAL;
	WRITE_ONCE(kf->watermark, arg->watermark.bytes);
	return 0;
}

/* Fill @info for the ring @r, the file being locked against read(). */
static void reader_describe(const struct kt_file *kf, struct kt_ring *r,
			    struct ktape_reader_info *info)
{
	const struct kt_reader *rd = &kf->reader;
	const struct kt_cursor *c = kt_reader_cursor(rd, r->cpu, r->kind);
	u64 commit = kt_ring_commit(r);

	/* An eviction changes these three members, and takes only this lock. */
	spin_lock(&kf->session->reader_lock);
	info->flags = (rd->registered ? KTAPE_READER_REGISTERED : 0) |
		      (rd->reads ? KTAPE_READER_READS : 0) |
		      (rd->evicted ? KTAPE_READER_EVICTED : 0);
	spin_unlock(&kf->session->reader_lock);
	info->id = rd->id;
	info->position = c->pos;
	info->unread = kt_position_before(c->pos, commit) ? commit - c->pos : 0;
	info->records = c->records;
	info->lapped = c->lapped;
}

/**
 * kt_ioctl_reader() - describe the descriptor as a reader of one ring
 * @file: the descriptor
 * @arg: struct ktape_reader_info; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -ENXIO: no such ring; -ESTALE: the rings were taken away;
 * -ERESTARTSYS.
 */
long kt_ioctl_reader(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_reader_info *info = &arg->reader;
	struct kt_file *kf = kt_file_of(file);
	struct kt_session *s = kf->session;
	struct kt_ring *r;
	long ret = -ESTALE;

	if (info->flags || info->id || info->reserved)
		return -EINVAL;
	/* read() changes the counts, and may wait with the lock held. */
	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	if (!kt_session_rings_get(s))
		goto out;
	r = kt_session_ring(s, info->cpu, info->kind);
	if (r)
		reader_describe(kf, r, info);
	ret = r ? 0 : -ENXIO;
	kt_session_rings_put(s);
out:
	mutex_unlock(&kf->lock);
	return ret;
}

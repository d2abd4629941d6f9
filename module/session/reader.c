// SPDX-License-Identifier: GPL-2.0-only
/*
 * The readers of a session: their cursors, and what a discard session does when
 * they are slow.
 *
 * A discard session waits for its consumers: the registered readers, or, while
 * there are none, the files that called read() and whose opener has the right to
 * control.  The consumer word of a ring is the least position of the consumers, and
 * only grows.  Writers overwrite no data at or above it.
 *
 * When a ring fills up, the session drops classes of low priority first
 * (shedding).  A consumer that stops reading is evicted after a time.
 *
 * All other files that called read() are guests.  They neither delay a writer nor
 * make room for one: a guest is evicted when a ring would be full because of it.
 *
 * The session's reader_lock protects the lists of readers, their state and positions, and the
 * consumer words.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "internal.h"

#define SHED_PERCENT 75		      /* default of the policy */
#define WATCH_MIN    max(HZ / 100, 1) /* jiffies between two checks */
#define WATCH_MAX    HZ

/**
 * kt_reader_cursor() - return a reader's cursor in one ring
 * @rd: the reader
 * @cpu: below nr_cpu_ids
 * @kind: below KTAPE_RINGS_PER_CPU
 *
 * Context: any.
 * Return: the cursor.
 */
struct kt_cursor *kt_reader_cursor(const struct kt_reader *rd, unsigned int cpu,
				   unsigned int kind)
{
	return &rd->cursor[cpu * KTAPE_RINGS_PER_CPU + kind];
}

/*
 * Move a reader to the oldest data of each ring, unless it is further already.
 * With @first, the reader has no position yet, and is no consumer: it may try to read what
 * consumers have read already.
 */
static void reader_begin_at_oldest(struct kt_reader *rd, struct kt_session *s,
				   bool first)
{
	struct kt_cursor *c;
	struct kt_ring *r;
	unsigned int at;
	u64 pos;

	kt_for_each_ring(r, s, KT_RINGS_ALL, at) {
		c = kt_reader_cursor(rd, r->cpu, r->kind);
		pos = kt_ring_oldest(r);
		/* Data below the consumer word may be overwritten any time. */
		if (!first && s->mode == KTAPE_MODE_DISCARD &&
		    kt_position_before(pos, kt_ring_consumed(r)))
			pos = kt_ring_consumed(r);
		if (!first && !kt_position_before(c->pos, pos))
			continue;
		if (!first)
			kt_reader_skips(rd, s, r->cpu, r->kind, pos);
		c->pos = pos;
	}
}

/**
 * kt_reader_bytes() - return the memory that each reader takes
 *
 * Context: any.
 * Return: bytes.
 */
size_t kt_reader_bytes(void)
{
	return nr_cpu_ids * KTAPE_RINGS_PER_CPU * sizeof(struct kt_cursor);
}

/**
 * kt_reader_init() - add a reader for a file that was opened
 * @rd: the reader, zeroed
 * @s: the session
 * @trusted: the opener has the right to control
 *
 * Context: process context.
 * Return: 0 or -ENOMEM.
 */
int kt_reader_init(struct kt_reader *rd, struct kt_session *s, bool trusted)
{
	rd->trusted = trusted;
	rd->cursor = kvcalloc(nr_cpu_ids * KTAPE_RINGS_PER_CPU,
			      sizeof(*rd->cursor), GFP_KERNEL_ACCOUNT);
	if (!rd->cursor)
		return -ENOMEM;
	spin_lock(&s->reader_lock);
	rd->id = ++s->reader_ids;
	reader_begin_at_oldest(rd, s, true);
	INIT_LIST_HEAD(&rd->node);
	spin_unlock(&s->reader_lock);
	return 0;
}

/* Add a reader to the list of possible consumers or of guests, or remove it. */
static void reader_list(struct kt_reader *rd, struct kt_session *s)
{
	bool listed = rd->registered || rd->reads;

	if (listed && list_empty(&rd->node))
		list_add_tail(&rd->node, rd->trusted ? &s->readers : &s->guests);
	else if (!listed && !list_empty(&rd->node))
		list_del_init(&rd->node);
}

/*
 * Note an evicted guest, and see that it is announced: at once, or a second later if guests
 * were announced within the last second.  Called with reader_lock.
 */
static void guest_evict(struct kt_reader *rd, struct kt_session *s)
{
	bool soon = time_before(jiffies, s->announced + HZ);

	rd->reads = false;
	rd->evicted = true;
	reader_list(rd, s);
	if (s->nr_evictions < KT_EVICTIONS)
		s->evictions[s->nr_evictions] =
			(struct kt_stalled){ .id = rd->id, .pid = rd->pid };
	s->nr_evictions++;
	schedule_delayed_work(&s->announce, soon ? HZ : 0);
}

/*
 * Evict the guests because of which a ring would be full.  Called with reader_lock
 * when a consumer has moved.
 */
static void guests_evict(struct kt_session *s, const struct kt_ring *r)
{
	struct kt_reader *rd, *next;
	u64 pos, commit;

	if (s->mode != KTAPE_MODE_DISCARD || list_empty(&s->guests))
		return;
	commit = kt_ring_commit(r);
	list_for_each_entry_safe(rd, next, &s->guests, node) {
		pos = kt_reader_cursor(rd, r->cpu, r->kind)->pos;
		pos &= ~((u64)r->block_size - 1);
		if (commit - pos > kt_ring_spare(r))
			guest_evict(rd, s);
	}
}

/* Recompute the consumer word of one ring.  Called with reader_lock. */
static void consumer_update(struct kt_session *s, struct kt_ring *r)
{
	const struct kt_reader *rd;
	u64 least = 0, pos;
	bool found = false;

	list_for_each_entry(rd, &s->readers, node) {
		if (s->registered && !rd->registered)
			continue;
		pos = kt_reader_cursor(rd, r->cpu, r->kind)->pos;
		if (!found || kt_position_before(pos, least))
			least = pos;
		found = true;
	}
	if (!found)
		return;
	kt_ring_consume(r, least);
	guests_evict(s, r);
}

static void consumer_update_all(struct kt_session *s)
{
	struct kt_ring *r;
	unsigned int at;

	kt_for_each_ring(r, s, KT_RINGS_ALL, at)
		consumer_update(s, r);
}

/**
 * kt_reader_exit() - remove the reader of a file that is closed
 * @rd: the reader
 * @s: the session
 *
 * Context: process context.
 */
void kt_reader_exit(struct kt_reader *rd, struct kt_session *s)
{
	spin_lock(&s->reader_lock);
	s->registered -= rd->registered;
	rd->registered = false;
	rd->reads = false;
	if (!list_empty(&rd->node)) {
		reader_list(rd, s);
		if (rd->trusted)
			consumer_update_all(s);
	}
	spin_unlock(&s->reader_lock);
	kvfree(rd->cursor);
}

/**
 * kt_reader_register() - register a reader as a consumer, or unregister it
 * @rd: the reader
 * @s: the session
 * @on: true: register
 *
 * A reader that was not registered, or was evicted, moves to the oldest data of each ring,
 * unless it is further already.
 *
 * Context: process context.
 */
void kt_reader_register(struct kt_reader *rd, struct kt_session *s, bool on)
{
	spin_lock(&s->reader_lock);
	if (on && !rd->registered)
		reader_begin_at_oldest(rd, s, false);
	if (on) {
		rd->evicted = false;
		rd->pid = task_tgid_nr(current);
	}
	s->registered += on - rd->registered;
	rd->registered = on;
	reader_list(rd, s);
	consumer_update_all(s);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_reads() - make a reader a consumer while none is registered, or a guest
 * @rd: the reader
 * @s: the session
 *
 * Context: process context.
 */
void kt_reader_reads(struct kt_reader *rd, struct kt_session *s)
{
	spin_lock(&s->reader_lock);
	rd->reads = true;
	if (!rd->pid)
		rd->pid = task_tgid_nr(current);
	reader_list(rd, s);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_moved() - set the position of a reader in one ring
 * @rd: the reader
 * @s: the session
 * @cpu: CPU of the ring
 * @kind: kind of the ring
 * @pos: position of the next byte to read
 *
 * Context: process context.
 */
void kt_reader_moved(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, u64 pos)
{
	struct kt_ring *r;

	spin_lock(&s->reader_lock);
	kt_reader_cursor(rd, cpu, kind)->pos = pos;
	r = kt_session_ring(s, cpu, kind);
	if (r && rd->trusted && !list_empty(&rd->node))
		consumer_update(s, r);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_skips() - note that read() will not deliver the data before @pos
 * @rd: the reader, locked against read()
 * @s: the session
 * @cpu: CPU of the ring
 * @kind: kind of the ring
 * @pos: position at which read() goes on
 *
 * The next packet of the ring gets a gap in its number, and KTAPE_BLOCK_GAP.
 *
 * Context: process context.
 */
void kt_reader_skips(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, u64 pos)
{
	struct kt_cursor *c = kt_reader_cursor(rd, cpu, kind);
	struct kt_ring *r = kt_session_ring(s, cpu, kind);

	if (!r || pos == c->pos)
		return;
	c->seq += (pos >> r->block_shift) - (c->pos >> r->block_shift);
	c->gap = true;
}

/* Return true if a reader in the list is a consumer now. */
static bool reader_is_waited(const struct kt_session *s, const struct kt_reader *rd)
{
	return rd->registered || !s->registered;
}

/* Return true if the session has more than one consumer. */
static bool reader_consumers_are_many(const struct kt_session *s)
{
	const struct kt_reader *rd;
	unsigned int n = 0;

	list_for_each_entry(rd, &s->readers, node)
		n += reader_is_waited(s, rd);
	return n > 1;
}

/*
 * Return true if a ring has been full for @timeout jiffies because a reader did
 * not move.  Call it several times within @timeout: the time begins with a call.
 */
static bool reader_stalls_ring(const struct kt_ring *r, struct kt_cursor *c,
			       unsigned long timeout)
{
	u64 start = c->pos & ~((u64)r->block_size - 1);

	if (kt_ring_commit(r) - start <= kt_ring_spare(r)) {
		c->is_stuck = false;
		return false;
	}
	if (!c->is_stuck || c->stuck_at != c->pos) {
		c->is_stuck = true;
		c->stuck_at = c->pos;
		c->stuck = jiffies;
		return false;
	}
	return time_after_eq(jiffies, c->stuck + timeout);
}

/*
 * Return the cursor of a ring that reader_stalls_ring() is true for, or NULL.  Asks for all
 * rings, because that begins the time of each.
 */
static struct kt_cursor *reader_find_stalled(const struct kt_session *s,
					     struct kt_reader *rd,
					     unsigned long timeout)
{
	struct kt_cursor *c, *found = NULL;
	const struct kt_ring *r;
	unsigned int at;

	kt_for_each_ring(r, s, KT_RINGS_ALL, at) {
		c = kt_reader_cursor(rd, r->cpu, r->kind);
		if (reader_stalls_ring(r, c, timeout))
			found = c;
	}
	return found;
}

/*
 * Evict one consumer that has blocked a ring for @timeout jiffies, and fill @who.
 * A session's only consumer is not evicted, because no other would profit.
 * Return: true if a reader was evicted.
 */
static bool reader_evict(struct kt_session *s, unsigned long timeout,
			 struct kt_stalled *who)
{
	const struct kt_cursor *c = NULL;
	struct kt_reader *rd;

	spin_lock(&s->reader_lock);
	list_for_each_entry(rd, &s->readers, node) {
		if (!reader_is_waited(s, rd) || !reader_consumers_are_many(s))
			continue;
		c = reader_find_stalled(s, rd, timeout);
		if (c)
			break;
	}
	if (c) {
		who->id = rd->id;
		who->pid = rd->pid;
		who->ms = jiffies_to_msecs(jiffies - c->stuck);
		s->registered -= rd->registered;
		rd->registered = false;
		rd->reads = false;
		rd->evicted = true;
		reader_list(rd, s);
		consumer_update_all(s);
	}
	spin_unlock(&s->reader_lock);
	return c;
}

/**
 * kt_reader_seek() - move a reader to one end of the data and reset its counts
 * @rd: the reader, locked against read()
 * @s: the session
 * @newest: true: behind the newest data; false: to the oldest data
 *
 * Context: process context.
 */
void kt_reader_seek(struct kt_reader *rd, struct kt_session *s, bool newest)
{
	struct kt_cursor *c;
	struct kt_ring *r;
	unsigned int at;

	spin_lock(&s->reader_lock);
	memset(rd->cursor, 0, kt_reader_bytes());
	kt_for_each_ring(r, s, KT_RINGS_ALL, at) {
		c = kt_reader_cursor(rd, r->cpu, r->kind);
		c->pos = newest ? kt_ring_commit(r) : kt_ring_oldest(r);
	}
	if (rd->trusted && !list_empty(&rd->node))
		consumer_update_all(s);
	spin_unlock(&s->reader_lock);
}

static const struct {
	u8 kind;
	u8 priority;
} classes[KTAPE_CLASSES] = {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	[number] = { KTAPE_RING_##ring, priority },
#include <ktape/events.h>
};

/*
 * Return true if the profile has event-ring events of a priority above @level.  Otherwise
 * shedding events of that level would leave room for nothing else.
 */
static bool policy_has_above(const struct kt_session *s, unsigned int level)
{
	unsigned int i, class;

	for (i = 0; i < KTAPE_OPCODES; i++) {
		class = kt_event_class(i);
		if (kt_mask_has(s->mask, i) && kt_event_opcode_exists(i) &&
		    classes[class].kind == KTAPE_RING_EVENT &&
		    classes[class].priority > level)
			return true;
	}
	return false;
}

/* Return the bytes in use above which classes of priority @level are shed; ~0: never. */
static unsigned long policy_shed_at(const struct kt_session *s, unsigned int level)
{
	u64 size = s->size[KTAPE_RING_EVENT];
	/* Priority 0: shed_percent.  Priority 1: halfway from there to 100. */
	u32 halves = s->shed_percent * 2 + level * (100 - s->shed_percent);

	if (s->mode != KTAPE_MODE_DISCARD || !s->shed_percent ||
	    !policy_has_above(s, level))
		return ~0UL;
	return div_u64(size * halves, 200);
}

/**
 * kt_session_set_shedding() - set the shedding limits in all rings
 * @s: the session whose profile, policy or rings changed
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_set_shedding(struct kt_session *s)
{
	unsigned int at, level;
	unsigned long limit;
	struct kt_ring *r;

	for (level = 0; level < KT_SHED_LEVELS; level++) {
		limit = policy_shed_at(s, level);
		kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at)
			WRITE_ONCE(r->shed_at[level], limit);
	}
}

/* Count the eviction of a consumer, and record it if the session records. */
static void policy_note_eviction(struct kt_session *s, const struct kt_stalled *who)
{
	kt_session_lock_both();
	/* kt_session_describe() reads it without this lock. */
	WRITE_ONCE(s->evicted, s->evicted + 1);
	if (s->active)
		kt_control_evict(s, who->id, who->pid, who->ms);
	kt_session_unlock_both();
}

/**
 * kt_session_announce() - record the guests that were evicted since the last call
 * @s: the session
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_session_announce(struct kt_session *s)
{
	struct kt_stalled who[KT_EVICTIONS];
	unsigned int i, nr;

	spin_lock(&s->reader_lock);
	nr = s->nr_evictions;
	memcpy(who, s->evictions, sizeof(who));
	s->nr_evictions = 0;
	s->announced = jiffies;
	spin_unlock(&s->reader_lock);
	/* kt_session_describe() reads it without this lock. */
	WRITE_ONCE(s->evicted, s->evicted + nr);
	for (i = 0; s->active && i < min(nr, KT_EVICTIONS + 0U); i++)
		kt_control_evict(s, who[i].id, who[i].pid, who[i].ms);
}

static void policy_announce_work(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, announce.work);

	kt_session_lock_both();
	kt_session_announce(s);
	kt_session_unlock_both();
}

static void policy_watch_work(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, watch.work);
	struct kt_stalled who;
	u32 ms = READ_ONCE(s->stall_ms);

	while (ms && reader_evict(s, msecs_to_jiffies(ms), &who))
		policy_note_eviction(s, &who);
	if (READ_ONCE(s->running))
		kt_session_watch(s);
}

/**
 * kt_session_watch() - watch for stalled consumers, if the policy has a limit
 * @s: the session, which records
 *
 * Context: process context.
 */
void kt_session_watch(struct kt_session *s)
{
	u32 ms = READ_ONCE(s->stall_ms);

	if (ms && s->mode == KTAPE_MODE_DISCARD)
		schedule_delayed_work(&s->watch, clamp_t(unsigned long,
							 msecs_to_jiffies(ms) / 4,
							 WATCH_MIN, WATCH_MAX));
}

/**
 * kt_session_policy() - get or set the policy
 * @s: the session
 * @p: in: operation and operand, checked; out: policy in force
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV: a change, and the session has ended.
 */
int kt_session_policy(struct kt_session *s, struct ktape_policy *p)
{
	kt_session_enter_any();
	if (p->op == KTAPE_POLICY_SET && s->gone) {
		kt_session_leave();
		return -ENODEV;
	}
	if (p->op == KTAPE_POLICY_SET) {
		mutex_lock(&kt_session_lock);
		s->shed_percent = p->shed_percent;
		WRITE_ONCE(s->stall_ms, p->stall_ms);
		kt_session_set_shedding(s);
		mutex_unlock(&kt_session_lock);
		if (s->running)
			kt_session_watch(s);
	}
	p->shed_percent = s->shed_percent;
	p->stall_ms = s->stall_ms;
	mutex_lock(&kt_session_lock);
	p->evicted = s->evicted;
	mutex_unlock(&kt_session_lock);
	kt_session_leave();
	return 0;
}

/**
 * kt_session_policy_init() - set the default policy of a new session
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_policy_init(struct kt_session *s)
{
	INIT_DELAYED_WORK(&s->watch, policy_watch_work);
	INIT_DELAYED_WORK(&s->announce, policy_announce_work);
	s->announced = jiffies - HZ;
	s->shed_percent = SHED_PERCENT;
}

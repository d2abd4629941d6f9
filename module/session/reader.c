// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of a session: their cursors, and how far a discard session may go.
 *
 * The consumer word of a ring is the least position of those for whom the
 * session waits: the registered readers, or, as long as there are none, the
 * files that call read().  It only grows.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "session.h"

/**
 * kt_reader_cursor() - a reader's cursor in one ring
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

/* A reader begins at the oldest data that it was not ahead of already. */
static void reader_begin_at_oldest(struct kt_reader *rd, struct kt_session *s,
				   bool first)
{
	unsigned int cpu, kind;
	unsigned long pos;
	struct kt_cursor *c;
	struct kt_ring *r;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			c = kt_reader_cursor(rd, cpu, kind);
			if (!r)
				continue;
			pos = kt_ring_oldest(r);
			/* What the session no longer waits for may go. */
			if (!first && s->mode == KTAPE_MODE_DISCARD &&
			    kt_before(pos, *kt_word(&r->page->consumer)))
				pos = *kt_word(&r->page->consumer);
			if (!first && !kt_before(c->pos, pos))
				continue;
			if (!first)
				kt_reader_skips(rd, s, cpu, kind, pos);
			c->pos = pos;
		}
	}
}

/**
 * kt_reader_init() - a file of the session was opened
 * @rd: zeroed
 * @s: the session
 *
 * Context: process context.
 * Return: 0 or -ENOMEM.
 */
int kt_reader_init(struct kt_reader *rd, struct kt_session *s)
{
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

/* Keep the list of those for whom the session may have to wait. */
static void reader_list_waited(struct kt_reader *rd, struct kt_session *s)
{
	bool waited = rd->registered || rd->reads;

	if (waited && list_empty(&rd->node))
		list_add_tail(&rd->node, &s->readers);
	else if (!waited && !list_empty(&rd->node))
		list_del_init(&rd->node);
}

/* Recompute the consumer word of one ring.  Called with reader_lock. */
static void consumer_update(struct kt_session *s, unsigned int cpu,
			    unsigned int kind)
{
	struct kt_ring *r = kt_session_ring(s, cpu, kind);
	const struct kt_reader *rd;
	unsigned long least = 0, pos;
	bool found = false;

	if (!r)
		return;
	list_for_each_entry(rd, &s->readers, node) {
		if (s->registered && !rd->registered)
			continue;
		pos = kt_reader_cursor(rd, cpu, kind)->pos;
		if (!found || kt_before(pos, least))
			least = pos;
		found = true;
	}
	if (found && kt_before(*kt_word(&r->page->consumer), least))
		/*
		 * Pairs with the acquire of consumer in consumed(): what was
		 * read was read before it may be overwritten.
		 */
		smp_store_release(kt_word(&r->page->consumer), least);
}

static void consumer_update_all(struct kt_session *s)
{
	unsigned int cpu, kind;

	for_each_possible_cpu(cpu)
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			consumer_update(s, cpu, kind);
}

/**
 * kt_reader_exit() - a file of the session is closed
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
		reader_list_waited(rd, s);
		consumer_update_all(s);
	}
	spin_unlock(&s->reader_lock);
	kvfree(rd->cursor);
}

/**
 * kt_reader_register() - wait for a reader, or no longer
 * @rd: the reader
 * @s: the session
 * @on: which
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
	reader_list_waited(rd, s);
	consumer_update_all(s);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_reads() - a file calls read(): it counts as long as nobody registers
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
	reader_list_waited(rd, s);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_moved() - a reader has read up to here
 * @rd: the reader
 * @s: the session
 * @cpu: of the ring
 * @kind: of the ring
 * @pos: next byte that it wants
 *
 * Context: process context.
 */
void kt_reader_moved(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, unsigned long pos)
{
	spin_lock(&s->reader_lock);
	WRITE_ONCE(kt_reader_cursor(rd, cpu, kind)->pos, pos);
	if (!list_empty(&rd->node))
		consumer_update(s, cpu, kind);
	spin_unlock(&s->reader_lock);
}

/**
 * kt_reader_skips() - what lies before @pos does not come by read()
 * @rd: the reader, locked against read()
 * @s: the session
 * @cpu: of the ring
 * @kind: of the ring
 * @pos: where it goes on
 *
 * Context: process context.
 */
void kt_reader_skips(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, unsigned long pos)
{
	struct kt_cursor *c = kt_reader_cursor(rd, cpu, kind);
	struct kt_ring *r = kt_session_ring(s, cpu, kind);

	if (!r || pos == c->pos)
		return;
	c->seq += (pos >> r->block_shift) - (c->pos >> r->block_shift);
	c->gap = true;
}

/* Does the session wait for it now? */
static bool reader_is_waited(const struct kt_session *s,
			     const struct kt_reader *rd)
{
	return rd->registered || !s->registered;
}

static bool reader_others_wait(const struct kt_session *s)
{
	const struct kt_reader *rd;
	unsigned int n = 0;

	list_for_each_entry(rd, &s->readers, node)
		n += reader_is_waited(s, rd);
	return n > 1;
}

/*
 * Is a ring full because of a reader that has stood there for so long?  Looked
 * at several times within @timeout.
 */
static bool reader_stalls_ring(const struct kt_ring *r, struct kt_cursor *c,
			       unsigned long timeout)
{
	unsigned long start = c->pos & ~(r->block_size - 1);

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

/* Return: the cursor of the ring that it holds up, or NULL. */
static struct kt_cursor *reader_find_stalled(const struct kt_session *s,
					     struct kt_reader *rd,
					     unsigned long timeout)
{
	unsigned int cpu, kind;
	struct kt_cursor *c, *found = NULL;
	struct kt_ring *r;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			c = kt_reader_cursor(rd, cpu, kind);
			if (r && reader_stalls_ring(r, c, timeout))
				found = c;
		}
	}
	return found;
}

/**
 * kt_reader_evict() - no longer wait for one reader that stalls
 * @s: the session
 * @timeout: for how long it must not have moved, jiffies
 * @who: filled with who it was
 *
 * The last one that is waited for is never evicted: that would help nobody.
 *
 * Context: process context.
 * Return: was there one?
 */
bool kt_reader_evict(struct kt_session *s, unsigned long timeout,
		     struct kt_stalled *who)
{
	const struct kt_cursor *c = NULL;
	struct kt_reader *rd;

	spin_lock(&s->reader_lock);
	list_for_each_entry(rd, &s->readers, node) {
		if (!reader_is_waited(s, rd) || !reader_others_wait(s))
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
		reader_list_waited(rd, s);
		consumer_update_all(s);
	}
	spin_unlock(&s->reader_lock);
	return c;
}

/**
 * kt_reader_seek() - go to one end of what there is, and begin anew there
 * @rd: the reader, locked against read()
 * @s: the session
 * @newest: to the end; else to the oldest data
 *
 * Context: process context.
 */
void kt_reader_seek(struct kt_reader *rd, struct kt_session *s, bool newest)
{
	unsigned int cpu, kind;
	struct kt_cursor *c;
	struct kt_ring *r;

	spin_lock(&s->reader_lock);
	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			c = kt_reader_cursor(rd, cpu, kind);
			memset(c, 0, sizeof(*c));
			if (r)
				WRITE_ONCE(c->pos, newest ? kt_ring_commit(r) :
							    kt_ring_oldest(r));
		}
	}
	if (!list_empty(&rd->node))
		consumer_update_all(s);
	spin_unlock(&s->reader_lock);
}

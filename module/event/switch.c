// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switches: their records, which thread of them passes the thread filters
 * of which session, and what readers need to know about the running thread.
 *
 * Readers know the running thread from the last recorded switch, or from a context
 * record.  A session that does not record a switch gets a context record in its
 * place.  With a thread filter that would be a record for each switch of threads
 * that the filter holds back, so such a session gets at most one, which says that
 * the thread is unknown.  The context record of the thread that runs then is owed:
 * it is written before the next event.
 *
 * struct kt_now has the verdict on the running thread, so that its events need not
 * find it.  The verdict is found at the switch.  Until a CPU has seen a switch, the
 * thread of each event is judged.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "internal.h"

/* Write context records of a thread into the event rings of some sessions. */
static __always_inline void switch_tell(unsigned long sessions, u32 tid,
					u32 prio)
{
	if (sessions)
		kt_event_put1(KT_CODE(KTAPE_EV_CONTEXT, prio, 0, 1),
			      KT_PLACE_CONTEXT, tid, sessions);
}

/**
 * kt_switch_pay() - Write the context records that are owed to sessions
 * @sessions: bit n: an event of session n comes next; some are owed one
 *
 * A nested writer may write the record as well.  If the thread is not known, the
 * readers have been told so, and the record stays owed.
 *
 * Context: any, preemption disabled.
 */
noinline void notrace kt_switch_pay(unsigned long sessions)
{
	/* On an excluded CPU the thread in kt_now may be one that has ended. */
	struct task_struct *p = kt_event_sees_switches() ? kt_event_thread() :
							   current;

	sessions &= kt_cpu_read(kt_now.owed);
	if (!p)
		return;
	switch_tell(sessions, p->pid, (u8)READ_ONCE(p->prio));
	this_cpu_and(kt_now.owed, ~(u8)sessions);
	/*
	 * The next switch is to be told again.  Last: an interrupt that judges the
	 * thread while the record is owed takes it for one that is not.
	 */
	barrier();
	kt_cpu_write(kt_now.all_quiet, KT_NOT_JUDGED);
}

/**
 * kt_switch_told() - Note that readers of a session know the running thread
 * @session: number of the session
 *
 * Context: on the CPU, interrupts disabled.
 */
void kt_switch_told(unsigned int session)
{
	kt_cpu_write(kt_now.all_quiet, KT_NOT_JUDGED);
	this_cpu_and(kt_now.owed, ~(u8)BIT(session));
}

/* Open the routes of @ready, count the events of @held, close the others. */
static void switch_set_routes(struct kt_cpu *c, unsigned long sessions,
			      unsigned long ready, unsigned long held)
{
	unsigned int kind, s;
	struct kt_ring *r;

	for (; sessions; sessions &= sessions - 1) {
		s = __ffs(sessions);
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = c->ring[kind][s];
			WRITE_ONCE(c->ring[kind][KT_ROUTE_JUDGED + s],
				   ready & BIT(s) ? r : NULL);
			WRITE_ONCE(c->held[kind][KT_ROUTE_JUDGED + s],
				   held & BIT(s) ? r->page : NULL);
		}
	}
}

/* Store that no verdict is known.  Until there is one, events take the slower ways. */
static void switch_close(struct kt_cpu *c, unsigned long sessions)
{
	switch_set_routes(c, sessions, 0, 0);
	WRITE_ONCE(c->now->held, 0);
	WRITE_ONCE(c->now->ready, 0);
	WRITE_ONCE(c->now->all_ready, KT_NOT_JUDGED);
	WRITE_ONCE(c->now->all_quiet, KT_NOT_JUDGED);
	/*
	 * The owner may store a verdict meanwhile.  If the routes stay closed, so does
	 * the verdict, and the next one opens them.  Pairs with switch_arrive().
	 */
	smp_wmb();
	WRITE_ONCE(c->now->pass, KT_NOT_JUDGED);
}

static void switch_forget(struct kt_cpu *c)
{
	switch_close(c, BIT(KT_SESSIONS) - 1);
	WRITE_ONCE(c->now->thread, 0);
}

/**
 * kt_switch_forget() - Forget the running thread and the verdict on it
 *
 * The filters may have changed, and there may have been switches that the probe
 * did not see.
 *
 * Context: on the CPU, interrupts disabled.
 */
void kt_switch_forget(void)
{
	switch_forget(this_cpu_ptr(kt_cpus));
}

/**
 * kt_switch_close_all() - End the verdicts on running threads, on all CPUs
 *
 * A thread has got another cgroup, and may run on any CPU, where the verdict would
 * hold until the next switch.
 *
 * Context: any, preemption disabled.
 */
void kt_switch_close_all(void)
{
	struct kt_cpu *c;
	unsigned int cpu;

	kt_verdict_renew();
	/*
	 * A CPU that has looked at the thread before the epoch changed either sees
	 * the new one after it has stored its verdict, or stored it before what
	 * follows.  Pairs with the barrier in switch_confirm().
	 */
	smp_mb();
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(kt_cpus, cpu);
		if (READ_ONCE(c->watch) & KT_WATCH_CGROUPS)
			switch_close(c, READ_ONCE(c->selective));
	}
}

/**
 * kt_switch_prepare() - Do kt_switch_forget() for a CPU that comes online
 * @cpu: the CPU, which does not run yet
 *
 * Readers may know the thread that ran last before the CPU went offline.
 *
 * Context: process context.
 */
void kt_switch_prepare(unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);

	switch_forget(c);
	WRITE_ONCE(c->now->owed,
		   c->selective & c->want[KTAPE_EV_CONTEXT]);
}

/* Take a verdict back if a thread has got another cgroup since it was found. */
static void switch_confirm(struct kt_cpu *c, const struct kt_kept *verdict,
			   unsigned long selective)
{
	/* Pairs with the barrier in kt_switch_close_all(). */
	smp_mb();
	if ((unsigned long)atomic_long_read(&kt_verdict_epoch) !=
	    verdict->epoch)
		switch_close(c, selective);
}

/*
 * Note the thread that runs now, and the verdict on it.  @selective are the
 * sessions that need one.  No route is open while the rest changes.
 */
static void switch_arrive(struct kt_cpu *c, struct task_struct *next,
			  const struct kt_kept *verdict,
			  unsigned long selective)
{
	const u8 owed = READ_ONCE(c->now->owed);
	const u32 pass = verdict->pass, watch = READ_ONCE(c->watch);
	const u8 ready = pass & selective & ~owed, held = ~pass & selective;
	/* Sessions that have no context records are owed none. */
	const u8 quiet = held & (owed | ~READ_ONCE(c->want[KTAPE_EV_CONTEXT]));

	const bool change = READ_ONCE(c->now->ready) != ready ||
			    READ_ONCE(c->now->pass) != pass;

	if (change)
		switch_set_routes(c, selective, 0, 0);
	WRITE_ONCE(c->now->held, 0);
	WRITE_ONCE(c->now->ready, 0);
	barrier();	/* an NMI finds nothing that it could take for a verdict */
	/* If it is the same, another CPU may be closing it: leave that alone. */
	if (change)
		WRITE_ONCE(c->now->pass, pass);
	WRITE_ONCE(c->now->uid, verdict->uid);
	WRITE_ONCE(c->now->ready, ready);
	WRITE_ONCE(c->now->all_ready, (u8)watch & ~ready ? KT_NOT_JUDGED : pass);
	WRITE_ONCE(c->now->all_quiet, (u8)watch & ~quiet ? KT_NOT_JUDGED : pass);
	barrier();
	WRITE_ONCE(c->now->thread, (unsigned long)next + KT_ARRIVED);
	barrier();
	WRITE_ONCE(c->now->held, held);
	if (change) {
		smp_wmb();	/* pairs with that in switch_close() */
		switch_set_routes(c, selective, ready, held);
	}
	if (watch & KT_WATCH_CGROUPS)
		switch_confirm(c, verdict, selective);
}

/* Sessions in whose place a switch that they did not record is to be told. */
static void switch_tell_others(struct kt_cpu *c, struct task_struct *next,
			       unsigned long named, unsigned long held,
			       unsigned long recorded)
{
	held &= ~READ_ONCE(c->now->owed);
	switch_tell(named, next->pid, (u8)next->prio);
	switch_tell(held, -1, 0);
	WRITE_ONCE(c->now->owed,
		   (READ_ONCE(c->now->owed) | held) & ~(named | recorded));
}

/* Record the event of a switch.  Return: the sessions that have recorded it. */
static unsigned long switch_record(u32 code, struct task_struct *prev,
				   struct task_struct *next)
{
	const u32 args[] = { prev->pid, next->pid };
	const struct kt_record rec = {
		.code = code,
		.class = KT_CLASS_OF_SCHED_SWITCH,
		.nargs = code >> 29,
		.args = args,
	};
	const u32 brief = kt_cpu_read(kt_cpus->brief[KTAPE_EV_SCHED_SWITCH]);

	if (!brief || brief >= BIT(KT_SESSIONS))
		return kt_event_record_of(KT_EVENT_RING_SCHED_SWITCH, &rec,
					  next);
	kt_event_many(code, KT_PLACE(SCHED_SWITCH), prev->pid, next->pid, 0,
		      NULL);
	return brief;
}

/* Record a switch in all sessions, whatever they need. */
static noinline void notrace switch_all(u32 code, struct task_struct *prev,
					struct task_struct *next)
{
	struct kt_cpu *c = this_cpu_ptr(kt_cpus);
	const unsigned long contexts = READ_ONCE(c->want[KTAPE_EV_CONTEXT]);
	const unsigned long selective = READ_ONCE(c->selective);
	struct kt_kept verdict;
	unsigned long recorded, held;

	kt_switch_begin(next);
	recorded = switch_record(code, prev, next);
	if (!selective) {
		switch_tell(contexts & ~recorded, next->pid, (u8)next->prio);
		kt_switch_end();
		return;
	}
	kt_verdict_get(next, READ_ONCE(c->watch), &verdict);
	held = contexts & selective & ~recorded & ~verdict.pass;
	switch_tell_others(c, next, contexts & ~recorded & ~held, held,
			   recorded);
	switch_arrive(c, next, &verdict, selective);
}

/*
 * Do kt_switch_passes() with a filter by uid in force.  Then update struct kt_now, whose
 * verdict stays the same.
 */
static __always_inline bool switch_varying_passes(struct kt_ring *r,
						  struct task_struct *prev,
						  struct task_struct *next,
						  u32 watch, bool *passes)
{
	const struct kt_kept *k = kt_verdict_place(kt_cpus->kept, next);

	if (!r || watch & KT_WATCH_SLOW ||
	    !kt_verdict_is_kept(k, next, watch) ||
	    kt_thread_uid(prev) != kt_cpu_read(kt_now.uid))
		return false;
	*passes = k->pass == kt_cpu_read(kt_now.all_ready);
	if (!*passes && k->pass != kt_cpu_read(kt_now.all_quiet))
		return false;
	/* An NMI compares it with the thread, too, and judges it by itself. */
	kt_cpu_write(kt_now.uid, k->uid);
	return true;
}

/**
 * kt_event_switch() - Record a switch in all sessions, whatever they need
 * @code: from KT_CODE() for sched_switch
 * @prev: the outgoing thread
 * @next: the incoming thread
 *
 * Context: the probe of sched_switch.
 */
noinline void notrace kt_event_switch(u32 code, struct task_struct *prev,
				      struct task_struct *next)
{
	const unsigned long only = kt_cpu_read(kt_cpus->switch_session);
	struct kt_ring *r =
		kt_cpu_read(kt_cpus->ring[KT_EVENT_RING_SCHED_SWITCH][only]);
	const u32 watch = kt_cpu_read(kt_cpus->watch);
	bool passes;

	if (!(watch & KT_VERDICT_VARIES) ||
	    !switch_varying_passes(r, prev, next, watch, &passes))
		return switch_all(code, prev, next);
	if (passes)
		return kt_event_switch_in(code, prev, next);
	kt_cpu_write(kt_now.thread, (unsigned long)next + KT_ARRIVED);
	kt_count(&r->page->emitted[KT_CLASS_OF_SCHED_SWITCH]);
	kt_count(&r->page->filtered[KT_CLASS_OF_SCHED_SWITCH]);
}

/**
 * kt_switch_judge() - Find the verdict on the running thread again
 *
 * It has changed its uid, or some thread has changed its cgroup.
 *
 * Context: any but NMI, preemption disabled, no switch is being recorded.
 */
noinline void notrace kt_switch_judge(void)
{
	struct kt_cpu *c;
	struct kt_kept verdict;
	struct task_struct *p;
	unsigned long flags;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(kt_cpus);
	p = kt_event_thread();
	if (p) {
		kt_verdict_get(p, READ_ONCE(c->watch), &verdict);
		switch_arrive(c, p, &verdict, READ_ONCE(c->selective));
	}
	raw_local_irq_restore(flags);
}

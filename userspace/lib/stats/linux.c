// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Statistics of Linux traces: account the time of each CPU to threads and interrupts,
 * and return the results.  linux_thread.c follows threads, linux_queue.c their waits for a
 * CPU, linux_pair.c intervals between two events, linux_series.c keeps the values.
 */
#include "stats/linux.h"

int ktape_linux_new(const struct ktape_info *info,
		    const struct ktape_registry *registry,
		    struct ktape_linux **linux_stats)
{
	struct ktape_linux *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->info = info;
	l->registry = registry;
	for (size_t i = 0; i < KT_ARRAY_SIZE(l->checks); i++)
		l->checks[i] = KT_SL_CHECKS;
	l->longest = calloc(1, sizeof(*l->longest));
	if (!l->longest || kt_sl_begin(l)) {
		ktape_linux_free(l);
		return -ENOMEM;
	}
	*linux_stats = l;
	return 0;
}

void ktape_linux_free(struct ktape_linux *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->nr_cpus; i++) {
		if (l->cpus[i])
			free(l->cpus[i]->past);
		free(l->cpus[i]);
	}
	if (l->longest)
		free(l->longest->ran);
	for (size_t i = 0; i < l->nr_series; i++)
		free(l->list[i]);
	free(l->cpus);
	free(l->list);
	free(l->thread_list);
	free(l->instead);
	free(l->longest);
	kt_map_free(&l->open);
	kt_map_free(&l->series);
	kt_map_free(&l->threads);
	kt_map_free(&l->pairs);
	free(l);
}

/* Return the state of a CPU, allocated if needed; NULL if there is no memory. */
static struct kt_sl_cpu *get_cpu(struct ktape_linux *l, uint32_t cpu)
{
	struct kt_sl_cpu **more;
	struct kt_sl_cpu *c;

	if (cpu >= l->nr_cpus) {
		more = realloc(l->cpus, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return NULL;
		l->cpus = more;
		while (l->nr_cpus <= cpu)
			more[l->nr_cpus++] = NULL;
	}
	if (l->cpus[cpu])
		return l->cpus[cpu];
	c = calloc(1, sizeof(*c));
	if (c)
		c->past = calloc(KT_SL_PAST, sizeof(*c->past));
	if (!c || !c->past) {
		free(c);
		return NULL;
	}
	c->room = KT_SL_PAST;
	c->result.cpu = cpu;
	c->tid = KT_SL_TID_NONE;
	c->last = l->begun ? l->first : 0;
	l->cpus[cpu] = c;
	return c;
}

/* Account the time since a CPU's last event to the thread or handler that ran. */
static int account_time(struct ktape_linux *l, struct kt_sl_cpu *c, uint64_t ts)
{
	uint64_t ns = kt_sl_ns(l, c->last, ts);
	struct ktape_linux_thread *t;

	c->last = kt_max(c->last, ts);
	if (c->depth) {
		if (c->irqs[c->depth - 1].kind == KTAPE_SERIES_SOFTIRQ)
			c->result.softirq += ns;
		else
			c->result.irq += ns;
		return 0;
	}
	if (!c->tid)
		c->result.idle += ns;
	else if (c->tid < 0)
		c->result.unknown += ns;
	if (c->tid <= 0)
		return 0;
	c->result.run += ns;
	t = kt_sl_thread(l, c->tid);
	if (!t)
		return -ENOMEM;
	t->run += ns;
	return 0;
}

static bool is_wake_event(uint8_t opcode)
{
	return opcode == KTAPE_EV_SCHED_WAKING || opcode == KTAPE_EV_SCHED_WAKEUP ||
	       opcode == KTAPE_EV_SCHED_WAKEUP_NEW;
}

/*
 * Take the running thread from the event, because switches may not be recorded.  With a thread
 * filter, a context record says when a thread begins to run that the filter blocks: then the
 * running thread is not known any more.  Otherwise, if none was known, the thread of the event has
 * run since the CPU's last event.
 */
static void learn_linux_thread(struct ktape_linux *l, struct kt_sl_cpu *c,
			       const struct ktape_event *e)
{
	bool context = e->opcode == KTAPE_EV_CONTEXT;
	int32_t tid = context ? (int32_t)ktape_event_arg(e, 0) : e->tid;

	if (context && tid < 0) {
		kt_sl_run(l, c, KT_SL_TID_NONE, e->ts);
		c->unreported = true;
	} else if (tid >= 0 && tid != c->tid && kt_event_thread_runs(e)) {
		kt_sl_run(l, c, tid, c->tid < 0 && !c->unreported ? c->last : e->ts);
	}
}

/* Return true if nothing is recorded on a CPU: its profile is empty. */
static bool is_off(const struct kt_sl_cpu *c)
{
	uint64_t any = 0;

	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++)
		any |= c->mask[i];
	return c->profiled && !any;
}

/*
 * Process a profile record.  From an empty profile on, nothing is known about the CPU.
 * If the profile enables further events, intervals that are open may have ended before
 * without an event, as in a loss.
 */
static void take_linux_profile(struct ktape_linux *l, struct kt_sl_cpu *c,
			       const struct ktape_event *e)
{
	uint64_t mask[KTAPE_MASK_WORDS], more = 0;

	if (e->blob_size < sizeof(mask))
		return;
	memcpy(mask, e->blob, sizeof(mask));
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++)
		more |= mask[i] & ~c->mask[i];
	if (c->profiled && more)
		l->lost_to = kt_max(l->lost_to, e->ts);
	c->profiled = true;
	memcpy(c->mask, mask, sizeof(mask));
	if (!is_off(c))
		return;
	c->depth = 0;
	kt_sl_run(l, c, KT_SL_TID_NONE, e->ts);
}

/*
 * Begin with an event.  If the events of a CPU are missing up to a later time, its time up to
 * then is accounted to no thread.  Return: 0 or -ENOMEM.
 */
static int begin_linux_stats(struct ktape_linux *l, const struct ktape_event *e)
{
	int err = 0;

	l->begun = true;
	l->first = e->ts;
	for (uint32_t i = 0; i < l->nr_cpus && !err; i++) {
		if (!l->cpus[i])
			continue;
		l->cpus[i]->last = e->ts;
		err = account_time(l, l->cpus[i], l->cpus[i]->blind);
	}
	return err;
}

/*
 * Process a control record before the statistics begin.  If event rings were overwritten,
 * control records can be hours older than the first event, so only their profiles are used.
 * Return: 0 or -ENOMEM.
 */
static int take_early(struct ktape_linux *l, const struct ktape_event *e)
{
	struct kt_sl_cpu *c = get_cpu(l, e->cpu);

	if (!c)
		return -ENOMEM;
	if (e->opcode == KTAPE_EV_PROFILE && kt_event_fits(e))
		take_linux_profile(l, c, e);
	return 0;
}

int ktape_linux_take(struct ktape_linux *l, const struct ktape_event *e)
{
	struct kt_sl_cpu *c;
	int err;

	/* Metadata events come before the first time stamp of a stream, and have none. */
	if (e->kind == KTAPE_RING_REGISTRY || e->cpu >= KT_CPUS_MAX ||
	    e->opcode == KTAPE_EV_REGISTRY || ktape_event_is_metadata(e))
		return 0;
	if (!l->begun && l->late_to && e->kind == KTAPE_RING_CONTROL)
		return take_early(l, e);
	err = l->begun ? 0 : begin_linux_stats(l, e);
	if (err)
		return err;
	l->last = kt_max(l->last, e->ts);
	l->now = e;
	/* The work for waits may grow with the number of events, see take_ran_check(). */
	for (size_t i = 0; i < KT_ARRAY_SIZE(l->checks); i++)
		l->checks[i] += KT_SL_CHECKS_MORE;
	c = get_cpu(l, e->cpu);
	if (!c)
		return -ENOMEM;
	c->result.seen = true;
	/* The thread of a CPU's first event already ran before that event. */
	if (c->tid < 0 && !c->unreported && e->opcode != KTAPE_EV_CONTEXT &&
	    !is_off(c))
		learn_linux_thread(l, c, e);
	err = account_time(l, c, e->ts);
	if (err || !kt_event_fits(e))
		return err;
	if (e->opcode == KTAPE_EV_PROFILE)
		take_linux_profile(l, c, e);
	/* Control records are written also while the profile is empty. */
	if (is_off(c))
		return 0;
	if (e->opcode == KTAPE_EV_SCHED_SWITCH) {
		/* No handler runs at a switch; soft interrupts of PREEMPT_RT are given up. */
		c->depth = 0;
		return kt_sl_switch(l, c, e);
	}
	learn_linux_thread(l, c, e);
	if (e->opcode == KTAPE_EV_SCHED_MIGRATE_TASK)
		return kt_sl_move(l, e);
	return is_wake_event(e->opcode) ? kt_sl_wake(l, e) : kt_sl_pairs(l, c, e);
}

/*
 * Count lost and overwritten events.  Return: false if the running thread stays known: only a
 * control ring was overwritten, and it has no switches.
 */
static bool count_missing(struct ktape_linux *l, struct kt_sl_cpu *c,
			  const struct ktape_notice *n)
{
	uint64_t count = n->count + n->overwritten;

	l->lost += count;
	c->result.lost += n->count;
	c->result.overwritten += n->overwritten;
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN) {
		/* The first notice of a part has its count, those that continue it have none. */
		l->uncounted += !count && !n->continued;
		l->late_to = kt_max(l->late_to, n->to);
		c->result.late = true;
		return n->ring == KTAPE_RING_EVENT;
	}
	/* A part that continues a loss may be the first one since ktape_linux_restart(). */
	l->uncounted += !count;
	l->lost_to = kt_max(l->lost_to, n->to);
	c->result.gaps += !n->continued;
	c->result.uncounted += !n->count && !n->continued;
	return true;
}

void ktape_linux_notice(struct ktape_linux *l, const struct ktape_notice *n)
{
	struct kt_sl_cpu *c;

	if (n->kind != KTAPE_NOTICE_LOST || n->cpu >= KT_CPUS_MAX)
		return;
	c = get_cpu(l, n->cpu);
	if (!c || !count_missing(l, c, n))
		return;
	if (!l->begun) {
		c->blind = kt_max(c->blind, n->to);
		return;
	}
	/*
	 * The running thread is known up to the start of the loss, but not inside the loss.
	 * Without memory for the thread, only the CPU gets the time.
	 */
	account_time(l, c, kt_max(n->from, l->first));
	c->depth = 0;
	kt_sl_run(l, c, KT_SL_TID_NONE, c->last);
	account_time(l, c, n->to);
}

static int by_run_time(const void *a, const void *b)
{
	const struct ktape_linux_thread *x = a, *y = b;

	if (x->run != y->run)
		return x->run > y->run ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_ns(const void *a, const void *b)
{
	const struct ktape_linux_instead *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->other < y->other ? -1 : x->other > y->other;
}

/* Set the name of each thread: that of the end of the trace, or else of its last event. */
static void name_threads(struct ktape_linux *l)
{
	for (size_t i = 0; i < l->nr_threads; i++) {
		struct ktape_linux_thread *t = &l->thread_list[i].result;
		const struct ktape_object_info *o = NULL;

		if (t->tid)
			o = ktape_registry_thread(l->registry, t->tid, l->last);
		if (t->tid && !o)
			o = ktape_registry_thread(l->registry, t->tid,
						  l->thread_list[i].seen);
		if (o) {
			memcpy(t->name, o->name, sizeof(t->name));
			t->tgid = o->param1;
		} else {
			strcpy(t->name, t->tid ? "" : "swapper");
		}
	}
}

int ktape_linux_finish(struct ktape_linux *l)
{
	int err = 0;

	for (uint32_t i = 0; i < l->nr_cpus && !err; i++) {
		if (l->cpus[i])
			err = account_time(l, l->cpus[i], l->last);
	}
	name_threads(l);
	kt_sl_sort(l);
	if (l->nr_threads)
		qsort(l->thread_list, l->nr_threads, sizeof(*l->thread_list),
		      by_run_time);
	if (l->nr_instead)
		qsort(l->instead, l->nr_instead, sizeof(*l->instead), by_ns);
	return err;
}

int ktape_linux_advance(struct ktape_linux *l, uint64_t ts)
{
	int err = 0;

	if (!l->begun)
		return 0;
	l->last = kt_max(l->last, ts);
	for (uint32_t i = 0; i < l->nr_cpus && !err; i++) {
		if (l->cpus[i])
			err = account_time(l, l->cpus[i], ts);
	}
	return err;
}

void ktape_linux_restart(struct ktape_linux *l)
{
	for (uint32_t i = 0; i < l->nr_cpus; i++) {
		struct ktape_linux_cpu *c;

		if (!l->cpus[i])
			continue;
		c = &l->cpus[i]->result;
		*c = (struct ktape_linux_cpu){ .cpu = c->cpu, .seen = c->seen };
	}
	kt_map_free(&l->threads);
	kt_map_free(&l->pairs);
	memset(&l->threads, 0, sizeof(l->threads));
	memset(&l->pairs, 0, sizeof(l->pairs));
	l->nr_threads = 0;
	l->nr_instead = 0;
	free(l->thread_list);
	free(l->instead);
	l->thread_list = NULL;
	l->instead = NULL;
	memset(&l->other, 0, sizeof(l->other));
	l->longest->result.count = 0;
	memset(l->left, 0, sizeof(l->left));
	kt_sl_restart(l);
	l->lost = 0;
	l->uncounted = 0;
	l->first = l->last;
}

uint64_t ktape_linux_span(const struct ktape_linux *l)
{
	return kt_sl_ns(l, l->first, l->last);
}

const struct ktape_linux_cpu *ktape_linux_cpu(const struct ktape_linux *l, uint32_t i)
{
	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++) {
		if (l->cpus[cpu] && !i--)
			return &l->cpus[cpu]->result;
	}
	return NULL;
}

const struct ktape_linux_thread *ktape_linux_thread(const struct ktape_linux *l,
						    size_t i)
{
	return i < l->nr_threads ? &l->thread_list[i].result : NULL;
}

const struct ktape_linux_instead *ktape_linux_instead(const struct ktape_linux *l,
						      size_t i)
{
	return i < l->nr_instead ? &l->instead[i] : NULL;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads and processes: their numbers within the trace, and their tables.
 *
 * utid and upid are indexes in the order in which the trace shows threads and processes;
 * utid 0 is the idle thread of all CPUs.  A thread id that the kernel gives to another
 * thread has a new utid, because the registry knows another birth.
 */
#include "internal.h"

#define IDLE "swapper"

/* Make room for one more entry in an array that doubles; NULL = no memory. */
static void *grow_array(void *array, size_t nr, size_t size)
{
	return nr & (nr - 1) ? array : realloc(array, (nr ? nr * 2 : 1) * size);
}

static int64_t fail_thread_row(struct pq *pq)
{
	if (!pq->s->error)
		pq->s->error = -ENOMEM;
	return -1;
}

/*
 * Return the index of the process of a thread, made if needed; -1 = no memory.  In the map @value
 * is the index, if @extra is set.
 */
static int32_t find_process(struct pq *pq, uint32_t utid, int32_t pid)
{
	struct kt_map_entry *e = kt_map_put(&pq->by_pid, 0, (uint32_t)pid);
	const struct pq_thread *t = &pq->threads[utid];
	struct pq_process *p;

	if (!e)
		return (int32_t)fail_thread_row(pq);
	/* A thread with the process's id leads it: one born at another time leads another process. */
	if (e->extra && t->tid == pid) {
		p = &pq->processes[e->value];
		if (pq->threads[p->leader].tid == pid &&
		    pq->threads[p->leader].born != t->born)
			e->extra = false;
		else
			p->leader = utid;
	}
	if (e->extra)
		return (int32_t)e->value;
	p = grow_array(pq->processes, pq->nr_processes, sizeof(*p));
	if (!p)
		return (int32_t)fail_thread_row(pq);
	pq->processes = p;
	e->value = pq->nr_processes++;
	e->extra = true;
	p[e->value] = (struct pq_process){ pid, utid, -1 };
	return (int32_t)e->value;
}

/* Take what the registry knows about a thread. */
static void learn_thread_row(struct pq *pq, uint32_t utid,
			     const struct ktape_object_info *o, uint64_t ts)
{
	struct pq_thread *t = &pq->threads[utid];
	const struct ktape_object_info *c;
	int64_t name = t->name;

	t->stale = false;
	if (!o)
		return;
	t->known = true;
	t->born = o->born;
	t->died = o->died;
	t->kernel = o->param2 >> 16 & 1; /* see KTAPE_OBJ_THREAD */
	t->name = pq_name(pq, o->name, o->name_len);
	/* A thread without a name has learned nothing yet, so its process is not set either. */
	if (t->pid != (int32_t)o->param1 || name == PQ_NONE) {
		t->pid = (int32_t)o->param1;
		t->process = t->pid > 0 ? find_process(pq, utid, t->pid) : -1;
	}
	c = ktape_registry_object(pq->s->registry, KTAPE_OBJ_TASK_CGROUP,
				  (uint32_t)t->tid, 0, ts);
	/* An older one is of another thread that had the same number. */
	if (c && c->born >= o->born)
		t->cgroup = pq_name(pq, c->name, c->name_len);
}

/*
 * Make a thread, the newest of its id.
 * Return: its utid; -1 if there are too many, which is counted, or without memory.
 */
static int64_t new_thread(struct pq *pq, int32_t tid)
{
	struct pq_thread *t;
	struct kt_map_entry *e;

	if (pq->nr_threads == PQ_THREADS_MAX) {
		kt_sink_miss(pq->s, "looks at threads beyond 1048576", 1);
		return -1;
	}
	t = grow_array(pq->threads, pq->nr_threads, sizeof(*t));
	if (!t)
		return fail_thread_row(pq);
	pq->threads = t;
	e = kt_map_put(&pq->by_tid, 0, (uint32_t)tid);
	if (!e)
		return fail_thread_row(pq);
	e->value = pq->nr_threads++;
	pq->threads[e->value] = (struct pq_thread){
		.tid = tid,
		.name = PQ_NONE,
		.cgroup = PQ_NONE,
		.process = -1,
		.blocked = PQ_NONE,
	};
	return (int64_t)e->value;
}

/* Make the idle thread, which has utid 0. */
static int64_t make_idle(struct pq *pq)
{
	int64_t utid = new_thread(pq, 0);

	if (utid < 0)
		return utid;
	pq->threads[utid].name = pq_name(pq, IDLE, strlen(IDLE));
	pq->threads[utid].kernel = true;
	pq->threads[utid].known = true;
	return utid;
}

/*
 * Find the newest thread of an id, and take what the registry has learned of it.  Make a new one if
 * there is none, or if the registry knows another birth.
 */
static struct pq_thread *look_up_thread_row(struct pq *pq, int32_t tid, uint64_t ts)
{
	const struct kt_map_entry *e = kt_map_find(&pq->by_tid, 0, (uint32_t)tid);
	int64_t utid = e ? (int64_t)e->value : -1;
	const struct ktape_object_info *o;

	if (utid < 0 || pq->threads[utid].stale) {
		o = ktape_registry_thread(pq->s->registry, tid, ts);
		if (utid < 0 || (o && pq->threads[utid].known &&
				 pq->threads[utid].born != o->born))
			utid = new_thread(pq, tid);
		if (utid < 0)
			return NULL;
		learn_thread_row(pq, (uint32_t)utid, o, ts);
	}
	pq->recent[(uint32_t)tid % PQ_RECENT] = (uint32_t)utid;
	return &pq->threads[utid];
}

/**
 * pq_thread() - Return the thread that has an id
 * @pq: the tables
 * @tid: thread id
 * @ts: the time, in ticks
 *
 * Return: the thread, valid until the next call; NULL if @tid is negative, if there are
 * too many, or without memory.
 */
struct pq_thread *pq_thread(struct pq *pq, int32_t tid, uint64_t ts)
{
	struct pq_thread *t;

	if (tid < 0 || (!pq->nr_threads && make_idle(pq) < 0))
		return NULL;
	t = &pq->threads[pq->recent[(uint32_t)tid % PQ_RECENT]];
	return t->tid == tid && !t->stale ? t : look_up_thread_row(pq, tid, ts);
}

/**
 * pq_registry() - Look names up again that a change of the registry may have made stale
 * @pq: the tables
 * @e: registry record
 *
 * That is the thread of the record when it is used next, or all other names (pq->turn).
 */
void pq_registry(struct pq *pq, const struct ktape_event *e)
{
	const unsigned int type = e->dat20 & 0xff;
	const struct kt_map_entry *found;

	if (type != KTAPE_OBJ_THREAD && type != KTAPE_OBJ_TASK_CGROUP) {
		pq->turn++;
		return;
	}
	found = kt_map_find(&pq->by_tid, 0, ktape_event_arg(e, 0));
	if (found && found->value) /* the idle thread, 0, learns nothing */
		pq->threads[found->value].stale = true;
}

/**
 * pq_fork() - Take the parent of a new process, and the control group of a new thread
 * @pq: the tables
 * @e: process_fork
 */
void pq_fork(struct pq *pq, const struct ktape_event *e)
{
	struct pq_thread *parent =
		pq_thread(pq, (int32_t)ktape_event_arg(e, 0), e->ts);
	int32_t process = parent ? parent->process : -1;
	int64_t cgroup = parent ? parent->cgroup : PQ_NONE;
	struct pq_thread *child =
		pq_thread(pq, (int32_t)ktape_event_arg(e, 1), e->ts);

	if (!child || !child->tid)
		return;
	if (child->cgroup == PQ_NONE)
		child->cgroup = cgroup;
	if (child->process >= 0 && child->process != process)
		pq->processes[child->process].parent = process;
}

/**
 * pq_cpu() - Return a CPU, made if needed
 * @pq: the tables
 * @cpu: its number
 *
 * Return: the CPU, or NULL: the number is too large, or there is no memory.
 */
struct pq_cpu *pq_cpu(struct pq *pq, uint32_t cpu)
{
	struct pq_cpu **more;

	if (cpu < pq->nr_cpus && pq->cpus[cpu])
		return pq->cpus[cpu];
	if (cpu >= KT_CPUS_MAX)
		return NULL;
	if (cpu >= pq->nr_cpus) {
		more = realloc(pq->cpus, (cpu + 1ULL) * sizeof(*more));
		if (!more) {
			fail_thread_row(pq);
			return NULL;
		}
		pq->cpus = more;
		while (pq->nr_cpus <= cpu)
			more[pq->nr_cpus++] = NULL;
	}
	pq->cpus[cpu] = calloc(1, sizeof(**pq->cpus));
	if (!pq->cpus[cpu])
		fail_thread_row(pq);
	else
		pq->cpus[cpu]->tid = -1;
	return pq->cpus[cpu];
}

/* ---- tables: without times, so pq_begin() begins none of their rows ------------------- */

static void put_thread_row(struct pq *pq, const struct pq_thread *t)
{
	struct kt_pq_rows *r = &pq->rows[PQ_THREAD];

	kt_pq_put(r, PQ_THREAD_UTID, pq_utid(pq, t));
	kt_pq_put(r, PQ_THREAD_TID, t->tid);
	if (t->process >= 0)
		kt_pq_put(r, PQ_THREAD_UPID, t->process);
	if (t->pid)
		kt_pq_put(r, PQ_THREAD_PID, t->pid);
	pq_put_name(r, PQ_THREAD_NAME, t->name);
	if (t->known)
		kt_pq_put(r, PQ_THREAD_KERNEL, t->kernel);
	if (t->born)
		kt_pq_put(r, PQ_THREAD_START_TS, pq_time(pq, t->born));
	if (t->died)
		kt_pq_put(r, PQ_THREAD_END_TS, pq_time(pq, t->died));
	pq_put_name(r, PQ_THREAD_CGROUP, t->cgroup);
	pq_end(pq, PQ_THREAD);
}

static void put_process_row(struct pq *pq, const struct pq_process *p)
{
	struct kt_pq_rows *r = &pq->rows[PQ_PROCESS];
	const struct pq_thread *t = &pq->threads[p->leader];

	kt_pq_put(r, PQ_PROCESS_UPID, p - pq->processes);
	kt_pq_put(r, PQ_PROCESS_PID, p->pid);
	pq_put_name(r, PQ_PROCESS_NAME, t->name);
	if (p->parent >= 0)
		kt_pq_put(r, PQ_PROCESS_PARENT_UPID, p->parent);
	pq_put_name(r, PQ_PROCESS_CGROUP, t->cgroup);
	pq_end(pq, PQ_PROCESS);
}

/**
 * pq_put_threads() - Put the tables of threads and processes
 * @pq: the tables
 *
 * Return: 0 or negative errno.
 */
int pq_put_threads(struct pq *pq)
{
	for (size_t i = 0; i < pq->nr_threads && !pq->s->error; i++) {
		if (pq->threads[i].stale)
			learn_thread_row(pq, (uint32_t)i,
					 ktape_registry_thread(pq->s->registry,
							       pq->threads[i].tid,
							       pq->last),
					 pq->last);
		put_thread_row(pq, &pq->threads[i]);
	}
	for (size_t i = 0; i < pq->nr_processes && !pq->s->error; i++)
		put_process_row(pq, &pq->processes[i]);
	return pq->s->error;
}

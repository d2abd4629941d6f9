// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls: the table syscall_slice.  As in the statistics, a call belongs to its
 * thread, and its exit must have the number of its entry.  A call that began before the end of
 * a loss has no row.
 */
#include "internal.h"

#define ERRNO_MAX   4095
#define TABLE_SHIFT 16

/* Names of the tables, by the bits "compat" and "x32" of dat20. */
static const uint8_t abis[] = { PQ_WORD_NATIVE, PQ_WORD_COMPAT, PQ_WORD_X32,
				PQ_WORD_COMPAT };

/* Return the name of the error, PQ_NONE if there is none or the result is no status. */
static int64_t error_name(struct pq *pq, uint32_t key, int64_t ret)
{
	const char *text;
	char number[16];

	if (ret >= 0 || ret < -ERRNO_MAX ||
	    !kt_syscall_has_status(pq->s->info->machine, key >> TABLE_SHIFT & 3,
				   key & 0xffff))
		return PQ_NONE;
	text = ktape_errno_name((int)-ret);
	if (!text) {
		snprintf(number, sizeof(number), "errno_%d", (int)-ret);
		text = number;
	}
	return pq_name(pq, text, strlen(text));
}

/* Write a call.  @key: number and table. */
static void put_call_row(struct pq *pq, const struct kt_line *l, uint32_t key,
			 uint64_t since, int64_t ret)
{
	const struct ktape_event *e = l->event;
	struct pq_thread *t = pq_thread(pq, e->tid, e->ts);
	struct kt_pq_rows *r;

	if (!t)
		return;
	r = pq_begin(pq, PQ_SYSCALL_SLICE, since);
	kt_pq_put(r, PQ_SYSCALL_SLICE_DUR, pq_ns(pq, since, e->ts));
	kt_pq_put(r, PQ_SYSCALL_SLICE_CPU, e->cpu);
	kt_pq_put(r, PQ_SYSCALL_SLICE_UTID, pq_utid(pq, t));
	kt_pq_put(r, PQ_SYSCALL_SLICE_NR, key & 0xffff);
	pq_put_name(r, PQ_SYSCALL_SLICE_ABI,
		    pq->words[abis[key >> TABLE_SHIFT & 3]]);
	pq_put_name(r, PQ_SYSCALL_SLICE_NAME, pq_syscall_name(pq, l, key));
	kt_pq_put(r, PQ_SYSCALL_SLICE_RET, ret);
	pq_put_name(r, PQ_SYSCALL_SLICE_ERROR, error_name(pq, key, ret));
	pq_end(pq, PQ_SYSCALL_SLICE);
}

static void begin_call(struct pq *pq, const struct ktape_event *e)
{
	struct pq_thread *t = e->tid > 0 ? pq_thread(pq, e->tid, e->ts) : NULL;

	if (!t)
		return;
	t->in_call = true;
	t->call = e->dat20 & KT_CALL_KEY;
	t->call_since = e->ts;
}

static void end_call_row(struct pq *pq, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	struct pq_thread *t = e->tid > 0 ? pq_thread(pq, e->tid, e->ts) : NULL;
	const bool wide = e->opcode == KTAPE_EV_SYS_EXIT_WIDE;

	if (!t || !t->in_call)
		return;
	t->in_call = false;
	/* The exit of rt_sigreturn() has no number (KT_CALL_LARGE is set): take that of the entry. */
	if ((t->call != (e->dat20 & KT_CALL_KEY) && !(e->dat20 & KT_CALL_LARGE)) ||
	    !pq_is_sure(pq, t->call_since))
		return;
	put_call_row(pq, l, t->call, t->call_since,
		     (int64_t)kt_get64(wide ? e->blob : e->args));
}

/* A long call in one record: the session records only calls above a time, its gate. */
static void put_call_span(struct pq *pq, const struct kt_line *l)
{
	uint64_t start, ret;

	if (!ktape_event_field(l->event, "start", &start) &&
	    !ktape_event_field(l->event, "ret", &ret))
		put_call_row(pq, l, l->event->dat20 & KT_CALL_KEY, start,
			     (int64_t)ret);
}

/**
 * pq_call() - Take an event of a system call; others do nothing
 * @pq: the tables
 * @l: the event
 */
void pq_call(struct pq *pq, const struct kt_line *l)
{
	switch (l->event->opcode) {
	case KTAPE_EV_SYS_ENTER:
	case KTAPE_EV_SYS_ENTER_WIDE:
		begin_call(pq, l->event);
		break;
	case KTAPE_EV_SYS_EXIT:
	case KTAPE_EV_SYS_EXIT_WIDE:
		end_call_row(pq, l);
		break;
	case KTAPE_EV_SYS_SPAN:
		put_call_span(pq, l);
		break;
	default:
		break;
	}
}

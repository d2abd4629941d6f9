// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check a trace of another Linux tracer (LTTng, trace-cmd, perf).
 *
 * Such a trace has no checksums, no counts of emitted events and no marks of what was
 * enabled.  What can be checked is what the events say of each other: the order of time on
 * a CPU, pairs of interrupt handlers and of system calls, switches, and the losses that
 * the tracer reported.  The rest is a note, so that "nothing is wrong" does not read as "this
 * trace is complete".
 *
 * The trace does not say which events the tracer records, so an event counts as recorded from
 * its first occurrence on.  The tracer may start while handlers and calls run, so their ends
 * may lack a begin.  After a loss the state of the CPU and of all system calls is forgotten.
 */
#include "util/map.h"

#include "format/reader.h"
#include "verify/internal.h"

/* Bits of dat20: number of the system call, all ones = -1; of the handler. */
#define CALL_NR	     0xffffU
#define IRQ_BITS     0x3ffffU
#define SOFTIRQ_BITS 0xffU

#define NR_NONE UINT32_MAX /* in no call, or not known in which */

/**
 * struct kt_foreign_check - what is remembered of the whole trace
 * @calls: by thread: number of the system call that it is in, or NR_NONE
 * @opcodes: bit n: the trace has an event of opcode n
 * @lost: events that the tracer reported as lost
 * @gaps: number of losses of which the tracer did not report how many events they were
 */
struct kt_foreign_check {
	struct kt_map calls;
	uint64_t opcodes[KTAPE_MASK_WORDS];
	uint64_t lost;
	uint64_t gaps;
};

int kt_foreign_new(struct kt_foreign_check **check)
{
	*check = calloc(1, sizeof(**check));
	return *check ? 0 : -ENOMEM;
}

void kt_foreign_free(struct kt_foreign_check *f)
{
	if (f)
		kt_map_free(&f->calls);
	free(f);
}

/**
 * kt_foreign_back() - report that the times of events go back
 * @v: the check
 * @n: the notice, whose text says how many such places the trace has
 */
void kt_foreign_back(struct ktape_verify *v, const struct ktape_notice *n)
{
	const struct ktape_finding f = {
		.rule = KTAPE_RULE_TIME,
		.stream = true,
		.cpu = n->cpu,
		.ring = KTAPE_RING_EVENT,
		.ts = n->to,
		.offset = n->error.offset,
	};

	kt_verify_wrong_at(v, &f, "%s", n->error.text);
}

/**
 * kt_foreign_lost() - count a loss that the tracer reported, and forget the state of its CPU and
 *	the calls of all threads
 * @v: the check
 * @n: the notice
 */
void kt_foreign_lost(struct ktape_verify *v, const struct ktape_notice *n)
{
	struct kt_vcpu *c = kt_verify_cpu(v, n->cpu);
	struct kt_foreign_check *f = v->foreign;

	f->lost += n->count;
	f->gaps += !n->count;
	kt_map_free(&f->calls);
	memset(&f->calls, 0, sizeof(f->calls));
	if (!c)
		return;
	/* For account.c, which counts losses by what the headers of native packets say. */
	c->ring[KTAPE_RING_EVENT].based = true;
	c->ring[KTAPE_RING_EVENT].head.lost += n->count;
	c->tid = -1;
	c->doubt_until = kt_max(c->doubt_until, n->to);
	memset(&c->irqs, 0, sizeof(c->irqs));
	memset(&c->softirqs, 0, sizeof(c->softirqs));
}

static bool has_event(const struct ktape_verify *v, unsigned int opcode)
{
	return kt_mask_has(v->foreign->opcodes, opcode);
}

static void take_foreign_switch(struct ktape_verify *v, struct kt_vcpu *c,
				const struct ktape_event *e)
{
	kt_pair_switch(v, c, (int32_t)ktape_event_arg(e, 0));
	c->tid = (int32_t)ktape_event_arg(e, 1);
	kt_pair_none(v, &c->irqs, "interrupt",
		     has_event(v, KTAPE_EV_IRQ_HANDLER_ENTRY) &&
			     has_event(v, KTAPE_EV_IRQ_HANDLER_EXIT));
	if (!v->rt)
		kt_pair_none(v, &c->softirqs, "soft interrupt",
			     has_event(v, KTAPE_EV_SOFTIRQ_ENTRY) &&
				     has_event(v, KTAPE_EV_SOFTIRQ_EXIT));
}

/* ---- system calls ------------------------------------------------------------------------ */

/* Forget the call of a thread that ends, or begins with an id that was used before. */
static void end_foreign_thread(struct ktape_verify *v, uint32_t tid)
{
	struct kt_map_entry *e = kt_map_find(&v->foreign->calls, 0, tid);

	if (e)
		e->value = NR_NONE;
}

/* Follow a thread's calls.  Only an end with another number than its begin is a violation. */
static void take_foreign_call(struct ktape_verify *v,
			      const struct ktape_event *e, bool enters)
{
	uint32_t nr = e->dat20 & CALL_NR;
	struct kt_map_entry *call;

	if (e->tid <= 0)
		return;
	call = kt_map_find(&v->foreign->calls, 0, (uint32_t)e->tid);
	if (!call) {
		call = kt_map_put(&v->foreign->calls, 0, (uint32_t)e->tid);
		if (call)
			call->value = enters ? nr : NR_NONE;
		else
			v->failed = -ENOMEM;
		return;
	}
	/* rt_sigreturn() returns with number -1, because it restores the interrupted registers. */
	if (!enters && call->value != NR_NONE && call->value != nr && nr != CALL_NR)
		kt_verify_event_wrong(
			v, KTAPE_RULE_PAIR,
			"thread %d returns from system call %u, but it entered %llu",
			e->tid, nr, (unsigned long long)call->value);
	call->value = enters ? nr : NR_NONE;
}

/**
 * kt_foreign_event() - check an event of a trace of another tracer
 * @v: the check; @v->event is the event
 * @c: its CPU
 * @e: the event
 */
void kt_foreign_event(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e)
{
	struct kt_vring *r = &c->ring[KTAPE_RING_EVENT];

	if (e->ts < r->ts_end)
		kt_verify_event_wrong(
			v, KTAPE_RULE_TIME,
			"the event is earlier than the one before it on this CPU");
	r->ts_end = e->ts;
	kt_mask_add(v->foreign->opcodes, e->opcode);
	switch (e->opcode) {
	case KTAPE_EV_IRQ_HANDLER_ENTRY:
		kt_nest_begin(&c->irqs, e->dat20 & IRQ_BITS);
		break;
	case KTAPE_EV_IRQ_HANDLER_EXIT:
		if (!kt_nest_end(&c->irqs, e->dat20 & IRQ_BITS))
			kt_pair_unmatched(v, &c->irqs, e->dat20 & IRQ_BITS,
					  "interrupt");
		break;
	case KTAPE_EV_SOFTIRQ_ENTRY:
		if (!v->rt)
			kt_nest_begin(&c->softirqs, e->dat20 & SOFTIRQ_BITS);
		break;
	case KTAPE_EV_SOFTIRQ_EXIT:
		if (!v->rt && !kt_nest_end(&c->softirqs, e->dat20 & SOFTIRQ_BITS))
			kt_pair_unmatched(v, &c->softirqs, e->dat20 & SOFTIRQ_BITS,
					  "soft interrupt");
		break;
	case KTAPE_EV_SCHED_SWITCH:
		take_foreign_switch(v, c, e);
		break;
	case KTAPE_EV_SYS_ENTER:
	case KTAPE_EV_SYS_ENTER_WIDE:
		take_foreign_call(v, e, true);
		break;
	case KTAPE_EV_SYS_EXIT:
		take_foreign_call(v, e, false);
		break;
	case KTAPE_EV_PROCESS_EXIT:
	case KTAPE_EV_PROCESS_FREE:
		end_foreign_thread(v, ktape_event_arg(e, 0));
		break;
	case KTAPE_EV_PROCESS_FORK:
		end_foreign_thread(v, ktape_event_arg(e, 1));
		break;
	default:
		break;
	}
}

/**
 * kt_foreign_end() - report at the end what could not be checked
 * @v: the check
 */
void kt_foreign_end(struct ktape_verify *v)
{
	const struct kt_foreign_check *f = v->foreign;
	const char *name = v->trace->import->format->name;
	const char *beside = v->trace->import->beside;

	if (f->lost || f->gaps)
		kt_verify_note(
			v, KTAPE_RULE_LOSS, NULL,
			"the tracer lost %llu events, and an unknown number in %llu gaps",
			(unsigned long long)f->lost, (unsigned long long)f->gaps);
	/* Lines about what the files have beside the events, from the reader of the format. */
	for (; *beside; beside += strcspn(beside, "\n") + 1)
		kt_verify_note(v, KTAPE_RULE_FORM, NULL, "%.*s",
			       (int)strcspn(beside, "\n"), beside);
	kt_verify_note(v, KTAPE_RULE_LEDGER, NULL,
		       "a trace of %s has no counts of emitted events, so nothing proves that it is complete",
		       name);
	kt_verify_note(v, KTAPE_RULE_CHECKSUM, NULL,
		       "a trace of %s has no checksums: changed bytes show only where they contradict others",
		       name);
	kt_verify_note(v, KTAPE_RULE_MARKER, NULL,
		       "a trace of %s does not say which events were enabled, so no event can be proved absent",
		       name);
}

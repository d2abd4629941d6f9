// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check the events that one CPU has in a window, a span of time: a trial.  window.c makes the
 * trials of all CPUs, in several threads, and takes their results.
 *
 * Most events agree with all rules, and change little.  check_quick() checks those, by a
 * table of what there is to check for each opcode.  Every other event goes through
 * check_careful(), which calls the functions that check one event after the other.
 *
 * Both work on copies of the check, of the CPU's state and of its stream.  What the copies point
 * to is shared by the trials of all CPUs, which run at the same time, so a trial only reads it.
 * Only of the decoder, of which there is no copy, a trial writes the elements of its own CPU (@tid
 * and @last), which no other trial touches.
 *
 * Neither reports anything: a finding only spoils the trial.  Then window.c drops the copies of
 * all trials, sets these elements of the decoder back, and ends the window before the event, which
 * is checked, and reported, without a trial.
 */
#include "stream/decode.h"
#include "stream/event.h"
#include "verify/call.h"
#include "verify/window.h"

#define IRQ_BITS     0x3ffffU /* of dat20: number of the interrupt */
#define SOFTIRQ_BITS 0xffU    /* of dat20: number of the soft interrupt */
#define FORM_SHIFT   60 /* of argument count and bit p in a record's first word */
#define STATE_SHIFT  16U /* of prev_state in dat20 of sched_switch */

static const uint8_t kinds[KTAPE_OPCODES] = {
	[KTAPE_EV_SCHED_SWITCH] = KT_QUICK_SWITCH,
	[KTAPE_EV_IRQ_HANDLER_ENTRY] = KT_QUICK_IRQ_BEGIN,
	[KTAPE_EV_IRQ_HANDLER_EXIT] = KT_QUICK_IRQ_END,
	[KTAPE_EV_SOFTIRQ_ENTRY] = KT_QUICK_SOFTIRQ_BEGIN,
	[KTAPE_EV_SOFTIRQ_EXIT] = KT_QUICK_SOFTIRQ_END,
	[KTAPE_EV_SYS_ENTER] = KT_QUICK_CALL_BEGIN,
	[KTAPE_EV_SYS_EXIT] = KT_QUICK_CALL_END,
};

/*
 * Events that change more than counters, or whose arguments need no name although they are threads
 * (kt_verify_names()).
 */
static const uint8_t careful[] = {
	KTAPE_EV_REGISTRY,
	KTAPE_EV_CONTEXT,
	KTAPE_EV_TRACER,
	KTAPE_EV_PROCESS_FREE,
	KTAPE_EV_PROCESS_EXIT,
	KTAPE_EV_PROCESS_FORK,
	KTAPE_EV_SYS_ENTER_WIDE,
	KTAPE_EV_SYS_EXIT_WIDE,
	KTAPE_EV_SCHED_PROCESS_WAIT,
	KTAPE_TIME_EXTEND,
};

/*
 * Describe an opcode by its fields.  Return: whether its events can be checked quickly.  If the
 * number of arguments varies, this holds only for records with just the arguments of @plan's
 * steps: others have another form, which check_quick() leaves to check_careful().
 */
static bool describe_trial(struct kt_quick *q, const struct kt_plan *plan)
{
	unsigned int at = 0;

	if (!plan->steps || plan->has_blob)
		return false;
	/* A record that has words for a field of any length is not checked quickly. */
	for (const struct kt_slot *s = plan->steps;
	     s->place != KT_PLACE_END && s->place != KTAPE_PLACE_REST; s++) {
		bool id = s->type == KTAPE_TYPE_TID || s->type == KTAPE_TYPE_FUNC;

		if (s->place == KTAPE_PLACE_BITS && !id)
			continue;
		if (s->place != KTAPE_PLACE_ARG || (id && s->words != 1) ||
		    (id && q->nr_ids == KT_IDS))
			return false;
		if (id) {
			q->ids[q->nr_ids].at = (uint8_t)at;
			q->ids[q->nr_ids++].type = s->type;
		}
		at += s->words;
	}
	q->form = (uint8_t)(at << 1);
	return plan->varargs || at == plan->nargs;
}

/* Fill the table of opcodes for the trace. */
void kt_quick_init(struct kt_windows *w)
{
	const struct ktape_verify *v = w->v;

	memset(w->quick, 0, sizeof(w->quick));
	for (unsigned int i = 1; i < KTAPE_OPCODES; i++) {
		struct kt_quick q = { .kind = KT_QUICK_NOT };

		if (!kt_mask_has(v->trace->info.known, i) ||
		    !describe_trial(&q, &kt_plans[i]))
			continue;
		q.kind = kinds[i] ? kinds[i] : KT_QUICK_PLAIN;
		w->quick[i] = q;
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(careful); i++)
		w->quick[careful[i]].kind = KT_QUICK_NOT;
	if (v->asked)
		w->quick[v->question.opcode].kind = KT_QUICK_NOT;
}

/* Check whether a number was looked up before, or is among the items of this trial. */
static bool is_checked(struct kt_trial *tr, unsigned int type, uint32_t id)
{
	uint32_t *cached = &tr->functions[id % KT_IDS_CACHED];

	if (type == KTAPE_OBJ_THREAD && id < KT_TIDS && kt_mask_has(tr->tids, id))
		return true;
	if (type == KTAPE_OBJ_FUNCTION && *cached == id)
		return true;
	if (!kt_name_is_checked(tr->v.checked, type, id) &&
	    !kt_trial_mentioned(tr, type, id))
		return false;
	if (type == KTAPE_OBJ_FUNCTION)
		*cached = id;
	return true;
}

/* Check whether all numbers that an event refers to were looked up. */
static bool are_checked(struct kt_trial *tr, const struct kt_quick *q,
			const uint8_t *args)
{
	for (unsigned int i = 0; i < q->nr_ids; i++) {
		uint32_t id = kt_get32(args + q->ids[i].at * 4U);
		bool thread = q->ids[i].type == KTAPE_TYPE_TID;

		if (thread ? (int32_t)id > 0 : id)
			if (!is_checked(tr, thread ? KTAPE_OBJ_THREAD : KTAPE_OBJ_FUNCTION,
					id))
				return false;
	}
	return true;
}

/* Take the running thread from the decoder, and end a run of calls of another thread. */
static void set_thread(struct kt_trial *tr)
{
	int32_t tid = tr->v.trace->decoder->tid[tr->at.cpu];

	tr->known = tid <= 0 || is_checked(tr, KTAPE_OBJ_THREAD, (uint32_t)tid);
	tr->run = tr->run && tr->runs[tr->nr_runs - 1].tid == tid;
}

/*
 * ---- system calls ----------------------------------------------------------
 *
 * A run is a row of begins and ends of calls of one thread that follow each other on this CPU
 * without another thread in between.  Each is compared here with the one before it in the run.
 * Only the first one needs to know what the thread did before, maybe on another CPU:
 * window_call.c compares it after all trials.
 */

/* Begin a run of calls of a thread.  Return: the run, or NULL if there is no room. */
static struct kt_run *begin_trial_run(struct kt_trial *tr, int32_t tid, uint64_t ts,
				      unsigned int kind, unsigned int nr)
{
	const struct kt_calls *k = tr->v.calls;
	struct kt_run *run;
	size_t slot;

	if (tr->nr_runs == tr->windows->max_runs) {
		kt_trial_spoil(tr);
		return NULL;
	}
	slot = kt_call_slot(k, tid);
	run = &tr->runs[tr->nr_runs++];
	*run = (struct kt_run){
		.from = ts,
		.to = ts,
		.tid = tid,
		.slot = k->table[slot].used ? (uint32_t)slot : KT_NO_SLOT,
		.kind = (uint8_t)kind,
		.first_nr = (uint16_t)nr,
	};
	return run;
}

/*
 * Take the begin of a call, and here and below spoil the trial where call.c would report a
 * violation.  @ends: a call with this number ends with an event.  If it does not, what the thread
 * does afterwards is not known.
 */
static void take_begin(struct kt_trial *tr, int32_t tid, uint64_t ts,
		       unsigned int nr, bool ends)
{
	struct kt_run *run = tr->run ? &tr->runs[tr->nr_runs - 1] : NULL;

	if (!run)
		run = begin_trial_run(tr, tid, ts, KT_RUN_BEGIN, nr);
	else if (run->known && run->inside)
		kt_trial_spoil(tr);
	if (!run)
		return;
	tr->run = true;
	run->known = ends;
	run->inside = true;
	run->nr = (uint16_t)nr;
	run->to = ts;
}

/* Take the end of a call.  A run that begins with it is compared later, by kt_runs_agree(). */
static void take_end(struct kt_trial *tr, int32_t tid, uint64_t ts,
		     unsigned int nr, bool ends)
{
	struct kt_run *run = tr->run ? &tr->runs[tr->nr_runs - 1] : NULL;

	if (!run) {
		run = begin_trial_run(tr, tid, ts, KT_RUN_END, nr);
		if (!run)
			return;
		run->ends = ends;
	} else if (run->known && run->inside && run->nr != nr && ends &&
		   nr != KT_CALL_NONE && run->nr != KT_CALL_NONE) {
		kt_trial_spoil(tr);
	}
	tr->run = true;
	run->known = true;
	run->inside = false;
	run->to = ts;
}

/*
 * Take the begin or end of a call that is not checked: forget what the thread does.  If it is not
 * known which thread that is, a new epoch forgets all threads.
 */
static void take_unchecked(struct kt_trial *tr, int32_t tid, uint64_t ts)
{
	struct kt_run *run = tr->run ? &tr->runs[tr->nr_runs - 1] : NULL;

	if (tid < 0) {
		tr->v.epoch++;
		return;
	}
	if (!run)
		run = begin_trial_run(tr, tid, ts, KT_RUN_FORGET, 0);
	if (!run)
		return;
	tr->run = true;
	run->known = false;
	run->to = ts;
}

/* Do what kt_verify_call() does. */
static void take_trial_call(struct kt_trial *tr, const struct ktape_event *e)
{
	unsigned int nr = e->dat20 & 0xffff;
	bool begins = e->opcode == KTAPE_EV_SYS_ENTER ||
		      e->opcode == KTAPE_EV_SYS_ENTER_WIDE;

	if (e->opcode == KTAPE_EV_PROCESS_FREE || e->opcode == KTAPE_EV_PROCESS_EXIT ||
	    e->opcode == KTAPE_EV_PROCESS_FORK) {
		begin_trial_run(tr,
				(int32_t)ktape_event_arg(
					e, e->opcode == KTAPE_EV_PROCESS_FORK),
				e->ts, KT_RUN_FORGET, 0);
		tr->run = false;
		return;
	}
	if (!kt_call_is(e) || !e->tid)
		return;
	if (e->tid < 0 || !kt_call_is_checked(&tr->v, &tr->c, e->ts)) {
		if (tr->v.calls_checked)
			take_unchecked(tr, e->tid, e->ts);
		return;
	}
	if (begins)
		take_begin(tr, e->tid, e->ts, nr, kt_call_ends(&tr->v, e, nr));
	else
		take_end(tr, e->tid, e->ts, nr, kt_call_ends(&tr->v, e, nr));
}

/* ---- events ----------------------------------------------------------------- */

/*
 * Go to the next packet, as kt_stream_load() does, and check its header.  At the end of the stream
 * @in_heap becomes false.  What a trial cannot check spoils it.
 */
static void trial_next_packet(struct kt_trial *tr)
{
	struct kt_stream *s = &tr->at;
	const struct kt_lane_slot *slot;
	uint64_t epoch = tr->v.epoch;

	if (++tr->slot == tr->end) {
		s->in_heap = false;
		return;
	}
	if (tr->slot >= s->lane->nr) {
		kt_trial_spoil(tr);
		return;
	}
	slot = kt_lane_slot(s->lane, tr->slot);
	/*
	 * Damage before the packet, or an error in its place, has to be reported first.  A record of
	 * the packet before that is later than its end shows that the clock stepped back.
	 */
	if (slot->notices || slot->ret <= 0 || s->packet.ts > s->ts_end ||
	    kt_packet_begin(&s->packet, slot->data, slot->len,
			    tr->v.trace->info.uuid, NULL) ||
	    s->packet.kind != KTAPE_RING_EVENT || s->packet.cpu != s->cpu) {
		kt_trial_spoil(tr);
		return;
	}
	s->offset = slot->offset;
	s->fresh = true;
	s->seq = KT_HEAD64(slot->data, seq);
	s->discarded = KT_HEAD64(slot->data, discarded);
	s->ts_end = KT_HEAD64(slot->data, ts_end);
	kt_verify_header(&tr->v, &tr->c, s, slot->data);
	/* A change of epoch (events are missing) concerns the threads of other CPUs, too. */
	if (tr->v.epoch != epoch)
		kt_trial_spoil(tr);
}

/*
 * Apply all rules to the next event, or go to the next packet if this one has no more.
 * Return: false if the trial ends: at @until, at the end of the stream or because it is spoiled.
 */
static bool check_careful(struct kt_trial *tr)
{
	struct kt_stream *s = &tr->at;
	struct ktape_packet p = s->packet;
	struct ktape_event e;
	const char *why;
	uint64_t before = tr->v.records, epoch;
	int ret;

	ret = kt_packet_read(&p, &e, &why);
	if (!ret)
		trial_next_packet(tr);
	else if (ret < 0)
		kt_trial_spoil(tr);
	if (ret <= 0)
		return !tr->spoiled && s->in_heap;
	if (e.ts >= tr->until)
		return false;
	if (s->fresh)
		kt_decoder_packet(tr->v.trace->decoder, s->packet.data);
	s->fresh = false;
	kt_decoder_event(tr->v.trace->decoder, &e);
	tr->run = tr->run && tr->runs[tr->nr_runs - 1].tid == e.tid;
	if (e.opcode == KTAPE_EV_REGISTRY && e.known)
		kt_trial_item(tr, KT_ITEM_NAME, &e);
	kt_verify_names(&tr->v, &e);
	epoch = tr->v.epoch;
	if (kt_verify_local(&tr->v, &tr->c, s, &e))
		take_trial_call(tr, &e);
	if (tr->spoiled)
		return false;
	/* Events after which all threads' calls are forgotten: try_window() decides. */
	tr->doubts += tr->v.epoch - epoch;
	tr->records += tr->v.records - before;
	tr->last = e.ts;
	s->packet = p;
	set_thread(tr);
	return true;
}

/*
 * Check whether check_quick() can check the events that follow: only check_careful() knows what
 * filters, a stop of the session, held times and doubts mean for an event.
 */
static bool is_calm(const struct kt_trial *tr)
{
	const struct kt_vcpu *c = &tr->c;
	uint64_t ts = tr->at.packet.ts;

	/* @doubt_until of the check is the latest one of all CPUs. */
	return tr->known && !tr->at.fresh && !c->filters &&
	       c->state != KT_STATE_OFF && !c->ring[KTAPE_RING_EVENT].held &&
	       ts > tr->v.doubt_until;
}

/*
 * Check a thread switch.  Return: false, and nothing has changed, if it needs more checks: it may
 * be a violation, or is the last one of its thread (state X or Z), of which the rule about names
 * has to know (kt_name_match()).
 */
static bool quick_switch(struct kt_trial *tr, uint32_t dat20,
			 const uint8_t *args, bool irqs, bool softirqs)
{
	int32_t prev = (int32_t)kt_get32(args), next = (int32_t)kt_get32(args + 4);
	uint32_t state = dat20 >> STATE_SHIFT;
	struct kt_vcpu *c = &tr->c;

	if ((irqs && c->irqs.nr) || (softirqs && c->softirqs.nr) ||
	    (c->tid >= 0 && prev != c->tid) || state == KTAPE_STATE_X ||
	    state == KTAPE_STATE_Z)
		return false;
	c->irqs.sure |= irqs;
	c->softirqs.sure |= softirqs;
	c->tid = next;
	tr->v.trace->decoder->last[tr->at.cpu] = (struct kt_switch){
		.left = prev,
		.came = next,
	};
	tr->run = false;
	return true;
}

/*
 * Check events as long as nothing about them is special.
 * long: a loop over all events, with what it needs in registers.
 */
static void check_quick(struct kt_trial *tr)
{
	const struct kt_quick *quick = tr->windows->quick;
	const uint8_t *ending = tr->v.calls->ending;
	struct kt_vcpu *c = &tr->c;
	struct kt_vring *r = &c->ring[KTAPE_RING_EVENT];
	struct ktape_packet *p = &tr->at.packet;
	int32_t *running = &tr->v.trace->decoder->tid[tr->at.cpu];
	const bool irqs = kt_pairs_irqs(c);
	const bool softirqs = kt_pairs_softirqs(&tr->v, c);
	const bool calls = kt_call_records_both(c) && !tr->v.unstable;
	/* An event after the end time of its packet is a violation. */
	const uint64_t until = kt_min(
		tr->until, r->ts_end == UINT64_MAX ? UINT64_MAX : r->ts_end + 1);
	const uint8_t *at = p->data + p->at, *end = p->data + p->content;
	int32_t tid = *running;
	uint64_t ts = p->ts, records = 0;

	while (at < end) {
		uint64_t word = kt_get64(at);
		const struct kt_quick *q =
			&quick[(uint8_t)(word >> KTAPE_OPCODE_SHIFT)];
		uint32_t dat20 = (uint32_t)(word >> KTAPE_DAT20_SHIFT) &
				 KTAPE_DAT20_MASK;
		const uint8_t *args = at + 8;
		size_t len = kt_align(8 + (word >> KTAPE_NARGS_SHIFT) * 4, 8);
		unsigned int nr = dat20 & 0xffff;
		const uint64_t now = (ts & ~0xffffffffULL) | (uint32_t)word;
		bool usual;

		if (!q->kind || word >> FORM_SHIFT != q->form || now < ts ||
		    now >= until || len > (size_t)(end - at) ||
		    (q->nr_ids && !are_checked(tr, q, args)))
			break;
		/* A native call (no ABI bit), whose ending the table of kt_call_ends() has. */
		usual = !(dat20 >> 16 & 3) && nr < KT_CALLS_USUAL;
		switch (q->kind) {
		case KT_QUICK_SWITCH:
			if (!quick_switch(tr, dat20, args, irqs, softirqs))
				goto out;
			tid = c->tid;
			tr->c.switched = now;
			break;
		case KT_QUICK_IRQ_BEGIN:
			if (irqs)
				kt_nest_begin(&c->irqs, dat20 & IRQ_BITS);
			break;
		case KT_QUICK_IRQ_END:
			if (irqs && !kt_nest_end(&c->irqs, dat20 & IRQ_BITS))
				goto out;
			break;
		case KT_QUICK_SOFTIRQ_BEGIN:
			if (softirqs)
				kt_nest_begin(&c->softirqs, dat20 & SOFTIRQ_BITS);
			break;
		case KT_QUICK_SOFTIRQ_END:
			if (softirqs &&
			    !kt_nest_end(&c->softirqs, dat20 & SOFTIRQ_BITS))
				goto out;
			break;
		case KT_QUICK_CALL_BEGIN:
		case KT_QUICK_CALL_END:
			if (!tid || ((tid < 0 || !calls) && !tr->v.calls_checked))
				break;
			if (tid < 0 || !calls || !usual)
				goto out;
			if (q->kind == KT_QUICK_CALL_BEGIN)
				take_begin(tr, tid, now, nr,
					   ending[nr] == KT_CALL_ENDS);
			else
				take_end(tr, tid, now, nr,
					 ending[nr] == KT_CALL_ENDS);
			if (tr->spoiled)
				goto out;
			break;
		default:
			break;
		}
		tr->counts[(uint8_t)(word >> KTAPE_OPCODE_SHIFT)]++;
		records++;
		ts = now;
		at += len;
	}
out:
	*running = tid;
	p->at = (uint64_t)(at - p->data);
	if (records)
		tr->last = ts;
	p->ts = ts;
	r->records += records;
	tr->records += records;
	tr->v.records += records;
}

/* Begin a trial of the events that come next in the stream of @tr. */
void kt_trial_begin(struct kt_trial *tr)
{
	const struct kt_stream *s = tr->stream;

	tr->v = *tr->windows->v;
	tr->v.trial = tr;
	tr->c = *tr->cpu;
	tr->at = *s;
	/*
	 * Go back to before the next event, which the stream has read already.  With the
	 * event's own time as the time before it, kt_record_time() returns that time again.
	 */
	tr->at.packet.at = s->event.offset;
	tr->at.packet.ts = s->event.ts;
	tr->slot = 0;
	tr->tids = kt_names_tids(tr->v.checked);
	/* For window.c, which sets the decoder back if the window is given up. */
	tr->tid = tr->v.trace->decoder->tid[s->cpu];
	tr->switched = tr->v.trace->decoder->last[s->cpu];
	tr->last = 0;
	tr->records = 0;
	tr->doubts = 0;
	tr->spoiled = false;
	memset(tr->counts, 0, sizeof(tr->counts));
	tr->run = false;
	tr->nr_runs = 0;
	tr->nr_items = 0;
	if (tr->nr_fresh)
		memset(tr->fresh, 0, sizeof(tr->fresh));
	tr->nr_fresh = 0;
	memset(tr->functions, 0, sizeof(tr->functions));
}

/* Add the events that were counted by opcode to the counters of their classes. */
static void count_classes(struct kt_trial *tr)
{
	struct kt_vring *r = &tr->c.ring[KTAPE_RING_EVENT];

	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		if (tr->counts[i])
			r->class[ktape_event_desc(i)->event_class].records +=
				tr->counts[i];
}

/* Check whether the copy of the check has changed in a member that the other CPUs use. */
static bool is_changed(const struct kt_trial *tr)
{
	const struct ktape_verify *a = &tr->v, *b = tr->windows->v;

	return a->failed != b->failed || a->unstable != b->unstable ||
	       a->damaged != b->damaged || a->names_lost != b->names_lost ||
	       a->paused != b->paused || a->events_lost != b->events_lost ||
	       a->waits != b->waits || a->doubt_until != b->doubt_until;
}

/*
 * Check the events of the stream that are before @until, and read the next one ahead, as each
 * stream in the heap has done.  The results are in the copies, in @runs and @items, and in this
 * CPU's elements of the decoder; @spoiled says not to use them.
 */
void kt_trial_run(struct kt_trial *tr)
{
	struct kt_stream *s = &tr->at;
	const char *why;
	bool more;

	set_thread(tr);
	do {
		if (is_calm(tr))
			check_quick(tr);
		more = !tr->spoiled && check_careful(tr);
	} while (more);
	if (tr->spoiled)
		return;
	count_classes(tr);
	if (tr->records)
		kt_absent_last(&tr->v, &tr->c, KTAPE_RING_EVENT, tr->last);
	if (is_changed(tr) ||
	    (s->in_heap && kt_packet_read(&s->packet, &s->event, &why) <= 0))
		kt_trial_spoil(tr);
}

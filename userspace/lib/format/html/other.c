// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Marks, values, work items, requests to block devices, spans of duration gates, objects of an
 * RTOS, and losses by class.  With a duration gate (ktape record --gate) one record has the begin
 * and the end of each interrupt, call or work item that took longer than the gate's time.
 */
#include <stdio.h>

#include "util/nanoseconds.h"
#include "util/wide.h"

#include <ktape-verify.h>

#include "internal.h"

#define FLUSH  (1U << 16) /* values of a block */
#define DEPTHS 8	  /* shift of a mark's depth in the kind of @open */
#define TRACER_NAME \
	"tracer: ns in each ms of CPU " /* viewer/model.mjs knows it */

/*
 * An interval opens: remember its begin and its name.  One with its key that is still open, whose
 * end is missing, is forgotten.
 */
static void open_span(struct html *h, uint32_t kind, uint64_t key, int64_t now,
		      uint32_t name, uint32_t id)
{
	struct kt_map_entry *e;

	if (h->open.nr >= HTML_OPEN && !kt_map_find(&h->open, kind, key)) {
		kt_sink_miss(h->s,
			     "intervals that began while 1048576 others were open",
			     1);
		return;
	}
	e = kt_map_put(&h->open, kind, key);
	if (!e) {
		html_no_memory(h);
		return;
	}
	e->value = (uint64_t)now;
	e->extra = (uint64_t)id << 32 | name;
}

/* An interval ends: add its span, in which @s has everything but time and name. */
static void close_span(struct html *h, uint32_t kind, uint64_t key, int64_t now,
		       struct html_span *s)
{
	struct kt_map_entry *e = kt_map_find(&h->open, kind, key);

	if (!e)
		return;
	s->begin = (int64_t)e->value;
	s->name = (uint32_t)e->extra;
	s->dur = html_lasts(s->begin, now);
	if (s->begin < h->lost_to)
		s->flags |= HTML_UNSURE;
	kt_map_remove(&h->open, e);
	html_span(h, s);
}

/* ---- marks and values -------------------------------------------------------------- */

/*
 * Return what identifies a marker.  Those of a thread (bit 0 of dat20) are distinct from the global
 * one with that id.
 */
static uint64_t mark_key(const struct ktape_event *e)
{
	uint32_t whose = e->dat20 & 1 ? (uint32_t)e->tid : 0;

	return (uint64_t)whose << 32 | ktape_event_arg(e, 0);
}

/* Return how many times a marker is open. */
static uint32_t mark_depth(const struct html *h, uint64_t key)
{
	uint32_t depth = 0;

	while (depth < HTML_NEST &&
	       kt_map_find(&h->open, HTML_MARK | depth << DEPTHS, key))
		depth++;
	return depth;
}

/*
 * Begin or end a marker.  While it is open HTML_NEST times, further begins are counted instead of
 * drawn, and their ends end outer ones.
 */
static void put_html_mark(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	uint64_t key = mark_key(e);
	uint32_t depth = mark_depth(h, key), id = ktape_event_arg(e, 0);
	struct html_span s = {
		.kind = HTML_MARK,
		.cpu = e->cpu,
		.tid = e->dat20 & 1 ? e->tid : -1,
		.a = id,
	};

	if (e->opcode == KTAPE_EV_MARK_BEGIN) {
		if (depth < HTML_NEST)
			open_span(h, HTML_MARK | depth << DEPTHS, key, now,
				  html_name(h, l, KTAPE_TYPE_MARKER, id), id);
		else
			kt_sink_miss(h->s, "markers nested deeper than 16", 1);
		return;
	}
	if (!depth)
		return;
	s.depth = (uint8_t)(depth - 1);
	close_span(h, HTML_MARK | (depth - 1) << DEPTHS, key, now, &s);
}

static void put_html_value(struct html *h, uint32_t name, int32_t tid,
			   int64_t now, int64_t value)
{
	if (h->all_values == HTML_VALUES) {
		kt_sink_miss(h->s, "values beyond 1000000", 1);
		return;
	}
	html_number(h, &h->values, name);
	html_signed(h, &h->values, tid);
	html_signed(h, &h->values, html_since(h->value_time, now));
	html_signed(h, &h->values, value);
	h->value_time = now;
	h->all_values++;
	if (++h->nr_values == FLUSH)
		html_values_flush(h);
}

/**
 * html_values_flush() - write the values that were not written
 * @h: the page
 *
 * Return: 0 or negative errno.
 */
int html_values_flush(struct html *h)
{
	int err = 0;

	if (h->nr_values)
		err = html_block(h, "values", NULL, h->nr_values, &h->values);
	h->values.len = 0;
	h->nr_values = 0;
	h->value_time = 0;
	return err;
}

static void put_mark_value(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;

	put_html_value(h,
		       html_name(h, l, KTAPE_TYPE_VALUEID, ktape_event_arg(e, 0)),
		       e->dat20 & 1 ? e->tid : -1, now,
		       (int64_t)kt_get64((const char *)e->args + 4));
}

/*
 * A sample of the tracer's own time on a CPU: what one event took, and what opening
 * blocks took since the sample before.  The value is an estimate of the time in the
 * tracer for each millisecond of this CPU, in nanoseconds: the events since the sample
 * before, each taking the mean of the samples so far, as in ktape verify.
 *
 * Arguments: ticks that one event took, 0 = no sample; blocks opened; ticks that these took.
 */
static void put_tracer(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	struct html_cpu *c = html_cpu(h, e->cpu);
	uint64_t one = ktape_event_arg(e, 0), ns;
	struct html_cost *cost;
	char name[64];
	int n = snprintf(name, sizeof(name), TRACER_NAME "%u", e->cpu);

	if (!c)
		return;
	cost = &c->cost;
	cost->samples += one > 0;
	cost->ticks += one;
	/* The first record of a CPU has no sample and no interval. */
	if (one && now > cost->since && cost->samples >= KTAPE_TRACER_SAMPLES) {
		ns = ktape_ticks_to_ns(h->s->info,
				       cost->ticks / cost->samples * cost->events +
					       ktape_event_arg(e, 2));
		ns = kt_min(ns, html_lasts(cost->since, now));
		put_html_value(h, html_string(h, name, (size_t)n), -1, now,
			       (int64_t)kt_mul_div(ns, NS_PER_MS,
						   html_lasts(cost->since, now)));
	}
	cost->since = now;
	cost->events = 0;
}

/* ---- work, requests ---------------------------------------------------------------- */

static void begin_work(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	uint32_t function = ktape_event_arg(e, 1);

	if (e->tid > 0)
		open_span(h, HTML_WORK, (uint32_t)e->tid, now,
			  html_name(h, l, KTAPE_TYPE_FUNC, function), function);
}

static void end_work(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	const struct kt_map_entry *open =
		kt_map_find(&h->open, HTML_WORK, (uint32_t)e->tid);
	struct html_span s = {
		.kind = HTML_WORK,
		.cpu = e->cpu,
		.tid = e->tid,
		.a = open ? (int64_t)(open->extra >> 32) : 0,
	};

	close_span(h, HTML_WORK, (uint32_t)e->tid, now, &s);
}

/* The key of a request, as in lib/stats. */
static uint64_t html_request_key(const struct ktape_event *e)
{
	uint64_t sector = kt_get64((const char *)e->args + 4);

	return sector ^ (uint64_t)ktape_event_arg(e, 0) << 40;
}

static void begin_request(struct html *h, const struct kt_line *l, int64_t now)
{
	uint32_t device = ktape_event_arg(l->event, 0);

	open_span(h, HTML_BLOCK, html_request_key(l->event), now,
		  html_name(h, l, KTAPE_TYPE_DEV, device), device);
}

static void end_request(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	struct html_span s = {
		.kind = HTML_BLOCK,
		.cpu = e->cpu,
		.tid = -1,
		.a = ktape_event_arg(e, 0),
		.b = (int64_t)kt_get64((const char *)e->args + 4),
	};

	close_span(h, HTML_BLOCK, html_request_key(e), now, &s);
}

/* ---- spans of duration gates: begin and end in one record ---------------------------- */

static const struct {
	uint8_t opcode;
	uint8_t kind;
	uint8_t type;
	uint8_t bits; /* of dat20 are its number; 0 = the first argument */
} gates[] = {
	{ KTAPE_EV_IRQ_SPAN, HTML_IRQ, KTAPE_TYPE_IRQ, 18 },
	{ KTAPE_EV_SOFTIRQ_SPAN, HTML_SOFTIRQ, KTAPE_TYPE_SOFTIRQ, 8 },
	{ KTAPE_EV_SYS_SPAN, HTML_CALL, KTAPE_TYPE_SYSCALL, 18 },
	{ KTAPE_EV_WORK_SPAN, HTML_WORK, KTAPE_TYPE_FUNC, 0 },
	{ KTAPE_EV_TIMER_SPAN, HTML_TIMER, KTAPE_TYPE_FUNC, 0 },
	{ KTAPE_EV_HRTIMER_SPAN, HTML_HRTIMER, KTAPE_TYPE_FUNC, 0 },
};

/* Add the span of a gate.  @puts_of sends only events that are in @gates. */
static void put_html_gate(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	struct html_span s = { .cpu = e->cpu, .tid = e->tid };
	uint64_t start = e->ts, result = 0;
	uint32_t id;
	unsigned int i = 0;

	while (gates[i].opcode != e->opcode)
		i++;
	id = gates[i].bits ? e->dat20 & ((1U << gates[i].bits) - 1) :
			     ktape_event_arg(e, 0);
	ktape_event_field(e, "start", &start);
	ktape_event_field(e, "ret", &result);
	/* Of a call, @id has the number, and above it the table and KT_CALL_LARGE. */
	s.kind = gates[i].kind;
	s.name = html_name(h, l, gates[i].type,
			   s.kind == HTML_CALL ? id & 0xffff : id);
	s.begin = html_time(h, kt_min(start, e->ts));
	s.dur = html_lasts(s.begin, now);
	s.a = s.kind == HTML_CALL ? (int64_t)result : id;
	s.b = s.kind == HTML_CALL ? id & KT_CALL_KEY : 0;
	html_span(h, &s);
}

/* ---- losses by class ----------------------------------------------------------------- */

/*
 * The viewer lists these in the spans of losses, whose counts they divide.  Hits that a probe
 * missed (KTAPE_EV_MISSED) are in no such count, so they have no span; the page has their
 * events.
 */
static void put_html_loss(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	const struct ktape_class_desc *c = ktape_class_desc(e->dat20 & 31);
	uint64_t first = e->ts, last = e->ts, count = 0;
	const char *name = c ? c->name : "unknown class";
	struct html_span s = {
		.kind = HTML_LOSS,
		.depth = (uint8_t)(e->dat20 & 31),
		.cpu = e->cpu,
		.tid = -1,
		.name = html_string(h, name, strlen(name)),
		.b = e->dat20 >> 5 & 7,
	};

	(void)now;
	ktape_event_field(e, "first", &first);
	ktape_event_field(e, "last", &last);
	ktape_event_field(e, "count", &count);
	s.begin = html_time(h, first);
	s.dur = html_lasts(s.begin, html_time(h, last));
	s.a = (int64_t)count;
	html_span(h, &s);
}

/* ---- objects of an RTOS --------------------------------------------------------------- */

static void put_html_state(struct html *h, const struct kt_state_change *c,
			   int64_t now)
{
	struct html_span s = {
		.kind = HTML_STATE,
		.cpu = UINT32_MAX,
		.tid = -1,
	};
	const struct kt_map_entry *open;
	uint32_t text, track;

	if (c->counter) {
		put_html_value(h, html_string(h, c->track, c->len), -1, now,
			       (int64_t)c->number);
		return;
	}
	open = kt_map_find(&h->open, HTML_STATE, c->key);
	s.a = open ? (int64_t)(open->extra >> 32) : 0;
	close_span(h, HTML_STATE, c->key, now, &s);
	if (!c->begins)
		return;
	/* Two statements: in a list of arguments each compiler would number them in its order. */
	track = html_string(h, c->track, c->len);
	text = html_string(h, c->text, strlen(c->text));
	open_span(h, HTML_STATE, c->key, now, text, track);
}

static void put_html_user(struct html *h, const struct kt_line *l, int64_t now)
{
	struct kt_state_change c;
	struct kt_user_event user;

	kt_user_event_init(&user);
	if (kt_user_event_of(&user, l) && user.name.text && !user.no_memory &&
	    kt_state_follow(&h->states, h->s, l, &user, &c))
		put_html_state(h, &c, now);
	if (user.no_memory)
		h->s->error = -ENOMEM;
	kt_user_event_free(&user);
}

static const struct {
	uint8_t opcode;
	void (*put)(struct html *h, const struct kt_line *l, int64_t now);
} puts_of[] = {
	{ KTAPE_EV_MARK_BEGIN, put_html_mark },
	{ KTAPE_EV_MARK_END, put_html_mark },
	{ KTAPE_EV_MARK_VALUE, put_mark_value },
	{ KTAPE_EV_TRACER, put_tracer },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START, begin_work },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END, end_work },
	{ KTAPE_EV_BLOCK_RQ_ISSUE, begin_request },
	{ KTAPE_EV_BLOCK_RQ_COMPLETE, end_request },
	{ KTAPE_EV_IRQ_SPAN, put_html_gate },
	{ KTAPE_EV_SOFTIRQ_SPAN, put_html_gate },
	{ KTAPE_EV_SYS_SPAN, put_html_gate },
	{ KTAPE_EV_WORK_SPAN, put_html_gate },
	{ KTAPE_EV_TIMER_SPAN, put_html_gate },
	{ KTAPE_EV_HRTIMER_SPAN, put_html_gate },
	{ KTAPE_EV_LOSS, put_html_loss },
	{ KTAPE_EV_USER_EVENT, put_html_user },
};

/**
 * html_other_event() - process an event that is neither of a CPU nor of its thread
 * @h: the page
 * @l: the event
 * @now: its time
 *
 * Return: true if it is one of the events that are drawn.
 */
bool html_other_event(struct html *h, const struct kt_line *l, int64_t now)
{
	if (html_recorded_event(h, l, now))
		return true;
	if (!kt_event_fits(l->event))
		return false;
	for (size_t i = 0; i < KT_ARRAY_SIZE(puts_of); i++) {
		if (puts_of[i].opcode != l->event->opcode)
			continue;
		puts_of[i].put(h, l, now);
		return true;
	}
	return false;
}

static int compare_open(const void *a, const void *b)
{
	const struct kt_map_entry *one = a, *other = b;

	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return one->key < other->key ? -1 : one->key > other->key;
}

/**
 * html_other_end() - end marks, work items, requests and states that are still open
 * @h: the page
 * @now: end of the trace
 */
void html_other_end(struct html *h, int64_t now)
{
	/*
	 * Places in the table are random.  Nothing is looked up from here on: in order
	 * of their keys, the same trace becomes the same page.
	 */
	if (h->open.size)
		qsort(h->open.entries, h->open.size, sizeof(*h->open.entries),
		      compare_open);
	for (size_t i = 0; i < h->open.size; i++) {
		const struct kt_map_entry *e = &h->open.entries[i];
		struct html_span s = {
			.kind = (uint8_t)e->kind,
			.depth = (uint8_t)(e->kind >> DEPTHS),
			.flags = HTML_NO_END,
			.cpu = UINT32_MAX,
			.tid = -1,
			.name = (uint32_t)e->extra,
			.begin = (int64_t)e->value,
			.dur = html_lasts((int64_t)e->value, now),
			.a = (int64_t)(e->extra >> 32),
		};

		if (!e->used)
			continue;
		if (s.kind == HTML_WORK)
			s.tid = (int32_t)e->key;
		else if (s.kind == HTML_MARK && e->key >> 32)
			s.tid = (int32_t)(e->key >> 32);
		html_span(h, &s);
	}
}

void html_other_free(struct html *h)
{
	kt_states_free(&h->states);
	kt_map_free(&h->open);
}

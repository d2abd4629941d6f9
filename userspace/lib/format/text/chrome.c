// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as JSON for Chrome's trace viewer (Trace Event Format).
 *
 *	{"displayTimeUnit":"ns","traceEvents":[
 *	{"ph":"B","pid":0,"tid":CPU,"ts":12.345,"name":"cat",...},
 *	...
 *	]}
 *
 *	sched_switch, context	B and E on process 0, whose threads are the CPUs
 *	interrupts, ISRs	B and E within these
 *	system calls		B and E on their thread
 *	gate spans		X on their thread (irq_span, ...: what took longer than a
 *				time that --gate gave, in one record)
 *	markers, values		b and e; C
 *	RTOS object states	b and e, or C
 *	thread names		M
 *	a loss			X "lost events" or "overwritten events"; slices that are open on
 *				the CPU end
 *	all others		i with all fields in args; so is each user event, before the
 *				state that it reports
 *
 * Times are microseconds of CLOCK_MONOTONIC with three decimals.  Each event has its fields
 * in the args of one of these; where there is no slice for it, it is an i.  Counters have
 * no place for other fields than their number, which are counted.  JSON has no
 * resynchronisation: a damaged file is not readable at all.
 */
#include "util/nanoseconds.h"

#include "show/line.h"
#include "stream/event.h"
#include "format/left_out.h"
#include "format/writer.h"
#include "format/object_state.h"
#include "text.h"

#define TIDS	    (1U << 22)	   /* PID_MAX_LIMIT */
#define DEPTH_MAX   64		   /* open slices of a CPU */
#define HEAD_MAX    4096	   /* bytes of an event without its fields */
#define LARGE	    (256ULL << 20) /* output that viewers cannot load */
#define MARKERS_MAX 4096	   /* open markers whose names are kept */
#define NAME_ROOM   (KTAPE_EVENT_NAME_SIZE + KT_PUT_U64_MAX + 16)

/**
 * struct chrome - JSON being written
 * @calls: bit n: thread n has an open system call slice
 * @depth: by CPU, number of open slices
 * @next: an event was written: the next one needs a comma
 * @named: bit n: the name of CPU n was written
 * @s: sink
 * @states: states of RTOS objects
 * @markers: open markers by thread and id (struct open_marker)
 * @keys: names of the fields of the user event being written, to number equal ones
 */
struct chrome {
	uint64_t calls[TIDS / 64];
	uint8_t depth[KT_CPUS_MAX];
	bool next;
	uint64_t named[KT_CPUS_MAX / 64];
	struct kt_sink *s;
	struct kt_states states;
	struct kt_map markers;
	struct kt_user_keys keys;
};

static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

static int chrome_begin(struct kt_sink *s)
{
	struct chrome *t = s->state;

	t->s = s;
	return kt_sink_put(s, head, sizeof(head) - 1);
}

/* ---- pieces of an event ----------------------------------------------------- */

/* Begin an event.  What writes its last member ends it with a brace, as put_chrome_args() does. */
static char *open_chrome_event(char *p, struct chrome *t, char phase)
{
	p = kt_put_str(p, t->next ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	t->next = true;
	p = kt_put_char(p, phase);
	return kt_put_char(p, '"');
}

static char *put_chrome_key(char *p, const char *key, uint64_t value)
{
	p = kt_put_str(kt_put_str(kt_put_str(p, ",\""), key), "\":");
	return kt_put_u64(p, value);
}

static char *put_chrome_string(char *p, const char *key, const char *text, size_t len)
{
	p = kt_put_str(kt_put_str(kt_put_str(p, ",\""), key), "\":");
	return kt_put_json(p, text, len);
}

/* Write a time in microseconds with three decimals. */
static char *put_us(char *p, const char *key, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	p = kt_put_str(kt_put_str(kt_put_str(p, ",\""), key), "\":");
	if (ns < 0)
		p = kt_put_char(p, '-');
	p = kt_put_char(kt_put_u64(p, v / NS_PER_US), '.');
	return kt_put_fixed(p, (uint32_t)(v % NS_PER_US), 3);
}

static char *put_chrome_time(char *p, const struct kt_line *l)
{
	return put_us(p, "ts", ktape_mono_ns(l->info, l->event->ts));
}

/* Write the track of a thread; of an unknown or idle thread (@tid <= 0) that of the event's CPU. */
static char *put_tid(char *p, const struct kt_line *l, int32_t tid)
{
	const struct ktape_object_info *t = NULL;

	if (tid > 0)
		t = ktape_registry_thread(l->registry, tid, l->event->ts);
	if (tid <= 0) {
		p = put_chrome_key(p, "pid", 0);
		return put_chrome_key(p, "tid", l->event->cpu);
	}
	p = put_chrome_key(p, "pid", t && t->param1 ? t->param1 : (uint32_t)tid);
	return put_chrome_key(p, "tid", (uint32_t)tid);
}

static char *put_chrome_thread(char *p, const struct kt_line *l)
{
	return put_tid(p, l, l->event->tid);
}

static char *put_cpu(char *p, uint32_t cpu)
{
	return put_chrome_key(put_chrome_key(p, "pid", 0), "tid", cpu);
}

static char *put_chrome_args(char *p, const struct kt_line *l)
{
	p = kt_put_str(p, ",\"args\":{");
	p = kt_json_fields(p, l);
	return kt_put_str(p, "}}");
}

/*
 * Return a word for a value without a name.  Both events of a marker get the same one, because the
 * viewer pairs them by it.
 */
static const char *chrome_kind_of(const struct kt_line *l, unsigned int type)
{
	switch (type) {
	case KTAPE_TYPE_MARKER:
		return "marker";
	case KTAPE_TYPE_VALUEID:
		return "value";
	case KTAPE_TYPE_TID:
		return "thread";
	default:
		return kt_line_event(l);
	}
}

/* Return the name of a value, or its kind and number, written to @room. */
static struct kt_name chrome_name_of(const struct kt_line *l, unsigned int type,
				     uint64_t value, char room[NAME_ROOM])
{
	struct kt_name name = kt_name_any(l, type, value);
	char *end;

	if (name.text)
		return name;
	end = kt_put_str(room, chrome_kind_of(l, type));
	end = kt_put_u64(kt_put_char(end, ' '), value);
	return (struct kt_name){ room, (size_t)(end - room), true, 0 };
}

static char *put_chrome_name(char *p, const struct kt_line *l,
			     unsigned int type, uint64_t value)
{
	char room[NAME_ROOM];
	struct kt_name name = chrome_name_of(l, type, value, room);

	return put_chrome_string(p, "name", name.text, name.len);
}

static char *put_chrome_instant(char *p, struct chrome *t, const struct kt_line *l)
{
	const struct ktape_class_desc *c = NULL;
	const struct ktape_event_desc *d = ktape_event_desc(l->event->opcode);
	const char *name = kt_line_event(l);

	if (d)
		c = ktape_class_desc(d->event_class);
	p = open_chrome_event(p, t, 'i');
	p = put_chrome_time(put_chrome_thread(p, l), l);
	p = kt_put_str(p, ",\"s\":\"t\"");
	if (*name)
		p = put_chrome_string(p, "name", name, strlen(name));
	else
		p = kt_put_char(kt_put_u64(kt_put_str(p, ",\"name\":\"opcode_"),
					   l->event->opcode),
				'"');
	if (c)
		p = put_chrome_string(p, "cat", c->name, strlen(c->name));
	return put_chrome_args(p, l);
}

/* ---- CPUs ------------------------------------------------------------------- */

/* Write the end of the innermost slice of the CPU, but for its args and the brace. */
static char *end_chrome_slice(char *p, struct chrome *t, const struct kt_line *l)
{
	t->depth[l->event->cpu]--;
	p = open_chrome_event(p, t, 'E');
	return put_chrome_time(put_cpu(p, l->event->cpu), l);
}

static char *close_chrome_slice(char *p, struct chrome *t, const struct kt_line *l)
{
	return kt_put_char(end_chrome_slice(p, t, l), '}');
}

static char *close_slices(char *p, struct chrome *t, const struct kt_line *l)
{
	while (t->depth[l->event->cpu])
		p = close_chrome_slice(p, t, l);
	return p;
}

/* Begin the slice of a thread; of the idle thread the event itself is an instant. */
static char *open_run(char *p, struct chrome *t, const struct kt_line *l, int32_t tid)
{
	if (tid <= 0)
		return put_chrome_instant(p, t, l);
	t->depth[l->event->cpu]++;
	p = open_chrome_event(p, t, 'B');
	p = put_chrome_time(put_cpu(p, l->event->cpu), l);
	p = put_chrome_name(p, l, KTAPE_TYPE_TID, (uint32_t)tid);
	return put_chrome_args(kt_put_str(p, ",\"cat\":\"sched\""), l);
}

/* End the system call slice of a thread that ends: the call never returns. */
static char *close_call(char *p, struct chrome *t, const struct kt_line *l,
			uint32_t tid)
{
	uint64_t bit = 1ULL << tid % 64;

	if (!tid || tid >= TIDS || !(t->calls[tid / 64] & bit))
		return p;
	t->calls[tid / 64] &= ~bit;
	p = open_chrome_event(p, t, 'E');
	p = put_chrome_time(put_tid(p, l, (int32_t)tid), l);
	return kt_put_char(p, '}');
}

static char *put_chrome_switch(char *p, struct chrome *t, const struct kt_line *l)
{
	uint32_t state = l->event->dat20 >> 16 & 15; /* prev_state */

	p = close_slices(p, t, l);
	if (state == KTAPE_STATE_X || state == KTAPE_STATE_Z)
		p = close_call(p, t, l, ktape_event_arg(l->event, 0));
	return open_run(p, t, l, (int32_t)ktape_event_arg(l->event, 1));
}

static char *put_chrome_context(char *p, struct chrome *t, const struct kt_line *l)
{
	p = close_slices(p, t, l);
	return open_run(p, t, l, (int32_t)ktape_event_arg(l->event, 0));
}

/*
 * Interrupts.  @type: of the id, for its name.  @bits: width of the id, the lowest bits of dat20;
 * 0: the id is argument 0.
 */
static const struct irq {
	uint8_t begin;
	uint8_t end;
	uint8_t type;
	uint8_t bits;
} irqs[] = {
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT, KTAPE_TYPE_IRQ, 18 },
	{ KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT, KTAPE_TYPE_SOFTIRQ, 8 },
	{ KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT, KTAPE_TYPE_IPI, 5 },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, KTAPE_EV_LOCAL_TIMER_EXIT, KTAPE_TYPE_U32, 8 },
	{ KTAPE_EV_ISR_ENTER, KTAPE_EV_ISR_EXIT, KTAPE_TYPE_ISRID, 0 },
};

/*
 * Begin the slice of an interrupt, or end the innermost slice of the CPU.  The format has no ids
 * in ends, so the end of an interrupt whose begin is missing ends the slice around it.
 */
static char *put_chrome_irq(char *p, struct chrome *t, const struct kt_line *l,
			    const struct irq *irq)
{
	const struct ktape_event *e = l->event;
	uint64_t id = irq->bits ? e->dat20 & ((1U << irq->bits) - 1) :
				  ktape_event_arg(e, 0);

	if (e->opcode == irq->end)
		return t->depth[e->cpu] ?
			       put_chrome_args(end_chrome_slice(p, t, l), l) :
			       put_chrome_instant(p, t, l);
	/* So many do not nest: their ends are missing, because a filter left them out, for example. */
	if (t->depth[e->cpu] == DEPTH_MAX)
		p = close_slices(p, t, l);
	t->depth[e->cpu]++;
	p = open_chrome_event(p, t, 'B');
	p = put_chrome_time(put_cpu(p, e->cpu), l);
	p = put_chrome_name(p, l, irq->type, id);
	p = kt_put_str(p, ",\"cat\":\"irq\"");
	return put_chrome_args(p, l);
}

/* ---- threads ------------------------------------------------------------------ */

static char *put_chrome_call(char *p, struct chrome *t, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	uint32_t tid = (uint32_t)e->tid;
	bool enter = e->opcode == KTAPE_EV_SYS_ENTER ||
		     e->opcode == KTAPE_EV_SYS_ENTER_WIDE;
	uint64_t bit;

	if (e->tid <= 0 || tid >= TIDS)
		return put_chrome_instant(p, t, l);
	bit = 1ULL << tid % 64;
	/* A call that does not return ends when the next begins. */
	if (t->calls[tid / 64] & bit) {
		p = open_chrome_event(p, t, 'E');
		p = put_chrome_time(put_chrome_thread(p, l), l);
		p = enter ? kt_put_char(p, '}') : put_chrome_args(p, l);
		t->calls[tid / 64] &= ~bit;
	} else if (!enter) {
		return put_chrome_instant(p, t, l);
	}
	if (!enter)
		return p;
	t->calls[tid / 64] |= bit;
	p = open_chrome_event(p, t, 'B');
	p = put_chrome_time(put_chrome_thread(p, l), l);
	p = put_chrome_name(p, l, KTAPE_TYPE_SYSCALL, e->dat20 & 0xffff);
	return put_chrome_args(kt_put_str(p, ",\"cat\":\"syscall\""), l);
}

static char *put_chrome_span(char *p, struct chrome *t, const struct kt_line *l)
{
	const char *name = kt_line_event(l);
	uint64_t start = l->event->ts;
	int64_t from;

	ktape_event_field(l->event, "start", &start);
	if (start > l->event->ts)
		start = l->event->ts;
	from = ktape_mono_ns(l->info, start);
	p = open_chrome_event(p, t, 'X');
	p = put_us(put_chrome_thread(p, l), "ts", from);
	p = put_us(p, "dur", ktape_mono_ns(l->info, l->event->ts) - from);
	return put_chrome_args(put_chrome_string(p, "name", name, strlen(name)), l);
}

/**
 * struct open_marker - marker that has begun and not ended
 * @depth: how many times it was begun and has not ended
 * @len: bytes of @name
 * @name: name at the first begin
 */
struct open_marker {
	uint32_t depth;
	uint32_t len;
	char name[];
};

static struct open_marker *marker_at(const struct kt_map_entry *entry)
{
	return (struct open_marker *)(uintptr_t)entry->value;
}

/*
 * Keep the name of a marker that begins, or count one more begin of an open one.  If
 * MARKERS_MAX markers are open, the name is not kept; the end event then uses the name that
 * the marker has by then.  Without memory writing fails.
 */
static void keep_marker(struct chrome *t, uint32_t whose, uint32_t id,
			const struct kt_name *name)
{
	struct kt_map_entry *entry = kt_map_find(&t->markers, whose, id);
	struct open_marker *m;

	if (entry) {
		marker_at(entry)->depth++;
		return;
	}
	if (t->markers.nr >= MARKERS_MAX)
		return;
	m = malloc(sizeof(*m) + name->len);
	entry = m ? kt_map_put(&t->markers, whose, id) : NULL;
	if (!entry) {
		free(m);
		t->s->error = -ENOMEM;
		return;
	}
	m->depth = 1;
	m->len = (uint32_t)name->len;
	memcpy(m->name, name->text, name->len);
	entry->value = (uintptr_t)m;
}

static void forget_marker(struct chrome *t, uint32_t whose, uint32_t id)
{
	struct kt_map_entry *entry = kt_map_find(&t->markers, whose, id);

	if (!entry || --marker_at(entry)->depth)
		return;
	free(marker_at(entry));
	kt_map_remove(&t->markers, entry);
}

static void free_markers(struct chrome *t)
{
	for (size_t i = 0; i < t->markers.size; i++) {
		if (t->markers.entries[i].used)
			free(marker_at(&t->markers.entries[i]));
	}
	kt_map_free(&t->markers);
}

/*
 * Write one end of a marker.  The viewer pairs both ends by name, and the name may
 * change in between, so the end event uses the name that the begin event had; and so does
 * a begin inside the same marker.
 */
static char *put_chrome_marker(char *p, struct chrome *t, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	bool begins = e->opcode == KTAPE_EV_MARK_BEGIN;
	/* Markers of a thread are distinct from the global marker with that id. */
	uint32_t whose = e->dat20 & 1 ? (uint32_t)e->tid : 0;
	uint32_t id = ktape_event_arg(e, 0);
	const struct kt_map_entry *open = kt_map_find(&t->markers, whose, id);
	char room[NAME_ROOM];
	struct kt_name name = chrome_name_of(l, KTAPE_TYPE_MARKER, id, room);

	if (open)
		name = (struct kt_name){ marker_at(open)->name,
					 marker_at(open)->len, true, 0 };
	p = open_chrome_event(p, t, begins ? 'b' : 'e');
	p = put_chrome_time(put_chrome_thread(p, l), l);
	p = put_chrome_string(p, "name", name.text, name.len);
	p = kt_put_str(p, ",\"cat\":\"mark\",\"id\":\"");
	p = kt_put_u64(p, whose);
	p = kt_put_u64(kt_put_char(p, '.'), id);
	if (begins)
		keep_marker(t, whose, id, &name);
	else
		forget_marker(t, whose, id);
	return put_chrome_args(kt_put_char(p, '"'), l);
}

/* Count what a counter has no place for: its message, and its number if it has a name. */
static void count_value(struct chrome *t, const struct kt_line *l)
{
	const struct kt_name name =
		kt_name_any(l, KTAPE_TYPE_VALUEID, ktape_event_arg(l->event, 0));
	uint64_t nr = (l->event->blob_size != 0) + (name.text != NULL);

	if (nr)
		kt_sink_miss(t->s, KT_LEFT_OUT, nr);
}

static char *put_chrome_value(char *p, struct chrome *t, const struct kt_line *l)
{
	p = open_chrome_event(p, t, 'C');
	p = put_chrome_time(put_chrome_thread(p, l), l);
	p = put_chrome_name(p, l, KTAPE_TYPE_VALUEID, ktape_event_arg(l->event, 0));
	if (l->event->dat20 & 1)
		p = put_chrome_key(p, "id", (uint32_t)l->event->tid);
	p = kt_put_str(p, ",\"args\":{\"value\":");
	p = kt_put_s64(p, (int64_t)kt_get64((const char *)l->event->args + 4));
	count_value(t, l);
	return kt_put_str(p, "}}");
}

static char *put_exit(char *p, struct chrome *t, const struct kt_line *l)
{
	p = close_call(p, t, l, ktape_event_arg(l->event, 0));
	return put_chrome_instant(p, t, l);
}

/* ---- user events --------------------------------------------------------------- */

/* Write the name of a field with its number and @end, inside its quotes, and the colon. */
static char *put_user_key(char *p, const struct kt_user_field *f, const char *end)
{
	p = kt_put_json(p, f->name, strlen(f->name)) - 1; /* over the last quote */
	if (f->more)
		p = kt_put_u64(kt_put_char(p, '_'), f->more);
	p = kt_put_str(p, end);
	return kt_put_mem(p, "\":", 2);
}

static char *put_user_fields(char *p, const struct kt_line *l,
			     const struct kt_user_event *t)
{
	p = kt_put_str(p, ",\"args\":{");
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct kt_user_field *f = &t->fields[i];
		struct kt_name name = kt_user_field_name(l, f);

		p = put_user_key(i ? kt_put_char(p, ',') : p, f, "");
		p = kt_show_user_value(p, true, f);
		if (!name.text)
			continue;
		p = put_user_key(kt_put_char(p, ','), f, "_name");
		p = kt_put_json(p, name.text, name.len);
	}
	return kt_put_str(p, "}}");
}

static char *open_state(char *p, struct chrome *t, const struct kt_line *l,
			char phase, const char *track, size_t len)
{
	p = put_chrome_time(put_cpu(open_chrome_event(p, t, phase), 0), l);
	p = put_chrome_string(p, "name", track, len);
	return kt_put_str(p, ",\"cat\":\"state\"");
}

/* Write a change of an object's state: a number as counter, a holder as slice. */
static char *put_chrome_state(char *p, struct chrome *t, const struct kt_line *l,
			      const struct kt_state_change *c)
{
	if (c->counter) {
		p = open_state(p, t, l, 'C', c->track, c->len);
		p = kt_put_str(p, ",\"args\":{\"value\":");
		return kt_put_str(kt_put_u64(p, c->number), "}}");
	}
	/* The end needs the name of the begin event; the object may be renamed by now. */
	if (c->opened) {
		p = open_state(p, t, l, 'e', c->was, c->was_len);
		p = kt_put_str(put_chrome_key(p, "id", c->key), ",\"args\":{}}");
	}
	if (!c->begins)
		return p;
	p = put_chrome_key(open_state(p, t, l, 'b', c->track, c->len), "id", c->key);
	p = kt_put_str(p, ",\"args\":{\"state\":");
	return kt_put_str(kt_put_json(p, c->text, strlen(c->text)), "}}");
}

static char *put_named_user(char *p, struct chrome *t, const struct kt_line *l,
			    const struct kt_user_event *user)
{
	p = open_chrome_event(p, t, 'i');
	p = put_chrome_time(put_chrome_thread(p, l), l);
	p = kt_put_str(p, ",\"s\":\"t\"");
	p = put_chrome_string(p, "name", user->name.text, user->name.len);
	p = put_chrome_string(p, "cat", user->format, strlen(user->format));
	return put_user_fields(p, l, user);
}

/*
 * Write a user event as an instant with the fields of its format, or as any other event if
 * the format or its name is not known.  The change of a state that it reports comes after it.
 * Without memory nothing is written, and writing fails.
 */
static char *put_chrome_user(char *p, struct chrome *t, const struct kt_line *l)
{
	struct kt_state_change c;
	struct kt_user_event user;

	kt_user_event_init(&user);
	if (!kt_user_event_of(&user, l) || !user.name.text)
		p = put_chrome_instant(p, t, l);
	else if (kt_user_number(&t->keys, &user))
		user.no_memory = true;
	else
		p = put_named_user(p, t, l, &user);
	if (user.no_memory)
		t->s->error = -ENOMEM;
	else if (user.name.text && kt_state_follow(&t->states, t->s, l, &user, &c))
		p = put_chrome_state(p, t, l, &c);
	kt_user_event_free(&user);
	return p;
}

/* ---- names -------------------------------------------------------------------- */

static char *put_chrome_meta(char *p, struct chrome *t, const char *what,
			     uint64_t pid, uint64_t tid, const char *name,
			     size_t len)
{
	p = open_chrome_event(p, t, 'M');
	p = put_chrome_key(put_chrome_key(p, "pid", pid), "tid", tid);
	p = put_chrome_string(p, "name", what, strlen(what));
	p = kt_put_str(p, ",\"args\":{\"name\":");
	return kt_put_str(kt_put_json(p, name, len), "}}");
}

/*
 * Write the name that a registry record gives a thread, and the same for its process if the
 * thread leads it.  Not written: other objects, and records that end a name (bit 8 of dat20).
 */
static char *put_chrome_object(char *p, struct chrome *t,
			       const struct ktape_event *e)
{
	uint32_t tid = ktape_event_arg(e, 0), tgid = ktape_event_arg(e, 1);
	size_t len = kt_min(e->blob_size, KTAPE_NAME_SIZE);

	if ((e->dat20 & 0xff) != KTAPE_OBJ_THREAD || e->dat20 >> 8 & 1 ||
	    !tid || !kt_event_fits(e))
		return p;
	if (tid == tgid)
		p = put_chrome_meta(p, t, "process_name", tgid, tid, e->blob, len);
	return put_chrome_meta(p, t, "thread_name", tgid ? tgid : tid, tid,
			       e->blob, len);
}

static char *name_cpu(char *p, struct chrome *t, uint32_t cpu)
{
	uint64_t *word = &t->named[cpu / 64], bit = 1ULL << cpu % 64;
	char text[16], *end;

	if (*word & bit)
		return p;
	*word |= bit;
	end = kt_put_u64(kt_put_str(text, "CPU "), cpu);
	p = put_chrome_meta(p, t, "process_name", 0, 0, "CPUs", 4);
	return put_chrome_meta(p, t, "thread_name", 0, cpu, text,
			       (size_t)(end - text));
}

/* ---- events --------------------------------------------------------------------- */

static const struct {
	uint8_t opcode;
	char *(*put)(char *p, struct chrome *t, const struct kt_line *l);
} puts_of[] = {
	{ KTAPE_EV_SCHED_SWITCH, put_chrome_switch },
	{ KTAPE_EV_CONTEXT, put_chrome_context },
	{ KTAPE_EV_SYS_ENTER, put_chrome_call },
	{ KTAPE_EV_SYS_EXIT, put_chrome_call },
	{ KTAPE_EV_SYS_ENTER_WIDE, put_chrome_call },
	{ KTAPE_EV_SYS_EXIT_WIDE, put_chrome_call },
	{ KTAPE_EV_PROCESS_EXIT, put_exit },
	{ KTAPE_EV_USER_EVENT, put_chrome_user },
	{ KTAPE_EV_MARK_BEGIN, put_chrome_marker },
	{ KTAPE_EV_MARK_END, put_chrome_marker },
	{ KTAPE_EV_MARK_VALUE, put_chrome_value },
	{ KTAPE_EV_IRQ_SPAN, put_chrome_span },
	{ KTAPE_EV_SOFTIRQ_SPAN, put_chrome_span },
	{ KTAPE_EV_SYS_SPAN, put_chrome_span },
	{ KTAPE_EV_TIMER_SPAN, put_chrome_span },
	{ KTAPE_EV_HRTIMER_SPAN, put_chrome_span },
	{ KTAPE_EV_WORK_SPAN, put_chrome_span },
};

static char *put_chrome_event(char *p, struct chrome *t, const struct kt_line *l)
{
	uint8_t opcode = l->event->opcode;

	if (!kt_event_fits(l->event))
		return put_chrome_instant(p, t, l);
	for (size_t i = 0; i < KT_ARRAY_SIZE(puts_of); i++) {
		if (puts_of[i].opcode == opcode)
			return puts_of[i].put(p, t, l);
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(irqs); i++) {
		if (irqs[i].begin == opcode || irqs[i].end == opcode)
			return put_chrome_irq(p, t, l, &irqs[i]);
	}
	return put_chrome_instant(p, t, l);
}

static int chrome_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l =
		kt_line_of(s->info, s->registry, e, true /* JSON */);
	struct chrome *t = s->state;
	char *p;

	/* No reader delivers a CPU beyond KT_CPUS_MAX. */
	if (e->opcode == KTAPE_TIME_EXTEND || e->cpu >= KT_CPUS_MAX)
		return 0;
	/* Times four: slices may have to be closed before the event. */
	p = kt_sink_room(s, ktape_format_bound(e) + HEAD_MAX * 4);
	if (!p)
		return s->error;
	if (e->opcode == KTAPE_EV_REGISTRY)
		return kt_sink_done(s, put_chrome_object(p, t, e));
	/* Only names are there, so what else a damaged stream of names has is no event. */
	if (e->kind == KTAPE_RING_REGISTRY)
		return 0;
	p = name_cpu(p, t, e->cpu);
	kt_sink_done(s, put_chrome_event(p, t, &l));
	return s->error;
}

/*
 * Write a loss, or what was overwritten before the ring begins.  End the open slices of the
 * CPU: their ends may be lost.
 */
static int chrome_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	const struct ktape_event at = { .ts = n->from, .cpu = n->cpu };
	const struct kt_line l =
		kt_line_of(s->info, s->registry, &at, true /* JSON */);
	struct chrome *t = s->state;
	int64_t from = ktape_mono_ns(s->info, n->from);
	bool late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	uint64_t count = late ? n->overwritten : n->count;
	char *p;

	if (n->cpu >= KT_CPUS_MAX)
		return 0;
	p = kt_sink_room(s, HEAD_MAX * 4);
	if (!p)
		return s->error;
	p = close_slices(p, t, &l);
	p = open_chrome_event(p, t, 'X');
	p = put_us(put_cpu(p, n->cpu), "ts", from);
	p = put_us(p, "dur", ktape_mono_ns(s->info, n->to) - from);
	p = kt_put_str(p, late ? ",\"cat\":\"lost\",\"name\":\"overwritten events\"" :
				 ",\"cat\":\"lost\",\"name\":\"lost events\"");
	p = kt_put_str(p, ",\"args\":{\"count\":");
	p = count ? kt_put_u64(p, count) : kt_put_str(p, "null");
	return kt_sink_done(s, kt_put_str(p, "}}"));
}

static int chrome_end(struct kt_sink *s)
{
	return kt_sink_put(s, "\n]}\n", 4);
}

static void chrome_close(struct kt_sink *s)
{
	struct chrome *t = s->state;

	kt_states_free(&t->states);
	free_markers(t);
	kt_map_free(&t->keys.taken);
}

const struct kt_codec_out kt_chrome_out = {
	.size = sizeof(struct chrome),
	.extra = true,
	.large = LARGE,
	.warning = "the output is larger than viewers of Chrome's JSON can load: select less with --event, --cpu, --pid, --from-time, --to-time, or convert to perfetto",
	.begin = chrome_begin,
	.event = chrome_event,
	.notice = chrome_notice,
	.end = chrome_end,
	.close = chrome_close,
};

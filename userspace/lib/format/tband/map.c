// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing Tonbandgeraet: the event that each native event becomes.  Events without a
 * counterpart are counted as missed.  With option check=1 (@check), for serial lines that lose
 * bytes, they are carried in a name instead (seal.c).  In mode bare-metal (@bare) the stream has
 * no threads.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "stream/event.h"

#include "internal.h"

#define NAMED_MAX   4096U	/* interrupts and own markers that get names */
#define IRQ_SOFT    0x01000000U /* isr_id of a softirq: this + vector */
#define RT_PRIO_MAX 98U /* Linux priority of the lowest FreeRTOS priority, 0 */
#define TID_UNKNOWN INT32_MIN

static int put_tband_number(struct kt_sink *s, const struct ktape_event *e,
			    unsigned int id, uint64_t value)
{
	const struct kt_tband_event out = {
		.id = (uint8_t)id,
		.values = { value },
	};

	return kt_tband_put(s, &out, e->cpu, e->ts);
}

static int put_tband_text(struct kt_sink *s, const struct ktape_event *e,
			  unsigned int id, uint64_t first, uint64_t second,
			  const void *text, size_t len)
{
	const struct kt_tband_event out = {
		.id = (uint8_t)id,
		.values = { first, second },
		.text = text,
		.len = len,
	};

	return kt_tband_put(s, &out, e->cpu, e->ts);
}

/*
 * Return a CPU, made if it is new; NULL without memory.  kt_tband_map() has made that of its event,
 * so the functions that it calls need no check.
 */
static struct kt_tband_cpu *tband_cpu_at(struct kt_tband_sink *t, uint32_t cpu)
{
	struct kt_tband_cpu *more;

	if (cpu < t->nr_cpus)
		return &t->cpus[cpu];
	more = realloc(t->cpus, ((size_t)cpu + 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->cpus = more;
	while (t->nr_cpus <= cpu)
		t->cpus[t->nr_cpus++] = (struct kt_tband_cpu){
			.tid = TID_UNKNOWN,
		};
	return &more[cpu];
}

/* ---- names --------------------------------------------------------------------- */

/* Return true for markers that a stream with checks uses itself. */
static bool is_reserved(const struct kt_tband_sink *t, uint32_t id)
{
	return t->check && id >= KT_TBAND_CARRIED && id <= KT_TBAND_CHECK_NAME;
}

/*
 * Write the name of a marker or value.  @global, @own: ids of the naming events.  In one of @own,
 * task 0 stands for all tasks.
 */
static int name_marker(struct kt_sink *s, const struct ktape_event *e,
		       unsigned int global, unsigned int own)
{
	uint32_t id = ktape_event_arg(e, 0), owner = ktape_event_arg(e, 1);
	const struct kt_tband_sink *t = s->state;
	size_t len = strnlen(e->blob, e->blob_size);

	/* With check=1, readers take a global name for tasks' own markers, too (emit.c). */
	if (t->check && (is_reserved(t, id) ||
			 (!owner && ktape_event_arg(e, 2) & KTAPE_NAME_GLOBAL)))
		return kt_tband_carry(s, e);
	if (!owner)
		return put_tband_text(s, e, global, id, 0, e->blob, len);
	return put_tband_text(s, e, own, id,
			      owner == KTAPE_OWNER_ANY ? 0 : owner, e->blob, len);
}

static int map_tband_registry(struct kt_sink *s, const struct ktape_event *e)
{
	uint32_t type = e->dat20 & 0xff, id = ktape_event_arg(e, 0);
	uint32_t param1 = ktape_event_arg(e, 1);
	struct ktape_event at = *e;
	size_t len = strnlen(e->blob, e->blob_size);

	if (e->dat20 >> 8 & 1) /* the format cannot end a name */
		return 0;
	switch (type) {
	case KTAPE_OBJ_THREAD:
		return put_tband_text(s, e, KT_TBAND_TASK_NAME, id, 0, e->blob, len);
	case KTAPE_OBJ_MARKER:
		return name_marker(s, e, KT_TBAND_EVTMARKER_NAME,
				   KT_TBAND_TASK_EVTMARKER_NAME);
	case KTAPE_OBJ_VALUE:
		return name_marker(s, e, KT_TBAND_VALMARKER_NAME,
				   KT_TBAND_TASK_VALMARKER_NAME);
	case KTAPE_OBJ_ISR:
		if (param1)
			at.cpu = param1 - 1;
		return put_tband_text(s, &at, KT_TBAND_ISR_NAME, id, 0, e->blob,
				      len);
	case KTAPE_OBJ_IRQ: /* named at the first event on a core */
	case KTAPE_OBJ_SOFTIRQ:
		return 0;
	case KTAPE_OBJ_USER + KTAPE_USER_QUEUE:
		return put_tband_text(s, e, KT_TBAND_QUEUE_NAME, id, 0, e->blob,
				      len);
	default:
		break;
	}
	if (((const struct kt_tband_sink *)s->state)->check)
		return kt_tband_carry(s, e);
	kt_sink_miss(s, "names of objects that Tonbandgeraet does not have", 1);
	return 0;
}

/*
 * Return true the first time that a name is needed.  @of: opcode that stands for the kind of
 * object; @whose: its CPU or thread.  After NAMED_MAX names return false.  Without memory
 * writing fails.
 */
static bool is_first_name(struct kt_sink *s, uint8_t of, uint32_t whose, uint32_t id)
{
	struct kt_tband_sink *t = s->state;
	uint64_t key = (uint64_t)whose << 32 | id;

	if (kt_map_find(&t->named, of, key) || t->named.nr >= NAMED_MAX)
		return false;
	if (!kt_map_put(&t->named, of, key))
		s->error = -ENOMEM;
	return !s->error;
}

/* Write the name of an interrupt, for each core, because names belong to a core. */
static int name_irq(struct kt_sink *s, const struct ktape_event *e,
		    unsigned int type, uint32_t nr, uint32_t id)
{
	const struct ktape_object_info *o;
	const char *name = NULL;

	if (!is_first_name(s, KTAPE_EV_ISR_ENTER, e->cpu, id))
		return 0;
	o = ktape_registry_object(s->registry, type, nr, 0, e->ts);
	if (o)
		name = o->name;
	else if (type == KTAPE_OBJ_SOFTIRQ)
		name = ktape_value_name(KTAPE_TYPE_SOFTIRQ, nr);
	return name ? put_tband_text(s, e, KT_TBAND_ISR_NAME, id, 0, name,
				     strlen(name)) :
		      0;
}

/* ---- threads -------------------------------------------------------------------- */

static int name_idle(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_sink *t = s->state;
	int err;

	if (t->idle_named)
		return 0;
	t->idle_named = true;
	err = put_tband_text(s, e, KT_TBAND_TASK_NAME, 0, 0, "swapper", 7);
	return err ? err : put_tband_number(s, e, KT_TBAND_TASK_IS_IDLE, 0);
}

static int switch_to(struct kt_sink *s, const struct ktape_event *e,
		     struct kt_tband_cpu *c, int32_t tid)
{
	int err = tid ? 0 : name_idle(s, e);

	c->tid = tid;
	c->left = false;
	return err ? err :
		     put_tband_number(s, e, KT_TBAND_SWITCHED_IN, (uint32_t)tid);
}

/* Write a switch if the stream does not know the thread of the next event. */
static int follow_tband_thread(struct kt_sink *s, const struct ktape_event *e,
			       struct kt_tband_cpu *c)
{
	struct kt_tband_sink *t = s->state;

	if (t->bare || e->tid == c->tid || e->tid < 0 || e->kind != KTAPE_RING_EVENT)
		return 0;
	return switch_to(s, e, c, e->tid);
}

/* Write how a thread leaves its CPU, if no event of its own has said so. */
static int put_leaving(struct kt_sink *s, const struct ktape_event *e,
		       struct kt_tband_cpu *c)
{
	uint32_t state = e->dat20 >> 16 & 15;

	if (c->left || c->tid < 0)
		return 0;
	switch (state) {
	case KTAPE_STATE_S:
	case KTAPE_STATE_D:
	case KTAPE_STATE_I:
		return put_tband_number(s, e, KT_TBAND_DELAY, 0);
	case KTAPE_STATE_T:
	case KTAPE_STATE_TRACED:
	case KTAPE_STATE_P:
		return put_tband_number(s, e, KT_TBAND_SUSPENDED, (uint32_t)c->tid);
	default:
		return 0;
	}
}

static int map_tband_switch(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_cpu *c = tband_cpu_at(s->state, e->cpu);
	const struct kt_tband_sink *t = s->state;
	int32_t prev = (int32_t)ktape_event_arg(e, 0);
	int err = 0;

	/* The thread of the event may be unknown here, but the event names the one that leaves. */
	if (!t->bare && prev >= 0 && prev != c->tid)
		err = switch_to(s, e, c, prev);
	if (!err)
		err = put_leaving(s, e, c);
	return err ? err : switch_to(s, e, c, (int32_t)ktape_event_arg(e, 1));
}

static int map_tband_context(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_cpu *c = tband_cpu_at(s->state, e->cpu);
	int32_t tid = (int32_t)ktape_event_arg(e, 0);

	return tid < 0 || tid == c->tid ? 0 : switch_to(s, e, c, tid);
}

static int map_tband_wakeup(struct kt_sink *s, const struct ktape_event *e)
{
	return put_tband_number(s, e, KT_TBAND_TO_READY, ktape_event_arg(e, 0));
}

static int map_tband_fork(struct kt_sink *s, const struct ktape_event *e)
{
	return put_tband_number(s, e, KT_TBAND_TASK_CREATED, ktape_event_arg(e, 1));
}

static int map_tband_exit(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_cpu *c = tband_cpu_at(s->state, e->cpu);

	c->left |= c->tid == (int32_t)ktape_event_arg(e, 0);
	return put_tband_number(s, e, KT_TBAND_TASK_DELETED, ktape_event_arg(e, 0));
}

/*
 * Write a priority that a thread inherits, or gives back if no other thread (argument 1) lends it.
 * FreeRTOS counts priorities upwards, Linux downwards.  Threads that are not real-time get 0.
 */
static int map_inherit(struct kt_sink *s, const struct ktape_event *e)
{
	uint32_t prio = e->dat20 >> 8 & 0xff;
	const struct kt_tband_event out = {
		.id = ktape_event_arg(e, 1) ? KT_TBAND_PRIO_INHERIT :
					      KT_TBAND_PRIO_DISINHERIT,
		.values = { ktape_event_arg(e, 0),
			    prio < RT_PRIO_MAX ? RT_PRIO_MAX - prio : 0 },
	};

	return kt_tband_put(s, &out, e->cpu, e->ts);
}

/* ---- interrupts and markers -------------------------------------------------------- */

static int map_tband_isr(struct kt_sink *s, const struct ktape_event *e)
{
	return put_tband_number(s, e,
				e->opcode == KTAPE_EV_ISR_ENTER ?
					KT_TBAND_ISR_ENTER :
					KT_TBAND_ISR_EXIT,
				ktape_event_arg(e, 0));
}

static int map_tband_irq(struct kt_sink *s, const struct ktape_event *e)
{
	bool enter = e->opcode == KTAPE_EV_IRQ_HANDLER_ENTRY;
	uint64_t irq = 0;
	int err;

	ktape_event_field(e, "irq", &irq);
	err = name_irq(s, e, KTAPE_OBJ_IRQ, (uint32_t)irq, (uint32_t)irq);
	return err ? err :
		     put_tband_number(s, e,
				      enter ? KT_TBAND_ISR_ENTER : KT_TBAND_ISR_EXIT,
				      irq);
}

static int map_tband_softirq(struct kt_sink *s, const struct ktape_event *e)
{
	bool enter = e->opcode == KTAPE_EV_SOFTIRQ_ENTRY;
	uint64_t vec = 0;
	int err;

	ktape_event_field(e, "vec", &vec);
	err = name_irq(s, e, KTAPE_OBJ_SOFTIRQ, (uint32_t)vec,
		       IRQ_SOFT + (uint32_t)vec);
	return err ? err :
		     put_tband_number(s, e,
				      enter ? KT_TBAND_ISR_ENTER : KT_TBAND_ISR_EXIT,
				      IRQ_SOFT + vec);
}

/*
 * Write the name of a thread's own marker for that thread, once.  A global name of the registry
 * (param1 is 0) can hold for threads' own markers, too, but in this format the two have separate
 * names.  name_marker() has written all others.
 */
static int name_own(struct kt_sink *s, const struct ktape_event *e)
{
	bool value = e->opcode == KTAPE_EV_MARK_VALUE;
	uint32_t id = ktape_event_arg(e, 0);
	const struct kt_tband_sink *t = s->state;
	const struct ktape_object_info *o;

	if (!(e->dat20 & 1) || e->tid <= 0 || t->check || t->bare)
		return 0;
	o = ktape_registry_meant(s->registry, e,
				 value ? KTAPE_OBJ_VALUE : KTAPE_OBJ_MARKER, id);
	if (!o || o->param1 ||
	    !is_first_name(s, value ? KTAPE_EV_MARK_VALUE : KTAPE_EV_MARK,
			   (uint32_t)e->tid, id))
		return 0;
	return put_tband_text(s, e,
			      value ? KT_TBAND_TASK_VALMARKER_NAME :
				      KT_TBAND_TASK_EVTMARKER_NAME,
			      id, (uint32_t)e->tid, o->name, o->name_len);
}

static int map_mark(struct kt_sink *s, const struct ktape_event *e)
{
	int err = name_own(s, e);
	unsigned int base = e->dat20 & 1 ? KT_TBAND_TASK_EVTMARKER :
					   KT_TBAND_EVTMARKER;
	/* In both formats mark, begin and end have numbers in this order. */
	unsigned int id = base + e->opcode - KTAPE_EV_MARK;
	uint64_t value = (uint64_t)ktape_event_arg(e, 2) << 32 |
			 ktape_event_arg(e, 1);
	bool value_marker = e->opcode == KTAPE_EV_MARK_VALUE;

	if (value_marker)
		id = e->dat20 & 1 ? KT_TBAND_TASK_VALMARKER : KT_TBAND_VALMARKER;
	if (e->blob_size && (value_marker || e->opcode == KTAPE_EV_MARK_END))
		kt_sink_miss(s, "messages of values and of ends", 1);
	return err ? err :
		     put_tband_text(s, e, id, ktape_event_arg(e, 0),
				    value_marker ? value : 0, e->blob,
				    e->blob_size);
}

/* ---- events that came from this format -------------------------------------- */

/* Take the text of an event from its first typed argument. */
static void typed_text(const struct ktape_event *e, struct kt_tband_event *out)
{
	const uint8_t *p = e->blob;

	if (e->blob_size < 2 || (p[0] & 15) != KTAPE_FORMAT_STRING)
		return;
	out->text = p + 1;
	out->len = strnlen((const char *)p + 1, e->blob_size - 1);
}

/* Return true for events after which the running task leaves its core. */
static bool is_leaving(unsigned int id)
{
	return (id >= KT_TBAND_SUSPENDED && id <= KT_TBAND_DELAY_UNTIL) ||
	       (id >= KT_TBAND_BLOCK_PEEK && id <= KT_TBAND_BLOCK_RECEIVE);
}

/* Write again an event that came from this format; carry or count any other user event. */
static int map_tband_user(struct kt_sink *s, const struct ktape_event *e)
{
	uint32_t id = ktape_event_arg(e, 0);
	const struct kt_tband_kind *k = kt_tband_kind(id & ~KTAPE_FORMAT_ID_MASK);
	struct kt_tband_event out = { .id = (uint8_t)id };
	unsigned int arg = 1;

	if ((id & KTAPE_FORMAT_ID_MASK) != KTAPE_FORMAT_ID_TBAND || !k) {
		if (((const struct kt_tband_sink *)s->state)->check)
			return kt_tband_carry(s, e);
		kt_sink_miss(s, "user events", 1);
		return 0;
	}
	/* The writer makes these from CPUs, the clock and losses. */
	if (out.id <= KT_TBAND_RESOLUTION)
		return 0;
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++) {
		out.values[i] = ktape_event_arg(e, arg++);
		if (k->types[i] >= KT_TBAND_U64)
			out.values[i] |= (uint64_t)ktape_event_arg(e, arg++) << 32;
	}
	if (k->text)
		typed_text(e, &out);
	if (is_leaving(out.id))
		tband_cpu_at(s->state, e->cpu)->left = true;
	return kt_tband_put(s, &out, e->cpu, e->ts);
}

typedef int map_fn(struct kt_sink *s, const struct ktape_event *e);

/* clang-format off */

static map_fn *const maps[KTAPE_OPCODES] = {
	[KTAPE_EV_REGISTRY] = map_tband_registry,
	[KTAPE_EV_CONTEXT] = map_tband_context,
	[KTAPE_EV_MARK ... KTAPE_EV_MARK_VALUE] = map_mark,
	[KTAPE_EV_ISR_ENTER ... KTAPE_EV_ISR_EXIT] = map_tband_isr,
	[KTAPE_EV_USER_EVENT] = map_tband_user,
	[KTAPE_EV_SCHED_SWITCH] = map_tband_switch,
	[KTAPE_EV_SCHED_WAKEUP ... KTAPE_EV_SCHED_WAKEUP_NEW] = map_tband_wakeup,
	[KTAPE_EV_SCHED_PI_SETPRIO] = map_inherit,
	[KTAPE_EV_PROCESS_FORK] = map_tband_fork,
	[KTAPE_EV_PROCESS_EXIT] = map_tband_exit,
	[KTAPE_EV_IRQ_HANDLER_ENTRY ... KTAPE_EV_IRQ_HANDLER_EXIT] = map_tband_irq,
	[KTAPE_EV_SOFTIRQ_ENTRY ... KTAPE_EV_SOFTIRQ_EXIT] = map_tband_softirq,
};

/* clang-format on */

/*
 * The fields that counterparts keep.  States become those of FreeRTOS.  Events that are not here
 * keep all, or their functions count what is left out.
 */
static const struct kt_format_fields kept_fields[] = {
	{ KTAPE_EV_CONTEXT, "tid" },
	{ KTAPE_EV_SCHED_SWITCH, "prev_state|prev_tid|next_tid" },
	{ KTAPE_EV_SCHED_WAKEUP, "tid" },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, "tid" },
	{ KTAPE_EV_SCHED_PI_SETPRIO, "tid|new_prio" },
	{ KTAPE_EV_PROCESS_FORK, "parent_tid|child_tid" },
	{ KTAPE_EV_PROCESS_EXIT, "tid" },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, "irq" },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, "irq" },
};

/**
 * kt_tband_map_init() - prepare the counts of what events leave out
 * @t: the sink's state
 *
 * Return: false if an event has too many fields.
 */
bool kt_tband_map_init(struct kt_tband_sink *t)
{
	return kt_left_out_find_all(t->left_out, kept_fields,
				    KT_ARRAY_SIZE(kept_fields));
}

/* Count the fields of an event for which its counterpart has no place. */
static void count_tband_left_out(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_tband_sink *t = s->state;

	/*
	 * In mode bare-metal kt_tband_put() has counted each event of threads as a whole.  Of the
	 * others only irq_handler_exit has a field that is left out.
	 */
	if (t->bare && e->opcode != KTAPE_EV_IRQ_HANDLER_EXIT)
		return;
	kt_left_out_count(&t->left_out[e->opcode], s, e);
	/* The thread that runs is the one that creates another. */
	if (e->opcode == KTAPE_EV_PROCESS_FORK &&
	    e->tid != (int32_t)ktape_event_arg(e, 0))
		kt_sink_miss(s, KT_LEFT_OUT, 1);
	if (e->opcode == KTAPE_EV_SCHED_PI_SETPRIO &&
	    (e->dat20 >> 8 & 0xff) > RT_PRIO_MAX)
		kt_sink_miss(s, KT_LEFT_OUT, 1);
}

/* Count an event without a counterpart as missed, or with check=1 carry it in a name. */
static int map_none(struct kt_sink *s, const struct ktape_event *e,
		    const struct ktape_event_desc *d)
{
	const struct kt_tband_sink *t = s->state;

	if (e->opcode == KTAPE_TIME_EXTEND)
		return 0;
	if (t->check && e->opcode != KTAPE_EV_REGISTRY && kt_event_fits(e))
		return kt_tband_carry(s, e);
	kt_sink_miss(s, d ? d->name : "events that do not fit the event table", 1);
	return 0;
}

/**
 * kt_tband_map() - write a native event
 * @s: the sink
 * @e: the event
 *
 * Return: 0 or negative errno.
 */
int kt_tband_map(struct kt_sink *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	struct kt_tband_cpu *c = tband_cpu_at(s->state, e->cpu);
	int err;

	if (!c)
		return -ENOMEM;
	if (!maps[e->opcode] || !kt_event_fits(e))
		return map_none(s, e, d);
	/* Only names are in another ring, the registry's.  In the stream they have no time. */
	if (e->kind == KTAPE_RING_EVENT && e->ts < c->ts) {
		kt_sink_miss(s, "events whose time goes back", 1);
		return 0;
	}
	if (e->kind == KTAPE_RING_EVENT)
		c->ts = e->ts;
	err = maps[e->opcode] == map_tband_context ? 0 :
						     follow_tband_thread(s, e, c);
	if (!err)
		err = maps[e->opcode](s, e);
	if (!err)
		count_tband_left_out(s, e);
	return err;
}

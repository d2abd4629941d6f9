// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of other Linux tracers become records: a native one, if the event table has the tracepoint
 * or it is a system call, else a user event.  tracepoint.h has the terms, tracepoint_class.c has
 * bound each class before.
 */
#include <ktape/formats.h>

#include "util/hash.h"

#include "tracepoint.h"

#define LATE_MAX \
	0x7fffffff /* largest late_ns that the event table has room for */
#define DEADLINE     255U /* stands for -1, the priority of the deadline class */
#define CALL_ARGS    6U
#define UNKNOWN_TASK UINT32_MAX /* -1: 0 is the idle thread */

/* ---- native events -------------------------------------------------------------------- */

static uint64_t prio_of(const struct kt_tp *tp, uint64_t value)
{
	int64_t prio = (int32_t)value +
		       (tp->relative_prio ? (int64_t)KT_TP_RT_PRIO : 0);

	return prio < 0 || prio > (int64_t)DEADLINE ? DEADLINE : (uint64_t)prio;
}

/*
 * Return how late a timer expires at @now.  0 if it is early, or if the trace does not have when it
 * was armed, which is counted.
 */
static uint64_t late_ns(struct kt_tp *tp, const struct kt_tp_class *c,
			const struct kt_tp_value *values, uint64_t now)
{
	uint64_t timer = values[c->from[0]].number;
	const struct kt_map_entry *e = kt_map_find(&tp->expires, 0, timer);

	if (!e) {
		tp->unarmed++;
		return 0;
	}
	if (now < e->value)
		return 0;
	return kt_min(now - e->value, LATE_MAX);
}

/* Keep when a timer is to expire, for late_ns().  Return: 0 or -ENOMEM. */
static int keep_expiry(struct kt_tp *tp, const struct kt_tp_class *c,
		       const struct kt_tp_value *values, uint64_t expires)
{
	struct kt_map_entry *e;
	bool is_new;
	int err = kt_tp_remember(&tp->expires, 0, values[c->from[0]].number, &e,
				 &is_new);

	if (e)
		e->value = expires;
	return err;
}

/* Convert field @i of a class.  Return: as kt_tp_emit(), with *@out set. */
static int convert_tp_field(struct kt_tp *tp, const struct kt_tp_class *c,
			    const struct kt_delivery *at,
			    const struct kt_tp_value *values, unsigned int i,
			    uint64_t *out)
{
	const struct kt_tp_value *v = &values[c->from[i]];
	const struct kt_tp_value *second = c->comm[i] < 0 ? NULL :
							    &values[c->comm[i]];
	uint8_t type = c->fields[c->from[i]].type;
	struct kt_named n = { .type = KTAPE_OBJ_IRQ };

	*out = v->number;
	switch (c->row->sources[i].how) {
	case KT_TP_THREAD: /* the first field of sched_process_fork is the new thread */
		return second ? kt_tp_name_thread(tp, at, (int32_t)v->number, 0,
						  second->data, second->len,
						  c->row->opcode == KTAPE_EV_PROCESS_FORK &&
							  !i) :
				0;
	case KT_TP_PRIO:
		*out = prio_of(tp, v->number);
		return 0;
	case KT_TP_STATE:
		*out = type == KT_TP_TEXT ? kt_tp_state_letters(v->data, v->len) :
					    kt_tp_state(v->number);
		return 0;
	case KT_TP_TOKEN:
		*out = kt_tp_token(v->number);
		return 0;
	case KT_TP_FUNCTION:
		*out = kt_tp_token(v->number);
		return kt_tp_name_function(tp, at, v->number);
	case KT_TP_NETDEV:
		return kt_tp_number_device(tp, at, v, out);
	case KT_TP_OP:
		*out = type == KT_TP_TEXT ? kt_tp_op(v->data, v->len) :
					    kt_tp_op_bits(v->number);
		return 0;
	case KT_TP_SECTORS:
		*out = v->number << 9;
		return 0;
	case KT_TP_IRQ:
		n.id = (uint32_t)v->number;
		n.name = second ? second->data : NULL;
		n.len = second ? second->len : 0;
		return kt_tp_name_once(tp, at, &n);
	case KT_TP_LATE:
		*out = second ? v->number - second->number : 0;
		return 0;
	case KT_TP_EXPIRES:
		*out = second ? v->number - second->number : v->number;
		return 0;
	case KT_TP_ARMED:
		return keep_expiry(tp, c, values, v->number);
	case KT_TP_LATE_NS:
		*out = late_ns(tp, c, values, v->number);
		return 0;
	default:
		return 0;
	}
}

/* Put a value where a field of the event table is: bits of dat20, or one or two arguments. */
static void put_place(struct kt_delivery *f, const struct kt_place *place,
		      uint64_t value)
{
	if (!place->words) {
		f->dat20 |= ((uint32_t)value & place->mask) << place->at;
		return;
	}
	f->args[place->at] = (uint32_t)value;
	if (place->words == 2)
		f->args[place->at + 1] = (uint32_t)(value >> 32);
}

/* Check whether a place holds all of a number of field @f. */
static bool is_held(const struct kt_place *place, const struct kt_tp_field *f,
		    uint64_t v)
{
	switch (place->words) {
	case 0:
		return v <= place->mask;
	case 1:
		return v <= UINT32_MAX ||
		       (f->type == KT_TP_SIGNED && (int64_t)v == (int32_t)v);
	default:
		return true;
	}
}

/*
 * Check whether the event table has all of field @i, which has become @value.  If not, the
 * field is an extra one as well.
 */
static bool is_whole(struct kt_tp *tp, const struct kt_tp_class *c,
		     const struct kt_tp_value *values, unsigned int i,
		     uint64_t value)
{
	const struct kt_tp_value *v = &values[c->from[i]];
	const struct kt_tp_field *f = &c->fields[c->from[i]];
	const char *name;
	uint64_t offset;

	switch (c->row->sources[i].how) {
	case KT_TP_LATE:
	case KT_TP_LATE_NS:
	case KT_TP_EXPIRES:
		return false; /* a difference says none of its two numbers */
	case KT_TP_TOKEN:
		return value == v->number;
	case KT_TP_FUNCTION:
		/* The registry cuts names. */
		name = tp->symbol ? tp->symbol(tp->arg, v->number, &offset) : NULL;
		return name ? strlen(name) <= KTAPE_NAME_SIZE : value == v->number;
	case KT_TP_PRIO:
		return value < DEADLINE || (int32_t)v->number == -1;
	case KT_TP_STATE:
		return f->type == KT_TP_TEXT ?
			       kt_tp_is_state_letter(v->data, v->len) :
			       kt_tp_is_state(v->number);
	case KT_TP_OP:
		return f->type == KT_TP_TEXT ? kt_tp_is_op(v->data, v->len) :
					       kt_tp_is_op_bits(v->number);
	case KT_TP_NETDEV:
		return true;
	default:
		return is_held(&c->places[i], f, value);
	}
}

/* Note the thread that a CPU runs from now on.  Return: 0 or -ENOMEM. */
static int set_running(struct kt_tp *tp, uint32_t cpu, int32_t tid)
{
	int32_t *more;

	if (cpu >= KT_CPUS_MAX)
		return 0;
	if (cpu >= tp->nr_cpus) {
		more = realloc(tp->running, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		tp->running = more;
		while (tp->nr_cpus <= cpu)
			more[tp->nr_cpus++] = -1;
	}
	tp->running[cpu] = tid;
	return 0;
}

/**
 * kt_tp_running() - return the thread that runs on a CPU
 * @tp: the reader's memory
 * @cpu: the CPU
 *
 * Return: the thread that the last switch of the CPU went to, -1 = not known.
 */
int32_t kt_tp_running(const struct kt_tp *tp, uint32_t cpu)
{
	return cpu < tp->nr_cpus ? tp->running[cpu] : -1;
}

/**
 * kt_tp_forget() - events of a CPU are missing, so its running thread is not known
 * @tp: the reader's memory
 * @cpu: the CPU
 */
void kt_tp_forget(struct kt_tp *tp, uint32_t cpu)
{
	if (cpu < tp->nr_cpus)
		tp->running[cpu] = -1;
}

/**
 * kt_tp_lost() - deliver a loss, as kt_import_lost()
 * @tp: the reader's memory
 * @cpu: CPU that lost events
 * @count: how many, 0 = unknown
 * @from: time of the last event before the loss
 * @to: end of the loss
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_lost(struct kt_tp *tp, uint32_t cpu, uint64_t count, uint64_t from,
	       uint64_t to)
{
	kt_tp_forget(tp, cpu);
	return kt_import_lost(tp->s, cpu, count, from, to);
}

/*
 * Set what the tracepoint does not say, but the rest of the event implies.
 * Return: 0 or -ENOMEM.
 */
static int complete_event(struct kt_tp *tp, struct kt_delivery *f)
{
	const struct kt_map_entry *e;

	switch (f->opcode) {
	case KTAPE_EV_PROCESS_FORK: /* parent_tid, child_tid, child_tgid; dat20: is a thread */
		e = kt_map_find(&tp->tasks, KT_TP_OF_PROCESS, f->args[1]);
		if (!f->args[2] && e)
			f->args[2] = (uint32_t)e->value;
		f->args[2] = f->args[2] ? f->args[2] : UNKNOWN_TASK;
		f->dat20 = f->args[2] != UNKNOWN_TASK && f->args[2] != f->args[1];
		break;
	case KTAPE_EV_PROCESS_EXIT:
	case KTAPE_EV_PROCESS_FREE:
	case KTAPE_EV_PROCESS_RENAME: /* tid, tgid */
		e = kt_map_find(&tp->tasks, KT_TP_NAMED, f->args[0]);
		f->args[1] = e && e->extra ? (uint32_t)e->extra : UNKNOWN_TASK;
		break;
	case KTAPE_EV_PROCESS_EXEC: /* tid, old_tid */
		f->args[1] = f->args[1] ? f->args[1] : f->args[0];
		break;
	case KTAPE_EV_SCHED_SWITCH: /* prev_tid, next_tid */
		return set_running(tp, f->cpu, (int32_t)f->args[1]);
	default:
		break;
	}
	return 0;
}

/*
 * Deliver a native event.  A thread that the tracepoint does not name is unknown; any other field
 * that it lacks is 0.
 */
static int emit_native(struct kt_tp *tp, struct kt_tp_class *c,
		       struct kt_delivery *f, const struct kt_tp_value *values)
{
	const struct kt_plan *plan = &kt_plans[c->row->opcode];
	int err = 0;

	f->kind = KTAPE_RING_EVENT;
	f->opcode = c->row->opcode;
	f->nargs = plan->nargs;
	f->dat20 = 0;
	memset(f->args, 0, sizeof(f->args));
	f->blob = plan->has_blob ? "" : NULL;
	f->blob_size = 0;
	for (unsigned int i = 0; !err && i < KT_TP_PLACES; i++) {
		uint64_t value;

		if (c->from[i] < 0 && c->row->sources[i].how == KT_TP_THREAD)
			put_place(f, &c->places[i], UNKNOWN_TASK);
		if (c->from[i] < 0)
			continue;
		if (c->row->sources[i].how == KT_TP_STRING) {
			f->blob = values[c->from[i]].data;
			f->blob_size = (uint32_t)values[c->from[i]].len;
			continue;
		}
		err = convert_tp_field(tp, c, f, values, i, &value);
		put_place(f, &c->places[i], value);
		kt_tp_set_place(c, c->from[i], is_whole(tp, c, values, i, value));
	}
	err = err ? err : complete_event(tp, f);
	err = err ? err : kt_tp_put_extra(tp, c, f, values);
	return err ? err : kt_import_emit(tp->s, f);
}

/* ---- system calls --------------------------------------------------------------------- */

/*
 * Deliver the begin or the end of a system call: a begin with six arguments as sys_enter_wide.  A
 * number that 16 bits do not hold is argument 0 of a begin, and an extra field of an end.
 */
static int emit_call(struct kt_tp *tp, struct kt_tp_class *c,
		     struct kt_delivery *f, const struct kt_tp_value *values)
{
	uint64_t nr = c->number < 0 ? c->call & KT_CALL_NR :
				      values[c->number].number;
	bool large = nr >= KT_CALL_NR;
	const struct kt_tp_value *args = c->args < 0 ? NULL : &values[c->args];
	bool wide = args && args->data && args->len == CALL_ARGS * 8;
	int err;

	f->kind = KTAPE_RING_EVENT;
	f->dat20 = (c->call & ~KT_CALL_NR) | (large ? KT_CALL_NR : (uint32_t)nr) |
		   (large ? KT_CALL_LARGE : 0);
	f->blob = NULL;
	memset(f->args, 0, sizeof(f->args));
	f->args[0] = (uint32_t)nr;
	f->opcode = KTAPE_EV_SYS_ENTER;
	f->nargs = large;
	if (c->what == KT_TP_EXIT) {
		f->opcode = KTAPE_EV_SYS_EXIT;
		f->nargs = 2;
		f->args[0] = f->args[1] = 0;
		if (c->ret >= 0) {
			f->args[0] = (uint32_t)values[c->ret].number;
			f->args[1] = (uint32_t)(values[c->ret].number >> 32);
		}
	} else if (wide) {
		f->opcode = KTAPE_EV_SYS_ENTER_WIDE;
		f->nargs = 1;
		f->blob = args->data;
		f->blob_size = (uint32_t)args->len;
	}
	if (c->what == KT_TP_ENTER)
		kt_tp_set_place(c, c->args, wide);
	else
		kt_tp_set_place(c, c->number, !large); /* sys_exit has 16 bits for it */
	err = kt_tp_put_extra(tp, c, f, values);
	return err ? err : kt_import_emit(tp->s, f);
}

/* ---- events ------------------------------------------------------------------------- */

/**
 * kt_tp_emit() - deliver an event
 * @tp: the reader's memory
 * @c: its class
 * @at: time, CPU and thread of the event; the rest is overwritten.  @at->tid -1: the
 *	thread that the last switch of the CPU went to
 * @values: its fields, in the order of the class
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_emit(struct kt_tp *tp, struct kt_tp_class *c, struct kt_delivery *at,
	       const struct kt_tp_value *values)
{
	if (at->tid < 0)
		at->tid = kt_tp_running(tp, at->cpu);
	tp->last.ts = at->ts;
	tp->last.cpu = at->cpu;
	switch (c->what) {
	case KT_TP_NATIVE:
		return emit_native(tp, c, at, values);
	case KT_TP_ENTER:
	case KT_TP_EXIT:
		return emit_call(tp, c, at, values);
	default:
		return kt_tp_emit_user(tp, c, at, values);
	}
}

/**
 * kt_tp_end() - report at the end of the trace what its events did not say
 * @tp: the reader's memory
 */
void kt_tp_end(struct kt_tp *tp)
{
	if (tp->unarmed)
		kt_import_note(tp->s,
			       "%llu timers expired that were armed before the trace: they count as on time",
			       (unsigned long long)tp->unarmed);
	tp->unarmed = 0;
	if (tp->too_large)
		kt_import_note(
			tp->s,
			"%llu fields are left out: an event has at most %u MiB",
			(unsigned long long)tp->too_large, KT_TP_BLOB >> 20);
	tp->too_large = 0;
}

/**
 * kt_tp_free() - free what the reader remembers
 * @tp: the memory
 */
void kt_tp_free(struct kt_tp *tp)
{
	kt_map_free(&tp->tasks);
	kt_map_free(&tp->tokens);
	kt_map_free(&tp->expires);
	free(tp->running);
	kt_texts_free(&tp->names);
	free(tp->blob);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading Tonbandgeraet: the native record that each event becomes. */
#include <ktape/mark.h>

#include "internal.h"

#define RT_PRIO_MAX  98U /* Linux priority of the lowest FreeRTOS priority, 0 */
#define PRIO_UNKNOWN 120U /* that of a thread with nice 0 */

/* Return the Linux priority of a task: FreeRTOS counts upwards, Linux downwards. */
static uint8_t tband_prio_of(const struct kt_tband_import *t, int32_t tid)
{
	const struct kt_tband_prio *p = &t->prios[(uint32_t)tid % KT_TBAND_TASKS];

	return p->known && p->task == (uint32_t)tid ? p->prio : PRIO_UNKNOWN;
}

static void set_tband_prio(struct kt_tband_import *t, uint64_t task, uint64_t prio)
{
	struct kt_tband_prio *p = &t->prios[task % KT_TBAND_TASKS];

	p->task = (uint32_t)task;
	p->prio = (uint8_t)(RT_PRIO_MAX - kt_min(prio, RT_PRIO_MAX));
	p->known = true;
}

/* Deliver an event as a user event: fields as words, the text as a typed argument. */
static int emit_user(struct kt_import *s, struct kt_delivery *f,
		     const struct kt_tband_event *e)
{
	const struct kt_tband_kind *k = kt_tband_kind(e->id);
	struct kt_tband_import *t = s->state;
	uint8_t *p = t->typed;

	f->opcode = KTAPE_EV_USER_EVENT;
	f->args[f->nargs++] = KTAPE_FORMAT_ID_TBAND | e->id;
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++) {
		f->args[f->nargs++] = (uint32_t)e->values[i];
		if (k->types[i] >= KT_TBAND_U64)
			f->args[f->nargs++] = (uint32_t)(e->values[i] >> 32);
	}
	if (k->text) {
		*p++ = KTAPE_FORMAT_STRING;
		memcpy(p, e->text, e->len);
		p += strnlen((char *)p, e->len); /* a typed text ends at its first NUL */
		*p++ = 0;
	}
	f->blob = t->typed;
	f->blob_size = (uint32_t)(p - t->typed);
	return kt_import_emit(s, f);
}

/*
 * Set the owner of a marker's name.  Global markers and tasks' own markers have separate
 * names.  The target's macros pass task 0 for every task, so task 0 means all tasks.  With
 * check=1, ktape wrote the stream: it uses the event for global names only if the name also
 * holds for tasks' own markers.
 */
static void set_owner(const struct kt_tband_import *t, struct kt_named *n,
		      const struct kt_tband_event *e)
{
	if (e->id < KT_TBAND_TASK_EVTMARKER_NAME)
		n->param2 = t->check ? 0 : KTAPE_NAME_GLOBAL;
	else
		n->param1 = e->values[1] ? (uint32_t)e->values[1] : KTAPE_OWNER_ANY;
}

static int emit_tband_name(struct kt_import *s, struct kt_delivery *f,
			   const struct kt_tband_event *e)
{
	struct kt_tband_import *t = s->state;
	struct kt_named n = {
		.id = (uint32_t)e->values[0],
		.name = e->text,
		.len = e->len,
	};

	switch (e->id) {
	case KT_TBAND_ISR_NAME:
		n.type = KTAPE_OBJ_ISR;
		n.param1 = f->cpu + 1; /* 0 would stand for all CPUs */
		break;
	case KT_TBAND_TASK_NAME:
		n.type = KTAPE_OBJ_THREAD;
		n.param1 = n.id; /* its process */
		break;
	case KT_TBAND_QUEUE_NAME:
		n.type = KTAPE_OBJ_USER + KTAPE_USER_QUEUE;
		break;
	case KT_TBAND_EVTMARKER_NAME:
	case KT_TBAND_TASK_EVTMARKER_NAME:
		n.type = KTAPE_OBJ_MARKER;
		set_owner(t, &n, e);
		break;
	default:
		n.type = KTAPE_OBJ_VALUE;
		set_owner(t, &n, e);
		break;
	}
	if (e->len > KTAPE_NAME_SIZE && !t->cut_names_noted) {
		t->cut_names_noted = true;
		kt_import_note(s, "names longer than %u bytes are cut",
			       KTAPE_NAME_SIZE);
	}
	return kt_import_name(s, f, &n);
}

static int emit_marker(struct kt_import *s, struct kt_delivery *f,
		       const struct kt_tband_event *e)
{
	static const uint8_t opcodes[] = {
		KTAPE_EV_MARK,
		KTAPE_EV_MARK_BEGIN,
		KTAPE_EV_MARK_END,
		[KT_TBAND_VALMARKER - KT_TBAND_EVTMARKER] = KTAPE_EV_MARK_VALUE,
	};
	bool task = e->id >= KT_TBAND_TASK_EVTMARKER;
	unsigned int first = task ? KT_TBAND_TASK_EVTMARKER : KT_TBAND_EVTMARKER;

	f->opcode = opcodes[e->id - first];
	f->dat20 = task;
	f->args[f->nargs++] = (uint32_t)e->values[0];
	if (f->opcode == KTAPE_EV_MARK_VALUE) {
		f->args[f->nargs++] = (uint32_t)e->values[1];
		f->args[f->nargs++] = (uint32_t)(e->values[1] >> 32);
	}
	f->blob = e->text;
	f->blob_size = (uint32_t)e->len;
	return kt_import_emit(s, f);
}

static int emit_tband_switch(struct kt_import *s, struct kt_delivery *f,
			     const struct kt_tband_event *e)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_core *c = &t->cores[f->cpu];
	int32_t next = (int32_t)e->values[0];

	f->opcode = KTAPE_EV_SCHED_SWITCH;
	f->dat20 = (c->tid < 0 ? PRIO_UNKNOWN : tband_prio_of(t, c->tid)) |
		   (uint32_t)tband_prio_of(t, next) << 8 |
		   (uint32_t)c->leaving << 16;
	f->args[f->nargs++] = (uint32_t)c->tid;
	f->args[f->nargs++] = (uint32_t)next;
	c->tid = next;
	c->leaving = KTAPE_STATE_PREEMPTED;
	return kt_import_emit(s, f);
}

/* Deliver an event of a task.  A task is its own process: its number is its tgid, too. */
static int emit_task(struct kt_import *s, struct kt_delivery *f,
		     const struct kt_tband_event *e)
{
	struct kt_tband_import *t = s->state;
	uint32_t task = (uint32_t)e->values[0];

	switch (e->id) {
	case KT_TBAND_SWITCHED_IN:
		return emit_tband_switch(s, f, e);
	case KT_TBAND_TO_READY:
		f->opcode = KTAPE_EV_SCHED_WAKEUP;
		f->dat20 = tband_prio_of(t, (int32_t)task) | (f->cpu & 0xfff) << 8;
		break;
	case KT_TBAND_TASK_CREATED:
		f->opcode = KTAPE_EV_PROCESS_FORK;
		f->args[f->nargs++] = f->tid < 0 ? 0 : (uint32_t)f->tid;
		f->args[f->nargs++] = task;
		break;
	default:
		f->opcode = KTAPE_EV_PROCESS_EXIT;
		f->dat20 = tband_prio_of(t, (int32_t)task);
		f->args[f->nargs++] = task;
		f->args[2] = 0; /* the exit code, counted below */
		break;
	}
	f->args[f->nargs++] = task;
	f->nargs += e->id == KT_TBAND_TASK_DELETED;
	return kt_import_emit(s, f);
}

static int emit_tband_isr(struct kt_import *s, struct kt_delivery *f,
			  const struct kt_tband_event *e)
{
	f->opcode = e->id == KT_TBAND_ISR_ENTER ? KTAPE_EV_ISR_ENTER :
						  KTAPE_EV_ISR_EXIT;
	f->args[f->nargs++] = (uint32_t)e->values[0];
	return kt_import_emit(s, f);
}

typedef int emit_fn(struct kt_import *s, struct kt_delivery *f,
		    const struct kt_tband_event *e);

/* clang-format off */

/* Functions that make a native record; all other events become user events. */
static emit_fn *const emits[KT_TBAND_IDS] = {
	[KT_TBAND_ISR_NAME] = emit_tband_name,
	[KT_TBAND_ISR_ENTER] = emit_tband_isr,
	[KT_TBAND_ISR_EXIT] = emit_tband_isr,
	[KT_TBAND_EVTMARKER_NAME] = emit_tband_name,
	[KT_TBAND_EVTMARKER ... KT_TBAND_EVTMARKER_END] = emit_marker,
	[KT_TBAND_VALMARKER_NAME] = emit_tband_name,
	[KT_TBAND_VALMARKER] = emit_marker,
	[KT_TBAND_SWITCHED_IN] = emit_task,
	[KT_TBAND_TO_READY] = emit_task,
	[KT_TBAND_TASK_CREATED] = emit_task,
	[KT_TBAND_TASK_NAME] = emit_tband_name,
	[KT_TBAND_TASK_DELETED] = emit_task,
	[KT_TBAND_QUEUE_NAME] = emit_tband_name,
	[KT_TBAND_TASK_EVTMARKER_NAME] = emit_tband_name,
	[KT_TBAND_TASK_EVTMARKER ... KT_TBAND_TASK_EVTMARKER_END] = emit_marker,
	[KT_TBAND_TASK_VALMARKER_NAME] = emit_tband_name,
	[KT_TBAND_TASK_VALMARKER] = emit_marker,
};

/* clang-format on */

/* Return false if a task number is too large for a thread id: keep a user event. */
static bool has_thread_id(const struct kt_tband_event *e)
{
	if (e->id == KT_TBAND_TASK_EVTMARKER_NAME ||
	    e->id == KT_TBAND_TASK_VALMARKER_NAME)
		return e->values[1] <= INT32_MAX;
	return (emits[e->id] != emit_task && e->id != KT_TBAND_TASK_NAME) ||
	       e->values[0] <= INT32_MAX;
}

/**
 * kt_tband_emit() - deliver an event
 * @s: the trace
 * @f: time, core, thread and raw bytes of the record; the rest is overwritten
 * @e: the event
 *
 * Return: as kt_import_emit().
 */
int kt_tband_emit(struct kt_import *s, struct kt_delivery *f,
		  const struct kt_tband_event *e)
{
	if (emits[e->id] && has_thread_id(e))
		return emits[e->id](s, f, e);
	return emit_user(s, f, e);
}

/**
 * kt_tband_is_name() - return true if an event becomes a name in the registry
 * @e: the event
 */
bool kt_tband_is_name(const struct kt_tband_event *e)
{
	return emits[e->id] == emit_tband_name && has_thread_id(e);
}

/**
 * kt_tband_follow() - follow the state of tasks through an event
 * @t: the input
 * @c: core of the event
 * @e: the event
 *
 * Remembers priorities, and the state in which the running task will leave its core.
 */
void kt_tband_follow(struct kt_tband_import *t, struct kt_tband_core *c,
		     const struct kt_tband_event *e)
{
	bool own = c->tid >= 0 && e->values[0] == (uint32_t)c->tid;

	if (e->id >= KT_TBAND_PRIO_SET && e->id <= KT_TBAND_PRIO_DISINHERIT)
		set_tband_prio(t, e->values[0], e->values[1]);
	else if (e->id == KT_TBAND_DELAY || e->id == KT_TBAND_DELAY_UNTIL)
		c->leaving = KTAPE_STATE_S;
	else if (e->id >= KT_TBAND_BLOCK_PEEK && e->id <= KT_TBAND_BLOCK_RECEIVE)
		c->leaving = KTAPE_STATE_S;
	else if (e->id == KT_TBAND_SUSPENDED && own)
		c->leaving = KTAPE_STATE_T;
	else if (e->id == KT_TBAND_TASK_DELETED && own)
		c->leaving = KTAPE_STATE_X;
}

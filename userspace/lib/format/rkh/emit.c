// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading RKH trace, the trace of the RKH framework for state machines (rkh.c): the native
 * record that each event becomes.
 *
 * A Linux stream (internal.h) is a trace that ktape convert wrote as RKH trace.  Its user events
 * hold native events, which become what they were.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "stream/event.h"

#include "internal.h"

#define LINUX_FIXED \
	4 /* typed arguments of a Linux stream before an event's own */

/* Let an event have what kt_rkh_json() needs; @size: bytes of @t->typed that belong to it. */
static void set_raw(struct kt_rkh_import *t, struct kt_delivery *f,
		    const struct kt_rkh_event *e, size_t size)
{
	memset(t->raw, 0, KT_RKH_RAW_HEAD);
	t->raw[0] = e->id;
	t->raw[1] = e->seq;
	kt_set32(t->raw + 4, t->config.flags);
	kt_set32(t->raw + 8, e->ts);
	if (size)
		memcpy(t->raw + KT_RKH_RAW_HEAD, t->typed, size);
	f->raw = t->raw;
	f->raw_size = (uint32_t)(KT_RKH_RAW_HEAD + size);
}

/**
 * kt_rkh_emit_config() - deliver the configuration, how wide fields are, as a user event
 * @s: the trace
 * @ts: time of the event
 * @seq: sequence number of the first event if the configuration is assumed, from options or
 *	defaults; -1 if it comes from a record of the stream
 *
 * Of a Linux stream nothing is delivered: its events are native ones.
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_emit_config(struct kt_import *s, uint64_t ts, int seq)
{
	struct kt_delivery f = {
		.ts = ts,
		.tid = -1,
		.opcode = KTAPE_EV_USER_EVENT,
		.nargs = 6,
		.args = { KTAPE_FORMAT_ID_RKH | KT_RKH_TCFG },
		.blob = "",
	};
	const struct kt_rkh_event e = { .id = KT_RKH_TCFG };
	struct kt_rkh_import *t = s->state;

	if (t->config.flags & KT_RKH_LINUX)
		return 0;
	kt_rkh_pack(&t->config, f.args + 1);
	f.args[5] = seq < 0 ? 0 : KT_RKH_ASSUMED | (uint32_t)seq;
	for (unsigned int i = 0; i < KT_RKH_CONFIG_WORDS; i++)
		kt_set32(t->typed + i * 4, f.args[1 + i]);
	set_raw(t, &f, &e, KT_RKH_CONFIG_WORDS * 4);
	return kt_import_emit(s, &f);
}

/* ---- names -------------------------------------------------------------- */

/* Records that name objects. */
static const struct {
	uint8_t id;
	uint8_t type;
	uint8_t at; /* index of the field that is the object's id */
} symbols[] = {
	{ KT_RKH_OBJ, KTAPE_OBJ_USER + KTAPE_USER_RKH_OBJECT, 0 },
	{ KT_RKH_SIG, KTAPE_OBJ_USER + KTAPE_USER_RKH_SIGNAL, 0 },
	{ KT_RKH_FUN, KTAPE_OBJ_FUNCTION, 0 },
	{ KT_RKH_TUSR, KTAPE_OBJ_USER_EVENT, 0 },
	{ KT_RKH_AO, KTAPE_OBJ_USER + KTAPE_USER_THREAD, 0 },
	{ KT_RKH_STATE, KTAPE_OBJ_USER + KTAPE_USER_RKH_STATE, 1 },
	{ KT_RKH_PSTATE, KTAPE_OBJ_USER + KTAPE_USER_RKH_STATE, 1 },
	{ KT_RKH_TIMER, KTAPE_OBJ_USER + KTAPE_USER_TIMER, 0 },
	{ KT_RKH_EPOOL, KTAPE_OBJ_USER + KTAPE_USER_BLOCK_POOL, 0 },
	{ KT_RKH_QUEUE, KTAPE_OBJ_USER + KTAPE_USER_QUEUE, 0 },
	{ KT_RKH_ACTOR, KTAPE_OBJ_USER + KTAPE_USER_RKH_ACTOR, 0 },
};

/* Linux objects that addresses of a Linux stream stand for. */
static const struct {
	uint32_t base; /* upper byte of such addresses */
	uint8_t type;
	bool pair; /* the lower 24 bits are param1 (12) and id (12), else the id */
	bool mark; /* param1 can be KTAPE_OWNER_ANY, as that of markers and values */
	uint32_t param2;
} objects[] = {
	{ KT_LINUX_THREAD, KTAPE_OBJ_THREAD, false, false, 0 },
	{ KT_LINUX_IRQ, KTAPE_OBJ_IRQ, false, false, 0 },
	{ KT_LINUX_SOFTIRQ, KTAPE_OBJ_SOFTIRQ, false, false, 0 },
	{ KT_LINUX_ISR, KTAPE_OBJ_ISR, true, false, 0 },
	{ KT_LINUX_MARKER, KTAPE_OBJ_MARKER, true, true, 0 },
	{ KT_LINUX_VALUE, KTAPE_OBJ_VALUE, true, true, 0 },
	{ KT_LINUX_MARKER_GLOBAL, KTAPE_OBJ_MARKER, true, true, KTAPE_NAME_GLOBAL },
	{ KT_LINUX_VALUE_GLOBAL, KTAPE_OBJ_VALUE, true, true, KTAPE_NAME_GLOBAL },
};

/*
 * Of a Linux stream: turn the address of a name back into the Linux object.
 * Return: false if the name is not to be delivered.
 */
static bool linux_name_of(const struct kt_rkh_event *e, struct kt_named *n)
{
	uint32_t id = n->id & KT_LINUX_ID;

	if (e->id == KT_RKH_TUSR)
		return n->id < KT_LINUX_EVENT;
	if (e->id != KT_RKH_AO && e->id != KT_RKH_OBJ && e->id != KT_RKH_ACTOR)
		return true;
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (objects[i].base != (n->id & KT_LINUX_TYPE))
			continue;
		n->type = objects[i].type;
		n->param1 = n->type == KTAPE_OBJ_THREAD ? id : 0;
		if (objects[i].pair) {
			n->param1 = id >> KT_LINUX_PAIR_SHIFT;
			id &= KT_LINUX_PAIR_MAX;
		}
		if (objects[i].mark && n->param1 == KT_LINUX_PAIR_ANY)
			n->param1 = KTAPE_OWNER_ANY;
		n->param2 = objects[i].param2;
		n->id = id;
		/* ktape writes the name of a thread as FWK_OBJ and as FWK_AO: use FWK_AO. */
		return n->type != KTAPE_OBJ_THREAD || e->id == KT_RKH_AO;
	}
	return true;
}

static int emit_rkh_name(struct kt_import *s, const struct kt_rkh_event *e,
			 uint64_t ts, size_t i)
{
	struct kt_delivery f = { .ts = ts };
	struct kt_rkh_import *t = s->state;
	struct kt_named n = {
		.type = symbols[i].type,
		.id = (uint32_t)e->values[symbols[i].at],
		.name = e->text,
		.len = e->len,
	};

	if (t->config.flags & KT_RKH_LINUX) {
		if (!linux_name_of(e, &n))
			return 0;
		if (n.type < KTAPE_OBJ_USER)
			return kt_import_name(s, &f, &n);
	}
	if (e->len > KTAPE_NAME_SIZE && !t->cut_names_noted) {
		t->cut_names_noted = true;
		kt_import_note(s, "names longer than %u bytes are cut",
			       KTAPE_NAME_SIZE);
	}
	return kt_import_name(s, &f, &n);
}

static int emit_rkh_names(struct kt_import *s, const struct kt_rkh_event *e,
			  uint64_t ts)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(symbols); i++) {
		if (symbols[i].id == e->id)
			return emit_rkh_name(s, e, ts, i);
	}
	return 0;
}

/* ---- events of a Linux stream ----------------------------------------------- */

static const uint8_t fixed[LINUX_FIXED] = {
	KTAPE_FORMAT_U8,     /* opcode */
	KTAPE_FORMAT_U16,    /* CPU */
	KTAPE_FORMAT_OBJECT, /* thread */
	KTAPE_FORMAT_X32,    /* dat20 */
};

/* Read opcode, CPU, thread and dat20.  Return: the byte after them, or NULL. */
static const uint8_t *get_fixed(struct kt_delivery *f, const uint8_t *p,
				const uint8_t *end)
{
	uint64_t v[LINUX_FIXED];
	unsigned int format;

	for (unsigned int i = 0; i < LINUX_FIXED; i++) {
		p = kt_rkh_get_typed(p, end, &format, &v[i]);
		if (!p || format != fixed[i])
			return NULL;
	}
	f->opcode = (uint8_t)v[0];
	f->cpu = (uint32_t)v[1];
	f->tid = v[2] ? (int32_t)(v[2] & KT_LINUX_ID) : -1;
	f->dat20 = (uint32_t)v[3];
	return f->cpu < KT_CPUS_MAX && f->dat20 <= KTAPE_DAT20_MASK ? p : NULL;
}

/*
 * Read arguments, and the parts of the blob, which are joined at @room.
 * Return: false if they are malformed.
 */
static bool get_rest(struct kt_delivery *f, const uint8_t *p,
		     const uint8_t *end, uint8_t *room)
{
	unsigned int format;
	uint64_t v;

	while (p < end) {
		const uint8_t *next = kt_rkh_get_typed(p, end, &format, &v);

		if (!next)
			return false;
		if (format == KTAPE_FORMAT_X32 && !f->blob) {
			if (f->nargs == KTAPE_NARGS_MAX)
				return false;
			f->args[f->nargs++] = (uint32_t)v;
		} else if (format == KTAPE_FORMAT_MEMORY) {
			f->blob = room;
			memcpy(room + f->blob_size, p + 2, p[1]);
			f->blob_size += p[1];
		} else {
			return false;
		}
		p = next;
	}
	return true;
}

/*
 * Read the native event or loss that a user event of a Linux stream stands for; its blob
 * is put at @room.  An opcode that is not in the event table may come from a newer ktape, so
 * its arguments are not checked.
 * Return: false if ktape cannot have written it.
 */
static bool get_linux(struct kt_delivery *o, unsigned int user,
		      const uint8_t *typed, size_t size, uint8_t *room)
{
	const uint8_t *end = typed + size, *p = get_fixed(o, typed, end);
	struct ktape_event e = { .known = true };

	if (!p || !get_rest(o, p, end, room))
		return false;
	if (user == KT_LINUX_LOSS)
		return !o->opcode && o->nargs == 2 && !o->blob;
	e.opcode = o->opcode;
	e.nargs = (uint8_t)o->nargs;
	e.blob = o->blob;
	e.blob_size = o->blob_size;
	return o->opcode && o->opcode != KTAPE_EV_REGISTRY &&
	       o->opcode != KTAPE_TIME_EXTEND &&
	       (!ktape_event_desc(o->opcode) || kt_event_fits(&e));
}

/* Check whether an event is one of the traced program, with typed arguments. */
static bool is_user(unsigned int id)
{
	return *kt_rkh_kind(id)->types == 'U';
}

/**
 * kt_rkh_fits_linux() - return true if ktape can have written an event to a Linux stream
 * @t: the input; @t->typed holds the arguments of a user event
 * @e: the event
 * @size: bytes of the arguments
 * @room: room for a blob, KT_RKH_FRAME_MAX bytes
 *
 * The checksum is not enough: two frames that lost the flag between them also sum up to
 * zero, and so does a frame that lost a zero byte.
 */
bool kt_rkh_fits_linux(const struct kt_rkh_import *t,
		       const struct kt_rkh_event *e, size_t size, uint8_t *room)
{
	struct kt_delivery o = { .opcode = 0 };

	if (is_user(e->id))
		return e->id < KT_RKH_USER + KT_LINUX_EVENT ||
		       get_linux(&o, e->id - (unsigned int)KT_RKH_USER,
				 t->typed, size, room);
	for (size_t i = 0; i < KT_ARRAY_SIZE(symbols); i++) {
		if (symbols[i].id == e->id)
			return true;
	}
	return false;
}

/*
 * Deliver a native event or loss of a Linux stream, which kt_rkh_fits_linux() has accepted.
 * Return: 0, negative errno, or 1 if its opcode is not in the event table.
 */
static int emit_linux(struct kt_import *s, unsigned int user, size_t size,
		      struct kt_delivery *f)
{
	struct kt_rkh_import *t = s->state;
	struct kt_delivery o = { .ts = f->ts, .raw = f->raw, .raw_size = f->raw_size };

	/* The frame in @t->plain is not needed any more: put the blob there. */
	get_linux(&o, user, t->typed, size, t->plain);
	if (user == KT_LINUX_LOSS)
		return kt_import_lost(s, o.cpu,
				      (uint64_t)o.args[1] << 32 | o.args[0],
				      o.ts, o.ts);
	return ktape_event_desc(o.opcode) ? kt_import_emit(s, &o) : 1;
}

/**
 * kt_rkh_emit() - deliver an event, and the name that it gives an object
 * @s: the trace
 * @e: the event
 * @ts: its time in ticks of the trace
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_emit(struct kt_import *s, const struct kt_rkh_event *e, uint64_t ts)
{
	struct kt_rkh_import *t = s->state;
	bool user = is_user(e->id);
	size_t size = kt_rkh_to_typed(&t->config, e, t->typed);
	struct kt_delivery f = {
		.ts = ts,
		.tid = -1,
		.opcode = KTAPE_EV_USER_EVENT,
		.nargs = 1,
		.args = { user ? e->id - (uint32_t)KT_RKH_USER :
				 KTAPE_FORMAT_ID_RKH | e->id },
		.blob = t->typed,
		.blob_size = (uint32_t)size,
	};
	bool is_linux = t->config.flags & KT_RKH_LINUX;
	int err = emit_rkh_names(s, e, ts);

	if (err)
		return err;
	set_raw(t, &f, e, size);
	if (is_linux && user && f.args[0] >= KT_LINUX_EVENT) {
		err = emit_linux(s, f.args[0], size, &f);
		if (err <= 0)
			return err;
	}
	/* All other events of a Linux stream are names, which emit_rkh_names() delivered. */
	return is_linux && !user ? 0 : kt_import_emit(s, &f);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing RKH trace, the format that rkh.c draws: the event that each native event becomes.  A
 * native trace becomes a Linux stream (internal.h).  A trace that was read from an RKH target, a
 * device that runs that framework, becomes the target's stream again.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "stream/event.h"

#include "internal.h"

/* ---- names ---------------------------------------------------------------- */

/**
 * kt_rkh_name() - write a record that names an object
 * @s: the sink
 * @ts: time on the trace clock
 * @id: id of the record, KT_RKH_*
 * @value: address or number of the object
 * @name: its name, without a NUL
 * @len: bytes of @name
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_name(struct kt_sink *s, uint64_t ts, unsigned int id, uint64_t value,
		const char *name, size_t len)
{
	struct kt_rkh_event e = {
		.id = (uint8_t)id,
		.values = { value },
		.text = (const uint8_t *)name,
		.len = len,
	};

	if (id == KT_RKH_STATE) { /* the active object is unknown: 0 */
		e.values[0] = 0;
		e.values[1] = value;
	}
	return kt_rkh_put(s, &e, ts);
}

/* Records for names in the registry. */
static const struct {
	uint8_t type;
	uint8_t id;
	uint8_t also;  /* a second record, 0 = none */
	uint32_t base; /* upper byte of the address */
	uint32_t max;  /* greatest id, 0 = any */
} names[] = {
	{ KTAPE_OBJ_THREAD, KT_RKH_AO, KT_RKH_OBJ, KT_LINUX_THREAD, KT_LINUX_ID },
	{ KTAPE_OBJ_IRQ, KT_RKH_ACTOR, 0, KT_LINUX_IRQ, KT_LINUX_ID },
	{ KTAPE_OBJ_SOFTIRQ, KT_RKH_ACTOR, 0, KT_LINUX_SOFTIRQ, KT_LINUX_ID },
	{ KTAPE_OBJ_ISR, KT_RKH_ACTOR, 0, KT_LINUX_ISR, KT_LINUX_PAIR_MAX },
	{ KTAPE_OBJ_MARKER, KT_RKH_OBJ, 0, KT_LINUX_MARKER, KT_LINUX_PAIR_MAX },
	{ KTAPE_OBJ_VALUE, KT_RKH_OBJ, 0, KT_LINUX_VALUE, KT_LINUX_PAIR_MAX },
	{ KTAPE_OBJ_USER_EVENT, KT_RKH_TUSR, 0, 0, KT_LINUX_EVENT - 1 },
	{ KTAPE_OBJ_FUNCTION, KT_RKH_FUN, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_THREAD, KT_RKH_AO, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_TIMER, KT_RKH_TIMER, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_QUEUE, KT_RKH_QUEUE, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_BLOCK_POOL, KT_RKH_EPOOL, 0, 0, UINT8_MAX },
	{ KTAPE_OBJ_USER + KTAPE_USER_RKH_OBJECT, KT_RKH_OBJ, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_RKH_SIGNAL, KT_RKH_SIG, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_RKH_STATE, KT_RKH_STATE, 0, 0, 0 },
	{ KTAPE_OBJ_USER + KTAPE_USER_RKH_ACTOR, KT_RKH_ACTOR, 0, 0, 0 },
};

/*
 * Add param1 of the object to @address, which has its type and its id: for an ISR its CPU + 1, 0 =
 * of all CPUs; for a marker or value its thread, KTAPE_OWNER_ANY = of any thread, 0 = a global one.
 * A name of global ones only (KTAPE_NAME_GLOBAL) gets another type of address.
 * Return: false if param1 is too large for an address.
 */
static bool pair_address(const struct ktape_event *e, uint32_t *address)
{
	const uint32_t type = e->dat20 & 0xff;
	bool mark = type == KTAPE_OBJ_MARKER || type == KTAPE_OBJ_VALUE;
	uint32_t param1 = ktape_event_arg(e, 1);

	if (mark && param1 == KTAPE_OWNER_ANY)
		param1 = KT_LINUX_PAIR_ANY;
	else if (param1 > KT_LINUX_PAIR_MAX || (mark && param1 == KT_LINUX_PAIR_ANY))
		return false;
	*address |= param1 << KT_LINUX_PAIR_SHIFT;
	if (mark && ktape_event_arg(e, 2) & KTAPE_NAME_GLOBAL)
		*address += KT_LINUX_MARKER_GLOBAL - KT_LINUX_MARKER;
	return true;
}

/* Write the name of an object.  One without a record in RKH, or beyond its ids, is counted. */
static int map_rkh_registry(struct kt_sink *s, const struct ktape_event *e)
{
	uint32_t type = e->dat20 & 0xff, id = ktape_event_arg(e, 0), address;
	size_t len = strnlen(e->blob, e->blob_size);

	if (e->dat20 >> 8 & 1) /* the format cannot end a name */
		return 0;
	for (size_t i = 0; i < KT_ARRAY_SIZE(names); i++) {
		int err;

		if (names[i].type != type)
			continue;
		if (names[i].max && id > names[i].max)
			break;
		address = names[i].base | id;
		if (names[i].max == KT_LINUX_PAIR_MAX && !pair_address(e, &address))
			break;
		err = kt_rkh_name(s, e->ts, names[i].id, address, e->blob, len);
		if (err || !names[i].also)
			return err;
		return kt_rkh_name(s, e->ts, names[i].also, address, e->blob, len);
	}
	kt_sink_miss(s, "names of objects that RKH does not have", 1);
	return 0;
}

/* ---- events of a Linux stream ----------------------------------------------- */

static uint8_t *put_rkh_word(uint8_t *p, unsigned int format, unsigned int size,
			     uint64_t v)
{
	*p++ = (uint8_t)format;
	for (unsigned int i = 0; i < size; i++, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put_rkh_head(uint8_t *p, unsigned int opcode, uint32_t cpu,
			     int32_t tid, uint32_t dat20)
{
	p = put_rkh_word(p, KTAPE_FORMAT_U8, 1, opcode);
	p = put_rkh_word(p, KTAPE_FORMAT_U16, 2, cpu);
	p = put_rkh_word(p, KTAPE_FORMAT_OBJECT, 8,
			 tid < 0 ? 0 : KT_LINUX_THREAD | (uint32_t)tid);
	return put_rkh_word(p, KTAPE_FORMAT_X32, 4, dat20);
}

static uint8_t *put_rkh_memory(struct kt_sink *s, uint8_t *p,
			       const struct ktape_event *e)
{
	size_t left = (size_t)kt_min(e->blob_size, KT_LINUX_BLOB);
	const uint8_t *data = e->blob;

	if (left < e->blob_size)
		kt_sink_miss(s, "ends of buffers beyond 2048 bytes", 1);
	if (!data)
		return p;
	/* An empty buffer is one empty piece, so that the reader knows that there is one. */
	do {
		size_t part = (size_t)kt_min(left, UINT8_MAX);

		*p++ = KTAPE_FORMAT_MEMORY;
		*p++ = (uint8_t)part;
		if (part)
			memcpy(p, data, part);
		p += part;
		data += part;
		left -= part;
	} while (left);
	return p;
}

static int put_rkh_user(struct kt_sink *s, unsigned int user,
			const uint8_t *end, uint64_t ts)
{
	struct kt_rkh_sink *t = s->state;
	struct kt_rkh_event e = { .id = (uint8_t)(KT_RKH_USER + user) };
	int err = kt_rkh_from_typed(&t->config, &e, t->typed,
				    (size_t)(end - t->typed), t->room);

	if (err < 0)
		return err;
	if (err)
		kt_sink_miss(s, "numbers wider than their fields", 1);
	return kt_rkh_put(s, &e, ts);
}

/*
 * Find the user event for an event's opcode.  A new opcode gets a free user event, whose name
 * is written; if none is free, use KT_LINUX_EVENT.  Return: 0 or negative errno.
 */
static int find_rkh_user(struct kt_sink *s, const struct ktape_event *e,
			 unsigned int *user)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	struct kt_rkh_sink *t = s->state;
	char name[KTAPE_NAME_SIZE + sizeof(KT_LINUX_PREFIX)];
	size_t len;

	*user = t->users[e->opcode] ? t->users[e->opcode] : KT_LINUX_EVENT;
	if (t->users[e->opcode] || KT_LINUX_FIRST + t->nr_users >= KT_RKH_USERS)
		return 0;
	*user = KT_LINUX_FIRST + t->nr_users++;
	t->users[e->opcode] = (uint8_t)*user;
	len = sizeof(KT_LINUX_PREFIX) - 1;
	memcpy(name, KT_LINUX_PREFIX, len);
	memcpy(name + len, d->name, strnlen(d->name, KTAPE_NAME_SIZE));
	len += strnlen(d->name, KTAPE_NAME_SIZE);
	return kt_rkh_name(s, e->ts, KT_RKH_TUSR, *user, name, len);
}

/* Write a native event as a user event of a Linux stream. */
static int map_any(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_rkh_sink *t = s->state;
	unsigned int user;
	int err = find_rkh_user(s, e, &user);
	uint8_t *p;

	if (err)
		return err;
	if (e->tid > (int32_t)KT_LINUX_ID)
		kt_sink_miss(s, "upper bits of thread ids beyond 24 bits", 1);
	p = put_rkh_head(t->typed, e->opcode, e->cpu, e->tid, e->dat20);
	for (unsigned int i = 0; i < e->nargs; i++)
		p = put_rkh_word(p, KTAPE_FORMAT_X32, 4, ktape_event_arg(e, i));
	return put_rkh_user(s, user, put_rkh_memory(s, p, e), e->ts);
}

/**
 * kt_rkh_map_lost() - write a loss to a Linux stream
 * @s: the sink
 * @n: the loss
 *
 * It has one time stamp, its end; if an event behind that is written already, the time of this one,
 * because times must not go back.
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_map_lost(struct kt_sink *s, const struct ktape_notice *n)
{
	struct kt_rkh_sink *t = s->state;
	uint8_t *p = put_rkh_head(t->typed, 0, n->cpu, -1, 0);

	p = put_rkh_word(p, KTAPE_FORMAT_X32, 4, (uint32_t)n->count);
	p = put_rkh_word(p, KTAPE_FORMAT_X32, 4, (uint32_t)(n->count >> 32));
	return put_rkh_user(s, KT_LINUX_LOSS, p,
			    n->to > t->last_ts ? n->to : t->last_ts);
}

/* ---- user events -------------------------------------------------------------- */

/*
 * Write a user event under its own number: its words, then its typed arguments.
 * Return: 0, -EBADMSG if they do not fit, or another negative errno.
 */
static int map_numbered(struct kt_sink *s, const struct ktape_event *e, uint32_t id)
{
	struct kt_rkh_sink *t = s->state;
	uint8_t *p = t->typed;

	/* A longer one goes into a Linux stream by map_any(), which cuts and counts it. */
	if (e->blob_size > KT_LINUX_BLOB && !t->rewrite)
		return -EBADMSG;
	/* So the words before it and the head of the frame have room as well. */
	if (e->blob_size > KT_RKH_FRAME_MAX / 2)
		return -EBADMSG;
	for (unsigned int i = 1; i < e->nargs; i++)
		p = put_rkh_word(p, KTAPE_FORMAT_X32, 4, ktape_event_arg(e, i));
	if (e->blob_size)
		memcpy(p, e->blob, e->blob_size);
	return put_rkh_user(s, id, p + e->blob_size, e->ts);
}

/* Write an event that came from an RKH target. */
static int map_rkh(struct kt_sink *s, const struct ktape_event *e, unsigned int id)
{
	struct kt_rkh_sink *t = s->state;
	struct kt_rkh_event out = { .id = (uint8_t)id };
	int err = -EBADMSG;

	/* follow_config() has taken the configurations: one that comes here is malformed. */
	if (kt_rkh_kind(id) && id != KT_RKH_TCFG &&
	    e->blob_size < KT_RKH_FRAME_MAX / 2)
		err = kt_rkh_from_typed(&t->config, &out, e->blob, e->blob_size,
					t->room);
	if (err < 0) {
		kt_sink_miss(s, "events of RKH that do not fit the configuration",
			     1);
		return 0;
	}
	if (err)
		kt_sink_miss(s, "numbers wider than their fields", 1);
	return kt_rkh_put(s, &out, e->ts);
}

/* Write a user event: as an event of RKH, under its own number, or as any native event. */
static int map_rkh_user(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_rkh_sink *t = s->state;
	uint32_t id = ktape_event_arg(e, 0);
	int err = -EBADMSG;

	if (e->nargs && (id & KTAPE_FORMAT_ID_MASK) == KTAPE_FORMAT_ID_RKH)
		return map_rkh(s, e, id & ~KTAPE_FORMAT_ID_MASK);
	if (e->nargs && id < (t->rewrite ? KT_RKH_USERS : KT_LINUX_EVENT))
		err = map_numbered(s, e, id);
	if (err != -EBADMSG)
		return err;
	if (!t->rewrite)
		return map_any(s, e);
	kt_sink_miss(s, "user events", 1);
	return 0;
}

/**
 * kt_rkh_map() - write a native event
 * @s: the sink
 * @e: the event
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_map(struct kt_sink *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	struct kt_rkh_sink *t = s->state;

	if (e->opcode == KTAPE_TIME_EXTEND)
		return 0;
	if (!kt_event_fits(e)) {
		kt_sink_miss(s, d ? d->name : "events that do not fit the event table",
			     1);
		return 0;
	}
	/* A stream that is written again has its own records for these names. */
	if (e->opcode == KTAPE_EV_REGISTRY)
		return t->rewrite ? 0 : map_rkh_registry(s, e);
	if (e->opcode == KTAPE_EV_USER_EVENT)
		return map_rkh_user(s, e);
	if (!t->rewrite)
		return map_any(s, e);
	kt_sink_miss(s, d->name, 1);
	return 0;
}

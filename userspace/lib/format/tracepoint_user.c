// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tracepoints that the event table does not have, for tracepoint.c: they become user events,
 * whose typed arguments are pairs: the name of a field as a string, then its value.
 */
#include <ktape/formats.h>

#include "show/user_event.h"

#include "tracepoint.h"

/* Deliver an event that the event table does not have, as kt_tp_emit(). */
int kt_tp_emit_user(struct kt_tp *tp, struct kt_tp_class *c,
		    struct kt_delivery *f, const struct kt_tp_value *values)
{
	const struct kt_named n = {
		.type = KTAPE_OBJ_USER_EVENT,
		.id = c->user,
		.name = c->name,
		.len = strlen(c->name),
	};
	struct kt_delivery record = { .ts = f->ts, .cpu = f->cpu };
	int64_t size;
	int err = 0;

	if (!c->named)
		err = kt_import_name(tp->s, &record, &n);
	c->named = true;
	if (err)
		return err;
	size = kt_tp_put_fields(tp, c, values, true);
	if (size < 0)
		return (int)size;
	f->kind = KTAPE_RING_EVENT;
	f->opcode = KTAPE_EV_USER_EVENT;
	f->nargs = 1;
	f->dat20 = 0;
	f->args[0] = c->user;
	f->blob = tp->blob;
	f->blob_size = (uint32_t)size;
	f->extra = NULL;
	return kt_import_emit(tp->s, f);
}

/* ---- user events by name --------------------------------------------------------------- */

/* As kt_user_format.event_name(). */
static const char *event_name(uint32_t id)
{
	/* A native record of extra fields that does not precede an event's record. */
	if (id == (KTAPE_FORMAT_ID_FIELDS & ~KTAPE_FORMAT_ID_MASK))
		return "fields_without_event";
	return "tracepoint"; /* the registry has the name */
}

/* As kt_user_format.describe(): the arguments are pairs of a name and a value. */
static bool describe_tracepoint(struct kt_user_event *u, const struct ktape_event *e)
{
	return kt_user_add_pairs(u, e->blob, e->blob_size);
}

const struct kt_user_format kt_tp_user = {
	.name = "linux",
	.ids = KTAPE_FORMAT_ID_LINUX,
	.event_name = event_name,
	.describe = describe_tracepoint,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of the lttng format: which event class an event gets, and its bytes.  map.c has the
 * fields of a tracepoint, call.c those of system calls, user.c those of user events and the
 * extra fields of all others.
 */
#include "internal.h"

/* Write an event that does not fit the event table, as ktape_other (lt_describe() declares it). */
static char *put_raw_words(char *p, const struct ktape_event *e)
{
	p = lt_put32(p, e->opcode);
	p = lt_put32(p, e->dat20);
	p = lt_put32(p, e->nargs);
	for (unsigned int i = 0; i < e->nargs; i++)
		p = lt_put32(p, ktape_event_arg(e, i));
	p = lt_put32(p, e->blob ? e->blob_size : 0);
	return e->blob ? kt_put_mem(p, e->blob, e->blob_size) : p;
}

/*
 * Count the fields that LTTng's event does not have.  A call has all but one, which says that it is
 * x32 (@left_out is empty for calls).
 */
static void count_lttng_left_out(struct lttng *t, const struct ktape_event *e)
{
	if (lt_is_call(e->opcode) && e->dat20 & KT_CALL_X32)
		kt_sink_miss(t->s, KT_LEFT_OUT, 1);
	else
		kt_left_out_count(&t->left_out[e->opcode], t->s, e);
}

/**
 * lt_put() - write the field values of an event
 * @p: where to write
 * @t: trace being written
 * @l: the event
 * @id: event id from lt_id()
 *
 * Return: the end of what was written.
 */
char *lt_put(char *p, const struct lttng *t, const struct kt_line *l, uint32_t id)
{
	const struct ktape_event *e = l->event;
	const struct lt_user *user;

	if (e->opcode == KTAPE_TIME_EXTEND || !kt_event_fits(e))
		return put_raw_words(p, e);
	if (id < LT_USERS)
		return lt_put_own(p, t, l, id, 0);
	user = &t->user_list[id - LT_USERS];
	if (user->base)
		p = lt_put_own(p, t, l, user->base, user->without);
	return lt_put_user(p, t, l);
}

/* Look up the event id of an event without its extra fields. */
static int own_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	const struct ktape_event *e = l->event;
	bool fits = e->opcode != KTAPE_TIME_EXTEND && kt_event_fits(e);

	if (fits && lt_is_call(e->opcode))
		return lt_call_id(t, l, id);
	if (fits && e->opcode == KTAPE_EV_USER_EVENT) {
		int err = lt_user_id(t, l, id);

		if (err <= 0)
			return err;
	}
	/* No event has opcode 0: use it for events that do not fit the event table. */
	*id = fits ? e->opcode : 0;
	return 0;
}

/**
 * lt_id() - look up the event id, and note that the metadata has to declare it.  Fields that
 *	the class does not have are counted as left out
 * @t: trace being written
 * @l: the event
 * @id: set to the event id
 *
 * Return: 0 or -ENOMEM.
 */
int lt_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	int err = own_id(t, l, id);

	if (!err && l->event->extra)
		err = lt_extended_id(t, l, id);
	if (err)
		return err;
	if (kt_event_fits(l->event))
		count_lttng_left_out(t, l->event);
	if (*id < LT_STATEDUMP)
		t->used[*id] = true;
	else if (*id < LT_USERS)
		t->call_list[*id - LT_CALLS].used = true;
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tonbandgeraet: names and fields of its events that are kept as user events, and what they
 * report of queues, mutexes and priorities (show/user_event.h).
 */
#include <ktape/formats.h>

#include "show/user_event.h"

#include "internal.h"
#include "tband.h"

/* Report the number of elements after the event, and the task that made the call. */
static void report_queue(struct kt_user_event *t, const struct ktape_event *e,
			 unsigned int id, uint64_t number)
{
	kt_user_set_report(t, KT_REPORT_NUMBER, KTAPE_OBJ_USER + KTAPE_USER_QUEUE,
			   ktape_event_arg(e, 1));
	t->number = id == KT_TBAND_QUEUE_RESET ? 0 : number;
	t->by = id == KT_TBAND_QUEUE_SEND_FROM_ISR ||
				id == KT_TBAND_QUEUE_OVERWRITE_FROM_ISR ||
				id == KT_TBAND_QUEUE_RECEIVE_FROM_ISR ?
			-1 :
			e->tid;
}

static void report_tband_state(struct kt_user_event *t, const struct ktape_event *e,
			       unsigned int id, uint64_t number)
{
	if ((id >= KT_TBAND_QUEUE_SEND && id <= KT_TBAND_QUEUE_RESET) ||
	    id == KT_TBAND_QUEUE_CUR_LENGTH) {
		report_queue(t, e, id, number);
	} else if (id >= KT_TBAND_PRIO_SET && id <= KT_TBAND_PRIO_DISINHERIT) {
		kt_user_set_report(t, KT_REPORT_NUMBER, KTAPE_OBJ_THREAD,
				   ktape_event_arg(e, 1));
		t->kind = "Task";
		t->what = "Priority";
		t->number = number;
	} else if (id == KT_TBAND_QUEUE_KIND) {
		kt_user_set_report(t, KT_REPORT_KIND,
				   KTAPE_OBJ_USER + KTAPE_USER_QUEUE,
				   ktape_event_arg(e, 1));
		t->number = number;
		t->mutex = number == KT_TBAND_KIND_MUTEX ||
			   number == KT_TBAND_KIND_RECURSIVE;
	}
}

/* Return the type of the object whose id a field is, KTAPE_OBJ_FREE if it is none. */
static unsigned int tband_field_object(const char *field)
{
	if (!strcmp(field, "task_id"))
		return KTAPE_OBJ_THREAD;
	if (!strcmp(field, "queue_id"))
		return KTAPE_OBJ_USER + KTAPE_USER_QUEUE;
	return KTAPE_OBJ_FREE;
}

/* As kt_user_format.describe(). */
static bool describe_tband(struct kt_user_event *t, const struct ktape_event *e)
{
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_tband_kind *k = kt_tband_kind(id);
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	const char *text = k ? k->text : "bytes";
	struct kt_typed a;
	unsigned int arg = 1;
	uint64_t v = 0;

	for (unsigned int i = 0; k && i < KT_TBAND_FIELDS && k->types[i]; i++) {
		bool wide = k->types[i] >= KT_TBAND_U64;
		struct kt_user_field *f;

		if (arg + wide >= e->nargs)
			return false;
		v = ktape_event_arg(e, arg++);
		if (wide)
			v |= (uint64_t)ktape_event_arg(e, arg++) << 32;
		f = kt_user_add(t, k->fields[i],
				k->types[i] == KT_TBAND_S64 ? KT_FIELD_SIGNED :
							      KT_FIELD_UNSIGNED,
				v);
		f->wide = wide;
		f->object = (uint8_t)tband_field_object(k->fields[i]);
		if (id == KT_TBAND_QUEUE_KIND && i)
			kt_user_set_word(f, kt_tband_queue_kind(v));
	}
	if (text && at < end) {
		kt_typed_next(&at, end, &a);
		kt_user_add_typed(t, text, &a);
	}
	if (arg != e->nargs || at != end)
		return false;
	report_tband_state(t, e, id, v);
	return true;
}

static const char *tband_event_name(uint32_t id)
{
	const struct kt_tband_kind *k = kt_tband_kind(id);

	if (id == KT_TBAND_INVALID)
		return "invalid_frame";
	return k ? k->name : NULL;
}

const struct kt_user_format kt_tband_user = {
	.name = "tband",
	.ids = KTAPE_FORMAT_ID_TBAND,
	.event_name = tband_event_name,
	.describe = describe_tband,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * User events for Perfetto: an instant on a track of its thread or CPU, with name
 * and fields.  Events of an RTOS that change the state of an object also update
 * that object's own track.  Extra fields of other events are such an instant as well.
 */
#include "internal.h"

#define ESCAPED	     4U	  /* bytes for a byte of a text or a name */
#define HEADS_ROOM   32U  /* tags, lengths and a number of a field */
#define ELEMENT_ROOM 14U  /* tag and length, tag and number */
#define EVENT_ROOM   512U /* of an event without its name and fields */

/* Write the name of a field, with @end appended.  A trace may hold any bytes as one. */
static char *put_perfetto_label(char *p, const char *name, const char *end)
{
	char *m = pf_open_long(p, PF_ANNOTATION_NAME);

	p = kt_put_escaped(m, name, strlen(name));
	return pf_close_long(m, kt_put_str(p, end));
}

/* Write the name of the object that a field's number means, as a field of its own. */
static char *put_perfetto_named(char *p, const char *name, const char *end,
				struct kt_name value)
{
	char *m = pf_open_long(p, PF_EVENT_ANNOTATION);

	p = put_perfetto_label(m, name, end);
	p = pf_string(p, PF_ANNOTATION_STRING, value.text, value.len);
	return pf_close_long(m, p);
}

static char *put_perfetto_data(char *p, const struct kt_user_field *f)
{
	char *m = pf_open_long(p, PF_EVENT_ANNOTATION), *text;

	p = put_perfetto_label(m, f->name, "");
	text = pf_open_long(p, PF_ANNOTATION_STRING);
	p = f->kind == KT_FIELD_BYTES ? kt_put_bytes(text, f->data, f->len) :
					kt_put_escaped(text, f->data, f->len);
	return pf_close_long(m, pf_close_long(text, p));
}

static char *put_perfetto_number(char *p, unsigned int kind, uint64_t value)
{
	static const uint8_t kinds[] = {
		[KT_FIELD_UNSIGNED] = PF_ANNOTATION_UNSIGNED,
		[KT_FIELD_SIGNED] = PF_ANNOTATION_SIGNED,
		[KT_FIELD_HEX] = PF_ANNOTATION_POINTER,
	};

	return kind == KT_FIELD_DOUBLE ?
		       pf_double(p, PF_ANNOTATION_DOUBLE, value) :
		       pf_number(p, kinds[kind], value);
}

static char *put_perfetto_array(char *p, const struct kt_user_field *f)
{
	char *m = pf_open_long(p, PF_EVENT_ANNOTATION), *inner;

	p = put_perfetto_label(m, f->name, "");
	for (uint64_t i = 0; i < f->value; i++) {
		inner = pf_open(p, PF_ANNOTATION_ELEMENT);
		p = pf_close(inner, put_perfetto_number(inner, f->elem,
							kt_user_element(f, i)));
	}
	return pf_close_long(m, p);
}

static char *put_perfetto_field(char *p, const struct kt_line *l,
				const struct kt_user_field *f)
{
	struct kt_name name;
	char *m;

	if (f->kind == KT_FIELD_TEXT || f->kind == KT_FIELD_WORD ||
	    f->kind == KT_FIELD_BYTES)
		return put_perfetto_data(p, f);
	if (f->kind == KT_FIELD_ARRAY)
		return put_perfetto_array(p, f);
	m = pf_open_long(p, PF_EVENT_ANNOTATION);
	p = put_perfetto_label(m, f->name, "");
	p = pf_close_long(m, put_perfetto_number(p, f->kind, f->value));
	name = kt_user_field_name(l, f);
	return name.text ? put_perfetto_named(p, f->name, "_name", name) : p;
}

/* Bound the bytes of an event with its fields. */
static size_t event_room(const struct kt_line *l, const struct kt_user_event *t)
{
	size_t room = EVENT_ROOM + t->name.len;

	for (unsigned int i = 0; i < t->nr; i++) {
		const struct kt_user_field *f = &t->fields[i];

		/* A name of an object comes as a field of its own. */
		room += 2 * (HEADS_ROOM + ESCAPED * strlen(f->name)) +
			ESCAPED * f->len;
		if (f->kind == KT_FIELD_ARRAY)
			room += (size_t)f->value * ELEMENT_ROOM;
		room += kt_user_field_name(l, f).len;
	}
	return room;
}

/* Return the track of the event's thread, else of its CPU. */
static uint64_t track_of(struct perfetto *pf, const struct ktape_event *e)
{
	const struct pf_place at = {
		.kind = PF_ON_EVENT,
		.tid = e->tid,
		.whose = e->tid > 0, /* is @id a thread? */
		.id = e->tid > 0 ? (uint32_t)e->tid : e->cpu,
	};
	const struct pf_thread *t = e->tid > 0 ? pf_thread(pf, e->tid, e->ts) : NULL;
	char title[64];
	int n;

	if (t && t->known)
		n = snprintf(title, sizeof(title), "Events");
	else if (e->tid > 0)
		n = snprintf(title, sizeof(title), "Events thread %d", e->tid);
	else
		n = snprintf(title, sizeof(title), "Events CPU %u", e->cpu);
	return pf_describe(pf, &at, title, (size_t)n, e->ts);
}

static void put_perfetto_instant(struct perfetto *pf, const struct kt_line *l,
				 const struct kt_user_event *t)
{
	const struct ktape_event *e = l->event;
	uint64_t uuid = track_of(pf, e);
	char *p = pf_packet_long(pf, PF_SEQUENCE_TRACKS, event_room(l, t)), *m;
	char number[32];

	if (!p)
		return;
	p = pf_number(p, PF_PACKET_TIMESTAMP, pf_time(pf, e->ts));
	m = pf_open_long(p, PF_PACKET_TRACK_EVENT);
	p = pf_number(m, PF_EVENT_TYPE, PF_EVENT_INSTANT);
	p = pf_number(p, PF_EVENT_TRACK, uuid);
	p = pf_text(p, PF_EVENT_CATEGORY, t->format);
	if (t->name.text) {
		p = pf_string(p, PF_EVENT_NAME, t->name.text, t->name.len);
	} else {
		snprintf(number, sizeof(number), "user_event %u",
			 ktape_event_arg(e, 0));
		p = pf_text(p, PF_EVENT_NAME, number);
	}
	for (unsigned int i = 0; i < t->nr; i++)
		p = put_perfetto_field(p, l, &t->fields[i]);
	pf_packet_long_done(pf, pf_close_long(m, p));
}

/*
 * Bound the number of state tracks for the viewer's sake.  @key: object, not 0.
 * Return: false if it may not have one, which is counted.
 */
static bool may_have_track(struct perfetto *pf, uint64_t key)
{
	if (pf_set_has(&pf->state_tracks, key))
		return true;
	if (pf->state_tracks.nr < KT_STATES_MAX)
		return pf_set_add(pf, &pf->state_tracks, key);
	kt_sink_miss(pf->s, KT_STATES_MISSED, 1);
	return false;
}

static void put_perfetto_state(struct perfetto *pf, const struct kt_line *l,
			       const struct kt_user_event *t)
{
	struct kt_state_change c;
	struct pf_place at = { .kind = PF_ON_STATE, .tid = -1 };
	uint64_t ts = l->event->ts, uuid;

	if (!kt_state_follow(&pf->states, pf->s, l, t, &c))
		return;
	/* A key is type 32 | id 32 of the object, which may have a counter as well as states. */
	at.whose = (uint32_t)(c.key >> 32) << 1 | c.counter;
	at.id = (uint32_t)c.key;
	at.counter = c.counter;
	if (!may_have_track(pf, (uint64_t)at.whose << 32 | at.id))
		return;
	uuid = pf_describe(pf, &at, c.track, c.len, ts);
	if (c.counter) {
		pf_put_event(pf, uuid, ts, PF_EVENT_VALUE, NULL, 0,
			     (int64_t)c.number);
		return;
	}
	if (c.opened)
		pf_put_event(pf, uuid, ts, PF_EVENT_END, NULL, 0, 0);
	if (c.begins)
		pf_put_event(pf, uuid, ts, PF_EVENT_BEGIN, c.text,
			     strlen(c.text), 0);
}

/**
 * pf_user_event() - write a user event on its track
 * @pf: trace being written
 * @e: event that fits the event table
 *
 * Return: false if it could not be decoded; nothing was written then.
 */
bool pf_user_event(struct perfetto *pf, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(pf->s->info, pf->s->registry, e, false);
	struct kt_user_event t;
	bool decoded;

	kt_user_event_init(&t);
	decoded = kt_user_event_of(&t, &l);
	if (t.no_memory) {
		pf->s->error = -ENOMEM;
	} else if (decoded) {
		put_perfetto_instant(pf, &l, &t);
		put_perfetto_state(pf, &l, &t);
	}
	kt_user_event_free(&t);
	return decoded;
}

/**
 * pf_extra() - write the extra fields of an event, which ftrace's events have no place for
 * @pf: trace being written
 * @e: event that was written, with extra fields
 *
 * They are the arguments of an instant with the name of the event, on the track of user
 * events.
 */
void pf_extra(struct perfetto *pf, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(pf->s->info, pf->s->registry, e, false);
	const char *name = kt_line_event(&l);
	struct kt_user_event t;

	kt_user_event_init(&t);
	if (kt_user_extra_of(&t, e)) {
		/* The name of an event needs no escapes, and has no offset. */
		t.name = (struct kt_name){ name, strlen(name), true, 0 };
		put_perfetto_instant(pf, &l, &t);
	} else if (t.no_memory) {
		pf->s->error = -ENOMEM;
	}
	kt_user_event_free(&t);
}

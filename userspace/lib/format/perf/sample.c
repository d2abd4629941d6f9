// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the records of perf say of themselves: samples, and the tails of all others. */
#include "internal.h"

/*
 * Find the attribute of a record by the id that it has, which is at the same place in the
 * records of all attributes.  Records that perf made have the id 0 and the form of the main
 * event: the first tracepoint, or the first event if none is one.  @attr is set to that of the main
 * event where none is found.
 *
 * Return: 0, -EBADMSG if the record is too short, or -ENOENT if its id is not known.
 */
static int attr_of(const struct perf *f, const uint8_t *p, size_t len,
		   bool is_sample, struct pd_attr **attr)
{
	struct pd_attr *base = &f->attrs[f->main];
	const struct kt_map_entry *e;
	uint64_t type = base->sample_type, id;
	size_t at = 0;

	*attr = base;
	if (f->nr_attrs == 1)
		return 0;
	if (!(type & PD_IDENTIFIER)) {
		if (!(type & PD_ID))
			return 0;
		if (is_sample) {
			at += type & PD_IP ? 8 : 0;
			at += type & PD_TID ? 8 : 0;
			at += type & PD_TIME ? 8 : 0;
			at += type & PD_ADDR ? 8 : 0;
		} else {
			at += type & PD_CPU ? 8 : 0;
			at += type & PD_STREAM_ID ? 8 : 0;
		}
	}
	if (len < at + 8)
		return -EBADMSG;
	id = kt_load64(is_sample ? p + at : p + len - at - 8, f->big);
	e = kt_map_find(&f->ids, 0, id);
	if (e)
		*attr = &f->attrs[e->value];
	return e || !id ? 0 : -ENOENT;
}

/**
 * pd_read_sample() - read a sample
 * @f: the trace
 * @p: the sample, behind its head
 * @len: bytes of @p
 * @s: filled
 * @out: the fields that it has beside time, CPU, thread and the kernel's record; or NULL
 *
 * Return: 0, -EBADMSG if it is shorter than its type says, or -ENOENT if the file does not have
 * the event of its id: then its form is not known either.
 */
int pd_read_sample(const struct perf *f, const uint8_t *p, size_t len,
		   struct pd_sample *s, struct pd_fields *out)
{
	/* what: i id, t process and thread, n time, c CPU, p period, f another field */
	static const struct {
		uint32_t bit;
		uint8_t what;
		uint8_t field;
	} fields[] = {
		{ PD_IDENTIFIER, 'i', 0 },
		{ PD_IP, 'f', PD_FIELD_IP },
		{ PD_TID, 't', 0 },
		{ PD_TIME, 'n', 0 },
		{ PD_ADDR, 'f', PD_FIELD_ADDR },
		{ PD_ID, 'i', 0 },
		{ PD_STREAM_ID, 'f', PD_FIELD_STREAM_ID },
		{ PD_CPU, 'c', 0 },
		{ PD_PERIOD, 'p', PD_FIELD_PERIOD },
	};
	const uint8_t *end = p + len;
	int err = attr_of(f, p, len, true, &s->attr);

	if (err)
		return err;
	if (out)
		out->nr = out->nr_words = 0;
	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(s->attr->sample_type & fields[i].bit))
			continue;
		if (end - p < 8)
			return -EBADMSG;
		if (fields[i].what == 'i') {
			s->id = kt_load64(p, f->big);
		} else if (fields[i].what == 't') {
			s->pid = (int32_t)kt_load32(p, f->big);
			s->tid = (int32_t)kt_load32(p + 4, f->big);
		} else if (fields[i].what == 'n') {
			s->ts = kt_load64(p, f->big);
		} else if (fields[i].what == 'c') {
			s->cpu = kt_load32(p, f->big);
		} else if (fields[i].what == 'f' || kt_load64(p, f->big) != 1) {
			/* A period of 1 says that each event is here: most have it. */
			pd_add_number(out, fields[i].field, kt_load64(p, f->big));
		}
		p += 8;
	}
	return pd_read_rest(f, p, end, s, out) ? 0 : -EBADMSG;
}

/**
 * pd_read_tail() - read what records end with that are no samples
 * @f: the trace
 * @p: the record
 * @len: bytes of @p
 * @out: its time, CPU, thread and id are set, as far as they are there
 *
 * Return: false if records have no such end, or this one is too short for it: then a part of @out
 * may be set.
 */
bool pd_read_tail(const struct perf *f, const uint8_t *p, size_t len,
		  struct pd_sample *out)
{
	static const struct {
		uint32_t bit;
		uint8_t what;
	} fields[] = {
		/* from the last to the first; the letters are those of pd_read_sample() */
		{ PD_IDENTIFIER, 'i' }, { PD_CPU, 'c' },  { PD_STREAM_ID, 0 },
		{ PD_ID, 'i' },		{ PD_TIME, 'n' }, { PD_TID, 't' },
	};
	const uint8_t *end = p + len;
	struct pd_attr *a;

	/* Of a record whose id is not known, the form of the main event is tried. */
	attr_of(f, p, len, false, &a);
	if (!a->id_all)
		return false;
	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(a->sample_type & fields[i].bit))
			continue;
		if (end - p < 16) /* behind the head */
			return false;
		end -= 8;
		if (fields[i].what == 'c') {
			out->cpu = kt_load32(end, f->big);
		} else if (fields[i].what == 'n') {
			out->ts = kt_load64(end, f->big);
		} else if (fields[i].what == 't') {
			out->pid = (int32_t)kt_load32(end, f->big);
			out->tid = (int32_t)kt_load32(end + 4, f->big);
		} else if (fields[i].what == 'i') {
			out->id = kt_load64(end, f->big);
		}
	}
	return true;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the records of perf say of themselves: samples, and the tails of all others. */
#include "internal.h"

/*
 * Find the attribute of a record by the id that it has, which is at the same place in the
 * records of all attributes.  Return: NULL if its id is not known.
 */
static const struct pf_attr *attr_of(const struct perf *f, const uint8_t *p, size_t len,
				     bool is_sample)
{
	const struct pf_attr *first = &f->attrs[f->main];
	const struct kt_map_entry *e;
	uint64_t type = first->sample_type;
	size_t at = 0;

	if (f->nr_attrs == 1)
		return first;
	if (!(type & PF_IDENTIFIER)) {
		if (!(type & PF_ID))
			return first;
		if (is_sample) {
			at += type & PF_IP ? 8 : 0;
			at += type & PF_TID ? 8 : 0;
			at += type & PF_TIME ? 8 : 0;
			at += type & PF_ADDR ? 8 : 0;
		} else {
			at += type & PF_CPU ? 8 : 0;
			at += type & PF_STREAM_ID ? 8 : 0;
		}
	}
	if (len < at + 8)
		return NULL;
	e = kt_map_find(&f->ids, 0, kt_get64(is_sample ? p + at : p + len - at - 8));
	return e ? &f->attrs[e->value] : NULL;
}

/* Take the counters of a sample.  Return: false if they are cut off. */
static bool pass_counters(const struct pf_attr *a, const uint8_t **p, const uint8_t *end)
{
	uint64_t format = a->read_format, nr = 1, words, each = 1;

	each += !!(format & PF_READ_ID) + !!(format & PF_READ_LOST);
	words = !!(format & PF_READ_ENABLED) + !!(format & PF_READ_RUNNING);
	if (format & PF_READ_GROUP) {
		if (end - *p < 8)
			return false;
		nr = kt_get64(*p);
		words++;
	}
	if (nr > (uint64_t)(end - *p) / 8)
		return false;
	words += nr * each;
	if (words > (uint64_t)(end - *p) / 8)
		return false;
	*p += words * 8;
	return true;
}

/**
 * pf_read_sample() - read a sample
 * @f: the trace
 * @p: the sample, behind its head
 * @len: bytes of @p
 * @out: filled
 *
 * Return: 1; 0 if it is of an event that is no tracepoint; -EBADMSG if it is shorter than
 * its type says.
 */
int pf_read_sample(const struct perf *f, const uint8_t *p, size_t len,
		   struct pf_sample *out)
{
	static const struct {
		uint32_t bit;
		uint8_t what;
	} fields[] = {
		{ PF_IDENTIFIER, 0 }, { PF_IP, 0 }, { PF_TID, 't' },
		{ PF_TIME, 'n' }, { PF_ADDR, 0 }, { PF_ID, 0 },
		{ PF_STREAM_ID, 0 }, { PF_CPU, 'c' }, { PF_PERIOD, 0 },
	};
	const struct pf_attr *a = attr_of(f, p, len, true);
	const uint8_t *end = p + len;

	a = a ? a : &f->attrs[f->main];
	if (!a->tracepoint)
		return 0;
	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(a->sample_type & fields[i].bit))
			continue;
		if (end - p < 8)
			return -EBADMSG;
		if (fields[i].what == 't') {
			out->pid = (int32_t)kt_get32(p);
			out->tid = (int32_t)kt_get32(p + 4);
		} else if (fields[i].what == 'n') {
			out->ts = kt_get64(p);
		} else if (fields[i].what == 'c') {
			out->cpu = kt_get32(p);
		}
		p += 8;
	}
	if (a->sample_type & PF_READ && !pass_counters(a, &p, end))
		return -EBADMSG;
	if (a->sample_type & PF_CALLCHAIN) {
		if (end - p < 8)
			return -EBADMSG;
		out->calls = kt_get64(p);
		p += 8;
		if (out->calls > (uint64_t)(end - p) / 8)
			return -EBADMSG;
		p += out->calls * 8;
	}
	if (end - p < 4)
		return -EBADMSG;
	out->raw_size = kt_get32(p);
	out->raw = p + 4;
	return out->raw_size <= (uint64_t)(end - out->raw) ? 1 : -EBADMSG;
}

/**
 * pf_read_tail() - read what records end with that are no samples
 * @f: the trace
 * @p: the record
 * @len: bytes of @p
 * @out: its time, CPU and thread, as far as they are there
 *
 * Return: false if records have no such end.
 */
bool pf_read_tail(const struct perf *f, const uint8_t *p, size_t len,
		  struct pf_sample *out)
{
	static const struct {
		uint32_t bit;
		uint8_t what;
	} fields[] = {	/* from the last to the first */
		{ PF_IDENTIFIER, 0 }, { PF_CPU, 'c' }, { PF_STREAM_ID, 0 },
		{ PF_ID, 0 }, { PF_TIME, 'n' }, { PF_TID, 't' },
	};
	const struct pf_attr *a = attr_of(f, p, len, false);
	const uint8_t *end = p + len;

	/* Records that perf made have the id 0 and the form of the first event. */
	a = a ? a : &f->attrs[f->main];
	if (!a->id_all)
		return false;
	for (size_t i = 0; i < KT_ARRAY_SIZE(fields); i++) {
		if (!(a->sample_type & fields[i].bit))
			continue;
		if (end - p < 16)	/* behind the head */
			return false;
		end -= 8;
		if (fields[i].what == 'c')
			out->cpu = kt_get32(end);
		else if (fields[i].what == 'n')
			out->ts = kt_get64(end);
	}
	return true;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The head of a perf.data: what samples have, and the features.
 *
 *	"PERFILE2" | size 64 | attribute size 64 | attributes | records | types | features 256 bits
 *	attribute	= perf_event_attr | ids
 *
 * where attributes, records, types and ids each are an offset 64 and a size 64.  Behind the records
 * come offset and size of each feature whose bit is set.  The feature "tracing data" is a
 * description of the kernel's events as trace-cmd writes it (format/tracing_data.h).
 *
 * See tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources.
 */
#include "internal.h"

#define HEAD_SIZE 104U
#define PIPE_SIZE 16U
#define FEATURES  72U /* offset of their bits */

/* Find the order of the bytes in a file by how it begins.  Return: false if it is no perf.data. */
static bool take_magic(struct perf *f, const struct kt_part *head)
{
	f->big = head->len >= 8 && !memcmp(head->data, "2ELIFREP", 8);
	return f->big || (head->len >= 8 && !memcmp(head->data, "PERFILE2", 8));
}

static int read_attrs(struct kt_import *s, const uint8_t *head)
{
	const struct perf *f = s->state;
	uint64_t each = kt_load64(head + 16, f->big),
		 size = kt_load64(head + 32, f->big);
	uint64_t offset = kt_load64(head + 24, f->big);
	struct kt_part p, ids;
	int err;

	/* 4096: far more than any version has. */
	if (each < PD_ATTR_MIN + 16 || each > 4096 || size / each > PD_ATTRS_MAX)
		return kt_import_fail(s, 16, "the size of the attributes is wrong");
	err = pd_read_section(s, offset, size, &p);
	for (uint64_t at = 0; !err && at + each <= size; at += each) {
		const uint8_t *place = p.data + at + each - 16;

		err = pd_take_attr(s, p.data + at, each - 16, offset + at);
		if (!err)
			err = pd_read_section(s, kt_load64(place, f->big),
					      kt_load64(place + 8, f->big), &ids);
		if (err)
			break;
		err = pd_take_ids(s, ids.data, ids.len);
		free((void *)ids.data);
	}
	free((void *)p.data);
	return err;
}

static bool is_feature_wanted(unsigned int bit)
{
	return bit == PD_FEATURE_TRACING || bit == PD_FEATURE_EVENTS ||
	       bit == PD_FEATURE_HOSTNAME || bit == PD_FEATURE_RELEASE ||
	       bit == PD_FEATURE_ARCH || bit == PD_FEATURE_CLOCK_DATA;
}

/*
 * Check the bit of a feature: bits are in the machine's longs.  As perf does, take these as
 * of 64 bits if that sets the bit that all files have, else as of 32.
 */
static bool has_feature(const struct perf *f, const uint8_t *head, unsigned int bit)
{
	const uint8_t *bits = head + FEATURES;
	bool wide;

	if (!f->big)
		return bits[bit / 8] >> bit % 8 & 1;
	wide = kt_load64(bits, true) >> PD_FEATURE_HOSTNAME & 1;
	return wide ? kt_load64(bits + bit / 64 * 8, true) >> bit % 64 & 1 :
		      kt_load32(bits + bit / 32 * 4, true) >> bit % 32 & 1;
}

static int read_features(struct kt_import *s, const uint8_t *head)
{
	struct perf *f = s->state;
	unsigned int nr = 0;
	struct kt_part table, p;
	int err = 0;

	for (unsigned int i = 0; i < 256; i++)
		nr += has_feature(f, head, i);
	err = pd_read_section(s, f->end, nr * 16ULL, &table);
	if (err)
		return err;
	nr = 0;
	for (unsigned int i = 0; i < 256 && !err; i++) {
		const uint8_t *at = table.data + nr * 16ULL;

		if (!has_feature(f, head, i))
			continue;
		nr++;
		if (!is_feature_wanted(i))
			continue;
		err = pd_read_section(s, kt_load64(at, f->big),
				      kt_load64(at + 8, f->big), &p);
		if (!err)
			err = pd_take_feature(&p, i, f);
		else if (i == PD_FEATURE_EVENTS)
			err = pd_skip_bad_names(s, f->end, err);
		free((void *)p.data);
	}
	free((void *)table.data);
	return err;
}

/* Check that what the records need is there. */
static int check_head(struct kt_import *s)
{
	const struct perf *f = s->state;

	if (!f->nr_attrs)
		return kt_import_fail(s, 0, "the file has no events");
	if (f->attrs[f->main].tracepoint && !f->described.layouts.nr)
		return kt_import_fail(s, 0, "the file does not describe its events");
	return 0;
}

/**
 * pd_read_head() - read everything but the records
 * @s: the trace
 *
 * Return: 0 or negative errno.
 */
int pd_read_head(struct kt_import *s)
{
	struct perf *f = s->state;
	struct kt_part head;
	bool known;
	int err = pd_read_section(s, 0, kt_min(HEAD_SIZE, f->size), &head);

	if (err)
		return err;
	known = take_magic(f, &head);
	if (head.len >= PIPE_SIZE && known &&
	    kt_load64(head.data + 8, f->big) == PIPE_SIZE) {
		free((void *)head.data);
		err = pd_read_pipe(s);
		return err ? err : check_head(s);
	}
	if (head.len < HEAD_SIZE)
		err = kt_part_cut(&head);
	else if (!known)
		err = kt_import_fail(s, 0, "this is no perf.data");
	if (!err) {
		f->data = kt_load64(head.data + 40, f->big);
		f->end = f->data + kt_load64(head.data + 48, f->big);
		if (f->data > f->size || f->end < f->data)
			err = kt_import_fail(s, 40,
					     "the place of the records is wrong");
	}
	if (!err && f->end == f->data)
		err = kt_import_fail(
			s, 48,
			"perf did not finish writing this file: it has no records (perf record was killed)");
	if (!err)
		err = read_attrs(s, head.data);
	if (!err)
		err = read_features(s, head.data);
	free((void *)head.data);
	return err ? err : check_head(s);
}

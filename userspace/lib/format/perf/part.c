// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parts of the head of a perf.data: a section of the file, the attributes of events, the ids of
 * events and the features.  head.c finds them in a file, pipe.c in records of a stream.
 */
#include "internal.h"

#define ATTR_BITS	40U /* offset of the bit fields, 64 bits in all */
#define ATTR_ID_ALL	18U /* bit sample_id_all */
#define ATTR_CLOCK_SET	25U /* bit use_clockid */
#define ATTR_CLOCK	92U /* offsets of members that only later versions have */
#define ATTR_BRANCHES	72U
#define ATTR_REGS_USER	80U
#define ATTR_REGS_INTR	96U
#define ATTR_TRACEPOINT 2U	     /* PERF_TYPE_TRACEPOINT */
#define SECTION_MAX	(256U << 20) /* bytes of a section in memory */

/*
 * Read a section of the file.
 * Return: 0, with @p to read from and p->data to free; or negative errno, with p->data NULL.
 */
int pd_read_section(struct kt_import *s, uint64_t offset, uint64_t size,
		    struct kt_part *p)
{
	const struct perf *f = s->state;
	uint8_t *bytes;
	ssize_t got;

	*p = (struct kt_part){ .s = s, .len = size, .offset = offset, .big = f->big };
	if (size > SECTION_MAX || offset > f->size || size > f->size - offset)
		return kt_import_fail(
			s, offset,
			"a section is not in the file: perf did not finish writing it");
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	got = kt_pread_all(s->in->fd, bytes, size, offset);
	p->data = bytes;
	if (got == (ssize_t)size)
		return 0;
	free(bytes);
	p->data = NULL;
	return got < 0 ?
		       (int)got :
		       kt_import_fail(s, offset, "the file ends inside a section");
}

/* Clocks of clock_gettime(2), as ktape names them. */
static const struct {
	int id;
	const char *name;
} clocks[] = {
	{ 0, "realtime" }, { 1, "mono" }, { 4, "mono_raw" },
	{ 7, "boot" },	   { 11, "tai" },
};

/* Note that ids, @size bytes, are of the attribute that was taken last.  Return: 0 or -ENOMEM. */
int pd_take_ids(struct kt_import *s, const uint8_t *ids, uint64_t size)
{
	struct perf *f = s->state;
	struct kt_map_entry *e;

	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		e = kt_map_put(&f->ids, 0, kt_load64(ids + at, f->big));
		if (!e)
			return -ENOMEM;
		e->value = f->nr_attrs - 1;
	}
	return 0;
}

/* Return a number of an attribute, 0 if its version does not have it. */
static uint64_t attr64(const struct perf *f, const uint8_t *attr, uint64_t size,
		       uint64_t at)
{
	return size < at + 8 || kt_load32(attr + 4, f->big) < at + 8 ?
		       0 :
		       kt_load64(attr + at, f->big);
}

/* Return a bit field of an attribute: compilers for big-endian machines begin at the top. */
static bool attr_bit(const struct perf *f, const uint8_t *attr, unsigned int bit)
{
	return kt_load64(attr + ATTR_BITS, f->big) >> (f->big ? 63 - bit : bit) & 1;
}

static void take_perf_clock(struct perf *f, const uint8_t *attr, uint64_t size)
{
	if (!attr_bit(f, attr, ATTR_CLOCK_SET) || size < ATTR_CLOCK + 4 ||
	    kt_load32(attr + 4, f->big) < ATTR_CLOCK + 4)
		return;
	for (size_t i = 0; i < KT_ARRAY_SIZE(clocks); i++) {
		if (clocks[i].id == (int)kt_load32(attr + ATTR_CLOCK, f->big))
			snprintf(f->clock, sizeof(f->clock), "%s", clocks[i].name);
	}
}

/* Check that samples of a tracepoint have what is needed, and can be told from others. */
static int check_attr(struct kt_import *s, const struct pd_attr *a, uint64_t offset)
{
	const struct perf *f = s->state;
	const struct pd_attr *first = &f->attrs[f->main];

	if (!(a->sample_type & PD_TIME) || !(a->sample_type & PD_CPU) ||
	    !(a->sample_type & PD_RAW))
		return kt_import_fail(
			s, offset,
			"samples have no time, CPU or data: record with perf record -a, or --timestamp --sample-cpu --raw-samples");
	if ((a->sample_type != first->sample_type ||
	     a->read_format != first->read_format) &&
	    !(a->sample_type & first->sample_type & PD_IDENTIFIER))
		return kt_import_fail(
			s, offset,
			"events have samples of different forms without an id at their begin, which are not read");
	return 0;
}

/**
 * pd_take_attr() - take the attribute of an event
 * @s: the trace
 * @attr: struct perf_event_attr
 * @size: bytes of @attr, at least PD_ATTR_MIN
 * @offset: of @attr in the file
 *
 * Return: 0 or negative errno.
 */
int pd_take_attr(struct kt_import *s, const uint8_t *attr, uint64_t size,
		 uint64_t offset)
{
	struct perf *f = s->state;
	struct pd_attr *a;

	if (f->nr_attrs == PD_ATTRS_MAX)
		return kt_import_fail(s, offset, "more than %u events",
				      PD_ATTRS_MAX);
	/* The array doubles whenever its entries are a power of two. */
	if (!(f->nr_attrs & (f->nr_attrs - 1))) {
		a = realloc(f->attrs,
			    (f->nr_attrs ? f->nr_attrs * 2 : 1) * sizeof(*a));
		if (!a)
			return -ENOMEM;
		f->attrs = a;
	}
	a = &f->attrs[f->nr_attrs++];
	*a = (struct pd_attr){
		.type = kt_load32(attr, f->big),
		.config = kt_load64(attr + 8, f->big),
		.sample_type = kt_load64(attr + 24, f->big),
		.read_format = kt_load64(attr + 32, f->big),
		.branch_type = attr64(f, attr, size, ATTR_BRANCHES),
		.regs_user = attr64(f, attr, size, ATTR_REGS_USER),
		.regs_intr = attr64(f, attr, size, ATTR_REGS_INTR),
		.tracepoint = kt_load32(attr, f->big) == ATTR_TRACEPOINT,
		.id_all = attr_bit(f, attr, ATTR_ID_ALL),
	};
	take_perf_clock(f, attr, size);
	if (!a->tracepoint) {
		f->others = true;
		return 0;
	}
	if (!f->attrs[f->main].tracepoint)
		f->main = f->nr_attrs - 1;
	return check_attr(s, a, offset);
}

/* Take the feature "tracing data", which says its own order of bytes. */
static int take_perf_tracing(struct kt_part *p, struct perf *f)
{
	struct kt_tracing_data *d = &f->described;
	const uint8_t *bytes;
	const char *version;
	int err = kt_part_take(p, 10, &bytes);

	if (!err && memcmp(bytes, "\x17\x08\x44tracing", 10))
		return kt_import_fail(
			p->s, p->offset,
			"the description of the events is not understood");
	if (!err)
		err = kt_part_text(p, &version);
	if (!err)
		err = kt_part_take(p, 6, &bytes); /* order, long, page size */
	if (!err) {
		p->big = bytes[0];
		kt_tracing_order(d, p->big);
	}
	if (!err)
		err = kt_tracing_header(p, d);
	if (!err)
		err = kt_tracing_ftrace(p, d);
	if (!err)
		err = kt_tracing_events(p, d);
	if (!err)
		err = kt_tracing_kallsyms(p, d);
	if (!err)
		err = kt_tracing_printk(p, d);
	if (!err && p->len - p->at >= 8) /* from version 0.6 on */
		err = kt_tracing_tasks(p, d);
	return err;
}

/* A text: its length 32, then that many bytes. */
static int take_string(struct kt_part *p, char *to, size_t room)
{
	const uint8_t *bytes;
	uint32_t len;
	int err = kt_part_take32(p, &len);

	if (!err)
		err = kt_part_take(p, len, &bytes);
	if (!err)
		snprintf(to, room, "%.*s",
			 (int)kt_min(strnlen((const char *)bytes, len), room - 1),
			 (const char *)bytes);
	return err;
}

/* Report names of events that cannot be read, and go on: the events themselves can be read. */
int pd_skip_bad_names(struct kt_import *s, uint64_t offset, int err)
{
	if (err != -EBADMSG)
		return err;
	kt_import_bad(s, offset, "the names of events are cut off");
	return 0;
}

/* Take a feature; unknown ones are passed over.  Return: 0 or negative errno. */
int pd_take_feature(struct kt_part *p, unsigned int bit, struct perf *f)
{
	switch (bit) {
	case PD_FEATURE_TRACING:
		return take_perf_tracing(p, f);
	case PD_FEATURE_EVENTS:
		return pd_skip_bad_names(p->s, p->offset, pd_take_description(p, f));
	case PD_FEATURE_HOSTNAME:
		return take_string(p, f->hostname, sizeof(f->hostname));
	case PD_FEATURE_RELEASE:
		return take_string(p, f->release, sizeof(f->release));
	case PD_FEATURE_ARCH:
		return take_string(p, f->machine, sizeof(f->machine));
	case PD_FEATURE_CLOCK_DATA: /* version 32, id of the clock 32, date 64, time 64 */
		if (p->len >= 24)
			f->wall = (int64_t)(kt_load64(p->data + 8, p->big) -
					    kt_load64(p->data + 16, p->big));
		return 0;
	default:
		return 0;
	}
}

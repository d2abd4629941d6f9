// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What perf record writes to a pipe, kept in a file: there are no sections, but records for
 * what would be in them.
 *
 *	"PERFILE2" | 16 64 | record | record | ...
 *	attribute	| head | perf_event_attr, its size in its second word | ids |
 *	feature		| head | number 64 | bytes |
 *	update		names an event, see event.c
 *	tracing data	| head | size 32 |, then that many bytes behind the record
 *
 * They come before the first sample.  in.c reads the file from its first record on, so it passes
 * over them a second time.  There it also reports a file that ends in front of the samples.
 */
#include "internal.h"

#define PIPE_SIZE 16U

/* Take a record that stands for a part of a head.  @p is all of it. */
static int take_pipe_record(struct kt_import *s, uint32_t type, struct kt_part *p)
{
	struct perf *f = s->state;
	uint32_t size;
	int err;

	if (type == RECORD_FEATURE && p->len >= 16) {
		struct kt_part feature = {
			.s = s,
			.data = p->data + 16,
			.len = p->len - 16,
			.offset = p->offset + 16,
			.big = p->big,
		};
		uint64_t bit = kt_load64(p->data + 8, f->big);

		/* No feature has a number from 256 on. */
		return pd_take_feature(&feature, (unsigned int)kt_min(bit, 256), f);
	}
	if (type == RECORD_UPDATE)
		return pd_take_update(f, p->data, p->len);
	if (type != RECORD_ATTR)
		return 0;
	size = p->len < 16 ? 0 : kt_load32(p->data + 12, f->big);
	if (size < PD_ATTR_MIN || size > p->len - 8)
		return kt_import_fail(s, p->offset,
				      "the size of an attribute is wrong");
	err = pd_take_attr(s, p->data + 8, size, p->offset + 8);
	return err ? err : pd_take_ids(s, p->data + 8 + size, p->len - 8 - size);
}

static int take_pipe_tracing(struct kt_import *s, const struct kt_part *p,
			     uint64_t size)
{
	struct kt_part data;
	int err;

	err = pd_read_section(s, p->offset + p->len, size, &data);
	if (!err)
		err = pd_take_feature(&data, PD_FEATURE_TRACING, s->state);
	free((void *)data.data);
	return err;
}

/**
 * pd_read_pipe() - read what comes before the samples
 * @s: the trace; its @data and @end are set
 *
 * Return: 0 or negative errno.
 */
int pd_read_pipe(struct kt_import *s)
{
	struct perf *f = s->state;
	uint64_t at = PIPE_SIZE;
	int err = 0;

	f->data = PIPE_SIZE;
	f->end = f->size;
	while (!err && at + 8 <= f->size) {
		uint64_t behind = 0;
		struct kt_part p;
		uint8_t head[8];
		uint32_t type, size;
		ssize_t got = kt_pread_all(s->in->fd, head, sizeof(head), at);

		if (got != sizeof(head))
			return got < 0 ? (int)got : 0;
		type = kt_load32(head, f->big);
		size = kt_load16(head + 6, f->big);
		/* The first sample, or compressed records, which have samples. */
		if (type == RECORD_SAMPLE || type == RECORD_COMPRESSED ||
		    type == RECORD_COMPRESSED2)
			break;
		if (size < 8)
			return kt_import_fail(s, at,
					      "the size of a record is wrong");
		if (size > f->size - at)
			break;
		err = pd_read_section(s, at, size, &p);
		if (err)
			break;
		if (type == RECORD_TRACING && size >= 12) {
			behind = kt_load32(p.data + 8, f->big);
			err = take_pipe_tracing(s, &p, behind);
		} else {
			err = take_pipe_record(s, type, &p);
		}
		free((void *)p.data);
		at += size + behind;
	}
	return err;
}

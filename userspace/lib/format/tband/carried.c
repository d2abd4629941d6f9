// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading Tonbandgeraet from a line that loses bytes: the events that were lost before the next
 * one, and native events that are carried.  internal.h describes both.
 */
#include "internal.h"

#define NUMBERS (3U + KTAPE_NARGS_MAX) /* of a carried event */

/**
 * kt_tband_line_gap() - deliver the loss before an event, if there is one
 * @s: the trace
 * @core: core of the event
 * @ts: time of the event
 *
 * Return: as kt_import_emit().
 */
int kt_tband_line_gap(struct kt_import *s, uint32_t core, uint64_t ts)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	uint32_t gap = l->gap;

	if (!gap && !l->unknown)
		return 0;
	l->gap = 0;
	l->unknown = false;
	return kt_import_lost(s, core, gap, t->cores[core].ts, ts);
}

/* Return true if an event carries a native event that has no place in the format. */
bool kt_tband_is_carried(const struct kt_tband_import *t,
			 const struct kt_tband_event *e)
{
	return t->line.on && e->id == KT_TBAND_VALMARKER_NAME &&
	       e->values[0] == KT_TBAND_CARRIED;
}

/* Read a carried event.  Return: false if it is not as the writer makes it. */
static bool get_carried(struct kt_delivery *f, const uint8_t *p, const uint8_t *end)
{
	uint64_t v[NUMBERS];
	uint8_t what;

	if (end - p < 2)
		return false;
	f->opcode = *p++;
	what = *p++;
	f->kind = what & 3;
	f->nargs = what >> KT_TBAND_CARRIED_ARGS & KTAPE_NARGS_MAX;
	for (unsigned int i = 0; i < 3U + f->nargs; i++) {
		p = kt_tband_get_number(p, end, i ? 32 : 64, &v[i]);
		if (!p)
			return false;
		if (i >= 3)
			f->args[i - 3] = (uint32_t)v[i];
	}
	f->ts = v[0];
	f->tid = (int32_t)((uint32_t)v[1] - 1);
	f->dat20 = (uint32_t)v[2];
	if (what & KT_TBAND_CARRIED_BLOB) {
		f->blob = p;
		f->blob_size = (uint32_t)(end - p);
	}
	return f->dat20 <= KTAPE_DAT20_MASK && f->tid >= -1 &&
	       ktape_event_desc(f->opcode) && f->opcode != KTAPE_TIME_EXTEND;
}

static int emit_carried(struct kt_import *s, struct kt_delivery *f)
{
	const struct kt_named n = {
		.type = f->dat20 & 0xff,
		.id = f->args[0],
		.param1 = f->args[1],
		.param2 = f->args[2],
		.name = f->blob ? f->blob : "",
		.len = f->blob_size,
	};

	if (f->opcode == KTAPE_EV_REGISTRY)
		return kt_import_name(s, f, &n);
	/* Only names are in the registry's ring. */
	f->kind = kt_min(f->kind, KTAPE_RING_CONTROL);
	return kt_import_emit(s, f);
}

/**
 * kt_tband_line_carried() - deliver a carried event
 * @s: the trace
 * @e: the event that carries it
 * @size: bytes of kt_delivery.raw
 *
 * A loss before it is delivered first.  A malformed one is only notified of.
 *
 * Return: as kt_import_emit().
 */
int kt_tband_line_carried(struct kt_import *s, const struct kt_tband_event *e,
			  size_t size)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_core *c = &t->cores[t->core];
	int64_t len = kt_base64_decode(t->typed, e->text, e->len);
	struct kt_delivery f = {
		.cpu = t->core,
		.raw = t->event,
		.raw_size = (uint32_t)size,
	};
	int err;

	if (len < 0 || !get_carried(&f, t->typed, t->typed + len)) {
		kt_import_bad(s, t->offset, "a carried event that is malformed");
		return 0;
	}
	f.ts = kt_max(f.ts, c->ts);
	err = kt_tband_line_gap(s, f.cpu, f.ts);
	c->ts = f.ts;
	return err ? err : emit_carried(s, &f);
}

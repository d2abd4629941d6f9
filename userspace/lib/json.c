// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events as lines of JSON for programs. */
#include "util/put.h"

#include "fields.h"

struct line {
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	const struct ktape_event *event;
};

static const char *const rings[] = {
	[KTAPE_RING_EVENT] = ",\"ring\":\"event\",\"tid\":",
	[KTAPE_RING_CONTROL] = ",\"ring\":\"control\",\"tid\":",
	[KTAPE_RING_REGISTRY] = ",\"ring\":\"registry\",\"tid\":",
};

static char *put_name(char *p, const struct line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *t;

	if (!e->tid)
		return kt_put_mem(p, "\"swapper\"", 9);
	t = e->tid < 0 ? NULL
		       : ktape_registry_thread(l->registry, e->tid, e->ts);
	if (!t)
		return kt_put_mem(p, "null", 4);
	if (!t->plain)
		return kt_put_json(p, t->name, t->name_len);
	p = kt_put_char(p, '"');
	p = kt_put_mem(p, t->name, t->name_len);
	return kt_put_char(p, '"');
}

static char *put_head(char *p, const struct line *l, const char *name)
{
	const struct ktape_event *e = l->event;

	p = kt_put_mem(p, "{\"ts\":", 6);
	p = kt_put_s64(p, ktape_epoch_ns(l->info, e->ts));
	p = kt_put_mem(p, ",\"cpu\":", 7);
	p = kt_put_u64(p, e->cpu);
	p = kt_put_str(p, rings[e->kind]);
	if (e->tid < 0)
		p = kt_put_mem(p, "null", 4);
	else
		p = kt_put_u64(p, (uint32_t)e->tid);
	p = kt_put_mem(p, ",\"comm\":", 8);
	p = put_name(p, l);
	p = kt_put_mem(p, ",\"event\":", 9);
	p = kt_put_char(p, '"');
	if (*name) {
		p = kt_put_str(p, name);
	} else {
		p = kt_put_str(p, "opcode_");
		p = kt_put_u64(p, e->opcode);
	}
	p = kt_put_char(p, '"');
	return kt_put_mem(p, ",\"fields\":{", 11);
}

static char *put_quoted_hex(char *p, uint64_t value)
{
	p = kt_put_char(p, '"');
	p = kt_put_hex(p, value);
	return kt_put_char(p, '"');
}

static char *put_value(char *p, unsigned int type, uint64_t value)
{
	const char *name;

	switch (type) {
	case KTAPE_TYPE_U32:
	case KTAPE_TYPE_CPU:
	case KTAPE_TYPE_PRIO:
	case KTAPE_TYPE_IRQ:
	case KTAPE_TYPE_SYSCALL:
		return kt_put_u64(p, value);
	case KTAPE_TYPE_PTR:
	case KTAPE_TYPE_FUNC:
	case KTAPE_TYPE_X32:
	case KTAPE_TYPE_X64:
		return put_quoted_hex(p, value);
	case KTAPE_TYPE_S32:
	case KTAPE_TYPE_S64:
	case KTAPE_TYPE_TID:
		return kt_put_s64(p, (int64_t)value);
	case KTAPE_TYPE_BOOL:
		return kt_put_str(p, value ? "true" : "false");
	default:
		name = ktape_value_name(type, value);
		if (!name)
			return kt_put_u64(p, value);
		p = kt_put_char(p, '"');
		p = kt_put_str(p, name);
		return kt_put_char(p, '"');
	}
}

static char *put_array(char *p, const struct ktape_field *f,
		       const struct kt_fields *at)
{
	unsigned int words = kt_type_words()[f->type];

	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < at->count; i++) {
		if (i)
			p = kt_put_char(p, ',');
		p = put_value(p, f->type,
			      kt_field_value(f->type, at->data + i * words * 4,
					     words));
	}
	return kt_put_char(p, ']');
}

static char *put_quoted_bytes(char *p, const struct kt_fields *at)
{
	p = kt_put_char(p, '"');
	p = kt_put_bytes(p, at->data, at->count);
	return kt_put_char(p, '"');
}

static char *put_fields(char *p, const struct line *l,
			const struct ktape_event_desc *desc)
{
	const struct ktape_field *f;
	struct kt_fields at;
	char *begin = p;

	kt_fields_begin(&at, desc, l->event);
	while ((f = kt_fields_next(&at))) {
		if (f->place == KTAPE_PLACE_REST && !l->event->nargs)
			continue;
		if (p != begin)
			p = kt_put_char(p, ',');
		p = kt_put_char(p, '"');
		p = kt_put_str(p, f->name);
		p = kt_put_mem(p, "\":", 2);
		if (f->place == KTAPE_PLACE_TEXT)
			p = kt_put_json(p, (const char *)at.data, at.count);
		else if (f->place == KTAPE_PLACE_BYTES)
			p = put_quoted_bytes(p, &at);
		else if (at.count || f->place == KTAPE_PLACE_LIST)
			p = put_array(p, f, &at);
		else
			p = put_value(p, f->type, at.value);
	}
	return p;
}

/* An event that is not as in the table. */
static char *put_words(char *p, const struct ktape_event *e)
{

	p = kt_put_str(p, "\"dat20\":");
	p = kt_put_u64(p, e->dat20);
	p = kt_put_str(p, ",\"args\":[");
	for (unsigned int i = 0; i < e->nargs; i++) {
		if (i)
			p = kt_put_char(p, ',');
		p = kt_put_u64(p, ktape_event_arg(e, i));
	}
	p = kt_put_char(p, ']');
	if (!e->blob)
		return p;
	p = kt_put_str(p, ",\"bytes\":\"");
	p = kt_put_bytes(p, e->blob, e->blob_size);
	return kt_put_char(p, '"');
}

size_t ktape_format_json(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to)
{
	const struct ktape_event_desc *desc = ktape_event_desc(event->opcode);
	const struct line l = { info, registry, event };
	char *p;

	if (event->opcode == KTAPE_TIME_EXTEND) {
		p = put_head(to, &l, desc->name);
	} else if (kt_event_fits(desc, event)) {
		p = put_head(to, &l, desc->name);
		p = put_fields(p, &l, desc);
	} else {
		p = put_head(to, &l, info->names[event->opcode]);
		p = put_words(p, event);
	}
	return (size_t)(kt_put_mem(p, "}}\n", 3) - to);
}

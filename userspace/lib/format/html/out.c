// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as one page for a browser: the viewer of userspace/viewer with the data
 * in it.  The page loads nothing else.
 *
 *	<!DOCTYPE html> ... the page, without a script
 *	<script type="text/ktape" ...>...</script>	blocks of data, see block.c
 *	...
 *	<script> the viewer </script></body></html>
 *
 *	block	entries
 *	names	strings, as a JSON array; their numbers count on over all such blocks
 *	events	columns: time since the event before in the block, opcode, CPU, thread
 *	fields	of the events of the block before: their fields as in ktape dump --json,
 *		each with a newline
 *	values	counters, each: name, thread, time since the value before, value
 *	called	names of threads, each: thread, events of the page since the name before,
 *		time since then, name + 1; 0 = none
 *	attach	JSON of the caller, see ktape_sink_attach()
 *	spans	columns: see put_columns() in level.c
 *	about	JSON: the trace, counts, the event table; the last block
 *
 * Times are nanoseconds since the first event or loss.  Spans are made here: cpu.c
 * follows the CPUs, thread.c the threads, other.c the rest.  They are in memory until
 * the end, at most HTML_SPANS (option "spans"); level.c merges the shortest if there
 * are more.  Events beyond HTML_EVENTS (option "events") are only drawn, except up to HTML_RARE
 * rare ones: those of programs (marks and others), exceptions, control records and unknown
 * opcodes; the page says both.  Of a range (option "exact") the page has all spans and events;
 * then outside of it only the rare ones are kept.  A block that is damaged is named by the page
 * with its offset, and the rest is shown.
 */
#include <stdio.h>

#include "util/parse.h"

#include "html.h"
#include "internal.h"

static const struct ktape_codec_option options[] = {
	{ "spans", "N", "merge short spans if there are more (default 500000)" },
	{ "events", "N", "events that keep their fields (default 1000000)" },
	{ "exact", "FROM-TO", "keep all spans and events of these times" },
	{ .key = NULL },
};

/* Read a number from an option.  Return: 0 or -EBADMSG after kt_sink_fail(). */
static int read_page_option(struct kt_sink *s, const char *key, uint64_t least,
			    uint64_t usual, uint64_t *value)
{
	const char *text = kt_codec_option(&s->options, key);

	*value = usual;
	if (!text)
		return 0;
	if (!kt_parse_u64(text, value) && *value >= least && *value <= UINT32_MAX)
		return 0;
	return kt_sink_fail(s, "html: %s=%s: give a number from %llu to %u",
			    key, text, (unsigned long long)least, UINT32_MAX);
}

static int html_begin(struct kt_sink *s)
{
	struct html *h = s->state;
	uint64_t spans;
	int err = read_page_option(s, "spans", 1000, HTML_SPANS, &spans);

	if (!err)
		err = read_page_option(s, "events", 0, HTML_EVENTS, &h->events_most);
	if (err)
		return err;
	h->s = s;
	h->level.most = (size_t)spans;
	err = html_exact_read(h);
	if (err)
		return err;
	h->deflate = malloc(sizeof(*h->deflate));
	if (!h->deflate)
		return -ENOMEM;
	return kt_sink_put(s, html_page_head, html_page_head_len);
}

/* Time 0 of the page is the first event or loss. */
static void begin_time(struct html *h, uint64_t ts)
{
	if (h->begun)
		return;
	h->begun = true;
	h->origin = ktape_epoch_ns(h->s->info, ts);
	html_exact_begin(h);
}

/* ---- events --------------------------------------------------------------------- */

static int flush_events(struct html *h)
{
	struct html_bytes *all = &h->columns[0];
	int err = 0;

	if (!h->nr_events)
		return 0;
	for (size_t i = 1; i < KT_ARRAY_SIZE(h->columns); i++) {
		char *p = html_room(h, all, h->columns[i].len);

		if (p)
			html_took(all, kt_put_mem(p, (char *)h->columns[i].data,
						  h->columns[i].len));
		h->columns[i].len = 0;
	}
	err = html_block(h, "events", NULL, h->nr_events, all);
	if (!err)
		err = html_block(h, "fields", NULL, h->nr_events, &h->fields);
	all->len = h->fields.len = 0;
	h->nr_events = 0;
	h->time = 0;
	return err;
}

/* Return true if an event must not be missing among many others; so one of an unknown opcode. */
static bool is_rare(const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);

	return !d || e->kind == KTAPE_RING_CONTROL ||
	       d->event_class == KTAPE_CLASS_CONTROL ||
	       d->event_class == KTAPE_CLASS_EXCEPTION ||
	       d->event_class == KTAPE_CLASS_USER;
}

/*
 * Check whether the page keeps an event with its fields.  Events of the exact range are counted,
 * and fail the sink if they are too many.  Rare ones that are kept beyond the others are counted
 * in @h->rare.
 */
static bool may_keep(struct html *h, const struct ktape_event *e, int64_t now)
{
	if (html_exact_has(h, now, now))
		return html_exact_event(h);
	if (!h->exact.given && h->events - h->rare < h->events_most)
		return true;
	if (h->rare >= HTML_RARE || !is_rare(e))
		return false;
	h->rare++;
	return true;
}

static void keep_event(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	char *p = html_room(h, &h->fields, ktape_format_bound(e) + 4);

	if (!p)
		return;
	p = kt_json_fields(kt_put_char(p, '{'), l);
	html_took(&h->fields, kt_put_str(p, "}\n"));
	html_signed(h, &h->columns[0], html_since(h->time, now));
	html_number(h, &h->columns[1], e->opcode);
	html_number(h, &h->columns[2], e->cpu);
	html_signed(h, &h->columns[3], e->tid);
	h->time = now;
	h->events++;
	if (++h->nr_events == HTML_CHUNK)
		flush_events(h);
}

static int html_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, true);
	struct html *h = s->state;
	int64_t now;

	/* Metadata events come before the first time stamp of a stream, and have none. */
	if (e->opcode == KTAPE_TIME_EXTEND || e->cpu >= KT_CPUS_MAX ||
	    e->kind == KTAPE_RING_REGISTRY || e->opcode == KTAPE_EV_REGISTRY ||
	    ktape_event_is_metadata(e))
		return 0;
	begin_time(h, e->ts);
	now = html_time(h, e->ts);
	h->last = now > h->last ? now : h->last;
	kt_mask_add(h->used, e->opcode);
	h->all_events++;
	html_note_name(h, &l, e->tid, now);
	if (!html_cpu_event(h, &l, now))
		html_other_event(h, &l, now);
	if (may_keep(h, e, now))
		keep_event(h, &l, now);
	return s->error;
}

static int html_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct html *h = s->state;
	int64_t to;

	if (n->cpu >= KT_CPUS_MAX)
		return 0;
	begin_time(h, n->from);
	to = html_time(h, n->to);
	html_cpu_lost(h, n);
	h->lost_to = to > h->lost_to ? to : h->lost_to;
	return s->error;
}

static int html_attach(struct kt_sink *s, const char *name, const char *text,
		       size_t len)
{
	const struct html_bytes content = {
		.data = (uint8_t *)(uintptr_t)text,
		.len = len,
	};

	return html_block(s->state, "attach", name, 1, &content);
}

/* ---- the end ---------------------------------------------------------------------- */

static char *put_page_text(char *p, const char *key, const char *text)
{
	p = kt_put_str(kt_put_str(kt_put_str(p, ",\n\""), key), "\":");
	return kt_put_json(p, text, strlen(text));
}

static char *put_count(char *p, const char *key, uint64_t n)
{
	p = kt_put_str(kt_put_str(kt_put_str(p, ",\n\""), key), "\":");
	return kt_put_u64(p, n);
}

static char *put_exact(char *p, const struct html_exact *x)
{
	if (!x->given)
		return p;
	p = kt_put_s64(kt_put_str(p, ",\n\"exact\":["), x->from);
	return kt_put_char(kt_put_s64(kt_put_char(p, ','), x->to), ']');
}

/*
 * What a field of this type names, for the page's step to the next event of the same
 * object.  An address is that of what the field is called: "timer", "work".
 */
static const char *object_kind(const struct ktape_field *f)
{
	static const char *const kinds[KTAPE_TYPES] = {
		[KTAPE_TYPE_TID] = "thread",
		[KTAPE_TYPE_IRQ] = "irq",
		[KTAPE_TYPE_SOFTIRQ] = "softirq",
		[KTAPE_TYPE_IPI] = "ipi",
		[KTAPE_TYPE_SYSCALL] = "system call",
		[KTAPE_TYPE_SIGNAL] = "signal",
		[KTAPE_TYPE_MARKER] = "mark",
		[KTAPE_TYPE_VALUEID] = "value",
		[KTAPE_TYPE_ISRID] = "isr",
		[KTAPE_TYPE_DEV] = "block device",
		[KTAPE_TYPE_NETDEV] = "network device",
	};

	return f->type == KTAPE_TYPE_PTR ? f->name : kinds[f->type];
}

/* Put the fields of an event that name an object: {field: kind}. */
static char *put_page_objects(char *p, const struct ktape_event_desc *d)
{
	const char *kind;
	bool begun = false;

	p = kt_put_char(p, '{');
	for (unsigned int i = 0; d && i < d->nr_fields; i++) {
		kind = object_kind(&d->fields[i]);
		if (!kind)
			continue;
		p = kt_put_str(p, begun ? ",\"" : "\"");
		p = kt_put_str(kt_put_str(p, d->fields[i].name), "\":\"");
		p = kt_put_char(kt_put_str(p, kind), '"');
		begun = true;
	}
	return kt_put_char(p, '}');
}

/* Put the event table: [opcode, name, class, help, in the trace, enabled, objects]. */
static char *put_table(char *p, const struct html *h)
{
	const struct ktape_class_desc *c;
	bool begun = false;

	p = kt_put_str(p, ",\n\"table\":[");
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);
		const char *name = d ? d->name : h->s->info->names[i];

		if (!kt_mask_has(h->used, i) && !d)
			continue;
		p = kt_put_str(p, begun ? ",\n[" : "\n[");
		begun = true;
		p = kt_put_char(kt_put_u64(p, i), ',');
		p = kt_put_char(kt_put_json(p, name, strlen(name)), ',');
		c = d ? ktape_class_desc(d->event_class) : NULL;
		name = c ? c->name : "";
		p = kt_put_char(kt_put_json(p, name, strlen(name)), ',');
		name = d ? d->help : "";
		p = kt_put_json(p, name, strlen(name));
		p = kt_put_str(p, kt_mask_has(h->used, i) ? ",1," : ",0,");
		p = kt_put_str(p, kt_mask_has(h->enabled, i) ? "1," : "0,");
		p = kt_put_char(put_page_objects(p, d), ']');
	}
	return kt_put_str(p, "\n]");
}

static char *put_page_cpus(char *p, const struct html *h)
{
	bool begun = false;

	p = kt_put_str(p, ",\n\"cpus\":[");
	for (uint32_t i = 0; i < h->nr_cpus; i++) {
		if (!h->cpus[i].seen)
			continue;
		p = begun ? kt_put_char(p, ',') : p;
		p = kt_put_u64(p, i);
		begun = true;
	}
	return kt_put_char(p, ']');
}

static char *put_states(char *p)
{
	const char *name;

	p = kt_put_str(p, ",\n\"states\":[");
	for (unsigned int i = 0; (name = ktape_value_name(KTAPE_TYPE_STATE, i));
	     i++) {
		p = i ? kt_put_char(p, ',') : p;
		p = kt_put_json(p, name, strlen(name));
	}
	return kt_put_char(p, ']');
}

/*
 * Return bytes that are enough for the block "about": a byte has up to 6 in JSON, the name of a
 * field may also be what it names, and 8192 hold all that is not in a table.
 */
static size_t about_room(const struct html *h)
{
	size_t room = 8192 + h->nr_cpus * 8U;

	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		room += 64 + (d ? strlen(d->help) * 6 : 0) +
			KTAPE_EVENT_NAME_SIZE * 6;
		for (unsigned int f = 0; d && f < d->nr_fields; f++)
			room += 32 + strlen(d->fields[f].name) * 2;
	}
	return room;
}

static int write_about(struct html *h)
{
	const struct ktape_info *info = h->s->info;
	struct html_bytes about = { .len = 0 };
	char *p = html_room(h, &about, about_room(h));
	int err = h->s->error;

	if (p) {
		p = kt_put_u64(kt_put_str(p, "{\"form\":"), HTML_FORM);
		p = put_page_text(p, "version", KTAPE_VERSION);
		/* As text: these do not fit into the numbers of JavaScript. */
		p = kt_put_str(p, ",\n\"origin_ns\":\"");
		p = kt_put_str(kt_put_s64(p, h->origin), "\",\n\"mono_ns\":\"");
		p = kt_put_s64(p, html_mono_origin(h));
		p = kt_put_char(p, '"');
		p = kt_put_s64(kt_put_str(p, ",\n\"last\":"), h->last);
		if (!kt_is_dated(info, 0) && h->origin < KT_DATED_FROM)
			p = kt_put_str(p, ",\n\"undated\":true");
		p = put_page_text(p, "hostname", info->hostname);
		p = put_page_text(p, "release", info->release);
		p = put_page_text(p, "machine", info->machine);
		p = put_page_text(p, "clock", info->clock);
		p = put_count(p, "blocks", h->blocks + 1);
		p = put_count(p, "events", h->events);
		p = put_count(p, "all_events", h->all_events);
		p = put_count(p, "spans", h->level.nr);
		p = put_count(p, "all_spans", h->level.all);
		p = put_count(p, "short_ns", h->level.short_ns);
		p = put_count(p, "profiled", h->profiled);
		p = html_level_left_out(h, p);
		p = put_exact(p, &h->exact);
		p = put_table(put_states(put_page_cpus(p, h)), h);
		html_took(&about, kt_put_str(p, "}\n"));
		err = html_block(h, "about", NULL, 1, &about);
	}
	free(about.data);
	return err;
}

static int html_end(struct kt_sink *s)
{
	struct html *h = s->state;
	int err = html_exact_end(h);

	if (err)
		return err;
	html_recorded_end(h, h->last);
	html_cpus_end(h, h->last);
	html_threads_end(h, h->last);
	html_other_end(h, h->last);
	err = h->s->error ? h->s->error : flush_events(h);
	if (!err)
		err = html_values_flush(h);
	if (!err)
		err = html_called_flush(h);
	if (!err)
		err = html_level_write(h);
	if (!err)
		err = html_strings_flush(h);
	if (!err)
		err = write_about(h);
	return err ? err : kt_sink_put(s, html_page_tail, html_page_tail_len);
}

static void html_close(struct kt_sink *s)
{
	struct html *h = s->state;

	for (size_t i = 0; i < KT_ARRAY_SIZE(h->columns); i++)
		free(h->columns[i].data);
	free(h->deflate);
	free(h->packed.data);
	free(h->fields.data);
	free(h->texts.data);
	free(h->text_at);
	free(h->new_strings.data);
	free(h->values.data);
	free(h->called.data);
	free(h->cpus);
	free(h->thread_list);
	free(h->level.spans);
	kt_map_free(&h->level.lanes);
	kt_map_free(&h->strings);
	kt_map_free(&h->threads);
	html_other_free(h);
}

const struct kt_codec_out kt_html_out = {
	.options = options,
	.size = sizeof(struct html),
	.extra = true,
	.begin = html_begin,
	.event = html_event,
	.notice = html_notice,
	.attach = html_attach,
	.end = html_end,
	.close = html_close,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read trace.dat, which trace-cmd writes from ftrace: versions 6 and 7, also compressed
 * with zstd or zlib.
 *
 * The head (head.c) has the kernel's layouts of its records (format/layout.h); the rest
 * are pages of the ring buffer of each CPU (page.c), here merged by time.  Instances of ftrace
 * have buffers of their own, with a name, which their events get as a field.  A tracepoint
 * that ktape has becomes ktape's event; all others are user events with their fields by
 * name (format/tracepoint.h), ftrace's own (function, print, ...) as well.  Names of
 * threads come from the events, and of threads that no event names from saved_cmdlines;
 * names of functions come from kallsyms.
 *
 * Lost events: a page says that events were overwritten before it, and perhaps how many;
 * what the kernel's statistics count beyond that was lost somewhere in the CPU's trace.
 * After damage the rest of a page, or of a CPU, is left out.  Not read: text of latency
 * tracers.
 */
#include <sys/stat.h>

#include "util/nanoseconds.h"
#include "util/parse.h"

#include "internal.h"
#include "tracecmd.h"

#define HZ_MAX	  10000000000ULL
#define UPTIME_HZ 100U /* of the clock "uptime": the kernel's USER_HZ */

static const struct ktape_codec_option in_options[] = {
	{ "freq", "HZ",
	  "counts in a second of a clock that does not count ns, as x86-tsc" },
	{ .key = NULL },
};

/* ---- the trace ---------------------------------------------------------------------------- */

/* Take machine, release and host from "Linux HOST RELEASE VERSION... MACHINE". */
static void take_uname(struct ktape_info *info, const char *text)
{
	char words[3][65] = { "", "", "" };
	const char *last = strrchr(text, ' ');

	sscanf(text, "%64s %64s %64s", words[0], words[1], words[2]);
	snprintf(info->hostname, sizeof(info->hostname), "%s", words[1]);
	snprintf(info->release, sizeof(info->release), "%s", words[2]);
	if (last && last[1])
		snprintf(info->machine, sizeof(info->machine), "%.64s", last + 1);
}

/*
 * Find out how long a tick of the clock is: by the option, by what the head says, or by the name of
 * the clock.  If that does not say it, times are counts, which is reported.
 * Return: 0 or -EBADMSG.
 */
static int find_hz(struct kt_import *s)
{
	const char *text = kt_codec_option(&s->options, "freq");
	struct tc *t = s->state;

	if (text) {
		if (kt_parse_u64(text, &t->hz) || !t->hz || t->hz > HZ_MAX)
			return kt_import_fail(
				s, 0,
				"option freq: %.20s is no number from 1 to %llu",
				text, HZ_MAX);
		t->mult = 0;
		return 0;
	}
	if (t->mult)
		return 0;
	if (!strcmp(t->clock, "uptime"))
		t->hz = UPTIME_HZ;
	else if (!strcmp(t->clock, "counter") || !strcmp(t->clock, "x86-tsc") ||
		 !strcmp(t->clock, "ppc-tb"))
		s->info->counts = true;
	if (s->info->counts)
		kt_import_note(s, "the clock %s does not count ns: times are counts, dump shows them without a point, other outputs have 10^9 of them as a second (option freq= is the counts in a second)",
			       t->clock);
	return 0;
}

static void fill_tracecmd_info(struct kt_import *s)
{
	const struct tc *t = s->state;
	struct ktape_info *info = s->info;

	info->freq = NS_PER_S;
	snprintf(info->clock, sizeof(info->clock), "%s",
		 *t->clock ? t->clock : "local");
	take_uname(info, t->uname);
	kt_tracing_wall(info, t->wall);
}

/* Take the first of the statistics of a CPU that was not taken for another buffer of it. */
static uint64_t take_tracecmd_lost(struct tc *t, uint32_t cpu)
{
	for (size_t i = 0; i < t->nr_lost; i++) {
		if (t->lost[i].cpu == cpu && !t->lost[i].used) {
			t->lost[i].used = true;
			return t->lost[i].count;
		}
	}
	return 0;
}

/* Deliver the losses of CPUs that have no events. */
static int report_empty_cpus(struct kt_import *s)
{
	struct tc *t = s->state;
	int err = 0;

	for (size_t i = 0; i < t->nr_lost && !err; i++) {
		if (!t->lost[i].used && t->lost[i].count &&
		    t->lost[i].cpu < KT_CPUS_MAX)
			err = kt_tp_lost(&t->tp, t->lost[i].cpu,
					 t->lost[i].count, 0, 0);
	}
	return err;
}

/* End a CPU, and deliver the losses beyond those that its pages report. */
static int end_cpu(struct kt_import *s, struct tc_cpu *c)
{
	struct tc *t = s->state;

	t->buffered -= c->chunk_cap;
	free(c->chunk);
	c->chunk = NULL;
	c->chunk_cap = c->chunk_len = c->chunk_at = 0;
	if (c->lost <= c->missed)
		return 0;
	return kt_tp_lost(&t->tp, c->cpu, c->lost - c->missed,
			  tc_time(t, c->first), tc_time(t, c->time));
}

static const struct kt_tp_field buffer_field = { .name = "trace_buffer",
						 .type = KT_TP_TEXT };

static int tracecmd_open(struct kt_import *s)
{
	struct tc *t = s->state;
	struct stat st;
	int err;

	if (!s->in->seekable || fstat(s->in->fd, &st))
		return kt_import_fail(
			s, 0,
			"a trace.dat cannot be read from a pipe or compressed: give the file");
	t->file = (struct tc_file){ s->in->fd, (uint64_t)st.st_size };
	t->tp.s = s;
	t->tp.symbol = kt_symbols_find;
	t->tp.arg = &t->described.symbols;
	t->more.field = &buffer_field;
	t->tp.more = &t->more;
	err = tc_read_head(s);
	if (err)
		return err;
	err = find_hz(s);
	if (err)
		return err;
	fill_tracecmd_info(s);
	err = kt_tracing_bind(&t->described, &t->tp);
	if (!err && !t->described.form.data)
		err = kt_import_fail(s, 0, "the file does not describe its pages");
	t->queue.list =
		err ? NULL : calloc(kt_max(t->nr_cpus, 1), sizeof(*t->queue.list));
	if (!err && !t->queue.list)
		err = -ENOMEM;
	for (size_t i = 0; i < t->nr_cpus && !err; i++) {
		struct tc_cpu *c = &t->cpus[i];
		int ret;

		c->lost = take_tracecmd_lost(t, c->cpu);
		ret = tc_next(s, c);
		if (ret > 0)
			kt_timed_add(&t->queue, &c->next_event);
		err = ret < 0 ? ret : 0;
	}
	return err ? err : report_empty_cpus(s);
}

static uint32_t tracecmd_record_id(const struct tc *t, const struct tc_cpu *c)
{
	if (c->len < t->described.layouts.type_size)
		return UINT32_MAX;
	return t->described.layouts.type_size == 2 ?
		       kt_load16(c->data, t->described.form.big) :
		       kt_load32(c->data, t->described.form.big);
}

static int deliver_tracecmd_event(struct kt_import *s, struct tc_cpu *c)
{
	struct tc *t = s->state;
	struct kt_layout *l =
		kt_layout_find(&t->described.layouts, tracecmd_record_id(t, c));
	struct kt_delivery at = {
		.ts = tc_time(t, c->next_event.ts),
		.cpu = c->cpu,
	};
	int err;

	err = l ? kt_tracing_read(&t->described, l, c->data, c->len, t->values) :
		  -EBADMSG;
	if (err == -ENOMEM)
		return err;
	if (err) {
		kt_import_bad(s, c->page_offset, "CPU %u: %s", c->cpu,
			      l ? "a record is shorter than its layout" :
				  "a record has no layout");
		return 0;
	}
	t->tp.nr_more = *c->buffer != '\0';
	t->more.value = (struct kt_tp_value){
		.data = c->buffer,
		.len = strlen(c->buffer),
	};
	at.tid = kt_layout_pid(&t->described.layouts, l, c->data, c->len);
	return kt_tp_emit(&t->tp, &l->class, &at, t->values);
}

static int tracecmd_next(struct kt_import *s)
{
	struct tc *t = s->state;
	struct tc_cpu *first;
	int ret;

	if (!t->queue.nr) {
		/* Once more when the names are delivered: what was reported is not counted again. */
		kt_tp_end(&t->tp);
		kt_tracing_end(&t->described, s);
		if (t->named)
			return 0;
		/* saved_cmdlines has the names that threads had at the end. */
		t->named = true;
		ret = kt_tracing_names(&t->described, &t->tp);
		return ret ? ret : 1;
	}
	first = (struct tc_cpu *)t->queue.list[0]; /* next_event is its first member */
	ret = deliver_tracecmd_event(s, first);
	if (!ret)
		ret = tc_next(s, first);
	if (ret < 0)
		return ret;
	if (ret) {
		kt_timed_sink(&t->queue);
		return 1;
	}
	kt_timed_drop(&t->queue);
	ret = end_cpu(s, first);
	return ret ? ret : 1;
}

static void tracecmd_close(struct kt_import *s)
{
	struct tc *t = s->state;

	for (size_t i = 0; i < t->nr_cpus; i++)
		free(t->cpus[i].chunk);
	free(t->cpus);
	free(t->queue.list);
	free(t->lost);
	for (size_t i = 0; i < t->nr_buffers; i++)
		free(t->buffers[i].name);
	free(t->buffers);
	kt_tracing_free(&t->described);
	kt_tp_free(&t->tp);
}

static int tracecmd_probe(const uint8_t *data, size_t len, bool whole)
{
	(void)whole;
	return len > 10 && !memcmp(data, "\x17\x08\x44tracing", 10) ? 100 : 0;
}

const struct kt_codec_in kt_tracecmd_in = {
	.options = in_options,
	.size = sizeof(struct tc),
	.kernel = true,
	.names_late = true,
	.probe = tracecmd_probe,
	.open = tracecmd_open,
	.next = tracecmd_next,
	.close = tracecmd_close,
};

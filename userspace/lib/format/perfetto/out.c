// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace for Perfetto (ui.perfetto.dev, trace_processor).
 *
 *	file	= packet, packet, ...				(message Trace)
 *	packet	= sequence id, and one of			(TracePacket)
 *	    ftrace_events: bundle of a CPU: event, event, ...	sequence 1
 *	    process_tree, interned symbols, clocks, statistics	sequence 1
 *	    track_descriptor, track_event			sequence 2
 *
 * Each event of ours takes one of three ways:
 *	map.c	  an event that ftrace has becomes ftrace's event, so that the
 *		  viewer's tables of scheduling, interrupts and system calls fill
 *	mark.c,   markers, values, ISRs, gate spans, exceptions, texts and user
 *	user.c	  events become slices, instants or counters on tracks
 *	generic.c all others become generic ftrace events with our fields; so do exceptions,
 *		  of which a track has no place for all fields
 *
 * Times are CLOCK_BOOTTIME.  Lost events show as lost_events in the next bundle,
 * in the statistics, and as slices on the track "Lost data".  Not written, but
 * counted: events of CPUs above 1023, events that do not fit the event table, and what user
 * events have beyond the bounds in user.c.  Protobuf has no resynchronisation: a
 * damaged file is read up to the damage.
 */
#include "util/parse.h"

#include "internal.h"
#include "perfetto.h"

static struct pf_cpu *new_cpu(struct perfetto *pf, uint32_t cpu)
{
	struct pf_cpu *c;

	if (cpu >= PF_CPUS) {
		kt_sink_miss(pf->s, "events of CPUs above 1023", 1);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (c)
		c->buf = malloc(PF_BUNDLE_BYTES + KT_PUT_OVER);
	if (!c || !c->buf) {
		free(c);
		pf->s->error = -ENOMEM;
		return NULL;
	}
	pf->cpus[cpu] = c;
	return c;
}

static inline struct pf_cpu *cpu_of(struct perfetto *pf, uint32_t cpu)
{
	return cpu < PF_CPUS && pf->cpus[cpu] ? pf->cpus[cpu] : new_cpu(pf, cpu);
}

/* ---- clocks, system, statistics ----------------------------------------- */

static uint64_t get_be64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static char *put_perfetto_clock(char *p, uint32_t id, uint64_t ns)
{
	char *m = pf_open(p, PF_SNAPSHOT_CLOCK);

	p = pf_number(m, PF_CLOCK_ID, id);
	return pf_close(m, pf_number(p, PF_CLOCK_TIMESTAMP, ns));
}

/* Write a snapshot of all clocks at the same moment: trace clock = one second. */
static char *put_clocks(const struct perfetto *pf, char *p)
{
	const struct ktape_info *i = pf->s->info;
	const uint64_t at = i->freq;
	const uint64_t ns = ktape_ticks_to_ns(i, at);
	char *m = pf_open(p, PF_PACKET_CLOCK_SNAPSHOT);

	p = put_perfetto_clock(m, PF_CLOCK_BOOTTIME, ns + (uint64_t)pf->boot_offset);
	p = put_perfetto_clock(p, PF_CLOCK_MONOTONIC,
			       ns + (uint64_t)i->mono_offset_ns);
	/* Without a date the viewer must not show one. */
	if (kt_is_dated(i, at))
		p = put_perfetto_clock(p, PF_CLOCK_REALTIME,
				       (uint64_t)ktape_epoch_ns(i, at));
	return pf_close(m, p);
}

static char *put_perfetto_system(const struct perfetto *pf, char *p)
{
	const struct ktape_info *i = pf->s->info;
	char *m = pf_open(p, PF_PACKET_SYSTEM_INFO);
	char *uts = pf_open(m, PF_SYSTEM_UTSNAME);

	p = pf_text(uts, PF_UTSNAME_SYSNAME, "Linux");
	p = pf_string(p, PF_UTSNAME_RELEASE, i->release, strlen(i->release));
	/* The viewer needs the machine for the names of system calls. */
	p = pf_string(p, PF_UTSNAME_MACHINE, i->machine, strlen(i->machine));
	p = pf_close(uts, p);
	if (*i->hostname)
		p = pf_string(p, PF_SYSTEM_MACHINE_NAME, i->hostname,
			      strlen(i->hostname));
	return pf_close(m, p);
}

static int put_trace_heads(struct perfetto *pf)
{
	const uint8_t *uuid = pf->s->info->uuid;
	char *p = pf_packet(pf, PF_SEQUENCE_FTRACE, 128), *m;

	if (!p)
		return pf->s->error;
	m = pf_open(p, PF_PACKET_TRACE_UUID);
	p = pf_number(m, PF_UUID_MSB, get_be64(uuid));
	p = pf_number(p, PF_UUID_LSB, get_be64(uuid + 8));
	pf_packet_done(pf, pf_close(m, p));
	p = pf_packet(pf, PF_SEQUENCE_FTRACE, 128);
	if (!p)
		return pf->s->error;
	pf_packet_done(pf, put_clocks(pf, p));
	p = pf_packet(pf, PF_SEQUENCE_FTRACE, 512);
	if (!p)
		return pf->s->error;
	pf_packet_done(pf, put_perfetto_system(pf, p));
	return 0;
}

/* Write the statistics of each CPU: zeros for the start, counts for the end. */
static void put_perfetto_statistics(struct perfetto *pf, uint32_t phase)
{
	char *p, *m, *stats;

	for (uint32_t cpu = 0; cpu < PF_CPUS; cpu++) {
		const struct pf_cpu *c = pf->cpus[cpu];
		bool end = phase == PF_PHASE_END;

		if (!c)
			continue;
		p = pf_packet(pf, PF_SEQUENCE_FTRACE, 128);
		if (!p)
			return;
		m = pf_open(p, PF_PACKET_FTRACE_STATS);
		p = pf_number(m, PF_STATS_PHASE, phase);
		stats = pf_open(p, PF_STATS_CPU);
		p = pf_number(stats, PF_CPU_STATS_CPU, cpu);
		p = pf_number(p, PF_CPU_STATS_ENTRIES, end ? c->entries : 0);
		p = pf_number(p, PF_CPU_STATS_OVERRUN, 0);
		p = pf_number(p, PF_CPU_STATS_DROPPED, end ? c->lost : 0);
		pf_packet_done(pf, pf_close(m, pf_close(stats, p)));
	}
}

/* ---- the codec --------------------------------------------------------- */

static const struct ktape_codec_option options[] = {
	{ "machine", "ID",
	  "number of the machine in all packets, for traces that are merged" },
	{ "boot_utc", "NS",
	  "time since the epoch that is 0 on the boot clock, instead of the machine's boot" },
	{ .key = NULL },
};

/* Traces of several machines can have one boot clock, for readers that know only one. */
static int take_boot(struct kt_sink *s, struct perfetto *pf)
{
	const char *text = kt_codec_option(&s->options, "boot_utc");
	uint64_t utc;

	pf->boot_offset = s->info->boot_offset_ns;
	if (!text)
		return 0;
	if (kt_parse_u64(text, &utc) || utc > INT64_MAX)
		return kt_sink_fail(s, "boot_utc=%s: use a number of nanoseconds",
				    text);
	pf->boot_offset = (int64_t)((uint64_t)ktape_epoch_ns(s->info, 0) - utc);
	return 0;
}

static int take_machine(struct kt_sink *s, struct perfetto *pf)
{
	const char *text = kt_codec_option(&s->options, "machine");
	uint64_t id = 0;

	if (text && (kt_parse_u64(text, &id) || !id || id > UINT32_MAX))
		return kt_sink_fail(s, "machine=%s: use a number from 1 to %u",
				    text, UINT32_MAX);
	pf->machine = (uint32_t)id;
	return 0;
}

static int perfetto_begin(struct kt_sink *s)
{
	struct perfetto *pf = s->state;
	int err;

	pf->s = s;
	pf->names_version = 1;
	err = take_machine(s, pf);
	if (!err)
		err = take_boot(s, pf);
	if (!err)
		err = pf_plans(pf);
	if (!err)
		err = put_trace_heads(pf);
	return err ? err : pf_generic_descriptors(pf);
}

static int perfetto_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct perfetto *pf = s->state;
	struct pf_cpu *c;

	if (e->opcode == KTAPE_EV_REGISTRY) {
		pf->names_version++;
		return 0;
	}
	if (e->kind == KTAPE_RING_REGISTRY)
		return 0;
	c = cpu_of(pf, e->cpu);
	if (!c)
		return s->error;
	c->entries++;
	if (e->tid > 0 &&
	    (c->tid != e->tid || c->names_version != pf->names_version)) {
		c->tid = e->tid;
		c->names_version = pf->names_version;
		pf_thread(pf, e->tid, e->ts);
	}
	if (!kt_event_fits(e)) {
		kt_sink_miss(s, "events that do not fit the event table", 1);
		return s->error;
	}
	if (!pf_mapped(pf, e) && !pf_track(pf, e))
		pf_generic(pf, e);
	if (e->extra)
		pf_extra(pf, e);
	return s->error;
}

static int perfetto_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct perfetto *pf = s->state;
	struct pf_cpu *c = cpu_of(pf, n->cpu);

	if (n->kind != KTAPE_NOTICE_LOST || !c)
		return s->error;
	pf_flush(pf, n->cpu);
	c->gap = true;
	c->lost += n->count;
	pf_track_lost(pf, n);
	return s->error;
}

static int perfetto_end(struct kt_sink *s)
{
	struct perfetto *pf = s->state;

	for (uint32_t cpu = 0; cpu < PF_CPUS; cpu++) {
		if (pf->cpus[cpu])
			pf_flush(pf, cpu);
	}
	/* Those of the start come here, too, because only now all CPUs are known. */
	put_perfetto_statistics(pf, PF_PHASE_START);
	put_perfetto_statistics(pf, PF_PHASE_END);
	return s->error;
}

static void perfetto_close(struct kt_sink *s)
{
	struct perfetto *pf = s->state;

	for (uint32_t cpu = 0; cpu < PF_CPUS; cpu++) {
		if (pf->cpus[cpu])
			free(pf->cpus[cpu]->buf);
		free(pf->cpus[cpu]);
	}
	pf_plans_free(pf);
	pf_names_free(pf);
}

const struct kt_codec_out kt_perfetto_out = {
	.options = options,
	.size = sizeof(struct perfetto),
	.extra = true,
	.switches = true,
	.begin = perfetto_begin,
	.event = perfetto_event,
	.notice = perfetto_notice,
	.end = perfetto_end,
	.close = perfetto_close,
};

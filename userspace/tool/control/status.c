// SPDX-License-Identifier: GPL-2.0-only
/* ktape status: show the module, its sessions, and the counters of a session's rings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape-verify.h>

#include "util/bits.h"

#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/duration.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

struct status_options {
	bool json;
	const char *device;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct status_options, json), NULL,
	  "as one JSON object" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct status_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static const struct {
	const char *name;
	uint64_t bit;
} features[] = {
	{ "mmap", KTAPE_FEATURE_MMAP },
	{ "create", KTAPE_FEATURE_CREATE },
	{ "discard", KTAPE_FEATURE_DISCARD },
	{ "tracepoints", KTAPE_FEATURE_TRACEPOINTS },
	{ "pos32", KTAPE_FEATURE_POS32 },
	{ "names", KTAPE_FEATURE_NAMES },
	{ "snapshot", KTAPE_FEATURE_SNAPSHOT },
	{ "persist", KTAPE_FEATURE_PERSIST },
	{ "filter", KTAPE_FEATURE_FILTER },
	{ "kprobe", KTAPE_FEATURE_KPROBE },
	{ "stack", KTAPE_FEATURE_STACK },
	{ "cgroup", KTAPE_FEATURE_CGROUP },
	{ "trigger", KTAPE_FEATURE_TRIGGER },
	{ "grows", KTAPE_FEATURE_GROWS },
};

static const char *const kinds[] = { "event", "control", "registry" };

/**
 * struct status - what is shown
 * @device: the session
 * @f: features of the module
 * @layout: number, mode and state of the session
 * @entries: rings of the session
 * @sessions: all sessions
 * @nr_sessions: entries of @sessions
 */
struct status {
	struct ktape_device *device;
	const struct ktape_features *f;
	struct ktape_layout layout;
	struct ktape_layout_entry *entries;
	struct ktape_session_info *sessions;
	int nr_sessions;
};

static uint64_t sum_counts(const __u64 *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += counts[i];
	return total;
}

static const char *clock_name(uint32_t clock)
{
	return clock == KTAPE_CLOCK_MONO   ? "mono" :
	       clock == KTAPE_CLOCK_CYCLES ? "cycles" :
					     "unknown";
}

/* By enum ktape_no_room. */
static const struct {
	const char *name;
	const char *text;
} no_room[KTAPE_NO_ROOM_REASONS] = {
	[KTAPE_NO_ROOM_LIMIT] = { "limit", "the registry was as large as it may get" },
	[KTAPE_NO_ROOM_MEMORY] = { "memory",
				   "the kernel had no memory for it to grow" },
	[KTAPE_NO_ROOM_LATE] = { "late", "they came faster than it grew" },
	[KTAPE_NO_ROOM_REFUSED] = { "refused", "users without rights gave too many" },
	[KTAPE_NO_ROOM_REGION] = { "region",
				   "persistent memory has no room for copies" },
};

static void print_growth(const struct ktape_features *f)
{
	if (!(f->features & KTAPE_FEATURE_GROWS))
		return;
	printf("          it can have %u entries%s\n", f->registry_max,
	       f->registry_limit == KTAPE_NO_ROOM_LIMIT ?
		       ", and has them" :
	       f->registry_limit == KTAPE_NO_ROOM_MEMORY ?
		       ", but the kernel had no memory for more" :
		       "");
	for (unsigned int i = 0; i < KT_ARRAY_SIZE(no_room); i++)
		if (no_room[i].name && f->no_room[i])
			printf("          names without room: %llu, %s\n",
			       (unsigned long long)f->no_room[i], no_room[i].text);
}

static void print_json_growth(const struct ktape_features *f)
{
	const char *comma = "";

	if (!(f->features & KTAPE_FEATURE_GROWS))
		return;
	printf(",\"max\":%u,\"grows\":%s,\"no_room\":{", f->registry_max,
	       f->registry_limit ? "false" : "true");
	for (unsigned int i = 0; i < KT_ARRAY_SIZE(no_room); i++) {
		if (!no_room[i].name)
			continue;
		printf("%s\"%s\":%llu", comma, no_room[i].name,
		       (unsigned long long)f->no_room[i]);
		comma = ",";
	}
	putchar('}');
}

static void print_head(const struct status *s)
{
	printf("clock     %s, %llu Hz\n", clock_name(s->f->clock),
	       (unsigned long long)s->f->clock_hz);
	printf("features ");
	for (size_t i = 0; i < KT_ARRAY_SIZE(features); i++) {
		if (s->f->features & features[i].bit)
			printf(" %s", features[i].name);
	}
	printf("\ntable     %016llx%s\n", (unsigned long long)s->f->table_hash,
	       s->f->table_hash == ktape_table_hash() ?
		       "" :
		       " (differs from this tool's)");
	printf("registry  %u entries, %llu reused; names that did not fit or were refused: %llu, replaced by newer ones: %llu\n",
	       s->f->registry_entries, (unsigned long long)s->f->names_reused,
	       (unsigned long long)s->f->names_dropped,
	       (unsigned long long)s->f->names_evicted);
	print_growth(s->f);
	printf("session   %u, %s, %s, profile generation %u\n",
	       s->layout.session, mode_name(s->layout.mode),
	       s->layout.running ? "running" : "stopped", s->layout.generation);
	printf("%-9s %3s %10s %12s %12s %10s\n", "ring", "cpu", "size",
	       "emitted", "filtered", "lost");
}

static void print_ring(const struct ktape_layout_entry *e,
		       const struct ktape_stats *st)
{
	uint64_t lost = 0, n;
	char size[16];

	put_human(size, sizeof(size), e->data_size);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += sum_counts(st->lost[i]);
	printf("%-9s %3d %10s %12llu %12llu %10llu", kinds[e->kind], e->cpu,
	       size, (unsigned long long)sum_counts(st->emitted),
	       (unsigned long long)sum_counts(st->filtered),
	       (unsigned long long)lost);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		n = sum_counts(st->lost[i]);
		if (n)
			printf(" %s=%llu", lost_reasons[i], (unsigned long long)n);
	}
	if (st->in_pieces) {
		put_human(size, sizeof(size), st->in_pieces);
		printf(" in pieces: %s", size);
	}
	putchar('\n');
}

static void print_json_head(const struct status *s)
{
	const char *comma = "";

	printf("{\"clock\":\"%s\",\"clock_hz\":%llu,\"features\":[",
	       clock_name(s->f->clock), (unsigned long long)s->f->clock_hz);
	for (size_t i = 0; i < KT_ARRAY_SIZE(features); i++) {
		if (!(s->f->features & features[i].bit))
			continue;
		printf("%s\"%s\"", comma, features[i].name);
		comma = ",";
	}
	printf("],\"table_hash\":\"%016llx\",\"table_matches\":%s,\"cpus\":%u,\"sessions_max\":%u",
	       (unsigned long long)s->f->table_hash,
	       s->f->table_hash == ktape_table_hash() ? "true" : "false",
	       s->f->cpus, s->f->sessions_max);
	printf(",\"registry\":{\"entries\":%u,\"reused\":%llu,\"dropped\":%llu,\"evicted\":%llu",
	       s->f->registry_entries, (unsigned long long)s->f->names_reused,
	       (unsigned long long)s->f->names_dropped,
	       (unsigned long long)s->f->names_evicted);
	print_json_growth(s->f);
	putchar('}');
	printf(",\"session\":%u,\"mode\":\"%s\",\"running\":%s,\"generation\":%u,\"rings\":[",
	       s->layout.session, mode_name(s->layout.mode),
	       s->layout.running ? "true" : "false", s->layout.generation);
}

/*
 * Print the time that a CPU has spent in the tracer for this session: the sampled
 * time per event times the number of events, and the time for opening blocks.
 */
static void print_cost(const struct status *s, uint32_t cpu, uint64_t events)
{
	uint64_t hz = s->f->clock_hz ? s->f->clock_hz : 1;
	struct ktape_cost cost;
	double each, opening;
	char all[DURATION_ROOM], open[DURATION_ROOM];

	if (ktape_device_cost(s->device, cpu, &cost) || !cost.samples)
		return;
	each = (double)cost.event_ticks / (double)cost.samples / (double)hz;
	opening = (double)cost.opening_ticks / (double)hz;
	duration_text(all, (uint64_t)(each * 1e9 * (double)events), "ns");
	duration_text(open, (uint64_t)(opening * 1e9), "ns");
	if (cost.samples < KTAPE_TRACER_SAMPLES) {
		printf("tracer    %3u too few samples (%llu) for a time per event; %s for opening %llu blocks\n",
		       cpu, (unsigned long long)cost.samples, open,
		       (unsigned long long)cost.opened);
		return;
	}
	printf("tracer    %3u %.0f ns per event in %llu samples, about %s for %llu events; %s for opening %llu blocks\n",
	       cpu, each * 1e9, (unsigned long long)cost.samples, all,
	       (unsigned long long)events, open, (unsigned long long)cost.opened);
}

static void print_json_cost(const struct status *s, uint32_t cpu)
{
	struct ktape_cost cost;

	if (ktape_device_cost(s->device, cpu, &cost))
		return;
	printf(",\"tracer\":{\"samples\":%llu,\"event_ticks\":%llu,\"opened\":%llu,\"opening_ticks\":%llu}",
	       (unsigned long long)cost.samples,
	       (unsigned long long)cost.event_ticks, (unsigned long long)cost.opened,
	       (unsigned long long)cost.opening_ticks);
}

static void print_json_ring(const struct status *s,
			    const struct ktape_layout_entry *e,
			    const struct ktape_stats *st, bool first)
{
	printf("%s\n{\"cpu\":%d,\"ring\":\"%s\",\"size\":%llu,\"block\":%u,\"in_pieces\":%llu,\"commit\":%llu,\"tail\":%llu,\"floor\":%llu,\"consumer\":%llu,\"emitted\":%llu,\"filtered\":%llu,\"lost\":{",
	       first ? "" : ",", e->cpu, kinds[e->kind],
	       (unsigned long long)e->data_size, e->block_size,
	       (unsigned long long)st->in_pieces,
	       (unsigned long long)st->commit, (unsigned long long)st->tail,
	       (unsigned long long)st->floor, (unsigned long long)st->consumer,
	       (unsigned long long)sum_counts(st->emitted),
	       (unsigned long long)sum_counts(st->filtered));
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		printf("%s\"%s\":%llu", i ? "," : "", lost_reasons[i],
		       (unsigned long long)sum_counts(st->lost[i]));
	printf("}");
	if (e->kind == KTAPE_RING_EVENT)
		print_json_cost(s, (uint32_t)e->cpu);
	printf("}");
}

/*
 * Print the run-time probes of the session's profile and the hits of them that never reached
 * the tracer, which no ring counts.  As text only probes with such hits; as JSON all, in an array
 * that print_json_sessions() closes.
 */
static void print_probes(const struct status *s, bool json)
{
	struct ktape_profile profile = { .op = 0 };
	const char *comma = "";

	/* This also closes the array of rings. */
	if (json)
		fputs("\n],\"missed_hits\":[", stdout);
	if (!(s->f->features & KTAPE_FEATURE_KPROBE) ||
	    ktape_device_profile(s->device, KTAPE_PROFILE_GET, &profile))
		return;
	for (unsigned int i = 0; i < KTAPE_PROBES; i++) {
		struct ktape_probe p = { .opcode = KTAPE_OP_PROBE + i };
		const struct ktape_event_desc *desc = ktape_event_desc(p.opcode);

		if (!(profile.mask[p.opcode / 64] >> p.opcode % 64 & 1) || !desc ||
		    ktape_device_probe(s->device, KTAPE_PROBE_GET, &p) || !*p.symbol)
			continue;
		if (json)
			printf("%s\n{\"event\":\"%s\",\"hits\":%llu,\"missed\":%llu}",
			       comma, desc->name, (unsigned long long)p.hits,
			       (unsigned long long)p.missed);
		else if (p.missed)
			printf("probe     %s: %llu hits since it was added, %llu more did not reach the tracer\n",
			       desc->name, (unsigned long long)p.hits,
			       (unsigned long long)p.missed);
		comma = ",";
	}
}

static const char *session_state_name(const struct ktape_session_info *i)
{
	return i->flags & KTAPE_SESSION_GONE	? "destroyed" :
	       i->flags & KTAPE_SESSION_RUNNING ? "running" :
	       i->flags & KTAPE_SESSION_FROZEN	? "frozen" :
						  "stopped";
}

/* Print until when the rings of a session that has ended can be read. */
static void print_left(const struct ktape_session_info *n)
{
	if (!(n->flags & KTAPE_SESSION_GONE))
		return;
	if (n->left_ms)
		printf("  rings stay %u.%u s for readers", n->left_ms / 1000,
		       n->left_ms % 1000 / 100);
	else
		printf("  rings stay for those who may control it");
}

static void print_sessions(const struct status *s)
{
	char ring[16], control[16], id[16];

	printf("%-3s %-16s %-10s %-9s %10s %10s %6s %5s %7s\n", "id", "name",
	       "mode", "state", "ring", "control", "uid", "files", "evicted");
	for (int i = 0; i < s->nr_sessions; i++) {
		const struct ktape_session_info *n = &s->sessions[i];

		put_human(ring, sizeof(ring), n->ring_size);
		put_human(control, sizeof(control), n->control_size);
		/* A session that has ended has no id: "-" is printed. */
		snprintf(id, sizeof(id), "%u", n->id);
		printf("%-3s %-16s %-10s %-9s %10s %10s %6u %5u %7llu%s%s",
		       n->id == KTAPE_SESSION_BY_NAME ? "-" : id,
		       n->name[0] ? n->name : "-", mode_name(n->mode),
		       session_state_name(n), ring, control, n->uid, n->files,
		       (unsigned long long)n->evicted,
		       n->flags & KTAPE_SESSION_LINGERS ? "  stays" : "",
		       n->flags & KTAPE_SESSION_LOG ? "  log" : "");
		print_left(n);
		putchar('\n');
	}
}

static void print_json_sessions(const struct status *s)
{
	fputs("\n],\"sessions\":[", stdout);
	for (int i = 0; i < s->nr_sessions; i++) {
		const struct ktape_session_info *n = &s->sessions[i];

		printf("%s\n{\"id\":", i ? "," : "");
		if (n->id == KTAPE_SESSION_BY_NAME)
			fputs("null", stdout);
		else
			printf("%u", n->id);
		fputs(",\"name\":", stdout);
		put_json_text(n->name);
		printf(",\"mode\":\"%s\",\"state\":\"%s\",\"lingers\":%s,\"log\":%s,\"uid\":%u,\"files\":%u,\"ring_size\":%llu,\"control_size\":%llu,\"block_size\":%u,\"frozen\":%llu,\"evicted\":%llu,\"left_ms\":%u}",
		       mode_name(n->mode), session_state_name(n),
		       n->flags & KTAPE_SESSION_LINGERS ? "true" : "false",
		       n->flags & KTAPE_SESSION_LOG ? "true" : "false", n->uid,
		       n->files, (unsigned long long)n->ring_size,
		       (unsigned long long)n->control_size, n->block_size,
		       (unsigned long long)n->frozen,
		       (unsigned long long)n->evicted, n->left_ms);
	}
	puts("\n]}");
}

static int print_status(const struct status *s, bool json)
{
	struct ktape_stats st;
	bool first = true;
	int err;

	if (json)
		print_json_head(s);
	else
		print_head(s);
	for (unsigned int i = 0; i < s->layout.nr; i++) {
		const struct ktape_layout_entry *e = &s->entries[i];

		if (e->kind >= KTAPE_RING_REGISTRY)
			continue;
		err = ktape_device_stats(s->device, (uint32_t)e->cpu, e->kind, &st);
		if (err)
			return fail("cannot read the counts of CPU %d: %s",
				    e->cpu, strerror(-err));
		if (json)
			print_json_ring(s, e, &st, first);
		else
			print_ring(e, &st);
		if (!json && e->kind == KTAPE_RING_EVENT)
			print_cost(s, (uint32_t)e->cpu, sum_counts(st.emitted));
		first = false;
	}
	print_probes(s, json);
	if (json)
		print_json_sessions(s);
	else
		print_sessions(s);
	return finish_stdout();
}

static int cmd_status(int argc, char **argv)
{
	struct status_options o = { .json = false };
	struct status s = { .entries = NULL };
	int first, ret;

	ret = kt_options(&command_status, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first > 1)
		return misuse(&command_status,
			      "too many operands: give at most one NAME");
	if (open_named(o.device, first < argc ? argv[first] : NULL, false, &s.device))
		return EXIT_FAILED;
	s.f = ktape_device_features(s.device);
	ret = ktape_device_layout(s.device, &s.layout, &s.entries);
	if (!ret) {
		s.nr_sessions = ktape_device_sessions(s.device, &s.sessions);
		ret = s.nr_sessions < 0 ? s.nr_sessions : 0;
	}
	if (ret)
		ret = fail("cannot read the layout of the session: %s",
			   strerror(-ret));
	else
		ret = print_status(&s, o.json);
	free(s.sessions);
	free(s.entries);
	ktape_device_close(s.device);
	return ret;
}

const struct kt_command command_status = {
	.name = "status",
	.operands = "[NAME]",
	.help = "show the module, its sessions and the counters of a session's rings",
	.options = options,
	.run = KT_RUN(cmd_status),
};

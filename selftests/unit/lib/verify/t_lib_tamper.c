// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tamper with traces, and see that `ktape verify` never says that nothing is wrong.
 *
 * A kind is an operation and what it is done to: packets, headers, records of a ring of one
 * CPU or of all, names, metadata, or the whole folder.  Checksums of what was changed are
 * renewed, unless a wrong or missing one is the change.  Where nothing in the format can tell the
 * result from a whole trace, the table says why, and the kind is tried nevertheless: it must not
 * crash.
 *
 * KTAPE_TAMPER=all tries each kind on traces of all modes, SEEDS of each; else each kind is tried
 * on one trace, of one of the modes in turn.
 */
#define TRACE_PACKET 2048

#include "lib_sim_work.h"
#include "lib_tamper.h"
#include "lib_tamper_ops.h"

#define STEPS 1200U
#define SEEDS 4U /* of each mode, if all are tried */

enum mode {
	DISCARD,   /* a finished session, which has lost events */
	OVERWRITE, /* finished; the beginnings of rings are overwritten */
	SNAPSHOT,  /* a full one */
	PERSIST, /* recovered after a reset: only starts in the control rings */
	RUNNING, /* the session goes on after the recording */
	PIECE,	 /* of a rotating log, in its middle */
	PIPE,	 /* what read() returns of DISCARD */
	MODES
};

static const char *const modes[] = { "discard", "overwrite", "snapshot",
				     "persist", "running",   "piece",
				     "pipe" };

#define IN(mode) (1U << (mode))
#define ENDLESS	 (IN(PERSIST) | IN(RUNNING) | IN(PIECE))
#define ANY	 (~0U)

/* What an operation is done to. */
enum target {
	EVENTS,	 /* the event ring of CPU 0 */
	CONTROL, /* its control ring */
	ALL_EVENTS,
	ALL_CONTROLS,
	NAMES,
	WHOLE, /* all rings */
	TARGETS
};

static const char *const targets[] = { "events of a CPU",
				       "control ring of a CPU",
				       "events of all CPUs",
				       "all control rings",
				       "names",
				       "all rings" };

#define ON(target) (1U << (target))
#define ONE	   (ON(EVENTS) | ON(CONTROL))
#define RINGS	   (ONE | ON(ALL_EVENTS) | ON(ALL_CONTROLS) | ON(WHOLE))
#define STREAMS	   (RINGS | ON(NAMES))

static uint64_t seed = 1;

/* ---- the table ------------------------------------------------------------------------------ */

/**
 * struct kind - a way to tamper
 * @name: what is done
 * @stream: done to a stream
 * @trace: or to the whole trace
 * @on: to which streams, a kind for each: bits of ON()
 * @not_on: targets of which nothing distinguishes the result from a whole trace: bits of ON()
 * @not_in: the modes in which that is so, bits of IN(): both have to hold
 * @why: why nothing distinguishes it
 */
struct kind {
	const char *name;
	bool (*stream)(struct tamper_stream *s);
	bool (*trace)(struct tamper *t);
	unsigned int on;
	unsigned int not_on;
	unsigned int not_in;
	const char *why;
};

static const struct kind kinds[] = {
	{ "the file is removed", op_gone, NULL, STREAMS, 0, 0, NULL },
	{ "the file has 0 bytes", op_zero, NULL, STREAMS, 0, 0, NULL },
	{ "the empty packet at the beginning is removed", op_no_first, NULL,
	  STREAMS, STREAMS, IN(PIPE), "a pipe form has no empty packets" },
	{ "four fifths are cut off at the beginning", op_head, NULL, RINGS, 0,
	  0, NULL },
	{ "the same behind the empty packet", op_head_kept, NULL, RINGS, 0, 0, NULL },
	{ "the same, and the empty packet has the right number", op_head_forged,
	  NULL, RINGS, ON(EVENTS) | ON(ALL_EVENTS) | ON(WHOLE),
	  IN(OVERWRITE) | IN(PERSIST) | IN(RUNNING),
	  "it is what an overwritten ring looks like" },
	{ "the last packet is removed", op_tail, NULL, STREAMS,
	  ON(ALL_CONTROLS) | ON(WHOLE), IN(PIPE),
	  "a pipe form ends where its reader ended" },
	{ "the second half is removed", op_tail_half, NULL, RINGS, 0, 0, NULL },
	{ "only the last packet is left", op_last_only, NULL, RINGS, 0, 0, NULL },
	{ "only the first packet is left", op_first_only, NULL, RINGS,
	  ON(ALL_CONTROLS) | ON(WHOLE), IN(PIPE),
	  "a pipe form ends where its reader ended" },
	{ "only the empty packet is left", op_empty_only, NULL, STREAMS,
	  ON(WHOLE), IN(PIECE), "nothing happened in an idle piece" },
	{ "a packet in the middle is removed", op_middle, NULL, RINGS, 0, 0, NULL },
	{ "the same, and later ones are numbered anew", op_middle_hidden, NULL,
	  RINGS, 0, 0, NULL },
	{ "two packets change places", op_swap, NULL, RINGS, 0, 0, NULL },
	{ "a packet is there twice", op_twice, NULL, RINGS, 0, 0, NULL },
	{ "the same, and later ones are numbered anew", op_twice_hidden, NULL,
	  ONE, 0, 0, NULL },
	{ "the file ends within a packet", op_half, NULL, STREAMS, 0, 0, NULL },
	{ "a bit is changed", op_flip, NULL, STREAMS, 0, 0, NULL },
	{ "500 more were emitted", op_emitted_more, NULL, ONE, 0, 0, NULL },
	{ "500 fewer were emitted", op_emitted_less, NULL, ONE, ON(EVENTS),
	  IN(PERSIST), "the first packet alone says how many were overwritten" },
	{ "500 more were filtered", op_filtered, NULL, ONE, 0, 0, NULL },
	{ "500 more were lost", op_lost, NULL, ONE, 0, 0, NULL },
	{ "500 more were discarded", op_discarded, NULL, ONE, 0, 0, NULL },
	{ "500 more were emitted, lost and discarded", op_lost_all, NULL, ONE,
	  0, 0, NULL },
	{ "a later generation", op_newer, NULL, ONE, ON(CONTROL),
	  IN(DISCARD) | IN(PIPE),
	  "a start makes a new generation while its first packet is open" },
	{ "an earlier generation", op_older, NULL, ONE, 0, 0, NULL },
	{ "another number", op_seq, NULL, ONE, 0, 0, NULL },
	{ "a later begin", op_begin, NULL, ONE, 0, 0, NULL },
	{ "an earlier end", op_end, NULL, ONE, 0, 0, NULL },
	{ "another CPU", op_cpu, NULL, ONE, 0, 0, NULL },
	{ "another kind of ring", op_kind, NULL, ONE, 0, 0, NULL },
	{ "another trace", op_uuid, NULL, ONE, 0, 0, NULL },
	{ "no magic number", op_magic, NULL, ONE, 0, 0, NULL },
	{ "another thread", op_thread, NULL, ONE, ON(EVENTS), IN(PIECE) | IN(PERSIST),
	  "the thread before the first packet is not known" },
	{ "a packet without a checksum", op_unsealed, NULL, ONE | ON(NAMES), 0,
	  0, NULL },
	{ "a record is removed", op_record, NULL, ON(EVENTS) | ON(ALL_EVENTS),
	  ON(EVENTS) | ON(ALL_EVENTS), IN(PIECE),
	  "a nested writer counts before it stores" },
	{ "most records of a packet are removed", op_records, NULL,
	  ON(EVENTS) | ON(ALL_EVENTS), 0, 0, NULL },
	{ "most records of the first packet are removed", op_record_first, NULL,
	  ON(EVENTS) | ON(ALL_EVENTS), ON(EVENTS) | ON(ALL_EVENTS),
	  IN(OVERWRITE) | IN(PERSIST),
	  "the counts begin at the end of the first packet" },
	{ "most records of the last packet are removed", op_record_last, NULL,
	  ON(EVENTS) | ON(ALL_EVENTS), ON(EVENTS) | ON(ALL_EVENTS),
	  IN(PERSIST) | IN(RUNNING),
	  "the counters of an open packet are later than its records" },
	{ "events become those of another class", op_class, NULL, ON(EVENTS),
	  ON(EVENTS), IN(OVERWRITE) | IN(PERSIST) | IN(RUNNING) | IN(PIECE),
	  "no two ledgers count the classes" },
	{ "the start is removed", op_no_start, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "the end of the session is removed", op_no_stop, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "all markers of the session is removed", op_no_session, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "all markers of the profile is removed", op_no_profile, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "on-markers of the profile is removed", op_no_profile_on, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "off-markers of the profile is removed", op_no_profile_off, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "all ledgers are removed", op_no_ledger, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "the ledger of the stop is removed", op_no_stop_ledger, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "the ledger of the start is removed", op_no_start_ledger, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "the records of losses are removed", op_no_loss, NULL,
	  ON(CONTROL) | ON(ALL_CONTROLS), 0, 0, NULL },
	{ "the last ledger has more events", op_ledger_more, NULL, ON(CONTROL),
	  0, 0, NULL },
	{ "the last ledger has fewer events", op_ledger_less, NULL, ON(CONTROL),
	  0, 0, NULL },
	{ "more were filtered according to the last ledger", op_ledger_filtered,
	  NULL, ON(CONTROL), 0, 0, NULL },
	{ "more were lost according to the last ledger", op_ledger_lost, NULL,
	  ON(CONTROL), 0, 0, NULL },
	{ "only the metadata is left", NULL, op_only_metadata, ON(WHOLE), 0, 0, NULL },
	{ "all streams have 0 bytes", NULL, op_all_zero, ON(WHOLE), 0, 0, NULL },
	{ "all of a CPU is removed", NULL, op_cpu_gone, ON(WHOLE), ON(WHOLE),
	  IN(PIPE), "a pipe form does not list CPUs" },
	{ "all rings are removed", NULL, op_rings_gone, ON(WHOLE), 0, 0, NULL },
	{ "the names are of another session", NULL, op_names_foreign, ON(WHOLE),
	  0, 0, NULL },
	{ "the events of two CPUs are exchanged", NULL, op_files_swapped, ON(WHOLE),
	  ON(WHOLE), IN(PERSIST) | IN(RUNNING), "only the headers name the CPU" },
	{ "the metadata has no checksum, and is of an old version", NULL,
	  op_old_text, ON(WHOLE), 0, 0, NULL },
	{ "the metadata has no checksum", NULL, op_no_checksum, ON(WHOLE), 0, 0,
	  NULL },
	{ "another frequency", NULL, op_frequency, ON(WHOLE), 0, 0, NULL },
	{ "fewer CPUs in the metadata", NULL, op_fewer_cpus, ON(WHOLE), 0, 0, NULL },
	{ "no CPUs in the metadata", NULL, op_no_cpus, ON(WHOLE), 0, 0, NULL },
	{ "another name of an event", NULL, op_no_event, ON(WHOLE), 0, 0, NULL },
	{ "the metadata is of another trace", NULL, op_text_uuid, ON(WHOLE), 0,
	  0, NULL },
	{ "half of the metadata", NULL, op_half_text, ON(WHOLE), 0, 0, NULL },
};

/* ---- whole traces -------------------------------------------------------------------------- */

/* Close all rings of a CPU as a flush does: events, then the ledger, then the control ring. */
static void flush_rings(struct sim *s)
{
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_cut(s, cpu * 2 + KTAPE_RING_EVENT);
		sim_ledger(s, cpu, 2); /* of a flush */
		sim_cut(s, cpu * 2 + KTAPE_RING_CONTROL);
	}
}

/*
 * Remove the first @nr packets of a ring, which an earlier piece has, and put the empty packet
 * with which a piece begins there.
 */
static void carry_empty_packet(struct sim *s, unsigned int ring, unsigned int nr)
{
	struct sim_ring *r = &s->ring[ring];
	struct ktape_block *h = (void *)r->packets[nr - 1].data;

	for (unsigned int i = 0; i + 1 < nr; i++)
		sim_remove(s, ring, 0);
	h->ts_begin = h->ts_end;
	h->sync_clock = h->sync_mono_ns = 0;
	h->discarded = 0;
	h->tid = -1;
	h->context = KTAPE_CTX_CONTINUED;
	h->generation = 0;
	h->content_bits = h->packet_bits = KTAPE_BLOCK_HEADER * 8;
	r->packets[0].len = KTAPE_BLOCK_HEADER;
	ktape_packet_seal(h);
	/* The piece itself loses nothing, and does not report what was lost before it. */
	for (unsigned int i = 1; i < r->nr; i++) {
		h = (void *)r->packets[i].data;
		h->discarded -= h->lost[0] < h->discarded ? h->lost[0] :
							    h->discarded;
		ktape_packet_seal(h);
	}
}

/* Let a session record in a mode, and leave what a recorder would find. */
static struct sim *record_mode(enum mode mode)
{
	static const uint32_t of[] = {
		[DISCARD] = KTAPE_MODE_DISCARD,
		[OVERWRITE] = KTAPE_MODE_OVERWRITE,
		[SNAPSHOT] = KTAPE_MODE_SNAPSHOT,
		[PERSIST] = KTAPE_MODE_PERSISTENT,
		[RUNNING] = KTAPE_MODE_OVERWRITE,
		[PIECE] = KTAPE_MODE_DISCARD,
		[PIPE] = KTAPE_MODE_DISCARD,
	};
	struct sim *s = sim_new(seed);
	unsigned int before[SIM_RINGS];

	s->mode = of[mode];
	s->listed = mode != PIPE;
	sim_start(s);
	if (mode == DISCARD || mode == PIPE) {
		sim_work(s, STEPS / 2);
		s->losing[1] = 1U << KTAPE_CLASS_SYSCALL;
		sim_work(s, STEPS / 4);
		s->losing[1] = 0;
	}
	sim_work(s, STEPS);
	/* Some packets of the control rings. */
	for (unsigned int i = 0; (mode == DISCARD || mode == PIPE) && i < 70; i++) {
		sim_sync(s, 0, true);
		sim_sync(s, 1, true);
	}
	if (mode == PIECE) {
		flush_rings(s);
		for (unsigned int i = 0; i < SIM_RINGS; i++)
			before[i] = s->ring[i].nr;
		sim_work(s, STEPS);
		flush_rings(s);
		for (unsigned int i = 0; i < SIM_RINGS; i++)
			carry_empty_packet(s, i, before[i]);
		return s;
	}
	if (mode == SNAPSHOT)
		sim_stop_full(s, s->now);
	else if (!(ENDLESS & IN(mode)))
		sim_stop(s);
	sim_finish(s);
	for (unsigned int i = 0;
	     i < 3 && (mode == OVERWRITE || mode == PERSIST); i++) {
		sim_remove(s, 0, 0);
		sim_remove(s, 2, 0);
	}
	for (unsigned int i = 0; mode == PERSIST && i < SIM_RINGS; i++) {
		struct sim_ring *r = &s->ring[i];
		struct ktape_block *h = (void *)r->packets[r->nr - 1].data;

		h->flags |= KTAPE_BLOCK_UNCHECKED;
		ktape_packet_seal(h);
	}
	return s;
}

/* Make the whole trace of a mode. */
static void make_mode_trace(struct tamper *t, enum mode mode)
{
	const char *dir = trace_folder();
	struct sim *s = record_mode(mode);

	sim_save(s, dir, 0);
	sim_free(s);
	tamper_load(t, dir);
	trace_remove(dir);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* What `ktape verify` says of a trace. */
struct verdict {
	int ret;       /* number of violations, or a negative errno */
	uint64_t cuts; /* findings that something is cut off, which may be notes */
	char first[200]; /* the first violation or cut */
};

static void tamper_finding(void *arg, const struct ktape_finding *f)
{
	struct verdict *v = arg;

	if ((!f->note || f->cut) && !*v->first)
		snprintf(v->first, sizeof(v->first), "%s: %s",
			 ktape_rule_name(f->rule), f->text);
}

static struct verdict tamper_check(const struct tamper *t, bool pipe)
{
	struct verdict verdict = { .cuts = 0 };
	const struct ktape_verify_options how = { .finding = tamper_finding,
						  .arg = &verdict,
						  .jobs = 1 };
	const char *dir = trace_folder();
	struct ktape_verify_sum sum;
	struct ktape_error error;
	struct ktape_verify *v;
	char path[700];

	snprintf(path, sizeof(path), "%s%s", dir, pipe ? "/pipe" : "");
	if (pipe)
		tamper_pipe(t, path);
	else
		tamper_save(t, path);
	verdict.ret = ktape_verify_open(path, &how, &v, &error);
	if (!verdict.ret) {
		verdict.ret = ktape_verify_run(v);
		ktape_verify_sum(v, &sum);
		verdict.cuts = sum.cuts;
		ktape_verify_close(v);
	}
	trace_remove(dir);
	return verdict;
}

static bool is_tamper_target(const struct tamper_stream *s, enum target target)
{
	switch (target) {
	case EVENTS:
		return s->kind == KTAPE_RING_EVENT && !s->cpu;
	case CONTROL:
		return s->kind == KTAPE_RING_CONTROL && !s->cpu;
	case ALL_EVENTS:
		return s->kind == KTAPE_RING_EVENT;
	case ALL_CONTROLS:
		return s->kind == KTAPE_RING_CONTROL;
	case NAMES:
		return s->kind == KTAPE_RING_REGISTRY;
	default:
		return s->kind != KTAPE_RING_REGISTRY;
	}
}

static unsigned int tried, unpromised, passed;

/* Tamper with a copy of @whole, and check that it is found, unless the table says why not. */
static void try_kind(const struct tamper *whole, enum mode mode,
		     const struct kind *k, enum target target)
{
	bool changed = false,
	     silent = k->not_on & ON(target) && k->not_in & IN(mode);
	struct verdict v;
	struct tamper t;

	tamper_copy(&t, whole);
	if (k->trace)
		changed = k->trace(&t);
	for (unsigned int i = 0; k->stream && i < t.nr; i++)
		if (is_tamper_target(&t.streams[i], target))
			changed |= k->stream(&t.streams[i]);
	if (changed) {
		tried++;
		unpromised += silent;
		v = tamper_check(&t, mode == PIPE);
		if (!v.ret && !v.cuts && !silent) {
			passed++;
			printf("# nothing is wrong: %s: %s, %s\n", modes[mode],
			       k->name, targets[target]);
		}
	}
	tamper_free(&t);
}

static void try_whole(const struct tamper *whole, enum mode mode)
{
	struct verdict v = tamper_check(whole, mode == PIPE);

	check(!v.ret && !v.cuts, "%s: %d wrong, %llu cut in a whole trace: %s",
	      modes[mode], v.ret, (unsigned long long)v.cuts, v.first);
}

/* Try the kinds: each @step-th one, others for each @from below @step. */
static void try_mode(const struct tamper *whole, enum mode mode,
		     unsigned int from, unsigned int step)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (unsigned int target = 0; target < TARGETS; target++)
			if (kinds[i].on & ON(target) && !((nr++ + from) % step))
				try_kind(whole, mode, &kinds[i], target);
}

static bool try_all(void)
{
	const char *text = getenv("KTAPE_TAMPER");

	return text && !strcmp(text, "all");
}

static void test_tamper_whole(void)
{
	for (unsigned int mode = 0; mode < MODES; mode++) {
		struct tamper whole;

		make_mode_trace(&whole, mode);
		try_whole(&whole, mode);
		tamper_free(&whole);
	}
}

static void test_tamper_kinds(void)
{
	unsigned int seeds = try_all() ? SEEDS : 1;

	tried = unpromised = passed = 0;
	for (seed = 1; seed <= seeds; seed++)
		for (unsigned int mode = 0; mode < MODES; mode++) {
			struct tamper whole;

			make_mode_trace(&whole, mode);
			try_mode(&whole, mode, mode, try_all() ? 1 : MODES);
			tamper_free(&whole);
		}
	seed = 1;
	printf("# %u traces, of which nothing promises %u\n", tried, unpromised);
	check(tried > 100, "%u only", tried);
	check(!passed, "%u passed", passed);
}

static const struct tap_test tests[] = {
	{ "whole traces of all modes", test_tamper_whole },
	{ "tampered traces of all modes", test_tamper_kinds },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

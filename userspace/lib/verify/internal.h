/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace that is being verified: what the rules know of streams and CPUs. */
#ifndef _KT_VERIFY_INTERNAL_H
#define _KT_VERIFY_INTERNAL_H

#include "trace/trace.h"

/* So many contexts can have counted an event that they have not stored yet. */
#define KT_DEPTH	8

/**
 * struct kt_counts - of one class, or of all, at one moment
 * @emitted: had their bit set
 * @filtered: held back
 * @lost: lost in the ring
 * @records: seen in the stream
 */
struct kt_counts {
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost;
	uint64_t records;
};

/**
 * struct kt_vclass - one class of one ring
 * @said: by the last ledger record
 * @base: where counting begins
 * @records: seen so far
 * @told: losses that have an interval
 * @told_base: of these, before the base
 * @owed: emitted and nowhere to be found, at the last exact ledger
 */
struct kt_vclass {
	struct kt_counts said;
	struct kt_counts base;
	uint64_t records;
	uint64_t told;
	uint64_t told_base;
	int64_t owed;
};

/**
 * struct kt_vring - one stream of a CPU
 * @there: it has packets
 * @whole: it begins with the first record of its session
 * @hole: packets are missing or damaged, and that was told
 * @gaps: the reader told of gaps, so that losses are known by number only
 * @full: it has packets with records
 * @first_ts: begin of the first of these
 * @foreign: it has records of no known class
 * @packets: how many
 * @records: how many
 * @seq: of the last packet
 * @offset: of the last packet
 * @ts_begin: its begin
 * @ts_end: its end
 * @held: its last record is at the time of the one before, which is later
 * @looked: it was looked at for @steps
 * @steps: the clock goes back in the last packet
 * @lossy: something was lost in it or before it
 * @counted: @head was not compared with the records yet
 * @open: the last packet's counts are of a later moment than its end
 * @head: counts at the end of the last closed packet
 * @head_discarded: what that packet told
 * @headed: these two are known
 * @ahead: counts of the last open packet
 * @discarded: the most that any packet told
 * @based: @base and @base_missed are known
 * @base: counts where they begin
 * @base_missed: likewise
 * @missed: told to be overwritten before they could be read
 * @doubt: the last packet was open and told a loss
 * @class_based: counts of the classes have a beginning
 * @class_missed: @missed there
 * @judged: the ledger of a stop was compared with its records
 * @exact: @owed of the classes was computed and not judged
 * @told: all losses until the last exact ledger have their interval
 * @class: per class
 */
struct kt_vring {
	bool there;
	bool whole;
	bool hole;
	bool gaps;
	bool full;
	uint64_t first_ts;
	bool foreign;
	uint64_t packets;
	uint64_t records;
	uint64_t seq;
	uint64_t offset;
	uint64_t ts_begin;
	uint64_t ts_end;
	bool held;
	bool looked;
	bool steps;
	bool lossy;
	bool counted;
	bool open;
	struct kt_counts head;
	uint64_t head_discarded;
	bool headed;
	struct kt_counts ahead;
	uint64_t discarded;
	bool based;
	struct kt_counts base;
	uint64_t base_missed;
	uint64_t missed;
	bool doubt;
	bool class_based;
	uint64_t class_missed;
	bool judged;
	bool exact;
	bool told;
	struct kt_vclass class[KTAPE_CLASSES];
};

/**
 * enum kt_state - what the markers of a CPU say
 * @KT_STATE_UNKNOWN: no marker was seen, or some were lost
 * @KT_STATE_STARTING: its session starts
 * @KT_STATE_ON: its session records
 * @KT_STATE_ENDING: the on-markers have ended, the stop has not come yet
 * @KT_STATE_OFF: its session is stopped
 * @KT_STATE_OFFLINE: the CPU went
 */
enum kt_state {
	KT_STATE_UNKNOWN,
	KT_STATE_STARTING,
	KT_STATE_ON,
	KT_STATE_ENDING,
	KT_STATE_OFF,
	KT_STATE_OFFLINE
};

#define KT_NEST_MAX	16U

/**
 * struct kt_nest - handlers that run on top of each other
 * @nr: how many
 * @sure: there are no others
 * @id: their numbers
 */
struct kt_nest {
	unsigned int nr;
	bool sure;
	uint32_t id[KT_NEST_MAX];
};

/**
 * struct kt_vabsent - what is known of the asked time on a CPU
 * @until: it was to be recorded from @from until here without a break
 * @on: it is to be recorded ...
 * @since: ... since then
 * @last: until then it is certain
 * @found: there is one
 * @filtered: a filter was in force
 * @lost: events were lost
 * @ring_lost: the ring lost some, loss records tell of which class
 * @filter_on: a filter is in force ...
 * @filter_since: ... since then
 */
struct kt_vabsent {
	uint64_t until;
	bool on;
	uint64_t since;
	uint64_t last;
	bool found;
	bool filtered;
	bool lost;
	bool ring_lost;
	bool filter_on;
	uint64_t filter_since;
};

/**
 * struct kt_vcpu - one CPU
 * @cpu: which
 * @ring: its streams, event and control
 * @state: enum kt_state
 * @marked: the on-marker of the profile came since the start
 * @ledgered: the ledger of the stop came
 * @filtered: @filters are known
 * @masked: @mask is known
 * @mask: what it records
 * @filters: bit n: enum ktape_filter_kind n is in force
 * @tid: thread on it, -1 if not known
 * @doubt_until: nothing can be said of pairs until then
 * @irqs: handlers of hard interrupts
 * @softirqs: of soft ones
 * @samples: of the time in the tracer
 * @sampled: ticks
 * @opening: ticks for opening blocks
 * @damaged: a rule about its streams is broken
 * @absent: the question
 */
struct kt_vcpu {
	uint32_t cpu;
	struct kt_vring ring[KTAPE_RINGS_PER_CPU];
	enum kt_state state;
	bool marked;
	bool ledgered;
	bool filtered;
	bool masked;
	uint64_t mask[KTAPE_MASK_WORDS];
	uint32_t filters;
	int32_t tid;
	uint64_t doubt_until;
	struct kt_nest irqs;
	struct kt_nest softirqs;
	uint64_t samples;
	uint64_t sampled;
	uint64_t opening;
	bool damaged;
	struct kt_vabsent absent;
};

struct kt_calls;
struct kt_seen;

/**
 * struct ktape_verify - a trace that is being verified
 * @options: of the caller
 * @trace: it
 * @registry: the stream of names
 * @cpus: by number, NULL: nothing there
 * @without: by number: since when it runs without rings; 0: nobody said so
 * @errors: findings by rule
 * @notes: notes by rule
 * @failed: out of memory in a callback
 * @unstable: a clock was told not to be trusted
 * @rt: a kernel whose soft interrupts are preempted
 * @damaged: something is wrong with a file that cannot be told to be of one CPU
 * @names_lost: records of names may be missing
 * @paused: the session has been stopped
 * @events_lost: records of event rings are
 * @waits: the session waits for its reader, and has its names in control rings
 * @epoch: counts moments after which nothing is known of threads
 * @doubt_until: nothing can be said of threads until then
 * @records: so far
 * @event: that is being looked at, or NULL
 * @calls: threads in system calls
 * @seen: names that were looked for
 * @asked: there is a question
 * @question: it
 * @class: its event's class
 * @ring: its ring
 */
struct ktape_verify {
	struct ktape_verify_options options;
	struct ktape_trace *trace;
	struct kt_vring registry;
	struct kt_vcpu **cpus;
	uint64_t *without;
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	int failed;
	bool unstable;
	bool rt;
	bool damaged;
	bool names_lost;
	bool paused;
	bool events_lost;
	bool waits;
	uint64_t epoch;
	uint64_t doubt_until;
	uint64_t records;
	const struct ktape_event *event;
	struct kt_calls *calls;
	struct kt_seen *seen;
	bool asked;
	struct ktape_absence question;
	unsigned int class;
	unsigned int ring;
};

/* verify.c */
struct kt_vcpu *kt_verify_cpu(struct ktape_verify *v, uint32_t cpu);
void kt_verify_wrong(struct ktape_verify *v, unsigned int rule,
		     const struct kt_stream *s, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void kt_verify_note(struct ktape_verify *v, unsigned int rule,
		    const struct kt_stream *s, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void kt_verify_cpu_wrong(struct ktape_verify *v, unsigned int rule,
			 struct kt_vcpu *c, unsigned int ring,
			 const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* packet.c */
void kt_verify_packet(void *arg, struct kt_stream *s, const uint8_t *head);
void kt_ring_hole(struct kt_vring *r);
uint64_t kt_ring_missed(const struct kt_vring *r);
void kt_verify_bound(struct ktape_verify *v, struct kt_vcpu *c,
		     unsigned int ring);

/* ledger.c */
void kt_verify_ledger(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_verify_loss(struct ktape_verify *v, struct kt_vcpu *c,
		    const struct ktape_event *e);
void kt_verify_owed(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, bool last);

/* marker.c */
void kt_verify_marker(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_verify_recorded(struct ktape_verify *v, struct kt_vcpu *c,
			const struct ktape_event *e);
void kt_verify_ends(struct ktape_verify *v);

/* pair.c */
void kt_verify_doubt(struct ktape_verify *v, struct kt_vcpu *c, uint64_t until);
void kt_verify_head(struct ktape_verify *v, struct kt_vcpu *c,
		    const struct kt_stream *s);
void kt_verify_pairs(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e);

/* call.c */
int kt_calls_new(struct kt_calls **calls);
void kt_calls_free(struct kt_calls *calls);
void kt_calls_end(struct ktape_verify *v);
void kt_verify_call(struct ktape_verify *v, const struct kt_vcpu *c,
		    const struct ktape_event *e);

/* name.c */
int kt_seen_new(struct kt_seen **seen);
void kt_seen_free(struct kt_seen *seen);
void kt_seen_end(struct ktape_verify *v);
void kt_verify_names(struct ktape_verify *v, const struct ktape_event *e);

/* absent.c */
void kt_absent_event(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e);
void kt_absent_ring_lost(struct ktape_verify *v, struct kt_vcpu *c,
			 unsigned int ring, uint64_t from, uint64_t to);
void kt_absent_unknown(struct ktape_verify *v, struct kt_vcpu *c,
		       uint64_t from);
void kt_absent_lost(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, int class, uint64_t from, uint64_t to);
void kt_absent_profile(struct ktape_verify *v, struct kt_vcpu *c,
		       const uint64_t *mask, uint64_t ts);
void kt_absent_filters(struct ktape_verify *v, struct kt_vcpu *c, uint64_t ts);
void kt_absent_freeze(struct ktape_verify *v, uint64_t ts);
void kt_absent_end(struct ktape_verify *v, struct kt_vcpu *c);

/* Should there be something of a CPU? */
static inline bool kt_verify_lacks(const struct ktape_verify *v, uint32_t cpu)
{
	const uint64_t *cpus = v->trace->info.cpus;

	return !v->trace->single && cpu < KT_CPUS_MAX &&
	       cpus[cpu / 64] >> (cpu % 64) & 1 && !v->cpus[cpu];
}

static inline bool kt_verify_has(const struct kt_vcpu *c, unsigned int opcode)
{
	return c->masked && kt_mask_has(c->mask, opcode);
}

#endif /* _KT_VERIFY_INTERNAL_H */

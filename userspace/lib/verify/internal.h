/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of a check: what the rules know about each stream and CPU of the trace.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	report.c	findings and their places
 *	cpu.c		what all rules ask about a CPU and its rings
 *	missed.c parts.c absent.c account.c unsure.c
 *			rules that need no other rule
 *	call.c pair.c ledger.c packet.c marker.c
 *			rules about calls, handlers, counters, packets, markers
 *	foreign.c	traces of other tracers
 *	window_memory.c	what is kept when a CPU's events are checked ahead
 *	name.c		names of threads and functions
 *	record.c	all rules of one CPU for a record
 *	trial.c window_call.c window_name.c window.c
 *			many events at once, in threads
 *	verify.c	the check: its events, one after the other or in windows
 */
#ifndef _KT_VERIFY_INTERNAL_H
#define _KT_VERIFY_INTERNAL_H

#include "trace/trace.h"

#define KT_TIDS (1U << 22) /* the kernel's largest thread id, + 1 */

/**
 * struct kt_counts - counters of one class, or of a whole ring, at one moment
 * @emitted: events that were enabled when they occurred
 * @filtered: events that filters blocked
 * @lost: events that the ring lost
 * @reasons: the same by enum ktape_lost; only of a whole ring
 * @records: records read from the stream
 */
struct kt_counts {
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost;
	uint64_t reasons[KTAPE_LOST_REASONS];
	uint64_t records;
};

/**
 * struct kt_vclass - one class of one ring
 * @said: counters in the last ledger record
 * @base: counters where counting begins
 * @records: records read so far
 * @reported: lost events that loss records report
 * @reported_base: value of @reported where counting begins
 * @unaccounted: events unaccounted for at the last exact ledger: emitted - filtered - lost -
 *	records
 */
struct kt_vclass {
	struct kt_counts said;
	struct kt_counts base;
	uint64_t records;
	uint64_t reported;
	uint64_t reported_base;
	int64_t unaccounted;
};

/* From where on the events of a ring are counted. */
enum kt_origin {
	KT_ORIGIN_NONE,
	KT_ORIGIN_NEAR, /* from a packet's header: to within nested writers */
	KT_ORIGIN_EXACT /* from the ring's first packet, or from a start */
};

/**
 * struct kt_mark - counters of a ring at one place of its stream
 * @counts: what the ring has counted; @records are those that were read
 * @missed: events that were overwritten before they were read, as packets report
 */
struct kt_mark {
	struct kt_counts counts;
	uint64_t missed;
};

/**
 * struct kt_vring - one stream of a CPU
 *
 * A packet is closed if it is a block that the ring has filled or a flush has ended, and open
 * (KTAPE_BLOCK_OPEN) if the reader copied a block that was still being written.  A ledger is exact
 * at a start and a stop, when no event can occur.  A generation is the number of changes of
 * profile and filters, and of starts, up to then.
 *
 * @there: the stream has packets
 * @whole: the stream begins with the first packet of its session
 * @hole: packets are missing or damaged, and this was reported
 * @gaps: @nr_gaps is not 0, so that missed events are known only by number
 * @cut: records from before the first packet are missing
 * @carried: it goes on where an earlier piece of the recording ended
 * @late: the first packets had left the ring before the reader attached
 * @full: the stream has packets with records
 * @first_ts: begin time of the first packet with records, in ticks
 * @unknown_class: the stream has records of an unknown class
 * @generation: newest generation of profile and filters in a packet header
 * @packets: number of packets
 * @records: number of records
 * @seq: sequence number of the last packet
 * @offset: offset of the last packet in the file
 * @ts_begin: begin time of the last packet, in ticks
 * @ts_end: end time of the last packet, in ticks
 * @held: the last record got the time of the record before, because the clock stepped
 *	back
 * @steps_known: @steps is valid for the last packet
 * @steps: the clock steps back in the last packet
 * @lossy: events were lost in the last packet or directly before it
 * @counted: @head was not compared with the records yet
 * @open: an open packet came, and no closed one with later counters since
 * @head: counters of the last closed packet, unless an open packet before it has later ones
 * @head_discarded: losses that the packet of @head reports
 * @headed: @head and @head_discarded hold the counters of a packet
 * @ahead: counters of that open packet, which are later than its last record
 * @discarded: largest number of losses that any packet reports
 * @based: @base and @base_missed are valid
 * @base: counters where counting begins
 * @base_missed: value of @missed where counting begins
 * @missed: events that were overwritten before a reader read them, as packets report
 * @doubt: the last packet was open and reports a loss
 * @class_based: counting by classes has begun
 * @earlier: kt_ring_missed() before the packet that was loaded last
 * @class_missed: value of @missed where counting by classes began, at least
 * @class_missed_most: the same, at most: a packet that begins later reports one number for
 *	events that were missed before that and after it
 * @stop_checked: the ledger of a stop was compared with the records
 * @exact: @unaccounted of the classes was computed and not checked yet
 * @cut_short: the last exact ledger counts records that are not in the stream, and no later
 *	record is: the recording may have ended before they were read
 * @reported: all losses up to the last exact ledger have loss records
 * @class: counters of each class
 * @reported_before: losses that the first packet of a ring, or the first after a @hole, reports, at
 *	most as many as the ring itself counted; they may be from before the reader attached
 * @reported_reasons: the same by enum ktape_lost; 0 if the packet reports another number of
 *	losses than the ring counted
 * @origin: enum kt_origin
 * @from: counters where the account of the ring begins, see account.c; valid with @origin
 * @at: number of records that were read before the last ledger
 * @nr_closed: closed packets whose counters were taken
 * @nearest: counters at the end of the first of them
 * @farthest: counters at the end of the last of them
 * @high: counters of the last closed packet in any case: those of the next must not be smaller
 * @nr_gaps: packets behind the first that are marked with KTAPE_BLOCK_GAP or follow missing ones
 * @missed_ts: begin time of the first packet that reports missed events, in ticks, 0 = none does
 * @source: where the stream is read from
 * @open_end: the last packet was open: the recorder copied it when it ended
 * @recovered: packets were recovered after a reset
 * @cut_reported: the missing end of the stream was reported
 * @used: newest generation in the header of a packet whose records are read
 */
struct kt_vring {
	bool there;
	bool whole;
	bool hole;
	bool gaps;
	bool cut;
	bool carried;
	bool late;
	bool full;
	uint64_t first_ts;
	bool unknown_class;
	uint32_t generation;
	uint64_t packets;
	uint64_t records;
	uint64_t seq;
	uint64_t offset;
	uint64_t ts_begin;
	uint64_t ts_end;
	bool held;
	bool steps_known;
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
	uint64_t earlier;
	uint64_t class_missed;
	uint64_t class_missed_most;
	bool stop_checked;
	bool exact;
	bool cut_short;
	bool reported;
	struct kt_vclass class[KTAPE_CLASSES];
	uint64_t reported_before;
	uint64_t reported_reasons[KTAPE_LOST_REASONS];
	enum kt_origin origin;
	struct kt_mark from;
	uint64_t at;
	uint64_t nr_closed;
	struct kt_mark nearest;
	struct kt_mark farthest;
	struct kt_counts high;
	uint64_t nr_gaps;
	uint64_t missed_ts;
	enum kt_source source;
	bool open_end;
	bool recovered;
	bool cut_reported;
	uint32_t used;
};

/**
 * struct kt_account - what became of the events of a ring
 * @known: the trace says how many there were
 * @exact: the number is from the ledger of a stop
 * @emitted: how many there were; the following are parts of it
 * @filtered: filters blocked them
 * @lost: the ring lost them
 * @overwritten: they were before the first packet, and were overwritten
 * @cut: they were cut off, at the beginning or end of the stream
 * @lacking: nothing in the trace explains why they are missing; negative: there are more
 *	records than were counted
 * @head: @cut, or a part of it, is at the beginning
 */
struct kt_account {
	bool known;
	bool exact;
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t cut;
	int64_t lacking;
	bool head;
};

/**
 * enum kt_state - state of a CPU according to its markers
 * @KT_STATE_UNKNOWN: there was no marker, or markers were lost
 * @KT_STATE_STARTING: the session is starting
 * @KT_STATE_ON: the session records
 * @KT_STATE_ENDING: the off-marker of the profile came, but not the stop
 * @KT_STATE_OFF: the session is stopped
 * @KT_STATE_OFFLINE: the CPU went offline
 */
enum kt_state {
	KT_STATE_UNKNOWN,
	KT_STATE_STARTING,
	KT_STATE_ON,
	KT_STATE_ENDING,
	KT_STATE_OFF,
	KT_STATE_OFFLINE
};

#define KT_NEST_MAX 16U /* more handlers than nest on a CPU */

/**
 * struct kt_nest - nested interrupt handlers
 * @nr: number of known running handlers
 * @sure: no other handlers are running
 * @id: numbers of the handlers, the innermost last
 */
struct kt_nest {
	unsigned int nr;
	bool sure;
	uint32_t id[KT_NEST_MAX];
};

/**
 * struct kt_vabsent - proof on one CPU that the event in question is absent
 * @until: the event was enabled without a break from the start of the range until
 *	then, in ticks
 * @on: the event is enabled now
 * @since: if @on: time at which the event was enabled, in ticks
 * @last: time of the last event of its ring, in ticks
 * @found: the event is in the trace
 * @filtered: a filter was in force in the range
 * @lost: events were lost in the range, or a record of the event cannot be decoded
 * @ring_lost: the ring lost events in the range; loss records report their class
 * @filter_on: a filter is in force now
 * @filter_since: if @filter_on: time from which the filter is in force, in ticks
 * @running: the event was enabled without a break until the end of the trace
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
	bool running;
};

/**
 * struct kt_vcpu - one CPU
 * @cpu: CPU number
 * @ring: event stream and control stream
 * @state: enum kt_state
 * @generation: of profile and filters, according to their last marker
 * @profiled: generation of the profile, according to its last marker
 * @profiled_ts: time of that marker, in ticks
 * @starts: @starts of struct ktape_verify when the session stopped on this CPU
 * @early: events came after that stop, because the session was started while the CPU was
 *	offline: a record that the CPU came online must follow
 * @restarted: the running thread was recorded after that stop, as a start does first
 * @late: number of events after the session's stop, if that is the last record of the
 *	control ring
 * @late_at: place of the first of them
 * @marked: an on-marker of the profile came since the start
 * @ledgered: the ledger of the stop came
 * @filtered: @filters is valid
 * @masked: @mask is valid
 * @mask: enabled events, bit n is opcode n
 * @filters: filters in force, bit n is enum ktape_filter_kind n
 * @tid: running thread, -1 = not known
 * @switched: time at which another thread began to run last, in ticks
 * @doubt_until: pairs are not checked up to this time, in ticks
 * @irqs: running handlers of hard interrupts
 * @softirqs: running handlers of soft interrupts
 * @samples: number of samples of the time in the tracer
 * @sampled: sum of these samples in ticks
 * @opening: ticks spent opening blocks
 * @stacks_cut: call stacks that have more frames than their records
 * @damaged: a rule about the streams of this CPU is violated
 * @cut_off: a missing part of them was reported
 * @absent: proof that the event in question is absent on this CPU
 */
struct kt_vcpu {
	uint32_t cpu;
	struct kt_vring ring[KTAPE_RINGS_PER_CPU];
	enum kt_state state;
	uint32_t generation;
	uint32_t profiled;
	uint64_t profiled_ts;
	uint64_t starts;
	bool early;
	bool restarted;
	uint64_t late;
	struct ktape_finding late_at;
	bool marked;
	bool ledgered;
	bool filtered;
	bool masked;
	uint64_t mask[KTAPE_MASK_WORDS];
	uint32_t filters;
	int32_t tid;
	uint64_t switched;
	uint64_t doubt_until;
	struct kt_nest irqs;
	struct kt_nest softirqs;
	uint64_t samples;
	uint64_t sampled;
	uint64_t opening;
	uint64_t stacks_cut;
	bool damaged;
	bool cut_off;
	struct kt_vabsent absent;
};

/**
 * struct kt_vmissed - hits of the probe of one event that did not reach the tracer
 * @known: time up to which records say what was missed, in ticks; 0 = there is none
 * @reported_to: end of the last interval in which hits were missed, by enum ktape_missed; 0 =
 *	there is none
 * @sum: missed hits of all intervals, by enum ktape_missed
 */
struct kt_vmissed {
	uint64_t known;
	uint64_t reported_to[KTAPE_MISSED_REASONS];
	struct ktape_verify_missed sum[KTAPE_MISSED_REASONS];
};

struct kt_calls;
struct kt_foreign_check;
struct kt_checked_names;
struct kt_windows;
struct kt_trial;

/**
 * struct ktape_verify - a check of a trace
 * @options: options of the caller
 * @trace: the trace
 * @registry: the stream of names
 * @cpus: CPUs by number, NULL = no packet
 * @with: by CPU number: time at which it got rings, before it came online for the first
 *	time, in ticks; 0 = it had some before, or the trace does not say
 * @without: by CPU number: time from which the CPU has no rings, in ticks; 0 = it has
 *	rings
 * @missed: missed hits by opcode
 * @errors: violations by rule
 * @notes: notes by rule
 * @failed: -ENOMEM if a function that returns no error ran out of memory, else 0
 * @unstable: the kernel does not trust the trace clock
 * @rt: PREEMPT_RT kernel, where soft interrupts are preempted
 * @damaged: a file is damaged, and it is not known which CPU it belongs to
 * @names_lost: records of names may be missing
 * @paused: the session was stopped at least once
 * @finished: set at the end of the trace: it has the end of the session
 * @starts: number of on-markers of the session, of all CPUs
 * @events_lost: records of event rings are missing
 * @waits: the session has discard mode, in which names are in control rings
 * @keeps: the session's mode never overwrites a record
 * @cuts: findings about parts that are missing
 * @persistent: the session records into memory that survives a reset
 * @epoch: raised when events may be missing: states of threads from an earlier epoch
 *	are not used
 * @doubt_until: calls are not checked up to this time, in ticks
 * @calls_checked: calls are checked, or were, on one CPU at least
 * @records: records read so far
 * @event: current event, or NULL
 * @calls: threads in system calls
 * @checked: thread ids and functions whose names were looked up
 * @foreign: what is known of a trace of another tracer; NULL = the trace is native
 * @one_by_one: do not use windows
 * @windows: checks the trace in windows, NULL = one event after the other
 * @trial: this is a copy for the events of one CPU in a window, see window.c; NULL = it
 *	is the check itself
 * @asked: ktape_verify_ask() was called
 * @question: the question
 * @class: class of the event in question
 * @ring: ring of this class
 * @unseen: hits of its probe were missed in the range of the question
 * @unlooked: no record says what was missed up to the end of the range
 */
struct ktape_verify {
	struct ktape_verify_options options;
	struct ktape_trace *trace;
	struct kt_vring registry;
	struct kt_vcpu **cpus;
	uint64_t *with;
	uint64_t *without;
	struct kt_vmissed *missed;
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	int failed;
	bool unstable;
	bool rt;
	bool damaged;
	bool names_lost;
	bool paused;
	bool finished;
	uint64_t starts;
	bool events_lost;
	bool waits;
	bool keeps;
	uint64_t cuts;
	bool persistent;
	uint64_t epoch;
	uint64_t doubt_until;
	bool calls_checked;
	uint64_t records;
	const struct ktape_event *event;
	struct kt_calls *calls;
	struct kt_checked_names *checked;
	struct kt_foreign_check *foreign;
	bool one_by_one;
	struct kt_windows *windows;
	struct kt_trial *trial;
	bool asked;
	struct ktape_absence question;
	unsigned int class;
	unsigned int ring;
	bool unseen;
	bool unlooked;
};

/* foreign.c: traces of other Linux tracers */
int kt_foreign_new(struct kt_foreign_check **check);
void kt_foreign_free(struct kt_foreign_check *f);
void kt_foreign_lost(struct ktape_verify *v, const struct ktape_notice *n);
void kt_foreign_back(struct ktape_verify *v, const struct ktape_notice *n);
void kt_foreign_event(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_foreign_end(struct ktape_verify *v);

/* report.c: violations (wrong), notes, and notes that a part of the trace is missing (cut) */
void kt_verify_wrong(struct ktape_verify *v, unsigned int rule,
		     const struct kt_stream *s, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void kt_verify_event_wrong(struct ktape_verify *v, unsigned int rule,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void kt_verify_note(struct ktape_verify *v, unsigned int rule,
		    const struct kt_stream *s, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void kt_verify_cut(struct ktape_verify *v, unsigned int rule,
		   const struct kt_vcpu *c, unsigned int ring,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));
struct ktape_finding kt_verify_place(const struct ktape_verify *v,
				     unsigned int rule, const struct kt_stream *s);
void kt_verify_wrong_at(struct ktape_verify *v, const struct ktape_finding *at,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void kt_verify_note_at(struct ktape_verify *v, const struct ktape_finding *at,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void kt_verify_cpu_wrong(struct ktape_verify *v, unsigned int rule,
			 struct kt_vcpu *c, unsigned int ring, const char *format,
			 ...) __attribute__((format(printf, 5, 6)));

/* cpu.c: kt_verify_cpu() returns NULL if the number is too large, or without memory (@failed) */
struct kt_vcpu *kt_verify_cpu(struct ktape_verify *v, uint32_t cpu);
bool kt_verify_exhausted(const struct ktape_verify *v, uint32_t cpu,
			 unsigned int ring);
bool kt_verify_unmarked(const struct ktape_verify *v, const struct kt_vcpu *c,
			uint64_t ts);
void kt_verify_doubt(struct ktape_verify *v, struct kt_vcpu *c, uint64_t until);
void kt_cpu_forget(struct kt_vcpu *c);
void kt_ring_hole(struct kt_vring *r);
uint64_t kt_ring_missed(const struct kt_vring *r);
uint64_t kt_ring_missed_between(const struct kt_vring *r,
				const struct kt_counts *now, uint64_t discarded);

/* record.c: returns true if the event is also for kt_verify_call() */
bool kt_verify_local(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct kt_stream *s, const struct ktape_event *e);

/* packet.c */
void kt_verify_packet(void *arg, struct kt_stream *s, const uint8_t *head);
void kt_verify_header(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct kt_stream *s, const uint8_t *head);
void kt_verify_counters(struct ktape_verify *v, struct kt_vcpu *c,
			unsigned int ring);

/* account.c */
void kt_account_end(struct ktape_verify *v);

/* parts.c */
void kt_parts_packet(struct ktape_verify *v, struct kt_vring *r,
		     const struct kt_stream *s, const uint8_t *head);
void kt_parts_generation(struct ktape_verify *v, struct kt_vcpu *c,
			 const struct kt_stream *s);
void kt_parts_profile(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_parts_end(struct ktape_verify *v);

/* ledger.c: kt_verify_ledger() returns true at the ledger of a start */
bool kt_verify_ledger(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_verify_loss(struct ktape_verify *v, struct kt_vcpu *c,
		    const struct ktape_event *e);
void kt_verify_unaccounted(struct ktape_verify *v, struct kt_vcpu *c,
			   unsigned int ring, bool last);

/* marker.c */
void kt_verify_marker(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e);
void kt_verify_recorded(struct ktape_verify *v, struct kt_vcpu *c,
			const struct ktape_event *e);
bool kt_verify_finished(const struct ktape_verify *v);
void kt_verify_ends(struct ktape_verify *v);

/* missed.c */
void kt_verify_missed(struct ktape_verify *v, const struct ktape_event *e);
void kt_missed_end(struct ktape_verify *v);
bool kt_question_is_return(const struct ktape_verify *v);

/* pair.c: kt_verify_pairs() returns whether the calls of the event's thread can be checked */
void kt_verify_head_thread(struct ktape_verify *v, struct kt_vcpu *c,
			   const struct kt_stream *s);
bool kt_verify_pairs(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e);
void kt_pair_unmatched(struct ktape_verify *v, struct kt_nest *n, uint32_t id,
		       const char *name);
void kt_pair_none(struct ktape_verify *v, struct kt_nest *n, const char *name,
		  bool known);
void kt_pair_switch(struct ktape_verify *v, const struct kt_vcpu *c, int32_t prev);
bool kt_pairs_irqs(const struct kt_vcpu *c);
bool kt_pairs_softirqs(const struct ktape_verify *v, const struct kt_vcpu *c);

/* call.c */
int kt_calls_new(struct kt_calls **calls);
void kt_calls_free(struct kt_calls *calls);
void kt_calls_end(struct ktape_verify *v);
void kt_verify_call(struct ktape_verify *v, const struct kt_vcpu *c,
		    const struct ktape_event *e);

/* name.c */
int kt_checked_names_new(struct kt_checked_names **checked);
void kt_checked_names_free(struct kt_checked_names *checked);
void kt_checked_names_end(struct ktape_verify *v);
const uint64_t *kt_names_tids(const struct kt_checked_names *checked);
bool kt_name_is_checked(const struct kt_checked_names *checked,
			unsigned int type, uint32_t id);
bool kt_names_at_limit(const struct kt_checked_names *checked);
void kt_name_check(struct ktape_verify *v, unsigned int type, uint32_t id,
		   uint64_t ts);
void kt_name_match(struct ktape_verify *v, const struct ktape_event *e);
void kt_verify_names(struct ktape_verify *v, const struct ktape_event *e);

/* absent.c */
void kt_absent_event(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e);
void kt_absent_last(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, uint64_t ts);
void kt_absent_ring_lost(struct ktape_verify *v, struct kt_vcpu *c,
			 unsigned int ring, uint64_t from, uint64_t to);
void kt_absent_unknown(struct ktape_verify *v, struct kt_vcpu *c, uint64_t from);
void kt_absent_lost(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, int class, uint64_t from, uint64_t to);
void kt_absent_profile(struct ktape_verify *v, struct kt_vcpu *c,
		       const uint64_t *mask, uint64_t ts);
void kt_absent_filters(struct ktape_verify *v, struct kt_vcpu *c, uint64_t ts);
void kt_absent_freeze(struct ktape_verify *v, uint64_t ts);
void kt_absent_end(struct ktape_verify *v, struct kt_vcpu *c);

/*
 * Remember that a handler begins.  If the table is full, ends are missing: forget all handlers, and
 * that no others are running.
 */
static inline void kt_nest_begin(struct kt_nest *n, uint32_t id)
{
	if (n->nr == KT_NEST_MAX) {
		n->nr = 0;
		n->sure = false;
	}
	n->id[n->nr++] = id;
}

/* Forget a handler that ends.  Return: false, and nothing changes, if another one runs. */
static inline bool kt_nest_end(struct kt_nest *n, uint32_t id)
{
	if (!n->nr || n->id[n->nr - 1] != id)
		return false;
	n->nr--;
	return true;
}

/* Check for a CPU that had rings although the trace has no packet of it. */
static inline bool kt_verify_lacks(const struct ktape_verify *v, uint32_t cpu)
{
	const uint64_t *cpus = v->trace->info.cpus;

	return !v->trace->single && cpu < KT_CPUS_MAX && !v->cpus[cpu] &&
	       (cpus[cpu / 64] >> (cpu % 64) & 1 || v->with[cpu]);
}

/* Check whether an event is known to be enabled on a CPU. */
static inline bool kt_verify_is_enabled(const struct kt_vcpu *c, unsigned int opcode)
{
	return c->masked && kt_mask_has(c->mask, opcode);
}

#endif /* _KT_VERIFY_INTERNAL_H */

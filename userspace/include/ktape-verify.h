/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: checking that a trace is complete and consistent, and proving that an
 * event did not occur.
 *
 * Included by ktape.h.  Reading events is in ktape-trace.h.
 */
#ifndef _KTAPE_VERIFY_H
#define _KTAPE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/abi.h>

#include "ktape-event.h"
#include "ktape-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ktape_rule - rules that a trace must obey
 * @KTAPE_RULE_CHECKSUM: metadata and all packets have a valid checksum
 * @KTAPE_RULE_FORM: all packets and records can be read
 * @KTAPE_RULE_SEQUENCE: no packet of a stream is missing, repeated or out of order
 * @KTAPE_RULE_TIME: time does not go back on a CPU
 * @KTAPE_RULE_LEDGER: emitted = records + filtered + lost + overwritten + cut off, for each
 *	class and for each ring
 * @KTAPE_RULE_BOUND: the same at the end of each packet, except for the events of
 *	writers that were nested at that moment
 * @KTAPE_RULE_LOSS: loss records report each loss with its interval
 * @KTAPE_RULE_MARKER: the records of start and stop are in order, and events only
 *	between them
 * @KTAPE_RULE_PAIR: interrupt handlers and system calls begin and end in turn
 * @KTAPE_RULE_SWITCH: the thread switched out is the one that was switched in
 * @KTAPE_RULE_NAME: threads and functions that events refer to have names
 * @KTAPE_RULE_CLOCK: the clocks of all CPUs agree
 * @KTAPE_RULES: number of rules
 */
enum ktape_rule {
	KTAPE_RULE_CHECKSUM,
	KTAPE_RULE_FORM,
	KTAPE_RULE_SEQUENCE,
	KTAPE_RULE_TIME,
	KTAPE_RULE_LEDGER,
	KTAPE_RULE_BOUND,
	KTAPE_RULE_LOSS,
	KTAPE_RULE_MARKER,
	KTAPE_RULE_PAIR,
	KTAPE_RULE_SWITCH,
	KTAPE_RULE_NAME,
	KTAPE_RULE_CLOCK,
	KTAPE_RULES
};

/**
 * struct ktape_finding - a violation of a rule, or a note
 * @rule: enum ktape_rule
 * @note: not a violation: the trace explains the finding, or lacks the data to check it
 * @cut: a note: a part of the trace is missing, because it was cut off or taken away
 * @stream: the finding is about one stream, and @cpu and @ring are valid
 * @cpu: CPU of the stream
 * @ring: enum ktape_ring_kind of the stream
 * @packet: sequence number of the packet in its stream, 0 = none
 * @offset: byte offset in the file
 * @ts: time in ticks, 0 = none
 * @text: a sentence for users, without a full stop
 */
struct ktape_finding {
	uint32_t rule;
	bool note;
	bool stream;
	bool cut;
	uint32_t cpu;
	uint32_t ring;
	uint64_t packet;
	uint64_t offset;
	uint64_t ts;
	char text[200];
};

#define KTAPE_TRACER_SAMPLES 30U /* fewest that give a time of each event */

/**
 * struct ktape_verify_cpu - totals of one CPU
 * @cpu: CPU number
 * @packets: packets of its rings
 * @records: records in these packets
 * @filtered: events that filters blocked, according to the trace: those between the
 *	ledgers of the session's start and stop where the trace has both, else those since
 *	the end of a ring's first closed packet, or of the first one after missing packets
 * @lost: events that the rings lost, according to the trace: as @filtered, but without the
 *	ledgers also those that this first packet reports
 * @missed: events that were overwritten before they were read: those that packets report,
 *	and those that the ledgers count before the first packet of a ring
 * @cut: events that the ledgers count and that are not in the trace, because a stream was
 *	cut off at its beginning or end
 * @tracer_ns: time spent in the tracer in ns, estimated from samples
 * @samples: number of samples, 0 = @tracer_ns is not known; with fewer than
 *	KTAPE_TRACER_SAMPLES it says nothing, because one interrupted sample decides it
 * @emitted: events that occurred while their opcodes were enabled, as the ledgers of the
 *	session's start and stop say, whatever has become of them
 * @counted: @emitted is known: the trace has both ledgers
 */
struct ktape_verify_cpu {
	uint32_t cpu;
	uint64_t packets;
	uint64_t records;
	uint64_t filtered;
	uint64_t lost;
	uint64_t missed;
	uint64_t tracer_ns;
	uint64_t samples;
	uint64_t emitted;
	bool counted;
	uint64_t cut;
};

/**
 * struct ktape_verify_sum - how much of a trace was checked
 * @cpus: CPUs that had rings, as far as the trace says
 * @judged: of these, those of which both rings are there, and whose sums are right
 * @emitted: events of all rings, from where the trace begins to count them
 * @accounted: of these, those that are records, filtered, lost or overwritten
 * @cut: of these, those that were cut off
 * @cuts: number of findings with the member @cut of struct ktape_finding
 * @exact: what was emitted is from the ledgers of stops.  Else it is from headers of
 *	packets, to within the number of nested writers
 */
struct ktape_verify_sum {
	uint32_t cpus;
	uint32_t judged;
	uint64_t emitted;
	uint64_t accounted;
	uint64_t cut;
	uint64_t cuts;
	bool exact;
};

/**
 * struct ktape_verify_missed - hits of a probe that did not reach the tracer
 * @event: opcode of the probe's event
 * @reason: enum ktape_missed
 * @count: number of hits on all CPUs; 0 = not known (KTAPE_MISSED_DETACHED)
 * @first: they were missed after this time, in ticks
 * @last: and before this time, in ticks
 *
 * No ring counts them: they are not among the emitted events.
 */
struct ktape_verify_missed {
	uint32_t event;
	uint32_t reason;
	uint64_t count;
	uint64_t first;
	uint64_t last;
};

/**
 * enum ktape_verdict - whether an event occurred
 * @KTAPE_ABSENT_PROVED: it did not occur: it was enabled the whole time, and is
 *	not in the trace
 * @KTAPE_ABSENT_FOUND: it occurred: it is in the trace
 * @KTAPE_ABSENT_NOT_ENABLED: not known: it was not enabled the whole time
 * @KTAPE_ABSENT_FILTERED: not known: a filter may have blocked it
 * @KTAPE_ABSENT_LOST: not known: it may have been lost
 */
enum ktape_verdict {
	KTAPE_ABSENT_PROVED,
	KTAPE_ABSENT_FOUND,
	KTAPE_ABSENT_NOT_ENABLED,
	KTAPE_ABSENT_FILTERED,
	KTAPE_ABSENT_LOST
};

/**
 * struct ktape_absence - the question whether an event is absent
 * @opcode: opcode of the event
 * @field: name of a field as in the table, NULL = any value of any field
 * @value: value of @field; signed fields extended to 64 bits
 * @from: first tick of the time range
 * @to: first tick after the time range
 * @one_cpu: ask only about @cpu; else about each CPU of the trace
 * @cpu: CPU number
 */
struct ktape_absence {
	uint32_t opcode;
	const char *field;
	uint64_t value;
	uint64_t from;
	uint64_t to;
	bool one_cpu;
	uint32_t cpu;
};

/**
 * struct ktape_verify_options - callbacks of a check
 * @finding: called with each finding, may be NULL
 * @progress: called now and then with the number of records so far; a value other
 *	than 0 ends the check with -EINTR, except for a live stream with @wake; may
 *	be NULL
 * @arg: first argument of both
 * @wake: descriptor as in struct ktape_trace_options, 0 = none.  If the sender does
 *	not end the stream soon after @wake became readable, the check ends with
 *	-EINTR
 * @jobs: number of threads that check, the caller included; 0 = one for each CPU.
 *	What is found does not depend on it.  @finding and @progress are called in the
 *	caller's thread
 */
struct ktape_verify_options {
	void (*finding)(void *arg, const struct ktape_finding *finding);
	int (*progress)(void *arg, uint64_t records);
	void *arg;
	int wake;
	unsigned int jobs;
};

/* A check of a trace. */
struct ktape_verify;

/**
 * ktape_verify_open() - Open a trace to check it
 * @path: a CTF directory, a pipe-form file, or "-" for a pipe form on standard
 *	input; or a trace of another Linux tracer (lttng, tracecmd, perf), of which only
 *	order, pairs, switches and reported losses are checked
 * @options: may be NULL
 * @verify: set on success; release with ktape_verify_close()
 * @error: as for ktape_trace_open()
 *
 * Return: as ktape_trace_open(); -EBADMSG also for formats of
 * programs and RTOSes.
 */
int ktape_verify_open(const char *path, const struct ktape_verify_options *options,
		      struct ktape_verify **verify, struct ktape_error *error);

/**
 * ktape_verify_info() - Return the contents of the metadata
 * @verify: the check
 *
 * Return: the contents, valid until ktape_verify_close().
 */
const struct ktape_info *ktape_verify_info(const struct ktape_verify *verify);

/**
 * ktape_verify_ask() - Also find out whether an event is absent
 * @verify: a check that was not run yet
 * @absence: the question
 *
 * Return: 0; -EINVAL if the trace has no such event or field, if @to is not after
 * @from, or if a question was asked before; -ERANGE if the field cannot have the
 * value: a proof of its absence would then mean nothing.
 */
int ktape_verify_ask(struct ktape_verify *verify,
		     const struct ktape_absence *absence);

/**
 * ktape_verify_run() - Read and check the whole trace
 * @verify: the check
 *
 * Return: number of violations (at most INT_MAX), or the negative errno with which
 * reading ended.
 */
int ktape_verify_run(struct ktape_verify *verify);

/**
 * ktape_verify_count() - Count the findings of one rule
 * @verify: a check that was run
 * @rule: enum ktape_rule
 * @notes: set to the number of notes, may be NULL
 *
 * Return: number of violations.
 */
uint64_t ktape_verify_count(const struct ktape_verify *verify,
			    unsigned int rule, uint64_t *notes);

/**
 * ktape_verify_next_cpu() - Return the totals of the next CPU
 * @verify: a check that was run
 * @cpu: in: its member @cpu is the lowest CPU number to return, 0 for the first
 *	call, last result + 1 for the next; out: the totals
 *
 * Return: true, or false if there is no further CPU.
 */
bool ktape_verify_next_cpu(const struct ktape_verify *verify,
			   struct ktape_verify_cpu *cpu);

/**
 * ktape_verify_sum() - Return how much of the trace was checked
 * @verify: a check that was run
 * @sum: set to the counts
 */
void ktape_verify_sum(const struct ktape_verify *verify,
		      struct ktape_verify_sum *sum);

/**
 * ktape_verify_lost() - Return why events of a CPU were lost
 * @verify: a check that was run
 * @cpu: CPU number
 * @lost: set to the numbers of events by enum ktape_lost.  Their sum is the member @lost of
 *	struct ktape_verify_cpu, less what was lost before the trace begins and what the
 *	trace does not give a reason for
 *
 * Return: true, or false if the trace does not have the CPU.
 */
bool ktape_verify_lost(const struct ktape_verify *verify, uint32_t cpu,
		       uint64_t lost[KTAPE_LOST_REASONS]);

/**
 * ktape_verify_missed() - Return which hits of probes did not reach the tracer
 * @verify: a check that was run
 * @nr: number of the result, counted from 0
 * @missed: set to the hits of one event that were missed for one reason
 *
 * Return: true, or false if there are not so many.
 */
bool ktape_verify_missed(const struct ktape_verify *verify, unsigned int nr,
			 struct ktape_verify_missed *missed);

/**
 * ktape_verify_verdict() - Return whether the event occurred on a CPU
 * @verify: a check that was asked and run
 * @cpu: CPU number, or -1 for all CPUs of the question
 * @why: set to a sentence, valid until ktape_verify_close(); may be NULL
 *
 * Return: enum ktape_verdict.
 */
unsigned int ktape_verify_verdict(const struct ktape_verify *verify, int cpu,
				  const char **why);

/**
 * ktape_verify_close() - Free a check
 * @verify: the check, or NULL
 */
void ktape_verify_close(struct ktape_verify *verify);

/**
 * ktape_rule_name() - Return the name of a rule
 * @rule: enum ktape_rule
 *
 * Return: the name ("checksum"), or NULL.
 */
const char *ktape_rule_name(unsigned int rule);

/**
 * ktape_mono_ticks() - Convert CLOCK_MONOTONIC to trace time
 * @info: metadata of the trace
 * @ns: CLOCK_MONOTONIC in ns
 *
 * Return: the first tick of the trace clock that is not before @ns.
 */
uint64_t ktape_mono_ticks(const struct ktape_info *info, int64_t ns);

/**
 * ktape_epoch_ticks() - Convert nanoseconds since the epoch to trace time
 * @info: metadata of the trace
 * @ns: ns since the epoch
 *
 * Return: the first tick of the trace clock that is not before @ns.
 */
uint64_t ktape_epoch_ticks(const struct ktape_info *info, int64_t ns);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_VERIFY_H */

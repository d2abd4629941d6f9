/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: is a trace what it says?  Included by ktape.h. */
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
 * enum ktape_rule - what a trace has to keep
 * @KTAPE_RULE_CHECKSUM: metadata and each packet have a checksum, which is right
 * @KTAPE_RULE_FORM: what is there can be read, to its end
 * @KTAPE_RULE_SEQUENCE: no packet of a stream is missing, comes twice or late
 * @KTAPE_RULE_TIME: time does not go back on a CPU
 * @KTAPE_RULE_LEDGER: emitted = records + filtered + lost, class by class
 * @KTAPE_RULE_BOUND: the same in each packet, within the depth of nesting
 * @KTAPE_RULE_LOSS: each loss has its interval
 * @KTAPE_RULE_MARKER: markers come in their order, records only between them
 * @KTAPE_RULE_PAIR: what begins ends, and what ends began
 * @KTAPE_RULE_SWITCH: the thread that leaves a CPU is the one that came
 * @KTAPE_RULE_NAME: threads and functions have names
 * @KTAPE_RULE_CLOCK: all CPUs have one time
 * @KTAPE_RULES: how many there are
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
 * struct ktape_finding - something that is wrong, or that should be known
 * @rule: enum ktape_rule
 * @note: nothing is wrong: it was told, or it cannot be judged
 * @stream: it is about one stream
 * @cpu: its CPU
 * @ring: enum ktape_ring_kind
 * @packet: number of the packet in its stream, 0 if there is none
 * @offset: in bytes from the beginning of the file
 * @ts: when, 0 if there is no time
 * @text: a sentence for people, without a full stop
 */
struct ktape_finding {
	uint32_t rule;
	bool note;
	bool stream;
	uint32_t cpu;
	uint32_t ring;
	uint64_t packet;
	uint64_t offset;
	uint64_t ts;
	char text[200];
};

/**
 * struct ktape_verify_cpu - what there is of one CPU
 * @cpu: the CPU
 * @packets: of its rings
 * @records: in them
 * @filtered: told to be held back by filters, since the first packet
 * @lost: told to be lost in its rings, likewise
 * @missed: told to be overwritten before they could be read
 * @tracer_ns: time in the tracer for these, estimated from samples
 * @samples: how many there are, 0: the time is not known
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
};

/**
 * enum ktape_verdict - was there such an event?
 * @KTAPE_ABSENT_PROVED: no: it was to be recorded all the time, and was not
 * @KTAPE_ABSENT_FOUND: yes, it is in the trace
 * @KTAPE_ABSENT_NOT_ENABLED: it was not to be recorded all the time
 * @KTAPE_ABSENT_FILTERED: a filter may have held it back
 * @KTAPE_ABSENT_LOST: it may have been lost
 */
enum ktape_verdict {
	KTAPE_ABSENT_PROVED,
	KTAPE_ABSENT_FOUND,
	KTAPE_ABSENT_NOT_ENABLED,
	KTAPE_ABSENT_FILTERED,
	KTAPE_ABSENT_LOST
};

/**
 * struct ktape_absence - which event is asked for
 * @opcode: the event
 * @field: one of its fields as in the table, or NULL
 * @value: that it has; signed fields extended to 64 bits
 * @from: ticks of the trace clock: not before
 * @to: before here
 * @one_cpu: only on @cpu, else on each CPU of the trace
 * @cpu: the CPU
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
 * struct ktape_verify_options - who is told
 * @finding: called with each finding, may be NULL
 * @progress: called now and then with the number of records so far, may be NULL;
 *	not 0 ends it with -EINTR, if it is no live stream with @wake
 * @arg: for both
 * @wake: as in struct ktape_trace_options, 0: none; a stream that does not end
 *	soon after it ends with -EINTR
 */
struct ktape_verify_options {
	void (*finding)(void *arg, const struct ktape_finding *finding);
	int (*progress)(void *arg, uint64_t records);
	void *arg;
	int wake;
};

/* A trace that is being verified. */
struct ktape_verify;

/**
 * ktape_verify_open() - begin to verify a trace
 * @path: a CTF directory, a pipe-form file, or "-" for one on standard input
 * @options: may be NULL
 * @verify: set; ends with ktape_verify_close()
 * @error: as with ktape_trace_open()
 *
 * Return: as ktape_trace_open(); -EBADMSG also for formats of others.
 */
int ktape_verify_open(const char *path,
		      const struct ktape_verify_options *options,
		      struct ktape_verify **verify, struct ktape_error *error);

/**
 * ktape_verify_info() - what the metadata tells
 * @verify: the trace
 *
 * Return: as long as it is open.
 */
const struct ktape_info *ktape_verify_info(const struct ktape_verify *verify);

/**
 * ktape_verify_ask() - also judge whether an event is absent
 * @verify: not run yet
 * @absence: the question
 *
 * Return: 0, -EINVAL if the trace has no such event or field, if @to is not
 * after @from, or if it is asked twice; -ERANGE if the field cannot have the
 * value: nothing would be proved about it.
 */
int ktape_verify_ask(struct ktape_verify *verify,
		     const struct ktape_absence *absence);

/**
 * ktape_verify_run() - read it all
 * @verify: the trace
 *
 * Return: how many findings are no notes (at most INT_MAX), or the negative errno
 * with which reading ended.
 */
int ktape_verify_run(struct ktape_verify *verify);

/**
 * ktape_verify_count() - findings of one rule
 * @verify: the trace, which was run
 * @rule: enum ktape_rule
 * @notes: set to how many are notes, may be NULL
 *
 * Return: how many are none.
 */
uint64_t ktape_verify_count(const struct ktape_verify *verify,
			    unsigned int rule, uint64_t *notes);

/**
 * ktape_verify_next_cpu() - what there is of the next CPU
 * @verify: the trace, which was run
 * @cpu: filled; its member of that name is where to look on from, at first 0, and
 *	to be raised by one from call to call
 *
 * Return: true, or false if there is no further one.
 */
bool ktape_verify_next_cpu(const struct ktape_verify *verify,
			   struct ktape_verify_cpu *cpu);

/**
 * ktape_verify_verdict() - was there such an event on a CPU?
 * @verify: the trace, which was asked and run
 * @cpu: the CPU, or -1 for the verdict on all that were asked for
 * @why: set to a sentence, as long as the trace is open; may be NULL
 *
 * Return: enum ktape_verdict.
 */
unsigned int ktape_verify_verdict(const struct ktape_verify *verify, int cpu,
				  const char **why);

/**
 * ktape_verify_close() - the end
 * @verify: or NULL
 */
void ktape_verify_close(struct ktape_verify *verify);

/**
 * ktape_rule_name() - name of a rule
 * @rule: enum ktape_rule
 *
 * Return: the name ("checksum"), or NULL.
 */
const char *ktape_rule_name(unsigned int rule);

/**
 * ktape_mono_ticks() - the first tick not before a time
 * @info: of the trace
 * @ns: CLOCK_MONOTONIC
 *
 * Return: ticks of the trace clock.
 */
uint64_t ktape_mono_ticks(const struct ktape_info *info, int64_t ns);

/**
 * ktape_epoch_ticks() - the same of the system's time
 * @info: of the trace
 * @ns: since the epoch
 *
 * Return: ticks of the trace clock.
 */
uint64_t ktape_epoch_ticks(const struct ktape_info *info, int64_t ns);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_VERIFY_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse times on the command line, and check that the trace has the selected times
 * and CPUs.  If it does not, that is an error: an empty output would mean that
 * nothing had happened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"
#include "util/parse.h"

#include "tool/input/range.h"
#include "tool/shared/message.h"

/*
 * Times from 31 years on are since the epoch, because no machine runs that long.
 * Smaller ones are CLOCK_MONOTONIC.  "@" makes a small one a time since the epoch, for
 * boards without a battery, whose clock begins in 1970.
 */
#define EPOCH_FROM (1000000000LL * NS_PER_S)
#define TIME_TEXT  40  /* bytes of a time */
#define CPUS_TEXT  128 /* bytes of a list of CPUs */
#define CPUS_ENTRY 24  /* room for one more ",A-B", or for ",..." */

/**
 * moment_parse() - parse a time of the command line, or print what is wrong with it
 * @command: the subcommand
 * @option: long name of the option
 * @text: time as in kt_parse_time(), or "@" and a time; NULL: not given
 * @m: set to the time; unchanged if @text is NULL
 *
 * Return: 0 or the exit code.
 */
int moment_parse(const struct kt_command *command, const char *option,
		 const char *text, struct moment *m)
{
	const bool epoch = text && *text == '@';
	uint64_t ns = 0;
	int err;

	if (!text)
		return 0;
	err = kt_parse_time(text + epoch, &ns);
	if (err || ns > INT64_MAX)
		return wrong_time(command, option, text, err);
	m->given = true;
	m->mono = !epoch && ns < EPOCH_FROM;
	m->ns = (int64_t)ns;
	return 0;
}

/**
 * moment_is_after() - is a moment after a time of a trace?
 * @m: the moment
 * @info: information of the trace
 * @ts: the time, in ticks
 *
 * Return: true if it is.
 */
bool moment_is_after(const struct moment *m, const struct ktape_info *info,
		     uint64_t ts)
{
	return (m->mono ? ktape_mono_ns(info, ts) : ktape_epoch_ns(info, ts)) <
	       m->ns;
}

/**
 * moment_ticks() - convert a moment to the clock of a trace
 * @m: the moment
 * @info: information of the trace
 *
 * Return: the first tick that is not before it.
 */
uint64_t moment_ticks(const struct moment *m, const struct ktape_info *info)
{
	return m->mono ? ktape_mono_ticks(info, m->ns) :
			 ktape_epoch_ticks(info, m->ns);
}

/**
 * range_check_order() - check that a range is not empty, if both of its ends are given
 * @command: the subcommand
 * @r: the range
 * @info: information of the trace
 *
 * Return: 0 or the exit code.
 */
int range_check_order(const struct kt_command *command, const struct range *r,
		      const struct ktape_info *info)
{
	bool same = r->from.mono == r->to.mono;

	if (!r->from.given || !r->to.given)
		return 0;
	if (same ? r->from.ns < r->to.ns :
		   moment_ticks(&r->from, info) < moment_ticks(&r->to, info))
		return 0;
	return misuse(command,
		      "the range is empty: its first time has to be less than the second");
}

/**
 * range_add_info() - note the CPUs whose rings were recorded
 * @r: the range
 * @info: information of the trace
 */
void range_add_info(struct range *r, const struct ktape_info *info)
{
	for (size_t i = 0; info->has_cpus && i < KT_ARRAY_SIZE(info->cpus) &&
			   i < KT_ARRAY_SIZE(r->cpus);
	     i++)
		r->cpus[i] |= info->cpus[i];
}

/**
 * range_add_loss() - note the times and CPU of a gap
 * @r: the range
 * @n: KTAPE_NOTICE_LOST; the trace covers its time, only the events are missing
 */
void range_add_loss(struct range *r, const struct ktape_notice *n)
{
	const struct ktape_event from = { .ts = n->from,
					  .cpu = n->cpu,
					  .kind = n->ring };
	struct ktape_event to = from;

	to.ts = kt_max(n->from, n->to);
	range_add(r, &from);
	range_add(r, &to);
}

/**
 * range_empty() - forget what was added to a range
 * @r: the range
 */
void range_empty(struct range *r)
{
	r->any = false;
	memset(r->cpus, 0, sizeof(r->cpus));
}

/**
 * range_join() - note the times and CPUs of another range
 * @r: the range
 * @other: range to which events were added
 */
void range_join(struct range *r, const struct range *other)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(r->cpus); i++)
		r->cpus[i] |= other->cpus[i];
	if (!other->any)
		return;
	r->first = r->any ? kt_min(r->first, other->first) : other->first;
	r->last = r->any ? kt_max(r->last, other->last) : other->last;
	r->any = true;
}

/* Write a time in the form that the command line takes. */
static const char *show_time(const struct moment *m, char text[TIME_TEXT])
{
	int64_t ns = m->ns;

	if (m->mono)
		snprintf(text, TIME_TEXT, "%s%lld.%09lld", ns < 0 ? "-" : "",
			 llabs(ns / NS_PER_S), llabs(ns % NS_PER_S));
	else
		snprintf(text, TIME_TEXT, "%s%lldns",
			 ns < EPOCH_FROM ? "@" : "", (long long)ns);
	return text;
}

/* Convert a time of the trace to the clock of the moment @like. */
static struct moment moment_of_text(const struct moment *like,
				    const struct ktape_info *info, uint64_t ts)
{
	struct moment m = *like;

	m.ns = m.mono ? ktape_mono_ns(info, ts) : ktape_epoch_ns(info, ts);
	return m;
}

/**
 * range_check_times() - check that the trace overlaps the range
 * @r: range to which all events were added
 * @info: information of the trace
 *
 * Return: 0, also if the trace has no event and no gap; or the exit code.
 */
int range_check_times(const struct range *r, const struct ktape_info *info)
{
	char asked[TIME_TEXT], first[TIME_TEXT], last[TIME_TEXT];
	const struct moment *m = NULL;
	struct moment a, b;
	bool early;

	if (!r->any)
		return 0;
	if (r->from.given && moment_is_after(&r->from, info, r->last))
		m = &r->from;
	else if (r->to.given && !moment_is_after(&r->to, info, r->first))
		m = &r->to;
	if (!m)
		return 0;
	a = moment_of_text(m, info, r->first);
	b = moment_of_text(m, info, r->last);
	/*
	 * The clock of the trace began in 1970: times since the epoch, which its JSON has, are so
	 * small that without "@" they are taken for CLOCK_MONOTONIC.
	 */
	early = m->mono && ktape_epoch_ns(info, r->first) < EPOCH_FROM;
	return fail("the trace has nothing %s %s: it goes from %s to %s%s",
		    m == &r->from ? "from" : "before", show_time(m, asked),
		    show_time(&a, first), show_time(&b, last),
		    early ? "; write @ before times of its JSON" : "");
}

/**
 * range_has_cpu() - does the trace have a CPU?
 * @r: range to which all events were added
 * @cpu: CPU number
 *
 * Return: true if it does.
 */
bool range_has_cpu(const struct range *r, uint64_t cpu)
{
	return cpu < RANGE_CPUS && r->cpus[cpu / 64] >> (cpu % 64) & 1;
}

/* Write the CPUs of the trace: "0-3,5", cut with ",..." if there are too many. */
static const char *show_cpus(const struct range *r, char text[CPUS_TEXT])
{
	size_t len = 0;
	uint32_t end;

	snprintf(text, CPUS_TEXT, "none");
	for (uint32_t cpu = 0; cpu < RANGE_CPUS; cpu = end + 1) {
		end = cpu;
		if (!range_has_cpu(r, cpu))
			continue;
		while (range_has_cpu(r, end + 1))
			end++;
		if (CPUS_TEXT - len < CPUS_ENTRY) {
			snprintf(text + len, CPUS_TEXT - len, ",...");
			break;
		}
		len += (size_t)snprintf(text + len, CPUS_TEXT - len, "%s%u",
					len ? "," : "", cpu);
		if (end > cpu)
			len += (size_t)snprintf(text + len, CPUS_TEXT - len,
						"-%u", end);
	}
	return text;
}

/**
 * range_note_cpu() - print a note that the trace lacks one of the selected CPUs
 * @r: range to which all events were added
 * @cpu: CPU number
 */
void range_note_cpu(const struct range *r, uint64_t cpu)
{
	char text[CPUS_TEXT];

	note("the trace has no CPU %llu: it has %s", (unsigned long long)cpu,
	     show_cpus(r, text));
}

/**
 * range_refuse_cpu() - print the error that the trace has no such CPU
 * @r: range to which all events were added
 * @cpu: CPU number
 *
 * Return: the exit code.
 */
int range_refuse_cpu(const struct range *r, uint64_t cpu)
{
	char text[CPUS_TEXT];

	return fail("the trace has no CPU %llu: it has %s",
		    (unsigned long long)cpu, show_cpus(r, text));
}

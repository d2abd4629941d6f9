// SPDX-License-Identifier: GPL-2.0-only
/* Write findings and counts of a checked trace as JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/text.h"
#include "tool/verify/verify.h"

/**
 * verify_put_finding() - write a finding
 * @f: where to write
 * @finding: the finding
 * @first: no comma is needed before it
 */
void verify_put_finding(FILE *f, const struct ktape_finding *finding, bool first)
{
	static const char *const rings[] = { "event", "control", "registry" };

	fprintf(f, "%s\n{\"rule\":\"%s\",\"note\":%s,\"cut\":%s",
		first ? "" : ",", ktape_rule_name(finding->rule),
		finding->note ? "true" : "false", finding->cut ? "true" : "false");
	if (finding->stream)
		fprintf(f, ",\"cpu\":%u,\"ring\":\"%s\"", finding->cpu,
			rings[finding->ring % KT_ARRAY_SIZE(rings)]);
	fprintf(f, ",\"packet\":%llu,\"offset\":%llu,\"ticks\":\"%llu\",\"text\":",
		(unsigned long long)finding->packet,
		(unsigned long long)finding->offset,
		(unsigned long long)finding->ts);
	write_json_text(f, finding->text);
	fputc('}', f);
}

/* Write how many events of a CPU were lost for each reason. */
static void put_reasons(FILE *f, const struct ktape_verify *verify, uint32_t cpu)
{
	uint64_t lost[KTAPE_LOST_REASONS];

	ktape_verify_lost(verify, cpu, lost);
	fputs(",\"reasons\":{", f);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		fprintf(f, "%s\"%s\":%llu", i ? "," : "", lost_reasons[i],
			(unsigned long long)lost[i]);
	fputc('}', f);
}

/* Write which hits of probes are in none of the counts.  A count of 0 is not known: null. */
static void put_missed(FILE *f, const struct ktape_verify *verify)
{
	const struct ktape_event_desc *desc;
	struct ktape_verify_missed m;

	fputs(",\"missed_hits\":[", f);
	for (unsigned int i = 0; ktape_verify_missed(verify, i, &m); i++) {
		desc = ktape_event_desc(m.event);
		fprintf(f, "%s{\"event\":", i ? "," : "");
		write_json_text(f, desc ? desc->name : "?");
		fprintf(f, ",\"reason\":\"%s\",\"count\":", missed_reasons[m.reason]);
		if (m.count)
			fprintf(f, "%llu", (unsigned long long)m.count);
		else
			fputs("null", f);
		fprintf(f, ",\"first\":\"%llu\",\"last\":\"%llu\"}",
			(unsigned long long)m.first, (unsigned long long)m.last);
	}
	fputc(']', f);
}

/* Write how much of the trace was checked. */
static void put_sum(FILE *f, const struct ktape_verify *verify)
{
	struct ktape_verify_sum sum;

	ktape_verify_sum(verify, &sum);
	fprintf(f, ",\"judged\":{\"cpus\":%u,\"of_cpus\":%u,\"emitted\":%llu,\"accounted\":%llu,\"cut\":%llu,\"exact\":%s},\"cuts\":%llu",
		sum.judged, sum.cpus, (unsigned long long)sum.emitted,
		(unsigned long long)sum.accounted, (unsigned long long)sum.cut,
		sum.exact ? "true" : "false", (unsigned long long)sum.cuts);
}

/**
 * verify_put_counts() - write the counts of CPUs and rules, behind the findings
 * @f: where to write
 * @verify: a check that was run
 */
void verify_put_counts(FILE *f, const struct ktape_verify *verify)
{
	struct ktape_verify_cpu c = { .cpu = 0 };
	const char *comma = "";

	fprintf(f, "\n],\"cpus\":[");
	for (; ktape_verify_next_cpu(verify, &c); c.cpu++) {
		fprintf(f, "%s\n{\"cpu\":%u,\"packets\":%llu,\"records\":%llu,\"filtered\":%llu,\"lost\":%llu,\"missed\":%llu,\"cut\":%llu,\"tracer_ns\":%llu,\"samples\":%llu",
			comma, c.cpu, (unsigned long long)c.packets,
			(unsigned long long)c.records,
			(unsigned long long)c.filtered, (unsigned long long)c.lost,
			(unsigned long long)c.missed, (unsigned long long)c.cut,
			(unsigned long long)c.tracer_ns,
			(unsigned long long)c.samples);
		put_reasons(f, verify, c.cpu);
		if (c.counted)
			fprintf(f, ",\"emitted\":%llu}",
				(unsigned long long)c.emitted);
		else
			fputs(",\"emitted\":null}", f);
		comma = ",";
	}
	fputs("\n]", f);
	put_missed(f, verify);
	put_sum(f, verify);
	fputs(",\"rules\":{", f);
	for (unsigned int i = 0; i < KTAPE_RULES; i++) {
		uint64_t notes, wrong = ktape_verify_count(verify, i, &notes);

		fprintf(f, "%s\"%s\":{\"wrong\":%llu,\"notes\":%llu}",
			i ? "," : "", ktape_rule_name(i),
			(unsigned long long)wrong, (unsigned long long)notes);
	}
	fputc('}', f);
}

/* Findings that are being written. */
struct findings {
	FILE *f;
	unsigned int shown;
	uint64_t left_out;
};

static void take_json_finding(void *arg, const struct ktape_finding *finding)
{
	struct findings *to = arg;

	if (to->shown >= VERIFY_SHOWN) {
		to->left_out++;
		return;
	}
	verify_put_finding(to->f, finding, !to->shown);
	to->shown++;
}

/**
 * verify_put_json() - check a trace and write what ktape verify --json prints
 * @f: where to write
 * @trace: path of the trace
 *
 * If the trace cannot be checked, "wrong" is null and "why" has the reason.
 *
 * Return: 0 or -ENOMEM.
 */
int verify_put_json(FILE *f, const char *trace)
{
	struct findings to = { .f = f };
	const struct ktape_verify_options how = {
		.finding = take_json_finding,
		.arg = &to,
	};
	struct ktape_error error = { .text = "" };
	struct ktape_verify *verify = NULL;
	int ret;

	fprintf(f, "{\"findings\":[");
	ret = ktape_verify_open(trace, &how, &verify, &error);
	if (!ret)
		ret = ktape_verify_run(verify);
	if (ret < 0) {
		fprintf(f, "\n],\"wrong\":null,\"why\":");
		write_json_text(f, *error.text ? error.text : strerror(-ret));
		fprintf(f, "}\n");
	} else {
		verify_put_counts(f, verify);
		fprintf(f, ",\"wrong\":%d,\"left_out\":%llu}\n", ret,
			(unsigned long long)to.left_out);
	}
	ktape_verify_close(verify);
	return ret == -ENOMEM ? ret : 0;
}

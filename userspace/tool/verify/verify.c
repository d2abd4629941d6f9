// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape verify: check that a trace is consistent, or prove that an event did not
 * occur (--absent).  This file has the command line and the output; the rules are
 * the library's (lib/verify/).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"
#include "util/parse.h"

#include "tool/input/range.h"
#include "tool/shared/color.h"
#include "tool/shared/duration.h"
#include "tool/shared/event_list.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"
#include "tool/verify/verify.h"

#define NAMES 1024U /* a name is compared with those of the values below this */

/* Exit codes of --absent besides EXIT_OK (proved) and EXIT_USAGE. */
enum { EXIT_FOUND = 1, EXIT_NOT_ENABLED = 3, EXIT_FILTERED, EXIT_LOST };

struct verify_options {
	bool json;
	bool all;
	bool quiet;
	bool strict;
	const char *absent;
	const char *from;
	const char *to;
	uint64_t cpu;
	uint64_t jobs;
	struct text_options text;
};

#define OPT(member) offsetof(struct verify_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "as one JSON object" },
	{ "all", 'a', KT_OPT_FLAG, OPT(all), NULL,
	  "show all findings, not only the first 100" },
	{ "quiet", 'q', KT_OPT_FLAG, OPT(quiet), NULL,
	  "show only what is wrong or cut off" },
	{ "strict", 0, KT_OPT_FLAG, OPT(strict), NULL,
	  "fail also if events were lost, overwritten or cut off" },
	{ "absent", 0, KT_OPT_TEXT, OPT(absent), "EVENT[:FIELD=VALUE]",
	  "prove that there was no such event" },
	{ "from", 0, KT_OPT_TEXT, OPT(from), "TIME", RANGE_FROM_HELP },
	{ "to", 0, KT_OPT_TEXT, OPT(to), "TIME", RANGE_TO_HELP },
	{ "cpu", 'c', KT_OPT_NUMBER, OPT(cpu), "CPU",
	  "with --absent: only on this CPU" },
	{ "jobs", 'J', KT_OPT_NUMBER, OPT(jobs), "N",
	  "threads that check, default: one for each CPU" },
	COLOR_OPTION(struct verify_options, text),
	{ .name = NULL },
};

static const struct {
	const char *name;
	int code;
	enum kt_role role;
} results[] = {
	[KTAPE_ABSENT_PROVED] = { "PROVED", EXIT_OK, ROLE_GOOD },
	[KTAPE_ABSENT_FOUND] = { "FOUND", EXIT_FOUND, ROLE_ERROR },
	[KTAPE_ABSENT_NOT_ENABLED] = { "NOT-ENABLED", EXIT_NOT_ENABLED, ROLE_LOSS },
	[KTAPE_ABSENT_FILTERED] = { "FILTERED", EXIT_FILTERED, ROLE_LOSS },
	[KTAPE_ABSENT_LOST] = { "LOST", EXIT_LOST, ROLE_LOSS },
};

/**
 * struct run - a check
 * @o: options
 * @verify: the checker; NULL while the trace is being opened
 * @shown: findings that were printed
 * @left_out: findings beyond VERIFY_SHOWN
 * @wrong: findings that are not notes
 * @progress: show progress
 */
struct run {
	struct verify_options o;
	struct ktape_verify *verify;
	uint64_t shown;
	uint64_t left_out;
	uint64_t wrong;
	bool progress;
};

static void print_place(const struct run *r, const struct ktape_finding *f)
{
	static const char *const rings[] = { "cpu", "control" };
	int64_t ns;

	if (f->stream && f->ring < KTAPE_RING_REGISTRY)
		printf("%s%u: ", rings[f->ring], f->cpu);
	else if (f->stream)
		printf("registry: ");
	if (f->packet)
		printf("packet %llu ", (unsigned long long)f->packet);
	if (f->stream || f->offset)
		printf("at byte %llu", (unsigned long long)f->offset);
	/* Findings while opening have no time, because the clock is not known yet. */
	if (f->ts && r->verify) {
		ns = ktape_mono_ns(ktape_verify_info(r->verify), f->ts);
		printf(" [%lld.%09lld]", (long long)(ns / NS_PER_S),
		       (long long)llabs(ns % NS_PER_S));
	}
	if (f->stream || f->offset)
		printf(": ");
}

static void take_shown_finding(void *arg, const struct ktape_finding *f)
{
	struct run *r = arg;

	if (f->note && !f->cut && r->o.quiet)
		return;
	r->wrong += !f->note;
	if (!r->o.all && r->shown >= VERIFY_SHOWN) {
		r->left_out++;
		return;
	}
	if (r->o.json) {
		verify_put_finding(stdout, f, !r->shown);
	} else {
		printf("%s%s%s %s: ", role_begin(f->note ? ROLE_LOSS : ROLE_ERROR),
		       f->cut  ? "cut" :
		       f->note ? "note" :
				 "wrong",
		       role_end(), ktape_rule_name(f->rule));
		print_place(r, f);
		put_shown(stdout, f->text);
		putchar('\n');
	}
	r->shown++;
}

static int take_progress(void *arg, uint64_t records)
{
	const struct run *r = arg;

	if (r->progress)
		fprintf(stderr, "\r%llu records ", (unsigned long long)records);
	return signals_came();
}

/* Print a number of lost events. */
static void print_count(int width, uint64_t count)
{
	printf("%s%*llu%s ", count ? role_begin(ROLE_LOSS) : "", width,
	       (unsigned long long)count, count ? role_end() : "");
}

/* Print for which reasons all CPUs lost events, if they did. */
static void print_reasons(const struct run *r)
{
	uint64_t sum[KTAPE_LOST_REASONS] = { 0 }, lost[KTAPE_LOST_REASONS];
	struct ktape_verify_cpu c = { .cpu = 0 };
	const char *before = "lost:";

	for (; ktape_verify_next_cpu(r->verify, &c); c.cpu++) {
		ktape_verify_lost(r->verify, c.cpu, lost);
		for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
			sum[i] += lost[i];
	}
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		if (!sum[i])
			continue;
		printf("%s %s=%llu", before, lost_reasons[i],
		       (unsigned long long)sum[i]);
		before = "";
	}
	if (!*before)
		putchar('\n');
}

/*
 * Print how many hits of probes are in none of the counts above, and why.  A count of 0 stands for
 * an unknown number.
 */
static void print_missed(const struct run *r)
{
	const char *before = "hits that did not reach the tracer:";
	const struct ktape_event_desc *desc;
	struct ktape_verify_missed m;

	for (unsigned int i = 0; ktape_verify_missed(r->verify, i, &m); i++) {
		desc = ktape_event_desc(m.event);
		printf("%s %s %s=", before, desc ? desc->name : "?",
		       missed_reasons[m.reason]);
		if (m.count)
			printf("%llu", (unsigned long long)m.count);
		else
			putchar('?');
		before = ",";
	}
	if (*before == ',')
		putchar('\n');
}

static void print_cpu_counts(const struct run *r)
{
	struct ktape_verify_cpu c = { .cpu = 0 };
	char spent[DURATION_ROOM];

	if (r->o.quiet)
		return;
	printf("%s%3s %8s %12s %12s %12s %10s %11s %10s %s%s\n",
	       role_begin(ROLE_HEAD), "cpu", "packets", "emitted", "records",
	       "filtered", "lost", "overwritten", "cut", "in the tracer",
	       role_end());
	for (; ktape_verify_next_cpu(r->verify, &c); c.cpu++) {
		printf("%s%3u%s %8llu ", role_begin(ROLE_CPU), c.cpu,
		       role_end(), (unsigned long long)c.packets);
		if (c.counted)
			printf("%12llu ", (unsigned long long)c.emitted);
		else
			printf("%12s ", "-");
		printf("%12llu %12llu ", (unsigned long long)c.records,
		       (unsigned long long)c.filtered);
		print_count(10, c.lost);
		print_count(11, c.missed); /* overwritten before they were read */
		print_count(10, c.cut);
		if (c.samples >= KTAPE_TRACER_SAMPLES)
			printf("about %s, by %llu samples\n",
			       duration_text(spent, c.tracer_ns, "ns"),
			       (unsigned long long)c.samples);
		else if (c.samples)
			printf("too few samples (%llu)\n",
			       (unsigned long long)c.samples);
		else
			puts("not known");
	}
	print_reasons(r);
	print_missed(r);
}

/* Print the result of --absent.  Return: its exit code. */
static int print_absence(const struct run *r)
{
	struct ktape_verify_cpu c = { .cpu = 0 };
	const char *why;
	unsigned int all = ktape_verify_verdict(r->verify, -1, &why);
	const char *comma = "";

	if (r->o.json)
		printf(",\"verdict\":\"%s\",\"verdicts\":[", results[all].name);
	else
		printf("%s%s%s: %s%s\n", role_begin(results[all].role),
		       results[all].name, role_end(), why,
		       r->o.cpu != UINT64_MAX ||
				       ktape_verify_info(r->verify)->has_cpus ?
			       "" :
			       " (on the CPUs below; the trace does not say which other CPUs there were)");
	for (; ktape_verify_next_cpu(r->verify, &c); c.cpu++) {
		unsigned int one =
			ktape_verify_verdict(r->verify, (int)c.cpu, &why);

		if (r->o.cpu != UINT64_MAX && r->o.cpu != c.cpu)
			continue;
		if (r->o.json)
			printf("%s{\"cpu\":%u,\"verdict\":\"%s\"}", comma,
			       c.cpu, results[one].name);
		else
			printf("  CPU %s%u%s %s%s%s: %s\n", role_begin(ROLE_CPU),
			       c.cpu, role_end(), role_begin(results[one].role),
			       results[one].name, role_end(), why);
		comma = ",";
	}
	if (r->o.json)
		putchar(']');
	return results[all].code;
}

/* Print the counts of CPUs, the result and the totals.  Return: the exit code. */
static int print_verify_result(const struct run *r, int wrong)
{
	int code = verify_code(r->verify, wrong, r->o.strict);

	if (r->o.json)
		verify_put_counts(stdout, r->verify);
	else
		print_cpu_counts(r);
	if (r->o.absent)
		code = print_absence(r);
	if (r->o.json) {
		printf(",\"wrong\":%d,\"left_out\":%llu}\n", wrong,
		       (unsigned long long)r->left_out);
		return code;
	}
	if (r->left_out)
		printf("and %llu further findings (use --all to show them)\n",
		       (unsigned long long)r->left_out);
	if (!r->o.quiet || wrong || code == EXIT_CUT)
		verify_print_sum(r->verify, wrong);
	return code;
}

static const char *name_of_value(const struct ktape_info *info,
				 unsigned int type, uint64_t value)
{
	return type == KTAPE_TYPE_SYSCALL ?
		       ktape_syscall_name(info->machine, (unsigned int)value) :
		       ktape_value_name(type, value);
}

/* Parse a value: "-5", "0x1f", or a name of the field's type. */
static int parse_field_value(const struct ktape_info *info, const char *text,
			     const struct ktape_event_desc *desc,
			     const char *field, uint64_t *value)
{
	const char *name;
	bool negative = *text == '-';

	if (!kt_parse_u64(text + negative, value)) {
		if (negative)
			*value = -*value;
		return 0;
	}
	for (unsigned int i = 0; i < desc->nr_fields; i++) {
		if (strcmp(desc->fields[i].name, field))
			continue;
		for (*value = 0; *value < NAMES; ++*value) {
			name = name_of_value(info, desc->fields[i].type, *value);
			if (name && !strcmp(name, text))
				return 0;
		}
	}
	return -EINVAL;
}

/* Parse --from and --to for --absent.  Return: 0 or the exit code. */
static int take_range(struct run *r, const struct kt_command *command,
		      struct ktape_absence *q)
{
	const struct ktape_info *info = ktape_verify_info(r->verify);
	struct range range = { .any = false };
	int ret;

	if (!r->o.from || !r->o.to)
		return misuse(command, "--absent needs --from and --to");
	ret = moment_parse(command, "from", r->o.from, &range.from);
	if (!ret)
		ret = moment_parse(command, "to", r->o.to, &range.to);
	if (!ret)
		ret = range_check_order(command, &range, info);
	if (ret)
		return ret;
	q->from = moment_ticks(&range.from, info);
	q->to = moment_ticks(&range.to, info);
	return 0;
}

/* Tell the library what --absent asks, before the check.  Return: 0 or the exit code. */
static int ask_absence(struct run *r, const struct kt_command *command)
{
	struct ktape_absence q = { .one_cpu = r->o.cpu != UINT64_MAX,
				   .cpu = (uint32_t)r->o.cpu };
	const struct ktape_event_desc *desc;
	char text[128], *colon, *equals;
	int err;

	if (q.one_cpu && r->o.cpu > UINT32_MAX)
		return misuse(command, "--cpu %llu: no CPU has such a number",
			      (unsigned long long)r->o.cpu);
	if (strlen(r->o.absent) >= sizeof(text))
		return misuse(command, "--absent needs EVENT or EVENT:FIELD=VALUE");
	strcpy(text, r->o.absent);
	colon = strchr(text, ':');
	equals = colon ? strchr(colon, '=') : NULL;
	if (colon && !equals)
		return misuse(command, "--absent needs EVENT or EVENT:FIELD=VALUE");
	if (colon)
		*colon = *equals = '\0';
	desc = ktape_event_find(text);
	if (!desc)
		return unknown_event(command, text);
	q.opcode = desc->opcode;
	q.field = colon ? colon + 1 : NULL;
	if (colon && parse_field_value(ktape_verify_info(r->verify), equals + 1,
				       desc, q.field, &q.value))
		return misuse(command, "\"%s\" is not a value of the field %s",
			      equals + 1, q.field);
	err = take_range(r, command, &q);
	if (err)
		return err;
	err = ktape_verify_ask(r->verify, &q);
	if (err == -ERANGE)
		return misuse(command, "the field %s of %s is too small to hold %s",
			      q.field, desc->name, equals + 1);
	if (err)
		return misuse(command,
			      "cannot check for \"%s\": it is a control record, lacks that field, is not in the trace's event table, or --to is not after --from",
			      desc->name);
	return EXIT_OK;
}

/* Print why a trace cannot be opened.  Return: the exit code. */
static int report_open_failed(const struct run *r, const char *path, int err,
			      const struct ktape_error *error)
{
	/* Exit with 1 if findings explain why the trace cannot be read. */
	int code = r->wrong && !r->o.absent ? EXIT_FAILED : EXIT_USAGE;

	if (r->o.json && code == EXIT_FAILED)
		printf("\n],\"wrong\":%llu}\n", (unsigned long long)r->wrong);
	else if (r->o.json)
		puts("\n],\"wrong\":null}");
	if (err == -ENOBUFS)
		fail("%s: packets of the trace need more than 1 GiB of memory",
		     path);
	else if (err == -EBADMSG)
		fail("%s: %s", path, error->text);
	else if (*error->text)
		fail("%s: %s: %s", path, error->text, strerror(-err));
	else
		fail("%s: %s", path, strerror(-err));
	return code;
}

/* Check that the trace has the CPU of --cpu.  Return: 0, or another number after a message. */
static int find_absent_cpu(const struct run *r)
{
	struct ktape_verify_cpu c = { .cpu = 0 };
	struct range range = { .any = false };

	range_add_info(&range, ktape_verify_info(r->verify));
	for (; ktape_verify_next_cpu(r->verify, &c); c.cpu++)
		range_add_cpu(&range, c.cpu);
	return range_has_cpu(&range, r->o.cpu) ?
		       0 :
		       range_refuse_cpu(&range, r->o.cpu);
}

/* Check the trace and print the result.  Return: the exit code. */
static int verify_all(struct run *r, const char *path)
{
	int ret = ktape_verify_run(r->verify), cpu = 0;

	if (r->progress)
		fputs("\r\033[K", stderr);
	if (ret >= 0 && r->o.cpu != UINT64_MAX)
		cpu = find_absent_cpu(r);
	if (ret >= 0 && !cpu)
		ret = print_verify_result(r, ret);
	else if (r->o.json)
		puts("\n],\"wrong\":null}");
	/* Not EXIT_FAILED, which means FOUND here. */
	ret = cpu ? EXIT_USAGE : ret;
	if (ret == -EINTR) {
		fail("%s: interrupted before the whole trace was checked", path);
		ret = EXIT_USAGE;
	} else if (ret < 0) {
		fail("%s: cannot read the trace: %s", path, strerror(-ret));
		ret = EXIT_USAGE;
	}
	return finish_stdout() ? EXIT_FAILED : ret;
}

static int cmd_verify(int argc, char **argv)
{
	struct run r = { .o = { .cpu = UINT64_MAX, .jobs = UINT64_MAX } };
	struct ktape_verify_options how = {
		.finding = take_shown_finding,
		.progress = take_progress,
		.arg = &r,
	};
	struct ktape_error error = { .text = "" };
	int first, ret;

	ret = kt_options(&command_verify, argc, argv, &r.o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first != 1)
		return misuse(&command_verify, "give exactly one trace");
	if (color_start(&command_verify, &r.o.text))
		return EXIT_USAGE;
	if (!r.o.absent && (r.o.from || r.o.to || r.o.cpu != UINT64_MAX))
		return misuse(&command_verify,
			      "--from, --to and --cpu need --absent");
	if (!r.o.jobs)
		return misuse(&command_verify,
			      "--jobs 0: at least one thread is needed");
	if (r.o.jobs != UINT64_MAX)
		how.jobs = (unsigned int)kt_min(r.o.jobs, UINT_MAX);
	if (output_check("-", argv + first, 1))
		return EXIT_USAGE;
	how.wake = signals_pipe();
	if (how.wake < 0)
		return fail("pipe: %s", strerror(-how.wake));
	r.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
	if (r.o.json)
		printf("{\"findings\":[");
	ret = ktape_verify_open(argv[first], &how, &r.verify, &error);
	if (ret)
		return report_open_failed(&r, argv[first], ret, &error);
	/* Not earlier: until here a signal may end ktape, as there is no result yet. */
	signals_catch();
	ret = r.o.absent ? ask_absence(&r, &command_verify) : EXIT_OK;
	if (ret && r.o.json)
		puts("\n],\"wrong\":null}");
	if (!ret)
		ret = verify_all(&r, argv[first]);
	ktape_verify_close(r.verify);
	return ret;
}

const struct kt_command command_verify = {
	.name = "verify",
	.operands = "DIR|FILE|-",
	.help = "check that a trace is consistent, or that an event did not occur",
	.more = "exit status: 0 nothing is wrong, 1 something is wrong, also if damaged metadata\n"
		"  makes the trace unreadable, 2 usage error or unreadable, 6 nothing is wrong\n"
		"  with what is there, but a part is missing\n"
		"with --absent: 0 PROVED, 1 FOUND, 2 usage error or unreadable,\n"
		"  3 NOT-ENABLED, 4 FILTERED, 5 LOST\n",
	.options = options,
	.run = KT_RUN(cmd_verify),
};

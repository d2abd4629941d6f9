// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape dump: show a trace as text or JSON, one line per record.  This file has the
 * command line, the loop over events and the messages about gaps; the text of an
 * event is made by the library (lib/show/).
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/nanoseconds.h"
#include "util/pool.h"
#include "util/put.h"

#include "tool/convert/merge.h"
#include "tool/dump/dump.h"
#include "tool/input/follow.h"
#include "tool/input/pieces.h"
#include "tool/shared/color.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"

#define BUFFER (256U << 10) /* output buffer; small enough for the cache */

#define OPT(member) offsetof(struct dump_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "lines of JSON, of all records" },
	{ "all", 'a', KT_OPT_FLAG, OPT(select.all), NULL,
	  "also control records: names, counters, clocks" },
	{ "events", 'e', KT_OPT_LIST, OPT(select.events), "LIST|FILE",
	  "only these events, classes, globs; or FILE.fmt: texts" },
	{ "group", 'g', KT_OPT_TEXT, OPT(select.groups), "LIST",
	  "only events of these classes" },
	{ "cpu", 'C', KT_OPT_TEXT, OPT(select.cpus), "LIST", "only these CPUs" },
	{ "pid", 'p', KT_OPT_TEXT, OPT(select.pids), "LIST",
	  "only threads of these processes" },
	{ "tid", 0, KT_OPT_TEXT, OPT(select.tids), "LIST", "only these threads" },
	{ "object", 0, KT_OPT_TEXT, OPT(select.objects), "LIST",
	  "only about these: TYPE:NUMBER, TYPE:NAME, NAME" },
	{ "signal", 0, KT_OPT_TEXT, OPT(select.signals), "LIST",
	  "only about these signals: KILL,SEGV" },
	{ "severity", 's', KT_OPT_TEXT, OPT(select.severity), "LEVEL",
	  "only exceptions of this level (0 to 3) and above" },
	{ "major", 'M', KT_OPT_TEXT, OPT(select.majors), "LIST",
	  "only exceptions with these major codes" },
	{ "minor", 'm', KT_OPT_TEXT, OPT(select.minors), "LIST",
	  "only exceptions with these minor codes" },
	{ "follow", 'f', KT_OPT_FLAG, OPT(follow), NULL,
	  "read on as a directory or file grows, until a signal" },
	{ "now", 0, KT_OPT_FLAG, OPT(now), NULL,
	  "device: show what it has now, do not wait for more" },
	{ "clear", 'c', KT_OPT_FLAG, OPT(clear), NULL,
	  "device: as --now, then clear it" },
	{ "from", 0, KT_OPT_TEXT, OPT(in.from), "TIME|FORMAT[:KEY=VALUE,...]",
	  "as --from-time, or the format of the input" },
	{ "from-time", 0, KT_OPT_TEXT, OPT(from), "TIME", RANGE_FROM_HELP },
	{ "to", 0, KT_OPT_TEXT, OPT(to), "TIME", "as --to-time" },
	{ "to-time", 0, KT_OPT_TEXT, OPT(to), "TIME", RANGE_TO_HELP },
	INPUT_OPTIONS(OPT(in.more)),
	{ "jobs", 'J', KT_OPT_NUMBER, OPT(jobs), "N",
	  "threads, default: number of CPUs" },
	{ "count", 'n', KT_OPT_NUMBER, OPT(count), "N", "at most N lines" },
	COLOR_OPTION(struct dump_options, text),
	PAGER_OPTION(struct dump_options, text),
	{ "strict", 0, KT_OPT_FLAG, OPT(strict), NULL,
	  "exit with 1 if the trace is cut off, or was overwritten" },
	{ .name = NULL },
};

static void flush_idle(void *arg)
{
	dump_flush(arg);
}

/*
 * Keep a gap to be shown, or make the last one of the same ring longer.  Beyond GAPS_SHOWN a gap is
 * only counted, by losses_add(): in losses.gaps, or in losses.late if it is what a ring had
 * overwritten before the trace begins.
 */
static void keep_gap(struct dump *d, const struct ktape_notice *n)
{
	uint64_t nr = kt_min(d->losses.gaps + d->losses.late, GAPS_SHOWN);

	if (!n->continued && nr < GAPS_SHOWN)
		d->shown[nr] = *n;
	while (n->continued && nr--) {
		struct ktape_notice *last = &d->shown[nr];

		if (last->cpu != n->cpu || last->ring != n->ring)
			continue;
		last->to = n->to;
		last->packets += n->packets;
		return;
	}
}

/*
 * Keep gaps for the end, so that messages do not split the output on a terminal.  Damage is
 * reported at once, below the lines before it.
 */
static void take_dump_notice(void *arg, const struct ktape_notice *n)
{
	struct dump *d = arg;

	switch (n->kind) {
	case KTAPE_NOTICE_LOST:
		range_add_loss(&d->range, n);
		keep_gap(d, n);
		losses_add(&d->losses, n);
		return;
	case KTAPE_NOTICE_LATE:
		d->late += n->count;
		return;
	case KTAPE_NOTICE_TRUNCATED:
		d->truncated = true;
		break;
	case KTAPE_NOTICE_CORRUPT:
	case KTAPE_NOTICE_METADATA:
		d->corrupt = true;
		break;
	default:
		break;
	}
	dump_flush(d);
	report_input_damage(d->path, n);
}

#define MOMENT_SIZE 32

/* Put a time as the lines of events have it. */
static const char *moment(const struct ktape_info *info, uint64_t ticks,
			  char text[MOMENT_SIZE])
{
	int64_t v = ktape_mono_ns(info, ticks);

	if (info->counts)
		snprintf(text, MOMENT_SIZE, "%lld", (long long)v);
	else
		snprintf(text, MOMENT_SIZE, "%lld.%09lld",
			 (long long)(v / NS_PER_S), (long long)llabs(v % NS_PER_S));
	return text;
}

static void report_gap(const struct dump *d, const struct ktape_notice *n)
{
	bool late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	uint64_t nr = late ? n->overwritten : n->count;
	char from[MOMENT_SIZE], to[MOMENT_SIZE];
	char count[24] = "an unknown number of", packets[48] = "";
	char name[STREAM_NAME];

	if (nr)
		snprintf(count, sizeof(count), "%llu", (unsigned long long)nr);
	if (n->packets)
		snprintf(packets, sizeof(packets), ", %llu packets missing",
			 (unsigned long long)n->packets);
	if (late) {
		note_loss("%s: %s events were overwritten before [%s], where it begins",
			  stream_name(n, name), count, moment(d->info, n->to, to));
		return;
	}
	note_loss("%s: %s events lost between [%s] and [%s]%s",
		  stream_name(n, name), count, moment(d->info, n->from, from),
		  moment(d->info, n->to, to), packets);
}

/* Check that the trace has the selected times and CPUs.  Return: 0 or the exit code. */
static int check_range(const struct dump *d)
{
	const struct numbers *cpus = &d->select.cpus;
	unsigned int there = 0;

	for (unsigned int i = 0; i < cpus->nr; i++)
		there += range_has_cpu(&d->range, cpus->v[i]);
	/* Registry records count as CPU 0, even if the trace has no CPU 0. */
	if (cpus->nr && !there && !d->lines)
		return range_refuse_cpu(&d->range, cpus->v[0]);
	for (unsigned int i = 0; i < cpus->nr; i++) {
		if (!range_has_cpu(&d->range, cpus->v[i]))
			range_note_cpu(&d->range, cpus->v[i]);
	}
	return range_check_times(&d->range, d->info);
}

static int report_dump_results(struct dump *d, int ret)
{
	char text[LOSS_TEXT];

	dump_flush(d);
	for (unsigned int i = 0;
	     i < d->losses.gaps + d->losses.late && i < GAPS_SHOWN; i++)
		report_gap(d, &d->shown[i]);
	if (d->losses.gaps > 1)
		note_loss("%s", losses_text(text, &d->losses, "lost"));
	if (d->losses.late > 1)
		note_overwritten(NULL, &d->losses);
	report_names_left_out(NULL, d->names);
	if (d->late)
		note("%llu events came too late to be sorted",
		     (unsigned long long)d->late);
	if (d->error && d->error != -EPIPE)
		return fail("standard output: %s", strerror(-d->error));
	if (ret < 0)
		return fail("cannot read the trace: %s", read_error(ret));
	if (d->corrupt || ((d->truncated || d->losses.late) && d->o.strict))
		return EXIT_FAILED;
	return d->whole && d->limited ? check_range(d) : EXIT_OK;
}

/* Put the line of an event into the buffer.  Return: 0 or negative errno. */
static int put_dump_event(struct dump *d, const struct ktape_event *e)
{
	const char *source = NULL;
	size_t len = 0;
	int err;

	if (d->o.json)
		source = ktape_trace_source(d->trace, &len);
	err = lines_add(&d->out, e, source, len);
	if (d->out.len >= BUFFER)
		dump_flush(d);
	return err;
}

static bool is_enough(const struct dump *d)
{
	return d->lines >= d->o.count || d->error;
}

/*
 * Dump events until enough are shown or the trace ends.  Several threads pass over as many as
 * they can at once; the next event is read here.  Return: 0 or negative errno.
 */
static int dump_all(struct dump *d)
{
	const struct ktape_event *e;
	int ret = 0;

	while (!is_enough(d) && !(ret = kt_slices_pass(d->slices)) &&
	       !is_enough(d) && (ret = ktape_trace_next(d->trace, &e)) > 0) {
		if (!dump_wants(d, &d->range, d->names, e))
			continue;
		ret = put_dump_event(d, e);
		if (ret)
			break;
		d->lines++;
	}
	/* With --count, the rest of the trace may have the CPUs that were not seen. */
	d->whole = !ret && !d->error && d->lines < d->o.count && !signals_came();
	return ret;
}

static int prepare_dump(struct dump *d)
{
	int ret;

	/* What reads JSON selects for itself. */
	d->o.select.all |= d->o.json;
	ret = select_read(&d->o.select, &d->select);
	/* --from TIME is older than --from FORMAT: a digit or @ means a time. */
	if (d->o.in.from &&
	    (*d->o.in.from == '@' || isdigit((unsigned char)*d->o.in.from))) {
		d->o.from = d->o.in.from;
		d->o.in.from = NULL;
	}
	if (!ret)
		ret = formats_load(&d->o.select, &d->formats);
	if (ret)
		return ret;
	ret = moment_parse(&command_dump, "from-time", d->o.from, &d->range.from);
	if (!ret)
		ret = moment_parse(&command_dump, "to-time", d->o.to, &d->range.to);
	return ret;
}

static void prepare_lines(struct dump *d)
{
	d->out.info = d->info;
	d->out.names = d->names;
	d->out.formats = d->formats;
	d->out.json = d->o.json;
	d->out.color = color_is_on() && !d->o.json;
	/* Without memory for more, one thread does it. */
	dump_slices_new(d);
}

static int dump_trace(struct dump *d, const char *path)
{
	struct ktape_trace_options how = {
		.notice = take_dump_notice,
		.idle = flush_idle,
		.arg = d,
	};
	int ret;

	how.wake = signals_pipe();
	if (how.wake < 0)
		return fail("pipe: %s", strerror(-how.wake));
	d->path = path;
	ret = input_open(&command_dump, &d->o.in, path, &how, &d->trace);
	if (ret)
		return ret;
	/* On a signal, show what has arrived and report gaps. */
	if (ktape_trace_is_live(d->trace))
		signals_catch();
	/* Records that a pager takes may never be shown: they are not to be cleared. */
	else if (!d->o.json && !d->o.follow && !d->o.clear)
		pager_start(&d->o.text);
	d->info = ktape_trace_info(d->trace);
	d->names = ktape_trace_registry(d->trace);
	d->limited = d->range.from.given || d->range.to.given || d->select.cpus.nr;
	range_add_info(&d->range, d->info);
	ret = range_check_order(&command_dump, &d->range, d->info);
	prepare_lines(d);
	if (!ret)
		ret = report_dump_results(d, dump_all(d));
	kt_slices_free(d->slices);
	ktape_trace_close(d->trace);
	return ret;
}

/* Dump what a device has now.  Clear it only after all of that was shown. */
static int dump_now(struct dump *d, const char *path)
{
	struct ktape_device *device = NULL;
	char copy[32];
	int fd = -1, ret, err;

	ret = device_copy(path, &device, &fd);
	if (!ret) {
		snprintf(copy, sizeof(copy), "/proc/self/fd/%d", fd);
		ret = lseek(fd, 0, SEEK_SET) ?
			      fail("%s: cannot read the copy of its records: %s",
				   path, strerror(errno)) :
			      dump_trace(d, copy);
	}
	if (!ret && d->o.clear && !d->error) {
		err = ktape_device_clear(device);
		if (err)
			ret = fail("%s: cannot clear it: %s", path, strerror(-err));
	}
	ktape_device_close(device);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Dump a growing trace.  Poll directories and files; a device or pipe blocks by itself. */
static int dump_follow(struct dump *d, const char *path)
{
	struct stat st;
	pid_t child;
	int ret, end;

	if (!strcmp(path, "-") ||
	    (!stat(path, &st) && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return dump_trace(d, path);
	ret = follow_begin(path, &child);
	if (ret)
		return ret;
	ret = dump_trace(d, "-");
	end = follow_end(child);
	return ret ? ret : end;
}

/* Dump one trace, or several as one. */
static int dump_pieces(struct dump *d, int nr, char **operands)
{
	struct pieces in;
	int ret = pieces_begin(&in, &d->o.in, nr, operands), end;

	if (ret)
		return ret;
	ret = dump_trace(d, in.path);
	end = pieces_end(&in);
	return ret ? ret : end;
}

static int cmd_dump(int argc, char **argv)
{
	struct dump d = {
		.o = { .count = UINT64_MAX, .jobs = kt_pool_cpus() },
		.select = { .command = &command_dump },
	};
	int first, ret;

	ret = kt_options(&command_dump, argc, argv, &d.o, &first);
	if (ret >= 0)
		return ret;
	if (argc == first)
		return misuse(&command_dump,
			      "give a trace, or several pieces of a log");
	if (argc - first > 1 && (d.o.now || d.o.clear || d.o.follow))
		return misuse(&command_dump,
			      "--now, --clear and --follow are of one trace");
	if (!d.o.jobs)
		return misuse(&command_dump,
			      "--jobs 0: at least one thread is needed");
	ret = input_check(&d.o.in, "-", argv + first, argc - first);
	if (!ret)
		ret = color_start(&command_dump, &d.o.text);
	if (!ret)
		ret = prepare_dump(&d);
	if (!ret && (d.o.now || d.o.clear))
		ret = dump_now(&d, argv[first]);
	else if (!ret && d.o.follow)
		ret = dump_follow(&d, argv[first]);
	else if (!ret)
		ret = dump_pieces(&d, argc - first, argv + first);
	ktape_formats_free(d.formats);
	select_release(&d.select);
	free(d.out.buf);
	return ret;
}

const struct kt_command command_dump = {
	.name = "dump",
	.operands = "DIR|FILE|-...",
	.help = "show a trace as text or JSON, one line per event",
	.options = options,
	.run = KT_RUN(cmd_dump),
};

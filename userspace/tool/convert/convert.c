// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape convert: write traces of any format in any other.  This file has the command
 * line, the output and the messages; reading and selecting are in inputs.c, the
 * state at --from-time in cut.c.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/pool.h"

#include "tool/convert/convert.h"
#include "tool/input/pieces.h"
#include "tool/shared/ctf2.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

#define NUMBER_TEXT 24 /* bytes of a number as text */

#define OPT(member) offsetof(struct convert_options, member)

static const struct kt_option options[] = {
	{ "from", 'f', KT_OPT_TEXT, OPT(in.from), "FORMAT[:KEY=VALUE,...]",
	  "format of the input (default: detected)" },
	{ "to", 't', KT_OPT_TEXT, OPT(to), "FORMAT[:KEY=VALUE,...]",
	  "format of the output" },
	{ "output", 'o', KT_OPT_TEXT, OPT(out), "OUT",
	  "file or directory to write; - is standard output" },
	{ "from-time", 0, KT_OPT_TEXT, OPT(from_time), "TIME", RANGE_FROM_HELP },
	{ "to-time", 0, KT_OPT_TEXT, OPT(to_time), "TIME", RANGE_TO_HELP },
	{ "cpu", 'c', KT_OPT_NUMBER, OPT(cpu), "CPU", "only this CPU" },
	{ "event", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "only these events, classes, globs" },
	{ "pid", 'p', KT_OPT_NUMBER, OPT(pid), "PID",
	  "only this thread, or the threads of this process" },
	INPUT_OPTIONS(OPT(in.more)),
	{ "jobs", 'J', KT_OPT_NUMBER, OPT(jobs), "N",
	  "threads, default: number of CPUs" },
	{ "ctf", 0, KT_OPT_TEXT, OPT(ctf), "1.8|2",
	  "native folder: version of its metadata (default: 1.8)" },
	{ "force", 0, KT_OPT_FLAG, OPT(force), NULL, "replace a trace's directory" },
	{ "partial", 0, KT_OPT_FLAG, OPT(partial), NULL,
	  "replace an earlier output although the input is damaged" },
	{ "verbose", 'v', KT_OPT_FLAG, OPT(verbose), NULL,
	  "list everything that the output format cannot hold" },
	{ "quiet", 'q', KT_OPT_FLAG, OPT(quiet), NULL,
	  "no progress, and no remarks about what is left out" },
	{ "open", 0, KT_OPT_FLAG, OPT(open), NULL,
	  "open the page of format html in a browser" },
	{ "list", 'l', KT_OPT_FLAG, OPT(list), NULL, "show the formats" },
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "with --list: as JSON" },
	{ .name = NULL },
};

static void take_convert_notice(void *arg, const struct ktape_notice *n)
{
	struct convert_input *in = arg;
	struct convert *c = in->convert;
	struct ktape_notice moved = *n;

	switch (n->kind) {
	case KTAPE_NOTICE_LOST:
		losses_add(&c->losses, n);
		moved.from = convert_ts(c, in, n->from);
		moved.to = convert_ts(c, in, n->to);
		range_add_loss(&c->range, &moved);
		if (!c->sink || c->error || !convert_wants_gap(c, &moved))
			return;
		page_notice(&c->page, &moved);
		c->error = ktape_sink_notice(c->sink, &moved);
		return;
	case KTAPE_NOTICE_LATE:
		c->late += n->count;
		return;
	case KTAPE_NOTICE_CORRUPT:
	case KTAPE_NOTICE_METADATA:
		c->damaged = true;
		break;
	default:
		break;
	}
	report_input_damage(in->path, n);
}

/* After a signal, a live input returns what has arrived, then ends by itself. */
static bool is_convert_stopped(const struct convert *c)
{
	return (signals_came() && !c->live) || c->error;
}

/*
 * Write all events.  Several threads pass over as many as they can at once, but only when c->cut is
 * gone: it needs each event before --from-time, in order.  Return: 0 or negative errno.
 */
static int write_converted(struct convert *c)
{
	const struct ktape_event *e;
	int ret = 0;

	while (!is_convert_stopped(c) &&
	       !(ret = c->cut ? 0 : kt_slices_pass(c->slices)) &&
	       !is_convert_stopped(c) && (ret = convert_next(c, &e)) > 0) {
		ret = convert_event(c, e);
		if (ret)
			break;
		convert_progress(c);
		convert_warn_if_large(c);
	}
	return ret;
}

static void report_converted(const struct convert *c)
{
	unsigned int cpus = ktape_sink_mixed_cpus(c->sink);
	char text[LOSS_TEXT];

	if (!c->o.quiet)
		report_not_held(c->to_name, c->sink, c->o.verbose);
	if (cpus > 1 && !c->o.quiet)
		note("%u CPUs are in one file, but readers of %s show them as one CPU: convert each CPU to its own file (-c CPU)",
		     cpus, c->to_name);
	if (c->losses.gaps)
		note("%s of the input", losses_text(text, &c->losses, "were lost"));
	note_overwritten(NULL, &c->losses);
	for (size_t i = 0; i < c->nr_inputs; i++)
		report_names_left_out(c->inputs[i].path,
				      ktape_trace_registry(c->inputs[i].trace));
	if (c->late)
		note("%llu events came too late to be sorted",
		     (unsigned long long)c->late);
	if (signals_came())
		note("stopped by a signal: the output is complete up to that point");
}

/*
 * Return the path of the trace whose ledger a page shows, or NULL.  Only a native trace that is the
 * one input and can be read again has it.
 */
static const char *ledger_of(const struct convert *c)
{
	const struct ktape_trace *trace = c->inputs[0].trace;

	return c->nr_inputs == 1 && !c->live && !ktape_trace_format(trace) ?
		       c->inputs[0].path :
		       NULL;
}

/* Write the texts of a page.  Return: 0 or negative errno. */
static int end_page(struct convert *c)
{
	char cpu[NUMBER_TEXT], pid[NUMBER_TEXT];
	const struct page_selected selected[] = {
		{ "from-time", c->o.from_time },
		{ "to-time", c->o.to_time },
		{ "event", c->o.events },
		{ "cpu", c->o.cpu == UINT64_MAX ? NULL : cpu },
		{ "pid", c->o.pid == UINT64_MAX ? NULL : pid },
	};
	int err;

	snprintf(cpu, sizeof(cpu), "%" PRIu64, c->o.cpu);
	snprintf(pid, sizeof(pid), "%" PRIu64, c->o.pid);
	err = page_selection(&c->page, c->sink, selected, KT_ARRAY_SIZE(selected));
	return err ? err : page_end(&c->page, c->sink, ledger_of(c));
}

/*
 * Finish the output.  A staged output that failed or was interrupted is not finished,
 * so that it does not replace an earlier output.  One that is not staged (written in place from
 * an input that cannot be read again, or to standard output) is always finished: it is valid
 * up to that point.
 *
 * @ret: 0 or negative errno so far; @code: exit code so far, set if a message was printed here.
 * Return: 0 or negative errno.
 */
static int end_output(struct convert *c, int ret, int *code)
{
	bool interrupted = signals_came() && !c->live;
	int err;

	if (ktape_sink_is_staged(c->sink)) {
		if (!ret && !*code && interrupted)
			ret = -EINTR;
		if (!ret && !*code)
			*code = convert_divert(c);
		if (ret || *code)
			return ret;
	}
	err = ret || *code ? 0 : end_page(c);
	if (!ret)
		ret = err;
	/* Checking the trace for a page may have taken long. */
	if (!ret && ktape_sink_is_staged(c->sink) && signals_came() && !c->live)
		return -EINTR;
	err = ktape_sink_finish(c->sink);
	return ret ? ret : err;
}

static int finish_output(struct convert *c, int ret)
{
	int code = EXIT_OK;

	convert_progress_end(c);
	if (!ret && !c->error && !signals_came())
		code = convert_check(c);
	ret = end_output(c, ret ? ret : c->error, &code);
	/* The reader of a pipe, such as head, needs no more. */
	if (ret == -EPIPE)
		ret = 0;
	if (ret == -EINTR)
		return fail("interrupted: %s was not written", c->o.out);
	if (code)
		return ret ? fail("%s: %s", c->o.out, read_error(ret)) : code;
	report_converted(c);
	if (ret && *ktape_sink_error(c->sink))
		return fail("%s: %s", c->o.out, ktape_sink_error(c->sink));
	if (ret)
		return fail("%s: %s%s", c->o.out,
			    ret == -EBADMSG ?
				    "the input is damaged and cannot be converted" :
				    read_error(ret),
			    c->in_place ? "; the output up to this point is kept" :
					  "");
	return convert_report_partial(c);
}

static int open_inputs(struct convert *c, int nr, char **paths)
{
	struct ktape_trace_options how = {
		.notice = take_convert_notice,
		.flags = KTAPE_TRACE_SORTED,
		.wake = c->wake,
	};
	int ret;

	c->inputs = calloc((size_t)nr, sizeof(*c->inputs));
	if (!c->inputs)
		return fail("%s", strerror(ENOMEM));
	for (int i = 0; i < nr; i++) {
		struct convert_input *in = &c->inputs[i];

		in->convert = c;
		in->path = paths[i];
		how.arg = in;
		ret = input_open(&command_convert, &c->o.in, paths[i], &how,
				 &in->trace);
		if (ret)
			return ret;
		in->info = ktape_trace_info(in->trace);
		c->live |= ktape_trace_is_live(in->trace);
		c->nr_inputs++;
	}
	return convert_join(c);
}

/*
 * Return KTAPE_SINK_* flags for what is wrong with the metadata of any input.  If both are set,
 * KTAPE_SINK_DAMAGED counts.
 */
static uint32_t flags_of_metadata(const struct convert *c)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < c->nr_inputs; i++) {
		size_t len;
		const char *text = ktape_trace_metadata(c->inputs[i].trace, &len);
		int err = text ? ktape_metadata_check(text, len, NULL) : 0;

		if (err)
			flags |= err == -EBADMSG ? KTAPE_SINK_DAMAGED :
						   KTAPE_SINK_UNSEALED;
	}
	return flags;
}

/* Return true if there is nothing at @path that an output would replace. */
static bool is_vacant(const char *path)
{
	const struct dirent *e;
	struct stat st;
	bool vacant = true;
	DIR *dir;

	if (stat(path, &st))
		return errno == ENOENT;
	if (S_ISREG(st.st_mode))
		return !st.st_size;
	dir = opendir(path);
	if (!dir)
		return false;
	while (vacant && (e = readdir(dir)))
		vacant = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(dir);
	return vacant;
}

/* Return true if all inputs are traces of an RTOS. */
static bool is_of_rtos(const struct convert *c)
{
	for (size_t i = 0; i < c->nr_inputs; i++) {
		if (ktape_trace_is_kernel(c->inputs[i].trace))
			return false;
	}
	return true;
}

static int open_convert_output(struct convert *c)
{
	struct ktape_sink_options how = {
		.format = c->to_name,
		.path = c->o.out,
		.flags = flags_of_metadata(c) | (c->o.force ? KTAPE_SINK_FORCE : 0),
		.info = c->info,
		.registry = c->registry,
	};
	char *colon = strchr(c->to_name, ':');
	struct ktape_error error;
	int err;

	if (colon) {
		*colon = '\0';
		how.options = colon + 1;
	}
	/* A single native input keeps its own metadata. */
	if (c->nr_inputs == 1)
		how.metadata = ktape_trace_metadata(c->inputs[0].trace,
						    &how.metadata_len);
	c->replaces = strcmp(c->o.out, "-") && !is_vacant(c->o.out);
	c->in_place = c->live && strcmp(c->o.out, "-") && !c->replaces;
	if (c->in_place)
		how.flags |= KTAPE_SINK_IN_PLACE;
	err = signals_sweep(c->o.out);
	if (err)
		return fail("%s: %s", c->o.out, strerror(-err));
	err = ktape_sink_open(&how, &c->sink, &error);
	if (err == -EINVAL)
		return misuse(&command_convert, "%s", error.text);
	if (err)
		return fail("%s: %s", c->o.out,
			    *error.text ? error.text : strerror(-err));
	err = page_begin(&c->page, c->sink, c->info, c->registry, is_of_rtos(c));
	return err ? fail("%s", strerror(-err)) : 0;
}

static void put_format_options(const struct ktape_codec *codec, bool out, bool json)
{
	const struct ktape_codec_option *o = ktape_codec_options(codec, out);

	for (bool first = true; o && o->key; o++, first = false) {
		if (!json) {
			printf("%14s%s %s=%s: %s\n", "", out ? "to" : "from",
			       o->key, o->arg, o->help);
			continue;
		}
		printf("%s{\"key\":", first ? "" : ",");
		put_json_text(o->key);
		printf(",\"value\":");
		put_json_text(o->arg);
		printf(",\"help\":");
		put_json_text(o->help);
		putchar('}');
	}
}

static void print_codec(const char *indent, const struct ktape_codec *codec)
{
	printf("%s%-12s %-3s %-4s %s\n", indent, codec->name,
	       ktape_codec_reads(codec) ? "in" : "", codec->out ? "out" : "",
	       codec->help);
}

static int list_codecs(bool json)
{
	const struct ktape_codec *codec;

	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		bool in = ktape_codec_reads(codec), out = codec->out;

		if (!json) {
			print_codec("", codec);
			put_format_options(codec, false, false);
			put_format_options(codec, true, false);
			continue;
		}
		printf("{\"name\":\"%s\",\"in\":%s,\"out\":%s,\"help\":", codec->name,
		       in ? "true" : "false", out ? "true" : "false");
		put_json_text(codec->help);
		printf(",\"in_options\":[");
		put_format_options(codec, false, true);
		printf("],\"out_options\":[");
		put_format_options(codec, true, true);
		printf("]}\n");
	}
	return finish_stdout();
}

static void print_formats(void)
{
	const struct ktape_codec *codec;

	puts("formats of inputs and outputs (--list also shows their options):");
	for (unsigned int i = 0; (codec = ktape_codec(i)); i++)
		print_codec("  ", codec);
}

static int convert_inputs(struct convert *c, int nr, char **paths)
{
	int ret = convert_prepare(c);

	if (ret)
		return ret;
	c->wake = signals_pipe();
	if (c->wake < 0)
		return fail("pipe: %s", strerror(-c->wake));
	signals_catch();
	ret = input_check(&c->o.in, c->o.out, paths, nr);
	if (!ret)
		ret = open_inputs(c, nr, paths);
	if (!ret)
		ret = open_convert_output(c);
	if (ret)
		return ret;
	c->progress = !c->o.quiet && isatty(STDERR_FILENO);
	convert_slices_new(c);
	ret = finish_output(c, write_converted(c));
	kt_slices_free(c->slices);
	return ret;
}

/*
 * A format with an option "dir" writes a folder: take that as the output.
 * Return: 0 or the exit code.
 */
static int take_output_folder(struct convert_options *o)
{
	const char *at = o->to ? strchr(o->to, ':') : NULL;
	static char folder[PATH_MAX];

	while (at && strncmp(at + 1, "dir=", 4))
		at = strchr(at + 1, ',');
	if (!at)
		return 0;
	if (o->out)
		return misuse(&command_convert,
			      "--to %s names the output: leave out -o", o->to);
	at += 1 + strlen("dir=");
	snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(at, ","), at);
	o->out = folder;
	return 0;
}

/* Check --ctf.  @two: set to whether it is CTF 2.  Return: 0 or the exit code. */
static int check_ctf(const struct convert_options *o, bool *two)
{
	size_t name = o->to ? strcspn(o->to, ":") : 0;
	int ret = ctf_version(&command_convert, o->ctf, two);

	if (ret || !o->ctf)
		return ret;
	if (name != strlen("native") || strncmp(o->to, "native", name) != 0 ||
	    !o->out || !strcmp(o->out, "-"))
		return misuse(&command_convert,
			      "--ctf is of a folder of format native; format lttng has the option ctf=2");
	return 0;
}

/* Formats by the end of the name of -o.  Ends that several formats have are left out. */
static const struct {
	const char *end;
	const char *to;
} ends[] = {
	{ ".pftrace", "perfetto" }, { ".perfetto-trace", "perfetto" },
	{ ".html", "html" },	    { ".csv", "csv" },
	{ ".jsonl", "jsonl" },	    { ".trx", "tracex" },
	{ ".txt", "text" },
};

/* Return the format that the name of -o stands for, or NULL. */
static const char *format_of_output(const char *out)
{
	size_t len = strlen(out);

	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i].end);

		if (len > end && !strcmp(out + len - end, ends[i].end))
			return ends[i].to;
	}
	return NULL;
}

/* Return what the command line lacks, or NULL. */
static const char *missing(const struct convert_options *o, bool inputs)
{
	if (!inputs)
		return "missing an input";
	if (!o->out)
		return "missing -o OUT: a file or directory, - is standard output";
	return o->to ? NULL :
		       "missing --to FORMAT: the name of -o does not end in .pftrace, .html, .csv, .jsonl, .txt or .trx";
}

static int cmd_convert(int argc, char **argv)
{
	struct convert c = {
		.command = &command_convert,
		.o = { .cpu = UINT64_MAX, .pid = UINT64_MAX, .jobs = kt_pool_cpus() },
	};
	struct pieces in = { .nr = 0 };
	const char *lacks;
	int first, ret;
	bool two;

	ret = kt_options(&command_convert, argc, argv, &c.o, &first);
	if (ret >= 0)
		return ret;
	if (c.o.list)
		return argc == first ? list_codecs(c.o.json) :
				       misuse(&command_convert,
					      "--list takes no operands");
	if (!c.o.jobs)
		return misuse(&command_convert,
			      "--jobs 0: at least one thread is needed");
	ret = take_output_folder(&c.o);
	if (ret)
		return ret;
	if (c.o.open && argc > first) {
		ret = convert_open_begin(&c);
		if (ret)
			return ret;
	}
	if (!c.o.to && c.o.out)
		c.o.to = format_of_output(c.o.out);
	lacks = missing(&c.o, argc > first);
	if (lacks)
		return misuse(&command_convert, "%s", lacks);
	ret = check_ctf(&c.o, &two);
	if (ret)
		return ret;
	if (c.o.force && !strcmp(c.o.out, "-"))
		return misuse(&command_convert,
			      "--force needs a file or directory: standard output replaces nothing");
	c.to_name = strdup(c.o.to);
	ret = c.to_name ? pieces_find(&in, argc - first, argv + first) :
			  fail("%s", strerror(ENOMEM));
	if (!ret)
		ret = convert_inputs(&c, in.nr, in.paths);
	ktape_sink_close(c.sink);
	if (!ret && two)
		ret = ctf2_describe(c.o.out);
	if (c.o.open)
		ret = convert_open_end(&c.o, c.wake, ret);
	convert_release(&c);
	pieces_release(&in);
	free(c.to_name);
	return ret;
}

const struct kt_command command_convert = {
	.name = "convert",
	.operands = "IN...",
	.help = "convert traces to another format",
	.more = "exit status: 0 converted, 1 failed or the input is damaged, 2 usage error\n",
	.print_more = KT_RUN(print_formats),
	.options = options,
	.run = KT_RUN(cmd_convert),
};

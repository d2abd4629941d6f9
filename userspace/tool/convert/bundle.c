// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape bundle: traces of several hosts as one archive for Perfetto.
 *
 *	OUT.tar	| perfetto_manifest.json | HOST.pftrace | HOST.pftrace | ...
 *
 * The manifest names the machine of each file, and CLOCK_REALTIME as the clock of the
 * merged timeline: each trace relates its own clocks to it.  For readers without manifests
 * the packets of a trace have the number of its machine as well, and all traces have
 * one boot clock: it is 0 when the first of the machines booted.  Traces of the same host
 * have the same machine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/stage.h"
#include "stream/clock.h"

#include "tool/convert/convert.h"
#include "tool/convert/tar.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/text.h"

#define COPY	  (256U << 10) /* bytes that are copied at once */
#define HOST_SIZE 66U	       /* bytes of the name of a host */
#define NAME_ROOM 96U	       /* bytes of the name of a file in the archive */
#define MODE_FILE 0644
#define MANIFEST  "perfetto_manifest.json"

struct bundle_options {
	const char *out;
	bool quiet;
};

#define OPT(member) offsetof(struct bundle_options, member)

static const struct kt_option options[] = {
	{ "output", 'o', KT_OPT_TEXT, OPT(out), "OUT", "archive (tar) to write" },
	{ "quiet", 'q', KT_OPT_FLAG, OPT(quiet), NULL,
	  "no remarks about what is left out" },
	{ .name = NULL },
};

/**
 * struct part - a trace of the archive
 * @path: operand
 * @host: name of its machine
 * @machine: number of its machine, from 1
 * @name: name of its file in the archive
 * @temp: its conversion, a temporary file without a name; -1: none yet
 */
struct part {
	const char *path;
	char host[HOST_SIZE];
	unsigned int machine;
	char name[NAME_ROOM];
	int temp;
};

/**
 * struct bundle - the archive
 * @o: options
 * @parts: its traces
 * @nr: number of @parts
 * @sink: output of the trace that is converted
 * @error: negative errno of a gap that could not be written
 * @damaged: a part of an input could not be read
 * @losses: events that are missing in the inputs
 * @path: operand of the trace that is opened
 * @boot_utc: when the first of the machines booted, in ns since the epoch
 */
struct bundle {
	struct bundle_options o;
	struct part *parts;
	size_t nr;
	struct ktape_sink *sink;
	int error;
	bool damaged;
	struct losses losses;
	const char *path;
	int64_t boot_utc;
};

static void take_bundle_notice(void *arg, const struct ktape_notice *n)
{
	struct bundle *b = arg;

	if (n->kind == KTAPE_NOTICE_LOST) {
		losses_add(&b->losses, n);
		if (b->sink && !b->error)
			b->error = ktape_sink_notice(b->sink, n);
		return;
	}
	b->damaged |= is_damage(n);
	if (n->kind != KTAPE_NOTICE_LATE)
		report_input_damage(b->path, n);
}

/* ---- names ---------------------------------------------------------------------------- */

/* Name the machine of a trace and its file.  @p is the last of the parts so far. */
static void name_part(struct bundle *b, struct part *p, const char *host)
{
	unsigned int machines = 0, same = 0;
	char plain[HOST_SIZE];
	size_t i = 0;

	snprintf(p->host, sizeof(p->host), "%s", *host ? host : "unknown");
	for (const struct part *q = b->parts; q < p; q++) {
		machines = (unsigned int)kt_max(machines, q->machine);
		if (!strcmp(q->host, p->host)) {
			p->machine = q->machine;
			same++;
		}
	}
	if (!p->machine)
		p->machine = machines + 1;
	for (; p->host[i]; i++)
		plain[i] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
				  p->host[i]) ?
				   p->host[i] :
				   '_';
	plain[i] = '\0';
	/* Hosts whose plain names are equal differ by the number of their machine. */
	snprintf(p->name, sizeof(p->name), "%u-%s-%u.pftrace", p->machine,
		 plain, same + 1);
}

/* ---- conversion ------------------------------------------------------------------------ */

static int copy_events(struct bundle *b, struct ktape_trace *trace)
{
	const struct ktape_event *e;
	int ret = 0;

	while (!b->error && !signals_came() &&
	       (ret = ktape_trace_next(trace, &e)) > 0) {
		ret = ktape_sink_event(b->sink, e);
		if (ret)
			return ret;
	}
	if (ret || b->error)
		return ret ? ret : b->error;
	return signals_came() ? -EINTR : ktape_sink_finish(b->sink);
}

/* Make a temporary file.  The caller removes its name when the output has opened it as well. */
static int open_temp(char *path, size_t size)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(path, size, "%s/ktape-bundle.XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	return fd < 0 ? -errno : fd;
}

static int write_part(struct bundle *b, struct part *p, struct ktape_trace *trace)
{
	char path[512], machine[96];
	struct ktape_sink_options how = {
		.format = "perfetto",
		.options = machine,
		.path = path,
		.flags = KTAPE_SINK_IN_PLACE,
		.info = ktape_trace_info(trace),
		.registry = ktape_trace_registry(trace),
	};
	struct ktape_error error = { .offset = 0 };
	int err;

	p->temp = open_temp(path, sizeof(path));
	if (p->temp < 0)
		return p->temp;
	name_part(b, p, how.info->hostname);
	snprintf(machine, sizeof(machine), "machine=%u,boot_utc=%lld",
		 p->machine, (long long)b->boot_utc);
	err = ktape_sink_open(&how, &b->sink, &error);
	unlink(path);
	if (!err)
		err = copy_events(b, trace);
	if (!err && !b->o.quiet)
		report_not_held("perfetto", b->sink, false);
	ktape_sink_close(b->sink);
	b->sink = NULL;
	return err;
}

/* Open a trace.  @silent: it is opened again later, and its notices are reported then. */
static int open_part(struct bundle *b, const char *path, bool silent,
		     struct ktape_trace **trace)
{
	const struct input_options in = { .from = NULL };
	struct ktape_trace_options how = {
		.notice = silent ? NULL : take_bundle_notice,
		.arg = b,
		.flags = KTAPE_TRACE_SORTED,
	};

	b->path = path;
	return input_open(&command_bundle, &in, path, &how, trace);
}

/* Is the clock of a trace related to UTC?  It may count from 1970 itself. */
static bool is_dated(struct ktape_trace *trace)
{
	const struct ktape_event *e;

	return kt_is_dated(ktape_trace_info(trace), 0) ||
	       (ktape_trace_next(trace, &e) > 0 &&
		kt_is_dated(ktape_trace_info(trace), e->ts));
}

/*
 * Find out when the machine of a trace booted, and keep the earliest time, at least 0.  @first: it
 * is the first trace, so there is no earlier time yet.  Return: 0 or the exit code.
 */
static int find_first_boot(struct bundle *b, const char *path, bool first)
{
	const struct ktape_info *info;
	struct ktape_trace *trace;
	int ret = open_part(b, path, true, &trace);
	int64_t utc;

	if (ret)
		return ret;
	if (ktape_trace_is_live(trace)) {
		ktape_trace_close(trace);
		return fail("%s: a trace of a bundle is read twice: save it in a file",
			    path);
	}
	info = ktape_trace_info(trace);
	if (!is_dated(trace)) {
		ktape_trace_close(trace);
		return fail("%s: the trace has no date, by which a bundle joins traces: its clock is not related to UTC (ktape convert -t perfetto takes it alone)",
			    path);
	}
	utc = (int64_t)((uint64_t)ktape_epoch_ns(info, 0) -
			(uint64_t)info->boot_offset_ns);
	if (first || utc < b->boot_utc)
		b->boot_utc = utc < 0 ? 0 : utc;
	ktape_trace_close(trace);
	return 0;
}

/* Convert a trace.  Return: 0 or the exit code. */
static int convert_part(struct bundle *b, struct part *p)
{
	struct ktape_trace *trace;
	int ret = open_part(b, p->path, false, &trace);

	if (ret)
		return ret;
	ret = write_part(b, p, trace);
	ktape_trace_close(trace);
	if (ret == -EINTR)
		return fail("interrupted: %s was not written", b->o.out);
	return ret ? fail("%s: %s", p->path, read_error(ret)) : 0;
}

/* ---- the archive ------------------------------------------------------------------------- */

/* Make the text of the manifest, which the caller frees. */
static char *make_manifest(const struct bundle *b, size_t *len)
{
	char *text = NULL;
	FILE *f = kt_memory_open(&text, len);

	if (!f)
		return NULL;
	fprintf(f, "{\"perfetto_manifest\": {\n \"version\": 1,\n \"trace_time\": {\"clock\": \"REALTIME\"},\n \"files\": [");
	for (size_t i = 0; i < b->nr; i++) {
		const struct part *p = &b->parts[i];

		fprintf(f, "%s\n  {\"path\": \"%s\", \"machines\": [{\"id\": %u, \"name\": ",
			i ? "," : "", p->name, p->machine);
		write_json_text(f, p->host);
		fprintf(f, "}]}");
	}
	fprintf(f, "\n ]\n}}\n");
	if (kt_memory_close(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int put_manifest(const struct bundle *b, int fd)
{
	size_t len = 0;
	char *text = make_manifest(b, &len);
	int err = text ? tar_begin(fd, MANIFEST, len) : -ENOMEM;

	if (!err)
		err = kt_write_all(fd, text, len);
	free(text);
	return err ? err : tar_end_file(fd, len);
}

static int put_archive_part(const struct part *p, int fd)
{
	struct stat st;
	uint64_t at = 0;
	char *copy;
	ssize_t n;
	int err;

	if (fstat(p->temp, &st))
		return -errno;
	copy = malloc(COPY);
	err = copy ? tar_begin(fd, p->name, (uint64_t)st.st_size) : -ENOMEM;
	while (!err && at < (uint64_t)st.st_size) {
		n = kt_pread_all(p->temp, copy, COPY, at);
		err = n > 0 ? kt_write_all(fd, copy, (size_t)n) :
		      n	    ? (int)n :
			      -EIO;
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(copy);
	return err ? err : tar_end_file(fd, (uint64_t)st.st_size);
}

static int put_archive(const struct bundle *b, int fd)
{
	int err = put_manifest(b, fd);

	for (size_t i = 0; i < b->nr && !err; i++)
		err = put_archive_part(&b->parts[i], fd);
	return err ? err : tar_end(fd);
}

static int write_archive(const struct bundle *b)
{
	struct kt_stage stage = KT_STAGE_NONE;
	int fd = kt_stage_file(&stage, b->o.out, MODE_FILE);
	int err = fd < 0 ? fd : put_archive(b, fd);

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err)
		err = kt_stage_commit(&stage);
	kt_stage_drop(&stage);
	return err ? fail("%s: %s", b->o.out, strerror(-err)) : 0;
}

static int make_bundle(struct bundle *b, size_t nr, char **paths)
{
	int ret = signals_sweep(b->o.out);
	char text[LOSS_TEXT];

	if (ret)
		return fail("%s: %s", b->o.out, strerror(-ret));
	signals_catch();
	b->parts = calloc(nr, sizeof(*b->parts));
	if (!b->parts)
		return fail("%s", strerror(ENOMEM));
	for (size_t i = 0; i < nr; i++)
		b->parts[i].temp = -1;
	for (size_t i = 0; i < nr && !ret; i++)
		ret = find_first_boot(b, paths[i], !i);
	for (; b->nr < nr && !ret; b->nr++) {
		b->parts[b->nr].path = paths[b->nr];
		ret = convert_part(b, &b->parts[b->nr]);
	}
	if (!ret)
		ret = write_archive(b);
	if (!ret && b->losses.gaps)
		note("%s of the inputs", losses_text(text, &b->losses, "were lost"));
	if (!ret)
		note_overwritten(NULL, &b->losses);
	for (size_t i = 0; i < nr; i++) {
		if (b->parts[i].temp >= 0)
			close(b->parts[i].temp);
	}
	free(b->parts);
	return ret ? ret : b->damaged ? EXIT_FAILED : EXIT_OK;
}

static int cmd_bundle(int argc, char **argv)
{
	struct bundle b = { .o = { .out = NULL } };
	int first, ret;

	ret = kt_options(&command_bundle, argc, argv, &b.o, &first);
	if (ret >= 0)
		return ret;
	if (!b.o.out || argc == first)
		return misuse(&command_bundle, "missing -o OUT or a trace");
	if (!ktape_codec_find("perfetto"))
		return fail("format perfetto is not built in");
	ret = input_check(&(struct input_options){ .from = NULL }, b.o.out,
			  argv + first, argc - first);
	return ret ? ret : make_bundle(&b, (size_t)(argc - first), argv + first);
}

const struct kt_command command_bundle = {
	.name = "bundle",
	.operands = "TRACE...",
	.help = "pack traces of several hosts for Perfetto",
	.more = "exit status: 0 packed, 1 failed or an input is damaged, 2 usage error\n",
	.options = options,
	.run = KT_RUN(cmd_bundle),
};

// SPDX-License-Identifier: GPL-2.0-only
/* ktape dump: a trace as text or JSON, one line a record. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/parse.h"

#include "dump.h"

#define BUFFER		(1U << 20)
#define STREAM_NAME	24
#define GAPS_SHOWN	20U
#define NS_PER_S	1000000000LL
#define MESSAGE_ROOM	(8U * KTAPE_MESSAGE_MAX)

struct dump_options {
	bool json;
	bool strict;
	bool clear;
	bool now;
	const char *from;
	const char *to;
	uint64_t count;
	struct select_options select;
};

#define OPT(member) offsetof(struct dump_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "lines of JSON" },
	{ "events", 'e', KT_OPT_LIST, OPT(select.events), "LIST|FILE",
	  "only these events, classes, globs; or texts for events: FILE.fmt" },
	{ "group", 'g', KT_OPT_TEXT, OPT(select.groups), "LIST",
	  "and only of these classes" },
	{ "cpu", 'C', KT_OPT_TEXT, OPT(select.cpus), "LIST",
	  "only these CPUs" },
	{ "pid", 'p', KT_OPT_TEXT, OPT(select.pids), "LIST",
	  "only threads of these processes" },
	{ "tid", 0, KT_OPT_TEXT, OPT(select.tids), "LIST",
	  "only these threads" },
	{ "object", 0, KT_OPT_TEXT, OPT(select.objects), "LIST",
	  "only about these: TYPE:NUMBER, TYPE:NAME, NAME" },
	{ "signal", 0, KT_OPT_TEXT, OPT(select.signals), "LIST",
	  "only about these signals: KILL,SEGV" },
	{ "severity", 's', KT_OPT_TEXT, OPT(select.severity), "N",
	  "only exceptions of this level (0 to 3) and above" },
	{ "major", 'M', KT_OPT_TEXT, OPT(select.majors), "LIST",
	  "only exceptions with these codes" },
	{ "minor", 'm', KT_OPT_TEXT, OPT(select.minors), "LIST",
	  "only exceptions with these minor codes" },
	{ "now", 0, KT_OPT_FLAG, OPT(now), NULL,
	  "of a device: what it has now, without waiting for more" },
	{ "clear", 'c', KT_OPT_FLAG, OPT(clear), NULL,
	  "of a device: the same, then clear it" },
	{ "from", 0, KT_OPT_TEXT, OPT(from), "TIME",
	  "from here: seconds as in the text, or ns as in JSON" },
	{ "to", 0, KT_OPT_TEXT, OPT(to), "TIME", "until before here" },
	{ "count", 'n', KT_OPT_NUMBER, OPT(count), "N", "at most N lines" },
	{ "strict", 0, KT_OPT_FLAG, OPT(strict), NULL,
	  "a trace that is cut off is an error" },
	{ .name = NULL },
};

/* A limit of time: on the clock of the text or on that of JSON. */
struct moment {
	bool given;
	bool mono;
	int64_t ns;
};

struct dump {
	struct dump_options o;
	struct select select;
	struct ktape_formats *formats;
	struct moment from;
	struct moment to;
	struct ktape_trace *trace;
	const struct ktape_info *info;
	char *buf;
	size_t cap;
	size_t len;
	int error;
	bool corrupt;
	bool truncated;
	uint64_t lost;
	bool unknown;
	uint64_t late;
	unsigned int gaps;
	struct ktape_notice shown[GAPS_SHOWN];
};

/* For signal handlers: what is written comes out at the other end. */
static int wake[2];

static const char *read_error(int err)
{
	return err == -ENOBUFS ? "packets take more than 1 GiB of memory"
			       : strerror(-err);
}

static const char *stream_name(const struct ktape_notice *n,
			       char name[STREAM_NAME])
{
	static const char *const rings[] = { "cpu", "control" };

	if (n->ring == KTAPE_RING_REGISTRY)
		return "registry";
	snprintf(name, STREAM_NAME, "%s%u", rings[n->ring], n->cpu);
	return name;
}

static void tell_damage(const struct ktape_notice *n)
{
	char name[STREAM_NAME];

	note("%s%sat byte %llu: %s", n->stream ? stream_name(n, name) : "",
	     n->stream ? ": " : "", (unsigned long long)n->error.offset,
	     n->error.text);
}

static void flush(struct dump *d)
{
	if (d->len && !d->error)
		d->error = kt_write_all(STDOUT_FILENO, d->buf, d->len);
	d->len = 0;
}

static void flush_idle(void *arg)
{
	flush(arg);
}

/* Gaps are told at the end, so that they do not tear lines on a terminal. */
static void take_notice(void *arg, const struct ktape_notice *n)
{
	struct dump *d = arg;

	switch (n->kind) {
	case KTAPE_NOTICE_LOST:
		if (d->gaps < GAPS_SHOWN)
			d->shown[d->gaps] = *n;
		d->gaps++;
		d->lost += n->count;
		d->unknown |= !n->count;
		return;
	case KTAPE_NOTICE_LATE:
		d->late += n->count;
		return;
	case KTAPE_NOTICE_TRUNCATED:
		d->truncated = true;
		break;
	case KTAPE_NOTICE_CORRUPT:
		d->corrupt = true;
		break;
	default:
		break;
	}
	flush(d);
	if (n->kind == KTAPE_NOTICE_TABLE)
		note("%s", n->error.text);
	else
		tell_damage(n);
}

static void tell_gap(const struct dump *d, const struct ktape_notice *n)
{
	int64_t from = ktape_mono_ns(d->info, n->from);
	int64_t to = ktape_mono_ns(d->info, n->to);
	char count[24] = "an unknown number of", packets[48] = "";
	char name[STREAM_NAME];

	if (n->count)
		snprintf(count, sizeof(count), "%llu",
			 (unsigned long long)n->count);
	if (n->packets)
		snprintf(packets, sizeof(packets), ", %llu packets missing",
			 (unsigned long long)n->packets);
	note("%s: %s events lost between [%lld.%09lld] and [%lld.%09lld]%s",
	     stream_name(n, name), count,
	     (long long)(from / NS_PER_S), (long long)llabs(from % NS_PER_S),
	     (long long)(to / NS_PER_S), (long long)llabs(to % NS_PER_S),
	     packets);
}

static int finish(struct dump *d, int ret)
{
	flush(d);
	for (unsigned int i = 0; i < d->gaps && i < GAPS_SHOWN; i++)
		tell_gap(d, &d->shown[i]);
	if (d->gaps > 1)
		note("%llu events lost in %u gaps%s",
		     (unsigned long long)d->lost, d->gaps,
		     d->unknown ? ", and an unknown number besides" : "");
	if (d->late)
		note("%llu events came too late to be sorted",
		     (unsigned long long)d->late);
	if (d->error && d->error != -EPIPE)
		return fail("standard output: %s", strerror(-d->error));
	if (ret < 0)
		return fail("reading: %s", read_error(ret));
	return d->corrupt || (d->truncated && d->o.strict) ? EXIT_FAILED
							   : EXIT_OK;
}

static int64_t on_clock(const struct dump *d, const struct moment *m,
			uint64_t ts)
{
	return m->mono ? ktape_mono_ns(d->info, ts)
		       : ktape_epoch_ns(d->info, ts);
}

static bool is_wanted(const struct dump *d, const struct ktape_event *e)
{
	if (d->from.given && on_clock(d, &d->from, e->ts) < d->from.ns)
		return false;
	if (d->to.given && on_clock(d, &d->to, e->ts) >= d->to.ns)
		return false;
	return select_takes(&d->select, ktape_trace_registry(d->trace), e);
}

static int make_room(struct dump *d, size_t need)
{
	char *more;

	if (d->cap - d->len >= need)
		return 0;
	flush(d);
	if (d->cap >= need)
		return 0;
	more = realloc(d->buf, need);
	if (!more)
		return -ENOMEM;
	d->buf = more;
	d->cap = need;
	return 0;
}

static int dump_all(struct dump *d)
{
	const struct ktape_registry *names = ktape_trace_registry(d->trace);
	const struct ktape_event *e;
	uint64_t nr = 0;
	int ret = 0;
	size_t len;
	char *line;

	while (nr < d->o.count && !d->error &&
	       (ret = ktape_trace_next(d->trace, &e)) > 0) {
		if (!is_wanted(d, e))
			continue;
		ret = make_room(d, ktape_format_bound(e) + MESSAGE_ROOM);
		if (ret)
			break;
		line = d->buf + d->len;
		len = d->o.json ? ktape_format_json(d->info, names, e, line)
				: ktape_format_text(d->info, names, e, line);
		d->len += formats_append(d->formats, e, d->o.json, line, len);
		nr++;
	}
	return ret;
}

/* Seconds with a point as the text has them, or nanoseconds as JSON has them. */
static int parse_moment(const char *text, struct moment *m)
{
	uint64_t v;
	int err;

	if (!text)
		return 0;
	m->given = true;
	m->mono = strchr(text, '.');
	err = m->mono ? kt_parse_time(text, &v) : kt_parse_u64(text, &v);
	m->ns = (int64_t)v;
	return err ? err : v > INT64_MAX ? -ERANGE : 0;
}

static int prepare(struct dump *d)
{
	int ret = select_read(&d->o.select, &d->select);

	if (!ret)
		ret = formats_load(&d->o.select, &d->formats);
	if (ret)
		return ret;
	if (parse_moment(d->o.from, &d->from) || parse_moment(d->o.to, &d->to))
		return misuse(&command_dump, "--from and --to take seconds with a point or nanoseconds");
	d->cap = BUFFER;
	d->buf = malloc(BUFFER);
	return d->buf ? 0 : fail("%s", strerror(ENOMEM));
}

static void take_signal(int number)
{
	int saved = errno;

	(void)number;
	kt_write_all(wake[1], "", 1);
	errno = saved;
}

/*
 * A signal ends a live stream: what came is shown, and losses are told.  The
 * second one ends us.
 */
static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = {
		.sa_handler = take_signal,
		.sa_flags = SA_RESETHAND,
	};
	struct sigaction before;

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

static int tell_unopened(const char *path, int err,
			 const struct ktape_error *error)
{
	if (err == -EBADMSG)
		return fail("%s: %s", path, error->text);
	if (*error->text)
		return fail("%s: %s: %s", path, error->text, read_error(err));
	return fail("%s: %s", path, read_error(err));
}

static int dump(struct dump *d, const char *path)
{
	struct ktape_trace_options how = {
		.notice = take_notice,
		.idle = flush_idle,
		.arg = d,
	};
	struct ktape_error error = { .text = "" };
	int ret;

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return fail("pipe: %s", strerror(errno));
	how.wake = wake[0];
	ret = ktape_trace_open(path, &how, &d->trace, &error);
	if (ret)
		return tell_unopened(path, ret, &error);
	if (ktape_trace_is_live(d->trace))
		catch_signals();
	d->info = ktape_trace_info(d->trace);
	ret = finish(d, dump_all(d));
	ktape_trace_close(d->trace);
	return ret;
}

/* What a device has now.  It is cleared only when all of that was shown. */
static int dump_now(struct dump *d, const char *path)
{
	struct ktape_device *device = NULL;
	char copy[32];
	int fd = -1, ret, err;

	ret = device_copy(path, &device, &fd);
	if (!ret) {
		snprintf(copy, sizeof(copy), "/proc/self/fd/%d", fd);
		ret = lseek(fd, 0, SEEK_SET) ? fail("%s", strerror(errno))
					     : dump(d, copy);
	}
	if (!ret && d->o.clear) {
		err = ktape_device_clear(device);
		if (err)
			ret = fail("%s: cannot be cleared: %s", path,
				   strerror(-err));
	}
	ktape_device_close(device);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int run(int argc, char **argv)
{
	struct dump d = { .o = { .count = UINT64_MAX } };
	int first, ret;

	ret = kt_options(&command_dump, argc, argv, &d.o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first != 1)
		return misuse(&command_dump, "one trace, please");
	ret = prepare(&d);
	if (!ret && (d.o.now || d.o.clear))
		ret = dump_now(&d, argv[first]);
	else if (!ret)
		ret = dump(&d, argv[first]);
	ktape_formats_free(d.formats);
	select_release(&d.select);
	free(d.buf);
	return ret;
}

const struct kt_command command_dump = {
	.name = "dump",
	.operands = "DIR|FILE|-",
	.help = "show a trace as text or JSON, one line a record",
	.options = options,
	.run = run,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Traces in other formats, read as native ones: order of events, first pass for names.
 * What a format calls to deliver records and notices is in reader_emit.c and
 * reader_notice.c.
 *
 * The format turns pieces of the input into records, which wait in queues.  They are
 * delivered in the order of the input; or sorted by time, for formats in which only
 * the events of one CPU are in order.  Sorted, each CPU has a queue, and the earliest
 * record is delivered once the queues hold more than the window, or at the end of the
 * input; with KTAPE_TRACE_PROMPT also once it has waited for HOLD_MS.
 */
#include <poll.h>
#include <time.h>

#include "util/hash.h"

#include "stream/metadata.h"
#include "reader.h"

#define UUID_BYTES \
	(64U << 10)	      /* first bytes of the input, hashed to its uuid */
#define WINDOW	(64ULL << 20) /* bytes that wait, by default */
#define HOLD_MS 500	      /* for which a record waits, twice that at most */
#define IDLE_MS 500	      /* between two calls of the caller's idle() */

/* Make the uuid a hash of the first bytes: an input has the same uuid each time. */
static void make_uuid(struct kt_import *s)
{
	size_t len = (size_t)kt_min(kt_scan_there(s->in), UUID_BYTES);
	const uint8_t *head = kt_scan_head(s->in);
	const char *name = s->format->name;
	uint64_t low, high;

	low = kt_fnv(kt_fnv(KT_FNV_BEGIN, name, strlen(name)), head, len);
	high = kt_fnv(low, head, len / 2);
	kt_set64(s->info->uuid, low);
	kt_set64(s->info->uuid + 8, high);
	s->info->uuid[6] = (s->info->uuid[6] & 0x0f) | 0x80; /* version 8 */
	s->info->uuid[8] = (s->info->uuid[8] & 0x3f) | 0x80;
}

/* Fill the info with defaults, which the open() of the format may change. */
static void make_info(struct kt_import *s)
{
	struct ktape_info *info = s->info;

	memset(info, 0, sizeof(*info));
	make_uuid(s);
	info->table_hash = ktape_table_hash();
	info->freq = 1000000000;
	snprintf(info->clock, sizeof(info->clock), "%s", s->format->name);
	snprintf(info->machine, sizeof(info->machine), "%s", s->format->name);
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (!d)
			continue;
		kt_mask_add(info->known, i);
		snprintf(info->names[i], sizeof(info->names[i]), "%s", d->name);
	}
}

static void forget_state(struct kt_import *s)
{
	if (s->state && s->codec->close)
		s->codec->close(s);
	free(s->state);
	s->state = NULL;
}

/* Open the input with a new state of the format. */
static int begin_pass(struct kt_import *s)
{
	forget_state(s);
	s->state = calloc(1, kt_max(s->codec->size, 1));
	if (!s->state)
		return -ENOMEM;
	return s->codec->open(s);
}

static void rewind_input(struct kt_import *s)
{
	s->in->head = 0;
	s->in->len = 0;
	s->in->eof = false;
	s->in->offset = s->begin;
}

/* Read the whole input once for its names, then go back to its beginning. */
static int learn_import_names(struct kt_import *s)
{
	int ret;

	s->learning = true;
	ret = begin_pass(s);
	while (!ret && (ret = s->codec->next(s)) > 0)
		ret = 0;
	s->learning = false;
	s->learned = true;
	rewind_input(s);
	/* Ignore damage: the second pass finds it again and notifies of it. */
	return ret == -ENOMEM ? ret : 0;
}

static uint64_t import_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Call the caller's idle() before each wait, and twice a second while data arrive. */
static void call_import_idle(struct kt_import *s, bool waits)
{
	const struct ktape_trace_options *o = s->trace_options;
	uint64_t now;

	if (!o->idle)
		return;
	now = import_clock_ms();
	if (!waits && now - s->shown_at < IDLE_MS)
		return;
	s->shown_at = now;
	o->idle(o->arg);
}

/*
 * Wait for more input from a pipe or a serial line.
 * Return: 1; 0 if ktape_trace_options.wake asks for the end of the trace; -EAGAIN if
 * records have waited long enough meanwhile.
 */
static int wait_import_input(void *arg)
{
	struct kt_import *s = arg;
	const struct ktape_trace_options *o = s->trace_options;
	struct pollfd fds[] = {
		{ .fd = s->in->fd, .events = POLLIN },
		{ .fd = o->wake ? o->wake : -1, .events = POLLIN },
	};
	int ret = poll(fds, KT_ARRAY_SIZE(fds), 0);
	bool called = false;

	call_import_idle(s, !ret);
	while (!ret || (ret < 0 && errno == EINTR)) {
		/*
		 * Call idle() once more after HOLD_MS, even if no record waits: a caller that
		 * flushes at most so often may have skipped the events before this pause.
		 */
		ret = poll(fds, KT_ARRAY_SIZE(fds),
			   !s->prompt		? -1 :
			   s->queued || !called ? HOLD_MS :
						  -1);
		if (ret)
			continue;
		call_import_idle(s, true);
		called = true;
		if (s->queued)
			return -EAGAIN;
	}
	return !fds[1].revents;
}

/* Check what the format has found out of the clock. */
static int check_clock(struct kt_import *s)
{
	if (!s->info->freq || s->info->freq > UINT64_MAX / 1000000000)
		return kt_import_fail(
			s, 0, "the clock frequency of %llu Hz is out of range",
			(unsigned long long)s->info->freq);
	return kt_clock_check(s->info, &s->error);
}

/**
 * kt_import_open() - begin to read a trace in another format
 * @t: the trace
 * @format: the format; its @in is not NULL
 * @import: set, unless there is no memory for it; ends with kt_import_close(), also after an
 *	error
 * @error: filled on -EBADMSG and -EINVAL; may be NULL
 *
 * Return: 0 or negative errno.
 */
int kt_import_open(const struct kt_import_trace *t, const struct ktape_codec *format,
		   struct kt_import **import, struct ktape_error *error)
{
	const struct ktape_trace_options *o = t->options;
	struct kt_import *s = calloc(1, sizeof(*s));
	int64_t there;
	int err;

	if (!s)
		return -ENOMEM;
	*import = s;
	s->trace_options = o;
	s->format = format;
	s->codec = format->in;
	s->in = t->input;
	s->folder = t->folder;
	s->begin = s->in->offset;
	s->in->wait = wait_import_input;
	s->in->wait_arg = s;
	s->info = t->info;
	if (o->flags & KTAPE_TRACE_SORTED)
		s->window = o->window ? o->window : WINDOW;
	s->shown_at = import_clock_ms();
	err = kt_codec_options_parse(&s->options, o->format_options,
				     s->codec->options, format->name, error);
	if (err)
		return err;
	there = kt_scan_need(s->in, s->in->seekable ? UUID_BYTES : 1);
	if (there < 0)
		return (int)there;
	make_info(s);
	err = kt_registry_new(t->info->freq, t->formats, t->registry);
	s->registry = *t->registry;
	if (!err && s->codec->names_late && s->in->seekable)
		err = learn_import_names(s);
	if (!err)
		err = begin_pass(s);
	if (!err)
		err = check_clock(s);
	/* A file has all its records at once. */
	s->prompt = s->window && o->flags & KTAPE_TRACE_PROMPT && s->resumes &&
		    !kt_scan_is_rereadable(s->in);
	if ((err == -EBADMSG || err == -EINVAL) && error)
		*error = s->error;
	return err;
}

/* Drop the record that was delivered last.  Return: 0 or -ENOMEM. */
static int drop_current(struct kt_import *s)
{
	struct kt_fifo *f = s->current;

	if (!f)
		return 0;
	f->head += s->taken;
	s->queued -= s->taken;
	s->current = NULL;
	kt_fifo_shrink(f);
	if (f->head != f->len)
		return kt_fifo_enter_heap(s, f);
	f->head = 0;
	f->len = 0;
	return 0;
}

static void notify_failure(struct kt_import *s)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_CORRUPT,
		.error = s->error,
	};

	if (s->trace_options->notice)
		s->trace_options->notice(s->trace_options->arg, &n);
}

static void notify_end(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_LATE, .count = s->late };

	kt_import_notify_bad(s);
	if (s->cut_names)
		kt_import_note(s, "%llu names of events are cut to %u bytes",
			       (unsigned long long)s->cut_names, KT_NAME_LONG);
	s->cut_names = 0;
	kt_import_notify_back(s);
	if (s->late && s->trace_options->notice)
		s->trace_options->notice(s->trace_options->arg, &n);
	s->late = 0;
}

/* Return the time of the newest record that was put into a queue. */
static uint64_t newest_time(const struct kt_import *s)
{
	uint64_t ts = 0;

	for (size_t i = 0; i < s->nr_fifos; i++)
		ts = kt_max(ts, s->fifos[i].last_ts);
	return ts;
}

/*
 * Check whether the earliest record has waited for HOLD_MS.  Periods of HOLD_MS follow one another.
 * The records that were in the queues when a period began are due at its end; once they are
 * delivered, the next period begins.
 */
static bool is_due(struct kt_import *s)
{
	uint64_t now;

	if (!s->prompt || !s->nr_heap)
		return false;
	now = import_clock_ms();
	if (s->due_at && now >= s->due_at) {
		if (kt_fifo_ts(&s->fifos[s->heap[0]]) <= s->due_ts)
			return true;
		s->due_at = 0;
	}
	if (!s->due_at) {
		s->due_at = now + HOLD_MS;
		s->due_ts = newest_time(s);
	}
	return false;
}

static bool must_read(struct kt_import *s)
{
	if (s->ended)
		return false;
	return s->window ? s->queued < s->window && !is_due(s) : !s->queued;
}

/* Let the format read until enough records wait.  Return: 0 or negative errno. */
static int fill_queues(struct kt_import *s)
{
	int ret;

	while (must_read(s)) {
		ret = s->codec->next(s);
		if (ret == -EAGAIN)
			continue;
		if (ret == -EBADMSG)
			notify_failure(s);
		if (ret < 0)
			return ret;
		s->ended = !ret;
	}
	return 0;
}

/**
 * kt_import_next() - deliver the next event
 * @s: the trace
 * @event: set to the event, valid until the next call
 *
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_import_next(struct kt_import *s, const struct ktape_event **event)
{
	struct kt_fifo *f;
	int err;

	for (;;) {
		err = drop_current(s);
		if (!err)
			err = fill_queues(s);
		if (err)
			return err;
		f = kt_fifo_take_earliest(s);
		if (!f) {
			notify_end(s);
			return 0;
		}
		kt_fifo_take(s, f);
		if (s->event.opcode != KT_IMPORT_LOST)
			break;
		kt_import_notify_lost(s);
	}
	s->late += s->window && s->event.ts < s->last_ts;
	s->last_ts = s->event.ts;
	/* After a first pass the registry has all names already. */
	err = s->learned ? 0 : ktape_registry_add(s->registry, &s->event);
	*event = &s->event;
	return err ? err : 1;
}

/**
 * kt_import_json() - return the event that was delivered last as its format shows it
 * @s: the trace
 * @len: set to the length of the text
 *
 * Return: a JSON object, valid until the next call; NULL if the format has none.
 */
const char *kt_import_json(struct kt_import *s, size_t *len)
{
	size_t need = KT_IMPORT_JSON_FIXED + s->raw_size * KT_IMPORT_JSON_BYTE;
	char *text, *end;

	if (!s->current || !s->codec->json || !s->raw_size)
		return NULL;
	if (s->text_cap < need) {
		text = realloc(s->text, need);
		if (!text)
			return NULL;
		s->text = text;
		s->text_cap = need;
	}
	end = s->codec->json(s->text, s->raw, s->raw_size);
	*len = (size_t)(end - s->text);
	return s->text;
}

/**
 * kt_import_close() - stop reading
 * @s: the trace, or NULL
 */
void kt_import_close(struct kt_import *s)
{
	if (!s)
		return;
	forget_state(s);
	kt_codec_options_free(&s->options);
	for (size_t i = 0; i < s->nr_fifos; i++)
		free(s->fifos[i].buf);
	free(s->fifos);
	free(s->heap);
	free(s->latest);
	free(s->text);
	free(s);
}

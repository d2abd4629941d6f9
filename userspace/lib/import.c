// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Traces in formats of others, seen as native ones.
 *
 * A codec turns pieces of the input into records.  They are delivered in the
 * order of the input; or sorted, when each CPU's are in order: then they wait
 * in one queue a CPU, and the earliest goes when the queues hold more than the
 * window, or at the end of the input.
 */
#include "import.h"
#include "trace.h"

#define UUID_BYTES	(64U << 10)	/* of the input that make its uuid */
#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL
#define WINDOW		(64ULL << 20)

static uint64_t fnv(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		hash = (hash ^ *p++) * FNV_PRIME;
	return hash;
}

/* The same input has the same uuid. */
static void make_uuid(struct kt_import *s)
{
	size_t len = (size_t)kt_min(kt_scan_there(s->in), UUID_BYTES);
	const uint8_t *head = kt_scan_head(s->in);
	const char *name = s->format->name;
	uint64_t low, high;

	low = fnv(fnv(FNV_BASIS, name, strlen(name)), head, len);
	high = fnv(low, head, len / 2);
	kt_set64(s->info->uuid, low);
	kt_set64(s->info->uuid + 8, high);
	s->info->uuid[6] = (s->info->uuid[6] & 0x0f) | 0x80;	/* version 8 */
	s->info->uuid[8] = (s->info->uuid[8] & 0x3f) | 0x80;
}

/* What a foreign trace says of itself when its codec says nothing. */
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

/* From the beginning of the input. */
static int begin(struct kt_import *s)
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

/* A first pass over an input that can be read twice. */
static int learn(struct kt_import *s)
{
	int ret;

	s->learning = true;
	ret = begin(s);
	while (!ret && (ret = s->codec->next(s)) > 0)
		ret = 0;
	s->learning = false;
	rewind_input(s);
	/* What is wrong is told in the second pass. */
	return ret == -ENOMEM ? ret : 0;
}

int kt_import_open(struct ktape_trace *t, const struct ktape_codec *format,
		   struct ktape_error *error)
{
	struct kt_import *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	t->import = s;
	s->trace = t;
	s->format = format;
	s->codec = format->in;
	s->in = &t->input;
	s->begin = s->in->offset;
	s->info = &t->info;
	if (t->options.flags & KTAPE_TRACE_SORTED)
		s->window = t->options.window ? t->options.window : WINDOW;
	err = kt_codec_options_parse(&s->options, t->options.format_options,
				     s->codec->options, format->name, error);
	if (err)
		return err;
	make_info(s);
	err = ktape_registry_new(t->info.freq, &t->registry);
	s->registry = t->registry;
	if (!err && s->codec->names_late && s->in->seekable)
		err = learn(s);
	if (!err)
		err = begin(s);
	if ((err == -EBADMSG || err == -EINVAL) && error)
		*error = s->error;
	return err;
}

static bool is_empty(const struct kt_fifo *f)
{
	return f->head == f->len;
}

/*
 * The queue whose first record is the earliest, or NULL.  At equal times the one
 * of the lowest CPU; only queues from the first to the last that hold something
 * are looked at.
 */
static struct kt_fifo *earliest(struct kt_import *s)
{
	struct kt_fifo *best = NULL;
	uint64_t best_ts = 0;

	while (s->last_fifo > s->first_fifo &&
	       is_empty(&s->fifos[s->last_fifo - 1]))
		s->last_fifo--;
	while (s->first_fifo < s->last_fifo &&
	       is_empty(&s->fifos[s->first_fifo]))
		s->first_fifo++;
	for (size_t i = s->first_fifo; i < s->last_fifo; i++) {
		struct kt_fifo *f = &s->fifos[i];
		uint64_t ts;

		if (is_empty(f))
			continue;
		ts = kt_fifo_ts(f);
		if (best && ts >= best_ts)
			continue;
		best = f;
		best_ts = ts;
	}
	return best;
}

static void drop_current(struct kt_import *s)
{
	struct kt_fifo *f = s->current;

	if (!f)
		return;
	f->head += s->taken;
	s->held -= s->taken;
	s->current = NULL;
	if (f->head == f->len) {
		f->head = 0;
		f->len = 0;
	}
}

static void tell_failure(struct kt_import *s)
{
	kt_notice(s->trace, KTAPE_NOTICE_CORRUPT, NULL, &s->error);
}

static void tell_end(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_LATE, .count = s->late };

	kt_import_tell_bad(s);
	if (s->late && s->trace->options.notice)
		s->trace->options.notice(s->trace->options.arg, &n);
	s->late = 0;
}

/* Let the codec fill the queues.  Return: 0 or negative errno. */
static int fill(struct kt_import *s)
{
	int ret;

	while (!s->ended && (s->window ? s->held < s->window : !s->held)) {
		ret = s->codec->next(s);
		if (ret == -EBADMSG)
			tell_failure(s);
		if (ret < 0)
			return ret;
		s->ended = !ret;
	}
	return 0;
}

int kt_import_next(struct kt_import *s, const struct ktape_event **event)
{
	struct kt_fifo *f;
	int err;

	for (;;) {
		drop_current(s);
		err = fill(s);
		if (err)
			return err;
		f = earliest(s);
		if (!f) {
			tell_end(s);
			return 0;
		}
		kt_fifo_take(s, f);
		if (s->event.opcode != KT_IMPORT_LOST)
			break;
		kt_import_tell_lost(s);
	}
	s->late += s->window && s->event.ts < s->last_ts;
	s->last_ts = s->event.ts;
	err = ktape_registry_add(s->registry, &s->event);
	*event = &s->event;
	return err ? err : 1;
}

/* The event that was delivered last in the words of its format, or NULL. */
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

void kt_import_close(struct kt_import *s)
{
	if (!s)
		return;
	forget_state(s);
	kt_codec_options_free(&s->options);
	for (size_t i = 0; i < s->nr_fifos; i++)
		free(s->fifos[i].buf);
	free(s->fifos);
	free(s->text);
	free(s);
}

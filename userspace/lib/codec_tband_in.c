// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading Tonbandgeraet: cores, losses; what becomes of each event. */
#include <ctype.h>

#include <ktape/mark.h>

#include "util/parse.h"

#include "codec_tband.h"
#include "frames.h"

#define FRAME_MAX	65536U
#define TASKS		4096U	/* whose priority is remembered */
#define RT_PRIO_MAX	98U	/* the kernel's priority for ours of 0 */
#define PRIO_UNKNOWN	120U
#define NS_PER_S	1000000000ULL
#define RAW_BAD		1	/* first byte of raw: a frame that is no event */
#define RAW_HEAD	10	/* of such: whether there is a time, and it */

/* A core: where its time is, who runs and in which state that one leaves. */
struct core {
	uint64_t ts;
	int32_t tid;
	uint8_t leaving;
};

/* A priority of a task, in a place that several tasks share. */
struct prio {
	uint32_t task;
	uint8_t prio;
	bool known;
};

/**
 * struct tband - an input that is being read
 * @hex: it is in hexadecimal
 * @bare: events of FreeRTOS are none
 * @count: there are so many cores
 * @core: the one whose events come
 * @cores: all so far
 * @nr_cores: how many
 * @scale: ticks of the trace in one of the input's
 * @dropped: the input's counter
 * @last_ts: of the last event, as it stood there
 * @timed: there was one with a time
 * @offset: of the frame
 * @frame: bytes of a frame in hexadecimal
 * @event: content of the frame, behind one byte for raw
 * @prios: of tasks
 */
struct tband {
	bool hex;
	bool bare;
	uint32_t count;
	uint32_t core;
	struct core *cores;
	uint32_t nr_cores;
	uint64_t scale;
	uint32_t dropped;
	uint64_t last_ts;
	bool timed;
	bool saturated;
	bool cut_names;
	uint64_t offset;
	uint8_t frame[FRAME_MAX];
	uint8_t event[1 + FRAME_MAX];
	uint8_t typed[2 + FRAME_MAX];
	struct prio prios[TASKS];
};

static const struct ktape_codec_option options[] = {
	{ "format", "bin|hex", "bytes, or their hexadecimal digits (default: what they look like)" },
	{ "mode", "bare-metal|free-rtos", "with bare-metal, events of FreeRTOS are none" },
	{ "core-count", "N", "how many cores there are" },
	{ "core", "N", "the core of events before the first that tells one" },
	{ .key = NULL },
};

/* ---- frames ---------------------------------------------------------------- */

static int digit(int c)
{
	if (isdigit(c))
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool looks_hex(const uint8_t *data, size_t len)
{
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		if (digit(data[i]) >= 0)
			digits++;
		else if (!isspace(data[i]))
			return false;
	}
	return digits >= 4;
}

static int take_digits(struct kt_import *s, int *high, int64_t *byte)
{
	int c = *kt_scan_head(s->in), d = digit(c);
	int err = kt_scan_skip(s->in, 1);

	*byte = -1;
	if (err || isspace(c))
		return err;
	if (d < 0)
		return kt_import_fail(s, s->in->offset - 1,
				      "no hexadecimal digit");
	if (*high < 0) {
		*high = d;
		return 0;
	}
	*byte = *high << 4 | d;
	*high = -1;
	return 0;
}

static int64_t next_hex(struct kt_import *s, const uint8_t **frame)
{
	struct tband *t = s->state;
	size_t len = 0;
	int high = -1;

	*frame = t->frame;
	for (;;) {
		int64_t there = kt_scan_need(s->in, 1), byte;
		int err;

		if (there < 0)
			return there;
		if (!there)
			return len || high >= 0 ? KT_FRAME_CUT : KT_FRAME_END;
		err = take_digits(s, &high, &byte);
		if (err)
			return err;
		if (!byte)
			return (int64_t)len;
		if (byte < 0)
			continue;
		if (len == FRAME_MAX)
			return KT_FRAME_LONG;
		t->frame[len++] = (uint8_t)byte;
	}
}

/* ---- what becomes of events -------------------------------------------------- */

static struct core *core_at(struct tband *t, uint32_t nr)
{
	struct core *more;

	if (nr < t->nr_cores)
		return &t->cores[nr];
	more = realloc(t->cores, ((size_t)nr + 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->cores = more;
	while (t->nr_cores <= nr)
		t->cores[t->nr_cores++] = (struct core){
			.tid = -1, .leaving = KTAPE_STATE_PREEMPTED,
		};
	return &t->cores[nr];
}

/* Theirs grow with importance, the kernel's shrink. */
static uint8_t prio_of(const struct tband *t, int32_t tid)
{
	const struct prio *p = &t->prios[(uint32_t)tid % TASKS];

	return p->known && p->task == (uint32_t)tid ? p->prio : PRIO_UNKNOWN;
}

static void learn_prio(struct tband *t, uint64_t task, uint64_t prio)
{
	struct prio *p = &t->prios[task % TASKS];

	p->task = (uint32_t)task;
	p->prio = (uint8_t)(RT_PRIO_MAX - kt_min(prio, RT_PRIO_MAX));
	p->known = true;
}

/* All fields as words, the text as a typed argument. */
static int emit_user(struct kt_import *s, struct kt_foreign *f,
		     const struct kt_tband_event *e)
{
	const struct kt_tband_kind *k = kt_tband_kind(e->id);
	struct tband *t = s->state;
	uint8_t *p = t->typed;

	f->opcode = KTAPE_EV_USER_EVENT;
	f->args[f->nargs++] = KTAPE_FORMAT_ID_TBAND | e->id;
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++) {
		f->args[f->nargs++] = (uint32_t)e->values[i];
		if (k->types[i] >= KT_TBAND_U64)
			f->args[f->nargs++] = (uint32_t)(e->values[i] >> 32);
	}
	if (k->text) {
		*p++ = KTAPE_FORMAT_STRING;
		memcpy(p, e->text, e->len);
		p += strnlen((char *)p, e->len);
		*p++ = 0;
	}
	f->blob = t->typed;
	f->blob_size = (uint32_t)(p - t->typed);
	return kt_import_emit(s, f);
}

static int emit_name(struct kt_import *s, struct kt_foreign *f,
		     const struct kt_tband_event *e)
{
	struct tband *t = s->state;
	struct kt_named n = {
		.id = (uint32_t)e->values[0], .name = e->text, .len = e->len,
	};

	switch (e->id) {
	case KT_TBAND_ISR_NAME:
		n.type = KTAPE_OBJ_ISR;
		n.param1 = f->cpu + 1;
		break;
	case KT_TBAND_TASK_NAME:
		n.type = KTAPE_OBJ_THREAD;
		n.param1 = n.id;
		break;
	case KT_TBAND_QUEUE_NAME:
		n.type = KTAPE_OBJ_USER + KTAPE_USER_QUEUE;
		break;
	case KT_TBAND_EVTMARKER_NAME:
	case KT_TBAND_TASK_EVTMARKER_NAME:
		n.type = KTAPE_OBJ_MARKER;
		break;
	default:
		n.type = KTAPE_OBJ_VALUE;
		break;
	}
	if (e->id >= KT_TBAND_TASK_EVTMARKER_NAME)
		n.param1 = (uint32_t)e->values[1];
	if (e->len > KTAPE_NAME_SIZE && !t->cut_names) {
		t->cut_names = true;
		kt_import_note(s, "names longer than %u bytes are cut",
			       KTAPE_NAME_SIZE);
	}
	return kt_import_name(s, f, &n);
}

static int emit_marker(struct kt_import *s, struct kt_foreign *f,
		       const struct kt_tband_event *e)
{
	static const uint8_t opcodes[] = {
		KTAPE_EV_MARK, KTAPE_EV_MARK_BEGIN, KTAPE_EV_MARK_END,
		[KT_TBAND_VALMARKER - KT_TBAND_EVTMARKER] = KTAPE_EV_MARK_VALUE,
	};
	bool task = e->id >= KT_TBAND_TASK_EVTMARKER;
	unsigned int first = task ? KT_TBAND_TASK_EVTMARKER
				  : KT_TBAND_EVTMARKER;

	f->opcode = opcodes[e->id - first];
	f->dat20 = task;
	f->args[f->nargs++] = (uint32_t)e->values[0];
	if (f->opcode == KTAPE_EV_MARK_VALUE) {
		f->args[f->nargs++] = (uint32_t)e->values[1];
		f->args[f->nargs++] = (uint32_t)(e->values[1] >> 32);
	}
	f->blob = e->text;
	f->blob_size = (uint32_t)e->len;
	return kt_import_emit(s, f);
}

static int emit_switch(struct kt_import *s, struct kt_foreign *f,
		       const struct kt_tband_event *e)
{
	struct tband *t = s->state;
	struct core *c = &t->cores[f->cpu];
	int32_t next = (int32_t)e->values[0];

	f->opcode = KTAPE_EV_SCHED_SWITCH;
	f->dat20 = (c->tid < 0 ? PRIO_UNKNOWN : prio_of(t, c->tid)) |
		   (uint32_t)prio_of(t, next) << 8 |
		   (uint32_t)c->leaving << 16;
	f->args[f->nargs++] = (uint32_t)c->tid;
	f->args[f->nargs++] = (uint32_t)next;
	c->tid = next;
	c->leaving = KTAPE_STATE_PREEMPTED;
	return kt_import_emit(s, f);
}

static int emit_task(struct kt_import *s, struct kt_foreign *f,
		     const struct kt_tband_event *e)
{
	struct tband *t = s->state;
	uint32_t task = (uint32_t)e->values[0];

	switch (e->id) {
	case KT_TBAND_SWITCHED_IN:
		return emit_switch(s, f, e);
	case KT_TBAND_TO_READY:
		f->opcode = KTAPE_EV_SCHED_WAKEUP;
		f->dat20 = prio_of(t, (int32_t)task) | (f->cpu & 0xfff) << 8;
		break;
	case KT_TBAND_TASK_CREATED:
		f->opcode = KTAPE_EV_PROCESS_FORK;
		f->args[f->nargs++] = f->tid < 0 ? 0 : (uint32_t)f->tid;
		f->args[f->nargs++] = task;
		break;
	default:
		f->opcode = KTAPE_EV_PROCESS_EXIT;
		f->dat20 = prio_of(t, (int32_t)task);
		f->args[f->nargs++] = task;
		f->args[2] = 0;
		break;
	}
	f->args[f->nargs++] = task;
	f->nargs += e->id == KT_TBAND_TASK_DELETED;
	return kt_import_emit(s, f);
}

static int emit_isr(struct kt_import *s, struct kt_foreign *f,
		    const struct kt_tband_event *e)
{
	f->opcode = e->id == KT_TBAND_ISR_ENTER ? KTAPE_EV_ISR_ENTER
						: KTAPE_EV_ISR_EXIT;
	f->args[f->nargs++] = (uint32_t)e->values[0];
	return kt_import_emit(s, f);
}

typedef int emit_fn(struct kt_import *s, struct kt_foreign *f,
		    const struct kt_tband_event *e);

/* clang-format off */

/* Who makes a record of an event; all others are user events. */
static emit_fn *const emits[KT_TBAND_IDS] = {
	[KT_TBAND_ISR_NAME] = emit_name,
	[KT_TBAND_ISR_ENTER] = emit_isr,
	[KT_TBAND_ISR_EXIT] = emit_isr,
	[KT_TBAND_EVTMARKER_NAME] = emit_name,
	[KT_TBAND_EVTMARKER ... KT_TBAND_EVTMARKER_END] = emit_marker,
	[KT_TBAND_VALMARKER_NAME] = emit_name,
	[KT_TBAND_VALMARKER] = emit_marker,
	[KT_TBAND_SWITCHED_IN] = emit_task,
	[KT_TBAND_TO_READY] = emit_task,
	[KT_TBAND_TASK_CREATED] = emit_task,
	[KT_TBAND_TASK_NAME] = emit_name,
	[KT_TBAND_TASK_DELETED] = emit_task,
	[KT_TBAND_QUEUE_NAME] = emit_name,
	[KT_TBAND_TASK_EVTMARKER_NAME] = emit_name,
	[KT_TBAND_TASK_EVTMARKER ... KT_TBAND_TASK_EVTMARKER_END] = emit_marker,
	[KT_TBAND_TASK_VALMARKER_NAME] = emit_name,
	[KT_TBAND_TASK_VALMARKER] = emit_marker,
};

/* clang-format on */

/* A task whose number is no thread id stays in a user event. */
static bool is_thread(const struct kt_tband_event *e)
{
	return (emits[e->id] != emit_task && e->id != KT_TBAND_TASK_NAME) ||
	       e->values[0] <= INT32_MAX;
}

/* ---- what events change -------------------------------------------------------- */

static void learn_resolution(struct kt_import *s, uint64_t ns)
{
	struct tband *t = s->state;

	if (!ns || s->memo)
		return;
	s->memo = ns;
	t->scale = NS_PER_S % ns ? ns : 1;
	s->info->freq = NS_PER_S % ns ? NS_PER_S : NS_PER_S / ns;
}

static int change_core(struct kt_import *s, uint64_t core)
{
	struct tband *t = s->state;

	if (core >= t->count) {
		kt_import_bad(s, t->offset, "core %llu of %u: what follows stays with core %u",
			      (unsigned long long)core, t->count, t->core);
		return 0;
	}
	t->core = (uint32_t)core;
	return core_at(t, t->core) ? 0 : -ENOMEM;
}

/* Their counter is of all cores and wraps. */
static int count_dropped(struct kt_import *s, const struct kt_foreign *f,
			 uint32_t count)
{
	struct tband *t = s->state;
	uint32_t lost = count - t->dropped;

	t->dropped = count;
	return lost ? kt_import_lost(s, f->cpu, lost, t->cores[f->cpu].ts,
				     f->ts) : 0;
}

/* The state in which the task leaves that does this to itself. */
static void follow_task(struct tband *t, struct core *c,
			const struct kt_tband_event *e)
{
	bool own = c->tid >= 0 && e->values[0] == (uint32_t)c->tid;

	if (e->id >= KT_TBAND_PRIO_SET && e->id <= KT_TBAND_PRIO_DISINHERIT)
		learn_prio(t, e->values[0], e->values[1]);
	else if (e->id == KT_TBAND_DELAY || e->id == KT_TBAND_DELAY_UNTIL)
		c->leaving = KTAPE_STATE_S;
	else if (e->id >= KT_TBAND_BLOCK_PEEK && e->id <= KT_TBAND_BLOCK_RECEIVE)
		c->leaving = KTAPE_STATE_S;
	else if (e->id == KT_TBAND_SUSPENDED && own)
		c->leaving = KTAPE_STATE_T;
	else if (e->id == KT_TBAND_TASK_DELETED && own)
		c->leaving = KTAPE_STATE_X;
}

static uint64_t scaled(struct kt_import *s, uint64_t ts)
{
	struct tband *t = s->state;
	uint64_t v;

	if (!__builtin_mul_overflow(ts, t->scale, &v))
		return v;
	if (!t->saturated)
		kt_import_note(s, "times beyond 2^64 ns are taken as that");
	t->saturated = true;
	return UINT64_MAX;
}

static int take_event(struct kt_import *s, const struct kt_tband_event *e,
		      size_t size)
{
	const struct kt_tband_kind *k = kt_tband_kind(e->id);
	struct tband *t = s->state;
	struct kt_foreign f = { .raw = t->event, .raw_size = (uint32_t)size };
	struct core *c;
	int err;

	if (e->id == KT_TBAND_RESOLUTION)
		learn_resolution(s, e->values[0]);
	if (e->id == KT_TBAND_CORE_ID) {
		err = change_core(s, e->values[0]);
		if (err)
			return err;
	}
	c = &t->cores[t->core];
	f.cpu = t->core;
	f.tid = c->tid;
	f.ts = c->ts;
	/* Streams start with a time of 0 that tells nothing. */
	if (!k->metadata && (e->id != KT_TBAND_CORE_ID || e->ts))
		f.ts = scaled(s, e->ts);
	if (!k->metadata) {
		t->last_ts = e->ts;
		t->timed = true;
	}
	err = e->id == KT_TBAND_DROPPED ?
	      count_dropped(s, &f, (uint32_t)e->values[0]) : 0;
	if (err)
		return err;
	c->ts = f.ts;
	if (emits[e->id] && is_thread(e))
		err = emits[e->id](s, &f, e);
	else
		err = emit_user(s, &f, e);
	follow_task(t, c, e);
	return err;
}

/* A frame that is no event stays in the trace as bytes. */
static int take_bad(struct kt_import *s, const uint8_t *frame, size_t len,
		    const char *why)
{
	struct tband *t = s->state;
	struct core *c = &t->cores[t->core];
	struct kt_foreign f = {
		.ts = c->ts, .cpu = t->core, .tid = c->tid,
		.opcode = KTAPE_EV_USER_EVENT, .nargs = 1,
		.args = { KTAPE_FORMAT_ID_TBAND | KT_TBAND_INVALID },
		.blob = t->typed, .raw = t->event,
	};
	size_t part = (size_t)kt_min(len, UINT8_MAX);

	kt_import_bad(s, t->offset, "%s", why);
	t->typed[0] = KTAPE_FORMAT_MEMORY;
	t->typed[1] = (uint8_t)part;
	memcpy(t->typed + 2, frame, part);
	f.blob_size = (uint32_t)part + 2;
	t->event[0] = RAW_BAD;
	t->event[1] = t->timed;
	kt_set64(t->event + 2, t->last_ts);
	part = strlen(why);
	memcpy(t->event + RAW_HEAD, why, part);
	f.raw_size = (uint32_t)(RAW_HEAD + part);
	return kt_import_emit(s, &f);
}

static int take_frame(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct tband *t = s->state;
	char why[KT_TBAND_WHY] = "empty frame";
	struct kt_tband_event e;
	int64_t size;

	if (!len)
		return take_bad(s, frame, len, why);
	size = kt_cobs_decode(t->event + 1, frame, len);
	if (size < 0)
		return take_bad(s, frame, len, "the frame is no COBS");
	t->event[0] = 0;
	if (kt_tband_decode(&e, t->event + 1, (size_t)size, why))
		return take_bad(s, frame, len, why);
	if (t->bare && e.id >= KT_TBAND_FRTOS)
		return take_bad(s, frame, len, "an event of FreeRTOS");
	return take_event(s, &e, (size_t)size + 1);
}

static int next(struct kt_import *s)
{
	struct tband *t = s->state;
	const uint8_t *frame = NULL;
	int64_t len;
	int err;

	t->offset = s->in->offset;
	len = t->hex ? next_hex(s, &frame)
		     : kt_frames_next(s, 0, FRAME_MAX, &frame);
	len = kt_frames_tell(s, len, t->offset, FRAME_MAX);
	if (len < 0)
		return len == KT_FRAME_END  ? 0 :
		       len == KT_FRAME_LONG ? 1 : (int)len;
	err = take_frame(s, frame, (size_t)len);
	if (!err && !t->hex)
		err = kt_scan_skip(s->in, (uint64_t)len + 1);
	return err ? err : 1;
}

/* ---- begin ------------------------------------------------------------------------ */

static int take_number(struct kt_import *s, const char *key, uint32_t max,
		       uint32_t *to)
{
	const char *text = kt_codec_option(&s->options, key);
	uint64_t v;

	if (!text)
		return 0;
	if (kt_parse_u64(text, &v) || v > max) {
		kt_import_fail(s, 0, "%s is a number up to %u", key, max);
		return -EINVAL;
	}
	*to = (uint32_t)v;
	return 0;
}

/* Return: 0: not given, 1: @first, 2: @second, or -EINVAL. */
static int take_word(struct kt_import *s, const char *key, const char *first,
		     const char *second)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text)
		return 0;
	if (!strcmp(text, first))
		return 1;
	if (!strcmp(text, second))
		return 2;
	kt_import_fail(s, 0, "%s is %s or %s", key, first, second);
	return -EINVAL;
}

/* An input that comes only once: is the resolution in what has come? */
static void look_ahead(struct kt_import *s)
{
	const uint8_t *p = kt_scan_head(s->in), *end, *nul;
	struct tband *t = s->state;
	struct kt_tband_event e;
	char why[KT_TBAND_WHY];

	end = p + kt_scan_there(s->in);
	for (; (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1) {
		int64_t size = nul - p > (int64_t)FRAME_MAX ? -1 :
			kt_cobs_decode(t->event, p, (size_t)(nul - p));

		if (size > 0 &&
		    !kt_tband_decode(&e, t->event, (size_t)size, why) &&
		    e.id == KT_TBAND_RESOLUTION)
			learn_resolution(s, e.values[0]);
	}
}

static int begin(struct kt_import *s)
{
	int format = take_word(s, "format", "bin", "hex");
	int mode = take_word(s, "mode", "bare-metal", "free-rtos");
	struct tband *t = s->state;
	int64_t there;
	int err;

	t->count = KT_CPUS_MAX;
	err = format < 0 || mode < 0 ? -EINVAL : 0;
	if (!err)
		err = take_number(s, "core-count", KT_CPUS_MAX, &t->count);
	if (!err)
		err = take_number(s, "core", KT_CPUS_MAX - 1, &t->core);
	if (err)
		return err;
	there = kt_scan_need(s->in, s->in->seekable ? KT_CODEC_PROBE : 1);
	if (there < 0)
		return (int)there;
	t->bare = mode == 1;
	t->hex = format ? format == 2
			: looks_hex(kt_scan_head(s->in),
				    (size_t)kt_min((uint64_t)there,
						   KT_CODEC_PROBE));
	t->scale = s->memo && NS_PER_S % s->memo ? s->memo : 1;
	if (!s->in->seekable && !t->hex)
		look_ahead(s);
	if (!s->memo)
		kt_import_note(s, "the trace does not tell its time resolution: 1 ns is taken");
	return core_at(t, t->core) ? 0 : -ENOMEM;
}

/* How many of the first frames are events? */
static int probe_binary(const uint8_t *data, size_t len)
{
	uint8_t event[1024];
	unsigned int good = 0, bad = 0;
	const uint8_t *p = data, *end = data + len, *nul;
	struct kt_tband_event e;
	char why[KT_TBAND_WHY];
	bool starts = false;

	for (; (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1) {
		size_t frame = (size_t)(nul - p);
		int64_t size = frame > sizeof(event) || !frame ? -1 :
			       kt_cobs_decode(event, p, frame);

		if (size <= 0 || kt_tband_decode(&e, event, (size_t)size, why))
			bad++;
		else if (!good++ && !bad)
			starts = e.id == KT_TBAND_CORE_ID ||
				 e.id == KT_TBAND_RESOLUTION;
	}
	if (!good || bad * 10 > good)
		return 0;
	return bad ? 40 : starts ? 90 : good >= 4 ? 70 : 30;
}

static int probe(const uint8_t *data, size_t len, bool whole)
{
	uint8_t bytes[4096];
	size_t nr = 0;
	int high = -1;

	(void)whole;
	if (!looks_hex(data, len))
		return probe_binary(data, len);
	for (size_t i = 0; i < len && nr < sizeof(bytes); i++) {
		int d = digit(data[i]);

		if (d < 0)
			continue;
		if (high >= 0)
			bytes[nr++] = (uint8_t)(high << 4 | d);
		high = high < 0 ? d : -1;
	}
	return probe_binary(bytes, nr);
}

static char *json(char *p, const void *raw, size_t size)
{
	const uint8_t *bytes = raw;
	char why[KT_TBAND_WHY];
	struct kt_tband_event e;

	if (!bytes[0] && !kt_tband_decode(&e, bytes + 1, size - 1, why))
		return kt_tband_json(p, &e);
	p = kt_put_str(p, "{\"Invalid\":{\"ts\":");
	p = bytes[1] ? kt_put_u64(p, kt_get64(bytes + 2))
		     : kt_put_str(p, "null");
	p = kt_put_str(p, ",\"err\":");
	p = kt_put_json(p, (const char *)bytes + RAW_HEAD, size - RAW_HEAD);
	return kt_put_str(p, "}}");
}

static const char *user_name(uint32_t id)
{
	const struct kt_tband_kind *k = kt_tband_kind(id);

	if (id == KT_TBAND_INVALID)
		return "invalid_frame";
	return k ? k->name : NULL;
}

static void close_tband(struct kt_import *s)
{
	struct tband *t = s->state;

	free(t->cores);
}

const struct kt_codec_in kt_tband_in = {
	.options = options,
	.size = sizeof(struct tband),
	.names_late = true,
	.user_ids = KTAPE_FORMAT_ID_TBAND,
	.user_name = user_name,
	.probe = probe,
	.open = begin,
	.next = next,
	.json = json,
	.close = close_tband,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading the trace buffer of ThreadX, which TraceX shows (.trx).
 *
 *	+--------+------------------+-----------------------------------+
 *	| header | registry         | events, a ring of 32-byte entries |
 *	| 48 B   | entry entry ...  | ... ... newest | oldest ... ...   |
 *	+--------+------------------+----------------^------------------+
 *	                                             current
 *	header	= "TXTB" | timer mask | base address | registry begin |
 *		  2 unused bytes, name size 16 | registry end | buffer begin | end | current |
 *		  3 unused words
 *	entry	= available | type | of a thread: 0x80 and 10 bits priority | address |
 *		  2 parameters | name
 *	event	= thread | priority | number, core in bits 31-24 | time stamp | 4 words
 *
 * All but the name size, the first four bytes of an entry and its name are 32-bit words in the
 * byte order of the target; addresses minus the base address are offsets in the file.  A place
 * for an event that was never used has a thread word of 0.  Events are read from the oldest on.
 * The time stamp is a timer that wraps within the mask and may count down; most steps between
 * events show which.
 *
 * Each event is kept as a user event with its words, so that it can be written again.
 * Interrupts and switches of threads, derived from these events, are delivered as native
 * events, too.  A registry entry becomes a name, and a user event that keeps its words.
 *
 * ThreadX does not count events that were overwritten, so no loss shows.  A wrong address of the
 * registry or of the oldest event is replaced by what the layout implies, with a notice, and that
 * of a buffer inside the registry, without one, by the registry's end; a file that ends early
 * gives the events it has.  Entries have no checksum: damage inside one is not found.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "util/parse.h"

#include "internal.h"

#define HZ_MAX	     1000000000000ULL
#define PRIO_UNKNOWN 120U /* as the Linux kernel counts: a thread with nice 0 */
#define PRIO_MAX     139U /* the greatest there; larger ones become this */
#define RAW_WORDS    8U

enum phase { HEADER, OBJECTS, CUSTOMS, ENTRIES };

/**
 * struct tracex - an input that is being read
 * @image: bytes of the trace buffer
 * @customs: names of users' events, from option custom
 * @swap: the byte order is not that of this machine
 * @derived: option derived: deliver switches and interrupts as native events
 * @head: the header
 * @base: address of the first byte of the trace buffer
 * @objects: offset of the registry
 * @object_size: bytes of a registry entry
 * @nr_objects: registry entries
 * @buffer: offset of the events
 * @nr_entries: places for events
 * @there: places that the file has
 * @oldest: place of the oldest event
 * @phase: what is read next
 * @index: number of the next registry entry, custom name or event
 * @ticks: time since the first event
 * @last: time stamp of the last event
 * @begun: @last is valid
 * @running: thread that runs, by core
 * @known: @running is known, by core
 * @raw: kt_delivery.raw of an event
 */
struct tracex {
	struct kt_image image;
	struct kt_customs customs;
	bool swap;
	bool derived;
	struct kt_threadx_head head;
	uint32_t base;
	uint64_t objects;
	uint32_t object_size;
	uint64_t nr_objects;
	uint64_t buffer;
	uint64_t nr_entries;
	uint64_t there;
	uint64_t oldest;
	enum phase phase;
	uint64_t index;
	uint64_t ticks;
	uint32_t last;
	bool begun;
	uint32_t running[256];
	bool known[256];
	uint8_t raw[RAW_WORDS * 4 + 5 * KT_CUSTOM_TEXT];
};

static const struct ktape_codec_option options[] = {
	{ "hz", "N", "ticks of the timer in a second (default: 1000000000)" },
	{ "custom", "FILE", "a .trxc file that names users' events" },
	{ "derived", "yes|no",
	  "derive switches of threads and interrupts from the events (default yes)" },
	{ .key = NULL },
};

static uint32_t read_tracex_word(const struct tracex *t, const uint8_t *p)
{
	uint32_t v = kt_get32(p);

	return t->swap ? __builtin_bswap32(v) : v;
}

/* ---- header ----------------------------------------------------------------------- */

/* Set where registry and events are in the file.  Return: 0 or -EBADMSG. */
static int take_places(struct kt_import *s, const uint8_t *h)
{
	struct tracex *t = s->state;
	uint32_t objects = read_tracex_word(t, h + 12),
		 objects_end = read_tracex_word(t, h + 20);
	uint32_t buffer = read_tracex_word(t, h + 24),
		 end = read_tracex_word(t, h + 28);
	uint32_t current = read_tracex_word(t, h + 32);
	uint32_t packed = KT_TRACEX_OBJECT + t->head.name_size;
	uint32_t size = (uint32_t)kt_align(packed, 4);

	/* Targets pad an entry to whole words; other writers may not. */
	if ((objects_end - objects) % size && !((objects_end - objects) % packed))
		size = packed;
	if (objects_end <= objects)
		return kt_import_fail(
			s, s->begin + 20,
			"the header is wrong: the registry ends before it begins");
	if (end <= buffer)
		return kt_import_fail(
			s, s->begin + 28,
			"the header is wrong: the buffer ends before it begins");
	t->objects = (uint32_t)(objects - t->base);
	if (t->objects < KT_TRACEX_HEADER || t->objects > t->image.size) {
		kt_import_bad(s, s->begin + 12,
			      "the address of the registry is outside the file: it is read from the end of the header on");
		t->objects = KT_TRACEX_HEADER;
	}
	t->object_size = size;
	t->nr_objects = (objects_end - objects) / size;
	t->buffer = t->objects + (buffer >= objects_end ? buffer - objects :
							  t->nr_objects * size);
	t->nr_entries = (end - buffer) / KT_TRACEX_ENTRY;
	t->oldest = (uint32_t)(current - buffer) / KT_TRACEX_ENTRY;
	/* The last place was written last, so the first one is next to be overwritten. */
	if (current == end)
		t->oldest = 0;
	if (t->oldest >= t->nr_entries || (current - buffer) % KT_TRACEX_ENTRY) {
		kt_import_bad(s, s->begin + 32,
			      "the address of the oldest event is outside the buffer: events are read from the buffer's beginning");
		t->oldest = 0;
	}
	return 0;
}

static void notify_cut(struct kt_import *s)
{
	const struct tracex *t = s->state;
	struct ktape_error error;

	kt_error(&error, s->begin + t->image.size,
		 "the file ends before the buffer does");
	kt_import_truncated(s, &error);
}

static int take_header(struct kt_import *s)
{
	struct tracex *t = s->state;
	const uint8_t *h;
	int64_t n = kt_image_read(&t->image, 0, KT_TRACEX_HEADER, &h);
	int err;

	if (n < 0)
		return (int)n;
	if (n < (int64_t)KT_TRACEX_HEADER)
		return kt_import_fail(s, s->begin + (uint64_t)n,
				      "the header is cut off");
	t->swap = kt_get32(h) != KT_TRACEX_MAGIC;
	if (read_tracex_word(t, h) != KT_TRACEX_MAGIC)
		return kt_import_fail(s, s->begin, "the input has no TXTB header");
	t->head.mask = read_tracex_word(t, h + 4);
	t->base = read_tracex_word(t, h + 8);
	t->head.name_size = t->swap ? (uint32_t)h[18] << 8 | h[19] :
				      (uint32_t)h[19] << 8 | h[18];
	if (t->head.name_size > KT_TRACEX_NAME_MAX)
		return kt_import_fail(
			s, s->begin + 18,
			"the header is wrong: names of %u bytes, at most %u are allowed",
			t->head.name_size, KT_TRACEX_NAME_MAX);
	err = take_places(s, h);
	if (err)
		return err;
	if (t->image.size > t->buffer)
		t->there = kt_min((t->image.size - t->buffer) / KT_TRACEX_ENTRY,
				  t->nr_entries);
	if (t->there < t->nr_entries)
		notify_cut(s);
	return 0;
}

/* ---- events in their order ------------------------------------------------------------ */

/* Return the offset of the @n-th oldest event in the file. */
static uint64_t event_offset(const struct tracex *t, uint64_t n)
{
	uint64_t tail = t->there > t->oldest ? t->there - t->oldest : 0;
	uint64_t nr = n < tail ? t->oldest + n : n - tail;

	return t->buffer + nr * KT_TRACEX_ENTRY;
}

/*
 * Read the @n-th oldest event.
 * Return: 1; 0 if the place was never used or is cut off; or negative errno.
 */
static int read_entry(struct tracex *t, uint64_t n, struct kt_threadx_entry *e)
{
	const uint8_t *p;
	int64_t len = kt_image_read(&t->image, event_offset(t, n),
				    KT_TRACEX_ENTRY, &p);

	if (len < 0)
		return (int)len;
	if (len < (int64_t)KT_TRACEX_ENTRY)
		return 0;
	e->context = read_tracex_word(t, p);
	e->prio = read_tracex_word(t, p + 4);
	e->id = read_tracex_word(t, p + 8) & KT_THREADX_EVENT_MASK;
	e->core = read_tracex_word(t, p + 8) >> KT_TRACEX_CORE_SHIFT;
	e->stamp = read_tracex_word(t, p + 12) & t->head.mask;
	for (unsigned int i = 0; i < 4; i++)
		e->info[i] = read_tracex_word(t, p + 16 + i * 4);
	return e->context != 0;
}

/*
 * Find out whether the timer counts up or down, by most of the steps between events (down if as
 * many go each way), and note the first time stamp.  Return: 0 or negative errno.
 */
static int find_direction(struct tracex *t)
{
	struct kt_threadx_entry e;
	uint64_t up = 0, down = 0;
	bool begun = false;
	uint32_t last = 0;

	for (uint64_t i = 0; i < t->there; i++) {
		int ret = read_entry(t, i, &e);

		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (!begun)
			t->head.first = e.stamp;
		up += begun && e.stamp > last;
		down += begun && e.stamp < last;
		last = e.stamp;
		begun = true;
	}
	t->head.decreasing = down && down >= up;
	return 0;
}

/* Advance the time to a time stamp, across the wrap of the timer. */
static void advance_time(struct tracex *t, uint32_t stamp)
{
	uint32_t from = t->head.decreasing ? stamp : t->last;
	uint32_t to = t->head.decreasing ? t->last : stamp;

	if (t->begun && to >= from)
		t->ticks += to - from;
	else if (t->begun)
		t->ticks += (uint64_t)t->head.mask - from + to + 1;
	t->begun = true;
	t->last = stamp;
}

/* ---- native records --------------------------------------------------------------------- */

/*
 * Note that thread @next runs on the core of @e, and with option derived deliver the switch to
 * it.  @prio: of @next; @state: of the thread that leaves.
 */
static int emit_tracex_switch(struct kt_import *s, const struct kt_threadx_entry *e,
			      uint32_t next, uint32_t prio, unsigned int state)
{
	struct tracex *t = s->state;
	int32_t prev = t->known[e->core] ? kt_threadx_tid(t->running[e->core]) : -1;
	struct kt_delivery f = {
		.ts = t->ticks,
		.cpu = e->core,
		.tid = prev,
		.opcode = KTAPE_EV_SCHED_SWITCH,
		.nargs = 2,
		.dat20 = PRIO_UNKNOWN | prio << 8 | state << 16,
		.args = { (uint32_t)prev, (uint32_t)kt_threadx_tid(next) },
	};

	t->running[e->core] = next;
	t->known[e->core] = true;
	return t->derived ? kt_import_emit(s, &f) : 0;
}

/* Return the state in which a thread leaves its CPU, by its new state in ThreadX. */
static unsigned int leaving_state(uint32_t state)
{
	switch (state) {
	case 0: /* ready */
		return KTAPE_STATE_PREEMPTED;
	case 1: /* completed */
	case 2: /* terminated */
		return KTAPE_STATE_X;
	case 3: /* suspended */
		return KTAPE_STATE_T;
	default:
		return KTAPE_STATE_S;
	}
}

/*
 * Deliver a switch before an event whose thread is not the running one.  No event has said why that
 * one left, so it counts as preempted.
 */
static int emit_switch_before(struct kt_import *s, const struct kt_threadx_entry *e)
{
	struct tracex *t = s->state;

	if (!kt_threadx_is_thread(e->context) ||
	    (t->known[e->core] && t->running[e->core] == e->context))
		return 0;
	return emit_tracex_switch(s, e, e->context,
				  kt_min(e->prio & KT_THREADX_PRIO_MASK, PRIO_MAX),
				  KTAPE_STATE_PREEMPTED);
}

/* Deliver a switch after an event that names the next thread. */
static int emit_switch_behind(struct kt_import *s, const struct kt_threadx_entry *e)
{
	struct tracex *t = s->state;
	uint32_t next = e->context;
	unsigned int state = KTAPE_STATE_PREEMPTED;

	if (!kt_threadx_is_thread(e->context) || t->running[e->core] != e->context)
		return 0;
	if (e->id == KT_THREADX_SUSPEND && e->info[0] == e->context) {
		next = e->info[3];
		state = leaving_state(e->info[1]);
	} else if (e->id == KT_THREADX_RESUME && e->info[3]) {
		next = e->info[3];
	} else if (e->id == KT_THREADX_RELINQUISH && e->info[1]) {
		next = e->info[1];
		state = KTAPE_STATE_R;
	}
	if (next == e->context || !kt_threadx_is_thread(next))
		return 0;
	return emit_tracex_switch(s, e, next, PRIO_UNKNOWN, state);
}

/* With option derived deliver the begin or end of an interrupt, whose number is word 2 of four. */
static int emit_tracex_isr(struct kt_import *s, const struct kt_delivery *of,
			   const struct kt_threadx_entry *e)
{
	const struct tracex *t = s->state;
	struct kt_delivery f = {
		.ts = of->ts,
		.cpu = of->cpu,
		.tid = of->tid,
		.nargs = 1,
		.opcode = e->id == KT_THREADX_ISR_ENTER ? KTAPE_EV_ISR_ENTER :
							  KTAPE_EV_ISR_EXIT,
		.args = { e->info[1] },
	};

	return t->derived && (e->id == KT_THREADX_ISR_ENTER ||
			      e->id == KT_THREADX_ISR_EXIT) ?
		       kt_import_emit(s, &f) :
		       0;
}

/* Make kt_delivery.raw: the words of an event, and the user's names for them. */
static uint32_t make_raw(struct tracex *t, const struct kt_threadx_entry *e)
{
	const struct kt_custom *c = kt_customs_find(&t->customs, e->id);
	const uint32_t words[RAW_WORDS] = {
		e->context, e->prio,	e->id,	    e->stamp,
		e->info[0], e->info[1], e->info[2], e->info[3],
	};
	uint8_t *p = t->raw;

	for (unsigned int i = 0; i < RAW_WORDS; i++, p += 4)
		kt_set32(p, words[i]);
	for (unsigned int i = 0; c && i < KT_ARRAY_SIZE(c->texts); i++) {
		size_t len = strlen(c->texts[i]) + 1;

		memcpy(p, c->texts[i], len);
		p += len;
	}
	return (uint32_t)(p - t->raw);
}

/*
 * Deliver an event as a user event, and its interrupt.  Numbers that programs have chosen stay;
 * those of ThreadX become ids of this format.
 */
static int emit_entry(struct kt_import *s, const struct kt_threadx_entry *e)
{
	struct tracex *t = s->state;
	struct kt_delivery f = {
		.ts = t->ticks, .cpu = e->core, .opcode = KTAPE_EV_USER_EVENT,
		.tid = t->known[e->core] && e->context != KT_THREADX_INIT ?
		       kt_threadx_tid(t->running[e->core]) : -1,
		.nargs = 7,
		.args = {
			e->id >= KT_THREADX_USER ? e->id :
			KTAPE_FORMAT_ID_TRACEX | e->id, e->info[0], e->info[1],
			e->info[2], e->info[3], e->context, e->prio,
		},
		.blob = "", .raw = t->raw, .raw_size = make_raw(t, e),
	};
	int err = kt_import_emit(s, &f);

	return err ? err : emit_tracex_isr(s, &f, e);
}

/* Deliver the next event and its switches.  Return: 1, 0 at the end, or negative errno. */
static int next_entry(struct kt_import *s)
{
	struct tracex *t = s->state;
	struct kt_threadx_entry e;
	int ret;

	if (t->index >= t->there)
		return 0;
	ret = read_entry(t, t->index++, &e);
	if (ret <= 0)
		return ret < 0 ? ret : 1;
	advance_time(t, e.stamp);
	ret = emit_switch_before(s, &e);
	if (!ret)
		ret = emit_entry(s, &e);
	if (!ret)
		ret = emit_switch_behind(s, &e);
	return ret ? ret : 1;
}

/* ---- names ----------------------------------------------------------------------------- */

/* Deliver the header as a user event, from which out.c writes the same header again. */
static int emit_header(struct kt_import *s)
{
	const struct tracex *t = s->state;
	const struct kt_delivery f = {
		.opcode = KTAPE_EV_USER_EVENT, .tid = -1, .nargs = 5,
		.blob = "", .args = {
			KTAPE_FORMAT_ID_TRACEX | KT_THREADX_ID_HEADER,
			t->head.mask, t->head.decreasing, t->head.first,
			t->head.name_size,
		},
	};

	return kt_import_emit(s, &f);
}

/* Deliver a registry entry as a user event, which keeps its words and its name, @len bytes. */
static int emit_object(struct kt_import *s, const uint8_t *p, size_t len)
{
	const struct tracex *t = s->state;
	/* A typed argument: its format, the name, a NUL. */
	uint8_t text[2 + KT_TRACEX_NAME_MAX] = { KTAPE_FORMAT_STRING };
	const struct kt_delivery f = {
		.opcode = KTAPE_EV_USER_EVENT, .tid = -1, .nargs = 5,
		.args = {
			KTAPE_FORMAT_ID_TRACEX | KT_THREADX_ID_OBJECT,
			(uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
			(uint32_t)p[2] << 8 | p[3], read_tracex_word(t, p + 4),
			read_tracex_word(t, p + 8), read_tracex_word(t, p + 12),
		},
		.blob = text, .blob_size = (uint32_t)len + 2,
	};

	memcpy(text + 1, p + KT_TRACEX_OBJECT, len);
	return kt_import_emit(s, &f);
}

/* Deliver a registry entry as the name of an object; that of a thread also names its thread id. */
static int emit_tracex_names(struct kt_import *s, const uint8_t *p, size_t len)
{
	const struct tracex *t = s->state;
	struct kt_delivery f = { .tid = -1 };
	struct kt_named n = {
		.type = KTAPE_OBJ_USER + p[1],
		.id = read_tracex_word(t, p + 4),
		.param1 = read_tracex_word(t, p + 8),
		.param2 = read_tracex_word(t, p + 12),
		.name = p + KT_TRACEX_OBJECT,
		.len = len,
	};
	int err = kt_import_name(s, &f, &n);

	if (err || p[1] != KT_THREADX_THREAD)
		return err;
	n.type = KTAPE_OBJ_THREAD;
	n.id = (uint32_t)kt_threadx_tid(n.id);
	n.param1 = n.id;
	n.param2 = p[2] & KT_TRACEX_HAS_PRIO ?
			   kt_min(((uint32_t)p[2] << 8 | p[3]) & KT_THREADX_PRIO_MASK,
				  PRIO_MAX) :
			   PRIO_UNKNOWN;
	f = (struct kt_delivery){ .tid = -1 };
	return kt_import_name(s, &f, &n);
}

/*
 * Deliver a registry entry.
 * Return: 1; 0 after the last one, or where the file ends inside one; or negative errno.
 */
static int next_object(struct kt_import *s)
{
	struct tracex *t = s->state;
	size_t size = t->object_size, len;
	const uint8_t *p;
	int64_t there;
	int err;

	if (t->index >= t->nr_objects)
		return 0;
	there = kt_image_read(&t->image, t->objects + t->index++ * size, size, &p);
	if (there < (int64_t)size)
		return there < 0 ? (int)there : 0;
	if (!p[1]) /* never used */
		return 1;
	len = strnlen((const char *)p + KT_TRACEX_OBJECT, t->head.name_size);
	if (p[1] > UINT8_MAX - KTAPE_OBJ_USER) {
		kt_import_bad(s, s->begin + t->objects + (t->index - 1) * size,
			      "a registry entry has the unknown type %u", p[1]);
		return 1;
	}
	err = emit_object(s, p, len);
	if (!err)
		err = emit_tracex_names(s, p, len);
	return err ? err : 1;
}

/* Deliver a name of option custom, for the user events that emit_entry() makes of its event. */
static int next_custom(struct kt_import *s)
{
	struct tracex *t = s->state;
	const struct kt_custom *c;
	struct kt_delivery f = { .tid = -1 };
	struct kt_named n = { .type = KTAPE_OBJ_USER_EVENT };
	int err;

	if (t->index >= t->customs.nr)
		return 0;
	c = &t->customs.events[t->index++];
	n.id = c->id >= KT_THREADX_USER ? c->id : KTAPE_FORMAT_ID_TRACEX | c->id;
	n.name = c->texts[0];
	n.len = strlen(c->texts[0]);
	err = kt_import_name(s, &f, &n);
	return err ? err : 1;
}

typedef int next_fn(struct kt_import *s);

/* As kt_codec_in.next(): the header, then all registry entries, names of option custom, events. */
static int tracex_next(struct kt_import *s)
{
	static next_fn *const nexts[] = {
		[OBJECTS] = next_object,
		[CUSTOMS] = next_custom,
		[ENTRIES] = next_entry,
	};
	struct tracex *t = s->state;
	int ret;

	if (t->phase == HEADER) {
		t->phase = OBJECTS;
		ret = emit_header(s);
		return ret ? ret : 1;
	}
	ret = nexts[t->phase](s);
	if (ret || t->phase == ENTRIES)
		return ret;
	t->phase++;
	t->index = 0;
	return 1;
}

/* ---- begin ------------------------------------------------------------------------------- */

static int take_tracex_options(struct kt_import *s)
{
	const char *hz = kt_codec_option(&s->options, "hz");
	const char *custom = kt_codec_option(&s->options, "custom");
	const char *derived = kt_codec_option(&s->options, "derived");
	struct tracex *t = s->state;
	uint64_t v = 0;

	t->derived = !derived || !strcmp(derived, "yes");
	if (!t->derived && strcmp(derived, "no")) {
		kt_import_fail(s, 0, "derived must be yes or no");
		return -EINVAL;
	}
	if (hz && (kt_parse_u64(hz, &v) || !v || v > HZ_MAX)) {
		kt_import_fail(s, 0, "hz must be a number from 1 to %llu", HZ_MAX);
		return -EINVAL;
	}
	if (hz)
		s->info->freq = v;
	return custom ? kt_customs_read(&t->customs, custom, s) : 0;
}

static int tracex_open(struct kt_import *s)
{
	struct tracex *t = s->state;
	int err = take_tracex_options(s);

	if (!err)
		err = kt_image_open(&t->image, s);
	if (!err)
		err = take_header(s);
	if (!err)
		err = find_direction(t);
	if (!err && !kt_codec_option(&s->options, "hz"))
		kt_import_note(s, "the trace does not say how long a tick is: 1 ns is assumed (-I hz=N sets it)");
	return err;
}

static int tracex_probe(const uint8_t *data, size_t len, bool whole)
{
	static const int sure[] = {
		[KT_IMAGE_UNKNOWN] = 0,
		[KT_IMAGE_BINARY] = 100,
		[KT_IMAGE_HEX] = 60,
		[KT_IMAGE_SREC] = 60,
	};

	(void)whole;
	return sure[kt_image_form_of(data, len)];
}

static void tracex_import_close(struct kt_import *s)
{
	struct tracex *t = s->state;

	kt_image_close(&t->image);
	free(t->customs.events);
}

/* ---- JSON ---------------------------------------------------------------------- */

static char *put_infos(char *p, const uint8_t *raw, const char *const texts[5],
		       const struct kt_threadx_kind *k)
{
	char unnamed[] = "i1";

	for (unsigned int i = 0; i < 4; i++) {
		const char *label = texts[1 + i];

		unnamed[1] = (char)('1' + i);
		if (!*label)
			label = k && k->infos[i] && *k->infos[i] ? k->infos[i] :
								   unnamed;
		p = kt_put_char(p, i ? ',' : '{');
		p = kt_put_json(p, label, strlen(label));
		p = kt_put_char(p, ':');
		p = kt_put_u64(p, kt_get32(raw + 16 + i * 4));
	}
	return kt_put_char(p, '}');
}

static char *put_tracex_member(char *p, const char *key, uint32_t value)
{
	return kt_put_u64(kt_put_str(p, key), value);
}

/* Write kt_delivery.raw, which make_raw() has made, as JSON. */
static char *tracex_json(char *p, const void *raw, size_t size)
{
	const char *texts[5] = { "", "", "", "", "" };
	const char *text = (const char *)raw + RAW_WORDS * 4;
	const uint8_t *words = raw;
	uint32_t id = kt_get32(words + 8);
	const struct kt_threadx_kind *k = kt_threadx_kind(id);

	for (unsigned int i = 0; i < 5 && size > RAW_WORDS * 4; i++) {
		texts[i] = text;
		text += strlen(text) + 1;
	}
	if (!*texts[0] && k)
		texts[0] = k->name;
	p = put_tracex_member(p, "{\"thread\":", kt_get32(words));
	p = put_tracex_member(p, ",\"priority\":", kt_get32(words + 4));
	p = put_tracex_member(p, ",\"event\":", id);
	p = kt_put_str(p, ",\"name\":");
	p = kt_put_json(p, texts[0], strlen(texts[0]));
	p = put_tracex_member(p, ",\"stamp\":", kt_get32(words + 12));
	p = kt_put_str(p, ",\"info\":");
	p = put_infos(p, words, texts, k);
	return kt_put_char(p, '}');
}

const struct kt_codec_in kt_tracex_in = {
	.options = options,
	.size = sizeof(struct tracex),
	.probe = tracex_probe,
	.open = tracex_open,
	.next = tracex_next,
	.json = tracex_json,
	.close = tracex_import_close,
};

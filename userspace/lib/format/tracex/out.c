// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing the trace buffer of ThreadX; in.c draws it.  Header and registry are before the
 * events but are known only at the end, so the events wait in a temporary file.
 *
 * A trace that came from TraceX is written as it was, without the events that the reader
 * derived.  Events of any other trace become those of ThreadX (rtos/map.c).  Not written: words
 * beyond four, texts, names of objects that ThreadX does not have, losses and the date.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "util/parse.h"
#include "util/wide.h"
#include "format/left_out.h"
#include "format/writer.h"

#include "internal.h"

#define NAME_SIZE   32U		/* bytes of names in the registry */
#define HZ	    10000000ULL /* ticks in a second, by default */
#define HZ_MAX	    1000000000000ULL
#define OBJECTS_MAX 65536U
#define TABLE	    (OBJECTS_MAX * 2) /* places of the hash table */
#define BASE	    0x10000U /* address of the first byte of the file */
#define ENTRIES_MAX \
	((UINT32_MAX - (64U << 20)) / KT_TRACEX_ENTRY) /* the rest is for BASE and registry */
#define CORE_MAX  255U	 /* number of a core in an event */
#define COPY	  65536U /* bytes that are copied at once */
#define WHAT_LONG "gaps of time that are longer than the period of its timer"

/*
 * An entry of the registry, as in.c draws it.  @head: 1 = available, 0 = in use; type; of a thread
 * flag and priority.  @words: address, 2 parameters.
 */
struct object {
	uint8_t head[4];
	uint32_t words[3];
	char name[KT_TRACEX_NAME_MAX + 1];
};

/**
 * struct tracex_sink - a trace that is being written
 * @big: write big endian
 * @foreign: the trace came from TraceX: write only its own events
 * @head: header of the output
 * @hz: ticks in a second
 * @map: state that maps native events
 * @spool: temporary file with the events
 * @buffer: of @spool: without memory for its own, the C library would lose events
 * @nr: number of events
 * @last: time of the last event in ticks
 * @begun: @last is valid
 * @objects: the registry
 * @nr_objects: entries of @objects in use
 * @room: entries of @objects allocated
 * @table: hash table by type and address: indexes of @objects + 1
 * @left_out: by opcode: fields for which its event has no place
 */
struct tracex_sink {
	bool big;
	bool foreign;
	struct kt_threadx_head head;
	uint64_t hz;
	struct kt_threadx_map map;
	FILE *spool;
	char buffer[BUFSIZ];
	uint64_t nr;
	uint64_t last;
	bool begun;
	struct object *objects;
	uint32_t nr_objects;
	uint32_t room;
	uint32_t *table;
	struct kt_left_out left_out[KTAPE_OPCODES];
};

static const struct ktape_codec_option options[] = {
	{ "endian", "little|big", "byte order (default little)" },
	{ "hz", "N",
	  "ticks in a second (default 10000000); ignored for a trace that came from TraceX" },
	{ .key = NULL },
};

static uint8_t *put_tracex_32(const struct tracex_sink *t, uint8_t *p, uint32_t v)
{
	kt_set32(p, t->big ? __builtin_bswap32(v) : v);
	return p + 4;
}

/* ---- registry -------------------------------------------------------------------- */

/*
 * Return the registry entry of a type and address, made if it is new; NULL without room,
 * or without memory, so that writing fails.
 */
static struct object *object_at(struct kt_sink *s, uint8_t type, uint32_t id)
{
	struct tracex_sink *t = s->state;
	uint32_t at = ((id ^ (uint32_t)type << 24) * 0x9e3779b1U >> 7) % TABLE;
	struct object *more;

	for (; t->table[at]; at = (at + 1) % TABLE) {
		more = &t->objects[t->table[at] - 1];
		if (more->head[1] == type && more->words[0] == id)
			return more;
	}
	if (t->nr_objects == OBJECTS_MAX) {
		kt_sink_miss(s, "objects beyond 65536", 1);
		return NULL;
	}
	if (t->nr_objects == t->room) {
		uint32_t room = t->room ? t->room * 2 : 64;

		more = realloc(t->objects, room * sizeof(*more));
		if (!more) {
			s->error = -ENOMEM;
			return NULL;
		}
		t->objects = more;
		t->room = room;
	}
	more = &t->objects[t->nr_objects++];
	memset(more, 0, sizeof(*more));
	more->head[1] = type;
	more->words[0] = id;
	t->table[at] = t->nr_objects;
	return more;
}

/* Set the name of an entry.  The end of one that does not fit with its NUL is cut and counted. */
static void set_tracex_name(struct kt_sink *s, struct object *o,
			    const void *name, size_t len)
{
	const struct tracex_sink *t = s->state;
	size_t size = t->head.name_size;

	len = strnlen(name, len);
	if (len >= size) {
		kt_sink_miss(s, "ends of names", 1);
		len = size ? size - 1 : 0;
	}
	memset(o->name, 0, sizeof(o->name));
	memcpy(o->name, name, len);
}

/* Take a registry entry of a trace that came from TraceX. */
static void take_tracex_object(struct kt_sink *s, const struct ktape_event *e)
{
	uint32_t bytes = ktape_event_arg(e, 1);
	struct object *o =
		object_at(s, (uint8_t)(bytes >> 16), ktape_event_arg(e, 2));

	if (!o)
		return;
	for (unsigned int i = 0; i < 4; i++)
		o->head[i] = (uint8_t)(bytes >> (24 - 8 * i));
	o->words[1] = ktape_event_arg(e, 3);
	o->words[2] = ktape_event_arg(e, 4);
	if (e->blob_size > 1)
		set_tracex_name(s, o, (const uint8_t *)e->blob + 1,
				e->blob_size - 1);
}

/*
 * Take the name of a thread or of an RTOS's object, or its end, from a registry record.  A trace
 * that came from TraceX has registry entries of its own.
 */
static void take_tracex_registry(struct kt_sink *s, const struct ktape_event *e)
{
	const struct tracex_sink *t = s->state;
	unsigned int type = e->dat20 & 0xff;
	bool gone = e->dat20 >> 8 & 1;
	struct object *o;

	if (t->foreign || e->nargs < 3)
		return;
	if (type == KTAPE_OBJ_THREAD && !ktape_event_arg(e, 0))
		return; /* idle threads are no threads of ThreadX */
	if (type != KTAPE_OBJ_THREAD && type <= KTAPE_OBJ_USER) {
		kt_sink_miss(s, "names of objects that ThreadX does not have", 1);
		return;
	}
	o = object_at(s,
		      type == KTAPE_OBJ_THREAD ? KT_THREADX_THREAD :
						 (uint8_t)(type - KTAPE_OBJ_USER),
		      ktape_event_arg(e, 0));
	if (!o)
		return;
	o->head[0] = gone;
	if (type == KTAPE_OBJ_THREAD) {
		o->head[2] = KT_TRACEX_HAS_PRIO;
		o->head[3] = ktape_event_arg(e, 2) & 0xff;
	} else {
		o->words[1] = ktape_event_arg(e, 1);
		o->words[2] = ktape_event_arg(e, 2);
	}
	if (e->blob_size)
		set_tracex_name(s, o, e->blob, e->blob_size);
}

/* ---- events ------------------------------------------------------------------------ */

static uint64_t to_ticks(const struct kt_sink *s, uint64_t ts)
{
	const struct tracex_sink *t = s->state;

	return kt_mul_div(ts, t->hz, s->info->freq);
}

/* Put an event into @spool; one beyond the limits of buffer or cores is left out and counted. */
static int put_entry(struct kt_sink *s, const struct kt_threadx_entry *e)
{
	struct tracex_sink *t = s->state;
	uint8_t bytes[KT_TRACEX_ENTRY], *p = bytes;
	/* Events that came from TraceX have its ticks, all others those of the trace clock. */
	uint64_t ticks = t->foreign ? e->ticks : to_ticks(s, e->ticks);

	if (t->nr == ENTRIES_MAX) {
		kt_sink_miss(s, "events beyond 4 GiB", 1);
		return 0;
	}
	if (e->core > CORE_MAX) {
		kt_sink_miss(s, "events of CPUs above 255", 1);
		return 0;
	}
	if (t->begun && ticks - t->last > t->head.mask)
		kt_sink_miss(s, WHAT_LONG, 1);
	t->last = ticks;
	t->begun = true;
	/* TraceX ignores the bits that hold the core, so it shows all cores as one. */
	kt_sink_mix(s, e->core);
	p = put_tracex_32(t, p, e->context);
	p = put_tracex_32(t, p, e->prio);
	p = put_tracex_32(t, p, e->id | e->core << KT_TRACEX_CORE_SHIFT);
	p = put_tracex_32(t, p, kt_threadx_stamp(&t->head, ticks));
	for (unsigned int i = 0; i < 4; i++)
		p = put_tracex_32(t, p, e->info[i]);
	t->nr++;
	return fwrite(bytes, sizeof(bytes), 1, t->spool) ? 0 : -errno;
}

/* Take an event of a trace that came from TraceX: its own events, not those that were derived. */
static int take_foreign(struct kt_sink *s, const struct ktape_event *e)
{
	struct tracex_sink *t = s->state;
	struct kt_threadx_entry x;

	if (e->opcode == KTAPE_EV_USER_EVENT && e->nargs == 5 &&
	    ktape_event_arg(e, 0) ==
		    (KTAPE_FORMAT_ID_TRACEX | KT_THREADX_ID_OBJECT)) {
		take_tracex_object(s, e);
		return 0;
	}
	return kt_threadx_take(&x, &t->head, e) ? put_entry(s, &x) : 0;
}

/* Enter the thread of an event into the registry, with its name. */
static void enter_thread(struct kt_sink *s, const struct kt_threadx_entry *e)
{
	const struct ktape_object_info *o;
	struct object *own;

	if (!kt_threadx_is_thread(e->context))
		return;
	own = object_at(s, KT_THREADX_THREAD, e->context);
	if (!own || own->name[0])
		return;
	o = ktape_registry_thread(s->registry, (int32_t)e->context, e->ticks);
	if (o)
		set_tracex_name(s, own, o->name, o->name_len);
}

/*
 * States become those of ThreadX.  An event has the priority of the thread in whose context it
 * is: that of the thread that leaves, or of the one that runs if none leaves.  Texts of markers
 * are counted as such.
 */
static const struct kt_format_fields kept_fields[] = {
	{ KTAPE_EV_CONTEXT, "tid" },
	{ KTAPE_EV_MARK, "id|message" },
	{ KTAPE_EV_MARK_BEGIN, "id|message" },
	{ KTAPE_EV_MARK_END, "id|message" },
	{ KTAPE_EV_MARK_VALUE, "id|value|message" },
	{ KTAPE_EV_SCHED_SWITCH, "prev_prio|next_prio|prev_state|prev_tid|next_tid" },
	{ KTAPE_EV_SCHED_WAKEUP, "tid" },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, "tid" },
	{ KTAPE_EV_SCHED_PI_SETPRIO, "old_prio|new_prio|tid" },
	{ KTAPE_EV_PROCESS_FORK, "parent_tid|child_tid" },
	{ KTAPE_EV_PROCESS_EXIT, "tid" },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, "irq" },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, "irq" },
};

/* Count what the @nr events of ThreadX leave out of an event. */
static void count_tracex_left_out(struct kt_sink *s,
				  const struct ktape_event *e, int nr)
{
	const struct tracex_sink *t = s->state;

	if (e->cpu > CORE_MAX)
		return; /* it is left out as a whole */
	/* One of its two priorities is left out, or all of it if it became no event. */
	if (e->opcode == KTAPE_EV_SCHED_SWITCH)
		kt_sink_miss(s, nr ? KT_LEFT_OUT : "sched_switch", 1);
	/* The thread that runs is the one that creates another. */
	if (e->opcode == KTAPE_EV_PROCESS_FORK &&
	    e->tid != (int32_t)ktape_event_arg(e, 0))
		kt_sink_miss(s, KT_LEFT_OUT, 1);
	kt_left_out_count(&t->left_out[e->opcode], s, e);
	if (e->nargs > 4 || e->blob_size)
		kt_sink_miss(s, "words beyond four, and texts", 1);
}

static int tracex_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_threadx_entry entries[KT_THREADX_PER_EVENT];
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	struct tracex_sink *t = s->state;
	int nr, err = 0;

	if (e->opcode == KTAPE_EV_REGISTRY) {
		take_tracex_registry(s, e);
		return 0;
	}
	if (!t->nr && kt_threadx_take_head(&t->head, e)) {
		t->foreign = true;
		/* The trace brings its own registry entries: forget the names so far. */
		t->nr_objects = 0;
		memset(t->table, 0, TABLE * sizeof(*t->table));
		t->head.name_size =
			(uint32_t)kt_min(t->head.name_size, KT_TRACEX_NAME_MAX);
		return 0;
	}
	if (t->foreign)
		return take_foreign(s, e);
	nr = kt_threadx_map(&t->map, e, entries);
	if (nr == -ENOTSUP) {
		if (e->opcode != KTAPE_TIME_EXTEND)
			kt_sink_miss(s,
				     d ? d->name :
					 "events that do not fit the event table",
				     1);
		return 0;
	}
	if (nr >= 0)
		count_tracex_left_out(s, e, nr);
	for (int i = 0; !err && i < nr; i++) {
		enter_thread(s, &entries[i]);
		err = put_entry(s, &entries[i]);
	}
	return nr < 0 ? nr : err;
}

/* ---- begin and end ------------------------------------------------------------------ */

static int put_tracex_object(struct kt_sink *s, const struct object *o)
{
	struct tracex_sink *t = s->state;
	uint8_t bytes[KT_TRACEX_OBJECT + KT_TRACEX_NAME_MAX] = { 0 };
	uint8_t *p = bytes + 4;

	memcpy(bytes, o->head, 4);
	for (unsigned int i = 0; i < 3; i++)
		p = put_tracex_32(t, p, o->words[i]);
	memcpy(p, o->name, t->head.name_size);
	return kt_sink_put(s, bytes, KT_TRACEX_OBJECT + t->head.name_size);
}

/* Write the header.  A registry and a buffer must have at least one place. */
static int put_header(struct kt_sink *s, uint32_t objects, uint64_t entries)
{
	struct tracex_sink *t = s->state;
	uint32_t size = t->head.name_size;
	uint32_t registry = BASE + KT_TRACEX_HEADER;
	uint32_t buffer = registry + objects * (KT_TRACEX_OBJECT + size);
	uint8_t bytes[KT_TRACEX_HEADER], *p = bytes;
	uint32_t end = buffer + (uint32_t)(entries * KT_TRACEX_ENTRY);
	const uint32_t words[] = {
		KT_TRACEX_MAGIC,
		t->head.mask,
		BASE,
		registry,
		t->big ? size : size << 16, /* name size: bytes 18 and 19 */
		buffer,			    /* end of the registry */
		buffer,
		end,
		buffer,	     /* current: the oldest event is the first */
		0xaaaaaaaaU, /* unused, and so the next two */
		0xbbbbbbbbU,
		0xccccccccU,
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(words); i++)
		p = put_tracex_32(t, p, words[i]);
	return kt_sink_put(s, bytes, sizeof(bytes));
}

/* Copy the events behind the registry; without any, write a place that was never used. */
static int copy_spool(struct kt_sink *s)
{
	struct tracex_sink *t = s->state;
	static const uint8_t none[KT_TRACEX_ENTRY];
	char *buf = malloc(COPY);
	int err = buf ? 0 : -ENOMEM;
	size_t n;

	if (!err && (fflush(t->spool) || fseek(t->spool, 0, SEEK_SET)))
		err = -errno;
	while (!err && (n = fread(buf, 1, COPY, t->spool)))
		err = kt_sink_put(s, buf, n);
	if (!err && ferror(t->spool))
		err = -EIO;
	free(buf);
	return err || t->nr ? err : kt_sink_put(s, none, sizeof(none));
}

static int tracex_end(struct kt_sink *s)
{
	static const struct object nothing = { .head = { 1 } };
	struct tracex_sink *t = s->state;
	uint32_t objects = (uint32_t)kt_max(t->nr_objects, 1);
	int err = put_header(s, objects, kt_max(t->nr, 1));

	for (uint32_t i = 0; !err && i < t->nr_objects; i++)
		err = put_tracex_object(s, &t->objects[i]);
	if (!err && !t->nr_objects)
		err = put_tracex_object(s, &nothing);
	return err ? err : copy_spool(s);
}

static int tracex_begin(struct kt_sink *s)
{
	const char *endian = kt_codec_option(&s->options, "endian");
	const char *hz = kt_codec_option(&s->options, "hz");
	struct tracex_sink *t = s->state;

	t->big = endian && !strcmp(endian, "big");
	if (endian && !t->big && strcmp(endian, "little"))
		return kt_sink_fail(s, "endian must be little or big");
	t->hz = HZ;
	if (hz && (kt_parse_u64(hz, &t->hz) || !t->hz || t->hz > HZ_MAX))
		return kt_sink_fail(s, "hz must be a number from 1 to %llu", HZ_MAX);
	if (!kt_left_out_find_all(t->left_out, kept_fields,
				  KT_ARRAY_SIZE(kept_fields)))
		return kt_sink_fail(s, "an event has too many fields");
	t->head = (struct kt_threadx_head){
		.mask = UINT32_MAX,
		.name_size = NAME_SIZE,
	};
	t->map.formats = kt_registry_formats(s->registry);
	t->table = calloc(TABLE, sizeof(*t->table));
	t->spool = tmpfile();
	if (!t->table || (!t->spool && errno == ENOMEM))
		return -ENOMEM;
	if (t->spool)
		setvbuf(t->spool, t->buffer, _IOFBF, sizeof(t->buffer));
	return t->spool ?
		       0 :
		       kt_sink_fail(s, "cannot make a temporary file for events: %s",
				    strerror(errno));
}

static void tracex_sink_close(struct kt_sink *s)
{
	struct tracex_sink *t = s->state;

	if (t->spool)
		fclose(t->spool);
	kt_threadx_map_free(&t->map);
	free(t->objects);
	free(t->table);
}

const struct kt_codec_out kt_tracex_out = {
	.options = options,
	.size = sizeof(struct tracex_sink),
	.begin = tracex_begin,
	.event = tracex_event,
	.end = tracex_end,
	.close = tracex_sink_close,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TraceX: names and fields of its events that are kept as user events, and what they report of
 * queues, semaphores, mutexes and priorities (show/user_event.h).
 */
#include <ktape/formats.h>

#include "show/user_event.h"

#include "internal.h"

#define WORDS 4

/* Types of the objects whose address a word is, by the name of the word. */
static const struct {
	const char *name;
	uint8_t object;
} objects[] = {
	{ "thread_ptr", KTAPE_OBJ_USER + KTAPE_USER_THREAD },
	{ "next_thread", KTAPE_OBJ_USER + KTAPE_USER_THREAD },
	{ "next_thread_ptr", KTAPE_OBJ_USER + KTAPE_USER_THREAD },
	{ "owning_thread", KTAPE_OBJ_USER + KTAPE_USER_THREAD },
	{ "timer_ptr", KTAPE_OBJ_USER + KTAPE_USER_TIMER },
	{ "queue_ptr", KTAPE_OBJ_USER + KTAPE_USER_QUEUE },
	{ "semaphore_ptr", KTAPE_OBJ_USER + KTAPE_USER_SEMAPHORE },
	{ "mutex_ptr", KTAPE_OBJ_USER + KTAPE_USER_MUTEX },
	{ "group_ptr", KTAPE_OBJ_USER + KTAPE_USER_EVENT_FLAGS },
	{ "media_ptr", KTAPE_OBJ_USER + KTAPE_USER_MEDIA },
	{ "ip_ptr", KTAPE_OBJ_USER + KTAPE_USER_IP },
};

/*
 * An event that reports a number of the object whose address is its word 1.  Words are counted
 * from 1; 0 = the event has none.  ThreadX traces a call when it begins: with @step, the number is
 * that before the call, which adds @step; else it is that from now on.
 */
struct number {
	uint8_t id;
	uint8_t object; /* KTAPE_USER_* */
	uint8_t word;	/* the number; without one it is 0 */
	int8_t step;
	uint8_t wait;	/* word: time that the caller waits */
	uint8_t waited; /* word: number of threads that wait already */
	uint8_t most;	/* word: the greatest number that the object can have */
	const char *kind;
	const char *what; /* word for what the number counts; NULL: "State" */
};

/* The same numbers as in rtos/kinds.c, which names all events. */
static const struct number numbers[] = {
	{ KT_THREADX_QUEUE_CREATE, KTAPE_USER_QUEUE, .kind = "Queue" },
	{ KT_THREADX_QUEUE_FLUSH, KTAPE_USER_QUEUE, .kind = "Queue" },
	{ KT_THREADX_QUEUE_FRONT_SEND, KTAPE_USER_QUEUE, 4, 1, .wait = 3,
	  .kind = "Queue" },
	{ KT_THREADX_QUEUE_RECEIVE, KTAPE_USER_QUEUE, 4, -1, .wait = 3,
	  .kind = "Queue" },
	{ KT_THREADX_QUEUE_SEND, KTAPE_USER_QUEUE, 4, 1, .wait = 3, .kind = "Queue" },
	{ KT_THREADX_SEMAPHORE_CEILING_PUT, KTAPE_USER_SEMAPHORE, 2, 1,
	  .waited = 3, .most = 4, .kind = "Semaphore" },
	{ KT_THREADX_SEMAPHORE_CREATE, KTAPE_USER_SEMAPHORE, 2, .kind = "Semaphore" },
	{ KT_THREADX_SEMAPHORE_GET, KTAPE_USER_SEMAPHORE, 3, -1, .wait = 2,
	  .kind = "Semaphore" },
	{ KT_THREADX_SEMAPHORE_PUT, KTAPE_USER_SEMAPHORE, 2, 1, .waited = 3,
	  .kind = "Semaphore" },
	{ KT_THREADX_THREAD_CREATE, KTAPE_USER_THREAD, 2, .kind = "Thread",
	  .what = "Priority" },
	{ KT_THREADX_PRIORITY_CHANGE, KTAPE_USER_THREAD, 2, .kind = "Thread",
	  .what = "Priority" },
};

/* Return the type of the object whose address a word is, KTAPE_OBJ_FREE if it is none. */
static unsigned int tracex_field_object(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (!strcmp(objects[i].name, name))
			return objects[i].object;
	}
	return KTAPE_OBJ_FREE;
}

/* Return true if a word of this name is shown in hexadecimal: an address, flags, a mask. */
static bool is_hex(const char *name)
{
	static const char *const ends[] = {
		"_ptr",	      "_pointer",     "_thread",     "address",
		"flags",      "flags_to_set", "mask",	     "parameter",
		"stack",      "pool_start",   "queue_start", "buffer_start",
		"data_start", "first",
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++) {
		size_t tail = strlen(ends[i]);

		if (len >= tail && !strcmp(name + len - tail, ends[i]))
			return true;
	}
	return false;
}

static struct kt_user_field *add_tracex_word(struct kt_user_event *t,
					     const char *name, uint32_t value)
{
	return kt_user_add(t, name,
			   is_hex(name) ? KT_FIELD_HEX : KT_FIELD_UNSIGNED, value);
}

/*
 * Return what a call reports of a mutex.  ThreadX traces the call when it begins, with the
 * owner and @times, how often the owner has taken it; with mutex_get also @wait, the time that it
 * waits at most.  A put by another thread fails.
 */
static enum kt_user_report mutex_report(const struct kt_user_event *t,
					unsigned int id, uint32_t wait,
					uint32_t times)
{
	bool own = t->owner < 0 || t->owner == t->by;

	if (id == KT_THREADX_MUTEX_GET && !times)
		return KT_REPORT_TAKES;
	if (!times)
		return KT_REPORT_NONE;
	if (id == KT_THREADX_MUTEX_GET && wait && t->owner != t->by)
		return KT_REPORT_WAITS;
	return id == KT_THREADX_MUTEX_PUT && times == 1 && own ? KT_REPORT_GIVES :
								 KT_REPORT_HELD;
}

/* The words of mutex_get are mutex, wait, owner, times; of mutex_put mutex, owner, times. */
static void report_mutex(struct kt_user_event *t, const struct ktape_event *e,
			 unsigned int id)
{
	unsigned int at = KT_THREADX_I1 + (id == KT_THREADX_MUTEX_GET ? 2 : 1);
	uint32_t owner = ktape_event_arg(e, at);
	uint32_t times = ktape_event_arg(e, at + 1);

	t->owner = owner && times ? (int64_t)owner : -1;
	t->kind = "Mutex";
	t->hex = true;
	kt_user_set_report(
		t, mutex_report(t, id, ktape_event_arg(e, KT_THREADX_I1 + 1), times),
		KTAPE_OBJ_USER + KTAPE_USER_MUTEX,
		ktape_event_arg(e, KT_THREADX_I1));
}

static uint64_t word_at(const struct ktape_event *e, unsigned int word)
{
	return word ? ktape_event_arg(e, word) : 0;
}

static void report_number(struct kt_user_event *t, const struct ktape_event *e,
			  const struct number *n)
{
	kt_user_set_report(t, KT_REPORT_NUMBER, KTAPE_OBJ_USER + n->object,
			   ktape_event_arg(e, KT_THREADX_I1));
	t->hex = true;
	t->kind = n->kind;
	t->what = n->what;
	t->number = word_at(e, n->word);
	t->step = n->step;
	t->waits = word_at(e, n->wait);
	t->waited = word_at(e, n->waited);
	t->most = word_at(e, n->most);
}

/* The capacity of a queue: its bytes, by the words of a message. */
static uint64_t queue_capacity(const struct ktape_event *e)
{
	uint64_t words = ktape_event_arg(e, KT_THREADX_I1 + 1);
	uint64_t bytes = ktape_event_arg(e, KT_THREADX_I1 + 3);

	return words ? bytes / (words * sizeof(uint32_t)) : 0;
}

static void report_tracex_state(struct kt_user_event *t,
				const struct ktape_event *e, unsigned int id)
{
	uint32_t context = ktape_event_arg(e, KT_THREADX_CONTEXT);

	t->by = kt_threadx_is_thread(context) ? (int64_t)context : -1;
	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (numbers[i].id == id)
			report_number(t, e, &numbers[i]);
	}
	if (id == KT_THREADX_QUEUE_CREATE)
		t->most = queue_capacity(e);
	if (id == KT_THREADX_MUTEX_GET || id == KT_THREADX_MUTEX_PUT)
		report_mutex(t, e, id);
}

/* Add the fields of the user events that hold the header and registry entries. */
static bool add_own(struct kt_user_event *t, const struct ktape_event *e,
		    unsigned int id)
{
	static const char *const head[] = { "mask", "decreasing", "first",
					    "name_size" };
	static const char *const object[] = { "type", "object_ptr", "param1",
					      "param2" };
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	struct kt_typed a;

	if (e->nargs != 1 + WORDS)
		return false;
	for (unsigned int i = 0; i < WORDS; i++) {
		uint32_t word = ktape_event_arg(e, 1 + i);

		if (id == KT_THREADX_ID_HEADER)
			add_tracex_word(t, head[i], word);
		else
			kt_user_add(t, object[i], KT_FIELD_HEX, word);
	}
	if (id == KT_THREADX_ID_OBJECT && at < end) {
		kt_typed_next(&at, end, &a);
		kt_user_add_typed(t, "name", &a);
	}
	return at == end;
}

/* As kt_user_format.describe(). */
static bool describe_tracex(struct kt_user_event *t, const struct ktape_event *e)
{
	static const char *const unnamed[] = { "i1", "i2", "i3", "i4" };
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_threadx_kind *k = kt_threadx_kind(id);
	struct kt_user_field *f;

	if (!k)
		return add_own(t, e, id);
	if (e->nargs != KT_THREADX_PRIO + 1 || e->blob_size)
		return false;
	for (unsigned int i = 0; i < WORDS; i++) {
		const char *name = k->infos[i] && *k->infos[i] ? k->infos[i] :
								 unnamed[i];

		f = add_tracex_word(t, name, ktape_event_arg(e, KT_THREADX_I1 + i));
		f->object = (uint8_t)tracex_field_object(name);
	}
	f = kt_user_add(t, "thread", KT_FIELD_HEX,
			ktape_event_arg(e, KT_THREADX_CONTEXT));
	f->object = KTAPE_OBJ_USER + KTAPE_USER_THREAD;
	kt_user_add(t, "priority_word", KT_FIELD_HEX,
		    ktape_event_arg(e, KT_THREADX_PRIO));
	report_tracex_state(t, e, id);
	return true;
}

static const char *tracex_event_name(uint32_t id)
{
	const struct kt_threadx_kind *k = kt_threadx_kind(id);

	if (id == KT_THREADX_ID_HEADER)
		return "trace_header";
	if (id == KT_THREADX_ID_OBJECT)
		return "trace_object";
	return k ? k->name : NULL;
}

const struct kt_user_format kt_tracex_user = {
	.name = "tracex",
	.ids = KTAPE_FORMAT_ID_TRACEX,
	.event_name = tracex_event_name,
	.describe = describe_tracex,
};

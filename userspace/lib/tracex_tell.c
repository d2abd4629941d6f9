// SPDX-License-Identifier: LGPL-2.1-or-later
/* TraceX: what its events tell, word by word. */
#include <ktape/formats.h>

#include "told.h"
#include "tracex.h"

#define WORDS	4

/* What an address is of, by the name of its word. */
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

/* Which word tells a number of an object, 1 to 4; 0: it is none then. */
static const struct {
	uint8_t id;
	uint8_t object;
	uint8_t word;
	const char *kind;
	const char *what;
} numbers[] = {
	{ 62, KTAPE_USER_QUEUE, 0, "Queue", "State" },
	{ 63, KTAPE_USER_QUEUE, 4, "Queue", "State" },
	{ 68, KTAPE_USER_QUEUE, 4, "Queue", "State" },
	{ 69, KTAPE_USER_QUEUE, 4, "Queue", "State" },
	{ 80, KTAPE_USER_SEMAPHORE, 2, "Semaphore", "State" },
	{ 81, KTAPE_USER_SEMAPHORE, 2, "Semaphore", "State" },
	{ 83, KTAPE_USER_SEMAPHORE, 3, "Semaphore", "State" },
	{ 88, KTAPE_USER_SEMAPHORE, 2, "Semaphore", "State" },
	{ KT_TRACEX_THREAD_CREATE, KTAPE_USER_THREAD, 2, "Thread", "Priority" },
	{ KT_TRACEX_PRIORITY_CHANGE, KTAPE_USER_THREAD, 2, "Thread",
	  "Priority" },
};

static unsigned int object_of(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (!strcmp(objects[i].name, name))
			return objects[i].object;
	}
	return KTAPE_OBJ_FREE;
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len >= tail && !strcmp(name + len - tail, end);
}

/* A call is told where it begins; who gives a mutex back has it once less then. */
static void tell_mutex(struct kt_told *t, const struct ktape_event *e,
		       unsigned int id)
{
	uint32_t mutex = ktape_event_arg(e, KT_TRACEX_I1);
	uint32_t times = ktape_event_arg(e, KT_TRACEX_I1 + 3);
	uint32_t context = ktape_event_arg(e, KT_TRACEX_CONTEXT);

	t->by = kt_tracex_tid(context);
	t->kind = "Mutex";
	t->hex = true;
	if (id == KT_TRACEX_MUTEX_GET &&
	    (!times || ktape_event_arg(e, KT_TRACEX_I1 + 1)))
		kt_told_state(t, KT_TOLD_TAKES,
			      KTAPE_OBJ_USER + KTAPE_USER_MUTEX, mutex);
	if (id == KT_TRACEX_MUTEX_PUT &&
	    ktape_event_arg(e, KT_TRACEX_I1 + 2) == 1)
		kt_told_state(t, KT_TOLD_GIVES,
			      KTAPE_OBJ_USER + KTAPE_USER_MUTEX, mutex);
}

static void tell_state(struct kt_told *t, const struct ktape_event *e,
		       unsigned int id)
{
	uint32_t object = ktape_event_arg(e, KT_TRACEX_I1);

	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (numbers[i].id != id)
			continue;
		kt_told_state(t, KT_TOLD_NUMBER_OF,
			      KTAPE_OBJ_USER + numbers[i].object, object);
		t->hex = true;
		t->kind = numbers[i].kind;
		t->what = numbers[i].what;
		t->number = numbers[i].word ?
				    ktape_event_arg(e, numbers[i].word) :
				    0;
	}
	if (id == KT_TRACEX_MUTEX_GET || id == KT_TRACEX_MUTEX_PUT)
		tell_mutex(t, e, id);
}

/* Words of the registry and the header, and the name of an object. */
static void tell_ours(struct kt_told *t, const struct ktape_event *e,
		      unsigned int id)
{
	static const char *const head[] = { "mask", "decreasing", "first",
					    "name_size" };
	static const char *const object[] = { "type", "object_ptr", "param1",
					      "param2" };
	const uint8_t *blob = e->blob;

	for (unsigned int i = 0; i < WORDS; i++)
		kt_told_add(t, id == KT_TRACEX_ID_HEADER ? head[i] : object[i],
			    KT_TOLD_HEX, ktape_event_arg(e, 1 + i));
	kt_told_typed(t, "name", blob, blob + e->blob_size);
}

/**
 * kt_tracex_tell() - the words of an event
 * @t: the event, without them
 * @e: the user event that it became
 */
void kt_tracex_tell(struct kt_told *t, const struct ktape_event *e)
{
	static const char *const unnamed[] = { "i1", "i2", "i3", "i4" };
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_tracex_kind *k = kt_tracex_kind(id);
	struct kt_told_field *f;

	if (!k) {
		tell_ours(t, e, id);
		return;
	}
	for (unsigned int i = 0; i < WORDS; i++) {
		const char *name = k->infos[i] && *k->infos[i] ? k->infos[i]
							       : unnamed[i];
		unsigned int object = object_of(name);
		bool address = object || ends_with(name, "_ptr");

		f = kt_told_add(t, name,
				address ? KT_TOLD_HEX : KT_TOLD_UNSIGNED,
				ktape_event_arg(e, KT_TRACEX_I1 + i));
		f->object = (uint8_t)object;
	}
	f = kt_told_add(t, "thread", KT_TOLD_HEX,
			ktape_event_arg(e, KT_TRACEX_CONTEXT));
	f->object = KTAPE_OBJ_USER + KTAPE_USER_THREAD;
	kt_told_add(t, "priority_word", KT_TOLD_HEX,
		    ktape_event_arg(e, KT_TRACEX_PRIO));
	tell_state(t, e, id);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rule name: threads and functions that events refer to must have names.  Each number
 * is checked once.
 *
 * One kind of thread has no name in a trace that is in order: a thread that had ended
 * before the module was loaded, but still ran towards its last switch.  Its parent may
 * have reaped it already, so that the module did not find it among the threads.  Hence
 * a thread without a name is a suspect until the trace shows its last switch.
 *
 * The module's table of names is limited, and a new name replaces that of the thread that ended
 * first.  An overwrite session can keep control records of days, so these may refer to threads
 * whose names were replaced.
 *
 * The module counts, by reason, the names for which it had no room, and each trace has the
 * counts.  If there are any, threads without a name are counted in one note.
 *
 * If a trace ends while its session records, the record of a name may not have been written:
 * names and events can be in different rings, and a disk may get full in between.  So suspects
 * are checked at the end, when it is known how far each ring was written.
 */
#include "names/names.h"
#include "stream/event.h"
#include "util/hash.h"
#include "verify/internal.h"
#include "verify/window.h"

#define SEEN_MIN     1024U	/* entries of @table at first */
#define SEEN_MAX     (1U << 22) /* at most; half of them are used */
#define STATE_SHIFT  16U	/* of prev_state in dat20 of sched_switch */
#define SUSPECTS_MAX 1024U	/* more than threads begin in a second or two */
#define PUT_OFF_MAX  (1U << 16) /* further suspects are not put off */

/**
 * struct suspect - a thread without a name
 * @tid: its id
 * @exits: its exit was recorded, so it did not end before the module was loaded
 * @at: the first event of the thread
 */
struct suspect {
	int32_t tid;
	bool exits;
	struct ktape_finding at;
};

/**
 * struct kt_checked_names - numbers that were looked up
 * @tids: bit n: thread n was.  Almost every event has a thread, so this is no table
 * @names: by opcode: the event has fields that are threads or functions
 * @seed: of the hashes in @table
 * @left_out: numbers for which @table has no room
 * @used: entries of @table in use
 * @size: entries of @table
 * @table: other numbers: type << 32 | id; 0 = free
 * @no_room: threads whose name may have had no room
 * @no_room_at: the first event of the first one
 * @nr_suspects: entries of @suspects
 * @suspects: threads without a name, in no order
 * @nr_put_off: entries of @put_off
 * @put_off: suspects that made room for later ones, to be checked at the end
 */
struct kt_checked_names {
	uint64_t *tids;
	bool names[KTAPE_OPCODES];
	uint64_t seed;
	uint64_t left_out;
	size_t used;
	size_t size;
	uint64_t *table;
	uint64_t no_room;
	struct ktape_finding no_room_at;
	unsigned int nr_suspects;
	struct suspect suspects[SUSPECTS_MAX];
	unsigned int nr_put_off;
	struct suspect *put_off;
};

static bool has_names(const struct kt_slot *s)
{
	for (; s->place != KT_PLACE_END; s++) {
		if (s->type == KTAPE_TYPE_TID || s->type == KTAPE_TYPE_FUNC)
			return true;
	}
	return false;
}

int kt_checked_names_new(struct kt_checked_names **checked)
{
	struct kt_checked_names *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->seed = kt_hash_seed(k);
	k->size = SEEN_MIN;
	k->table = calloc(k->size, sizeof(*k->table));
	k->tids = calloc(KT_TIDS / 64, sizeof(*k->tids));
	if (!k->table || !k->tids) {
		kt_checked_names_free(k);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		k->names[i] = kt_plans[i].steps && has_names(kt_plans[i].steps);
	*checked = k;
	return 0;
}

void kt_checked_names_free(struct kt_checked_names *checked)
{
	if (!checked)
		return;
	free(checked->table);
	free(checked->tids);
	free(checked->put_off);
	free(checked);
}

/* Return true if a thread leaves its CPU for the last time. */
static bool is_last_switch(uint32_t dat20)
{
	uint32_t state = dat20 >> STATE_SHIFT;

	return state == KTAPE_STATE_X || state == KTAPE_STATE_Z;
}

/* Report a suspect as a violation, at its first event. */
static void report_suspect(struct ktape_verify *v, unsigned int i)
{
	struct kt_checked_names *k = v->checked;
	const struct suspect s = k->suspects[i];

	k->suspects[i] = k->suspects[--k->nr_suspects];
	kt_verify_wrong_at(v, &s.at, "thread %d has no name", s.tid);
}

/* Excuse a suspect: its name is not expected in this trace for the reason @why. */
static void excuse_suspect(struct ktape_verify *v, unsigned int i, const char *why)
{
	struct kt_checked_names *k = v->checked;
	const struct suspect s = k->suspects[i];

	k->suspects[i] = k->suspects[--k->nr_suspects];
	kt_verify_note_at(v, &s.at, "thread %d has no name: %s", s.tid, why);
}

/* Reasons for which the module had no room for a name, as report_no_room() describes them. */
static const struct {
	unsigned int reason;
	const char *text;
} no_room[] = {
	{ KTAPE_NO_ROOM_LIMIT, "at its limit (registry_max=)" },
	{ KTAPE_NO_ROOM_MEMORY, "for want of memory" },
	{ KTAPE_NO_ROOM_LATE, "came faster than it grew" },
	{ KTAPE_NO_ROOM_REGION, "in persistent memory" },
};

/*
 * Return how many names this trace lacks because the module had no room for them, for one
 * reason.  Only the trace of a persistent session lacks the names for which persistent memory
 * had no room.
 */
static uint64_t count_of_no_room(const struct ktape_verify *v, unsigned int reason)
{
	if (reason == KTAPE_NO_ROOM_REGION && !v->persistent)
		return 0;
	return kt_registry_no_room(v->trace->registry, reason);
}

/* Return whether this trace lacks names because the module had no room for them. */
static bool lacked_room(const struct ktape_verify *v)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(no_room); i++)
		if (count_of_no_room(v, no_room[i].reason))
			return true;
	return false;
}

/* Count a thread whose name may have had no room. */
static void count_no_room(struct kt_checked_names *k, const struct ktape_finding *at)
{
	if (!k->no_room++)
		k->no_room_at = *at;
}

/*
 * Clear a suspect: it had ended before the module was loaded.  If there was no room for
 * some names, its name may be one of those: then nothing more is known.
 */
static void clear_suspect(struct ktape_verify *v, unsigned int i)
{
	struct kt_checked_names *k = v->checked;
	const struct suspect s = k->suspects[i];

	k->suspects[i] = k->suspects[--k->nr_suspects];
	if (lacked_room(v)) {
		count_no_room(k, &s.at);
		return;
	}
	kt_verify_note_at(v, &s.at,
			  "thread %d has no name: it had ended before the module was loaded, and ran to its last switch",
			  s.tid);
}

/*
 * Report the threads whose names may have had no room, and for which reasons, as many as a
 * message has room for.
 */
static void report_no_room(struct ktape_verify *v)
{
	static const char more[] = ", and more";
	const struct kt_checked_names *k = v->checked;
	char text[sizeof(k->no_room_at.text)], one[64];
	size_t len, all = 0;

	if (!k->no_room)
		return;
	len = (size_t)snprintf(
		text, sizeof(text),
		"%llu threads have no name: since it was loaded the module had no room for names: ",
		(unsigned long long)k->no_room);
	for (size_t i = 0; i < KT_ARRAY_SIZE(no_room); i++) {
		uint64_t count = count_of_no_room(v, no_room[i].reason);
		size_t size;

		if (!count)
			continue;
		size = (size_t)snprintf(one, sizeof(one), "%s%llu %s",
					all++ ? ", " : "",
					(unsigned long long)count, no_room[i].text);
		if (len + size + sizeof(more) > sizeof(text)) {
			strcpy(text + len, more);
			break;
		}
		strcpy(text + len, one);
		len += size;
	}
	kt_verify_note_at(v, &k->no_room_at, "%s", text);
}

/*
 * Return whether records of names may have been overwritten.  Outside discard mode the names of
 * threads that ended are in event rings; in discard mode they are in control rings, which are
 * never overwritten.
 */
static bool names_overwritten(const struct ktape_verify *v)
{
	if (v->waits)
		return false;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		const struct kt_vring *r =
			v->cpus[i] ? &v->cpus[i]->ring[KTAPE_RING_EVENT] : NULL;

		if (r && (r->cut || (r->full && !r->whole)))
			return true;
	}
	return false;
}

/*
 * Clear, excuse or report a suspect that is left at the end of the trace.  @until: time up to
 * which all records of names were written.
 */
static void check_named(struct ktape_verify *v, unsigned int i, uint64_t until)
{
	struct kt_checked_names *k = v->checked;
	uint64_t ts = k->suspects[i].at.ts;

	/* In an event ring the record of a thread's name may be long after its events. */
	if (ktape_registry_thread(v->trace->registry, k->suspects[i].tid, ts)) {
		k->suspects[i] = k->suspects[--k->nr_suspects];
	} else if (lacked_room(v)) {
		count_no_room(k, &k->suspects[i].at);
		k->suspects[i] = k->suspects[--k->nr_suspects];
	} else if (ts > until) {
		excuse_suspect(v, i,
			       "its record may be in what was not written when the trace ended");
	} else if (kt_registry_may_lack(v->trace->registry, ts) &&
		   names_overwritten(v)) {
		excuse_suspect(v, i,
			       "it may have ended so long ago that another name took the place of its name");
	} else {
		report_suspect(v, i);
	}
}

/* Return the suspect with the oldest first event: it has had most time for its last switch. */
static unsigned int oldest_suspect(const struct kt_checked_names *k)
{
	unsigned int oldest = 0;

	for (unsigned int i = 1; i < k->nr_suspects; i++)
		if (k->suspects[i].at.ts < k->suspects[oldest].at.ts)
			oldest = i;
	return oldest;
}

/*
 * Put the oldest suspect off to the end of the trace, whose counts may show that there was no
 * room for its name.  If too many suspects were put off, or there is no memory, check it at once,
 * as if all records of names were written.
 */
static void put_name_off(struct ktape_verify *v)
{
	struct kt_checked_names *k = v->checked;
	unsigned int i = oldest_suspect(k), nr = k->nr_put_off;
	struct suspect *more;

	/* Room is doubled whenever the number is a power of two. */
	if (nr < PUT_OFF_MAX && !(nr & (nr - 1))) {
		more = realloc(k->put_off, (nr ? nr * 2 : 1) * sizeof(*more));
		if (!more) {
			check_named(v, i, UINT64_MAX);
			return;
		}
		k->put_off = more;
	}
	if (nr == PUT_OFF_MAX) {
		check_named(v, i, UINT64_MAX);
		return;
	}
	k->put_off[k->nr_put_off++] = k->suspects[i];
	k->suspects[i] = k->suspects[--k->nr_suspects];
}

/* Make a thread a suspect. */
static void suspect_thread(struct ktape_verify *v, const struct kt_stream *s,
			   int32_t tid)
{
	struct kt_checked_names *k = v->checked;

	if (k->nr_suspects == SUSPECTS_MAX)
		put_name_off(v);
	k->suspects[k->nr_suspects].tid = tid;
	k->suspects[k->nr_suspects].exits = false;
	k->suspects[k->nr_suspects].at = kt_verify_place(v, KTAPE_RULE_NAME, s);
	k->nr_suspects++;
}

/*
 * Check the suspect that an event is about: its last switch clears it, unless its exit
 * was recorded, because the module knows each thread that exits later than its load.
 * A trial keeps the event for window_name.c, which calls this again.
 */
void kt_name_match(struct ktape_verify *v, const struct ktape_event *e)
{
	struct kt_checked_names *k = v->checked;
	bool dead = e->opcode == KTAPE_EV_SCHED_SWITCH && is_last_switch(e->dat20);
	int32_t tid;

	if (!e->nargs || (!dead && e->opcode != KTAPE_EV_PROCESS_EXIT))
		return;
	if (v->trial) {
		kt_trial_item(v->trial, KT_ITEM_LEAVE, e);
		return;
	}
	tid = (int32_t)ktape_event_arg(e, 0);
	for (unsigned int i = 0; i < k->nr_suspects; i++) {
		if (k->suspects[i].tid != tid)
			continue;
		if (!dead)
			k->suspects[i].exits = true;
		else if (!k->suspects[i].exits)
			clear_suspect(v, i);
		return;
	}
}

/*
 * Return the ring of a CPU that has the records of names.  Without any control record it is not
 * known whether the session has discard mode.  Then return the control ring: it has no records,
 * so no later name counts as written.
 */
static const struct kt_vring *naming_ring(const struct ktape_verify *v,
					  const struct kt_vcpu *c)
{
	const struct kt_vring *control = &c->ring[KTAPE_RING_CONTROL];

	return v->waits || !control->full ? control : &c->ring[KTAPE_RING_EVENT];
}

/*
 * Return the time up to which all records of names were written: the earliest end of the rings
 * that have them, of all CPUs that are online and on which the session has not stopped; 0 if the
 * trace has nothing of a CPU that had rings.
 */
static uint64_t named_until(const struct ktape_verify *v)
{
	uint64_t until = UINT64_MAX;

	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		const struct kt_vcpu *c = v->cpus[i];

		if (kt_verify_lacks(v, i))
			return 0;
		if (c && c->state != KT_STATE_OFF && c->state != KT_STATE_OFFLINE)
			until = kt_min(until, naming_ring(v, c)->ts_end);
	}
	return until;
}

/*
 * At the end of the trace, decide about the suspects that are left, and report what was not checked
 * because there was too much of it.
 */
void kt_checked_names_end(struct ktape_verify *v)
{
	struct kt_checked_names *k = v->checked;
	uint64_t names = ktape_registry_left_out(v->trace->registry), until;

	until = named_until(v);
	while (k->nr_suspects)
		check_named(v, k->nr_suspects - 1, until);
	while (k->nr_put_off) {
		k->suspects[k->nr_suspects++] = k->put_off[--k->nr_put_off];
		check_named(v, 0, until);
	}
	report_no_room(v);
	if (k->left_out)
		kt_verify_note(v, KTAPE_RULE_NAME, NULL,
			       "%llu numbers are not checked: there are more than the %u that can be remembered",
			       (unsigned long long)k->left_out, SEEN_MAX / 2);
	if (names)
		kt_verify_note(v, KTAPE_RULE_NAME, NULL,
			       "%llu names were left out: at most %u are kept in memory",
			       (unsigned long long)names, KTAPE_REGISTRY_MAX);
}

static uint64_t *checked_slot(const struct kt_checked_names *k, uint64_t key)
{
	size_t at = kt_hash(k->seed, key) & (k->size - 1);

	while (k->table[at] && k->table[at] != key)
		at = (at + 1) & (k->size - 1);
	return &k->table[at];
}

static int grow_checked(struct kt_checked_names *k)
{
	uint64_t *old = k->table, *more;
	size_t size = k->size;

	more = calloc(size * 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->table = more;
	k->size = size * 2;
	for (size_t i = 0; i < size; i++)
		if (old[i])
			*checked_slot(k, old[i]) = old[i];
	free(old);
	return 0;
}

/*
 * Return true if a number is new, and remember it.  If it cannot be remembered, return false: it
 * is counted in @left_out, or @failed is set.
 */
static bool is_new(struct ktape_verify *v, uint64_t key)
{
	struct kt_checked_names *k = v->checked;
	uint64_t *at = checked_slot(k, key);
	int err;

	if (*at)
		return false;
	if (k->used * 2 >= k->size) {
		if (k->size >= SEEN_MAX) {
			k->left_out++;
			return false;
		}
		err = grow_checked(k);
		if (err) {
			v->failed = err;
			return false;
		}
		at = checked_slot(k, key);
	}
	k->used++;
	*at = key;
	return true;
}

/*
 * Look the name of a number up.  A thread without one becomes a suspect, unless a loss or a pause
 * may explain that: then it is noted or counted.  A function without one is noted.
 */
static KT_NOINLINE void check_new(struct ktape_verify *v, unsigned int type,
				  uint32_t id, uint64_t ts)
{
	const struct ktape_registry *names = v->trace->registry;
	const struct kt_stream *s = v->trace->current;
	const struct ktape_object_info *o;
	struct ktape_finding at;
	bool excused;

	o = type == KTAPE_OBJ_THREAD ?
		    ktape_registry_thread(names, (int32_t)id, ts) :
		    ktape_registry_object(names, type, id, 0, ts);
	if (o)
		return;
	/*
	 * A name may be missing for a good reason: it comes later in a live
	 * stream, its record was lost (with events of an event ring, unless the
	 * session has discard mode), the thread was created while the session
	 * was stopped, or the registry was full.  Functions are named later by a
	 * worker, and not every address has a symbol.
	 */
	excused = v->trace->live || v->names_lost || v->paused ||
		  ktape_registry_left_out(names) || (v->events_lost && !v->waits);
	if (excused && type == KTAPE_OBJ_THREAD && lacked_room(v)) {
		at = kt_verify_place(v, KTAPE_RULE_NAME, s);
		count_no_room(v->checked, &at);
	} else if (excused) {
		kt_verify_note(v, KTAPE_RULE_NAME, s,
			       "%s %d has no name: its record was lost or comes later, or the session was stopped",
			       type == KTAPE_OBJ_THREAD ? "thread" : "function",
			       (int32_t)id);
	} else if (type == KTAPE_OBJ_THREAD) {
		suspect_thread(v, s, (int32_t)id);
	} else {
		kt_verify_note(v, KTAPE_RULE_NAME, s,
			       "function %#x has no name: the kernel has no symbol for it, or too many new functions came at once",
			       id);
	}
}

/* Return the threads that were looked up, bit n = thread n. */
const uint64_t *kt_names_tids(const struct kt_checked_names *checked)
{
	return checked->tids;
}

/* Return true if a number was looked up. */
bool kt_name_is_checked(const struct kt_checked_names *checked,
			unsigned int type, uint32_t id)
{
	if (type == KTAPE_OBJ_THREAD && id < KT_TIDS)
		return checked->tids[id / 64] >> (id % 64) & 1;
	return *checked_slot(checked, (uint64_t)type << 32 | id);
}

/* Return true if the table does not grow any more, so that new numbers may be left out. */
bool kt_names_at_limit(const struct kt_checked_names *checked)
{
	return checked->size >= SEEN_MAX;
}

/* Check a number that an event refers to, unless it was checked before. */
void kt_name_check(struct ktape_verify *v, unsigned int type, uint32_t id,
		   uint64_t ts)
{
	if (kt_name_is_checked(v->checked, type, id))
		return;
	if (type != KTAPE_OBJ_THREAD || id >= KT_TIDS) {
		if (is_new(v, (uint64_t)type << 32 | id))
			check_new(v, type, id, ts);
		return;
	}
	v->checked->tids[id / 64] |= 1ULL << (id % 64);
	check_new(v, type, id, ts);
}

/* Check a number now, or after the trial. */
static void check_name(struct ktape_verify *v, const struct ktape_event *e,
		       unsigned int type, uint64_t id)
{
	if (!v->trial)
		kt_name_check(v, type, (uint32_t)id, e->ts);
	else if (!kt_name_is_checked(v->checked, type, (uint32_t)id))
		kt_trial_mention(v->trial, type, (uint32_t)id, e);
}

/* Check the names of all threads and functions of an event. */
void kt_verify_names(struct ktape_verify *v, const struct ktape_event *e)
{
	const struct kt_plan *plan = kt_plan_of(e);
	const struct kt_slot *f;
	struct kt_fields at;

	if (e->opcode == KTAPE_EV_REGISTRY || !plan ||
	    !kt_mask_has(v->trace->info.known, KTAPE_EV_REGISTRY))
		return;
	if (e->tid > 0)
		check_name(v, e, KTAPE_OBJ_THREAD, (uint32_t)e->tid);
	/*
	 * wait4() may be called with the id of a process that never existed.  The
	 * kernel frees a thread's structure later than the thread ends, so the
	 * thread may have ended before the module was loaded.
	 */
	if (e->opcode == KTAPE_EV_SCHED_PROCESS_WAIT ||
	    e->opcode == KTAPE_EV_PROCESS_FREE)
		return;
	if (!v->checked->names[e->opcode])
		return;
	kt_fields_begin(&at, plan, e);
	while ((f = kt_fields_next(&at))) {
		/* Only single numbers: frames of call stacks are return addresses, no functions. */
		if (at.count || f->place == KTAPE_PLACE_REST)
			continue;
		if (f->type == KTAPE_TYPE_TID && (int32_t)at.value > 0)
			check_name(v, e, KTAPE_OBJ_THREAD, at.value);
		else if (f->type == KTAPE_TYPE_FUNC && at.value)
			check_name(v, e, KTAPE_OBJ_FUNCTION, at.value);
	}
	if (v->checked->nr_suspects || v->trial)
		kt_name_match(v, e);
}

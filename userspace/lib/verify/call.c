// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rule pair for system calls: each thread's calls must begin and end in turn.  A thread
 * may change CPUs inside a call, so this rule needs clocks that agree.
 *
 * An end without a begin is legal: a child returns from fork, or a call was denied
 * before it began.  A begin inside another call is a violation, unless events were
 * lost in between: then struct ktape_verify.epoch has changed.
 *
 * CPUs write their markers one after the other.  In the meantime, and after a marker was
 * lost, calls can be checked on some CPUs only.  If a thread begins or ends a call on another
 * CPU, its state is forgotten; if it is not known which thread that is, the states of all
 * threads are forgotten.
 */
#include "util/hash.h"
#include "verify/call.h"

#define CALLS_MIN 1024U
#define CALLS_MAX (1U << 22)

int kt_calls_new(struct kt_calls **calls)
{
	struct kt_calls *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->seed = kt_hash_seed(k);
	k->size = CALLS_MIN;
	k->table = calloc(k->size, sizeof(*k->table));
	if (!k->table) {
		free(k);
		return -ENOMEM;
	}
	*calls = k;
	return 0;
}

void kt_calls_free(struct kt_calls *calls)
{
	if (!calls)
		return;
	free(calls->table);
	free(calls);
}

/*
 * Check the calls that had to wait for the end of the trace, and report those that were
 * not checked because there were too many threads.
 */
void kt_calls_end(struct ktape_verify *v)
{
	const struct kt_calls *k = v->calls;

	kt_unsure_end(v);
	if (k->left_out)
		kt_verify_note(v, KTAPE_RULE_PAIR, NULL,
			       "%llu system calls are not checked: there are more than the %u threads that can be tracked",
			       (unsigned long long)k->left_out, CALLS_MAX / 2);
}

/* Return the index of a thread's entry, or of the free entry where it belongs. */
size_t kt_call_slot(const struct kt_calls *k, int32_t tid)
{
	size_t at = kt_hash(k->seed, (uint32_t)tid) & (k->size - 1);

	while (k->table[at].used && k->table[at].tid != tid)
		at = (at + 1) & (k->size - 1);
	return at;
}

static int grow_calls(struct kt_calls *k)
{
	struct kt_calls more = { .size = k->size * 2, .seed = k->seed };

	more.table = calloc(more.size, sizeof(*more.table));
	if (!more.table)
		return -ENOMEM;
	for (size_t i = 0; i < k->size; i++)
		if (k->table[i].used)
			more.table[kt_call_slot(&more, k->table[i].tid)] =
				k->table[i];
	free(k->table);
	k->table = more.table;
	k->size = more.size;
	return 0;
}

/*
 * Return the entry of a thread, added if needed.  NULL: there are too many, which @left_out counts,
 * or there is no memory, which @failed says.
 */
struct kt_call *kt_call_entry(struct ktape_verify *v, int32_t tid)
{
	struct kt_calls *k = v->calls;
	struct kt_call *c = &k->table[kt_call_slot(k, tid)];
	int err;

	if (c->used)
		return c;
	if (k->used * 2 >= k->size) {
		if (k->size >= CALLS_MAX) {
			k->left_out++;
			return NULL;
		}
		err = grow_calls(k);
		if (err) {
			v->failed = err;
			return NULL;
		}
		c = &k->table[kt_call_slot(k, tid)];
	}
	k->used++;
	c->used = true;
	c->tid = tid;
	c->now.epoch = UINT64_MAX;
	return c;
}

/* Return true if the table does not grow any more, so that new threads may be left out. */
bool kt_calls_at_limit(const struct kt_calls *k)
{
	return k->size >= CALLS_MAX;
}

static bool is_enter(unsigned int opcode)
{
	return opcode == KTAPE_EV_SYS_ENTER || opcode == KTAPE_EV_SYS_ENTER_WIDE;
}

static bool is_exit(unsigned int opcode)
{
	return opcode == KTAPE_EV_SYS_EXIT || opcode == KTAPE_EV_SYS_EXIT_WIDE;
}

/* Check whether a thread begins or ends a call. */
bool kt_call_is(const struct ktape_event *e)
{
	return is_enter(e->opcode) || is_exit(e->opcode);
}

/* Return whether the rule applies to the calls of a CPU at a time. */
bool kt_call_is_checked(const struct ktape_verify *v, const struct kt_vcpu *c,
			uint64_t ts)
{
	return kt_call_records_both(c) && !v->unstable && ts > v->doubt_until;
}

/* Check whether begins and ends of calls are recorded on a CPU. */
bool kt_call_records_both(const struct kt_vcpu *c)
{
	return (kt_verify_is_enabled(c, KTAPE_EV_SYS_ENTER) ||
		kt_verify_is_enabled(c, KTAPE_EV_SYS_ENTER_WIDE)) &&
	       (kt_verify_is_enabled(c, KTAPE_EV_SYS_EXIT) ||
		kt_verify_is_enabled(c, KTAPE_EV_SYS_EXIT_WIDE));
}

/* Return the name of a call, "" if it is not known.  Bits 16 and 17 of dat20 are its ABI. */
static const char *call_name(const struct ktape_verify *v,
			     const struct ktape_event *e, unsigned int nr)
{
	const unsigned int abi = e->dat20 >> 16 & 1 ? KTAPE_ABI_COMPAT :
				 e->dat20 >> 17 & 1 ? KTAPE_ABI_X32 :
						      KTAPE_ABI_NATIVE;
	const char *name = ktape_syscall_abi_name(v->trace->info.machine, abi, nr);

	return name ? name : "";
}

/* Check whether a call returns with its own number.  Nothing is expected of an unknown call. */
static bool name_has_exit(const char *name)
{
	static const char *const silent[] = {
		"exit",		"exit_group", "execve", "execveat",
		"rt_sigreturn", "sigreturn",  ""
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(silent); i++)
		if (!strcmp(name, silent[i]))
			return false;
	return true;
}

/* Check whether a call ends with an event that has the same number. */
bool kt_call_ends(const struct ktape_verify *v, const struct ktape_event *e,
		  unsigned int nr)
{
	bool native = !(e->dat20 >> 16 & 3);
	uint8_t *known = &v->calls->ending[nr % KT_CALLS_USUAL];

	if (!native || nr >= KT_CALLS_USUAL)
		return name_has_exit(call_name(v, e, nr));
	if (*known == KT_CALL_UNASKED)
		*known = name_has_exit(call_name(v, e, nr)) ? KT_CALL_ENDS :
							      KT_CALL_SILENT;
	return *known == KT_CALL_ENDS;
}

/* Remember what a thread does from now on. */
static void keep_state(struct ktape_verify *v, struct kt_call *t,
		       const struct ktape_event *e, bool inside)
{
	t->now.epoch = v->epoch;
	t->now.ts = e->ts;
	t->now.inside = inside;
}

static void take_enter(struct ktape_verify *v, const struct kt_vcpu *c,
		       struct kt_call *t, unsigned int nr,
		       const struct ktape_event *e)
{
	if (t->now.epoch == v->epoch && t->now.inside)
		kt_call_wrong(v, c, t, e,
			      "thread %d begins call %u \"%s\" inside call %u, whose end is missing",
			      t->tid, nr, call_name(v, e, nr), t->now.nr);
	keep_state(v, t, e, true);
	t->now.nr = (uint16_t)nr;
	if (!kt_call_ends(v, e, nr))
		t->now.epoch = UINT64_MAX;
}

static void take_exit(struct ktape_verify *v, const struct kt_vcpu *c,
		      struct kt_call *t, unsigned int nr,
		      const struct ktape_event *e)
{
	if (t->now.epoch == v->epoch && t->now.inside && t->now.nr != nr &&
	    nr != KT_CALL_NONE && t->now.nr != KT_CALL_NONE &&
	    kt_call_ends(v, e, nr))
		kt_call_wrong(v, c, t, e,
			      "thread %d ends call %u \"%s\", but is in call %u",
			      t->tid, nr, call_name(v, e, nr), t->now.nr);
	keep_state(v, t, e, false);
}

/* Forget the state of a thread, or of all threads if @tid is not known (-1). */
static void forget_call_thread(struct ktape_verify *v, int32_t tid)
{
	struct kt_calls *k = v->calls;
	struct kt_call *t = &k->table[kt_call_slot(k, tid)];

	if (tid < 0)
		v->epoch++;
	else if (t->used)
		t->now.epoch = UINT64_MAX;
}

/* Check an event.  Called only if kt_verify_local() says that calls can be checked. */
void kt_verify_call(struct ktape_verify *v, const struct kt_vcpu *c,
		    const struct ktape_event *e)
{
	unsigned int nr = e->dat20 & 0xffff;
	struct kt_call *t;

	/* A thread that ends does not return, and a new one may have an id that was used before. */
	if (e->opcode == KTAPE_EV_PROCESS_FREE ||
	    e->opcode == KTAPE_EV_PROCESS_EXIT) {
		t = kt_call_entry(v, (int32_t)ktape_event_arg(e, 0));
		if (t)
			t->now.epoch = UINT64_MAX;
		return;
	}
	if (e->opcode == KTAPE_EV_PROCESS_FORK) {
		t = kt_call_entry(v, (int32_t)ktape_event_arg(e, 1));
		if (t)
			t->now.epoch = UINT64_MAX;
		return;
	}
	if (!kt_call_is(e) || !e->tid)
		return;
	if (e->tid < 0 || !kt_call_is_checked(v, c, e->ts)) {
		if (v->calls_checked)
			forget_call_thread(v, e->tid);
		return;
	}
	t = kt_call_entry(v, e->tid);
	if (t && is_enter(e->opcode))
		take_enter(v, c, t, nr, e);
	else if (t)
		take_exit(v, c, t, nr, e);
}

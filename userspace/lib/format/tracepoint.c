// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of other Linux tracers become records: see tracepoint.h.
 */
#include <ktape/formats.h>

#include "util/hash.h"

#include "tracepoint.h"

#define LATE_MAX	0x7fffffff
#define LIMIT_TASKS	(1U << 20)	/* threads and addresses that are remembered */
#define LIMIT_USERS	(1U << 24)
#define RT_PRIO		100U
#define DEADLINE	255U
#define CALLS_MAX	1024U
#define CALL_ARGS	6U
#define NR_UNKNOWN	0xffffU
#define UNKNOWN_TASK	UINT32_MAX	/* -1: 0 is the idle thread */
#define CALL_COMPAT	(1U << 16)	/* bits of dat20 of sys_enter */
#define CALL_LARGE	(1U << 18)

enum remembered { TASK, ADDRESS, DEVICE, PROCESS };

/* ---- classes ------------------------------------------------------------------------ */

/* Return the first field with one of the names "a|b", or -1. */
static int16_t find_field(const struct kt_tp_class *c, const char *names)
{
	while (names && *names) {
		const char *end = strchrnul(names, '|');
		size_t len = (size_t)(end - names);

		for (unsigned int i = 0; i < c->nr; i++) {
			if (strlen(c->fields[i].name) == len &&
			    !memcmp(c->fields[i].name, names, len))
				return (int16_t)i;
		}
		names = *end ? end + 1 : NULL;
	}
	return -1;
}

static bool is_number(const struct kt_tp_class *c, int16_t field)
{
	return field >= 0 && c->fields[field].type < KT_TP_TEXT;
}

static bool is_text(const struct kt_tp_class *c, int16_t field)
{
	return field >= 0 && c->fields[field].type == KT_TP_TEXT;
}

/* Check that a field has a type that convert() can read.  Return: the field, or -1. */
static int16_t fit_first(const struct kt_tp_class *c, int16_t field, uint8_t how)
{
	bool fits = how == KT_TP_STRING || how == KT_TP_NETDEV ?
			    is_text(c, field) :
		    how == KT_TP_OP || how == KT_TP_STATE ?
			    is_text(c, field) || is_number(c, field) :
			    is_number(c, field);

	return fits ? field : -1;
}

static int16_t fit_second(const struct kt_tp_class *c, int16_t field, uint8_t how)
{
	bool fits = how == KT_TP_THREAD || how == KT_TP_IRQ ?
			    is_text(c, field) : is_number(c, field);

	return fits ? field : -1;
}

/* Bind the fields of @c to those of its row.  Return: false if the first is missing. */
static bool bind_row(struct kt_tp_class *c)
{
	const struct ktape_event_desc *d = ktape_event_desc(c->row->opcode);

	for (unsigned int i = 0; i < KT_TP_PLACES; i++) {
		const struct kt_tp_source *s = &c->row->sources[i];

		c->from[i] = c->comm[i] = -1;
		if (!s->to)
			continue;
		if (s->how != KT_TP_PROCESS || find_field(c, "child_tid") >= 0)
			c->from[i] = fit_first(c, find_field(c, s->from),
					       s->how);
		c->comm[i] = fit_second(c, find_field(c, s->comm), s->how);
		if (s->how != KT_TP_STRING &&
		    !kt_place_find(d, s->to, &c->places[i]))
			c->from[i] = -1;
		if (!i && c->from[0] < 0)
			return false;
	}
	return true;
}

/* Return the number of a system call by its name, or NR_UNKNOWN. */
static unsigned int call_number(const char *machine, unsigned int abi,
				const char *name)
{
	for (unsigned int nr = 0; nr < CALLS_MAX; nr++) {
		const char *known = ktape_syscall_abi_name(machine, abi, nr);

		/* LTTng and ftrace name the function, which is newer than the table. */
		if (known && (!strcmp(known, name) ||
			      (!strncmp(name, "new", 3) && !strcmp(known, name + 3))))
			return nr;
	}
	return NR_UNKNOWN;
}

/* By prefix of a class name: what it is. */
static const struct {
	const char *prefix;
	uint8_t what;
	bool compat;
} calls[] = {
	{ "syscall_entry_", KT_TP_ENTER, false },
	{ "syscall_exit_", KT_TP_EXIT, false },
	{ "compat_syscall_entry_", KT_TP_ENTER, true },
	{ "compat_syscall_exit_", KT_TP_EXIT, true },
	{ "sys_enter", KT_TP_ENTER, false },
	{ "sys_exit", KT_TP_EXIT, false },
};

/* Check whether a class is a system call, and bind it. */
static void bind_call(struct kt_tp *tp, struct kt_tp_class *c)
{
	const char *name = NULL;
	unsigned int i, abi;

	for (i = 0; i < KT_ARRAY_SIZE(calls) && !name; i++) {
		if (!strncmp(c->name, calls[i].prefix, strlen(calls[i].prefix)))
			name = c->name + strlen(calls[i].prefix);
	}
	if (!name)
		return;
	i--;
	name += *name == '_';
	c->ret = find_field(c, "ret");
	c->args = find_field(c, "args");
	c->number = find_field(c, "id|__syscall_nr|nr");
	c->call = calls[i].compat ? CALL_COMPAT : 0;
	/* "compat" of LTTng is the table of 32-bit programs. */
	abi = calls[i].compat ? KTAPE_ABI_COMPAT : KTAPE_ABI_NATIVE;
	if (*name && strcmp(name, "unknown")) {
		c->call |= call_number(tp->s->info->machine, abi, name);
		/* A field "id" or "nr" of a call of its own is an argument. */
		if ((c->call & NR_UNKNOWN) != NR_UNKNOWN)
			c->number = -1;
		else
			c->number = find_field(c, "__syscall_nr");
	}
	if (!is_number(c, c->number))
		c->number = -1;
	if (!is_number(c, c->ret))
		c->ret = -1;
	if (c->number < 0 && (c->call & NR_UNKNOWN) == NR_UNKNOWN)
		return;
	c->what = calls[i].what;
}

/* Note whether a field has a place in the event table; -1 is none. */
static void set_place(struct kt_tp_class *c, int16_t field, bool has)
{
	if (field < 0 || kt_tp_has_place(c, (unsigned int)field) == has)
		return;
	c->placed[field / 64] ^= 1ULL << field % 64;
	c->nr_placed += has ? 1 : -1U;
}

/* Note which fields have a place in the event table, or help one that has. */
static void find_placed(struct kt_tp_class *c)
{
	for (unsigned int i = 0; c->what == KT_TP_NATIVE && i < KT_TP_PLACES; i++) {
		uint8_t how = c->row->sources[i].how;

		set_place(c, c->from[i], true);
		/* A name or a table has the second one, unless the first minus it is shown. */
		set_place(c, c->comm[i], how != KT_TP_LATE && how != KT_TP_EXPIRES);
	}
	if (c->what == KT_TP_NATIVE)
		return;
	set_place(c, c->number, true);
	/* The name of the call says it. */
	set_place(c, find_field(c, "__syscall_nr"), true);
	if (c->what == KT_TP_EXIT)
		set_place(c, c->ret, true);
}

/**
 * kt_tp_bind_user() - let the events of a class be user events, whatever its name
 * @tp: the reader's memory
 * @c: the class; @c->name, @c->nr and @c->fields are set
 *
 * Return: 0 or negative errno.
 */
int kt_tp_bind_user(struct kt_tp *tp, struct kt_tp_class *c)
{
	c->what = KT_TP_USER;
	c->named = false;
	if (tp->nr_users == LIMIT_USERS)
		return kt_import_fail(tp->s, tp->s->in->offset,
				      "more than %u event classes", LIMIT_USERS);
	c->user = KTAPE_FORMAT_ID_LINUX | tp->nr_users++;
	return 0;
}

/**
 * kt_tp_bind() - find out what the events of a class become
 * @tp: the reader's memory; @tp->s->info->machine is set
 * @c: the class; @c->name, @c->nr and @c->fields are set
 *
 * Return: 0 or negative errno.
 */
int kt_tp_bind(struct kt_tp *tp, struct kt_tp_class *c)
{
	c->what = KT_TP_USER;
	c->row = kt_tp_row(c->name);
	c->renamed = false;
	c->nr_placed = 0;
	memset(c->placed, 0, sizeof(c->placed));
	if (c->row && bind_row(c))
		c->what = KT_TP_NATIVE;
	else
		bind_call(tp, c);
	if (c->what == KT_TP_USER)
		return kt_tp_bind_user(tp, c);
	find_placed(c);
	return 0;
}

/* ---- names -------------------------------------------------------------------------- */

/*
 * Find a remembered entry, or make it; then *@is_new is set.  Too many are not made: *@e is
 * NULL.  Return: 0 or -ENOMEM.
 */
static int remember(struct kt_map *map, uint32_t kind, uint64_t key,
		    struct kt_map_entry **e, bool *is_new)
{
	*e = kt_map_find(map, kind, key);
	*is_new = !*e;
	if (*e || map->nr >= LIMIT_TASKS)
		return 0;
	*e = kt_map_put(map, kind, key);
	return *e ? 0 : -ENOMEM;
}

/*
 * Return the process of a thread by kt_tp_process(), else the one that was known; @begins: as
 * of name_thread().
 */
static int64_t process_of(struct kt_tp *tp, int64_t tid, int64_t known, bool begins)
{
	struct kt_map_entry *p = kt_map_find(&tp->tasks, PROCESS, (uint64_t)tid);

	if (!p)
		return begins ? 0 : known;
	if (begins && !p->extra)	/* of another thread with the number */
		p->value = 0;
	if (begins)
		p->extra = 0;
	return p->value ? (int64_t)p->value : begins ? 0 : known;
}

/*
 * As kt_tp_task(); @begins: the thread begins to exist now.  Another thread may have had
 * its number.
 */
static int name_thread(struct kt_tp *tp, const struct kt_foreign *at, int64_t tid,
		       int64_t tgid, const void *comm, size_t len, bool begins)
{
	struct kt_foreign record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_map_entry *e;
	struct kt_named n = { .type = KTAPE_OBJ_THREAD, .name = comm };
	uint64_t hash;
	bool is_new;
	int err;

	n.len = strnlen(comm, len);
	if (tid <= 0 || tid > INT32_MAX || !n.len)
		return 0;
	err = remember(&tp->tasks, TASK, (uint64_t)tid, &e, &is_new);
	if (!e)
		return err;
	if (tgid <= 0 || tgid > INT32_MAX) {
		tgid = process_of(tp, tid, is_new ? 0 : (int64_t)e->extra, begins);
	} else {
		struct kt_map_entry *p = kt_map_find(&tp->tasks, PROCESS, (uint64_t)tid);

		if (p)
			p->value = (uint64_t)tgid;
	}
	hash = kt_fnv((uint64_t)tgid, comm, n.len);
	if (!is_new && !begins && e->value == hash)
		return 0;
	e->value = hash;
	e->extra = (uint64_t)tgid;
	n.id = (uint32_t)tid;
	n.param1 = (uint32_t)tgid;
	n.born = is_new && !begins ? 0 : at->ts;
	return kt_import_name(tp->s, &record, &n);
}

/**
 * kt_tp_task() - deliver the name of a thread unless it was delivered before
 * @tp: the reader's memory
 * @at: time and CPU
 * @tid: the thread; 0 (idle) and negative numbers have no name
 * @tgid: its process, 0 = not known
 * @comm: its name, NUL-padded or not
 * @len: bytes of @comm
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_task(struct kt_tp *tp, const struct kt_foreign *at, int64_t tid,
	       int64_t tgid, const void *comm, size_t len)
{
	return name_thread(tp, at, tid, tgid, comm, len, false);
}

/**
 * kt_tp_process() - take the process of a thread, which later names of it need not say
 * @tp: the reader's memory
 * @at: time and CPU
 * @tid: the thread
 * @tgid: its process
 * @begins: the thread begins to exist: a sched_process_fork that follows is the same
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_process(struct kt_tp *tp, const struct kt_foreign *at, int64_t tid, int64_t tgid,
		  bool begins)
{
	const struct ktape_object_info *o;
	char name[KTAPE_NAME_SIZE];
	struct kt_map_entry *e;
	bool is_new;
	size_t len;
	int err;

	if (tid <= 0 || tgid <= 0)
		return 0;
	err = remember(&tp->tasks, PROCESS, (uint64_t)tid, &e, &is_new);
	if (!e)
		return err;
	e->extra = begins || e->extra;
	if (e->value == (uint64_t)tgid)
		return 0;
	e->value = (uint64_t)tgid;
	/* Its name was delivered without the process. */
	e = kt_map_find(&tp->tasks, TASK, (uint64_t)tid);
	if (begins || !e || e->extra == (uint64_t)tgid)
		return 0;
	o = ktape_registry_thread(tp->s->registry, (int32_t)tid, at->ts);
	if (!o)
		return 0;
	len = kt_min(o->name_len, sizeof(name));
	memcpy(name, o->name, len);
	return name_thread(tp, at, tid, tgid, name, len, false);
}

/* Check whether the name of a thread was delivered. */
bool kt_tp_is_named(const struct kt_tp *tp, int64_t tid)
{
	return kt_map_find(&tp->tasks, TASK, (uint64_t)tid);
}

static int name_once(struct kt_tp *tp, const struct kt_foreign *at,
		     const struct kt_named *n)
{
	struct kt_foreign record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_map_entry *e;
	bool is_new;
	int err;

	if (!n->len)
		return 0;
	err = remember(&tp->tokens, n->type, n->id, &e, &is_new);
	if (!e || !is_new)
		return err;
	return kt_import_name(tp->s, &record, n);
}

/* Return the 32-bit token of an address; 0 and 1, which are no addresses, stay. */
static uint32_t token_of(uint64_t address)
{
	uint32_t token = (uint32_t)kt_hash_mix(address);

	if (address <= 1)
		return (uint32_t)address;
	return token > 1 ? token : token + 2;
}

/* Deliver the name of a function if the input has it.  Return: as kt_tp_emit(). */
static int name_function(struct kt_tp *tp, const struct kt_foreign *at,
			 uint64_t address)
{
	struct kt_named n = {
		.type = KTAPE_OBJ_FUNCTION, .id = token_of(address),
	};
	uint64_t offset = 0;

	if (!tp->symbol || !address)
		return 0;
	n.name = tp->symbol(tp->arg, address, &offset);
	if (!n.name)
		return 0;
	n.len = strlen(n.name);
	n.param1 = (uint32_t)offset;
	return name_once(tp, at, &n);
}

/* Return the number of a network device, which is made when its name comes first. */
static int number_device(struct kt_tp *tp, const struct kt_foreign *at,
			 const struct kt_tp_value *v, uint64_t *number)
{
	struct kt_foreign record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_named n = {
		.type = KTAPE_OBJ_NET_DEVICE, .name = v->data, .len = v->len,
	};
	struct kt_map_entry *e;
	bool is_new;
	int err;

	*number = 0;
	if (!v->len)
		return 0;
	err = remember(&tp->tokens, KTAPE_OBJ_NET_DEVICE | 0x10000,
		       kt_fnv(0, v->data, v->len), &e, &is_new);
	if (!e)
		return err;
	if (is_new)
		e->value = KTAPE_NETDEV_OTHER | ++tp->nr_devices;
	*number = e->value;
	n.id = (uint32_t)e->value;
	return is_new ? kt_import_name(tp->s, &record, &n) : 0;
}

/* ---- native events -------------------------------------------------------------------- */

static uint64_t prio_of(const struct kt_tp *tp, uint64_t value)
{
	int64_t prio = (int32_t)value + (tp->relative_prio ? (int64_t)RT_PRIO : 0);

	return prio < 0 || prio > (int64_t)DEADLINE ? DEADLINE : (uint64_t)prio;
}

static uint64_t late_ns(struct kt_tp *tp, const struct kt_tp_class *c,
			const struct kt_tp_value *values, uint64_t now)
{
	uint64_t timer = values[c->from[0]].number;
	const struct kt_map_entry *e = kt_map_find(&tp->expires, 0, timer);

	if (!e) {
		tp->unarmed++;
		return 0;
	}
	if (now < e->value)
		return 0;
	return kt_min(now - e->value, LATE_MAX);
}

static int keep_expiry(struct kt_tp *tp, const struct kt_tp_class *c,
		       const struct kt_tp_value *values, uint64_t expires)
{
	struct kt_map_entry *e;
	bool is_new;
	int err = remember(&tp->expires, 0, values[c->from[0]].number, &e, &is_new);

	if (e)
		e->value = expires;
	return err;
}

/* Convert field @i of a class.  Return: as kt_tp_emit(), with *@out set. */
static int convert(struct kt_tp *tp, const struct kt_tp_class *c,
		   const struct kt_foreign *at,
		   const struct kt_tp_value *values, unsigned int i,
		   uint64_t *out)
{
	const struct kt_tp_value *v = &values[c->from[i]];
	const struct kt_tp_value *second =
		c->comm[i] < 0 ? NULL : &values[c->comm[i]];
	uint8_t type = c->fields[c->from[i]].type;
	struct kt_named n = { .type = KTAPE_OBJ_IRQ };

	*out = v->number;
	switch (c->row->sources[i].how) {
	case KT_TP_THREAD:
		return second ? name_thread(tp, at, (int32_t)v->number, 0,
					    second->data, second->len,
					    c->row->opcode == KTAPE_EV_PROCESS_FORK && !i) : 0;
	case KT_TP_PRIO:
		*out = prio_of(tp, v->number);
		return 0;
	case KT_TP_STATE:
		*out = type == KT_TP_TEXT ? kt_tp_state_letters(v->data, v->len)
					  : kt_tp_state(v->number);
		return 0;
	case KT_TP_TOKEN:
		*out = token_of(v->number);
		return 0;
	case KT_TP_FUNCTION:
		*out = token_of(v->number);
		return name_function(tp, at, v->number);
	case KT_TP_NETDEV:
		return number_device(tp, at, v, out);
	case KT_TP_OP:
		*out = type == KT_TP_TEXT ? kt_tp_op(v->data, v->len)
					  : kt_tp_op_bits(v->number);
		return 0;
	case KT_TP_SECTORS:
		*out = v->number << 9;
		return 0;
	case KT_TP_IRQ:
		n.id = (uint32_t)v->number;
		n.name = second ? second->data : NULL;
		n.len = second ? second->len : 0;
		return name_once(tp, at, &n);
	case KT_TP_LATE:
		*out = second ? v->number - second->number : 0;
		return 0;
	case KT_TP_EXPIRES:
		*out = second ? v->number - second->number : v->number;
		return 0;
	case KT_TP_ARMED:
		return keep_expiry(tp, c, values, v->number);
	case KT_TP_LATE_NS:
		*out = late_ns(tp, c, values, v->number);
		return 0;
	default:
		return 0;
	}
}

static void put_place(struct kt_foreign *f, const struct kt_place *place,
		      uint64_t value)
{
	if (!place->words) {
		f->dat20 |= ((uint32_t)value & place->mask) << place->at;
		return;
	}
	f->args[place->at] = (uint32_t)value;
	if (place->words == 2)
		f->args[place->at + 1] = (uint32_t)(value >> 32);
}

/* Check whether a place holds all of a number of field @f. */
static bool is_held(const struct kt_place *place, const struct kt_tp_field *f, uint64_t v)
{
	switch (place->words) {
	case 0:
		return v <= place->mask;
	case 1:
		return v <= UINT32_MAX || (f->type == KT_TP_SIGNED && (int64_t)v == (int32_t)v);
	default:
		return true;
	}
}

/*
 * Check whether the event table has all of field @i, which has become @value.  If not, the
 * field is an extra one as well.
 */
static bool is_whole(struct kt_tp *tp, const struct kt_tp_class *c,
		     const struct kt_tp_value *values, unsigned int i, uint64_t value)
{
	const struct kt_tp_value *v = &values[c->from[i]];
	const struct kt_tp_field *f = &c->fields[c->from[i]];
	const char *name;
	uint64_t offset;

	switch (c->row->sources[i].how) {
	case KT_TP_LATE:
	case KT_TP_LATE_NS:
	case KT_TP_EXPIRES:
		return false;	/* a difference says none of its two numbers */
	case KT_TP_TOKEN:
		return value == v->number;
	case KT_TP_FUNCTION:
		/* The registry cuts names. */
		name = tp->symbol ? tp->symbol(tp->arg, v->number, &offset) : NULL;
		return name ? strlen(name) <= KTAPE_NAME_SIZE : value == v->number;
	case KT_TP_PRIO:
		return value < DEADLINE || (int32_t)v->number == -1;
	case KT_TP_STATE:
		return f->type == KT_TP_TEXT ? kt_tp_is_state_letter(v->data, v->len) :
					       kt_tp_is_state(v->number);
	case KT_TP_OP:
		return f->type == KT_TP_TEXT ? kt_tp_is_op(v->data, v->len) :
					       kt_tp_is_op_bits(v->number);
	case KT_TP_NETDEV:
		return true;
	default:
		return is_held(&c->places[i], f, value);
	}
}

/* Return: 0 or -ENOMEM. */
static int set_running(struct kt_tp *tp, uint32_t cpu, int32_t tid)
{
	int32_t *more;

	if (cpu >= KT_CPUS_MAX)
		return 0;
	if (cpu >= tp->nr_cpus) {
		more = realloc(tp->running, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		tp->running = more;
		while (tp->nr_cpus <= cpu)
			more[tp->nr_cpus++] = -1;
	}
	tp->running[cpu] = tid;
	return 0;
}

/**
 * kt_tp_running() - return the thread that runs on a CPU
 * @tp: the reader's memory
 * @cpu: the CPU
 *
 * Return: the thread that the last switch of the CPU went to, -1 = not known.
 */
int32_t kt_tp_running(const struct kt_tp *tp, uint32_t cpu)
{
	return cpu < tp->nr_cpus ? tp->running[cpu] : -1;
}

/**
 * kt_tp_forget() - events of a CPU are missing, so its running thread is not known
 * @tp: the reader's memory
 * @cpu: the CPU
 */
void kt_tp_forget(struct kt_tp *tp, uint32_t cpu)
{
	if (cpu < tp->nr_cpus)
		tp->running[cpu] = -1;
}

/**
 * kt_tp_lost() - deliver a gap, as kt_import_lost()
 * @tp: the reader's memory
 * @cpu: CPU that lost events
 * @count: how many, 0 = unknown
 * @from: time of the last event before the gap
 * @to: end of the gap
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_lost(struct kt_tp *tp, uint32_t cpu, uint64_t count, uint64_t from,
	       uint64_t to)
{
	kt_tp_forget(tp, cpu);
	return kt_import_lost(tp->s, cpu, count, from, to);
}

/*
 * Set what the tracepoint does not say, but the rest of the event implies.
 * Return: 0 or -ENOMEM.
 */
static int complete(struct kt_tp *tp, struct kt_foreign *f)
{
	const struct kt_map_entry *e;

	switch (f->opcode) {
	case KTAPE_EV_PROCESS_FORK:
		e = kt_map_find(&tp->tasks, PROCESS, f->args[1]);
		if (!f->args[2] && e)
			f->args[2] = (uint32_t)e->value;
		f->args[2] = f->args[2] ? f->args[2] : UNKNOWN_TASK;
		f->dat20 = f->args[2] != UNKNOWN_TASK &&
			   f->args[2] != f->args[1];
		break;
	case KTAPE_EV_PROCESS_EXIT:
	case KTAPE_EV_PROCESS_FREE:
	case KTAPE_EV_PROCESS_RENAME:
		e = kt_map_find(&tp->tasks, TASK, f->args[0]);
		f->args[1] = e && e->extra ? (uint32_t)e->extra : UNKNOWN_TASK;
		break;
	case KTAPE_EV_PROCESS_EXEC:
		f->args[1] = f->args[1] ? f->args[1] : f->args[0];
		break;
	case KTAPE_EV_SCHED_SWITCH:
		return set_running(tp, f->cpu, (int32_t)f->args[1]);
	default:
		break;
	}
	return 0;
}

static int emit_native(struct kt_tp *tp, struct kt_tp_class *c,
		       struct kt_foreign *f, const struct kt_tp_value *values)
{
	const struct kt_plan *plan = &kt_plans[c->row->opcode];
	int err = 0;

	f->kind = KTAPE_RING_EVENT;
	f->opcode = c->row->opcode;
	f->nargs = plan->nargs;
	f->dat20 = 0;
	memset(f->args, 0, sizeof(f->args));
	f->blob = plan->has_blob ? "" : NULL;
	f->blob_size = 0;
	for (unsigned int i = 0; !err && i < KT_TP_PLACES; i++) {
		uint64_t value;

		if (c->from[i] < 0 && c->row->sources[i].how == KT_TP_THREAD)
			put_place(f, &c->places[i], UNKNOWN_TASK);
		if (c->from[i] < 0)
			continue;
		if (c->row->sources[i].how == KT_TP_STRING) {
			f->blob = values[c->from[i]].data;
			f->blob_size = (uint32_t)values[c->from[i]].len;
			continue;
		}
		err = convert(tp, c, f, values, i, &value);
		put_place(f, &c->places[i], value);
		set_place(c, c->from[i], is_whole(tp, c, values, i, value));
	}
	err = err ? err : complete(tp, f);
	err = err ? err : kt_tp_put_extra(tp, c, f, values);
	return err ? err : kt_import_emit(tp->s, f);
}

/* ---- system calls --------------------------------------------------------------------- */

static int emit_call(struct kt_tp *tp, struct kt_tp_class *c,
		     struct kt_foreign *f, const struct kt_tp_value *values)
{
	uint64_t nr = c->number < 0 ? c->call & NR_UNKNOWN
				    : values[c->number].number;
	bool large = nr >= NR_UNKNOWN;
	const struct kt_tp_value *args = c->args < 0 ? NULL : &values[c->args];
	bool wide = args && args->data && args->len == CALL_ARGS * 8;
	int err;

	f->kind = KTAPE_RING_EVENT;
	f->dat20 = (c->call & ~NR_UNKNOWN) | (large ? NR_UNKNOWN : (uint32_t)nr) |
		   (large ? CALL_LARGE : 0);
	f->blob = NULL;
	memset(f->args, 0, sizeof(f->args));
	f->args[0] = (uint32_t)nr;
	f->opcode = KTAPE_EV_SYS_ENTER;
	f->nargs = large;
	if (c->what == KT_TP_EXIT) {
		f->opcode = KTAPE_EV_SYS_EXIT;
		f->nargs = 2;
		f->args[0] = f->args[1] = 0;
		if (c->ret >= 0) {
			f->args[0] = (uint32_t)values[c->ret].number;
			f->args[1] = (uint32_t)(values[c->ret].number >> 32);
		}
	} else if (wide) {
		f->opcode = KTAPE_EV_SYS_ENTER_WIDE;
		f->nargs = 1;
		f->blob = args->data;
		f->blob_size = (uint32_t)args->len;
	}
	if (c->what == KT_TP_ENTER)
		set_place(c, c->args, wide);
	else
		set_place(c, c->number, !large);	/* sys_exit has 16 bits for it */
	err = kt_tp_put_extra(tp, c, f, values);
	return err ? err : kt_import_emit(tp->s, f);
}

/* ---- events ------------------------------------------------------------------------- */

/**
 * kt_tp_emit() - deliver an event
 * @tp: the reader's memory
 * @c: its class
 * @at: time, CPU and thread of the event; the rest is overwritten.  @at->tid -1: the
 *	thread that the last switch of the CPU went to
 * @values: its fields, in the order of the class
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_emit(struct kt_tp *tp, struct kt_tp_class *c, struct kt_foreign *at,
	       const struct kt_tp_value *values)
{
	if (at->tid < 0)
		at->tid = kt_tp_running(tp, at->cpu);
	tp->last.ts = at->ts;
	tp->last.cpu = at->cpu;
	switch (c->what) {
	case KT_TP_NATIVE:
		return emit_native(tp, c, at, values);
	case KT_TP_ENTER:
	case KT_TP_EXIT:
		return emit_call(tp, c, at, values);
	default:
		return kt_tp_emit_user(tp, c, at, values);
	}
}

/**
 * kt_tp_end() - tell at the end of the trace what its events did not say
 * @tp: the reader's memory
 */
void kt_tp_end(struct kt_tp *tp)
{
	if (tp->unarmed)
		kt_import_note(tp->s, "%llu timers expired that were armed before the trace: they count as on time",
			       (unsigned long long)tp->unarmed);
	tp->unarmed = 0;
	if (tp->too_large)
		kt_import_note(tp->s, "%llu fields are left out: an event has at most %u MiB",
			       (unsigned long long)tp->too_large, KT_TP_BLOB >> 20);
	tp->too_large = 0;
}

/**
 * kt_tp_free() - free what the reader remembers
 * @tp: the memory
 */
void kt_tp_free(struct kt_tp *tp)
{
	kt_map_free(&tp->tasks);
	kt_map_free(&tp->tokens);
	kt_map_free(&tp->expires);
	free(tp->running);
	free(tp->blob);
}

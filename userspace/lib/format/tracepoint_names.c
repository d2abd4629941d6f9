// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names that events of other tracers bring along, of threads, interrupts, functions and network
 * devices.  Each is delivered once, that of a thread again when the name or the process changes.
 */
#include "util/hash.h"

#include "tracepoint.h"

#define REMEMBERED_MAX (1U << 20) /* entries of a map */

/*
 * Find the entry for @kind and @key in a map, or make it; then *@is_new is set.  If the map has
 * REMEMBERED_MAX entries, none is made: *@e is NULL, and a name is not delivered.
 * Return: 0 or -ENOMEM.
 */
int kt_tp_remember(struct kt_map *map, uint32_t kind, uint64_t key,
		   struct kt_map_entry **e, bool *is_new)
{
	*e = kt_map_find(map, kind, key);
	*is_new = !*e;
	if (*e || map->nr >= REMEMBERED_MAX)
		return 0;
	*e = kt_map_put(map, kind, key);
	return *e ? 0 : -ENOMEM;
}

/*
 * Return the process of a thread: what kt_tp_process() has said, else @known, that of its last
 * name; 0 = not known.  @begins: the thread begins to exist now.  What is known of its number is
 * then of another thread, unless kt_tp_process() has just said that it begins (@extra).
 */
static int64_t process_of(struct kt_tp *tp, int64_t tid, int64_t known, bool begins)
{
	struct kt_map_entry *p =
		kt_map_find(&tp->tasks, KT_TP_OF_PROCESS, (uint64_t)tid);

	if (!p)
		return begins ? 0 : known;
	if (begins && !p->extra)
		p->value = 0;
	if (begins)
		p->extra = 0;
	return p->value ? (int64_t)p->value : begins ? 0 : known;
}

/*
 * As kt_tp_task(); @begins: the thread begins to exist now.  Another thread may have had
 * its number.
 */
int kt_tp_name_thread(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
		      int64_t tgid, const void *comm, size_t len, bool begins)
{
	struct kt_delivery record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_map_entry *e;
	struct kt_named n = { .type = KTAPE_OBJ_THREAD, .name = comm };
	uint64_t hash;
	bool is_new;
	int err;

	n.len = strnlen(comm, len);
	if (tid <= 0 || tid > INT32_MAX || !n.len)
		return 0;
	err = kt_tp_remember(&tp->tasks, KT_TP_NAMED, (uint64_t)tid, &e, &is_new);
	if (!e)
		return err;
	if (tgid <= 0 || tgid > INT32_MAX) {
		tgid = process_of(tp, tid, is_new ? 0 : (int64_t)e->extra, begins);
	} else {
		struct kt_map_entry *p =
			kt_map_find(&tp->tasks, KT_TP_OF_PROCESS, (uint64_t)tid);

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
	/* The first name of a thread that ran before the trace is valid from its beginning. */
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
int kt_tp_task(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
	       int64_t tgid, const void *comm, size_t len)
{
	return kt_tp_name_thread(tp, at, tid, tgid, comm, len, false);
}

/**
 * kt_tp_process() - remember the process of a thread, for names of it that come without one
 * @tp: the reader's memory
 * @at: time and CPU
 * @tid: the thread
 * @tgid: its process
 * @begins: the thread begins to exist: a sched_process_fork that follows is of the same thread
 *
 * If its name was delivered without this process, it is delivered again.
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_tp_process(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
		  int64_t tgid, bool begins)
{
	const struct ktape_object_info *o;
	char name[KTAPE_NAME_SIZE];
	struct kt_map_entry *e;
	bool is_new;
	size_t len;
	int err;

	if (tid <= 0 || tgid <= 0)
		return 0;
	err = kt_tp_remember(&tp->tasks, KT_TP_OF_PROCESS, (uint64_t)tid, &e,
			     &is_new);
	if (!e)
		return err;
	e->extra = begins || e->extra;
	if (e->value == (uint64_t)tgid)
		return 0;
	e->value = (uint64_t)tgid;
	/* Names that are still to come get the process from process_of(). */
	e = kt_map_find(&tp->tasks, KT_TP_NAMED, (uint64_t)tid);
	if (begins || !e || e->extra == (uint64_t)tgid)
		return 0;
	o = ktape_registry_thread(tp->s->registry, (int32_t)tid, at->ts);
	if (!o)
		return 0;
	len = kt_min(o->name_len, sizeof(name));
	memcpy(name, o->name, len);
	return kt_tp_name_thread(tp, at, tid, tgid, name, len, false);
}

/* Check whether the name of a thread was delivered. */
bool kt_tp_is_named(const struct kt_tp *tp, int64_t tid)
{
	return kt_map_find(&tp->tasks, KT_TP_NAMED, (uint64_t)tid);
}

/* Deliver the name of an object unless that was done before.  Return: as kt_tp_emit(). */
int kt_tp_name_once(struct kt_tp *tp, const struct kt_delivery *at,
		    const struct kt_named *n)
{
	struct kt_delivery record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_map_entry *e;
	bool is_new;
	int err;

	if (!n->len)
		return 0;
	err = kt_tp_remember(&tp->tokens, n->type, n->id, &e, &is_new);
	if (!e || !is_new)
		return err;
	return kt_import_name(tp->s, &record, n);
}

/* Return the token of an address.  0 and 1, which are no addresses, stay; no others get them. */
uint32_t kt_tp_token(uint64_t address)
{
	uint32_t token = (uint32_t)kt_hash_mix(address);

	if (address <= 1)
		return (uint32_t)address;
	return token > 1 ? token : token + 2;
}

/* Deliver the name of a function if the input has it.  Return: as kt_tp_emit(). */
int kt_tp_name_function(struct kt_tp *tp, const struct kt_delivery *at,
			uint64_t address)
{
	struct kt_named n = {
		.type = KTAPE_OBJ_FUNCTION,
		.id = kt_tp_token(address),
	};
	uint64_t offset = 0;

	if (!tp->symbol || !address)
		return 0;
	n.name = tp->symbol(tp->arg, address, &offset);
	if (!n.name)
		return 0;
	n.len = strlen(n.name);
	n.param1 = (uint32_t)offset;
	return kt_tp_name_once(tp, at, &n);
}

/*
 * Set @number to that of a network device.  When its name comes for the first time, a number is
 * made and the name delivered.  0 = it has none.
 * Return: as kt_tp_emit().
 */
int kt_tp_number_device(struct kt_tp *tp, const struct kt_delivery *at,
			const struct kt_tp_value *v, uint64_t *number)
{
	struct kt_delivery record = { .ts = at->ts, .cpu = at->cpu };
	struct kt_named n = {
		.type = KTAPE_OBJ_NET_DEVICE,
		.name = v->data,
		.len = v->len,
	};
	struct kt_map_entry *e;
	bool is_new;
	int err;

	*number = 0;
	if (!v->len)
		return 0;
	/* No type has bit 16: in the map, names must not meet the ids of kt_tp_name_once(). */
	err = kt_tp_remember(&tp->tokens, KTAPE_OBJ_NET_DEVICE | 0x10000,
			     kt_fnv(0, v->data, v->len), &e, &is_new);
	if (!e)
		return err;
	if (is_new)
		e->value = KTAPE_NETDEV_OTHER | ++tp->nr_devices;
	*number = e->value;
	n.id = (uint32_t)e->value;
	return is_new ? kt_import_name(tp->s, &record, &n) : 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names for Perfetto: threads in its process tree, functions as interned symbols.
 * Each is written when an event first needs it; a thread again when its id was reused.  A
 * function keeps the name of its first use.
 */
#include <errno.h>

#include "util/hash.h"
#include "internal.h"

#define FIRST_ROOM 256U
#define ROOM_MAX   (1U << 20)	/* slots, of which at most half are used */
#define KTHREAD	   (1U << 16)	/* in param2 of a thread */
#define KTHREADD   2		/* process that has made all kernel threads */
#define NAMED	   (1ULL << 32) /* set in interned ids, to differ from tokens */

/* Hash with the table's address, so that a crafted trace cannot force collisions. */
static uint32_t hash_slot_of(const void *table, uint64_t key, uint32_t room)
{
	return (uint32_t)kt_hash((uintptr_t)table, key) & (room - 1);
}

static bool set_grow(struct perfetto *pf, struct pf_set *set)
{
	uint32_t room = set->room ? set->room * 2 : FIRST_ROOM, i, at;
	uint64_t *keys;

	/* Start over when full: a forgotten entry is just written once more. */
	if (room > ROOM_MAX) {
		memset(set->keys, 0, set->room * sizeof(*set->keys));
		set->nr = 0;
		return true;
	}
	keys = calloc(room, sizeof(*keys));
	if (!keys) {
		pf->s->error = -ENOMEM;
		return false;
	}
	for (i = 0; i < set->room; i++) {
		if (!set->keys[i])
			continue;
		at = hash_slot_of(keys, set->keys[i], room);
		while (keys[at])
			at = (at + 1) & (room - 1);
		keys[at] = set->keys[i];
	}
	free(set->keys);
	set->keys = keys;
	set->room = room;
	return true;
}

/**
 * pf_set_add() - add a number to a set
 * @pf: trace being written, which fails if there is no memory
 * @set: the set
 * @key: the number, not 0
 *
 * Return: true if it is new, or if there was no memory to keep it.
 */
bool pf_set_add(struct perfetto *pf, struct pf_set *set, uint64_t key)
{
	uint32_t at;

	if (set->nr * 2 >= set->room && !set_grow(pf, set))
		return true;
	at = hash_slot_of(set->keys, key, set->room);
	while (set->keys[at]) {
		if (set->keys[at] == key)
			return false;
		at = (at + 1) & (set->room - 1);
	}
	set->keys[at] = key;
	set->nr++;
	return true;
}

/* Return true if the number is in the set. */
bool pf_set_has(const struct pf_set *set, uint64_t key)
{
	uint32_t at;

	if (!set->room)
		return false;
	at = hash_slot_of(set->keys, key, set->room);
	while (set->keys[at] && set->keys[at] != key)
		at = (at + 1) & (set->room - 1);
	return set->keys[at] == key;
}

/* ---- threads ---------------------------------------------------------- */

static bool threads_grow(struct perfetto *pf)
{
	uint32_t room = pf->room ? pf->room * 2 : FIRST_ROOM, i, at;
	struct pf_thread *to;

	if (room > ROOM_MAX) { /* start over, as in set_grow() */
		for (i = 0; i < pf->room; i++)
			pf->threads[i].tid = -1;
		pf->nr_threads = 0;
		return true;
	}
	to = malloc(room * sizeof(*to));
	if (!to) {
		pf->s->error = -ENOMEM;
		return false;
	}
	for (i = 0; i < room; i++)
		to[i].tid = -1;
	for (i = 0; i < pf->room; i++) {
		if (pf->threads[i].tid < 0)
			continue;
		at = hash_slot_of(to, (uint32_t)pf->threads[i].tid, room);
		while (to[at].tid >= 0)
			at = (at + 1) & (room - 1);
		to[at] = pf->threads[i];
	}
	free(pf->threads);
	pf->threads = to;
	pf->room = room;
	return true;
}

/*
 * Return the slot of a thread, valid until the next call; a new one has an old @names_version, so
 * that it is looked up.  NULL: no memory, so that writing fails.
 */
static struct pf_thread *find_perfetto_thread(struct perfetto *pf, int32_t tid)
{
	struct pf_thread *t;
	uint32_t at;

	if (pf->nr_threads * 2 >= pf->room && !threads_grow(pf))
		return NULL;
	at = hash_slot_of(pf->threads, (uint32_t)tid, pf->room);
	while (pf->threads[at].tid >= 0 && pf->threads[at].tid != tid)
		at = (at + 1) & (pf->room - 1);
	t = &pf->threads[at];
	if (t->tid < 0) {
		memset(t, 0, sizeof(*t));
		t->tid = tid;
		t->names_version = pf->names_version - 1;
		pf->nr_threads++;
	}
	return t;
}

static char *put_perfetto_process(char *p, const struct pf_thread *t, bool kernel)
{
	char *m = pf_open(p, PF_TREE_PROCESS);

	p = pf_number(m, PF_PROCESS_PID, (uint32_t)t->tid);
	if (kernel && t->tid != KTHREADD)
		p = pf_number(p, PF_PROCESS_PPID, KTHREADD);
	p = pf_bytes(p, PF_PROCESS_CMDLINE, t->name, t->len);
	if (kernel)
		p = pf_number(p, PF_PROCESS_IS_KTHREAD, 1);
	p = pf_number(p, PF_PROCESS_CMDLINE_IS_COMM, 1);
	return pf_close(m, p);
}

static char *put_perfetto_thread(char *p, const struct pf_thread *t)
{
	char *m = pf_open(p, PF_TREE_THREAD);

	p = pf_number(m, PF_THREAD_TID, (uint32_t)t->tid);
	p = pf_bytes(p, PF_THREAD_NAME, t->name, t->len);
	p = pf_number(p, PF_THREAD_TGID, t->tgid);
	return pf_close(m, p);
}

static void put_tree(struct perfetto *pf, const struct pf_thread *t,
		     bool kernel, uint64_t ts)
{
	char *p = pf_packet(pf, PF_SEQUENCE_FTRACE, 256), *tree;

	if (!p)
		return;
	p = pf_number(p, PF_PACKET_TIMESTAMP, pf_time(pf, ts));
	tree = pf_open(p, PF_PACKET_PROCESS_TREE);
	p = (uint32_t)t->tid == t->tgid ? put_perfetto_process(tree, t, kernel) :
					  put_perfetto_thread(tree, t);
	pf_packet_done(pf, pf_close(tree, p));
}

/* Take what the registry knows of a thread, and write it to the process tree if it is new there. */
static void look_up_thread(struct perfetto *pf, struct pf_thread *t, uint64_t ts)
{
	const struct ktape_object_info *o;
	bool kernel;

	t->names_version = pf->names_version;
	o = ktape_registry_thread(pf->s->registry, t->tid, ts);
	if (!o) {
		t->known = false;
		t->len = 0;
		return;
	}
	t->in_tree = t->in_tree && t->known && t->born == o->born;
	t->known = true;
	/*
	 * Process 0 is idle, so a thread whose process is not known is shown as a process of its
	 * own.
	 */
	t->tgid = o->param1 ? o->param1 : (uint32_t)t->tid;
	t->born = o->born;
	t->len = o->name_len;
	memcpy(t->name, o->name, o->name_len);
	kt_replace_unprintable(t->name, t->len); /* what cannot be displayed becomes "?" */
	if (t->in_tree || !t->tid)
		return;
	t->in_tree = true;
	kernel = o->param2 & KTHREAD;
	put_tree(pf, t, kernel, ts);
}

static const struct pf_thread *get_thread(struct perfetto *pf, int32_t tid,
					  uint64_t ts)
{
	struct pf_thread *t = find_perfetto_thread(pf, tid);
	uint32_t tgid;

	if (!t || t->names_version == pf->names_version)
		return t;
	look_up_thread(pf, t, ts);
	tgid = t->tgid;
	if (!t->known || tgid == (uint32_t)tid || tgid > INT32_MAX)
		return t;
	/* Write its process, too.  That may move the table, so look the thread up again. */
	t = find_perfetto_thread(pf, (int32_t)tgid);
	if (t && t->names_version != pf->names_version)
		look_up_thread(pf, t, ts);
	t = find_perfetto_thread(pf, tid);
	if (t && t->names_version != pf->names_version)
		look_up_thread(pf, t, ts);
	return t;
}

/**
 * pf_thread() - look up a thread at a time, and write it if the viewer lacks it
 * @pf: trace being written
 * @tid: thread id, not negative
 * @ts: time, in ticks
 *
 * Return: the thread, valid until the next call; NULL: no memory, so that writing fails.
 */
const struct pf_thread *pf_thread(struct perfetto *pf, int32_t tid, uint64_t ts)
{
	const struct pf_thread *t;

	if (pf->room) {
		t = &pf->threads[hash_slot_of(pf->threads, (uint32_t)tid, pf->room)];
		if (t->tid == tid && t->names_version == pf->names_version)
			return t;
	}
	return get_thread(pf, tid, ts);
}

/* ---- functions --------------------------------------------------------- */

/**
 * pf_symbol() - intern the name of a function
 * @pf: trace being written
 * @token: token of the function
 * @ts: time, in ticks
 *
 * Return: the interned id, or @token if the function has no name.
 */
uint64_t pf_symbol(struct perfetto *pf, uint32_t token, uint64_t ts)
{
	const struct ktape_object_info *o;
	char *p, *interned, *symbol;

	o = ktape_registry_object(pf->s->registry, KTAPE_OBJ_FUNCTION, token, 0, ts);
	if (!o || !token)
		return token;
	if (!pf_set_add(pf, &pf->symbols, token | NAMED))
		return token | NAMED;
	p = pf_packet(pf, PF_SEQUENCE_FTRACE, 256);
	if (!p)
		return token;
	interned = pf_open(p, PF_PACKET_INTERNED);
	symbol = pf_open(interned, PF_INTERNED_SYMBOLS);
	p = pf_number(symbol, PF_SYMBOL_IID, token | NAMED);
	p = pf_string(p, PF_SYMBOL_TEXT, o->name, o->name_len);
	pf_packet_done(pf, pf_close(interned, pf_close(symbol, p)));
	return token | NAMED;
}

/* Free the threads, the sets of numbers, and the states of objects. */
void pf_names_free(struct perfetto *pf)
{
	free(pf->threads);
	free(pf->symbols.keys);
	free(pf->tracks.keys);
	free(pf->state_tracks.keys);
	kt_states_free(&pf->states);
}

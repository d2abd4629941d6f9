/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record chosen events and keep them as a list, with the thread of each event
 * and the symbols of the functions in it. Any loss is an error.
 */
#ifndef _KT_EVENTS_H
#define _KT_EVENTS_H

#include "grow.h"
#include "kt_ledger.h"
#include "kt_module.h"
#include "kt_registry.h"

#define KT_RING_SIZE (4 << 20)

/**
 * struct kt_ev - an event
 * @ts: time, 64 bits
 * @nr: index in the stream, which keeps the order within a CPU
 * @op: opcode
 * @dat20: 20 bits
 * @cpu: CPU that recorded it
 * @tid: current thread; valid only if sched_switch is recorded
 * @arg: argument words
 */
struct kt_ev {
	uint64_t ts, nr;
	uint32_t op, dat20, cpu;
	int32_t tid;
	uint32_t arg[7];
};

struct kt_symbol {
	uint32_t token;
	char name[KTAPE_NAME_SIZE];
};

/**
 * struct kt_symbols - names of functions
 * @nr: number of names
 * @v: the names, "" for a function without a name
 * @naps: number of waits for missing names
 */
struct kt_symbols {
	size_t nr;
	struct kt_symbol *v;
	int naps;
};

/**
 * struct kt_events - a recording
 * @fd: the session
 * @ledger: parse of its stream
 * @buf: bytes of its stream
 * @v: the events in order of time
 * @nr: number of events
 * @room: entries that fit in @v
 * @symbols: names of functions
 * @running: current thread of each CPU during the parse
 */
struct kt_events {
	int fd;
	struct kt_ledger *ledger;
	struct kt_buf buf;
	struct kt_ev *v;
	size_t nr, room;
	struct kt_symbols *symbols;
	int32_t running[KTS_CPUS];
};

/* A packet's head has the thread at its first record, unless the packet continues a block. */
static inline void kt_events_packet(const struct ktape_block *b, void *arg)
{
	struct kt_events *e = ((struct kt_ledger *)arg)->arg;

	if (b->kind == KTAPE_RING_EVENT && b->context != KTAPE_CTX_CONTINUED)
		e->running[b->cpu] = b->tid;
}

static inline void kt_symbols_add(struct kt_symbols *s, uint32_t token,
				  const char *name, size_t size)
{
	const size_t most = sizeof(s->v->name) - 1;

	s->v = grow_to(s->v, (s->nr + 1) * sizeof(*s->v));
	memset(&s->v[s->nr], 0, sizeof(*s->v));
	s->v[s->nr].token = token;
	memcpy(s->v[s->nr++].name, name, size < most ? size : most);
}

static inline void kt_events_record(const struct ktape_block *b,
				    const struct kt_rec *r, void *arg)
{
	struct kt_events *e = arg;
	struct kt_ev *v;

	if (r->op == KTAPE_EV_REGISTRY && (r->dat20 & 0xff) == KTAPE_OBJ_FUNCTION)
		kt_symbols_add(e->symbols, r->args[0], r->blob, r->size);
	if (b->kind != KTAPE_RING_EVENT || r->op == KTAPE_TIME_EXTEND)
		return;
	GROW(e->v, e->nr, e->room);
	v = &e->v[e->nr++];
	*v = (struct kt_ev){ .ts = r->ts,
			     .nr = e->nr,
			     .op = r->op,
			     .dat20 = r->dat20,
			     .cpu = b->cpu,
			     .tid = e->running[b->cpu] };
	memcpy(v->arg, r->args, r->nargs * 4);
	if (r->op == KTAPE_EV_SCHED_SWITCH)
		e->running[b->cpu] = r->args[1];
}

/* Create a session for @ops, which ends with 0. Return: 0 or a negative errno. */
static inline int kt_events_open(struct kt_events *e, const unsigned char *ops)
{
	memset(e, 0, sizeof(*e));
	e->symbols = calloc(1, sizeof(*e->symbols));
	e->ledger = kt_ledger_new();
	e->ledger->next = kt_events_record;
	e->ledger->arg = e;
	e->ledger->t.packet = kt_events_packet;
	e->fd = kt_session(KTAPE_MODE_DISCARD, KT_RING_SIZE, 16384, ops);
	return e->fd < 0 ? e->fd : 0;
}

/* Create the session and start it. */
static inline int kt_events_start(struct kt_events *e, const unsigned char *ops)
{
	int ret = kt_events_open(e, ops);

	return ret ? ret : kt_control(e->fd, KTAPE_IOC_START);
}

static inline int kt_events_order(const void *a, const void *b)
{
	const struct kt_ev *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/*
 * Read the running session until @is_there returns true, for 10 s at most, more
 * on a slow kernel. Use it for events that come some time after their cause.
 * Return: true if the event came.
 */
static inline bool kt_events_wait(struct kt_events *e,
				  bool (*is_there)(const struct kt_events *e,
						   const void *arg),
				  const void *arg)
{
	struct kts *t = &e->ledger->t;
	bool there = false;

	kt_nonblock(e->fd, true);
	for (int i = 0; i < 1000 && !there && !t->error[0]; i++) {
		usleep(i ? 10000 * kt_scale() : 0);
		while (kt_read_and_parse(t, &e->buf, e->fd, 65536) > 0)
			;
		there = is_there(e, arg);
	}
	kt_nonblock(e->fd, false);
	return there;
}

/*
 * Stop the session, read it to the end, and sort the events by time. Return: the first error as
 * a text, "" if there is none. An event that was lost is an error.
 */
static inline const char *kt_events_stop(struct kt_events *e)
{
	struct kts *t = &e->ledger->t;
	int64_t lost;

	if (kt_control(e->fd, KTAPE_IOC_STOP))
		return "STOP failed";
	if (kt_read_and_parse_all(t, &e->buf, e->fd))
		return t->error[0] ? t->error : "read() failed";
	lost = kt_ledger_check(e->ledger, e->fd, kt_online_cpus());
	if (lost)
		kts_bad(t, "%lld events lost", (long long)lost);
	qsort(e->v, e->nr, sizeof(*e->v), kt_events_order);
	return t->error;
}

static inline void kt_events_free(struct kt_events *e)
{
	if (e->fd > 0)
		close(e->fd);
	kt_buf_free(&e->buf);
	free(e->ledger);
	free(e->v);
	if (e->symbols)
		free(e->symbols->v);
	free(e->symbols);
	memset(e, 0, sizeof(*e));
}

/*
 * Return the name of a function, or "". It is valid until the next call. The
 * kernel resolves symbols a little later, so this waits for names that the
 * stream does not have yet. All names together share one limit on that wait.
 */
static inline const char *kt_symbol(const struct kt_events *e, uint32_t token)
{
	struct kt_symbols *s = e->symbols;
	char name[KTAPE_NAME_SIZE] = "";

	for (size_t i = s->nr; i-- > 0;)
		if (s->v[i].token == token)
			return s->v[i].name;
	while (token && !kt_object_known(KTAPE_OBJ_FUNCTION, token, name) &&
	       s->naps++ < 100)
		usleep(10000 * kt_scale());
	kt_symbols_add(s, token, name, strnlen(name, sizeof(name)));
	return s->v[s->nr - 1].name;
}

/*
 * Return true if the stream of the session gives the function that name. Call it before
 * kt_symbol(), which adds names of the registry to the same list.
 */
static inline bool kt_stream_names(const struct kt_events *e, uint32_t token,
				   const char *name)
{
	const struct kt_symbols *s = e->symbols;

	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].token == token && !strcmp(s->v[i].name, name))
			return true;
	return false;
}

static inline bool kt_is_symbol(const struct kt_events *e, uint32_t token,
				const char *name)
{
	return !strcmp(kt_symbol(e, token), name);
}

static inline uint64_t kt_u64(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/* Return the next @op from index *@at on, of any thread, and move *@at behind it. NULL: none. */
static inline const struct kt_ev *kt_next_event(const struct kt_events *e,
						size_t *at, uint32_t op)
{
	while (*at < e->nr)
		if (e->v[(*at)++].op == op)
			return &e->v[*at - 1];
	return NULL;
}

/* The same, for the next @op whose argument word @word is @value. */
static inline const struct kt_ev *kt_next_with(const struct kt_events *e,
					       size_t *at, uint32_t op,
					       int word, uint32_t value)
{
	const struct kt_ev *v;

	do {
		v = kt_next_event(e, at, op);
	} while (v && v->arg[word] != value);
	return v;
}

static inline int kt_count_with(const struct kt_events *e, uint32_t op,
				int word, uint32_t value)
{
	size_t at = 0;
	int n = 0;

	while (kt_next_with(e, &at, op, word, value))
		n++;
	return n;
}

/* Count the records of @op whose first word is one of @nr values. */
static inline int kt_count_any(const struct kt_events *e, uint32_t op,
			       const uint32_t *values, int nr)
{
	int n = 0;

	for (size_t i = 0; i < e->nr; i++) {
		int j = 0;

		while (j < nr && e->v[i].arg[0] != values[j])
			j++;
		n += e->v[i].op == op && j < nr;
	}
	return n;
}

/* Make the helper module kt_cause cause events. Return: 0 or a negative errno. */
static inline int kt_cause(const char *what, int n)
{
	int fd = open("/sys/module/kt_cause/parameters/run", O_WRONLY);
	char text[32];
	int len, ret;

	if (fd < 0)
		return -errno;
	len = snprintf(text, sizeof(text), "%s %d", what, n);
	ret = write(fd, text, len) == len ? 0 : -errno;
	close(fd);
	return ret;
}

/*
 * Load kt_cause once for all tests of a program, because loading takes longer
 * than most tests. The program's main() is KT_CAUSE_MAIN. Return: 0 or a
 * negative errno.
 */
static inline int kt_cause_load(void)
{
	if (!access("/sys/module/kt_cause", F_OK))
		return 0;
	return kt_insmod("/tests/kt_cause.ko", "");
}

/* Unload kt_cause at the end of the program; a failure fails the program. */
static inline void kt_cause_unload(void)
{
	int ret = kt_rmmod("kt_cause");

	if (!ret || ret == -ENOENT)
		return;
	printf("# kt_cause cannot be unloaded: %s\n", strerror(-ret));
	fflush(stdout);
	_exit(1);
}

/* clang-format off */
#define KT_CAUSE_MAIN						\
	int main(int argc, char **argv)				\
	{							\
		atexit(kt_cause_unload);			\
		return test_harness_run(argc, argv);		\
	}
/* clang-format on */

#endif /* _KT_EVENTS_H */

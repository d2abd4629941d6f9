/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording of chosen events, kept as a list with the thread of each, and the
 * symbols of the functions in it.  Nothing may be missing.
 */
#ifndef _KT_EVENTS_H
#define _KT_EVENTS_H

#include "kt_ledger.h"

#define KT_RING_SIZE	(4 << 20)

/**
 * struct kt_ev - an event
 * @ts: whole time
 * @nr: place in which it came, to keep the order of a CPU
 * @op: opcode
 * @dat20: 20 bits
 * @cpu: where
 * @tid: the thread that was there; right only if sched_switch is recorded
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
	char name[32];
};

/**
 * struct kt_events - a recording
 * @fd: the session
 * @ledger: its parse
 * @buf: bytes of it
 * @v: the events in order of time
 * @nr: how many
 * @room: for how many
 * @symbol: of functions
 * @nr_symbols: how many
 * @running: thread of each CPU while it is parsed
 */
struct kt_events {
	int fd;
	struct kt_ledger *ledger;
	struct kt_buf buf;
	struct kt_ev *v;
	size_t nr, room;
	struct kt_symbol *symbol;
	size_t nr_symbols;
	int32_t running[KTS_CPUS];
};

static inline void kt_events_packet(const struct ktape_block *b, void *arg)
{
	struct kt_events *e = ((struct kt_ledger *)arg)->arg;

	if (b->kind == KTAPE_RING_EVENT && b->context != KTAPE_CTX_CONTINUED)
		e->running[b->cpu] = b->tid;
}

static inline void kt_events_symbol(struct kt_events *e, const struct kt_rec *r)
{
	struct kt_symbol *s;

	if ((r->dat20 & 0xff) != KTAPE_OBJ_FUNCTION)
		return;
	e->symbol = realloc(e->symbol, (e->nr_symbols + 1) * sizeof(*s));
	if (!e->symbol)
		abort();
	s = &e->symbol[e->nr_symbols++];
	*s = (struct kt_symbol){ .token = r->args[0] };
	memcpy(s->name, r->blob, r->size < 31 ? r->size : 31);
}

static inline void kt_events_record(const struct ktape_block *b,
				    const struct kt_rec *r, void *arg)
{
	struct kt_events *e = arg;
	struct kt_ev *v;

	if (r->op == KTAPE_EV_REGISTRY)
		kt_events_symbol(e, r);
	if (b->kind != KTAPE_RING_EVENT || r->op == KTAPE_TIME_EXTEND)
		return;
	if (e->nr == e->room) {
		e->room = e->room * 2 + 1024;
		e->v = realloc(e->v, e->room * sizeof(*e->v));
		if (!e->v)
			abort();
	}
	v = &e->v[e->nr++];
	*v = (struct kt_ev){ .ts = r->ts, .nr = e->nr, .op = r->op, .dat20 = r->dat20,
			     .cpu = b->cpu, .tid = e->running[b->cpu] };
	memcpy(v->arg, r->args, r->nargs * 4);
	if (r->op == KTAPE_EV_SCHED_SWITCH)
		e->running[b->cpu] = r->args[1];
}

/* A session that will record @ops, which ends in 0. Return: 0 or an error. */
static inline int kt_events_open(struct kt_events *e, const unsigned char *ops)
{
	memset(e, 0, sizeof(*e));
	e->ledger = kt_ledger_new();
	e->ledger->next = kt_events_record;
	e->ledger->arg = e;
	e->ledger->t.packet = kt_events_packet;
	e->fd = kt_session(KTAPE_MODE_DISCARD, KT_RING_SIZE, 16384, ops);
	return e->fd < 0 ? e->fd : 0;
}

/* The same, and it records from now on. */
static inline int kt_events_start(struct kt_events *e, const unsigned char *ops)
{
	int ret = kt_events_open(e, ops);

	return ret ? ret : kt_command(e->fd, KTAPE_IOC_START);
}

static inline int kt_events_order(const void *a, const void *b)
{
	const struct kt_ev *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/*
 * Stop and take it all; symbols of functions are looked up by the kernel a
 * little later. Return: the parse's complaint, "" if there is none.
 */
static inline const char *kt_events_stop(struct kt_events *e)
{
	struct kts *t = &e->ledger->t;
	int64_t lost;

	if (kt_command(e->fd, KTAPE_IOC_STOP))
		return "STOP failed";
	usleep(100000 * kt_scale());
	if (kt_follow_all(t, &e->buf, e->fd))
		return t->error[0] ? t->error : "read() failed";
	lost = kt_ledger_check(e->ledger, e->fd, kt_cpus());
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
	free(e->symbol);
	memset(e, 0, sizeof(*e));
}

/* Name of a function, or "". */
static inline const char *kt_symbol(const struct kt_events *e, uint32_t token)
{
	for (size_t i = e->nr_symbols; i-- > 0;)
		if (e->symbol[i].token == token)
			return e->symbol[i].name;
	return "";
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

/* The next @op from *@at on, of any thread. Return: NULL: none. */
static inline const struct kt_ev *kt_next(const struct kt_events *e, size_t *at,
					  uint32_t op)
{
	while (*at < e->nr)
		if (e->v[(*at)++].op == op)
			return &e->v[*at - 1];
	return NULL;
}

/* The next @op whose argument word @word is @value. */
static inline const struct kt_ev *kt_next_with(const struct kt_events *e,
					       size_t *at, uint32_t op,
					       int word, uint32_t value)
{
	const struct kt_ev *v;

	do {
		v = kt_next(e, at, op);
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

/* Have the helper module kt_cause cause something. Return: 0 or an error. */
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

static inline int kt_cause_load(void)
{
	return system("grep -q '^kt_cause ' /proc/modules || insmod /tests/kt_cause.ko") ?
		       -1 :
		       0;
}

static inline int kt_cause_unload(void)
{
	return system("rmmod kt_cause") ? -1 : 0;
}

/* Can the kernel tell of this event? */
static inline bool kt_available(unsigned int opcode)
{
	struct ktape_event_info info = { .size = sizeof(info),
					 .opcode = opcode };
	int fd = kt_open(O_RDWR);
	int ret = kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &info);

	close(fd);
	return !ret && info.state == KTAPE_EVENT_AVAILABLE;
}

#endif /* _KT_EVENTS_H */

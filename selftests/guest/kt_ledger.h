/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conservation: what was emitted is what was read plus what was lost, by ring
 * and class, in control pages, STATS and ledger records alike.
 */
#ifndef _KT_LEDGER_H
#define _KT_LEDGER_H

#include "kt_load.h"
#include "kt_stream.h"

/* One read() into the parse; what is no whole packet yet stays in @b. */
static inline ssize_t kt_follow(struct kts *t, struct kt_buf *b, int fd,
				size_t chunk)
{
	ssize_t n = kt_buf_read(b, fd, chunk);
	size_t fed = kts_feed(t, b->p, b->len);

	b->len -= fed;
	memmove(b->p, b->p + fed, b->len);
	return n;
}

/* To the end of a stopped session. Return: 0, or what is wrong. */
static inline ssize_t kt_follow_all(struct kts *t, struct kt_buf *b, int fd)
{
	ssize_t n;

	do {
		n = kt_follow(t, b, fd, 65536);
	} while (n > 0 && !t->error[0]);
	if (!n && b->len)
		kts_bad(t, "%zu bytes are no packet", b->len);
	return n;
}

/**
 * struct kt_ledger - a parse and the ledger records in it
 * @t: the parse; its records come here first
 * @said: the last ledger record of a stop by CPU, ring and class: emitted, filtered, lost
 * @before: records of the class control in the control ring before that record
 * @nr: how many of these there were, by CPU
 * @told: losses of which loss records told, by CPU, ring and class
 * @silent: its control ring lost something itself, by CPU
 * @tracers: how many tracer records there were, by CPU
 * @next: called with each record, or NULL
 * @arg: for it
 */
struct kt_ledger {
	struct kts t;
	uint64_t said[KTS_CPUS][2][KTAPE_CLASSES][2 + KTAPE_LOST_REASONS];
	uint64_t before[KTS_CPUS];
	uint64_t nr[KTS_CPUS];
	uint64_t told[KTS_CPUS][2][KTAPE_CLASSES];
	bool silent[KTS_CPUS];
	uint64_t tracers[KTS_CPUS];
	void (*next)(const struct ktape_block *b, const struct kt_rec *r,
		     void *arg);
	void *arg;
};

static inline uint64_t kt_two_words(const uint32_t *word)
{
	return word[0] | (uint64_t)word[1] << 32;
}

/*
 * Of events that were lost before it, and none of them twice.
 */
static inline void kt_ledger_loss(struct kt_ledger *l,
				  const struct ktape_block *b,
				  const struct kt_rec *r)
{
	uint64_t first = kt_two_words(r->args), last = kt_two_words(r->args + 2);
	uint64_t nr = kt_two_words(r->args + 4);

	if (!nr || first > last || last > r->ts)
		kts_bad(&l->t, "%llu lost from %llu to %llu, told at %llu",
			(unsigned long long)nr, (unsigned long long)first,
			(unsigned long long)last, (unsigned long long)r->ts);
	l->told[b->cpu][r->dat20 >> 5 & 1][r->dat20 & 31] += nr;
}

static inline void kt_ledger_record(const struct ktape_block *b,
				    const struct kt_rec *r, void *arg)
{
	struct kt_ledger *l = arg;
	uint32_t class = r->dat20 & 31, ring = r->dat20 >> 5 & 7;
	bool stop = !(r->dat20 >> 8);

	if (l->next)
		l->next(b, r, l->arg);
	if (r->op == KTAPE_EV_LOSS)
		kt_ledger_loss(l, b, r);
	if (r->op == KTAPE_EV_TRACER) {
		/* The one before took some time, unless it was the first. */
		if (l->tracers[b->cpu] && !r->args[0])
			kts_bad(&l->t, "an event took no time at all");
		l->tracers[b->cpu]++;
	}
	/* A CPU that was away at the stop has that of the start only. */
	if (r->op != KTAPE_EV_LEDGER || ring > 1 || !stop)
		return;
	memcpy(l->said[b->cpu][ring][class], r->blob,
	       sizeof(l->said[b->cpu][ring][class]));
	l->nr[b->cpu]++;
	if (ring == KTAPE_RING_CONTROL && class == KTAPE_CLASS_CONTROL)
		l->before[b->cpu] = l->t.stream[b->cpu][KTAPE_RING_CONTROL]
					    .class[KTAPE_CLASS_CONTROL] - 1;
}

static inline struct kt_ledger *kt_ledger_new(void)
{
	struct kt_ledger *l = calloc(1, sizeof(*l));

	l->t.record = kt_ledger_record;
	l->t.arg = l;
	return l;
}

/* Keep what is wrong, once. */
#define KT_LEDGER_CHECK(l, a, b, what, cpu, kind, class)		\
	do {								\
		uint64_t __a = (a), __b = (b);				\
		if (__a != __b)						\
			kts_bad(&(l)->t, "%s: %llu %llu, cpu %d kind %d class %d", \
				what, (unsigned long long)__a,		\
				(unsigned long long)__b, cpu, kind, class); \
	} while (0)

/*
 * The stream tells of each loss: a packet's head may have been read before it, a
 * loss record may not, unless the control ring could not take it.
 */
static inline void kt_ledger_told(struct kt_ledger *l,
				  const struct ktape_stats *st, int class,
				  uint64_t lost)
{
	uint64_t told = l->told[st->cpu][st->kind][class];

	if (told > lost || (l->nr[st->cpu] && !l->silent[st->cpu]))
		KT_LEDGER_CHECK(l, told, lost, "loss records, lost", st->cpu,
				st->kind, class);
}

/* One class of one ring of a stopped session against @st. */
static inline void kt_ledger_class(struct kt_ledger *l,
				   const struct ktape_stats *st, int class)
{
	const uint64_t *said = l->said[st->cpu][st->kind][class];
	int cpu = st->cpu, kind = st->kind, i;
	uint64_t lost = 0;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += st->lost[i][class];
	kt_ledger_told(l, st, class, lost);
	KT_LEDGER_CHECK(l, l->t.stream[cpu][kind].class[class] + lost,
			st->emitted[class] - st->filtered[class],
			"records + lost, emitted", cpu, kind, class);
	/* Of its own ring's control class a ledger tells what was before it. */
	if (kind == KTAPE_RING_CONTROL && class == KTAPE_CLASS_CONTROL) {
		if (l->nr[cpu] && !lost)
			KT_LEDGER_CHECK(l, said[0], l->before[cpu],
					"ledger, records before it", cpu, kind,
					class);
		return;
	}
	if (!l->nr[cpu])
		return;
	KT_LEDGER_CHECK(l, said[0], st->emitted[class], "ledger, emitted", cpu,
			kind, class);
	KT_LEDGER_CHECK(l, said[1], st->filtered[class], "ledger, filtered",
			cpu, kind, class);
	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		KT_LEDGER_CHECK(l, said[2 + i], st->lost[i][class],
				"ledger, lost", cpu, kind, class);
}

/*
 * What the head of the last packet says.  Whoever had read all records before
 * the last losses got one more packet for these; for events that were held back
 * since there is none.
 */
static inline void kt_ledger_last(struct kt_ledger *l,
				  const struct ktape_stats *st)
{
	const struct kts_stream *s = &l->t.stream[st->cpu][st->kind];
	uint64_t emitted = kt_sum(st->emitted), lost = kt_lost(st);

	if (s->emitted > emitted || s->discarded != lost ||
	    (s->emitted < emitted && !lost && !kt_sum(st->filtered)))
		kts_bad(&l->t, "last packet: %llu emitted %llu lost, in truth %llu %llu, cpu %u kind %u",
			(unsigned long long)s->emitted,
			(unsigned long long)s->discarded,
			(unsigned long long)emitted, (unsigned long long)lost,
			st->cpu, st->kind);
}

/*
 * All rings of a stopped session that was read from its start to its end.
 * Return: events lost, or a negative errno; l->t.error tells what is wrong.
 */
static inline int64_t kt_ledger_check(struct kt_ledger *l, int fd, int cpus)
{
	struct ktape_stats st;
	int64_t lost = 0;
	int ret;

	for (int cpu = 0; cpu < cpus; cpu++) {
		ret = kt_stats(fd, cpu, KTAPE_RING_CONTROL, &st);
		l->silent[cpu] = ret || kt_lost(&st);
		for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			ret = kt_stats(fd, cpu, kind, &st);
			if (ret)
				return ret;
			for (int class = 0; class < KTAPE_CLASSES; class++)
				kt_ledger_class(l, &st, class);
			kt_ledger_last(l, &st);
			lost += kt_lost(&st);
		}
	}
	return lost;
}

#endif /* _KT_LEDGER_H */

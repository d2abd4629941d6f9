/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check conservation: for each ring and class, emitted events are read events
 * plus filtered and lost ones. The numbers in packets, STATS, ledger and loss
 * records must agree.
 */
#ifndef _KT_LEDGER_H
#define _KT_LEDGER_H

#include "kt_load.h"
#include "kt_stream.h"

/*
 * Parse the bytes of one read(). A packet that is not complete yet stays in @b. Return: the
 * result of read(), or a negative errno; an error of the parse is in @t->error.
 */
static inline ssize_t kt_read_and_parse(struct kts *t, struct kt_buf *b, int fd,
					size_t chunk)
{
	ssize_t n = kt_buf_read(b, fd, chunk);
	size_t fed = kts_feed(t, b->p, b->len);

	b->len -= fed;
	memmove(b->p, b->p + fed, b->len);
	return n;
}

/*
 * Read a stopped session to its end, or to the first error of the parse, which is in @t->error
 * then. Return: the last result of read(): 0 at the end, a negative errno, or a number of bytes
 * if the parse has ended it.
 */
static inline ssize_t kt_read_and_parse_all(struct kts *t, struct kt_buf *b, int fd)
{
	ssize_t n;

	do {
		n = kt_read_and_parse(t, b, fd, 65536);
	} while (n > 0 && !t->error[0]);
	if (!n && b->len)
		kts_bad(t, "%zu bytes are no packet", b->len);
	return n;
}

/**
 * struct kt_ledger - a parse of a stream and the ledger records in it
 * @t: the parse, which calls kt_ledger_record() with each record
 * @said: last ledger record of a stop, by CPU, ring and class: emitted, filtered,
 *	lost for each reason
 * @before: records of class control in the control ring before that ledger record
 * @nr: number of ledger records of stops, by CPU
 * @reported: events reported as lost by loss records, by CPU, ring and class
 * @silent: the control ring itself lost records, by CPU, so loss records may be missing
 * @tracers: number of tracer records (time that the CPU spent in ktape), by CPU
 * @next: called with each record, or NULL
 * @arg: argument of @next
 */
struct kt_ledger {
	struct kts t;
	uint64_t said[KTS_CPUS][2][KTAPE_CLASSES][2 + KTAPE_LOST_REASONS];
	uint64_t before[KTS_CPUS];
	uint64_t nr[KTS_CPUS];
	uint64_t reported[KTS_CPUS][2][KTAPE_CLASSES];
	bool silent[KTS_CPUS];
	uint64_t tracers[KTS_CPUS];
	void (*next)(const struct ktape_block *b, const struct kt_rec *r, void *arg);
	void *arg;
};

static inline uint64_t kt_two_words(const uint32_t *word)
{
	return word[0] | (uint64_t)word[1] << 32;
}

/*
 * A loss record reports events that were lost before it, and reports no event
 * twice.
 */
static inline void kt_ledger_loss(struct kt_ledger *l, const struct ktape_block *b,
				  const struct kt_rec *r)
{
	uint64_t first = kt_two_words(r->args), last = kt_two_words(r->args + 2);
	uint64_t nr = kt_two_words(r->args + 4);

	if (!nr || first > last || last > r->ts)
		kts_bad(&l->t, "%llu lost from %llu to %llu, told at %llu",
			(unsigned long long)nr, (unsigned long long)first,
			(unsigned long long)last, (unsigned long long)r->ts);
	l->reported[b->cpu][r->dat20 >> 5 & 1][r->dat20 & 31] += nr;
}

/* A ledger record has the class, the ring and the moment in dat20; moment 0 is a stop. */
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
		/*
		 * The first word is the time that the record before this one
		 * took. Only the first tracer record of a CPU has none before.
		 */
		if (l->tracers[b->cpu] && !r->args[0])
			kts_bad(&l->t, "an event took no time at all");
		l->tracers[b->cpu]++;
	}
	/*
	 * A CPU that was offline at the stop has only the ledger record of the
	 * start.
	 */
	if (r->op != KTAPE_EV_LEDGER || ring > 1 || !stop)
		return;
	memcpy(l->said[b->cpu][ring][class], r->blob,
	       sizeof(l->said[b->cpu][ring][class]));
	l->nr[b->cpu]++;
	if (ring == KTAPE_RING_CONTROL && class == KTAPE_CLASS_CONTROL)
		l->before[b->cpu] =
			l->t.stream[b->cpu][KTAPE_RING_CONTROL].class[KTAPE_CLASS_CONTROL] -
			1;
}

static inline struct kt_ledger *kt_ledger_new(void)
{
	struct kt_ledger *l = calloc(1, sizeof(*l));

	l->t.record = kt_ledger_record;
	l->t.arg = l;
	return l;
}

/* Keep the first error. */
#define KT_LEDGER_CHECK(l, a, b, what, cpu, kind, class)                           \
	do {                                                                       \
		uint64_t __a = (a), __b = (b);                                     \
		if (__a != __b)                                                    \
			kts_bad(&(l)->t, "%s: %llu %llu, cpu %d kind %d class %d", \
				what, (unsigned long long)__a,                     \
				(unsigned long long)__b, cpu, kind, class);        \
	} while (0)

/*
 * Check that loss records report each lost event once. Some may be missing if the CPU was
 * offline at the stop, or if its control ring had no room for them.
 */
static inline void kt_ledger_reported(struct kt_ledger *l,
				      const struct ktape_stats *st, int class,
				      uint64_t lost)
{
	uint64_t reported = l->reported[st->cpu][st->kind][class];

	if (reported > lost || (l->nr[st->cpu] && !l->silent[st->cpu]))
		KT_LEDGER_CHECK(l, reported, lost, "loss records, lost",
				st->cpu, st->kind, class);
}

/* Compare one class of one ring of a stopped session with @st. */
static inline void kt_ledger_class(struct kt_ledger *l,
				   const struct ktape_stats *st, int class)
{
	const uint64_t *said = l->said[st->cpu][st->kind][class];
	int cpu = st->cpu, kind = st->kind, i;
	uint64_t lost = 0;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += st->lost[i][class];
	kt_ledger_reported(l, st, class, lost);
	KT_LEDGER_CHECK(l, l->t.stream[cpu][kind].class[class] + lost,
			st->emitted[class] - st->filtered[class],
			"records + lost, emitted", cpu, kind, class);
	/*
	 * A ledger record is of class control itself: it covers the records
	 * before it only.
	 */
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
 * Check the counts in the head of the last packet. If the reader had read all
 * records before the last losses, one more packet reports these losses. No
 * packet reports events that were filtered since.
 */
static inline void kt_ledger_last(struct kt_ledger *l, const struct ktape_stats *st)
{
	const struct kts_stream *s = &l->t.stream[st->cpu][st->kind];
	uint64_t emitted = kt_sum(st->emitted), lost = kt_lost(st);

	if (s->emitted > emitted || s->discarded != lost ||
	    (s->emitted < emitted && !lost && !kt_sum(st->filtered)))
		kts_bad(&l->t,
			"last packet: %llu emitted %llu lost, in truth %llu %llu, cpu %u kind %u",
			(unsigned long long)s->emitted,
			(unsigned long long)s->discarded,
			(unsigned long long)emitted, (unsigned long long)lost,
			st->cpu, st->kind);
}

/*
 * Check all rings of a stopped session that was read from start to end. The first count that
 * does not agree is in @l->t.error. Return: number of lost events in any case, or a negative
 * errno of STATS.
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
			for (int class = 0; class < KTAPE_CLASSES; ++class)
				kt_ledger_class(l, &st, class);
			kt_ledger_last(l, &st);
			lost += kt_lost(&st);
		}
	}
	return lost;
}

#endif /* _KT_LEDGER_H */

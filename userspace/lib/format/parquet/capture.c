// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The trace itself: the tables capture, sysinfo, clock_snapshot and lost.
 *
 * Losses come from three sources, which report the same losses from different sides and must
 * not be added: what the reader of this trace found missing (source "gap"); the module's loss
 * records, by class and with times ("loss"); the module's ledger, by class and reason, as totals
 * of the session ("ledger").  Beside them are what was overwritten before a ring begins
 * ("overwritten"), hits of probes that did not become events ("missed") and stalled readers
 * ("evict").
 */
#include "internal.h"

#define COUNTS 7U /* numbers of a ledger record, see reasons[] */
#define MOMENT_START \
	1U /* field "moment" of a ledger record: the session started */
#define KEY_START \
	256U /* in @keys: when a CPU's ledger started; class and ring take 8 bits */

/* What the numbers count: events emitted, events filtered, then losses by reason. */
static const char *const reasons[COUNTS] = {
	NULL, NULL, "full", "nested", "too_big", "shed", "rate",
};

/**
 * struct counts - counts of a class in a ring of a CPU
 * @first: those at @ts_first: of the first ledger record; 0 if the trace has the session's start,
 *	at which the class had no record yet
 * @last: those of the last ledger record
 * @ts: time of that record
 * @ts_first: time of the first record, or of that start
 * @seen: there was a record
 */
struct counts {
	uint64_t first[COUNTS];
	uint64_t last[COUNTS];
	uint64_t ts;
	uint64_t ts_first;
	bool seen;
};

/**
 * struct pq_ledger - what the module reported
 * @counts: by the index that @keys has
 * @nr: entries of @counts
 * @keys: by CPU, ring and class an index in @counts, and kt_map_entry.extra says that it is set;
 *	by KEY_START and CPU the time of the first start, and enum start
 * @stored: events of the trace, without names
 * @lost: events lost in gaps (source "gap"), as far as counted
 * @gaps: number of gaps
 * @uncounted: gaps without a count
 * @synced: there was a clock_sync
 * @unstable: a clock_sync says that the clock is not stable
 * @mask: last profile of any CPU that enables an event
 * @profiled: @mask is valid
 * @filters: bit n: a filter of kind n is in force
 * @missed: end of the last interval with missed hits, by opcode and enum ktape_missed
 */
struct pq_ledger {
	struct counts *counts;
	size_t nr;
	struct kt_map keys;
	uint64_t stored;
	uint64_t lost;
	uint64_t gaps;
	uint64_t uncounted;
	bool synced;
	bool unstable;
	uint64_t mask[KTAPE_MASK_WORDS];
	bool profiled;
	uint64_t filters;
	uint64_t missed[KTAPE_OPCODES][KTAPE_MISSED_REASONS];
};

/**
 * pq_capture_init() - Begin counting
 * @pq: the tables
 *
 * Return: 0 or -ENOMEM.
 */
int pq_capture_init(struct pq *pq)
{
	pq->ledger = calloc(1, sizeof(*pq->ledger));
	return pq->ledger ? 0 : -ENOMEM;
}

static int64_t capture_name_of(struct pq *pq, const char *text)
{
	return text ? pq_name(pq, text, strlen(text)) : PQ_NONE;
}

/* ---- clocks --------------------------------------------------------------------------- */

static void put_capture_clock(struct pq *pq, uint64_t ts, const char *clock,
			      int64_t value, int64_t cpu)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_CLOCK_SNAPSHOT, ts);

	pq_put_name(r, PQ_CLOCK_SNAPSHOT_CLOCK, capture_name_of(pq, clock));
	kt_pq_put(r, PQ_CLOCK_SNAPSHOT_VALUE, value);
	if (cpu >= 0)
		kt_pq_put(r, PQ_CLOCK_SNAPSHOT_CPU, cpu);
	pq_end(pq, PQ_CLOCK_SNAPSHOT);
}

/* The clocks as the head of the trace relates them, at the begin of the trace. */
static void put_head_clocks(struct pq *pq)
{
	const struct ktape_info *i = pq->s->info;
	uint64_t ts = pq->begin;

	put_capture_clock(pq, ts, "MONOTONIC", ktape_mono_ns(i, ts), -1);
	put_capture_clock(pq, ts, "BOOTTIME", pq_time(pq, ts), -1);
	if (kt_is_dated(i, ts))
		put_capture_clock(pq, ts, "REALTIME", ktape_epoch_ns(i, ts), -1);
}

static void take_capture_sync(struct pq *pq, const struct ktape_event *e)
{
	const uint8_t *p = e->args;

	pq->ledger->synced = true;
	pq->ledger->unstable |= !(e->dat20 & 1);
	put_capture_clock(pq, e->ts, "MONOTONIC", (int64_t)kt_get64(p), e->cpu);
	put_capture_clock(pq, e->ts, "BOOTTIME", (int64_t)kt_get64(p + 8), e->cpu);
	put_capture_clock(pq, e->ts, "REALTIME", (int64_t)kt_get64(p + 16), e->cpu);
}

/* ---- losses --------------------------------------------------------------------------- */

/**
 * struct loss - a row of the table lost
 * @from: begin, in ticks
 * @to: end, in ticks
 * @cpu: the CPU
 * @source: gap, overwritten, loss, ledger, missed, evict
 * @ring: enum ktape_ring_kind; -1: not known
 * @class: name of the class, or NULL
 * @reason: name of the reason, or NULL
 * @reader: number of a reader; -1: none
 * @count: number of events; 0: not known
 * @more: the number is in an earlier row
 */
struct loss {
	uint64_t from;
	uint64_t to;
	uint32_t cpu;
	const char *source;
	int ring;
	const char *class;
	const char *reason;
	int64_t reader;
	uint64_t count;
	bool more;
};

static void put_capture_loss(struct pq *pq, const struct loss *loss)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_LOST, loss->from);

	kt_pq_put(r, PQ_LOST_TS_END, pq_time(pq, loss->to));
	kt_pq_put(r, PQ_LOST_CPU, (int32_t)loss->cpu);
	pq_put_name(r, PQ_LOST_SOURCE, capture_name_of(pq, loss->source));
	if (loss->ring >= 0) /* the registry's ring reports no loss */
		pq_put_name(r, PQ_LOST_RING,
			    capture_name_of(pq, loss->ring == KTAPE_RING_CONTROL ?
							"control" :
							"event"));
	pq_put_name(r, PQ_LOST_CLASS, capture_name_of(pq, loss->class));
	pq_put_name(r, PQ_LOST_REASON, capture_name_of(pq, loss->reason));
	if (loss->reader >= 0)
		kt_pq_put(r, PQ_LOST_READER, loss->reader);
	if (loss->count || loss->more)
		kt_pq_put(r, PQ_LOST_COUNT, (int64_t)loss->count);
	pq_end(pq, PQ_LOST);
}

/**
 * pq_lost() - Put a loss of the trace
 * @pq: the tables
 * @n: the loss
 */
void pq_lost(struct pq *pq, const struct ktape_notice *n)
{
	struct loss loss = {
		.from = n->from,
		.to = kt_max(n->from, n->to),
		.cpu = n->cpu,
		.source = "gap",
		.ring = n->stream ? (int)n->ring : -1,
		.reason = n->packets ? "packets" : NULL,
		.reader = -1,
		.count = n->count,
	};

	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN) {
		loss.source = "overwritten";
		loss.count = n->overwritten;
		loss.more = n->continued;
		put_capture_loss(pq, &loss);
		return;
	}
	pq->ledger->gaps++;
	pq->ledger->lost += n->count;
	pq->ledger->uncounted += !n->count;
	put_capture_loss(pq, &loss);
}

static const char *class_text(unsigned int class)
{
	const struct ktape_class_desc *d = ktape_class_desc(class);

	return d ? d->name : NULL;
}

/* A loss record of the module. */
static void take_loss(struct pq *pq, const struct ktape_event *e)
{
	const uint8_t *p = e->args;
	struct loss loss = {
		.from = kt_get64(p),
		.to = kt_max(kt_get64(p), kt_get64(p + 8)),
		.cpu = e->cpu,
		.source = "loss",
		.ring = (int)(e->dat20 >> 5 & 7),
		.class = class_text(e->dat20 & 31),
		.reader = -1,
		.count = kt_get64(p + 16),
	};

	put_capture_loss(pq, &loss);
}

/* Hits of a probe that did not reach the tracer.  Every CPU has recorded the same. */
static void take_missed(struct pq *pq, const struct ktape_event *e)
{
	static const char *const names[KTAPE_MISSED_REASONS] = {
		"busy",
		"returns",
		"refused",
		"detached",
	};
	const struct ktape_event_desc *d = ktape_event_desc(e->dat20 & 0xff);
	unsigned int reason = e->dat20 >> 8 & 15;
	const uint8_t *p = e->args;
	struct loss loss = {
		.from = kt_get64(p),
		.to = kt_max(kt_get64(p), kt_get64(p + 8)),
		.cpu = e->cpu,
		.source = "missed",
		.ring = -1,
		.class = d ? class_text(d->event_class) : NULL,
		.reader = -1,
		.count = kt_get64(p + 16),
	};
	uint64_t *reported_to;

	if (reason >= KTAPE_MISSED_REASONS)
		return;
	/* Another CPU reported it, or nothing was missed; a detached probe has no count. */
	reported_to = &pq->ledger->missed[e->dat20 & 0xff][reason];
	if (*reported_to >= loss.to ||
	    (!loss.count && reason != KTAPE_MISSED_DETACHED))
		return;
	*reported_to = loss.to;
	loss.reason = names[reason];
	put_capture_loss(pq, &loss);
}

/* A reader that stalled for so many milliseconds, until the session no longer waits for it. */
static void take_evict(struct pq *pq, const struct ktape_event *e)
{
	const uint64_t ticks =
		(uint64_t)ktape_event_arg(e, 2) * (pq->s->info->freq / 1000);
	struct loss loss = {
		.from = e->ts > ticks ? e->ts - ticks : 0,
		.to = e->ts,
		.cpu = e->cpu,
		.source = "evict",
		.ring = -1,
		.reader = ktape_event_arg(e, 0),
	};

	put_capture_loss(pq, &loss);
}

/* ---- the ledger ------------------------------------------------------------------------- */

/* What there was of the ledger of a CPU's first start. */
enum start { NO_START, STARTING, STARTED };

/* Return the counts that a ledger record is about, made if needed; NULL = no memory. */
static struct counts *find_counts(struct pq *pq, const struct ktape_event *e)
{
	struct pq_ledger *l = pq->ledger;
	struct kt_map_entry *k = kt_map_put(&l->keys, e->dat20 & 0xff, e->cpu);
	struct counts *more;

	if (!k)
		return NULL;
	if (k->extra)
		return &l->counts[k->value];
	/* The array doubles whenever its entries are a power of two. */
	more = l->nr & (l->nr - 1) ?
		       l->counts :
		       realloc(l->counts, (l->nr ? l->nr * 2 : 1) * sizeof(*more));
	if (!more)
		return NULL;
	l->counts = more;
	k->value = l->nr++;
	k->extra = true;
	more[k->value] = (struct counts){ 0 };
	return &more[k->value];
}

/*
 * Take the counts of a class from a ledger record.  What counts is the last record minus @first.
 * A trace may begin with the ledger records of the session's start, or later.  The first record of
 * a class is where it begins: a session that was started again has counts then.  A class without
 * events has no record at the start.  So if the trace has a start, a class whose first record comes
 * after it began there with 0.
 */
static void take_capture_ledger(struct pq *pq, const struct ktape_event *e)
{
	struct counts *c = find_counts(pq, e);
	struct kt_map_entry *start =
		kt_map_put(&pq->ledger->keys, KEY_START, e->cpu);
	bool starts = (e->dat20 >> 8 & 7) == MOMENT_START;

	if (!c || !start) {
		pq->s->error = -ENOMEM;
		return;
	}
	if (e->blob_size < COUNTS * 8)
		return;
	if (starts && start->extra == NO_START) {
		start->value = e->ts;
		start->extra = STARTING;
	}
	for (unsigned int i = 0; i < COUNTS; i++)
		c->last[i] = kt_get64((const uint8_t *)e->blob + i * 8);
	c->ts = e->ts;
	if (!c->seen &&
	    (start->extra == STARTED || (start->extra == STARTING && !starts))) {
		c->ts_first = start->value;
	} else if (!c->seen) {
		memcpy(c->first, c->last, sizeof(c->first));
		c->ts_first = e->ts;
	}
	c->seen = true;
	/* The last record of a ledger is that of class control in the control ring. */
	if (starts &&
	    (e->dat20 & 0xff) == (KTAPE_CLASS_CONTROL | KTAPE_RING_CONTROL << 5))
		start->extra = STARTED;
}

static void put_capture_ledger(struct pq *pq)
{
	const struct pq_ledger *l = pq->ledger;

	for (uint32_t cpu = 0; cpu < pq->nr_cpus; cpu++) {
		for (uint32_t key = 0; key < 256; key++) {
			const struct kt_map_entry *k =
				kt_map_find(&l->keys, key, cpu);
			const struct counts *c = k ? &l->counts[k->value] : NULL;

			/* The first two count no losses. */
			for (unsigned int i = 2; c && i < COUNTS; i++) {
				struct loss loss = {
					.from = c->ts_first,
					.to = c->ts,
					.cpu = cpu,
					.source = "ledger",
					.ring = (int)(key >> 5),
					.class = class_text(key & 31),
					.reason = reasons[i],
					.reader = -1,
					.count = c->last[i] - c->first[i],
				};

				if (loss.count)
					put_capture_loss(pq, &loss);
			}
		}
	}
}

/* ---- the trace ------------------------------------------------------------------------- */

/* Note whether a filter is in force: its phase is "on", and it has entries. */
static void take_capture_filter(struct pq *pq, const struct ktape_event *e)
{
	const uint64_t bit = 1ULL << (e->dat20 & 31);

	if (e->dat20 >> 5 & 1 && ktape_event_arg(e, 1))
		pq->ledger->filters |= bit;
	else
		pq->ledger->filters &= ~bit;
}

/*
 * If the profile enables further events, a slice that began before may have ended without an
 * event, as in a loss.  From an empty profile on, nothing is known about the CPU.
 */
static void take_capture_profile(struct pq *pq, struct pq_cpu *c,
				 const struct ktape_event *e)
{
	uint64_t mask[KTAPE_MASK_WORDS], more = 0, any = 0;

	if (e->blob_size < sizeof(mask))
		return;
	memcpy(mask, e->blob, sizeof(mask));
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++) {
		more |= mask[i] & ~c->mask[i];
		any |= mask[i];
	}
	if (c->profiled && more)
		pq->lost_to = kt_max(pq->lost_to, e->ts);
	c->profiled = true;
	memcpy(c->mask, mask, sizeof(mask));
	if (any) {
		memcpy(pq->ledger->mask, mask, sizeof(mask));
		pq->ledger->profiled = true;
	}
	c->off = !any;
	if (!c->off)
		return;
	c->depth = 0;
	pq_cut(pq, c, e->cpu, e->ts);
}

/**
 * pq_take_control() - Take a control record, and count any event
 * @pq: the tables
 * @c: its CPU
 * @l: the event
 */
void pq_take_control(struct pq *pq, struct pq_cpu *c, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;

	pq->ledger->stored++;
	/* Control records have the lowest opcodes; only that of MISSED is a high one. */
	if ((e->opcode > KTAPE_EV_FREEZE && e->opcode != KTAPE_EV_MISSED) ||
	    !kt_event_fits(e))
		return;
	switch (e->opcode) {
	case KTAPE_EV_CLOCK_SYNC:
		take_capture_sync(pq, e);
		break;
	case KTAPE_EV_PROFILE:
		take_capture_profile(pq, c, e);
		break;
	case KTAPE_EV_LEDGER:
		take_capture_ledger(pq, e);
		break;
	case KTAPE_EV_LOSS:
		take_loss(pq, e);
		break;
	case KTAPE_EV_MISSED:
		take_missed(pq, e);
		break;
	case KTAPE_EV_FILTER:
		take_capture_filter(pq, e);
		break;
	case KTAPE_EV_EVICT:
		take_evict(pq, e);
		break;
	default:
		break;
	}
}

static void add_capture_word(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? "," : "", word);
}

/* List the classes that the profile has an event of. */
static void list_classes(const struct pq_ledger *l, char *list, size_t size)
{
	uint64_t classes = 0;

	for (unsigned int op = 0; op < KTAPE_OPCODES; op++) {
		const struct ktape_event_desc *d = ktape_event_desc(op);

		if (d && kt_mask_has(l->mask, op))
			classes |= 1ULL << d->event_class;
	}
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		if (classes >> i & 1)
			add_capture_word(list, size, class_text(i));
	}
}

static void list_filters(const struct pq_ledger *l, char *list, size_t size)
{
	for (unsigned int i = 0; i < 32; i++) {
		const char *name = ktape_value_name(KTAPE_TYPE_FILTER, i);

		if (l->filters >> i & 1 && name)
			add_capture_word(list, size, name);
	}
}

/* Find a text in the trace's metadata, for what struct ktape_info lacks.  @key: up to its quote. */
static int64_t find_capture_env(struct pq *pq, const char *key)
{
	const char *at = pq->s->metadata, *end = at + pq->s->metadata_len;
	const char *quote;

	while (at && (at = memmem(at, (size_t)(end - at), key, strlen(key)))) {
		at += strlen(key);
		quote = memchr(at, '"', (size_t)(end - at));
		if (quote)
			return pq_name(pq, at, (size_t)(quote - at));
	}
	return PQ_NONE;
}

/* Put the counts of the whole trace; those of the ledger are null without any ledger record. */
static void put_counts(struct pq *pq, struct kt_pq_rows *r)
{
	const struct pq_ledger *l = pq->ledger;
	uint64_t emitted = 0, filtered = 0;

	for (size_t i = 0; i < l->nr; i++) {
		emitted += l->counts[i].last[0] - l->counts[i].first[0];
		filtered += l->counts[i].last[1] - l->counts[i].first[1];
	}
	if (l->nr) {
		kt_pq_put(r, PQ_CAPTURE_EMITTED, (int64_t)emitted);
		kt_pq_put(r, PQ_CAPTURE_FILTERED, (int64_t)filtered);
	}
	kt_pq_put(r, PQ_CAPTURE_STORED, (int64_t)l->stored);
	kt_pq_put(r, PQ_CAPTURE_LOST, (int64_t)l->lost);
	kt_pq_put(r, PQ_CAPTURE_GAPS, (int64_t)l->gaps);
	kt_pq_put(r, PQ_CAPTURE_UNCOUNTED, (int64_t)l->uncounted);
	if (l->synced)
		kt_pq_put(r, PQ_CAPTURE_CLOCK_STABLE, !l->unstable);
}

static void put_capture_row(struct pq *pq)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_CAPTURE, pq->begin);
	const struct ktape_info *info = pq->s->info;
	char text[512] = "";

	for (unsigned int i = 0; i < sizeof(info->uuid); i++)
		snprintf(text + i * 2, 3, "%02x", info->uuid[i]);
	pq_put_name(r, PQ_CAPTURE_CAPTURE_ID, capture_name_of(pq, text));
	pq_put_name(r, PQ_CAPTURE_BOOT_ID, find_capture_env(pq, "boot_id = \""));
	pq_put_name(r, PQ_CAPTURE_HOST, capture_name_of(pq, info->hostname));
	pq_put_name(r, PQ_CAPTURE_KERNEL, capture_name_of(pq, info->release));
	kt_pq_put(r, PQ_CAPTURE_TS_END, pq_time(pq, pq->last));
	if (pq->ledger->profiled) {
		*text = '\0';
		list_classes(pq->ledger, text, sizeof(text));
		pq_put_name(r, PQ_CAPTURE_PROFILE, capture_name_of(pq, text));
		*text = '\0';
		list_filters(pq->ledger, text, sizeof(text));
		pq_put_name(r, PQ_CAPTURE_FILTERS, capture_name_of(pq, text));
	}
	put_counts(pq, r);
	/* A trace of another format has no metadata. */
	kt_pq_put(r, PQ_CAPTURE_CONVERTED, info->converted || !pq->s->metadata);
	pq_put_name(r, PQ_CAPTURE_VERSION, capture_name_of(pq, KTAPE_VERSION));
	pq_end(pq, PQ_CAPTURE);
}

static void put_capture_system(struct pq *pq)
{
	struct kt_pq_rows *r = &pq->rows[PQ_SYSINFO]; /* no pq_begin(): it has no times */
	const struct ktape_info *info = pq->s->info;
	int32_t cpus = 0;

	for (uint32_t i = 0; i < pq->nr_cpus; i++)
		cpus += pq->cpus[i] && pq->cpus[i]->seen;
	pq_put_name(r, PQ_SYSINFO_HOST, capture_name_of(pq, info->hostname));
	pq_put_name(r, PQ_SYSINFO_SYSTEM, capture_name_of(pq, "Linux"));
	pq_put_name(r, PQ_SYSINFO_RELEASE, capture_name_of(pq, info->release));
	pq_put_name(r, PQ_SYSINFO_MACHINE, capture_name_of(pq, info->machine));
	pq_put_name(r, PQ_SYSINFO_CLOCK, capture_name_of(pq, info->clock));
	kt_pq_put(r, PQ_SYSINFO_FREQUENCY, (int64_t)info->freq);
	kt_pq_put(r, PQ_SYSINFO_CPUS, cpus);
	pq_end(pq, PQ_SYSINFO);
}

/**
 * pq_put_capture() - Put the tables of the trace after the last event
 * @pq: the tables
 *
 * Return: 0 or negative errno.
 */
int pq_put_capture(struct pq *pq)
{
	put_head_clocks(pq);
	put_capture_ledger(pq);
	put_capture_system(pq);
	put_capture_row(pq);
	return pq->s->error;
}

/**
 * pq_capture_free() - Free the counts
 * @pq: the tables
 */
void pq_capture_free(struct pq *pq)
{
	if (!pq->ledger)
		return;
	free(pq->ledger->counts);
	kt_map_free(&pq->ledger->keys);
	free(pq->ledger);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Series of values, by kind and key, and the map of open intervals. */
#include "stats/linux.h"

#define MILLION	 1000000U
#define NR_KINDS ((size_t)KTAPE_SERIES_KINDS)

static const struct {
	const char *name;
	const char *unit;
	uint8_t type; /* field type of the key, which gives its name */
} kinds[KTAPE_SERIES_KINDS] = {
	[KTAPE_SERIES_RUN_QUEUE] = { "run_queue", "ns", KTAPE_TYPE_U32 },
	[KTAPE_SERIES_WAKEUP] = { "wakeup", "ns", KTAPE_TYPE_U32 },
	[KTAPE_SERIES_IRQ] = { "irq", "ns", KTAPE_TYPE_IRQ },
	[KTAPE_SERIES_IPI] = { "ipi", "ns", KTAPE_TYPE_IPI },
	[KTAPE_SERIES_TICK] = { "tick", "ns", KTAPE_TYPE_U32 },
	[KTAPE_SERIES_SOFTIRQ] = { "softirq", "ns", KTAPE_TYPE_SOFTIRQ },
	[KTAPE_SERIES_SOFTIRQ_WAIT] = { "softirq_wait", "ns", KTAPE_TYPE_SOFTIRQ },
	[KTAPE_SERIES_SYSCALL] = { "syscall", "ns", KTAPE_TYPE_SYSCALL },
	[KTAPE_SERIES_WORK] = { "work", "ns", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_WORK_WAIT] = { "work_wait", "ns", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_TIMER] = { "timer", "ns", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_TIMER_LATE] = { "timer_late", "jiffies", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_HRTIMER] = { "hrtimer", "ns", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_HRTIMER_LATE] = { "hrtimer_late", "ns", KTAPE_TYPE_FUNC },
	[KTAPE_SERIES_BLOCK] = { "block", "ns", KTAPE_TYPE_DEV },
	[KTAPE_SERIES_BLOCK_WAIT] = { "block_wait", "ns", KTAPE_TYPE_DEV },
};

const char *ktape_series_name(unsigned int kind)
{
	return kind < KTAPE_SERIES_KINDS ? kinds[kind].name : NULL;
}

/* Set the name of a series' key, as it was at the time of @e. */
static void set_series_name(const struct ktape_linux *l, struct ktape_series *s,
			    const struct ktape_event *e)
{
	struct ktape_event of = *e;
	const struct kt_line line = kt_line_of(l->info, l->registry, &of, false);
	uint64_t value = s->kind == KTAPE_SERIES_SYSCALL ? s->key & 0xffff : s->key;
	unsigned int type = kinds[s->kind].type;
	const char *fixed = ktape_value_name(type, value);
	struct kt_name name;

	/* The table of a system call is in dat20 of an event. */
	if (s->kind == KTAPE_SERIES_SYSCALL)
		of.dat20 = (uint32_t)s->key;
	name = kt_name_of(&line, type, value);
	if (name.text)
		snprintf(s->name, sizeof(s->name), "%.*s", (int)name.len, name.text);
	else if (fixed)
		snprintf(s->name, sizeof(s->name), "%s", fixed);
	else if (type == KTAPE_TYPE_DEV)
		snprintf(s->name, sizeof(s->name), "%llu:%llu",
			 (unsigned long long)value >> 20,
			 (unsigned long long)value & 0xfffff);
	else if (type == KTAPE_TYPE_FUNC)
		snprintf(s->name, sizeof(s->name), "0x%llx",
			 (unsigned long long)value);
	else
		snprintf(s->name, sizeof(s->name), "%llu",
			 (unsigned long long)value);
}

static struct kt_sl_series *add_series(struct ktape_linux *l, unsigned int kind,
				       uint64_t key)
{
	struct kt_sl_series **list, *s = calloc(1, sizeof(*s));

	list = s ? kt_sl_more(l->list, l->nr_series, sizeof(*list)) : NULL;
	if (!list) {
		free(s);
		return NULL;
	}
	s->result.kind = kind;
	s->result.key = key;
	s->result.unit = kinds[kind].unit;
	l->list = list;
	list[l->nr_series++] = s;
	return s;
}

/**
 * kt_sl_begin() - Create one series for each kind, which has the values of all keys
 * @l: the statistics
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_begin(struct ktape_linux *l)
{
	for (unsigned int i = 0; i < KTAPE_SERIES_KINDS; i++) {
		struct kt_sl_series *s = add_series(l, i, KTAPE_SERIES_ALL);

		if (!s)
			return -ENOMEM;
		snprintf(s->result.name, sizeof(s->result.name), "%s",
			 kinds[i].name);
	}
	return 0;
}

/**
 * kt_sl_series() - Return a series, made if needed
 * @l: the statistics
 * @kind: enum ktape_series_kind
 * @key: number within the kind, or KTAPE_SERIES_ALL
 * @e: event whose time and CPU are used to look up the name
 *
 * Return: the series; if there are too many, which is counted as left out, the series of the
 * whole kind; NULL if there is no memory.
 */
struct kt_sl_series *kt_sl_series(struct ktape_linux *l, unsigned int kind,
				  uint64_t key, const struct ktape_event *e)
{
	struct kt_map_entry *entry;
	struct kt_sl_series *s;

	if (key == KTAPE_SERIES_ALL)
		return l->list[kind];
	if (l->series.nr == KT_SL_SERIES && !kt_map_find(&l->series, kind, key)) {
		l->left[KT_SL_LEFT_SERIES]++;
		return l->list[kind];
	}
	entry = kt_map_put(&l->series, kind, key);
	if (!entry)
		return NULL;
	/* 0: the entry is new, because the first series are those of whole kinds. */
	if (entry->value)
		return l->list[entry->value];
	s = add_series(l, kind, key);
	if (!s) {
		kt_map_remove(&l->series, entry);
		return NULL;
	}
	entry->value = l->nr_series - 1;
	set_series_name(l, &s->result, e);
	return s;
}

/**
 * kt_sl_open() - Open an interval, or return an open one
 * @l: the statistics
 * @what: enum kt_sl_open
 * @key: key of the interval
 * @err: set to 0 or -ENOMEM
 *
 * Return: the interval, or NULL; NULL with @err 0 means that there are too many, which is counted
 * as left out.
 */
struct kt_map_entry *kt_sl_open(struct ktape_linux *l, unsigned int what,
				uint64_t key, int *err)
{
	struct kt_map_entry *e;

	*err = 0;
	if (l->open.nr == KT_SL_OPEN && !kt_map_find(&l->open, what, key)) {
		l->left[KT_SL_LEFT_OPEN]++;
		return NULL;
	}
	e = kt_map_put(&l->open, what, key);
	*err = e ? 0 : -ENOMEM;
	return e;
}

uint64_t ktape_linux_left_out(const struct ktape_linux *l, unsigned int i,
			      const char **what)
{
	static const char *const whats[KT_SL_LEFT] = {
		[KT_SL_LEFT_SERIES] =
			"values of series beyond the first 8192, which count only for their whole kind,",
		[KT_SL_LEFT_THREADS] = "times of a thread beyond the first 1048576",
		[KT_SL_LEFT_PAIRS] =
			"times of pairs of threads beyond the first 524288",
		[KT_SL_LEFT_OPEN] =
			"intervals that began while 1048576 others were open",
		[KT_SL_LEFT_CHECKS] =
			"beginnings of long waits for a CPU (which threads ran)",
	};

	for (unsigned int kind = 0; kind < KT_SL_LEFT; kind++) {
		if (!l->left[kind] || i--)
			continue;
		*what = whats[kind];
		return l->left[kind];
	}
	return 0;
}

/* Add a value, and remember where the largest one was. */
static void add_value(const struct ktape_linux *l, struct kt_sl_series *s,
		      uint64_t value)
{
	const struct ktape_event *e = l->now;
	bool waits = s->result.kind == KTAPE_SERIES_RUN_QUEUE ||
		     s->result.kind == KTAPE_SERIES_WAKEUP;

	if (!s->hist.count || value > s->hist.max) {
		s->result.max_ts = e->ts;
		s->result.max_cpu = e->cpu;
		/* The thread that waited is the one that the switch goes to. */
		s->result.max_tid = waits ? (int32_t)ktape_event_arg(e, 1) : e->tid;
	}
	kt_hist_add(&s->hist, value);
}

/**
 * kt_sl_add() - Add a value to a series and to that of its whole kind
 * @l: the statistics
 * @s: the series, or NULL
 * @value: the value
 *
 * Return: 0, or -ENOMEM if @s is NULL.
 */
int kt_sl_add(struct ktape_linux *l, struct kt_sl_series *s, uint64_t value)
{
	if (!s)
		return -ENOMEM;
	add_value(l, s, value);
	if (s->result.key != KTAPE_SERIES_ALL)
		add_value(l, l->list[s->result.kind], value);
	return 0;
}

/*
 * Check whether an interval of this kind begins and ends on one CPU.  Then a ring that has
 * both of its events has all events in between, however late other rings begin.
 */
static bool is_local(unsigned int kind)
{
	static const bool local[KTAPE_SERIES_KINDS] = {
		[KTAPE_SERIES_IRQ] = true,
		[KTAPE_SERIES_SOFTIRQ] = true,
		[KTAPE_SERIES_SOFTIRQ_WAIT] = true,
		[KTAPE_SERIES_IPI] = true,
		[KTAPE_SERIES_TICK] = true,
		[KTAPE_SERIES_TIMER] = true,
		[KTAPE_SERIES_HRTIMER] = true,
	};

	return local[kind];
}

/**
 * kt_sl_is_sure() - Check that no event was missing since the start of an interval
 * @l: the statistics
 * @kind: enum ktape_series_kind
 * @from: start of the interval, in ticks
 *
 * Return: true if none was, so that the interval cannot have ended in between.
 */
bool kt_sl_is_sure(const struct ktape_linux *l, unsigned int kind, uint64_t from)
{
	return from >= l->lost_to && (from >= l->late_to || is_local(kind));
}

/**
 * kt_sl_interval() - Add an interval; if events were lost inside it, count it as uncertain instead
 * @l: the statistics
 * @s: the series, or NULL
 * @from: start of the interval, in ticks
 * @to: end of the interval, in ticks
 *
 * Return: as kt_sl_add().
 */
int kt_sl_interval(struct ktape_linux *l, struct kt_sl_series *s, uint64_t from,
		   uint64_t to)
{
	if (s && !kt_sl_is_sure(l, s->result.kind, from)) {
		s->result.uncertain++;
		if (s->result.key != KTAPE_SERIES_ALL)
			l->list[s->result.kind]->result.uncertain++;
		return 0;
	}
	return kt_sl_add(l, s, kt_sl_ns(l, from, to));
}

static int by_sum(const void *a, const void *b)
{
	const struct kt_sl_series *x = *(struct kt_sl_series *const *)a;
	const struct kt_sl_series *y = *(struct kt_sl_series *const *)b;

	if (x->result.kind != y->result.kind)
		return x->result.kind < y->result.kind ? -1 : 1;
	if (x->hist.sum != y->hist.sum)
		return x->hist.sum > y->hist.sum ? -1 : 1;
	return x->result.key < y->result.key ? -1 : x->result.key > y->result.key;
}

/**
 * kt_sl_sort() - Copy the results from the histograms, and sort the series
 * @l: the statistics
 *
 * Then no value can be added until kt_sl_restart(): the map of series has the old places.
 */
void kt_sl_sort(struct ktape_linux *l)
{
	for (size_t i = 0; i < l->nr_series; i++) {
		struct kt_sl_series *s = l->list[i];

		s->result.count = s->hist.count;
		s->result.sum = s->hist.sum;
		s->result.min = s->hist.min;
		s->result.max = s->hist.max;
	}
	qsort(l->list + NR_KINDS, l->nr_series - NR_KINDS, sizeof(*l->list), by_sum);
}

/**
 * kt_sl_restart() - Remove all values, and all series but those of whole kinds
 * @l: the statistics
 */
void kt_sl_restart(struct ktape_linux *l)
{
	for (size_t i = NR_KINDS; i < l->nr_series; i++)
		free(l->list[i]);
	l->nr_series = NR_KINDS;
	kt_map_free(&l->series);
	memset(&l->series, 0, sizeof(l->series));
	for (size_t i = 0; i < NR_KINDS; i++) {
		struct ktape_series *r = &l->list[i]->result;

		memset(&l->list[i]->hist, 0, sizeof(l->list[i]->hist));
		r->count = r->sum = r->min = r->max = 0;
		r->uncertain = r->errors = 0;
		r->error = 0;
		r->max_ts = 0;
		r->max_cpu = 0;
		r->max_tid = 0;
	}
}

const struct ktape_series *ktape_linux_series(const struct ktape_linux *l, size_t i)
{
	return i < l->nr_series ? &l->list[i]->result : NULL;
}

/* Return the rank (from 1) of a quantile among @n values: @n * @millionth / MILLION, rounded up. */
static uint64_t rank_of(uint64_t n, uint32_t millionth)
{
	/* In two parts, because @n * @millionth may not fit 64 bits. */
	const uint64_t rest = n % MILLION * millionth + MILLION - 1;

	return kt_max(n / MILLION * millionth + rest / MILLION, 1);
}

void ktape_linux_quantile(const struct ktape_linux *l, size_t i,
			  uint32_t millionth, struct ktape_quantile *quantile)
{
	const struct kt_sl_series *s = l->list[i];
	uint64_t missing = l->lost + s->result.uncertain;
	uint64_t n = s->hist.count, all = n + missing;
	uint64_t rank = rank_of(all, millionth);

	quantile->value = kt_hist_rank(&s->hist, rank_of(n, millionth));
	quantile->low = quantile->high = quantile->value;
	if (!missing && !l->uncounted)
		return;
	/* Bounds: all missing values are smaller, or all are larger. */
	quantile->low = l->uncounted || rank <= missing ?
				0 :
				kt_hist_rank(&s->hist, rank - missing);
	quantile->high = l->uncounted || rank > n ? UINT64_MAX :
						    kt_hist_rank(&s->hist, rank);
}

uint64_t ktape_linux_bucket(const struct ktape_linux *l, size_t i, unsigned int power)
{
	const struct kt_hist *h = &l->list[i]->hist;
	uint64_t n = 0;

	for (unsigned int b = 0; b < KT_HIST_BUCKETS; b++) {
		uint64_t v = kt_hist_upper(b);
		unsigned int bits = v ? 64 - (unsigned int)__builtin_clzll(v) : 0;

		n += bits == power ? h->buckets[b] : 0;
	}
	return n;
}

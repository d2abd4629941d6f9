/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Set filters of a session; count the records of a stopped session by opcode
 * and compare them with the counts of each class (STATS).
 */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include <ktape/filter.h>

#include "kt_load.h"
#include "kt_stream.h"

/* ---- the ioctl ----------------------------------------------------------- */

static inline int kt_filter(int fd, struct ktape_filter *f)
{
	f->size = sizeof(*f);
	return kt_ioctl(fd, KTAPE_IOC_FILTER, f);
}

static inline int kt_filter_set(int fd, uint32_t kind, const void *entries,
				uint32_t nr)
{
	struct ktape_filter f = { .op = KTAPE_FILTER_SET,
				  .kind = kind,
				  .nr = nr,
				  .entries = (uintptr_t)entries };

	return kt_filter(fd, &f);
}

static inline int kt_filter_off(int fd, uint32_t kind)
{
	struct ktape_filter f = { .op = KTAPE_FILTER_OFF, .kind = kind };

	return kt_filter(fd, &f);
}

/* Read what is said of a filter, without its entries; member active is ~0: failed. */
static inline struct ktape_filter kt_filter_get(int fd, uint32_t kind)
{
	struct ktape_filter f = { .op = KTAPE_FILTER_GET, .kind = kind };

	if (kt_filter(fd, &f))
		f.active = ~0U;
	return f;
}

static inline int kt_filter_pid(int fd, pid_t pid, uint32_t flags)
{
	const struct ktape_filter_pid p = { pid, flags };

	return kt_filter_set(fd, KTAPE_FILTER_PID, &p, 1);
}

/* Return the tid of the filter's only thread as this namespace sees it; -1: failed. */
static inline pid_t kt_filter_tid(int fd)
{
	struct ktape_filter_pid entry = { .pid = -1 };
	struct ktape_filter f = { .op = KTAPE_FILTER_GET,
				  .kind = KTAPE_FILTER_PID,
				  .nr = 1,
				  .entries = (uintptr_t)&entry };

	return kt_filter(fd, &f) || f.nr != 1 ? -1 : entry.pid;
}

static inline int kt_filter_gate(int fd, uint32_t gate, uint64_t ns)
{
	const struct ktape_filter_gate g = { gate, 0, ns };

	return kt_filter_set(fd, KTAPE_FILTER_GATE, &g, 1);
}

/*
 * Set a filter to a bitmap of @words words (at most KTAPE_FILTER_IRQ_WORDS): only bit @n is set,
 * or only bit @n is clear. Return: 0 or a negative errno.
 */
static inline int kt_filter_bit(int fd, uint32_t kind, uint32_t words,
				unsigned int n, bool set)
{
	uint64_t map[KTAPE_FILTER_IRQ_WORDS];

	memset(map, set ? 0 : 0xff, sizeof(map));
	map[n / 64] ^= 1ULL << n % 64;
	return kt_filter_set(fd, kind, map, words);
}

/*
 * Create a session for many threads. The control ring is large because each
 * thread writes a name to it. Return: its descriptor or a negative errno.
 */
static inline int kt_session_for_threads(uint64_t ring, uint64_t control,
					 const unsigned char *ops)
{
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = ring,
				  .control_size = control };
	int dev = kt_open(O_RDWR), fd;

	fd = kt_ioctl(dev, KTAPE_IOC_CREATE, &c);
	close(dev);
	if (fd >= 0 && kt_profile_only(fd, ops)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* ---- what a stopped session holds ------------------------------------------ */

/**
 * struct kt_tally - counts of all records of a session
 * @op: number of records of each opcode
 * @emitted: emitted events per class, all rings
 * @filtered: filtered events per class, all rings
 * @lost: lost events per class, for any reason
 * @rate: lost events per class because of rate limits, part of @lost
 * @wrong: number of errors: STOP failed, a ring cannot be read, is malformed or was overwritten,
 *	the counts of a class in a ring do not add up; @fn may add its own
 * @cpu: CPU of the record that is passed to @fn
 * @fn: called with each record, or NULL
 * @arg: for @fn
 * @class: records of the ring that is counted at present, by class
 */
struct kt_tally {
	uint64_t op[KTAPE_OPCODES];
	uint64_t emitted[KTAPE_CLASSES];
	uint64_t filtered[KTAPE_CLASSES];
	uint64_t lost[KTAPE_CLASSES];
	uint64_t rate[KTAPE_CLASSES];
	uint64_t wrong;
	int cpu;
	void (*fn)(const struct kt_rec *r, struct kt_tally *t);
	void *arg;
	uint64_t class[KTAPE_CLASSES];
};

static inline void kt_tally_record(const struct kt_rec *r, void *arg)
{
	struct kt_tally *t = arg;

	if (r->op == KTAPE_TIME_EXTEND)
		return;
	t->op[r->op]++;
	t->class[kts_shapes[r->op].class]++;
	if (t->fn)
		t->fn(r, t);
}

static inline void kt_tally_ring(struct kt_tally *t, int fd, int cpu, uint32_t kind)
{
	struct ktape_stats st;
	struct kt_map m;

	if (kt_map_ring(fd, cpu, kind, &m) || kt_stats(fd, cpu, kind, &st)) {
		t->wrong++;
		return;
	}
	t->cpu = cpu;
	memset(t->class, 0, sizeof(t->class));
	/* The counts add up only if nothing was overwritten. */
	t->wrong += st.tail || kt_walk(&m, kt_tally_record, t) < 0;
	kt_unmap_ring(&m);
	for (int c = 0; c < KTAPE_CLASSES; c++) {
		uint64_t lost = 0;

		for (int i = 0; i < KTAPE_LOST_REASONS; i++)
			lost += st.lost[i][c];
		t->emitted[c] += st.emitted[c];
		t->filtered[c] += st.filtered[c];
		t->lost[c] += lost;
		t->rate[c] += st.lost[KTAPE_LOST_RATE][c];
		if (st.emitted[c] == t->class[c] + st.filtered[c] + lost)
			continue;
		t->wrong++;
		printf("# cpu %d kind %u class %d: %llu emitted, %llu records, %llu filtered, %llu lost\n",
		       cpu, kind, c, st.emitted[c], (unsigned long long)t->class[c],
		       st.filtered[c], (unsigned long long)lost);
	}
}

/* Stop the session and count all its records. */
static inline void kt_stop_and_tally(struct kt_tally *t, int fd,
				     void (*fn)(const struct kt_rec *r,
						struct kt_tally *t),
				     void *arg)
{
	memset(t, 0, sizeof(*t));
	t->fn = fn;
	t->arg = arg;
	t->wrong = kt_control(fd, KTAPE_IOC_STOP) != 0;
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++)
		for (uint32_t kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			kt_tally_ring(t, fd, cpu, kind);
}

#endif /* _KT_FILTER_H */

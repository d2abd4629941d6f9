/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare a recording with the kernel's own counters in /proc. The counters are
 * read before and after START and before and after STOP; the number of records
 * must lie between the differences.
 */
#ifndef _KT_BRACKET_H
#define _KT_BRACKET_H

#include "kt_events.h"

#define CPUS 16

struct counts {
	uint64_t nr[CPUS];
};

/**
 * struct bracket - a counter of the kernel, read around START and STOP
 * @path: file in /proc
 * @name: the text before the colon; or, if it contains a space, the end of the line,
 *	which for interrupts is the same on all architectures
 * @at: before START, after it, before STOP, after it
 */
struct bracket {
	const char *path, *name;
	struct counts at[4];
};

/*
 * Take the numbers of a line "BEGIN: n n n ... LAST WORDS", one per CPU, if the bracket's
 * name is its BEGIN or its LAST WORDS.
 */
static inline void bracket_read_line(struct bracket *b, char *line, int at)
{
	char *p = line + strspn(line, " "), *colon = strchr(p, ':');
	size_t length = strlen(b->name), whole;

	if (!colon)
		return;
	whole = strcspn(colon, "\n");
	if (strchr(b->name, ' ')) {
		if (whole <= length ||
		    strncmp(colon + whole - length, b->name, length))
			return;
	} else if ((size_t)(colon - p) != length || strncmp(p, b->name, length)) {
		return;
	}
	p = colon + 1;
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++)
		b->at[at].nr[cpu] = strtoull(p, &p, 10);
}

/*
 * Read the counters of @nr brackets for moment @at, an index of struct bracket's at. All
 * brackets of a test use one file, which is read once.
 */
static inline void bracket_read(struct bracket *b, int nr, int at)
{
	FILE *f = nr ? fopen(b->path, "r") : NULL;
	char line[1024];

	for (int i = 0; i < nr; i++)
		memset(&b[i].at[at], 0, sizeof(b[i].at[at]));
	while (f && fgets(line, sizeof(line), f))
		for (int i = 0; i < nr; i++)
			bracket_read_line(&b[i], line, at);
	if (f)
		fclose(f);
}

/*
 * Record @ops while @cause runs, and read the counters around both ends.
 * @prepare may configure the session before START. Return: "", or what failed.
 */
static inline const char *record_prepared(struct kt_events *e,
					  const unsigned char *ops,
					  int (*prepare)(int fd), struct bracket *b,
					  int nr, int (*cause)(void))
{
	int ret;

	if (kt_events_open(e, ops) || (prepare && prepare(e->fd)))
		return "no session";
	bracket_read(b, nr, 0);
	if (kt_control(e->fd, KTAPE_IOC_START))
		return "START failed";
	bracket_read(b, nr, 1);
	ret = cause();
	bracket_read(b, nr, 2);
	if (ret || kt_control(e->fd, KTAPE_IOC_STOP))
		return "cause or STOP failed";
	bracket_read(b, nr, 3);
	return kt_events_stop(e);
}

static inline const char *record_bracketed(struct kt_events *e,
					   const unsigned char *ops,
					   struct bracket *b, int nr,
					   int (*cause)(void))
{
	return record_prepared(e, ops, NULL, b, nr, cause);
}

/* Count the records of @op with @dat20 on @cpu. */
static inline uint64_t count_op_records(const struct kt_events *e, uint32_t op,
					uint32_t dat20, uint32_t cpu)
{
	uint64_t n = 0;

	for (size_t i = 0; i < e->nr; i++)
		n += e->v[i].op == op && e->v[i].dat20 == dat20 &&
		     e->v[i].cpu == cpu;
	return n;
}

/* Return true if @n is possible by the kernel's counters. */
static inline bool is_between(const struct bracket *b, int cpu, uint64_t n)
{
	return b->at[2].nr[cpu] - b->at[1].nr[cpu] <= n &&
	       n <= b->at[3].nr[cpu] - b->at[0].nr[cpu];
}

/*
 * Return true if begins and ends alternate on @cpu. START and STOP take effect for one
 * opcode after the other, so begins may repeat before the first end, and ends after the
 * last begin.
 */
static inline bool in_turn(const struct kt_events *e, uint32_t in, uint32_t out,
			   uint32_t dat20, uint32_t cpu)
{
	bool ended = false, odd = false;
	uint32_t last = 0;

	for (size_t i = 0; i < e->nr; i++) {
		const struct kt_ev *v = &e->v[i];

		if (v->cpu != cpu || v->dat20 != dat20 ||
		    (v->op != in && v->op != out))
			continue;
		/* Two ends in a row (odd) are an error only if a begin follows. */
		if (v->op == in && (odd || (ended && last == in)))
			return false;
		odd |= v->op == out && last == out;
		ended |= v->op == out;
		last = v->op;
	}
	return true;
}

#endif /* _KT_BRACKET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel itself counts in /proc, around both ends of a recording: the
 * records lie between.
 */
#ifndef _KT_BRACKET_H
#define _KT_BRACKET_H

#include "kt_events.h"

#define CPUS		16

struct counts {
	uint64_t nr[CPUS];
};

/**
 * struct bracket - a count before and after start and stop
 * @path: where it is
 * @name: its line
 * @at: before START, after it, before STOP, after it
 */
struct bracket {
	const char *path, *name;
	struct counts at[4];
};

/* The line "NAME: n n n ..." of a file, a number for each CPU. */
static inline void take_line(struct bracket *b, char *line, int at)
{
	char *p = line + strspn(line, " ");

	if (strncmp(p, b->name, strlen(b->name)) || p[strlen(b->name)] != ':')
		return;
	p += strlen(b->name) + 1;
	for (int cpu = 0; cpu < kt_cpus(); cpu++)
		b->at[at].nr[cpu] = strtoull(p, &p, 10);
}

/* All of them are in one file, which is read once. */
static inline void take(struct bracket *b, int nr, int at)
{
	FILE *f = nr ? fopen(b->path, "r") : NULL;
	char line[1024];

	for (int i = 0; i < nr; i++)
		memset(&b[i].at[at], 0, sizeof(b[i].at[at]));
	while (f && fgets(line, sizeof(line), f))
		for (int i = 0; i < nr; i++)
			take_line(&b[i], line, at);
	if (f)
		fclose(f);
}

/*
 * Record @ops while @cause happens, with counts around both ends; @prepare may
 * change the session before.
 */
static inline const char *record_prepared(struct kt_events *e,
					  const unsigned char *ops,
					  int (*prepare)(int fd),
					  struct bracket *b, int nr,
					  int (*cause)(void))
{
	int ret;

	if (kt_events_open(e, ops) || (prepare && prepare(e->fd)))
		return "no session";
	take(b, nr, 0);
	if (kt_command(e->fd, KTAPE_IOC_START))
		return "START failed";
	take(b, nr, 1);
	ret = cause();
	take(b, nr, 2);
	if (ret || kt_command(e->fd, KTAPE_IOC_STOP))
		return "cause or STOP failed";
	take(b, nr, 3);
	return kt_events_stop(e);
}

static inline const char *record(struct kt_events *e, const unsigned char *ops,
				 struct bracket *b, int nr, int (*cause)(void))
{
	return record_prepared(e, ops, NULL, b, nr, cause);
}

/* Records of @op with @dat20 on @cpu. */
static inline uint64_t records(const struct kt_events *e, uint32_t op, uint32_t dat20,
			uint32_t cpu)
{
	uint64_t n = 0;

	for (size_t i = 0; i < e->nr; i++)
		n += e->v[i].op == op && e->v[i].dat20 == dat20 &&
		     e->v[i].cpu == cpu;
	return n;
}

/* Is @n what the kernel counted between the ends? */
static inline bool is_between(const struct bracket *b, int cpu, uint64_t n)
{
	return b->at[2].nr[cpu] - b->at[1].nr[cpu] <= n &&
	       n <= b->at[3].nr[cpu] - b->at[0].nr[cpu];
}

/*
 * Does each beginning have its end on @cpu?  Before the first end and after the
 * last beginning only one of the two may be recorded, while START and STOP are
 * at work.
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
		/* Two ends in a row matter if a beginning follows. */
		if (v->op == in && (odd || (ended && last == in)))
			return false;
		odd |= v->op == out && last == out;
		ended |= v->op == out;
		last = v->op;
	}
	return true;
}

#endif /* _KT_BRACKET_H */

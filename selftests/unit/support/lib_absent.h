/* SPDX-License-Identifier: GPL-2.0-only */
/* Ask of a trace whether an event was absent: for tests of ktape verify --absent. */
#ifndef _LIB_ABSENT_H
#define _LIB_ABSENT_H

#include "lib_sim_work.h"

/**
 * struct absence - an answer
 * @verdict: KTAPE_ABSENT_*
 * @findings: what the check of the trace found wrong
 * @why: the reason, a text that is never freed
 */
struct absence {
	unsigned int verdict;
	int findings;
	const char *why;
};

/* Check a saved trace with a question.  @cpu: the answer of this CPU, or -1 for all. */
static inline struct absence absence_in(const char *dir,
					const struct ktape_absence *q, int cpu)
{
	struct ktape_verify *v;
	struct absence a;

	if (ktape_verify_open(dir, NULL, &v, NULL) || ktape_verify_ask(v, q))
		abort();
	a.findings = ktape_verify_run(v);
	if (a.findings < 0)
		abort();
	a.verdict = ktape_verify_verdict(v, cpu, &a.why);
	ktape_verify_close(v);
	return a;
}

/* Save the trace of a session that is finished, and ask. */
static inline struct absence absence_of(struct sim *s,
					const struct ktape_absence *q, int cpu)
{
	const char *dir = trace_folder();
	struct absence a;

	sim_save(s, dir, 0);
	a = absence_in(dir, q, cpu);
	trace_remove(dir);
	return a;
}

#endif /* _LIB_ABSENT_H */

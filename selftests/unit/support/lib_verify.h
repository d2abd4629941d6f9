/* SPDX-License-Identifier: GPL-2.0-only */
/* Save the trace of a simulated session, verify it, and judge what was found. */
#ifndef LIB_VERIFY_H
#define LIB_VERIFY_H

#include "lib_sim_work.h"

#define FINDINGS     64U
#define SIMPLE_STEPS 3000 /* of a simple session */

struct result {
	int ret;	 /* number of violations, or a negative errno */
	unsigned int nr; /* entries of @finding, which has no notes */
	struct ktape_finding finding[FINDINGS];
	uint64_t errors[KTAPE_RULES];
	uint64_t notes[KTAPE_RULES];
	char form[sizeof(((struct ktape_finding *)0)->text)]; /* last note of KTAPE_RULE_FORM */
	uint64_t records; /* this and the next ones: sums over all CPUs */
	uint64_t filtered;
	uint64_t lost;
	uint64_t lost_by[KTAPE_LOST_REASONS];
	uint64_t missed;
	uint64_t emitted;
	uint64_t cut;
	struct ktape_verify_sum sum;
	bool counted; /* what was emitted is known of all CPUs */
	struct ktape_error error;
};

static struct result result;
static const char *folder;

static void verify_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (f->note && f->rule == KTAPE_RULE_FORM)
		snprintf(r->form, sizeof(r->form), "%s", f->text);
	if (f->note || r->nr == FINDINGS)
		return;
	r->finding[r->nr++] = *f;
}

/* Verify @what into @result. */
static void verify_trace(const char *what)
{
	const struct ktape_verify_options how = { .finding = verify_finding,
						  .arg = &result };
	struct ktape_verify_cpu cpu = { .cpu = 0 };
	uint64_t by[KTAPE_LOST_REASONS];
	struct ktape_verify *v;

	memset(&result, 0, sizeof(result));
	result.ret = ktape_verify_open(what, &how, &v, &result.error);
	if (result.ret)
		return;
	result.ret = ktape_verify_run(v);
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		result.errors[i] = ktape_verify_count(v, i, &result.notes[i]);
	result.counted = true;
	for (; ktape_verify_next_cpu(v, &cpu); cpu.cpu++) {
		result.records += cpu.records;
		result.filtered += cpu.filtered;
		result.lost += cpu.lost;
		result.missed += cpu.missed;
		result.emitted += cpu.emitted;
		result.cut += cpu.cut;
		result.counted &= cpu.counted;
		check(ktape_verify_lost(v, cpu.cpu, by), "no CPU %u", cpu.cpu);
		for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
			result.lost_by[i] += by[i];
	}
	ktape_verify_sum(v, &result.sum);
	check(!ktape_verify_lost(v, 4095, by) && !by[0], "a CPU 4095");
	ktape_verify_close(v);
}

/*
 * Save a session in a folder, in which the last @nameless threads have no name, and verify it.
 * end_verified() removes the folder.
 */
static void save_and_verify(struct sim *s, unsigned int nameless)
{
	folder = trace_folder();
	sim_save(s, folder, nameless);
	verify_trace(folder);
}

static void end_verified(struct sim *s)
{
	if (folder)
		trace_remove(folder);
	folder = NULL;
	sim_free(s);
}

/* Check that only this rule is broken, and that the first finding is in this ring. */
#define check_only(rule, at_ring, at_cpu)                                    \
	do {                                                                 \
		for (unsigned int __i = 0; __i < KTAPE_RULES; __i++)         \
			check(__i == (rule) ? result.errors[__i] > 0 :       \
					      !result.errors[__i],           \
			      "%llu of rule %s (%s)",                        \
			      (unsigned long long)result.errors[__i],        \
			      ktape_rule_name(__i), result.finding[0].text); \
		check(result.nr, "no finding was reported");                 \
		check_equal(result.finding[0].ring, at_ring);                \
		check_equal(result.finding[0].cpu, at_cpu);                  \
	} while (0)

/* Check that nothing is wrong, and that all records of @s were seen. */
static void check_whole_result(struct sim *s)
{
	uint64_t records = 0;

	check(!result.ret,
	      "%d wrong, the first: rule %s, cpu %u ring %u packet %llu: %s",
	      result.ret, ktape_rule_name(result.finding[0].rule),
	      result.finding[0].cpu, result.finding[0].ring,
	      (unsigned long long)result.finding[0].packet, result.finding[0].text);
	for (unsigned int i = 0; i < SIM_RINGS; i++)
		records += sim_sum(s->ring[i].emitted) -
			   sim_sum(s->ring[i].filtered) - sim_sum(s->ring[i].lost);
	check_equal(result.records, records);
}

/* Make a session without losses, filters and changes, from its start to its stop. */
__attribute__((unused)) static struct sim *make_simple_session(void)
{
	struct sim *s = sim_new(1);

	s->mask[KTAPE_EV_PROCESS_FREE / 64] |= 1ULL << KTAPE_EV_PROCESS_FREE % 64;
	sim_start(s);
	sim_work(s, SIMPLE_STEPS);
	/* A thread that ended before the first start needs no name. */
	sim_event(s, 1, KTAPE_EV_PROCESS_FREE, 0, 2, 998, 998);
	sim_stop(s);
	sim_finish(s);
	return s;
}

#endif /* LIB_VERIFY_H */

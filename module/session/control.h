/* SPDX-License-Identifier: GPL-2.0-only */
/* Records that say what the tracer itself did, on every CPU's control ring. */
#ifndef _KT_CONTROL_H
#define _KT_CONTROL_H

#include <linux/types.h>

struct kt_filters;
struct kt_session;

/* The moment of ledger records, see uapi/ktape/events/control.h. */
enum {
	KT_LEDGER_STOP = 0,
	KT_LEDGER_START = 1,
	KT_LEDGER_FLUSH = 2,
};

void kt_control_session(struct kt_session *s, u32 phase);
void kt_control_want(struct kt_session *s);
void kt_control_profile(struct kt_session *s, u32 phase, const u64 *mask);
void kt_control_filters(struct kt_session *s, u32 phase,
			const struct kt_filters *f, u32 kinds);
void kt_control_ledger(struct kt_session *s, u32 moment);
void kt_control_cpu(struct kt_session *s, unsigned int cpu, bool online);
void kt_control_without(struct kt_session *s, unsigned int cpu);
void kt_control_resume(struct kt_session *s);
int kt_control_flush(struct kt_session *s);
void kt_control_freeze(struct kt_session *s, u64 time, u32 cpu);
void kt_control_evict(struct kt_session *s, u32 id, u32 pid, u32 ms);

#endif /* _KT_CONTROL_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that only the files of this folder share. */
#ifndef _KT_SESSION_INTERNAL_H
#define _KT_SESSION_INTERNAL_H

#include "session.h"

/*
 * Lock order: kt_session_control, then either the locks of the probes or CPU
 * hotplug, kt_session_lock, rings_lock, reader_lock.  mmap() and page faults take
 * rings_lock, for reading, and none of the others.
 *
 * kt_session_control serialises control operations: create, destroy, start,
 * stop, profile, filters, triggers.  An operation that waits for a grace period
 * lets go of it, and keeps others from its session by @busy: see busy.c.
 * kt_session_lock protects the sessions against CPU hotplug.
 *
 * Rings are allocated and freed without either lock, because that may take
 * seconds.  A new session reserves its number, name and memory first and is
 * published when its rings exist.  A session that ends is withdrawn first, which
 * gives number and name back, and its memory counts until its rings are freed.
 *
 * kt_sessions has the sessions by number, kt_sessions_ended those without one that
 * still have rings.  Both change with both locks held.
 */
extern struct mutex kt_session_control;
extern struct mutex kt_session_lock;
extern struct kt_session *kt_sessions[KT_SESSIONS];
extern struct list_head kt_sessions_ended;

/*
 * Sessions whose rings are being allocated, by number.  They are not in
 * kt_sessions[] and cannot be found, but their number, their name and their memory
 * are in use.  Changed with both locks held.
 */
extern struct kt_session *kt_sessions_unlisted[KT_SESSIONS];

/* Bytes of the largest event ring. */
#define KT_RING_MAX (IS_ENABLED(CONFIG_64BIT) ? 1UL << 31 : 1UL << 30)

/* state.c */
void kt_session_enter_any(void);
void kt_session_leave(void);
void kt_session_lock_both(void);
void kt_session_unlock_both(void);
u64 kt_session_cpu_bytes(const struct kt_session *s);
u64 kt_sessions_bytes_allowed(void);
bool kt_session_has_room(const struct kt_session *s);
int kt_session_check_room(const struct kt_session *s, struct kt_session_config *c);
void kt_session_dealloc(struct kt_session *s);
struct kt_ring *kt_session_next_ring(const struct kt_session *s,
				     unsigned int kinds, unsigned int *at);

#define KT_RINGS_ALL (BIT(KTAPE_RINGS_PER_CPU) - 1)

/* Walk over the rings @r of a session that are of @kinds, bits of KTAPE_RING_*. */
#define kt_for_each_ring(r, s, kinds, at) \
	for ((at) = 0; ((r) = kt_session_next_ring(s, kinds, &(at)));)

/* end.c */
void kt_session_end_init(struct kt_session *s);
bool kt_session_reclaim(bool persistent);
u32 kt_session_left_ms(const struct kt_session *s);

/* cpu.c */
int kt_session_make_rings(struct kt_session *s, struct kt_session_config *config);
bool kt_session_publish_rings(struct kt_session *s);
void kt_session_late_init(struct kt_session *s);
void kt_session_free_rings(struct kt_session *s);
void kt_session_withdraw_rings(struct kt_session *s);

/* run.c */
int kt_session_start_locked(struct kt_session *s);
void kt_session_stop_locked(struct kt_session *s);
void kt_session_freeze_init(struct kt_session *s);
void kt_session_freeze_exit(struct kt_session *s);

/* busy.c */
void kt_session_enter(struct kt_session *s);
void kt_session_wait_busy(void);
void kt_session_let_go(struct kt_session *s);
void kt_session_go_on(struct kt_session *s);
void kt_session_synchronize(struct kt_session *s);

/* profile.c */
void kt_session_prepare(const struct kt_session *s, const u64 *mask,
			u64 *recordable);
void kt_session_profile_locked(struct kt_session *s, const u64 *mask);
void kt_mask_normalise(u64 *mask);
void kt_session_want(struct kt_session *s, const struct kt_filters *former);
void kt_session_probes(const u64 *extra);

/* want.c */
bool kt_session_may_want(const struct kt_session *s, unsigned int opcode);
bool kt_session_wants(const struct kt_session *s, unsigned int opcode);
bool kt_session_sees_switches(const struct kt_session *s);
bool kt_filters_record_on(const struct kt_filters *f, unsigned int cpu);
bool kt_session_records_on(const struct kt_session *s, unsigned int cpu);
void kt_want_set(const struct kt_session *s, unsigned int cpu);
void kt_want_set_everywhere(const struct kt_session *s);
void kt_want_renew_everywhere(void);
void kt_want_plan(const struct kt_session *s, unsigned int cpu);
bool kt_want_plan_fits(const struct kt_session *s, unsigned int cpu);
void kt_want_apply(const struct kt_session *s, unsigned int cpu);
void kt_want_settle(const struct kt_session *s);

/* snapshot.c */
bool kt_session_is_full(const struct kt_session *s);
void kt_session_freeze_cut(struct kt_session *s);
bool kt_session_renew_snapshot(struct kt_session *s);

/* missed.c */
void kt_session_missed_begin(struct kt_session *s);
void kt_session_missed_extend(struct kt_session *s, const u64 *mask);
void kt_session_missed_record(struct kt_session *s, const u64 *failed);

/* catch_up.c */
void kt_session_catch_up_init(struct kt_session *s);
void kt_session_catch_up(struct kt_session *s);
void kt_session_catch_up_end(struct kt_session *s);
void kt_session_cpu_is_without(struct kt_session *s);

/* reader.c */
void kt_session_policy_init(struct kt_session *s);
void kt_session_set_shedding(struct kt_session *s);
void kt_session_watch(struct kt_session *s);
void kt_session_announce(struct kt_session *s);

/* filters.c */
void kt_session_filters_exit(struct kt_session *s);

/* armed.c */
void kt_session_triggers_arm(struct kt_session *s);
void kt_session_triggers_watch(struct kt_session *s);

/* trigger.c */
void kt_session_triggers_exit(struct kt_session *s);

/* Moments of ledger records, see uapi/ktape/events/control.h. */
enum {
	KT_LEDGER_STOP = 0,
	KT_LEDGER_START = 1,
	KT_LEDGER_FLUSH = 2,
};

/* control.c */
void kt_control_session(struct kt_session *s, u32 phase);
void kt_control_want(struct kt_session *s, const struct kt_filters *former);
void kt_control_profile(struct kt_session *s, u32 phase, const u64 *mask);
void kt_control_filters(struct kt_session *s, u32 phase,
			const struct kt_filters *f, u32 kinds);
void kt_control_included(struct kt_session *s, const struct kt_filters *former);
void kt_control_excluded(struct kt_session *s, u32 phase);
void kt_control_ledger(struct kt_session *s, u32 moment);
void kt_control_cpu(struct kt_session *s, unsigned int cpu, bool online);
void kt_control_join(struct kt_session *s, unsigned int cpu);
void kt_control_other(struct kt_session *s, unsigned int cpu, bool with);
void kt_control_resume(struct kt_session *s);
void kt_control_missed(struct kt_session *s, const struct kt_misses *misses);
int kt_control_flush(struct kt_session *s);
void kt_control_words(struct kt_session *s, u32 opcode, u32 a0, u32 a1, u32 a2);

/* Return the filters of a session, or NULL.  Called with kt_session_lock. */
static inline const struct kt_filters *kt_session_filters(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_filters[s->id],
					 lockdep_is_held(&kt_session_lock));
}

/* Return the triggers of a session, or NULL.  Called with kt_session_control. */
static inline const struct kt_triggers *kt_session_triggers(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_triggers[s->id],
					 lockdep_is_held(&kt_session_control));
}

/*
 * Forget the pairs that are open for gates and triggers of a session.  Called with
 * kt_session_control and kt_session_lock: when CPUs begin to change one after the other, and again
 * after the grace period when all have, because an end may have come on a CPU in between that did
 * not record it.
 */
static inline void kt_session_forget_pairs(const struct kt_session *s)
{
	kt_filters_renew_gates(kt_session_filters(s));
	kt_triggers_renew_gates(kt_session_triggers(s));
}

static inline bool kt_mask_has(const u64 *mask, unsigned int opcode)
{
	return mask[opcode / 64] & BIT_ULL(opcode % 64);
}

static inline void kt_mask_set(u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] |= BIT_ULL(opcode % 64);
}

static inline void kt_mask_clear(u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] &= ~BIT_ULL(opcode % 64);
}

/**
 * kt_control_freeze() - mark on every online CPU where a full snapshot ends
 * @s: the session
 * @time: trace clock of the end
 * @cpu: CPU whose ring was full first
 *
 * Context: as for all functions of control.c.
 */
static inline void kt_control_freeze(struct kt_session *s, u64 time, u32 cpu)
{
	kt_control_words(s, KTAPE_EV_FREEZE, (u32)time, (u32)(time >> 32), cpu);
}

/**
 * kt_control_evict() - mark on every online CPU that a reader was evicted
 * @s: the session
 * @id: number of the reader
 * @pid: its process, in the initial pid name space
 * @ms: milliseconds for which the reader had not moved
 *
 * Context: as for all functions of control.c.
 */
static inline void kt_control_evict(struct kt_session *s, u32 id, u32 pid, u32 ms)
{
	kt_control_words(s, KTAPE_EV_EVICT, id, pid, ms);
}

#endif /* _KT_SESSION_INTERNAL_H */

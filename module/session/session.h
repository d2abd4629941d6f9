/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions: rings, profile and readers that belong together. */
#ifndef _KT_SESSION_H
#define _KT_SESSION_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include <ktape/session.h>

#include "event/event.h"
#include "event/trigger.h"
#include "filter/filter.h"

/**
 * struct kt_session_config - what a session is made of
 * @mode: enum ktape_mode
 * @ring_size: bytes of an event ring, rounded up; 0: the default
 * @block_size: bytes of a block, rounded up; 0: the default
 * @control_size: bytes of a control ring, rounded up; 0: the default
 * @account: charge the memory to the caller's cgroup
 * @lingers: it outlives its files
 * @name: checked, or NULL
 * @failed_cpu: out, after -ENOMEM: whose ring could not be made, or -1
 * @failed_kind: out: which ring of it
 * @failed_asked: out: bytes that were wanted
 * @failed_had: out: bytes of them that there were
 */
struct kt_session_config {
	u32 mode;
	u64 ring_size;
	u64 block_size;
	u64 control_size;
	bool account;
	bool lingers;
	const char *name;
	int failed_cpu;
	u32 failed_kind;
	u64 failed_asked;
	u64 failed_had;
};

/**
 * struct kt_rings - the rings of one CPU in a session
 * @ring: per kind
 */
struct kt_rings {
	struct kt_ring *ring[KTAPE_RINGS_PER_CPU];
};

/**
 * struct kt_session - rings, profile and readers that belong together
 * @owner: what the rings know of it
 * @id: number, the bit in the want bytes
 * @serial: a number that no other session ever has
 * @users: open files, and one for who keeps it: the module or its name
 * @files: open files
 * @lingers: its name keeps it
 * @gone: destroyed, and never runs again; it only stays for those who have it
 *	open, or until it is freed
 * @name: or empty
 * @uid: who made it
 * @mode: enum ktape_mode
 * @size: bytes of a ring, per kind
 * @block_size: bytes of a block, per kind
 * @account: charge the memory to a cgroup: the creator's, and for a CPU that
 *	comes later that of whoever brings it
 * @active: its want bits are to be set
 * @running: it records; false when the last record was written
 * @era: of the registry, since when its changes were not recorded
 * @began: trace clock of its last start or clear: what is older is not in the rings,
 *	or not to be read, or stands before a time without a record
 * @frozen: trace clock at which a full snapshot ends, else 0
 * @shed_percent: of the policy, see uapi/ktape/session.h
 * @stall_ms: of the policy
 * @evicted: how many readers were
 * @flags: KTAPE_PROFILE_*
 * @mask: the profile, bit n is opcode n
 * @told: what of it can be recorded, as the last marker said
 * @reader_lock: protects @readers and the consumer words of the rings
 * @readers: open files for which it may have to wait, struct kt_reader
 * @registered: how many of them are registered
 * @reader_ids: the last one given
 * @look: wakes those who poll with a watermark below a block
 * @watch: looks for readers that stall
 * @freeze: ends a full snapshot
 * @rings: per possible CPU; set once, with release
 *
 * All but @readers and @registered is changed with kt_session_control and kt_session_lock held;
 * @running and @rings are also read without them.
 */
struct kt_session {
	struct kt_owner owner;
	u32 id;
	u64 serial;
	u32 mode;
	refcount_t users;
	atomic_t files;
	bool lingers;
	bool gone;
	char name[KTAPE_SESSION_NAME];
	kuid_t uid;
	unsigned long size[KTAPE_RINGS_PER_CPU];
	unsigned long block_size[KTAPE_RINGS_PER_CPU];
	bool account;
	bool active;
	bool running;
	u32 era;
	u64 began;
	u64 frozen;
	u32 shed_percent;
	u32 stall_ms;
	u64 evicted;
	u32 flags;
	u64 mask[KTAPE_MASK_WORDS];
	u64 told[KTAPE_MASK_WORDS];
	spinlock_t reader_lock;
	struct list_head readers;
	unsigned int registered;
	u32 reader_ids;
	struct delayed_work look;
	struct delayed_work watch;
	struct work_struct freeze;
	struct kt_rings *rings[];
};

/**
 * struct kt_cursor - how far a reader has read one ring
 * @pos: next byte
 * @seq: number of the last packet that read() delivered
 * @discarded: total of lost events that counts as zero for this reader
 * @stored: events that were in the ring before the first packet
 * @records: delivered by read()
 * @lapped: events in blocks that were overwritten before they were read
 * @stuck_at: where it stood when the ring was found full because of it
 * @stuck: jiffies of that
 * @is_stuck: it still stands there
 * @lapping: there are some that are not in @lapped yet
 * @emitted: of the last packet
 * @told: its count of lost events
 * @begun: a packet was delivered
 * @based: @stored is of the end of a block
 * @gap: blocks were lost since
 * @damaged: where the damaged block begins that was told last, plus 1; 0: none was
 * @ring_damaged: that the ring's positions are damaged was told
 */
struct kt_cursor {
	unsigned long pos;
	u64 seq;
	u64 discarded;
	u64 stored;
	u64 records;
	u64 lapped;
	u64 emitted;
	u64 told;
	unsigned long stuck_at;
	unsigned long stuck;
	bool is_stuck;
	bool lapping;
	bool begun;
	bool based;
	bool gap;
	bool ring_damaged;
	unsigned long damaged;
};

/**
 * struct kt_reader - an open file as the session sees it
 * @node: in the session's readers, if @registered or @reads
 * @registered: the session waits for it, in discard mode
 * @reads: it has called read(); the session waits for such readers as long as
 *	nobody is registered
 * @evicted: the session waited for it and it stalled
 * @id: its number in the session
 * @pid: process that made the session wait for it, as in the initial name space
 * @cursor: per CPU and kind, at cpu * KTAPE_RINGS_PER_CPU + kind
 */
struct kt_reader {
	struct list_head node;
	bool registered;
	bool reads;
	bool evicted;
	u32 id;
	pid_t pid;
	struct kt_cursor *cursor;
};

/*
 * Order of locks: kt_session_control, then either those of the probes or CPU
 * hotplug, kt_session_lock, reader_lock.  Mapping and page faults take none of
 * them.
 *
 * kt_session_control serialises control: create, destroy, start, stop, profile,
 * filters.
 * kt_session_lock protects the sessions against CPUs that come and go.
 *
 * Neither is held while rings are made or freed: a session that comes has reserved its
 * number, name and memory by then, and is published afterwards; one that goes gives
 * number and memory back afterwards.
 */
extern struct mutex kt_session_control;
extern struct mutex kt_session_lock;
extern struct kt_session *kt_sessions[KT_SESSIONS];

struct kt_session *kt_session_create(struct kt_session_config *config);
void kt_session_destroy(struct kt_session *s);
int kt_session_start(struct kt_session *s);
int kt_session_start_locked(struct kt_session *s);
void kt_session_stop(struct kt_session *s);
void kt_session_stop_full(struct kt_session *s);
bool kt_session_is_full(const struct kt_session *s);
void kt_session_stop_locked(struct kt_session *s);
void kt_session_clear(struct kt_session *s);
void kt_session_forget(struct kt_session *s);
int kt_session_flush(struct kt_session *s);
void kt_session_resumed(void);
void kt_session_triggers_changed(const struct kt_session *s);
void kt_session_sinks(void);
void kt_session_profile(struct kt_session *s, struct ktape_profile *p);
void kt_session_profile_locked(struct kt_session *s, const u64 *mask);
int kt_session_parse_profile(const char *text, u64 *mask);
bool kt_session_mask_ok(const u64 *mask);
bool kt_session_is_implied(unsigned int opcode);
void kt_mask_normalise(u64 *mask);
void kt_want_set(const struct kt_session *s, unsigned int cpu);
bool kt_session_has_room(const struct kt_session *s);
bool kt_session_records_on(const struct kt_session *s, unsigned int cpu);
void kt_session_want(struct kt_session *s);
void kt_session_probes(const u64 *extra);
int kt_session_make_rings(struct kt_session *s,
			  struct kt_session_config *config);
bool kt_session_publish_rings(struct kt_session *s);
void kt_session_free_rings(struct kt_session *s);
void kt_session_withdraw_rings(struct kt_session *s);
struct kt_ring *kt_session_ring(const struct kt_session *s, unsigned int cpu,
				unsigned int kind);
int kt_session_hotplug_init(void);
void kt_session_hotplug_exit(void);

/* session_name.c */
bool kt_session_name_ok(const char *name);
struct kt_session *kt_session_named(const char *name);
struct kt_session *kt_session_find(const struct ktape_session_ref *ref);
void kt_session_put(struct kt_session *s);
int kt_session_end(struct kt_session *s);
void kt_session_end_all(void);
void kt_session_tell(unsigned int id, struct ktape_session_info *to);

/**
 * struct kt_stalled - a reader that the session no longer waits for
 * @id: its number in the session
 * @pid: process that made the session wait for it, as in the initial name space
 * @ms: for how long it had not moved
 */
struct kt_stalled {
	u32 id;
	pid_t pid;
	u32 ms;
};

/* session_freeze.c */
void kt_session_freeze_init(struct kt_session *s);
void kt_session_freeze_exit(struct kt_session *s);
void kt_session_freeze_cut(struct kt_session *s);
void kt_session_arm(struct kt_session *s);

/* session_policy.c */
void kt_session_policy_init(struct kt_session *s);
void kt_session_policy(struct kt_session *s, struct ktape_policy *p);
void kt_session_sheds(struct kt_session *s);
void kt_session_watch(struct kt_session *s);

int kt_reader_init(struct kt_reader *rd, struct kt_session *s);
void kt_reader_exit(struct kt_reader *rd, struct kt_session *s);
void kt_reader_register(struct kt_reader *rd, struct kt_session *s, bool on);
void kt_reader_reads(struct kt_reader *rd, struct kt_session *s);
void kt_reader_moved(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, unsigned long pos);
void kt_reader_skips(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, unsigned long pos);
bool kt_reader_evict(struct kt_session *s, unsigned long timeout,
		     struct kt_stalled *who);
void kt_reader_seek(struct kt_reader *rd, struct kt_session *s, bool newest);
struct kt_cursor *kt_reader_cursor(const struct kt_reader *rd, unsigned int cpu,
				   unsigned int kind);

/* The filters of a session, or NULL.  With kt_session_lock. */
static inline const struct kt_filters *
kt_session_filters(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_filters[s->id],
					 lockdep_is_held(&kt_session_lock));
}

/* The triggers of a session, or NULL.  With kt_session_control. */
static inline const struct kt_triggers *
kt_session_triggers(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_triggers[s->id],
					 lockdep_is_held(&kt_session_control));
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

/* Nobody knows yet where a snapshot ends. */
static inline bool kt_session_holds_back(const struct kt_session *s)
{
	/* Pairs with the release in session_stop_running(): then commit is where it ends. */
	return s->mode == KTAPE_MODE_SNAPSHOT && smp_load_acquire(&s->running);
}

#endif /* _KT_SESSION_H */

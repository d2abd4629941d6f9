/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions as the device and the module's parameters see them: create, find,
 * control, read.  What only the files of this folder share: internal.h.
 *
 * Read the files in this order.  Each one calls only files above it:
 *
 *   state.c	the list of sessions, the two locks, the rings and their memory
 *   busy.c	operations that release the locks to wait for a grace period
 *   want.c	which events each CPU records, and on which way
 *   control.c	control records, written by an interrupt on each CPU
 *   missed.c	hits of probes that the kernel missed
 *   reader.c	positions of readers, consumers, eviction and shedding
 *   snapshot.c	where a full snapshot ends
 *   catch_up.c	names that changed while a session was stopped
 *   profile.c	profiles, and the probes attached for them
 *   filters.c	the kinds of filters, and changes of filters
 *   armed.c	triggers at a start, and the check for silence
 *   run.c	start, stop, clear, flush
 *   trigger.c	triggers: add, remove, act
 *   cpu.c	rings of a CPU that comes online
 *   end.c	ends sessions, and takes their rings away
 *   session.c	create, find and list sessions
 */
#ifndef _KT_SESSION_H
#define _KT_SESSION_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include <ktape/filter.h>
#include <ktape/session.h>
#include <ktape/trigger.h>

#include "event/event.h"
#include "filter/filter.h"
#include "ring/ring.h"

struct eventfd_ctx;

/**
 * struct kt_session_config - what a session is made of
 * @mode: enum ktape_mode
 * @ring_size: bytes of an event ring, rounded up; 0 = default
 * @block_size: bytes of a block, rounded up; 0 = default
 * @control_size: bytes of a control ring, rounded up; 0 = default
 * @account: charge the memory to the caller's cgroup
 * @lingers: keep the session when its last file is closed
 * @log: the session may record the kernel's log
 * @name: checked name; NULL = none
 * @failed_cpu: out, after -ENOMEM: CPU whose ring could not be allocated; -1 =
 *	all rings together exceed the limit
 * @failed_kind: out, after -ENOMEM: enum ktape_ring_kind of that ring
 * @failed_asked: out, after -ENOMEM: bytes requested
 * @failed_had: out, after -ENOMEM: bytes available
 */
struct kt_session_config {
	u32 mode;
	u64 ring_size;
	u64 block_size;
	u64 control_size;
	bool account;
	bool lingers;
	bool log;
	const char *name;
	int failed_cpu;
	u32 failed_kind;
	u64 failed_asked;
	u64 failed_had;
};

/**
 * struct kt_rings - the rings of one CPU in a session
 * @ring: indexed by enum ktape_ring_kind
 */
struct kt_rings {
	struct kt_ring *ring[KTAPE_RINGS_PER_CPU];
};

#define KT_EVICTIONS 16 /* evicted guests in a second that have a record */

/**
 * struct kt_stalled - an evicted reader
 * @id: number in the session
 * @pid: process that made the session wait, in the initial pid name space
 * @ms: milliseconds for which the reader had not moved; 0: the session did not wait
 *	for it
 */
struct kt_stalled {
	u32 id;
	pid_t pid;
	u32 ms;
};

/**
 * struct kt_miss - hits of one probe that were missed for one reason
 * @opcode: event of the probe
 * @reason: enum ktape_missed
 * @count: number of hits
 */
struct kt_miss {
	u8 opcode;
	u8 reason;
	u64 count;
};

/**
 * struct kt_misses - what was missed between two readings of the counts
 * @first: trace clock when reading began the time before
 * @last: trace clock when it ended this time
 * @reading: ticks that it took
 * @nr: used entries of @miss
 * @miss: one entry for each run-time probe and reason
 * @failed: events whose tracepoint the session lacks, bit n is opcode n
 */
struct kt_misses {
	u64 first;
	u64 last;
	u64 reading;
	unsigned int nr;
	struct kt_miss miss[KTAPE_PROBES * KTAPE_MISSED_REASONS];
	u64 failed[KTAPE_MASK_WORDS];
};

/**
 * struct kt_session - rings, profile and readers that belong together
 * @owner: part of the session that the rings' writers see
 * @id: number of the session, its bit among the want bits
 * @serial: number that no other session of this load ever has
 * @mode: enum ktape_mode
 * @users: references to the structure: open files, and one of the module (session
 *	0) or of the name of a session that lingers
 * @holders: users with control rights: files that may control the session, and the
 *	module or the name; the session ends when there are none
 * @files: open files
 * @lingers: the name is a user and a holder
 * @log: may record the kernel's log, and only callers that may read the log may open it
 * @gone: ended: cannot be found or changed any more; its number is given back
 * @ended: entry in kt_sessions_ended, from the end until the rings are freed
 * @ends_at: jiffies at which the rings are taken away, valid while @retire is
 *	pending
 * @retire: takes the rings away, a time after the end
 * @rings_lock: taken for reading to use a ring of a session that may have ended, for
 *	writing to set @taken
 * @taken: the rings were taken away; set with @rings_lock and @reader_lock
 * @mapping: mappings of all descriptors of CREATE and OPEN
 * @name: NUL-terminated; empty = none
 * @uid: user who created the session
 * @size: bytes of a ring, per enum ktape_ring_kind
 * @block_size: bytes of a block, per enum ktape_ring_kind
 * @account: charge ring memory to a cgroup: the creator's; for a CPU that comes
 *	online later, that of the task that brings the CPU up, or none if @late makes its rings
 * @active: the session's want bits are to be set
 * @running: the session records; cleared after the last record was written
 * @begun: between the on-markers and the off-markers of @running
 * @busy: an operation on the session has let go of kt_session_control
 * @keeps_control: operations on the session do not release kt_session_control
 * @era: registry era (kt_registry_begin_era()) of the oldest change of the registry that
 *	the session may not have recorded: that of the last stop or of the creation, or an
 *	older one if the session stopped before it had recorded all
 * @caught_up: all changes from before the last start were recorded
 * @without: a CPU that runs does not record changes (yet), because it has no rings
 * @without_since: registry era of the oldest change that it may not have recorded
 * @next_slot: first slot of the registry that was not checked for such changes
 * @began: trace clock of the last start or clear: readable records are not older
 * @frozen: trace clock at which a full snapshot ends; 0 = not full
 * @shed_percent: see struct ktape_policy
 * @stall_ms: see struct ktape_policy
 * @evicted: number of evicted readers
 * @flags: KTAPE_PROFILE_*
 * @mask: profile, bit n is opcode n
 * @recordable: events of @mask that can be recorded on this kernel, as written into
 *	the last on-marker
 * @counted: events that on-markers have named since the counts of @missed were read: those
 *	of @recordable, and while the profile changes those of before
 * @missed: hits of run-time probes that had been missed when the counts were read last,
 *	by slot and enum ktape_missed
 * @misses: what was missed up to then
 * @reader_lock: protects @readers, @guests, @registered, @reader_ids, @evictions,
 *	@nr_evictions, @announced and the rings' consumer words
 * @readers: struct kt_reader of the files for which the session may have to wait
 * @guests: struct kt_reader of files that called read() and for which a discard
 *	session does not wait
 * @registered: number of registered readers
 * @reader_ids: id of the newest reader
 * @evictions: guests that were evicted and not announced yet
 * @nr_evictions: their number; the first KT_EVICTIONS have an entry
 * @announced: jiffies at which evicted guests were announced last
 * @announce: records evicted guests
 * @wake_again: wakes pollers whose watermark is below a block
 * @watch: checks for readers that stall
 * @catch_up: records changes from before the last start
 * @freeze: stops a full snapshot
 * @late: makes the rings of @late_cpus
 * @late_cpus: CPUs that came online, or are about to, and have to wait for their rings
 * @joining: CPUs with late rings whose on-markers are to be written
 * @making: 1 while @late is making rings, which count as memory in use
 * @with_rings: bit n: CPU n has rings; set after its @rings
 * @rings: per possible CPU; NULL = the CPU has none; set once, with release
 *
 * Members without another rule above are changed with both kt_session_control and
 * kt_session_lock held.  The first alone is held to change @gone, @busy and @keeps_control; the
 * second alone for @began, @evicted, @counted, @missed, @misses, @late_cpus, @joining, @making,
 * and rings of a CPU that comes online.  @era to @next_slot: see piece_lock in catch_up.c.
 * @running and @rings are also read without these locks.
 */
struct kt_session {
	struct kt_owner owner;
	u32 id;
	u64 serial;
	u32 mode;
	refcount_t users;
	refcount_t holders;
	atomic_t files;
	bool lingers;
	bool log;
	bool gone;
	struct list_head ended;
	unsigned long ends_at;
	struct delayed_work retire;
	struct rw_semaphore rings_lock;
	bool taken;
	struct address_space mapping;
	char name[KTAPE_SESSION_NAME];
	kuid_t uid;
	unsigned long size[KTAPE_RINGS_PER_CPU];
	unsigned long block_size[KTAPE_RINGS_PER_CPU];
	bool account;
	bool active;
	bool running;
	bool begun;
	bool busy;
	bool keeps_control;
	u32 era;
	bool caught_up;
	bool without;
	u32 without_since;
	u32 next_slot;
	u64 began;
	u64 frozen;
	u32 shed_percent;
	u32 stall_ms;
	u64 evicted;
	u32 flags;
	u64 mask[KTAPE_MASK_WORDS];
	u64 recordable[KTAPE_MASK_WORDS];
	u64 counted[KTAPE_MASK_WORDS];
	u64 missed[KTAPE_PROBES][KTAPE_MISSED_REASONS];
	struct kt_misses misses;
	spinlock_t reader_lock;
	struct list_head readers;
	struct list_head guests;
	unsigned int registered;
	struct kt_stalled evictions[KT_EVICTIONS];
	unsigned int nr_evictions;
	unsigned long announced;
	struct delayed_work announce;
	u32 reader_ids;
	struct delayed_work wake_again;
	struct delayed_work watch;
	struct delayed_work catch_up;
	struct work_struct freeze;
	struct work_struct late;
	struct cpumask late_cpus;
	struct cpumask joining;
	unsigned int making;
	unsigned long *with_rings;
	struct kt_rings *rings[];
};

/**
 * struct kt_cursor - how far a reader has read one ring
 * @pos: position of the next byte to read
 * @seq: number of the last packet that read() delivered
 * @discarded: lost events of the ring before the first packet, which do not count as
 *	losses of this reader
 * @stored: events that were stored in the ring before the first packet; an estimate
 *	until @based
 * @records: events that read() delivered
 * @lapped: events in blocks that were overwritten before they were read
 * @emitted: emitted count of the last packet
 * @lost: lost count of the last packet
 * @stuck_at: @pos at which the ring was first found full because of this reader
 * @stuck: jiffies at that moment
 * @is_stuck: @stuck_at and @stuck are valid
 * @lapping: blocks were skipped, and @lapped does not include their events yet
 * @begun: a packet was delivered
 * @based: @stored was computed from exact counts, those at the end of a block
 * @gap: blocks were skipped since the last packet
 * @ring_damaged: damaged positions of the ring were reported
 * @damaged: position of the damaged block that was reported last, plus 1; 0 =
 *	none
 */
struct kt_cursor {
	u64 pos;
	u64 seq;
	u64 discarded;
	u64 stored;
	u64 records;
	u64 lapped;
	u64 emitted;
	u64 lost;
	u64 stuck_at;
	unsigned long stuck;
	bool is_stuck;
	bool lapping;
	bool begun;
	bool based;
	bool gap;
	bool ring_damaged;
	u64 damaged;
};

/**
 * struct kt_reader - an open file as a reader of its session
 * @node: entry in the session's readers while @registered or @reads, or, without
 *	@trusted, in its guests
 * @trusted: the opener has the right to control, so a discard session may wait
 * @registered: in discard mode the session waits for this reader
 * @reads: the file called read(); the session waits for such readers while none
 *	is registered, if they are trusted
 * @evicted: the session waited for this reader until it stalled, or would have to
 *	wait for it
 * @id: number in the session, from 1
 * @pid: process that made the session wait, in the initial pid name space
 * @cursor: per CPU and kind, at cpu * KTAPE_RINGS_PER_CPU + kind
 */
struct kt_reader {
	struct list_head node;
	bool trusted;
	bool registered;
	bool reads;
	bool evicted;
	u32 id;
	pid_t pid;
	struct kt_cursor *cursor;
};

/**
 * struct kt_filter_kind - one kind of filter
 * @size: bytes of an entry as SET takes it
 * @get_size: bytes of an entry as GET returns it
 * @max: maximum number of entries
 * @empty_is_off: setting no entries turns the filter off
 * @words: entries are words of a bitmap: its offset in struct kt_filters
 * @parse: replace the entries of this kind in a copy of the filters, or return an
 *	error and change nothing; runs in the caller's name spaces; NULL = copy @words
 * @get: copy out the f->nr entries of a filter in force; NULL = all @words
 * @drop: release what @parse acquired; NULL = nothing
 * @collisions: return the value of ktape_filter.collisions; NULL = 0
 *
 * The filter's bit in f->kinds and its f->nr are set after @parse.
 */
struct kt_filter_kind {
	u32 size;
	u32 get_size;
	u32 max;
	bool empty_is_off;
	u16 words;
	int (*parse)(struct kt_filters *f, const void *entries, u32 nr);
	void (*get)(const struct kt_filters *f, void *to);
	void (*drop)(struct kt_filters *f);
	u64 (*collisions)(const struct kt_filters *f);
};

extern const struct kt_filter_kind kt_filter_kinds[KTAPE_FILTER_KINDS];

/* session.c */
struct kt_session *kt_session_create(struct kt_session_config *config);
struct kt_session *kt_session_create_first(struct kt_session_config *config,
					   const u64 *mask);
bool kt_session_name_ok(const char *name);
struct kt_session *kt_session_find(const struct ktape_session_ref *ref);
bool kt_session_describe(unsigned int place, struct ktape_session_info *to);

/* end.c */
bool kt_session_hold(struct kt_session *s);
void kt_session_unhold(struct kt_session *s);
void kt_session_put(struct kt_session *s);
int kt_session_end(struct kt_session *s);
void kt_session_end_all(void);
bool kt_session_rings_get(struct kt_session *s);
void kt_session_rings_put(struct kt_session *s);
u32 kt_session_number(const struct kt_session *s);

/* run.c */
int kt_session_start(struct kt_session *s);
void kt_session_stop(struct kt_session *s);
void kt_session_clear(struct kt_session *s);
int kt_session_flush(struct kt_session *s);
void kt_session_resumed(void);
int kt_session_pm_init(void);
void kt_session_pm_exit(void);

/* profile.c */
void kt_session_sinks(void);
int kt_session_profile(struct kt_session *s, struct ktape_profile *p);
int kt_session_parse_profile(const char *text, u64 *mask);
bool kt_session_mask_ok(const u64 *mask);
bool kt_session_is_implied(unsigned int opcode);
int kt_session_remove_probe(unsigned int opcode);

/* state.c */
struct kt_ring *kt_session_ring(const struct kt_session *s, unsigned int cpu,
				unsigned int kind);

/* cpu.c */
int kt_session_hotplug_init(void);
void kt_session_hotplug_exit(void);

/* filters.c */
int kt_session_filter_set(struct kt_session *s, u32 kind, const void *entries,
			  u32 nr);
int kt_session_filter_off(struct kt_session *s, u32 kind);
int kt_session_filter_get(struct kt_session *s, struct ktape_filter *to,
			  void *entries);

/* trigger.c */
int kt_session_trigger_add(struct kt_session *s, struct ktape_trigger *spec,
			   struct eventfd_ctx *notify);
int kt_session_trigger_get(struct kt_session *s, struct ktape_trigger *to);
int kt_session_trigger_remove(struct kt_session *s, u32 id);

/* reader.c */
int kt_reader_init(struct kt_reader *rd, struct kt_session *s, bool trusted);
size_t kt_reader_bytes(void);
void kt_reader_exit(struct kt_reader *rd, struct kt_session *s);
void kt_reader_register(struct kt_reader *rd, struct kt_session *s, bool on);
void kt_reader_reads(struct kt_reader *rd, struct kt_session *s);
void kt_reader_moved(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, u64 pos);
void kt_reader_skips(struct kt_reader *rd, struct kt_session *s,
		     unsigned int cpu, unsigned int kind, u64 pos);
void kt_reader_seek(struct kt_reader *rd, struct kt_session *s, bool newest);
struct kt_cursor *kt_reader_cursor(const struct kt_reader *rd, unsigned int cpu,
				   unsigned int kind);
int kt_session_policy(struct kt_session *s, struct ktape_policy *p);

/**
 * kt_session_blocks_readers() - check whether readers have to wait for the end
 * @s: the session
 *
 * The end of a snapshot is not known while it records: a record that is there
 * now may be cut off later.
 *
 * Return: true for a snapshot session that records. Context: any.
 */
static inline bool kt_session_blocks_readers(const struct kt_session *s)
{
	/*
	 * Pairs with the release in session_stop_running(): once running is
	 * false, commit is where the snapshot ends.
	 */
	return s->mode == KTAPE_MODE_SNAPSHOT && smp_load_acquire(&s->running);
}

#endif /* _KT_SESSION_H */

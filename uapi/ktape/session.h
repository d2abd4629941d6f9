/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sessions of other programs, readers, and what a discard session does when its
 * readers are slow.  Part of the contract, see ktape/abi.h.
 *
 * [W]: only with a descriptor that may control its session, else EPERM (ktape/ioctl.h).
 */
#ifndef _KTAPE_SESSION_H
#define _KTAPE_SESSION_H

#include <ktape/abi.h>

/* Flags of struct ktape_session_info. */
#define KTAPE_SESSION_RUNNING (1U << 0) /* records */
#define KTAPE_SESSION_LINGERS (1U << 1) /* outlives its descriptors */
#define KTAPE_SESSION_FROZEN  (1U << 2) /* a full snapshot */
#define KTAPE_SESSION_GONE    (1U << 3) /* ended, but its rings are there */
#define KTAPE_SESSION_LOG     (1U << 4) /* may record the kernel's log */

/*
 * Milliseconds for which readers without control rights keep the rings of a session
 * after its end.
 */
#define KTAPE_GRACE_MS 10000

#define KTAPE_SESSION_INFO_FIRST 96 /* bytes of its first version */

/**
 * struct ktape_session_info - one session in a list
 * @id: number of the session; KTAPE_SESSION_BY_NAME: it has ended (GONE) and has none
 * @mode: enum ktape_mode
 * @flags: KTAPE_SESSION_*
 * @uid: user who created the session, in the caller's user name space
 * @generation: number of changes of its profile and filters, and of starts
 * @files: open files of the session
 * @ring_size: bytes of each event ring
 * @control_size: bytes of each control ring
 * @block_size: bytes of a block of an event ring
 * @control_block: bytes of a block of a control ring
 * @frozen: trace clock at which a full snapshot ends; 0 = not full
 * @evicted: number of readers that were evicted
 * @name: NUL-terminated; empty = none
 * @left_ms: milliseconds until the rings of a session that has ended are taken away;
 *	0 = no time runs: it has not ended, or a descriptor that may control it is open
 * @reserved: zero
 */
struct ktape_session_info {
	__u32 id;
	__u32 mode;
	__u32 flags;
	__u32 uid;
	__u32 generation;
	__u32 files;
	__u64 ring_size;
	__u64 control_size;
	__u32 block_size;
	__u32 control_block;
	__u64 frozen;
	__u64 evicted;
	char name[KTAPE_SESSION_NAME];
	__u32 left_ms;
	__u32 reserved;
};

/**
 * struct ktape_session_list - all sessions (SESSIONS)
 * @size: bytes of the structure
 * @nr: in: capacity of @entries; out: number of sessions, even if larger
 * @entry_size: bytes of one of the caller's entries, at least
 *	KTAPE_SESSION_INFO_FIRST and at most a page; the kernel fills members that
 *	it does not know with zeros
 * @reserved: zero
 * @entries: pointer to struct ktape_session_info[], @entry_size bytes apart; may
 *	be 0 if @nr is 0
 */
struct ktape_session_list {
	__u32 size;
	__u32 nr;
	__u32 entry_size;
	__u32 reserved;
	__u64 entries;
};

/* In struct ktape_session_ref, instead of a number: look for the name. */
#define KTAPE_SESSION_BY_NAME (~0U)

/* Flags of struct ktape_session_ref, for OPEN. */
#define KTAPE_OPEN_READONLY (1U << 0) /* the descriptor may not control */

/**
 * struct ktape_session_ref - open (OPEN) or destroy (DESTROY) a session
 * @size: bytes of the structure
 * @id: number of the session, or KTAPE_SESSION_BY_NAME
 * @flags: OPEN: KTAPE_OPEN_*; DESTROY: zero
 * @reserved: zero
 * @name: with KTAPE_SESSION_BY_NAME the name, NUL-terminated; else zero
 *
 * OPEN returns a new descriptor (close-on-exec) with its own position in each
 * ring.  Without READONLY, it may control the session if the descriptor of the
 * ioctl may control its own session.  The caller needs the same rights as for
 * open(2) of the device, and CAP_SYSLOG for a session with KTAPE_SESSION_LOG.  ENOENT:
 * there is no such session.
 *
 * DESTROY [W] stops a session and ends it: name and number are free at once.  A
 * session also ends with its last descriptor that may control it, unless it lingers;
 * descriptors that may only read do not keep it.  START and changes then fail with
 * ENODEV.
 *
 * What an ended session recorded can be read and mapped as long as a descriptor that
 * may control it is open, and for KTAPE_GRACE_MS after that, unless a new session
 * needs the memory.  Then the rings are taken away: read(), mmap(), STATS, READER and
 * POSITION fail with ESTALE, poll() returns EPOLLERR in addition, and an access to a
 * mapping is a bus error (SIGBUS; EFAULT in system calls).  read() returns 0 if it
 * has returned 0 before.  DESTROY never waits for other programs.  EBUSY: session 0,
 * which exists as long as the module; ENOENT: there is no such session.
 */
struct ktape_session_ref {
	__u32 size;
	__u32 id;
	__u32 flags;
	__u32 reserved;
	char name[KTAPE_SESSION_NAME];
};

/**
 * enum ktape_policy_op - what to do with a policy
 * @KTAPE_POLICY_GET: only return the policy
 * @KTAPE_POLICY_SET: replace it [W]
 */
enum ktape_policy_op { KTAPE_POLICY_GET = 0, KTAPE_POLICY_SET = 1 };

/**
 * struct ktape_policy - what a discard session does when readers are slow (POLICY)
 * @size: bytes of the structure
 * @op: enum ktape_policy_op
 * @flags: zero
 * @shed_percent: 1 to 99: if more than this part of an event ring is unread, events
 *	of classes of priority 0 are dropped (KTAPE_LOST_SHED); events of priority
 *	1 are dropped from halfway between this and 100 percent; 0 = never; default
 *	75
 * @stall_ms: milliseconds after which a consumer is evicted if a ring is full, the
 *	consumer has not moved and there is another consumer; 0 = never, the default
 * @reserved: zero
 * @evicted: in: zero; out: number of readers that were evicted
 *
 * A session waits for registered consumers or, if there are none, for descriptors that
 * called read() and whose opener had the right to control: CAP_PERFMON or
 * CAP_SYS_ADMIN, or, with dev_mode=, a descriptor open for writing.  It waits for no
 * other descriptor, and what such a one reads makes no room.  If a ring would be full
 * because of it, it is evicted at once, with 0 as time in the EVICT record.
 *
 * A class is shed only while the profile has events of a class of higher priority
 * in the event rings.  An evicted reader can go on reading, but data that it has
 * not read may be overwritten.  An EVICT record names the reader.  REGISTER makes
 * it a consumer again.  Sessions of other modes accept a policy and do not use it.
 */
struct ktape_policy {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 shed_percent;
	__u32 stall_ms;
	__u32 reserved;
	__u64 evicted;
};

/* Flags of struct ktape_reader_info. */
#define KTAPE_READER_REGISTERED (1U << 0) /* registered as a consumer */
#define KTAPE_READER_READS	(1U << 1) /* has called read() */
#define KTAPE_READER_EVICTED	(1U << 2) /* stalled, or had no right to stall */

/**
 * struct ktape_reader_info - this descriptor as a reader of one ring (READER)
 * @size: bytes of the structure
 * @cpu: in: CPU of the ring
 * @kind: in: enum ktape_ring_kind
 * @flags: in: zero; out: KTAPE_READER_*
 * @id: in: zero; out: number of this reader in its session, as in EVICT records
 * @reserved: zero
 * @position: position of the next byte to read
 * @unread: published bytes from @position on
 * @records: events that read() has delivered
 * @lapped: events that were overwritten before they were read; updated at the end
 *	of each whole block that read() delivers, and exact after a stop
 *
 * Overwritten events are losses of this reader only, and in no count of the
 * session.  ENXIO: there is no such ring.
 */
struct ktape_reader_info {
	__u32 size;
	__u32 cpu;
	__u32 kind;
	__u32 flags;
	__u32 id;
	__u32 reserved;
	__u64 position;
	__u64 unread;
	__u64 records;
	__u64 lapped;
};

#endif /* _KTAPE_SESSION_H */

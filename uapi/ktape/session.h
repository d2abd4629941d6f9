/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sessions by name, what a session does when nobody keeps up, and readers.
 * Part of the contract, see ktape/abi.h.
 */
#ifndef _KTAPE_SESSION_H
#define _KTAPE_SESSION_H

#include <ktape/abi.h>

/* Flags of struct ktape_session_info. */
#define KTAPE_SESSION_RUNNING	(1U << 0)	/* it records */
#define KTAPE_SESSION_LINGERS	(1U << 1)	/* it outlives its descriptors */
#define KTAPE_SESSION_FROZEN	(1U << 2)	/* a snapshot that is full */
#define KTAPE_SESSION_GONE	(1U << 3)	/* destroyed, still open somewhere */

/**
 * struct ktape_session_info - one session in a list
 * @id: its number
 * @mode: enum ktape_mode
 * @flags: KTAPE_SESSION_*
 * @uid: who made it, in the caller's user name space
 * @generation: of its profile
 * @files: open files that stand for it
 * @ring_size: bytes of each event ring
 * @control_size: bytes of each control ring
 * @block_size: bytes of a block of an event ring
 * @control_block: bytes of a block of a control ring
 * @frozen: trace clock at which a full snapshot ends, else 0
 * @evicted: readers that it no longer waits for because they stalled
 * @name: ends in NUL; empty: it has none
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
};

/**
 * struct ktape_session_list - all sessions
 * @size: of the structure
 * @nr: in: room in @entries; out: how many sessions there are
 * @entry_size: bytes of one of the caller's entries, at least those of
 *	struct ktape_session_info as it was first; what the kernel does not know
 *	is zero (EINVAL: too small or above a page)
 * @reserved: zero
 * @entries: pointer to entries, may be 0 if @nr is 0
 */
struct ktape_session_list {
	__u32 size;
	__u32 nr;
	__u32 entry_size;
	__u32 reserved;
	__u64 entries;
};

/* As id of struct ktape_session_ref: look for the name. */
#define KTAPE_SESSION_BY_NAME	(~0U)

/* Flags of struct ktape_session_ref, for OPEN. */
#define KTAPE_OPEN_READONLY	(1U << 0)	/* to look at it only */

/**
 * struct ktape_session_ref - open or destroy a session
 * @size: of the structure
 * @id: its number, or KTAPE_SESSION_BY_NAME
 * @flags: OPEN: KTAPE_OPEN_*; DESTROY: zero
 * @reserved: zero
 * @name: with KTAPE_SESSION_BY_NAME, ends in NUL; else zero
 *
 * OPEN returns a new descriptor (close-on-exec) with a cursor of its own; it
 * may control the session if the one that it is asked for may control its own,
 * unless READONLY.  It takes the same rights as open(2) of the device.  ENOENT:
 * there is no such session.
 *
 * DESTROY [W] stops a session and takes its name away.  Descriptors and
 * mappings go on showing what it recorded, and it keeps its number and memory
 * until the last of them is closed; START on it is ENODEV from then on.
 * Nobody is waited for, so there is no EBUSY but for session 0, which lasts as
 * long as the module.
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
 * @KTAPE_POLICY_GET: only tell
 * @KTAPE_POLICY_SET: replace it [W]
 */
enum ktape_policy_op {
	KTAPE_POLICY_GET = 0,
	KTAPE_POLICY_SET = 1
};

/**
 * struct ktape_policy - what a discard session does when nobody keeps up
 * @size: of the structure
 * @op: enum ktape_policy_op
 * @flags: zero
 * @shed_percent: 1 to 99: when more of an event ring than this is unread, events
 *	of classes of priority 0 are dropped (KTAPE_LOST_SHED), and above the
 *	middle between this and the whole ring those of priority 1; 0: never.
 *	75 at first
 * @stall_ms: 0: wait for readers for ever, the value at first; else a reader is
 *	evicted when a ring is full because of it and it has not moved for so
 *	long, and there is another for whom the session waits
 * @reserved: zero
 * @evicted: out: how many were evicted
 *
 * A class is shed only while the profile has events of a class with a higher
 * priority in the event rings.  An evicted reader reads on, but what it has not
 * read may be overwritten; an EVICT record tells of it, and REGISTER makes the
 * session wait again.  Sessions of other modes take a policy and do not use it.
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
#define KTAPE_READER_REGISTERED	(1U << 0)	/* a consumer */
#define KTAPE_READER_READS	(1U << 1)	/* it has called read() */
#define KTAPE_READER_EVICTED	(1U << 2)	/* it was waited for and stalled */

/**
 * struct ktape_reader_info - this descriptor as a reader of one ring
 * @size: of the structure
 * @cpu: in: which CPU
 * @kind: in: which of its rings
 * @flags: in: zero; out: KTAPE_READER_*
 * @id: number of this reader in its session, as in EVICT records
 * @reserved: zero
 * @position: next byte that it wants
 * @unread: published bytes from there on
 * @records: events that read() has delivered
 * @lapped: events that were overwritten before read() came, as far as is known:
 *	at the end of the next whole block, and exactly when it has stopped
 *
 * What was overwritten is the reader's own loss and in no count of the session.
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

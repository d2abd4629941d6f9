/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Triggers: actions that are carried out when an event comes or stays away.
 *
 * A session has up to KTAPE_TRIGGERS triggers.  A trigger sees the events that its
 * session records.  It does not see events that a filter holds back, events that
 * are not in the profile, and events while the session is stopped.
 *
 * A pair is two events, the begin and the end of something; a gate may replace them by one
 * event, the pair's span (enum ktape_gate in ktape/filter.h).
 *
 * [W]: only with a descriptor that may control its session, else EPERM (ktape/ioctl.h).
 */
#ifndef _KTAPE_TRIGGER_H
#define _KTAPE_TRIGGER_H

#include <ktape/abi.h>

#define KTAPE_TRIGGERS		16
#define KTAPE_TRIGGER_COMPARES	4
#define KTAPE_TRIGGER_SELF	0xffffffffU
#define KTAPE_TRIGGER_NS_MAX	3600000000000ULL /* an hour */
#define KTAPE_TRIGGER_QUIET_MIN 10000000ULL	 /* 10 ms */

/**
 * enum ktape_trigger_when - condition of a trigger
 * @KTAPE_TRIGGER_EVENT: an event that passes all comparisons
 * @KTAPE_TRIGGER_LONGER: a pair of events that lasts at least the duration; the
 *	opcode is that of the pair's span.  Both events of the pair have to be
 *	recorded, see below
 * @KTAPE_TRIGGER_QUIET: no such event for the duration.  Fires once for each
 *	silence, never early, and late by up to a tenth of the duration and three
 *	ticks of the kernel
 *
 * LONGER does not fire for a pair if a filter (also the CPU filter) or a rate limit
 * holds back one of its events; if the pair is open while the profile or filters
 * change, the session starts or the trigger is added; for the wide forms of system
 * calls; or if the thread passes a CPU that has no memory for its rings.
 */
enum ktape_trigger_when {
	KTAPE_TRIGGER_EVENT = 0,
	KTAPE_TRIGGER_LONGER = 1,
	KTAPE_TRIGGER_QUIET = 2
};

/**
 * enum ktape_trigger_compare_op - how a part of a record is compared with the value
 * @KTAPE_COMPARE_EQ: equal
 * @KTAPE_COMPARE_NE: not equal
 * @KTAPE_COMPARE_LT: less
 * @KTAPE_COMPARE_LE: less or equal
 * @KTAPE_COMPARE_GT: greater
 * @KTAPE_COMPARE_GE: greater or equal
 * @KTAPE_COMPARE_ANY: has any of the value's bits
 * @KTAPE_COMPARE_OPS: number of operators
 * @KTAPE_COMPARE_SIGNED: flag, added to an operator: compare as signed numbers
 */
enum ktape_trigger_compare_op {
	KTAPE_COMPARE_EQ = 0,
	KTAPE_COMPARE_NE = 1,
	KTAPE_COMPARE_LT = 2,
	KTAPE_COMPARE_LE = 3,
	KTAPE_COMPARE_GT = 4,
	KTAPE_COMPARE_GE = 5,
	KTAPE_COMPARE_ANY = 6,
	KTAPE_COMPARE_OPS = 7,
	KTAPE_COMPARE_SIGNED = 0x100
};

#define KTAPE_COMPARE_DAT20 7 /* in word: the 20 bits of data */

/**
 * struct ktape_trigger_compare - comparison of a part of a record
 * @word: argument word, 0 to 6, or KTAPE_COMPARE_DAT20; an event without that
 *	word does not match
 * @shift: lowest bit of the part in the word
 * @width: bits of the part; 64 = this word and the next one, with @shift 0
 * @op: enum ktape_trigger_compare_op
 * @value: value to compare with; sign-extended for signed operators
 */
struct ktape_trigger_compare {
	__u16 word;
	__u16 shift;
	__u16 width;
	__u16 op;
	__u64 value;
};

/**
 * enum ktape_trigger_action - actions of a trigger, which can be combined
 * @KTAPE_TRIGGER_MARK: record a mark with the id @mark after the event
 * @KTAPE_TRIGGER_START: start @target
 * @KTAPE_TRIGGER_STOP: stop @target
 * @KTAPE_TRIGGER_SNAPSHOT: stop the trigger's own session @after_ns later, so that
 *	its rings hold events from before and after the firing.  Together with a
 *	STOP of that session: at once; the snapshot is SHORT if @after_ns is not
 *	zero
 * @KTAPE_TRIGGER_PROFILE: set the profile of @target to @mask
 * @KTAPE_TRIGGER_NOTIFY: signal @eventfd after all other actions; several firings
 *	may give one signal.  With SNAPSHOT: when the session was stopped for the
 *	snapshot (KTAPE_TRIGGER_DONE); no signal if it was stopped before that
 *
 * Each of the first 16 firings since a start is recorded by a trigger record in the
 * control ring, also without any action.  Of the later ones only the 32nd, 64th,
 * 128th and so on are, with the number of firings, so that they do not overwrite
 * other records.  MARK records every firing in the event ring.
 */
enum ktape_trigger_action {
	KTAPE_TRIGGER_MARK = 1,
	KTAPE_TRIGGER_START = 2,
	KTAPE_TRIGGER_STOP = 4,
	KTAPE_TRIGGER_SNAPSHOT = 8,
	KTAPE_TRIGGER_PROFILE = 16,
	KTAPE_TRIGGER_NOTIFY = 32
};

/**
 * enum ktape_trigger_op - what to do with a trigger
 * @KTAPE_TRIGGER_GET: return the trigger and its state
 * @KTAPE_TRIGGER_ADD: add a trigger, and return its @id [W]
 * @KTAPE_TRIGGER_REMOVE: remove it; afterwards no action of it runs [W]
 */
enum ktape_trigger_op {
	KTAPE_TRIGGER_GET = 0,
	KTAPE_TRIGGER_ADD = 1,
	KTAPE_TRIGGER_REMOVE = 2
};

/* Flags of struct ktape_trigger: state of a snapshot. */
#define KTAPE_TRIGGER_DONE  (1U << 0) /* the session was stopped for it */
#define KTAPE_TRIGGER_SHORT (1U << 1) /* the rings held less than asked */

/**
 * struct ktape_trigger - one trigger of the session (TRIGGER)
 * @size: bytes of the structure
 * @op: enum ktape_trigger_op
 * @id: 0 to KTAPE_TRIGGERS - 1; ADD: in: zero, out: id of the new trigger
 * @when: enum ktape_trigger_when
 * @opcode: event to wait for, from 16 on; LONGER: span of the pair
 * @actions: enum ktape_trigger_action, combined
 * @nr_compares: number of comparisons, which all have to be true; LONGER: of the
 *	span
 * @nth: EVENT, LONGER: fire at every nth match, 0 = 1; QUIET: zero
 * @limit: maximum number of firings after each start of the session; 0 = none
 * @target: START, STOP, PROFILE: number of a session, or KTAPE_TRIGGER_SELF; else
 *	zero
 * @eventfd: NOTIFY: descriptor of eventfd(2); else, and from GET, zero
 * @mark: MARK: id of the mark; else zero
 * @duration_ns: LONGER, QUIET: nanoseconds, at most an hour, QUIET at least 10 ms;
 *	else zero
 * @before_ns: SNAPSHOT: nanoseconds that the rings should reach back, at most an
 *	hour; else zero
 * @after_ns: SNAPSHOT: nanoseconds to go on recording, at most an hour; else zero
 * @compare: @nr_compares comparisons; the rest is zero
 * @mask: PROFILE: bit n is opcode n; else zero
 * @matches: out: matches since the last start
 * @fired: out: firings since the last start
 * @flags: out: KTAPE_TRIGGER_DONE, _SHORT, since the last start
 * @missed: out: LONGER: pairs for which the table of open pairs had no room
 * @last: out: trace clock of the last firing; 0 = none
 * @held_ns: out: SNAPSHOT, DONE: nanoseconds that the rings reached back at the
 *	stop, at most to the session's last start or CLEAR, and at most an hour
 *
 * Members marked "out" must be zero in arguments.  GET and REMOVE take zero in all
 * members but @size, @op and @id.
 *
 * EINVAL: a number is out of range, or a member that neither the condition nor the
 * actions use is not zero; ENOENT: there is no such trigger, or no session @target;
 * ENOSPC: the session has KTAPE_TRIGGERS triggers; EBADF, EINVAL: @eventfd is not an
 * eventfd; EBUSY: LONGER, and the pair has a gate in this session.  While such a
 * trigger exists, the gate cannot be set either (ktape/filter.h).  ENODEV: ADD, and the
 * session has ended.
 */
struct ktape_trigger {
	__u32 size;
	__u32 op;
	__u32 id;
	__u32 when;
	__u32 opcode;
	__u32 actions;
	__u32 nr_compares;
	__u32 nth;
	__u32 limit;
	__u32 target;
	__s32 eventfd;
	__u32 mark;
	__u64 duration_ns;
	__u64 before_ns;
	__u64 after_ns;
	struct ktape_trigger_compare compare[KTAPE_TRIGGER_COMPARES];
	__u64 mask[KTAPE_MASK_WORDS];
	__u32 matches;
	__u32 fired;
	__u32 flags;
	__u32 missed;
	__u64 last;
	__u64 held_ns;
};

#endif /* _KTAPE_TRIGGER_H */

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Triggers: when an event comes, or does not come, something is done.
 *
 * A session has up to KTAPE_TRIGGERS of them.  A trigger looks at the events that
 * its session records: what a filter holds back, what the profile lacks and what
 * comes while it is stopped goes unseen.
 */
#ifndef _KTAPE_TRIGGER_H
#define _KTAPE_TRIGGER_H

#include <ktape/abi.h>

#define KTAPE_TRIGGERS			16
#define KTAPE_TRIGGER_COMPARES		4
#define KTAPE_TRIGGER_SELF		0xffffffffU
#define KTAPE_TRIGGER_NS_MAX		3600000000000ULL	/* an hour */
#define KTAPE_TRIGGER_QUIET_MIN		10000000ULL		/* 10 ms */

/**
 * enum ktape_trigger_when - the condition
 * @KTAPE_TRIGGER_EVENT: an event that compares as asked
 * @KTAPE_TRIGGER_LONGER: a pair of events of at least that duration; the opcode is
 *	that of the pair's span.  Both events of the pair have to be recorded: one
 *	of which a filter or a limit holds an event back, the CPU filter too, or
 *	that is open while profile or filters change, or while the session starts
 *	or the trigger comes, fires nothing; nor do the wide forms of system
 *	calls, or a thread that passes a CPU without memory for its rings
 * @KTAPE_TRIGGER_QUIET: no such event for that long; once for each silence, and
 *	within a tenth of it or a tick of the kernel
 */
enum ktape_trigger_when {
	KTAPE_TRIGGER_EVENT = 0,
	KTAPE_TRIGGER_LONGER = 1,
	KTAPE_TRIGGER_QUIET = 2
};

/**
 * enum ktape_trigger_compare_op - how a value is compared
 * @KTAPE_COMPARE_EQ: is equal
 * @KTAPE_COMPARE_NE: is not
 * @KTAPE_COMPARE_LT: is less
 * @KTAPE_COMPARE_LE: is not greater
 * @KTAPE_COMPARE_GT: is greater
 * @KTAPE_COMPARE_GE: is not less
 * @KTAPE_COMPARE_ANY: has any of these bits
 * @KTAPE_COMPARE_OPS: how many there are
 * @KTAPE_COMPARE_SIGNED: added to one of these: both are signed
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

#define KTAPE_COMPARE_DAT20	7	/* in word: the 20 bits of data */

/**
 * struct ktape_trigger_compare - what a part of a record is to be
 * @word: argument word, 0 to 6, or KTAPE_COMPARE_DAT20; an event that does not
 *	have the word does not match
 * @shift: the part's lowest bit in the word
 * @width: its bits; 64: this word and the next one, with shift 0
 * @op: enum ktape_trigger_compare_op
 * @value: with what; of signed ones sign-extended
 */
struct ktape_trigger_compare {
	__u16 word;
	__u16 shift;
	__u16 width;
	__u16 op;
	__u64 value;
};

/**
 * enum ktape_trigger_action - what is done, any of these together
 * @KTAPE_TRIGGER_MARK: record a mark with the id @mark, behind the event
 * @KTAPE_TRIGGER_START: start @target
 * @KTAPE_TRIGGER_STOP: stop @target
 * @KTAPE_TRIGGER_SNAPSHOT: stop the trigger's own session @after_ns later, so
 *	that its rings hold what was before and after; with a STOP of that session
 *	at once, which is SHORT if @after_ns is not zero
 * @KTAPE_TRIGGER_PROFILE: @target gets the profile @mask
 * @KTAPE_TRIGGER_NOTIFY: signal @eventfd, behind all other actions; several firings
 *	may be one signal.  With SNAPSHOT there is one when the session was stopped
 *	for it (KTAPE_TRIGGER_DONE), and none if somebody else stopped it before
 *
 * Each firing leaves a trigger record in the control ring, without any of these
 * too; after the 16th since a start only the 32nd, 64th, 128th and so on, which say
 * how many there were, so that they do not push others out.  MARK leaves one each
 * time, in the event ring.
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
 * @KTAPE_TRIGGER_GET: tell of it
 * @KTAPE_TRIGGER_ADD: arm a new one, told in @id [W]
 * @KTAPE_TRIGGER_REMOVE: remove it; none of its actions runs any more [W]
 */
enum ktape_trigger_op {
	KTAPE_TRIGGER_GET = 0,
	KTAPE_TRIGGER_ADD = 1,
	KTAPE_TRIGGER_REMOVE = 2
};

/* What became of a snapshot. */
#define KTAPE_TRIGGER_DONE	(1U << 0)	/* the session was stopped for it */
#define KTAPE_TRIGGER_SHORT	(1U << 1)	/* the rings held less than asked */

/**
 * struct ktape_trigger - one trigger of the session
 * @size: of the structure
 * @op: enum ktape_trigger_op
 * @id: 0 to KTAPE_TRIGGERS - 1; ADD: in: zero, out: which one it is
 * @when: enum ktape_trigger_when
 * @opcode: which event, from 16 on; LONGER: the span
 * @actions: enum ktape_trigger_action
 * @nr_compares: how many of @compare, all of which have to hold; LONGER: they are
 *	made on the span
 * @nth: EVENT, LONGER: fires at every nth match; zero is 1; QUIET: zero
 * @limit: fires so often after each start of the session; zero: no limit
 * @target: START, STOP, PROFILE: number of a session, or KTAPE_TRIGGER_SELF; else
 *	zero
 * @eventfd: NOTIFY: a descriptor of eventfd(2); else, and where GET tells, zero
 * @mark: MARK: the id; else zero
 * @duration_ns: LONGER, QUIET: how long, at most an hour; else zero
 * @before_ns: SNAPSHOT: how far the rings are to reach back, at least; else zero
 * @after_ns: SNAPSHOT: how long to go on; else zero
 * @compare: see @nr_compares; the rest is zero
 * @mask: PROFILE: bit n is opcode n; else zero
 * @matches: out: since the last start
 * @fired: out: since the last start
 * @flags: out: KTAPE_TRIGGER_DONE, _SHORT, since the last start
 * @missed: out: LONGER: pairs that found no room to be followed, in all
 * @last: out: trace clock of the last firing, 0: none
 * @held_ns: out: SNAPSHOT done: how far the rings reached back at the stop, at
 *	most to the session's last start or CLEAR, and an hour
 *
 * Members that are told are zero when they are given; GET and REMOVE take zero
 * as all but @id.  EINVAL: a number is out of range, or a member that the
 * condition or the actions do not take is not zero; ENOENT: no such trigger, or
 * no session @target; ENOSPC: there are KTAPE_TRIGGERS; EBADF, EINVAL: the
 * eventfd; EBUSY: LONGER, and the pair has a gate in this session; the gate cannot
 * be set either while such a trigger is there (ktape/filter.h).
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

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary contract of ktape: records, blocks, ring control pages, registry
 * entries and ioctls.  History and rules: uapi/README.md.
 *
 * Everything is little-endian.  Structures have no implicit padding, reserved
 * members must be zero on the way in and are zero on the way out.
 */
#ifndef _KTAPE_ABI_H
#define _KTAPE_ABI_H

#include <linux/types.h>

#include <ktape/event_info.h>
#include <ktape/ioctl.h>
#include <ktape/objects.h>

/* ---- records ---------------------------------------------------------- */

/*
 * A record starts with one 64-bit word (QNX Neutrino's TraceEvent code above
 * the time):
 *
 *   bits  0-31  low half of the trace clock
 *        32-39  opcode
 *        40-59  dat20
 *        60     p: after the arguments come a 32-bit size and that many bytes
 *        61-63  nargs: number of 32-bit argument words that follow
 *
 * Records are padded with zeros to 8 bytes and never cross a block's end.
 */
#define KTAPE_OPCODE_SHIFT	32
#define KTAPE_DAT20_SHIFT	40
#define KTAPE_P_SHIFT		60
#define KTAPE_NARGS_SHIFT	61
#define KTAPE_DAT20_MASK	0xfffffU
#define KTAPE_NARGS_MAX		7
#define KTAPE_RECORD_ALIGN	8

/* Size in bytes of a record without a blob. */
#define KTAPE_RECORD_SIZE(nargs)	(8 + (((nargs) + 1) / 2) * 8)

#define KTAPE_OPCODES		256
#define KTAPE_MASK_WORDS	4

/*
 * Opcode 255 moves the clock on by more than its low half can tell.  It has
 * nargs = 4: the first two words are the whole time, the others are zero.
 */
#define KTAPE_TIME_EXTEND	255
#define KTAPE_TIME_EXTEND_SIZE	24

/* First opcode of each range; the ranges end where the next begins. */
#define KTAPE_OP_CONTROL	1
#define KTAPE_OP_EXCEPTION	16
#define KTAPE_OP_USER		17
#define KTAPE_OP_KERNEL		32
#define KTAPE_OP_PROBE		240

enum ktape_opcode {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) KTAPE_EV_##NAME = opcode,
#include <ktape/events.h>
	KTAPE_EV_TIME_EXTEND = KTAPE_TIME_EXTEND
};

enum ktape_class {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	KTAPE_CLASS_##NAME = number,
#include <ktape/events.h>
	KTAPE_CLASSES = 32
};

/**
 * enum ktape_task_state - why a thread leaves the CPU
 * @KTAPE_STATE_R: it wants to go on and gave way of its own will
 * @KTAPE_STATE_S: it sleeps and a signal can wake it
 * @KTAPE_STATE_D: it sleeps and no signal can wake it
 * @KTAPE_STATE_T: it was stopped by a signal
 * @KTAPE_STATE_TRACED: it was stopped by a tracer
 * @KTAPE_STATE_X: it is dead
 * @KTAPE_STATE_Z: it is dead and its parent has not asked
 * @KTAPE_STATE_P: it is parked
 * @KTAPE_STATE_I: it sleeps, idle, and does not count as load
 * @KTAPE_STATE_PREEMPTED: it wants to go on and was preempted
 */
enum ktape_task_state {
	KTAPE_STATE_R = 0,
	KTAPE_STATE_S = 1,
	KTAPE_STATE_D = 2,
	KTAPE_STATE_T = 3,
	KTAPE_STATE_TRACED = 4,
	KTAPE_STATE_X = 5,
	KTAPE_STATE_Z = 6,
	KTAPE_STATE_P = 7,
	KTAPE_STATE_I = 8,
	KTAPE_STATE_PREEMPTED = 9
};

/**
 * enum ktape_phase - what a profile or session record marks
 * @KTAPE_PHASE_OFF: recorded until here, not from here on
 * @KTAPE_PHASE_ON: recorded from here on
 */
enum ktape_phase {
	KTAPE_PHASE_OFF = 0,
	KTAPE_PHASE_ON = 1
};

/**
 * enum ktape_severity - how bad an exception is (QNX Neutrino's _TRACE_*)
 * @KTAPE_SW_SEVERITY0: software: for information or testing
 * @KTAPE_SW_SEVERITY1: software: an expected error
 * @KTAPE_SW_SEVERITY2: software: an unexpected fault, recovered
 * @KTAPE_SW_SEVERITY3: software: an unexpected fault, not recovered
 * @KTAPE_HW_SEVERITY0: hardware, likewise
 * @KTAPE_HW_SEVERITY1: hardware, likewise
 * @KTAPE_HW_SEVERITY2: hardware, likewise
 * @KTAPE_HW_SEVERITY3: hardware, likewise
 */
enum ktape_severity {
	KTAPE_SW_SEVERITY0 = 0,
	KTAPE_SW_SEVERITY1 = 1,
	KTAPE_SW_SEVERITY2 = 2,
	KTAPE_SW_SEVERITY3 = 3,
	KTAPE_HW_SEVERITY0 = 4,
	KTAPE_HW_SEVERITY1 = 5,
	KTAPE_HW_SEVERITY2 = 6,
	KTAPE_HW_SEVERITY3 = 7
};

/* An exception's code: 24 bits say whose it is, 8 bits which one. */
#define KTAPE_EXC_CODE(major, minor)	((__u32)(major) << 8 | ((minor) & 0xffU))

/* Majors of the kernel's own exceptions; the others are for everybody. */
#define KTAPE_MAJOR_KERNEL	0xffff00U	/* die, panic, hang, out of memory */
#define KTAPE_MAJOR_REPORT	0xffff01U	/* sanitizers and warnings */
#define KTAPE_MAJOR_RAS		0xffff02U	/* memory, bus and machine checks */
#define KTAPE_MAJOR_BLOCK	0xffff03U	/* block and SCSI errors */
#define KTAPE_MAJOR_NET		0xffff04U	/* transmit timeouts */
#define KTAPE_MAJOR_THERMAL	0xffff05U	/* thermal trips */

/* Their codes.  What comes with each: uapi/README.md. */
#define KTAPE_EXC_DIE		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 0)
#define KTAPE_EXC_PANIC		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 1)
#define KTAPE_EXC_HANG		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 2)
#define KTAPE_EXC_OOM		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 3)
#define KTAPE_EXC_KFENCE	KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 0)
#define KTAPE_EXC_KASAN		KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 1)
#define KTAPE_EXC_WARN		KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 2)
#define KTAPE_EXC_MEMORY	KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 0)
#define KTAPE_EXC_PCIE		KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 1)
#define KTAPE_EXC_MACHINE_CHECK	KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 2)
#define KTAPE_EXC_BLOCK		KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 0)
#define KTAPE_EXC_SCSI_ERROR	KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 1)
#define KTAPE_EXC_SCSI_TIMEOUT	KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 2)
#define KTAPE_EXC_XMIT_TIMEOUT	KTAPE_EXC_CODE(KTAPE_MAJOR_NET, 0)
#define KTAPE_EXC_TRIP		KTAPE_EXC_CODE(KTAPE_MAJOR_THERMAL, 0)

/**
 * enum ktape_ipi - why a CPU interrupts another
 * @KTAPE_IPI_OTHER: none of these
 * @KTAPE_IPI_RESCHEDULE: it has something to run
 * @KTAPE_IPI_CALL: it is to call a function
 * @KTAPE_IPI_CALL_SINGLE: it alone is to call a function
 * @KTAPE_IPI_IRQ_WORK: it has irq_work
 * @KTAPE_IPI_STOP: it is to stop
 * @KTAPE_IPI_TIMER: a timer tick is passed on
 */
enum ktape_ipi {
	KTAPE_IPI_OTHER = 0,
	KTAPE_IPI_RESCHEDULE = 1,
	KTAPE_IPI_CALL = 2,
	KTAPE_IPI_CALL_SINGLE = 3,
	KTAPE_IPI_IRQ_WORK = 4,
	KTAPE_IPI_STOP = 5,
	KTAPE_IPI_TIMER = 6
};

/* ---- rings and blocks ------------------------------------------------- */

/**
 * enum ktape_ring_kind - what a ring, or a stream of a trace, holds
 * @KTAPE_RING_EVENT: the bulk of the events
 * @KTAPE_RING_CONTROL: exceptions and control records
 * @KTAPE_RING_REGISTRY: no ring: a checkpoint of the registry in a saved trace
 */
enum ktape_ring_kind {
	KTAPE_RING_EVENT = 0,
	KTAPE_RING_CONTROL = 1,
	KTAPE_RING_REGISTRY = 2
};
#define KTAPE_RINGS_PER_CPU	2

/**
 * enum ktape_mode - what happens when a ring is full
 * @KTAPE_MODE_OVERWRITE: the oldest block goes
 * @KTAPE_MODE_DISCARD: new events are dropped and counted
 * @KTAPE_MODE_SNAPSHOT: recording ends on all CPUs, as of one moment
 * @KTAPE_MODE_PERSISTENT: as OVERWRITE, in memory that survives a warm reset
 *	(ktape/persist.h); rings cannot be mapped, only read
 *
 * A snapshot session has nothing to read before it is stopped, by itself or by
 * STOP: until then nobody knows where it ends.
 */
enum ktape_mode {
	KTAPE_MODE_OVERWRITE = 0,
	KTAPE_MODE_DISCARD = 1,
	KTAPE_MODE_SNAPSHOT = 2,
	KTAPE_MODE_PERSISTENT = 3
};

/**
 * enum ktape_lost - why an event is not in the ring
 * @KTAPE_LOST_FULL: there was no room
 * @KTAPE_LOST_NESTED: nested contexts went once round the ring while an outer
 *	one had a record open; or a module emitted it in a context in which
 *	nothing can be recorded (an NMI without atomic operations, RCU not
 *	watching the CPU)
 * @KTAPE_LOST_TOO_BIG: it is larger than a block
 * @KTAPE_LOST_SHED: its class has a low priority and the ring was filling up
 * @KTAPE_LOST_RATE: it came more often than its rate limit allows
 * @KTAPE_LOST_REASONS: how many reasons there are
 */
enum ktape_lost {
	KTAPE_LOST_FULL = 0,
	KTAPE_LOST_NESTED = 1,
	KTAPE_LOST_TOO_BIG = 2,
	KTAPE_LOST_SHED = 3,
	KTAPE_LOST_RATE = 4,
	KTAPE_LOST_REASONS = 5
};

/**
 * enum ktape_context - what the CPU was doing
 * @KTAPE_CTX_TASK: running a thread
 * @KTAPE_CTX_SOFTIRQ: in a soft interrupt on top of a thread
 * @KTAPE_CTX_IRQ: in a hard interrupt
 * @KTAPE_CTX_NMI: in a non-maskable interrupt
 * @KTAPE_CTX_INIT: booting
 * @KTAPE_CTX_UNKNOWN: not known; a reader never guesses
 * @KTAPE_CTX_CONTINUED: as at the end of the stream's packet before this one
 */
enum ktape_context {
	KTAPE_CTX_TASK = 0,
	KTAPE_CTX_SOFTIRQ = 1,
	KTAPE_CTX_IRQ = 2,
	KTAPE_CTX_NMI = 3,
	KTAPE_CTX_INIT = 4,
	KTAPE_CTX_UNKNOWN = 5,
	KTAPE_CTX_CONTINUED = 6
};

#define KTAPE_BLOCK_MAGIC	0xc1fc1fc1U	/* CTF 1.8 packet */
#define KTAPE_METADATA_MAGIC	0x75d11d57U	/* CTF 1.8 metadata packet */

/* Flags of struct ktape_block. */
#define KTAPE_BLOCK_CRC		(1U << 0)	/* crc32c is valid */
#define KTAPE_BLOCK_OPEN	(1U << 1)	/* closed by a reader, not by the ring */
#define KTAPE_BLOCK_GAP		(1U << 2)	/* blocks before this one were lost */
#define KTAPE_BLOCK_UNCHECKED \
	(1U << 3) /* survived a reset without a checksum */

/**
 * struct ktape_block - head of a block; CTF 1.8 packet header and context
 * @magic: KTAPE_BLOCK_MAGIC
 * @uuid: the trace: one a load of the module
 * @stream_id: CTF stream class, always 0
 * @instance: CTF stream instance: kind << 32 | cpu
 * @sync_clock: trace clock ...
 * @sync_mono_ns: ... and CLOCK_MONOTONIC at one moment
 * @emitted: events so far that had their bit set, without the one that opens
 *	the next block [C]
 * @filtered: of these, held back by filters [C]
 * @lost: of these, lost, by enum ktape_lost [C]
 * @generation: of the session's profile
 * @tid: thread on the CPU at the first record
 * @prio: its priority, 255 for the deadline class
 * @context: enum ktape_context at the first record
 * @reserved0: zero
 * @flags: KTAPE_BLOCK_*
 * @crc32c: CRC32C of the packet up to its content, with this member zero
 * @reserved1: zero
 * @ts_begin: trace clock at the first record
 * @ts_end: trace clock when the block was closed [C]
 * @content_bits: length of header and records in bits [C]
 * @packet_bits: length of the block in bits
 * @seq: number of the block in its ring, from 1; in a saved trace the number
 *	of the packet in its stream, with gaps where blocks were lost
 * @discarded: events lost in this ring so far [C]; in a saved trace since its
 *	start, with those in lost blocks
 * @cpu: the CPU
 * @kind: enum ktape_ring_kind
 * @reserved2: zero
 *
 * CTF readers see the header (32 bytes) and, from byte 128 on, the context.
 * What lies between is skipped by alignment.
 *
 * Members marked [C] are written when the block is closed, that is, when the
 * next one is opened.  They hold nothing of use while commit <= block end; a
 * reader then takes the content up to commit and the counts of the control
 * page.
 */
struct ktape_block {
	__u32 magic;
	__u8 uuid[16];
	__u32 stream_id;
	__u64 instance;
	__u64 sync_clock;
	__u64 sync_mono_ns;
	__u64 emitted;
	__u64 filtered;
	__u64 lost[KTAPE_LOST_REASONS];
	__u32 generation;
	__s32 tid;
	__u8 prio;
	__u8 context;
	__u16 reserved0;
	__u32 flags;
	__u32 crc32c;
	__u32 reserved1;
	__u64 ts_begin;
	__u64 ts_end;
	__u64 content_bits;
	__u64 packet_bits;
	__u64 seq;
	__u64 discarded;
	__u32 cpu;
	__u32 kind;
	__u64 reserved2;
};

#define KTAPE_BLOCK_HEADER	192	/* sizeof(struct ktape_block) */

/**
 * struct ktape_metadata_packet - head of a CTF 1.8 metadata packet
 * @magic: KTAPE_METADATA_MAGIC
 * @uuid: the trace
 * @checksum: zero, none
 * @content_bits: length of this header and the text in bits
 * @packet_bits: length of the packet in bits
 * @compression: zero
 * @encryption: zero
 * @checksum_scheme: zero
 * @major: 1
 * @minor: 8
 *
 * A pipe begins with such packets.  The header takes 37 bytes, without padding
 * at its end; text follows at once.
 */
struct ktape_metadata_packet {
	__u32 magic;
	__u8 uuid[16];
	__u32 checksum;
	__u32 content_bits;
	__u32 packet_bits;
	__u8 compression;
	__u8 encryption;
	__u8 checksum_scheme;
	__u8 major;
	__u8 minor;
} __attribute__((packed));

/* Flags of struct ktape_ring_page. */
#define KTAPE_RING_FLAG_STOPPED	(1ULL << 0)	/* nothing is recorded */
#define KTAPE_RING_FLAG_FROZEN	(1ULL << 1)	/* a snapshot that is full */

/**
 * struct ktape_ring_page - control page of a ring, mapped read-only
 * @commit: bytes written and published since the session began; the CPU that
 *	owns the ring stores it with release
 * @pad0: zero
 * @tail: everything below is overwritten; stored by the owning CPU
 * @pad1: zero
 * @floor: everything below was cleared; stored by control
 * @consumer: discard mode: everything below may be overwritten; stored by
 *	control from what the consumers report
 * @flags: KTAPE_RING_FLAG_*; stored by control
 * @frozen: trace clock at which a full snapshot ends: records of this time and
 *	later are not in the event rings; stored by control before @flags
 * @pad2: zero
 * @emitted: per class, events that had their bit set
 * @filtered: per class, held back by filters
 * @lost: per reason and class, events that are not in the ring
 *
 * Positions are bytes that only grow.  Block n (from 0) of the ring is at
 * positions [n * block_size, (n + 1) * block_size) and in the mapping at that
 * modulo the ring's size.  On 32-bit kernels positions and counts have 32 bits.
 *
 * Reading: load commit with acquire; everything in [max(tail, floor), commit)
 * may be copied; after the copy a read barrier, and what now lies below tail
 * was overwritten meanwhile and has to be thrown away.  In snapshot mode this
 * holds while STOPPED is set; before, commit may still go back to the moment at
 * which the snapshot ends.
 */
struct ktape_ring_page {
	__u64 commit;
	__u64 pad0[7];
	__u64 tail;
	__u64 pad1[7];
	__u64 floor;
	__u64 consumer;
	__u64 flags;
	__u64 frozen;
	__u64 pad2[4];
	__u64 emitted[KTAPE_CLASSES];
	__u64 filtered[KTAPE_CLASSES];
	__u64 lost[KTAPE_LOST_REASONS][KTAPE_CLASSES];
};

/* ---- registry --------------------------------------------------------- */

/* Types of objects and what their parameters hold: ktape/objects.h. */
#define KTAPE_NAME_SIZE		32

/**
 * struct ktape_object_entry - one named object of the registry, mapped read-only
 * @seq: odd while it is being written; a reader takes it before and after
 * @type: enum ktape_object
 * @flags: zero
 * @id: number within the type (of an ISR: within its CPU)
 * @param1: by type
 * @param2: by type
 * @born: trace clock when it came, of a thread that was there before the module
 *	too, as far as the clock reaches; 0 of other things that were
 * @died: trace clock when it went, 0 while it lives
 * @name: its name, ends in NUL
 */
struct ktape_object_entry {
	__u16 seq;
	__u8 type;
	__u8 flags;
	__u32 id;
	__u32 param1;
	__u32 param2;
	__u64 born;
	__u64 died;
	char name[KTAPE_NAME_SIZE];
};

/* ---- ioctls, rules and numbers: ktape/ioctl.h ------------------------- */

/* Feature bits of struct ktape_features. */
/*
 * MMAP is not there where the data cache has aliases, so that a program would not see
 * what the kernel writes: mmap() then fails with ENODEV.
 */
#define KTAPE_FEATURE_MMAP	(1ULL << 0)	/* rings and names can be mapped */
#define KTAPE_FEATURE_CREATE	(1ULL << 1)	/* sessions can be created */
#define KTAPE_FEATURE_DISCARD	(1ULL << 2)	/* discard mode and consumers */
#define KTAPE_FEATURE_TRACEPOINTS (1ULL << 3)	/* kernel has tracepoints */
#define KTAPE_FEATURE_POS32	(1ULL << 4)	/* positions have 32 bits */
#define KTAPE_FEATURE_FILTER	(1ULL << 5)	/* ktape/filter.h */
#define KTAPE_FEATURE_KPROBE	(1ULL << 6)	/* probes at run time */
#define KTAPE_FEATURE_STACK	(1ULL << 7)	/* call stacks */
#define KTAPE_FEATURE_CGROUP	(1ULL << 8)	/* filter by cgroup */
#define KTAPE_FEATURE_NAMES	(1ULL << 9)	/* ktape/session.h */
#define KTAPE_FEATURE_SNAPSHOT	(1ULL << 10)	/* snapshot mode */
#define KTAPE_FEATURE_TRIGGER	(1ULL << 11)	/* ktape/trigger.h */
#define KTAPE_FEATURE_PERSIST	(1ULL << 12)	/* there is a region for rings */

/**
 * enum ktape_clock - the trace clock of this load of the module
 * @KTAPE_CLOCK_MONO: CLOCK_MONOTONIC in nanoseconds
 * @KTAPE_CLOCK_CYCLES: the CPU's cycle counter
 */
enum ktape_clock {
	KTAPE_CLOCK_MONO = 0,
	KTAPE_CLOCK_CYCLES = 1
};

/**
 * struct ktape_features - what this module can do
 * @size: of the structure
 * @clock: enum ktape_clock
 * @features: KTAPE_FEATURE_*
 * @clock_hz: ticks of the trace clock in a second
 * @page_size: of the kernel
 * @sessions_max: how many sessions there can be
 * @cpus: number of possible CPUs, ids are below it
 * @registry_entries: capacity of the registry
 * @table_hash: of the event table, as in the metadata
 * @uuid: of this load of the module
 * @names_dropped: names that found no room in the registry or were refused
 * @names_reused: entries of what is gone that were used again
 * @names_evicted: names of programs, which have half of it, that newer ones replaced
 */
struct ktape_features {
	__u32 size;
	__u32 clock;
	__u64 features;
	__u64 clock_hz;
	__u32 page_size;
	__u32 sessions_max;
	__u32 cpus;
	__u32 registry_entries;
	__u64 table_hash;
	__u8 uuid[16];
	__u64 names_dropped;
	__u64 names_reused;
	__u64 names_evicted;
};

/**
 * struct ktape_layout_entry - one region that can be mapped
 * @cpu: the CPU, or -1
 * @kind: enum ktape_ring_kind
 * @offset: file offset of the region: for a ring its control page, then its
 *	data; for the registry its entries
 * @ctl_size: bytes of the control page, 0 for the registry
 * @block_size: bytes of a block, 0 for the registry
 * @data_size: bytes of the data
 */
struct ktape_layout_entry {
	__s32 cpu;
	__u32 kind;
	__u64 offset;
	__u32 ctl_size;
	__u32 block_size;
	__u64 data_size;
};

/**
 * struct ktape_layout - the session of this descriptor and its regions
 * @size: of the structure
 * @nr: in: room in @entries; out: how many regions there are
 * @entries: pointer to struct ktape_layout_entry[], may be 0 if @nr is 0
 * @session: number of the session
 * @mode: enum ktape_mode
 * @running: 1 while it records
 * @generation: of its profile
 */
struct ktape_layout {
	__u32 size;
	__u32 nr;
	__u64 entries;
	__u32 session;
	__u32 mode;
	__u32 running;
	__u32 generation;
};

/**
 * enum ktape_profile_op - what to do with the mask
 * @KTAPE_PROFILE_GET: only tell
 * @KTAPE_PROFILE_SET: replace the profile [W]
 * @KTAPE_PROFILE_OR: add events [W]
 * @KTAPE_PROFILE_ANDNOT: take events away [W]
 */
enum ktape_profile_op {
	KTAPE_PROFILE_GET = 0,
	KTAPE_PROFILE_SET = 1,
	KTAPE_PROFILE_OR = 2,
	KTAPE_PROFILE_ANDNOT = 3
};

/* Flags of struct ktape_profile. */
#define KTAPE_PROFILE_NO_CONTEXT (1U << 0)	/* omit context records */

/**
 * struct ktape_profile - the events that a session records
 * @size: of the structure
 * @op: enum ktape_profile_op
 * @flags: in: with SET the flags to take; out: those in force
 * @generation: out: counts the changes
 * @mask: in: operand, bit n is opcode n; out: the profile now in force
 *
 * Control records are always recorded; their bits read as 1.  Bits of opcodes
 * that do not exist: EINVAL, and nothing changes.  Bits of spans and call stacks
 * read as 0: those come by gates and on request (ktape/filter.h).
 */
struct ktape_profile {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 generation;
	__u64 mask[KTAPE_MASK_WORDS];
};

/**
 * struct ktape_command - argument of START, STOP, CLEAR and FLUSH [W]
 * @size: of the structure
 * @flags: zero
 *
 * START and STOP do nothing when the session is in that state already.  After
 * STOP every ring has commit == write and its counts are exact.  START of a
 * snapshot session that is frozen forgets the snapshot, as CLEAR does; ENODEV:
 * the session was destroyed.  FLUSH closes
 * the open blocks of a discard session (EOPNOTSUPP otherwise; EAGAIN when a
 * ring has no room).
 */
struct ktape_command {
	__u32 size;
	__u32 flags;
};

/**
 * struct ktape_stats - counts of one ring
 * @size: of the structure
 * @cpu: in: which CPU
 * @kind: in: which of its rings
 * @flags: zero
 * @commit: bytes published
 * @tail: bytes overwritten
 * @floor: bytes cleared
 * @consumer: bytes consumed, discard mode
 * @emitted: as in the control page
 * @filtered: as in the control page
 * @lost: as in the control page
 */
struct ktape_stats {
	__u32 size;
	__u32 cpu;
	__u32 kind;
	__u32 flags;
	__u64 commit;
	__u64 tail;
	__u64 floor;
	__u64 consumer;
	__u64 emitted[KTAPE_CLASSES];
	__u64 filtered[KTAPE_CLASSES];
	__u64 lost[KTAPE_LOST_REASONS][KTAPE_CLASSES];
};

/**
 * enum ktape_consumer_op - what a reader says of itself
 * @KTAPE_CONSUMER_REGISTER: wait for me, in discard mode [W]; begins at the
 *	oldest data
 * @KTAPE_CONSUMER_UNREGISTER: no longer [W]; close does it as well
 * @KTAPE_CONSUMER_POSITION: I have read up to here
 */
enum ktape_consumer_op {
	KTAPE_CONSUMER_REGISTER = 0,
	KTAPE_CONSUMER_UNREGISTER = 1,
	KTAPE_CONSUMER_POSITION = 2
};

/**
 * struct ktape_position - how far one ring was read
 * @cpu: the CPU
 * @kind: enum ktape_ring_kind
 * @position: bytes: a multiple of the block size, or commit; never less than
 *	before and never more than commit
 */
struct ktape_position {
	__u32 cpu;
	__u32 kind;
	__u64 position;
};

/**
 * struct ktape_consumer - register, unregister, report positions
 * @size: of the structure
 * @op: enum ktape_consumer_op
 * @nr: POSITION: entries in @positions, at most 2 a CPU; else zero
 * @flags: zero
 * @positions: pointer to struct ktape_position[]
 *
 * Positions are checked before any is taken (EINVAL: out of range, going back,
 * or one ring twice).  They also move the cursor of read() and poll().
 */
struct ktape_consumer {
	__u32 size;
	__u32 op;
	__u32 nr;
	__u32 flags;
	__u64 positions;
};

/**
 * struct ktape_metadata - the CTF 1.8 metadata of this load, as text
 * @size: of the structure
 * @flags: zero
 * @length: in: room at @text; out: length of the text, without a NUL
 * @text: where to; nothing is written when the room is too small (EMSGSIZE,
 *	with @length filled)
 */
struct ktape_metadata {
	__u32 size;
	__u32 flags;
	__u64 length;
	__u64 text;
};

/**
 * struct ktape_watermark - when poll() tells a reader to come
 * @size: of the structure
 * @flags: zero
 * @bytes: unread bytes in any one ring; 0 is one block (the value at open)
 */
struct ktape_watermark {
	__u32 size;
	__u32 flags;
	__u64 bytes;
};

#define KTAPE_SESSION_NAME	32	/* bytes of a name, NUL included */

/* Flags of struct ktape_create. */
#define KTAPE_CREATE_LINGER	(1U << 0)	/* it outlives its descriptors */

/**
 * struct ktape_create - a session of one's own [W]
 * @size: of the structure
 * @mode: enum ktape_mode
 * @ring_size: bytes of each event ring; rounded up to a power of two of at
 *	least 4 blocks, at most 2 GiB (1 GiB on 32 bits); 0 is the module's
 *	default
 * @control_size: bytes of each control ring, likewise
 * @block_size: bytes of a block; rounded up to a power of two of at least a
 *	page; 0 is the module's default
 * @flags: KTAPE_CREATE_*; LINGER takes a name
 * @reserved: zero
 * @name: letters, digits, "_", "-", "." after a letter or "_", and NUL; empty:
 *	nobody else finds it
 * @failed_cpu: out, after ENOMEM: the CPU whose ring could not be made, or -1:
 *	all rings together would take more than half of the memory
 * @failed_kind: out: enum ktape_ring_kind of that ring
 * @failed_asked: out: bytes that were wanted, of that ring or all together
 * @failed_had: out: bytes of them that there were
 *
 * Returns a new descriptor (close-on-exec) for which everything said of
 * session 0 holds.  The session begins stopped, with an empty profile, and
 * ends with its last descriptor and mapping; one that lingers ends with
 * DESTROY (ktape/session.h).  EEXIST: another session has that name; EMFILE:
 * there are as many sessions as there can be (sessions that are being made count for
 * both); ENOMEM; EINTR: the caller was killed, and there is no session.
 *
 * A persistent session takes the region of the module, and the default size is
 * the largest that fits.  ENODEV: there is no region; EBUSY: another session
 * has it; ENOSPC: it is too small.
 */
struct ktape_create {
	__u32 size;
	__u32 mode;
	__u64 ring_size;
	__u64 control_size;
	__u32 block_size;
	__u32 flags;
	__u64 reserved;
	char name[KTAPE_SESSION_NAME];
	__s32 failed_cpu;
	__u32 failed_kind;
	__u64 failed_asked;
	__u64 failed_had;
};

#endif /* _KTAPE_ABI_H */

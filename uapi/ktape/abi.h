/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary contract of ktape: records, blocks, ring control pages, registry
 * entries and the structures of the general ioctls.  Rules and history:
 * uapi/README.md.
 *
 * [W]: only with a descriptor that may control its session, else EPERM (ktape/ioctl.h).
 *
 * Everything is little-endian.  Structures have no implicit padding.  Reserved
 * members and members marked "zero" must be zero in arguments and are zero in
 * results.
 */
#ifndef _KTAPE_ABI_H
#define _KTAPE_ABI_H

#include <linux/types.h>

#include <ktape/event_info.h>
#include <ktape/ioctl.h>
#include <ktape/objects.h>

/* ---- records ---------------------------------------------------------- */

/*
 * A record starts with one 64-bit word.  Its upper half has the parts of the code word of
 * QNX Neutrino's TraceEvent().
 *
 *   bits  0-31  low half of the trace clock
 *        32-39  opcode
 *        40-59  dat20
 *        60     p: after the arguments come a 32-bit size and that many bytes
 *        61-63  nargs: number of 32-bit argument words that follow
 *
 * Records are padded with zeros to 8 bytes and never cross a block's end.
 */
#define KTAPE_OPCODE_SHIFT 32
#define KTAPE_DAT20_SHIFT  40
#define KTAPE_P_SHIFT	   60
#define KTAPE_NARGS_SHIFT  61
#define KTAPE_DAT20_MASK   0xfffffU
#define KTAPE_NARGS_MAX	   7
#define KTAPE_RECORD_ALIGN 8

/* Size in bytes of a record without a blob. */
#define KTAPE_RECORD_SIZE(nargs) (8 + (((nargs) + 1) / 2) * 8)

#define KTAPE_OPCODES	 256
#define KTAPE_MASK_WORDS 4

/*
 * Opcode 255, time extension: carries all 64 bits of the trace clock, before the
 * first record whose time has another upper half than the record before it, unless
 * that record opens a block, whose header has the whole time.  It has nargs = 4: the
 * first two words are the time, the others are zero.
 */
#define KTAPE_TIME_EXTEND      255
#define KTAPE_TIME_EXTEND_SIZE 24

/*
 * First opcode of each range; a range ends where the next begins.  One control event,
 * MISSED, is in the range of the kernel, because its own is used up.
 */
#define KTAPE_OP_CONTROL   1
#define KTAPE_OP_EXCEPTION 16
#define KTAPE_OP_USER	   17
#define KTAPE_OP_KERNEL	   32
#define KTAPE_OP_PROBE	   240

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
 * enum ktape_task_state - state of a thread that leaves the CPU
 * @KTAPE_STATE_R: runnable, yielded the CPU
 * @KTAPE_STATE_S: interruptible sleep
 * @KTAPE_STATE_D: uninterruptible sleep
 * @KTAPE_STATE_T: stopped by a signal
 * @KTAPE_STATE_TRACED: stopped by a debugger
 * @KTAPE_STATE_X: dead
 * @KTAPE_STATE_Z: zombie: dead, and its parent has not waited for it
 * @KTAPE_STATE_P: parked
 * @KTAPE_STATE_I: idle: uninterruptible sleep that does not count as load
 * @KTAPE_STATE_PREEMPTED: runnable, was preempted
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
 * enum ktape_phase - what a marker record (profile, filter, session) means
 * @KTAPE_PHASE_OFF: off-marker: in force until here
 * @KTAPE_PHASE_ON: on-marker: in force from here on
 */
enum ktape_phase { KTAPE_PHASE_OFF = 0, KTAPE_PHASE_ON = 1 };

/**
 * enum ktape_severity - severity of an exception (QNX Neutrino's _TRACE_*)
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

/* An exception's code: major (24 bits) = its source, minor (8 bits) = which one. */
#define KTAPE_EXC_CODE(major, minor) ((__u32)(major) << 8 | ((minor)&0xffU))

/* Majors of the kernel's own exceptions.  Programs and modules use the others. */
#define KTAPE_MAJOR_KERNEL  0xffff00U /* die, panic, hang, out of memory */
#define KTAPE_MAJOR_REPORT  0xffff01U /* sanitizers and warnings */
#define KTAPE_MAJOR_RAS	    0xffff02U /* memory, bus and machine checks */
#define KTAPE_MAJOR_BLOCK   0xffff03U /* block and SCSI errors */
#define KTAPE_MAJOR_NET	    0xffff04U /* transmit timeouts */
#define KTAPE_MAJOR_THERMAL 0xffff05U /* thermal trips */

/*
 * Codes of the kernel's exceptions.  Arguments of each: uapi/README.md.  The minors of
 * KTAPE_MAJOR_REPORT are the numbers of the kernel's enum error_detector.
 */
#define KTAPE_EXC_DIE		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 0)
#define KTAPE_EXC_PANIC		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 1)
#define KTAPE_EXC_HANG		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 2)
#define KTAPE_EXC_OOM		KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 3)
#define KTAPE_EXC_KFENCE	KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 0)
#define KTAPE_EXC_KASAN		KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 1)
#define KTAPE_EXC_WARN		KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, 2)
#define KTAPE_EXC_MEMORY	KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 0)
#define KTAPE_EXC_PCIE		KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 1)
#define KTAPE_EXC_MACHINE_CHECK KTAPE_EXC_CODE(KTAPE_MAJOR_RAS, 2)
#define KTAPE_EXC_BLOCK		KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 0)
#define KTAPE_EXC_SCSI_ERROR	KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 1)
#define KTAPE_EXC_SCSI_TIMEOUT	KTAPE_EXC_CODE(KTAPE_MAJOR_BLOCK, 2)
#define KTAPE_EXC_XMIT_TIMEOUT	KTAPE_EXC_CODE(KTAPE_MAJOR_NET, 0)
#define KTAPE_EXC_TRIP		KTAPE_EXC_CODE(KTAPE_MAJOR_THERMAL, 0)

/* ---- rings and blocks ------------------------------------------------- */

/**
 * enum ktape_ring_kind - what a ring, or a stream of a trace, holds
 * @KTAPE_RING_EVENT: all events except those of the control ring
 * @KTAPE_RING_CONTROL: exceptions and control records
 * @KTAPE_RING_REGISTRY: not a ring: a checkpoint of the registry in a trace
 */
enum ktape_ring_kind {
	KTAPE_RING_EVENT = 0,
	KTAPE_RING_CONTROL = 1,
	KTAPE_RING_REGISTRY = 2
};
#define KTAPE_RINGS_PER_CPU 2

/**
 * enum ktape_mode - what happens when a ring is full
 * @KTAPE_MODE_OVERWRITE: the oldest block is overwritten
 * @KTAPE_MODE_DISCARD: new events are dropped and counted as lost
 * @KTAPE_MODE_SNAPSHOT: the session stops; the trace ends at the same time on all
 *	CPUs
 * @KTAPE_MODE_PERSISTENT: as OVERWRITE, in memory that survives a warm reset
 *	(ktape/persist.h); rings can be read, but not mapped
 *
 * A snapshot session cannot be read before it has stopped, because its end is not
 * known until then.
 */
enum ktape_mode {
	KTAPE_MODE_OVERWRITE = 0,
	KTAPE_MODE_DISCARD = 1,
	KTAPE_MODE_SNAPSHOT = 2,
	KTAPE_MODE_PERSISTENT = 3
};

/**
 * enum ktape_lost - why an event was lost
 * @KTAPE_LOST_FULL: the ring had no room, or its session did not record
 * @KTAPE_LOST_NESTED: nested writers filled the whole ring while an outer writer
 *	had a record open; or the event came where nothing can be recorded: in an
 *	NMI without atomic operations, or, if a module emitted it, while RCU did
 *	not watch the CPU, or while four others were being emitted there
 * @KTAPE_LOST_TOO_BIG: the record is larger than a block
 * @KTAPE_LOST_SHED: its class has a low priority, and the ring was fuller than the
 *	policy allows (ktape/session.h)
 * @KTAPE_LOST_RATE: its rate limit was exceeded
 * @KTAPE_LOST_REASONS: number of reasons
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
 * enum ktape_context - context of the CPU
 * @KTAPE_CTX_TASK: thread
 * @KTAPE_CTX_SOFTIRQ: soft interrupt
 * @KTAPE_CTX_IRQ: hard interrupt
 * @KTAPE_CTX_NMI: non-maskable interrupt
 * @KTAPE_CTX_INIT: boot
 * @KTAPE_CTX_UNKNOWN: not known, and readers must not guess
 * @KTAPE_CTX_CONTINUED: the context at the end of the stream's previous packet
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

#define KTAPE_BLOCK_MAGIC    0xc1fc1fc1U /* CTF 1.8 packet */
#define KTAPE_METADATA_MAGIC 0x75d11d57U /* CTF 1.8 metadata packet */

/* Flags of struct ktape_block. */
#define KTAPE_BLOCK_CRC	 (1U << 0) /* crc32c is valid */
#define KTAPE_BLOCK_OPEN (1U << 1) /* part: closed by read(), not by the ring */
#define KTAPE_BLOCK_GAP	 (1U << 2) /* blocks before this one were lost */
#define KTAPE_BLOCK_UNCHECKED \
	(1U << 3) /* survived a reset without a checksum */

/**
 * struct ktape_block - header of a block; CTF 1.8 packet header and context
 * @magic: KTAPE_BLOCK_MAGIC
 * @uuid: identifies the trace; new at each load of the module
 * @stream_id: CTF stream class, always 0
 * @instance: CTF stream instance: kind << 32 | cpu
 * @sync_clock: trace clock ...
 * @sync_mono_ns: ... and CLOCK_MONOTONIC at one moment
 * @emitted: events so far whose profile bit was set, without the one that opens
 *	the next block [C]
 * @filtered: number of these that filters held back [C]
 * @lost: number of these that were lost, by enum ktape_lost [C]
 * @generation: generation of the session's profile and filters
 * @tid: thread on the CPU at the first record; may be -1 if @context is
 *	KTAPE_CTX_UNKNOWN
 * @prio: priority of that thread, 255 for the deadline class
 * @context: enum ktape_context at the first record
 * @reserved0: zero
 * @flags: KTAPE_BLOCK_*
 * @crc32c: CRC32C of the packet up to its content, with this member zero
 * @reserved1: zero
 * @ts_begin: trace clock at the first record
 * @ts_end: trace clock when the block was closed [C]
 * @content_bits: length of header and records in bits [C]
 * @packet_bits: length of the block in bits
 * @seq: number of the block in its ring, from 1; in a saved trace number of the
 *	packet in its stream, with gaps where blocks were lost
 * @discarded: events lost in this ring so far [C]; in a saved trace those lost
 *	since its start, including the ones in lost blocks
 * @cpu: the CPU
 * @kind: enum ktape_ring_kind
 * @reserved2: zero
 *
 * CTF readers see the header (32 bytes) and, from byte 128 on, the context.
 * Alignment makes them skip what lies between.
 *
 * Members marked [C] are written when the block is closed, which is when the next
 * one is opened.  They are not valid while commit <= end of the block.  A reader
 * then takes the content up to commit, and the counts from the control page.
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

#define KTAPE_BLOCK_HEADER 192	       /* sizeof(struct ktape_block) */
#define KTAPE_BLOCK_MAX	   (64U << 20) /* largest block, in bytes */

/**
 * struct ktape_metadata_packet - header of a CTF 1.8 metadata packet
 * @magic: KTAPE_METADATA_MAGIC
 * @uuid: identifies the trace
 * @checksum: zero = none
 * @content_bits: length of this header and the text in bits
 * @packet_bits: length of the packet in bits
 * @compression: zero
 * @encryption: zero
 * @checksum_scheme: zero
 * @major: 1
 * @minor: 8
 *
 * The stream of read() begins with such packets.  The header has 37 bytes, and the
 * text follows without padding.
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
#define KTAPE_RING_FLAG_STOPPED (1ULL << 0) /* the session does not record */
#define KTAPE_RING_FLAG_FROZEN	(1ULL << 1) /* the snapshot is full */

/**
 * struct ktape_ring_page - control page of a ring, mapped read-only
 * @commit: position behind the last published record; stored with release by the
 *	CPU that owns the ring
 * @pad0: zero
 * @tail: data below this position was overwritten; stored by the owning CPU
 * @pad1: zero
 * @floor: data below this position was cleared; stored by the session's control
 * @consumer: discard mode: data below this position may be overwritten; stored by
 *	control, from the positions of the consumers
 * @flags: KTAPE_RING_FLAG_*; stored by control
 * @frozen: trace clock at which a full snapshot ends: event rings hold no records
 *	of this time or later; 0 = not full; stored by control before @flags
 * @pad2: zero
 * @emitted: per class, events whose profile bit was set
 * @filtered: per class, number of these that filters held back
 * @lost: per reason and class, number of these that were lost
 *
 * Positions count bytes since the session was created and only grow; the end of a full
 * snapshot alone moves commit back.  Block n
 * (from 0) is at positions [n * block_size, (n + 1) * block_size), and in the
 * mapping at these positions modulo the ring's size.
 *
 * 32-bit kernels (KTAPE_FEATURE_POS32) cannot store 64 bits at once.  There a
 * position or count has two words: the lower 32 bits, and an upper word, which is
 * the value without its lower 29 bits.  One of the two may be newer.  The value is
 * the number with this lower word that is nearest to upper * 2^29 + 2^28.  (Below
 * 2^29 all 64 bits together are the value.)  Load the upper word, the lower one, and
 * the upper one again, and repeat that if it has changed.  The upper word of tail is
 * that of commit.  If the upper word of floor is 0xffffffff, floor is being stored:
 * load it again.  consumer has only a lower word; in discard mode it is at most a ring
 * below commit.  A 32-bit program on a 64-bit kernel loads the halves of a value in the
 * same order, but all of them are plain halves: tail has its own upper one.
 *
 * To read: load commit with acquire.  Copy data in [max(tail, floor), commit).
 * Execute a read barrier and load tail again: what now lies below tail was
 * overwritten during the copy and must be discarded.  A ring in snapshot mode may
 * be read only while STOPPED is set, because the end of the snapshot moves commit
 * back.
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
#define KTAPE_NAME_SIZE 32

/**
 * struct ktape_object_entry - one named object of the registry, mapped read-only
 * @seq: odd while the entry is written; a copy is valid if @seq was even and the
 *	same before and after copying
 * @type: enum ktape_object
 * @flags: zero
 * @id: number within the type (of an ISR: within its CPU)
 * @param1: depends on @type
 * @param2: depends on @type
 * @born: trace clock when the object was created, also for threads older than the
 *	module, as far as the clock reaches back; 0 = before the module was loaded
 * @died: trace clock when the object went away; 0 = it exists
 * @name: name, NUL-terminated
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

/*
 * Feature bits of struct ktape_features.
 *
 * MMAP is missing if the data cache has aliases, because a program would not see
 * what the kernel writes.  mmap() then fails with ENODEV.
 *
 * GROWS: the registry begins with registry= entries and grows.  What is mapped stays
 * valid.  New entries are behind it: ask LAYOUT again for @data_size of the registry's
 * region, and map that.
 */
#define KTAPE_FEATURE_MMAP	  (1ULL << 0) /* rings and names can be mapped */
#define KTAPE_FEATURE_CREATE	  (1ULL << 1) /* sessions can be created */
#define KTAPE_FEATURE_DISCARD	  (1ULL << 2) /* discard mode and consumers */
#define KTAPE_FEATURE_TRACEPOINTS (1ULL << 3) /* kernel has tracepoints */
#define KTAPE_FEATURE_POS32	  (1ULL << 4) /* struct ktape_ring_page: two words */
#define KTAPE_FEATURE_FILTER	  (1ULL << 5) /* ktape/filter.h */
#define KTAPE_FEATURE_KPROBE	  (1ULL << 6) /* run-time probes */
#define KTAPE_FEATURE_STACK	  (1ULL << 7) /* call stacks */
#define KTAPE_FEATURE_CGROUP	  (1ULL << 8) /* filter by cgroup */
#define KTAPE_FEATURE_NAMES	  (1ULL << 9) /* named sessions, ktape/session.h */
#define KTAPE_FEATURE_SNAPSHOT	  (1ULL << 10) /* snapshot mode */
#define KTAPE_FEATURE_TRIGGER	  (1ULL << 11) /* ktape/trigger.h */
#define KTAPE_FEATURE_PERSIST	  (1ULL << 12) /* there is a persistent region */
#define KTAPE_FEATURE_GROWS	  (1ULL << 13) /* the registry grows */

/**
 * enum ktape_clock - source of the trace clock of this load of the module
 * @KTAPE_CLOCK_MONO: CLOCK_MONOTONIC in nanoseconds
 * @KTAPE_CLOCK_CYCLES: the CPU's cycle counter
 */
enum ktape_clock { KTAPE_CLOCK_MONO = 0, KTAPE_CLOCK_CYCLES = 1 };

/**
 * struct ktape_features - what this module and this kernel can do
 * @size: bytes of the structure
 * @clock: enum ktape_clock
 * @features: KTAPE_FEATURE_*
 * @clock_hz: ticks of the trace clock per second
 * @page_size: bytes of a page of the kernel
 * @sessions_max: maximum number of sessions
 * @cpus: all CPU numbers are below this
 * @registry_entries: entries of the registry now
 * @table_hash: hash of the event table, as in the metadata
 * @uuid: UUID of this load of the module
 * @names_dropped: names that found no room in the registry or were refused: the sum
 *	of @no_room without KTAPE_NO_ROOM_REGION
 * @names_reused: entries of dead objects whose place another object took
 * @names_evicted: names given by programs that newer names of programs replaced;
 *	such names may take half of what the registry may have
 * @registry_max: entries that the registry can have
 * @registry_limit: why it does not grow now: KTAPE_NO_ROOM_LIMIT, _MEMORY; 0 = it can
 * @no_room: names without room, by enum ktape_no_room
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
	__u32 registry_max;
	__u32 registry_limit;
	__u64 no_room[KTAPE_NO_ROOM_REASONS];
};

/**
 * struct ktape_layout_entry - one region that can be mapped
 * @cpu: CPU of the ring; -1 for the registry
 * @kind: enum ktape_ring_kind
 * @offset: file offset of the region in bytes.  A ring's region is its control
 *	page, followed by its blocks; the registry's is its entries
 * @ctl_size: bytes of the control page, 0 for the registry
 * @block_size: bytes of a block, 0 for the registry
 * @data_size: bytes of the blocks or of the entries
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
 * struct ktape_layout - the session of this descriptor and its regions (LAYOUT)
 * @size: bytes of the structure
 * @nr: in: capacity of @entries; out: number of regions, even if larger
 * @entries: pointer to struct ktape_layout_entry[], may be 0 if @nr is 0
 * @session: number of the session; ~0 = it has ended and has none
 * @mode: enum ktape_mode
 * @running: 1 while the session records
 * @generation: number of changes of its profile and filters, and of starts
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
 * @KTAPE_PROFILE_GET: only return the profile
 * @KTAPE_PROFILE_SET: replace the profile [W]
 * @KTAPE_PROFILE_OR: add events [W]
 * @KTAPE_PROFILE_ANDNOT: remove events [W]
 */
enum ktape_profile_op {
	KTAPE_PROFILE_GET = 0,
	KTAPE_PROFILE_SET = 1,
	KTAPE_PROFILE_OR = 2,
	KTAPE_PROFILE_ANDNOT = 3
};

/* Flags of struct ktape_profile. */
#define KTAPE_PROFILE_NO_CONTEXT (1U << 0) /* omit context records */

/**
 * struct ktape_profile - the events that a session records (PROFILE)
 * @size: bytes of the structure
 * @op: enum ktape_profile_op
 * @flags: in: KTAPE_PROFILE_* to set with SET, else zero; out: flags in force
 * @generation: in: zero; out: number of changes of profile and filters, and of
 *	starts
 * @mask: in: operand, bit n is opcode n; out: profile in force
 *
 * Control events are always recorded, and their bits read as 1, but that of MISSED as 0.
 * Bits of spans and call stacks read as 0, because gates and the stack filter request
 * them (ktape/filter.h).  EINVAL: a bit of an opcode that does not exist; nothing
 * changes.
 */
struct ktape_profile {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 generation;
	__u64 mask[KTAPE_MASK_WORDS];
};

/**
 * struct ktape_command - argument of START, STOP, CLEAR, FLUSH, PERSIST_DROP [W]
 * @size: bytes of the structure
 * @flags: zero
 *
 * START begins to record, unless the session records.  If a snapshot is full, START
 * discards it first.  ENODEV: the session was destroyed.
 *
 * STOP ends recording, if the session records.  Afterwards all records are
 * published and the counts are exact.
 *
 * CLEAR discards what was recorded.
 *
 * FLUSH closes the open blocks of a discard session.  EOPNOTSUPP: another mode;
 * EAGAIN: a ring has no room for another block.
 *
 * PERSIST_DROP: see struct ktape_persist_read.
 */
struct ktape_command {
	__u32 size;
	__u32 flags;
};

/**
 * struct ktape_stats - positions and counts of one ring (STATS)
 * @size: bytes of the structure
 * @cpu: in: CPU of the ring
 * @kind: in: enum ktape_ring_kind
 * @flags: zero
 * @commit: as in struct ktape_ring_page
 * @tail: as in struct ktape_ring_page
 * @floor: as in struct ktape_ring_page
 * @consumer: as in struct ktape_ring_page
 * @emitted: as in struct ktape_ring_page
 * @filtered: as in struct ktape_ring_page
 * @lost: as in struct ktape_ring_page
 * @in_pieces: bytes of the blocks that are in smaller pieces of memory, which the
 *	kernel maps in a row, because it had no piece of a block's size
 *
 * ENXIO: there is no such ring.
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
	__u64 in_pieces;
};

/**
 * enum ktape_consumer_op - what a reader reports
 * @KTAPE_CONSUMER_REGISTER: become a consumer, for which a discard session waits;
 *	begins at the oldest data [W]
 * @KTAPE_CONSUMER_UNREGISTER: stop being a consumer, as on close [W]
 * @KTAPE_CONSUMER_POSITION: data below the given positions was read
 */
enum ktape_consumer_op {
	KTAPE_CONSUMER_REGISTER = 0,
	KTAPE_CONSUMER_UNREGISTER = 1,
	KTAPE_CONSUMER_POSITION = 2
};

/**
 * struct ktape_position - how far one ring was read
 * @cpu: CPU of the ring
 * @kind: enum ktape_ring_kind
 * @position: position of the next byte to read: a multiple of the block size, or
 *	commit; at least the former position and at most commit
 */
struct ktape_position {
	__u32 cpu;
	__u32 kind;
	__u64 position;
};

/**
 * struct ktape_consumer - register, unregister, report positions (CONSUMER)
 * @size: bytes of the structure
 * @op: enum ktape_consumer_op
 * @nr: POSITION: entries of @positions, at most 2 per CPU; else zero
 * @flags: zero
 * @positions: POSITION: pointer to struct ktape_position[]; else zero
 *
 * All positions are checked before any takes effect.  EINVAL: one is out of range or
 * moves back, one ring occurs twice, or a snapshot session records.  Positions
 * also move the cursor of read() and poll().
 */
struct ktape_consumer {
	__u32 size;
	__u32 op;
	__u32 nr;
	__u32 flags;
	__u64 positions;
};

/**
 * struct ktape_metadata - the CTF 1.8 metadata of this load, as text (METADATA)
 * @size: bytes of the structure
 * @flags: zero
 * @length: in: bytes of the buffer @text; out: bytes of the text, without a NUL
 * @text: pointer to the buffer
 *
 * EMSGSIZE: the buffer is too small; nothing was written, and @length is filled.
 */
struct ktape_metadata {
	__u32 size;
	__u32 flags;
	__u64 length;
	__u64 text;
};

/**
 * struct ktape_watermark - how much data makes poll() return (WATERMARK)
 * @size: bytes of the structure
 * @flags: zero
 * @bytes: unread bytes in any one ring, at most the size of an event ring; 0 = one
 *	block, the value at open
 */
struct ktape_watermark {
	__u32 size;
	__u32 flags;
	__u64 bytes;
};

#define KTAPE_SESSION_NAME 32 /* bytes of a name, NUL included */

/* Flags of struct ktape_create. */
#define KTAPE_CREATE_LINGER (1U << 0) /* outlives its descriptors */
#define KTAPE_CREATE_LOG    (1U << 1) /* may record the kernel's log */

/**
 * struct ktape_create - create a session (CREATE) [W]
 * @size: bytes of the structure
 * @mode: enum ktape_mode
 * @ring_size: bytes of each event ring; rounded up to a power of two of at
 *	least 4 blocks; at most 2 GiB (1 GiB on 32 bits); 0 = the module's
 *	default
 * @control_size: bytes of each control ring, rounded and limited likewise; 0 = 64 KiB;
 *	in mode discard an eighth of the event ring, if that is more; in mode persistent
 *	an eighth, at most 256 KiB
 * @block_size: bytes of a block; rounded up to a power of two of at least a
 *	page; at most KTAPE_BLOCK_MAX and what the kernel can allocate in one
 *	piece; 0 = the module's default
 * @flags: KTAPE_CREATE_*; LINGER requires a name, LOG CAP_SYSLOG
 * @reserved: zero
 * @name: a letter or "_", then letters, digits, "_", "-" and ".";
 *	NUL-terminated; empty = none, and the session cannot be found by name
 * @failed_cpu: in: zero; out, after ENOMEM: CPU whose ring could not be
 *	allocated; -1 = all rings together would exceed half of the memory
 * @failed_kind: in: zero; out: enum ktape_ring_kind of that ring
 * @failed_asked: in: zero; out: bytes requested, for that ring or all rings
 * @failed_had: in: zero; out: bytes of these that could be allocated, or that are
 *	left of the half
 *
 * Returns a new descriptor (close-on-exec), which can do all that a descriptor of
 * open(2) can do for session 0.  The session is stopped and has an empty profile.
 * It ends with its last descriptor that may control it, mappings of such included,
 * or, with LINGER, with DESTROY (ktape/session.h).
 *
 * Only a session with LOG records class console, whose texts have kernel addresses;
 * OPEN needs CAP_SYSLOG for it.  In other sessions the markers do not have these events,
 * which count as filtered, if the kernel lets them be counted.
 *
 * EPERM: the caller may not open the device, or asks for LOG without CAP_SYSLOG; EEXIST: another
 * session has that name; EMFILE: there are as many sessions as possible; ENOMEM;
 * EINTR: the caller was killed.  Sessions that are still being created count for EEXIST
 * and EMFILE.
 *
 * A persistent session uses the module's region, and the default size is the
 * largest that fits.  ENODEV: there is no region; EBUSY: another session has it,
 * or the system hibernates; ENOSPC: the region is too small.
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

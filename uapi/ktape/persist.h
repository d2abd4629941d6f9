/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Rings in memory that survives a warm reset: how the region is laid out, and
 * the ioctls to get at what an earlier load has left there.
 *
 *   page 0	struct ktape_persist, the superblock
 *		rings: struct ktape_persist_ring[nr_rings]
 *		metadata: CTF text
 *		registry: struct ktape_object_entry[registry_entries]
 *		of each ring: its control page, its checks, its blocks
 *   last page	the superblock again
 *
 * The memory of persist= is two regions, one in each half, rounded down to whole
 * pages: a load of the module lays out the one without a trace, or else the older
 * one, so that what the load before has left stays until somebody has taken it.
 *
 * Whoever reads a region takes nothing in it for granted.
 */
#ifndef _KTAPE_PERSIST_H
#define _KTAPE_PERSIST_H

#include <ktape/abi.h>

#define KTAPE_PERSIST_MAGIC	0x4d454d455041544bULL	/* "KTAPEMEM" */
#define KTAPE_PERSIST_VERSION	1

/**
 * enum ktape_persist_state - how far a region's session has come
 * @KTAPE_PERSIST_RECORDING: it was set up; found after a reset: nobody had the
 *	time to say why
 * @KTAPE_PERSIST_STOPPED: the session ended, or the module was unloaded
 * @KTAPE_PERSIST_PANIC: the kernel panicked
 * @KTAPE_PERSIST_REBOOT: the system was shut down or rebooted
 */
enum ktape_persist_state {
	KTAPE_PERSIST_RECORDING = 1,
	KTAPE_PERSIST_STOPPED = 2,
	KTAPE_PERSIST_PANIC = 3,
	KTAPE_PERSIST_REBOOT = 4
};

/**
 * struct ktape_persist - the superblock, at the begin of the first and the last
 *	page of a region
 * @magic: KTAPE_PERSIST_MAGIC
 * @version: KTAPE_PERSIST_VERSION
 * @crc32c: CRC32C of everything before @state, with this member zero
 * @uuid: the trace, that of the load of the module
 * @table_hash: of the event table
 * @size: bytes of the region
 * @here: offset of this superblock in the region
 * @page_size: of the kernel; the region and all its parts are aligned to it
 * @clock: enum ktape_clock
 * @clock_hz: ticks of the trace clock in a second
 * @start_clock: trace clock ...
 * @start_mono_ns: ... CLOCK_MONOTONIC ...
 * @start_boot_ns: ... CLOCK_BOOTTIME ...
 * @start_real_ns: ... and CLOCK_REALTIME when the region was set up
 * @rings: offset of struct ktape_persist_ring[]
 * @metadata: offset of the CTF metadata
 * @metadata_size: its bytes
 * @registry: offset of struct ktape_object_entry[]
 * @nr_rings: how many rings
 * @registry_entries: how many entries; those of type 0 are not in use, those
 *	with an odd seq were being written
 * @rings_crc32c: CRC32C of the table of rings
 * @metadata_crc32c: CRC32C of the metadata
 * @pos_bits: 64, or 32 where positions and counts have 32 bits
 * @sequence: the later of the two halves has the higher one, also where no clock
 *	tells; counts on beyond the largest; 0: not told
 * @state: enum ktape_persist_state, changes while it is in use
 * @pad: zero
 */
struct ktape_persist {
	__u64 magic;
	__u32 version;
	__u32 crc32c;
	__u8 uuid[16];
	__u64 table_hash;
	__u64 size;
	__u64 here;
	__u32 page_size;
	__u32 clock;
	__u64 clock_hz;
	__u64 start_clock;
	__u64 start_mono_ns;
	__u64 start_boot_ns;
	__u64 start_real_ns;
	__u64 rings;
	__u64 metadata;
	__u64 metadata_size;
	__u64 registry;
	__u32 nr_rings;
	__u32 registry_entries;
	__u32 rings_crc32c;
	__u32 metadata_crc32c;
	__u32 pos_bits;
	__u32 sequence;
	__u32 state;
	__u32 pad;
};

/**
 * struct ktape_persist_ring - one ring of a region
 * @cpu: the CPU
 * @kind: enum ktape_ring_kind, EVENT or CONTROL
 * @page: offset of struct ktape_ring_page; commit and tail live there
 * @checks: offset of struct ktape_persist_check[], one a block
 * @blocks: offset of the blocks
 * @block_size: bytes of a block
 * @nr_blocks: how many
 */
struct ktape_persist_ring {
	__u32 cpu;
	__u32 kind;
	__u64 page;
	__u64 checks;
	__u64 blocks;
	__u32 block_size;
	__u32 nr_blocks;
};

/**
 * struct ktape_persist_check - the checksum of a closed block
 * @seq: number of the block; another number than that in its head: there is
 *	none
 * @crc32c: CRC32C of the block's content as it is in the ring
 * @check: CRC32C of the two members above; wrong: there is none
 *
 * Checksums are not written into the blocks, whose words are those of the CPU
 * that owns the ring: somebody else computes them when commit has passed.
 */
struct ktape_persist_check {
	__u64 seq;
	__u32 crc32c;
	__u32 check;
};

/* Flags of struct ktape_persist_info. */
#define KTAPE_PERSIST_REGION	(1U << 0)	/* there is such memory */
#define KTAPE_PERSIST_IN_USE	(1U << 1)	/* a session has a half */

/**
 * struct ktape_persist_info - the memory, and what earlier loads left there
 * @size: of the structure
 * @flags: KTAPE_PERSIST_*
 * @region_size: bytes of the memory, both halves
 * @old_size: bytes that can be read of the former content, of both halves; 0:
 *	there is none
 */
struct ktape_persist_info {
	__u32 size;
	__u32 flags;
	__u64 region_size;
	__u64 old_size;
};

#define KTAPE_PERSIST_READ_MAX	(1U << 20)

/**
 * struct ktape_persist_read - read the former content, as it was found
 * @size: of the structure
 * @flags: zero
 * @offset: in the memory
 * @length: in: room at @data; out: bytes read, at most KTAPE_PERSIST_READ_MAX; 0
 *	at the end
 * @data: where to
 *
 * ENODATA: there is none; EPERM: the caller may not open the device, whatever its
 * descriptor is; EINTR: killed while another caller reads.
 *
 * PERSIST_DROP [W] takes struct ktape_command and forgets the former content,
 * also in the memory.  It fails for the same reasons.
 */
struct ktape_persist_read {
	__u32 size;
	__u32 flags;
	__u64 offset;
	__u64 length;
	__u64 data;
};

#endif /* _KTAPE_PERSIST_H */

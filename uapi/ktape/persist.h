/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Rings in memory that survives a warm reset: the layout of a region, and the
 * structures of the ioctls that read what an earlier load left there.
 *
 *   page 0	struct ktape_persist, the superblock
 *		rings: struct ktape_persist_ring[nr_rings]
 *		metadata: CTF text
 *		registry: struct ktape_object_entry[registry_entries]
 *		for each ring: its control page, its checks, its blocks
 *   last page	the superblock again
 *
 * The memory of persist= has two regions, one in each half, rounded down to whole
 * pages.  A load of the module lays out the region without a trace, or else the
 * one with the older trace.  So the trace of the load before stays until it is
 * discarded (PERSIST_DROP) or a later load lays out its region.
 *
 * The content of a region may be damaged: a reader has to check everything before
 * it uses it.
 */
#ifndef _KTAPE_PERSIST_H
#define _KTAPE_PERSIST_H

#include <ktape/abi.h>

#define KTAPE_PERSIST_MAGIC   0x4d454d455041544bULL /* "KTAPEMEM" */
#define KTAPE_PERSIST_VERSION 1

/**
 * enum ktape_persist_state - state of a region's session
 * @KTAPE_PERSIST_RECORDING: the session was set up; after a reset this means that
 *	the reset came without warning
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
 * struct ktape_persist - superblock, at the start of the first and of the last
 *	page of a region
 * @magic: KTAPE_PERSIST_MAGIC
 * @version: KTAPE_PERSIST_VERSION
 * @crc32c: CRC32C of all members before @state, with this member zero
 * @uuid: identifies the trace; UUID of the load of the module
 * @table_hash: hash of the event table
 * @size: bytes of the region
 * @here: offset of this superblock in the region
 * @page_size: bytes of a page of the kernel; the region and all its parts are
 *	aligned to it
 * @clock: enum ktape_clock
 * @clock_hz: ticks of the trace clock per second
 * @start_clock: trace clock ...
 * @start_mono_ns: ... CLOCK_MONOTONIC ...
 * @start_boot_ns: ... CLOCK_BOOTTIME ...
 * @start_real_ns: ... and CLOCK_REALTIME when the region was set up
 * @rings: offset of struct ktape_persist_ring[]
 * @metadata: offset of the CTF metadata
 * @metadata_size: bytes of the CTF metadata
 * @registry: offset of struct ktape_object_entry[]
 * @nr_rings: number of rings
 * @registry_entries: number of registry entries; those of type 0 are not in use,
 *	those with an odd seq were being written
 * @rings_crc32c: CRC32C of the table of rings
 * @metadata_crc32c: CRC32C of the metadata
 * @pos_bits: 64; 32: positions and counts in control pages have two words, see
 *	struct ktape_ring_page
 * @sequence: higher in the half that was laid out later; wraps; 0 = not known
 * @state: enum ktape_persist_state, changes while the region is in use
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
 * @cpu: CPU of the ring
 * @kind: enum ktape_ring_kind, EVENT or CONTROL
 * @page: offset of struct ktape_ring_page
 * @checks: offset of struct ktape_persist_check[], one per block
 * @blocks: offset of the blocks
 * @block_size: bytes of a block
 * @nr_blocks: number of blocks
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
 * @seq: number of the block; if it differs from the number in the block's header,
 *	the block has no checksum
 * @crc32c: CRC32C of the block's content as it is in the ring
 * @check: CRC32C of the two members above; if it is wrong, the block has no
 *	checksum
 *
 * A worker computes checksums once commit has passed a block.  They are not in
 * the block, because only the CPU that owns the ring may write there.
 */
struct ktape_persist_check {
	__u64 seq;
	__u32 crc32c;
	__u32 check;
};

/* Flags of struct ktape_persist_info. */
#define KTAPE_PERSIST_REGION (1U << 0) /* the module has persist= memory */
#define KTAPE_PERSIST_IN_USE (1U << 1) /* a session uses one half */

/**
 * struct ktape_persist_info - the memory of persist= (PERSIST_INFO)
 * @size: bytes of the structure
 * @flags: in: zero; out: KTAPE_PERSIST_REGION, _IN_USE
 * @region_size: in: zero; out: bytes of the memory, both halves; 0 = none
 * @old_size: in: zero; out: bytes of the former content, that is what earlier loads
 *	left in both halves; 0 = none
 */
struct ktape_persist_info {
	__u32 size;
	__u32 flags;
	__u64 region_size;
	__u64 old_size;
};

#define KTAPE_PERSIST_READ_MAX (1U << 20)

/**
 * struct ktape_persist_read - read the former content (PERSIST_READ)
 * @size: bytes of the structure
 * @flags: zero
 * @offset: byte of the memory at which to begin
 * @length: in: bytes of the buffer @data; out: bytes read, at most
 *	KTAPE_PERSIST_READ_MAX; 0 = the end
 * @data: pointer to the buffer
 *
 * The content is returned as the module found it when it was loaded.  ENODATA:
 * there is none; EPERM: the caller may not open the device, whatever its descriptor
 * may do, or has no CAP_SYSLOG, because the content may have the kernel's log.
 *
 * PERSIST_DROP [W] takes struct ktape_command and discards the former content, also
 * in the memory.  It fails for the same reasons, but CAP_SYSLOG is not needed.
 */
struct ktape_persist_read {
	__u32 size;
	__u32 flags;
	__u64 offset;
	__u64 length;
	__u64 data;
};

#endif /* _KTAPE_PERSIST_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: recovering a trace from memory that survived a reset.
 *
 * Included by ktape.h.  The layout of that memory is in ktape/persist.h.
 */
#ifndef _KTAPE_RECOVER_H
#define _KTAPE_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/persist.h>

#include "ktape-device.h"
#include "ktape-event.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ktape_recover_input - memory, or a file with a memory image
 * @read: read bytes at an offset; returns their number, fewer than @len only at
 *	the end, or negative errno
 * @arg: first argument of @read
 * @size: bytes of the input
 */
struct ktape_recover_input {
	int64_t (*read)(void *arg, uint64_t offset, void *to, size_t len);
	void *arg;
	uint64_t size;
};

/**
 * struct ktape_recover_output - receiver of the recovered trace
 * @begin: called once with the metadata; a value other than 0 ends the recovery
 * @packet: called with each packet, those of a ring in order; a value other than
 *	0 ends the recovery
 * @arg: first argument of both
 */
struct ktape_recover_output {
	int (*begin)(void *arg, const char *metadata, size_t len);
	int (*packet)(void *arg, const void *packet, size_t len);
	void *arg;
};

/**
 * struct ktape_recover_hooks - callbacks during a recovery
 * @tell: called for each superblock, block, record or table that is discarded, and for a
 *	region for which there is no room, with its offset in the input; may be NULL
 * @progress: called once per MiB or block with the bytes done; 0 goes on, a
 *	negative errno ends the recovery, which returns it; may be NULL
 * @arg: first argument of both
 */
struct ktape_recover_hooks {
	void (*tell)(void *arg, const struct ktape_error *what);
	int (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/**
 * struct ktape_recover_place - a region with a trace
 * @offset: offset of the region in the input, in bytes
 * @super: copy of the region's superblock, validated
 */
struct ktape_recover_place {
	uint64_t offset;
	struct ktape_persist super;
};

/**
 * struct ktape_recover_ring - result for one ring
 * @cpu: CPU number
 * @kind: enum ktape_ring_kind
 * @capacity: number of blocks of the ring
 * @checked: blocks with a valid checksum
 * @unchecked: closed blocks without a checksum, with valid records
 * @open: blocks that were being written and so have no checksum: 0 or 1
 * @cut: blocks of @unchecked and @open that were taken only up to the first
 *	invalid record
 * @discarded: blocks of which nothing was taken
 * @events: recovered events, without time extensions
 * @first_ts: time of the first event, in ticks
 * @last_ts: time of the last event, in ticks
 */
struct ktape_recover_ring {
	uint32_t cpu;
	uint32_t kind;
	uint64_t capacity;
	uint64_t checked;
	uint64_t unchecked;
	uint64_t open;
	uint64_t cut;
	uint64_t discarded;
	uint64_t events;
	uint64_t first_ts;
	uint64_t last_ts;
};

/**
 * struct ktape_recovered - result of a recovery
 * @info: contents of the metadata
 * @metadata_made: the metadata was damaged and replaced by this library's own
 * @names: recovered names of objects
 * @names_discarded: names that were half written or not valid
 * @nr_rings: number of entries in @rings
 * @rings: one entry for each ring with data
 */
struct ktape_recovered {
	struct ktape_info info;
	bool metadata_made;
	uint64_t names;
	uint64_t names_discarded;
	unsigned int nr_rings;
	struct ktape_recover_ring *rings;
};

/**
 * ktape_recover_scan() - Find regions with a trace
 * @input: the memory
 * @hooks: may be NULL
 * @places: array for the regions, in order of offset
 * @nr: entries of @places; further regions are reported to @hooks and not counted
 *
 * A superblock is expected at a multiple of 4096 bytes.
 *
 * Return: number of regions in @places, or a negative errno, that of @progress included.
 */
int ktape_recover_scan(const struct ktape_recover_input *input,
		       const struct ktape_recover_hooks *hooks,
		       struct ktape_recover_place *places, unsigned int nr);

/**
 * ktape_recover() - Recover the trace of a region
 * @input: the memory
 * @place: the region, from ktape_recover_scan()
 * @output: receiver of the trace
 * @hooks: may be NULL
 * @result: filled; release it also after an error
 * @error: filled on -EBADMSG, may be NULL
 *
 * Everything in the region is validated.  The newest block of a ring is taken up
 * to the commit position.  A block without a checksum is taken up to the first
 * invalid record and has KTAPE_BLOCK_UNCHECKED in its flags.  Invalid data is left
 * out and reported to @hooks.
 *
 * Return: 0; -EBADMSG if nothing can be recovered; what a hook or @output
 * returned; or negative errno.
 */
int ktape_recover(const struct ktape_recover_input *input,
		  const struct ktape_recover_place *place,
		  const struct ktape_recover_output *output,
		  const struct ktape_recover_hooks *hooks,
		  struct ktape_recovered *result, struct ktape_error *error);

/**
 * ktape_recovered_release() - Free what a result holds
 * @result: filled by ktape_recover()
 */
void ktape_recovered_release(struct ktape_recovered *result);

/**
 * ktape_recover_from_device() - Read the region that the module found at load time
 * @device: any session
 * @input: filled; valid until the device is closed
 *
 * Return: 0; -ENODATA if the module found none; or negative errno.
 */
int ktape_recover_from_device(struct ktape_device *device,
			      struct ktape_recover_input *input);

/**
 * ktape_recover_from_fd() - Read regions from a file with a memory image
 * @fd: regular file or block device, open for reading; the caller closes it
 * @input: filled; keeps a pointer to @fd
 *
 * Return: 0, or negative errno.
 */
int ktape_recover_from_fd(const int *fd, struct ktape_recover_input *input);

/**
 * ktape_device_persist_drop() - Discard the region that the module found
 * @device: any session, opened for writing
 *
 * Return: 0; -ENODATA if the module found none; or negative errno.
 */
int ktape_device_persist_drop(struct ktape_device *device);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_RECOVER_H */

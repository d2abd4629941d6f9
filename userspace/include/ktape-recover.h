/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: traces out of memory that survived a reset.  Included by ktape.h. */
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
 * struct ktape_recover_input - memory, or a file with memory in it
 * @read: bytes of it at an offset; returns how many, fewer than @len only at the
 *	end, or negative errno
 * @arg: for @read
 * @size: bytes in all
 */
struct ktape_recover_input {
	int64_t (*read)(void *arg, uint64_t offset, void *to, size_t len);
	void *arg;
	uint64_t size;
};

/**
 * struct ktape_recover_output - where the trace goes
 * @begin: called once, with the metadata
 * @packet: called with each packet, those of a ring in order
 * @arg: for both; whatever they return but 0 ends the recovery
 */
struct ktape_recover_output {
	int (*begin)(void *arg, const char *metadata, size_t len);
	int (*packet)(void *arg, const void *packet, size_t len);
	void *arg;
};

/**
 * struct ktape_recover_hooks - what happens meanwhile
 * @tell: what was discarded, and where in the input, may be NULL
 * @progress: how many bytes of all are done, once a MiB or a block; what it
 *	returns but 0 ends the recovery; may be NULL
 * @arg: for both
 */
struct ktape_recover_hooks {
	void (*tell)(void *arg, const struct ktape_error *what);
	int (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/**
 * struct ktape_recover_place - a region that was found
 * @offset: of its begin in the input
 * @super: its superblock, checked
 */
struct ktape_recover_place {
	uint64_t offset;
	struct ktape_persist super;
};

/**
 * struct ktape_recover_ring - what became of a ring
 * @cpu: its CPU
 * @kind: enum ktape_ring_kind
 * @capacity: blocks that it has room for
 * @checked: blocks whose checksum is right
 * @unchecked: closed blocks without one, whose records are sound
 * @open: blocks that were being filled, which never have one: 0 or 1
 * @cut: of the last two, those that were taken up to a record that is not sound
 * @discarded: blocks of which nothing was taken
 * @events: that were recovered, time extensions left out
 * @first_ts: time of the first one
 * @last_ts: of the last one
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
 * struct ktape_recovered - what came of it
 * @info: from the metadata
 * @metadata_made: that was damaged, and made anew from this library's table
 * @names: objects with their names
 * @names_discarded: entries that were half written or make no sense
 * @nr_rings: entries in @rings
 * @rings: of each ring with anything in it
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
 * ktape_recover_scan() - look for regions
 * @input: where
 * @hooks: may be NULL
 * @places: room for what is found, in order of offset
 * @nr: how many there is room for; what is beyond is told
 *
 * Superblocks are looked for at every multiple of 4096 bytes.
 *
 * Return: how many were found; what @progress returned; or negative errno.
 */
int ktape_recover_scan(const struct ktape_recover_input *input,
		       const struct ktape_recover_hooks *hooks,
		       struct ktape_recover_place *places, unsigned int nr);

/**
 * ktape_recover() - take a trace out of a region
 * @input: the region is in it
 * @place: where, from ktape_recover_scan()
 * @output: where to
 * @hooks: may be NULL
 * @result: filled, to be released also on an error
 * @error: filled on -EBADMSG, may be NULL
 *
 * Nothing in the region is taken for granted.  The newest block of a ring counts
 * up to commit; blocks without a checksum are taken up to the first record that
 * is not sound, and have KTAPE_BLOCK_UNCHECKED in their flags; what is wrong is
 * left out and told.
 *
 * Return: 0; -EBADMSG if there is no trace to be had; what a hook or @output
 * returned; or negative errno.
 */
int ktape_recover(const struct ktape_recover_input *input,
		  const struct ktape_recover_place *place,
		  const struct ktape_recover_output *output,
		  const struct ktape_recover_hooks *hooks,
		  struct ktape_recovered *result, struct ktape_error *error);

/**
 * ktape_recovered_release() - free what a result has
 * @result: of ktape_recover()
 */
void ktape_recovered_release(struct ktape_recovered *result);

/**
 * ktape_recover_from_device() - what the module found when it was loaded
 * @device: of the module
 * @input: filled; good as long as the device is open
 *
 * Return: 0; -ENODATA if there is nothing; or negative errno.
 */
int ktape_recover_from_device(struct ktape_device *device,
			      struct ktape_recover_input *input);

/**
 * ktape_recover_from_fd() - a file with memory in it
 * @fd: regular file or block device, opened for reading; stays the caller's
 * @input: filled; points to @fd
 *
 * Return: 0, or negative errno.
 */
int ktape_recover_from_fd(const int *fd, struct ktape_recover_input *input);

/**
 * ktape_device_persist_drop() - let the module forget what it found
 * @device: opened for writing
 *
 * Return: 0; -ENODATA if there is nothing; or negative errno.
 */
int ktape_device_persist_drop(struct ktape_device *device);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_RECOVER_H */

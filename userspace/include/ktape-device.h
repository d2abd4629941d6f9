/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: the device, its mapped rings, recording.  Included by ktape.h. */
#ifndef _KTAPE_DEVICE_H
#define _KTAPE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/abi.h>
#include <ktape/filter.h>
#include <ktape/cost.h>
#include <ktape/session.h>
#include <ktape/trigger.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the device ------------------------------------------------------- */

#define KTAPE_DEVICE_PATH	"/dev/ktape"
#define KTAPE_BLOCK_MAX		(64U << 20)	/* bytes; readers take no more */

/* An open session: session 0, one of one's own or one with a name. */
struct ktape_device;

/**
 * ktape_device_open() - open the device, and with it session 0
 * @path: NULL for KTAPE_DEVICE_PATH
 * @writable: also to control it
 * @device: set; ends with ktape_device_close()
 *
 * Return: 0 or the errno of open(2) or of the features ioctl.
 */
int ktape_device_open(const char *path, bool writable,
		      struct ktape_device **device);

/**
 * ktape_device_create() - make a session
 * @device: opened for writing
 * @create: what it shall be; its size member is filled here, those that tell
 *	what failed by the module
 * @session: set; ends with ktape_device_close()
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_create(struct ktape_device *device,
			struct ktape_create *create,
			struct ktape_device **session);

/**
 * ktape_device_sessions() - all sessions of the module
 * @device: any session
 * @sessions: set to entries that the caller frees
 *
 * Return: how many entries, or the errno of the ioctl.
 */
int ktape_device_sessions(struct ktape_device *device,
			  struct ktape_session_info **sessions);

/**
 * ktape_device_attach() - open a session that somebody else made
 * @device: any session; opened for writing if @writable
 * @name: its name, or its number in digits
 * @writable: also to control it
 * @session: set; ends with ktape_device_close()
 *
 * Return: 0, -EINVAL: this cannot be a name, -ENOENT: there is no such session,
 * or the errno of the ioctl.
 */
int ktape_device_attach(struct ktape_device *device, const char *name,
			bool writable, struct ktape_device **session);

/**
 * ktape_device_destroy() - stop a session and take its name away
 * @device: any session, opened for writing
 * @name: as for ktape_device_attach()
 *
 * Return: 0, -EINVAL, -ENOENT, -EBUSY: it is session 0.
 */
int ktape_device_destroy(struct ktape_device *device, const char *name);

/**
 * ktape_device_policy() - what a discard session does when nobody keeps up
 * @device: the session, writable for KTAPE_POLICY_SET
 * @op: enum ktape_policy_op
 * @policy: SET: @shed_percent and @stall_ms are used; filled with what is in
 *	force
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_policy(struct ktape_device *device, unsigned int op,
			struct ktape_policy *policy);

/**
 * ktape_device_reader() - this descriptor as a reader of one ring
 * @device: the session
 * @cpu: which CPU
 * @kind: which of its rings
 * @info: filled; its losses are those of read(2), not of mappings
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_reader(struct ktape_device *device, uint32_t cpu,
			uint32_t kind, struct ktape_reader_info *info);

/**
 * ktape_device_close() - close a session
 * @device: or NULL
 */
void ktape_device_close(struct ktape_device *device);

/**
 * ktape_device_fd() - descriptor, to poll
 * @device: the session
 *
 * Return: the descriptor, which stays the device's.
 */
int ktape_device_fd(const struct ktape_device *device);

/**
 * ktape_device_features() - what the module can do
 * @device: any session
 *
 * Return: as long as the device is open.
 */
const struct ktape_features *
ktape_device_features(const struct ktape_device *device);

/**
 * ktape_device_layout() - the regions of a session
 * @device: the session
 * @layout: filled, its pointer member is 0
 * @entries: set to layout->nr entries that the caller frees
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_layout(struct ktape_device *device,
			struct ktape_layout *layout,
			struct ktape_layout_entry **entries);

/**
 * ktape_device_profile() - read or change the profile
 * @device: the session, writable for everything but KTAPE_PROFILE_GET
 * @op: enum ktape_profile_op
 * @profile: @flags and @mask are used; filled with what is now in force
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_profile(struct ktape_device *device, unsigned int op,
			 struct ktape_profile *profile);

/**
 * ktape_device_start() - record
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_start(struct ktape_device *device);

/**
 * ktape_device_stop() - stop recording; afterwards all counts are exact
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_stop(struct ktape_device *device);

/**
 * ktape_device_clear() - forget what was recorded so far
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_clear(struct ktape_device *device);

/**
 * ktape_device_flush() - close the open blocks of a discard session
 * @device: a writable session
 *
 * Return: 0, -EOPNOTSUPP, or -EAGAIN when a ring has no room.
 */
int ktape_device_flush(struct ktape_device *device);

/**
 * ktape_device_stats() - counts of one ring
 * @device: the session
 * @cpu: which CPU
 * @kind: which of its rings
 * @stats: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_stats(struct ktape_device *device, uint32_t cpu, uint32_t kind,
		       struct ktape_stats *stats);

/**
 * ktape_device_cost() - time that a CPU spends in the tracer, sampled
 * @device: any session
 * @cpu: which CPU
 * @cost: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_cost(struct ktape_device *device, uint32_t cpu,
		      struct ktape_cost *cost);

/**
 * ktape_device_consumer() - be a consumer, or no longer
 * @device: a writable session
 * @on: true to register
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_consumer(struct ktape_device *device, bool on);

/**
 * ktape_device_position() - tell how far rings were read
 * @device: the session
 * @positions: of the rings
 * @nr: how many
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_position(struct ktape_device *device,
			  const struct ktape_position *positions,
			  unsigned int nr);

/**
 * ktape_device_event_info() - can this event be recorded?
 * @device: any session
 * @opcode: which event
 * @info: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_event_info(struct ktape_device *device, unsigned int opcode,
			    struct ktape_event_info *info);

/**
 * ktape_device_event_source() - can this event be recorded from that source?
 * @device: any session
 * @opcode: which event
 * @source: which of its tracepoints and notifiers, from 1 on; 0: the event
 * @info: filled
 *
 * Return: 0 or the errno of the ioctl; -ENOENT: it has less sources.
 */
int ktape_device_event_source(struct ktape_device *device, unsigned int opcode,
			      unsigned int source,
			      struct ktape_event_info *info);

/**
 * ktape_device_metadata() - CTF metadata of this load of the module
 * @device: any session
 * @text: set to text that the caller frees
 * @len: set to its length without the NUL
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_metadata(struct ktape_device *device, char **text,
			  size_t *len);

/**
 * ktape_device_watermark() - when poll(2) shall report
 * @device: the session
 * @bytes: unread in any one ring; 0 is one block
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_watermark(struct ktape_device *device, uint64_t bytes);

/**
 * ktape_device_probe() - add, remove or tell a probe at a function of the kernel
 * @device: any session, writable for everything but KTAPE_PROBE_GET
 * @op: enum ktape_probe_op
 * @probe: ADD: @flags, @nargs, @offset and @symbol are used, and @opcode is
 *	filled; else @opcode is used, and with GET the rest is filled
 *
 * Return: 0 or the errno of the ioctl, as in ktape/filter.h.
 */
int ktape_device_probe(struct ktape_device *device, unsigned int op,
		       struct ktape_probe *probe);

/**
 * ktape_device_trigger() - tell, arm or remove a trigger
 * @device: a session; writable but for KTAPE_TRIGGER_GET
 * @op: enum ktape_trigger_op
 * @trigger: what it takes; filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_trigger(struct ktape_device *device, unsigned int op,
			 struct ktape_trigger *trigger);

/* ---- reading rings through mmap --------------------------------------- */

/* Own cursors in the mapped rings of a session. */
struct ktape_reader;

/**
 * struct ktape_ring_info - one ring and how far it was read
 * @cpu: its CPU
 * @kind: enum ktape_ring_kind
 * @block_size: of its blocks
 * @data_size: of the ring
 * @position: of the cursor
 * @commit: published so far
 * @emitted: events that had their bit set; this, @filtered and @lost are counted
 *	from the beginning of the rings, or, where the recorder came later than
 *	their oldest data, from then on
 * @filtered: of these, held back by filters
 * @lost: of these, lost by the ring
 * @records: delivered by this reader
 * @missed: overwritten before this reader came
 */
struct ktape_ring_info {
	uint32_t cpu;
	uint32_t kind;
	uint32_t block_size;
	uint64_t data_size;
	uint64_t position;
	uint64_t commit;
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost;
	uint64_t records;
	uint64_t missed;
};

/**
 * ktape_reader_open() - map the rings of a session
 * @device: the session; has to stay
 * @reader: set; ends with ktape_reader_close()
 *
 * Cursors start at the oldest data.
 *
 * Return: 0 or the errno of the failed call.
 */
int ktape_reader_open(struct ktape_device *device,
		      struct ktape_reader **reader);

/**
 * ktape_reader_close() - unmap everything
 * @reader: or NULL
 */
void ktape_reader_close(struct ktape_reader *reader);

/**
 * ktape_reader_refresh() - map rings that came since
 * @reader: the reader
 *
 * Return: number of rings, or the errno of the failed call.
 */
int ktape_reader_refresh(struct ktape_reader *reader);

/**
 * ktape_reader_ring() - look at one ring
 * @reader: the reader
 * @ring: from 0
 * @info: filled
 *
 * Return: 0, or -ENOENT when there are not that many.
 */
int ktape_reader_ring(struct ktape_reader *reader, unsigned int ring,
		      struct ktape_ring_info *info);

/* Flags of ktape_reader_read(). */
#define KTAPE_READ_OPEN		(1U << 0)	/* also what is in an open block */
#define KTAPE_READ_STOPPED	(1U << 1)	/* the session is stopped: counts
						 * are exact */

/**
 * ktape_reader_read() - copy the next packet of a ring
 * @reader: the reader
 * @ring: from 0
 * @flags: KTAPE_READ_*
 * @packet: room for it; the packet comes out checked, numbered, with its losses
 *	since this reader began, and with its checksum
 * @size: room, at least a block
 *
 * Return: bytes, 0 if there is nothing now, -ENOENT if there are not that many
 * rings, -ENOBUFS if the room is too small, -EBADMSG if the block cannot be
 * read.
 */
int64_t ktape_reader_read(struct ktape_reader *reader, unsigned int ring,
			  unsigned int flags, void *packet, size_t size);

/**
 * ktape_reader_checkpoint() - copy the names of all objects
 * @reader: the reader
 * @entries: set to entries that the caller frees
 *
 * Return: how many entries, with those of type KTAPE_OBJ_FREE in between, or
 * negative errno.
 */
int ktape_reader_checkpoint(struct ktape_reader *reader,
			    struct ktape_object_entry **entries);

/* ---- recording -------------------------------------------------------- */

/* Moves a session's rings into a trace. */
struct ktape_recorder;

/* Flags of struct ktape_recorder_options. */
#define KTAPE_RECORD_FORCE	(1U << 0)	/* replace a trace */
#define KTAPE_RECORD_NO_URING	(1U << 1)	/* only plain writes */
#define KTAPE_RECORD_PIECES	(1U << 2)	/* @dir is the first piece of a log:
						 * ktape_recorder_rotate() */
#define KTAPE_RECORD_FILE	(1U << 3)	/* @dir is a file: a pipe form */
#define KTAPE_RECORD_ZSTD	(1U << 4)	/* compressed */
#define KTAPE_RECORD_ATTACHED	(1U << 5)	/* the session may go on without us */
#define KTAPE_RECORD_STAGED	(1U << 6)	/* as KTAPE_CTF_STAGED; not of a log */

/**
 * struct ktape_recorder_options - where to and how
 * @dir: CTF directory to make, or NULL for a pipe form on @fd; with
 *	KTAPE_RECORD_PIECES or KTAPE_RECORD_FILE it must not exist
 * @fd: descriptor for the pipe form
 * @flags: KTAPE_RECORD_*
 * @wait: if not NULL and @fd is non-blocking, called when @fd takes nothing now:
 *	0 to try again, or a negative errno with which the recording fails
 * @arg: for @wait
 * @remark: a comment for the metadata of each piece, without an end of a comment
 *	in it, or NULL
 */
struct ktape_recorder_options {
	const char *dir;
	int fd;
	unsigned int flags;
	int (*wait)(void *arg);
	void *arg;
	const char *remark;
};

/**
 * struct ktape_recorder_stats - how it goes
 * @records: events written
 * @bytes: written
 * @emitted: events that had their bit set
 * @filtered: of these, held back by filters
 * @lost: of these, lost by the rings
 * @missed: of these, overwritten before they could be read
 * @rings: how many rings there are
 * @plain_writes: why io_uring or O_DIRECT is not in use (negative errno), or 0
 * @pending: events on their way, about; 0 if there is nothing to be read
 * @piece_records: events written into this piece
 * @piece_bytes: its bytes
 */
struct ktape_recorder_stats {
	uint64_t records;
	uint64_t bytes;
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost;
	uint64_t missed;
	unsigned int rings;
	int plain_writes;
	uint64_t pending;
	uint64_t piece_records;
	uint64_t piece_bytes;
};

/**
 * ktape_recorder_open() - get ready; nothing is recorded yet
 * @device: the session, stopped unless ATTACHED; in discard mode a consumer; has
 *	to stay
 * @options: where to and how
 * @recorder: set; ends with ktape_recorder_close()
 *
 * Return: 0, -ENOTEMPTY or -EEXIST as from ktape_ctf_create(), or the errno of
 * the failed call.
 */
int ktape_recorder_open(struct ktape_device *device,
			const struct ktape_recorder_options *options,
			struct ktape_recorder **recorder);

/**
 * ktape_recorder_step() - write what is ready
 * @recorder: the recorder
 *
 * Return: 1 if writes are under way, so that it should be called again without
 * a wait for the device, 0 if not, or the errno of the failed call.
 */
int ktape_recorder_step(struct ktape_recorder *recorder);

/**
 * ktape_recorder_refresh() - look for rings of CPUs that came
 * @recorder: the recorder
 *
 * Return: 0 or the errno of the failed call.
 */
int ktape_recorder_refresh(struct ktape_recorder *recorder);

/**
 * ktape_recorder_flush() - have everything on the disk
 * @recorder: the recorder
 *
 * Whatever was recorded before the call is in the trace, and that of a directory
 * or file is on its disk.
 *
 * Return: 0 or the first error.
 */
int ktape_recorder_flush(struct ktape_recorder *recorder);

/**
 * ktape_recorder_rotate() - go on in another piece
 * @recorder: opened with KTAPE_RECORD_PIECES
 * @path: the piece, which must not exist
 *
 * Each event is in one piece; each piece can be read without the others.
 *
 * Return: 0; -EINVAL if there are no pieces; or the errno of the failed call:
 * when @path could not be made, the recording goes on in the old piece, else it
 * has failed, and the next step tells so.
 */
int ktape_recorder_rotate(struct ktape_recorder *recorder, const char *path);

/**
 * ktape_recorder_finish() - write everything that is left
 * @recorder: the recorder, whose session is stopped; of one that is ATTACHED and
 *	goes on, what was there at this moment is written
 *
 * After an error of writing, what was written before it is kept and readable.
 * With KTAPE_RECORD_STAGED that is so only if it replaces no earlier trace, which
 * then stays instead.  A trace that cannot take its place is kept, too, see
 * ktape_recorder_kept().
 *
 * Return: 0 or the first error.
 */
int ktape_recorder_finish(struct ktape_recorder *recorder);

/**
 * ktape_recorder_kept() - where is what was written?
 * @recorder: finished
 *
 * Return: the directory; after a failure to take its place a temporary one in it.
 * NULL: nothing was kept, or it is a pipe form.  Stays until
 * ktape_recorder_close().
 */
const char *ktape_recorder_kept(const struct ktape_recorder *recorder);

/**
 * ktape_recorder_stats() - counts so far; exact after finish
 * @recorder: the recorder
 * @stats: filled
 */
void ktape_recorder_stats(struct ktape_recorder *recorder,
			  struct ktape_recorder_stats *stats);

/**
 * ktape_recorder_cancel() - the end, and nothing is left of what was written
 * @recorder: not finished
 */
void ktape_recorder_cancel(struct ktape_recorder *recorder);

/**
 * ktape_recorder_close() - the end of recording
 * @recorder: or NULL
 */
void ktape_recorder_close(struct ktape_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_DEVICE_H */

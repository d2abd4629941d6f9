/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: controlling sessions, reading mapped rings, recording.
 *
 * Included by ktape.h.  Filters are in ktape-filter.h, reading of finished traces
 * is in ktape-trace.h.  "The errno" of a call is returned as a negative number.
 */
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

#define KTAPE_DEVICE_PATH "/dev/ktape"

/* An open session: session 0, one that the caller created, or one opened by name. */
struct ktape_device;

/**
 * ktape_device_open() - Open the device, and with it session 0
 * @path: path of the device, NULL for KTAPE_DEVICE_PATH
 * @writable: open for control as well as for reading
 * @device: set on success; release with ktape_device_close()
 *
 * Return: 0 or the errno of open(2) or of the features ioctl.
 */
int ktape_device_open(const char *path, bool writable, struct ktape_device **device);

/**
 * ktape_device_create() - Create a session
 * @device: opened for writing
 * @create: properties of the session; this function fills the size member, and
 *	on failure the module fills the members that report the reason
 * @session: set on success; release with ktape_device_close()
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_create(struct ktape_device *device, struct ktape_create *create,
			struct ktape_device **session);

/**
 * ktape_device_sessions() - List all sessions of the module
 * @device: any session
 * @sessions: set to an array that the caller frees
 *
 * Return: number of entries, or the errno of the ioctl.
 */
int ktape_device_sessions(struct ktape_device *device,
			  struct ktape_session_info **sessions);

/**
 * ktape_device_attach() - Open an existing session
 * @device: any session; opened for writing if @writable
 * @name: name of the session, or its number in digits
 * @writable: open for control as well as for reading
 * @session: set on success; release with ktape_device_close()
 *
 * Return: 0, -EINVAL if @name is not a valid name, -ENOENT if there is no such
 * session, or the errno of the ioctl.
 */
int ktape_device_attach(struct ktape_device *device, const char *name,
			bool writable, struct ktape_device **session);

/**
 * ktape_device_destroy() - Stop a session and end it
 * @device: any session, opened for writing
 * @name: name or number, as for ktape_device_attach()
 *
 * Name and number are free at once.  Sessions that are open read-only lose their
 * rings KTAPE_GRACE_MS after the last one that is open for writing, or earlier if the
 * memory is needed: calls then fail with -ESTALE, and mappings raise SIGBUS; see
 * ktape_device_bus_error().
 *
 * Return: 0; -EINVAL or -ENOENT as ktape_device_attach(); -EBUSY for session 0; or another
 * errno of the ioctl.
 */
int ktape_device_destroy(struct ktape_device *device, const char *name);

/**
 * ktape_device_policy() - Read or set what a discard session does when readers lag
 * @device: the session, writable for KTAPE_POLICY_SET
 * @op: enum ktape_policy_op
 * @policy: with KTAPE_POLICY_SET, @shed_percent and @stall_ms are read; always
 *	filled with the policy in force
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_policy(struct ktape_device *device, unsigned int op,
			struct ktape_policy *policy);

/**
 * ktape_device_reader() - Read the state of this descriptor as a reader of one ring
 * @device: the session
 * @cpu: CPU number
 * @kind: enum ktape_ring_kind
 * @info: filled; its losses are those of read(2), not of mapped rings
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_reader(struct ktape_device *device, uint32_t cpu,
			uint32_t kind, struct ktape_reader_info *info);

/**
 * ktape_device_close() - Close a session
 * @device: the session, or NULL
 */
void ktape_device_close(struct ktape_device *device);

/**
 * ktape_device_fd() - Return the descriptor of a session, for poll(2)
 * @device: the session
 *
 * Return: the descriptor, which ktape_device_close() closes.
 */
int ktape_device_fd(const struct ktape_device *device);

/**
 * ktape_device_features() - Return what the module supports
 * @device: any session
 *
 * Return: the features, valid until the device is closed.
 */
const struct ktape_features *ktape_device_features(const struct ktape_device *device);

/**
 * ktape_device_layout() - Read the memory regions of a session
 * @device: the session
 * @layout: filled; its pointer member is 0
 * @entries: set to an array of layout->nr entries that the caller frees
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_layout(struct ktape_device *device, struct ktape_layout *layout,
			struct ktape_layout_entry **entries);

/**
 * ktape_device_profile() - Read or change the profile
 * @device: the session, writable except for KTAPE_PROFILE_GET
 * @op: enum ktape_profile_op
 * @profile: @flags and @mask are read; filled with the profile in force
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_profile(struct ktape_device *device, unsigned int op,
			 struct ktape_profile *profile);

/**
 * ktape_device_start() - Start recording
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_start(struct ktape_device *device);

/**
 * ktape_device_stop() - Stop recording; afterwards all counts are exact
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_stop(struct ktape_device *device);

/**
 * ktape_device_clear() - Discard everything recorded so far
 * @device: a writable session
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_clear(struct ktape_device *device);

/**
 * ktape_device_flush() - Close the open blocks of a discard session
 * @device: a writable session
 *
 * Return: 0, -EOPNOTSUPP in other modes, -EAGAIN when a ring has no room, or another errno
 * of the ioctl.
 */
int ktape_device_flush(struct ktape_device *device);

/**
 * ktape_device_stats() - Read the counters of one ring
 * @device: the session
 * @cpu: CPU number
 * @kind: enum ktape_ring_kind
 * @stats: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_stats(struct ktape_device *device, uint32_t cpu, uint32_t kind,
		       struct ktape_stats *stats);

/**
 * ktape_device_cost() - Read the sampled time that a CPU spends in the tracer
 * @device: any session
 * @cpu: CPU number
 * @cost: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_cost(struct ktape_device *device, uint32_t cpu,
		      struct ktape_cost *cost);

/**
 * ktape_device_consumer() - Register or unregister this descriptor as a consumer
 * @device: a writable session
 * @on: true registers, false unregisters
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_consumer(struct ktape_device *device, bool on);

/**
 * ktape_device_position() - Report how far this consumer has read
 * @device: the session
 * @positions: one entry per ring
 * @nr: number of entries
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_position(struct ktape_device *device,
			  const struct ktape_position *positions, unsigned int nr);

/**
 * ktape_device_event_info() - Ask whether an event can be recorded
 * @device: any session
 * @opcode: opcode of the event
 * @info: filled
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_event_info(struct ktape_device *device, unsigned int opcode,
			    struct ktape_event_info *info);

/**
 * ktape_device_event_source() - Ask whether one source of an event is available
 * @device: any session
 * @opcode: opcode of the event
 * @source: number of the tracepoint or notifier, from 1; 0 = the whole event
 * @info: filled
 *
 * Return: 0, -ENOENT if the event has fewer sources, or the errno of the ioctl.
 */
int ktape_device_event_source(struct ktape_device *device, unsigned int opcode,
			      unsigned int source, struct ktape_event_info *info);

/**
 * ktape_device_metadata() - Read the CTF metadata of the loaded module
 * @device: any session
 * @text: set to a text that the caller frees
 * @len: set to the length without the NUL
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_metadata(struct ktape_device *device, char **text, size_t *len);

/**
 * ktape_device_watermark() - Set when poll(2) reports the session as readable
 * @device: the session
 * @bytes: unread bytes in any one ring; 0 = one block
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_watermark(struct ktape_device *device, uint64_t bytes);

/**
 * ktape_device_probe() - Add, remove or read a probe at a kernel function
 * @device: any session, writable except for KTAPE_PROBE_GET
 * @op: enum ktape_probe_op
 * @probe: ADD reads @flags, @nargs, @offset and @symbol and fills @opcode; the
 *	other operations read @opcode, and GET fills the rest
 *
 * Return: 0 or the errno of the ioctl, as in ktape/filter.h.
 */
int ktape_device_probe(struct ktape_device *device, unsigned int op,
		       struct ktape_probe *probe);

/**
 * ktape_device_trigger() - Read, arm or remove a trigger
 * @device: the session, writable except for KTAPE_TRIGGER_GET
 * @op: enum ktape_trigger_op
 * @trigger: arguments of @op (ktape/trigger.h); filled with the result
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_trigger(struct ktape_device *device, unsigned int op,
			 struct ktape_trigger *trigger);

/* ---- reading rings through mmap --------------------------------------- */

/*
 * A reader of the mapped rings of a session, with cursors of its own.  If the session ends,
 * see ktape_device_bus_error().
 */
struct ktape_reader;

/**
 * ktape_device_bus_error() - Handle a SIGBUS of a ring that was taken away
 * @address: si_addr of the signal, if its si_code is positive
 *
 * When a session has ended, the rings of readers that may not control it are taken away,
 * and an access to a mapping raises SIGBUS.  A program that reads such sessions installs a
 * handler (SA_SIGINFO) that calls this function and returns if it returns true.  The
 * reader or recorder goes on, with zero pages instead of the mapping, and finds out: it
 * returns nothing that it has loaded from them, and the call fails with -ESTALE, as all
 * later ones do.  A recorder keeps what it has written: call ktape_recorder_finish().
 *
 * This function is safe in a signal handler.
 *
 * Return: true if @address was in a mapping of a reader; false: the signal has another
 * cause, and the handler must end the program.
 */
bool ktape_device_bus_error(void *address);

/**
 * struct ktape_ring_info - one ring and how far it was read
 * @cpu: CPU number
 * @kind: enum ktape_ring_kind
 * @block_size: bytes of a block
 * @data_size: bytes of the ring
 * @position: byte position of the reader's cursor
 * @commit: byte position up to which records are published
 * @emitted: events that were enabled when they occurred.  This, @filtered and
 *	@lost count from the start of the ring
 * @filtered: events of @emitted that filters blocked
 * @lost: events of @emitted that the ring lost
 * @records: records that this reader delivered
 * @missed: records that were overwritten before this reader read them
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
 * ktape_reader_open() - Map the rings of a session
 * @device: the session; must stay open while the reader exists
 * @reader: set on success; release with ktape_reader_close()
 *
 * Cursors start at the oldest data.
 *
 * Return: 0 or the errno of the failed call.
 */
int ktape_reader_open(struct ktape_device *device, struct ktape_reader **reader);

/**
 * ktape_reader_close() - Unmap all rings and free the reader
 * @reader: the reader, or NULL
 */
void ktape_reader_close(struct ktape_reader *reader);

/**
 * ktape_reader_refresh() - Map the rings of CPUs that came online since
 * @reader: the reader
 *
 * Return: number of rings, -ESTALE if the rings were taken away, or the errno of the
 * failed call.
 */
int ktape_reader_refresh(struct ktape_reader *reader);

/**
 * ktape_reader_ring() - Read the state of one ring
 * @reader: the reader
 * @ring: index of the ring, from 0
 * @info: filled
 *
 * Return: 0; -ENOENT if there is no ring with this index; -ESTALE if the ring was taken
 * away: then the counts are those at the end of the last packet.
 */
int ktape_reader_ring(struct ktape_reader *reader, unsigned int ring,
		      struct ktape_ring_info *info);

/* Flags of ktape_reader_read(). */
#define KTAPE_READ_OPEN (1U << 0) /* also read an open block */
#define KTAPE_READ_STOPPED \
	(1U << 1) /* the session is stopped: counts are exact */

/**
 * ktape_reader_read() - Copy the next packet of a ring
 * @reader: the reader
 * @ring: index of the ring, from 0
 * @flags: KTAPE_READ_*
 * @packet: buffer for the packet.  The packet is validated; its sequence number
 *	and its losses count from the start of this reader, and it has a
 *	checksum
 * @size: bytes of the buffer, at least one block
 *
 * Return: bytes of the packet, 0 if there is nothing to read now, -ENOENT if there
 * is no ring with this index, -ENOBUFS if @size is too small, -EBADMSG if the
 * block is damaged, -ESTALE if the ring was taken away.
 */
int64_t ktape_reader_read(struct ktape_reader *reader, unsigned int ring,
			  unsigned int flags, void *packet, size_t size);

/**
 * ktape_reader_checkpoint() - Copy the names of all objects
 * @reader: the reader
 * @entries: set to an array that the caller frees
 *
 * Names remain when the rings of a session are taken away, because all sessions have the
 * same.
 *
 * Return: number of entries, including unused ones (type KTAPE_OBJ_FREE), or
 * negative errno.
 */
int ktape_reader_checkpoint(struct ktape_reader *reader,
			    struct ktape_object_entry **entries);

/* ---- recording -------------------------------------------------------- */

/* A recording: writes the rings and names of a session to a trace. */
struct ktape_recorder;

/* Flags of struct ktape_recorder_options. */
#define KTAPE_RECORD_FORCE    (1U << 0) /* replace an existing trace */
#define KTAPE_RECORD_NO_URING (1U << 1) /* use plain writes only */
#define KTAPE_RECORD_PIECES   (1U << 2) /* @dir is the first piece of a log */
#define KTAPE_RECORD_FILE     (1U << 3) /* @dir is a file: a pipe form */
#define KTAPE_RECORD_ZSTD     (1U << 4) /* compress packets */
#define KTAPE_RECORD_ATTACHED \
	(1U << 5) /* the session may outlive the recorder */
#define KTAPE_RECORD_STAGED \
	(1U << 6) /* gets its name when complete; not for a log */

/**
 * struct ktape_recorder_options - where and how to record
 * @dir: CTF directory to create, or NULL for a pipe form on @fd; with
 *	KTAPE_RECORD_PIECES or KTAPE_RECORD_FILE it must not exist
 * @fd: descriptor for the pipe form
 * @flags: KTAPE_RECORD_*
 * @wait: called when a non-blocking @fd accepts no data; returns 0 to try again or
 *	a negative errno with which the recording fails; may be NULL
 * @arg: first argument of @wait
 * @remark: comment for the metadata of each piece, must not contain the end of a
 *	C comment; may be NULL
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
 * struct ktape_recorder_stats - progress of a recording
 * @records: events written
 * @bytes: bytes written
 * @emitted: events that were enabled when they occurred.  This, @filtered and
 *	@lost count from the start of each ring, or from the time at which the
 *	recorder began if the ring had no longer its beginning then
 * @filtered: events of @emitted that filters blocked
 * @lost: events of @emitted that the rings lost
 * @missed: events of @emitted that were overwritten before they were read
 * @rings: number of rings
 * @plain_writes: negative errno that says why io_uring or O_DIRECT is not in use,
 *	0 = in use
 * @pending: estimate of the events still in the rings; 0 = all were read
 * @piece_records: events written to the current piece of a log
 * @piece_bytes: bytes of the current piece
 * @overwritten: events that were overwritten or cleared before the recorder began; they are
 *	not among @emitted
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
	uint64_t overwritten;
};

/**
 * ktape_recorder_open() - Prepare a recording without starting it
 * @device: the session.  It is stopped, unless KTAPE_RECORD_ATTACHED.  In discard
 *	mode the caller has registered the descriptor with ktape_device_consumer().
 *	It must stay open while the recorder exists
 * @options: where and how to record
 * @recorder: set on success; release with ktape_recorder_close()
 *
 * Return: 0, -ENOTEMPTY or -EEXIST as from ktape_ctf_create(), or the errno of
 * the failed call.
 */
int ktape_recorder_open(struct ktape_device *device,
			const struct ktape_recorder_options *options,
			struct ktape_recorder **recorder);

/**
 * ktape_recorder_step() - Write the data that is ready
 * @recorder: the recorder
 *
 * Return: 1 if it has written something or writes are in flight (call again without
 * waiting for the device), 0 if not, or the errno of the failed call.
 */
int ktape_recorder_step(struct ktape_recorder *recorder);

/**
 * ktape_recorder_refresh() - Map the rings of CPUs that came online since
 * @recorder: the recorder
 *
 * A trace that is a directory lists them in its metadata from here on.  If the list
 * cannot be written, the next call, or the end of the trace, tries again, and the end
 * returns the error.  If the output is a pipe, the next step also writes what the open
 * blocks have.
 *
 * Return: 0 or the errno of the failed call.
 */
int ktape_recorder_refresh(struct ktape_recorder *recorder);

/**
 * ktape_recorder_flush() - Write everything recorded so far to the disk
 * @recorder: the recorder
 *
 * Everything recorded before the call is in the trace afterwards.  A directory or
 * file is synced to its disk.
 *
 * Return: 0 or the first error.
 */
int ktape_recorder_flush(struct ktape_recorder *recorder);

/**
 * ktape_recorder_rotate() - Continue the log in a new piece
 * @recorder: opened with KTAPE_RECORD_PIECES
 * @path: path of the new piece, which must not exist
 *
 * Each event is in exactly one piece, and each piece can be read without the others.
 *
 * Return: 0; -EINVAL without KTAPE_RECORD_PIECES; or the errno of the failed call.
 * If @path could not be created, the recording continues in the old piece.  After
 * any other error the recording has failed, and the next step returns the error.
 */
int ktape_recorder_rotate(struct ktape_recorder *recorder, const char *path);

/**
 * ktape_recorder_finish() - Write everything that is left in the rings
 * @recorder: the recorder.  Its session is stopped; with KTAPE_RECORD_ATTACHED it
 *	may still record: then everything published before this call is written
 *
 * After a write error, or when the rings were taken away (-ESTALE), the data written
 * before the error is kept and readable.
 * Exception: if KTAPE_RECORD_STAGED would replace an earlier trace, the earlier
 * trace is kept instead.  A finished trace that cannot be moved to its place is
 * kept as well, see ktape_recorder_kept().
 *
 * Return: 0 or the first error.
 */
int ktape_recorder_finish(struct ktape_recorder *recorder);

/**
 * ktape_recorder_kept() - Return the directory that holds the recording
 * @recorder: a finished recorder
 *
 * Return: path of the trace, or of a temporary directory inside it if the trace
 * could not be moved to its place; NULL if nothing was kept or for a pipe form.
 * Valid until ktape_recorder_close().
 */
const char *ktape_recorder_kept(const struct ktape_recorder *recorder);

/**
 * ktape_recorder_stats() - Read the counters; exact after ktape_recorder_finish()
 * @recorder: the recorder
 * @stats: filled
 */
void ktape_recorder_stats(struct ktape_recorder *recorder,
			  struct ktape_recorder_stats *stats);

/**
 * ktape_recorder_cancel() - Free the recorder, and remove everything it wrote
 * @recorder: a recorder that is not finished; ktape_recorder_close() is not called as well
 */
void ktape_recorder_cancel(struct ktape_recorder *recorder);

/**
 * ktape_recorder_close() - Free the recorder
 * @recorder: the recorder, or NULL
 */
void ktape_recorder_close(struct ktape_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_DEVICE_H */

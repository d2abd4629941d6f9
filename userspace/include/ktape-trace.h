/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: names of objects; reading, showing and writing native traces.
 *
 * Included by ktape.h.  Traces of all formats are opened here; writing in other
 * formats is in ktape-codec.h.  "The errno" of a call is returned as a negative number.
 */
#ifndef _KTAPE_TRACE_H
#define _KTAPE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/abi.h>

#include "ktape-event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names of objects ------------------------------------------------- */

/* Names of objects, with the times at which they were valid. */
struct ktape_registry;

/**
 * struct ktape_object_info - an object as it was at one moment
 * @name: name, ends in NUL
 * @name_len: bytes of the name
 * @plain: the name needs no escapes in text or JSON
 * @param1: depends on the type (ktape/objects.h); thread: process id
 * @param2: depends on the type; thread: priority | policy << 8 | kernel thread
 *	<< 16
 * @born: time at which the object was created, in ticks
 * @died: time at which the object was destroyed, in ticks; 0 = still exists
 * @whole: user events that another tracer recorded may have names of up to 4096 bytes,
 *	of which @name has the first KTAPE_NAME_SIZE: the whole name, ends in NUL.  NULL:
 *	@name has all of it
 * @whole_len: bytes of @whole
 */
struct ktape_object_info {
	char name[KTAPE_NAME_SIZE + 1];
	uint8_t name_len;
	bool plain;
	uint32_t param1;
	uint32_t param2;
	uint64_t born;
	uint64_t died;
	const char *whole;
	size_t whole_len;
};

/**
 * ktape_registry_new() - Create an empty registry
 * @hz: frequency of the trace clock
 * @registry: set on success; release with ktape_registry_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_registry_new(uint64_t hz, struct ktape_registry **registry);

/**
 * ktape_registry_free() - Free a registry
 * @registry: the registry, or NULL
 */
void ktape_registry_free(struct ktape_registry *registry);

/**
 * ktape_registry_view() - Look up names in another thread
 * @registry: the registry
 * @view: NULL, then it is set to a new view; or a view, which gets the names that were
 *	added to @registry since; release with ktape_registry_free()
 *
 * A view has the names of @registry and caches of its own.  While it is used, nothing may
 * be added to @registry.  What is added to a view is known to that view alone, until this
 * function is called for it again.
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_registry_view(const struct ktape_registry *registry,
			struct ktape_registry **view);

/**
 * ktape_registry_add() - Add the name of a registry event
 * @registry: the registry
 * @event: events other than registry events are ignored
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_registry_add(struct ktape_registry *registry,
		       const struct ktape_event *event);

/**
 * ktape_registry_object() - Look up the object that had an id at a time
 * @registry: the registry
 * @type: enum ktape_object
 * @id: number within the type
 * @param1: second part of the id for MARKER, VALUE, ISR, CGROUP and SYSCALL;
 *	ignored for other types
 * @ts: the time, in ticks
 *
 * For objects other than threads, @ts may also be before the object was named or
 * after it was destroyed.
 *
 * Return: the object, or NULL; valid until the next ktape_registry_add().
 */
const struct ktape_object_info *
ktape_registry_object(const struct ktape_registry *registry, unsigned int type,
		      uint32_t id, uint32_t param1, uint64_t ts);

/**
 * ktape_registry_meant() - Look up the object that an event refers to
 * @registry: the registry
 * @event: the event; its time, CPU, thread and task bit are used
 * @type: enum ktape_object
 * @id: number within the type
 *
 * An interrupt routine is looked up for the event's CPU first, then for all CPUs.
 * A marker or value of a thread (task bit set) is looked up for the thread first,
 * then for any thread, then as a global one, unless KTAPE_NAME_GLOBAL restricts the
 * global name (KTAPE_OBJ_MARKER).
 *
 * Return: as ktape_registry_object().
 */
const struct ktape_object_info *
ktape_registry_meant(const struct ktape_registry *registry,
		     const struct ktape_event *event, unsigned int type,
		     uint32_t id);

/**
 * ktape_registry_thread() - Look up the thread that had an id at a time
 * @registry: the registry
 * @tid: thread id
 * @ts: the time, in ticks
 *
 * Return: the thread, or NULL; valid until the next ktape_registry_add().
 */
const struct ktape_object_info *
ktape_registry_thread(const struct ktape_registry *registry, int32_t tid,
		      uint64_t ts);

#define KTAPE_REGISTRY_MAX (1U << 20) /* most names kept */

/**
 * ktape_registry_left_out() - Return how many names exceeded the limits
 * @registry: the registry
 *
 * A registry keeps KTAPE_REGISTRY_MAX names, and the last 1024 names of one id.
 *
 * Return: number of names that were left out.
 */
uint64_t ktape_registry_left_out(const struct ktape_registry *registry);

/* ---- reading a trace -------------------------------------------------- */

/**
 * enum ktape_notice_kind - problems that reading a trace can reveal
 * @KTAPE_NOTICE_LOST: @count events are missing between @from and @to; @count 0 =
 *	an unknown number, also where a stream is damaged or cut
 * @KTAPE_NOTICE_TRUNCATED: the input begins or ends in the middle of a packet or
 *	frame
 * @KTAPE_NOTICE_CORRUPT: part of the input could not be read; for formats other
 *	than the native one @count is the number of such places
 * @KTAPE_NOTICE_TABLE: the trace was recorded with another event table
 * @KTAPE_NOTICE_LATE: @count events of a live stream arrived too late to be sorted
 * @KTAPE_NOTICE_ASSUMED: the input lacks a value that the reader needs; the error
 *	text says which value was assumed.  Of a stream: its time goes back, and @count
 *	events get the time of the one before
 * @KTAPE_NOTICE_METADATA: the metadata was changed since it was written, so its
 *	values may be wrong; the offset of the error is UINT64_MAX if the place is
 *	not known
 */
enum ktape_notice_kind {
	KTAPE_NOTICE_LOST,
	KTAPE_NOTICE_TRUNCATED,
	KTAPE_NOTICE_CORRUPT,
	KTAPE_NOTICE_TABLE,
	KTAPE_NOTICE_LATE,
	KTAPE_NOTICE_ASSUMED,
	KTAPE_NOTICE_METADATA
};

/**
 * struct ktape_notice - a problem of a trace
 * @kind: enum ktape_notice_kind
 * @stream: the notice is about one stream, and @cpu and @ring are valid
 * @continued: it goes on where the last loss of the stream ended: both are one (LOST)
 * @reasons: bit n: the ring counted events with reason n of enum ktape_lost there;
 *	KTAPE_NOTICE_UNREAD, KTAPE_NOTICE_OVERWRITTEN; 0 = not known, or only the events of
 *	missing packets (LOST)
 * @cpu: CPU of the stream
 * @ring: enum ktape_ring_kind of the stream
 * @count: number of events (LOST, LATE, ASSUMED) or places (CORRUPT)
 * @packets: number of missing packets (LOST)
 * @from: start of the loss, in ticks
 * @to: end of the loss, in ticks
 * @error: what is wrong and where (all kinds but LOST and LATE)
 * @overwritten: number of events that were overwritten, 0 = not known
 *	(KTAPE_NOTICE_OVERWRITTEN)
 */
struct ktape_notice {
	uint32_t kind;
	bool stream;
	bool continued;
	uint8_t reasons;
	uint32_t cpu;
	uint32_t ring;
	uint64_t count;
	uint64_t packets;
	uint64_t from;
	uint64_t to;
	struct ktape_error error;
	uint64_t overwritten;
};

/* In @reasons of struct ktape_notice: events were overwritten before they were read. */
#define KTAPE_NOTICE_UNREAD (1U << 7)

/*
 * In @reasons of struct ktape_notice, alone: the ring had overwritten its beginning, or was
 * cleared, before its reader began.  These events are not lost, and @count is 0, but what
 * happened up to the ring's first event is not known.  If other events of the CPU come
 * before that, there is a notice for each part of the time, and the first one has the number.
 */
#define KTAPE_NOTICE_OVERWRITTEN (1U << 6)

#define KTAPE_TRACE_HELD_MAX \
	(1ULL << 30) /* bytes, see ktape_trace_options.memory */

/* Flags of struct ktape_trace_options. */
#define KTAPE_TRACE_SORTED (1U << 0) /* sort by time */
#define KTAPE_TRACE_PROMPT (1U << 1) /* deliver soon after arrival */

/* A trace that is being read. */
struct ktape_trace;

/**
 * struct ktape_trace_options - how to read a trace
 * @notice: called for each problem found, may be NULL
 * @idle: called before waiting for data of a live stream, and twice a second while
 *	reading it; may be NULL
 * @arg: first argument of @notice and @idle
 * @format: name of the format (ktape-codec.h); NULL = detect it from the input
 * @format_options: "key=value,..." for the format, or NULL
 * @window: bytes of a live stream to buffer for sorting; 0 = 64 MiB
 * @memory: bytes of packets of files that may be held in memory; 0 =
 *	KTAPE_TRACE_HELD_MAX
 * @wake: descriptor; when it becomes readable, a live stream ends at the next
 *	pause, at most a second later; 0 = none
 * @flags: KTAPE_TRACE_*.  SORTED: sort the events of a format other than the
 *	native one by time within @window; then events of one CPU that go back in
 *	time are -EBADMSG.  Without SORTED events come in the order of the input.
 *	PROMPT: with SORTED, deliver the events of a serial line (RKH, Tonbandgeraet)
 *	about a second after they arrived, although earlier ones may still come
 */
struct ktape_trace_options {
	void (*notice)(void *arg, const struct ktape_notice *notice);
	void (*idle)(void *arg);
	void *arg;
	const char *format;
	const char *format_options;
	uint64_t window;
	uint64_t memory;
	int wake;
	uint32_t flags;
};

/**
 * ktape_trace_open() - Open a trace
 * @path: a CTF directory, one stream file of it, a pipe-form file, a file in
 *	another format, or "-" for a pipe form or another format on standard input
 * @options: may be NULL
 * @trace: set on success; release with ktape_trace_close()
 * @error: filled on -EBADMSG and -EINVAL; on other errors its text is "" or the
 *	name of the file in the directory that could not be read; may be NULL
 *
 * Return: 0, -EBADMSG if the input is not a trace, -EINVAL if @options name an
 * unknown format or option, -ENOBUFS if the packets need more memory than
 * @options allow, or the errno of the failed call.
 */
int ktape_trace_open(const char *path, const struct ktape_trace_options *options,
		     struct ktape_trace **trace, struct ktape_error *error);

/**
 * ktape_trace_next() - Return the next event, by time; of other formats see KTAPE_TRACE_SORTED
 * @trace: the trace
 * @event: set; valid until the next call
 *
 * Return: 1, 0 at the end, -ENOBUFS as ktape_trace_open(), or another negative
 * errno.
 */
int ktape_trace_next(struct ktape_trace *trace, const struct ktape_event **event);

/**
 * ktape_trace_renames() - Check whether the next event may change names
 * @trace: the trace
 *
 * Until then, views of the registry (ktape_registry_view()) can be used while
 * ktape_trace_next() is not called.  The event that was returned last is not valid any
 * more.
 *
 * Return: 1 if reading the next event may change the registry, or the trace is live or
 * is in the format of another tool; 0 if not; or as ktape_trace_next().
 */
int ktape_trace_renames(struct ktape_trace *trace);

/**
 * ktape_trace_is_live() - Check whether the input can be read only once
 * @trace: the trace
 *
 * Return: true for an input such as a pipe, which is sorted only within a window.
 */
bool ktape_trace_is_live(const struct ktape_trace *trace);

/**
 * ktape_trace_metadata() - Return the text of the metadata
 * @trace: the trace
 * @len: set to the bytes of the text
 *
 * Return: the text without a NUL, valid until the trace is closed; NULL if the
 * trace is not in the native format.
 */
const char *ktape_trace_metadata(const struct ktape_trace *trace, size_t *len);

/**
 * ktape_trace_is_kernel() - Check whether the events are those of a Linux kernel
 * @trace: the trace
 *
 * Return: true for the native format and the formats of other Linux tracers; false for
 * those of programs and RTOSes.
 */
bool ktape_trace_is_kernel(const struct ktape_trace *trace);

/**
 * ktape_trace_format() - Return the name of the format of the input
 * @trace: the trace
 *
 * Return: the name, or NULL for the native format.
 */
const char *ktape_trace_format(const struct ktape_trace *trace);

/**
 * ktape_trace_source() - Return the last event in terms of its input format
 * @trace: the trace
 * @len: set to the bytes of the value
 *
 * Return: a JSON value without a NUL, valid until the next call; NULL for the
 * native format and for formats without such a form.
 */
const char *ktape_trace_source(struct ktape_trace *trace, size_t *len);

/**
 * ktape_trace_info() - Return the contents of the metadata
 * @trace: the trace
 *
 * Return: the contents, valid until the trace is closed.
 */
const struct ktape_info *ktape_trace_info(const struct ktape_trace *trace);

/**
 * ktape_trace_registry() - Return the names that are known so far
 * @trace: the trace
 *
 * Return: the registry, valid until the trace is closed.
 */
const struct ktape_registry *ktape_trace_registry(const struct ktape_trace *trace);

/**
 * ktape_trace_close() - Close a trace
 * @trace: the trace, or NULL
 */
void ktape_trace_close(struct ktape_trace *trace);

/**
 * ktape_split() - Convert a pipe form to a CTF directory
 * @path: a pipe-form file, or "-" for standard input
 * @dir: directory to create
 * @force: replace an existing trace
 * @options: may be NULL; only @notice is used
 * @error: filled on -EBADMSG, may be NULL
 *
 * If the input is a file, the directory gets its name when it is complete.  If the
 * input is a pipe, which cannot be read again, the directory has its name from the
 * beginning, so that a failure does not lose what was read.
 *
 * If a part of such a file is damaged, an earlier trace is not replaced: the rest is in
 * the directory @dir.partial.
 *
 * Return: 0, 1 if the trace is in @dir.partial, -ENOTEMPTY or -EEXIST as
 * ktape_ctf_create(), -EBADMSG if @path is not a pipe form, or the errno of the failed call.
 */
int ktape_split(const char *path, const char *dir, bool force,
		const struct ktape_trace_options *options,
		struct ktape_error *error);

/* ---- events as text --------------------------------------------------- */

/**
 * ktape_format_bound() - Return the largest size of a line
 * @event: the event
 *
 * Return: bytes.
 */
size_t ktape_format_bound(const struct ktape_event *event);

/**
 * ktape_format_text() - Format an event as a line of text
 * @info: metadata of the trace
 * @registry: names
 * @event: the event
 * @to: buffer of at least ktape_format_bound() bytes
 *
 * Return: bytes written, including the newline; there is no NUL.
 */
size_t ktape_format_text(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to);

/**
 * ktape_format_json() - Format an event as a line of JSON
 * @info: metadata of the trace
 * @registry: names
 * @event: the event
 * @to: buffer of at least ktape_format_bound() bytes
 *
 * Return: bytes written, including the newline; there is no NUL.
 */
size_t ktape_format_json(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to);

/* ---- writing a trace -------------------------------------------------- */

/* A native trace that is being written: a CTF directory or a pipe form. */
struct ktape_ctf;

/* Flags of ktape_ctf_create(). */
#define KTAPE_CTF_FORCE	 (1U << 0) /* replace an existing trace */
#define KTAPE_CTF_DIRECT (1U << 1) /* bypass the page cache */
#define KTAPE_CTF_NEW	 (1U << 2) /* @dir must not exist */
#define KTAPE_CTF_FILE	 (1U << 3) /* write a pipe-form file */
#define KTAPE_CTF_ZSTD	 (1U << 4) /* compress each packet; not with DIRECT */
#define KTAPE_CTF_STAGED \
	(1U << 5) /* named by ktape_ctf_commit(); not with FILE */

/**
 * ktape_ctf_create() - Create a CTF directory or a pipe-form file
 * @dir: path; a pipe-form file must not exist
 * @flags: KTAPE_CTF_*
 * @metadata: text of the metadata
 * @len: bytes of @metadata
 * @ctf: set on success; release with ktape_ctf_close()
 *
 * The metadata file of a directory is never compressed.  The names of compressed
 * stream files end in ".zst".
 *
 * Return: 0; -ENOTEMPTY if @dir is not empty and FORCE is not given; -EEXIST if
 * @dir contains anything besides a trace, or exists in spite of NEW; or the errno
 * of the failed call.
 */
int ktape_ctf_create(const char *dir, unsigned int flags, const char *metadata,
		     size_t len, struct ktape_ctf **ctf);

/**
 * ktape_ctf_append() - Append a packet to its stream
 * @ctf: the trace
 * @packet: the whole packet
 * @len: bytes of @packet
 *
 * An empty packet is written before the first packet of a stream, unless that is an empty
 * one itself, so that a reader can compute exactly how many events were lost up to the end
 * of the first packet.
 *
 * Return: 0, -EINVAL if @packet is not a packet, or the errno of the failed write.
 */
int ktape_ctf_append(struct ktape_ctf *ctf, const void *packet, size_t len);

/**
 * ktape_ctf_commit() - Move a complete KTAPE_CTF_STAGED trace to its place
 * @ctf: the trace; nothing may be appended afterwards
 *
 * Before this call the files are in a temporary directory inside @dir, and the
 * earlier trace is unchanged.
 *
 * Return: 0, or the first error; after an error the earlier trace is unchanged.
 */
int ktape_ctf_commit(struct ktape_ctf *ctf);

/**
 * ktape_ctf_close() - Close all files
 * @ctf: the trace, or NULL
 *
 * A staged trace that was not committed is removed.
 *
 * Return: 0 or the first error.
 */
int ktape_ctf_close(struct ktape_ctf *ctf);

/**
 * ktape_piece_remark() - Read the comment at the end of a trace's metadata
 * @path: a CTF directory or a pipe-form file, compressed or not
 * @remark: set to the text of the comment, which the caller frees
 *
 * Return: 0, -ENOENT if there is no comment or a conversion has written the trace,
 * whose comment is that of its input; -EBADMSG if @path is not a native trace, or the
 * errno of the failed call.
 */
int ktape_piece_remark(const char *path, char **remark);

/**
 * ktape_piece_remove() - Remove a trace
 * @path: a CTF directory or a pipe-form file, compressed or not
 *
 * Return: 0; -EEXIST if @path is no native trace, or a directory that contains anything
 * else, then nothing is removed; or the errno of the failed call.
 */
int ktape_piece_remove(const char *path);

/**
 * ktape_pipe_metadata() - Write the metadata packets that begin a pipe form
 * @fd: descriptor of the output
 * @uuid: UUID of the trace
 * @metadata: text of the metadata
 * @len: bytes of @metadata
 *
 * Return: 0 or the errno of the failed write.
 */
int ktape_pipe_metadata(int fd, const uint8_t *uuid, const char *metadata,
			size_t len);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_TRACE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: reading, showing and writing traces.  Included by ktape.h. */
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

/* Names of objects at any time. */
struct ktape_registry;

/**
 * struct ktape_object_info - what is known of an object at one moment
 * @name: ends in NUL
 * @name_len: its length
 * @plain: neither text nor JSON needs an escape in it
 * @param1: by type (ktape/objects.h); thread: its process
 * @param2: by type; thread: priority | policy << 8 | kernel thread << 16
 * @born: when it came into being
 * @died: when it went, or 0
 */
struct ktape_object_info {
	char name[KTAPE_NAME_SIZE + 1];
	uint8_t name_len;
	bool plain;
	uint32_t param1;
	uint32_t param2;
	uint64_t born;
	uint64_t died;
};

/**
 * ktape_registry_new() - a registry that knows nothing
 * @hz: of the trace clock
 * @registry: set; ends with ktape_registry_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_registry_new(uint64_t hz, struct ktape_registry **registry);

/**
 * ktape_registry_free() - the end of a registry
 * @registry: or NULL
 */
void ktape_registry_free(struct ktape_registry *registry);

/**
 * ktape_registry_add() - learn from a registry event
 * @registry: where to
 * @event: other events are ignored
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_registry_add(struct ktape_registry *registry,
		       const struct ktape_event *event);

/**
 * ktape_registry_object() - which object had this id then?
 * @registry: where to look
 * @type: enum ktape_object
 * @id: its number within the type
 * @param1: where ids are not enough: MARKER, VALUE, ISR, CGROUP, SYSCALL; of
 *	others ignored
 * @ts: when
 *
 * An object that is no thread may also have been named later, or have gone
 * before.
 *
 * Return: the object, or NULL; good until the next ktape_registry_add().
 */
const struct ktape_object_info *
ktape_registry_object(const struct ktape_registry *registry, unsigned int type,
		      uint32_t id, uint32_t param1, uint64_t ts);

/**
 * ktape_registry_meant() - which object does an event mean by this id?
 * @registry: where to look
 * @event: the event: its time, CPU and thread, and whether it is the thread's own
 * @type: enum ktape_object
 * @id: its number within the type
 *
 * An interrupt routine is that of the event's CPU, else that of all CPUs.  A
 * marker or value that is a thread's own has the thread's name for it, else the
 * one that holds for whatever thread, else the global one's, unless that is of the
 * global one alone (KTAPE_OBJ_MARKER).
 *
 * Return: as ktape_registry_object().
 */
const struct ktape_object_info *
ktape_registry_meant(const struct ktape_registry *registry,
		     const struct ktape_event *event, unsigned int type,
		     uint32_t id);

/**
 * ktape_registry_thread() - who had this id then?
 * @registry: where to look
 * @tid: thread id
 * @ts: when
 *
 * Return: the thread, or NULL; good until the next ktape_registry_add().
 */
const struct ktape_object_info *
ktape_registry_thread(const struct ktape_registry *registry, int32_t tid,
		      uint64_t ts);

#define KTAPE_REGISTRY_MAX	(1U << 20)	/* names that it keeps */

/**
 * ktape_registry_left_out() - what was there no room for?
 * @registry: where
 *
 * A registry keeps KTAPE_REGISTRY_MAX names, and of one id the last 1024.
 *
 * Return: how many names it does not have.
 */
uint64_t ktape_registry_left_out(const struct ktape_registry *registry);

/* ---- reading a trace -------------------------------------------------- */

/**
 * enum ktape_notice_kind - what a reader of a trace should be told
 * @KTAPE_NOTICE_LOST: @count events are missing between @from and @to, or with
 *	@count 0 an unknown number
 * @KTAPE_NOTICE_TRUNCATED: the input begins or ends in the middle of a packet or
 *	frame
 * @KTAPE_NOTICE_CORRUPT: something could not be read; @count such places of a
 *	format of others
 * @KTAPE_NOTICE_TABLE: recorded with another event table
 * @KTAPE_NOTICE_LATE: @count events of a live stream came too late to be sorted
 * @KTAPE_NOTICE_ASSUMED: the format of others does not tell something, and what
 *	was taken instead
 * @KTAPE_NOTICE_METADATA: the metadata was changed since it was written: what it
 *	tells may be wrong; the offset of the error is UINT64_MAX if the place is not known
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
 * struct ktape_notice - something about the trace
 * @kind: enum ktape_notice_kind
 * @stream: it is about one stream
 * @cpu: its CPU
 * @ring: its enum ktape_ring_kind
 * @count: events (LOST, LATE), places (CORRUPT)
 * @packets: packets that are missing as well (LOST)
 * @from: time
 * @to: time
 * @error: what and where (TRUNCATED, CORRUPT, TABLE, ASSUMED)
 */
struct ktape_notice {
	uint32_t kind;
	bool stream;
	uint32_t cpu;
	uint32_t ring;
	uint64_t count;
	uint64_t packets;
	uint64_t from;
	uint64_t to;
	struct ktape_error error;
};

#define KTAPE_TRACE_HELD_MAX	(1ULL << 30)	/* bytes */

/* Flags of struct ktape_trace_options. */
#define KTAPE_TRACE_SORTED	(1U << 0)	/* see @flags */

/* A trace that is being read. */
struct ktape_trace;

/**
 * struct ktape_trace_options - how to read it
 * @notice: called when there is something to tell, may be NULL
 * @idle: called before a live stream is waited for, and twice a second; may be
 *	NULL
 * @arg: for @notice and @idle
 * @format: name of the format (ktape-codec.h); NULL: what its bytes look like
 * @format_options: "key=value,..." for the format, or NULL
 * @window: bytes of a live stream that are held back to be sorted; 0: 64 MiB
 * @memory: bytes of files' packets that may be held; 0: KTAPE_TRACE_HELD_MAX
 * @wake: descriptor; when it becomes readable a live stream ends at the next
 *	pause, or a second later; 0: none
 * @flags: KTAPE_TRACE_*.  SORTED: events of a format of others come in the order
 *	of time within @window, and it is -EBADMSG when those of a CPU are not;
 *	else they come as they stand in the input
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
 * ktape_trace_open() - open a trace
 * @path: a CTF directory, a pipe-form file, one stream file beside its
 *	metadata, or "-" for a pipe form on standard input; or a file, or "-", in
 *	a format of others
 * @options: may be NULL
 * @trace: set; ends with ktape_trace_close()
 * @error: filled on -EBADMSG; else its text is empty, or the file of the
 *	directory that could not be read; may be NULL
 *
 * Return: 0, -EBADMSG if it is no trace, -EINVAL if @options name a format or an
 * option that is not known (told in @error), -ENOBUFS if its packets take more
 * memory than they may, or the errno of the failed call.
 */
int ktape_trace_open(const char *path,
		     const struct ktape_trace_options *options,
		     struct ktape_trace **trace, struct ktape_error *error);

/**
 * ktape_trace_next() - the next event in order of time
 * @trace: the trace
 * @event: set; good until the next call
 *
 * Return: 1, 0 at the end, -ENOBUFS as above, or another negative errno.
 */
int ktape_trace_next(struct ktape_trace *trace,
		     const struct ktape_event **event);

/**
 * ktape_trace_is_live() - does it come in only once, as from a pipe?
 * @trace: the trace
 *
 * Return: true if it does, and is sorted only within a window.
 */
bool ktape_trace_is_live(const struct ktape_trace *trace);

/**
 * ktape_trace_metadata() - text of the metadata
 * @trace: the trace
 * @len: set to its bytes
 *
 * Return: the text without a NUL, as long as the trace is open; NULL if it is in
 * a format of others.
 */
const char *ktape_trace_metadata(const struct ktape_trace *trace, size_t *len);

/**
 * ktape_trace_format() - name of the format of others that it is in
 * @trace: the trace
 *
 * Return: the name, or NULL: it is native.
 */
const char *ktape_trace_format(const struct ktape_trace *trace);

/**
 * ktape_trace_source() - the last event in the words of the format it came in
 * @trace: the trace
 * @len: set to the bytes of it
 *
 * Return: a JSON value without a NUL, good until the next call; or NULL, if it is
 * native or its format has none.
 */
const char *ktape_trace_source(struct ktape_trace *trace, size_t *len);

/**
 * ktape_trace_info() - what the metadata tells
 * @trace: the trace
 *
 * Return: as long as the trace is open.
 */
const struct ktape_info *ktape_trace_info(const struct ktape_trace *trace);

/**
 * ktape_trace_registry() - names that are known so far
 * @trace: the trace
 *
 * Return: as long as the trace is open.
 */
const struct ktape_registry *
ktape_trace_registry(const struct ktape_trace *trace);

/**
 * ktape_trace_close() - the end of reading
 * @trace: or NULL
 */
void ktape_trace_close(struct ktape_trace *trace);

/**
 * ktape_split() - turn a pipe form into a CTF directory
 * @path: a pipe-form file, or "-"
 * @dir: where to
 * @force: replace a trace that is there
 * @options: may be NULL; only @notice is used
 * @error: filled on -EBADMSG, may be NULL
 *
 * What comes from a file takes its place when it is whole.  What comes through a
 * pipe cannot be had again: it is in its place from the beginning.
 *
 * Return: 0, -ENOTEMPTY or -EEXIST as from ktape_ctf_create(), -EBADMSG if @path
 * is no pipe form, or the errno of the failed call.
 */
int ktape_split(const char *path, const char *dir, bool force,
		const struct ktape_trace_options *options,
		struct ktape_error *error);

/* ---- events as text --------------------------------------------------- */

/**
 * ktape_format_bound() - room that a line can take
 * @event: the event
 *
 * Return: bytes.
 */
size_t ktape_format_bound(const struct ktape_event *event);

/**
 * ktape_format_text() - an event as a line of text
 * @info: of the trace
 * @registry: names
 * @event: the event
 * @to: room for ktape_format_bound() bytes
 *
 * Return: bytes, the newline included; there is no NUL.
 */
size_t ktape_format_text(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to);

/**
 * ktape_format_json() - an event as a line of JSON
 * @info: of the trace
 * @registry: names
 * @event: the event
 * @to: room for ktape_format_bound() bytes
 *
 * Return: bytes, the newline included; there is no NUL.
 */
size_t ktape_format_json(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to);

/* ---- writing a trace -------------------------------------------------- */

/* A CTF directory that is being written. */
struct ktape_ctf;

/* Flags of ktape_ctf_create(). */
#define KTAPE_CTF_FORCE		(1U << 0)	/* replace a trace */
#define KTAPE_CTF_DIRECT	(1U << 1)	/* past the page cache */
#define KTAPE_CTF_NEW		(1U << 2)	/* it must not exist */
#define KTAPE_CTF_FILE		(1U << 3)	/* a file: a pipe form */
#define KTAPE_CTF_ZSTD		(1U << 4)	/* each packet compressed; not with
						 * KTAPE_CTF_DIRECT */
#define KTAPE_CTF_STAGED	(1U << 5)	/* in its place only by
						 * ktape_ctf_commit(); no file */

/**
 * ktape_ctf_create() - make a CTF directory, or a pipe-form file
 * @dir: where; a file must not exist
 * @flags: KTAPE_CTF_*
 * @metadata: text
 * @len: its length
 * @ctf: set; ends with ktape_ctf_close()
 *
 * The metadata of a directory is never compressed; the names of its other files
 * end in ".zst" when they are.
 *
 * Return: 0, -ENOTEMPTY if @dir has something in it, -EEXIST if that is not only
 * a trace that may be replaced or if @dir must not exist, or the errno of the
 * failed call.
 */
int ktape_ctf_create(const char *dir, unsigned int flags, const char *metadata,
		     size_t len, struct ktape_ctf **ctf);

/**
 * ktape_ctf_append() - add a packet to its stream
 * @ctf: the trace
 * @packet: whole packet
 * @len: its bytes
 *
 * Before a stream's first packet an empty one is written, so that readers can
 * tell exactly what was lost before the first one ended.
 *
 * Return: 0, -EINVAL if it is no packet, or the errno of the failed write.
 */
int ktape_ctf_append(struct ktape_ctf *ctf, const void *packet, size_t len);

/**
 * ktape_ctf_commit() - a trace that was created with KTAPE_CTF_STAGED is whole
 * @ctf: the trace, to which nothing may be added any more
 *
 * Until then its files are in a folder with a temporary name inside of its own, and
 * what it replaces is there.
 *
 * Return: 0, or the first error, after which it has not taken its place.
 */
int ktape_ctf_commit(struct ktape_ctf *ctf);

/**
 * ktape_ctf_close() - close all files
 * @ctf: or NULL
 *
 * Of a trace that is staged and was not committed nothing stays.
 *
 * Return: 0 or the first error.
 */
int ktape_ctf_close(struct ktape_ctf *ctf);

/**
 * ktape_piece_remark() - the comment at the end of a trace's metadata
 * @path: a CTF directory, or a pipe-form file, compressed or not
 * @remark: set to the text of the comment, which the caller frees
 *
 * Return: 0, -ENOENT if there is none, -EBADMSG if @path is no trace of ours, or
 * the errno of the failed call.
 */
int ktape_piece_remark(const char *path, char **remark);

/**
 * ktape_piece_remove() - remove a trace
 * @path: a CTF directory, or a pipe-form file, compressed or not
 *
 * Return: 0, -EEXIST if there is anything in it that is not a trace of ours, in
 * which case nothing is removed, or the errno of the failed call.
 */
int ktape_piece_remove(const char *path);

/**
 * ktape_pipe_metadata() - begin a pipe form
 * @fd: where to
 * @uuid: of the trace
 * @metadata: text
 * @len: its length
 *
 * Return: 0 or the errno of the failed write.
 */
int ktape_pipe_metadata(int fd, const uint8_t *uuid, const char *metadata,
			size_t len);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_TRACE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: the event table, metadata, records and packets.  Included by ktape.h. */
#ifndef _KTAPE_EVENT_H
#define _KTAPE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors and notices ----------------------------------------------- */

/**
 * struct ktape_error - what was wrong with foreign bytes
 * @offset: where, in bytes from the beginning of the file, stream or buffer
 * @text: a sentence for people, without a full stop
 */
struct ktape_error {
	uint64_t offset;
	char text[160];
};

/* ---- the event table -------------------------------------------------- */

enum ktape_field_type {
#define KTAPE_TYPE(NAME, words, help) KTAPE_TYPE_##NAME,
#include <ktape/events.h>
	KTAPE_TYPES
};

/**
 * enum ktape_place - where in a record a field is
 * @KTAPE_PLACE_BITS: @count bits of dat20, after those of the field before
 * @KTAPE_PLACE_ARG: argument words, or words of the blob after PLACE_BLOB
 * @KTAPE_PLACE_REST: all argument words
 * @KTAPE_PLACE_BLOB: no field: what follows is in the blob
 * @KTAPE_PLACE_ARRAY: @count values in the blob
 * @KTAPE_PLACE_TEXT: the whole blob, as text
 * @KTAPE_PLACE_BYTES: the whole blob, as bytes
 * @KTAPE_PLACE_LIST: a count in the blob, then so many values
 */
enum ktape_place {
	KTAPE_PLACE_BITS,
	KTAPE_PLACE_ARG,
	KTAPE_PLACE_REST,
	KTAPE_PLACE_BLOB,
	KTAPE_PLACE_ARRAY,
	KTAPE_PLACE_TEXT,
	KTAPE_PLACE_BYTES,
	KTAPE_PLACE_LIST
};

/**
 * struct ktape_field - one field of an event
 * @name: as in the table
 * @help: for people
 * @type: enum ktape_field_type
 * @place: enum ktape_place
 * @count: bits, words or values
 */
struct ktape_field {
	const char *name;
	const char *help;
	uint8_t type;
	uint8_t place;
	uint16_t count;
};

/**
 * struct ktape_event_desc - one event of the table
 * @name: as in the table
 * @help: for people
 * @fields: its fields in the order of the record
 * @nr_fields: how many
 * @opcode: its number
 * @event_class: enum ktape_class
 * @nargs: argument words; meaningless if @varargs
 * @varargs: true if the number of argument words varies
 * @has_blob: true if p is set
 * @blob_words: 32-bit words that a blob has at least
 */
struct ktape_event_desc {
	const char *name;
	const char *help;
	const struct ktape_field *fields;
	uint16_t nr_fields;
	uint8_t opcode;
	uint8_t event_class;
	uint8_t nargs;
	bool varargs;
	bool has_blob;
	uint16_t blob_words;
};

/**
 * struct ktape_class_desc - one class of events
 * @name: as in the table
 * @help: for people
 * @ring: enum ktape_ring_kind
 * @priority: 0 is shed first, 3 never
 */
struct ktape_class_desc {
	const char *name;
	const char *help;
	uint8_t ring;
	uint8_t priority;
};

/**
 * ktape_event_desc() - look an event up by its opcode
 * @opcode: any number
 *
 * Return: the event, or NULL if the table has none.
 */
const struct ktape_event_desc *ktape_event_desc(unsigned int opcode);

/**
 * ktape_event_find() - look an event up by its name
 * @name: as in the table
 *
 * Return: the event, or NULL.
 */
const struct ktape_event_desc *ktape_event_find(const char *name);

/**
 * ktape_class_desc() - look a class up by its number
 * @event_class: any number
 *
 * Return: the class, or NULL.
 */
const struct ktape_class_desc *ktape_class_desc(unsigned int event_class);

/**
 * ktape_type_name() - name of a field type, as in the table
 * @type: enum ktape_field_type
 *
 * Return: the name, or NULL.
 */
const char *ktape_type_name(unsigned int type);

/**
 * ktape_value_name() - name of a value of a field type
 * @type: enum ktape_field_type
 * @value: its value
 *
 * Return: the name ("S", "NET_RX", "thread"), or NULL if it has none.
 */
const char *ktape_value_name(unsigned int type, uint64_t value);

/**
 * enum ktape_abi - by which table of its machine a system call was called
 * @KTAPE_ABI_NATIVE: the machine's own
 * @KTAPE_ABI_COMPAT: the one of 32-bit programs
 * @KTAPE_ABI_X32: x32 (numbers without their high bit)
 * @KTAPE_ABIS: how many there are
 */
enum ktape_abi {
	KTAPE_ABI_NATIVE,
	KTAPE_ABI_COMPAT,
	KTAPE_ABI_X32,
	KTAPE_ABIS
};

/**
 * ktape_syscall_name() - name of a system call
 * @machine: as from uname(2): x86_64, i386 to i686, aarch64, riscv64,
 *	loongarch64
 * @nr: its number in the machine's own table
 *
 * Return: the name, or NULL.
 */
const char *ktape_syscall_name(const char *machine, unsigned int nr);

/**
 * ktape_syscall_abi_name() - name of a system call of any table
 * @machine: as from uname(2)
 * @abi: enum ktape_abi
 * @nr: its number in that table
 *
 * Return: the name, or NULL.
 */
const char *ktape_syscall_abi_name(const char *machine, unsigned int abi,
				   unsigned int nr);

/**
 * ktape_errno_name() - name of an error
 * @number: positive
 *
 * Return: the name ("ENOENT"), or NULL.
 */
const char *ktape_errno_name(int number);

/**
 * ktape_table_hash() - FNV-1a of the event table as CTF metadata
 *
 * Return: the hash that a module with the same table tells.
 */
uint64_t ktape_table_hash(void);

/**
 * ktape_mask_parse() - turn names of events into a mask
 * @list: comma separated: events, classes, presets (none, default, all), globs
 *	("sys_*"), masks ("0x1f"); "!" before one takes it away.  Events
 *	on request (frequent or large ones) have to be named; a glob takes them
 *	if it matches nothing else.
 * @mask: bit n is opcode n
 * @bad: if not NULL, set to the part of @list that was not understood
 *
 * Return: 0, or -ENOENT if a name is not known.
 */
int ktape_mask_parse(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
		     const char **bad);

/**
 * ktape_mask_parse_shown() - the same for events that were recorded
 * @list: as above, but classes, globs and "all" take events on request, too, and
 *	"opcode_200" is one that the table does not have
 * @mask: bit n is opcode n
 * @bad: as above
 *
 * Return: 0, or -ENOENT if a name is not known.
 */
int ktape_mask_parse_shown(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
			   const char **bad);

/* ---- metadata --------------------------------------------------------- */

#define KTAPE_EVENT_NAME_SIZE	32
#define KTAPE_CPU_WORDS		128

/**
 * struct ktape_info - what the metadata of a trace tells
 * @uuid: of the trace
 * @table_hash: of the event table with which it was recorded
 * @freq: of the trace clock in Hz
 * @offset_s: its origin in seconds since the epoch ...
 * @offset: ... plus ticks
 * @mono_offset_ns: CLOCK_MONOTONIC minus trace clock in ns at load
 * @boot_offset_ns: the same with CLOCK_BOOTTIME
 * @real_offset_ns: the same with CLOCK_REALTIME
 * @clock: name of the trace clock
 * @hostname: of the machine
 * @release: of its kernel
 * @machine: its architecture
 * @known: bit n: opcode n is described as in this library's table
 * @names: of the events by opcode; empty: not described
 * @converted: its packets were made by a conversion, which may have left events
 *	out: what it counts and where it has markers proves nothing
 * @has_cpus: @cpus is known
 * @cpus: bit n: the recorder had rings of CPU n
 */
struct ktape_info {
	uint8_t uuid[16];
	uint64_t table_hash;
	uint64_t freq;
	int64_t offset_s;
	uint64_t offset;
	int64_t mono_offset_ns;
	int64_t boot_offset_ns;
	int64_t real_offset_ns;
	char clock[32];
	char hostname[65];
	char release[65];
	char machine[65];
	uint64_t known[KTAPE_MASK_WORDS];
	char names[KTAPE_OPCODES][KTAPE_EVENT_NAME_SIZE];
	bool converted;
	bool has_cpus;
	uint64_t cpus[KTAPE_CPU_WORDS];
};

/**
 * ktape_metadata_format() - CTF 1.8 metadata for a trace
 * @info: what the module tells as well is used: no member from @known on
 * @text: set to text that the caller frees
 * @len: set to its length without the NUL
 *
 * Return: 0 or negative errno.
 */
int ktape_metadata_format(const struct ktape_info *info, char **text,
			  size_t *len);

/**
 * ktape_metadata_add() - say something more in metadata's env block
 * @text: as of malloc(); set to a longer one
 * @len: of it, raised
 * @key: a name for CTF
 * @value: ends at a quote, a backslash or a line's end
 *
 * A key that is there gets no second value.  The text's checksum is renewed if it
 * was right.
 *
 * Return: 0, -EBADMSG without an env block, or -ENOMEM.
 */
int ktape_metadata_add(char **text, size_t *len, const char *key,
		       const char *value);

/**
 * ktape_metadata_cpus() - say which CPUs a trace is of
 * @text: as with ktape_metadata_add()
 * @len: likewise
 * @cpus: bit n: CPU n
 *
 * Who has the metadata can then tell that files of a CPU are missing.
 *
 * Return: as ktape_metadata_add().
 */
int ktape_metadata_cpus(char **text, size_t *len,
			const uint64_t cpus[KTAPE_CPU_WORDS]);

/**
 * ktape_metadata_parse() - read metadata, plain or in packets
 * @text: the metadata
 * @len: its length
 * @info: filled
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 0, or -EBADMSG if it is not a trace of ktape.
 */
int ktape_metadata_parse(const void *text, size_t len, struct ktape_info *info,
			 struct ktape_error *error);

/**
 * ktape_metadata_check() - is metadata as its writer left it?
 * @text: the metadata, not in packets
 * @len: its length
 * @error: filled on -EBADMSG and -ENODATA, may be NULL: its offset is the place of
 *	the change, or UINT64_MAX if that was not found
 *
 * The text has a checksum.  Of one without, which a version before 0.9 has
 * written, only the events are compared with their hash, and whether they are read
 * as they stand there; where they cannot be told from the rest, @error says so and
 * nothing is compared.  Where such a version has
 * added "cpus", "converted" or a remark to a text with a checksum, that is of the
 * text without them.
 *
 * Return: 0; -ENODATA if nothing is wrong, but not all of the text is vouched for,
 * with the reason in @error; -EBADMSG if it was changed; or -ENOMEM.
 */
int ktape_metadata_check(const char *text, size_t len,
			 struct ktape_error *error);

/**
 * ktape_ticks_to_ns() - convert a duration
 * @info: of the trace
 * @ticks: duration
 *
 * Return: nanoseconds, rounded down.
 */
uint64_t ktape_ticks_to_ns(const struct ktape_info *info, uint64_t ticks);

/**
 * ktape_epoch_ns() - convert a time to nanoseconds since the epoch
 * @info: of the trace
 * @ts: time
 *
 * Return: nanoseconds, as CTF viewers show them.
 */
int64_t ktape_epoch_ns(const struct ktape_info *info, uint64_t ts);

/**
 * ktape_mono_ns() - convert a time to CLOCK_MONOTONIC
 * @info: of the trace
 * @ts: time
 *
 * Return: nanoseconds.
 */
int64_t ktape_mono_ns(const struct ktape_info *info, uint64_t ts);

/* ---- records and packets ---------------------------------------------- */

/**
 * struct ktape_event - one record
 * @ts: its whole time
 * @args: argument words, little-endian, not aligned
 * @blob: what follows them, or NULL
 * @offset: of the record from the beginning of its packet
 * @size: of the record
 * @blob_size: of @blob
 * @dat20: 20 bits
 * @cpu: where it was recorded
 * @tid: thread on that CPU, -1 if not known
 * @kind: enum ktape_ring_kind
 * @opcode: which event
 * @nargs: how many argument words
 * @known: false: fields are not as in the table, show the words
 *
 * Pointers are good until the next call for the same object.
 */
struct ktape_event {
	uint64_t ts;
	const void *args;
	const void *blob;
	uint32_t offset;
	uint32_t size;
	uint32_t blob_size;
	uint32_t dat20;
	uint32_t cpu;
	int32_t tid;
	uint8_t kind;
	uint8_t opcode;
	uint8_t nargs;
	bool known;
};

/**
 * ktape_event_arg() - one argument word
 * @event: the event
 * @i: which, from 0
 *
 * Return: its value, 0 if there is no such argument.
 */
uint32_t ktape_event_arg(const struct ktape_event *event, unsigned int i);

/**
 * ktape_event_field() - value of a field by name
 * @event: the event
 * @name: as in the table
 * @value: set to it; signed types are extended to 64 bits
 *
 * Return: 0, -ENOENT if there is no such field or it is no number, -EINVAL if
 * the event is not as in the table.
 */
int ktape_event_field(const struct ktape_event *event, const char *name,
		      uint64_t *value);

/**
 * struct ktape_packet - a packet and how far it was read
 * @data: the packet
 * @content: bytes of header and records
 * @at: offset of the next record
 * @ts: time of the record before
 * @cpu: where it was recorded
 * @kind: enum ktape_ring_kind
 * @truncated: its records are cut off: there are fewer bytes than its content
 */
struct ktape_packet {
	const uint8_t *data;
	uint64_t content;
	uint64_t at;
	uint64_t ts;
	uint32_t cpu;
	uint32_t kind;
	bool truncated;
};

/**
 * ktape_packet_open() - check the head of a packet, begin to read it
 * @packet: filled
 * @data: the packet; it has to stay while events are read
 * @len: how many bytes of it there are
 * @uuid: of the trace, or NULL to take any
 * @error: filled on -EBADMSG, may be NULL
 *
 * The checksum is checked if the packet has one and its content is there.
 *
 * Return: 0, or -EBADMSG.
 */
int ktape_packet_open(struct ktape_packet *packet, const void *data, size_t len,
		      const uint8_t *uuid, struct ktape_error *error);

/**
 * ktape_packet_next() - read the next record
 * @packet: from ktape_packet_open()
 * @event: filled; @tid is -1 and @known is true
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 1, 0 at the end, or -EBADMSG; then the rest cannot be read.
 */
int ktape_packet_next(struct ktape_packet *packet, struct ktape_event *event,
		      struct ktape_error *error);

/* Follows the threads of all CPUs, decodes packets. */
struct ktape_decoder;

/**
 * ktape_decoder_new() - a decoder that has seen nothing
 * @info: of the trace; has to stay
 * @decoder: set; ends with ktape_decoder_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_decoder_new(const struct ktape_info *info,
		      struct ktape_decoder **decoder);

/**
 * ktape_decoder_free() - the end of a decoder
 * @decoder: or NULL
 */
void ktape_decoder_free(struct ktape_decoder *decoder);

/**
 * struct ktape_visitor - who takes events
 * @event: called for each; what it returns, if not 0, ends the walk
 * @arg: for @event
 */
struct ktape_visitor {
	int (*event)(void *arg, const struct ktape_event *event);
	void *arg;
};

/**
 * ktape_decode_packet() - decode one packet from memory
 * @data: the packet
 * @len: how many bytes of it there are
 * @decoder: knows the threads
 * @visitor: gets the events
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 0, -EBADMSG, or what @visitor returned.
 */
int ktape_decode_packet(const void *data, size_t len,
			struct ktape_decoder *decoder,
			const struct ktape_visitor *visitor,
			struct ktape_error *error);

/**
 * struct ktape_builder - a packet that is being made
 * @data: where
 * @size: room, a multiple of 8
 * @at: bytes so far
 * @ts: time of the last record
 * @records: how many, time extensions left out
 */
struct ktape_builder {
	uint8_t *data;
	size_t size;
	size_t at;
	uint64_t ts;
	uint64_t records;
};

/**
 * struct ktape_record - a record to be made
 * @ts: its time, never less than that of the one before
 * @args: argument words
 * @blob: NULL, or what follows them
 * @blob_size: of @blob
 * @dat20: 20 bits
 * @opcode: which event
 * @nargs: 0 to 7
 */
struct ktape_record {
	uint64_t ts;
	const uint32_t *args;
	const void *blob;
	uint32_t blob_size;
	uint32_t dat20;
	uint8_t opcode;
	uint8_t nargs;
};

/**
 * ktape_build_begin() - begin a packet
 * @b: filled
 * @data: room for it
 * @size: of @data, a multiple of 8, at least KTAPE_BLOCK_HEADER
 * @head: uuid, cpu, kind, seq, ts_begin, tid, prio, context and discarded are
 *	used
 */
void ktape_build_begin(struct ktape_builder *b, void *data, size_t size,
		       const struct ktape_block *head);

/**
 * ktape_build_add() - add a record, and a time extension if it takes one
 * @b: the packet
 * @record: the record
 *
 * Return: 0, -ENOSPC if it does not fit, -EINVAL if it cannot be.
 */
int ktape_build_add(struct ktape_builder *b, const struct ktape_record *record);

/**
 * ktape_build_end() - finish a packet
 * @b: the packet
 * @ts_end: not before the last record
 * @discarded: events lost in this stream so far
 *
 * Return: bytes, a multiple of 8.
 */
size_t ktape_build_end(struct ktape_builder *b, uint64_t ts_end,
		       uint64_t discarded);

/**
 * ktape_packet_seal() - compute the checksum of a finished packet
 * @packet: whole packet
 */
void ktape_packet_seal(void *packet);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_EVENT_H */

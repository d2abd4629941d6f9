/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: the event table, metadata, records and packets in memory.
 *
 * Included by ktape.h.  Whole traces in files are in ktape-trace.h.
 */
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
 * struct ktape_error - what is wrong with an input, and where
 * @offset: byte offset from the beginning of the file, stream or buffer
 * @text: a sentence for users, without a full stop
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
 * enum ktape_place - the place of a field in a record
 * @KTAPE_PLACE_BITS: @count bits of dat20, after the bits of the previous field
 * @KTAPE_PLACE_ARG: argument words, or words of the blob after PLACE_BLOB
 * @KTAPE_PLACE_REST: all argument words
 * @KTAPE_PLACE_BLOB: not a field; all following fields are in the blob
 * @KTAPE_PLACE_ARRAY: @count values in the blob
 * @KTAPE_PLACE_TEXT: the whole blob, as text
 * @KTAPE_PLACE_BYTES: the whole blob, as bytes
 * @KTAPE_PLACE_LIST: a count in the blob, followed by that many values
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
 * @help: description for users
 * @type: enum ktape_field_type
 * @place: enum ktape_place
 * @count: number of bits, words or values, depending on @place
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
 * @help: description for users
 * @fields: fields in the order of the record
 * @nr_fields: number of fields
 * @opcode: event number
 * @event_class: enum ktape_class
 * @nargs: number of argument words; not used if @varargs
 * @varargs: true if the number of argument words varies
 * @has_blob: true if the record has a blob
 * @blob_words: minimum size of the blob in 32-bit words
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
 * @help: description for users
 * @ring: enum ktape_ring_kind
 * @priority: 0 is shed first, then 1; 2 and 3 never are
 */
struct ktape_class_desc {
	const char *name;
	const char *help;
	uint8_t ring;
	uint8_t priority;
};

/**
 * ktape_event_desc() - Look up an event by its opcode
 * @opcode: any number
 *
 * Return: the event, or NULL if the table has none.
 */
const struct ktape_event_desc *ktape_event_desc(unsigned int opcode);

/**
 * ktape_event_find() - Look up an event by its name
 * @name: as in the table
 *
 * Return: the event, or NULL.
 */
const struct ktape_event_desc *ktape_event_find(const char *name);

/**
 * ktape_class_desc() - Look up a class by its number
 * @event_class: any number
 *
 * Return: the class, or NULL.
 */
const struct ktape_class_desc *ktape_class_desc(unsigned int event_class);

/**
 * ktape_type_name() - Return the name of a field type, as in the table
 * @type: enum ktape_field_type
 *
 * Return: the name, or NULL.
 */
const char *ktape_type_name(unsigned int type);

/**
 * ktape_value_name() - Return the name of a value of a field type
 * @type: enum ktape_field_type
 * @value: the value
 *
 * Return: the name ("S", "NET_RX", "thread"), or NULL if it has none.
 */
const char *ktape_value_name(unsigned int type, uint64_t value);

/**
 * enum ktape_abi - which system call table of its machine a number belongs to
 * @KTAPE_ABI_NATIVE: the native table
 * @KTAPE_ABI_COMPAT: the table of 32-bit programs
 * @KTAPE_ABI_X32: the x32 table (numbers without their high bit)
 * @KTAPE_ABIS: number of tables
 */
enum ktape_abi {
	KTAPE_ABI_NATIVE,
	KTAPE_ABI_COMPAT,
	KTAPE_ABI_X32,
	KTAPE_ABIS
};

/**
 * ktape_syscall_name() - Return the name of a native system call
 * @machine: as from uname(2): x86_64, i386 to i686, aarch64, riscv64,
 *	loongarch64
 * @nr: number in the machine's native table
 *
 * Return: the name, or NULL.
 */
const char *ktape_syscall_name(const char *machine, unsigned int nr);

/**
 * ktape_syscall_abi_name() - Return the name of a system call of any table
 * @machine: as from uname(2)
 * @abi: enum ktape_abi
 * @nr: number in that table
 *
 * Return: the name, or NULL.
 */
const char *ktape_syscall_abi_name(const char *machine, unsigned int abi,
				   unsigned int nr);

/**
 * ktape_errno_name() - Return the name of an error number
 * @number: positive errno
 *
 * Return: the name ("ENOENT"), or NULL.
 */
const char *ktape_errno_name(int number);

/**
 * ktape_table_hash() - Compute FNV-1a of the event table in its CTF form
 *
 * Return: the hash; a module with the same event table reports the same value.
 */
uint64_t ktape_table_hash(void);

/**
 * ktape_mask_parse() - Convert names of events to a mask
 * @list: comma separated: events, classes, presets (none, default, all), globs
 *	("sys_*"), masks ("0x1f"); a leading "!" removes an item, and a list that
 *	begins with one means all events but that item.  Events on
 *	request (frequent or large ones) must be named; a glob includes them only
 *	if it matches nothing else.
 * @mask: bit n is opcode n
 * @bad: set to the item of @list that is not known; may be NULL
 *
 * Return: 0, or -ENOENT if a name is not known.
 */
int ktape_mask_parse(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
		     const char **bad);

/**
 * ktape_mask_parse_shown() - Convert names of recorded events to a mask
 * @list: as for ktape_mask_parse(), but classes, globs and "all" include events on
 *	request, and "opcode_200" names an event that the table does not have
 * @mask: bit n is opcode n
 * @bad: as for ktape_mask_parse()
 *
 * Return: 0, or -ENOENT if a name is not known.
 */
int ktape_mask_parse_shown(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
			   const char **bad);

/**
 * ktape_event_near() - Find the name that a mistyped name of an event is nearest to
 * @text: the name that is not known; it ends at a NUL or a comma
 *
 * Of a glob, the characters before the first wildcard are compared with the beginnings of
 * names.
 *
 * Return: name of an event, a class or a preset, or NULL if none is near.
 */
const char *ktape_event_near(const char *text);

/* ---- metadata --------------------------------------------------------- */

#define KTAPE_EVENT_NAME_SIZE 32
#define KTAPE_CPU_WORDS	      128

/**
 * struct ktape_info - contents of the metadata of a trace
 * @uuid: UUID of the trace
 * @table_hash: hash of the event table of the recording module
 * @freq: frequency of the trace clock in Hz
 * @offset_s: origin of the trace clock, whole seconds since the epoch
 * @offset: rest of the origin in ticks
 * @mono_offset_ns: CLOCK_MONOTONIC minus trace clock in ns, when the module was
 *	loaded
 * @boot_offset_ns: CLOCK_BOOTTIME minus trace clock in ns
 * @real_offset_ns: CLOCK_REALTIME minus trace clock in ns
 * @clock: name of the trace clock
 * @hostname: host name of the traced machine
 * @release: kernel release of the traced machine
 * @machine: architecture of the traced machine
 * @known: bit n: opcode n is described as in this library's table
 * @names: event names by opcode; "" = not described
 * @converted: a conversion wrote the packets and may have left events out, so
 *	counters and markers prove nothing
 * @has_cpus: @cpus is valid
 * @counts: the clock is a counter whose ticks have no known length: all times are counts,
 *	@freq is 10^9 and says nothing, and differences are no durations
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
	bool counts;
	uint64_t cpus[KTAPE_CPU_WORDS];
};

/**
 * ktape_metadata_format() - Write CTF 1.8 metadata for a trace
 * @info: the members before @known are used
 * @text: set to a text that the caller frees
 * @len: set to the length without the NUL
 *
 * Return: 0 or negative errno.
 */
int ktape_metadata_format(const struct ktape_info *info, char **text, size_t *len);

/**
 * ktape_metadata_add() - Add a value to the env block of metadata
 * @text: text from malloc(); replaced by a longer one
 * @len: length of the text, updated
 * @key: CTF identifier
 * @value: the value; cut at the first quote, backslash or newline
 *
 * A key that already exists keeps its value.  The checksum of the text is updated
 * if it was right.
 *
 * Return: 0, -EBADMSG without an env block, or -ENOMEM.
 */
int ktape_metadata_add(char **text, size_t *len, const char *key, const char *value);

/**
 * ktape_metadata_cpus() - Add the list of recorded CPUs to metadata
 * @text: as for ktape_metadata_add()
 * @len: as for ktape_metadata_add()
 * @cpus: bit n: CPU n
 *
 * A reader of the metadata can then detect that the files of a CPU are missing.
 *
 * Return: as ktape_metadata_add().
 */
int ktape_metadata_cpus(char **text, size_t *len,
			const uint64_t cpus[KTAPE_CPU_WORDS]);

/**
 * ktape_metadata_ctf2() - Convert a trace's metadata to CTF 2
 * @text: the metadata as plain text, ending in NUL
 * @len: bytes of @text
 * @json: set to the result, which describes the same streams; the caller frees it
 * @size: set to the bytes of @json
 *
 * An attribute of the result has @text: ktape_metadata_parse() reads it from there.
 *
 * Return: 0, -EBADMSG if the text cannot be parsed, -EOPNOTSUPP if the library is built
 * without the format lttng, or -ENOMEM.
 */
int ktape_metadata_ctf2(const char *text, size_t len, char **json, size_t *size);

/**
 * ktape_metadata_parse() - Parse metadata, as plain text, in packets or in CTF 2
 * @text: the metadata
 * @len: bytes of @text
 * @info: filled
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 0, -EBADMSG if this is not the metadata of a ktape trace, or -ENOMEM.
 */
int ktape_metadata_parse(const void *text, size_t len, struct ktape_info *info,
			 struct ktape_error *error);

/**
 * ktape_metadata_check() - Check that metadata was not changed since it was written
 * @text: the metadata as plain text
 * @len: bytes of @text
 * @error: filled on -EBADMSG and -ENODATA; its offset is the place of the change,
 *	or UINT64_MAX if the place is not known; may be NULL
 *
 * The metadata carries a checksum of its text.  Versions before 0.9 wrote none: in
 * such a text only the event descriptions are checked, against their hash and
 * against how this library reads them.  If the descriptions are not found in the
 * text, nothing is checked and @error says so.  Versions before 0.9 also
 * added "cpus", "converted" or a remark without updating an existing checksum; the
 * checksum is then checked against the text without these additions.
 *
 * Return: 0 if the whole text is checked and unchanged; -ENODATA if nothing is
 * wrong, but part of the text is not covered, with the reason in @error; -EBADMSG
 * if the text was changed; or -ENOMEM.
 */
int ktape_metadata_check(const char *text, size_t len, struct ktape_error *error);

/**
 * ktape_ticks_to_ns() - Convert a duration from ticks to nanoseconds
 * @info: metadata of the trace
 * @ticks: duration in ticks
 *
 * Return: nanoseconds, rounded down.
 */
uint64_t ktape_ticks_to_ns(const struct ktape_info *info, uint64_t ticks);

/**
 * ktape_epoch_ns() - Convert a time to nanoseconds since the epoch
 * @info: metadata of the trace
 * @ts: time in ticks of the trace clock
 *
 * Return: nanoseconds, as CTF viewers show them.  Of a trace whose clock is not related to
 * UTC they are since that clock's begin.
 */
int64_t ktape_epoch_ns(const struct ktape_info *info, uint64_t ts);

/**
 * ktape_mono_ns() - Convert a time to CLOCK_MONOTONIC
 * @info: metadata of the trace
 * @ts: time in ticks of the trace clock
 *
 * Return: nanoseconds.
 */
int64_t ktape_mono_ns(const struct ktape_info *info, uint64_t ts);

/* ---- records and packets ---------------------------------------------- */

/**
 * struct ktape_event - one record
 * @ts: full 64-bit time in ticks
 * @args: argument words, little-endian, not aligned
 * @blob: variable part of the record, or NULL
 * @offset: offset of the record from the beginning of its packet, in bytes
 * @size: bytes of the record
 * @blob_size: bytes of @blob
 * @dat20: 20 bits of data in the record's header
 * @cpu: CPU that recorded the event
 * @tid: thread that ran on that CPU, -1 = not known
 * @kind: enum ktape_ring_kind
 * @opcode: event number
 * @nargs: number of argument words
 * @known: the fields are as in the table; false: only the plain words are valid
 * @extra: fields that another tracer recorded and the table does not have, as pairs of typed
 *	arguments: a string with the name, then the value; NULL = none.  They are no part of
 *	the record: in a native trace, which a conversion made, the record before has them
 * @extra_size: bytes of @extra
 *
 * The pointers are valid until the next call on the same object.
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
	const void *extra;
	uint32_t extra_size;
};

/**
 * ktape_event_arg() - Return one argument word
 * @event: the event
 * @i: index of the word, from 0
 *
 * Return: the word, 0 if there is no such argument.
 */
uint32_t ktape_event_arg(const struct ktape_event *event, unsigned int i);

/**
 * ktape_event_field() - Return the value of a field by its name
 * @event: the event
 * @name: name of the field, as in the table
 * @value: set to the value; signed types are extended to 64 bits
 *
 * Return: 0, -ENOENT if there is no such field or the field is not a single
 * number, -EINVAL if the record does not match the table.
 */
int ktape_event_field(const struct ktape_event *event, const char *name,
		      uint64_t *value);

/**
 * struct ktape_packet - a packet and how far it was read
 * @data: first byte of the packet
 * @content: bytes of header and records that are present
 * @at: offset of the next record, in bytes
 * @ts: time of the previous record, in ticks
 * @cpu: CPU that recorded the packet
 * @kind: enum ktape_ring_kind
 * @truncated: the packet is cut off: fewer bytes are present than its header says
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
 * ktape_packet_open() - Check the header of a packet and begin reading it
 * @packet: filled
 * @data: the packet; must stay valid while events are read
 * @len: bytes present at @data
 * @uuid: UUID that the packet must have, NULL = any
 * @error: filled on -EBADMSG, may be NULL
 *
 * The checksum is checked if the packet has one and is not cut off.
 *
 * Return: 0, or -EBADMSG.
 */
int ktape_packet_open(struct ktape_packet *packet, const void *data, size_t len,
		      const uint8_t *uuid, struct ktape_error *error);

/**
 * ktape_packet_next() - Read the next record
 * @packet: from ktape_packet_open()
 * @event: filled; @tid is -1 and @known is true
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 1, 0 at the end, or -EBADMSG if the rest of the packet cannot be read.
 */
int ktape_packet_next(struct ktape_packet *packet, struct ktape_event *event,
		      struct ktape_error *error);

/* Decodes packets and tracks which thread runs on each CPU. */
struct ktape_decoder;

/**
 * ktape_decoder_new() - Create a decoder
 * @info: metadata of the trace; must stay valid while the decoder exists
 * @decoder: set on success; release with ktape_decoder_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_decoder_new(const struct ktape_info *info, struct ktape_decoder **decoder);

/**
 * ktape_decoder_free() - Free a decoder
 * @decoder: the decoder, or NULL
 */
void ktape_decoder_free(struct ktape_decoder *decoder);

/**
 * struct ktape_visitor - receiver of decoded events
 * @event: called for each event; a value other than 0 ends the decoding
 * @arg: first argument of @event
 */
struct ktape_visitor {
	int (*event)(void *arg, const struct ktape_event *event);
	void *arg;
};

/**
 * ktape_decode_packet() - Decode one packet from memory
 * @data: the packet
 * @len: bytes present at @data
 * @decoder: decoder of the trace
 * @visitor: receiver of the events
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 0, -EBADMSG, or what @visitor returned.
 */
int ktape_decode_packet(const void *data, size_t len, struct ktape_decoder *decoder,
			const struct ktape_visitor *visitor,
			struct ktape_error *error);

/**
 * struct ktape_builder - a packet under construction
 * @data: buffer of the packet
 * @size: bytes of the buffer, a multiple of 8
 * @at: bytes used so far
 * @ts: time of the last record, in ticks
 * @records: number of records without time extensions
 */
struct ktape_builder {
	uint8_t *data;
	size_t size;
	size_t at;
	uint64_t ts;
	uint64_t records;
};

/**
 * struct ktape_record - a record to add to a packet
 * @ts: time in ticks, not before the previous record
 * @args: argument words
 * @blob: variable part of the record, or NULL
 * @blob_size: bytes of @blob
 * @dat20: 20 bits of data in the record's header
 * @opcode: event number
 * @nargs: number of argument words, 0 to 7
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
 * ktape_build_begin() - Begin a packet
 * @b: filled
 * @data: buffer for the packet
 * @size: bytes of @data, a multiple of 8, at least KTAPE_BLOCK_HEADER
 * @head: header values; uuid, cpu, kind, seq, ts_begin, tid, prio, context, discarded
 *	and flags (without KTAPE_BLOCK_CRC) are used
 */
void ktape_build_begin(struct ktape_builder *b, void *data, size_t size,
		       const struct ktape_block *head);

/**
 * ktape_build_add() - Add a record, preceded by a time extension where needed
 * @b: the packet
 * @record: the record
 *
 * Return: 0, -ENOSPC if the record does not fit, -EINVAL if it is not valid.
 */
int ktape_build_add(struct ktape_builder *b, const struct ktape_record *record);

/**
 * ktape_build_end() - Finish a packet
 * @b: the packet
 * @ts_end: end time of the packet, not before the last record
 * @discarded: events lost in this stream so far
 *
 * Return: bytes of the packet, a multiple of 8.
 */
size_t ktape_build_end(struct ktape_builder *b, uint64_t ts_end, uint64_t discarded);

/**
 * ktape_packet_seal() - Compute and store the checksum of a finished packet
 * @packet: the whole packet
 */
void ktape_packet_seal(void *packet);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_EVENT_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata of a CTF trace as types, from CTF 1.8 (tsdl.c) or CTF 2 (ctf2.c), and
 * reading fields of these types from a packet (ctf.c).
 *
 * Both versions describe the same bytes.  Behind the two parsers only names differ by version:
 * those of 1.8 have a _ before them (lt_name()), and say the roles of numbers (ctf_at.named),
 * which CTF 2 declares.  All memory is in one list that ctf_free() frees.  Names are kept once
 * (types.c): equal names have the same address.
 *
 * Read the files that read the lttng format in this order; each calls only those before it:
 *
 *	ctf.h		types, classes of events, the trace
 *	types.c		memory, names and lists of types
 *	values.c	names and numbers of values, and the room for them
 *	labels.c	fields with the labels of enumerations
 *	keys.c		the keys that members of structures have in JSON
 *	label_parts.c	which labels each value of an enumeration has
 *	tsdl_token.c tsdl_type.c tsdl.c	parse CTF 1.8: words, types, blocks
 *	json.c ctf2.c	parse CTF 2
 *	resolve.c	find the fields that lengths and tags refer to
 *	clocks.c	the clock of each stream
 *	complete.c	both of these for a whole trace
 *	ctf.c		read a field from a packet
 *	elements.c	read an array
 *	walk.c		names and types of fields, for the next two
 *	fields.c	what the fields of a class become: those of a tracepoint
 *	fields_read.c	the fields of an event
 *	packet.h, packet.c	the packets of a file, and the heads of their events
 *	files.c		which files are one stream
 *	probe.c		is it a trace that this format reads?
 *	session.c	the traces of a folder, with a common clock
 *	in.c		the events of all streams by time
 *
 * The files that write it are in internal.h.
 */
#ifndef _KT_LTTNG_CTF_H
#define _KT_LTTNG_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktape-event.h"

/* Limits: a damaged or hostile trace must not take all memory or time. */
#define CTF_DEPTH     16U	 /* of types inside types */
#define CTF_TYPES     (1U << 18) /* of one trace */
#define CTF_BYTES     (1U << 30) /* of all types of all traces of a session */
#define CTF_EMPTY     4096U	 /* fields without bits in an event */
#define CTF_ALIGN_MAX 4096U	 /* bits of an alignment */
#define CTF_LABELS    64U	 /* of a value that are kept */
#define CTF_SLOTS     2048U /* numbers that later fields of an event refer to */

enum ctf_kind {
	CTF_INTEGER,
	CTF_LEB128, /* integer of variable length */
	CTF_FLOAT,
	CTF_STRING,
	CTF_STRUCT,
	CTF_VARIANT,
	CTF_ARRAY,   /* @count elements */
	CTF_SEQUENCE /* as many elements as the field @path says */
};

/* What a number means to the reader of the stream. */
enum ctf_role {
	CTF_PLAIN,
	CTF_MAGIC,
	CTF_STREAM, /* id of the stream class */
	CTF_CLASS,  /* id of the event class */
	CTF_TIME,
	CTF_TIME_END, /* of the packet */
	CTF_CONTENT,  /* bits */
	CTF_TOTAL,    /* bits */
	CTF_DISCARDED,
	CTF_SEQ,
	CTF_CPU,
	CTF_TID,
	CTF_VTID, /* in the name space of the process */
	CTF_ROLES
};

/* Values from @low to @high, both included; as unsigned if their type is. */
struct ctf_range {
	int64_t low;
	int64_t high;
};

/**
 * struct ctf_label - name of a range of values of an enumeration
 * @name: the name
 * @range: the values
 */
struct ctf_label {
	const char *name;
	struct ctf_range range;
};

struct ctf_type;

/**
 * struct ctf_member - a field of a structure, or an option of a variant
 * @name: its name; a variant's is the label of its tag, unless it has @ranges
 * @type: its type
 * @ranges: of an option in CTF 2: values of the selector
 * @nr_ranges: entries of @ranges
 */
struct ctf_member {
	const char *name;
	const struct ctf_type *type;
	struct ctf_range *ranges;
	unsigned int nr_ranges;
};

/* Where a path begins: at the structure that it is in, or in one of these. */
enum ctf_root {
	CTF_PACKET_HEADER,
	CTF_PACKET_CONTEXT,
	CTF_EVENT_HEADER,
	CTF_COMMON_CONTEXT, /* of all events of the stream */
	CTF_CONTEXT,	    /* of the event */
	CTF_PAYLOAD,
	CTF_ROOTS,
	CTF_RELATIVE = CTF_ROOTS
};

/**
 * struct ctf_choice - values of a tag that select an option
 * @low: the first one, as ctf_sortable() of it
 * @high: the last one
 * @member: number of the option
 */
struct ctf_choice {
	uint64_t low;
	uint64_t high;
	unsigned int member;
};

/**
 * struct ctf_part - values of an enumeration that have the same labels
 * @low: the first one, as ctf_sortable() of it; the next part begins behind the last one
 * @names: where in ctf_type.names the labels are
 * @nr: how many
 * @more: they have further ones
 */
struct ctf_part {
	uint64_t low;
	size_t names;
	uint8_t nr;
	bool more;
};

/**
 * struct ctf_index - a member of a structure, in the order of addresses of names
 * @name: its name
 * @member: its number
 */
struct ctf_index {
	const char *name;
	unsigned int member;
};

/**
 * struct ctf_key - keys that a member of a structure has in JSON (keys.c)
 * @name: that of the member
 * @label: that of its labels, NULL = it has none
 */
struct ctf_key {
	const char *name;
	const char *label;
};

/**
 * struct ctf_type - a type
 * @kind: enum ctf_kind
 * @align: in bits, a power of two
 * @size: bits of a number
 * @is_signed: the number has a sign
 * @big: it is big-endian
 * @text: it is a character, or an array of characters
 * @hex: it is shown in hexadecimal
 * @clock: it is a time stamp, complete or the low bits of one
 * @clock_name: the clock of it, NULL = that of the stream
 * @role: enum ctf_role, set by CTF 2; CTF 1.8 goes by names
 * @labels: of an enumeration
 * @nr_labels: entries of @labels
 * @parts: all values, the lowest ones first (label_parts.c)
 * @nr_parts: entries of @parts
 * @names: for @parts: numbers of labels, in the order of declaration
 * @members: of a structure or a variant
 * @nr_members: entries of @members
 * @keys: of the members of a structure; NULL = they are their names
 * @element: of an array or a sequence
 * @count: elements of an array
 * @path: names on the way to the length of a sequence or the tag of a variant
 * @nr_path: entries of @path
 * @origin: enum ctf_root: where @path begins
 * @up: structures to go out before @path, if it is relative
 * @refers: it or a part of it has a @path
 * @own: it is at one place only, for which resolve.c has made it
 * @index: members of a large structure, by their names (resolve.c)
 * @resolved: what it becomes as a payload whose paths stay inside, NULL = not known
 * @nr_slots: slots of @resolved
 * @seen: number of the stream whose clock was searched in it last
 * @slot: where its value is kept for @ref, from 1 on; 0 = nowhere
 * @ref: slot of the length or the tag, 0 = not resolved
 * @tag: type of the tag of a variant
 * @choices: of a variant, by value; if it @overlaps, by number of the option
 * @nr_choices: entries of @choices
 * @overlaps: a value selects several options; the first one is meant
 * @flat: how many fields it becomes (walk.c), 0 = not counted yet
 */
struct ctf_type {
	uint8_t kind;
	uint16_t align;
	uint16_t size;
	bool is_signed;
	bool big;
	bool text;
	bool hex;
	bool clock;
	const char *clock_name;
	uint8_t role;
	struct ctf_label *labels;
	unsigned int nr_labels;
	struct ctf_part *parts;
	size_t nr_parts;
	unsigned int *names;
	struct ctf_member *members;
	unsigned int nr_members;
	const struct ctf_key *keys;
	const struct ctf_type *element;
	uint64_t count;
	const char **path;
	unsigned int nr_path;
	uint8_t origin;
	unsigned int up;
	bool refers;
	bool own;
	const struct ctf_index *index;
	const struct ctf_type *resolved;
	unsigned int nr_slots;
	size_t seen;
	uint16_t slot;
	uint16_t ref;
	const struct ctf_type *tag;
	struct ctf_choice *choices;
	unsigned int nr_choices;
	bool overlaps;
	uint8_t flat;
};

/**
 * struct ctf_class - an event class
 * @name: its name
 * @id: its number in the stream
 * @stream: number of the stream class
 * @context: context of its own, NULL = none
 * @fields: the payload, NULL = none
 * @offset: where in the metadata it is declared
 */
struct ctf_class {
	const char *name;
	uint64_t id;
	uint64_t stream;
	const struct ctf_type *context;
	const struct ctf_type *fields;
	uint64_t offset;
};

/**
 * struct ctf_env - a value of the environment
 * @key: its name
 * @text: its value; numbers as well
 * @is_number: the value is a number
 */
struct ctf_env {
	const char *key;
	const char *text;
	bool is_number;
};

/**
 * struct ctf_origin - how ticks of a clock become times
 * @freq: in Hz
 * @offset_s: its origin, in seconds since the epoch
 * @offset: rest of the origin, in ticks
 * @ahead: ticks that its times are ahead of those that are delivered (session.c)
 * @latest: the last tick whose time is below 2^63 ns; a later one is delivered as this one
 */
struct ctf_origin {
	uint64_t freq;
	int64_t offset_s;
	uint64_t offset;
	uint64_t ahead;
	uint64_t latest;
};

/**
 * struct ctf_clock - a clock
 * @name: what types and streams call it
 * @shown: its name for people
 * @uuid: which clock it is, as ctf_name() returns it; NULL = not said
 * @absolute: its origin is the epoch
 * @origin: frequency and origin
 */
struct ctf_clock {
	const char *name;
	const char *shown;
	const char *uuid;
	bool absolute;
	struct ctf_origin origin;
};

struct tsdl_alias;

/**
 * struct ctf_word - a name
 * @hash: of the text
 * @len: bytes of the text
 * @alias: the type that has the name at the place that is being parsed (tsdl_type.c)
 * @owner: the variant that has an option of that name (resolve.c), the enumeration that has
 *	such a label (label_parts.c), the structure that has such a key (keys.c), or the payload
 *	that has such a field (fields.c)
 * @option: number of the first option or label; of keys, the last number that was put behind it
 * @text: ends in a NUL
 */
struct ctf_word {
	uint64_t hash;
	size_t len;
	const struct tsdl_alias *alias;
	const struct ctf_type *owner;
	unsigned int option;
	char text[];
};

/**
 * struct ctf_stream - a stream class
 * @id: its number
 * @packet_context: what each packet has behind its header, NULL = nothing
 * @event_header: what each event begins with, NULL = nothing
 * @event_context: what each event has behind its header, NULL = nothing
 * @clock: name of its clock, NULL = it says none
 * @origin: of its clock
 * @offset: where in the metadata it is declared
 */
struct ctf_stream {
	uint64_t id;
	const struct ctf_type *packet_context;
	const struct ctf_type *event_header;
	const struct ctf_type *event_context;
	const char *clock;
	struct ctf_origin origin;
	uint64_t offset;
};

/**
 * struct ctf - the metadata of a trace
 * @version: 1 or 2
 * @big: default byte order of numbers
 * @packet_header: NULL = packets have none
 * @streams: stream classes
 * @nr_streams: entries of @streams
 * @classes: event classes
 * @nr_classes: entries of @classes
 * @clocks: all clocks
 * @nr_clocks: entries of @clocks
 * @origin: of the clock of the streams; of the first one if they have several
 * @clock: name of that clock
 * @env: the environment, from CTF 1.8 only
 * @nr_env: entries of @env
 * @hostname: and the following: of the environment, "" = not given
 * @domain: "kernel" or "ust"
 * @tracer: name of the tracer
 * @release: of the kernel
 * @version_of: of the tracer: major, minor, patch level
 * @uuid: of the trace
 * @has_uuid: @uuid is given
 * @words: all names, by their hashes
 * @words_size: entries of @words, a power of two
 * @nr_words: names in @words
 * @seed: of the hashes
 * @memory: all allocations
 * @nr_types: types so far
 * @visits: types that fields.c has examined
 * @bytes: size of @memory and of that of the session's other traces
 * @out_of_memory: an allocation failed
 * @limit: what there is too much of, a constant text; NULL = nothing
 */
struct ctf {
	unsigned int version;
	bool big;
	const struct ctf_type *packet_header;
	struct ctf_stream *streams;
	size_t nr_streams;
	struct ctf_class *classes;
	size_t nr_classes;
	struct ctf_clock *clocks;
	size_t nr_clocks;
	struct ctf_origin origin;
	char clock[32];
	struct ctf_env *env;
	size_t nr_env;
	char hostname[65];
	char domain[16];
	char tracer[32];
	char release[65];
	uint64_t version_of[3];
	uint8_t uuid[16];
	bool has_uuid;
	struct ctf_word **words;
	size_t words_size;
	size_t nr_words;
	uint64_t seed;
	struct ctf_memory *memory;
	size_t nr_types;
	size_t visits;
	size_t bytes;
	bool out_of_memory;
	const char *limit;
};

#define CTF_NO_FLOAT "a floating point number has %u bits, not 16, 32 or 64"

static inline bool ctf_is_float(unsigned int bits)
{
	return bits == 16 || bits == 32 || bits == 64;
}

/* Convert a number so that, compared as unsigned, the results have the order of the values. */
static inline uint64_t ctf_sortable(const struct ctf_type *t, uint64_t v)
{
	return t->is_signed ? v ^ 1ULL << 63 : v;
}

/* types.c */
extern const char *const ctf_versions[3];

void *ctf_alloc(struct ctf *c, size_t size);
void *ctf_grow(struct ctf *c, void *array, size_t nr, size_t size);
struct ctf_type *ctf_new_type(struct ctf *c, enum ctf_kind kind);
struct ctf_stream *ctf_add_stream(struct ctf *c);
struct ctf_class *ctf_add_class(struct ctf *c);
struct ctf_clock *ctf_add_clock(struct ctf *c);
struct ctf_word *ctf_word(struct ctf *c, const char *text, size_t len, bool add);
const char *ctf_name(struct ctf *c, const char *text);
void ctf_free(struct ctf *c);

/* label_parts.c, keys.c */
bool ctf_sort_labels(struct ctf *c, struct ctf_type *t);
bool ctf_name_keys(struct ctf *c, struct ctf_type *t);

/* clocks.c, resolve.c.  Return: as ctf_complete(). */
int ctf_bind_clocks(struct ctf *c, struct ktape_error *error);
int ctf_resolve(struct ctf *c, struct ktape_error *error);

/* complete.c */
int ctf_complete(struct ctf *c, struct ktape_error *error);

/* tsdl.c, ctf2.c.  Return: 0, -ENOMEM, or -EBADMSG with @error filled. */
int ctf_parse_tsdl(struct ctf *c, const char *text, size_t len,
		   struct ktape_error *error);
int ctf_parse_json(struct ctf *c, const char *text, size_t len,
		   struct ktape_error *error);

/**
 * struct ctf_at - a place in a packet, while fields are read
 * @data: the packet
 * @bit: the next bit
 * @end: bit after the last one
 * @roles: the last value of each role
 * @has: bit n: @roles[n] was read
 * @clock_bits: size of the time stamp that was read, in bits
 * @end_bits: that of the end of the packet
 * @leb_bits: bits of the last number of variable length
 * @named: roles go by the names of fields (CTF 1.8)
 * @name: name of the field that is read, NULL = an element of an array
 * @depth: types inside types
 * @empty: fields of the event that took no bits
 * @why: what was wrong, a constant text
 * @slots: numbers that later fields refer to: of the packet and of what all events of a stream
 *	have from the first one on; of the event's own context and payload from the last one down
 */
struct ctf_at {
	const uint8_t *data;
	uint64_t bit;
	uint64_t end;
	uint64_t roles[CTF_ROLES];
	uint32_t has;
	unsigned int clock_bits;
	unsigned int end_bits;
	unsigned int leb_bits;
	bool named;
	const char *name;
	unsigned int depth;
	unsigned int empty;
	const char *why;
	uint64_t slots[CTF_SLOTS];
};

/**
 * struct ctf_value - what ctf_read() found
 * @number: of a number
 * @data: characters or bytes, NULL = none.  They are in the packet, or in the buffer
 *	that the caller gave
 * @len: bytes of @data
 */
struct ctf_value {
	uint64_t number;
	const uint8_t *data;
	size_t len;
};

/* ctf.c.  All return false with @at->why set if the packet cannot be read so. */
bool ctf_fail(struct ctf_at *at, const char *why);
bool ctf_align(struct ctf_at *at, unsigned int bits);
bool ctf_elements(struct ctf_at *at, const struct ctf_type *t, uint64_t *count);
bool ctf_option(struct ctf_at *at, const struct ctf_type *t,
		const struct ctf_type **option);
bool ctf_read(struct ctf_at *at, const struct ctf_type *t, struct ctf_value *v);
bool ctf_read_struct(struct ctf_at *at, const struct ctf_type *t);

#endif /* _KT_LTTNG_CTF_H */

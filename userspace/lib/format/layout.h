/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts of the kernel's records, as its files events/SYSTEM/EVENT/format describe them.
 * trace-cmd and perf copy these files into their traces, in the same form.
 *
 *	name: sched_wakeup
 *	ID: 320
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		field:char comm[16];	offset:8;	size:16;	signed:0;
 *		field:__data_loc char[] name;	offset:24;	size:4;	signed:0;
 */
#ifndef _KT_LAYOUT_H
#define _KT_LAYOUT_H

#include "format/tracepoint.h"

/* Where the bytes of a field are. */
enum kt_place_kind {
	KT_BYTES_HERE,	 /* at the offset that the layout says */
	KT_BYTES_AT,	 /* __data_loc: offset from the record, and length */
	KT_BYTES_BEHIND, /* __rel_loc: offset from the end of the field */
	KT_BYTES_REST, /* an array without a size: up to the end of the record */
	KT_BYTES_NONE  /* nowhere: the reader of the record makes the value */
};

/**
 * struct kt_layout_field - where a field is
 * @offset: from the record's begin
 * @size: bytes of the field
 * @elem: of a KT_TP_ARRAY: bytes of an element, 2, 4 or 8; 0 = no such array
 * @where: enum kt_place_kind
 * @raw: kt_layout_read() only sets the bytes; kt_ftrace_finish() makes the value of them
 * @to_text: the number is the address of a text
 */
struct kt_layout_field {
	uint32_t offset;
	uint32_t size;
	uint8_t elem;
	uint8_t where;
	bool raw;
	bool to_text;
};

/**
 * struct kt_layout - records of an event
 * @class: its name and fields, without the common ones
 * @id: number of the event, which a record begins with
 * @fields: where the fields are, in the order of @class
 * @nr: fields that are read; those beyond @class.nr are not shown
 * @of_ftrace: it is an event of ftrace itself
 * @has_texts: fields are addresses of texts
 * @own: with @of_ftrace: which one it is, enum kt_ftrace_own in ftrace_own.h
 * @text: with @own: index of the field with the text, the frames or the bytes
 * @from: with @own: index of the field with the address of the format, or with the number of
 *	frames; -1 = none
 * @pid_offset: offset of common_pid, a 32-bit number; 0 = the record has none
 */
struct kt_layout {
	struct kt_tp_class class;
	uint32_t id;
	struct kt_layout_field *fields;
	unsigned int nr;
	bool of_ftrace;
	bool has_texts;
	uint8_t own;
	int16_t text;
	int16_t from;
	uint32_t pid_offset;
};

/**
 * struct kt_layouts - all events of a trace
 * @list: as they were added; by their number from kt_layouts_bind() on
 * @nr: entries of @list
 * @type_size: bytes of the number that a record begins with
 * @long_size: bytes of the kernel's long; 0 = 8
 * @big: records are big-endian
 * @names: names of fields
 * @cut: of these, those that were cut
 * @left: fields that were left out, because an event keeps KT_TP_FIELDS
 * @left_of: event of the first of them
 * @elements: elements of the arrays of the record that was read last
 * @room: how many fit in @elements
 */
struct kt_layouts {
	struct kt_layout *list;
	size_t nr;
	uint32_t type_size;
	uint32_t long_size;
	bool big;
	struct kt_texts names;
	uint64_t cut;
	uint64_t left;
	char left_of[KT_TP_CLASS];
	uint64_t *elements;
	size_t room;
};

/*
 * First kt_layout_add() for all events and kt_layout_append() for fields of their own, then
 * kt_layouts_bind().  Records are read after that.
 */
int kt_layout_add(struct kt_layouts *l, const char *text, size_t len);
int kt_layouts_bind(struct kt_layouts *l, struct kt_tp *tp);
struct kt_layout *kt_layout_find(const struct kt_layouts *l, uint32_t id);
int32_t kt_layout_pid(const struct kt_layouts *all, const struct kt_layout *l,
		      const uint8_t *data, size_t len);
int kt_layout_append(struct kt_layout *l, const char *name, uint8_t type);
int kt_layout_read(struct kt_layouts *all, const struct kt_layout *l,
		   const uint8_t *data, size_t len, struct kt_tp_value *values);
void kt_layouts_free(struct kt_layouts *l);

#endif /* _KT_LAYOUT_H */

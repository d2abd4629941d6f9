/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields for which another format's event has no place.
 *
 * A format that writes an event as one of its own leaves out the fields that its own one
 * does not have.  They are counted, as everything that a format cannot hold.
 */
#ifndef _KT_LEFT_OUT_H
#define _KT_LEFT_OUT_H

#include "stream/event.h"
#include "format/writer.h"

#define KT_LEFT_OUT_MAX 8U
#define KT_LEFT_OUT	"fields that events of this format do not have"

/**
 * struct kt_left_out - fields of an event that a format leaves out
 * @nr: entries of @places
 * @blob: the text, the bytes or the array of the event is left out
 * @full: the field "full" of a system call is left out, its whole number: it counts only if the
 *	16 bits of the field "nr" are too few
 * @places: where the other fields are, which are numbers
 */
struct kt_left_out {
	uint8_t nr;
	bool blob;
	bool full;
	struct kt_place places[KT_LEFT_OUT_MAX];
};

/* Check whether the format's event has a place for the field @name.  @arg: the format's. */
typedef bool kt_holds_field(const void *arg, const char *name);

/**
 * struct kt_format_fields - the fields of an event that a format holds
 * @opcode: the event
 * @names: "a|b"
 */
struct kt_format_fields {
	uint8_t opcode;
	const char *names;
};

bool kt_left_out_find(struct kt_left_out *out, unsigned int opcode,
		      kt_holds_field *holds, const void *arg);
bool kt_left_out_find_all(struct kt_left_out out[KTAPE_OPCODES],
			  const struct kt_format_fields *held, size_t nr);
void kt_left_out_count(const struct kt_left_out *out, struct kt_sink *s,
		       const struct ktape_event *e);

#endif /* _KT_LEFT_OUT_H */

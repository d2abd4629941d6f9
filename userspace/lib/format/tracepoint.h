/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of other Linux tracers: tracepoints with the names and fields of the kernel.
 *
 * LTTng, ftrace and perf record the same tracepoints in different bytes.  A format that
 * reads one of them declares each event class once with its fields (kt_tp_bind()), and
 * then delivers each event as an array of values in the order of these fields
 * (kt_tp_emit()).  What the kernel's fields become in the event table is in
 * tracepoint_map.c.  A tracepoint that the event table does not have becomes a user event
 * that keeps its name and its fields by name.  A field that a tracepoint of the event table
 * has and the table has not is an extra field of the event (ktape_event.extra).
 *
 * Names of threads, functions and devices that the fields contain go into the registry.
 */
#ifndef _KT_TRACEPOINT_H
#define _KT_TRACEPOINT_H

#include "util/map.h"
#include "util/texts.h"

#include "show/user_event.h"

#include "stream/event.h"

#include "reader.h"

#define KT_TP_CLASS   4097U /* bytes of the name of a class with its NUL */
#define KT_TP_NAME    4096U /* bytes of the name of a field that are kept */
#define KT_TP_FIELDS  1024U /* fields of a class that are kept */
#define KT_TP_ENTRIES (2 * KT_TP_FIELDS) /* those and their labels */
#define KT_TP_RT_PRIO 100U /* MAX_RT_PRIO, from which LTTng counts priorities */
#define KT_TP_PLACES  10U  /* fields of the event table that a class fills */

enum kt_tp_type {
	KT_TP_UNSIGNED,
	KT_TP_SIGNED,
	KT_TP_HEX,
	KT_TP_TEXT,
	KT_TP_BYTES,
	KT_TP_DOUBLE,
	KT_TP_ARRAY,
	KT_TP_LABEL /* a text for the field before it; an event may have no data for it */
};

/**
 * struct kt_tp_value - value of a field of one event
 * @number: for numbers; sign-extended for SIGNED; for DOUBLE: the bits of a double
 * @data: for TEXT, LABEL and BYTES: characters without a NUL, or bytes; for ARRAY: the elements,
 *	each as @number would have it, 8 bytes in this machine's order
 * @len: bytes of @data
 */
struct kt_tp_value {
	uint64_t number;
	const void *data;
	size_t len;
};

/**
 * struct kt_tp_field - a field of a class
 * @name: its name, which the reader owns.  A member of a structure is a field of its own,
 *	"structure.member"; so is an element of an array of texts or structures, "array[0]"
 * @type: enum kt_tp_type
 * @elem: for ARRAY: type of the elements, UNSIGNED, SIGNED, HEX or DOUBLE
 * @wide: a number of more than 32 bits, whatever its value
 * @fixed: for BYTES and ARRAY: the length belongs to the type
 * @narrow: a floating point number, or an array of such, that has at most 32 bits
 */
struct kt_tp_field {
	const char *name;
	uint8_t type;
	uint8_t elem;
	bool wide;
	bool fixed;
	bool narrow;
};

/**
 * struct kt_tp_more - a field that an event has behind those of its class
 * @field: its name and type
 * @value: its value
 */
struct kt_tp_more {
	const struct kt_tp_field *field;
	struct kt_tp_value value;
};

struct kt_tp_row;

/**
 * struct kt_tp_class - an event class as its input declares it
 * @name: name of the tracepoint, without its subsystem
 * @nr: number of fields, at most KT_TP_FIELDS, and of their labels
 * @fields: the fields; the caller owns them
 * @names: where names that are made for fields go, NULL = to those of struct kt_tp
 * @row: how the class becomes a native event, NULL = a user event.  This and all
 *	below are set by kt_tp_bind()
 * @from: by field of @row: number of the field that it is read from, -1 = none
 * @comm: by field of @row: number of its second field, -1 = none
 * @places: by field of @row: where it goes
 * @what: enum kt_tp_what
 * @call: system calls: number and bits of dat20, if the class is one call
 * @number: system calls: field with the number, -1 = the class is one call
 * @ret: ends of system calls: field with the result, -1 = none
 * @args: beginnings of system calls: field with six arguments, -1 = none
 * @placed: by field, a bit: it has a place in the event table
 * @nr_placed: fields that have one
 * @renamed: fields that have none have other names than those that have one.  A reader
 *	that changes @fields after kt_tp_bind() resets it
 * @user: id of the user event
 * @named: the user event's name was delivered
 */
struct kt_tp_class {
	char name[KT_TP_CLASS];
	unsigned int nr;
	struct kt_tp_field *fields;
	struct kt_texts *names;
	const struct kt_tp_row *row;
	int16_t from[KT_TP_PLACES];
	int16_t comm[KT_TP_PLACES];
	struct kt_place places[KT_TP_PLACES];
	uint8_t what;
	uint32_t call;
	int16_t number;
	int16_t ret;
	int16_t args;
	uint64_t placed[KT_TP_ENTRIES / 64];
	unsigned int nr_placed;
	bool renamed;
	uint32_t user;
	bool named;
};

enum kt_tp_what {
	KT_TP_USER,
	KT_TP_NATIVE,
	KT_TP_ENTER, /* a system call begins */
	KT_TP_EXIT   /* a system call ends */
};

/**
 * struct kt_tp - what the reader of one trace remembers
 * @s: the trace
 * @relative_prio: priorities are relative to KT_TP_RT_PRIO, as LTTng's
 * @tasks: by enum kt_tp_remembered and thread: what is known of it
 * @tokens: by type and id of an object: its name was delivered.  By hash of a network device's
 *	name: its number
 * @symbol: return the name of the function at an address and the offset in it, or NULL;
 *	may be NULL
 * @arg: first argument of @symbol
 * @more: more fields of the next event; the reader owns and sets them
 * @nr_more: how many
 * @expires: by timer: when it was armed to expire, for its lateness
 * @unarmed: expiries of timers that were armed before the trace begins
 * @nr_users: user events that have an id
 * @nr_devices: network devices that have a number
 * @running: by CPU: the thread that runs, -1 = not known
 * @nr_cpus: entries of @running
 * @last: time and CPU of the last event
 * @names: names that were made for fields
 * @blob: the typed arguments of an event
 * @blob_room: bytes of @blob
 * @too_large: fields that are left out because their event is too large
 */
struct kt_tp {
	struct kt_import *s;
	bool relative_prio;
	struct kt_map tasks;
	struct kt_map tokens;
	const char *(*symbol)(void *arg, uint64_t address, uint64_t *offset);
	void *arg;
	const struct kt_tp_more *more;
	unsigned int nr_more;
	struct kt_map expires;
	uint64_t unarmed;
	uint32_t nr_users;
	uint32_t nr_devices;
	int32_t *running;
	uint32_t nr_cpus;
	struct {
		uint64_t ts;
		uint32_t cpu;
	} last;
	struct kt_texts names;
	uint8_t *blob;
	size_t blob_room;
	uint64_t too_large;
};

extern const struct kt_user_format kt_tp_user;

/*
 * Besides kt_tp_bind() and kt_tp_emit(): kt_tp_task() and kt_tp_process() take what the input says
 * of threads outside of events, kt_tp_lost() a loss.  At the end kt_tp_end() reports what was left
 * out, and kt_tp_free() frees all.
 */
int kt_tp_bind(struct kt_tp *tp, struct kt_tp_class *c);
int kt_tp_bind_user(struct kt_tp *tp, struct kt_tp_class *c);
int kt_tp_emit(struct kt_tp *tp, struct kt_tp_class *c, struct kt_delivery *at,
	       const struct kt_tp_value *values);
int kt_tp_task(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
	       int64_t tgid, const void *comm, size_t len);
int kt_tp_process(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
		  int64_t tgid, bool begins);
bool kt_tp_is_named(const struct kt_tp *tp, int64_t tid);
int kt_tp_lost(struct kt_tp *tp, uint32_t cpu, uint64_t count, uint64_t from,
	       uint64_t to);
void kt_tp_forget(struct kt_tp *tp, uint32_t cpu);
int32_t kt_tp_running(const struct kt_tp *tp, uint32_t cpu);
void kt_tp_end(struct kt_tp *tp);
void kt_tp_free(struct kt_tp *tp);

/* ---- of tracepoint_names.c, for tracepoint.c ------------------------------------ */

/* What @tasks of struct kt_tp remembers of a thread, in an entry for each. */
enum kt_tp_remembered {
	/* @value: hash of the name and process that were delivered last; @extra: the process */
	KT_TP_NAMED,
	/* From kt_tp_process(): @value: its process; @extra: it was said to begin just now */
	KT_TP_OF_PROCESS
};

int kt_tp_remember(struct kt_map *map, uint32_t kind, uint64_t key,
		   struct kt_map_entry **e, bool *is_new);
int kt_tp_name_thread(struct kt_tp *tp, const struct kt_delivery *at, int64_t tid,
		      int64_t tgid, const void *comm, size_t len, bool begins);
int kt_tp_name_once(struct kt_tp *tp, const struct kt_delivery *at,
		    const struct kt_named *n);
uint32_t kt_tp_token(uint64_t address);
int kt_tp_name_function(struct kt_tp *tp, const struct kt_delivery *at,
			uint64_t address);
int kt_tp_number_device(struct kt_tp *tp, const struct kt_delivery *at,
			const struct kt_tp_value *v, uint64_t *number);

/* ---- of tracepoint_fields.c, for tracepoint.c and tracepoint_user.c ------------- */

#define KT_TP_BLOB (32U << 20) /* bytes of the fields of an event */

/* Check whether a field has a place in the event table, or helps one that has. */
static inline bool kt_tp_has_place(const struct kt_tp_class *c, unsigned int field)
{
	return c->placed[field / 64] >> field % 64 & 1;
}

/* Note whether a field has a place in the event table; -1 is none. */
static inline void kt_tp_set_place(struct kt_tp_class *c, int16_t field, bool has)
{
	if (field < 0 || kt_tp_has_place(c, (unsigned int)field) == has)
		return;
	c->placed[field / 64] ^= 1ULL << field % 64;
	c->nr_placed += has ? 1 : -1U;
}

int kt_tp_name_labels(struct kt_texts *names, struct kt_tp_field *fields,
		      unsigned int nr);
int64_t kt_tp_put_fields(struct kt_tp *tp, const struct kt_tp_class *c,
			 const struct kt_tp_value *values, bool all);
int kt_tp_put_extra(struct kt_tp *tp, struct kt_tp_class *c,
		    struct kt_delivery *f, const struct kt_tp_value *values);

/* ---- of tracepoint_user.c, for tracepoint.c ------------------------------------- */

int kt_tp_emit_user(struct kt_tp *tp, struct kt_tp_class *c,
		    struct kt_delivery *f, const struct kt_tp_value *values);

/* ---- of tracepoint_map.c, for tracepoint.c -------------------------------------- */

/* How a field of the kernel becomes one of the event table. */
enum kt_tp_how {
	KT_TP_NUMBER,	/* as it is */
	KT_TP_THREAD,	/* thread id; its name is in the field of @comm */
	KT_TP_PRIO,	/* see @relative_prio of struct kt_tp */
	KT_TP_STATE,	/* bits of the kernel, or letters */
	KT_TP_TOKEN,	/* an address */
	KT_TP_FUNCTION, /* a code address, or the function's name */
	KT_TP_NETDEV,	/* name of a network device */
	KT_TP_DISK,	/* block device, major << 20 | minor */
	KT_TP_OP,	/* operation of a block request: its letters or bits */
	KT_TP_SECTORS, /* a number of sectors of 512 bytes, which becomes bytes */
	KT_TP_IRQ,     /* number; the handler's name is in the field of @comm */
	KT_TP_LATE,    /* this field, the time, minus the field of @comm */
	KT_TP_ARMED,   /* time of expiry, kept for LATE_NS */
	KT_TP_LATE_NS, /* this field, the time, minus the kept one; at most 2^31 - 1 */
	KT_TP_PROCESS, /* process of child_tid; only if the class has that field */
	KT_TP_EXPIRES, /* this field, a time, minus the field of @comm if there is one */
	KT_TP_STRING, /* text, after the arguments */
};

/**
 * struct kt_tp_source - where a field of the event table comes from
 * @to: its name in the event table
 * @from: names that the tracers give it, "a|b"
 * @how: enum kt_tp_how
 * @comm: names of a second field, or NULL
 */
struct kt_tp_source {
	const char *to;
	const char *from;
	uint8_t how;
	const char *comm;
};

/**
 * struct kt_tp_row - a tracepoint
 * @names: the tracers' names for it, "a|b"
 * @opcode: the event
 * @sources: its fields, up to an entry without @to.  The event is used only if the
 *	class has the first of them
 */
struct kt_tp_row {
	const char *names;
	uint8_t opcode;
	struct kt_tp_source sources[KT_TP_PLACES];
};

const struct kt_tp_row *kt_tp_row(const char *name);
bool kt_tp_is_one_of(const char *name, const char *names);
unsigned int kt_tp_state(uint64_t bits);
unsigned int kt_tp_state_letters(const char *text, size_t len);
unsigned int kt_tp_op(const char *letters, size_t len);
unsigned int kt_tp_op_bits(uint64_t bits);
bool kt_tp_is_state(uint64_t bits);
bool kt_tp_is_state_letter(const char *text, size_t len);
bool kt_tp_is_op(const char *letters, size_t len);
bool kt_tp_is_op_bits(uint64_t bits);

#endif /* _KT_TRACEPOINT_H */

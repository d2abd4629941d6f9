/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files that write the lttng format share.  Read them in this order; each calls
 * only those before it:
 *
 * call.c	system calls
 * map.c	tracepoints: the table of events
 * user.c	user events, and extra fields of others
 * event.c	the class and the bytes of an event
 * meta2.c	CTF 2 metadata, parsed from those of CTF 1.8 (tsdl.c: see ctf.h) and written anew
 * meta.c	the text of the metadata of CTF 1.8, and which version is written
 * out.c	directory and packets
 */
#ifndef _KT_LTTNG_INTERNAL_H
#define _KT_LTTNG_INTERNAL_H

#include "show/line.h"
#include "util/map.h"
#include "stream/event.h"
#include "format/left_out.h"
#include "format/writer.h"
#include "show/user_event.h"

#define LT_COMM	     16U /* bytes of a thread's name */
#define LT_NAME_ROOM 80U /* of an event class other than that of a user event */
#define LT_FIXED     4096U /* upper bound for an event's values, without blobs */

/* Event ids: 0: ktape_other, 1 to 255: opcodes, then: */
#define LT_STATEDUMP   256U
#define LT_DUMP_START  LT_STATEDUMP
#define LT_DUMP_THREAD (LT_STATEDUMP + 1)
#define LT_DUMP_END    (LT_STATEDUMP + 2)
#define LT_CALLS       (LT_STATEDUMP + 3) /* first of call_list */

#define LT_USERS     (1U << 24) /* first of user_list */
#define LT_USERS_MAX 4096U	/* further ones are ktape_user_event */

/**
 * struct lt_field - a field of an event class
 * @name: an identifier, other than all names that fields before it declare
 * @kind: enum kt_user_field_kind
 * @elem: for ARRAY: that of its elements
 * @fixed: number of elements that belongs to its type, -1 = each event says it
 * @narrow: floating point numbers of 32 bits
 * @named: it is an object id and is followed by the object's name
 * @is_length: it is the number of elements of the next field, which declares it
 */
struct lt_field {
	char *name;
	uint8_t kind;
	uint8_t elem;
	bool narrow;
	bool named;
	bool is_length;
	int64_t fixed;
};

/**
 * struct lt_user - event class of a user event, or of an event with extra fields
 * @name: its name, behind that of its format if a program may have chosen it
 * @base: event id of the event without its extra fields, which come behind the others;
 *	0 = it is a user event
 * @without: fields of @base that have the name of an extra one, a bit for each: what another
 *	tracer recorded replaces what is derived
 * @nr: number of fields
 * @fields: the fields
 */
struct lt_user {
	char *name;
	uint32_t base;
	uint32_t without;
	unsigned int nr;
	struct lt_field *fields;
};

/**
 * struct lt_call - event class of a system call
 * @key: number, table, entry or exit, wide or not: CALL_* in call.c
 * @used: such an event was written, without extra fields
 * @name: event name
 */
struct lt_call {
	uint32_t key;
	bool used;
	char name[64];
};

/**
 * struct lttng - trace being written
 * @s: sink
 * @dir: directory that the files are written to: the output or its staging directory
 * @made: the output directory did not exist before
 * @in_place: written to the output directory directly, without staging
 * @ctf2: the metadata are CTF 2, not 1.8
 * @cpus: streams by CPU; NULL: none yet
 * @nr_cpus: entries of @cpus
 * @used: by event id below LT_STATEDUMP: such an event was written
 * @left_out: by opcode, fields that LTTng's event does not have
 * @calls: map from key of a system call to index in @call_list
 * @call_list: event classes of system calls
 * @nr_calls: entries of @call_list
 * @users: map from id and shape of a user event to index in @user_list
 * @extended: map from id of an event and shape of its extra fields, likewise
 * @user_list: event classes of user events and of events with extra fields
 * @nr_users: entries of @user_list
 * @user_event: the user event, or extra fields, that lt_id() decoded last
 * @forked: threads that forks have reported
 * @first: time of the first event, in ticks
 * @begun: @first is set
 * @dumped: a state dump was begun and not ended
 */
struct lttng {
	struct kt_sink *s;
	int dir;
	bool made;
	bool in_place;
	bool ctf2;
	struct lt_cpu **cpus;
	uint32_t nr_cpus;
	bool used[KTAPE_OPCODES];
	struct kt_left_out left_out[KTAPE_OPCODES];
	struct kt_map calls;
	struct lt_call *call_list;
	uint32_t nr_calls;
	struct kt_map users;
	struct kt_map extended;
	struct lt_user *user_list;
	uint32_t nr_users;
	struct kt_user_event user_event;
	struct kt_map forked;
	uint64_t first;
	bool begun;
	bool dumped;
};

static inline char *lt_put32(char *p, uint64_t v)
{
	kt_set32((uint8_t *)p, (uint32_t)v);
	return p + 4;
}

static inline char *lt_put64(char *p, uint64_t v)
{
	kt_set64((uint8_t *)p, v);
	return p + 8;
}

/*
 * Take the name of a field.  @row: its number for "without", -1 = it cannot be left out;
 * @sequence: its length has a name, too.  Return: 0 or negative errno.
 */
typedef int lt_take_name(void *arg, const char *name, int row, bool sequence);

/* map.c: tracepoints */
bool lt_check(struct lttng *t);
char *lt_put_own(char *p, const struct lttng *t, const struct kt_line *l,
		 uint32_t id, uint32_t without);
char *lt_put_thread(char *p, const struct ktape_event *e);
void lt_describe(FILE *f, unsigned int opcode, uint32_t without);
void lt_class_name(char name[LT_NAME_ROOM], const struct lttng *t, uint32_t id);
int lt_each_name(const struct lttng *t, uint32_t id, lt_take_name *take, void *arg);

/* call.c: system calls */
int lt_call_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put_call(char *p, const struct lt_call *call, const struct ktape_event *e);
void lt_describe_call(FILE *f, const struct lt_call *call);
int lt_each_call_name(const struct lt_call *call, lt_take_name *take, void *arg);

/* user.c: user events */
int lt_extended_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
int lt_user_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put_user(char *p, const struct lttng *t, const struct kt_line *l);
size_t lt_user_size(const struct lttng *t, const struct kt_line *l);
void lt_describe_user(FILE *f, const struct lt_user *user);
void lt_free_users(struct lttng *t);

static inline bool lt_is_call(uint8_t opcode)
{
	return opcode >= KTAPE_EV_SYS_ENTER && opcode <= KTAPE_EV_SYS_EXIT_WIDE;
}

/* event.c */
int lt_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put(char *p, const struct lttng *t, const struct kt_line *l, uint32_t id);

/* meta.c */
int lt_metadata(const struct lttng *t);

#endif /* _KT_LTTNG_INTERNAL_H */

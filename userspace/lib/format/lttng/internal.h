/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CTF in the shape of LTTng's kernel tracer: what its files share. */
#ifndef _KT_LTTNG_INTERNAL_H
#define _KT_LTTNG_INTERNAL_H

#include "show/line.h"
#include "util/map.h"
#include "stream/event.h"
#include "format/sink.h"
#include "show/user_event.h"

#define LT_COMM		16U	/* bytes of a thread's name */
#define LT_FIXED	4096U	/* more than all values of an event, without blobs */
#define LT_STATEDUMP	256U	/* ids of events that have no opcode */
#define LT_DUMP_START	LT_STATEDUMP
#define LT_DUMP_THREAD	(LT_STATEDUMP + 1)
#define LT_DUMP_END	(LT_STATEDUMP + 2)
#define LT_CALLS	(LT_STATEDUMP + 3)	/* and from here on calls */

#define LT_USERS	(1U << 24)	/* and from here on user events */
#define LT_USERS_MAX	4096U		/* more are all one event */

/* A user event of a format's, or with a name: its name and fields. */
struct lt_user {
	char name[96];
	unsigned int nr;
	char fields[KT_USER_FIELDS][32];
	uint8_t kinds[KT_USER_FIELDS];
	bool named[KT_USER_FIELDS];
};

/* A system call as an event: which, and what it tells. */
struct lt_call {
	uint32_t key;		/* number, table, exit, wide, or unknown instead of
				 * a number: as in call.c */
	char name[64];
};

/**
 * struct lttng - a trace that is being written
 * @s: it
 * @dir: where its files are written, inside of its folder
 * @made: its folder was not there before
 * @cpus: streams, or NULL
 * @used: events of each opcode were written
 * @calls: system calls by number, table, exit, wide: places in @call_list;
 *	of those without a name there is one for all numbers
 * @call_list: their names
 * @nr_calls: how many
 * @users: user events by id and fields: places in @user_list
 * @user_list: their names and fields
 * @nr_users: how many
 * @told: the user event that lt_id() was asked for
 * @first: time of the first event
 * @begun: there was one
 * @dumped: threads were told
 */
struct lttng {
	struct kt_sink *s;
	int dir;
	bool made;
	bool in_place;
	struct lt_cpu **cpus;
	uint32_t nr_cpus;
	bool used[KTAPE_OPCODES];
	struct kt_map calls;
	struct lt_call *call_list;
	uint32_t nr_calls;
	struct kt_map users;
	struct lt_user *user_list;
	uint32_t nr_users;
	struct kt_user_event told;
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

/* map.c */
int lt_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put(char *p, const struct lttng *t, const struct kt_line *l,
	     uint32_t id);
char *lt_put_comm(char *p, const struct lttng *t, uint64_t tid, uint64_t ts);
char *lt_put_thread(char *p, const struct ktape_event *e);
bool lt_check(struct lttng *t);

/* map.c, for meta.c */
void lt_describe(FILE *f, const struct lttng *t, unsigned int opcode);

/* call.c: system calls */
int lt_call_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put_call(char *p, const struct lt_call *call,
		  const struct ktape_event *e);
void lt_describe_call(FILE *f, const struct lt_call *call);

/* user.c: user events */
int lt_user_id(struct lttng *t, const struct kt_line *l, uint32_t *id);
char *lt_put_user(char *p, const struct lttng *t, const struct kt_line *l);
void lt_describe_user(FILE *f, const struct lt_user *user);

static inline bool lt_is_call(uint8_t opcode)
{
	return opcode >= KTAPE_EV_SYS_ENTER && opcode <= KTAPE_EV_SYS_EXIT_WIDE;
}

/* meta.c */
int lt_metadata(const struct lttng *t);

#endif /* _KT_LTTNG_INTERNAL_H */

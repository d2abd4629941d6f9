// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which event of the table the events of a tracepoint become, and which field which. */
#include <ktape/formats.h>

#include "tracepoint.h"

#define LIMIT_USERS \
	(KTAPE_FORMAT_ID_FIELDS - KTAPE_FORMAT_ID_LINUX) /* their ids */
#define CALLS_MAX 1024U /* numbers of system calls that are tried for a name */

/* Return the first field with one of the names "a|b", or -1. */
static int16_t find_field(const struct kt_tp_class *c, const char *names)
{
	while (names && *names) {
		const char *end = strchrnul(names, '|');
		size_t len = (size_t)(end - names);

		for (unsigned int i = 0; i < c->nr; i++) {
			if (strlen(c->fields[i].name) == len &&
			    !memcmp(c->fields[i].name, names, len))
				return (int16_t)i;
		}
		names = *end ? end + 1 : NULL;
	}
	return -1;
}

static bool is_number(const struct kt_tp_class *c, int16_t field)
{
	return field >= 0 && c->fields[field].type < KT_TP_TEXT;
}

static bool is_text(const struct kt_tp_class *c, int16_t field)
{
	return field >= 0 && c->fields[field].type == KT_TP_TEXT;
}

/* Check that a field has a type that convert_tp_field() can read.  Return: the field, or -1. */
static int16_t fit_first(const struct kt_tp_class *c, int16_t field, uint8_t how)
{
	bool fits = how == KT_TP_STRING || how == KT_TP_NETDEV ?
			    is_text(c, field) :
		    how == KT_TP_OP || how == KT_TP_STATE ?
			    is_text(c, field) || is_number(c, field) :
			    is_number(c, field);

	return fits ? field : -1;
}

/* The same for its second field, which is a name or a number to subtract. */
static int16_t fit_second(const struct kt_tp_class *c, int16_t field, uint8_t how)
{
	bool fits = how == KT_TP_THREAD || how == KT_TP_IRQ ? is_text(c, field) :
							      is_number(c, field);

	return fits ? field : -1;
}

/* Bind the fields of @c to those of its row.  Return: false if the first cannot be bound. */
static bool bind_row(struct kt_tp_class *c)
{
	const struct ktape_event_desc *d = ktape_event_desc(c->row->opcode);

	for (unsigned int i = 0; i < KT_TP_PLACES; i++) {
		const struct kt_tp_source *s = &c->row->sources[i];

		c->from[i] = c->comm[i] = -1;
		if (!s->to)
			continue;
		/* LTTng has child_tid and child_pid; the others' child_pid is the thread's id. */
		if (s->how != KT_TP_PROCESS || find_field(c, "child_tid") >= 0)
			c->from[i] = fit_first(c, find_field(c, s->from), s->how);
		c->comm[i] = fit_second(c, find_field(c, s->comm), s->how);
		if (s->how != KT_TP_STRING &&
		    !kt_place_find(d, s->to, &c->places[i]))
			c->from[i] = -1;
		if (!i && c->from[0] < 0)
			return false;
	}
	return true;
}

/* Return the number of a system call by its name, or KT_CALL_NR. */
static unsigned int call_number(const char *machine, unsigned int abi,
				const char *name)
{
	for (unsigned int nr = 0; nr < CALLS_MAX; nr++) {
		const char *known = ktape_syscall_abi_name(machine, abi, nr);

		/* LTTng and ftrace name the kernel's function: "newfstat" for fstat. */
		if (known && (!strcmp(known, name) || (!strncmp(name, "new", 3) &&
						       !strcmp(known, name + 3))))
			return nr;
	}
	return KT_CALL_NR;
}

/* By prefix of a class name: what it is. */
static const struct {
	const char *prefix;
	uint8_t what;
	bool compat;
} calls[] = {
	{ "syscall_entry_", KT_TP_ENTER, false },
	{ "syscall_exit_", KT_TP_EXIT, false },
	{ "compat_syscall_entry_", KT_TP_ENTER, true },
	{ "compat_syscall_exit_", KT_TP_EXIT, true },
	{ "sys_enter", KT_TP_ENTER, false },
	{ "sys_exit", KT_TP_EXIT, false },
};

/*
 * Check whether a class is a system call, and bind it.  If neither its name nor a field says which
 * number the call has, it becomes a user event.
 */
static void bind_call(struct kt_tp *tp, struct kt_tp_class *c)
{
	const char *name = NULL;
	unsigned int i, abi;

	for (i = 0; i < KT_ARRAY_SIZE(calls) && !name; i++) {
		if (!strncmp(c->name, calls[i].prefix, strlen(calls[i].prefix)))
			name = c->name + strlen(calls[i].prefix);
	}
	if (!name)
		return;
	i--;
	name += *name == '_';
	c->ret = find_field(c, "ret");
	c->args = find_field(c, "args");
	c->number = find_field(c, "id|__syscall_nr|nr");
	c->call = calls[i].compat ? KT_CALL_COMPAT : 0;
	/* "compat" of LTTng is the table of 32-bit programs. */
	abi = calls[i].compat ? KTAPE_ABI_COMPAT : KTAPE_ABI_NATIVE;
	if (*name && strcmp(name, "unknown")) {
		c->call |= call_number(tp->s->info->machine, abi, name);
		/* A field "id" or "nr" of a call of its own is an argument. */
		if ((c->call & KT_CALL_NR) != KT_CALL_NR)
			c->number = -1;
		else
			c->number = find_field(c, "__syscall_nr");
	}
	if (!is_number(c, c->number))
		c->number = -1;
	if (!is_number(c, c->ret))
		c->ret = -1;
	if (c->number < 0 && (c->call & KT_CALL_NR) == KT_CALL_NR)
		return;
	c->what = calls[i].what;
}

/* Note which fields have a place in the event table, or help one that has. */
static void find_placed(struct kt_tp_class *c)
{
	for (unsigned int i = 0; c->what == KT_TP_NATIVE && i < KT_TP_PLACES; i++) {
		uint8_t how = c->row->sources[i].how;

		kt_tp_set_place(c, c->from[i], true);
		/*
		 * The second field is kept as the name of the first one's object.  Only a
		 * difference of both does not keep it.
		 */
		kt_tp_set_place(c, c->comm[i],
				how != KT_TP_LATE && how != KT_TP_EXPIRES);
	}
	if (c->what == KT_TP_NATIVE)
		return;
	kt_tp_set_place(c, c->number, true);
	/* Also if it is not read: the name of the class gives the same number. */
	kt_tp_set_place(c, find_field(c, "__syscall_nr"), true);
	if (c->what == KT_TP_EXIT)
		kt_tp_set_place(c, c->ret, true);
}

/**
 * kt_tp_bind_user() - let the events of a class be user events, whatever its name
 * @tp: the reader's memory
 * @c: the class; @c->name, @c->nr and @c->fields are set
 *
 * Return: 0 or negative errno.
 */
int kt_tp_bind_user(struct kt_tp *tp, struct kt_tp_class *c)
{
	c->what = KT_TP_USER;
	c->named = false;
	if (tp->nr_users == LIMIT_USERS)
		return kt_import_fail(tp->s, tp->s->in->offset,
				      "more than %u event classes", LIMIT_USERS);
	c->user = KTAPE_FORMAT_ID_LINUX | tp->nr_users++;
	return 0;
}

/**
 * kt_tp_bind() - find out what the events of a class become
 * @tp: the reader's memory; @tp->s->info->machine is set
 * @c: the class; @c->name, @c->nr and @c->fields are set
 *
 * Return: 0 or negative errno.
 */
int kt_tp_bind(struct kt_tp *tp, struct kt_tp_class *c)
{
	c->what = KT_TP_USER;
	c->row = kt_tp_row(c->name);
	c->renamed = false;
	c->nr_placed = 0;
	memset(c->placed, 0, sizeof(c->placed));
	if (c->row && bind_row(c))
		c->what = KT_TP_NATIVE;
	else
		bind_call(tp, c);
	if (c->what == KT_TP_USER)
		return kt_tp_bind_user(tp, c);
	find_placed(c);
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls as LTTng declares them: syscall_entry_NAME and syscall_exit_NAME, an
 * event class for each number, table (native, compat or x32) and end; of x32 the name says
 * nothing.  Numbers without a name share syscall_entry_unknown and syscall_exit_unknown, with
 * the number in the field id.
 */
#include "internal.h"

#define SYSCALL_ARGS 6
/* The key of an event class: bits of dat20, and above them: */
#define CALL_EXIT    (1U << 20)
#define CALL_WIDE    (1U << 21) /* with its six arguments */
#define CALL_UNKNOWN (1U << 22) /* without the number, which is a field */
#define CALL_BITS    (KT_CALL_KEY | KT_CALL_LARGE)

/* Return the whole number, or -1 where the event has no room for it. */
static uint32_t lttng_call_number(const struct ktape_event *e)
{
	if (!(e->dat20 & KT_CALL_LARGE))
		return e->dat20 & KT_CALL_NR;
	return e->opcode == KTAPE_EV_SYS_EXIT || !e->nargs ?
		       UINT32_MAX :
		       ktape_event_arg(e, 0);
}

/**
 * lt_put_call() - write the field values of a system call
 * @p: where to write
 * @call: event class from lt_call_id()
 * @e: event that fits the event table
 *
 * Return: the end of what was written.
 */
char *lt_put_call(char *p, const struct lt_call *call, const struct ktape_event *e)
{
	const uint8_t *args = e->blob;

	if (call->key & CALL_UNKNOWN)
		p = lt_put32(p, lttng_call_number(e));
	if (e->opcode == KTAPE_EV_SYS_EXIT)
		return lt_put64(p, kt_get64(e->args));
	if (e->opcode == KTAPE_EV_SYS_ENTER)
		return p;
	if (e->opcode == KTAPE_EV_SYS_EXIT_WIDE) {
		p = lt_put64(p, kt_get64(args));
		args += 8;
	}
	return kt_put_mem(p, (const char *)args, SYSCALL_ARGS * 8);
}

static int add_call(struct lttng *t, uint32_t key, const char *name)
{
	struct lt_call *more;

	more = realloc(t->call_list, (t->nr_calls + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->call_list = more;
	more += t->nr_calls++;
	more->key = key;
	more->used = false;
	snprintf(more->name, sizeof(more->name), "%ssyscall_%s_%.40s",
		 key & KT_CALL_COMPAT ? "compat_" : "",
		 key & CALL_EXIT ? "exit" : "entry", name ? name : "unknown");
	return 0;
}

/**
 * lt_call_id() - look up or add the event class of a system call
 * @t: trace being written
 * @l: event that fits the event table
 * @id: set to the event id
 *
 * Return: 0 or -ENOMEM.
 */
int lt_call_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	const struct ktape_event *e = l->event;
	bool wide = e->opcode >= KTAPE_EV_SYS_ENTER_WIDE;
	bool leaves = e->opcode == KTAPE_EV_SYS_EXIT ||
		      e->opcode == KTAPE_EV_SYS_EXIT_WIDE;
	uint32_t key = (e->dat20 & CALL_BITS) | (wide ? CALL_WIDE : 0) |
		       (leaves ? CALL_EXIT : 0);
	const char *name =
		key & KT_CALL_LARGE ? NULL : kt_syscall_of(l, key & KT_CALL_NR);
	struct kt_map_entry *entry;
	int err = 0;

	/* Numbers without a name share a class: their number is not bounded. */
	if (!name)
		key = (key & ~(KT_CALL_NR | KT_CALL_LARGE)) | CALL_UNKNOWN;
	entry = kt_map_put(&t->calls, 0, key);
	if (!entry)
		return -ENOMEM;
	if (!entry->extra) { /* no class was made for this key yet */
		entry->value = t->nr_calls;
		err = add_call(t, key, name);
	}
	entry->extra = !err;
	*id = LT_CALLS + (uint32_t)entry->value;
	return err;
}

/**
 * lt_describe_call() - write the metadata of a system call's fields
 * @f: metadata text
 * @call: event class
 */
void lt_describe_call(FILE *f, const struct lt_call *call)
{
	if (call->key & CALL_UNKNOWN)
		fputs("\t\tint32_t _id;\n", f);
	if (call->key & CALL_EXIT)
		fputs("\t\tint64_t _ret;\n", f);
	if (call->key & CALL_WIDE) {
		for (unsigned int i = 0; i < SYSCALL_ARGS; i++)
			fprintf(f, "\t\txint64_t _arg%u;\n", i);
	}
}

/**
 * lt_each_call_name() - pass on the names of a system call's fields
 * @call: event class
 * @take: called with each name
 * @arg: first argument of @take
 *
 * Return: 0, or what @take returned other than that.
 */
int lt_each_call_name(const struct lt_call *call, lt_take_name *take, void *arg)
{
	static const char *const args[SYSCALL_ARGS] = {
		"arg0", "arg1", "arg2", "arg3", "arg4", "arg5",
	};
	int err = 0;

	if (call->key & CALL_UNKNOWN)
		err = take(arg, "id", -1, false);
	if (!err && call->key & CALL_EXIT)
		err = take(arg, "ret", -1, false);
	for (unsigned int i = 0;
	     call->key & CALL_WIDE && i < SYSCALL_ARGS && !err; i++)
		err = take(arg, args[i], -1, false);
	return err;
}

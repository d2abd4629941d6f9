// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls in the shape of LTTng's kernel tracer: one event for each number,
 * table and end, and one for all numbers that no table has, with the number as a
 * field.
 */
#include "internal.h"

#define SYSCALL_ARGS	6
/* What a call's event is: in bits of its key above those of dat20. */
#define CALL_EXIT	(1U << 20)
#define CALL_WIDE	(1U << 21)
#define CALL_UNKNOWN	(1U << 22)	/* the number is not in the key */
#define CALL_BITS	0x7ffffU	/* number, compat, x32, large */
#define CALL_NR		0xffffU
#define CALL_COMPAT	(1U << 16)
#define CALL_LARGE	(1U << 18)

/* The whole number; -1 where the event has no room for it. */
static uint32_t call_number(const struct ktape_event *e)
{
	if (!(e->dat20 & CALL_LARGE))
		return e->dat20 & CALL_NR;
	return e->opcode == KTAPE_EV_SYS_EXIT || !e->nargs ?
		       UINT32_MAX :
		       ktape_event_arg(e, 0);
}

/**
 * lt_put_call() - write the values of a system call
 * @p: room
 * @call: its event
 * @e: the event, as in the table
 *
 * Return: the end.
 */
char *lt_put_call(char *p, const struct lt_call *call,
		  const struct ktape_event *e)
{
	const uint8_t *args = e->blob;

	if (call->key & CALL_UNKNOWN)
		p = lt_put32(p, call_number(e));
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
	snprintf(more->name, sizeof(more->name), "%ssyscall_%s_%.40s",
		 key & CALL_COMPAT ? "compat_" : "",
		 key & CALL_EXIT ? "exit" : "entry", name ? name : "unknown");
	return 0;
}

/**
 * lt_call_id() - the id of a system call, which is declared from then on
 * @t: the trace
 * @l: the event, as in the table
 * @id: set
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
	const char *name = key & CALL_LARGE ?
				   NULL :
				   kt_syscall_of(l, key & CALL_NR);
	struct kt_map_entry *entry;
	int err = 0;

	/* Numbers without a name share an event: a trace may have any number. */
	if (!name)
		key = (key & ~(CALL_NR | CALL_LARGE)) | CALL_UNKNOWN;
	entry = kt_map_put(&t->calls, 0, key);
	if (!entry)
		return -ENOMEM;
	if (!entry->extra) {
		entry->value = t->nr_calls;
		err = add_call(t, key, name);
	}
	entry->extra = !err;
	*id = LT_CALLS + (uint32_t)entry->value;
	return err;
}

/**
 * lt_describe_call() - the fields of a system call
 * @f: where to
 * @call: its event
 */
void lt_describe_call(FILE *f, const struct lt_call *call)
{
	fputs("\tfields := struct {\n", f);
	if (call->key & CALL_UNKNOWN)
		fputs("\t\tint32_t _id;\n", f);
	if (call->key & CALL_EXIT)
		fputs("\t\tint64_t _ret;\n", f);
	if (call->key & CALL_WIDE) {
		for (unsigned int i = 0; i < SYSCALL_ARGS; i++)
			fprintf(f, "\t\txint64_t _arg%u;\n", i);
	}
	fputs("\t};\n};\n\n", f);
}

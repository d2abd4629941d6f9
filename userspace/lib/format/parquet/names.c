// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names in the tables, as numbers of the pool.  A name that depends on neither the
 * registry nor the time is made once: those of events, classes and system calls.
 */
#include "internal.h"

#define CALL_KEYS (1U << 18) /* number and table of a system call, in dat20 */
#define NOT_YET	  (PQ_NONE - 1)

/**
 * pq_name() - Return the number of a name
 * @pq: the tables
 * @text: the name
 * @len: bytes of @text
 *
 * Return: the number, or PQ_NONE after an error, which is in pq->s->error.
 */
int64_t pq_name(struct pq *pq, const char *text, size_t len)
{
	int64_t name = kt_pq_intern(&pq->pool, text, len);

	if (name >= 0)
		return name;
	if (!pq->s->error)
		pq->s->error = (int)name;
	return PQ_NONE;
}

/**
 * pq_names_init() - Make the names that do not come from the trace
 * @pq: the tables
 *
 * Return: 0 or negative errno.
 */
int pq_names_init(struct pq *pq)
{
	static const char *const texts[PQ_WORDS] = {
		[PQ_WORD_RUNNING] = "Running", [PQ_WORD_R] = "R",
		[PQ_WORD_PREEMPTED] = "R+",    [PQ_WORD_WAKING] = "waking",
		[PQ_WORD_WAKEUP] = "wakeup",   [PQ_WORD_NEW] = "new",
		[PQ_WORD_IRQ] = "irq",	       [PQ_WORD_IPI] = "ipi",
		[PQ_WORD_TICK] = "tick",       [PQ_WORD_NATIVE] = "native",
		[PQ_WORD_COMPAT] = "compat",   [PQ_WORD_X32] = "x32",
		[PQ_WORD_LOST] = "lost",
	};

	pq->turn = 1;
	for (unsigned int i = 0; i < PQ_WORDS; i++)
		pq->words[i] = pq_name(pq, texts[i], strlen(texts[i]));
	return pq->s->error;
}

/**
 * pq_event_name() - Return the name of an event, "opcode_N" if it has none
 * @pq: the tables
 * @l: the event
 *
 * Return: the number of the name.
 */
int64_t pq_event_name(struct pq *pq, const struct kt_line *l)
{
	const char *name;
	char number[16];

	if (pq->names[l->event->opcode] >= 0)
		return pq->names[l->event->opcode];
	name = kt_line_event(l);
	if (!*name) {
		snprintf(number, sizeof(number), "opcode_%u", l->event->opcode);
		name = number;
	}
	pq->names[l->event->opcode] = pq_name(pq, name, strlen(name));
	return pq->names[l->event->opcode];
}

/**
 * pq_class_name() - Return the name of an event's class
 * @pq: the tables
 * @opcode: of the event
 *
 * Return: the number of the name, or PQ_NONE.
 */
int64_t pq_class_name(struct pq *pq, unsigned int opcode)
{
	const struct ktape_event_desc *d;
	const char *name;

	if (pq->classes[opcode] >= 0)
		return pq->classes[opcode];
	d = ktape_event_desc(opcode);
	if (!d)
		return PQ_NONE;
	name = ktape_class_desc(d->event_class)->name;
	pq->classes[opcode] = pq_name(pq, name, strlen(name));
	return pq->classes[opcode];
}

/* Check whether names of a type depend on the thread or the CPU of the event as well. */
static bool is_of_event(unsigned int type)
{
	return type == KTAPE_TYPE_MARKER || type == KTAPE_TYPE_VALUEID ||
	       type == KTAPE_TYPE_ISRID;
}

/**
 * pq_value_name() - Return the name that a value has at the time of an event
 * @pq: the tables
 * @l: the event
 * @type: enum ktape_field_type
 * @value: the value
 *
 * A name is looked up once, and again after a change of the registry (pq->turn).  Names that
 * depend on the event, too, are looked up each time.  Not for threads: their changes do not count
 * in pq->turn.
 *
 * Return: the number of the name, or PQ_NONE.
 */
int64_t pq_value_name(struct pq *pq, const struct kt_line *l, unsigned int type,
		      uint64_t value)
{
	const uint64_t key = (uint64_t)type << 48 ^ value;
	struct pq_found *f = &pq->found[(key ^ key >> 10 ^ key >> 48) % PQ_FOUND];
	struct kt_name n;

	if (f->key == key && f->turn == pq->turn)
		return f->name;
	n = kt_name_any(l, type, value);
	if (is_of_event(type))
		return n.text ? pq_name(pq, n.text, n.len) : PQ_NONE;
	f->key = key;
	f->turn = pq->turn;
	f->name = n.text ? pq_name(pq, n.text, n.len) : PQ_NONE;
	return f->name;
}

/**
 * pq_syscall_name() - Return the name of a system call
 * @pq: the tables
 * @l: an event of the call
 * @key: number and table, as in dat20
 *
 * Return: the number of the name, or PQ_NONE.
 */
int64_t pq_syscall_name(struct pq *pq, const struct kt_line *l, uint32_t key)
{
	struct ktape_event e = *l->event;
	struct kt_line of = *l;
	const char *name;

	if (!pq->syscalls) {
		pq->syscalls = malloc(CALL_KEYS * sizeof(*pq->syscalls));
		if (!pq->syscalls) {
			pq->s->error = -ENOMEM;
			return PQ_NONE;
		}
		for (uint32_t i = 0; i < CALL_KEYS; i++)
			pq->syscalls[i] = NOT_YET;
	}
	key &= CALL_KEYS - 1;
	if (pq->syscalls[key] != NOT_YET)
		return pq->syscalls[key];
	/* The name is kept by @key alone, so it must not depend on other bits of this event. */
	e.dat20 = key;
	of.event = &e;
	name = kt_syscall_of(&of, key & 0xffff);
	pq->syscalls[key] = name ? pq_name(pq, name, strlen(name)) : PQ_NONE;
	return pq->syscalls[key];
}

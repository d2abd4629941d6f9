// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table event: each event as it was recorded, its numbers in columns.
 *
 *	numbers in dat20 and arguments	arg_NAME
 *	the first code address		its symbol as well: symbol
 *	system call, interrupt, ...	its name as well: object
 *	text				text
 *	anything else			more, with all fields, as ktape dump --json
 */
#include "internal.h"
#include "schema.h"

/* What a field gives besides its number. */
enum role { ROLE_NONE, ROLE_SYMBOL, ROLE_OBJECT, ROLE_CALL };

/**
 * struct pq_plan - where the fields of an event go
 * @columns: by field in the order of kt_fields_next(), the column of its number; 0: none
 * @roles: by field, enum role
 * @fields: number of fields
 */
struct pq_plan {
	uint16_t *columns;
	uint8_t *roles;
	unsigned int fields;
};

static enum role column_role_of(unsigned int type)
{
	switch (type) {
	case KTAPE_TYPE_FUNC:
		return ROLE_SYMBOL;
	case KTAPE_TYPE_SYSCALL:
		return ROLE_CALL;
	case KTAPE_TYPE_IRQ:
	case KTAPE_TYPE_SOFTIRQ:
	case KTAPE_TYPE_IPI:
	case KTAPE_TYPE_SIGNAL:
	case KTAPE_TYPE_MARKER:
	case KTAPE_TYPE_VALUEID:
	case KTAPE_TYPE_ISRID:
	case KTAPE_TYPE_DEV:
	case KTAPE_TYPE_NETDEV:
		return ROLE_OBJECT;
	default:
		return ROLE_NONE;
	}
}

static int make_column_plan(const struct kt_pq_schema *s,
			    const struct ktape_event_desc *d, struct pq_plan *plan)
{
	bool symbol = false, object = false;

	plan->columns = calloc(d->nr_fields + 1U, sizeof(*plan->columns));
	plan->roles = calloc(d->nr_fields + 1U, sizeof(*plan->roles));
	if (!plan->columns || !plan->roles)
		return -ENOMEM;
	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];
		enum role role = column_role_of(f->type);

		/* No field: kt_fields_next() only goes past it. */
		if (f->place == KTAPE_PLACE_BLOB)
			continue;
		plan->columns[plan->fields] = (uint16_t)pq_arg_column(s, f);
		/* Only the first field of its kind has the name. */
		if (plan->columns[plan->fields] &&
		    (role == ROLE_SYMBOL ? !symbol : !object)) {
			plan->roles[plan->fields] = (uint8_t)role;
			symbol |= role == ROLE_SYMBOL;
			object |= role > ROLE_SYMBOL;
		}
		plan->fields++;
	}
	return 0;
}

/**
 * pq_event_init() - Plan where the fields of all events go
 * @pq: the tables
 *
 * Return: 0 or -ENOMEM.
 */
int pq_event_init(struct pq *pq)
{
	const struct ktape_event_desc *d;
	int err = 0;

	pq->plans = calloc(KTAPE_OPCODES, sizeof(*pq->plans));
	if (!pq->plans)
		return -ENOMEM;
	for (unsigned int op = 0; op < KTAPE_OPCODES && !err; op++) {
		pq->names[op] = PQ_NONE;
		pq->classes[op] = PQ_NONE;
		d = ktape_event_desc(op);
		if (d)
			err = make_column_plan(&pq->schemas[PQ_EVENT], d,
					       &pq->plans[op]);
	}
	return err;
}

/**
 * pq_event_free() - Free the plans
 * @pq: the tables
 */
void pq_event_free(struct pq *pq)
{
	for (unsigned int op = 0; pq->plans && op < KTAPE_OPCODES; op++) {
		free(pq->plans[op].columns);
		free(pq->plans[op].roles);
	}
	free(pq->plans);
}

/* ---- rows --------------------------------------------------------------------------- */

static void put_column_role(struct pq *pq, const struct kt_line *l,
			    unsigned int role, const struct kt_slot *s,
			    uint64_t value)
{
	struct kt_pq_rows *r = &pq->rows[PQ_EVENT];

	if (role == ROLE_SYMBOL)
		pq_put_name(r, PQ_EVENT_SYMBOL,
			    pq_value_name(pq, l, s->type, value));
	else if (role == ROLE_OBJECT)
		pq_put_name(r, PQ_EVENT_OBJECT,
			    pq_value_name(pq, l, s->type, value));
	else
		pq_put_name(r, PQ_EVENT_OBJECT,
			    pq_syscall_name(pq, l, l->event->dat20));
}

/* Put all fields as JSON. */
static void put_column_json(struct pq *pq, const struct kt_line *l)
{
	char *text = malloc(ktape_format_bound(l->event)), *p;

	if (!text) {
		pq->s->error = -ENOMEM;
		return;
	}
	p = kt_put_char(text, '{');
	p = kt_put_char(kt_json_fields(p, l), '}');
	kt_pq_put_text(&pq->rows[PQ_EVENT], PQ_EVENT_MORE, text, (size_t)(p - text));
	free(text);
}

/* Put a field that is no number.  Return: true if a column has all of it. */
static bool put_column_other(struct kt_pq_rows *r, const struct kt_fields *at,
			     const struct kt_slot *s, bool *text)
{
	if (s->place == KTAPE_PLACE_REST)
		return !at->event->nargs;
	if (s->place != KTAPE_PLACE_TEXT || *text)
		return false;
	*text = true;
	if (at->count)
		kt_pq_put_text(r, PQ_EVENT_TEXT, (const char *)at->data, at->count);
	return true;
}

/* Put the fields.  Return: true if all of them have a column. */
static bool put_column_fields(struct pq *pq, const struct kt_line *l)
{
	const struct kt_plan *form = kt_plan_of(l->event);
	const struct pq_plan *plan = &pq->plans[l->event->opcode];
	struct kt_pq_rows *r = &pq->rows[PQ_EVENT];
	bool all = true, text = false;
	const struct kt_slot *s;
	struct kt_fields at;

	if (!form)
		return false;
	kt_fields_begin(&at, form, l->event);
	for (unsigned int i = 0; i < plan->fields && (s = kt_fields_next(&at));
	     i++) {
		if (!plan->columns[i]) {
			all &= put_column_other(r, &at, s, &text);
			continue;
		}
		/* An unknown thread or process is null. */
		if (s->type == KTAPE_TYPE_TID && (int32_t)at.value < 0)
			continue;
		kt_pq_put(r, plan->columns[i], (int64_t)at.value);
		if (plan->roles[i])
			put_column_role(pq, l, plan->roles[i], s, at.value);
	}
	return all;
}

/* Put when and where.  Columns that a row lacks are null. */
static void put_origin(struct pq *pq, const struct ktape_event *e,
		       const struct pq_thread *t)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_EVENT, e->ts);

	kt_pq_put(r, PQ_EVENT_CPU, (int32_t)e->cpu);
	if (t)
		kt_pq_put(r, PQ_EVENT_UTID, pq_utid(pq, t));
	if (!pq->single)
		return;
	if (e->tid >= 0)
		kt_pq_put(r, pq_single(pq, PQ_SINGLE_TID), e->tid);
	if (t && (t->pid || !t->tid))
		kt_pq_put(r, pq_single(pq, PQ_SINGLE_PID), t->pid);
	if (t)
		pq_put_name(r, pq_single(pq, PQ_SINGLE_COMM), t->name);
}

/**
 * pq_put_event() - Put an event into the table event
 * @pq: the tables
 * @l: the event
 * @t: its thread, or NULL
 */
void pq_put_event(struct pq *pq, const struct kt_line *l, const struct pq_thread *t)
{
	struct kt_pq_rows *r = &pq->rows[PQ_EVENT];

	put_origin(pq, l->event, t);
	pq_put_name(r, PQ_EVENT_CLASS, pq_class_name(pq, l->event->opcode));
	pq_put_name(r, PQ_EVENT_EVENT, pq_event_name(pq, l));
	if (!put_column_fields(pq, l) || l->event->extra)
		put_column_json(pq, l);
	pq_end(pq, PQ_EVENT);
}

/**
 * pq_put_gap_event() - Put a loss into a single file, which has no other table
 * @pq: the tables
 * @n: the loss
 */
void pq_put_gap_event(struct pq *pq, const struct ktape_notice *n)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_EVENT, n->from);
	const int64_t name = pq->words[PQ_WORD_LOST];

	kt_pq_put(r, PQ_EVENT_CPU, (int32_t)n->cpu);
	pq_put_name(r, PQ_EVENT_CLASS, name);
	pq_put_name(r, PQ_EVENT_EVENT, name);
	if (n->count)
		kt_pq_put(r, pq_single(pq, PQ_SINGLE_LOST), (int64_t)n->count);
	kt_pq_put(r, pq_single(pq, PQ_SINGLE_TS_END), pq_time(pq, n->to));
	pq_end(pq, PQ_EVENT);
}

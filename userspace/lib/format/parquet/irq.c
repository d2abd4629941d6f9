// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interrupts nest on a CPU: the tables irq_slice and softirq_slice.  As in the statistics,
 * a thread switch ends what is open, and the end of a handler ends those nested in it.  What began
 * before the end of a loss (pq->lost_to) has no row.  An interrupt stays on its CPU, so rings of
 * other CPUs that begin later (pq->late_to) do not matter here.
 */
#include "internal.h"

enum { KIND_IRQ, KIND_IPI, KIND_TICK, KIND_SOFTIRQ, KINDS };

static const struct {
	uint8_t begin; /* opcodes; span: begin and end in one record, 0: none */
	uint8_t end;
	uint8_t span;
	uint8_t bits; /* lowest bits of dat20, which are its number */
	uint8_t type; /* enum ktape_field_type of the number */
	uint8_t word; /* enum pq_word: name of the kind */
} kinds[KINDS] = {
	[KIND_IRQ] = { KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT,
		       KTAPE_EV_IRQ_SPAN, 18, KTAPE_TYPE_IRQ, PQ_WORD_IRQ },
	[KIND_IPI] = { KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT, 0, 5,
		       KTAPE_TYPE_IPI, PQ_WORD_IPI },
	[KIND_TICK] = { KTAPE_EV_LOCAL_TIMER_ENTRY, KTAPE_EV_LOCAL_TIMER_EXIT,
			0, 8, KTAPE_TYPE_U32, PQ_WORD_TICK },
	[KIND_SOFTIRQ] = { KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT,
			   KTAPE_EV_SOFTIRQ_SPAN, 8, KTAPE_TYPE_SOFTIRQ, 0 },
};

/*
 * Keys of pq->raised, beside CPU and vector.  OPEN: value is the time of the first raise, extra
 * is true.  ENDED: value is the same, extra is the time at which the handler began.
 */
enum { WAIT_OPEN, WAIT_ENDED };

static uint32_t irq_number_of(const struct ktape_event *e, unsigned int kind)
{
	return e->dat20 & ((1U << kinds[kind].bits) - 1);
}

static void put_softirq(struct pq *pq, const struct kt_line *l,
			const struct pq_irq *irq)
{
	const struct ktape_event *e = l->event;
	struct kt_map_entry *raised = kt_map_find(
		&pq->raised, WAIT_ENDED, (uint64_t)e->cpu << 32 | irq->id);
	struct kt_pq_rows *r = pq_begin(pq, PQ_SOFTIRQ_SLICE, irq->since);

	kt_pq_put(r, PQ_SOFTIRQ_SLICE_DUR, pq_ns(pq, irq->since, e->ts));
	kt_pq_put(r, PQ_SOFTIRQ_SLICE_CPU, e->cpu);
	kt_pq_put(r, PQ_SOFTIRQ_SLICE_VEC, irq->id);
	pq_put_name(r, PQ_SOFTIRQ_SLICE_NAME,
		    pq_value_name(pq, l, KTAPE_TYPE_SOFTIRQ, irq->id));
	/* The wait that ended where the handler began. */
	if (raised && raised->extra == irq->since && raised->value >= pq->lost_to)
		kt_pq_put(r, PQ_SOFTIRQ_SLICE_WAIT,
			  pq_ns(pq, raised->value, irq->since));
	pq_end(pq, PQ_SOFTIRQ_SLICE);
}

static void put_irq_row(struct pq *pq, const struct kt_line *l,
			const struct pq_irq *irq)
{
	struct kt_pq_rows *r;

	if (irq->kind == KIND_SOFTIRQ) {
		put_softirq(pq, l, irq);
		return;
	}
	r = pq_begin(pq, PQ_IRQ_SLICE, irq->since);
	kt_pq_put(r, PQ_IRQ_SLICE_DUR, pq_ns(pq, irq->since, l->event->ts));
	kt_pq_put(r, PQ_IRQ_SLICE_CPU, l->event->cpu);
	pq_put_name(r, PQ_IRQ_SLICE_KIND, pq->words[kinds[irq->kind].word]);
	kt_pq_put(r, PQ_IRQ_SLICE_IRQ, irq->id);
	pq_put_name(r, PQ_IRQ_SLICE_NAME,
		    pq_value_name(pq, l, kinds[irq->kind].type, irq->id));
	pq_end(pq, PQ_IRQ_SLICE);
}

/* The wait of a soft interrupt counts from its first raise to its start. */
static void raise_softirq(struct pq *pq, const struct ktape_event *e)
{
	struct kt_map_entry *w =
		kt_map_put(&pq->raised, WAIT_OPEN,
			   (uint64_t)e->cpu << 32 | (e->dat20 & 0xff));

	if (!w) {
		pq->s->error = -ENOMEM;
		return;
	}
	if (w->extra)
		return;
	w->value = e->ts;
	w->extra = true;
}

/* Keep the wait that ends at the start of a soft interrupt until its row is written. */
static void start_softirq(struct pq *pq, const struct ktape_event *e, uint32_t vec)
{
	const uint64_t key = (uint64_t)e->cpu << 32 | vec;
	struct kt_map_entry *w = kt_map_find(&pq->raised, WAIT_OPEN, key);
	uint64_t since;

	if (!w)
		return;
	since = w->value;
	kt_map_remove(&pq->raised, w);
	w = kt_map_put(&pq->raised, WAIT_ENDED, key);
	if (!w) {
		pq->s->error = -ENOMEM;
		return;
	}
	w->value = since;
	w->extra = e->ts;
}

static void begin_irq_row(struct pq *pq, struct pq_cpu *c,
			  const struct ktape_event *e, unsigned int kind)
{
	const uint32_t id = irq_number_of(e, kind);

	/* A handler that is nested deeper has no row. */
	if (c->depth < PQ_NEST)
		c->irqs[c->depth++] = (struct pq_irq){ (uint8_t)kind, id, e->ts };
	if (kind == KIND_SOFTIRQ)
		start_softirq(pq, e, id);
}

static void end_irq_row(struct pq *pq, struct pq_cpu *c,
			const struct kt_line *l, unsigned int kind)
{
	const uint32_t id = irq_number_of(l->event, kind);

	for (unsigned int i = c->depth; i--;) {
		const struct pq_irq *open = &c->irqs[i];

		if (open->kind != kind || open->id != id)
			continue;
		c->depth = i;
		if (open->since >= pq->lost_to)
			put_irq_row(pq, l, open);
		return;
	}
}

/* A long interrupt in one record, which a gate of the session wrote: no loss can be inside. */
static void put_irq_span(struct pq *pq, const struct kt_line *l, unsigned int kind)
{
	struct pq_irq irq = {
		.kind = (uint8_t)kind,
		.id = irq_number_of(l->event, kind),
	};

	if (!ktape_event_field(l->event, "start", &irq.since))
		put_irq_row(pq, l, &irq);
}

/**
 * pq_irq() - Take an event of an interrupt; others do nothing
 * @pq: the tables
 * @c: its CPU
 * @l: the event
 */
void pq_irq(struct pq *pq, struct pq_cpu *c, const struct kt_line *l)
{
	const unsigned int opcode = l->event->opcode;

	if (opcode == KTAPE_EV_SOFTIRQ_RAISE) {
		raise_softirq(pq, l->event);
		return;
	}
	for (unsigned int i = 0; i < KINDS; i++) {
		if (kinds[i].begin == opcode) {
			begin_irq_row(pq, c, l->event, i);
			return;
		}
		if (kinds[i].end == opcode) {
			end_irq_row(pq, c, l, i);
			return;
		}
		if (kinds[i].span && kinds[i].span == opcode) {
			put_irq_span(pq, l, i);
			return;
		}
	}
}

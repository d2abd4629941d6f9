// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events on tracks for Perfetto: markers and values, interrupt service routines, gate spans (what
 * took longer than the session's gate, in one record), exceptions, texts, and losses.  User events
 * are in user.c.
 */
#include "internal.h"

static struct kt_line line_of(const struct perfetto *pf, const struct ktape_event *e)
{
	return kt_line_of(pf->s->info, pf->s->registry, e, false);
}

/*
 * Write the name that ktape dump shows, else @kind and the number, to @to without a NUL.
 * Return: number of bytes.
 */
static size_t put_track_name(const struct perfetto *pf,
			     const struct ktape_event *e, char *to,
			     unsigned int type, const char *kind, uint32_t id)
{
	const struct kt_line l = line_of(pf, e);
	struct kt_name name = kt_name_any(&l, type, id);

	if (name.text)
		return (size_t)(kt_put_mem(to, name.text, name.len) - to);
	return (size_t)snprintf(to, PF_NAME_BYTES, "%s %u", kind, id);
}

/* Write the thread that a value belongs to: ", main (1)". */
static size_t put_owner(struct perfetto *pf, const struct ktape_event *e,
			char *to, size_t room)
{
	const struct pf_thread *t = pf_thread(pf, e->tid, e->ts);

	if (t && t->known)
		return (size_t)snprintf(to, room, ", %.*s (%d)", (int)t->len,
					t->name, e->tid);
	return (size_t)snprintf(to, room, ", thread %d", e->tid);
}

/*
 * Write a marker or value on its track.  A message stands in the place of the name of a marker or of
 * its begin; that of an end or a value has no place on a track, and is not counted either.
 */
static void put_track_marker(struct perfetto *pf, const struct ktape_event *e)
{
	static const uint8_t types[] = {
		[KTAPE_EV_MARK - KTAPE_EV_MARK] = PF_EVENT_INSTANT,
		[KTAPE_EV_MARK_BEGIN - KTAPE_EV_MARK] = PF_EVENT_BEGIN,
		[KTAPE_EV_MARK_END - KTAPE_EV_MARK] = PF_EVENT_END,
		[KTAPE_EV_MARK_VALUE - KTAPE_EV_MARK] = PF_EVENT_VALUE,
	};
	const uint32_t id = ktape_event_arg(e, 0);
	const bool value = e->opcode == KTAPE_EV_MARK_VALUE;
	const bool task = e->dat20 & 1 && e->tid >= 0;
	const struct pf_place at = {
		.kind = value ? PF_ON_VALUE : PF_ON_MARKER,
		.tid = task && !value ? e->tid : -1,
		.whose = task ? (uint32_t)e->tid + 1 : 0,
		.id = id,
		.counter = value,
	};
	uint64_t number = (uint64_t)ktape_event_arg(e, 2) << 32 |
			  ktape_event_arg(e, 1);
	char name[PF_NAME_BYTES], text[4 * PF_NAME_BYTES], *end;
	size_t len = put_track_name(pf, e, name,
				    value ? KTAPE_TYPE_VALUEID : KTAPE_TYPE_MARKER,
				    value ? "value" : "marker", id);
	uint64_t uuid;

	if (task && value)
		len += put_owner(pf, e, name + len, sizeof(name) - len);
	uuid = pf_describe(pf, &at, name, len, e->ts);
	if (e->blob_size) {
		end = kt_put_escaped(text, e->blob,
				     kt_min(e->blob_size, PF_NAME_BYTES));
		pf_put_event(pf, uuid, e->ts, types[e->opcode - KTAPE_EV_MARK],
			     text, (size_t)(end - text), (int64_t)number);
		return;
	}
	pf_put_event(pf, uuid, e->ts, types[e->opcode - KTAPE_EV_MARK], name,
		     len, (int64_t)number);
}

static void put_isr(struct perfetto *pf, const struct ktape_event *e)
{
	const uint32_t id = ktape_event_arg(e, 0);
	const struct pf_place at = {
		.kind = PF_ON_ISR,
		.tid = -1,
		.whose = e->cpu,
	};
	char title[PF_NAME_BYTES], name[PF_NAME_BYTES];
	int n = snprintf(title, sizeof(title), "Interrupt routines CPU %u", e->cpu);
	size_t len = put_track_name(pf, e, name, KTAPE_TYPE_ISRID, "isr", id);

	pf_put_event(pf, pf_describe(pf, &at, title, (size_t)n, e->ts), e->ts,
		     e->opcode == KTAPE_EV_ISR_ENTER ? PF_EVENT_BEGIN : PF_EVENT_END,
		     name, len, 0);
}

static void put_track_exception(struct perfetto *pf, const struct ktape_event *e)
{
	static const char title[] = "Exceptions";
	const struct pf_place at = { .kind = PF_ON_EXCEPTION, .tid = -1 };
	uint32_t code = ktape_event_arg(e, 0);
	const char *severity;
	const struct kt_line l = line_of(pf, e);
	struct kt_name major = kt_major_name(&l, code >> 8);
	char name[PF_NAME_BYTES + 64], hex[KT_PUT_U64_MAX];
	int n;

	if (!major.text) {
		major.text = hex;
		major.len = (size_t)(kt_put_hex(hex, code >> 8) - hex);
	}
	severity = ktape_value_name(KTAPE_TYPE_SEVERITY, e->dat20 & 7);
	n = snprintf(name, sizeof(name), "%.*s.%u %s", (int)major.len,
		     major.text, code & 0xff, severity ? severity : "");
	pf_put_event(pf, pf_describe(pf, &at, title, sizeof(title) - 1, e->ts),
		     e->ts, PF_EVENT_INSTANT, name, (size_t)n, 0);
}

static void put_text_event(struct perfetto *pf, const struct ktape_event *e)
{
	static const char title[] = "Text";
	const struct pf_place at = {
		.kind = PF_ON_TEXT,
		.tid = e->tid,
		.whose = (uint32_t)e->tid + 1,
	};
	char line[4 * PF_NAME_BYTES], *end;

	end = kt_put_escaped(line, e->blob, kt_min(e->blob_size, PF_NAME_BYTES));
	pf_put_event(pf, pf_describe(pf, &at, title, sizeof(title) - 1, e->ts),
		     e->ts, PF_EVENT_INSTANT, line, (size_t)(end - line), 0);
}

/* Gate spans.  task: a track for each thread, else one for each CPU. */
static const struct {
	uint8_t opcode;
	bool task;
	const char *title;
} spans[] = {
	{ KTAPE_EV_SYS_SPAN, true, "Long system calls" },
	{ KTAPE_EV_IRQ_SPAN, false, "Long interrupts" },
	{ KTAPE_EV_SOFTIRQ_SPAN, false, "Long soft interrupts" },
	{ KTAPE_EV_TIMER_SPAN, false, "Long timers" },
	{ KTAPE_EV_HRTIMER_SPAN, false, "Long high-resolution timers" },
	{ KTAPE_EV_WORK_SPAN, true, "Long work" },
};

/* Name a span.  The number is in the lowest bits of dat20, 18, 8 or 16 of them, or an argument. */
static size_t span_name(struct perfetto *pf, const struct ktape_event *e, char *name)
{
	uint64_t v = 0;

	if (e->opcode == KTAPE_EV_IRQ_SPAN)
		return put_track_name(pf, e, name, KTAPE_TYPE_IRQ, "irq",
				      e->dat20 & 0x3ffff);
	if (e->opcode == KTAPE_EV_SOFTIRQ_SPAN)
		return put_track_name(pf, e, name, KTAPE_TYPE_SOFTIRQ, "vector",
				      e->dat20 & 0xff);
	if (e->opcode == KTAPE_EV_SYS_SPAN)
		return put_track_name(pf, e, name, KTAPE_TYPE_SYSCALL,
				      "system call", e->dat20 & 0xffff);
	if (!ktape_event_field(e, "function", &v))
		return put_track_name(pf, e, name, KTAPE_TYPE_FUNC, "function",
				      (uint32_t)v);
	return (size_t)snprintf(name, PF_NAME_BYTES, "timer");
}

static bool put_track_span(struct perfetto *pf, const struct ktape_event *e)
{
	struct pf_place at = { .tid = -1 };
	char name[PF_NAME_BYTES];
	uint64_t start, uuid;
	unsigned int i = 0;

	while (i < KT_ARRAY_SIZE(spans) && spans[i].opcode != e->opcode)
		i++;
	if (i == KT_ARRAY_SIZE(spans) || ktape_event_field(e, "start", &start))
		return false;
	at.kind = PF_ON_SPAN + i;
	at.tid = spans[i].task ? e->tid : -1;
	at.whose = spans[i].task ? (uint32_t)e->tid + 1 : e->cpu;
	uuid = pf_describe(pf, &at, spans[i].title, strlen(spans[i].title), e->ts);
	pf_put_event(pf, uuid, start, PF_EVENT_BEGIN, name,
		     span_name(pf, e, name), 0);
	pf_put_event(pf, uuid, e->ts, PF_EVENT_END, NULL, 0, 0);
	return true;
}

/**
 * pf_track() - write an event on its track, if it has one
 * @pf: trace being written
 * @e: event that fits the event table
 *
 * Return: true if the track stands for the event, although a track has no fields; false: also write
 * a generic event.
 */
bool pf_track(struct perfetto *pf, const struct ktape_event *e)
{
	switch (e->opcode) {
	case KTAPE_EV_MARK:
	case KTAPE_EV_MARK_BEGIN:
	case KTAPE_EV_MARK_END:
	case KTAPE_EV_MARK_VALUE:
		put_track_marker(pf, e);
		return true;
	case KTAPE_EV_ISR_ENTER:
	case KTAPE_EV_ISR_EXIT:
		put_isr(pf, e);
		return true;
	case KTAPE_EV_EXCEPTION:
		put_track_exception(pf, e);
		return false;
	case KTAPE_EV_TEXT:
		put_text_event(pf, e);
		return true;
	case KTAPE_EV_USER_EVENT:
		return pf_user_event(pf, e);
	default:
		return put_track_span(pf, e);
	}
}

/**
 * pf_track_lost() - write a loss as a slice on the track "Lost data"
 * @pf: trace being written
 * @n: the loss, or what was overwritten
 */
void pf_track_lost(struct perfetto *pf, const struct ktape_notice *n)
{
	const struct pf_place at = {
		.kind = PF_ON_LOST,
		.tid = -1,
		.whose = n->cpu,
		.id = n->ring,
	};
	char title[PF_NAME_BYTES], name[PF_NAME_BYTES];
	int t = snprintf(title, sizeof(title), "Lost data CPU %u%s", n->cpu,
			 n->ring == KTAPE_RING_CONTROL ? " (control)" : "");
	bool late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	uint64_t count = late ? n->overwritten : n->count;
	const char *what = late ? " overwritten" : "";
	int len = count ? snprintf(name, sizeof(name), "%llu events%s",
				   (unsigned long long)count, what) :
			  snprintf(name, sizeof(name), "%s%s",
				   late && n->continued ? "more" : "unknown number",
				   what);
	uint64_t uuid = pf_describe(pf, &at, title, (size_t)t, n->from);

	pf_put_event(pf, uuid, n->from, PF_EVENT_BEGIN, name, (size_t)len, 0);
	pf_put_event(pf, uuid, n->to, PF_EVENT_END, NULL, 0, 0);
}

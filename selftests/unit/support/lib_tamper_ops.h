/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to tamper with a stream or a whole trace, for t_lib_tamper.c, whose tables describe each
 * in words.  Checksums of changed packets are renewed, so that only their content can reveal
 * the change, except where a wrong or missing checksum is the change.
 */
#ifndef LIB_TAMPER_OPS_H
#define LIB_TAMPER_OPS_H

#include "lib_tamper.h"

/*
 * ---- operations on a stream ---------------------------------------------------------
 *
 * They return false if the stream has not what they change.  Then it may be changed partly, and
 * must not be judged.  Most files begin with an empty packet.
 */

/* Return the first packet with records from the middle on, or @s->nr if there is none. */
static unsigned int middle(const struct tamper_stream *s)
{
	unsigned int at = s->nr / 2;

	while (at < s->nr && tamper_empty(s, at))
		at++;
	return at;
}

static bool op_gone(struct tamper_stream *s)
{
	s->gone = true;
	return true;
}

static bool op_zero(struct tamper_stream *s)
{
	while (s->nr)
		tamper_take(s, s->nr - 1);
	return true;
}

static bool op_no_first(struct tamper_stream *s)
{
	if (s->nr < 2 || !tamper_empty(s, 0))
		return false;
	tamper_take(s, 0);
	return true;
}

/* Remove the first four fifths. */
static bool op_head(struct tamper_stream *s)
{
	unsigned int cut = s->nr * 4 / 5;

	if (!cut || cut == s->nr)
		return false;
	while (cut--)
		tamper_take(s, 0);
	return !tamper_empty(s, 0);
}

/* The same, but the first packet is still there. */
static bool op_head_kept(struct tamper_stream *s)
{
	unsigned int cut = s->nr * 4 / 5;

	if (s->nr < 3 || cut < 2)
		return false;
	while (--cut)
		tamper_take(s, 1);
	return true;
}

/* The same, with the right number in the first packet. */
static bool op_head_forged(struct tamper_stream *s)
{
	if (!op_head_kept(s))
		return false;
	tamper_head(s, 0)->seq = tamper_head(s, 1)->seq - 1;
	tamper_seal(s, 0);
	return true;
}

static bool op_tail(struct tamper_stream *s)
{
	if (s->nr < 3)
		return false;
	tamper_take(s, s->nr - 1);
	return true;
}

static bool op_tail_half(struct tamper_stream *s)
{
	unsigned int left = s->nr / 2;

	if (left < 2)
		return false;
	while (s->nr > left)
		tamper_take(s, s->nr - 1);
	return true;
}

static bool op_last_only(struct tamper_stream *s)
{
	if (s->nr < 3 || tamper_empty(s, s->nr - 1))
		return false;
	while (s->nr > 1)
		tamper_take(s, 0);
	return true;
}

static bool op_first_only(struct tamper_stream *s)
{
	if (s->nr < 3)
		return false;
	while (s->nr > 2)
		tamper_take(s, s->nr - 1);
	return true;
}

static bool op_empty_only(struct tamper_stream *s)
{
	if (s->nr < 2)
		return false;
	while (s->nr > 1)
		tamper_take(s, s->nr - 1);
	return true;
}

static bool op_middle(struct tamper_stream *s)
{
	if (s->nr < 4)
		return false;
	tamper_take(s, s->nr / 2);
	return true;
}

static bool op_middle_hidden(struct tamper_stream *s)
{
	unsigned int at = s->nr / 2;

	if (s->nr < 4 || tamper_empty(s, at))
		return false;
	tamper_take(s, at);
	for (; at < s->nr; at++) {
		tamper_head(s, at)->seq--;
		tamper_seal(s, at);
	}
	return true;
}

static bool op_swap(struct tamper_stream *s)
{
	unsigned int at = s->nr / 2;
	struct tamper_packet keep;

	if (s->nr < 4)
		return false;
	keep = s->packets[at];
	s->packets[at] = s->packets[at - 1];
	s->packets[at - 1] = keep;
	return true;
}

static bool op_twice(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	if (at >= s->nr)
		return false;
	tamper_add(s, at, s->packets[at].data, s->packets[at].len);
	return true;
}

static bool op_twice_hidden(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	if (!op_twice(s))
		return false;
	for (at++; at < s->nr; at++) {
		tamper_head(s, at)->seq++;
		tamper_seal(s, at);
	}
	return true;
}

static bool op_half(struct tamper_stream *s)
{
	if (!s->nr || tamper_empty(s, s->nr - 1))
		return false;
	s->tail = s->packets[s->nr - 1].len / 2;
	return true;
}

static bool op_flip(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	if (at >= s->nr)
		return false;
	/* A byte of the second word of the records; the checksum stays. */
	s->packets[at].data[KTAPE_BLOCK_HEADER + 9] ^= 4;
	return true;
}

/* ---- headers ---------------------------------------------------------------------- */

/* Change the header of a packet in the middle, which is not the last one. */
#define OP_HEAD(name, change)                          \
	static bool op_##name(struct tamper_stream *s) \
	{                                              \
		unsigned int at = middle(s);           \
		struct ktape_block *h;                 \
                                                       \
		if (at >= s->nr || at + 1 >= s->nr)    \
			return false;                  \
		h = tamper_head(s, at);                \
		change;                                \
		tamper_seal(s, at);                    \
		return true;                           \
	}

OP_HEAD(emitted_more, h->emitted += 500)
OP_HEAD(emitted_less, h->emitted -= h->emitted < 500 ? h->emitted : 500)
OP_HEAD(filtered, h->filtered += 500)
OP_HEAD(lost, h->lost[KTAPE_LOST_FULL] += 500)
OP_HEAD(discarded, h->discarded += 500)
OP_HEAD(lost_all, h->lost[0] += 500; h->emitted += 500; h->discarded += 500)
OP_HEAD(newer, h->generation += 1)
OP_HEAD(older, if (!h->generation--) return false)
OP_HEAD(seq, h->seq += 7)
OP_HEAD(begin, h->ts_begin += 1ULL << 40)
OP_HEAD(end, h->ts_end = h->ts_begin)
OP_HEAD(cpu, h->cpu ^= 1)
OP_HEAD(kind, h->kind ^= 1)
OP_HEAD(uuid, h->uuid[3] ^= 1)
OP_HEAD(magic, h->magic ^= 1)
OP_HEAD(thread, h->tid += 70)

static bool op_unsealed(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	if (at >= s->nr)
		return false;
	trace_unseal(s->packets[at].data);
	return true;
}

/* ---- records ----------------------------------------------------------------------- */

/*
 * Remove those records of a packet for which @is(event, its number in the packet, @arg) is true.
 * The packet keeps its size and counts.  Return: how many were removed.
 */
static unsigned int remove_records(struct tamper_stream *s, unsigned int at,
				   bool (*is)(const struct ktape_event *e,
					      unsigned int n, unsigned int arg),
				   unsigned int arg)
{
	struct tamper_packet *p = &s->packets[at];
	struct ktape_block *h = tamper_head(s, at);
	unsigned int removed = 0, n = 0;
	struct ktape_packet packet;
	struct ktape_event e;
	uint8_t *copy = malloc(p->len);
	size_t len = KTAPE_BLOCK_HEADER;

	if (!copy || ktape_packet_open(&packet, p->data, p->len, NULL, NULL))
		abort();
	memcpy(copy, p->data, p->len);
	while (ktape_packet_next(&packet, &e, NULL) > 0) {
		if (is(&e, n++, arg)) {
			removed++;
			continue;
		}
		memcpy(copy + len, p->data + e.offset, e.size);
		len += e.size;
	}
	memcpy(p->data, copy, len);
	memset(p->data + len, 0, p->len - len);
	free(copy);
	h->content_bits = len * 8;
	tamper_seal(s, at);
	return removed;
}

/* Time extensions stay, because the times of later records need them. */
static bool is_event_number(const struct ktape_event *e, unsigned int n,
			    unsigned int arg)
{
	return n == arg && e->opcode != KTAPE_TIME_EXTEND;
}

static bool is_event_behind(const struct ktape_event *e, unsigned int n,
			    unsigned int arg)
{
	return n >= arg && e->opcode != KTAPE_TIME_EXTEND;
}

/* Remove one record, or most of them (more than 8), of a packet with others on both sides. */
static bool op_record(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	return at + 1 < s->nr && at > 1 &&
	       remove_records(s, at, is_event_number, 3);
}

static bool op_records(struct tamper_stream *s)
{
	unsigned int at = middle(s);

	return at + 1 < s->nr && at > 1 &&
	       remove_records(s, at, is_event_behind, 5) > 8;
}

/* Remove most records of the first packet that has any, or of the last packet. */
static bool op_record_first(struct tamper_stream *s)
{
	unsigned int at = 1;

	return s->nr > 2 && !tamper_empty(s, at) &&
	       remove_records(s, at, is_event_behind, 5) > 8;
}

static bool op_record_last(struct tamper_stream *s)
{
	unsigned int at = s->nr - 1;

	return s->nr > 2 && !tamper_empty(s, at) &&
	       remove_records(s, at, is_event_behind, 1) > 8;
}

/* Change the opcode of a record: it is of another class then. */
static bool op_class(struct tamper_stream *s)
{
	unsigned int at = middle(s), changed = 0;
	struct ktape_packet packet;
	struct ktape_event e;

	if (at >= s->nr || s->kind != KTAPE_RING_EVENT ||
	    ktape_packet_open(&packet, s->packets[at].data, s->packets[at].len,
			      NULL, NULL))
		return false;
	while (ktape_packet_next(&packet, &e, NULL) > 0) {
		if (e.opcode != KTAPE_EV_IRQ_HANDLER_ENTRY &&
		    e.opcode != KTAPE_EV_IRQ_HANDLER_EXIT)
			continue;
		/* The opcode is byte 4 of a record's first word. */
		s->packets[at].data[e.offset + 4] =
			e.opcode == KTAPE_EV_IRQ_HANDLER_ENTRY ?
				KTAPE_EV_SOFTIRQ_ENTRY :
				KTAPE_EV_SOFTIRQ_EXIT;
		changed++;
	}
	tamper_seal(s, at);
	return changed;
}

static uint32_t mask20, want20; /* arguments of is_opcode() */

static bool is_opcode(const struct ktape_event *e, unsigned int n, unsigned int arg)
{
	(void)n;
	return e->opcode == arg && (e->dat20 & mask20) == want20;
}

/* Remove all records of an opcode with (dat20 & @mask) == @want. */
static bool remove_opcode(struct tamper_stream *s, unsigned int opcode,
			  uint32_t mask, uint32_t want)
{
	unsigned int removed = 0;

	mask20 = mask;
	want20 = want;
	for (unsigned int i = 0; i < s->nr; i++)
		if (!tamper_empty(s, i))
			removed += remove_records(s, i, is_opcode, opcode);
	return removed;
}

#define OP_REMOVE(name, opcode, mask, want)                  \
	static bool op_##name(struct tamper_stream *s)       \
	{                                                    \
		return remove_opcode(s, opcode, mask, want); \
	}

OP_REMOVE(no_start, KTAPE_EV_SESSION, 3, KTAPE_PHASE_ON)
OP_REMOVE(no_stop, KTAPE_EV_SESSION, 3, KTAPE_PHASE_OFF)
OP_REMOVE(no_session, KTAPE_EV_SESSION, 0, 0)
OP_REMOVE(no_profile, KTAPE_EV_PROFILE, 0, 0)
OP_REMOVE(no_profile_on, KTAPE_EV_PROFILE, 3, KTAPE_PHASE_ON)
OP_REMOVE(no_profile_off, KTAPE_EV_PROFILE, 3, KTAPE_PHASE_OFF)
OP_REMOVE(no_ledger, KTAPE_EV_LEDGER, 0, 0)
/* Bits 8 to 10 of a ledger: the moment, 0 stop, 1 start. */
OP_REMOVE(no_stop_ledger, KTAPE_EV_LEDGER, 7U << 8, 0)
OP_REMOVE(no_start_ledger, KTAPE_EV_LEDGER, 7U << 8, 1U << 8)
OP_REMOVE(no_loss, KTAPE_EV_LOSS, 0, 0)

/*
 * Add @by to a word of the last ledger of the system calls of the event ring: 0 = emitted,
 * 1 = filtered, 2 = lost because the ring was full.
 */
static bool change_ledger(struct tamper_stream *s, unsigned int word, uint64_t by)
{
	for (unsigned int i = s->nr; i-- > 0;) {
		uint8_t *found = NULL;
		struct ktape_packet packet;
		struct ktape_event e;
		uint64_t value;

		if (tamper_empty(s, i) ||
		    ktape_packet_open(&packet, s->packets[i].data,
				      s->packets[i].len, NULL, NULL))
			continue;
		while (ktape_packet_next(&packet, &e, NULL) > 0)
			if (e.opcode == KTAPE_EV_LEDGER && e.blob &&
			    (e.dat20 & 0xff) == KTAPE_CLASS_SYSCALL)
				found = (uint8_t *)e.blob + word * 8;
		if (!found)
			continue;
		memcpy(&value, found, sizeof(value));
		value += by;
		memcpy(found, &value, sizeof(value));
		tamper_seal(s, i);
		return true;
	}
	return false;
}

static bool op_ledger_more(struct tamper_stream *s)
{
	return change_ledger(s, 0, 100);
}

static bool op_ledger_less(struct tamper_stream *s)
{
	return change_ledger(s, 0, (uint64_t)-100);
}

static bool op_ledger_filtered(struct tamper_stream *s)
{
	return change_ledger(s, 1, 100);
}

static bool op_ledger_lost(struct tamper_stream *s)
{
	return change_ledger(s, 2, 100);
}

/* ---- the whole trace ------------------------------------------------------------------ */

static bool op_only_metadata(struct tamper *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		t->streams[i].gone = true;
	return true;
}

static bool op_all_zero(struct tamper *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		op_zero(&t->streams[i]);
	return true;
}

static bool op_cpu_gone(struct tamper *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		t->streams[i].gone = t->streams[i].kind != KTAPE_RING_REGISTRY &&
				     t->streams[i].cpu == 1;
	return true;
}

static bool op_rings_gone(struct tamper *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		t->streams[i].gone = t->streams[i].kind != KTAPE_RING_REGISTRY;
	return true;
}

/* Names that another session has left: they have its UUID. */
static bool op_names_foreign(struct tamper *t)
{
	bool changed = false;

	for (unsigned int i = 0; i < t->nr; i++)
		for (unsigned int k = 0; k < t->streams[i].nr; k++) {
			if (t->streams[i].kind != KTAPE_RING_REGISTRY)
				continue;
			tamper_head(&t->streams[i], k)->uuid[0] ^= 1;
			tamper_seal(&t->streams[i], k);
			changed = true;
		}
	return changed;
}

/* Exchange the events of two CPUs. */
static bool op_files_swapped(struct tamper *t)
{
	struct tamper_stream *of[2] = { NULL, NULL };
	char name[sizeof(of[0]->name)];

	for (unsigned int i = 0; i < t->nr; i++)
		if (t->streams[i].kind == KTAPE_RING_EVENT && t->streams[i].cpu < 2)
			of[t->streams[i].cpu] = &t->streams[i];
	if (!of[0] || !of[1])
		return false;
	memcpy(name, of[0]->name, sizeof(name));
	memcpy(of[0]->name, of[1]->name, sizeof(name));
	memcpy(of[1]->name, name, sizeof(name));
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		for (unsigned int i = 0; i < of[cpu]->nr; i++) {
			tamper_head(of[cpu], i)->cpu = !cpu;
			tamper_seal(of[cpu], i);
		}
	return true;
}

/* ---- metadata --------------------------------------------------------------------------- */

/* Replace the first @from by @to, which must not be longer. */
static bool replace_metadata_text(struct tamper *t, const char *from, const char *to)
{
	char *at = strstr(t->text, from);
	size_t old = strlen(from), new = strlen(to);

	if (!at || new > old)
		return false;
	memcpy(at, to, new);
	memmove(at + new, at + old, t->len - (size_t)(at - t->text) - old + 1);
	t->len -= old - new;
	return true;
}

/* Remove the first line that has @what. */
static bool remove_line(struct tamper *t, const char *what)
{
	char *at = strstr(t->text, what), *end;

	if (!at)
		return false;
	while (at > t->text && at[-1] != '\n')
		at--;
	end = strchr(at, '\n');
	if (!end)
		return false;
	memmove(at, end + 1, t->len - (size_t)(end + 1 - t->text) + 1);
	t->len -= (size_t)(end + 1 - at);
	return true;
}

/* Make it the text of a version that had no checksum. */
static bool op_old_text(struct tamper *t)
{
	char *minor = strstr(t->text, "tracer_minor = ");

	if (!minor || !remove_line(t, "metadata_crc32c"))
		return false;
	minor = strstr(t->text, "tracer_minor = ") + strlen("tracer_minor = ");
	while (*minor >= '0' && *minor <= '9')
		*minor++ = '0';
	return true;
}

static bool op_no_checksum(struct tamper *t)
{
	return remove_line(t, "metadata_crc32c");
}

static bool op_frequency(struct tamper *t)
{
	return replace_metadata_text(t, "freq = 1", "freq = 2");
}

static bool op_fewer_cpus(struct tamper *t)
{
	return replace_metadata_text(t, "cpus = \"0-", "cpus = \"1-");
}

static bool op_no_cpus(struct tamper *t)
{
	return remove_line(t, "cpus = ");
}

static bool op_no_event(struct tamper *t)
{
	return replace_metadata_text(t, "sched_switch", "sched_witch");
}

static bool op_text_uuid(struct tamper *t)
{
	char *at = strstr(t->text, "uuid = \"");

	if (!at)
		return false;
	at[strlen("uuid = \"")] ^= 1;
	return true;
}

static bool op_half_text(struct tamper *t)
{
	t->len /= 2;
	t->text[t->len] = '\0';
	return true;
}

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pieces of lines are kept only where they would be made the same again. */
#include "names/names.h"

/* @memo is zero. */
void kt_memo_init(struct kt_memo *memo)
{
	memo->turn = 1;
	memo->second = UINT64_MAX;
}

/* Lines are of another machine: its system calls have other names. */
void kt_memo_move(struct kt_memo *memo, uint64_t machine)
{
	memset(memo->bits, 0, sizeof(memo->bits));
	memo->machine = machine;
}

static bool keep(struct kt_piece *piece, const char *from, size_t len)
{
	if (len > sizeof(piece->text))
		return false;
	memcpy(piece->text, from, len);
	piece->len = (uint8_t)len;
	return true;
}

void kt_memo_keep_who(const struct kt_line *l, const char *from, size_t len)
{
	const struct ktape_event *e = l->event;
	struct kt_memo_who *who = kt_memo_who_at(l->memo, e);

	who->turn = 0;
	if (!keep(&who->piece, from, len))
		return;
	who->from = 0;
	who->lasts = UINT64_MAX;
	if (e->tid > 0)
		kt_registry_lasts(l->registry, e->tid, e->ts, &who->from,
				  &who->lasts);
	who->tid = e->tid;
	who->cpu = e->cpu;
	who->kind = (uint32_t)e->kind << 1 | l->json;
	who->turn = l->memo->turn;
}

/* Does a field's text depend on the event alone? */
static bool is_lasting(const struct kt_line *l)
{
	const struct kt_slot *f;
	struct kt_fields at;

	kt_fields_begin(&at, &kt_plans[l->event->opcode], l->event);
	while ((f = kt_fields_next(&at)) && f->place == KTAPE_PLACE_BITS) {
		if (!kt_name_lasts(l, f->type, at.value))
			return false;
	}
	return true;
}

void kt_memo_keep_bits(const struct kt_line *l, const char *from, size_t len)
{
	uint32_t key = kt_memo_key(l->event, l->json);
	struct kt_memo_bits *bits = kt_memo_bits_at(l->memo, key);

	if (!is_lasting(l))
		return;
	bits->key = 0;
	if (keep(&bits->piece, from, len))
		bits->key = key;
}

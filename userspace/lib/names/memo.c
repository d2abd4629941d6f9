// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fill the cache of formatted pieces (memo.h).  A piece is kept only if formatting it
 * again would give the same text.
 */
#include "names/names.h"

/* Initialise a zeroed cache. */
void kt_memo_init(struct kt_memo *memo)
{
	memo->turn = 1;
	memo->second = UINT64_MAX;
}

/* Drop the dat20 fields: the next lines are of another machine. */
void kt_memo_move(struct kt_memo *memo, uint64_t machine)
{
	memset(memo->bits, 0, sizeof(memo->bits));
	memo->machine = machine;
}

static bool keep_piece(struct kt_piece *piece, const char *from, size_t len)
{
	if (len > sizeof(piece->text))
		return false;
	memcpy(piece->text, from, len);
	piece->len = (uint8_t)len;
	return true;
}

/* Keep the text of an event's CPU and thread. */
void kt_memo_keep_who(const struct kt_line *l, const char *from, size_t len)
{
	const struct ktape_event *e = l->event;
	struct kt_memo_who *who = kt_memo_who_at(l->memo, e);

	who->turn = 0;
	if (!keep_piece(&who->piece, from, len))
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

/* Check that the text of the dat20 fields depends only on their values. */
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

/* Keep the text of an event's dat20 fields. */
void kt_memo_keep_bits(const struct kt_line *l, const char *from, size_t len)
{
	uint32_t key = kt_memo_key(l->event, l->json);
	struct kt_memo_bits *bits = kt_memo_bits_at(l->memo, key);

	if (!is_lasting(l))
		return;
	bits->key = 0;
	if (keep_piece(&bits->piece, from, len))
		bits->key = key;
}

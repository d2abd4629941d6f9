/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cache of formatted pieces of lines.
 *
 * Events come in runs of the same thread, and few values of dat20 are frequent, so
 * the text of "CPU and thread" and of the dat20 fields is kept and copied.  The cache
 * belongs to a registry, because every caller that formats lines has a registry, and
 * a name changes only when the registry learns one (@turn).
 */
#ifndef _KT_MEMO_H
#define _KT_MEMO_H

#include "util/put.h"

#include "stream/clock.h"
#include "stream/event.h"

#define KT_PIECE_ROOM  96 /* bytes of the longest piece that is kept */
#define KT_PIECE_MOST  48 /* bytes of a usual piece: copied first */
#define KT_MEMO_SHIFT  8
#define KT_MEMO_BITS   (1U << KT_MEMO_SHIFT) /* entries by dat20 and opcode */
#define KT_MEMO_WHO    64U /* entries by thread and CPU, a power of two */
#define KT_SECOND_ROOM 16  /* room for the 11 digits of 2^64 ns in seconds */

/**
 * struct kt_piece - a formatted piece of a line
 * @text: the text, without a NUL
 * @len: bytes of the text
 */
struct kt_piece {
	char text[KT_PIECE_ROOM];
	uint8_t len;
};

/**
 * struct kt_memo_bits - formatted dat20 fields of an event
 * @key: kt_memo_key(), 0 = entry not used
 * @piece: the text
 */
struct kt_memo_bits {
	uint32_t key;
	struct kt_piece piece;
};

/**
 * struct kt_memo_who - formatted CPU and thread of events
 * @tid: thread id, -1 = not known
 * @cpu: CPU number
 * @kind: kind of ring << 1 | JSON
 * @turn: struct kt_memo.turn for which the entry is valid, 0 = entry not used
 * @from: first tick for which the entry is valid
 * @lasts: the entry is valid until @from + @lasts, in ticks
 * @piece: the text
 */
struct kt_memo_who {
	int32_t tid;
	uint32_t cpu;
	uint32_t kind;
	uint64_t turn;
	uint64_t from;
	uint64_t lasts;
	struct kt_piece piece;
};

/**
 * struct kt_memo - cache of formatted pieces
 * @turn: raised whenever the registry learns a name, or shows other ones (a view); from 1
 * @machine: first 8 letters of the machine that @bits belongs to; system calls have
 *	other names on another machine
 * @clock: clock of the last line's trace
 * @second: second of the last line's time, UINT64_MAX = none yet
 * @second_len: number of digits in @second_text
 * @second_text: @second in digits
 * @who: entries by thread and CPU
 * @bits: entries by hash of their key
 */
struct kt_memo {
	uint64_t turn;
	uint64_t machine;
	struct kt_clock clock;
	uint64_t second;
	uint8_t second_len;
	char second_text[KT_SECOND_ROOM];
	struct kt_memo_who who[KT_MEMO_WHO];
	struct kt_memo_bits bits[KT_MEMO_BITS];
};

struct kt_line;

/* registry.c */
struct kt_memo *kt_registry_memo(const struct ktape_registry *registry);

/* lookup.c */
void kt_registry_lasts(const struct ktape_registry *registry, int32_t tid,
		       uint64_t ts, uint64_t *from, uint64_t *lasts);

/* memo.c */
void kt_memo_init(struct kt_memo *memo);
void kt_memo_move(struct kt_memo *memo, uint64_t machine);
void kt_memo_keep_who(const struct kt_line *l, const char *from, size_t len);
void kt_memo_keep_bits(const struct kt_line *l, const char *from, size_t len);

_Static_assert(KT_PIECE_MOST <= KT_PUT_OVER,
	       "the first copy of a piece may write KT_PUT_OVER bytes");

/* Put a cached piece; most are put by the first copy, whose size is constant. */
static inline char *kt_put_piece(char *p, const struct kt_piece *piece)
{
	memcpy(p, piece->text, KT_PIECE_MOST);
	if (piece->len > KT_PIECE_MOST)
		memcpy(p + KT_PIECE_MOST, piece->text + KT_PIECE_MOST,
		       KT_PIECE_ROOM - KT_PIECE_MOST);
	return p + piece->len;
}

/* Return the cache of a registry, prepared for a trace. */
static inline struct kt_memo *kt_memo_of(const struct ktape_registry *registry,
					 const struct ktape_info *info)
{
	struct kt_memo *memo = kt_registry_memo(registry);
	uint64_t machine = kt_get64(info->machine);

	if (memo->machine != machine)
		kt_memo_move(memo, machine);
	return memo;
}

/* Return the entry in which an event's CPU and thread are cached. */
static inline struct kt_memo_who *kt_memo_who_at(struct kt_memo *memo,
						 const struct ktape_event *e)
{
	uint32_t slot = ((uint32_t)e->tid + e->cpu * 7) & (KT_MEMO_WHO - 1);

	return &memo->who[slot];
}

/* Return the cached text of an event's CPU and thread, or NULL. */
static inline const struct kt_piece *
kt_memo_who(struct kt_memo *memo, const struct ktape_event *e, bool json)
{
	const struct kt_memo_who *who = kt_memo_who_at(memo, e);

	/* A time before @from wraps around, and is above @lasts. */
	if (who->turn == memo->turn && who->tid == e->tid &&
	    who->cpu == e->cpu && who->kind == ((uint32_t)e->kind << 1 | json) &&
	    e->ts - who->from <= who->lasts)
		return &who->piece;
	return NULL;
}

/* Return the key of an event's dat20 fields. */
static inline uint32_t kt_memo_key(const struct ktape_event *e, bool json)
{
	return (uint32_t)json << 31 | (uint32_t)e->opcode << 20 | e->dat20;
}

/* Return the entry in which dat20 fields with this key are cached. */
static inline struct kt_memo_bits *kt_memo_bits_at(struct kt_memo *memo, uint32_t key)
{
	/* A multiplicative hash: a prime near 2^32 / golden ratio. */
	return &memo->bits[key * 0x9e3779b1U >> (32 - KT_MEMO_SHIFT)];
}

/* Return the cached text of an event's dat20 fields, or NULL. */
static inline const struct kt_piece *
kt_memo_bits(struct kt_memo *memo, const struct ktape_event *e, bool json)
{
	uint32_t key = kt_memo_key(e, json);
	const struct kt_memo_bits *bits = kt_memo_bits_at(memo, key);

	return bits->key == key ? &bits->piece : NULL;
}

#endif /* _KT_MEMO_H */

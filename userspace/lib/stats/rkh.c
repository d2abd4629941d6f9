// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Response times of RKH traces: the time from posting a signal to an active object
 * until the object gets the signal.
 *
 * Open posts are kept in a queue for each object, like the queue of the object itself:
 * SMA_FIFO adds at the end, SMA_LIFO at the front.  SMA_GET takes the first post with
 * its signal.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "rtos/foreign.h"
#include "stats/hist.h"
#include "util/map.h"
#include "stream/event.h"

#define POSTS_MAX    1024U /* most open posts of an object */
#define ROWS_MAX     4096U /* objects, and signals of objects */
#define SIGNAL_SHIFT 40	   /* shift of the object's row number in keys */

/* Events of RKH, by TE_ID. */
enum { SMA_GET = 0x42, SMA_FIFO = 0x43, SMA_LIFO = 0x44 };

/* A signal that an object has not got yet, and when it was posted, in ticks. */
struct post {
	uint64_t ts;
	uint32_t signal;
};

/**
 * struct row - an object, or a signal of an object
 * @r: result for the caller; must be first
 * @hist: response times in ns
 * @posts: open posts, only for objects
 * @nr: number of open posts
 * @room: allocated entries of @posts
 * @losses: number of losses that are taken into account in @posts
 */
struct row {
	struct ktape_response r;
	struct kt_hist hist;
	struct post *posts;
	uint32_t nr;
	uint32_t room;
	uint64_t losses;
};

/**
 * struct ktape_responses - the statistics
 * @info: metadata of the trace
 * @rows: objects and signals, in the order in which they appeared
 * @nr_rows: number of rows
 * @left_out: events of objects or signals beyond ROWS_MAX
 * @losses: number of losses so far
 * @map: indexes in @rows by kind and key: 0 and the object, or 1 and
 *	row of the object << SIGNAL_SHIFT | signal
 * @no_time: events have no time stamps
 */
struct ktape_responses {
	const struct ktape_info *info;
	struct row *rows[ROWS_MAX];
	uint32_t nr_rows;
	uint64_t left_out;
	uint64_t losses;
	struct kt_map map;
	bool no_time;
};

int ktape_responses_new(const struct ktape_info *info,
			struct ktape_responses **responses)
{
	struct ktape_responses *s = calloc(1, sizeof(*s));

	*responses = s;
	if (!s)
		return -ENOMEM;
	s->info = info;
	return 0;
}

/*
 * Find or add a row by its key in ktape_responses.map.
 * Return: 0 with @row, NULL if there are too many; or -ENOMEM.
 */
static int find_rkh_row(struct ktape_responses *s, uint32_t kind, uint64_t key,
			struct row **row)
{
	struct kt_map_entry *e = kt_map_find(&s->map, kind, key);

	*row = NULL;
	if (e) {
		*row = s->rows[e->value];
		return 0;
	}
	/* A new object (@kind 0) needs a row for its signal, too. */
	if (s->nr_rows + (kind ? 1 : 2) > ROWS_MAX)
		return 0;
	*row = calloc(1, sizeof(**row));
	e = *row ? kt_map_put(&s->map, kind, key) : NULL;
	if (!e) {
		free(*row);
		return -ENOMEM;
	}
	e->value = s->nr_rows;
	s->rows[s->nr_rows++] = *row;
	return 0;
}

/*
 * Make open posts uncertain after a loss.  The loss may include the get of a post and
 * another post of the same signal, whose get would be paired with the wrong post.  An
 * object is updated only when it is used, because there can be many losses.
 */
static void apply_losses(const struct ktape_responses *s, struct row *o)
{
	if (o->losses == s->losses)
		return;
	o->losses = s->losses;
	o->r.uncertain += o->nr;
	o->nr = 0;
}

/*
 * Find the rows of an object and of its signal, added if needed; both, or only the second, may be
 * NULL (too many).  Losses since the object was used last are taken into account.
 */
static int find_rows(struct ktape_responses *s, uint64_t object,
		     uint32_t signal, struct row *found[2])
{
	uint64_t number;
	int err = find_rkh_row(s, 0, object, &found[0]);

	if (err || !found[0])
		return err;
	apply_losses(s, found[0]);
	found[0]->r.object = object;
	found[0]->r.signal = KTAPE_RESPONSE_ALL;
	number = kt_map_find(&s->map, 0, object)->value;
	err = find_rkh_row(s, 1, number << SIGNAL_SHIFT | signal, &found[1]);
	if (err || !found[1])
		return err;
	found[1]->r.object = object;
	found[1]->r.signal = signal;
	return 0;
}

/* ---- events --------------------------------------------------------------- */

static void remove_post(struct row *o, uint32_t i)
{
	memmove(o->posts + i, o->posts + i + 1, (o->nr - i - 1) * sizeof(*o->posts));
	o->nr--;
}

/*
 * Add a post to the queue of an object, at its front if @first.  If the queue is full, the post at
 * its front is given up as uncertain.  Return: 0 or -ENOMEM.
 */
static int add_post(struct row *rows[2], bool first, const struct post *p)
{
	struct row *o = rows[0];
	uint32_t room = o->room ? o->room * 2 : 16;
	struct post *more;

	rows[0]->r.posts++;
	rows[1]->r.posts++;
	if (o->nr == POSTS_MAX) {
		o->r.uncertain++;
		remove_post(o, 0);
	}
	if (o->nr == o->room) {
		more = realloc(o->posts, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		o->posts = more;
		o->room = room;
	}
	if (first)
		memmove(o->posts + 1, o->posts, o->nr * sizeof(*o->posts));
	o->posts[first ? 0 : o->nr] = *p;
	o->nr++;
	return 0;
}

static void add_time(struct row *row, uint64_t ns, uint64_t end)
{
	if (!row->hist.count || ns > row->hist.max)
		row->r.max_ts = end;
	kt_hist_add(&row->hist, ns);
}

/* An object gets a signal: add the time since its post, if that is known, and remove the post. */
static void answer_post(struct ktape_responses *s, struct row *rows[2],
			const struct post *get)
{
	struct row *o = rows[0];
	uint64_t ns;
	uint32_t i = 0;

	rows[0]->r.gets++;
	rows[1]->r.gets++;
	while (i < o->nr && o->posts[i].signal != get->signal)
		i++;
	if (i == o->nr) /* posted before the trace or in a loss */
		return;
	if (!s->no_time) {
		ns = (uint64_t)(ktape_mono_ns(s->info, get->ts) -
				ktape_mono_ns(s->info, o->posts[i].ts));
		add_time(rows[0], ns, get->ts);
		add_time(rows[1], ns, get->ts);
	}
	remove_post(o, i);
}

/* Read the object and the signal, which are the first two arguments. */
static bool take_args(const struct ktape_event *e, uint64_t *object, uint32_t *signal)
{
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	struct kt_typed t;

	if (at >= end)
		return false;
	kt_typed_next(&at, end, &t);
	*object = t.value;
	if (t.format != KTAPE_FORMAT_OBJECT || t.kind != KT_TYPED_NUMBER || at >= end)
		return false;
	kt_typed_next(&at, end, &t);
	*signal = (uint32_t)t.value;
	return t.format == KTAPE_FORMAT_SIGNAL && t.kind == KT_TYPED_NUMBER;
}

int ktape_responses_take(struct ktape_responses *s, const struct ktape_event *e)
{
	struct post p = { .ts = e->ts };
	struct row *rows[2] = { NULL, NULL };
	uint64_t object;
	uint32_t id;
	int err;

	if (e->opcode != KTAPE_EV_USER_EVENT || !e->nargs || !e->blob)
		return 0;
	id = ktape_event_arg(e, 0) - KTAPE_FORMAT_ID_RKH;
	if (id == KT_RKH_TCFG && e->nargs > 1)
		s->no_time = !(ktape_event_arg(e, 1) & KT_RKH_TIME);
	if (id < SMA_GET || id > SMA_LIFO || !take_args(e, &object, &p.signal))
		return 0;
	err = find_rows(s, object, p.signal, rows);
	if (err)
		return err;
	if (!rows[0] || !rows[1]) {
		s->left_out++;
		return 0;
	}
	if (id != SMA_GET)
		return add_post(rows, id == SMA_LIFO, &p);
	answer_post(s, rows, &p);
	return 0;
}

void ktape_responses_notice(struct ktape_responses *s, const struct ktape_notice *n)
{
	s->losses += n->kind == KTAPE_NOTICE_LOST;
}

/* ---- results -------------------------------------------------------------- */

const struct ktape_response *ktape_response(const struct ktape_responses *s, size_t i)
{
	struct row *row = i < s->nr_rows ? s->rows[i] : NULL;

	if (!row)
		return NULL;
	apply_losses(s, row);
	row->r.count = row->hist.count;
	row->r.sum = row->hist.sum;
	row->r.min = row->hist.min;
	row->r.max = row->hist.max;
	row->r.waiting = row->nr;
	return &row->r;
}

uint64_t ktape_response_quantile(const struct ktape_response *r, uint32_t millionth)
{
	const struct row *row = (const struct row *)r;
	uint64_t rank = (row->hist.count * millionth + 999999) / 1000000;

	return row->hist.count ? kt_hist_rank(&row->hist, kt_max(rank, 1)) : 0;
}

uint64_t ktape_responses_left_out(const struct ktape_responses *s)
{
	return s->left_out;
}

void ktape_responses_free(struct ktape_responses *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_rows; i++) {
		free(s->rows[i]->posts);
		free(s->rows[i]);
	}
	kt_map_free(&s->map);
	free(s);
}

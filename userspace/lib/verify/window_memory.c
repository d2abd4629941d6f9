// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory of the trials of a window (window.h), each of which checks the events of one CPU, and what
 * they keep for the steps that come after all trials.
 */
#include "util/hash.h"
#include "verify/window.h"

/* Return scratch memory, valid until the next call; NULL = there is none. */
void *kt_windows_scratch(struct kt_windows *w, size_t bytes)
{
	void *more;

	if (bytes <= w->order_room)
		return w->order;
	more = realloc(w->order, bytes);
	if (!more)
		return NULL;
	w->order = more;
	w->order_room = bytes;
	return more;
}

void kt_trial_free(struct kt_trial *tr)
{
	if (!tr)
		return;
	free(tr->runs);
	free(tr->items);
	free(tr);
}

struct kt_trial *kt_trial_new(struct kt_windows *w)
{
	struct kt_trial *tr = calloc(1, sizeof(*tr));

	if (!tr)
		return NULL;
	tr->windows = w;
	tr->runs = calloc(w->max_runs, sizeof(*tr->runs));
	tr->items = calloc(KT_ITEMS, sizeof(*tr->items));
	if (tr->runs && tr->items)
		return tr;
	kt_trial_free(tr);
	return NULL;
}

/* Return the slot of a key, which is 0 if the key is not kept.  No key is 0: no type is. */
static uint64_t *fresh_slot(struct kt_trial *tr, uint64_t key)
{
	size_t at = (size_t)kt_hash_mix(key) & (KT_FRESH - 1);

	while (tr->fresh[at] && tr->fresh[at] != key)
		at = (at + 1) & (KT_FRESH - 1);
	return &tr->fresh[at];
}

/* Keep an event for what comes after all trials; without room for it the trial is spoiled. */
void kt_trial_item(struct kt_trial *tr, unsigned int kind,
		   const struct ktape_event *e)
{
	if (tr->nr_items == KT_ITEMS) {
		kt_trial_spoil(tr);
		return;
	}
	tr->items[tr->nr_items++] = (struct kt_item){
		.kind = (uint8_t)kind,
		.seq = tr->at.seq,
		.offset = tr->at.offset,
		.event = *e,
	};
}

/*
 * Keep an event with a number that was not looked up before, once for each number.
 * Return: false if there is no room; then the trial is spoiled.
 */
bool kt_trial_mention(struct kt_trial *tr, unsigned int type, uint32_t id,
		      const struct ktape_event *e)
{
	uint64_t key = (uint64_t)type << 32 | id, *slot = fresh_slot(tr, key);

	if (*slot)
		return true;
	if (tr->nr_fresh >= KT_FRESH / 2) {
		kt_trial_spoil(tr);
		return false;
	}
	*slot = key;
	tr->nr_fresh++;
	kt_trial_item(tr, KT_ITEM_MENTION, e);
	if (tr->spoiled)
		return false;
	tr->items[tr->nr_items - 1].type = (uint8_t)type;
	tr->items[tr->nr_items - 1].id = id;
	return true;
}

/* Return whether a number is kept already. */
bool kt_trial_mentioned(struct kt_trial *tr, unsigned int type, uint32_t id)
{
	return *fresh_slot(tr, (uint64_t)type << 32 | id);
}

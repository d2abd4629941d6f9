// SPDX-License-Identifier: GPL-2.0-only
/* ktape top: choose and sort the threads of an interval. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/top/top.h"

const char *const top_keys[TOP_KEYS] = {
	[TOP_BY_RUN] = "run",	      [TOP_BY_WAIT] = "wait",
	[TOP_BY_LONGEST] = "longest", [TOP_BY_SWITCHES] = "switches",
	[TOP_BY_TID] = "tid",	      [TOP_BY_NAME] = "name",
};

/**
 * top_key_parse() - look up what to sort by
 * @name: any text
 * @key: set to the key
 *
 * Return: 0 or -EINVAL.
 */
int top_key_parse(const char *name, enum top_key *key)
{
	for (unsigned int i = 0; i < TOP_KEYS; i++) {
		if (strcmp(top_keys[i], name))
			continue;
		*key = i;
		return 0;
	}
	return -EINVAL;
}

typedef const struct ktape_linux_thread thread;

static int smaller_tid(thread *a, thread *b)
{
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* The larger number comes first, and of equal ones the smaller tid. */
static int larger(uint64_t x, uint64_t y, thread *a, thread *b)
{
	if (x != y)
		return x > y ? -1 : 1;
	return smaller_tid(a, b);
}

static int by_thread_run(const void *x, const void *y)
{
	thread *a = *(thread *const *)x, *b = *(thread *const *)y;

	return larger(a->run, b->run, a, b);
}

static int by_wait(const void *x, const void *y)
{
	thread *a = *(thread *const *)x, *b = *(thread *const *)y;

	return larger(a->wait, b->wait, a, b);
}

static int by_longest(const void *x, const void *y)
{
	thread *a = *(thread *const *)x, *b = *(thread *const *)y;

	return larger(a->wait_max, b->wait_max, a, b);
}

static int by_switches(const void *x, const void *y)
{
	thread *a = *(thread *const *)x, *b = *(thread *const *)y;

	return larger(a->switches, b->switches, a, b);
}

static int by_thread_id(const void *x, const void *y)
{
	return smaller_tid(*(thread *const *)x, *(thread *const *)y);
}

static int by_thread_name(const void *x, const void *y)
{
	thread *a = *(thread *const *)x, *b = *(thread *const *)y;
	int order = strcmp(a->name, b->name);

	return order ? order : smaller_tid(a, b);
}

static int (*const orders[TOP_KEYS])(const void *, const void *) = {
	[TOP_BY_RUN] = by_thread_run,  [TOP_BY_WAIT] = by_wait,
	[TOP_BY_LONGEST] = by_longest, [TOP_BY_SWITCHES] = by_switches,
	[TOP_BY_TID] = by_thread_id,   [TOP_BY_NAME] = by_thread_name,
};

static bool is_thread_wanted(const struct top_order *o, thread *t)
{
	char id[16];

	if (!*o->filter || strstr(t->name, o->filter))
		return true;
	snprintf(id, sizeof(id), "%d", t->tid);
	if (!strcmp(id, o->filter))
		return true;
	snprintf(id, sizeof(id), "%u", t->tgid);
	return !strcmp(id, o->filter);
}

/**
 * top_order_apply() - choose and sort the threads of an interval
 * @o: the order
 * @v: the interval
 * @threads: filled; room for @v->nr_threads entries.  Idle threads are left out
 *
 * Return: number of threads.
 */
size_t top_order_apply(const struct top_order *o, const struct top_view *v,
		       const struct ktape_linux_thread **threads)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_threads; i++) {
		if (v->threads[i].tid && is_thread_wanted(o, &v->threads[i]))
			threads[nr++] = &v->threads[i];
	}
	qsort(threads, nr, sizeof(*threads), orders[o->key]);
	return nr;
}

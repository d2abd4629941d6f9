/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of a session, by kind and as a whole. */
#ifndef _KT_SESSION_FILTER_H
#define _KT_SESSION_FILTER_H

#include <linux/types.h>

#include "filter/filter.h"

struct kt_session;

/**
 * struct kt_filter_kind - what there is to know about a kind of filter
 * @size: bytes of an entry
 * @told: bytes of an entry as GET tells it
 * @max: entries at most
 * @empty_is_off: a filter without entries is none
 * @parse: put the entries into a copy of the filters, in place of those of this
 *	kind, or change nothing and return an error; runs in the caller's name
 *	spaces
 * @tell: the entries of a filter that is in force, f->nr of them
 * @drop: give back what @parse got; NULL: nothing
 * @collisions: what is told as such; NULL: nothing
 *
 * The filter's bit in f->kinds and its f->nr are set after @parse.
 */
struct kt_filter_kind {
	u32 size;
	u32 told;
	u32 max;
	bool empty_is_off;
	int (*parse)(struct kt_filters *f, const void *entries, u32 nr);
	void (*tell)(const struct kt_filters *f, void *to);
	void (*drop)(struct kt_filters *f);
	u64 (*collisions)(const struct kt_filters *f);
};

extern const struct kt_filter_kind kt_filter_kinds[KTAPE_FILTER_KINDS];

int kt_session_filter_set(struct kt_session *s, u32 kind, const void *entries,
			  u32 nr);
int kt_session_filter_off(struct kt_session *s, u32 kind);
void kt_session_filter_tell(struct kt_session *s, struct ktape_filter *to,
			    void *entries);
void kt_session_filters_exit(struct kt_session *s);

#endif /* _KT_SESSION_FILTER_H */

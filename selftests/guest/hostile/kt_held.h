/* SPDX-License-Identifier: GPL-2.0-only */
/* Mappings that t_hostile_mmap has, and checks of their bytes, place and rights. */
#ifndef _KT_HELD_H
#define _KT_HELD_H

#include <stdarg.h>
#include <sys/mman.h>

#include "kt.h"

#define PAGE	   4096UL
#define MAPS	   8
#define HELD_PAGES 80 /* at most, in one mapping */

/**
 * struct held - a mapping that the test has
 * @p: where, NULL = none
 * @size: bytes
 * @off: offset in the file
 */
struct held {
	char *p;
	size_t size;
	uint64_t off;
};

/**
 * struct state - what the test has and has seen
 * @fd: the session
 * @l: its layout
 * @e: its regions, of which the last one is the registry
 * @held: the mappings that are tried
 * @copy: what the file holds, by read-only mappings of the whole regions
 * @tries: calls
 * @allowed: calls that the kernel allowed
 * @watched: ranges that userfaultfd was asked to watch; 0 if the kernel does not have it
 * @wrong: the first finding, "" = none
 */
struct state {
	int fd;
	struct ktape_layout l;
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	char *copy[KT_REGIONS_MAX];
	struct held held[MAPS];
	long tries, allowed, watched;
	char wrong[160];
};

static struct state st;

static __attribute__((format(printf, 1, 2))) void
note_mapping_error(const char *format, ...)
{
	va_list ap;

	if (st.wrong[0])
		return;
	va_start(ap, format);
	vsnprintf(st.wrong, sizeof(st.wrong), format, ap);
	va_end(ap);
}

static size_t region_size(const struct ktape_layout_entry *e)
{
	return e->ctl_size + e->data_size;
}

/* Return what the file holds at @off, NULL if that is in no region. */
static const char *content_at(uint64_t off)
{
	for (__u32 i = 0; i < st.l.nr; i++)
		if (off >= st.e[i].offset &&
		    off - st.e[i].offset < region_size(&st.e[i]))
			return st.copy[i] + (off - st.e[i].offset);
	return NULL;
}

/* Compare a page of a mapping; the registry changes while the test runs. */
static void check_mapped_page(const struct held *h, size_t at, const void *bytes)
{
	const char *is = content_at(h->off + at);

	if (!is)
		note_mapping_error("offset %#llx is in no region",
				   (unsigned long long)(h->off + at));
	else if (h->off + at < st.e[st.l.nr - 1].offset && memcmp(is, bytes, PAGE))
		note_mapping_error("other bytes at %#llx",
				   (unsigned long long)(h->off + at));
}

/* Is the range still mapped, by one mapping, without rights to write or execute? */
static void check_held(const struct held *h)
{
	unsigned char vec[HELD_PAGES];
	char line[256], want[64];
	bool found = false;
	FILE *f;

	if (mincore(h->p, h->size, vec)) {
		note_mapping_error("a mapping at %#llx is gone",
				   (unsigned long long)h->off);
		return;
	}
	f = fopen("/proc/self/maps", "r");
	snprintf(want, sizeof(want), "%lx-%lx ", (unsigned long)h->p,
		 (unsigned long)h->p + h->size);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, want, strlen(want))) {
			found = true;
			if (strncmp(line + strlen(want), "r--s", 4) &&
			    strncmp(line + strlen(want), "---s", 4))
				note_mapping_error("rights: %s", line);
		}
	if (f)
		fclose(f);
	if (!found)
		note_mapping_error("a mapping at %#llx was split",
				   (unsigned long long)h->off);
}

#endif /* _KT_HELD_H */

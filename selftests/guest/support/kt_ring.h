/* SPDX-License-Identifier: GPL-2.0-only */
/* Map a ring and walk over its records. */
#ifndef _KT_RING_H
#define _KT_RING_H

#include <sys/mman.h>

#include "kt.h"

/* For tests that map below 4 GiB; only x86 has this flag. */
#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif

/* ---- a mapped ring ----------------------------------------------------- */

/**
 * struct kt_map - a mapped ring
 * @e: its entry in the layout
 * @page: its control page
 * @data: its blocks
 * @size: bytes of the mapping, control page included
 */
struct kt_map {
	struct ktape_layout_entry e;
	struct ktape_ring_page *page;
	char *data;
	size_t size;
};

/*
 * Find the layout entry of a ring. For kind KTAPE_RING_REGISTRY (the names, one
 * region for all CPUs) @cpu is -1.
 */
static inline int kt_region(int fd, int cpu, uint32_t kind,
			    struct ktape_layout_entry *e)
{
	struct ktape_layout_entry all[KT_REGIONS_MAX];
	struct ktape_layout l;
	int ret = kt_layout(fd, &l, all, KT_REGIONS_MAX);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < l.nr && i < KT_REGIONS_MAX; i++)
		if (all[i].cpu == cpu && all[i].kind == kind) {
			*e = all[i];
			return 0;
		}
	return -ENOENT;
}

/* Map a ring, as kt_region() finds it. Return: 0 or a negative errno. */
static inline int kt_map_ring(int fd, int cpu, uint32_t kind, struct kt_map *m)
{
	void *p;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = kt_region(fd, cpu, kind, &m->e);
	if (ret)
		return ret;
	m->size = m->e.ctl_size + m->e.data_size;
	p = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, m->e.offset);
	if (p == MAP_FAILED)
		return -errno;
	m->page = p;
	m->data = (char *)p + m->e.ctl_size;
	return 0;
}

static inline void kt_unmap_ring(struct kt_map *m)
{
	munmap(m->page, m->size);
}

static inline uint64_t kt_load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/*
 * Return the oldest readable position: what is below tail was overwritten, what is
 * below floor was cleared.
 */
static inline uint64_t kt_oldest(const struct kt_map *m)
{
	uint64_t tail = kt_load(&m->page->tail), floor = kt_load(&m->page->floor);

	return tail > floor ? tail : floor;
}

/* ---- records ----------------------------------------------------------- */

/**
 * struct kt_rec - a record in a mapped ring
 * @ts: time, 64 bits
 * @pos: its position in the ring
 * @op: opcode
 * @dat20: small values of the event, 20 bits of the code word
 * @nargs: words in @args
 * @args: argument words
 * @blob: bytes after the argument words, or NULL
 * @size: bytes at @blob
 */
struct kt_rec {
	uint64_t ts, pos;
	uint32_t op, dat20, nargs, size;
	const uint32_t *args;
	const char *blob;
};

/*
 * Decode the record at @p; @r->ts is the time of the record before. The layout is
 * in uapi/README.md, Records: the code word has opcode 8, dat20 20, "a blob
 * follows" 1, nargs 3 bits. Return: its length, 0 if it exceeds @left.
 */
static inline size_t kt_decode(const uint32_t *p, size_t left, struct kt_rec *r)
{
	size_t len;

	if (left < 8)
		return 0;
	r->op = p[1] & 0xff;
	r->dat20 = p[1] >> 8 & KTAPE_DAT20_MASK;
	r->nargs = p[1] >> 29;
	r->args = p + 2;
	r->blob = NULL;
	r->size = 0;
	len = 8 + r->nargs * 4;
	if (p[1] >> 28 & 1) {
		if (left < len + 4)
			return 0;
		r->size = p[2 + r->nargs];
		r->blob = (const char *)(p + 3 + r->nargs);
		len += 4 + (size_t)r->size;
	}
	len = (len + 7) & ~(size_t)7;
	if (len > left)
		return 0;
	if (r->op == KTAPE_TIME_EXTEND)
		r->ts = p[2] | (uint64_t)p[3] << 32;
	else
		r->ts += p[0] - (uint32_t)r->ts;
	return len;
}

/*
 * Call @fn, unless it is NULL, for each record of a ring without a writer from kt_oldest() on,
 * time extensions included. Return: number of records, or -EBADMSG if a block or record is
 * malformed.
 */
static inline long kt_walk(const struct kt_map *m,
			   void (*fn)(const struct kt_rec *r, void *arg), void *arg)
{
	uint64_t pos = kt_oldest(m), commit = kt_load(&m->page->commit), end;
	uint64_t from = pos, at, size = m->e.block_size;
	struct kt_rec r;
	size_t len;
	long n = 0;

	for (pos -= pos % size; pos < commit; pos += size) {
		const char *block = m->data + pos % m->e.data_size;
		const struct ktape_block *b = (const void *)block;

		/* A full block says where its content ends; the last one ends at commit. */
		end = commit - pos > size ? b->content_bits / 8 : commit - pos;
		/* Blocks are numbered from 1. */
		if (b->magic != KTAPE_BLOCK_MAGIC || b->seq != pos / size + 1 ||
		    (int)b->cpu != m->e.cpu || b->kind != m->e.kind || end > size)
			return -EBADMSG;
		r.ts = b->ts_begin;
		for (at = KTAPE_BLOCK_HEADER; at < end; at += len) {
			len = kt_decode((const void *)(block + at), end - at, &r);
			r.pos = pos + at;
			if (!len || !r.op)
				return -EBADMSG;
			if (r.pos < from)
				continue;
			n++;
			if (fn)
				fn(&r, arg);
		}
	}
	return n;
}

#endif /* _KT_RING_H */

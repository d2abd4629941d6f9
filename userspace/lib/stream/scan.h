/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find one packet after the other in a file or pipe; see scan.c. */
#ifndef _KT_SCAN_H
#define _KT_SCAN_H

#include <sys/types.h>

#include "stream/packet.h"
#include "stream/zin.h"

/* Bytes that identify a packet header of a trace: magic and UUID. */
#define KT_PATTERN_SIZE 20U

/**
 * struct kt_budget - memory limit for the packets of all files of a trace
 * @used: bytes allocated; threads that read different files change it
 * @max: largest value of @used
 */
struct kt_budget {
	uint64_t used;
	uint64_t max;
};

static inline void kt_budget_give(struct kt_budget *budget, uint64_t bytes)
{
	__atomic_fetch_sub(&budget->used, bytes, __ATOMIC_RELAXED);
}

/* Allow @bytes to be allocated.  Return: 0 or -ENOBUFS. */
static inline int kt_budget_take(struct kt_budget *budget, uint64_t bytes)
{
	if (__atomic_add_fetch(&budget->used, bytes, __ATOMIC_RELAXED) <= budget->max)
		return 0;
	kt_budget_give(budget, bytes);
	return -ENOBUFS;
}

/**
 * struct kt_scan - an input that is being scanned
 * @fd: descriptor of the input
 * @uuid: UUID of the trace; packets with another UUID are rejected
 * @budget: limit that @buf and @z count against, or NULL
 * @report: called with a KTAPE_NOTICE_* about damage, or NULL
 * @arg: first argument of @report
 * @stepwise: kt_scan_next() ends with -EAGAIN after damage that it reports; called
 *	again, it goes on behind the damage
 * @z: unpacks a compressed input, NULL = not compressed; with it, offsets count
 *	unpacked bytes
 * @z_memory: bytes of @budget that @z uses
 * @probed: the first bytes were checked for compression
 * @wait: called before a read that could block, or NULL; returns 1, 0 to end the input,
 *	or negative errno, which the function that reads returns
 * @wait_arg: argument of @wait
 * @seekable: the input is a plain file, read with pread(2) so that several readers
 *	can share the descriptor
 * @eof: the buffer holds the end of the input
 * @offset: offset of the byte at @head in the input
 * @buf: buffer
 * @head: index in @buf of the first byte that is not consumed
 * @len: index in @buf after the last byte that was read
 * @cap: bytes allocated for @buf
 */
struct kt_scan {
	int fd;
	const uint8_t *uuid;
	struct kt_budget *budget;
	void (*report)(void *arg, unsigned int kind,
		       const struct ktape_error *error);
	void *arg;
	bool stepwise;
	struct kt_zin *z;
	size_t z_memory;
	bool probed;
	int (*wait)(void *arg);
	void *wait_arg;
	bool seekable;
	bool eof;
	uint64_t offset;
	uint8_t *buf;
	size_t head;
	size_t len;
	size_t cap;
};

/**
 * struct kt_found - the packet at the head
 * @metadata: the packet holds metadata
 * @checked: the checksum is right, so @size can be trusted
 * @cut: the input ends inside the packet
 * @size: bytes of the packet, including padding
 * @content: bytes of header and records, of metadata @size; kt_scan_check() lowers it to what is
 *	present
 * @offset: offset of the packet in the input
 */
struct kt_found {
	bool metadata;
	bool checked;
	bool cut;
	uint64_t size;
	uint64_t content;
	uint64_t offset;
};

void kt_scan_init(struct kt_scan *s, int fd);
void kt_scan_free(struct kt_scan *s);
void kt_scan_rewind(struct kt_scan *s);
bool kt_scan_pending(const struct kt_scan *s);
bool kt_scan_is_rereadable(const struct kt_scan *s);
int64_t kt_scan_need(struct kt_scan *s, uint64_t n);
int kt_scan_more(struct kt_scan *s, uint64_t n);
int kt_scan_skip(struct kt_scan *s, uint64_t n);
int kt_scan_packet(struct kt_scan *s, struct kt_found *found,
		   struct ktape_error *error);
int kt_scan_check(struct kt_scan *s, struct kt_found *found,
		  struct ktape_error *error);
int kt_scan_metadata(struct kt_scan *s, uint8_t **data, size_t *len,
		     struct ktape_error *error);
const uint8_t *kt_scan_find(const struct kt_scan *s, uint64_t from);
bool kt_scan_hunt(struct kt_scan *s);
int kt_scan_next(struct kt_scan *s, struct kt_found *found);
void kt_scan_check_size(struct kt_scan *s, uint64_t end, bool found);
int kt_scan_leave(struct kt_scan *s, const struct kt_found *found);

/* Return the number of bytes at the head. */
static inline uint64_t kt_scan_there(const struct kt_scan *s)
{
	return s->len - s->head;
}

/* Return the first byte that is not consumed. */
static inline const uint8_t *kt_scan_head(const struct kt_scan *s)
{
	return s->buf + s->head;
}

#endif /* _KT_SCAN_H */

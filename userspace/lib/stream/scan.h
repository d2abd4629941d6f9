/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packet after packet from a file or a pipe, through one buffer. */
#ifndef _KT_SCAN_H
#define _KT_SCAN_H

#include <sys/types.h>

#include "stream/packet.h"
#include "stream/zin.h"

/* What the head of a packet of a trace looks like: magic and uuid. */
#define KT_PATTERN_SIZE	20U

/**
 * struct kt_budget - memory for packets, of all files of a trace together
 * @used: bytes
 * @max: at most so many
 */
struct kt_budget {
	uint64_t used;
	uint64_t max;
};

/**
 * struct kt_scan - a file or pipe that is being read
 * @fd: where from
 * @uuid: of the trace, whose packets alone are taken
 * @budget: that @buf counts in, or NULL
 * @tell: called with a KTAPE_NOTICE_* when something is wrong, or NULL
 * @arg: for @tell
 * @z: it is compressed; offsets are those of what was, or NULL
 * @z_memory: of @budget for @z
 * @probed: it was seen whether it is
 * @wait: called before a read that could block, or NULL; 0 ends the input
 * @wait_arg: for @wait
 * @seekable: by offset, so that the descriptor can be shared
 * @eof: there is no more than what is in the buffer
 * @offset: of the byte at @head
 * @buf: what was read
 * @head: begin of what is left of it
 * @len: its end
 * @cap: room
 */
struct kt_scan {
	int fd;
	const uint8_t *uuid;
	struct kt_budget *budget;
	void (*tell)(void *arg, unsigned int kind,
		     const struct ktape_error *error);
	void *arg;
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
 * @metadata: it is a metadata packet
 * @checked: it has a checksum, which is right: its size can be believed
 * @cut: the file ends in it
 * @size: of the packet, filling included
 * @content: of header and records, as much as there is
 * @offset: where it is
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
bool kt_scan_again(const struct kt_scan *s);
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
void kt_scan_judge(struct kt_scan *s, uint64_t end, bool found);
int kt_scan_leave(struct kt_scan *s, const struct kt_found *found);
void kt_scan_tell(const struct kt_scan *s, unsigned int kind,
		  const struct ktape_error *error);

static inline uint64_t kt_scan_there(const struct kt_scan *s)
{
	return s->len - s->head;
}

static inline const uint8_t *kt_scan_head(const struct kt_scan *s)
{
	return s->buf + s->head;
}

#endif /* _KT_SCAN_H */

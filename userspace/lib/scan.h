/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packet after packet from a file or a pipe, through one buffer. */
#ifndef _KT_SCAN_H
#define _KT_SCAN_H

#include <sys/types.h>

#include "internal.h"

/**
 * struct kt_scan - a file or pipe that is being read
 * @fd: where from
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
 * @size: of the packet
 * @offset: where it is
 */
struct kt_found {
	bool metadata;
	uint64_t size;
	uint64_t offset;
};

void kt_scan_init(struct kt_scan *s, int fd);
void kt_scan_free(struct kt_scan *s);
int64_t kt_scan_need(struct kt_scan *s, uint64_t n);
int kt_scan_skip(struct kt_scan *s, uint64_t n);
int kt_scan_packet(struct kt_scan *s, struct kt_found *found,
		   struct ktape_error *error);
int kt_scan_metadata(struct kt_scan *s, uint8_t **data, size_t *len,
		     struct ktape_error *error);
int kt_scan_resync(struct kt_scan *s, const uint8_t *uuid);

static inline const uint8_t *kt_scan_head(const struct kt_scan *s)
{
	return s->buf + s->head;
}

#endif /* _KT_SCAN_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes CTF packets for read() out of blocks and of the registry. */
#ifndef _KT_PACKET_H
#define _KT_PACKET_H

#include <linux/types.h>

struct kt_cursor;
struct kt_ring;

ssize_t kt_packet_copy(struct kt_ring *r, struct kt_cursor *c,
		       unsigned long *pos, void *buf, bool parts);
size_t kt_packet_registry(void *buf, size_t room, unsigned int *slot, u64 *seq);

#endif /* _KT_PACKET_H */

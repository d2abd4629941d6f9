/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The character devices /dev/ktape and /dev/ktape_mark, and the CTF metadata.
 *
 * Read the files in this order.  Each one calls only files above it:
 *
 *   abi.c	the compiler checks the layout of the contract's structures
 *   quota.c	limits for readers without control rights
 *   rights.c	what a caller and its descriptor may do
 *   metadata.c	the CTF metadata of the traces
 *   packet.c	a packet for read(): copied from a ring, checked, sealed
 *   map.c	mmap() of rings and registry
 *   read.c	read(), poll(), and positions of readers
 *   file.c	the state of a descriptor
 *   session.c	ioctls for sessions
 *   event.c	ioctls for events, filters, probes and triggers
 *   ioctl.c	the table of all ioctls
 *   dev.c	the device /dev/ktape
 *   mark.c	the device /dev/ktape_mark
 */
#ifndef _KT_DEV_H
#define _KT_DEV_H

#include <linux/types.h>

struct kt_session;

/* dev.c */
int kt_dev_init(struct kt_session *session0, unsigned int mode);
void kt_dev_exit(void);

/* mark.c */
int kt_dev_mark_init(unsigned int mode, unsigned int rate);
void kt_dev_mark_exit(void);

/* metadata.c */
int kt_metadata_init(void);
void kt_metadata_exit(void);
u64 kt_metadata_hash(void);
const char *kt_metadata_text(size_t *length);

#endif /* _KT_DEV_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The character devices /dev/ktape and /dev/ktape_mark, and the CTF metadata. */
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

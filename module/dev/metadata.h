/* SPDX-License-Identifier: GPL-2.0-only */
/* The CTF metadata of this load of the module. */
#ifndef _KT_METADATA_H
#define _KT_METADATA_H

#include <linux/types.h>

int kt_metadata_init(void);
void kt_metadata_exit(void);
u64 kt_metadata_hash(void);
const char *kt_metadata_text(size_t *length);
const void *kt_metadata_packet(size_t *length);

#endif /* _KT_METADATA_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of objects that probes come across, entered later. */
#ifndef _KT_NAMES_H
#define _KT_NAMES_H

#include <linux/types.h>

#include <ktape/abi.h>

void kt_names_init(void);
void kt_names_exit(void);
bool kt_name_note(u32 type, u32 id, const char *name);

/**
 * kt_name_hash() - tells names apart
 * @name: ends in NUL, or NULL
 *
 * Only what an entry has room for counts, and a slash is what the kernel makes of
 * it in names of devices.
 *
 * Context: any.
 * Return: a number, 0 for NULL only.
 */
static __always_inline u32 kt_name_hash(const char *name)
{
	u32 hash = 1;
	unsigned int i;

	if (!name)
		return 0;
	for (i = 0; i < KTAPE_NAME_SIZE - 1 && name[i]; i++)
		hash = hash * 31 + (u8)(name[i] == '/' ? '!' : name[i]);
	return hash ?: 1;
}

#endif /* _KT_NAMES_H */

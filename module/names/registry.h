/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of named objects, one entry each. */
#ifndef _KT_REGISTRY_H
#define _KT_REGISTRY_H

#include <linux/types.h>

struct ktape_object_entry;
struct page;
struct task_struct;

int kt_registry_init(unsigned int entries);
void kt_registry_exit(void);
void kt_registry_walk(void);
void kt_registry_refresh(void);
void kt_registry_set(u32 type, u32 id, u32 param1, u32 param2,
		     const char *name);
void kt_registry_replace(u32 type, u32 id, u32 param1, u32 param2,
			 const char *name, u64 since);
void kt_registry_gone(u32 type, u32 id, u32 param1);
bool kt_registry_has(u32 type, u32 id, u32 param1);
void kt_registry_thread(struct task_struct *p, const char *name);
void kt_registry_thread_exit(pid_t tid, pid_t tgid);
u32 kt_registry_era(void);
void kt_registry_tell(unsigned int session, u32 since);
unsigned int kt_registry_entries(void);
unsigned int kt_registry_used(void);
u64 kt_registry_dropped(void);
u64 kt_registry_reused(void);
u64 kt_registry_evicted(void);
bool kt_registry_copy(unsigned int slot, struct ktape_object_entry *to);
struct page *kt_registry_page_at(unsigned long page);

#endif /* _KT_REGISTRY_H */

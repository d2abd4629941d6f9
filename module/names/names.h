/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry: a table of named objects, which grows.  Readers map it; each trace has
 * a copy.
 *
 * Each thread, interrupt, device, cgroup, function, marker and so on has an entry,
 * struct ktape_object_entry.  This folder does not decide what gets a name: probes,
 * emitters and the ioctls do.
 *
 * Load (main.c): kt_registry_init(), kt_symbol_init(), kt_names_init(), then the probes, which
 * enter what changes from then on, and kt_registry_walk(), which enters what exists.  Unload: the
 * probes, kt_names_exit(), kt_symbol_exit(), kt_registry_exit().
 *
 * Each file calls only files above it:
 *
 *   table.c	the memory: chunks that never move
 *   slot.c	which slot of the table a new entry gets
 *   registry.c	entries by key: find, change, mark as dead, record
 *   threads.c	the entries of threads
 *   symbol.c	the entries of functions, found by code addresses
 *   growth.c	load and unload; a work item that lets the table grow
 *   deferred.c	names that probes find where they cannot be entered
 */
#ifndef _KT_NAMES_H
#define _KT_NAMES_H

#include <linux/types.h>

#include <ktape/abi.h>

struct page;
struct task_struct;

/* ---- entries: registry.c --------------------------------------------------- */

void kt_registry_set(u32 type, u32 id, u32 param1, u32 param2, const char *name);
void kt_registry_replace(u32 type, u32 id, u32 param1, u32 param2,
			 const char *name, u64 since);
void kt_registry_gone(u32 type, u32 id, u32 param1);
bool kt_registry_name(u32 type, u32 id, u32 param1, char *name);

/* Return true if the object has a living entry.  As kt_registry_name(). */
static inline bool kt_registry_has(u32 type, u32 id, u32 param1)
{
	return kt_registry_name(type, id, param1, NULL);
}

u32 kt_registry_begin_era(void);
bool kt_registry_record_since(unsigned int session, u32 since, u32 *slot,
			      bool (*has_room)(void *arg), void *arg);
bool kt_registry_copy(unsigned int slot, struct ktape_object_entry *to);

/* ---- the whole table, which grows: growth.c -------------------------------- */

int kt_registry_init(unsigned int entries, unsigned int max);
void kt_registry_exit(void);
void kt_registry_walk(void);
void kt_registry_reserve(u32 entries);
void kt_registry_report_no_room(void);

/* ---- its memory: table.c --------------------------------------------------- */

unsigned int kt_registry_entries(void);
unsigned int kt_registry_max(void);
unsigned int kt_registry_limit(void);
struct page *kt_registry_page_at(unsigned long page);

/* ---- its threads: threads.c ------------------------------------------------ */

void kt_registry_refresh(void);
void kt_registry_thread(struct task_struct *p, const char *name);
void kt_registry_thread_cgroup(struct task_struct *p, u64 id, const char *name);
void kt_registry_thread_exit(pid_t tid, pid_t tgid);

/* ---- how full it is: slot.c ------------------------------------------------ */

void kt_registry_refuse(void);
void kt_registry_set_left_out(unsigned int reason, u64 count);
unsigned int kt_registry_used(void);
u64 kt_registry_no_room(unsigned int reason);
u64 kt_registry_reused(void);
u64 kt_registry_evicted(void);

/* ---- symbols of code addresses: symbol.c ----------------------------------- */

int kt_symbol_init(void);
void kt_symbols_make_room(void);
void kt_symbols_refresh(void);
void kt_symbols_free(void);
void kt_symbol_exit(void);

/* ---- names that probes find: deferred.c ------------------------------------ */

void kt_names_init(void);
void kt_names_exit(void);
bool kt_name_note(u32 type, u32 id, const char *name);

/**
 * kt_name_hash() - Hash a name as far as a registry entry has room for it
 * @name: ends in NUL, or NULL
 *
 * "/" counts as "!", which the kernel puts in its place in device names.
 *
 * Context: any.
 * Return: the hash, 0 for NULL only.
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

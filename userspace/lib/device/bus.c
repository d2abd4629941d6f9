// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The mappings of rings and registries, which the module takes away when a session has
 * ended: then an access is a bus error, a signal that would end the program.
 *
 *	reader					handler of SIGBUS
 *	load from the mapping  --- SIGBUS --->	find the mapping
 *						set @gone of its reader
 *						map zero pages in its place
 *	load again: zeros	<-------------	return
 *	load @gone: discard what was loaded
 *
 * @gone is set before the zeros are there: another thread may load them without a signal, and then
 * must find @gone set.
 *
 * A handler may interrupt anything, so it takes no lock: entries of the list are never
 * freed but used again, and @changes of an entry is odd while it changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device/ring.h"

/**
 * struct kt_mapping - a mapping, or an entry that is free
 * @next: next entry, does not change
 * @used: a reader has the entry
 * @changes: counts changes of the following members
 * @at: address of the first byte
 * @size: bytes; 0: no mapping
 * @gone: set when the mapping was taken away
 */
struct kt_mapping {
	struct kt_mapping *next;
	bool used;
	unsigned int changes;
	uintptr_t at;
	size_t size;
	bool *gone;
};

static struct kt_mapping *mappings;

/* Return an entry of the list that no reader has, or NULL. */
static struct kt_mapping *take_bus_entry(void)
{
	struct kt_mapping *m = __atomic_load_n(&mappings, __ATOMIC_ACQUIRE);

	while (m && __atomic_exchange_n(&m->used, true, __ATOMIC_ACQUIRE))
		m = m->next;
	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->used = true;
	m->next = __atomic_load_n(&mappings, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&mappings, &m->next, m, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return m;
}

/* Change what an entry says.  The handler in another thread may be reading it. */
static void set_entry(struct kt_mapping *m, uintptr_t at, size_t size, bool *gone)
{
	__atomic_store_n(&m->changes, m->changes + 1, __ATOMIC_RELAXED);
	/* Pairs with the fence of is_in(). */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&m->at, at, __ATOMIC_RELAXED);
	__atomic_store_n(&m->size, size, __ATOMIC_RELAXED);
	__atomic_store_n(&m->gone, gone, __ATOMIC_RELAXED);
	/* Pairs with the first load of is_in(). */
	__atomic_store_n(&m->changes, m->changes + 1, __ATOMIC_RELEASE);
}

/* Is the address in a mapping?  It does not change if it is: the caller is its reader. */
static bool is_in(const struct kt_mapping *m, uintptr_t address)
{
	unsigned int changes = __atomic_load_n(&m->changes, __ATOMIC_ACQUIRE);
	uintptr_t at = __atomic_load_n(&m->at, __ATOMIC_RELAXED);
	size_t size = __atomic_load_n(&m->size, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(changes & 1) && address >= at && address - at < size &&
	       __atomic_load_n(&m->changes, __ATOMIC_RELAXED) == changes;
}

/*
 * kt_map() - Map a part of the device, for reading
 * @device: the session
 * @offset: offset in the device
 * @size: bytes
 * @gone: set to true when a bus error has shown that the mapping was taken away; must
 *	exist as long as the mapping
 * @mapping: set to what kt_unmap() needs
 *
 * Return: the mapping, or NULL with errno set.
 */
void *kt_map(struct ktape_device *device, uint64_t offset, size_t size,
	     bool *gone, struct kt_mapping **mapping)
{
	struct kt_mapping *m = take_bus_entry();
	void *p;

	if (!m) {
		errno = ENOMEM;
		return NULL;
	}
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, ktape_device_fd(device),
		 (off_t)offset);
	if (p == MAP_FAILED) {
		__atomic_store_n(&m->used, false, __ATOMIC_RELEASE);
		return NULL;
	}
	set_entry(m, (uintptr_t)p, size, gone);
	*mapping = m;
	return p;
}

/* Unmap what kt_map() has mapped. */
void kt_unmap(struct kt_mapping *mapping)
{
	void *p = (void *)mapping->at;
	size_t size = mapping->size;

	set_entry(mapping, 0, 0, NULL);
	munmap(p, size);
	__atomic_store_n(&mapping->used, false, __ATOMIC_RELEASE);
}

bool ktape_device_bus_error(void *address)
{
	const struct kt_mapping *m = __atomic_load_n(&mappings, __ATOMIC_ACQUIRE);
	int saved = errno;
	void *p;

	while (m && !is_in(m, (uintptr_t)address))
		m = m->next;
	if (!m)
		return false;
	/* Set it before the zeros are mapped: a thread that loads a zero must then load it set. */
	__atomic_store_n(m->gone, true, __ATOMIC_SEQ_CST);
	p = mmap((void *)m->at, m->size, PROT_READ,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	return p != MAP_FAILED;
}

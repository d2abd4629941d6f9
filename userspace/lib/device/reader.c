// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Map the rings and the registry of a session, and copy names from the registry.
 * ring.c reads the mapped rings.
 */
#include "device/ring.h"

#define CHECKPOINT_TRIES 1000 /* to copy an entry that the kernel changes */
#define BLOCK_MIN	 4096U

/* Return a ring by its index, or NULL. */
struct kt_ring *kt_reader_ring(struct ktape_reader *reader, unsigned int ring)
{
	return ring < reader->nr_rings ? reader->rings[ring] : NULL;
}

/* Check that arithmetic with the kernel's geometry of a ring cannot overflow. */
static bool is_ring_valid(const struct ktape_layout_entry *e)
{
	return e->cpu >= 0 && (uint32_t)e->cpu < KT_CPUS_MAX &&
	       e->block_size >= BLOCK_MIN && e->block_size <= KT_PACKET_MAX &&
	       e->data_size && e->data_size % e->block_size == 0 &&
	       e->ctl_size >= sizeof(struct ktape_ring_page) &&
	       e->data_size < SIZE_MAX - e->ctl_size;
}

/*
 * Map a ring, and begin to read it.
 * Return: 0, -EPROTO if its sizes are not valid, or another negative errno.
 */
static int map_ring(struct ktape_reader *reader,
		    const struct ktape_layout_entry *e, uint32_t mode)
{
	size_t size = (reader->nr_rings + 1) * sizeof(*reader->rings);
	struct kt_ring **rings = realloc(reader->rings, size);
	const struct ktape_features *features;
	struct kt_ring *r;

	if (!rings)
		return -ENOMEM;
	reader->rings = rings;
	if (!is_ring_valid(e))
		return -EPROTO;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	features = ktape_device_features(reader->device);
	r->cpu = (uint32_t)e->cpu;
	r->kind = e->kind;
	r->block_size = e->block_size;
	r->data_size = e->data_size;
	r->offset = e->offset;
	r->held = mode == KTAPE_MODE_SNAPSHOT;
	r->pos32 = features->features & KTAPE_FEATURE_POS32;
	r->page = kt_map(reader->device, e->offset, e->ctl_size + e->data_size,
			 &reader->gone, &r->mapping);
	if (!r->page) {
		free(r);
		return -errno;
	}
	r->data = (const uint8_t *)r->page + e->ctl_size;
	kt_ring_begin(r, reader->began);
	rings[reader->nr_rings++] = r;
	return 0;
}

static bool is_mapped(const struct ktape_reader *reader,
		      const struct ktape_layout_entry *e)
{
	for (unsigned int i = 0; i < reader->nr_rings; i++) {
		const struct kt_ring *r = reader->rings[i];

		if (r->cpu == (uint32_t)e->cpu && r->kind == e->kind)
			return true;
	}
	return false;
}

/*
 * Map the registry, again if it has grown since.
 * Return: 0, also without a mapping if the address space is too small; or negative errno.
 */
static int map_ring_registry(struct ktape_reader *reader,
			     const struct ktape_layout_entry *e)
{
	struct kt_mapping *mapping;
	const void *p;

	if (e->data_size <= reader->registry_size || e->data_size > SIZE_MAX)
		return 0;
	p = kt_map(reader->device, e->offset, (size_t)e->data_size,
		   &reader->gone, &mapping);
	if (!p)
		return -errno;
	/* The registry has grown: the new mapping has the old entries, too. */
	if (reader->registry)
		kt_unmap(reader->registry_mapping);
	reader->registry = p;
	reader->registry_mapping = mapping;
	reader->registry_size = (size_t)e->data_size;
	return 0;
}

int ktape_reader_refresh(struct ktape_reader *reader)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	bool known;
	int err;

	err = ktape_device_layout(reader->device, &layout, &entries);
	if (err)
		return err;
	/* Rings never go, so as many as before are the same ones. */
	known = layout.nr == reader->nr_rings + (reader->registry != NULL);
	for (unsigned int i = 0; i < layout.nr && !err; i++) {
		const struct ktape_layout_entry *e = &entries[i];

		if (e->kind == KTAPE_RING_REGISTRY)
			err = map_ring_registry(reader, e);
		else if (!known && e->kind < KTAPE_RING_REGISTRY &&
			 !is_mapped(reader, e))
			err = map_ring(reader, e, layout.mode);
	}
	free(entries);
	if (kt_reader_is_gone(reader))
		err = -ESTALE;
	return err ? err : (int)reader->nr_rings;
}

int ktape_reader_open(struct ktape_device *device, struct ktape_reader **reader)
{
	struct ktape_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return -ENOMEM;
	r->device = device;
	ret = ktape_reader_refresh(r);
	if (ret < 0) {
		ktape_reader_close(r);
		return ret;
	}
	r->began = true;
	*reader = r;
	return 0;
}

void ktape_reader_close(struct ktape_reader *reader)
{
	if (!reader)
		return;
	for (unsigned int i = 0; i < reader->nr_rings; i++) {
		kt_unmap(reader->rings[i]->mapping);
		free(reader->rings[i]);
	}
	if (reader->registry)
		kt_unmap(reader->registry_mapping);
	free(reader->rings);
	free(reader);
}

int ktape_reader_ring(struct ktape_reader *reader, unsigned int ring,
		      struct ktape_ring_info *info)
{
	const struct kt_ring *r = kt_reader_ring(reader, ring);

	if (!r)
		return -ENOENT;
	info->cpu = r->cpu;
	info->kind = r->kind;
	info->block_size = r->block_size;
	info->data_size = r->data_size;
	info->position = r->pos;
	info->records = r->records;
	info->missed = r->missed;
	info->commit = kt_ring_commit(r);
	info->emitted = kt_ring_sum(r, r->page->emitted);
	info->filtered = kt_ring_sum(r, r->page->filtered);
	info->lost = kt_ring_page_lost(r);
	if (!kt_reader_is_gone(reader))
		return 0;
	/* The page that was read above is gone: give what was seen of it before. */
	info->commit = r->pos;
	info->emitted = r->seen_emitted;
	info->filtered = r->seen_filtered;
	info->lost = r->seen_lost;
	return -ESTALE;
}

/*
 * Copy an entry of the registry without tearing.  The kernel makes seq odd before it
 * writes the entry and even afterwards: copy again if seq was odd or has changed.
 */
static bool copy_entry(const struct ktape_object_entry *from,
		       struct ktape_object_entry *to)
{
	for (unsigned int i = 0; i < CHECKPOINT_TRIES; i++) {
		uint16_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

		*to = *(const volatile struct ktape_object_entry *)from;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(seq & 1) &&
		    __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq) {
			to->seq = seq;
			return true;
		}
	}
	return false;
}

/* Map what the registry has grown by.  Return: 0 or negative errno. */
static int refresh_registry(struct ktape_reader *reader)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	int err = ktape_device_layout(reader->device, &layout, &entries);

	for (unsigned int i = 0; !err && i < layout.nr; i++)
		if (entries[i].kind == KTAPE_RING_REGISTRY)
			err = map_ring_registry(reader, &entries[i]);
	free(entries);
	return err;
}

/*
 * Copy all entries; one that the kernel changes all the time becomes a free one.
 * Return: their number, -ESTALE if the mapping was taken away, or -ENOMEM.
 */
static int copy_entries(const struct ktape_reader *reader,
			struct ktape_object_entry **entries)
{
	size_t nr = reader->registry_size / sizeof(**entries);
	struct ktape_object_entry *to = calloc(nr + 1, sizeof(*to));

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!copy_entry(&reader->registry[i], &to[i]))
			to[i].type = KTAPE_OBJ_FREE;
	}
	if (kt_reader_is_gone(reader)) {
		free(to);
		return -ESTALE;
	}
	*entries = to;
	return (int)nr;
}

/* Do ktape_reader_checkpoint() through the session of the reader. */
static int checkpoint(struct ktape_reader *reader, struct ktape_object_entry **entries)
{
	int err = kt_reader_is_gone(reader) ? -ESTALE : refresh_registry(reader);

	return err ? err : copy_entries(reader, entries);
}

/*
 * Copy the entries through session 0, which is there as long as the module: all sessions
 * have the same registry.
 */
static int checkpoint_of_first(const struct ktape_reader *reader,
			       struct ktape_object_entry **entries)
{
	struct ktape_reader first = { .gone = false };
	int ret = ktape_device_attach(reader->device, "0", false, &first.device);

	if (ret)
		return ret;
	ret = checkpoint(&first, entries);
	if (first.registry)
		kt_unmap(first.registry_mapping);
	ktape_device_close(first.device);
	return ret;
}

int ktape_reader_checkpoint(struct ktape_reader *reader,
			    struct ktape_object_entry **entries)
{
	int ret = checkpoint(reader, entries);

	return ret == -ESTALE ? checkpoint_of_first(reader, entries) : ret;
}

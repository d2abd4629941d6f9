/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated device in memory for readers and recorders. The ktape_device_*()
 * functions here stand before those of the library. The test calls device_*()
 * for what the module would do to its rings. Every record has its own number.
 */
#ifndef _LIB_DEVICE_H
#define _LIB_DEVICE_H

#include <sys/mman.h>

#include "util/words.h"
#include "lib_trace.h"

/* Two event rings, of CPUs 0 and 1; the last ring is the control ring of CPU 0. */
#define RINGS	     3U
#define EVENT_RINGS  2U
#define BLOCKS	     16U
#define BLOCK	     8192U
#define CONTROL_PAGE 4096U
#define RING_BYTES   (CONTROL_PAGE + BLOCKS * BLOCK)
#define GENERATION   77U /* of the session's profile */

/* The library's own definition is private to userspace/lib/device/device.c. */
struct ktape_device {
	int fd;
	struct ktape_features features;
};

static struct ktape_device device = { .fd = -1 };
static unsigned char *memory;
static unsigned int emitted; /* records in the rings, without those before the test */
static bool closes = true;   /* FLUSH closes open blocks */
static unsigned int flushes; /* calls of FLUSH */
static int flush_error; /* what FLUSH returns after it has closed them, or 0 */
static void (*before_flush)(void); /* called when it begins */
static void (*after_flush)(void);  /* called at its end */
static bool running;		   /* the session runs */
static unsigned int rings_there = RINGS; /* the first ones, whose CPUs have come online */
static void (*at_layout)(void); /* called when the recorder asks for the layout */
static void (*after_layout)(void); /* called when the recorder has got the layout */
static bool taken;		   /* its rings were taken away */
static uint64_t cursors[RINGS]; /* positions of the recorder in the session */

static struct {
	uint64_t block;	  /* index of the open block, from 0 */
	uint64_t records; /* in closed blocks */
	uint64_t before;  /* of these before the test */
	uint64_t lost;
} rings[RINGS];

int ktape_device_fd(const struct ktape_device *d)
{
	return d->fd;
}

const struct ktape_features *ktape_device_features(const struct ktape_device *d)
{
	return &d->features;
}

int ktape_device_layout(struct ktape_device *d, struct ktape_layout *layout,
			struct ktape_layout_entry **entries)
{
	struct ktape_layout_entry *e = calloc(RINGS, sizeof(*e));
	unsigned int i;

	(void)d;
	if (at_layout)
		at_layout();
	memset(layout, 0, sizeof(*layout));
	layout->nr = taken ? 0 : rings_there;
	layout->running = running;
	for (i = 0; i < RINGS; i++) {
		e[i].cpu = (int)(i % EVENT_RINGS);
		e[i].kind = i < EVENT_RINGS ? KTAPE_RING_EVENT : KTAPE_RING_CONTROL;
		e[i].ctl_size = CONTROL_PAGE;
		e[i].block_size = BLOCK;
		e[i].data_size = BLOCKS * BLOCK;
		e[i].offset = i * RING_BYTES;
	}
	*entries = e;
	if (after_layout)
		after_layout();
	return 0;
}

int ktape_device_metadata(struct ktape_device *d, char **text, size_t *len)
{
	(void)d;
	return ktape_metadata_format(&trace_info, text, len);
}

/* Session 0 has the same memory, also when the rings of others were taken away. */
int ktape_device_attach(struct ktape_device *d, const char *name, bool writable,
			struct ktape_device **session)
{
	(void)name;
	(void)writable;
	*session = d;
	return 0;
}

void ktape_device_close(struct ktape_device *d)
{
	(void)d;
}

static struct ktape_ring_page *device_page(unsigned int ring)
{
	return (void *)(memory + ring * RING_BYTES);
}

static bool device_is_narrow(void)
{
	return device.features.features & KTAPE_FEATURE_POS32;
}

/*
 * Store a position or a count like a 64-bit or a 32-bit kernel. The latter has two words: the low
 * 32 bits, and those from bit 29 on. Three bits are in both, because a reader may find one of the
 * words newer than the other one (util/words.h).
 */
static void device_store(__u64 *to, uint64_t value)
{
	*to = device_is_narrow() ? value >> 29 << 32 | (uint32_t)value : value;
}

static uint64_t device_load(const __u64 *from)
{
	return kt_wide_of(*from, *from, device_is_narrow());
}

/* Check a position like the module does. */
static bool device_position_ok(const struct ktape_position *p)
{
	unsigned int ring = p->cpu + p->kind * EVENT_RINGS;
	uint64_t commit = device_load(&device_page(ring)->commit);

	if (p->position < cursors[ring] || p->position > commit)
		return false;
	return p->position % BLOCK == 0 || p->position == commit;
}

int ktape_device_position(struct ktape_device *d,
			  const struct ktape_position *positions, unsigned int nr)
{
	const struct ktape_position *p;
	unsigned int i;

	(void)d;
	if (taken)
		return -ESTALE;
	for (i = 0; i < nr; i++)
		if (!device_position_ok(&positions[i]))
			return -EINVAL;
	for (p = positions; p < positions + nr; p++)
		cursors[p->cpu + p->kind * EVENT_RINGS] = p->position;
	return 0;
}

int ktape_device_reader(struct ktape_device *d, uint32_t cpu, uint32_t kind,
			struct ktape_reader_info *info)
{
	(void)d;
	if (taken)
		return -ESTALE;
	memset(info, 0, sizeof(*info));
	info->position = cursors[cpu + kind * EVENT_RINGS];
	return 0;
}

/* Write the markers of the start, as every control ring begins: session, profile, a filter. */
static void device_control(struct ktape_builder *b, uint64_t ts)
{
	static const uint32_t generation = GENERATION, session[2] = { 1, 1 };
	static const uint32_t filter[2] = { GENERATION, 3 };
	static const uint64_t mask[KTAPE_MASK_WORDS] = { 0xabcd };
	const struct ktape_record records[] = {
		{ .ts = ts,
		  .opcode = KTAPE_EV_SESSION,
		  .nargs = 2,
		  .args = session,
		  .dat20 = KTAPE_PHASE_ON },
		{ .ts = ts,
		  .opcode = KTAPE_EV_PROFILE,
		  .nargs = 1,
		  .args = &generation,
		  .dat20 = KTAPE_PHASE_ON,
		  .blob = mask,
		  .blob_size = sizeof(mask) },
		{ .ts = ts,
		  .opcode = KTAPE_EV_FILTER,
		  .nargs = 2,
		  .args = filter,
		  .dat20 = 4 | KTAPE_PHASE_ON << 5 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(records); i++)
		if (ktape_build_add(b, &records[i]))
			abort();
}

/*
 * Build the open block anew with at most @most records, and commit it.  The first block of the
 * control ring has its markers in any case.  Return: number of records.
 */
static unsigned int device_block(unsigned int ring, unsigned int most)
{
	uint64_t block = rings[ring].block, ts = (block + 1) * 100000;
	unsigned char *data = (unsigned char *)device_page(ring) +
			      CONTROL_PAGE + block % BLOCKS * BLOCK;
	struct ktape_block head = {
		.cpu = ring % EVENT_RINGS,
		.kind = ring < EVENT_RINGS ? KTAPE_RING_EVENT : KTAPE_RING_CONTROL,
		.seq = block + 1,
		.ts_begin = ts,
		.tid = 1000 + (int)ring,
	};
	const uint64_t bits = BLOCK * 8;
	struct ktape_builder b;
	unsigned int n = 0;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, BLOCK, &head);
	if (head.kind == KTAPE_RING_CONTROL && !block) {
		device_control(&b, ts);
		n = b.records;
	}
	for (; n < most; n++) {
		const uint32_t args[2] = { ring, (uint32_t)rings[ring].records + n };
		struct ktape_record record = {
			.ts = ts + n * 7,
			.opcode = TRACE_OPCODE,
			.nargs = 2,
			.args = args,
		};

		if (ktape_build_add(&b, &record))
			break;
	}
	ktape_build_end(&b, b.ts, rings[ring].lost);
	memcpy(data + AT_PACKET_BITS, &bits, sizeof(bits));
	device_store(&device_page(ring)->commit, block * BLOCK + b.at);
	return n;
}

/* Set the counts in a ring's page: @n records are in the open block. */
static void device_count(unsigned int ring, unsigned int n)
{
	struct ktape_ring_page *page = device_page(ring);

	device_store(&page->emitted[0], rings[ring].records + n + rings[ring].lost);
	device_store(&page->lost[KTAPE_LOST_FULL][0], rings[ring].lost);
}

/* Fill the open block with at most @most records, and open the next one. */
static void device_close_block(unsigned int ring, unsigned int most)
{
	unsigned int n = device_block(ring, most);
	unsigned char *data = (unsigned char *)device_page(ring) +
			      CONTROL_PAGE + rings[ring].block % BLOCKS * BLOCK;
	uint64_t count;

	device_count(ring, n);
	count = device_load(&device_page(ring)->emitted[0]);
	memcpy(data + offsetof(struct ktape_block, emitted), &count, sizeof(count));
	count = rings[ring].lost;
	memcpy(data + offsetof(struct ktape_block, lost), &count, sizeof(count));
	rings[ring].records += n;
	rings[ring].block++;
	device_store(&device_page(ring)->commit,
		     rings[ring].block * BLOCK + KTAPE_BLOCK_HEADER);
	device_block(ring, 0);
}

/* Fill so many blocks of each ring, and the next one with @part records.  Sets @emitted. */
__attribute__((unused)) static void device_grow(unsigned int blocks, unsigned int part)
{
	unsigned int i, k;

	emitted = 0;
	for (i = 0; i < RINGS; i++) {
		for (k = 0; k < blocks; k++)
			device_close_block(i, UINT32_MAX);
		device_count(i, device_block(i, part));
		emitted += device_load(&device_page(i)->emitted[0]) -
			   rings[i].lost - rings[i].before;
	}
}

/*
 * Close each open block that has records, if @closes, between the two hooks.  Return: 0, or
 * @flush_error; -EOPNOTSUPP if nothing closes; -ENODEV if the rings were taken away.
 */
int ktape_device_flush(struct ktape_device *d)
{
	unsigned int i, k;

	(void)d;
	if (taken)
		return -ENODEV;
	flushes++;
	if (before_flush)
		before_flush();
	for (i = 0; closes && i < RINGS; i++) {
		k = (unsigned int)(device_load(&device_page(i)->emitted[0]) -
				   rings[i].records - rings[i].lost);
		if (k)
			device_close_block(i, k);
	}
	if (after_flush)
		after_flush();
	return closes ? flush_error : -EOPNOTSUPP;
}

/* Reset the rings: nothing was recorded yet.  Hooks, @closes, @running and the like stay. */
static void device_begin(void)
{
	unsigned int i;

	if (device.fd >= 0) {
		munmap(memory, RINGS * RING_BYTES);
		close(device.fd);
	}
	memcpy(device.features.uuid, trace_info.uuid, 16);
	device.features.page_size = 4096;
	taken = false;
	device.fd = memfd_create("rings", 0);
	if (device.fd < 0 || ftruncate(device.fd, RINGS * RING_BYTES))
		abort();
	memory = mmap(NULL, RINGS * RING_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED, device.fd, 0);
	if (memory == MAP_FAILED)
		abort();
	memset(rings, 0, sizeof(rings));
	memset(cursors, 0, sizeof(cursors));
	for (i = 0; i < RINGS; i++)
		device_block(i, 0);
}

/* The session has ended and its rings are taken away: an access is a bus error from now on. */
__attribute__((unused)) static void device_take(void)
{
	taken = true;
	if (ftruncate(device.fd, 0))
		abort();
}

#endif /* _LIB_DEVICE_H */

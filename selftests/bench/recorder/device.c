// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of lib/device/device.c for one ring in memory.
 *
 * The thread that fills it does what the module does for a closed block: it stores the
 * block's bytes, its counts, and then commit.  In discard mode a block is filled again
 * once the recorder has reported a position behind it.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "stream/packet.h"

#include "device.h"

#define CONTROL	   4096U
#define MODELS_MAX 4096U

/* The library's own definition is private to userspace/lib/device/device.c. */
struct ktape_device {
	int fd;
	struct ktape_features features;
};

static struct ktape_device device;
static struct ktape_ring_page *page;
static uint8_t *data;

/* Full blocks of the trace, which are put into the ring in turn. */
static struct {
	const uint8_t *bytes;
	uint64_t records;
} models[MODELS_MAX];
static unsigned int nr_models;

static pthread_t thread;
static struct timespec used;
static uint64_t wanted, reported, records;
static int event = -1, done;

/* ---- what the recorder calls ---------------------------------------------- */

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
	struct ktape_layout_entry *e = calloc(1, sizeof(*e));

	(void)d;
	if (!e)
		return -ENOMEM;
	memset(layout, 0, sizeof(*layout));
	layout->nr = 1;
	e->kind = KTAPE_RING_EVENT;
	e->ctl_size = CONTROL;
	e->block_size = BLOCK;
	e->data_size = BLOCKS * BLOCK;
	*entries = e;
	return 0;
}

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

int ktape_device_metadata(struct ktape_device *d, char **text, size_t *len)
{
	struct ktape_info info = {
		.freq = 1000000000,
		.clock = "mono",
	};

	memcpy(info.uuid, d->features.uuid, sizeof(info.uuid));
	return ktape_metadata_format(&info, text, len);
}

int ktape_device_position(struct ktape_device *d,
			  const struct ktape_position *positions, unsigned int nr)
{
	(void)d;
	if (nr)
		__atomic_store_n(&reported, positions[nr - 1].position,
				 __ATOMIC_RELEASE);
	return 0;
}

int ktape_device_reader(struct ktape_device *d, uint32_t cpu, uint32_t kind,
			struct ktape_reader_info *info)
{
	(void)d;
	(void)cpu;
	(void)kind;
	memset(info, 0, sizeof(*info));
	return 0;
}

int ktape_device_flush(struct ktape_device *d)
{
	(void)d;
	return 0;
}

/* ---- the ring ------------------------------------------------------------- */

static uint8_t *place(uint64_t block)
{
	return data + block % BLOCKS * BLOCK;
}

/* Open block @nr: its header is there, and no records. */
static void open_model_block(uint64_t nr)
{
	memcpy(place(nr), models[nr % nr_models].bytes, KTAPE_BLOCK_HEADER);
	__atomic_store_n(&page->commit, nr * BLOCK + KTAPE_BLOCK_HEADER,
			 __ATOMIC_RELEASE);
}

/* Store the records of block @nr, close it, and open the next one. */
static void fill_model_block(uint64_t nr)
{
	uint8_t *block = place(nr);

	memcpy(block, models[nr % nr_models].bytes, BLOCK);
	records += models[nr % nr_models].records;
	page->emitted[0] = records;
	KT_HEAD_SET64(block, emitted, records);
	KT_HEAD_SET64(block, filtered, 0);
	KT_HEAD_SET64(block, discarded, 0);
	memset(block + offsetof(struct ktape_block, lost), 0,
	       8 * KTAPE_LOST_REASONS);
	open_model_block(nr + 1);
}

static void wake_recorder(void)
{
	const uint64_t one = 1;

	if (write(event, &one, sizeof(one)) != sizeof(one))
		err(1, "wake");
}

static void *fill_ring(void *unused)
{
	const struct timespec pause = { .tv_nsec = 50000 };

	for (uint64_t nr = 0; nr < wanted; nr++) {
		/* The block after this one is opened, too. */
		while ((nr + 2) * BLOCK -
			       __atomic_load_n(&reported, __ATOMIC_ACQUIRE) >
		       BLOCKS * BLOCK)
			nanosleep(&pause, NULL);
		fill_model_block(nr);
		if (nr % WATERMARK == WATERMARK - 1)
			wake_recorder();
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	wake_recorder();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return unused;
}

struct ktape_device *device_get(void)
{
	return &device;
}

int device_ready(void)
{
	return event;
}

int device_done(void)
{
	return __atomic_load_n(&done, __ATOMIC_ACQUIRE);
}

uint64_t device_records(void)
{
	return records;
}

void device_start(uint64_t blocks)
{
	wanted = blocks;
	if (pthread_create(&thread, NULL, fill_ring, NULL))
		err(1, "start a thread");
}

struct timespec device_finish(void)
{
	pthread_join(thread, NULL);
	return used;
}

/* Keep the full blocks of a file. */
static void read_models(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *block = NULL;

	if (fd < 0)
		err(1, "%s", path);
	while (nr_models < MODELS_MAX) {
		if (!block)
			block = malloc(BLOCK);
		if (!block)
			err(1, "memory");
		/* Other packets are smaller, and padded to a page. */
		if (read(fd, block, CONTROL) != CONTROL)
			break;
		if (KT_HEAD64(block, packet_bits) != BLOCK * 8ULL) {
			if (lseek(fd,
				  (off_t)(KT_HEAD64(block, packet_bits) / 8) -
					  (off_t)CONTROL,
				  SEEK_CUR) < 0)
				err(1, "%s", path);
			continue;
		}
		if (read(fd, block + CONTROL, BLOCK - CONTROL) != BLOCK - CONTROL)
			break;
		models[nr_models].records = kt_records_count_by_steps(
			block, KTAPE_BLOCK_HEADER,
			KT_HEAD64(block, content_bits) / 8);
		models[nr_models++].bytes = block;
		block = NULL;
	}
	free(block);
	close(fd);
}

void device_make(char **files, int nr)
{
	const size_t size = CONTROL + BLOCKS * BLOCK;

	for (int i = 0; i < nr; i++)
		read_models(files[i]);
	if (!nr_models) {
		fputs("no full blocks in the trace\n", stderr);
		exit(1);
	}
	memcpy(device.features.uuid,
	       models[0].bytes + offsetof(struct ktape_block, uuid), 16);
	device.features.page_size = 4096;
	device.fd = memfd_create("ring", MFD_CLOEXEC);
	event = eventfd(0, EFD_CLOEXEC);
	if (device.fd < 0 || event < 0 || ftruncate(device.fd, (off_t)size))
		err(1, "ring");
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, device.fd, 0);
	if (page == MAP_FAILED)
		err(1, "map the ring");
	data = (uint8_t *)page + CONTROL;
	open_model_block(0);
}

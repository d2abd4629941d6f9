// SPDX-License-Identifier: GPL-2.0-only
/* Test the recorder on rings that overtake it: what it says of what it has missed. */
#include "lib_device.h"

#define PART	       5U /* records in the open block */
#define AS_MANY_AS_FIT UINT32_MAX

static char dir[320];

/*
 * The ring overtakes its reader, and an interrupt has closed the oldest
 * remaining blocks: a record in them was counted but not stored yet. That
 * record is not lost.
 */
static void test_lapped(void)
{
	struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_ATTACHED,
	};
	struct ktape_ring_page *page;
	struct trace_result read;
	struct ktape_recorder *r;
	struct ktape_block *head;
	uint64_t all = 0;
	unsigned int i;

	trace_remove(dir);
	device_begin();
	check(!ktape_recorder_open(&device, &how, &r), "open");
	device_grow(2, PART);
	while (ktape_recorder_step(r) > 0)
		;
	for (i = 0; i < BLOCKS + 5; i++)
		device_close_block(0, AS_MANY_AS_FIT);
	page = device_page(0);
	page->tail = (rings[0].block - BLOCKS + 1) * BLOCK;
	for (i = 0; i < 3; i++) {
		head = (void *)((char *)page + CONTROL_PAGE +
				(page->tail + i * BLOCK) % (BLOCKS * BLOCK));
		head->emitted++;
	}
	check(!ktape_recorder_finish(r), "finish");
	ktape_recorder_close(r);
	trace_read(dir, 0, &read);
	for (i = 0; i < RINGS; i++)
		all += device_page(i)->emitted[0];
	check(read.lost && !read.corrupt, "%llu lost",
	      (unsigned long long)read.lost);
	check_equal(read.events + read.lost, all);
}

/* The ring overtakes the recorder between the end that it has set and its first read. */
static void lap_at_the_end(void)
{
	static unsigned int asked;

	/* The recorder asks to look for new CPUs, and before and after it has set the end. */
	if (++asked < 3)
		return;
	at_layout = NULL;
	for (unsigned int i = 0; i < BLOCKS + 2; i++)
		device_close_block(1, AS_MANY_AS_FIT);
	device_page(1)->tail = (rings[1].block - BLOCKS + 1) * BLOCK;
}

/*
 * Nothing is left of what a ring had when the snapshot was taken: the trace says so, with
 * the number of records.
 */
static void test_nothing_left(void)
{
	struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_ATTACHED,
	};
	struct ktape_recorder_stats stats;
	struct trace_result read;
	struct ktape_recorder *r;
	uint64_t gone;

	trace_remove(dir);
	device_begin();
	running = true;
	check(!ktape_recorder_open(&device, &how, &r), "open");
	device_grow(2, PART);
	gone = rings[1].records + PART;
	at_layout = lap_at_the_end;
	check(!ktape_recorder_finish(r), "finish");
	check(!at_layout, "the ring did not overtake the recorder");
	ktape_recorder_stats(r, &stats);
	ktape_recorder_close(r);
	running = false;
	trace_read(dir, 0, &read);
	check_equal(stats.missed, gone);
	check_equal(read.lost, gone);
	check_equal(read.events + gone, emitted);
	check(!read.corrupt, "the trace is damaged");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a reader is lapped where an interrupt closed a block",
		  test_lapped },
		{ "a snapshot of a ring that is overwritten meanwhile",
		  test_nothing_left },
	};
	const char *folder = trace_folder();
	int status;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return status;
}

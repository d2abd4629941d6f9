// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damage the memory of a persistent session: what the ring did not write is
 * reported once and not delivered; everything else is delivered.
 */
#include <stddef.h>

#include "kt_load.h"
#include "kt_persist.h"

FIXTURE(damage)
{
	int fd;
};

FIXTURE_SETUP(damage)
{
	ASSERT_EQ(0, load_ktape(REGION " persist_drop=1"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(damage)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_EQ(0, unload_ktape());
}

/* Load again: the new trace is in the second half. */
static void reload_damaged(struct __test_metadata *_metadata,
			   FIXTURE_DATA(damage) * self)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_EQ(0, unload_ktape());
	EXPECT_EQ(0, load_ktape(REGION));
	self->fd = kt_open(O_RDWR);
	EXPECT_LE(0, self->fd);
}

/*
 * Find where a ring is within its half. Only the first load's half can be read; the
 * rings of the second one have the same offsets.
 */
static int find_ring_slot(int fd, uint32_t cpu, uint32_t kind,
			  struct ktape_persist_ring *to)
{
	struct ktape_persist super;

	if (read_old(fd, 0, &super, sizeof(super)) != sizeof(super))
		return -1;
	for (uint32_t i = 0; i < super.nr_rings; i++) {
		if (read_old(fd, super.rings + i * sizeof(*to), to, sizeof(*to)) !=
		    sizeof(*to))
			return -1;
		if (to->cpu == cpu && to->kind == kind)
			return 0;
	}
	return -1;
}

/* Overwrite memory in the second half. Return: 0 or -errno. */
static int poke_region(uint64_t offset, uint64_t length, unsigned int value)
{
	char parameters[96];
	int ret;

	snprintf(parameters, sizeof(parameters), "address=%llu length=%llu value=%u",
		 (unsigned long long)REGION_AT + HALF + offset,
		 (unsigned long long)length, value);
	ret = kt_insmod("/tests/kt_poke.ko", parameters);
	return ret ? ret : kt_rmmod("kt_poke");
}

#define READ_MAX (16 * M) /* larger than any trace of these tests */

/*
 * Read to the end, with a buffer size at which the end of one packet and a
 * damaged block can meet. @errors: number of EIO. Return: bytes or -errno;
 * -EFBIG: no end.
 */
static ssize_t read_to_end(int fd, unsigned int *errors)
{
	static char buf[256 * 1024];
	ssize_t n, all = 0;

	*errors = 0;
	do {
		n = read(fd, buf, sizeof(buf));
		*errors += n < 0 && errno == EIO;
		all += n > 0 ? n : 0;
		if (all > (ssize_t)READ_MAX || *errors > READ_MAX / PAGE)
			return -EFBIG;
	} while (n > 0 || (n < 0 && errno == EIO));
	return n < 0 ? -errno : all;
}

/**
 * struct damage - bytes to be overwritten in the memory of a ring
 * @what: description
 * @value: the new byte
 * @length: number of bytes, 0 = the whole of each block
 * @page: offset in the control page; only if @block is 0
 * @block: offset in each block, not 0 = there
 * @once: it must be reported as one damage
 */
struct damage {
	const char *what;
	unsigned int value;
	size_t length;
	size_t page;
	size_t block;
	bool once;
};

/* Overwrite that memory of a ring in the second half. Return: 0 or -errno. */
static int damage_ring(const struct ktape_persist_ring *ring, const struct damage *d)
{
	int ret = 0;

	if (!d->length)
		return poke_region(ring->blocks,
				   (uint64_t)ring->nr_blocks * ring->block_size,
				   d->value);
	if (!d->block)
		return poke_region(ring->page + d->page, d->length, d->value);
	for (uint32_t i = 0; !ret && i < ring->nr_blocks; i++)
		ret = poke_region(ring->blocks + (uint64_t)i * ring->block_size +
					  d->block,
				  d->length, d->value);
	return ret;
}

#define IN_PAGE(m)                                                            \
	.page = offsetof(struct ktape_ring_page, m), .length = sizeof(__u64), \
	.once = true
#define IN_BLOCK(m)                               \
	.block = offsetof(struct ktape_block, m), \
	.length = sizeof(((struct ktape_block *)0)->m)

/*
 * Damaged blocks are reported with EIO, each once, and the contents of the
 * other rings are delivered all the same.
 */
TEST_F_TIMEOUT(damage, all_rings, 300)
{
	const struct damage damages[] = {
		{ "no record ends", 0xff },
		{ "blocks have no content", 0 },
		{ "the tail is above all", 0x3f, IN_PAGE(tail) },
		{ "commit is far away", 0x3f, IN_PAGE(commit) },
		{ "commit is before the tail", 0, IN_PAGE(commit) },
		{ "blocks are others", 0x3f, IN_BLOCK(seq) },
		{ "blocks are of another CPU", 1, IN_BLOCK(cpu) },
		{ "blocks are of another kind", 1, IN_BLOCK(kind) },
	};
	struct ktape_persist_ring ring;
	struct ktape_stats st;
	unsigned int errors;
	ssize_t whole, n;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		/* The previous load's trace is in the first half. */
		if (self->fd >= 0)
			close(self->fd);
		self->fd = -1;
		ASSERT_EQ(0, unload_ktape());
		ASSERT_EQ(0, load_ktape(REGION " persist_drop=1"));
		reload_damaged(_metadata, self);
		ASSERT_EQ(0, find_ring_slot(self->fd, 0, KTAPE_RING_EVENT, &ring));
		ASSERT_EQ(0, kt_pin(0));
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
					    KTAPE_EV_SYS_ENTER,
					    KTAPE_EV_SYS_EXIT, 0));
		/* Wait until each block has been used. */
		kt_getppids((uint64_t)ring.nr_blocks * ring.block_size / 16);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
		whole = read_to_end(self->fd, &errors);
		EXPECT_EQ(0, errors);
		ASSERT_LT(0, whole);
		n = damage_ring(&ring, &damages[i]);
		ASSERT_EQ(0, n);
		ASSERT_EQ(0, lseek(self->fd, 0, SEEK_SET));
		n = read_to_end(self->fd, &errors);
		printf("# %s: %zd of %zd bytes, %u errors\n", damages[i].what,
		       n, whole, errors);
		EXPECT_LT(0, errors);
		EXPECT_TRUE(errors == 1 || !damages[i].once);
		EXPECT_GE(st.commit / ring.block_size + 1, errors);
		EXPECT_LT(0, n);
		EXPECT_GT(whole, n);
		/* At the end read() returns 0, also when repeated. */
		EXPECT_EQ(0, read_to_end(self->fd, &errors));
		EXPECT_EQ(0, errors);
	}
}

/*
 * Load so that the trace in the second half has only system calls. @ring: the event ring of CPU 0,
 * where this thread makes its calls.
 */
static void load_with_few_events(struct __test_metadata *_metadata,
				 FIXTURE_DATA(damage) * self,
				 struct ktape_persist_ring *ring)
{
	if (self->fd >= 0)
		close(self->fd);
	self->fd = -1;
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " persist_drop=1"));
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " profile=none"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, find_ring_slot(self->fd, 0, KTAPE_RING_EVENT, ring));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	kt_nonblock(self->fd, true);
}

/* Read what is there now, and add its size to *@bytes. Return: number of EIO. */
static unsigned int read_what_is_there(int fd, size_t *bytes)
{
	static char buf[256 * 1024];
	unsigned int errors = 0;
	ssize_t n;

	/* Each read() is an event in the ring, too, so there is no end. */
	for (int i = 0; i < 8; i++) {
		n = read(fd, buf, sizeof(buf));
		errors += n < 0 && errno == EIO;
		*bytes += n > 0 ? n : 0;
	}
	return errors;
}

/* A damaged block that is read in parts while it is filled is reported once. */
TEST_F_TIMEOUT(damage, block_being_filled, 300)
{
	struct ktape_persist_ring ring;
	unsigned int errors = 0;
	struct ktape_stats st;
	size_t bytes = 0;

	load_with_few_events(_metadata, self, &ring);
	kt_getppids(20);
	EXPECT_EQ(0, read_what_is_there(self->fd, &bytes));
	EXPECT_LT(0, bytes);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	ASSERT_GT(ring.block_size, st.commit);
	ASSERT_EQ(0, poke_region(ring.blocks + KTAPE_BLOCK_HEADER, 64, 0xff));
	for (int i = 0; i < 10; i++) {
		kt_getppids(5);
		errors += read_what_is_there(self->fd, &bytes);
	}
	EXPECT_EQ(1, errors);
	/* Later blocks are delivered. */
	kt_getppids(ring.block_size / 8);
	bytes = 0;
	EXPECT_EQ(0, read_what_is_there(self->fd, &bytes));
	EXPECT_LT(0, bytes);
}

/*
 * The rest of a block that was read in part is not delivered if records no longer end
 * where the read part did.
 */
TEST_F_TIMEOUT(damage, before_a_part, 300)
{
	const uint64_t first = KTAPE_BLOCK_HEADER;
	struct ktape_persist_ring ring;
	unsigned int errors;
	struct ktape_stats st;
	size_t bytes = 0;
	uint32_t size;

	load_with_few_events(_metadata, self, &ring);
	kt_getppids(20);
	EXPECT_EQ(0, read_what_is_there(self->fd, &bytes));
	EXPECT_LT(0, bytes);
	kt_getppids(20);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	ASSERT_GT(ring.block_size, st.commit);
	/*
	 * Damage the first record: with 0x10 in each byte of its code word (offset 4) it has no
	 * arguments and a blob, whose length (offset 8) makes it end with the data.
	 */
	size = st.commit - first - 12;
	ASSERT_EQ(0, poke_region(ring.blocks + first + 4, 4, 0x10));
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, poke_region(ring.blocks + first + 8 + i, 1,
					 size >> 8 * i & 0xff));
	EXPECT_LT(0, read_to_end(self->fd, &errors));
	EXPECT_EQ(1, errors);
}

TEST_HARNESS_MAIN

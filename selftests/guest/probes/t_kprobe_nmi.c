// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hit a probe in NMIs and in a task, by a breakpoint and by a jump: a block
 * that the probe opens must name the context in which the function ran.
 */
#include "kselftest_harness.h"

#include "kt_probe.h"

#define LOAD_CPU 0
#define SLOT	 KTAPE_OP_PROBE
#define BLOCK	 4096
#define HITS	 2000
#define HEADS \
	(HITS / 300) /* minimum: a record has 16 bytes, a block fewer than 300 */
#define TARGET	     "kt_nmi_target"
#define PARAM	     "/sys/module/kt_nmi/parameters/"
#define OPTIMIZATION "/proc/sys/debug/kprobes-optimization"

FIXTURE(nmi)
{
	int main, fd;
	struct kt_map m;
	char optimization[4]; /* before the test; empty = no such file */
	bool missing;	      /* this architecture has no such module */
};

FIXTURE_VARIANT(nmi)
{
	const char *cause; /* module parameter that calls the function */
	bool jump;
	uint32_t context;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(nmi, jump_in_nmi)
{
	PARAM "nmis", true, KTAPE_CTX_NMI
};
FIXTURE_VARIANT_ADD(nmi, jump_in_task)
{
	PARAM "calls", true, KTAPE_CTX_TASK
};
FIXTURE_VARIANT_ADD(nmi, breakpoint_in_nmi)
{
	PARAM "nmis", false, KTAPE_CTX_NMI
};
FIXTURE_VARIANT_ADD(nmi, breakpoint_in_task)
{
	PARAM "calls", false, KTAPE_CTX_TASK
};
/* clang-format on */

FIXTURE_SETUP(nmi)
{
	FILE *f = fopen(OPTIMIZATION, "r");

	if (f) {
		ASSERT_NE(NULL, fgets(self->optimization,
				      sizeof(self->optimization), f));
		fclose(f);
	}
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 1 << 20, BLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &self->m));
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
	self->missing = access("/tests/kt_nmi.ko", R_OK);
	if (!self->missing)
		ASSERT_EQ(0, kt_insmod("/tests/kt_nmi.ko", ""));
}

FIXTURE_TEARDOWN(nmi)
{
	kt_unmap_ring(&self->m);
	close(self->fd);
	kt_probe_remove(self->main, SLOT);
	/*
	 * The kernel takes its jumps back later, unless this is switched off, which
	 * waits.  7.3 refuses a probe, with a warning, at an address where the jump of
	 * an earlier probe remains after its module was unloaded.
	 */
	if (self->optimization[0]) {
		kt_write_text(OPTIMIZATION, "1");
		kt_write_text(OPTIMIZATION, "0");
	}
	if (!self->missing)
		EXPECT_EQ(0, kt_rmmod("kt_nmi"));
	if (self->optimization[0])
		kt_write_text(OPTIMIZATION, self->optimization);
	close(self->main);
}

/* Return true if the kernel has patched @what in at the probe: "jump" or "breakpoint". */
static bool probe_begins_with(const char *what)
{
	FILE *f = fopen(PARAM "begin", "r");
	char text[32] = "";

	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return !strncmp(text, what, strlen(what));
}

/* The kernel replaces the breakpoint by a jump some ticks later. */
static bool wait_for_jump(void)
{
	for (int i = 0; i < 200 * kt_scale() && !probe_begins_with("jump"); i++)
		usleep(10000);
	return probe_begins_with("jump");
}

static void count_slot_records(const struct kt_rec *r, void *arg)
{
	*(long *)arg += r->op == SLOT;
}

/*
 * Count the blocks that the probe has opened: n[0] with the right context in their heads,
 * n[1] with another one.
 */
static void count_heads(const struct kt_map *m, uint32_t context, int *n)
{
	for (uint64_t at = 0; at + BLOCK <= m->page->commit; at += BLOCK) {
		const char *block = m->data + at;
		const struct ktape_block *b = (const void *)block;
		uint32_t code;

		/* Of the first record: its code word, behind the word of its time. */
		memcpy(&code, block + KTAPE_BLOCK_HEADER + 4, sizeof(code));
		if ((uint8_t)code == SLOT)
			n[b->context != context]++;
	}
}

TEST_F_TIMEOUT(nmi, context, 120)
{
	int heads[2] = {};
	char text[16];
	long n = 0;

	if (self->missing)
		SKIP(return, "no NMIs to be sent on this architecture");
	if (variant->jump && !self->optimization[0])
		SKIP(return, "the kernel has no optimised probes");
	kt_write_text(OPTIMIZATION, variant->jump ? "1" : "0");
	ASSERT_EQ(SLOT, kt_probe_add(self->main, TARGET, 0, 0));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	if (variant->jump)
		ASSERT_TRUE(wait_for_jump());
	EXPECT_TRUE(probe_begins_with(variant->jump ? "jump" : "breakpoint"));
	snprintf(text, sizeof(text), "%d", HITS);
	ASSERT_EQ(0, kt_write_text(variant->cause, text));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	EXPECT_LE(0, kt_walk(&self->m, count_slot_records, &n));
	EXPECT_EQ(HITS, n);
	count_heads(&self->m, variant->context, heads);
	EXPECT_LT(HEADS, heads[0]);
	EXPECT_EQ(0, heads[1]);
}

TEST_HARNESS_MAIN

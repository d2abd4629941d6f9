// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test names of interrupts that are requested, freed and requested again:
 * without a name, with several handlers, with a large number. The registry must have the
 * name of the present handler, and the name must be noted at most once a tick.
 */
#include "kselftest_harness.h"

#include "kt_events.h"
#include "kt_fire.h"
#include "now.h"

#define PARAM "/sys/module/kt_irq/parameters/"
#define FIRES 1000
#define PAIRS 20000
#define FAR   5000 /* larger than any interrupt number of the guest */

static int add_interrupt(const char *name)
{
	return kt_write_text(PARAM "add", name);
}

static int free_all(void)
{
	return kt_write_text(PARAM "free", "1");
}

FIXTURE(names)
{
	struct kt_hits h;
	uint32_t irq;
	int fd;
	bool missing;
};

FIXTURE_VARIANT(names)
{
	const char *parameters;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(names, near) { "" };
FIXTURE_VARIANT_ADD(names, far) { "at=5000" };
/* clang-format on */

FIXTURE_SETUP(names)
{
	FILE *f;

	self->fd = -1;
	self->missing = access("/tests/kt_irq.ko", R_OK);
	if (self->missing)
		return;
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_insmod("/tests/kt_irq.ko", variant->parameters));
	f = fopen(PARAM "irq", "r");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(1, fscanf(f, "%u", &self->irq));
	fclose(f);
	if (variant->parameters[0])
		ASSERT_EQ(FAR, self->irq);
	self->fd = kt_start_recording(KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY));
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(names)
{
	kt_hits_free(&self->h);
	close(self->fd);
	if (self->missing)
		return;
	/* A registered handler keeps the module loaded. */
	EXPECT_EQ(0, free_all());
	EXPECT_EQ(0, kt_rmmod("kt_irq"));
}

static int fire(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return kt_write_text(PARAM "fire", text);
}

/* Fire the interrupt until the registry has that name for it, or none if NULL. */
static bool is_interrupt_named(uint32_t irq, const char *name)
{
	char now[KTAPE_NAME_SIZE];
	bool known;

	for (int i = 0; i < 100 * kt_scale(); i++) {
		if (fire(1))
			return false;
		usleep(20000);
		known = kt_object_known(KTAPE_OBJ_IRQ, irq, now);
		if (name ? known && !strcmp(now, name) : !known)
			return true;
	}
	return false;
}

/* Requested again without a name, the interrupt must lose its old name. */
TEST_F_TIMEOUT(names, requested_without_a_name, 60)
{
	if (self->missing)
		SKIP(return, "kt_irq cannot be built for this kernel");
	ASSERT_EQ(0, add_interrupt("kt-first"));
	EXPECT_TRUE(is_interrupt_named(self->irq, "kt-first"));
	ASSERT_EQ(0, free_all());
	ASSERT_EQ(0, add_interrupt("-"));
	EXPECT_TRUE(is_interrupt_named(self->irq, NULL));
	ASSERT_EQ(0, free_all());
	ASSERT_EQ(0, add_interrupt("kt-next"));
	EXPECT_TRUE(is_interrupt_named(self->irq, "kt-next"));
}

/* The first handler with a name gives the name; each handler is an event. */
TEST_F_TIMEOUT(names, shared, 60)
{
	uint64_t nr = 0;

	if (self->missing)
		SKIP(return, "kt_irq cannot be built for this kernel");
	ASSERT_EQ(0, add_interrupt("-"));
	ASSERT_EQ(0, add_interrupt("kt-a"));
	ASSERT_EQ(0, add_interrupt("kt-b"));
	EXPECT_TRUE(is_interrupt_named(self->irq, "kt-a"));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	ASSERT_EQ(0, fire(FIRES));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, self->fd));
	for (int i = 0; i < self->h.nr; i++)
		nr += self->h.hit[i].dat20 == self->irq;
	EXPECT_EQ(3 * FIRES, nr);
	EXPECT_TRUE(kt_object_known(KTAPE_OBJ_IRQ, self->irq,
				    (char[KTAPE_NAME_SIZE]){}));
}

/* Return how often ktape has noted a name for an interrupt; -1: it cannot be counted. */
static long notes(void)
{
	FILE *f = fopen(PARAM "notes", "r");
	long n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

FIXTURE(pair)
{
	int fd;
	bool missing;
};

FIXTURE_SETUP(pair)
{
	self->fd = -1;
	self->missing = access("/tests/kt_irq.ko", R_OK);
	if (self->missing)
		return;
	ASSERT_EQ(0, kt_pin(0));
	/* IRQ_CHECKS of module/probes/irq.c, the size of the table, divides their difference. */
	ASSERT_EQ(0, kt_insmod("/tests/kt_irq.ko", "at=3000 other=7096 alone=1"));
	self->fd = kt_start_recording(KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY));
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(pair)
{
	close(self->fd);
	if (self->missing)
		return;
	EXPECT_EQ(0, free_all());
	EXPECT_EQ(0, kt_rmmod("kt_irq"));
}

/*
 * Two interrupts whose numbers share a slot in the module's table of recently checked
 * interrupts fire in turns. The slot belongs to the first of them in each tick, so of both
 * together a name is noted at most once per tick.
 */
TEST_F_TIMEOUT(pair, same_slot_in_the_table, 120)
{
	long before, begun, took;

	if (self->missing)
		SKIP(return, "kt_irq cannot be built for this kernel");
	before = notes();
	if (before < 0)
		SKIP(return, "the kernel has no probes to count with");
	ASSERT_EQ(0, add_interrupt("kt-one"));
	begun = (long)(now_ns() / 1000000);
	ASSERT_EQ(0, fire(PAIRS));
	/* Two more for the ticks that began before and end after. */
	took = (long)(now_ns() / 1000000) - begun + 2;
	before = notes() - before;
	EXPECT_LT(0, before);
	/* A tick is at least 1 ms. */
	EXPECT_LE(before, took);
}

TEST_HARNESS_MAIN

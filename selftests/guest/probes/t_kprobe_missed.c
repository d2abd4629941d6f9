// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the records of hits that the kernel missed. The control ring of each CPU has the
 * same records: the exact number of missed hits on all CPUs together, in intervals without
 * a gap from the start to the stop.
 *
 * The helper ktape_miss calls the probed function, ktape_inner(), as often as is written to a
 * parameter: "alone" makes hits; "nested" calls it in the handler of another probe, where the
 * kernel runs no handler but counts the hit as missed.
 */
#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_load.h"
#include "kt_probe.h"

#define PARAM	 "/sys/module/ktape_miss/parameters/"
#define CPUS_MAX 16
#define LOOKS	 8

/**
 * struct look - a record of missed hits, which covers an interval
 * @reason: enum ktape_missed
 * @first: begin of the interval
 * @last: its end, when the kernel's counts had been read
 * @count: hits that were missed in it
 * @reading: ticks that reading the counts took, up to @last
 */
struct look {
	uint32_t reason;
	uint64_t first, last, count, reading;
};

/**
 * struct seen - the records of missed hits in a stream
 * @opcode: the probe
 * @look: its records, by CPU
 * @nr: number of these, by CPU
 * @others: records of another probe, in another ring, or too many
 */
struct seen {
	uint32_t opcode;
	struct look look[CPUS_MAX][LOOKS];
	int nr[CPUS_MAX], others;
};

static void take_missed_record(const struct ktape_block *b,
			       const struct kt_rec *r, void *arg)
{
	struct seen *s = arg;
	struct look *l;

	if (r->op != KTAPE_EV_MISSED)
		return;
	if ((r->dat20 & 0xff) != s->opcode || b->cpu >= CPUS_MAX ||
	    s->nr[b->cpu] == LOOKS || b->kind != KTAPE_RING_CONTROL) {
		s->others++;
		return;
	}
	l = &s->look[b->cpu][s->nr[b->cpu]++];
	l->reason = r->dat20 >> 8;
	l->first = kt_two_words(r->args);
	l->last = kt_two_words(r->args + 2);
	l->count = kt_two_words(r->args + 4);
	l->reading = r->args[6];
}

static int call_by_parameter(const char *name, int n)
{
	char path[80], text[16];

	snprintf(path, sizeof(path), PARAM "%s", name);
	snprintf(text, sizeof(text), "%d", n);
	return kt_write_text(path, text);
}

FIXTURE(missed)
{
	int fd, dev, probe;
	struct kt_ledger *l;
	struct kt_buf b;
	struct seen seen;
};

FIXTURE_SETUP(missed)
{
	self->fd = -1;
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	ASSERT_EQ(0, kt_insmod("/tests/ktape_miss.ko", ""));
	self->probe = kt_probe_add(self->dev, "ktape_inner", 0, 0);
	ASSERT_LE(KTAPE_OP_PROBE, self->probe);
	self->l = kt_ledger_new();
	self->l->next = take_missed_record;
	self->l->arg = &self->seen;
	self->seen.opcode = self->probe;
}

FIXTURE_TEARDOWN(missed)
{
	if (self->fd >= 0)
		close(self->fd);
	if (self->probe >= KTAPE_OP_PROBE)
		kt_probe_remove(self->dev, self->probe);
	kt_rmmod("ktape_miss");
	close(self->dev);
	kt_buf_free(&self->b);
	free(self->l);
}

/* Each CPU must have @nr records, with the counts of all CPUs together and the same times. */
static void check_looks(struct __test_metadata *_metadata,
			FIXTURE_DATA(missed) * self, const uint64_t *counts, int nr)
{
	EXPECT_EQ(0, self->seen.others);
	for (int cpu = 0; cpu < kt_online_cpus() && cpu < CPUS_MAX; cpu++) {
		ASSERT_EQ(nr, self->seen.nr[cpu]);
		for (int i = 0; i < nr; i++) {
			const struct look *l = &self->seen.look[cpu][i];

			EXPECT_EQ(KTAPE_MISSED_BUSY, l->reason);
			EXPECT_EQ(counts[i], l->count);
			EXPECT_LT(l->first, l->last);
			EXPECT_LE(l->first, l->last - l->reading);
			/* The next interval begins where reading began. */
			if (i)
				EXPECT_EQ(l[-1].last - l[-1].reading, l->first);
			EXPECT_EQ(self->seen.look[0][i].first, l->first);
			EXPECT_EQ(self->seen.look[0][i].last, l->last);
		}
	}
}

/* At each of two flushes, at a change of the profile, and at the stop. */
TEST_F_TIMEOUT(missed, moments, 300)
{
	static const uint64_t counts[] = { 5, 0, 3, 11 };
	struct ktape_probe p;

	ASSERT_EQ(0, call_by_parameter("nested", 100));
	self->fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 16384,
			      KT_OPS(self->probe));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, call_by_parameter("nested", 5));
	ASSERT_EQ(0, call_by_parameter("alone", 7));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_FLUSH));
	ASSERT_EQ(0, call_by_parameter("alone", 2));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_FLUSH));
	ASSERT_EQ(0, call_by_parameter("nested", 3));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR, KTAPE_EV_TEXT, 0, 0));
	ASSERT_EQ(0, call_by_parameter("nested", 11));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, call_by_parameter("nested", 200));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	check_looks(_metadata, self, counts, 4);
	/* What was missed is in no count of the ledger. */
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, kt_online_cpus()));
	EXPECT_STREQ("", self->l->t.error);
	for (int cpu = 0, n = 0; cpu < kt_online_cpus(); cpu++) {
		n += self->l->t.stream[cpu][KTAPE_RING_EVENT].class[KTAPE_CLASS_KPROBE];
		if (cpu == kt_online_cpus() - 1)
			EXPECT_EQ(9, n);
	}
	p = kt_probe_get(self->dev, self->probe);
	EXPECT_EQ(9, p.hits);
	/*
	 * 5 + 3 + 11 were missed while a session wanted the probe; the 100 before and the
	 * 200 after may be counted, too.
	 */
	EXPECT_GE(319, p.missed);
	EXPECT_LE(19, p.missed);
}

/* When a CPU goes, when it comes, and at the stop. */
TEST_F_TIMEOUT(missed, hotplug, 300)
{
	static const uint64_t counts[] = { 4, 6, 1 };
	int away = kt_online_cpus() - 1;

	if (!away || kt_set_online(away, true))
		SKIP(return, "no CPU can be turned off");
	self->fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 16384,
			      KT_OPS(self->probe));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, call_by_parameter("nested", 4));
	ASSERT_EQ(0, kt_set_online(away, false));
	ASSERT_EQ(0, call_by_parameter("nested", 6));
	ASSERT_EQ(0, kt_set_online(away, true));
	ASSERT_EQ(0, call_by_parameter("nested", 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	check_looks(_metadata, self, counts, 3);
}

/* A session that has no probe in its profile has no such record. */
TEST_F_TIMEOUT(missed, only_if_wanted, 300)
{
	ASSERT_EQ(0, call_by_parameter("nested", 4));
	self->fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 16384,
			      KT_OPS(KTAPE_EV_TEXT));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_FLUSH));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	check_looks(_metadata, self, NULL, 0);
}

/*
 * A slot is used again for a new probe: its counts, in the probe's information and in records,
 * must not contain what the old probe missed.
 */
TEST_F_TIMEOUT(missed, slot_used_again, 300)
{
	static const uint64_t counts[] = { 6 };
	int fd;

	/* The kernel counts all missed hits only while a session has the probe attached. */
	fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 16384, KT_OPS(self->probe));
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, call_by_parameter("nested", 9));
	EXPECT_EQ(9, kt_probe_get(self->dev, self->probe).missed);
	close(fd);
	ASSERT_EQ(0, kt_probe_remove(self->dev, self->probe));
	ASSERT_EQ(self->probe, kt_probe_add(self->dev, "ktape_inner", 0, 0));
	EXPECT_EQ(0, kt_probe_get(self->dev, self->probe).missed);
	self->fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 16384,
			      KT_OPS(self->probe));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, call_by_parameter("nested", 6));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(6, kt_probe_get(self->dev, self->probe).missed);
	check_looks(_metadata, self, counts, 1);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why events were lost, as the counts of packet headers tell it: by the ring's reasons, or
 * because they were overwritten before they were read; and where the counts do not tell.
 */
#include "lib_trace.h"

#define ROOM 8U
#define NONE 0xffU /* no loss */

/* Counts in the header of a packet, and what has to be reported of the loss before it. */
struct step {
	uint64_t emitted;
	uint64_t full;
	uint64_t shed;
	uint64_t discarded;
	unsigned int reasons;
	uint64_t count;
};

struct reported {
	unsigned int nr;
	struct ktape_notice notices[ROOM];
};

static void keep_loss_notice(void *arg, const struct ktape_notice *n)
{
	struct reported *t = arg;

	if (n->kind == KTAPE_NOTICE_LOST && t->nr < ROOM)
		t->notices[t->nr++] = *n;
}

static void put_head_count(unsigned char *head, size_t at, uint64_t value)
{
	memcpy(head + at, &value, sizeof(value));
}

static void write_steps(const char *dir, const struct step *steps, unsigned int nr)
{
	unsigned char data[TRACE_PACKET];

	for (unsigned int i = 0; i < nr; i++) {
		const struct trace_packet p = {
			.seq = i + 1,
			.ts = 1000 + i * 100,
			.discarded = steps[i].discarded,
		};

		trace_packet(data, &p);
		put_head_count(data, offsetof(struct ktape_block, emitted),
			       steps[i].emitted);
		put_head_count(data,
			       offsetof(struct ktape_block, lost[KTAPE_LOST_FULL]),
			       steps[i].full);
		put_head_count(data,
			       offsetof(struct ktape_block, lost[KTAPE_LOST_SHED]),
			       steps[i].shed);
		trace_fill(data, TRACE_PACKET);
		trace_append(dir, "cpu0", data, sizeof(data));
	}
}

static void check_steps(const struct step *steps, unsigned int nr)
{
	char dir[] = "/tmp/ktape-reasons.XXXXXX";
	struct reported reported = { .nr = 0 };
	const struct ktape_trace_options how = { .notice = keep_loss_notice,
						 .arg = &reported };
	const struct ktape_event *e;
	struct ktape_trace *trace;
	unsigned int at = 0;

	check(mkdtemp(dir), "a folder");
	trace_metadata(dir);
	write_steps(dir, steps, nr);
	check_equal(ktape_trace_open(dir, &how, &trace, NULL), 0);
	while (ktape_trace_next(trace, &e) > 0)
		;
	ktape_trace_close(trace);
	for (unsigned int i = 0; i < nr; i++) {
		if (steps[i].reasons == NONE)
			continue;
		check_equal(reported.notices[at].reasons, steps[i].reasons);
		check_equal(reported.notices[at++].count, steps[i].count);
	}
	check_equal(reported.nr, at);
	trace_remove(dir);
}

#define FULL (1U << KTAPE_LOST_FULL)
#define SHED (1U << KTAPE_LOST_SHED)

static void reasons_of_the_ring(void)
{
	static const struct step steps[] = {
		{ 100, 0, 0, 0, NONE, 0 },
		{ 200, 3, 0, 3, FULL, 3 },
		{ 300, 3, 0, 3, NONE, 0 },
		{ 400, 5, 7, 12, FULL | SHED, 9 },
	};

	check_steps(steps, ARRAY_SIZE(steps));
}

static void overwritten_unread(void)
{
	static const struct step steps[] = {
		{ 100, 0, 0, 0, NONE, 0 },
		{ 200, 0, 0, 50, KTAPE_NOTICE_UNREAD, 50 },
		{ 300, 0, 4, 60, KTAPE_NOTICE_UNREAD | SHED, 10 },
		{ 400, 2, 4, 62, FULL, 2 },
	};

	check_steps(steps, ARRAY_SIZE(steps));
}

/* The first packet is empty of counts; 500 events were shed before the reader attached. */
static void lost_before_the_reader(void)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, NONE, 0 },
		{ 900, 0, 500, 20, 0, 20 },
		{ 950, 6, 500, 26, FULL, 6 },
	};

	check_steps(steps, ARRAY_SIZE(steps));
}

/* All that the ring has lost so far is reported: the reader was there from the beginning. */
static void all_since_the_beginning(void)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, NONE, 0 },
		{ 900, 0, 20, 20, SHED, 20 },
	};

	check_steps(steps, ARRAY_SIZE(steps));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "reasons of the ring", reasons_of_the_ring },
		{ "overwritten unread", overwritten_unread },
		{ "losses before the reader attached", lost_before_the_reader },
		{ "losses since the beginning", all_since_the_beginning },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

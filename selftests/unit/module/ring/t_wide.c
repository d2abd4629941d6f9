// SPDX-License-Identifier: GPL-2.0-only
/* Test module/ring/wide.h, whose values have two words when this is a 32-bit program. */
#include "ring/ring.h"
#include "step.h"
#include "tap.h"

#define ROOM 512

/* Values at which the upper word changes, in units of 2^29. */
static const u64 turns[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 1ULL << 20, (1ULL << 32) - 4,
};

static u64 value, low, high;
static const char *wrong;

/* Return @n as it is stored: the upper word of a 32-bit kernel counts units of 2^29. */
static u64 raw(u64 n)
{
	return KT_WIDE ? n : n >> KT_UPPER_SHIFT << 32 | (u32)n;
}

/* The lower word may be up to 2^30 from what the upper word says, and more. */
static void test_widen(void)
{
	static const u64 far[] = { 0, 1, 8, 4096, 1U << 29, (1U << 30) + 4096 };
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		u64 begin = turns[i] << KT_UPPER_SHIFT;

		for (k = 0; k < ARRAY_SIZE(far); k++) {
			check_equal(kt_widen((u32)turns[i], (u32)(begin + far[k])),
				    begin + far[k]);
			if (far[k] > begin)
				continue;
			check_equal(kt_widen((u32)turns[i], (u32)(begin - far[k])),
				    begin - far[k]);
		}
	}
}

/* The upper word of each block on the way, also when that of an earlier one is known. */
static void test_upper(void)
{
	const u64 block = 1ULL << 28;
	unsigned long upper = 0, late = 0, later = 0;
	u64 at;

	if (KT_WIDE) {
		tap_skip("positions have one word");
		return;
	}
	for (at = 0; at < 40ULL << 31; at += block) {
		/* From what it was three blocks before. */
		check_equal(kt_upper_of(later, (unsigned long)at), at >> 29);
		later = late;
		late = upper;
		upper = kt_upper_of(upper, (unsigned long)at);
		check_equal(upper, at >> 29);
		check_equal(kt_wide_of(upper, (unsigned long)at), at);
	}
	/* That of the last position, which an earlier one does not set back. */
	kt_upper_advance(&upper, upper - 1);
	check_equal(upper, 159);
	kt_upper_advance(&upper, 160);
	check_equal(upper, 160);
}

static void add_to_value(void *arg)
{
	(void)arg;
	kt_count(&value);
}

static void uncount(void *arg)
{
	(void)arg;
	kt_count_add(&value, -1);
}

static void count_many(void *arg)
{
	(void)arg;
	kt_count_add(&value, (1L << 29) - 8);
}

/* Read like another CPU, then count up and down like a nested writer. */
static void interfere(void *arg)
{
	u64 now = kt_count_read(&value);

	(void)arg;
	if (now != low && now != high)
		wrong = "a reader saw a number that never was";
	kt_count(&value);
	kt_count(&value);
	if (kt_count_read(&value) != now + 2)
		wrong = "two nested events did not count two";
	kt_count_add(&value, -2);
	if (kt_count_read(&value) != now)
		wrong = "the nested events are still counted";
}

static bool interfere_everywhere(void (*function)(void *), u64 from, u64 to)
{
	static uintptr_t where[ROOM];
	size_t number, i;

	value = raw(from);
	number = step_trace(function, NULL, where, ROOM);
	for (i = 0; i < number && !wrong; i++) {
		struct step step = {
			.at = where[i],
			.stopped = interfere,
		};

		value = raw(from);
		low = from;
		high = to;
		step_run(function, NULL, &step);
		if (kt_count_read(&value) != to)
			wrong = "the count is wrong afterwards";
	}
	if (wrong)
		tap_fail("from %#llx at instruction %zu of %zu: %s", from, i,
			 number, wrong);
	return !wrong;
}

static void test_wide_counts(void)
{
	unsigned int i;
	u64 n;

	wrong = NULL;
	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		u64 edge = turns[i] << KT_UPPER_SHIFT;

		for (n = edge - 4; n != edge + 3; n++)
			if (!interfere_everywhere(add_to_value, n, n + 1) ||
			    !interfere_everywhere(uncount, n, n - 1) ||
			    !interfere_everywhere(count_many, n, n + (1U << 29) - 8))
				return;
	}
}

/* What another CPU sees between two instructions of kt_wide_store(). */
static void check_seen_value(void *arg)
{
	u64 seen = value;

	(void)arg;
	if (!KT_WIDE && seen >> 32 == KT_UPPER_CHANGES)
		return;
	seen = kt_wide_load(&value);
	if (seen != low && seen != high)
		wrong = "a reader saw a number that never was";
}

static void store_value(void *arg)
{
	(void)arg;
	kt_wide_store(&value, high);
}

static void test_store(void)
{
	static const u64 values[] = {
		0,	    1,		0x7fffffff,	   0x80000000,
		0xffffffff, 1ULL << 32, 0x123456789abcULL, (1ULL << 60) - 1,
	};
	static uintptr_t where[ROOM];
	size_t number, i;
	unsigned int from, to;

	wrong = NULL;
	for (from = 0; from < ARRAY_SIZE(values); from++) {
		for (to = 0; to < ARRAY_SIZE(values); to++) {
			low = values[from];
			high = values[to];
			number = step_trace(store_value, NULL, where, ROOM);
			for (i = 0; i < number; i++) {
				struct step step = {
					.at = where[i],
					.stopped = check_seen_value,
				};

				value = raw(low);
				step_run(store_value, NULL, &step);
				check(!wrong, "%#llx to %#llx: %s", low, high,
				      wrong);
				check_equal(kt_wide_load(&value), high);
			}
		}
	}
}

static const struct tap_test tests[] = {
	{ "a value from its two words", test_widen },
	{ "upper words of blocks", test_upper },
	{ "counts, interrupted at each instruction", test_wide_counts },
	{ "values that jump, seen at each instruction", test_store },
};

int main(int argc, char **argv)
{
	if (!step_init()) {
		printf("TAP version 13\n1..0 # SKIP no single steps here\n");
		return 0;
	}
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

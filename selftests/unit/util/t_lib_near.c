// SPDX-License-Identifier: GPL-2.0-only
/* Test which known word a mistyped one is nearest to. */
#include <string.h>

#include "tap.h"
#include "util/near.h"

static const char *const known[] = {
	"record",
	"recover",
	"receive",
	"dump",
	"list",
	"perfetto",
	"a",
	"sched_switch",
	"sched_wakeup",
	"sched_waking",
	"a_word_that_is_longer_than_all_that_are_compared",
};

static const struct {
	const char *word;
	const char *nearest;
} vectors[] = {
	{ "record", "record" },	 /* itself */
	{ "recrod", "record" },	 /* two swapped */
	{ "ecord", "record" },	 /* the first is missing */
	{ "recor", "record" },	 /* the last is missing */
	{ "reccord", "record" }, /* one too many */
	{ "recard", "record" },	 /* one replaced */
	{ "dmup", "dump" },
	{ "lst", "list" },
	{ "perf", "perfetto" }, /* its beginning */
	{ "sched_s", "sched_switch" },
	{ "sched_wak", "sched_wakeup" }, /* of several the first */
	{ "sched_swithc", "sched_switch" },
	{ "shced_swich", "sched_switch" }, /* several mistakes */
	{ "sched-switch", "sched_switch" },
	{ "switch", NULL }, /* too many */
	{ "dxxp", NULL },
	{ "x", NULL }, /* nothing is left of "a" */
	{ "", NULL },
	{ "pe", NULL }, /* too short for a beginning */
	{ "a_word_that_is_longer_than_all_that_are_compare", NULL },
};

static const char *nearest(const char *word, size_t len)
{
	struct kt_near n = { .word = word, .len = len };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		kt_near_try(&n, known[i]);
	return n.best ? n.best : "";
}

static void nearest_words(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const char *want = vectors[i].nearest ? vectors[i].nearest : "";
		const char *word = vectors[i].word;

		check(!strcmp(nearest(word, strlen(word)), want),
		      "%s is near %s", word, nearest(word, strlen(word)));
	}
}

/* The word is a part of a text. */
static void parts_of_texts(void)
{
	check(!strcmp(nearest("recrod,dump", 6), "record"), "before a comma");
	check(!strcmp(nearest("dmup,record", 4), "dump"), "before a comma");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "the nearest of some words", nearest_words },
		{ "a word in a text", parts_of_texts },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

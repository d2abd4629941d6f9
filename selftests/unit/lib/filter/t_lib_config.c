// SPDX-License-Identifier: GPL-2.0-only
/* Test configurations from text and back, and errors with their line. */
#include <errno.h>

#include <ktape.h>

#include "tap.h"

static const char whole[] = "# all of it\n"
			    "events = sched_switch , irq,!irq_span # and a comment\n"
			    "\n"
			    "  context=no\r\n"
			    "mode = overwrite\n"
			    "buffer = 4M\n"
			    "block = 65536\n"
			    "duration = 1.5s\n"
			    "\tcpu = 0-1\n"
			    "signal = KILL\n"
			    "pid = 7:children\n"
			    "gate = irq=10us\n"
			    "uid = off"; /* no newline at the end */

static const char canonical[] =
	"events = sched_switch,irq_handler_entry,irq_handler_exit,local_timer_exit,local_timer_entry\n"
	"context = no\n"
	"mode = overwrite\n"
	"buffer = 4M\n"
	"block = 64K\n"
	"duration = 1500ms\n"
	"cpu = 0-1\n"
	"signal = SIGKILL\n"
	"pid = 7:children\n"
	"uid = off\n"
	"gate = irq=10us\n";

/* Parse a copy of exactly that size, so that a sanitizer finds an access behind it. */
static int parse_config_copy(const char *text, size_t len,
			     struct ktape_config *c, struct ktape_error *error)
{
	char *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, text, len);
	err = ktape_config_parse(copy, len, c, error);
	free(copy);
	return err;
}

static void test_config_whole(void)
{
	struct ktape_error error = { .text = "" };
	struct ktape_config c;
	char *out;

	check(!parse_config_copy(whole, strlen(whole), &c, &error),
	      "line %llu: %s", (unsigned long long)error.offset, error.text);
	check_equal(c.given, KTAPE_CONFIG_EVENTS | KTAPE_CONFIG_CONTEXT |
				     KTAPE_CONFIG_SESSION);
	check_equal(c.filters_given,
		    1 << KTAPE_FILTER_CPU | 1 << KTAPE_FILTER_SIGNAL |
			    1 << KTAPE_FILTER_PID | 1 << KTAPE_FILTER_GATE |
			    1 << KTAPE_FILTER_UID);
	check_equal(c.mode, KTAPE_MODE_OVERWRITE);
	check_equal(c.context, false);
	check_equal(c.buffer, 4 << 20);
	check_equal(c.block, 64 << 10);
	check_equal(c.duration, 1500000000);
	/* sched_switch is opcode 32, irq_handler_entry and _exit are 48 and 49. */
	check_equal(c.mask[0] >> 32 & 0x30001, 0x10001 | 0x20000);
	check(!c.filters[KTAPE_FILTER_UID].active, "uid is off");
	check(c.filters[KTAPE_FILTER_CPU].active, "cpu is on");
	check(!ktape_config_format(&c, &out), "format");
	ktape_config_release(&c);
	check(!strcmp(out, canonical), "%.350s", out);
	check(!parse_config_copy(out, strlen(out), &c, &error), "line %llu: %s",
	      (unsigned long long)error.offset, error.text);
	free(out);
	check(!ktape_config_format(&c, &out), "format");
	ktape_config_release(&c);
	check(!strcmp(out, canonical), "again: %.350s", out);
	free(out);
}

/* Names of cgroups that need quoting. */
static const char *const names[] = {
	"/a#b",
	"/c=d",
	"# e",
	"/f # g",
	"/h,i",
	",",
	"/j\nevents = all",
	"\r",
	" /k ",
	"\t",
	" ",
	"/l\\",
	"\\x41",
	"\\",
	"off",
	"none",
	"all",
	"o\\ff",
	"/m n",
	"!all",
	"id:5",
	"/\xc3\xa9\xff\x01\x7f",
};

/* A filter of the names from @from up to @to is the same again after it was written. */
static void check_names(unsigned int from, unsigned int to)
{
	struct ktape_config c = {
		.filters_given = 1 << KTAPE_FILTER_CGROUP,
	}, got;
	struct ktape_filter_value *v = &c.filters[KTAPE_FILTER_CGROUP];
	struct ktape_error error = { .text = "" };
	char *out, *at;
	unsigned int i;
	bool same;

	v->kind = KTAPE_FILTER_CGROUP;
	v->active = true;
	v->nr = to - from;
	for (i = from; i < to; i++)
		v->size += strlen(names[i]) + 1;
	v->entries = at = malloc(v->size);
	for (i = from; i < to; i++)
		at = stpcpy(at, names[i]) + 1;
	check(!ktape_config_format(&c, &out), "format");
	check(!parse_config_copy(out, strlen(out), &got, &error), "%s: %s", out,
	      error.text);
	same = got.given == 0 && got.filters_given == c.filters_given &&
	       got.filters[v->kind].active && got.filters[v->kind].nr == v->nr &&
	       got.filters[v->kind].size == v->size &&
	       !memcmp(got.filters[v->kind].entries, v->entries, v->size);
	check(same, "%s", out);
	free(out);
	ktape_config_release(&c);
	ktape_config_release(&got);
}

static void test_config_cgroup_names(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		check_names(i, i + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(names) - KTAPE_FILTER_CGROUPS; i++)
		check_names(i, i + KTAPE_FILTER_CGROUPS);
	tap_note("%zu names", ARRAY_SIZE(names));
}

static const struct {
	const char *text;
	unsigned int line;
	const char *part;
} wrong[] = {
	{ "events = sched\nfoo = 1\n", 2, "unknown key \"foo\"" },
	{ "events\n", 1, "not of the form key = value" },
	{ "\n\n# x\nevents = sched,foo", 4, "\"foo\"" },
	{ "= 5", 1, "unknown key \"\"" },
	{ "events = none\n\nevents = all\n", 3, "given twice" },
	{ "cpu = 0\ncpu = 1\n", 2, "given twice" },
	{ "cpu =\n", 1, "cpu: the list is empty" },
	{ "cpu = 0,x\n", 1, "cpu: unknown cpu \"x\"" },
	{ "mode = ring\n", 1, "\"ring\"" },
	{ "context = maybe\n", 1, "yes or no" },
	{ "buffer = 4X\n", 1, "buffer: \"4X\"" },
	{ "buffer = \n", 1, "buffer: \"\"" },
	{ "block = 1G\n", 1, "block" },
	{ "block = 99999999999G\n", 1, "block" },
	{ "duration = soon\n", 1, "duration" },
	{ "gate = irq=2h\n", 1, "gate: \"2h\"" },
	{ "Events = all\n", 1, "unknown key \"Events\"" },
	{ "events = irq#all\n", 1, "\"irq#all\"" },
	{ "cgroup = /a\\\n", 1, "cgroup: \"/a\\\"" },
};

static void test_wrong(void)
{
	struct ktape_config c;
	struct ktape_error error;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *text = wrong[i].text;

		error = (struct ktape_error){ .text = "" };
		check(parse_config_copy(text, strlen(text), &c, &error) == -EBADMSG,
		      "\"%s\" passes", text);
		ktape_config_release(&c);
		check(error.offset == wrong[i].line, "\"%s\": line %llu", text,
		      (unsigned long long)error.offset);
		check(strstr(error.text, wrong[i].part), "\"%s\": %s", text,
		      error.text);
	}
	check(parse_config_copy("cpu = 0\n\0cpu", 12, &c, &error) == -EBADMSG,
	      "NUL");
	check_equal(error.offset, 2);
	ktape_config_release(&c);
	check(!parse_config_copy("", 0, &c, NULL) && !c.given && !c.filters_given,
	      "empty");
	ktape_config_release(&c);
}

/*
 * Lines may have 65536 bytes: the second line is refused for its length, and in a shorter text for
 * its value.  The error has the number of the line.
 */
static void test_long(void)
{
	static char text[70000];
	struct ktape_error error;
	struct ktape_config c;

	memset(text, 'x', sizeof(text));
	memcpy(text, "\npid = ", 7);
	check(parse_config_copy(text, sizeof(text), &c, &error) == -EBADMSG,
	      "passes");
	check_equal(error.offset, 2);
	ktape_config_release(&c);
	check(parse_config_copy(text, 60000, &c, &error) == -EBADMSG, "passes");
	check_equal(error.offset, 2);
	ktape_config_release(&c);
}

/* Every truncation, and bytes that have a meaning for parsers. */
static void test_hostile(void)
{
	static const char spice[] = "=#\n,!:-\0\xff 0*";
	char text[sizeof(whole)];
	struct ktape_config c;
	unsigned int understood = 0, n = 0;
	size_t len, at, i;
	int err;

	for (len = 0; len < sizeof(whole); len++) {
		err = parse_config_copy(whole, len, &c, NULL);
		check(err == 0 || err == -EBADMSG, "%zu: %d", len, err);
		ktape_config_release(&c);
	}
	for (at = 0; at < sizeof(whole) - 1; at++) {
		for (i = 0; i < sizeof(spice); i++, n++) {
			memcpy(text, whole, sizeof(whole));
			text[at] = spice[i];
			err = parse_config_copy(text, sizeof(whole) - 1, &c, NULL);
			check(err == 0 || err == -EBADMSG, "%zu: %d", at, err);
			understood += !err;
			ktape_config_release(&c);
		}
	}
	check(understood && understood < n, "%u of %u", understood, n);
	tap_note("%u of %u changes understood", understood, n);
}

static const struct tap_test tests[] = {
	{ "configuration: text, values and text again", test_config_whole },
	{ "configuration: names of cgroups with special characters",
	  test_config_cgroup_names },
	{ "configuration: errors name their line", test_wrong },
	{ "configuration: long lines", test_long },
	{ "configuration: truncations and changes", test_hostile },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

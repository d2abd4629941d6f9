// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the metadata text: every change of a text with a checksum is found, and without one every
 * change of what describes the events; every tool that adds to a text, also an old one that does
 * not know the checksum, leaves it valid.
 *
 * ktape_metadata_check() returns 0; -ENODATA: nothing is wrong, but a part of the text has no
 * checksum; -EBADMSG: the text was changed.
 */
#include <ktape/ctf.h>

#include "lib_metadata.h"

#define STRIDE 13U /* bytes whose reported place is checked */

/* Adding to a text renews its checksum, but does not make damaged text valid. */
static void test_add(void)
{
	struct ktape_error error;
	size_t len;
	char *text;

	text = make_metadata_text(&len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), 0);
	*strstr(text, "freq = 1") = 'F';
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), EBADMSG);
	check(!ktape_metadata_add(&text, &len, "more", "1") &&
		      !kt_metadata_remark(&text, &len, "end"),
	      "add");
	check_equal((unsigned int)-ktape_metadata_check(text, len, &error), EBADMSG);
	free(text);

	text = make_old(&len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), ENODATA);
	check(!ktape_metadata_add(&text, &len, "converted", "yes"), "add");
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), ENODATA);
	free(text);
}

/* Text that an older tool adds: the checksum is still that of the text before. */
static void add_as_older(char **text, size_t *len, const char *key, const char *value)
{
	char digits[KTAPE_CTF_CRC_DIGITS];

	memcpy(digits, strstr(*text, KTAPE_CTF_CRC) + strlen(KTAPE_CTF_CRC),
	       sizeof(digits));
	if (key ? ktape_metadata_add(text, len, key, value) :
		  kt_metadata_remark(text, len, value))
		abort();
	memcpy(strstr(*text, KTAPE_CTF_CRC) + strlen(KTAPE_CTF_CRC), digits,
	       sizeof(digits));
}

/*
 * Build a text with values (bit 0: cpus, 1: converted, 2: the remark): the checksum covers those
 * in @sealed, an older tool has added those in @added.
 */
static char *make_mixed(size_t *len, unsigned int sealed, unsigned int added)
{
	static const struct {
		const char *key;
		const char *value;
	} values[] = { { "cpus", "0-3,6" }, { "converted", "yes" }, { NULL, "log" } };
	char *text;

	if (ktape_metadata_format(&trace_info, &text, len))
		abort();
	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++) {
		if (!(sealed >> i & 1))
			continue;
		if (values[i].key ? ktape_metadata_add(&text, len, values[i].key,
						       values[i].value) :
				    kt_metadata_remark(&text, len, values[i].value))
			abort();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++)
		if (added >> i & 1)
			add_as_older(&text, len, values[i].key, values[i].value);
	return text;
}

/* @what begins with a wrong byte: that is damage, also after additions. */
static void check_damage(char *text, size_t len, const char *what, char bits)
{
	char *at = strstr(text, what);

	*at ^= bits;
	check(ktape_metadata_check(text, len, NULL) == -EBADMSG, "%s", what);
	*at ^= bits;
}

/* Where an older tool has added values, only those are unprotected. */
static void test_older_tool(void)
{
	static const char *const names[] = { " cpus", " converted", " (the remark" };
	struct ktape_error error;
	size_t len;
	char *text;

	for (unsigned int i = 0; i < 8 * 8; i++) {
		unsigned int sealed = i % 8, added = i / 8 & ~sealed;

		text = make_mixed(&len, sealed, added);
		check(ktape_metadata_check(text, len, &error) ==
			      (added ? -ENODATA : 0),
		      "sealed %u, added %u", sealed, added);
		for (unsigned int j = 0; added && j < ARRAY_SIZE(names); j++)
			check(!strstr(error.text, names[j]) == !(added >> j & 1),
			      "sealed %u, added %u: %s", sealed, added, error.text);
		check_damage(text, len, "freq = ", 1);
		check_damage(text, len, "\"sched_switch\"", 1);
		/* Not a line that such a tool adds. */
		if ((sealed | added) & 1) {
			check_damage(text, len, "cpus = ", 0x40);
			check_damage(text, len, "-3,6", 0x40);
		}
		if ((sealed | added) & 2)
			check_damage(text, len, "yes\";", 1);
		/* Values under the checksum are protected. */
		if (sealed & 1)
			check_damage(text, len, "-3,6", 1);
		if (sealed & 4)
			check_damage(text, len, "log", 1);
		free(text);
	}
}

/* Without a checksum the events are compared with their hash. */
static void test_old(void)
{
	static const struct {
		const char *what;
		const char *instead;
		int ret;
	} changes[] = {
		{ "name = \"sched_switch\"", "name = \"sched_swatch\"", -EBADMSG },
		{ "table_hash = \"", "table_hash = \"0", -EBADMSG },
		{ "freq = 1000", "freq = 1001", -ENODATA },
		{ "tracer_minor = 0", "tracer_minor = 1", -EBADMSG },
		{ "tracer_name = \"ktape\"", "tracer_name = \"lttng\"", -EBADMSG },
		{ "clock {", "block {", -EBADMSG },
		/* Text that hides all events from a reader. */
		{ "} align(1024);", "y align(1024);", -EBADMSG },
		{ "freq = 1000", "freq = {000", -EBADMSG },
		{ "machine = \"", "machine = ' ", -EBADMSG },
		/* Nothing of it can be compared. */
		{ "struct { u64 _reserved;", "struct { u32 _reserved;", -ENODATA },
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct ktape_error error = { .offset = 0 };
		size_t len;
		char *text = make_old(&len);
		char *at = strstr(text, changes[i].what);

		memcpy(at, changes[i].instead, strlen(changes[i].instead));
		check(ktape_metadata_check(text, len, &error) == changes[i].ret,
		      "%s: %s", changes[i].instead, error.text);
		check(!strstr(error.text, "were not found") ==
			      !strstr(changes[i].what, "_reserved"),
		      "%s: %s", changes[i].instead, error.text);
		/* The first change is a letter of a name, whose place is reported. */
		check(i || error.offset == (uint64_t)(at - text) +
						   strlen("name = \"sched_sw"),
		      "at %llu", (unsigned long long)error.offset);
		free(text);
	}
}

/* Events of an unknown event table. */
static void test_other_table(void)
{
	static const char name[] = "name = \"sched_switch\"";
	char *text, *from, *to, *at, digits[20];
	struct ktape_error error;
	uint64_t hash;
	size_t len;

	text = make_metadata_text(&len);
	at = strstr(text, name);
	at[strlen("name = \"sched_sw")] = 'a';
	from = strstr(text, "_reserved;");
	from = strchr(from, '\n') + 1;
	to = strstr(text, "event { name = \"opcode_");
	hash = kt_fnv(KT_FNV_BEGIN, from, (size_t)(to - from));
	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)hash);
	memcpy(strstr(text, "table_hash = \"") + strlen("table_hash = \""),
	       digits, 16);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), EBADMSG);
	kt_metadata_seal(text, len);
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), 0);
	at[0] ^= 1;
	check_equal((unsigned int)-ktape_metadata_check(text, len, NULL), EBADMSG);
	at[0] ^= 1;
	at = strstr(text, "freq = 1");
	*at = 'F';
	check_equal((unsigned int)-ktape_metadata_check(text, len, &error), EBADMSG);
	check(strstr(error.text, "the event descriptions are right"), "%s",
	      error.text);
	/* Whether they are right is unknown. */
	*strstr(text, "_reserved") = 'R';
	check_equal((unsigned int)-ktape_metadata_check(text, len, &error), EBADMSG);
	check(strstr(error.text, "descriptions was not found"), "%s", error.text);
	check(error.offset == UINT64_MAX, "a place");
	free(text);
}

/*
 * Parts that differ legitimately between metadata of one table are not
 * compared.
 */
static bool is_value(const char *text, size_t at)
{
	const char *from = strstr(text, "trace {"), *to = strstr(text, "clock {");
	const char *remark = strstr(text, "/* log");

	return (text + at >= from && text + at < strchr(to, '\n')) ||
	       text + at >= remark;
}

/* The place of a changed byte is reported where it follows from the table. */
static void check_text_damage_place(char *text, size_t len, size_t at,
				    unsigned int bit)
{
	struct ktape_error error = { .offset = 0 };
	bool value = is_value(text, at);
	int ret;

	text[at] = (char)(text[at] ^ 1 << bit);
	ret = ktape_metadata_check(text, len, &error);
	text[at] = (char)(text[at] ^ 1 << bit);
	check(ret == -EBADMSG, "bit %u of byte %zu is not detected: %d", bit,
	      at, ret);
	check(value || error.offset == at, "byte %zu is reported at %llu: %s",
	      at, (unsigned long long)error.offset, error.text);
}

static void test_metadata_text_bits(void)
{
	size_t len, first;
	char *text = make_metadata_text(&len);

	for (size_t at = 0; at < len; at++) {
		for (unsigned int bit = at % 2; bit < 8; bit += 2) {
			bool sealed;

			text[at] = (char)(text[at] ^ 1 << bit);
			sealed = kt_metadata_is_sealed(text, len);
			text[at] = (char)(text[at] ^ 1 << bit);
			check(!sealed, "bit %u of byte %zu", bit, at);
		}
	}
	/* Change every byte before the events, and some bytes after them. */
	first = (size_t)(strstr(text, "event {") - text);
	for (size_t at = 0; at < len; at += at < first ? 1 : STRIDE)
		check_text_damage_place(text, len, at, (unsigned int)at % 8);
	/* A truncated text. */
	for (size_t at = first; at < len; at += 997)
		check(ktape_metadata_check(text, at, NULL) == -EBADMSG,
		      "%zu bytes of it are accepted", at);
	free(text);
}

static const struct tap_test tests[] = {
	{ "additions to a text", test_add },
	{ "additions by an older tool", test_older_tool },
	{ "a text of an older version", test_old },
	{ "a text of another event table", test_other_table },
	{ "every byte of a text", test_metadata_text_bits },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}

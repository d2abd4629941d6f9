// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that metadata was not changed since it was written.
 *
 * A checksum in the env block covers the whole text.  If it is wrong, comparing the
 * text with what this library would write finds the damaged place, as far as the text
 * follows from the event table.  Versions before 0.9 wrote no checksum; then the hash
 * of the event descriptions is all that can be checked.
 */
#include <ctype.h>

#include "util/bits.h"
#include "util/crc32c.h"

#include <ktape/ctf.h>

#include "stream/metadata.h"

#define NAME	  "tracer_name = \"ktape\";"
#define ENV	  "\nenv {\n"
#define CPUS	  "\tcpus = \""
#define CONVERTED "\tconverted = \"yes\";\n"
/* The texts directly before and after the events of the table. */
#define LAST_OF_HEAD                           \
	"\tfields := struct { u64 _reserved; " \
	"struct { } align(64) _end; }; };\n"
#define FIRST_UNKNOWN "event { name = \"opcode_"

/**
 * struct events - the part of a text that describes events of the table
 * @known: the start and the end of this part were found
 * @text: the part
 * @hash: hash of the part, which should be table_hash
 */
struct events {
	bool known;
	struct kt_text text;
	uint64_t hash;
};

/*
 * Check whether a text of this version should have a checksum: its minor version is 0 before
 * 0.9.  The version may be all that can still be read in a damaged text.
 */
static bool should_be_sealed(const struct kt_text *t)
{
	const char *minor = kt_metadata_find(t, KT_METADATA_MINOR);
	size_t at;

	/* Without our name it can be the minor version of another tracer. */
	if (!minor || !kt_metadata_find(t, NAME))
		return false;
	at = (size_t)(minor - t->at) + strlen(KT_METADATA_MINOR);
	return at < t->len && t->at[at] != '0';
}

static bool begins_with(const struct kt_text *t, const char *what)
{
	return t->len >= strlen(what) && !memcmp(t->at, what, strlen(what));
}

static size_t line_length(const struct kt_text *t)
{
	const char *end = memchr(t->at, '\n', t->len);

	return end ? (size_t)(end - t->at) + 1 : t->len;
}

static void skip_bytes(struct kt_text *t, size_t len)
{
	t->at += len;
	t->len -= len;
}

/* Check whether the text is a recorder's remark up to its end. */
static bool is_remark(const struct kt_text *t)
{
	const char *end = kt_metadata_find(t, "*/");

	return begins_with(t, "/* ") && end && end + 3 == t->at + t->len &&
	       end[2] == '\n';
}

/* Find the recorder's remark.  Return: its offset, or the length of the text. */
static size_t find_remark(const struct kt_text *t)
{
	const char *line = kt_metadata_find(t, "\n/* ");
	struct kt_text rest = *t;

	if (!line)
		return t->len;
	skip_bytes(&rest, (size_t)(line + 1 - t->at));
	return is_remark(&rest) ? t->len - rest.len : t->len;
}

/* Return the length of the line at @from if a tool added it to env, else 0. */
static size_t added_length(const struct kt_text *t, size_t from)
{
	static const char end[] = "\";\n";
	struct kt_text line = *t;
	size_t n = strlen(CPUS);

	skip_bytes(&line, from);
	if (begins_with(&line, CONVERTED))
		return strlen(CONVERTED);
	if (!begins_with(&line, CPUS))
		return 0;
	while (n < line.len && (isdigit((unsigned char)line.at[n]) ||
				line.at[n] == ',' || line.at[n] == '-'))
		n++;
	skip_bytes(&line, n);
	return begins_with(&line, end) ? n + strlen(end) : 0;
}

/* Report lines added between @from and @to and after @end.  Return: -ENODATA. */
static int report_added(const struct kt_text *t, size_t from, size_t to,
			size_t end, struct ktape_error *error)
{
	const struct kt_text lines = { t->at + from, to - from };
	const char *cpus = kt_metadata_find(&lines, CPUS) ? " cpus" : "";
	const char *converted =
		kt_metadata_find(&lines, CONVERTED) ? " converted" : "";

	kt_error(error, UINT64_MAX,
		 "a tool older than ktape 0.9 added values that the checksum does not cover:%s%s%s",
		 cpus, converted, end < t->len ? " (the remark at its end)" : "");
	return -ENODATA;
}

/*
 * Tools older than 0.9 added lines at the beginning of env and a remark at the end
 * without updating the checksum.  Check whether the checksum is right for the text
 * without these additions.
 * Return: -ENODATA if it is right, else 0.
 */
static int find_added(const struct kt_text *t, struct ktape_error *error)
{
	const size_t ends[] = { t->len, find_remark(t) };
	const char *env = kt_metadata_find(t, ENV);
	size_t from, to, more;

	if (!env)
		return 0;
	from = (size_t)(env - t->at) + strlen(ENV);
	for (to = from, more = 1; more; to += more) {
		for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++)
			if (kt_metadata_is_sealed_without(t, from, to, ends[i]))
				return report_added(t, from, to, ends[i], error);
		more = added_length(t, to);
	}
	return 0;
}

/*
 * Skip a value that may differ between writers.  @sealed: the trace has a checksum, or should
 * have one.
 * Return: true if there was one.
 */
static bool skip_value(struct kt_text *ours, struct kt_text *theirs, bool sealed)
{
	static const char *const added[] = { CPUS, CONVERTED };
	static const char name[] = "\t" NAME " tracer_major = 1; " KT_METADATA_MINOR;

	for (size_t i = 0; i < KT_ARRAY_SIZE(added); i++) {
		if (!begins_with(theirs, added[i]))
			continue;
		skip_bytes(theirs, line_length(theirs));
		return true;
	}
	if (begins_with(ours, KTAPE_CTF_CRC)) {
		if (begins_with(theirs, KTAPE_CTF_CRC))
			skip_bytes(theirs, line_length(theirs));
		else if (sealed)
			return false;
		skip_bytes(ours, line_length(ours));
		return true;
	}
	if (sealed || !begins_with(ours, name) || !begins_with(theirs, name))
		return false;
	skip_bytes(ours, line_length(ours));
	skip_bytes(theirs, line_length(theirs));
	return true;
}

/*
 * Find the first byte of the trace's text (@theirs) that differs from the text of this
 * library (@ours).
 * Return: its offset, or SIZE_MAX if there is none.
 */
static size_t find_difference(struct kt_text ours, struct kt_text theirs, bool sealed)
{
	const char *begin = theirs.at;
	size_t same = 0, len;

	while (ours.len) {
		if (skip_value(&ours, &theirs, sealed))
			continue;
		len = line_length(&ours);
		if (len > theirs.len || memcmp(ours.at, theirs.at, len))
			break;
		skip_bytes(&ours, len);
		skip_bytes(&theirs, len);
	}
	if (!ours.len && (!theirs.len || is_remark(&theirs)))
		return SIZE_MAX;
	while (same < ours.len && same < theirs.len &&
	       ours.at[same] == theirs.at[same])
		same++;
	return (size_t)(theirs.at - begin) + same;
}

static struct events find_events(const struct kt_text *t)
{
	const char *from = kt_metadata_find(t, LAST_OF_HEAD);
	const char *to = kt_metadata_find(t, FIRST_UNKNOWN);
	struct events e = { .known = false };

	if (!from || !to || to < from)
		return e;
	e.known = true;
	e.text.at = from + strlen(LAST_OF_HEAD);
	e.text.len = (size_t)(to - e.text.at);
	e.hash = kt_fnv(KT_FNV_BEGIN, e.text.at, e.text.len);
	return e;
}

/* Check whether a damaged text was written by ktape. */
static bool is_own_metadata(const struct kt_text *t)
{
	return kt_metadata_find(t, LAST_OF_HEAD) ||
	       kt_metadata_find(t, FIRST_UNKNOWN);
}

/* Report the place of the damage.  Return: -EBADMSG. */
static int report_place(const struct kt_text *t, size_t at, struct ktape_error *error)
{
	unsigned int line = 1;

	for (size_t i = 0; i < at; i++)
		line += t->at[i] == '\n';
	return kt_error(error, at,
			"the metadata was changed since it was written: line %u, byte %zu of its text, differs from the event table's text",
			line, at);
}

/* Report damage whose place is not known.  Return: -EBADMSG. */
static int report_kind(const struct events *e, const struct ktape_info *info,
		       struct ktape_error *error)
{
	const char *what =
		"its checksum is wrong, but the event descriptions are right";

	if (!e->known)
		what = "the begin or end of the event descriptions was not found";
	else if (e->hash != info->table_hash)
		what = "the event descriptions do not match table_hash";
	return kt_error(error, UINT64_MAX,
			"the metadata was changed since it was written: %s", what);
}

/* Find and report the place of the damage.  Return: -EBADMSG or -ENOMEM. */
static int find_damage(const struct kt_text *t, bool sealed, const struct events *e,
		       const struct ktape_info *info, struct ktape_error *error)
{
	uint64_t table = ktape_table_hash();
	struct kt_text ours;
	char *text;
	size_t at;
	int err;

	/* Our text is comparable with that of the same table only. */
	if (info->table_hash != table && (!e->known || e->hash != table))
		return report_kind(e, info, error);
	err = ktape_metadata_format(info, &text, &ours.len);
	if (err)
		return err;
	ours.at = text;
	at = find_difference(ours, *t, sealed);
	free(text);
	if (at != SIZE_MAX)
		return report_place(t, at, error);
	return kt_error(
		error, UINT64_MAX,
		"the metadata was changed since it was written: its checksum is wrong, because a value in env or clock or the remark at the end was changed");
}

static bool has_our_table(const struct ktape_info *info)
{
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		if (ktape_event_desc(i) && !kt_mask_has(info->known, i))
			return false;
	return true;
}

/*
 * Check that parsing the whole text finds the same events as parsing the event
 * descriptions alone.  A quote or brace added or removed elsewhere would hide them
 * inside another block.
 * Return: 1 if the events are the same, 0 if not, or -ENOMEM.
 */
static int are_read(const struct events *e, const struct ktape_info *info)
{
	/* time_extend precedes the events of the table. */
	bool same = kt_mask_has(info->known, KTAPE_TIME_EXTEND) &&
		    !strcmp(info->names[KTAPE_TIME_EXTEND], "time_extend");
	struct ktape_info *alone;

	/* Only of our own table it is known which events the text should have. */
	if (!e->known)
		return info->table_hash != ktape_table_hash() ||
		       has_our_table(info);
	alone = malloc(sizeof(*alone));
	if (!alone)
		return -ENOMEM;
	/* The parser rejects this part as a trace, but still reads the events. */
	ktape_metadata_parse(e->text.at, e->text.len, alone, NULL);
	for (unsigned int i = 0; i < KTAPE_OPCODES && same; i++)
		same = !*alone->names[i] ||
		       (!strcmp(alone->names[i], info->names[i]) &&
			kt_mask_has(alone->known, i) == kt_mask_has(info->known, i));
	free(alone);
	return same;
}

/*
 * Check a text whose checksum is missing or wrong.
 * Return: -ENODATA if nothing is wrong; -EBADMSG; or -ENOMEM.
 */
static int check_unsealed(const struct kt_text *t, struct ktape_info *info,
			  struct ktape_error *error)
{
	bool read = !ktape_metadata_parse(t->at, t->len, info, NULL);
	bool sealed = kt_metadata_digits(t) || should_be_sealed(t);
	const struct events e = find_events(t);
	bool damaged = sealed || (!read && is_own_metadata(t)) ||
		       (e.known && e.hash != info->table_hash);
	int same = damaged ? 1 : are_read(&e, info);

	if (same < 0)
		return same;
	if (damaged || !same)
		return find_damage(t, sealed, &e, info, error);
	kt_error(error, UINT64_MAX,
		 e.known ? "the metadata has no checksum (written before ktape 0.9): the event descriptions match their hash, the clock and machine values are not checked" :
			   "the metadata has no checksum (written before ktape 0.9), and the event descriptions were not found: nothing in it is checked");
	return -ENODATA;
}

int ktape_metadata_check(const char *text, size_t len, struct ktape_error *error)
{
	const struct kt_text t = { text, len };
	struct ktape_info *info;
	int err;

	if (kt_metadata_is_sealed(text, len))
		return 0;
	err = find_added(&t, error);
	if (err)
		return err;
	info = malloc(sizeof(*info));
	if (!info)
		return -ENOMEM;
	err = check_unsealed(&t, info, error);
	free(info);
	return err;
}

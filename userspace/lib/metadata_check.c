// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is metadata as its writer left it?  A checksum in the env block covers the whole
 * text.  Where it is wrong, comparing with the text that this library would write
 * finds the place, as far as the text follows from the event table.
 */
#include "util/bits.h"

#include <ktape/ctf.h>

#include "internal.h"

#define NAME		"tracer_name = \"ktape\";"
#define MINOR		"tracer_minor = "
/* What stands in front of the events of the table, and what behind them. */
#define LAST_OF_HEAD	"\tfields := struct { u64 _reserved; " \
			"struct { } align(64) _end; }; };\n"
#define FIRST_UNKNOWN	"event { name = \"opcode_"

/* A text, or what is left of it. */
struct text {
	const char *at;
	size_t len;
};

static const char *find_text(const struct text *t, const char *what)
{
	return memmem(t->at, t->len, what, strlen(what));
}

/* Where the digits of the checksum are, or NULL. */
static const char *find_digits(const struct text *t)
{
	const char *key = find_text(t, KTAPE_CTF_CRC);
	size_t before;

	if (!key)
		return NULL;
	before = (size_t)(key - t->at) + strlen(KTAPE_CTF_CRC);
	return t->len - before < KTAPE_CTF_CRC_DIGITS ? NULL : t->at + before;
}

static void compute_digits(const struct text *t, const char *digits,
			   char crc[KTAPE_CTF_CRC_DIGITS + 1])
{
	static const char zeros[] = "00000000";
	const char *behind = digits + KTAPE_CTF_CRC_DIGITS;
	uint32_t v;

	v = kt_crc32c(0, t->at, (size_t)(digits - t->at));
	v = kt_crc32c(v, zeros, KTAPE_CTF_CRC_DIGITS);
	v = kt_crc32c(v, behind, (size_t)(t->at + t->len - behind));
	snprintf(crc, KTAPE_CTF_CRC_DIGITS + 1, "%08x", v);
}

/* Has it a checksum, and a right one? */
bool kt_metadata_is_sealed(const char *text, size_t len)
{
	const struct text t = { text, len };
	const char *digits = find_digits(&t);
	char crc[KTAPE_CTF_CRC_DIGITS + 1];

	if (!digits)
		return false;
	compute_digits(&t, digits, crc);
	return !memcmp(digits, crc, KTAPE_CTF_CRC_DIGITS);
}

/* Renew the checksum of a text that was sealed before it was changed. */
void kt_metadata_seal(char *text, size_t len)
{
	const struct text t = { text, len };
	const char *digits = find_digits(&t);
	char crc[KTAPE_CTF_CRC_DIGITS + 1];

	if (!digits)
		return;
	compute_digits(&t, digits, crc);
	memcpy(text + (digits - text), crc, KTAPE_CTF_CRC_DIGITS);
}

/*
 * Does the text say of itself that it has a checksum?  It may be damaged so that
 * nothing else of it can be read.
 */
static bool should_be_sealed(const struct text *t)
{
	const char *minor = find_text(t, MINOR);
	size_t at;

	/* Other tracers have minor numbers, too. */
	if (!minor || !find_text(t, NAME))
		return false;
	at = (size_t)(minor - t->at) + strlen(MINOR);
	return at < t->len && t->at[at] != '0';
}

static bool begins_with(const struct text *t, const char *what)
{
	return t->len >= strlen(what) && !memcmp(t->at, what, strlen(what));
}

static size_t line_length(const struct text *t)
{
	const char *end = memchr(t->at, '\n', t->len);

	return end ? (size_t)(end - t->at) + 1 : t->len;
}

static void skip_bytes(struct text *t, size_t len)
{
	t->at += len;
	t->len -= len;
}

/* Values that one writer has and another one has not: no difference. */
static bool skip_value(struct text *ours, struct text *theirs, bool sealed)
{
	static const char *const added[] = { "\tcpus = \"",
					     "\tconverted = \"yes\";\n" };
	static const char name[] = "\t" NAME " tracer_major = 1; " MINOR;

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

/* A recorder's remark ends the text. */
static bool is_remark(const struct text *t)
{
	const char *end = find_text(t, "*/");

	return begins_with(t, "/* ") && end && end + 3 == t->at + t->len &&
	       end[2] == '\n';
}

/*
 * The first byte of @theirs that is not as in @ours.
 * Return: its offset, or SIZE_MAX if there is none.
 */
static size_t find_difference(struct text ours, struct text theirs, bool sealed)
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

/*
 * Hash of the events as they are described, which should be table_hash.
 * Return: false: it cannot be told which text that is.
 */
static bool hash_events(const struct text *t, uint64_t *hash)
{
	const char *from = find_text(t, LAST_OF_HEAD);
	const char *to = find_text(t, FIRST_UNKNOWN);

	if (!from || !to || to < from)
		return false;
	from += strlen(LAST_OF_HEAD);
	*hash = kt_fnv(KT_FNV_BEGIN, from, (size_t)(to - from));
	return true;
}

/* Say where the damage is.  Return: -EBADMSG. */
static int tell_place(const struct text *t, size_t at,
		      struct ktape_error *error)
{
	unsigned int line = 1;

	for (size_t i = 0; i < at; i++)
		line += t->at[i] == '\n';
	return kt_error(error, at,
			"the metadata is damaged: line %u, byte %zu of its text, does not fit the rest",
			line, at);
}

/* It is damaged: look for the place.  Return: -EBADMSG. */
static int find_damage(const struct text *t, bool sealed, uint64_t hash,
		       const struct ktape_info *info, struct ktape_error *error)
{
	struct text ours;
	char *text;
	size_t at;
	int err;

	if (info->table_hash != ktape_table_hash() &&
	    hash != ktape_table_hash())
		return kt_error(
			error, 0, "the metadata is damaged: %s",
			hash != info->table_hash ?
				"its events are not those of its table_hash" :
				"its checksum is wrong, the events are right");
	err = ktape_metadata_format(info, &text, &ours.len);
	if (err)
		return err;
	ours.at = text;
	at = find_difference(ours, *t, sealed);
	free(text);
	if (at != SIZE_MAX)
		return tell_place(t, at, error);
	return kt_error(
		error, 0,
		"the metadata is damaged: its checksum is wrong, because of a value in env or clock or of the remark at its end");
}

int ktape_metadata_check(const char *text, size_t len,
			 struct ktape_error *error)
{
	const struct text t = { text, len };
	bool sealed = find_digits(&t);
	struct ktape_info *info;
	uint64_t hash = 0;
	int err = -ENODATA;
	bool known, read;

	if (kt_metadata_is_sealed(text, len))
		return 0;
	info = malloc(sizeof(*info));
	if (!info)
		return -ENOMEM;
	read = !ktape_metadata_parse(text, len, info, NULL);
	known = hash_events(&t, &hash);
	sealed |= should_be_sealed(&t);
	if (sealed || (read && known && hash != info->table_hash))
		err = find_damage(&t, sealed, hash, info, error);
	free(info);
	return err;
}

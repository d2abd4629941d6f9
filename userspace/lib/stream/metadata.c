// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write CTF metadata from the event table, add values to it, and convert times with
 * its clock.
 *
 * metadata_parse.c reads metadata, metadata_seal.c computes the checksum, metadata_check.c finds
 * what is damaged.
 */
#include "util/bits.h"
#include "util/memory.h"
#include "util/nanoseconds.h"

#include <ktape/ctf.h>

#include "stream/metadata.h"

/* An event of the table, and the text that describes it in the metadata. */
struct event_text {
	uint8_t opcode;
	const char *text;
};

/* In the order of the table, in which the table hash covers these texts. */
/* clang-format off */
static const struct event_text event_texts[] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	{ opcode, KTAPE_CTF_EVENT(opcode, NAME, name, CLASS, help)
#define KTAPE_BITS KTAPE_CTF_BITS
#define KTAPE_VARARGS KTAPE_CTF_VARARGS
#define KTAPE_ARGS KTAPE_CTF_ARGS
#define KTAPE_ARG KTAPE_CTF_ARG
#define KTAPE_REST KTAPE_CTF_REST
#define KTAPE_BLOB KTAPE_CTF_BLOB
#define KTAPE_ARRAY KTAPE_CTF_ARRAY
#define KTAPE_TEXT KTAPE_CTF_TEXT
#define KTAPE_BYTES KTAPE_CTF_BYTES
#define KTAPE_LIST KTAPE_CTF_LIST
#define KTAPE_END(NAME) KTAPE_CTF_END(NAME) },
#include <ktape/events.h>
};
/* clang-format on */

/* Return the index of an event in the table's order, or one past the end. */
size_t kt_event_index(unsigned int opcode)
{
	size_t i = 0;

	while (i < KT_ARRAY_SIZE(event_texts) && event_texts[i].opcode != opcode)
		i++;
	return i;
}

/* Return the description of the event at an index, NULL after the last one. */
const char *kt_event_text(size_t place, unsigned int *opcode, size_t *len)
{
	if (place >= KT_ARRAY_SIZE(event_texts))
		return NULL;
	*opcode = event_texts[place].opcode;
	*len = strlen(event_texts[place].text);
	return event_texts[place].text;
}

uint64_t ktape_table_hash(void)
{
	uint64_t hash = KT_FNV_BEGIN;

	for (size_t i = 0; i < KT_ARRAY_SIZE(event_texts); i++)
		hash = kt_fnv(hash, event_texts[i].text,
			      strlen(event_texts[i].text));
	return hash;
}

/* Format a UUID as text, in groups of 8, 4, 4, 4 and 12 digits. */
void kt_uuid_text(const uint8_t *uuid, char text[KT_UUID_TEXT])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned int i = 0; i < 16; i++) {
		*text++ = hex[uuid[i] >> 4];
		*text++ = hex[uuid[i] & 15];
		if (i == 3 || i == 5 || i == 7 || i == 9)
			*text++ = '-';
	}
	*text = '\0';
}

/* Copy a string for use between quotes; replace characters that would end it. */
static void clean_string(char *to, const char *from, size_t size)
{
	size_t i = 0;

	for (; from[i] && i + 1 < size; i++) {
		unsigned char c = (unsigned char)from[i];

		to[i] = c < ' ' || c == '"' || c == '\\' ? '_' : from[i];
	}
	to[i] = '\0';
}

static void put_metadata_head(FILE *out, const struct ktape_info *info)
{
	char hostname[sizeof(info->hostname)];
	char release[sizeof(info->release)];
	char machine[sizeof(info->machine)];
	char clock[sizeof(info->clock)];
	char uuid[KT_UUID_TEXT];

	clean_string(hostname, info->hostname, sizeof(hostname));
	clean_string(release, info->release, sizeof(release));
	clean_string(machine, info->machine, sizeof(machine));
	clean_string(clock, info->clock, sizeof(clock));
	kt_uuid_text(info->uuid, uuid);
	fprintf(out, KTAPE_CTF_HEAD, uuid, (unsigned long long)ktape_table_hash(),
		clock, (long long)info->mono_offset_ns,
		(long long)info->boot_offset_ns, (long long)info->real_offset_ns,
		hostname, release, machine, clock, uuid,
		(unsigned long long)info->freq, (long long)info->offset_s,
		(unsigned long long)info->offset, clock, clock);
}

int ktape_metadata_format(const struct ktape_info *info, char **text, size_t *len)
{
	FILE *out;
	int err;

	/* Some callers free it after a failure, too. */
	*text = NULL;
	out = kt_memory_open(text, len);
	if (!out)
		return -errno;
	put_metadata_head(out, info);
	for (size_t i = 0; i < KT_ARRAY_SIZE(event_texts); i++)
		fputs(event_texts[i].text, out);
	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		if (!ktape_event_desc(i))
			fprintf(out, KTAPE_CTF_UNKNOWN, i, i);
	}
	err = kt_memory_close(out);
	if (err) {
		free(*text);
		*text = NULL;
		return err;
	}
	kt_metadata_seal(*text, *len);
	return 0;
}

uint64_t ktape_ticks_to_ns(const struct ktape_info *info, uint64_t ticks)
{
	uint64_t seconds, rest;

	if (info->freq == NS_PER_S)
		return ticks;
	seconds = ticks / info->freq;
	rest = ticks % info->freq;
	return seconds * NS_PER_S + rest * NS_PER_S / info->freq;
}

/* Check whether @ticks after the time @origin, in ns, do not fit in ns of 64 bits. */
static bool is_beyond(const struct ktape_info *info, int64_t origin, uint64_t ticks)
{
	return ticks / info->freq >= UINT64_MAX / NS_PER_S ||
	       ktape_ticks_to_ns(info, ticks) >
		       (uint64_t)INT64_MAX - (uint64_t)origin;
}

/* Return a time of a clock.  One that does not fit becomes the last one that does. */
static int64_t metadata_clock_ns(const struct ktape_info *info, int64_t origin,
				 uint64_t ticks)
{
	if (is_beyond(info, origin, ticks))
		return INT64_MAX;
	return (int64_t)((uint64_t)origin + ktape_ticks_to_ns(info, ticks));
}

int64_t ktape_epoch_ns(const struct ktape_info *info, uint64_t ts)
{
	const uint64_t ticks = ts + info->offset < ts ? UINT64_MAX :
							ts + info->offset;

	return metadata_clock_ns(
		info, (int64_t)((uint64_t)info->offset_s * NS_PER_S), ticks);
}

int64_t ktape_mono_ns(const struct ktape_info *info, uint64_t ts)
{
	return metadata_clock_ns(info, info->mono_offset_ns, ts);
}

/**
 * kt_clock_check() - Check that the origin of a clock is a time in ns of 64 bits
 * @info: metadata of a trace
 * @error: filled on -EBADMSG, may be NULL
 *
 * Return: 0 or -EBADMSG.
 */
int kt_clock_check(const struct ktape_info *info, struct ktape_error *error)
{
	int64_t origin;

	if (__builtin_mul_overflow(info->offset_s, (int64_t)NS_PER_S, &origin) ||
	    is_beyond(info, origin, info->offset))
		return kt_error(error, 0,
				"the clock's offset of %lld s is out of range: times are from the year 1677 to 2262",
				(long long)info->offset_s);
	return 0;
}

/*
 * Tools add values to the env block and a remark at the end.  They update the
 * checksum only if it was right before: otherwise it would hide earlier damage.
 */
#define ENV "\nenv {\n"

/* Return the start of the values in the env block, or NULL. */
static char *find_metadata_env(char *text, size_t len)
{
	char *env = memmem(text, len, ENV, strlen(ENV));

	return env ? env + strlen(ENV) : NULL;
}

static bool has_key(const char *env, size_t len, const char *key)
{
	const char *end = memmem(env, len, "};", 2);
	char word[64];
	int n = snprintf(word, sizeof(word), "\t%s = ", key);

	return end && memmem(env, (size_t)(end - env), word, (size_t)n);
}

int ktape_metadata_add(char **text, size_t *len, const char *key, const char *value)
{
	/* 8 bytes around key and value, see the format below. */
	size_t more = strlen(key) + strlen(value) + 8, at;
	char *env = find_metadata_env(*text, *len), *longer;
	bool sealed;
	int n;

	if (!env)
		return -EBADMSG;
	at = (size_t)(env - *text);
	/* A key that is there already keeps its value. */
	if (has_key(env, *len - at, key))
		return 0;
	longer = malloc(*len + more + 1);
	if (!longer)
		return -ENOMEM;
	sealed = kt_metadata_is_sealed(*text, *len);
	memcpy(longer, *text, at);
	n = snprintf(longer + at, more + 1, "\t%s = \"%.*s\";\n", key,
		     (int)strcspn(value, "\"\\\n"), value);
	memcpy(longer + at + n, *text + at, *len - at);
	*len += (size_t)n;
	longer[*len] = '\0';
	free(*text);
	*text = longer;
	if (sealed)
		kt_metadata_seal(*text, *len);
	return 0;
}

/* Add a comment at the end of the text.  Return: 0 or -ENOMEM. */
int kt_metadata_remark(char **text, size_t *len, const char *remark)
{
	size_t more = strlen(remark) + sizeof("/*  */\n");
	bool sealed = kt_metadata_is_sealed(*text, *len);
	char *longer = realloc(*text, *len + more);

	if (!longer)
		return -ENOMEM;
	*text = longer;
	*len += (size_t)snprintf(longer + *len, more, "/* %s */\n", remark);
	if (sealed)
		kt_metadata_seal(*text, *len);
	return 0;
}

static bool has_cpu(const uint64_t *cpus, unsigned int cpu)
{
	return cpu < KT_CPUS_MAX && cpus[cpu / 64] >> (cpu % 64) & 1;
}

int ktape_metadata_cpus(char **text, size_t *len,
			const uint64_t cpus[KTAPE_CPU_WORDS])
{
	char *list = NULL;
	size_t size = 0;
	FILE *f = kt_memory_open(&list, &size);
	const char *comma = "";
	unsigned int first;
	int err;

	if (!f)
		return -errno;
	for (unsigned int cpu = 0; cpu < KT_CPUS_MAX; cpu++) {
		if (!has_cpu(cpus, cpu))
			continue;
		first = cpu;
		while (has_cpu(cpus, cpu + 1))
			cpu++;
		fprintf(f, "%s%u", comma, first);
		comma = ",";
		if (cpu != first)
			fprintf(f, "-%u", cpu);
	}
	err = kt_memory_close(f);
	if (!err)
		err = ktape_metadata_add(text, len, "cpus", list);
	free(list);
	return err;
}

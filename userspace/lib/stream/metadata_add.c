// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is said in metadata besides what the module says: more values of env, and a
 * remark.  The checksum of a text is renewed only if it was right: a writer does
 * not vouch for what others have damaged.
 */
#include "util/bits.h"

#include "internal.h"

#define ENV	"\nenv {\n"

/* Where values of the env block begin, or NULL. */
static char *find_env(char *text, size_t len)
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

int ktape_metadata_add(char **text, size_t *len, const char *key,
		       const char *value)
{
	size_t more = strlen(key) + strlen(value) + 8, at;
	char *env = find_env(*text, *len), *longer;
	bool sealed;
	int n;

	if (!env)
		return -EBADMSG;
	at = (size_t)(env - *text);
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

/* Add a comment at the end.  Return: 0 or -ENOMEM. */
int kt_metadata_remark(char **text, size_t *len, const char *remark)
{
	size_t more = strlen(remark) + 8;
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
	FILE *f = open_memstream(&list, &size);
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
		fprintf(f, ftell(f) ? ",%u" : "%u", first);
		if (cpu != first)
			fprintf(f, "-%u", cpu);
	}
	err = fclose(f) ? -ENOMEM : 0;
	if (!err)
		err = ktape_metadata_add(text, len, "cpus", list);
	free(list);
	return err;
}

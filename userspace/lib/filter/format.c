// SPDX-License-Identifier: LGPL-2.1-or-later
/* Format filters as text that parse.c accepts. */
#include "util/memory.h"

#include "filter/internal.h"

/* The entries of a bitmap filter, extended with zeros to the full length. */
struct bitmap {
	const struct kt_bits *bits;
	unsigned int nr;
	uint64_t words[KT_CPUS_MAX / 64];
};

static const char *const duration_units[] = { "ns", "us", "ms", "s" };

static unsigned int count_bits(const struct bitmap *b)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < b->nr; i++)
		nr += (unsigned int)kt_mask_has(b->words, i);
	return nr;
}

/* Put the separator before an item, and "!" for an excluded one. */
static void begin_item(FILE *f, bool *first, bool without)
{
	fputs(*first ? "" : ",", f);
	fputs(without ? "!" : "", f);
	*first = false;
}

static void put_filter_ranges(FILE *f, const struct bitmap *b, bool without)
{
	bool first = true;

	for (unsigned int i = 0, from; i < b->nr; i++) {
		if (!kt_mask_has(b->words, i))
			continue;
		for (from = i; i + 1 < b->nr && kt_mask_has(b->words, i + 1);)
			i++;
		begin_item(f, &first, without);
		fprintf(f, "%u", from + b->bits->first);
		if (i > from)
			fprintf(f, "-%u", i + b->bits->first);
	}
}

static void put_filter_names(FILE *f, const struct bitmap *b, bool without)
{
	bool first = true;
	const char *name;

	for (unsigned int i = 0; i < b->nr; i++) {
		if (!kt_mask_has(b->words, i))
			continue;
		begin_item(f, &first, without);
		name = ktape_value_name(b->bits->names, i + b->bits->first);
		if (name)
			fputs(name, f);
		else
			fprintf(f, "%u", i + b->bits->first);
	}
}

/* Return the number of a call in a table, or KT_SYSCALLS. */
static unsigned int find_filter_call(unsigned int abi, const char *name)
{
	const char *machine = kt_this_machine(), *known;

	for (unsigned int i = 0; i < KT_SYSCALLS; i++) {
		known = ktape_syscall_abi_name(machine, abi, i);
		if (known && !strcmp(known, name))
			return i;
	}
	return KT_SYSCALLS;
}

/*
 * Put the call of one bit.  If the bit of the same call in the other table is set, too,
 * the name without a prefix means both.
 */
static void put_filter_call(FILE *f, const struct bitmap *b, unsigned int bit,
			    bool *first, bool without)
{
	bool compat = bit >= KT_SYSCALLS;
	unsigned int nr = bit % KT_SYSCALLS, other;
	const char *name;

	name = ktape_syscall_abi_name(kt_this_machine(),
				      compat ? KTAPE_ABI_COMPAT : KTAPE_ABI_NATIVE,
				      nr);
	if (!name) {
		begin_item(f, first, without);
		fprintf(f, "%s:%u", compat ? "32" : "64", nr);
		return;
	}
	other = find_filter_call(compat ? KTAPE_ABI_NATIVE : KTAPE_ABI_COMPAT, name);
	if (other < KT_SYSCALLS &&
	    !kt_mask_has(b->words, other + (compat ? 0 : KT_SYSCALLS))) {
		begin_item(f, first, without);
		fprintf(f, "%s:%s", compat ? "32" : "64", name);
		return;
	}
	/* Both tables have the call: the native bit has put the name. */
	if (compat && other < KT_SYSCALLS)
		return;
	begin_item(f, first, without);
	fputs(name, f);
}

static void put_calls(FILE *f, const struct bitmap *b, bool without)
{
	bool first = true;

	for (unsigned int i = 0; i < b->nr; i++) {
		if (kt_mask_has(b->words, i))
			put_filter_call(f, b, i, &first, without);
	}
}

/* Put a bitmap filter: what is set, or what is not with "!". */
static void put_filter_bits(FILE *f, const struct ktape_filter_value *v)
{
	struct bitmap b = { .bits = &kt_filter_bits[v->kind] };
	bool without;

	b.nr = kt_bits_in_use(v->kind);
	if (v->size)
		memcpy(b.words, v->entries,
		       kt_min(v->size, b.bits->words * sizeof(uint64_t)));
	/* The filter may name CPUs that this machine does not have. */
	for (unsigned int i = b.bits->bits; i > b.nr; i--) {
		if (kt_mask_has(b.words, i - 1))
			b.nr = i;
	}
	/*
	 * If more than half of the bits are set, put the others with "!".  Not of CPUs: what such a
	 * list means depends on the CPUs of the machine that reads it.
	 */
	without = v->kind != KTAPE_FILTER_CPU && count_bits(&b) * 2 > b.nr;
	for (unsigned int i = 0; without && i < b.bits->words; i++)
		b.words[i] = ~b.words[i];
	if (!count_bits(&b))
		fputs(without ? "all" : "none", f);
	else if (v->kind == KTAPE_FILTER_SYSCALL)
		put_calls(f, &b, without);
	else if (b.bits->names == KTAPE_TYPES)
		put_filter_ranges(f, &b, without);
	else
		put_filter_names(f, &b, without);
}

static void put_pid(FILE *f, const void *entry)
{
	const struct ktape_filter_pid *p = entry;

	fprintf(f, "%d", p->pid);
	for (uint32_t i = 0; kt_pid_flags[i]; i++) {
		if (p->flags >> i & 1)
			fprintf(f, ":%s", kt_pid_flags[i]);
	}
}

static void put_filter_number(FILE *f, const void *entry)
{
	fprintf(f, "%u", *(const uint32_t *)entry);
}

/* Put a duration in the largest unit in which it is a whole number. */
void kt_put_duration(FILE *f, uint64_t ns)
{
	unsigned int unit = 0;

	while (ns && ns % 1000 == 0 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	fprintf(f, "%llu%s", (unsigned long long)ns, duration_units[unit]);
}

static void put_filter_gate(FILE *f, const void *entry)
{
	const struct ktape_filter_gate *g = entry;
	const char *name = kt_gate_name(g->gate);

	fprintf(f, "%s=", name ? name : "?");
	kt_put_duration(f, g->ns);
}

static void put_rate(FILE *f, const void *entry)
{
	const struct ktape_filter_rate *r = entry;
	const struct ktape_event_desc *d = ktape_event_desc(r->opcode);

	fprintf(f, "%s=%u", d ? d->name : "?", r->per_second);
}

static const struct {
	size_t size;
	void (*put)(FILE *f, const void *entry);
} kinds[KTAPE_FILTER_KINDS] = {
	[KTAPE_FILTER_PID] = { sizeof(struct ktape_filter_pid), put_pid },
	[KTAPE_FILTER_UID] = { sizeof(uint32_t), put_filter_number },
	[KTAPE_FILTER_SEVERITY] = { sizeof(uint32_t), put_filter_number },
	[KTAPE_FILTER_GATE] = { sizeof(struct ktape_filter_gate), put_filter_gate },
	[KTAPE_FILTER_RATE] = { sizeof(struct ktape_filter_rate), put_rate },
};

/*
 * Put a name with escapes, so that it is read back as the same name: characters that
 * would end the entry or line are escaped, and so are names that are keywords.
 */
static void put_filter_escaped(FILE *f, const char *name)
{
	static const char *const words[] = { "all", "none", "off" };
	size_t last = strlen(name) - 1;

	for (size_t i = 0; i < KT_ARRAY_SIZE(words); i++) {
		if (!strcmp(words[i], name))
			fputc('\\', f);
	}
	for (size_t i = 0; name[i]; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c < ' ' || c == 0x7f || (c == ' ' && (!i || i == last)))
			fprintf(f, "\\x%02x", c);
		else if (c == ',' || c == '#' || c == '\\')
			fprintf(f, "\\%c", c);
		else
			fputc(c, f);
	}
}

static void put_entries(FILE *f, const struct ktape_filter_value *v)
{
	const char *at = v->entries;

	if (!v->nr)
		fputs("none", f);
	for (uint32_t i = 0; i < v->nr; i++) {
		fputs(i ? "," : "", f);
		if (v->kind == KTAPE_FILTER_CGROUP) {
			put_filter_escaped(f, at);
			at += strlen(at) + 1;
		} else {
			kinds[v->kind].put(f, at);
			at += kinds[v->kind].size;
		}
	}
}

static void put_filter_events(FILE *f, const struct ktape_filter_value *v)
{
	uint64_t mask[KTAPE_MASK_WORDS] = { 0 };
	bool first = true;

	if (v->size)
		memcpy(mask, v->entries, kt_min(v->size, sizeof(mask)));
	kt_put_mask(f, mask, &first);
	if (first)
		fputs("none", f);
}

/* Put the names of events, separated by commas. */
void kt_put_mask(FILE *f, const uint64_t *mask, bool *first)
{
	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (!d || !kt_mask_has(mask, i))
			continue;
		begin_item(f, first, false);
		fputs(d->name, f);
	}
}

int ktape_filter_format(const struct ktape_filter_value *value, char **text)
{
	char *buf = NULL;
	size_t len;
	FILE *f = kt_memory_open(&buf, &len);

	if (!f)
		return -ENOMEM;
	if (!value->active || value->kind >= KTAPE_FILTER_KINDS)
		fputs("off", f);
	else if (kt_filter_bits[value->kind].bits)
		put_filter_bits(f, value);
	else if (value->kind == KTAPE_FILTER_STACK)
		put_filter_events(f, value);
	else
		put_entries(f, value);
	if (kt_memory_close(f)) {
		free(buf);
		return -ENOMEM;
	}
	*text = buf;
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filters that are bitmaps (CPU, system call, interrupt, soft interrupt, signal):
 * convert numbers, ranges and names to bits.
 */
#include <fnmatch.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/parse.h"

#include "filter/internal.h"

#define IRQS	(KTAPE_FILTER_IRQ_WORDS * 64U)
#define SIGNALS 64U
#define VECTORS 10U /* soft interrupts */

/* Return the name of this machine if its system calls are known, else "". */
const char *kt_this_machine(void)
{
	static const char *const known[] = { "x86_64",	"aarch64",
					     "riscv64", "loongarch64",
					     "i686",	"armv6l",
					     "armv7l",	"armv8l" };
	struct utsname u;

	if (uname(&u))
		return "";
	for (size_t i = 0; i < KT_ARRAY_SIZE(known); i++) {
		if (!strcmp(known[i], u.machine))
			return known[i];
	}
	return "";
}

/* Set the bits of a number "7" or a range "3-5". */
static bool add_bit_range(const struct kt_bits *b, const char *item, uint64_t *to)
{
	const char *dash = strchr(item, '-');
	uint64_t from, until;
	char first[24];

	if (dash) {
		if (dash - item >= (ptrdiff_t)sizeof(first))
			return false;
		memcpy(first, item, (size_t)(dash - item));
		first[dash - item] = '\0';
		if (kt_parse_u64(first, &from) || kt_parse_u64(dash + 1, &until))
			return false;
	} else {
		if (kt_parse_u64(item, &from))
			return false;
		until = from;
	}
	if (from > until || from < b->first || until >= b->first + b->bits)
		return false;
	for (; from <= until; from++)
		kt_mask_add(to, (unsigned int)from - b->first);
	return true;
}

/* Set the bits of a name, a number or a range. */
static bool add_bit_name(const struct kt_bits *b, const char *item, uint64_t *to)
{
	const char *name;

	for (unsigned int i = 0; i < b->bits; i++) {
		name = ktape_value_name(b->names, i + b->first);
		if (name && !strcasecmp(name, item)) {
			kt_mask_add(to, i);
			return true;
		}
	}
	return add_bit_range(b, item, to);
}

/* Set the bit of a signal, with or without SIG, or by an alias. */
static bool add_signal(const struct kt_bits *b, const char *item, uint64_t *to)
{
	static const char *const also[][2] = {
		{ "IOT", "ABRT" },
		{ "CLD", "CHLD" },
		{ "POLL", "IO" },
	};
	const char *name = item;
	char full[32];

	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < KT_ARRAY_SIZE(also); i++) {
		if (!strcasecmp(name, also[i][0]))
			name = also[i][1];
	}
	if ((size_t)snprintf(full, sizeof(full), "SIG%s", name) < sizeof(full) &&
	    add_bit_name(b, full, to))
		return true;
	return add_bit_range(b, item, to);
}

/* Set the bits of all calls of a table that match a glob.  Return: false if none. */
static bool add_calls(unsigned int abi, const char *glob, uint64_t *to)
{
	const char *machine = kt_this_machine(), *name;
	bool found = false;

	for (unsigned int i = 0; i < KT_SYSCALLS; i++) {
		name = ktape_syscall_abi_name(machine, abi, i);
		if (!name || fnmatch(glob, name, 0))
			continue;
		kt_mask_add(to, i + (abi == KTAPE_ABI_COMPAT ? KT_SYSCALLS : 0));
		found = true;
	}
	return found;
}

/*
 * Set the bits of a name or glob in both tables, or in one with the prefix "64:" or
 * "32:".  A number without a prefix is in the native table.
 */
static bool add_syscall(const struct kt_bits *b, const char *item, uint64_t *to)
{
	static const struct kt_bits table = { .bits = KT_SYSCALLS };
	uint64_t numbers[KT_SYSCALLS / 64] = { 0 };
	bool native = !strncmp(item, "64:", 3);
	bool compat = !strncmp(item, "32:", 3);
	bool found = false;

	(void)b;
	if (native || compat)
		item += 3;
	if (add_bit_range(&table, item, numbers)) {
		for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++)
			to[i + (compat ? KT_SYSCALLS / 64 : 0)] |= numbers[i];
		return true;
	}
	if (!compat)
		found = add_calls(KTAPE_ABI_NATIVE, item, to);
	if (!native)
		found |= add_calls(KTAPE_ABI_COMPAT, item, to);
	return found;
}

/* Bitmap filters by kind; @bits is 0 for other kinds. */
const struct kt_bits kt_filter_bits[KTAPE_FILTER_KINDS] = {
	[KTAPE_FILTER_CPU] = { KT_CPUS_MAX, KT_CPUS_MAX / 64, 0, KTAPE_TYPES,
			       add_bit_range },
	[KTAPE_FILTER_SYSCALL] = { KT_SYSCALLS * 2, KTAPE_FILTER_SYSCALL_WORDS,
				   0, KTAPE_TYPE_SYSCALL, add_syscall },
	[KTAPE_FILTER_IRQ] = { IRQS, KTAPE_FILTER_IRQ_WORDS, 0, KTAPE_TYPES,
			       add_bit_range },
	[KTAPE_FILTER_SOFTIRQ] = { VECTORS, 1, 0, KTAPE_TYPE_SOFTIRQ, add_bit_name },
	[KTAPE_FILTER_SIGNAL] = { SIGNALS, 1, 1, KTAPE_TYPE_SIGNAL, add_signal },
};

/* Return the number of bits of "all": for CPUs, only those that this machine has. */
unsigned int kt_bits_in_use(unsigned int kind)
{
	long cpus;

	if (kind != KTAPE_FILTER_CPU)
		return kt_filter_bits[kind].bits;
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	return cpus < 1 ? 1 : (unsigned int)kt_min((uint64_t)cpus, KT_CPUS_MAX);
}

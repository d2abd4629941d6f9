/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Search bytes that the kernel has given out for addresses of the kernel and for old
 * memory, which was filled with a pattern before.
 */
#ifndef _KT_LEAK_H
#define _KT_LEAK_H

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>

#include "kt_kernel.h"
#include "kt_registry.h"
#include "kt_stream.h"

#define KT_PATTERN 0xfeedfacedeadd00dULL

/* ---- memory with a pattern -------------------------------------------------- */

/*
 * Fill up to half a GiB of the free pages, and give them back: the kernel takes these
 * first.  Return: MiB or -1.
 */
static inline long kt_fill_pages(void)
{
	size_t size = (size_t)kt_meminfo("MemFree") / 4 * 3 * 1024;
	const size_t most = ((size_t)512 << 20) / kt_scale();
	pid_t pid = fork();
	int status;

	if (size > most)
		size = most;
	if (!pid) {
		uint64_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < size / sizeof(*p); i++)
			p[i] = KT_PATTERN;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return -1;
	return size >> 20;
}

/* Send messages until the queues are full, then throw them away with their queues. */
static inline long kt_send_messages(void)
{
	struct {
		long type;
		uint64_t bytes[1024];
	} m = { .type = 1 };
	long n = 0;

	for (int i = 0; i < 1024; i++)
		m.bytes[i] = KT_PATTERN;
	for (size_t size = 64; size <= 8192; size *= 2) {
		/*
		 * A message has a head of 48 bytes and is cut into pieces of a page at most, of
		 * which each but the first has a head of 8.
		 */
		size_t length = size - 56;

		for (int queue = 0; queue < 8; queue++) {
			int q = msgget(IPC_PRIVATE, 0600);

			if (q < 0)
				return n;
			while (!msgsnd(q, &m, length, IPC_NOWAIT))
				n++;
			msgctl(q, IPC_RMID, NULL);
		}
	}
	return n;
}

/*
 * Fill objects of the slabs from 64 bytes to 8 KiB.  A child does it: the pattern in a
 * register of this thread would be recorded with its next system calls.  Return: number of
 * messages, 0 if this kernel has none, or -1.
 */
static inline long kt_fill_slabs(void)
{
	int p[2], status;
	long n = 0;
	pid_t pid;

	if (pipe(p))
		return -1;
	pid = fork();
	if (!pid) {
		n = kt_send_messages();
		_exit(write(p[1], &n, sizeof(n)) != sizeof(n));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status ||
	    read(p[0], &n, sizeof(n)) != sizeof(n))
		n = -1;
	close(p[0]);
	close(p[1]);
	return n;
}

/* Does the kernel clear what it allocates?  Then no pattern can be found. */
static inline bool kt_clears_memory(void)
{
	size_t room = 8 << 20;
	char *text = malloc(room);
	int n = text ? syscall(SYS_syslog, 3, text, room - 1) : 0;
	bool is = false;

	if (n > 0) {
		text[n] = 0;
		is = strstr(text, "heap alloc:on") != NULL;
	}
	free(text);
	return is;
}

/* ---- what was found ----------------------------------------------------------- */

#define KT_NEAR	   4   /* words on each side of a finding */
#define KT_AT_BLOB 100 /* more than a record has argument words */

/**
 * struct kt_leak - what was searched and found
 * @kernel: where the kernel's memory is
 * @bytes: bytes searched
 * @not_zero: aligned words that are not zero
 * @pattern: places with the pattern, or with a poison of slabs
 * @records: records searched
 * @of: the same, by opcode
 * @addresses: places with an address of the kernel
 * @padding: bytes behind a record's end that are not zero
 * @tokens: places with a token and -1 that look like an address (kt_is_function_token())
 * @value: the first finding
 * @op: its opcode, 0: it was not found in a record but in other bytes
 * @at: where it is: in other bytes the offset, in a record the argument word, or
 *	KT_AT_BLOB and the offset in the blob, or for @padding the offset in the record
 * @near: 32-bit words around it, if it is in other bytes
 */
struct kt_leak {
	const struct kt_kernel *kernel;
	uint64_t bytes, not_zero, pattern;
	uint64_t records, of[KTAPE_OPCODES], addresses, padding, tokens;
	uint64_t value;
	uint32_t op;
	size_t at;
	uint32_t near[2 * KT_NEAR];
};

static inline uint64_t kt_leaks(const struct kt_leak *l)
{
	return l->addresses + l->pattern + l->padding;
}

static inline void kt_leak_found(struct kt_leak *l, uint64_t *counter,
				 uint64_t value, uint32_t op, size_t at)
{
	if (!kt_leaks(l)) {
		l->value = value;
		l->op = op;
		l->at = at;
	}
	++*counter;
}

/* Print what was found, if anything was. */
static inline void kt_leak_print(const struct kt_leak *l, const char *where)
{
	if (!kt_leaks(l))
		return;
	printf("# %s: %llu addresses, %llu old, %llu padding; the first: %#llx at %zu of event %u, between",
	       where, (unsigned long long)l->addresses,
	       (unsigned long long)l->pattern, (unsigned long long)l->padding,
	       (unsigned long long)l->value, l->at, l->op);
	for (int i = 0; i < 2 * KT_NEAR; i++)
		printf(" %08x", l->near[i]);
	printf("\n");
}

/*
 * Can this be an address in the direct map, in vmalloc's area, in the kernel or in a module,
 * by the layout of the address space? kt_in_kernel() knows what this kernel really has.
 */
static inline bool kt_is_address(uint64_t v)
{
#ifdef __x86_64__
	return (v >= 0xffff888000000000ULL && v < 0xfffffc0000000000ULL) ||
	       (v >= 0xffffffff80000000ULL && v < 0xffffffffff000000ULL);
#else
	/* Above are errors, and pairs of small negative 32-bit numbers: no addresses. */
	return v >= 0xffff000000000000ULL && v < 0xfffffe0000000000ULL;
#endif
}

/* ---- bytes ---------------------------------------------------------------------- */

/* Is this the pattern, or what the kernel fills free objects with (POISON_FREE, POISON_INUSE)? */
static inline bool kt_is_old(uint64_t v)
{
	return v == KT_PATTERN || v == 0x6b6b6b6b6b6b6b6bULL ||
	       v == 0x5a5a5a5a5a5a5a5aULL;
}

/* Is this half of the pattern?  A hole between two members of a structure is that long. */
static inline bool kt_is_half_old(uint32_t v)
{
	return v == (uint32_t)KT_PATTERN || v == KT_PATTERN >> 32;
}

static inline void kt_leak_near(struct kt_leak *l, const char *p, size_t size)
{
	const size_t words = size / 4, at = l->at / 4;
	const size_t from = at < KT_NEAR ? 0 : at - KT_NEAR;

	for (size_t i = 0; i < 2 * KT_NEAR && from + i < words; i++)
		memcpy(&l->near[i], p + (from + i) * 4, 4);
}

/*
 * Is this the token of a function, and -1 behind it?  A record of a timer that is armed for
 * the jiffy before (timer_start with expires_in = -1) has the two side by side, and looks
 * like an address of the kernel or of a module for up to a third of all tokens.  The module
 * names each function whose token it records, soon after; one of a module that has gone keeps
 * its entry for a while.
 */
static inline bool kt_is_function_token(uint64_t v)
{
	size_t nr;
	const struct ktape_object_entry *e = kt_map_registry(&nr);
	char name[KTAPE_NAME_SIZE];

	if (v >> 32 != UINT32_MAX)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (e[i].type == KTAPE_OBJ_FUNCTION && e[i].id == (uint32_t)v)
			return true;
	return !kt_wait_object_name(KTAPE_OBJ_FUNCTION, (uint32_t)v, name);
}

/*
 * Search memory at each aligned word of 32 bits.  Not at each byte, where a short negative
 * number behind another one looks like an address (00 38 00 00 00 ea ff ff, of EINVAL).
 * kt_leak_record() searches texts at each byte.
 */
static inline void kt_leak_bytes(struct kt_leak *l, const void *from, size_t size)
{
	const bool first = !kt_leaks(l);
	const char *p = from;

	l->bytes += size;
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint64_t v = 0;

		memcpy(&v, p + i, size - i < sizeof(v) ? 4 : sizeof(v));
		l->not_zero += i % 8 == 0 && v;
		/* Once something was found, nothing more has to be waited for. */
		if (kt_in_kernel(l->kernel, v) && !kt_leaks(l) &&
		    kt_is_function_token(v))
			l->tokens++;
		else if (kt_in_kernel(l->kernel, v))
			kt_leak_found(l, &l->addresses, v, 0, i);
		else if (kt_is_old(v) || kt_is_half_old(v))
			kt_leak_found(l, &l->pattern, v, 0, i);
	}
	if (first && kt_leaks(l))
		kt_leak_near(l, p, size);
}

/* ---- records -------------------------------------------------------------------- */

/**
 * struct kt_wide - the 64-bit fields of an event
 * @args: bit n: one begins at argument word n
 * @blob: bit n: one begins at word n of the blob
 * @list: word of the blob at which a list of them begins, 0 = none
 * @text: the blob has bytes of any kind
 */
struct kt_wide {
	uint32_t args, blob, list;
	bool text;
};

static inline void kt_wide_add(uint32_t *mask, unsigned int *at, int words, int count)
{
	for (; count > 0; count--, *at += words)
		if (words == 2 && *at < 32)
			*mask |= 1U << *at;
}

/* Read the table of events. */
static inline struct kt_wide kt_wide_args_of(uint32_t op)
{
	struct kt_wide w = {};
	uint32_t *mask = &w.args;
	unsigned int at = 0;

	switch (op) {
/* clang-format off */
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help)	case opcode:
#define KTAPE_ARG(TYPE, field, help) \
	kt_wide_add(mask, &at, KTS_WORDS_##TYPE, 1);
#define KTAPE_ARRAY(TYPE, field, count, help) \
	kt_wide_add(mask, &at, KTS_WORDS_##TYPE, count);
#define KTAPE_BLOB()			mask = &w.blob; at = 0;
#define KTAPE_TEXT(field, help)		w.text = true;
#define KTAPE_BYTES(field, help)	w.text = true;
#define KTAPE_LIST(TYPE, number, field, help) \
	w.list = KTS_WORDS_##TYPE == 2 ? at + 1 : 0;
#define KTAPE_END(NAME)			break;
#include <ktape/events.h>
		/* clang-format on */
	}
	return w;
}

static inline void kt_leak_word(struct kt_leak *l, const struct kt_rec *r,
				const void *at, size_t where)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	if (kt_is_address(v) || kt_in_kernel(l->kernel, v))
		kt_leak_found(l, &l->addresses, v, r->op, where);
	else if (kt_is_old(v) || kt_is_half_old(v))
		kt_leak_found(l, &l->pattern, v, r->op, where);
}

/* Search a text for addresses that are written in it, with 16 hexadecimal digits. */
static inline void kt_leak_text(struct kt_leak *l, const struct kt_rec *r)
{
	uint64_t v = 0;
	uint32_t digits = 0;

	for (uint32_t i = 0; i < r->size; i++) {
		char c = r->blob[i] | 0x20;
		bool digit = r->blob[i] >= '0' && r->blob[i] <= '9';

		if (digit || (c >= 'a' && c <= 'f')) {
			v = v << 4 | (digit ? r->blob[i] - '0' : c - 'a' + 10);
			digits++;
		} else {
			digits = 0;
		}
		if (digits >= 16 && (kt_is_address(v) || kt_in_kernel(l->kernel, v)))
			kt_leak_found(l, &l->addresses, v, r->op, KT_AT_BLOB + i);
	}
}

/*
 * Search a record: its 64-bit fields, each offset of its texts, and its padding.  A record has 8
 * bytes before its arguments and 4 before its blob, and is padded to a multiple of 8.
 */
static inline void kt_leak_record(struct kt_leak *l, const struct kt_rec *r)
{
	const struct kt_wide w = kt_wide_args_of(r->op);
	const char *end = (const char *)(r->args + r->nargs);
	size_t used = 8 + r->nargs * 4;

	l->records++;
	l->of[r->op]++;
	for (uint32_t i = 0; i + 1 < r->nargs; i++)
		if (w.args >> i & 1)
			kt_leak_word(l, r, r->args + i, i);
	for (uint32_t i = 0; i + 8 <= r->size; i++)
		if (w.text || (i % 4 == 0 && i < 128 && w.blob >> i / 4 & 1) ||
		    (w.list && i >= w.list * 4 && (i / 4 - w.list) % 2 == 0 &&
		     i % 4 == 0))
			kt_leak_word(l, r, r->blob + i, KT_AT_BLOB + i);
	if (w.text)
		kt_leak_text(l, r);
	if (r->blob) {
		end = r->blob + r->size;
		used += 4 + r->size;
	}
	for (; used % 8; used++, end++)
		if (*end)
			kt_leak_found(l, &l->padding, *end, r->op, used);
}

#endif /* _KT_LEAK_H */

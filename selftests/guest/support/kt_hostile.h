/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers of the hostile tests: how many tries, random numbers from a seed, which the tests
 * print, and addresses that a system call should refuse or survive.
 */
#ifndef _KT_HOSTILE_H
#define _KT_HOSTILE_H

#include <sys/mman.h>
#include <time.h>

#include "kt.h"
#include "lcg.h"

#define KT_PAGE 4096UL

/* Return how many times more tries than in make check and make check-rest are wanted. */
static inline long kt_hostile_factor(void)
{
	const char *text = getenv("KTAPE_HOSTILE");
	long factor = text ? atol(text) : 1;

	return factor > 0 ? factor : 1;
}

/* Return @tries times that factor, and fewer on a slow kernel. */
static inline long kt_tries(long tries)
{
	tries = tries * kt_hostile_factor() / kt_scale();
	return tries > 0 ? tries : 1;
}

/* Return the seed: KTAPE_SEED, or a new one. */
static inline uint64_t kt_seed(void)
{
	const char *text = getenv("KTAPE_SEED");
	struct timespec now;

	if (text)
		return strtoull(text, NULL, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec ^ (uint64_t)now.tv_nsec << 20;
}

/* Return a value at which arithmetic on sizes and indexes goes wrong most easily. */
static inline uint64_t kt_extreme(uint64_t *seed)
{
	static const uint64_t number[] = {
		0,
		1,
		2,
		3,
		7,
		8,
		24,
		32,
		63,
		64,
		100,
		127,
		128,
		255,
		256,
		511,
		512,
		1023,
		1024,
		1025,
		4088,
		4095,
		4096,
		4097,
		8192,
		65535,
		65536,
		0x7fffffff,
		0x80000000,
		0xfffff000,
		0xffffffff,
		1ULL << 32,
		1ULL << 47,
		0x7ffffffff000,
		0x7fffffffffffffff,
		1ULL << 63,
		0xfffffffffffff000,
		~0ULL,
	};
	uint64_t n = number[lcg_below(seed, sizeof(number) / sizeof(*number))];

	switch (lcg_below(seed, 6)) {
	case 0:
		return n + lcg_below(seed, 5) - 2;
	case 1:
		return (uint64_t)lcg_next(seed) << 32 | lcg_next(seed);
	case 2:
		return lcg_below(seed, 260);
	default:
		return n;
	}
}

/**
 * struct kt_traps - memory that faults, of one thread
 * @open: two pages that can be read and written
 * @rdonly: two pages that can be read
 * @closed: a page that cannot be accessed, right behind those of @open
 *
 * Nothing is unmapped: other threads would get that memory.
 */
struct kt_traps {
	char *open;
	char *rdonly;
	char *closed;
};

/* Return: 0, or a negative errno. */
static inline int kt_traps_make(struct kt_traps *t)
{
	char *p = mmap(NULL, 5 * KT_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	t->open = p;
	t->closed = p + 2 * KT_PAGE;
	t->rdonly = p + 3 * KT_PAGE;
	if (mprotect(t->closed, KT_PAGE, PROT_NONE) ||
	    mprotect(t->rdonly, 2 * KT_PAGE, PROT_READ))
		return -errno;
	return 0;
}

static inline void kt_traps_free(struct kt_traps *t)
{
	munmap(t->open, 5 * KT_PAGE);
}

/*
 * Return an address for @size bytes.  Half of them are the beginning of @t->open; the others are
 * unaligned, at its very end, can only be read, fault at once or after some bytes, or are of the
 * kernel.  More than two pages fault in any case.
 */
static inline char *kt_address(uint64_t *seed, const struct kt_traps *t, size_t size)
{
	static const uint64_t far[] = {
		0,
		1,
		8,
		4096,
		0x7ffffffff000,
		0x7fffffffffff,
		0x800000000000,
		0xffff800000000000,
		0xffff888000000000,
		0xffffffff81000000,
		0xffffffffff600000,
		0xfffffffffffff000,
		~0ULL,
	};
	size_t end = 2 * KT_PAGE;

	if (size > end)
		size = end;
	switch (lcg_below(seed, 12)) {
	case 0:
		return (char *)(uintptr_t)
			far[lcg_below(seed, sizeof(far) / sizeof(*far))];
	case 1:
		return t->open + 1 + lcg_below(seed, 7);
	case 2: /* Ends with the page, to the byte. */
		return t->open + end - size;
	case 3: /* Faults behind some of its bytes. */
		return t->open + end - lcg_below(seed, size + 1);
	case 4:
		return t->rdonly + lcg_below(seed, 64);
	case 5:
		return t->closed + lcg_below(seed, KT_PAGE);
	default:
		return t->open;
	}
}

#endif /* _KT_HOSTILE_H */

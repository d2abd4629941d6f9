/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel's memory is on this machine, as /proc/kcore and /proc/vmallocinfo say:
 * the direct map, the kernel, struct pages, vmalloc's areas and modules.
 *
 * All of the kernel's part of the address space would be too much to search bytes for. Two
 * 32-bit values that are neighbours look like an address of it once in 150,000 times. Of
 * the upper halves of addresses only ten or so are in use.
 */
#ifndef _KT_KERNEL_H
#define _KT_KERNEL_H

#include <elf.h>

#include "kt.h"

#define KT_SPANS 64
#define KT_KPTR	 "/proc/sys/kernel/kptr_restrict"

/**
 * struct kt_span - a part of the kernel's address space
 * @from: first address
 * @to: address behind it
 */
struct kt_span {
	uint64_t from, to;
};

/**
 * struct kt_kernel - where the kernel's memory is
 * @nr: number of parts, 0 = not known
 * @span: the parts
 */
struct kt_kernel {
	int nr;
	struct kt_span span[KT_SPANS];
};

static inline bool kt_in_kernel(const struct kt_kernel *k, uint64_t v)
{
	if (v >> 48 != 0xffff)
		return false;
	for (int i = 0; i < k->nr; i++)
		if (v >= k->span[i].from && v < k->span[i].to)
			return true;
	return false;
}

static inline void kt_kernel_add(struct kt_kernel *k, uint64_t from, uint64_t to)
{
	if (k->nr < KT_SPANS)
		k->span[k->nr++] = (struct kt_span){ from, to };
}

/*
 * Add an area of vmalloc, and what lies between it and others with the same upper half:
 * areas come and go.
 */
static inline void kt_kernel_area(struct kt_kernel *k, uint64_t from, uint64_t to)
{
	for (int i = 0; i < k->nr; i++) {
		struct kt_span *s = &k->span[i];

		if (s->from >> 32 != from >> 32)
			continue;
		if (from < s->from)
			s->from = from;
		if (to > s->to)
			s->to = to;
		return;
	}
	kt_kernel_add(k, from, to);
}

/* Read which areas vmalloc has given out. */
static inline void kt_kernel_areas(struct kt_kernel *k)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	unsigned long long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%llx", &from, &to) == 2 &&
		    from >> 48 == 0xffff && to > from)
			kt_kernel_area(k, from, to);
	if (f)
		fclose(f);
}

/* Is one of vmalloc's areas in this segment?  Then the areas stand for it. */
static inline bool kt_is_for_areas(const struct kt_kernel *areas,
				   const Elf64_Phdr *p)
{
	for (int i = 0; i < areas->nr; i++)
		if (areas->span[i].from - p->p_vaddr < p->p_memsz)
			return true;
	return false;
}

static inline void kt_kernel_segments(struct kt_kernel *k,
				      const struct kt_kernel *areas)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr e = {};
	Elf64_Phdr p;

	if (fd < 0)
		return;
	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64)
		e.e_phnum = 0;
	for (int i = 0; i < e.e_phnum; i++) {
		off_t at = e.e_phoff + i * sizeof(p);

		/* Programs may see the last megabytes, with vsyscall. */
		if (pread(fd, &p, sizeof(p), at) == sizeof(p) &&
		    p.p_type == PT_LOAD && p.p_vaddr >> 48 == 0xffff &&
		    p.p_vaddr < 0xffffffffff000000ULL &&
		    !kt_is_for_areas(areas, &p))
			kt_kernel_add(k, p.p_vaddr, p.p_vaddr + p.p_memsz);
	}
	close(fd);
}

/*
 * Without /proc/kcore, on x86 without random places, which the areas show: the direct map
 * and its pages, for a machine of less than 4 GiB, and the kernel.
 */
static inline void kt_kernel_fixed(struct kt_kernel *k, const struct kt_kernel *areas)
{
	for (int i = 0; i < areas->nr; i++)
		if (KT_X86 && areas->span[i].from >> 32 == 0xffffc900) {
			kt_kernel_add(k, 0xffff888000000000ULL,
				      0xffff888100000000ULL);
			kt_kernel_add(k, 0xffffea0000000000ULL,
				      0xffffea0004000000ULL);
			kt_kernel_add(k, 0xffffffff81000000ULL,
				      0xffffffff88000000ULL);
			return;
		}
}

/* Find out where the kernel's memory is. */
static inline void kt_kernel_find(struct kt_kernel *k)
{
	struct kt_kernel areas = {};
	char before[16] = "0";
	int fd = open(KT_KPTR, O_RDONLY | O_CLOEXEC);

	/* With 0 the kernel may print hashes instead of addresses. */
	if (fd >= 0 && read(fd, before, sizeof(before) - 1) > 0)
		kt_write_text(KT_KPTR, "1");
	kt_kernel_areas(&areas);
	if (fd >= 0) {
		kt_write_text(KT_KPTR, before);
		close(fd);
	}
	memset(k, 0, sizeof(*k));
	kt_kernel_segments(k, &areas);
	if (!k->nr)
		kt_kernel_fixed(k, &areas);
	for (int i = 0; i < areas.nr; i++)
		kt_kernel_add(k, areas.span[i].from, areas.span[i].to);
}

#endif /* _KT_KERNEL_H */

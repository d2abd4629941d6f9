/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Load ktape with a region that survives a reset. selftests/guest/suite keeps that memory
 * from the kernel, on x86 by memmap=, elsewhere as the memory above the limit mem=.
 */
#ifndef KT_PERSIST_H
#define KT_PERSIST_H

#include "kselftest_harness.h"

#include <ktape/persist.h>

#include "kt_module.h"

#define PAGE 4096
/* The region, and an address in memory that the kernel uses. */
#if defined(__x86_64__) || defined(__i386__)
#define REGION_AT 0x18000000
#define RAM_AT	  0x100000
#elif defined(__riscv)
#define REGION_AT 0xbfc00000
#define RAM_AT	  0x90000000
#else
#define REGION_AT 0x7fc00000
#define RAM_AT	  0x50000000
#endif
#define TEXT_OF(number) #number
#define PERSIST(at)	"persist=" TEXT_OF(at) /* expands @at first */
#define REGION		PERSIST(REGION_AT) ",4M"
#define M		(1024UL * 1024)
#define HALF		(2 * M) /* of the region */

/* Descriptor of the kernel log, positioned at the last load_ktape(). */
static int klog = -1;

static inline void klog_from_here(void)
{
	if (klog >= 0)
		close(klog);
	klog = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (klog >= 0)
		lseek(klog, 0, SEEK_END);
}

/* Return: 0 or -errno. */
static inline int load_ktape(const char *parameters)
{
	int ret;

	klog_from_here();
	kt_expedite(true);
	ret = kt_insmod_ktape(parameters);
	kt_expedite(false);
	return ret;
}

/* Return: 0 or -errno. */
static inline int unload_ktape(void)
{
	int ret;

	kt_expedite(true);
	ret = kt_rmmod("ktape");
	kt_expedite(false);
	return ret;
}

/* Read from the earlier trace that the region has. Return: number of bytes or -errno. */
static inline long read_old(int fd, uint64_t offset, void *to, uint64_t length)
{
	struct ktape_persist_read r = {
		.size = sizeof(r),
		.offset = offset,
		.length = length,
		.data = (uintptr_t)to,
	};
	int ret = kt_ioctl(fd, KTAPE_IOC_PERSIST_READ, &r);

	return ret ? ret : (long)r.length;
}

#endif /* KT_PERSIST_H */

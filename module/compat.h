/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernels, and the only place for tests of a
 * kernel's version.  The rest of the module is written for the newest kernel.
 *
 * Outside the kernel this file stands for the handful of primitives that the
 * ring needs (native tests and benchmarks, see selftests/unit).
 */
#ifndef _KT_COMPAT_H
#define _KT_COMPAT_H

#ifndef __KERNEL__
#include "ktape_shim.h"
#else

#include <asm/local.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>

#ifdef __BIG_ENDIAN
#error "ktape writes little-endian records; big-endian kernels are not supported"
#endif

/*
 * cmpxchg that is atomic on this CPU only.  x86 has had the macro below since
 * before 5.10; it leaves the result in the flags, where local_cmpxchg() costs a
 * comparison.
 */
#if defined(CONFIG_X86) && defined(__raw_try_cmpxchg)
#define kt_try_cmpxchg_local(ptr, old, new) \
	__raw_try_cmpxchg(ptr, old, new, sizeof(*(ptr)), "")
#else
#define kt_try_cmpxchg_local(ptr, old, new)				\
({									\
	unsigned long __old = *(old);					\
	unsigned long __got = cmpxchg_local(ptr, __old, new);		\
	*(old) = __got;							\
	likely(__got == __old);						\
})
#endif

/* Counts in control pages are u64; 32-bit kernels use the low half. */
#define kt_local_inc(p)		local_inc((local_t *)(p))

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#include <linux/crc32c.h>
#define kt_crc32c(crc, p, len)	crc32c(crc, p, len)
#else
#define kt_crc32c(crc, p, len)	__crc32c_le(crc, p, len)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void kt_vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				   vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void kt_vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				   vm_flags_t clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/* The callback that may refuse to split a mapping was renamed in 5.11. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define KT_VM_MAY_SPLIT		may_split
#else
#define KT_VM_MAY_SPLIT		split
#endif

#endif /* __KERNEL__ */
#endif /* _KT_COMPAT_H */

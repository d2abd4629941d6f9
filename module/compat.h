/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernel versions and architectures, and the
 * only place for tests of a kernel's version.  The rest of the module is
 * written for the newest kernel.
 *
 * For differences that the preprocessor cannot test, Kbuild searches the
 * kernel's headers and defines KT_HAVE_*.
 *
 * Outside the kernel (unit tests and benchmarks) ktape_shim.h in selftests/unit
 * provides the few primitives that the ring needs.
 */
#ifndef _KT_COMPAT_H
#define _KT_COMPAT_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "ktape writes little-endian records; big-endian kernels are not supported"
#endif

#ifndef __KERNEL__
#include "ktape_shim.h"
#else

#if !IS_ENABLED(CONFIG_CRC32)
#error "ktape needs CONFIG_CRC32 for the checksums of packets: build a kernel with it"
#endif

#include <asm/local.h>
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compat.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/syscore_ops.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <linux/version.h>

#if defined(CONFIG_X86)
#include <asm/tsc.h>
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#elif defined(CONFIG_RISCV)
#include <asm/delay.h>
#include <asm/timex.h>
#endif

/*
 * cmpxchg that is atomic on this CPU only.  The x86 macro takes the result from
 * the flags; cmpxchg_local() would need a comparison.  A function, because that
 * of riscv has variables named __old and __new, which hide a macro's own.
 */
static __always_inline bool
kt_try_cmpxchg_local(unsigned long *ptr, unsigned long *old, unsigned long new)
{
#if defined(CONFIG_X86) && defined(__raw_try_cmpxchg)
	return __raw_try_cmpxchg(ptr, old, new, sizeof(*ptr), "");
#else
	unsigned long expected = *old;

	*old = cmpxchg_local(ptr, expected, new);
	return likely(*old == expected);
#endif
}

/*
 * Is this an NMI, on an architecture whose cmpxchg is not atomic against NMIs?
 * Such an NMI must not write to a ring.
 */
static __always_inline bool kt_nmi_unsafe(void)
{
	return !IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) && in_nmi();
}

/* Change an unsigned long, atomically with respect to interrupts and NMIs. */
#define kt_local_inc(p)	   local_inc((local_t *)(p))
#define kt_local_dec(p)	   local_dec((local_t *)(p))
#define kt_local_add(n, p) local_add(n, (local_t *)(p))

/*
 * The same with the sum as result.  Each event of a 32-bit kernel uses it, so it
 * must not be a barrier, as local_add_return() is on arm.
 */
#ifdef CONFIG_X86
#define kt_local_add_return(n, p) local_add_return(n, (local_t *)(p))
#else
#define kt_local_add_return(n, p) \
	atomic_long_add_return_relaxed(n, (atomic_long_t *)(p))
#endif

/*
 * Read and write a member of a per-CPU variable once, with preemption disabled, in
 * one instruction where the architecture has one.
 */
#ifdef CONFIG_X86
#define kt_cpu_read(var)      this_cpu_read(var)
#define kt_cpu_write(var, to) this_cpu_write(var, to)
#else
#define kt_cpu_read(var)      READ_ONCE(*raw_cpu_ptr(&(var)))
#define kt_cpu_write(var, to) WRITE_ONCE(*raw_cpu_ptr(&(var)), to)
#endif

/*
 * Does get_cycles() call a function, which may be probed?  arm64 calls one
 * through a pointer, because of CPUs whose counter has errata.  Architectures
 * other than these three use clock=mono, which takes a call anyway.
 */
#if defined(CONFIG_X86) || defined(CONFIG_RISCV)
#define KT_CYCLES_BY_CALL false
#else
#define KT_CYCLES_BY_CALL true
#endif

/* Address of the function that get_cycles() calls, or 0. */
#ifdef CONFIG_ARM64
#define kt_cycles_function() ((unsigned long)READ_ONCE(arch_timer_read_counter))
#else
#define kt_cycles_function() 0UL
#endif

/* Read get_cycles() in two halves, as the rdtsc instruction returns it. */
static __always_inline void kt_get_cycles_halves(u32 *lo, u32 *hi)
{
#if defined(CONFIG_X86_TSC) && !defined(CONFIG_UML)
	asm volatile("rdtsc" : "=a"(*lo), "=d"(*hi));
#else
	u64 cycles = get_cycles();

	*lo = (u32)cycles;
	*hi = (u32)(cycles >> 32);
#endif
}

/*
 * Return the ticks per second of get_cycles(), or 0 if there is no counter or
 * the kernel does not trust it across CPUs and idle states.
 */
static inline u64 kt_cycles_hz(void)
{
#if defined(CONFIG_X86_TSC) && !defined(CONFIG_UML)
	/* Unstable: it varies, halts in idle or differs between CPUs. */
	return check_tsc_unstable() ? 0 : (u64)tsc_khz * 1000;
#elif defined(CONFIG_ARM64)
	return arch_timer_get_cntfrq();
#elif defined(CONFIG_RISCV) && defined(CONFIG_64BIT)
	return riscv_timebase;
#else
	return 0;
#endif
}

/* crc32c() needs the crypto API before 6.14; __crc32c_le() does not. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#include <linux/crc32c.h>
#define kt_crc32c(crc, p, len) crc32c(crc, p, len)
#else
#define kt_crc32c(crc, p, len) __crc32c_le(crc, p, len)
#endif

/* vm_flags is read-only since 6.3, and vm_flags_mod() is new in it. */
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

/*
 * Callbacks at suspend and resume, with one CPU and interrupts off.  After 6.17
 * they take an argument; then Kbuild defines KT_HAVE_SYSCORE_DATA.
 */
#ifdef KT_HAVE_SYSCORE_DATA
#define KT_SYSCORE(name, on_suspend, on_resume)        \
	static int name##_suspend(void *data)          \
	{                                              \
		return on_suspend();                   \
	}                                              \
	static void name##_resume(void *data)          \
	{                                              \
		on_resume();                           \
	}                                              \
	static const struct syscore_ops name##_ops = { \
		.suspend = name##_suspend,             \
		.resume = name##_resume,               \
	};                                             \
	static struct syscore name = { .ops = &name##_ops }
#define kt_syscore_register(s)	 register_syscore(s)
#define kt_syscore_unregister(s) unregister_syscore(s)
#else
#define KT_SYSCORE(name, on_suspend, on_resume) \
	static struct syscore_ops name = {      \
		.suspend = on_suspend,          \
		.resume = on_resume,            \
	}
#define kt_syscore_register(s)	 register_syscore_ops(s)
#define kt_syscore_unregister(s) unregister_syscore_ops(s)
#endif

/*
 * Write caches back to memory.  Does nothing if the kernel exports no function
 * for that.
 */
#ifdef CONFIG_ARCH_HAS_PMEM_API
#include <linux/libnvdimm.h>
#define kt_cache_clean(p, len) arch_wb_cache_pmem((void *)(p), len)
#else
#define kt_cache_clean(p, len) \
	do {                   \
		(void)(p);     \
		(void)(len);   \
	} while (0)
#endif

/*
 * Does the tracepoint of the kernel's log WARN if printk() is called in an NMI?  From
 * 5.19 on printk_sprint() called it there, and until 6.3 as trace_console_rcuidle(),
 * whose SRCU does not work in NMIs.
 */
#define KT_NMI_CONSOLE_WARNS                               \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0))

/* eventfd_signal() took a count argument before 6.8. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define kt_eventfd_signal(ctx) eventfd_signal(ctx)
#else
#define kt_eventfd_signal(ctx) eventfd_signal(ctx, 1)
#endif

/* Largest order of a page allocation. */
#ifdef MAX_PAGE_ORDER
#define KT_ORDER_MAX MAX_PAGE_ORDER
#else
#define KT_ORDER_MAX (MAX_ORDER - 1)
#endif

/*
 * Flag that charges a page to a cgroup, for pages that user space maps.  Before
 * 5.11 a charged page had a page type in place of its map count and could not
 * be mapped.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define KT_GFP_MAPPED_ACCOUNT __GFP_ACCOUNT
#else
#define KT_GFP_MAPPED_ACCOUNT ((__force gfp_t)0)
#endif

/*
 * Does the data cache alias?  Then a store at one virtual address of a page is
 * not visible to loads at another.  Since 6.9 cpu_dcache_is_aliasing() answers
 * that.  Before, arm and mips had names of their own; other architectures that
 * may alias are taken to alias.
 */
#include <linux/cacheinfo.h>
#if defined(cpu_dcache_is_aliasing)
#define kt_dcache_is_aliasing() cpu_dcache_is_aliasing()
#elif defined(CONFIG_ARM)
#include <asm/cachetype.h>
#define kt_dcache_is_aliasing() (cache_is_vivt() || cache_is_vipt_aliasing())
#elif defined(CONFIG_MIPS)
#include <asm/cpu-features.h>
#define kt_dcache_is_aliasing() (!!cpu_has_dc_aliases)
#elif defined(CONFIG_ARC) || defined(CONFIG_CSKY) || defined(CONFIG_NIOS2) || \
	defined(CONFIG_SUPERH) || defined(CONFIG_XTENSA)
#define kt_dcache_is_aliasing() true
#else
#define kt_dcache_is_aliasing() false
#endif

/* The vm_operations callback that may refuse a split was renamed in 5.11. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define KT_VM_MAY_SPLIT may_split
#else
#define KT_VM_MAY_SPLIT split
#endif

/* Arguments of a function from the registers at its entry, and their number. */
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
#define KT_FUNCTION_ARGUMENTS	      4
#define kt_function_argument(regs, n) regs_get_kernel_argument(regs, n)
#else
#define KT_FUNCTION_ARGUMENTS	      0
#define kt_function_argument(regs, n) 0
#endif

/* Kretprobe of the return that is being handled; NULL: it is being removed. */
#ifndef CONFIG_KRETPROBES
#define kt_kretprobe_of(ri) ((struct kretprobe *)NULL)
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define kt_kretprobe_of(ri) get_kretprobe(ri)
#else
#define kt_kretprobe_of(ri) READ_ONCE((ri)->rp)
#endif

/*
 * Did a kprobe enter its handler by a breakpoint that in_nmi() counts as an
 * NMI?  Call this only if in_nmi() is true, and not for kprobes on ftrace.
 *
 * x86 counts a breakpoint in the kernel as an NMI.  An optimised probe enters
 * its handler by a jump instead, which does not count.  The address of @regs
 * distinguishes the two.  After a jump the registers lie directly below the
 * probed code's stack pointer (before 5.12 they even overlap it).  After an
 * exception there is room between the two: the kernel keeps it to emulate a
 * call, and FRED aligns its frame.  The instruction at the probe cannot decide,
 * because it may be patched while the handler runs.
 *
 * RISC-V counts breakpoints and has no optimised probes.  Other architectures
 * do not count breakpoints: there in_nmi() is true in NMIs only.
 */
static __always_inline bool kt_is_counted_breakpoint(const struct pt_regs *regs)
{
#if defined(CONFIG_X86)
	return (unsigned long)(regs + 1) < regs->sp;
#else
	return IS_ENABLED(CONFIG_RISCV);
#endif
}

/* Named in_irq() before 5.11. */
#ifndef in_hardirq
#define in_hardirq() (hardirq_count())
#endif

/* Work items that any CPU may run.  Using the former name is logged since 7.2. */
#ifdef KT_HAVE_DFL_WQ
#define kt_any_cpu_wq system_dfl_wq
#else
#define kt_any_cpu_wq system_unbound_wq
#endif

/* State of a task that is switched out, for tracepoints that do not pass it. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
#define kt_task_state(p) READ_ONCE((p)->__state)
#else
#define kt_task_state(p) READ_ONCE((p)->state)
#endif

/* Highest address of any program; all architectures define it since 5.18. */
#ifndef TASK_SIZE_MAX
#define TASK_SIZE_MAX TASK_SIZE
#endif

/* Disk of a request, NULL = none. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define kt_rq_disk(rq) ((rq)->q->disk)
#else
#define kt_rq_disk(rq) ((rq)->rq_disk)
#endif

/* Name of a bio's device: since 5.12 of the partition, before of the disk. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 12, 0)
#define kt_bio_name(bio) dev_name(&(bio)->bi_bdev->bd_device)
#else
#define kt_bio_name(bio) ((bio)->bi_disk->disk_name)
#endif

/* Return true if the running system call uses the 32-bit table. */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define kt_syscall_is_compat() in_ia32_syscall()
#elif defined(CONFIG_COMPAT)
#define kt_syscall_is_compat() in_compat_syscall()
#else
#define kt_syscall_is_compat() false
#endif

/* x32 programs set a bit in the number of a system call. */
#if defined(CONFIG_X86_64)
#define KT_X32_BIT	      0x40000000L
#define kt_syscall_is_x32(nr) ((nr) > 0 && (KT_X32_BIT & (nr)))
#define kt_syscall_x32_nr(nr) ((nr) & ~KT_X32_BIT)
#else
#define kt_syscall_is_x32(nr) false
#define kt_syscall_x32_nr(nr) (nr)
#endif

#endif /* __KERNEL__ */
#endif /* _KT_COMPAT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel that module/ring/ needs, for user space on x86, with 64
 * or 32 bits.
 * module/compat.h includes this file when there is no kernel.
 *
 * The clock is the cycle counter as in the module, unless a test defines
 *   KT_SHIM_SHIFT=n	the cycle counter times 2^n: the low half wraps sooner
 *   KT_SHIM_CLOCK	kt_shim_time, which the test advances
 *   KT_SHIM_BY_CALL	the ring's path for a clock that takes a call (clock=mono)
 */
#ifndef _KTAPE_SHIM_H
#define _KTAPE_SHIM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#undef __always_inline
#define __always_inline	      inline __attribute__((always_inline))
#define noinline	      __attribute__((noinline))
#define __cold		      __attribute__((cold))
#define ____cacheline_aligned __attribute__((aligned(64)))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define barrier()	 __asm__ __volatile__("" : : : "memory")
#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(expr)	 (expr)

/*
 * x86 does not reorder stores with stores or loads with loads: only the compiler
 * does.
 */
#define smp_wmb() barrier()
#define smp_rmb() barrier()
#define smp_store_release(p, v)      \
	do {                         \
		barrier();           \
		WRITE_ONCE(*(p), v); \
	} while (0)
#define smp_load_acquire(p)                             \
	({                                              \
		__typeof__(*(p)) __v = READ_ONCE(*(p)); \
		barrier();                              \
		__v;                                    \
	})

#define preempt_disable() barrier()
#define preempt_enable()  barrier()

#define ALIGN(x, a) (((x) + (a)-1) & ~((__typeof__(x))(a)-1))
#define __ffs(x)    ((unsigned int)__builtin_ctzl(x))

/* Suffix of instructions on an unsigned long. */
#ifdef __x86_64__
#define KT_SHIM_LONG "q"
#else
#define KT_SHIM_LONG "l"
#endif

/* Like the kernel's __raw_try_cmpxchg() without the lock prefix. */
#define kt_try_cmpxchg_local(ptr, old, new)                                         \
	({                                                                          \
		bool __ok;                                                          \
		unsigned long __old = *(old);                                       \
                                                                                    \
		__asm__ __volatile__("cmpxchg" KT_SHIM_LONG " %[n], %[p]"           \
				     : "=@ccz"(__ok), [p] "+m"(*(ptr)), "+a"(__old) \
				     : [n] "r"((unsigned long)(new))                \
				     : "memory");                                   \
		if (unlikely(!__ok))                                                \
			*(old) = __old;                                             \
		likely(__ok);                                                       \
	})

#define kt_local_inc(p) \
	__asm__ __volatile__("inc" KT_SHIM_LONG " %0" : "+m"(*(p)))
#define kt_local_dec(p) \
	__asm__ __volatile__("dec" KT_SHIM_LONG " %0" : "+m"(*(p)))
#define kt_local_add(n, p)                                \
	__asm__ __volatile__("add" KT_SHIM_LONG " %1, %0" \
			     : "+m"(*(p))                 \
			     : "er"((long)(n)))
#define kt_local_add_return(n, p)                                  \
	({                                                         \
		long __add = (n), __sum = __add;                   \
                                                                   \
		__asm__ __volatile__("xadd" KT_SHIM_LONG " %0, %1" \
				     : "+r"(__sum), "+m"(*(p))     \
				     :                             \
				     : "memory");                  \
		__sum + __add;                                     \
	})

#ifdef KT_SHIM_BY_CALL
#define kt_clock_by_call() true
#else
#define kt_clock_by_call() false
#endif

#ifdef KT_SHIM_CLOCK

extern u64 kt_shim_time;

static __always_inline u64 kt_clock(void)
{
	return READ_ONCE(kt_shim_time);
}

#else

#ifndef KT_SHIM_SHIFT
#define KT_SHIM_SHIFT 0
#endif

static __always_inline u64 kt_clock(void)
{
	u32 lo, hi;

	__asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi));
	return ((u64)hi << 32 | lo) << KT_SHIM_SHIFT;
}

#endif

static __always_inline void kt_clock_halves(u32 *lo, u32 *hi, const bool by_call)
{
	(void)by_call;
#if defined(KT_SHIM_CLOCK) || KT_SHIM_SHIFT
	u64 ts = kt_clock();

	*lo = (u32)ts;
	*hi = (u32)(ts >> 32);
#else
	/* Like kt_get_cycles_halves() in compat.h. */
	__asm__ __volatile__("rdtsc" : "=a"(*lo), "=d"(*hi));
#endif
}

#endif /* _KTAPE_SHIM_H */

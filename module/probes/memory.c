// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for memory (page faults, pages, slab objects) and for contended locks.
 * They record the events of uapi/ktape/events/memory.h.
 *
 * Callbacks whose names end in _cache, _node, _sizes, _both, _name or a number are for other
 * prototypes of a tracepoint; the table at the end takes the one that this kernel has.
 */
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include <trace/events/lock.h>

/* Newer kernels have one header for all architectures, older ones one each. */
#if defined(KT_HAVE_PAGE_FAULT)
#include <trace/events/exceptions.h>
#elif defined(KT_HAVE_ASM_PAGE_FAULT)
#include <asm/trace/exceptions.h>
#define KT_HAVE_PAGE_FAULT
#endif

#include "event/event.h"
#include "internal.h"

/* ---- page faults --------------------------------------------------------- */

#define ERROR_MASK 0xffffU

/* Return a user address as it is, a kernel address as a token. */
static __always_inline u64 fault_address(unsigned long address)
{
	return address < TASK_SIZE_MAX ? address : kt_token((const void *)address);
}

static void __maybe_unused notrace probe_page_fault_user(void *data,
							 unsigned long address,
							 struct pt_regs *regs,
							 unsigned long error)
{
	u64 at = fault_address(address);

	kt_probe_enter();
	KT_EVENT3(PAGE_FAULT_USER, error & ERROR_MASK, (u32)at, (u32)(at >> 32),
		  kt_token((const void *)instruction_pointer(regs)));
	kt_probe_leave();
}

static void __maybe_unused notrace probe_page_fault_kernel(void *data,
							   unsigned long address,
							   struct pt_regs *regs,
							   unsigned long error)
{
	u64 at = fault_address(address);

	kt_probe_enter();
	KT_EVENT3(PAGE_FAULT_KERNEL, error & ERROR_MASK, (u32)at,
		  (u32)(at >> 32), kt_token_func(instruction_pointer(regs)));
	kt_probe_leave();
}

/* ---- pages --------------------------------------------------------------- */

#define ORDER_BITS 5
#define ORDER_MASK ((1U << ORDER_BITS) - 1)
#define TYPE_MASK  0xfU

static void notrace probe_mm_page_alloc(void *data, struct page *page,
					unsigned int order, gfp_t gfp,
					int migratetype)
{
	u32 token = page ? kt_token_page(page_to_pfn(page)) : 0;

	kt_probe_enter();
	KT_EVENT2(MM_PAGE_ALLOC,
		  (order & ORDER_MASK) | ((u32)migratetype & TYPE_MASK) << ORDER_BITS,
		  token, (__force u32)gfp);
	kt_probe_leave();
}

static void notrace probe_mm_page_free(void *data, struct page *page,
				       unsigned int order)
{
	kt_probe_enter();
	KT_EVENT1(MM_PAGE_FREE, order & ORDER_MASK,
		  kt_token_page(page_to_pfn(page)));
	kt_probe_leave();
}

/* ---- slab ---------------------------------------------------------------- */

static __always_inline void record_kmalloc(unsigned long caller, const void *ptr,
					   size_t asked, size_t taken, gfp_t gfp)
{
	kt_probe_enter();
	if (KT_WANTED(KMALLOC)) {
		const u32 args[] = { kt_token(ptr), kt_token_func(caller),
				     (u32)asked, (u32)taken, (__force u32)gfp };

		KT_EVENT_LONG(KMALLOC, 0, args, NULL, 0);
	}
	kt_probe_leave();
}

static __always_inline void record_cache_alloc(unsigned long caller, const void *ptr,
					       size_t bytes, gfp_t gfp)
{
	kt_probe_enter();
	KT_EVENT3(KMEM_CACHE_ALLOC, min_t(size_t, bytes, KTAPE_DAT20_MASK),
		  kt_token(ptr), kt_token_func(caller), (__force u32)gfp);
	kt_probe_leave();
}

static void __maybe_unused notrace probe_kmalloc(void *data, unsigned long caller,
						 const void *ptr, size_t asked,
						 size_t taken, gfp_t gfp)
{
	record_kmalloc(caller, ptr, asked, taken, gfp);
}

static void notrace probe_kmalloc_node(void *data, unsigned long caller,
				       const void *ptr, size_t asked,
				       size_t taken, gfp_t gfp, int node)
{
	record_kmalloc(caller, ptr, asked, taken, gfp);
}

/* Kernels 5.19 and 6.0 also pass the cache. */
static void notrace probe_kmalloc_cache(void *data, unsigned long caller,
					const void *ptr, struct kmem_cache *s,
					size_t asked, size_t taken, gfp_t gfp)
{
	record_kmalloc(caller, ptr, asked, taken, gfp);
}

static void notrace probe_kmalloc_cache_node(void *data, unsigned long caller,
					     const void *ptr,
					     struct kmem_cache *s, size_t asked,
					     size_t taken, gfp_t gfp, int node)
{
	record_kmalloc(caller, ptr, asked, taken, gfp);
}

static void notrace probe_kfree(void *data, unsigned long caller, const void *ptr)
{
	kt_probe_enter();
	KT_EVENT2(KFREE, 0, kt_token(ptr), kt_token_func(caller));
	kt_probe_leave();
}

static void notrace probe_kmem_cache_alloc(void *data, unsigned long caller,
					   const void *ptr, struct kmem_cache *s,
					   gfp_t gfp, int node)
{
	record_cache_alloc(caller, ptr, kmem_cache_size(s), gfp);
}

static void notrace probe_kmem_cache_alloc_sizes(void *data, unsigned long caller,
						 const void *ptr, size_t asked,
						 size_t taken, gfp_t gfp)
{
	record_cache_alloc(caller, ptr, asked, gfp);
}

static void notrace probe_kmem_cache_alloc_sizes_node(void *data,
						      unsigned long caller,
						      const void *ptr,
						      size_t asked, size_t taken,
						      gfp_t gfp, int node)
{
	record_cache_alloc(caller, ptr, asked, gfp);
}

static void notrace probe_kmem_cache_alloc_both(void *data, unsigned long caller,
						const void *ptr,
						struct kmem_cache *s, size_t asked,
						size_t taken, gfp_t gfp)
{
	record_cache_alloc(caller, ptr, asked, gfp);
}

static void notrace probe_kmem_cache_alloc_both_node(
	void *data, unsigned long caller, const void *ptr, struct kmem_cache *s,
	size_t asked, size_t taken, gfp_t gfp, int node)
{
	record_cache_alloc(caller, ptr, asked, gfp);
}

static __always_inline void record_cache_free(unsigned long caller, const void *ptr)
{
	kt_probe_enter();
	KT_EVENT2(KMEM_CACHE_FREE, 0, kt_token(ptr), kt_token_func(caller));
	kt_probe_leave();
}

static void notrace probe_kmem_cache_free(void *data, unsigned long caller,
					  const void *ptr,
					  const struct kmem_cache *s)
{
	record_cache_free(caller, ptr);
}

static void notrace probe_kmem_cache_free_name(void *data, unsigned long caller,
					       const void *ptr, const char *name)
{
	record_cache_free(caller, ptr);
}

static void notrace probe_kmem_cache_free2(void *data, unsigned long caller,
					   const void *ptr)
{
	record_cache_free(caller, ptr);
}

/* Types that the prototypes of allocations have in common. */
#define SLAB  unsigned long, const void *
#define CACHE SLAB, struct kmem_cache *
#define SIZES size_t, size_t, gfp_t

/*
 * Until 6.0 kmalloc and kmem_cache_alloc had a second tracepoint each, with a node.
 * One list of prototypes serves both.
 */
#define KMALLOC_FUNC(tp)                                                            \
	KT_PROBE_FUNC(                                                              \
		KT_PROBE_FUNC(KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_kmalloc,      \
							  tp, SLAB, SIZES),         \
					    probe_kmalloc_cache, tp, CACHE, SIZES), \
			      probe_kmalloc_cache_node, tp, CACHE, SIZES, int),     \
		probe_kmalloc_node, tp, SLAB, SIZES, int)

#define CACHE_ALLOC_FUNC_OLD(tp)                                                              \
	KT_PROBE_FUNC(                                                                        \
		KT_PROBE_FUNC(KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_kmem_cache_alloc_sizes, \
							  tp, SLAB, SIZES),                   \
					    probe_kmem_cache_alloc_sizes_node,                \
					    tp, SLAB, SIZES, int),                            \
			      probe_kmem_cache_alloc_both, tp, CACHE, SIZES),                 \
		probe_kmem_cache_alloc_both_node, tp, CACHE, SIZES, int)

/* ---- locks --------------------------------------------------------------- */

#ifdef KT_HAVE_CONTENTION

#define FLAGS_MASK 0xffU

static void notrace probe_contention_begin(void *data, void *lock, unsigned int flags)
{
	kt_probe_enter();
	KT_EVENT1(CONTENTION_BEGIN, flags & FLAGS_MASK, kt_token(lock));
	kt_probe_leave();
}

static void notrace probe_contention_end(void *data, void *lock, int ret)
{
	kt_probe_enter();
	KT_EVENT2(CONTENTION_END, 0, kt_token(lock), ret);
	kt_probe_leave();
}

#endif

/* ---- table --------------------------------------------------------------- */

struct kt_probe kt_probes_memory[] = {
#ifdef KT_HAVE_PAGE_FAULT
	KT_PROBE(page_fault_user, PAGE_FAULT_USER, probe_page_fault_user,
		 unsigned long, struct pt_regs *, unsigned long),
	KT_PROBE(page_fault_kernel, PAGE_FAULT_KERNEL, probe_page_fault_kernel,
		 unsigned long, struct pt_regs *, unsigned long),
#else
	KT_PROBE_NONE(page_fault_user, PAGE_FAULT_USER),
	KT_PROBE_NONE(page_fault_kernel, PAGE_FAULT_KERNEL),
#endif
	KT_PROBE(mm_page_alloc, MM_PAGE_ALLOC, probe_mm_page_alloc,
		 struct page *, unsigned int, gfp_t, int),
	KT_PROBE(mm_page_free, MM_PAGE_FREE, probe_mm_page_free, struct page *,
		 unsigned int),
	{
		.name = "kmalloc",
		.func = KMALLOC_FUNC(kmalloc),
		.events = { KTAPE_EV_KMALLOC },
	},
	{
		.name = "kmem_cache_alloc",
		.func = KT_PROBE_FUNC(CACHE_ALLOC_FUNC_OLD(kmem_cache_alloc),
				      probe_kmem_cache_alloc, kmem_cache_alloc,
				      CACHE, gfp_t, int),
		.events = { KTAPE_EV_KMEM_CACHE_ALLOC },
	},
#ifdef KT_HAVE_KMALLOC_NODE
	{
		.name = "kmalloc_node",
		.func = KMALLOC_FUNC(kmalloc_node),
		.events = { KTAPE_EV_KMALLOC },
	},
	{
		.name = "kmem_cache_alloc_node",
		.func = CACHE_ALLOC_FUNC_OLD(kmem_cache_alloc_node),
		.events = { KTAPE_EV_KMEM_CACHE_ALLOC },
	},
#endif
	KT_PROBE(kfree, KFREE, probe_kfree, unsigned long, const void *),
	{
		.name = "kmem_cache_free",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_kmem_cache_free2,
						    kmem_cache_free, SLAB),
				      probe_kmem_cache_free_name,
				      kmem_cache_free, SLAB, const char *),
			probe_kmem_cache_free, kmem_cache_free, SLAB,
			const struct kmem_cache *),
		.events = { KTAPE_EV_KMEM_CACHE_FREE },
	},
#ifdef KT_HAVE_CONTENTION
	KT_PROBE(contention_begin, CONTENTION_BEGIN, probe_contention_begin,
		 void *, unsigned int),
	KT_PROBE(contention_end, CONTENTION_END, probe_contention_end, void *, int),
#else
	KT_PROBE_NONE(contention_begin, CONTENTION_BEGIN),
	KT_PROBE_NONE(contention_end, CONTENTION_END),
#endif
	{}
};

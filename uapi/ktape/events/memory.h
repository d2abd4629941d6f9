/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Memory and locks: opcodes 108 to 115, 156 and 157.  Included by ktape/events.h. */

KTAPE_EVENT(108, PAGE_FAULT_USER, page_fault_user, MEMORY,
	    "a program touched a page that was not there")
	KTAPE_BITS(X32, error, 16, "bits of the architecture")
KTAPE_ARGS()
	KTAPE_ARG(X64, address,
		  "address of the access; a kernel address is a token")
	KTAPE_ARG(PTR, ip, "where the program was")
KTAPE_END(PAGE_FAULT_USER)

KTAPE_EVENT(109, PAGE_FAULT_KERNEL, page_fault_kernel, MEMORY,
	    "the kernel touched a page that was not there")
	KTAPE_BITS(X32, error, 16, "bits of the architecture")
KTAPE_ARGS()
	KTAPE_ARG(X64, address,
		  "address of the access; a kernel address is a token")
	KTAPE_ARG(FUNC, ip, "where the kernel was")
KTAPE_END(PAGE_FAULT_KERNEL)

KTAPE_EVENT(110, MM_PAGE_ALLOC, mm_page_alloc, MEMORY, "pages are allocated")
	KTAPE_BITS(U32, order, 5, "2^order pages")
	KTAPE_BITS(U32, migratetype, 4, "of the kernel")
KTAPE_ARGS()
	KTAPE_ARG(PTR, page, "the first page, as a token; 0: it failed")
	KTAPE_ARG(X32, gfp, "GFP flags")
KTAPE_END(MM_PAGE_ALLOC)

KTAPE_EVENT(111, MM_PAGE_FREE, mm_page_free, MEMORY, "pages are freed")
	KTAPE_BITS(U32, order, 5, "2^order pages")
KTAPE_ARGS()
	KTAPE_ARG(PTR, page, "the first page, as a token")
KTAPE_END(MM_PAGE_FREE)

KTAPE_EVENT(112, KMALLOC, kmalloc, MEMORY, "memory is allocated")
KTAPE_ARGS()
	KTAPE_ARG(PTR, ptr, "the memory")
	KTAPE_ARG(FUNC, caller, "function that called the allocator")
	KTAPE_ARG(U32, bytes, "bytes asked for")
	KTAPE_ARG(U32, bytes_alloc, "bytes taken")
	KTAPE_ARG(X32, gfp, "GFP flags")
KTAPE_END(KMALLOC)

KTAPE_EVENT(113, KFREE, kfree, MEMORY, "memory is freed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, ptr, "the memory")
	KTAPE_ARG(FUNC, caller, "function that called the allocator")
KTAPE_END(KFREE)

KTAPE_EVENT(114, KMEM_CACHE_ALLOC, kmem_cache_alloc, MEMORY,
	    "an object is allocated from a cache")
	KTAPE_BITS(U32, bytes, 20, "bytes of the object")
KTAPE_ARGS()
	KTAPE_ARG(PTR, ptr, "the memory")
	KTAPE_ARG(FUNC, caller, "function that called the allocator")
	KTAPE_ARG(X32, gfp, "GFP flags")
KTAPE_END(KMEM_CACHE_ALLOC)

KTAPE_EVENT(115, KMEM_CACHE_FREE, kmem_cache_free, MEMORY,
	    "an object goes back to its cache")
KTAPE_ARGS()
	KTAPE_ARG(PTR, ptr, "the memory")
	KTAPE_ARG(FUNC, caller, "function that called the allocator")
KTAPE_END(KMEM_CACHE_FREE)

KTAPE_EVENT(156, CONTENTION_BEGIN, contention_begin, LOCK,
	    "a lock has to be waited for")
	KTAPE_BITS(X32, flags, 8,
		   "1 spin, 2 read, 4 write, 8 RT, 16 per CPU, 32 mutex")
KTAPE_ARGS()
	KTAPE_ARG(PTR, lock, "the lock")
KTAPE_END(CONTENTION_BEGIN)

KTAPE_EVENT(157, CONTENTION_END, contention_end, LOCK,
	    "the wait for a lock is over")
KTAPE_ARGS()
	KTAPE_ARG(PTR, lock, "the lock")
	KTAPE_ARG(S32, ret, "0: the lock was taken")
KTAPE_END(CONTENTION_END)

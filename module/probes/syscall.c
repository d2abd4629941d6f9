// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for system calls: the fast form (number, result), the wide form (with all
 * arguments) and the paths that system calls are given.  They record the events of
 * uapi/ktape/events/syscall.h.
 *
 * Each form has probes of its own, so that a probe of the fast form does not check
 * whether another form is wanted.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <trace/events/syscalls.h>

#include "event/event.h"
#include "internal.h"
#include "path_calls.h"

#define NR_LARGE    0xffffU
#define FLAG_COMPAT (1U << 16)
#define FLAG_X32    (1U << 17)
#define FLAG_LARGE  (1U << 18)

/* Return dat20: the number of a system call and flags for its table. */
static __always_inline u32 syscall_number(long nr)
{
	u32 dat20 = 0;

	if (kt_syscall_is_compat())
		dat20 = FLAG_COMPAT;
	if (kt_syscall_is_x32(nr)) {
		nr = kt_syscall_x32_nr(nr);
		dat20 |= FLAG_X32;
	}
	if (unlikely((unsigned long)nr >= NR_LARGE))
		return dat20 | FLAG_LARGE | NR_LARGE;
	return dat20 | (u32)nr;
}

/* Values of a wide record: the arguments, and in an exit the result before them. */
#define WIDE_ENTER 6
#define WIDE_EXIT  7

/* Store the values of a wide record. */
static __always_inline void wide_store(u64 *to, struct pt_regs *regs,
				       const unsigned int values, long ret)
{
	unsigned long got[6];
	unsigned int i;

	if (values == WIDE_EXIT)
		*to++ = (s64)ret;
	syscall_get_arguments(current, regs, got);
	for (i = 0; i < ARRAY_SIZE(got); i++)
		to[i] = got[i];
}

/*
 * Record a wide record by way of a copy.  @r is the ring for which the event was
 * counted, or NULL.
 */
static noinline void notrace wide_copy(struct kt_ring *r, struct pt_regs *regs,
				       u32 nr, u32 code,
				       const unsigned int values, long ret)
{
	u64 blob[WIDE_EXIT];
	const struct kt_record rec = {
		.code = code,
		.class = KTAPE_CLASS_SYSCALL,
		.nargs = 1,
		.size = values * sizeof(*blob),
		.args = &nr,
		.blob = blob,
	};

	wide_store(blob, regs, values, ret);
	if (r)
		kt_ring_write(r, &rec);
	else
		kt_event_record(KTAPE_RING_EVENT, &rec);
}

/*
 * Store a wide record in its place in the ring.  16 bytes come before the values: those of
 * any record, the number of the system call, and the size of the values.
 * Return: false if that is not possible: wide_copy() has to record it.  If just one session
 * records the event, and without a check, it was counted for ring @r: reading the clock takes a
 * call, or the ring has no room without further work.  Else @r is NULL, and nothing was counted.
 */
static __always_inline bool wide_put(struct kt_ring **r, struct pt_regs *regs,
				     u32 nr, u32 code,
				     const unsigned int values, long ret)
{
	const unsigned long len = 16 + values * sizeof(u64);
	unsigned long w;
	u32 *p, lo;

	*r = kt_event_ring(code & (KTAPE_OPCODES - 1), KTAPE_RING_EVENT);
	if (unlikely(!*r))
		return false;
	kt_count(&(*r)->page->emitted[KTAPE_CLASS_SYSCALL]);
	if (kt_clock_by_call() ||
	    unlikely(!kt_ring_reserve(*r, len, &w, &p, &lo, false)))
		return false;
	p[0] = lo;
	p[1] = code;
	p[2] = nr;
	p[3] = values * sizeof(u64);
	wide_store((u64 *)(p + 4), regs, values, ret);
	kt_ring_publish(*r, w, w + len);
	return true;
}

static noinline void notrace record_enter_wide(struct pt_regs *regs, long nr,
					       u32 dat20)
{
	const u32 code = KT_CODE(KTAPE_EV_SYS_ENTER_WIDE, dat20, 1, 1);
	struct kt_ring *r;

	if (!wide_put(&r, regs, nr, code, WIDE_ENTER, 0))
		wide_copy(r, regs, nr, code, WIDE_ENTER, 0);
}

static noinline void notrace record_exit_wide(struct pt_regs *regs, long nr,
					      long ret, u32 dat20)
{
	const u32 code = KT_CODE(KTAPE_EV_SYS_EXIT_WIDE, dat20, 1, 1);
	struct kt_ring *r;

	if (!wide_put(&r, regs, nr, code, WIDE_EXIT, ret))
		wide_copy(r, regs, nr, code, WIDE_EXIT, ret);
}

/* Return true if dat20 is the number without any flag: the fast form then skips the rest. */
static __always_inline bool syscall_is_plain(long nr)
{
	return (unsigned long)nr < NR_LARGE && !kt_syscall_is_compat();
}

/*
 * Record a system call whose dat20 has flags.  record_exit_odd() does so at the call's end.
 * The arguments of both are those of their probes, in the same registers, so that the call
 * moves nothing.  barrier_data() keeps the compiler from leaving out those that are not used.
 */
static noinline void notrace record_enter_odd(void *data, struct pt_regs *regs,
					      long nr)
{
	u32 dat20 = syscall_number(nr);

	barrier_data(data);
	barrier_data(regs);
	if (dat20 & FLAG_LARGE)
		KT_EVENT1(SYS_ENTER, dat20, (u32)nr);
	else
		KT_EVENT0(SYS_ENTER, dat20);
}

static noinline void notrace record_exit_odd(void *data, struct pt_regs *regs,
					     long ret)
{
	long nr = syscall_get_nr(current, regs);

	barrier_data(data);
	KT_EVENT2(SYS_EXIT, syscall_number(nr), (u32)ret, (u32)((s64)ret >> 32));
}

static void notrace probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	kt_probe_enter();
	if (likely(syscall_is_plain(nr)))
		KT_INLINE0(data, SYS_ENTER, (u16)nr);
	else
		record_enter_odd(data, regs, nr);
	kt_probe_leave();
}

static void notrace probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	long nr = syscall_get_nr(current, regs); /* -1 after rt_sigreturn */

	kt_probe_enter();
	if (likely(syscall_is_plain(nr)))
		KT_INLINE2(data, SYS_EXIT, (u16)nr, (u32)ret, (u32)((s64)ret >> 32));
	else
		record_exit_odd(data, regs, ret);
	kt_probe_leave();
}

static void notrace probe_sys_enter_wide(void *data, struct pt_regs *regs, long nr)
{
	kt_probe_enter();
	if (KT_WANTED(SYS_ENTER_WIDE))
		record_enter_wide(regs, nr, syscall_number(nr));
	kt_probe_leave();
}

static void notrace probe_sys_exit_wide(void *data, struct pt_regs *regs, long ret)
{
	long nr = syscall_get_nr(current, regs);

	kt_probe_enter();
	if (KT_WANTED(SYS_EXIT_WIDE))
		record_exit_wide(regs, nr, ret, syscall_number(nr));
	kt_probe_leave();
}

/* ---- paths --------------------------------------------------------------- */

/*
 * A probe cannot wait for a page to be read in: a path is cut at the first page
 * that is not in memory.
 */
#define PATH_BYTES 256
#define FLAG_CUT   (1U << 18) /* dat20 of sys_path, which has no FLAG_LARGE */

/* Return the argument number of the path, or -1 if system call @nr has none. */
static __always_inline int syscall_find_path(const struct kt_path_call *calls,
					     unsigned int n, long nr)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (calls[i].nr == nr)
			return calls[i].arg;
	return -1;
}

#ifdef KT_PATH_COMPAT
#define FIND_COMPAT(nr) \
	syscall_find_path(KT_PATH_COMPAT, ARRAY_SIZE(KT_PATH_COMPAT), nr)
#else
#define FIND_COMPAT(nr) (-1)
#endif

#ifdef CONFIG_X86
#define FIND_X32(nr) syscall_find_path(kt_path_x32, ARRAY_SIZE(kt_path_x32), nr)
#else
#define FIND_X32(nr) (-1)
#endif

/* Return the argument number of the path, or -1; set dat20 to number and table. */
static int syscall_path_argument(long nr, u32 *dat20)
{
	int arg = -1;

	if (kt_syscall_is_compat()) {
		*dat20 = FLAG_COMPAT | (u16)nr;
		return FIND_COMPAT(nr);
	}
	if (kt_syscall_is_x32(nr)) {
		nr = kt_syscall_x32_nr(nr);
		*dat20 = FLAG_X32 | (u16)nr;
		arg = FIND_X32(nr);
	} else {
		*dat20 = (u16)nr;
	}
	return arg >= 0 ? arg :
			  syscall_find_path(kt_path_native,
					    ARRAY_SIZE(kt_path_native), nr);
}

/*
 * Copy a path up to its NUL or PATH_BYTES.  Copy page by page, because the page
 * after the NUL may not be in memory.
 * Return: bytes without the NUL; @cut is set if no NUL was found.
 */
static u32 syscall_copy_path(char *to, unsigned long from, bool *cut)
{
	u32 len = 0, piece, part;

	*cut = false;
	while (len < PATH_BYTES) {
		piece = min_t(u32, PATH_BYTES - len,
			      PAGE_SIZE - offset_in_page(from + len));
		if (copy_from_user_nofault(to + len,
					   (void __user *)(from + len), piece))
			break;
		part = strnlen(to + len, piece);
		len += part;
		if (part < piece)
			return len;
	}
	*cut = true;
	return len;
}

static noinline void notrace record_sys_path(struct pt_regs *regs, int arg, u32 dat20)
{
	unsigned long args[6];
	char path[PATH_BYTES];
	struct kt_record rec = {
		.class = KTAPE_CLASS_SYSCALL,
		.blob = path,
	};
	bool cut;

	syscall_get_arguments(current, regs, args);
	rec.size = syscall_copy_path(path, args[arg], &cut);
	rec.code = KT_CODE(KTAPE_EV_SYS_PATH, dat20 | (cut ? FLAG_CUT : 0), 1, 0);
	kt_event_record(KTAPE_RING_EVENT, &rec);
}

static void notrace probe_sys_enter_path(void *data, struct pt_regs *regs, long nr)
{
	u32 dat20;
	int arg;

	kt_probe_enter();
	if (KT_WANTED(SYS_PATH)) {
		arg = syscall_path_argument(nr, &dat20);
		if (arg >= 0)
			record_sys_path(regs, arg, dat20);
	}
	kt_probe_leave();
}

/* ---- table --------------------------------------------------------------- */

#ifndef CONFIG_HAVE_SYSCALL_TRACEPOINTS
KT_TP_MISSING(sys_enter);
KT_TP_MISSING(sys_exit);
#endif

struct kt_probe kt_probes_syscall[] = {
	{
		.name = "sys_enter",
		.func = KT_PROBE_FUNC(NULL, probe_sys_enter, sys_enter,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_ENTER },
	},
	{
		.name = "sys_exit",
		.func = KT_PROBE_FUNC(NULL, probe_sys_exit, sys_exit,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_EXIT },
	},
	{
		.name = "sys_enter",
		.func = KT_PROBE_FUNC(NULL, probe_sys_enter_wide, sys_enter,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_ENTER_WIDE },
	},
	{
		.name = "sys_exit",
		.func = KT_PROBE_FUNC(NULL, probe_sys_exit_wide, sys_exit,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_EXIT_WIDE },
	},
	/* Early: readers expect the path before the sys_enter of its call. */
	{
		.name = "sys_enter",
		.func = KT_PROBE_FUNC(NULL, probe_sys_enter_path, sys_enter,
				      struct pt_regs *, long),
		.early = true,
		.events = { KTAPE_EV_SYS_PATH },
	},
	{}
};

// SPDX-License-Identifier: GPL-2.0-only
/* System calls: fast (number, result) and wide (with the arguments). */
#include <linux/sched.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include "event/event.h"
#include "internal.h"

#define NR_LARGE	0xffffU
#define FLAG_COMPAT	(1U << 16)
#define FLAG_X32	(1U << 17)
#define FLAG_LARGE	(1U << 18)

/* dat20 of all four events: number and the table that it belongs to. */
static __always_inline u32 number(long nr)
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

static noinline void notrace enter_wide(struct pt_regs *regs, long nr,
					u32 dat20)
{
	const u32 full = nr;
	unsigned long got[6];
	u64 args[6];
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_SYS_ENTER_WIDE, dat20, 1, 1),
		.class = KTAPE_CLASS_SYSCALL,
		.nargs = 1,
		.size = sizeof(args),
		.args = &full,
		.blob = args,
	};
	unsigned int i;

	syscall_get_arguments(current, regs, got);
	for (i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = got[i];
	kt_event_record(KTAPE_RING_EVENT, &rec);
}

static noinline void notrace exit_wide(struct pt_regs *regs, long nr, long ret,
				       u32 dat20)
{
	const u32 full = nr;
	unsigned long got[6];
	u64 values[7];
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_SYS_EXIT_WIDE, dat20, 1, 1),
		.class = KTAPE_CLASS_SYSCALL,
		.nargs = 1,
		.size = sizeof(values),
		.args = &full,
		.blob = values,
	};
	unsigned int i;

	syscall_get_arguments(current, regs, got);
	values[0] = (s64)ret;
	for (i = 0; i < ARRAY_SIZE(got); i++)
		values[i + 1] = got[i];
	kt_event_record(KTAPE_RING_EVENT, &rec);
}

/* Then dat20 is the number and nothing else. */
static __always_inline bool is_plain(long nr)
{
	return (unsigned long)nr < NR_LARGE && !kt_syscall_is_compat();
}

static noinline void notrace enter_odd(long nr)
{
	u32 dat20 = number(nr);

	if (dat20 & FLAG_LARGE)
		KT_EVENT1(SYS_ENTER, dat20, (u32)nr);
	else
		KT_EVENT0(SYS_ENTER, dat20);
}

static noinline void notrace exit_odd(long nr, long ret)
{
	KT_EVENT2(SYS_EXIT, number(nr), (u32)ret, (u32)((s64)ret >> 32));
}

static void notrace probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	kt_probe_enter();
	if (likely(is_plain(nr)))
		KT_EVENT0(SYS_ENTER, (u16)nr);
	else
		enter_odd(nr);
	kt_probe_leave();
}

static void notrace probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	long nr = syscall_get_nr(current, regs);	/* -1 after rt_sigreturn */

	kt_probe_enter();
	if (likely(is_plain(nr)))
		KT_EVENT2(SYS_EXIT, (u16)nr, (u32)ret, (u32)((s64)ret >> 32));
	else
		exit_odd(nr, ret);
	kt_probe_leave();
}

/* Probes of their own: those of the fast forms then need not ask. */
static void notrace probe_sys_enter_wide(void *data, struct pt_regs *regs,
					 long nr)
{
	kt_probe_enter();
	if (KT_WANTED(SYS_ENTER_WIDE))
		enter_wide(regs, nr, number(nr));
	kt_probe_leave();
}

static void notrace probe_sys_exit_wide(void *data, struct pt_regs *regs,
					long ret)
{
	long nr = syscall_get_nr(current, regs);

	kt_probe_enter();
	if (KT_WANTED(SYS_EXIT_WIDE))
		exit_wide(regs, nr, ret, number(nr));
	kt_probe_leave();
}

struct kt_probe kt_probes_syscall[] = {
	{
		.name = "sys_enter",
		.func = KT_PROBE_FUNC(NULL, probe_sys_enter, sys_enter,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_ENTER },
	}, {
		.name = "sys_exit",
		.func = KT_PROBE_FUNC(NULL, probe_sys_exit, sys_exit,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_EXIT },
	}, {
		.name = "sys_enter",
		.func = KT_PROBE_FUNC(NULL, probe_sys_enter_wide, sys_enter,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_ENTER_WIDE },
	}, {
		.name = "sys_exit",
		.func = KT_PROBE_FUNC(NULL, probe_sys_exit_wide, sys_exit,
				      struct pt_regs *, long),
		.events = { KTAPE_EV_SYS_EXIT_WIDE },
	},
	{}
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a probe is described: a tracepoint, found by name, and a callback that has
 * exactly its type.
 *
 * Tracepoints change their arguments between kernels.  A table offers a callback
 * for each prototype; the compiler selects the one that fits the tracepoint's
 * check function, which each tracepoint header declares.  No kernel version is
 * compared.
 */
#ifndef _KT_PROBES_INTERNAL_H
#define _KT_PROBES_INTERNAL_H

#include <linux/preempt.h>
#include <linux/types.h>

#include <ktape/abi.h>

struct net_device;
struct tracepoint;

#define KT_PROBE_EVENTS 4

/* Bytes of a text in an event; longer texts are cut. */
#define KT_TEXT_MAX 1024

/**
 * struct kt_probe - a tracepoint and the callback for it
 * @name: name of the tracepoint
 * @func: the callback, NULL = no callback fits the tracepoint's prototype
 * @always: attached as long as ktape is loaded, even if no session wants its events
 * @silent: never attached, because this architecture does not call the tracepoint
 * @early: called before the other probes of its tracepoint
 * @fits: says whether the kernel is laid out as the callback assumes; NULL = it assumes
 *	nothing
 * @prepare: called before it is attached; returns 0 or a negative errno; NULL = needs nothing
 * @events: opcodes that the callback records, 0 ends the list
 * @module: module that may have the tracepoint if the kernel itself lacks it; NULL =
 *	look in the kernel only
 * @tp: the tracepoint, NULL = this kernel does not have it
 * @attached: registered with the tracepoint
 * @error: 0 or the negative errno of the last attempt to register
 * @idle: jiffies since which no session or sink wants it, 0 = wanted or detached
 *
 * The members from @tp on are protected by probe_lock, the others are constant.
 */
struct kt_probe {
	const char *name;
	void *func;
	bool always;
	bool silent;
	bool early;
	bool (*fits)(void);
	int (*prepare)(void);
	u8 events[KT_PROBE_EVENTS];
	const char *module;
	struct tracepoint *tp;
	bool attached;
	int error;
	unsigned long idle;
};

/**
 * KT_TP_IS() - Say whether a tracepoint has this prototype
 * @tp: name of the tracepoint
 *
 * The further arguments are the types after the data pointer.  A constant.
 */
#define KT_TP_IS(tp, ...)                                                     \
	__builtin_types_compatible_p(typeof(&check_trace_callback_type_##tp), \
				     void (*)(void (*)(void *, ##__VA_ARGS__)))

/*
 * Declare a check function that fits no prototype, for a tracepoint that this
 * kernel's headers lack.  Whether they do is known from the configuration, or from
 * Kbuild, which searches the header (KT_HAVE_TP_name).
 */
#define KT_TP_MISSING(tp) \
	void check_trace_callback_type_##tp(const struct kt_probe *none)

/* func if the tracepoint has this prototype, else the first argument. */
#define KT_PROBE_FUNC(otherwise, func, tp, ...) \
	__builtin_choose_expr(KT_TP_IS(tp, ##__VA_ARGS__), (void *)(func), otherwise)

/* A row of a table: a tracepoint with one known prototype records event NAME. */
#define KT_PROBE(tp, NAME, callback, ...)                                 \
	{                                                                 \
		.name = #tp,                                              \
		.func = KT_PROBE_FUNC(NULL, callback, tp, ##__VA_ARGS__), \
		.events = { KTAPE_EV_##NAME },                            \
	}

/* A row for a tracepoint that this kernel's headers lack. */
#define KT_PROBE_NONE(tp, NAME)                             \
	{                                                   \
		.name = #tp, .events = { KTAPE_EV_##NAME }, \
	}

/*
 * Begin and end of the part of a callback that records.  Newer kernels call it
 * with preemption enabled; the rings need a task that stays on its CPU, and
 * kt_probe_exit() waits for these sections by synchronize_rcu().
 */
#define kt_probe_enter() preempt_disable_notrace()
#define kt_probe_leave() preempt_enable_notrace()

extern struct kt_probe kt_probes_task[];
extern struct kt_probe kt_probes_irq[];
extern struct kt_probe kt_probes_syscall[];
extern struct kt_probe kt_probes_timer[];
extern struct kt_probe kt_probes_memory[];
extern struct kt_probe kt_probes_io[];
extern struct kt_probe kt_probes_system[];
extern struct kt_probe kt_probes_exception[];

/* layout.c: which functions of the kernel sleep in the scheduler on behalf of their callers */
bool kt_scheduler_has(unsigned long address);
void kt_scheduler_found(bool found);
bool kt_scheduler_fits(void);

/* system.c */
void kt_cgroup_enter_new(struct task_struct *parent, struct task_struct *child);

/* irq.c */
void kt_irq_exit(void);

/* io.c */
u32 kt_netdev_id(const struct net_device *dev);
int kt_netdev_init(void);
void kt_netdev_exit(void);

/* exception.c: notifiers of oops and panic */
int kt_die_init(void);
void kt_die_exit(void);

/* kprobe.c */
#ifdef CONFIG_KPROBES

void kt_kprobe_want(const u64 *mask);
void kt_kprobe_drop(void);
void kt_kprobe_exit(void);
u32 kt_kprobe_state(unsigned int opcode, int *error, bool *attached);

#else

static inline void kt_kprobe_want(const u64 *mask)
{
}

static inline void kt_kprobe_drop(void)
{
}

static inline void kt_kprobe_exit(void)
{
}

static inline u32 kt_kprobe_state(unsigned int opcode, int *error, bool *attached)
{
	*error = 0;
	*attached = false;
	return KTAPE_EVENT_NO_CONFIG;
}

#endif /* CONFIG_KPROBES */
#endif /* _KT_PROBES_INTERNAL_H */

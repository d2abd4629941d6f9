/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes: one exact-typed callback a tracepoint, found by name.
 *
 * The prototype is chosen at compile time from the type of the tracepoint's own
 * check function, which every tracepoint header has, never from a version.
 */
#ifndef _KT_PROBES_INTERNAL_H
#define _KT_PROBES_INTERNAL_H

#include <linux/preempt.h>
#include <linux/types.h>

#include <ktape/abi.h>

struct net_device;
struct tracepoint;

#define KT_PROBE_EVENTS		4

/* Bytes of a text in an event; what is longer is cut. */
#define KT_TEXT_MAX		1024

/**
 * struct kt_probe - a callback and the tracepoint that it belongs to
 * @name: of the tracepoint
 * @func: the callback, NULL when the prototype is not known
 * @always: attached as long as the module is loaded
 * @silent: the kernel may have the tracepoint, but this architecture never
 *	calls it
 * @early: it is called before the other probes of its tracepoint
 * @events: opcodes that it records, 0 ends the list
 * @module: that may have the tracepoint, NULL: it is in the kernel itself
 * @tp: the tracepoint, NULL when the kernel does not have it
 * @attached: it is registered
 * @error: of the last try to register it
 * @idle: since when nobody wants it, in jiffies; 0: somebody does
 */
struct kt_probe {
	const char *name;
	void *func;
	bool always;
	bool silent;
	bool early;
	u8 events[KT_PROBE_EVENTS];
	const char *module;
	struct tracepoint *tp;
	bool attached;
	int error;
	unsigned long idle;
};

/**
 * KT_TP_IS() - does a tracepoint have this prototype?
 * @tp: name of the tracepoint
 *
 * The further arguments are the types after the data pointer.
 */
#define KT_TP_IS(tp, ...)						\
	__builtin_types_compatible_p(					\
		typeof(&check_trace_callback_type_##tp),		\
		void (*)(void (*)(void *, ##__VA_ARGS__)))

/*
 * A tracepoint that is not in this kernel's headers gets a check function that
 * no prototype fits.  Whether it is there is told by the configuration or by
 * Kbuild, which looks for it in the header (KT_HAVE_TP_name).
 */
#define KT_TP_MISSING(tp)						\
	void check_trace_callback_type_##tp(const struct kt_probe *none)

/* func if the tracepoint has this prototype, otherwise what comes first. */
#define KT_PROBE_FUNC(otherwise, func, tp, ...)				\
	__builtin_choose_expr(KT_TP_IS(tp, ##__VA_ARGS__),		\
			      (void *)(func), otherwise)

/* A row of a table: a tracepoint of one prototype and the event NAME. */
#define KT_PROBE(tp, NAME, callback, ...)				\
	{								\
		.name = #tp,						\
		.func = KT_PROBE_FUNC(NULL, callback, tp, ##__VA_ARGS__), \
		.events = { KTAPE_EV_##NAME },				\
	}

/* A row for what the kernel's headers do not have. */
#define KT_PROBE_NONE(tp, NAME)						\
	{								\
		.name = #tp,						\
		.events = { KTAPE_EV_##NAME },				\
	}

/*
 * Callbacks run with preemption enabled on newer kernels and must be stopped
 * from moving to another CPU.  synchronize_rcu() waits for such sections.
 */
#define kt_probe_enter()	preempt_disable_notrace()
#define kt_probe_leave()	preempt_enable_notrace()

extern struct kt_probe kt_probes_task[];
extern struct kt_probe kt_probes_irq[];
extern struct kt_probe kt_probes_syscall[];
extern struct kt_probe kt_probes_timer[];
extern struct kt_probe kt_probes_memory[];
extern struct kt_probe kt_probes_io[];
extern struct kt_probe kt_probes_system[];
extern struct kt_probe kt_probes_exception[];

u32 kt_netdev_id(const struct net_device *dev);
int kt_netdev_init(void);
void kt_netdev_exit(void);
int kt_die_init(void);
void kt_die_exit(void);

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

static inline u32 kt_kprobe_state(unsigned int opcode, int *error,
				  bool *attached)
{
	*error = 0;
	*attached = false;
	return KTAPE_EVENT_NO_CONFIG;
}

#endif /* CONFIG_KPROBES */
#endif /* _KT_PROBES_INTERNAL_H */

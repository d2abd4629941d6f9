// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel call stacks that follow an event, where the session's filters ask for
 * it.
 *
 * All data are on the kernel stack of the event's context, because contexts
 * nest.  A recorded call stack begins at the code that the event is about.  The
 * frames of this module are left out, and so are the frames between that code
 * and this module ("glue": the functions by which tracepoints call their
 * probes).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include <ktape/filter.h>

#include "internal.h"

/* Most frames between the probe and the code that the event is about. */
#define FRAMES_ABOVE 16

/* Most bytes from a probed address to the return address of its frame. */
#define PROBE_SPAN 8

#define GLUE_MAX 512 /* glue functions that are left out */

/* How symbols of glue begin, and more bytes than any of it has, KASAN's checks included. */
#define GLUE_NAME     "__traceiter_"
#define GLUE_SIZE_MAX 4096

static struct {
	unsigned long start;
	unsigned long size; /* 0 = free entry; stored last, with release */
} glue[GLUE_MAX];

static unsigned int nr_glue;
static DEFINE_MUTEX(glue_lock);

static bool glue_has(unsigned long address)
{
	/* Pairs with the release in kt_stack_leave_out(). */
	unsigned int i, nr = smp_load_acquire(&nr_glue);
	unsigned long size;

	for (i = 0; i < nr; i++) {
		/* Pairs with the release in kt_stack_leave_out(). */
		size = smp_load_acquire(&glue[i].size);
		if (address - READ_ONCE(glue[i].start) < size)
			return true;
	}
	return false;
}

/*
 * Return the bytes of a glue function, 0 = unknown.  Of the functions that know them,
 * modules can call only sprint_symbol().  It takes all bytes up to the next symbol for
 * the function's, and a symbol that is near may be another function's: so check name,
 * begin and size, because callers would be missing in call stacks without a mark.
 */
static unsigned long glue_size(unsigned long function)
{
	char text[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset, size;

	sprint_symbol(text, function);
	plus = strstr(text, "+0x");
	if (plus && sscanf(plus, "+0x%lx/0x%lx", &offset, &size) == 2 &&
	    !strncmp(text, GLUE_NAME, strlen(GLUE_NAME)) && !offset &&
	    size <= GLUE_SIZE_MAX)
		return size;
	/* Without a symbol the text is the address itself, which must not be revealed. */
	pr_warn_once("call stacks have one frame too many: a function by which tracepoints call their probes has the symbol %s\n",
		     plus ? text : "(none)");
	return 0;
}

/**
 * kt_stack_leave_out() - Leave a glue function out of call stacks
 * @function: the function by which a tracepoint calls its probes, or NULL
 *
 * If its size is not known, or GLUE_MAX functions are left out, it stays in call stacks.
 *
 * Context: process context, may sleep.
 */
void kt_stack_leave_out(const void *function)
{
	unsigned long start = (unsigned long)function, size;
	unsigned int i;

	if (!start)
		return;
	mutex_lock(&glue_lock);
	for (i = 0; i < nr_glue && glue[i].size; i++)
		;
	size = i < GLUE_MAX && !glue_has(start) ? glue_size(start) : 0;
	if (size) {
		WRITE_ONCE(glue[i].start, start);
		/* Pairs with the acquire in glue_has(). */
		smp_store_release(&glue[i].size, size);
		/* Pairs with the acquire in glue_has(). */
		smp_store_release(&nr_glue, max(nr_glue, i + 1));
	}
	mutex_unlock(&glue_lock);
}

/**
 * kt_stack_module() - Forget the glue functions of a module
 * @mod: the module, which is being loaded or unloaded
 *
 * Context: process context, may sleep.
 */
void kt_stack_module(const struct module *mod)
{
	unsigned int i;

	mutex_lock(&glue_lock);
	for (i = 0; i < nr_glue; i++)
		if (within_module(glue[i].start, mod))
			WRITE_ONCE(glue[i].size, 0);
	mutex_unlock(&glue_lock);
}

/* Is a frame the probed address, or just behind its breakpoint or call? */
static bool frame_is_probed(unsigned long frame, u32 token)
{
	unsigned int i;

	for (i = 0; i <= PROBE_SPAN; i++)
		if (kt_token((void *)(frame - i)) == token)
			return true;
	return false;
}

/* Return the index of the first frame of the code that the event is about. */
static unsigned int stack_first_frame(const unsigned long *frames, unsigned int nr,
				      const struct kt_record *event)
{
	unsigned int own = 0, i;

	while (own < nr && within_module(frames[own], THIS_MODULE))
		own++;
	while (own < nr && glue_has(frames[own]))
		own++;
	if (event->class != KTAPE_CLASS_KPROBE)
		return own;
	/*
	 * How many frames a breakpoint or trampoline has depends on the probe:
	 * look for the probed address.
	 */
	for (i = own; i < nr; i++)
		if (frame_is_probed(frames[i], event->args[0]))
			return i;
	return own;
}

/**
 * kt_stack_record() - Record the call stack of an event
 * @r: the ring that holds the event
 * @event: the event
 *
 * The caller has counted the stack as emitted.
 *
 * Context: that of the event, preemption disabled.
 */
noinline void kt_stack_record(struct kt_ring *r, const struct kt_record *event)
{
	/* One more than a record takes: it says that there are more. */
	unsigned long frames[FRAMES_ABOVE + KTAPE_STACK_FRAMES + 1];
	u32 blob[1 + KTAPE_STACK_FRAMES];
	u32 dat20 = event->code & (KTAPE_OPCODES - 1);
	unsigned int nr, first, i;
	struct kt_record rec = {
		.class = KTAPE_CLASS_STACK,
		.blob = blob,
	};

	/* Unwinders without CONFIG_ARCH_STACKWALK take locks. */
	if (kt_nmi_unsafe() || (!IS_ENABLED(CONFIG_ARCH_STACKWALK) && in_nmi())) {
		kt_ring_lose(r, KTAPE_LOST_NESTED, rec.class);
		return;
	}
	nr = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	first = stack_first_frame(frames, nr, event);
	/* If glue filled more than its share, nobody knows what followed. */
	if (nr - first > KTAPE_STACK_FRAMES || nr == ARRAY_SIZE(frames))
		dat20 |= KTAPE_STACK_CUT;
	rec.code = KT_CODE(KTAPE_EV_KERNEL_STACK, dat20, 1, 0);
	nr = min_t(unsigned int, nr - first, KTAPE_STACK_FRAMES);
	blob[0] = nr;
	for (i = 0; i < nr; i++)
		blob[1 + i] = kt_token_func(frames[first + i]);
	rec.size = (1 + nr) * sizeof(*blob);
	kt_ring_write(r, &rec);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape for other kernel modules: emit (ktape/emit.h, trace.h, typed.h), give
 * names (name.h), and here: see what is recorded.
 *
 * Include it with -I.../uapi -I.../module/include, and build with ktape's
 * Module.symvers in KBUILD_EXTRA_SYMBOLS.  A module that uses it depends on
 * ktape.ko, which therefore cannot be unloaded before it.
 */
#ifndef _KTAPE_KERNEL_H
#define _KTAPE_KERNEL_H

#include <linux/types.h>

#include <ktape/abi.h>
#include <ktape/emit.h>
#include <ktape/name.h>
#include <ktape/trace.h>
#include <ktape/typed.h>

struct module;

/**
 * struct ktape_record - a record as a sink sees it, for the time of the call
 * @opcode: enum ktape_opcode
 * @dat20: 20 bits, by event
 * @nargs: argument words
 * @size: bytes at @blob
 * @args: the argument words
 * @blob: what follows the arguments, or NULL
 */
struct ktape_record {
	u32 opcode;
	u32 dat20;
	u32 nargs;
	u32 size;
	const u32 *args;
	const void *blob;
};

/**
 * struct ktape_sink - an upcall
 * @owner: THIS_MODULE; its sinks go with it at the latest
 * @mask: bit n: opcode n is wanted; not those that are of one session: control
 *	records but registry and context, spans, kernel_stack
 * @event: called in the context of the event: task, softirq, irq or NMI, with
 *	preemption disabled and RCU watching, possibly under locks of the
 *	scheduler.  It must not sleep, wake, allocate, print or emit.  Profiles
 *	and filters of sessions do not matter to it
 * @private: for @event
 */
struct ktape_sink {
	struct module *owner;
	u64 mask[KTAPE_MASK_WORDS];
	void (*event)(struct ktape_sink *sink, const struct ktape_record *rec);
	void *private;
};

int ktape_sink_register(struct ktape_sink *sink);
void ktape_sink_unregister(struct ktape_sink *sink);

#endif /* _KTAPE_KERNEL_H */

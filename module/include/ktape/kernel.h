/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape for other kernel modules.
 *
 * This header includes those for emitting events (ktape/emit.h, trace.h,
 * typed.h) and for naming objects (name.h), and declares sinks: callbacks for
 * records.
 *
 * Compile with -I.../uapi -I.../module/include, and set KBUILD_EXTRA_SYMBOLS to
 * ktape's Module.symvers.  The module then depends on ktape.ko, which cannot be
 * unloaded before it.
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
 * struct ktape_record - a record as a sink sees it, valid during the call
 * @opcode: enum ktape_opcode
 * @dat20: 20 bits, meaning depends on the event
 * @nargs: number of argument words
 * @size: bytes at @blob
 * @args: argument words
 * @blob: bytes after the arguments, or NULL
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
 * struct ktape_sink - a function that is called for events
 * @owner: THIS_MODULE; the sink is unregistered when that module is unloaded
 * @mask: bit n: the sink wants opcode n.  Events that belong to one session
 *	cannot be wanted: spans, kernel_stack, and control records other than
 *	registry and context
 * @event: called in the context of the event: task, softirq, irq or NMI, with
 *	preemption disabled and RCU watching, possibly under locks of the
 *	scheduler, and with those of the registry, if the event is registry.  It
 *	must not sleep, wake, allocate, print or emit.  It cannot name objects or
 *	register sinks: those functions return -EDEADLK.  Profiles and filters of
 *	sessions do not apply to it
 * @private: not used by ktape
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

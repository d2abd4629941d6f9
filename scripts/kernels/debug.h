/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included into arch/x86/kernel/unwind_frame.c, which asks of each address of a stack
 * trace whether it is the kernel's, and of the end of each, too: that is address 0.  It
 * is in no module, no trampoline, no slot and no program of BPF, each of which is looked
 * up, under locks that lockdep watches: a tenth of all that the debug kernel does.
 */
#include <linux/kernel.h>
#include <linux/sched.h>

#define __kernel_text_address(address) \
	((address) >= TASK_SIZE_MAX && __kernel_text_address(address))

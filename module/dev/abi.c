// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks at compile time that no structure of uapi/ktape has another layout, and
 * no ioctl another number, than in abi_layout.h, whatever the architecture and
 * the compiler of this kernel.  Contains neither code nor data.
 */
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <ktape/abi.h>
#include <ktape/cost.h>
#include <ktape/event_info.h>
#include <ktape/filter.h>
#include <ktape/mark.h>
#include <ktape/persist.h>
#include <ktape/session.h>
#include <ktape/trigger.h>

/*
 * The kernel's own names an extern variable for a size that is too large.  clang
 * then refuses the number in static_assert().
 */
#undef _IOC_TYPECHECK
#define _IOC_TYPECHECK(type) sizeof(type)

#define KT_SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), "size of " #type);
#define KT_OFFSET(type, member, bytes)                          \
	static_assert(offsetof(struct type, member) == (bytes), \
		      "offset of " #type "." #member);
#define KT_IOCTL(name, value) static_assert(name == (value), "value of " #name);
#include "abi_layout.h"

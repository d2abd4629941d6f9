// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds the structures that user space sees to their layout: this kernel's
 * compiler and alignment may not move a member.  No code, no data.
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

#define KT_SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), "size of " #type);
#define KT_OFFSET(type, member, bytes)				\
	static_assert(offsetof(struct type, member) == (bytes),	\
		      "offset of " #type "." #member);
#include "abi_layout.h"

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of values: thread states, soft interrupts, system calls. */
#include "util/bits.h"

#include "ktape.h"

struct names {
	const char *const *names;
	size_t nr;
};

static const char *const states[] = {
	[KTAPE_STATE_R] = "R",	   [KTAPE_STATE_S] = "S",
	[KTAPE_STATE_D] = "D",	   [KTAPE_STATE_T] = "T",
	[KTAPE_STATE_TRACED] = "t", [KTAPE_STATE_X] = "X",
	[KTAPE_STATE_Z] = "Z",	   [KTAPE_STATE_P] = "P",
	[KTAPE_STATE_I] = "I",	   [KTAPE_STATE_PREEMPTED] = "R+",
};

static const char *const vectors[] = {
	"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
};

static const char *const objects[] = {
	[KTAPE_OBJ_FREE] = "free",
	[KTAPE_OBJ_THREAD] = "thread",
};

static const char *const phases[] = {
	[KTAPE_PHASE_OFF] = "off",
	[KTAPE_PHASE_ON] = "on",
};

#define NAMES(array) { array, KT_ARRAY_SIZE(array) }

static const struct names names[KTAPE_TYPES] = {
	[KTAPE_TYPE_STATE] = NAMES(states),
	[KTAPE_TYPE_SOFTIRQ] = NAMES(vectors),
	[KTAPE_TYPE_OBJECT] = NAMES(objects),
	[KTAPE_TYPE_PHASE] = NAMES(phases),
};

/* From the C library's header, at build time; empty where it has none. */
static const char *const x86_64_syscalls[] = {
#include "syscalls_x86_64.inc"
};

const char *ktape_value_name(unsigned int type, uint64_t value)
{
	const struct ktape_class_desc *c;

	if (type == KTAPE_TYPE_CLASSID) {
		c = ktape_class_desc(value < KTAPE_CLASSES ? (unsigned int)value
							   : KTAPE_CLASSES);
		return c ? c->name : NULL;
	}
	if (type >= KTAPE_TYPES || value >= names[type].nr)
		return NULL;
	return names[type].names[value];
}

const char *ktape_syscall_name(const char *machine, unsigned int nr)
{
	if (strcmp(machine, "x86_64") || nr >= KT_ARRAY_SIZE(x86_64_syscalls))
		return NULL;
	return x86_64_syscalls[nr];
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of enumeration values: thread states, soft interrupts, signals and others.
 * They are the same in all traces.
 */
#include "util/bits.h"

#include <ktape/filter.h>

#include <ktape.h>

struct names {
	const char *const *names;
	size_t nr;
};

static const char *const states[] = {
	[KTAPE_STATE_R] = "R",	    [KTAPE_STATE_S] = "S",
	[KTAPE_STATE_D] = "D",	    [KTAPE_STATE_T] = "T",
	[KTAPE_STATE_TRACED] = "t", [KTAPE_STATE_X] = "X",
	[KTAPE_STATE_Z] = "Z",	    [KTAPE_STATE_P] = "P",
	[KTAPE_STATE_I] = "I",	    [KTAPE_STATE_PREEMPTED] = "R+",
};

static const char *const vectors[] = {
	"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
};

static const char *const objects[] = {
	[KTAPE_OBJ_FREE] = "free",
	[KTAPE_OBJ_THREAD] = "thread",
	[KTAPE_OBJ_IRQ] = "irq",
	[KTAPE_OBJ_SOFTIRQ] = "softirq",
	[KTAPE_OBJ_FUNCTION] = "function",
	[KTAPE_OBJ_MARKER] = "marker",
	[KTAPE_OBJ_VALUE] = "value",
	[KTAPE_OBJ_ISR] = "isr",
	[KTAPE_OBJ_EXCEPTION] = "exception",
	[KTAPE_OBJ_USER_EVENT] = "user_event",
	[KTAPE_OBJ_BLOCK_DEVICE] = "block_device",
	[KTAPE_OBJ_NET_DEVICE] = "net_device",
	[KTAPE_OBJ_CGROUP] = "cgroup",
	[KTAPE_OBJ_PROBE] = "probe",
	[KTAPE_OBJ_SYSCALL] = "syscall",
	[KTAPE_OBJ_TASK_CGROUP] = "task_cgroup",
	[KTAPE_OBJ_NO_ROOM] = "no_room",
};

static const char *const severities[] = {
	[KTAPE_SW_SEVERITY0] = "SW0", [KTAPE_SW_SEVERITY1] = "SW1",
	[KTAPE_SW_SEVERITY2] = "SW2", [KTAPE_SW_SEVERITY3] = "SW3",
	[KTAPE_HW_SEVERITY0] = "HW0", [KTAPE_HW_SEVERITY1] = "HW1",
	[KTAPE_HW_SEVERITY2] = "HW2", [KTAPE_HW_SEVERITY3] = "HW3",
};

static const char *const ipis[] = {
	[KTAPE_IPI_OTHER] = "other",
	[KTAPE_IPI_RESCHEDULE] = "reschedule",
	[KTAPE_IPI_CALL] = "call",
	[KTAPE_IPI_CALL_SINGLE] = "call_single",
	[KTAPE_IPI_IRQ_WORK] = "irq_work",
	[KTAPE_IPI_STOP] = "stop",
	[KTAPE_IPI_TIMER] = "timer",
};

static const char *const filters[] = {
	[KTAPE_FILTER_CPU] = "cpu",
	[KTAPE_FILTER_SYSCALL] = "syscall",
	[KTAPE_FILTER_IRQ] = "irq",
	[KTAPE_FILTER_SOFTIRQ] = "softirq",
	[KTAPE_FILTER_SIGNAL] = "signal",
	[KTAPE_FILTER_PID] = "pid",
	[KTAPE_FILTER_CGROUP] = "cgroup",
	[KTAPE_FILTER_UID] = "uid",
	[KTAPE_FILTER_SEVERITY] = "severity",
	[KTAPE_FILTER_GATE] = "gate",
	[KTAPE_FILTER_RATE] = "rate",
	[KTAPE_FILTER_STACK] = "stack",
};

static const char *const phases[] = {
	[KTAPE_PHASE_OFF] = "off",
	[KTAPE_PHASE_ON] = "on",
};

/* Numbers as on most machines; alpha, mips, parisc and sparc differ. */
static const char *const signals[] = {
	[1] = "SIGHUP", "SIGINT",      "SIGQUIT",     "SIGILL",
	"SIGTRAP",	"SIGABRT",     "SIGBUS",      "SIGFPE",
	"SIGKILL",	"SIGUSR1",     "SIGSEGV",     "SIGUSR2",
	"SIGPIPE",	"SIGALRM",     "SIGTERM",     "SIGSTKFLT",
	"SIGCHLD",	"SIGCONT",     "SIGSTOP",     "SIGTSTP",
	"SIGTTIN",	"SIGTTOU",     "SIGURG",      "SIGXCPU",
	"SIGXFSZ",	"SIGVTALRM",   "SIGPROF",     "SIGWINCH",
	"SIGIO",	"SIGPWR",      "SIGSYS",      "SIG32",
	"SIG33",	"SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+2",
	"SIGRTMIN+3",	"SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",
	"SIGRTMIN+7",	"SIGRTMIN+8",  "SIGRTMIN+9",  "SIGRTMIN+10",
	"SIGRTMIN+11",	"SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14",
	"SIGRTMIN+15",	"SIGRTMIN+16", "SIGRTMIN+17", "SIGRTMIN+18",
	"SIGRTMIN+19",	"SIGRTMIN+20", "SIGRTMIN+21", "SIGRTMIN+22",
	"SIGRTMIN+23",	"SIGRTMIN+24", "SIGRTMIN+25", "SIGRTMIN+26",
	"SIGRTMIN+27",	"SIGRTMIN+28", "SIGRTMIN+29", "SIGRTMAX",
};

#define NAMES(array)                        \
	{                                   \
		array, KT_ARRAY_SIZE(array) \
	}

static const struct names names[KTAPE_TYPES] = {
	[KTAPE_TYPE_STATE] = NAMES(states),
	[KTAPE_TYPE_SOFTIRQ] = NAMES(vectors),
	[KTAPE_TYPE_OBJECT] = NAMES(objects),
	[KTAPE_TYPE_PHASE] = NAMES(phases),
	[KTAPE_TYPE_SIGNAL] = NAMES(signals),
	[KTAPE_TYPE_SEVERITY] = NAMES(severities),
	[KTAPE_TYPE_IPI] = NAMES(ipis),
	[KTAPE_TYPE_FILTER] = NAMES(filters),
};

const char *ktape_value_name(unsigned int type, uint64_t value)
{
	const struct ktape_class_desc *c;

	if (type == KTAPE_TYPE_CLASSID) {
		c = ktape_class_desc(value < KTAPE_CLASSES ? (unsigned int)value :
							     KTAPE_CLASSES);
		return c ? c->name : NULL;
	}
	if (type >= KTAPE_TYPES || value >= names[type].nr)
		return NULL;
	return names[type].names[value];
}

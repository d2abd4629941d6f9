// SPDX-License-Identifier: GPL-2.0-only
/* Single steps and breakpoints by SIGTRAP, on x86: see step.h. */
#include "step.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __x86_64__
#define REG_PC	     REG_RIP
#define RED_ZONE     "leaq -128(%%rsp), %%rsp\n\t"
#define RED_ZONE_END "leaq 128(%%rsp), %%rsp"
#define STACK	     "(%%rsp)"
#define LONG	     "q"
#else
#define REG_PC	     REG_EIP
#define RED_ZONE     ""
#define RED_ZONE_END ""
#define STACK	     "(%%esp)"
#define LONG	     "l"
#endif

#define EFLAGS_TF 0x100
#define INT3	  0xcc

extern char __executable_start, etext;

struct run {
	struct step *step;
	unsigned int number; /* instructions stepped through */
	unsigned char byte;  /* under the breakpoint */
	bool armed;
	uintptr_t *where;    /* trace: room for addresses ... */
	size_t room, traced; /* ... and how many there are */
};

unsigned long step_count;
static struct run *current;

static bool is_our_address(uintptr_t address)
{
	return address >= (uintptr_t)&__executable_start &&
	       address < (uintptr_t)&etext;
}

static void poke_byte(uintptr_t address, unsigned char byte)
{
	*(volatile unsigned char *)address = byte;
}

static void set_tf(ucontext_t *uc, bool on)
{
	if (on)
		uc->uc_mcontext.gregs[REG_EFL] |= EFLAGS_TF;
	else
		uc->uc_mcontext.gregs[REG_EFL] &= ~EFLAGS_TF;
}

/* Code called at a stop may step in its turn. */
static void call_stopped(struct run *run)
{
	run->step->hit = true;
	current = NULL;
	run->step->stopped(run->step->arg);
	current = run;
}

static void on_breakpoint(struct run *run, ucontext_t *uc)
{
	uintptr_t at = run->step->at;

	poke_byte(at, run->byte);
	run->armed = false;
	uc->uc_mcontext.gregs[REG_PC] = (greg_t)at;
	call_stopped(run);
	set_tf(uc, run->step->after > 0);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct run *run = current;
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];

	(void)signal;
	if (!run) { /* a trap that nobody waits for: go on without single steps */
		set_tf(uc, false);
		return;
	}
	step_count++;
	if (run->where) {
		if (is_our_address(pc) && run->traced < run->room)
			run->where[run->traced++] = pc;
		return;
	}
	if (info->si_code != TRAP_TRACE && run->armed && pc == run->step->at + 1) {
		on_breakpoint(run, uc);
		return;
	}
	run->number++;
	current = NULL;
	if (run->step->each)
		run->step->each(run->step->arg, run->number);
	current = run;
	if (run->number >= run->step->after)
		set_tf(uc, false);
}

/* Set or clear TF for the caller, from its next instruction but one on. */
static inline __attribute__((always_inline)) void trap_flag(bool on)
{
	if (on)
		__asm__ __volatile__(RED_ZONE "pushf" LONG "\n\t"
					      "or" LONG " $0x100, " STACK "\n\t"
					      "popf" LONG "\n\t" RED_ZONE_END
				     :
				     :
				     : "memory", "cc");
	else
		__asm__ __volatile__(RED_ZONE "pushf" LONG "\n\t"
					      "and" LONG " $~0x100, " STACK "\n\t"
					      "popf" LONG "\n\t" RED_ZONE_END
				     :
				     :
				     : "memory", "cc");
}

static volatile unsigned int probe_stops;

static void probe_stopped(void *arg)
{
	(void)arg;
	probe_stops++;
}

static void write_probe(void *arg)
{
	*(volatile int *)arg = 1;
}

/**
 * step_init() - install the handlers and try a single step
 *
 * Return: false if this machine delivers no single steps or breakpoints.
 */
bool step_init(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	uintptr_t from = (uintptr_t)&__executable_start & ~4095UL;
	uintptr_t where[64];
	struct step step = { .stopped = probe_stopped };
	int sink;

	if (sigaction(SIGTRAP, &action, NULL) ||
	    mprotect((void *)from, (uintptr_t)&etext - from,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	if (step_trace(write_probe, &sink, where, 64) < 2)
		return false;
	step.at = (uintptr_t)write_probe;
	step_run(write_probe, &sink, &step);
	return probe_stops == 1;
}

/**
 * step_trace() - run a function and note its instructions, and a few around its call
 * @function: what to run
 * @arg: its argument
 * @where: gets the addresses, without those outside this program
 * @room: entries that fit in @where
 *
 * Return: number of addresses.
 */
size_t step_trace(void (*function)(void *), void *arg, uintptr_t *where, size_t room)
{
	struct run run = { .where = where, .room = room };
	struct run *outer = current;

	current = &run;
	trap_flag(true);
	function(arg);
	trap_flag(false);
	current = outer;
	return run.traced;
}

/**
 * step_run() - run a function and stop it once
 * @function: what to run
 * @arg: its argument
 * @step: where to stop and what to do there.  With @at, @stopped is called there and @each
 *	before the @after instructions that follow; without, only @each is called, before the
 *	first @after instructions
 */
void step_run(void (*function)(void *), void *arg, struct step *step)
{
	struct run run = { .step = step };
	struct run *outer = current;

	step->hit = false;
	if (step->at) {
		run.byte = *(unsigned char *)step->at;
		poke_byte(step->at, INT3);
		run.armed = true;
		current = &run;
		function(arg);
		trap_flag(false);
		if (run.armed)
			poke_byte(step->at, run.byte);
	} else {
		current = &run;
		trap_flag(true);
		function(arg);
		trap_flag(false);
	}
	current = outer;
}

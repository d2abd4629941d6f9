/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stop a function between two chosen instructions, on x86.
 *
 * step_trace() runs the function once with EFLAGS.TF set and notes the address
 * of each instruction, and of a few around the call. step_run() then stops it at
 * one of these by a breakpoint, which takes a tenth of the time of single-stepping
 * there. After the stop it can continue with TF. Calls nest: code at a stop may use
 * step_run() itself. step_init() comes first; it returns false where none of this
 * works.
 */
#ifndef _STEP_H
#define _STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct step - where to stop and what to do there
 * @at: address of an instruction; 0: no stop, the function is single-stepped from its call on
 * @stopped: called when @at is reached for the first time
 * @after: number of instructions to single-step, after the stop if there is one
 * @each: called before each of them, with their number from 1, or NULL
 * @arg: argument of both calls
 * @hit: set when @at was reached
 */
struct step {
	uintptr_t at;
	void (*stopped)(void *arg);
	unsigned int after;
	void (*each)(void *arg, unsigned int number);
	void *arg;
	bool hit;
};

/*
 * step_trace() returns how many addresses it has noted in @where, at most @room.  Those outside of
 * this program are left out.
 */
bool step_init(void);
size_t step_trace(void (*function)(void *), void *arg, uintptr_t *where,
		  size_t room);
void step_run(void (*function)(void *), void *arg, struct step *step);
extern unsigned long step_count; /* number of single steps and stops so far */

#endif /* _STEP_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emit markers, values, interrupt routines and user events from other modules.
 *
 * All functions may be called in any context, NMI included, and with any locks
 * held.  Where RCU does not watch the CPU (rcu_is_watching() is false: close to
 * an idle state, and on the way from and to user space) nothing is recorded:
 * sessions count the event as lost (KTAPE_LOST_NESTED), and sinks are not
 * called.
 *
 * While no session and no sink wants such events, each call costs one jump that
 * is never taken.
 */
#ifndef _KTAPE_EMIT_H
#define _KTAPE_EMIT_H

#include <linux/jump_label.h>
#include <linux/types.h>

#include <ktape/mark.h>

DECLARE_STATIC_KEY_FALSE(ktape_listening);

void ktape_emit_mark(u32 opcode, bool task, u32 id, s64 value, const char *message);
void ktape_emit_isr(u32 opcode, u32 id);
void ktape_emit_user(bool task, u32 id, const u32 *args, unsigned int nargs,
		     const void *typed, u32 length);

/* ---- markers ------------------------------------------------------------- */

/*
 * Global markers: a moment, the begin and the end of a span (spans nest), a
 * value.  ktape_name_marker() and ktape_name_value() name an id.  A message may
 * be NULL; it is cut to max_str= bytes.
 */
static inline void ktape_mark(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK, false, id, 0, message);
}

static inline void ktape_begin(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_BEGIN, false, id, 0, message);
}

static inline void ktape_end(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_END, false, id, 0, message);
}

static inline void ktape_value(u32 id, s64 value, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_VALUE, false, id, value, message);
}

/* The same for the current thread. */
static inline void ktape_task_mark(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK, true, id, 0, message);
}

static inline void ktape_task_begin(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_BEGIN, true, id, 0, message);
}

static inline void ktape_task_end(u32 id, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_END, true, id, 0, message);
}

static inline void ktape_task_value(u32 id, s64 value, const char *message)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_mark(KTAPE_EV_MARK_VALUE, true, id, value, message);
}

/* ---- interrupt routines of this CPU: ktape_name_isr() names an id -------- */

static inline void ktape_isr_enter(u32 id)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_isr(KTAPE_EV_ISR_ENTER, id);
}

static inline void ktape_isr_exit(u32 id)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_isr(KTAPE_EV_ISR_EXIT, id);
}

/* ---- user events --------------------------------------------------------- */

/*
 * id: below KTAPE_FORMAT_ID_FIRST (ktape/formats.h).  These functions record events with
 * other ids, too, but readers take them for forged ones and show their words only.
 * args: up to 6 words.  typed: length bytes built with ktape/typed.h, or NULL.
 * ktape_name_user_event() names an id.
 */

static inline void ktape_user_event(u32 id, const u32 *args, unsigned int nargs,
				    const void *typed, u32 length)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_user(false, id, args, nargs, typed, length);
}

/* The same for the current thread. */
static inline void ktape_task_user_event(u32 id, const u32 *args, unsigned int nargs,
					 const void *typed, u32 length)
{
	if (static_branch_unlikely(&ktape_listening))
		ktape_emit_user(true, id, args, nargs, typed, length);
}

#endif /* _KTAPE_EMIT_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds the record of a trace exception: an event with a severity that goes into
 * the control ring, where a flood of other events cannot overwrite it.  Probes, other
 * modules and programs raise exceptions with it.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "event/event.h"
#include "emit.h"

#define HAS_BUFFER (1U << 3) /* dat20: the field buffer, behind the severity */

/**
 * kt_exception_of() - Record a trace exception in the sessions that want it
 * @severity: enum ktape_severity
 * @code: KTAPE_EXC_CODE(major, minor)
 * @args: argument words
 * @nargs: number of words in @args; more than KT_EXCEPTION_ARGS are cut
 * @buffer: bytes to record with it
 * @length: bytes at @buffer
 * @has_buffer: the exception has a buffer, which may be empty
 * @other: a thread that it is about besides the current one, or NULL
 *
 * The record always has a blob, so that readers have to know one form only.
 *
 * Context: any, NMI included; preemption enabled or not.
 */
void notrace kt_exception_of(u32 severity, u32 code, const u32 *args,
			     unsigned int nargs, const void *buffer, u32 length,
			     bool has_buffer, struct task_struct *other)
{
	const unsigned int taken = min_t(unsigned int, nargs, KT_EXCEPTION_ARGS);
	u32 words[KTAPE_NARGS_MAX] = { code };
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_EXCEPTION,
				/* the largest severity is a mask: all 3 bits */
				(severity & KTAPE_HW_SEVERITY3) |
					(has_buffer ? HAS_BUFFER : 0),
				1, 1 + taken),
		.class = KTAPE_CLASS_EXCEPTION,
		.nargs = 1 + taken,
		.size = has_buffer ? length : 0,
		.args = words,
		.blob = has_buffer && length ? buffer : "",
	};

	if (taken)
		memcpy(words + 1, args, taken * sizeof(*args));
	preempt_disable_notrace();
	kt_event_record_of(KT_EVENT_RING_EXCEPTION, &rec, other);
	preempt_enable_notrace();
}

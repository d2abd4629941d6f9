/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emit exceptions from other modules, with the interface of QNX Neutrino.
 *
 * Trace<n>(severity, code, n arguments) and Trace<n>b(..., buffer, size), with
 * severity from enum ktape_severity and code from KTAPE_EXC_CODE(major, minor).
 * Arguments are 32-bit words.  Contexts and cost are those of ktape/emit.h.
 */
#ifndef _KTAPE_TRACE_H
#define _KTAPE_TRACE_H

#include <linux/kernel.h>

#include <ktape/emit.h>

void ktape_emit_exception(u32 severity, u32 code, const u32 *args,
			  unsigned int nargs, const void *buffer, u32 length,
			  bool has_buffer);
void ktape_emit_trace_event(u32 code, ...);

#define _TRACE_EXC KTAPE_EV_EXCEPTION

#define _TRACE_SW_SEVERITY0 KTAPE_SW_SEVERITY0
#define _TRACE_SW_SEVERITY1 KTAPE_SW_SEVERITY1
#define _TRACE_SW_SEVERITY2 KTAPE_SW_SEVERITY2
#define _TRACE_SW_SEVERITY3 KTAPE_SW_SEVERITY3
#define _TRACE_HW_SEVERITY0 KTAPE_HW_SEVERITY0
#define _TRACE_HW_SEVERITY1 KTAPE_HW_SEVERITY1
#define _TRACE_HW_SEVERITY2 KTAPE_HW_SEVERITY2
#define _TRACE_HW_SEVERITY3 KTAPE_HW_SEVERITY3

/* The first word keeps the array from being empty; the arguments follow it. */
#define ktape_exception(severity, code, has, buf, len, ...)                    \
	do {                                                                   \
		if (static_branch_unlikely(&ktape_listening)) {                \
			const u32 __args[] = { 0, ##__VA_ARGS__ };             \
			ktape_emit_exception(severity, code, __args + 1,       \
					     ARRAY_SIZE(__args) - 1, buf, len, \
					     has);                             \
		}                                                              \
	} while (0)

#define Trace0(s, c)	     ktape_exception(s, c, false, NULL, 0)
#define Trace1(s, c, a1)     ktape_exception(s, c, false, NULL, 0, a1)
#define Trace2(s, c, a1, a2) ktape_exception(s, c, false, NULL, 0, a1, a2)
#define Trace3(s, c, a1, a2, a3) \
	ktape_exception(s, c, false, NULL, 0, a1, a2, a3)
#define Trace4(s, c, a1, a2, a3, a4) \
	ktape_exception(s, c, false, NULL, 0, a1, a2, a3, a4)
#define Trace5(s, c, a1, a2, a3, a4, a5) \
	ktape_exception(s, c, false, NULL, 0, a1, a2, a3, a4, a5)
#define Trace6(s, c, a1, a2, a3, a4, a5, a6) \
	ktape_exception(s, c, false, NULL, 0, a1, a2, a3, a4, a5, a6)

#define Trace0b(s, c, buf, len)	    ktape_exception(s, c, true, buf, len)
#define Trace1b(s, c, a1, buf, len) ktape_exception(s, c, true, buf, len, a1)
#define Trace2b(s, c, a1, a2, buf, len) \
	ktape_exception(s, c, true, buf, len, a1, a2)
#define Trace3b(s, c, a1, a2, a3, buf, len) \
	ktape_exception(s, c, true, buf, len, a1, a2, a3)
#define Trace4b(s, c, a1, a2, a3, a4, buf, len) \
	ktape_exception(s, c, true, buf, len, a1, a2, a3, a4)
#define Trace5b(s, c, a1, a2, a3, a4, a5, buf, len) \
	ktape_exception(s, c, true, buf, len, a1, a2, a3, a4, a5)
#define Trace6b(s, c, a1, a2, a3, a4, a5, a6, buf, len) \
	ktape_exception(s, c, true, buf, len, a1, a2, a3, a4, a5, a6)

/* Code word of TraceEvent(): 0 to 7 arguments, and a buffer if p is true. */
#define KTAPE_TRACE_CODE(opcode, dat20, p, nargs)                 \
	((u32)(opcode) | (KTAPE_DAT20_MASK & (u32)(dat20)) << 8 | \
	 ((p) ? 1U << 28 : 0) | (u32)(nargs) << 29)

/*
 * ktape_trace_event(code, args..., [buffer, size]) with code from
 * KTAPE_TRACE_CODE().  Arguments are 32-bit words; buffer and size (const void
 * *, u32) follow if p is set.
 *
 * Opcode _TRACE_EXC with an argument or more records an exception: the first one is the
 * exception's code, bits 0-2 of dat20 are its severity.  Any other code word is recorded
 * unchanged, as argument of a trace_event record.
 */
#define ktape_trace_event(code, ...)                                 \
	do {                                                         \
		if (static_branch_unlikely(&ktape_listening))        \
			ktape_emit_trace_event(code, ##__VA_ARGS__); \
	} while (0)

#define TraceEvent(code, ...) ktape_trace_event(code, ##__VA_ARGS__)

#endif /* _KTAPE_TRACE_H */

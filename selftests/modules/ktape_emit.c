// SPDX-License-Identifier: GPL-2.0-only
/*
 * Example: emit each form of event once.  guest/names/t_emit.c and t_emit.sh expect exactly
 * these events.
 */
#include <linux/module.h>
#include <ktape/kernel.h>

/* Trace<n>() and Trace<n>b() with n arguments. */
#define BOTH(n, s, ...)                                        \
	Trace##n(s, KTAPE_EXC_CODE(0x1234, n), ##__VA_ARGS__); \
	Trace##n##b(s, KTAPE_EXC_CODE(0x1234, 16 + n), ##__VA_ARGS__, "buf", 3)

static int __init emit_init(void)
{
	KTAPE_TYPED(t, 64);

	BOTH(0, _TRACE_SW_SEVERITY0);
	BOTH(1, _TRACE_SW_SEVERITY1, 1);
	BOTH(2, _TRACE_SW_SEVERITY2, 1, 2);
	BOTH(3, _TRACE_SW_SEVERITY3, 1, 2, 3);
	BOTH(4, _TRACE_HW_SEVERITY0, 1, 2, 3, 4);
	BOTH(5, _TRACE_HW_SEVERITY1, 1, 2, 3, 4, 5);
	BOTH(6, _TRACE_HW_SEVERITY3, 1, 2, 3, 4, 5, 6);
	TraceEvent(KTAPE_TRACE_CODE(_TRACE_EXC, _TRACE_HW_SEVERITY2, 1, 1),
		   KTAPE_EXC_CODE(0x1234, 32), "buf", 3);
	TraceEvent(KTAPE_TRACE_CODE(200, 0xabcde, 1, 2), 1, 2, "buf", 3);
	/* Naming returns 0, which is the id of this marker: another one would be an error. */
	ktape_task_begin(ktape_name_marker(7, "seven"), "zero");
	ktape_begin(7, NULL), ktape_mark(7, "moment"), ktape_end(7, NULL);
	ktape_task_mark(7, NULL), ktape_task_end(0, "zero");
	ktape_value(9, -5, NULL), ktape_task_value(9, S64_MAX, "most");
	ktape_name_isr(-1, 3, "three"), ktape_isr_enter(3), ktape_isr_exit(3);
	ktape_typed_u8(&t, 3, 200), ktape_typed_string(&t, "text");
	ktape_user_event(1025, (u32[]){ 1, 2 }, 2, t.bytes, t.length);
	ktape_task_user_event(1026, NULL, 0, NULL, 0);
	return 0;
}
module_init(emit_init);
static void __exit emit_exit(void)
{
}
module_exit(emit_exit);
MODULE_DESCRIPTION("an example of what a module can emit into ktape");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Interrupts of all kinds: opcodes 48 to 57, 68, 70 to 75.  Included by ktape/events.h. */

KTAPE_EVENT(48, IRQ_HANDLER_ENTRY, irq_handler_entry, IRQ,
	    "an interrupt handler starts")
	KTAPE_BITS(IRQ, irq, 18, "the interrupt")
KTAPE_ARGS()
KTAPE_END(IRQ_HANDLER_ENTRY)

KTAPE_EVENT(49, IRQ_HANDLER_EXIT, irq_handler_exit, IRQ,
	    "an interrupt handler returns")
	KTAPE_BITS(IRQ, irq, 18, "the interrupt")
	KTAPE_BITS(U32, ret, 2, "bit 0 handled, bit 1 wake the handler's thread")
KTAPE_ARGS()
KTAPE_END(IRQ_HANDLER_EXIT)

KTAPE_EVENT(50, IRQ_SPAN, irq_span, IRQ,
	    "an interrupt handler that took longer than its gate")
	KTAPE_BITS(IRQ, irq, 18, "the interrupt")
	KTAPE_BITS(U32, ret, 2,
		   "bit 0 handled, bit 1 wake the handler's thread")
KTAPE_ARGS()
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(IRQ_SPAN)

KTAPE_EVENT(52, SOFTIRQ_RAISE, softirq_raise, SOFTIRQ,
	    "a soft interrupt is asked for")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_RAISE)

KTAPE_EVENT(53, SOFTIRQ_ENTRY, softirq_entry, SOFTIRQ,
	    "a soft interrupt starts")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_ENTRY)

KTAPE_EVENT(54, SOFTIRQ_EXIT, softirq_exit, SOFTIRQ,
	    "a soft interrupt is done")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_EXIT)

KTAPE_EVENT(55, SOFTIRQ_SPAN, softirq_span, SOFTIRQ,
	    "a soft interrupt that took longer than its gate")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(SOFTIRQ_SPAN)

KTAPE_EVENT(56, TASKLET_ENTRY, tasklet_entry, SOFTIRQ, "a tasklet starts")
KTAPE_ARGS()
	KTAPE_ARG(PTR, tasklet, "the tasklet")
	KTAPE_ARG(FUNC, function, "function of the tasklet")
KTAPE_END(TASKLET_ENTRY)

KTAPE_EVENT(57, TASKLET_EXIT, tasklet_exit, SOFTIRQ, "a tasklet is done")
KTAPE_ARGS()
	KTAPE_ARG(PTR, tasklet, "the tasklet")
	KTAPE_ARG(FUNC, function, "function of the tasklet")
KTAPE_END(TASKLET_EXIT)

KTAPE_EVENT(70, IPI_RAISE, ipi_raise, IPI, "interrupts are sent to other CPUs")
	KTAPE_BITS(IPI, reason, 5, "reason of the interrupt")
KTAPE_ARGS()
	KTAPE_ARG(X64, cpus, "the first 64 of them")
KTAPE_END(IPI_RAISE)

KTAPE_EVENT(71, IPI_ENTRY, ipi_entry, IPI,
	    "an interrupt from another CPU is served")
	KTAPE_BITS(IPI, reason, 5, "reason of the interrupt")
KTAPE_ARGS()
KTAPE_END(IPI_ENTRY)

KTAPE_EVENT(72, IPI_EXIT, ipi_exit, IPI,
	    "the interrupt from another CPU is done")
	KTAPE_BITS(IPI, reason, 5, "reason of the interrupt")
KTAPE_ARGS()
KTAPE_END(IPI_EXIT)

KTAPE_EVENT(73, IPI_SEND_CPU, ipi_send_cpu, IPI,
	    "an interrupt is sent to a CPU")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU")
KTAPE_ARGS()
	KTAPE_ARG(FUNC, caller, "function that sends the interrupt")
	KTAPE_ARG(FUNC, callback, "function that the other CPU will call")
KTAPE_END(IPI_SEND_CPU)

KTAPE_EVENT(74, IPI_SEND_CPUMASK, ipi_send_cpumask, IPI,
	    "an interrupt is sent to CPUs")
KTAPE_ARGS()
	KTAPE_ARG(X64, cpus, "the first 64 of them")
	KTAPE_ARG(FUNC, caller, "function that sends the interrupt")
	KTAPE_ARG(FUNC, callback, "function that the other CPU will call")
KTAPE_END(IPI_SEND_CPUMASK)

KTAPE_EVENT(75, LOCAL_TIMER_ENTRY, local_timer_entry, IRQ,
	    "the CPU's own timer interrupt starts")
	KTAPE_BITS(U32, vector, 8, "of the CPU")
KTAPE_ARGS()
KTAPE_END(LOCAL_TIMER_ENTRY)

KTAPE_EVENT(68, LOCAL_TIMER_EXIT, local_timer_exit, IRQ,
	    "the CPU's own timer interrupt is done")
	KTAPE_BITS(U32, vector, 8, "of the CPU")
KTAPE_ARGS()
KTAPE_END(LOCAL_TIMER_EXIT)

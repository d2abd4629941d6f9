// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that other modules and programs emit: markers, values, interrupt routines,
 * user events, text, exceptions, and TraceEvents with any code word.  Names for
 * them are in name.c.
 *
 * The exported functions are behind the inline ones of module/include/ktape.  The
 * static key ktape_listening is on while a session or sink wants such events; it
 * only spares callers the call, the want bits decide what is recorded.
 *
 * Other modules may call from places where RCU does not watch the CPU.  Then
 * nothing is recorded and the event is counted as lost: see emit_is_watched().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include <ktape/trace.h>
#include <ktape/typed.h>

#include "emit.h"
#include "event/event.h"

#define EMITTED_MASK GENMASK_ULL(KTAPE_OP_KERNEL - 1, KTAPE_OP_EXCEPTION)

/* Contexts that may nest on a CPU: task, softirq, interrupt, NMI. */
#define DEPTH	     4
#define SCRATCH_SIZE (KTAPE_NARGS_MAX * sizeof(u32) + KTAPE_MARK_BYTES_MAX)

/* Room to join arguments and buffer of a TraceEvent, one piece per nested context. */
struct kt_scratch {
	unsigned int depth;
	u8 bytes[DEPTH][SCRATCH_SIZE];
};

DEFINE_STATIC_KEY_FALSE(ktape_listening);
EXPORT_SYMBOL_GPL(ktape_listening);

static struct kt_scratch __percpu *scratch;
static unsigned int message_max;

/**
 * kt_emit_init() - Allocate the scratch memory of emit_trace_event()
 * @max_str: most bytes of a marker's message to record
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_emit_init(unsigned int max_str)
{
	message_max = max_str;
	scratch = alloc_percpu(struct kt_scratch);
	if (scratch)
		return 0;
	pr_err("no memory for what other modules emit: %zu bytes of per-CPU memory for each of %u\n",
	       sizeof(struct kt_scratch), num_possible_cpus());
	return -ENOMEM;
}

/**
 * kt_emit_exit() - Free what kt_emit_init() allocated
 *
 * Context: module unload.  Nothing emits any more: callers hold a reference of the
 * module, by its symbols or by an open file.
 */
void kt_emit_exit(void)
{
	free_percpu(scratch);
	scratch = NULL;
}

/**
 * kt_emit_want() - Let callers through if a session or sink wants emitted events
 * @mask: union of the profiles of all sessions and sinks, bit n is opcode n
 *
 * Context: process context, may sleep; takes the kernel's CPU hotplug lock.
 */
void kt_emit_want(const u64 *mask)
{
	bool on = mask[0] & EMITTED_MASK;

	if (on == static_key_enabled(&ktape_listening))
		return;
	if (on)
		static_branch_enable(&ktape_listening);
	else
		static_branch_disable(&ktape_listening);
}

static void notrace emit_record(const struct kt_record *rec)
{
	preempt_disable_notrace();
	kt_event_record(KTAPE_RING_EVENT, rec);
	preempt_enable_notrace();
}

/**
 * kt_emit_mark() - Record a marker or a value
 * @opcode: KTAPE_EV_MARK, _MARK_BEGIN, _MARK_END, _MARK_VALUE
 * @task: the marker belongs to the current thread, else it is global
 * @id: number of the marker or value
 * @value: the value, for MARK_VALUE only
 * @message: bytes of the message, not NULL
 * @length: number of bytes; what exceeds max_str is cut
 *
 * Context: any.
 */
void notrace kt_emit_mark(u32 opcode, bool task, u32 id, s64 value,
			  const char *message, u32 length)
{
	const u32 args[] = { id, (u32)value, (u32)((u64)value >> 32) };
	const u32 nargs = opcode == KTAPE_EV_MARK_VALUE ? 3 : 1;
	const struct kt_record rec = {
		.code = KT_CODE(opcode, task, 1, nargs),
		.class = KTAPE_CLASS_USER,
		.nargs = nargs,
		.size = min(length, message_max),
		.args = args,
		.blob = message,
	};

	emit_record(&rec);
}

/**
 * kt_emit_text() - Record a text
 * @text: bytes of the text, not NULL
 * @length: number of bytes
 * @cut: the caller has cut the text
 *
 * Context: any.
 */
void notrace kt_emit_text(const char *text, u32 length, bool cut)
{
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_TEXT, cut, 1, 0),
		.class = KTAPE_CLASS_USER,
		.size = length,
		.blob = text,
	};

	emit_record(&rec);
}

/**
 * kt_emit_lost() - Count an emitted event that cannot be recorded
 * @opcode: opcode of the event
 * @reason: enum ktape_lost
 *
 * Count it as emitted and lost in every session that wants the event on this CPU.
 *
 * Context: any.
 */
void notrace kt_emit_lost(u32 opcode, u32 reason)
{
	const u32 kind = opcode == KTAPE_EV_EXCEPTION ? KT_EVENT_RING_EXCEPTION :
							KTAPE_RING_EVENT;
	const u32 class = kt_event_class(opcode);
	const struct kt_cpu *cpu;
	struct kt_ring *r;
	unsigned int want;

	preempt_disable_notrace();
	cpu = this_cpu_ptr(kt_cpus);
	want = READ_ONCE(cpu->want[opcode]) & KT_MASK_SESSIONS;
	for (; want; want &= want - 1) {
		r = cpu->ring[kind][__ffs(want)];
		kt_count(&r->page->emitted[class]);
		kt_ring_lose(r, reason, class);
	}
	preempt_enable_notrace();
}

/*
 * Does RCU watch this CPU?  If not, count the event as lost.
 *
 * In the idle loop close to the idle state, and on the way from and to user space,
 * a grace period does not wait for this CPU: filters, triggers, sinks and rings
 * could be freed while they are in use.  The kernel takes care of that for
 * tracepoints; callers in other modules need not know about it.
 *
 * Counting uses only the ring.  A session clears the want bits of a CPU by an
 * interrupt on that CPU and frees its rings later, so a ring stays as long as
 * interrupts are off after its want bit was seen set.
 */
static bool notrace emit_is_watched(u32 opcode)
{
	unsigned long flags;

	if (likely(rcu_is_watching()))
		return true;
	raw_local_irq_save(flags);
	kt_emit_lost(opcode, KTAPE_LOST_NESTED);
	raw_local_irq_restore(flags);
	return false;
}

/**
 * ktape_emit_mark() - Record a marker or a value, for the functions of ktape/emit.h
 * @opcode: KTAPE_EV_MARK, _MARK_BEGIN, _MARK_END, _MARK_VALUE
 * @task: the marker belongs to the current thread, else it is global
 * @id: number of the marker or value
 * @value: the value, for MARK_VALUE only
 * @message: text that ends in NUL, or NULL
 *
 * Context: any, NMI included; lost (nested) where RCU does not watch the CPU.
 */
void notrace ktape_emit_mark(u32 opcode, bool task, u32 id, s64 value,
			     const char *message)
{
	if (!emit_is_watched(opcode))
		return;
	if (!message)
		message = "";
	kt_emit_mark(opcode, task, id, value, message,
		     (u32)strnlen(message, message_max));
}
EXPORT_SYMBOL_GPL(ktape_emit_mark);

/**
 * ktape_emit_isr() - Record that an interrupt routine starts or returns
 * @opcode: KTAPE_EV_ISR_ENTER, _ISR_EXIT
 * @id: number of the routine on this CPU
 *
 * Context: any, NMI included; lost (nested) where RCU does not watch the CPU.
 */
void notrace ktape_emit_isr(u32 opcode, u32 id)
{
	const struct kt_record rec = {
		.code = KT_CODE(opcode, 0, 0, 1),
		.class = KTAPE_CLASS_USER,
		.nargs = 1,
		.args = &id,
	};

	if (emit_is_watched(opcode))
		emit_record(&rec);
}
EXPORT_SYMBOL_GPL(ktape_emit_isr);

/**
 * ktape_emit_user() - Record a user event
 * @task: the event belongs to the current thread, else it is global
 * @id: id of the user event
 * @args: further argument words
 * @nargs: number of words in @args; more than 6 are cut to 6
 * @typed: typed arguments in the form of struct ktape_typed, or NULL
 * @length: bytes at @typed
 *
 * Context: any, NMI included; lost (nested) where RCU does not watch the CPU.
 */
void notrace ktape_emit_user(bool task, u32 id, const u32 *args,
			     unsigned int nargs, const void *typed, u32 length)
{
	const u32 taken = min_t(u32, nargs, KTAPE_NARGS_MAX - 1);
	u32 words[KTAPE_NARGS_MAX] = { id };
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_USER_EVENT, task, 1, 1 + taken),
		.class = KTAPE_CLASS_USER,
		.nargs = 1 + taken,
		.size = typed ? length : 0,
		.args = words,
		.blob = typed ?: "",
	};

	if (!emit_is_watched(KTAPE_EV_USER_EVENT))
		return;
	if (taken)
		memcpy(words + 1, args, taken * sizeof(*args));
	emit_record(&rec);
}
EXPORT_SYMBOL_GPL(ktape_emit_user);

/**
 * ktape_emit_exception() - Record an exception, for Trace0() to Trace6b()
 * @severity: enum ktape_severity
 * @code: KTAPE_EXC_CODE(major, minor)
 * @args: argument words
 * @nargs: number of words in @args; more than 6 are cut to 6
 * @buffer: bytes to record with it, or NULL
 * @length: bytes at @buffer
 * @has_buffer: the exception has a buffer, which may be empty
 *
 * Context: any, NMI included; lost (nested) where RCU does not watch the CPU.
 */
void notrace ktape_emit_exception(u32 severity, u32 code, const u32 *args,
				  unsigned int nargs, const void *buffer,
				  u32 length, bool has_buffer)
{
	if (emit_is_watched(KTAPE_EV_EXCEPTION))
		kt_exception(severity, code, args, nargs, buffer,
			     buffer ? length : 0, has_buffer);
}
EXPORT_SYMBOL_GPL(ktape_emit_exception);

/*
 * Record a TraceEvent with any code word: join arguments and buffer in a piece of
 * scratch.  A nested context takes the next piece and is done with it before the
 * interrupted one goes on.
 */
static void notrace emit_trace_event(u32 code, const u32 *args,
				     const void *buffer, u32 length)
{
	const u32 words = (code >> 29) * sizeof(u32);
	struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_TRACE_EVENT, 0, 1, 1),
		.class = KTAPE_CLASS_USER,
		.nargs = 1,
		.size = words + length,
		.args = &code,
	};
	struct kt_scratch *s;
	unsigned int depth;
	u8 *bytes;

	if (length > KTAPE_MARK_BYTES_MAX) {
		kt_emit_lost(KTAPE_EV_TRACE_EVENT, KTAPE_LOST_TOO_BIG);
		return;
	}
	preempt_disable_notrace();
	s = this_cpu_ptr(scratch);
	/* Contexts that nest change it, and leave it as they have found it. */
	depth = READ_ONCE(s->depth);
	if (depth == DEPTH) {
		kt_emit_lost(KTAPE_EV_TRACE_EVENT, KTAPE_LOST_NESTED);
		goto out;
	}
	bytes = s->bytes[depth];
	WRITE_ONCE(s->depth, depth + 1);
	barrier(); /* take the piece before writing to it */
	memcpy(bytes, args, words);
	if (length)
		memcpy(bytes + words, buffer, length);
	rec.blob = bytes;
	kt_event_record(KTAPE_RING_EVENT, &rec);
	barrier(); /* the record is stored before the piece is given back */
	WRITE_ONCE(s->depth, depth);
out:
	preempt_enable_notrace();
}

/**
 * ktape_emit_trace_event() - Record a TraceEvent, for ktape_trace_event()
 * @code: KTAPE_TRACE_CODE(opcode, dat20, p, nargs)
 *
 * @code is followed by nargs words of type u32 and, if p is set, by a pointer and
 * its size as u32.  The buffer of an exception may be as long as a block has room
 * for, any other KTAPE_MARK_BYTES_MAX bytes.  An event with a longer buffer is
 * counted as lost.
 *
 * Context: any, NMI included; lost (nested) where RCU does not watch the CPU.
 */
void notrace ktape_emit_trace_event(u32 code, ...)
{
	const u32 nargs = code >> 29;
	const bool p = code >> 28 & 1;
	const bool exception = (code & (KTAPE_OPCODES - 1)) == _TRACE_EXC && nargs;
	const void *buffer = NULL;
	u32 args[KTAPE_NARGS_MAX];
	u32 length = 0, i;
	va_list ap;

	if (!emit_is_watched(exception ? KTAPE_EV_EXCEPTION : KTAPE_EV_TRACE_EVENT))
		return;
	va_start(ap, code);
	for (i = 0; i < nargs; i++)
		args[i] = va_arg(ap, u32);
	if (p) {
		buffer = va_arg(ap, const void *);
		length = va_arg(ap, u32);
	}
	va_end(ap);
	if (!buffer)
		length = 0;
	/* The severity is in bits 0-2 of dat20; the largest one is their mask. */
	if (exception)
		kt_exception(code >> 8 & KTAPE_HW_SEVERITY3, args[0], args + 1,
			     nargs - 1, buffer, length, p);
	else
		emit_trace_event(code, args, buffer, length);
}
EXPORT_SYMBOL_GPL(ktape_emit_trace_event);

/**
 * ktape_token() - Return the token of an object's address
 * @object: address, may be NULL
 *
 * A token identifies an object in records without revealing its address.
 *
 * Context: any.
 * Return: the token, which stays the same until ktape is unloaded; 0 for NULL.
 */
u32 notrace ktape_token(const void *object)
{
	return kt_token(object);
}
EXPORT_SYMBOL_GPL(ktape_token);

/**
 * ktape_token_func() - Return the token of a function, and name it by its symbol
 * @function: address, may be NULL
 *
 * Context: any.
 * Return: the token.
 */
u32 notrace ktape_token_func(const void *function)
{
	u32 token;

	preempt_disable_notrace();
	token = kt_token_func((unsigned long)function);
	preempt_enable_notrace();
	return token;
}
EXPORT_SYMBOL_GPL(ktape_token_func);

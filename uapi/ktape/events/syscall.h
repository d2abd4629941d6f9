/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/*
 * System calls: opcodes 60 to 65.  Included by ktape/events.h.
 *
 * A span replaces a start and its end if they have a duration gate (ktape/filter.h).
 */

KTAPE_EVENT(60, SYS_ENTER, sys_enter, SYSCALL, "a system call starts")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
	KTAPE_VARARGS(1)
KTAPE_ARGS()
	KTAPE_REST(S32, full, "the whole number, if large is set")
KTAPE_END(SYS_ENTER)

KTAPE_EVENT(61, SYS_EXIT, sys_exit, SYSCALL, "a system call returns")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits")
KTAPE_ARGS()
	KTAPE_ARG(S64, ret, "return value, or -errno")
KTAPE_END(SYS_EXIT)

KTAPE_EVENT(62, SYS_ENTER_WIDE, sys_enter_wide, SYSCALL,
	    "a system call starts, with its arguments; takes sys_enter's place")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
KTAPE_ARGS()
	KTAPE_ARG(S32, full, "the whole number")
	KTAPE_BLOB()
	KTAPE_ARRAY(X64, args, 6, "arguments of the system call")
KTAPE_END(SYS_ENTER_WIDE)

KTAPE_EVENT(63, SYS_EXIT_WIDE, sys_exit_wide, SYSCALL,
	    "a system call returns, with its arguments; takes sys_exit's place")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
KTAPE_ARGS()
	KTAPE_ARG(S32, full, "the whole number")
	KTAPE_BLOB()
	KTAPE_ARG(S64, ret, "return value, or -errno")
	KTAPE_ARRAY(X64, args, 6, "arguments of the system call as they are at its end")
KTAPE_END(SYS_EXIT_WIDE)

KTAPE_EVENT(64, SYS_PATH, sys_path, SYSCALL,
	    "the path that a system call was given; comes before sys_enter.  Paths that are not in memory are empty and cut")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, cut, 1, "it is longer: over 256 bytes, or not in memory")
KTAPE_ARGS()
	KTAPE_BLOB()
	KTAPE_TEXT(path, "the path")
KTAPE_END(SYS_PATH)

KTAPE_EVENT(65, SYS_SPAN, sys_span, SYSCALL,
	    "a system call that took longer than its gate")
	KTAPE_BITS(SYSCALL, nr, 16, "number of the system call")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits")
KTAPE_ARGS()
	KTAPE_ARG(S64, ret, "return value, or -errno")
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(SYS_SPAN)

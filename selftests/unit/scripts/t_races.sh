#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test which of KCSAN's reports guest.sh counts as a module's.
#
# usage: t_races.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
# shellcheck source=selftests/guest/boot/guest.sh
. "$top/selftests/guest/boot/guest.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-races.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
export TMPDIR=$work

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# report TITLE FIRST SECOND [WORK]: print a report; FIRST and SECOND are the frames of its two
# stacks, separated by commas; WORK: what the thread works on
report()
{
	local frames
	echo '[    7.100000] =================================================================='
	echo "[    7.100000] BUG: KCSAN: data-race in $1"
	echo '[    7.100000] '
	echo '[    7.100000] write to 0xffff888004b1a0c0 of 8 bytes by interrupt on cpu 1:'
	for frames in $(tr , ' ' <<<"$2"); do
		echo "[    7.100000]  $frames+0x10/0x20 " |
			sed 's/\(.*\)@\([a-z]*\)\(.*\)/\1\3[\2]/'
	done
	echo '[    7.100000] '
	echo '[    7.100000] read (marked) to 0xffff888004b1a0c0 of 8 bytes by task 77 on cpu 0:'
	for frames in $(tr , ' ' <<<"$3"); do
		echo "[    7.100000]  $frames+0x10/0x20 " |
			sed 's/\(.*\)@\([a-z]*\)\(.*\)/\1\3[\2]/'
	done
	echo '[    7.100000] '
	echo '[    7.100000] Reported by Kernel Concurrency Sanitizer on:'
	[ -z "${4:-}" ] || echo "[    7.100000] Workqueue: events $4"
	echo '[    7.100000] =================================================================='
}

# counts NAME 0|1 TITLE FIRST SECOND [WORK]: the report counts as one of the module ktape, or not
counts()
{
	report "${@:3}" >races
	races_of ktape races >log
	[ "$(grep -c 'BUG: KCSAN' log)" = "$2" ] &&
		[ "$(grep -vc 'BUG: KCSAN' log)" = "$(grep -vc "BUG: KCSAN" races)" ]
	result $? "$1"
}

counts "the title names the module" 1 'ring_put [ktape] / probe [ktape]' \
	'hrtimer_active,asm_sysvec_apic_timer_interrupt' 'hrtimer_active,do_syscall_64'
counts "the first stack names it" 1 'a / b' 'memcpy,ring_put@ktape,kthread' 'b,kthread'
counts "the second stack names it" 1 'a / b' 'a,kthread' 'b,ring_put@ktape,kthread'
counts "no stack names it" 0 'a / b' 'a,ring_put@ext,kthread' 'b,kthread'
counts "an interrupt came while the module ran" 0 'a / b' \
	'a,asm_sysvec_apic_timer_interrupt,ring_put@ktape,kthread' \
	'b,asm_common_interrupt,ring_put@ktape'
counts "the module runs in the interrupt" 1 'a / b' \
	'a,probe@ktape,asm_sysvec_apic_timer_interrupt,kthread' 'b,kthread'
counts "an interrupt in the first stack, the module in the second" 1 'a / b' \
	'a,asm_sysvec_apic_timer_interrupt,ring_put@ktape' 'b,ring_put@ktape,kthread'
counts "an exception came while the module ran" 0 'a / b' \
	'a,asm_exc_page_fault,ktape_read@ktape' 'b,kthread'
counts "a probe of a function that the module calls" 0 'a / b' \
	'kretprobe_rethook_handler,arch_rethook_trampoline,kt_clock_slow@ktape' 'b,kthread'
counts "the module runs in the probe" 1 'a / b' \
	'a,probe_return@ktape,arch_rethook_trampoline,kthread' 'b,kthread'
counts "the thread works for the module, and races for the kernel" 0 \
	'process_one_work+0x184/0x760' 'process_one_work,kthread' 'b,kthread' \
	'armed_watch [ktape]'
counts "the kernel knows the race" 0 'ktime_get_mono_fast_ns+0x93/0x180' \
	'ktime_get_mono_fast_ns,ring_put@ktape' 'ktime_get_mono_fast_ns,ring_put@ktape'
counts "the same as the second one" 0 'timekeeping_update / ktime_get_boot_fast_ns' \
	'timekeeping_update,kthread' 'ktime_get_boot_fast_ns,ring_put@ktape'
counts "the kernel does not know that it races with the module" 1 \
	'ktime_get_mono_fast_ns / ring_put [ktape]' 'ktime_get_mono_fast_ns' 'ring_put@ktape'

{
	report 'a / b' 'a,kthread' 'b,kthread'
	echo '[    8.000000] WARNING: something else'
} >both
! klog_result one both >log && grep -q 'WARNING: something else' log
result $? "what is no race is still found"
echo "1..$n"
exit $failed

# SPDX-License-Identifier: GPL-2.0-only
# Helpers of the guest's init and of run-tests: check the kernel log, so that a report of
# the kernel or its checkers (KASAN, lockdep, ...) fails the test that caused it.
# shellcheck shell=dash

# Patterns that no run may leave in the log. A checker that has disabled itself
# (lockdep after its first report) is found by that report.
klog_pattern='BUG|WARNING|KASAN|KCSAN|UBSAN|DEBUG_LOCKS_WARN'
klog_pattern="$klog_pattern|INFO: (rcu|task|possible|suspicious|trying)"
klog_pattern="$klog_pattern|(possible|inconsistent|bad) (lock|circular|unlock)"
klog_pattern="$klog_pattern|Bad page|general protection|Oops|Kernel panic"
klog_pattern="$klog_pattern|blocked for more than|rcu:.*(stall|starved)"
klog_pattern="$klog_pattern|refcount_t:|sysfs: cannot|kmemleak: [1-9]"
klog_pattern="$klog_pattern|unreferenced object|ODEBUG|list_(add|del) corruption"
klog_pattern="$klog_pattern|scheduling while atomic|(sleeping|invalid) function"

# Lines that match and are harmless, with the reason:
#   ktape-guest:	our own marks carry program names
#   kt_print:		t_hostile_leak has a module warn
klog_benign='ktape-guest:|kt_print'

# klog_mark NAME: write a mark to the log for klog_since
klog_mark()
{
	echo "<5>ktape-guest: $1" >/dev/kmsg
}

# klog_since NAME: print the log after the latest mark of that name
klog_since()
{
	dmesg | awk -v mark="ktape-guest: $1" '
		index($0, mark) &&
		substr($0, index($0, mark)) == mark { n = 0; next }
		{ line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i] }'
}

# klog_whole: print the log for the check at the end: since init has run /run.sh, and
# on a kernel with checkers since boot, because a report during boot would have
# disabled lockdep.
klog_whole()
{
	if [ "${KTAPE_KERNEL:-}" = debug ]; then
		dmesg
	else
		klog_since run
	fi
}

# check_lockdep: print a warning if lockdep has disabled itself
check_lockdep()
{
	[ -r /proc/lockdep_stats ] || return 0
	grep -q '^ debug_locks: *1$' /proc/lockdep_stats ||
		echo "WARNING: lockdep has given up"
}

# kmemleak_scan: report unreferenced memory. A block must be 5 s old to be
# reported, and the first scan may still see stale pointers.
kmemleak_scan()
{
	[ -w /sys/kernel/debug/kmemleak ] || return 0
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	sleep 1
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak
}

# Functions of the kernel whose races with the kernel itself it does not mark, with the
# reason. Only the title counts: their callers have no part in it.
#   ktime_get_*_fast_ns	they read one of two copies, and again if its writer came
races_benign='ktime_get_[a-z]+_fast_ns'

# races_of MODULE FILE: print the log without the titles of those reports of KCSAN
# that do not name the module: the kernel has races of its own. Everything else
# stays, because other CPUs' lines may be inside of a report. An interrupt's races
# are not those of the code that it has interrupted: the lines of a stack below the
# entry of an interrupt or exception do not count, nor those below a return that a
# probe has replaced.
races_of()
{
	awk -v module="[$1]" -v benign="$races_benign" '
		function flush(i) {
			if (named && !known)
				print title
			for (i = 1; i <= n; i++)
				print line[i]
			inside = named = n = 0
		}
		/BUG: KCSAN:/ {
			if (inside)
				flush()
			inside = 1
			title = $0
			named = index(title, module)
			known = !named && title ~ ("data-race in (.* / )?" benign)
			below = 0
			next
		}
		!inside { print; next }
		{ line[++n] = $0 }
		/ to 0x[0-9a-f]+ of [0-9]+ bytes by / { below = 0 }
		/ (asm_(sysvec|exc|common_interrupt|spurious)|arch_rethook_trampoline)/ {
			below = 1
		}
		# Then come the names of the thread and of its work.
		/ Reported by Kernel Concurrency Sanitizer/ { below = 1 }
		!below && index($0, module) { named = 1 }
		/======/ { flush() }
		END { if (inside) flush() }' "$2"
}

# klog_result NAME FILE: print one test line, and the offending lines with
# their context as comments
klog_result()
{
	if grep -q 'BUG: KCSAN:' "$2"; then
		races_of ktape "$2" >"${TMPDIR:-/tmp}/klog.races"
		set -- "$1" "${TMPDIR:-/tmp}/klog.races"
	fi
	# Usually nothing matches, and one grep finds that out.
	if [ ! -s "$2" ] || ! grep -qE "$klog_pattern" "$2" ||
		! grep -vE "$klog_benign" "$2" | grep -qE "$klog_pattern"; then
		echo "ok $1"
		return 0
	fi
	echo "not ok $1"
	grep -vE "$klog_benign" "$2" | grep -E -A 60 "$klog_pattern" |
		head -n 200 | sed 's/^/# /'
	return 1
}

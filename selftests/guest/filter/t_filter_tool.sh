#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions are called by their names
# Test each filter option of `ktape profile`: it is set, shown, filters a known
# workload, and does the same after it was saved and loaded.
#
# do_NAME is the workload for a filter, check_NAME checks what was recorded of it.
# The helpers are in filters.sh: prove() sets a filter and checks all that, tally()
# counts the recorded events that match each term, is() and at_least() compare
# numbers. The program act takes steps: "getppid 30" makes as many calls.

# shellcheck source=selftests/guest/filter/filters.sh
. "${0%/*}/filters.sh"

# ---- by number ---------------------------------------------------------------

do_cpu()
{
	act cpu 0 getppid 30 cpu 1 getppid 40
}

check_cpu()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end"
	read -r calls <$dir/tally
	is 40 "$calls" "calls" || return
	awk "
		!/${tab}ring=event$tab/ ||
		/${tab}event=(registry|context|tracer|time_extend)$end/ ||
		/${tab}cpu=1$tab/ { next }
		{ print }" $dir/lines >$dir/others || return
	[ -s $dir/others ] || return 0
	echo "events of other CPUs:"
	head -n 5 $dir/others
	return 1
}

do_syscall()
{
	act getppid 30 getpgid 40 getuid 50
}

check_syscall()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end" \
		"comm=act sys_enter fields.nr_name=getuid$end" \
		"any sys_enter" \
		"any sys_enter fields.nr_name=(getppid|getuid)$end" \
		"comm=act sys_exit fields.nr_name=getppid"
	read -r getppid getuid any both returns <$dir/tally
	is 30 "$getppid" "getppid" &&
		is 50 "$getuid" "getuid" &&
		is "$both" "$any" "calls, others among them" &&
		is 30 "$returns" "returns"
}

# The interrupt of the scratch disk, of the queue of CPU 0.
disk_irq()
{
	queue=$(grep -lw 0 /sys/block/vdb/mq/*/cpu_list)
	queue=${queue%/*}
	name=$(readlink /sys/block/vdb/device)
	awk -v name="${name##*/}-req.${queue##*/}" \
		'$NF == name { print $1 + 0; exit }' /proc/interrupts
}

do_irq()
{
	act cpu 0 disk 20
}

check_irq()
{
	tally "any irq_handler_entry fields.irq=$disk$end" \
		"any irq_handler_entry"
	read -r ours any <$dir/tally
	at_least 20 "$ours" "of the disk" && is "$ours" "$any" "of all"
}

do_softirq()
{
	echo "tasklet 25" >/sys/module/kt_cause/parameters/run
}

check_softirq()
{
	tally "any softirq_entry fields.vec=TASKLET" "any softirq_entry"
	read -r ours any <$dir/tally
	at_least 25 "$ours" "tasklets" && is "$ours" "$any" "of all"
}

do_signal()
{
	act signal 10 30 signal 12 20 signal 64 7
}

check_signal()
{
	tally "any signal_generate fields.sig=SIGUSR1" \
		"comm=act signal_generate fields.sig=SIGUSR2" \
		"comm=act signal_generate fields.sig=SIGRTMAX"
	read -r usr1 usr2 rtmax <$dir/tally
	is 0 "$usr1" "SIGUSR1" && is 20 "$usr2" "SIGUSR2" &&
		is 7 "$rtmax" "SIGRTMAX"
}

by_number()
{
	insmod /tests/kt_cause.ko
	prove cpu "cpu = 1" --cpu 1
	# In the order of their numbers.
	case $(uname -m) in
	x86_64 | arm*) calls=getuid,getppid ;;
	*) calls=getppid,getuid ;;
	esac
	prove syscall "syscall = $calls" --syscall getppid,getuid
	disk=$(disk_irq)
	if [ -n "$disk" ]; then
		prove irq "irq = $disk" --irq "$disk"
	else
		skip irq "the disk has no interrupt for CPU 0"
	fi
	prove softirq "softirq = TASKLET" --softirq tasklet
	prove signal "signal = SIGUSR2,SIGRTMAX" --signal USR2,SIGRTMAX
	rmmod kt_cause
}

# ---- by thread ------------------------------------------------------------------

do_pid()
{
	act getppid 25 && go
}

# A thread and a child of the workload count, and no other thread.
check_pid()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end" \
		"tid=$pid sys_enter .*=getppid"
	read -r any own <$dir/tally
	is 90 "$any" "calls" && is 30 "$own" "its own"
}

within_and_without()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end" \
		"comm=act sys_enter fields.nr_name=getpgid$end"
	read -r getppid getpgid <$dir/tally
}

do_cgroup()
{
	act getpgid 40 && act cgroup /sys/fs/cgroup/kt/below getppid 30
}

check_cgroup()
{
	within_and_without
	is 30 "$getppid" "within" && is 0 "$getpgid" "without"
}

do_uid()
{
	act getpgid 40 && act uid 65534 getppid 30
}

check_uid()
{
	within_and_without
	is 30 "$getppid" "of nobody" && is 0 "$getpgid" "of root"
}

by_thread()
{
	steps="getppid 30 thread 20 child 40 wait $dir/gate"
	# As often as prove() records.
	[ "${KTAPE_KERNEL:-}" = debug ] || steps="$steps $steps"
	# shellcheck disable=SC2086	# words
	hold $steps
	prove pid "pid = $pid:threads:children" --pid "$pid" --threads --children
	let_go
	result $? "pid: the followed thread has ended"
	mkdir -p /sys/fs/cgroup/kt/below
	prove cgroup "cgroup = /sys/fs/cgroup/kt" --cgroup /kt
	ktape profile --load $dir/base
	rmdir /sys/fs/cgroup/kt/below /sys/fs/cgroup/kt
	prove uid "uid = 65534" --uid nobody
}

# ---- by what it is, how long it takes, how often it comes ---------------------------

do_severity()
{
	for level in 0 1 2 3; do
		ktape mark exception SW$level 0x1234 1 &&
			ktape mark exception HW$level 0x1234 1 || return
	done
}

check_severity()
{
	tally "any exception fields.severity=[SH]W[23]" "any exception"
	read -r above any <$dir/tally
	is 4 "$above" "at or above" && is 4 "$any" "all"
}

# Only the duration of a call that sleeps is predictable.
do_gate()
{
	act nap 5 60 getppid 50
}

check_gate()
{
	tally "comm=act sys_span fields.nr_name=clock_nanosleep" \
		"comm=act sys_enter" "comm=act sys_span fields.nr_name=getppid"
	read -r naps begins short <$dir/tally
	is 5 "$naps" "naps" && is 0 "$begins" "begins" &&
		at_most 49 "$short" "short ones"
}

# Ten per second; the number of seconds is not predictable.
do_rate()
{
	read -r begin _ </proc/uptime
	act cpu 0 getppid 500
	read -r now _ </proc/uptime
	seconds=$((${now%.*} - ${begin%.*} + 2))
}

check_rate()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end" "any sys_enter" \
		"comm=act sys_exit fields.nr_name=getppid"
	read -r ours any exits <$dir/tally
	at_most $((seconds * 10)) "$ours" "enters" &&
		at_least 10 "$any" "enters of anybody" &&
		is 500 "$exits" "exits"
}

do_stack()
{
	act getppid 30
}

check_stack()
{
	tally "comm=act sys_enter fields.nr_name=getppid$end" \
		"comm=act kernel_stack fields.event=sys_enter"
	read -r calls stacks <$dir/tally
	is 30 "$calls" "calls" && is 30 "$stacks" "stacks"
}

by_the_rest()
{
	prove severity "severity = 2" --severity SW2
	prove gate "gate = syscall=30ms" --gate syscall=30ms
	prove rate "rate = sys_enter=10" --rate sys_enter=10
	prove stack "syscall = getppid
stack = sys_enter" --stack sys_enter --syscall getppid
}

# ---- all of them at once ------------------------------------------------------------

all="cpu = 0
syscall = getppid
irq = 1-3,9
softirq = TIMER,RCU
signal = SIGKILL,SIGUSR1
pid = $$:children
uid = 0,65534
severity = 1
gate = irq=10us,work=2ms
rate = sys_exit=7,sys_enter=1000000
stack = sched_switch"

test_together()
{
	ktape profile --load $dir/base && ktape profile --cpu 0 \
		--syscall getppid --irq 1-3,9 --softirq TIMER,RCU \
		--signal KILL,USR1 --pid $$ --children --uid root,nobody \
		--severity 1 --gate irq=10us,work=2ms \
		--rate sys_exit=7,sys_enter=1000000 --stack sched_switch \
		>$dir/out 2>&1 && shown "$all" >$dir/out 2>&1
	result $? "all filters at once: they are shown" $dir/out
	kept >$dir/out 2>&1
	result $? "all filters at once: saving and loading keeps them" $dir/out
	gone stack rate gate severity uid pid signal irq softirq syscall cpu \
		>$dir/out 2>&1
	result $? "--no-KIND removes each filter" $dir/out
}

echo "TAP version 13"
need_ktape
by_number
by_thread
by_the_rest
test_together
echo "1..$n"

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions are called by their names
# Each filter option of ktape profile: it is set, shown, does what it says to a
# workload that is known, and is the same when it was saved and loaded again.

# shellcheck source=selftests/guest/filters.sh
. "${0%/*}/filters.sh"

# ---- by number ---------------------------------------------------------------

do_cpu()
{
	act cpu 0 getppid 30 cpu 1 getppid 40
}

check_cpu()
{
	is 40 "$(calls_ours getppid)" "calls" || return
	grep "${tab}ring=event${tab}" $dir/lines |
		grep -vE "${tab}event=(registry|context|tracer|time_extend)(${tab}|\$)" |
		grep -v "${tab}cpu=1${tab}" >$dir/others
	head -n 5 $dir/others
	is 0 "$(wc -l <$dir/others)" "events of other CPUs"
}

do_syscall()
{
	act getppid 30 getpgrp 40 getuid 50
}

check_syscall()
{
	is 30 "$(calls_ours getppid)" "getppid" &&
		is 50 "$(calls_ours getuid)" "getuid" &&
		is 0 "$(nr sys_enter | awk -v n="$(calls '(getppid|getuid)')" \
			'{ print $1 - n }')" "others" &&
		is 30 "$(ours sys_exit fields.nr_name=getppid)" "returns"
}

# The interrupt of the scratch disk, of its queue of the first CPU.
disk_irq()
{
	awk '/virtio1-req\.0$/ { print $1 + 0; exit }' /proc/interrupts
}

do_irq()
{
	act cpu 0 disk 20
}

check_irq()
{
	at_least 20 "$(nr irq_handler_entry "fields.irq=$(disk_irq)(${tab}|\$)")" \
		"of the disk" &&
		is "$(nr irq_handler_entry)" \
			"$(nr irq_handler_entry \
			"fields.irq=$(disk_irq)(${tab}|\$)")" "of all"
}

do_softirq()
{
	echo "tasklet 25" >/sys/module/kt_cause/parameters/run
}

check_softirq()
{
	at_least 25 "$(nr softirq_entry fields.vec=TASKLET)" "tasklets" &&
		is "$(nr softirq_entry)" \
			"$(nr softirq_entry fields.vec=TASKLET)" "of all"
}

do_signal()
{
	act signal 10 30 signal 12 20 signal 64 7
}

check_signal()
{
	is 0 "$(nr signal_generate fields.sig=SIGUSR1)" "SIGUSR1" &&
		is 20 "$(ours signal_generate fields.sig=SIGUSR2)" "SIGUSR2" &&
		is 7 "$(ours signal_generate fields.sig=SIGRTMAX)" "SIGRTMAX"
}

by_number()
{
	insmod /tests/kt_cause.ko
	prove cpu "cpu = 1" --cpu 1
	prove syscall "syscall = getuid,getppid" --syscall getppid,getuid
	if [ -n "$(disk_irq)" ]; then
		prove irq "irq = $(disk_irq)" --irq "$(disk_irq)"
	else
		result 0 "irq # SKIP no interrupt of virtio1-req.0"
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

# A thread of it and a child count, and nobody else.
check_pid()
{
	is 90 "$(calls_ours getppid)" "calls" &&
		is 30 "$(grep -cE "${tab}tid=$pid${tab}.*event=sys_enter.*=getppid" \
			$dir/lines)" "its own"
}

do_cgroup()
{
	act getpgrp 40 && act cgroup /sys/fs/cgroup/kt/below getppid 30
}

check_cgroup()
{
	is 30 "$(calls_ours getppid)" "within" &&
		is 0 "$(calls_ours getpgrp)" "without"
}

do_uid()
{
	act getpgrp 40 && act uid 65534 getppid 30
}

check_uid()
{
	is 30 "$(calls_ours getppid)" "of nobody" &&
		is 0 "$(calls_ours getpgrp)" "of root"
}

by_thread()
{
	steps="getppid 30 thread 20 child 40 wait $dir/gate"
	# As often as prove() records it.
	[ "${KTAPE_KERNEL:-}" = debug ] || steps="$steps $steps"
	# shellcheck disable=SC2086	# words
	hold $steps
	prove pid "pid = $pid:threads:children" --pid "$pid" --threads --children
	let_go
	result $? "pid: its thread has ended"
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
	is 4 "$(nr exception "fields.severity=[SH]W[23]")" "at or above" &&
		is 4 "$(nr exception)" "all"
}

# How long a call takes is nobody's promise but for one that sleeps.
do_gate()
{
	act nap 5 60 getppid 50
}

check_gate()
{
	is 5 "$(ours sys_span fields.nr_name=clock_nanosleep)" "naps" &&
		is 0 "$(ours sys_enter)" "begins" &&
		at_most 49 "$(ours sys_span fields.nr_name=getppid)" "short ones"
}

# Ten in each second, of which nobody says how many there are.
do_rate()
{
	begin=$(date +%s)
	act cpu 0 getppid 500
	seconds=$(($(date +%s) - begin + 2))
}

check_rate()
{
	at_most $((seconds * 10)) "$(calls_ours getppid)" "enters" &&
		at_least 10 "$(nr sys_enter)" "enters of anybody" &&
		is 500 "$(ours sys_exit fields.nr_name=getppid)" "exits"
}

do_stack()
{
	act getppid 30
}

check_stack()
{
	is 30 "$(calls_ours getppid)" "calls" &&
		is 30 "$(ours kernel_stack fields.event=sys_enter)" "stacks"
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
	result $? "all at once: they are shown" $dir/out
	kept >$dir/out 2>&1
	result $? "all at once: saved and loaded they are the same" $dir/out
	gone stack rate gate severity uid pid signal irq softirq syscall cpu \
		>$dir/out 2>&1 && [ -z "$(in_force)" ]
	result $? "each is taken away by --no and its name" $dir/out
}

echo "TAP version 13"
need_ktape
by_number
by_thread
by_the_rest
test_together
echo "1..$n"

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2034,SC2154
# The disk takes less than is recorded: events are lost, and their number is reported.
#
# slow:KIB	of each second
#
# $scene has the arguments. begin NAME RULE and end, of used/oracle.sh, record a log while
# what stands between them happens; used/judge, which has the rules, compares the log with
# the kernel's counts.

group=/sys/fs/cgroup/slow
mkdir -p $group
put "$(cat /sys/class/block/vdb/dev) wbps=$((scene * 1024))" $group/io.max
result $? "slow: the disk takes $scene KiB in a second" $group/io.max
before_events=$events before_buffer=$buffer
events=sched_switch,process_fork,sched_wakeup_new,softirq_entry,sys_enter
buffer=128K options='-B 16K'

# lost: print how many events the rings have lost
lost()
{
	rings | sed 's/.*"lost":{\([^}]*\)}.*/\1/' | tr , '\n' | awk -F : '{ n += $2 } END { printf "%.0f\n", n }'
}

loses()
{
	act getppid 50000 child 10
	has_ended || [ "$(lost)" -gt 1000 ]
}

begin slow lossy
until_true "events are lost" loses
until_true "the slow disk has several pieces" has_pieces 3
end
events=$before_events buffer=$before_buffer options='' group=

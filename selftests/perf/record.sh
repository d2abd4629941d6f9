# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2086	# options are several words
# In the guest: record with perf in each of the ways of the table, into /out/NAME.data.
#
# name	what follows "perf record" or, behind "@", "perf"

# Debian's perf for s390x knows no names of registers there.
[ "$(uname -m)" != s390x ] || lacks=registers

table='
sched	-a -e sched:*
sched_command	-e sched:*
many	-a -e sched:*,irq:*,timer:*,raw_syscalls:*,signal:*,task:*,workqueue:*
packed	-a -z -e sched:*,raw_syscalls:*
packed_one	-z -e raw_syscalls:*
calls	-g -e sched:sched_switch,sched:sched_waking,syscalls:sys_enter_write
calls_all	-a -g -e sched:sched_switch,cpu-clock,page-faults
calls_packed	-a -z -g -e sched:sched_switch,kmem:kmalloc
dwarf	--call-graph dwarf -e syscalls:sys_enter_write,page-faults
switches	-a --switch-events -e syscalls:sys_enter_write
switches_both	-a --switch-events -e sched:sched_switch
switches_command	--switch-events -e syscalls:sys_enter_write
switches_clock	--switch-events -e cpu-clock
trace	@trace record -o
trace_all	@trace record -a -o
kmem	@kmem record -o
sched_record	@sched record -o
lock_free	-a -R -e syscalls:*
other	-a -e sched:sched_switch,cpu-clock,context-switches,page-faults,minor-faults,dummy,cpu-migrations,task-clock,alignment-faults
software	-e cpu-clock,page-faults,context-switches
software_all	-a -e cpu-clock
one_cpu	-C 1 -e sched:*
times	--timestamp -e sched:sched_switch,page-faults
no_inherit	-i -e sched:*,raw_syscalls:*
mono	-a -k mono -e sched:*
mono_raw	-a -k raw -e sched:*
lost	-a -m 1 -e sched:*,raw_syscalls:*,kmem:*
lost_few	-m 1 -r 1 -e raw_syscalls:*
cgroups	-a --all-cgroups --namespaces -e sched:sched_switch,cpu-clock
data	-a --data -e page-faults,sched:sched_switch
phys	-a --data --phys-data -e page-faults,sched:sched_switch
pages	-a --data --data-page-size --code-page-size -e page-faults
weight	-a -W -d -e page-faults,sched:sched_switch
group	-a -e {sched:sched_switch,sched:sched_waking,cpu-clock}:S
read_values	-s -e sched:sched_switch,page-faults
periods	-a -P -c 3 -e sched:sched_switch,page-faults
ids	-a --sample-identifier -e sched:sched_switch
registers	-a --intr-regs=ax,ip,sp --user-regs=ax,bx,ip -e sched:sched_switch,cpu-clock
syscalls	-e syscalls:*
build_ids	-a --buildid-mmap -e sched:*
overwrite	-a --overwrite -e sched:sched_switch
filter	-a -e sched:sched_switch --filter prev_pid>0
tail	-a --tail-synthesize -e sched:*
'

pipes='
pipe	-a -e sched:*,irq:*
pipe_calls	-a -g -e sched:sched_switch,cpu-clock
pipe_packed	-a -z -e sched:*
pipe_switches	--switch-events -a -e page-faults,sched:sched_waking
'

cd /tmp || exit
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
sysctl -q -w kernel.perf_event_paranoid=-1 kernel.kptr_restrict=0 2>/dev/null
export HOME=/tmp PAGER=cat

# keep NAME STATUS: tell what became of a recording
keep()
{
	if [ "$2" = 0 ] && [ -s "/out/$1.data" ]; then
		echo "recorded $1"
	else
		rm -f "/out/$1.data"
		echo "not recorded: $1: $(tail -n 1 log | tr -d '\r')"
		echo "$1" >>/out/missing
	fi
}

# tell NAME: keep what this machine's perf says of a recording
tell()
{
	perf script -i "/out/$1.data" --ns --show-switch-events \
		-F comm,pid,tid,cpu,time,event >"/out/$1.lines" 2>/dev/null
	perf script -i "/out/$1.data" -D >"/out/$1.records" 2>/dev/null
}

is_wanted()
{
	[ -z "${PERF_ONLY:-}" ] && return
	case ",$PERF_ONLY," in
	*",$1,"*) return 0 ;;
	esac
	return 1
}

set -f
echo "$table" | while IFS='	' read -r name options; do
	if [ -z "$name" ] || [ "$name" = "${lacks:-}" ] || ! is_wanted "$name"; then
		continue
	fi
	case $options in
	@*) set -- ${options#@} "/out/$name.data" ;;
	*) set -- record -q -o "/out/$name.data" $options ;;
	esac
	case $options in
	@kmem* | @sched*)	# they take no --
		perf "$@" work 3 </dev/null >log 2>&1
		;;
	*) perf "$@" -- work 3 </dev/null >log 2>&1 ;;
	esac
	keep "$name" $?
done
echo "$pipes" | while IFS='	' read -r name options; do
	if [ -z "$name" ] || ! is_wanted "$name"; then
		continue
	fi
	perf record -q -o - $options -- work 3 </dev/null 2>log >"/out/$name.data"
	keep "$name" $?
	[ -z "${PERF_TEXT:-}" ] || tell "$name"
done
[ ! -e /out/missing ]

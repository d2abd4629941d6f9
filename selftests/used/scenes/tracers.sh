# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Other tracers record the same events: ftrace by its function tracer and by its events,
# perf, and trace-cmd in a buffer of its own; each begins and ends while ktape records.
#
# tracers:ROUNDS
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

instance=$tracing/instances/used

functions()
{
	echo 'vfs_* schedule ktime_get*' >"$instance/set_ftrace_filter" &&
		echo function >"$instance/current_tracer" || return
	act getppid 2000 child 20
	grep -q vfs_ "$instance/trace" && echo nop >"$instance/current_tracer"
}

all_events()
{
	for system in sched irq raw_syscalls syscalls timer signal task; do
		echo 1 >"$instance/events/$system/enable" || return
	done
	act getppid 2000 child 20
	echo 0 >"$instance/events/enable"
	grep -q sched_switch: "$instance/trace"
}

perf_events()
{
	perf record -q -a -o /tmp/perf.data -e 'sched:*,irq:*,raw_syscalls:*,cpu-clock' -- \
		act getppid 2000 child 20 || return
	perf script -i /tmp/perf.data 2>/dev/null | grep -q sched:sched_switch
}

# With a buffer of its own trace-cmd leaves the main one alone, where oracle.sh counts by
# hist triggers.
buffer_of_trace_cmd()
{
	trace-cmd record -q -o /tmp/trace.dat -B used_trace_cmd -e sched -e irq \
		-e raw_syscalls -- act getppid 2000 child 20 || return
	trace-cmd report -i /tmp/trace.dat 2>/dev/null | grep -q sched_switch:
}

work()
{
	mkdir "$instance" || return
	for _ in $(seq "$scene"); do
		for tracer in functions all_events perf_events buffer_of_trace_cmd; do
			echo >"$instance/trace"
			$tracer || {
				echo "$tracer does not work"
				return 1
			}
		done
	done
	rmdir "$instance"
}

span tracers work

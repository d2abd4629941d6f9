# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# CPUs go offline and come back, one after the other and all but one, while all of them
# have work.
#
# cpus:ROUNDS
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

rounds=$scene
sys=/sys/devices/system/cpu

# set_cpu N 0|1
set_cpu()
{
	echo "$2" >$sys/cpu"$1"/online && changes=$((changes + 1))
}

work()
{
	cpus=$(nproc) changes=0
	emit &
	emitter=$!
	for _ in $(seq "$rounds"); do
		for cpu in $(seq $((cpus - 1))); do
			set_cpu "$cpu" 0 && act child 5 getppid 500 && set_cpu "$cpu" 1 || return
		done
		for cpu in $(seq $((cpus - 1))); do
			set_cpu "$cpu" 0 || return
		done
		act child 5 getppid 500
		for cpu in $(seq $((cpus - 1))); do
			set_cpu "$cpu" 1 || return
		done
		act child 5 getppid 500
	done
	kill $emitter
	wait $emitter
	# A tracepoint is called only on a CPU that is online. A CPU that goes offline switches
	# to its idle thread after that, so /proc/stat counts a switch that no tracer sees.
	echo "sched_switch stat $((changes / 2))" >"$folder/unseen"
	echo "$changes changes"
	[ $changes = $((4 * rounds * (cpus - 1))) ]
}

span cpus work
tail -n 1 "$folder/work" | sed 's/^/# /'

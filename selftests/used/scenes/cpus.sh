# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# CPUs go offline and come back, one after the other and all but one, while all of them
# have work.
#
# cpus:ROUNDS

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
	# Tracepoints want the CPU to be online. When it goes, it switches to its idle thread
	# after it has left the mask of those.
	echo "sched_switch stat $((changes / 2))" >"$folder/unseen"
	echo "$changes changes"
	[ $changes = $((4 * rounds * (cpus - 1))) ]
}

span cpus work
tail -n 1 "$folder/work" | sed 's/^/# /'

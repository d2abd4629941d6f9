#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test loading and unloading under load: nothing is left behind, the module
# cannot be unloaded while it is used, and bad parameters are refused with a
# reason.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

# Events of the load: scheduler, processes, interrupts, system calls. With all
# events most of the time would go into patching the kernel.
busy=0x30730f1f00000000

# One load takes most of a minute under load on a sanitizer kernel.
cycles=100
warm=5
if [ "${KTAPE_SCALE:-1}" -gt 1 ]; then
	cycles=3
	warm=1
fi
most_kib=1024

# Refused parameters, each with the text that the log must have.
refused='
size=banana		size=banana is not a size
size=			size= is not a size
size=1M5		size=1M5 is not a size
size=-1			size=-1 is not a size
size=1T			session 0 cannot be created with size=1T
size=512M		session 0 cannot be created with size=512M
size=1g			all rings together need [1-9][0-9]* bytes, [1-9][0-9]* are available
size=1g			cannot be loaded: session 0: error -12, with [1-9][0-9]* KiB of memory
block=3X		block=3X is not a size
block=64M		session 0 cannot be created
mode=sideways		mode=sideways is not overwrite, discard, snapshot or persistent
profile=everything	profile=everything is not
profile=0x1		profile=0x1 is not
profile=0x		profile=0x is not
registry=1		registry=1 is not
registry=99999999	registry=99999999 is not
registry=-1		registry
registry_max=64		registry_max=64 is not
registry_max=99999999	registry_max=99999999 is not
clock=sundial		clock=sundial is not
'

# Sizes that are rounded and accepted.
taken='size=1 size=100K,block=5000 size=16M,block=4M block=1
profile=none profile=all profile=0x100000000 mode=discard
registry=64 registry=100000 registry=64,registry_max=64'

loaded()
{
	grep -q '^ktape ' /proc/modules
}

# residue: check that unloading has left nothing; 0 if so
residue()
{
	[ ! -e /dev/ktape ] && [ ! -e /sys/class/misc/ktape ] &&
		! grep -qE '^ktape |^ *[0-9]+: .*ktape' /proc/modules \
			/sys/devices/system/cpu/hotplug/states
}

log_mark()
{
	echo "t_load: $1" >/dev/kmsg
}

log_since()
{
	dmesg | awk -v mark="t_load: $1" '
		index($0, mark) { on = 1; next }
		on'
}

# The load is niced, so that it does not slow down insmod: its threads inherit
# the nice value of the process that starts them.
start_load()
{
	# shellcheck disable=SC2016	# the inner shell's own dollars
	sh -c 'renice -n 10 -p $$ >/dev/null && exec emit' &
	load=$!
}

# stop_load: stop the load; fails if it was not emit any more, because it had ended
stop_load()
{
	runs=$(readlink /proc/$load/exe)
	kill -9 $load
	wait $load 2>/dev/null
	[ "${runs##*/}" = emit ]
}

# free_kib: print the free memory after dropping caches, including the per-CPU
# free pages, which exceed the leaks to be found. KASAN keeps freed memory until
# its cache is shrunk, and a load frees megabytes.
free_kib()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		[ ! -e "$cache" ] || echo 1 >"$cache"
	done
	awk '
		$1 == "MemFree:" { n += $2 }
		$1 == "count:" { n += $2 * 4 }
		END { print n }' /proc/meminfo /proc/zoneinfo
}

# load_and_unload TIMES: do so; fails if a load or unload does
load_and_unload()
{
	bad=0
	i=0
	begin=$(cut -d. -f1 /proc/uptime)
	while [ $i -lt "$1" ]; do
		i=$((i + 1))
		insmod "$KTAPE_MODULE" profile=$busy || bad=$((bad + 1))
		# Read the device now and then.
		[ $((i % 10)) != 0 ] ||
			timeout 1 dd if=/dev/ktape of=/dev/null bs=64k count=2 \
				2>/dev/null
		rmmod ktape || bad=$((bad + 1))
	done
	echo "# $1 times in $(($(cut -d. -f1 /proc/uptime) - begin)) s: $bad failed"
	[ $bad = 0 ]
}

test_cycles()
{
	# Do not count what the kernel allocates once and keeps.
	start_load
	load_and_unload $warm >/dev/null
	stop_load
	sleep 1
	before=$(free_kib)

	start_load
	load_and_unload $cycles
	bad=$?
	stop_load || bad=1
	result $bad "load and unload $cycles times while all CPUs emit"
	left=$most_kib
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$left" -ge $most_kib ] || break
		sleep 1
		left=$((before - $(free_kib)))
	done
	echo "# $before KiB free before, $left KiB less afterwards"
	[ "$left" -lt $most_kib ]
	result $? "unloading frees all memory"
	residue
	result $? "nothing is left"
}

# check_in_use NAME: rmmod must fail because the module is in use
check_in_use()
{
	rmmod ktape 2>/tmp/test/rmmod
	rc=$?
	sed 's/^/# /' /tmp/test/rmmod
	[ $rc != 0 ] && loaded && [ -e /dev/ktape ] &&
		grep -qE 'busy|unavailable|in use' /tmp/test/rmmod
	result $? "rmmod is refused while $1"
}

test_in_use()
{
	insmod "$KTAPE_MODULE"
	exec 7</dev/ktape
	check_in_use "a file is open"
	exec 7<&-

	holdmap >/tmp/test/holdmap &
	holder=$!
	for _ in $(seq 100); do
		grep -q mapped /tmp/test/holdmap && break
		sleep 0.2
	done
	check_in_use "only a mapping is left"
	kill -9 $holder
	wait $holder 2>/dev/null
	rmmod ktape
	result $? "rmmod works after the mapping was removed"
	residue
	result $? "nothing is left"
}

# A thread that has ended before the load, but that its parent has not waited for,
# may still be named by events.
test_ending()
{
	sh -c 'sleep 0.3 & echo $! >/tmp/test/ended; exec sleep 1000' &
	holder=$!
	for _ in $(seq 100); do
		[ ! -s /tmp/test/ended ] || break
		sleep 0.2
	done
	read -r ended </tmp/test/ended
	for _ in $(seq 100); do
		! grep -q '^State:.*zombie' "/proc/$ended/status" || break
		sleep 0.2
	done
	insmod "$KTAPE_MODULE"
	ktape stop
	ktape dump --json /dev/ktape | grep '"ring":"registry"' |
		grep -q '"type":"thread","dead":true,"id":'"$ended"',.*"name":"sleep"'
	result $? "a zombie thread has a name in the registry"
	kill $holder
	wait $holder 2>/dev/null
	rmmod ktape
}

test_refused()
{
	echo "$refused" | while read -r parameter words; do
		[ -n "$parameter" ] || continue
		log_mark "$parameter"
		if insmod "$KTAPE_MODULE" "$parameter" 2>/dev/null; then
			echo "# $parameter is taken"
			echo bad
			rmmod ktape
		elif ! dmesg | awk -v mark="t_load: $parameter" \
			-v words="ktape:.*$words" '
			index($0, mark) { on = 1; next }
			on && $0 ~ words { found = 1 }
			END { exit !found }'; then
			echo "# $parameter: the log does not say '$words'"
			log_since "$parameter" | sed 's/^/# log: /'
			echo bad
		elif ! residue; then
			echo "# $parameter leaves something"
			echo bad
		fi
	done >/tmp/test/refused
	grep '^#' /tmp/test/refused
	! grep -q '^bad' /tmp/test/refused
	result $? "bad parameters are refused, with the reason in the log"

	for parameters in $taken; do
		# shellcheck disable=SC2046	# parameters are words
		if insmod "$KTAPE_MODULE" $(echo "$parameters" | tr , ' '); then
			dd if=/dev/ktape of=/dev/null bs=64k count=1 2>/dev/null ||
				echo "bad: $parameters cannot be read"
			rmmod ktape || echo "bad: $parameters: rmmod fails"
		else
			echo "bad: $parameters is refused"
		fi
	done >/tmp/test/taken 2>&1
	sed 's/^/# /' /tmp/test/taken
	[ ! -s /tmp/test/taken ]
	result $? "odd sizes are rounded and taken"
	residue
	result $? "nothing is left"
}

echo "TAP version 13"
test_cycles
test_in_use
test_ending
test_refused
echo "1..$n"

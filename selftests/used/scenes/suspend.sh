# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# The system suspends to idle and wakes up, also in the kernel's test mode, in which the
# devices are suspended and after 5 s come back.
#
# suspend:TIMES
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

# A wake-up that comes before the system sleeps ends the suspend: then a later one.
freeze()
{
	for ms in 500 1000 2000 4000 8000 16000 32000 64000; do
		insmod /kt_wake.ko ms=$ms || return
		put freeze /sys/power/state
		status=$?
		rmmod kt_wake
		[ $status != 0 ] || return 0
	done
	return 1
}

work()
{
	for _ in $(seq "$scene"); do
		for test in freezer devices none; do
			echo $test >/sys/power/pm_test || return
			act getppid 2000 child 20
			case $test in
			none) freeze || return ;;
			*) echo freeze >/sys/power/state || return ;;
			esac
		done
	done
	act getppid 2000 child 20
	sed 's/^/# /' /sys/kernel/debug/suspend_stats | head -n 3
	[ "$(sed -n 's/success: //p' /sys/kernel/debug/suspend_stats)" -ge "$scene" ]
}

if grep -q freeze /sys/power/state && [ "$(cat \
	/sys/devices/system/cpu/cpuidle/current_driver 2>/dev/null || echo none)" = none ]; then
	span suspend work
else
	result 0 "suspend # SKIP no suspend to idle, or nothing would wake the machine"
fi

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# ktape doctor under lockdown, which stays until the next boot. So this is the
# last program of a guest; t_zz_lockdown may have been before it.
set -u
# shellcheck source=selftests/guest/command/doctor.sh
. "${0%/*}/doctor.sh"

lockdown=/sys/kernel/security/lockdown
if [ ! -w $lockdown ]; then
	echo "1..0 # SKIP no $lockdown"
	exit
fi
if [ -e /sys/kernel/debug/kmemleak ]; then
	echo "1..0 # SKIP would end the search for leaks at the end"
	exit
fi

if grep -qF '[none]' $lockdown; then
	insmod "$KTAPE_MODULE" && expect_doctor 0
	result $? "without lockdown the device opens"
	echo confidentiality >$lockdown
	expect_doctor 1 && has_finding problem lockdown 'locked down (confidentiality)' &&
		[ "$next" = reboot ] && [ "$(last_command)" = reboot ]
	result $? "lockdown forbids to open the device"
	ktape status >log 2>&1
	[ $? = 1 ] && grep -q 'not permitted: the kernel is locked down' log &&
		grep -q '^ktape: next: reboot ' log
	result $? "a failed open names lockdown"
	rmmod ktape
else
	skip "lockdown forbids to open the device" "lockdown was on before"
fi

! insmod "$KTAPE_MODULE" 2>>log
result $? "the kernel refuses a module that is not signed"
expect_doctor 1 -m "$KTAPE_MODULE" &&
	has_finding problem signature 'is not signed' && [ "$next" = reboot ] &&
	has_finding warning log 'unsigned module loading is restricted'
result $? "doctor says why"
echo "1..$n"

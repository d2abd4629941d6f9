#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test the test of data races: KCSAN, the kernel's detector, finds the race of kt_race.ko, and
# the check of the kernel log (guest.sh) keeps the reports of the module that it is asked
# about, and no others. A report of ktape would fail each test on this kernel.
set -u

# shellcheck source=selftests/guest/boot/guest.sh
. /lib/guest.sh

if [ "${KTAPE_KERNEL:-}" != race ] && [ ! -e /sys/kernel/debug/kcsan ]; then
	echo "1..0 # SKIP this kernel has no KCSAN"
	exit 4
fi

n=0
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		grep -c '' log titles kept rest | sed 's/^/# lines of /'
		head -n 20 titles | sed 's/^/# /'
	fi
}

# titles_of FILE: print the titles of the reports of data races in kt_race
titles_of()
{
	grep 'BUG: KCSAN: data-race.*\[kt_race\]' "$1"
}

: >titles
: >kept
: >rest
insmod /tests/kt_race.ko
result $? "kt_race is loaded"
tries=$((60 * ${KTAPE_SCALE:-1}))
until klog_since t_race.sh >log && titles_of log >titles || [ $tries = 0 ]; do
	tries=$((tries - 1))
	sleep 1
done
# Without its threads no report is unfinished.
rmmod kt_race
result $? "kt_race is removed"
klog_since t_race.sh >log
titles_of log >titles
[ -s titles ]
result $? "KCSAN reports the race"
echo "# $(grep -c '' titles) reports"

races_of kt_race log >rest
titles_of rest >kept
cmp -s titles kept
result $? "reports of the module asked for are kept"
races_of kt_rac log >rest
! titles_of rest >kept
result $? "reports of another module are dropped"
[ "$(grep -c '' rest)" = "$(grep -vc 'BUG: KCSAN:' log)" ]
result $? "only titles are dropped"

klog_result races log >checked
result $? "the check of the kernel log ignores them"
sed 's/\[kt_race\]/[ktape]/g' log >mine
! klog_result races mine >checked && grep -q 'KCSAN.*\[ktape\]' checked
result $? "the check of the kernel log fails if they are of ktape"
echo "1..$n"

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test that `ktape verify` finds no error in an overwrite session that is older than the
# names of some threads: a control ring has records of threads that ended long ago, and
# newer names took the places of theirs.  tests.conf loads the module with a table of names
# and rings so small that the records of those names are overwritten.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# The oldest records of session 0 are of the thread that has loaded the module. Make so many
# threads that their names take the place of its name, and that its name's record is
# overwritten, too.
test_replaced()
{
	reused=0
	for _ in $(seq 20); do
		# On each CPU: the ring of the one that has loaded the module has its name.
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			# shellcheck disable=SC2046	# words
			taskset $(printf %x $((1 << cpu))) act $(yes 'child 1' | head -n 200)
		done
		ktape status --json >$dir/status
		reused=$(sed -n 's/.*"reused":\([0-9]*\).*/\1/p' $dir/status)
		[ "${reused:-0}" -lt 800 ] || break
	done
	echo "# ${reused:-no} names took the places of others"
	[ "${reused:-0}" -ge 800 ]
	result $? "the table of names is full, and the event rings were overwritten" \
		$dir/status
	cat /dev/ktape >$dir/pipe &
	ktape snapshot -o $dir/saved >$dir/log 2>&1
	result $? "the session is saved" $dir/log
	ktape verify $dir/saved >$dir/verify 2>&1
	result $? "verify finds no error" $dir/verify
	ktape stop
	wait
	ktape verify $dir/pipe >$dir/verify 2>&1
	result $? "nor in what was read from /dev/ktape until it stopped" $dir/verify
	grep -q 'note name: .*another name took the place of its name' $dir/verify
	result $? "and it says why a thread has no name" $dir/verify
}

echo "TAP version 13"
need_ktape
mkdir -p $dir
test_replaced
echo "1..$n"

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Print TAP lines of a shell test: sourced. The test writes what went wrong to the
# file log in its folder, and ends with exit $failed.
n=0
failed=0

# result STATUS NAME: print a test line, with the log after a failure
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	# shellcheck disable=SC2034	# the caller ends with it
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' log | head -n 20
}

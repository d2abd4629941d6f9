# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Print TAP lines of a shell test: sourced. The test ends with a plan: echo "1..$n".

n=0
details=	# file that tells why, for results that name none

# result STATUS NAME [FILE]: print a test line, and after a failure the end of FILE
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	echo "not ok $n - $2"
	set -- "${3:-$details}"
	[ ! -s "$1" ] || tail -n 60 "$1" | sed 's/^/# /'
}

# skip NAME WHY: print a test line for what this machine cannot test
skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

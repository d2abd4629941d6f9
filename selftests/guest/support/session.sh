# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of sessions and triggers: sourced.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# state NAME: print the state of a session by `ktape status`
state()
{
	ktape status | awk -v name="$1" '$2 == name { print $4 }'
}

# refused WHAT CODE COMMAND...: COMMAND must fail with CODE and a message
refused()
{
	what=$1 code=$2
	shift 2
	"$@" >$dir/out 2>$dir/log
	[ $? = "$code" ] && [ -s $dir/log ]
	result $? "$what: $(head -n 1 $dir/log)" $dir/log
}

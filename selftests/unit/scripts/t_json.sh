#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test the program json of the guest tests, and the parser that it shares with other tests:
# the path of each value.
#
# usage: t_json.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-json.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

if ! "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I"$top/selftests/support" -o json \
	"$top/selftests/guest/support/json.c" 2>log; then
	result 1 "it builds"
	echo "1..$n"
	exit 1
fi

# prints JSON LINE...: check that JSON becomes these lines
prints()
{
	local json=$1
	shift
	diff <(printf '%b\n' "$@") <(./json <<<"$json" 2>&1) >log
}

prints '{"a":1,"b":{"c":true,"d":[2,[3]]}}' 'a=1\tb.c=true\tb.d[0]=2\tb.d[1][0]=3'
result $? "a value has the names and indices that lead to it"
prints '[{"a":1},[2,3],[[4]],5]' 'a=1' '[0]=2\t[1]=3' '[0][0]=4' '=5'
result $? "an element of a top-level array has a line, and no index in its path"
prints '{"[a":1,"[0]":{"b":2}}' '[a=1\t[0].b=2'
result $? "a name that begins like an index stays in the path"
echo "1..$n"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test the program json of the guest tests, and the parser that it shares with other tests:
# the path of each value, and which bytes are characters.
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

# The first and last character of each length, and those beside what is none (RFC 3629).
good='\x7f \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf
\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf'
# Too long forms, surrogates, above 0x10ffff, cut, begun by a byte that none begins with.
bad='\xc0\x80 \xc1\xbf \xe0\x9f\xbf \xf0\x8f\xbf\xbf \xed\xa0\x80 \xed\xbf\xbf
\xf4\x90\x80\x80 \xf5\x80\x80\x80 \xf7\xbf\xbf\xbf \xc2 \xe0\xa0 \xf0\x90\x80
\x80 \xbf \xf8\x88\x80\x80\x80 \xfe \xff'
for text in $good; do
	printf '{"a":"%b"}' "$text" | ./json >out 2>&1 || echo "$text is refused"
done >log
[ ! -s log ]
result $? "each character of UTF-8 is taken"
for text in $bad; do
	! printf '{"a":"%b"}' "$text" | ./json >out 2>&1 || echo "$text is taken"
done >log
[ ! -s log ]
result $? "what is no character of UTF-8 is refused"
echo "1..$n"
exit $failed

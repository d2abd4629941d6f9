#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test that selftests/readme notices a line of README.md without a row of its table, and a row
# without a line.
#
# usage: t_readme.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-readme.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# compares STATUS: to compare the table with the file "page" ends with STATUS
compares()
{
	local status=0
	"$top/selftests/readme" -t page >log 2>&1 || status=$?
	[ $status = "$1" ]
}

cp "$top/README.md" page
compares 0
result $? "README.md has a line for each row, and a row for each line"
sed 's/^    ktape doctor .*/&\n    ktape list --unknown  # a comment/' "$top/README.md" >page
compares 1 && grep -qx '# ktape list --unknown' log &&
	grep -q '^not ok .*each line has a row' log && [ "$(grep -c '^not ok' log)" = 1 ]
result $? "a line without a row is a failure, and is named"
sed '/^    ktape doctor /d' "$top/README.md" >page
compares 1 && grep -qx '# ktape doctor' log &&
	grep -q '^not ok .*each row of the table is a line' log && [ "$(grep -c '^not ok' log)" = 1 ]
result $? "a row without a line is a failure, and is named"
sed 's/^    ktape doctor .*/&\n    ktape doctor/' "$top/README.md" >page
compares 1
result $? "a line that comes twice needs two rows"
: >page
compares 1 && grep -q '^not ok .*has lines' log
result $? "a text without lines is a failure"
echo "1..$n"
exit $failed

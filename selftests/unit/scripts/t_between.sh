#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test put_between of scripts/lib.sh, which writes measured tables into README.md.
#
# usage: t_between.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
# shellcheck source=scripts/lib.sh
. "$top/scripts/lib.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-between.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

cp "$top/README.md" page
for name in bench peers matrix; do
	put_between page "$name" <<<"| one \& two \\n |" >log 2>&1 &&
		put_between page "$name" <<<"three" >>log 2>&1
	grep -A 2 -x "<!-- $name begin -->" page >>log
	diff <(printf '<!-- %s begin -->\nthree\n<!-- %s end -->\n' $name $name) \
		<(grep -A 2 -x "<!-- $name begin -->" page) >>log
	result $? "README.md has a table of $name, and it is replaced"
done
remove='/<!-- .* begin -->/,/<!-- .* end -->/d'
diff <(sed "$remove" "$top/README.md") <(sed "$remove" page) >log
result $? "all other lines stay"
put_between page bench <<<'| a \& b \n |' && grep -qxF '| a \& b \n |' page
result $? "the text is taken as it is"
cp page before
! (put_between page none <<<text) >log 2>&1 && grep -q 'no markers of none' log &&
	cmp page before >>log
result $? "without markers the file stays, and a message says so"
echo "1..$n"
exit $failed

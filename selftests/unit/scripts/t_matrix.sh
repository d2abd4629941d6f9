#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test the matrix of kernels: its table is checked, with the number of the wrong
# line; a known failure is a skip, and its passing a failure; README's table gets
# the rows that were run. The kernels, builds and guests are fakes.
# shellcheck disable=SC2016,SC2181	# fakes expand later; statuses are compared
set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-matrix.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
export OUT=$work/out KTAPE_CACHE=$work/cache KTAPE_MATRIX=$work/matrix.tsv

n=0
failed=0

# result STATUS NAME: print a test line; with the last output if it failed
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/log" | head -n 30
}

# table ROW...: the fields of a row are separated by |
table()
{
	{
		echo '# a comment'
		printf '%s\n' "$@" | tr '|' '\t'
	} >"$KTAPE_MATRIX"
}

good='one|6.1|suite|amd64|gcc|host|1|smoke|-'

# refused NAME WORDS ROW: matrix-rows refuses ROW, which is line 3 of the table, with WORDS
refused()
{
	table "$good" "$3"
	"$top/scripts/matrix-rows" >"$work/stdout" 2>"$work/log"
	[ $? = 2 ] && [ ! -s "$work/stdout" ] && grep -qF "matrix.tsv:3: $2" "$work/log"
	result $? "refused: $1"
}

refused 'a field too few' '8 fields, not 9' 'two|6.1|suite|amd64|gcc|host|1|smoke'
refused 'a field too many' '10 fields' 'two|6.1|suite|amd64|gcc|host|1|smoke|-|-'
refused 'an empty field' 'field 3 is empty' 'two|6.1||amd64|gcc|host|1|smoke|-'
refused 'a space behind a field' 'field 6 is empty or has a space' \
	'two|6.1|suite|amd64|gcc|host |1|smoke|-'
refused 'a name twice' 'name one is in line 2 already' "$good"
refused 'a name with a slash' 'name "a/b"' 'a/b|6.1|suite|amd64|gcc|host|1|smoke|-'
refused 'an unknown compiler' 'compiler "tcc"' 'two|6.1|suite|amd64|tcc|host|1|smoke|-'
refused 'an unknown tier' 'tier "4"' 'two|6.1|suite|amd64|gcc|host|4|smoke|-'
refused 'an unknown run' 'run "boot"' 'two|6.1|suite|amd64|gcc|host|1|boot|-'
refused 'a known failure without a reason' 'known "t_mark*"' \
	'two|6.1|suite|amd64|gcc|host|1|smoke|t_mark*'

table "$good" 'two|6.2|suite|amd64|gcc|host|2|build|-' \
	'three|6.3|suite|amd64|clang|host|3|whole|a=b; c*=d e'
names_of()
{
	"$top/scripts/matrix-rows" "$@" 2>"$work/log" | cut -f1 | paste -sd ' '
}
[ "$(names_of)" = 'one two three' ] && [ "$(names_of -t 2)" = 'one two' ] &&
	[ "$(names_of three one)" = 'one three' ]
result $? 'rows are chosen by tier and by name'
table "$good" 'guest|6.2|suite|s390x|gcc|host|1|guest|-'
[ "$(names_of)" = one ] && [ "$(names_of -t 3)" = one ] && [ "$(names_of guest)" = guest ]
result $? 'a row that is only a guest is chosen by name'
! "$top/scripts/matrix-rows" four >/dev/null 2>"$work/log" &&
	grep -q 'no row four' "$work/log"
result $? 'a name that is not there'

env -u KTAPE_MATRIX "$top/scripts/matrix-rows" >/dev/null 2>"$work/log"
result $? 'the table of the tree is right'

# The driver, with fakes for what takes long: a kernel "gone" cannot be fetched,
# and the module for "broken" does not build.
mkdir -p "$tree/scripts" "$tree/selftests/guest"
cp "$top"/scripts/{lib.sh,matrix-rows} "$tree/scripts"
cp "$top/selftests/matrix" "$tree/selftests"
fake()
{
	printf '#!/bin/bash\n%s\n' "$2" >"$tree/$1"
	chmod +x "$tree/$1"
}
fake scripts/kernel-fetch '
	[ "$1" != gone ] || { echo "kernel-fetch: gone: no such suite" >&2; exit 1; }
	mkdir -p "$OUT/k-$1"; echo "$1-release" >"$OUT/k-$1/version"; echo "$OUT/k-$1"'
fake scripts/module-build '
	[ "$1" != broken ] || { echo "error: it is broken"; exit 1; }
	mkdir -p "$2"; echo "int x;" | gcc -x c -c -o "$2/ktape.ko" -'
fake selftests/guest/suite '
	[ "$1" != dead ] || exit 3
	echo "ok t_smoke.sh: loads"
	echo "ok t_smoke.sh: class lock # SKIP no such tracepoint"
	[ "$1" != bad ] || { echo "not ok t_smoke.sh: class irq"; exit 1; }'

# matrix ROW...: run the driver with these rows
matrix()
{
	table "$@"
	(cd "$tree" && selftests/matrix -t 3) >"$work/log" 2>&1
}
fresh_readme()
{
	printf '%s\n' before '<!-- matrix begin -->' "$@" '<!-- matrix end -->' \
		after >"$tree/README.md"
}
has()
{
	grep -qxF -- "$1" "${2:-$work/log}"
}

fresh_readme
matrix "$good"
[ $? = 0 ] && has 'ok matrix one: builds with gcc' &&
	has 'ok matrix one: t_smoke.sh: loads' &&
	has 'ok matrix one: t_smoke.sh: class lock # SKIP no such tracepoint'
result $? 'a good row passes'
grep -q '^| one | one-release | amd64 | gcc | 1 passed, 1 skipped | - |' "$tree/README.md" &&
	[ "$(head -n 1 "$tree/README.md")" = before ] &&
	[ "$(tail -n 1 "$tree/README.md")" = after ]
result $? 'its line is between the markers'

matrix 'gone|6.1|suite|amd64|gcc|host|1|smoke|-'
[ $? = 0 ] && has 'ok matrix gone: the kernel is there # SKIP kernel-fetch: gone: no such suite'
result $? 'a kernel that cannot be had is a skip with its reason'

! matrix 'broken|6.1|suite|amd64|gcc|host|1|smoke|-' &&
	has 'not ok matrix broken: builds with gcc' &&
	grep -q '^| broken | broken-release | amd64 | failed | - | - |' "$tree/README.md"
result $? 'a build that fails is reported, and nothing is booted'

! matrix 'other|6.1|suite|amd64|clang|host|1|build|-' &&
	has 'not ok matrix other: builds with clang'
result $? 'a module of another compiler is a failure'

! matrix 'dead|6.1|suite|amd64|gcc|host|1|smoke|-' &&
	has 'not ok matrix dead: guest t_smoke.sh ends with status 3'
result $? 'a guest that prints no test is a failure'

! matrix 'bad|6.1|suite|amd64|gcc|host|1|smoke|-' &&
	has 'not ok matrix bad: t_smoke.sh: class irq' &&
	grep -q '^| bad .* | 1 passed, 1 failed, 1 skipped |' "$tree/README.md"
result $? 'a test that fails is reported'

matrix 'bad|6.1|suite|amd64|gcc|host|1|smoke|*class irq=no irqs here'
[ $? = 0 ] && has 'ok matrix bad: t_smoke.sh: class irq # SKIP known: no irqs here' &&
	grep -q '^| bad .* | 1 passed, 1 known to fail, 1 skipped |' "$tree/README.md"
result $? 'a known failure is a skip with its reason'

! matrix 'one|6.1|suite|amd64|gcc|host|1|smoke|*loads=it never did' &&
	has 'not ok matrix one: t_smoke.sh: loads passes, but is known to fail (it never did)'
result $? 'a known failure that passes is a failure'

fresh_readme '| one | old | amd64 | gcc | 7 passed | - | 1 s |' \
	'| two | old | amd64 | gcc | 8 passed | - | 1 s |' \
	'| dropped | old | amd64 | gcc | 9 passed | - | 1 s |'
table "$good" 'two|6.2|suite|amd64|gcc|host|2|smoke|-' \
	'three|6.3|suite|amd64|gcc|host|3|smoke|-'
(cd "$tree" && selftests/matrix -t 1) >"$work/log" 2>&1 &&
	grep -q '^| one | one-release ' "$tree/README.md" &&
	has '| two | old | amd64 | gcc | 8 passed | - | 1 s |' "$tree/README.md" &&
	has '| three | - | amd64 | - | - | - | not run |' "$tree/README.md" &&
	! grep -q dropped "$tree/README.md"
result $? 'rows that were not run keep their line, and the others go'

echo nothing >"$tree/README.md"
! matrix "$good" && grep -q 'README.md: no lines' "$work/log"
result $? 'a README without the markers is an error'

echo "1..$n"
exit $failed

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Helpers for scripts that run the command: . tool.sh FOLDER
set -u

# shellcheck source=selftests/unit/support/result.sh
. "${BASH_SOURCE[0]%/*}/result.sh"

out=$(cd "$1" && pwd) || exit
# The sanitizer's exit status, which no command uses.
export ASAN_OPTIONS=exitcode=99

work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# run STATUS ARGUMENT...: run ktape with standard output to text and standard
# error to log; it must exit with STATUS
run()
{
	want=$1
	shift
	timeout 600 "$out/command/ktape" "$@" >text 2>log
	got=$?
	[ $got = "$want" ] || echo "exit status $got, not $want: $*" >>log
	[ $got = "$want" ]
}

# lines N: it must have printed N lines
lines()
{
	[ "$(wc -l <text)" = "$1" ] ||
		{ echo "$(wc -l <text) lines, not $1" >>log; return 1; }
}

# says TEXT: standard error must have TEXT
says()
{
	grep -qF -- "$1" log || { echo "does not say: $1" >>log; return 1; }
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tool.sh, and small traces: . small_traces.sh FOLDER
# shellcheck source=selftests/unit/support/tool.sh
. "${BASH_SOURCE[0]%/*}/tool.sh" "$1"
make_trace=$out/make_trace

# flip FILE OFFSET: invert all bits of one byte
flip()
{
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059	# the byte is the format
	printf "\\$(printf %o $((255 - byte)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# fresh: make the folder t and the pipe form p, of the same 96 events, again
fresh()
{
	rm -rf t p to
	"$make_trace" folder t 3
	"$make_trace" pipe 3 >p
}
